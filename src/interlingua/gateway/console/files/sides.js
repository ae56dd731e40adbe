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
    byId("sides-model-field").hidden = !namesModelInPath();
  });
  byId("sides-form").addEventListener("submit", async (submit) => {
    submit.preventDefault();
    let request;
    try {
      request = JSON.parse(byId("sides-body").value);
    } catch (error) {
      complain(`This is not JSON: ${error.message}`);
      return;
    }
    const body = asked(request);
    await load(body);
    plan(body);
  });
}

// Shows a request that the console has kept: the form holds it, so that it can be changed and translated again.
export async function showKept(id) {
  const told = await load({ id });
  const own = told?.request.find((side) => side.as_it_came);
  if (!own) return;
  byId("sides-dialect").value = told.dialect;
  byId("sides-dialect").dispatchEvent(new Event("change"));
  byId("sides-model").value = namesModelInPath() ? told.model : "";
  byId("sides-body").value = pretty(own.body);
  await plan(asked(own.body));
}

function asked(request) {
  const dialect = byId("sides-dialect").value;
  const model = byId("sides-model").value.trim();
  return { dialect, request, ...(namesModelInPath() && model ? { model } : {}) };
}

// Whether requests of the chosen dialect name their model in the path, so that their bodies hold none.
function namesModelInPath() {
  return byId("sides-dialect").selectedOptions[0].hasAttribute("data-model-in-path");
}

async function load(body) {
  complain("");
  byId("sides-plan").replaceChildren();
  try {
    const told = await json("console/sides", { body });
    byId("sides-request").replaceChildren(...told.request.map(panel));
    byId("sides-answer-title").hidden = !told.answer;
    byId("sides-answer").replaceChildren(...(told.answer ?? []).map(panel));
    return told;
  } catch (error) {
    byId("sides-request").replaceChildren();
    byId("sides-answer-title").hidden = true;
    byId("sides-answer").replaceChildren();
    complain(error.message);
    return null;
  }
}

// Where it would go, if its model leads somewhere here.
async function plan(body) {
  try {
    const told = await json("explain", { body });
    const rows = told.targets.map((target) =>
      make("li", {}, pill(target.chosen ? "first" : "fallback", target.chosen ? "good" : ""), " ", target.spec,
        target.reason ? make("span", { class: "below" }, target.reason) : ""));
    byId("sides-plan").replaceChildren(make("ol", { class: "plain" }, ...rows));
  } catch {
    byId("sides-plan").replaceChildren();
  }
}

function panel(side) {
  const name = make("h3", {}, side.dialect, side.as_it_came ? pill("unchanged", "busy") : "");
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
