// What every script takes from its surroundings, and the question that all of them ask.
import assert from "node:assert/strict";

export const GATEWAY = need("GATEWAY");
export const KEY = need("GATEWAY_KEY");
export const HELLO = "Hello from the strict upstream.";
export const TALK = "talk"; // answers, calls tools, fills schemas
export const THINK = "think"; // the same, after a thought where it is asked for one
export const THINKS = ["anthropic", "google", "openai-responses"].includes(process.env.UPSTREAM);
export const THOUGHT = "Let me see.";
export const BUSY = "busy"; // always refuses with 429
export const BROKEN = "broken"; // its streams break off

export const WEATHER = {
  name: "get_weather",
  description: "The weather of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string", description: "Name of the city.", enum: ["Oslo"] } },
    required: ["city"],
    additionalProperties: false,
  },
};
export const ASK_WEATHER = "Use get_weather.";
export const ASK_TWICE = "Use get_weather twice.";
export const RESULT = "4 degrees";

export const TRIP = {
  type: "object",
  properties: { city: { type: "string", enum: ["Oslo"] }, days: { type: "integer", enum: [3] } },
  required: ["city", "days"],
  additionalProperties: false,
};

// One red pixel.
export const PNG_BASE64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

function need(name) {
  const value = process.env[name];
  assert.ok(value, `${name} is not set`);
  return value;
}

/** Everything that an asynchronous iterable gives. */
export async function all(iterable) {
  const found = [];
  for await (const item of iterable) found.push(item);
  return found;
}

/** The error that a promise is rejected with. */
export async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
}
