// A request of one's own, streamed, as any client of OpenAI Chat would send it.

import { ask, events, json } from "./api.js";
import { byId, count, facts, make, seconds } from "./view.js";

let under = null;

export function start() {
  byId("try-form").addEventListener("submit", (submit) => {
    submit.preventDefault();
    send();
  });
  byId("try-prompt").addEventListener("keydown", (press) => {
    if (press.key === "Enter" && (press.ctrlKey || press.metaKey)) byId("try-form").requestSubmit();
  });
  byId("try-stop").addEventListener("click", () => under?.abort());
}

export async function load() {
  const { aliases, targets } = await json("console/targets");
  const whole = aliases.map(({ name }) => name).filter((name) => !name.endsWith("*"));
  const names = [...whole, ...targets.map(({ spec }) => spec)];
  byId("models").replaceChildren(...names.map((value) => make("option", { value })));
  if (!byId("try-model").value && names.length) byId("try-model").value = names[0];
}

async function send() {
  under?.abort();
  const own = (under = new AbortController());
  const answer = byId("try-answer");
  const told = { started: performance.now(), first: null, usage: null, finish: "", headers: null };
  clear();
  busy(true);
  try {
    const response = await ask("v1/chat/completions", { body: request(), signal: own.signal });
    told.headers = response.headers;
    for await (const { data } of events(response)) {
      if (data === "[DONE]") break;
      take(JSON.parse(data), told, answer);
    }
  } catch (error) {
    if (under !== own) return;
    byId("try-problem").textContent = own.signal.aborted ? "stopped" : error.message;
  }
  if (under !== own) return;
  busy(false);
  tell(told);
}

function request() {
  const system = byId("try-system").value.trim();
  const messages = system ? [{ role: "system", content: system }] : [];
  const most = Number(byId("try-most").value);
  return {
    model: byId("try-model").value.trim(),
    messages: [...messages, { role: "user", content: byId("try-prompt").value }],
    stream: true,
    stream_options: { include_usage: true },
    ...(most ? { max_tokens: most } : {}),
  };
}

function take(chunk, told, answer) {
  if (chunk.error) throw new Error(chunk.error.message ?? "the stream ended in an error");
  told.usage = chunk.usage ?? told.usage;
  const choice = chunk.choices?.[0];
  told.finish = choice?.finish_reason ?? told.finish;
  const { content, reasoning_content, reasoning, refusal } = choice?.delta ?? {};
  const thought = reasoning_content ?? reasoning;
  if (thought) {
    byId("try-thinking").hidden = false;
    byId("try-thought").append(thought);
  }
  if (content || refusal) {
    told.first ??= performance.now() - told.started;
    answer.append(content ?? refusal);
  }
}

function tell({ started, first, usage, finish, headers }) {
  facts(byId("try-facts"), [
    ["Target", headers?.get("x-interlingua-target")],
    ["Skipped targets", headers?.get("x-interlingua-skipped")],
    ["First token", first === null ? "" : seconds(first / 1000)],
    ["Total", seconds((performance.now() - started) / 1000)],
    ["Tokens", usage ? `${count(usage.prompt_tokens)} in, ${count(usage.completion_tokens)} out` : ""],
    ["Finish reason", finish],
    ["Changes", headers?.get("x-interlingua-changes")],
    ["Request id", headers?.get("x-request-id")],
  ]);
}

function clear() {
  for (const name of ["try-answer", "try-thought", "try-facts"]) byId(name).replaceChildren();
  byId("try-thinking").hidden = true;
  byId("try-problem").textContent = "";
}

function busy(is) {
  byId("try-stop").disabled = !is;
  byId("try-answer").classList.toggle("busy", is);
  byId("try-answer").setAttribute("aria-busy", is);
}
