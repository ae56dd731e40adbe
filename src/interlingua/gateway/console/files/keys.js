// Keys, their limits, and what they have used; read-only.

import { json } from "./api.js";
import { byId, count, day, dollars, make, pill } from "./view.js";

export async function load() {
  const told = await json("console/keys");
  byId("keys-rows").replaceChildren(...told.keys.map((key) => row(key, told.now_s)));
  byId("keys-empty").hidden = told.keys.length > 0;
  const passed = told.passed_over.length ? ` Of keys of one name the file's counts, then that in Redis, then that of the database: ${told.passed_over.join(", ")}.` : "";
  byId("keys-note").hidden = told.keys.length === 0;
  byId("keys-note").textContent = `Use of the last ${told.days} days, where the gateway keeps it.${passed}`;
}

function row(key, now) {
  const used = key.used ?? {};
  const limits = [...key.limits, ...key.team_limits.map((limit) => `team: ${limit}`)];
  return make(
    "tr",
    {},
    make("td", { class: "first" }, key.name),
    make("td", {}, key.team),
    make("td", { of: "models" }, key.models.join(", ") || "any"),
    make("td", { of: "limits" }, limits.join(", ") || "none"),
    make("td", {}, end(key, now)),
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

function end({ revoked_s, expires_s }, now) {
  if (revoked_s !== null) return pill("revoked", "bad");
  if (expires_s === null) return pill("works", "good");
  return expires_s <= now ? pill("expired", "bad") : day(expires_s);
}
