// Keys, their limits, and what they have used; read-only.

import { json } from "./api.js";
import { byId, count, day, dollars, make, meter, name, pill } from "./view.js";

export async function load() {
  const told = await json("console/keys");
  byId("keys-rows").replaceChildren(...told.keys.map(row));
  byId("keys-empty").hidden = told.keys.length > 0;
  const passed = told.passed_over.length ? ` These names exist more than once; the configuration file wins over Redis, and Redis over the database: ${told.passed_over.join(", ")}.` : "";
  byId("keys-note").hidden = told.keys.length === 0;
  byId("keys-note").textContent = `Usage since ${day(told.since_s)}.${passed}`;
}

function row(key) {
  const used = key.used ?? {};
  const team = key.team_limits.map((limit) => meter({ ...limit, told: `team: ${limit.told}` }));
  const limits = [...key.limits.map(meter), ...team];
  return make(
    "tr",
    {},
    make("td", { class: "first" }, name(key.name)),
    make("td", {}, name(key.team)),
    make("td", { of: "models" }, key.state === "removed" ? "" : key.models.length ? name(key.models.join(", ")) : "any"),
    make("td", { of: "limits", class: "wide" }, ...(limits.length || !WORKING.has(key.state) ? limits : ["none"])),
    make("td", {}, ...end(key)),
    make("td", { class: "n", of: "requests" }, count(used.requests), below(used.estimated, "estimated")),
    make("td", { class: "n", of: "in" }, count(used.input_tokens)),
    make("td", { class: "n", of: "out" }, count(used.output_tokens)),
    make("td", { class: "n", of: "cost" }, ...cost(used)),
  );
}

const below = (value, words) => (value ? make("span", { class: "below" }, `${count(value)} ${words}`) : null);

// What is not known is not nothing: calls without a price are told beside what the others cost.
function cost({ cost_usd, unpriced }) {
  if (!unpriced) return [dollars(cost_usd)];
  return [cost_usd ? dollars(cost_usd) : "–", below(unpriced, "without a price")];
}

const WORKING = new Set(["works", "expired"]);

function end({ state, revoked_s, expires_s }) {
  switch (state) {
    case "revoked":
      return [pill("revoked", "bad"), make("span", { class: "below" }, day(revoked_s))];
    case "replaced":
      return [pill("revoked", "bad"), make("span", { class: "below" }, `${day(revoked_s)}; the name was reused; the usage of both is shown at the new key`)];
    case "removed":
      return [pill("removed", "bad"), make("span", { class: "below" }, "no longer in the configuration or the database")];
    case "expired":
      return [pill("expired", "bad"), make("span", { class: "below" }, day(expires_s))];
    default:
      return expires_s === null ? [pill("works", "good")] : [day(expires_s)];
  }
}
