// Requests while they come. The gateway tells at most twice a second; the page keeps the last few hundred.

import { ask, events } from "./api.js";
import { byId, CHANGE_KINDS, clock, count, dollars, facts, make, pill, seconds } from "./view.js";

const MOST_ROWS = 300;
const done = new Map();
let now = [];
let missed = 0;
let held = false;
let hasContent = false;
let showSides = () => {};

// Follows the gateway until the stream ends; `hello` is told who looks.
export async function follow(hello, signal) {
  const response = await ask("console/live", { signal });
  for await (const { event, data } of events(response)) {
    const told = JSON.parse(data);
    if (event === "hello") {
      hasContent = told.content;
      done.clear();
      byId("live-own").hidden = told.operator;
      hello(told);
    } else {
      take(told);
    }
  }
}

export function start(onSides) {
  showSides = onSides;
  byId("live-filter").addEventListener("input", draw);
  byId("live-hold").addEventListener("click", (click) => {
    held = !held;
    click.currentTarget.setAttribute("aria-pressed", held);
    draw();
  });
  byId("one-close").addEventListener("click", () => byId("one").close());
}

function take(told) {
  now = told.now;
  missed += told.missed;
  for (const record of told.done) done.set(`${record.id} ${record.at}`, record);
  for (const name of done.keys()) {
    if (done.size <= MOST_ROWS) break;
    done.delete(name);
  }
  draw();
}

function draw() {
  sum();
  if (held) return;
  const words = byId("live-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const records = [...now, ...[...done.values()].reverse()];
  const shown = records.filter((record) => words.every((word) => told(record).includes(word)));
  const focused = document.activeElement?.dataset?.request;
  byId("live-rows").replaceChildren(...shown.map((record) => row(record)));
  byId("live-empty").hidden = shown.length > 0;
  if (focused) document.querySelector(`[data-request="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function told(record) {
  const { client, model, target, key, status, error, path, id } = record;
  return [client, model, target, key, status, error, path, id].join(" ").toLowerCase();
}

const isNow = (record) => now.includes(record);

function row(record) {
  const { id, at, client = "", model = "", target = "", key = "", path = "" } = record;
  const open = make("button", { type: "button", class: "time", "data-request": id, onclick: () => show(record) }, clock(at));
  return make(
    "tr",
    {},
    make("td", {}, open, make("span", { class: "below" }, key)),
    make("td", {}, client, make("span", { class: "below" }, path)),
    make("td", { class: "wide" }, make("span", { class: "first" }, model || "–"), below(target === model ? "" : target)),
    make("td", { class: "wide" }, state(record), below(record.error)),
    make("td", { class: "n", of: "in" }, count(record.input_tokens)),
    make("td", { class: "n", of: "out" }, count(record.output_tokens)),
    make("td", { class: "n", of: "cost" }, dollars(record.cost_usd)),
    make("td", { class: "n", of: "first" }, seconds(record.first_s)),
    make("td", { class: "n", of: "total" }, seconds(record.total_s ?? 0)),
    make("td", { class: "n", of: "changes" }, record.changes ? count(record.changes) : ""),
  );
}

const below = (text) => (text ? make("span", { class: "below" }, text) : null);

function state(record) {
  if (isNow(record)) return pill(record.status ? "streaming" : "asking", "busy");
  if (record.aborted) return pill("left", "warn");
  const status = String(record.status ?? 0);
  if (record.status >= 400 && record.status < 500) return pill(status, "warn");
  return pill(status, record.error || record.status >= 500 ? "bad" : "good");
}

function sum() {
  const records = [...done.values()];
  const total = (name) => records.reduce((all, record) => all + (record[name] ?? 0), 0);
  const firsts = records.map((record) => record.first_s).filter((value) => value !== undefined).sort((a, b) => a - b);
  byId("sum-now").textContent = count(now.length);
  byId("sum-done").textContent = count(records.length + missed);
  byId("sum-bad").textContent = count(records.filter((record) => record.error || record.status >= 400).length);
  byId("sum-tokens").textContent = `${count(total("input_tokens"))} / ${count(total("output_tokens"))}`;
  byId("sum-cost").textContent = records.some((record) => record.cost_usd !== undefined) ? dollars(total("cost_usd")) : "–";
  byId("sum-first").textContent = firsts.length ? seconds(firsts[firsts.length >> 1]) : "–";
}

function show(record) {
  const cached = record.cache_read_tokens ? `, ${count(record.cache_read_tokens)} from the cache` : "";
  facts(byId("one-facts"), [
    ["Id", record.id],
    ["Key", [record.key, record.team && `team ${record.team}`].filter(Boolean).join(", ")],
    ["From", [record.client, record.peer].filter(Boolean).join(", ")],
    ["Asked", `${record.method ?? "POST"} ${record.path ?? ""}`],
    ["Model", record.model],
    ["Target", record.target],
    ["Status", state(record)],
    ["Error", [record.error, record.message].filter(Boolean).join(": ")],
    ["Tokens", record.input_tokens === undefined ? "" : `${count(record.input_tokens)} in${cached}, ${count(record.output_tokens)} out`],
    ["Cost", dollars(record.cost_usd)],
    ["First token", seconds(record.first_s)],
    ["Total", seconds(record.total_s ?? 0)],
  ]);
  const changed = record.changed ?? [];
  const more = (record.changes ?? 0) - changed.length;
  byId("one-changes-title").hidden = changed.length === 0;
  byId("one-changes").replaceChildren(...changed.map(change), more > 0 ? make("li", {}, `and ${count(more)} more`) : "");
  const attempts = record.attempts ?? [];
  byId("one-attempts-title").hidden = attempts.length === 0;
  byId("one-attempts").replaceChildren(...attempts.map(attempt));
  const button = byId("one-sides");
  button.hidden = !hasContent || isNow(record) || !record.model;
  button.onclick = () => {
    byId("one").close();
    showSides(record.id);
  };
  byId("one").showModal();
}

function change(text) {
  const [action, code, path = ""] = text.split(" ");
  return make("li", {}, pill(action, CHANGE_KINDS[action] ?? ""), ` ${code.replaceAll("_", " ")} `, make("code", {}, path));
}

function attempt({ model, outcome, error, status, duration_s }) {
  const kind = { served: "good", failed: "bad", skipped: "warn" }[outcome] ?? "";
  const said = [status, error, seconds(duration_s)].filter(Boolean).join(" · ");
  return make("li", {}, pill(outcome, kind), " ", model, below(said));
}
