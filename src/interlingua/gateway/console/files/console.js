// The page: who looks, which section is shown, and the stream that stays open behind all of them.

import { Refused, keepKey, keptKey } from "./api.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import * as sides from "./sides.js";
import * as targets from "./targets.js";
import * as tryIt from "./try.js";
import { byId } from "./view.js";

const SECTIONS = { live: null, targets: targets.load, sides: null, keys: keys.load, try: tryIt.load };
const AGAIN_MS = 3000;
let isIn = false;
let following = null;

function link(text, state) {
  if (byId("link").textContent !== text) byId("link").textContent = text;
  byId("link").dataset.state = state;
}

// Sections

const chosen = () => (location.hash.slice(1) in SECTIONS ? location.hash.slice(1) : "live");

function show(focus) {
  const name = chosen();
  byId("door").hidden = isIn;
  byId("nav").hidden = !isIn;
  for (const other of Object.keys(SECTIONS)) byId(other).hidden = !isIn || other !== name;
  for (const anchor of byId("nav").children) {
    if (anchor.hash === `#${name}`) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  if (!isIn) return;
  if (focus) byId(`${name}-title`).focus({ preventScroll: true });
  scrollTo(0, 0);
  load(name);
}

async function load(name) {
  try {
    await SECTIONS[name]?.();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) refuse(error.message);
    else link(error.message, "bad");
  }
}

// Who looks

function refuse(sentence) {
  isIn = false;
  byId("door-problem").textContent = keptKey() ? sentence : "";
  keepKey("");
  link("locked", "idle");
  show(false);
  byId("door-key").focus();
}

async function enter() {
  following?.abort();
  const own = (following = new AbortController());
  while (!own.signal.aborted) {
    try {
      await live.follow(hello, own.signal);
      link("reconnecting", "idle");
    } catch (error) {
      if (own.signal.aborted) return;
      if (error instanceof Refused && [401, 403, 404].includes(error.status)) {
        refuse(error.message);
        if (error.status !== 401) byId("door-problem").textContent = error.message;
        return;
      }
      link(error instanceof Refused ? error.message : "the gateway does not answer", "bad");
    }
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

function hello({ key, operator, version }) {
  const first = !isIn;
  isIn = true;
  link(key || "connected", "good");
  byId("leave").hidden = !keptKey();
  byId("version").textContent = `interlingua ${version}`;
  targets.allow(operator);
  if (first) show(false);
}

byId("door-form").addEventListener("submit", (submit) => {
  submit.preventDefault();
  keepKey(byId("door-key").value.trim());
  byId("door-key").value = "";
  enter();
});
byId("leave").addEventListener("click", () => {
  following?.abort();
  keepKey("");
  location.reload();
});
byId("skip").addEventListener("click", (click) => {
  click.preventDefault();
  byId("main").focus();
});
addEventListener("hashchange", () => show(true));
setInterval(() => {
  if (isIn && !document.hidden && ["targets", "keys"].includes(chosen())) load(chosen());
}, AGAIN_MS);

live.start((id) => {
  location.hash = "#sides";
  sides.showKept(id);
});
targets.start();
sides.start();
tryIt.start();
enter();
