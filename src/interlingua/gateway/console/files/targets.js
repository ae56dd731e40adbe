// Targets and how they are; operators take one out and put it back.

import { json } from "./api.js";
import { byId, count, make, name, pill, span } from "./view.js";

const KINDS = { closed: "good", half_open: "warn", open: "bad", suspended: "warn" };
const WORDS = { closed: "closed", half_open: "half open", open: "open", suspended: "suspended" };
const WHY = { failures: "repeated failures", retry_after: "provider asked to wait", auth: "key refused", billing: "no credit", suspended: "by hand" };
let operator = false;

export function start() {
  byId("out-form").addEventListener("submit", (submit) => {
    submit.preventDefault();
    const for_s = byId("out-for").value ? Number(byId("out-for").value) : null;
    change("suspend", { target: byId("out-target").value.trim(), for_s });
  });
}

export function allow(isOperator) {
  operator = isOperator;
  byId("out-form").hidden = !isOperator;
}

export async function load() {
  const told = await json("console/targets");
  const focused = document.activeElement?.dataset?.target;
  byId("targets-rows").replaceChildren(...told.targets.map(row));
  if (focused) document.querySelector(`[data-target="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  byId("targets-empty").hidden = told.targets.length > 0;
  byId("aliases").replaceChildren(...told.aliases.map(alias));
  byId("providers-title").hidden = told.providers.length === 0;
  byId("providers").replaceChildren(...told.providers.map((one) => make("li", {}, one)));
  complain(told.problem);
}

function alias({ name: text, elements, targets, policy, weights = [] }) {
  const through = elements.join() === targets.join() ? "" : make("span", { class: "below" }, "all targets: ", name(targets.join(", ")));
  return make("li", {}, make("code", {}, name(text)), " → ", name(order(elements, policy, weights)), through);
}

// In which order an alias asks what it stands for.
function order(elements, policy, weights) {
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  switch (elements.length > 1 ? policy : "ordered") {
    case "weighted":
      return elements.map((one, place) => `${percent(all ? weights[place] / all : 1 / elements.length)} ${one}`).join(", ") + " (weighted)";
    case "least-busy":
      return elements.join(", ") + " (least busy first)";
    case "fastest":
      return elements.join(", ") + " (fastest first)";
    case "prefix":
      return elements.join(", ") + " (one for each conversation)";
    default:
      return elements.join(", then ");
  }
}

const percent = (share) => `${Number((share * 100).toPrecision(3))}\u00a0%`;

function row(target) {
  const until = target.wait_s ? `, ${span(target.wait_s)} left` : "";
  const out = target.circuit === "suspended" || target.circuit === "open";
  const button = make(
    "button",
    { type: "button", class: "quiet", "data-target": target.spec,
      onclick: () => change(out ? "resume" : "suspend", { target: target.spec, for_s: null }) },
    out ? "Resume" : "Suspend",
    make("span", { class: "unseen" }, ` ${target.spec}`),
  );
  return make(
    "tr",
    {},
    make("td", { class: "wide first" }, name(target.spec)),
    make("td", {}, pill(WORDS[target.circuit] ?? target.circuit, KINDS[target.circuit] ?? "")),
    make("td", {}, target.reason ? (WHY[target.reason] ?? target.reason) + until : ""),
    make("td", { class: "n", of: "failures" }, target.failures ? count(target.failures) : ""),
    make("td", {}, name(target.error ?? "")),
    make("td", { class: "n" }, operator ? button : ""),
  );
}

async function change(what, body) {
  try {
    await json(`console/targets/${what}`, { body });
    await load();
  } catch (error) {
    complain(error.message);
  }
}

function complain(text) {
  byId("targets-problem").hidden = !text;
  byId("targets-problem").textContent = text;
}
