// Requests while they come. The gateway tells at most twice a second; the page keeps the last few hundred.

import { ask, events } from "./api.js";
import { byId, CHANGE_KINDS, clock, count, dollars, facts, make, name, pill, seconds } from "./view.js";

const MOST_ROWS = 300;
const done = new Map();
let now = [];
let totals = null; // of everything that was told since `since`, also of what is no longer listed
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
      totals = { since: Date.now() / 1000, done: 0, bad: 0, input: 0, output: 0, cost: null, missed: 0 };
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
  totals.missed += told.missed;
  for (const record of told.done) {
    done.set(`${record.id} ${record.at}`, record);
    add(record);
  }
  for (const place of done.keys()) {
    if (done.size <= MOST_ROWS) break;
    done.delete(place);
  }
  draw();
}

function add({ at, status, error, input_tokens = 0, output_tokens = 0, cost_usd }) {
  totals.since = Math.min(totals.since, at);
  totals.done += 1;
  totals.bad += error || status >= 400 ? 1 : 0;
  totals.input += input_tokens;
  totals.output += output_tokens;
  if (cost_usd !== undefined) totals.cost = (totals.cost ?? 0) + cost_usd;
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
  const { client, model, target, key, status, error, reason, path, id, attempts = [] } = record;
  const tried = attempts.map((attempt) => attempt.model);
  return [client, model, target, key, status, error, reason, path, id, failover(record)?.text, ...tried].join(" ").toLowerCase();
}

const isNow = (record) => now.includes(record);

function row(record) {
  const { id, at, client = "", model = "", key = "", path = "" } = record;
  const over = failover(record);
  const open = make("button", { type: "button", class: "time", "data-request": id, onclick: () => show(record) }, clock(at));
  return make(
    "tr",
    {},
    make("td", {}, open, below(key)),
    make("td", {}, client, below(path)),
    make("td", { class: "wide" }, make("span", { class: "first" }, name(model || "–")), below(toward(record))),
    make("td", { class: "wide" }, state(record), " ", over ? pill(over.text, over.kind) : "", below(record.error), below(record.reason)),
    make("td", { class: "n", of: "in" }, count(record.input_tokens)),
    make("td", { class: "n", of: "out" }, count(record.output_tokens)),
    make("td", { class: "n", of: "cost" }, dollars(record.cost_usd)),
    make("td", { class: "n", of: "first" }, seconds(record.first_s)),
    make("td", { class: "n", of: "total" }, seconds(record.total_s ?? 0)),
    make("td", { class: "n", of: "changes" }, record.changes ? count(record.changes) : ""),
  );
}

const below = (text) => (text ? make("span", { class: "below" }, name(text)) : null);

// What a chain did for a request whose first target did not serve it: another one did, or none.
function failover({ attempts = [], target, error }) {
  const others = new Set(attempts.filter(({ outcome }) => outcome !== "served").map(({ model }) => model));
  const served = attempts.some(({ outcome }) => outcome === "served");
  others.delete(served ? target : undefined);
  if (served) return others.size ? { text: "saved by failover", kind: "busy" } : null;
  return error && others.size > 1 ? { text: "no target left", kind: "bad" } : null;
}

// Who answered, and who did not before; without an answer, who was tried.
function toward({ model, target = "", attempts = [] }) {
  const failed = [...new Set(attempts.filter(({ outcome }) => outcome !== "served").map((attempt) => attempt.model))];
  const others = failed.filter((one) => one !== target).join(", ");
  if (!target) return others ? `tried ${others}` : "";
  if (others) return `${target}, after ${others}`;
  return target === model ? "" : target;
}

function state(record) {
  if (isNow(record)) return pill(record.status ? "streaming" : "waiting", "busy");
  if (record.aborted) return pill("client left", "warn");
  const status = String(record.status ?? 0);
  if (record.status >= 400 && record.status < 500) return pill(status, "warn");
  return pill(status, record.error || record.status >= 500 ? "bad" : "good");
}

function sum() {
  const { since, done: answered, bad, input, output, cost, missed } = totals;
  const firsts = [...done.values()].map((record) => record.first_s).filter((value) => value !== undefined).sort((a, b) => a - b);
  byId("sum-now").textContent = count(now.length);
  byId("sum-done").textContent = count(answered);
  byId("sum-bad").textContent = count(bad);
  byId("sum-tokens").textContent = `${count(input)} / ${count(output)}`;
  byId("sum-cost").textContent = cost === null ? "–" : dollars(cost);
  byId("sum-first").textContent = firsts.length ? seconds(firsts[firsts.length >> 1]) : "–";
  const more = missed ? `; ${count(missed)} more are not counted, because they came too fast` : "";
  byId("sum-since").textContent = `Totals since ${clock(since)}${more}.`;
}

function show(record) {
  const cached = record.cache_read_tokens ? `, ${count(record.cache_read_tokens)} from the cache` : "";
  facts(byId("one-facts"), [
    ["Id", name(record.id)],
    ["Key", [record.key, record.team && `team ${record.team}`].filter(Boolean).join(", ")],
    ["From", [record.client, record.peer].filter(Boolean).join(", ")],
    ["Request", name(`${record.method ?? "POST"} ${record.path ?? ""}`)],
    ["Model", record.model && name(record.model)],
    ["Target", toward(record) || record.target],
    ["Status", state(record)],
    ["Error", [record.error, record.message || record.reason].filter(Boolean).join(": ")],
    ["Failover", failover(record)?.text],
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
  return make("li", {}, pill(outcome, kind), " ", name(model), below(said));
}
