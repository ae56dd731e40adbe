// One request in every dialect, side by side. Nothing is sent to a provider.

import { json } from "./api.js";
import { byId, CHANGE_KINDS, make, pill, pretty } from "./view.js";

const EXAMPLE = {
  model: "smart",
  messages: [
    { role: "system", content: "Answer in one sentence." },
    { role: "user", content: "What is the weather in Oslo?" },
  ],
  tools: [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "Weather of a city.",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    },
  ],
};

export function start() {
  const dialect = byId("sides-dialect");
  byId("sides-body").value = pretty(EXAMPLE);
  dialect.addEventListener("change", () => {
    byId("sides-model-field").hidden = dialect.value !== "google";
  });
  byId("sides-form").addEventListener("submit", async (submit) => {
    submit.preventDefault();
    let request;
    try {
      request = JSON.parse(byId("sides-body").value);
    } catch (error) {
      complain(`This is no JSON: ${error.message}`);
      return;
    }
    const model = byId("sides-model").value.trim();
    const body = { dialect: dialect.value, request, ...(dialect.value === "google" && model ? { model } : {}) };
    await load(body);
    plan(body);
  });
}

// Shows a request that the console has kept.
export const showKept = (id) => load({ id });

async function load(body) {
  complain("");
  byId("sides-plan").replaceChildren();
  try {
    const told = await json("console/sides", { body });
    byId("sides-request").replaceChildren(...told.request.map((side) => panel(side, told.dialect)));
    byId("sides-answer-title").hidden = !told.answer;
    byId("sides-answer").replaceChildren(...(told.answer ?? []).map((side) => panel(side, told.dialect)));
  } catch (error) {
    byId("sides-request").replaceChildren();
    byId("sides-answer-title").hidden = true;
    byId("sides-answer").replaceChildren();
    complain(error.message);
  }
}

// Where it would go, if its model leads somewhere here.
async function plan(body) {
  try {
    const told = await json("explain", { body });
    const rows = told.targets.map((target) =>
      make("li", {}, pill(target.chosen ? "would be asked" : "after that", target.chosen ? "good" : ""), " ", target.spec,
        target.reason ? make("span", { class: "below" }, target.reason) : ""));
    byId("sides-plan").replaceChildren(make("ol", { class: "plain" }, ...rows));
  } catch {
    byId("sides-plan").replaceChildren();
  }
}

function panel(side, own) {
  const name = make("h3", {}, side.dialect, side.dialect === own ? pill("as it came", "busy") : "");
  const changes = side.changes.map(change);
  const body = side.error ? make("p", { class: "bad" }, side.error) : make("pre", { tabindex: "0" }, pretty(side.body));
  const list = changes.length ? make("ul", { "aria-label": "Changes" }, ...changes) : "";
  return make("article", { class: "side", "aria-label": side.dialect }, name, body, list);
}

function change({ action, code, path = "", detail = "" }) {
  return make("li", {}, pill(action, CHANGE_KINDS[action] ?? ""), " ", code.replaceAll("_", " "), " ", make("code", {}, path),
    detail ? make("span", { class: "below" }, detail) : "");
}

function complain(text) {
  byId("sides-problem").textContent = text;
}
