// The official Anthropic SDK.
import assert from "node:assert/strict";
import test from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";

import {
  all, ASK_TWICE, ASK_WEATHER, BROKEN, BUSY, failure, GATEWAY, HELLO, KEY, PNG_BASE64, RESULT, TALK, THINK, THINKS,
  THOUGHT, WEATHER,
} from "./common.mjs";

const client = new Anthropic({ baseURL: GATEWAY, apiKey: KEY, maxRetries: 0 });
const tool = { name: WEATHER.name, description: WEATHER.description, input_schema: WEATHER.parameters };
const asked = (content, more = {}) => ({ model: TALK, max_tokens: 1000, messages: [{ role: "user", content }], ...more });
const textOf = (message) => message.content.filter((block) => block.type === "text").map((block) => block.text).join("");

test("a whole answer", async () => {
  const reply = await client.messages.create(asked("Hi", { system: "Be brief." }));
  assert.equal(reply.type, "message");
  assert.equal(textOf(reply), HELLO);
  assert.equal(reply.stop_reason, "end_turn");
  assert.equal(reply.usage.output_tokens, 10);
  assert.ok(reply._request_id);
});

test("the stream helper", async () => {
  const stream = client.messages.stream(asked("Hi"));
  const pieces = [];
  stream.on("text", (piece) => pieces.push(piece));
  const reply = await stream.finalMessage();
  assert.ok(pieces.length > 1);
  assert.equal(pieces.join(""), HELLO);
  assert.equal(textOf(reply), HELLO);
  assert.equal(reply.usage.output_tokens, 10);
});

test("tools over two turns, run by the SDK", async () => {
  const seen = [];
  const run = ({ city }) => {
    seen.push(city);
    return RESULT;
  };
  for (const stream of [false, true]) {
    const runner = client.beta.messages.toolRunner(asked(ASK_WEATHER, { tools: [{ ...tool, run, parse: (input) => input }], stream }));
    let last;
    for await (const step of runner) last = stream ? await step.finalMessage() : step;
    assert.match(textOf(last), /4 degrees/);
  }
  assert.deepEqual(seen, ["Oslo", "Oslo"]);
});

test("parallel calls and their results", async () => {
  for (const streamed of [false, true]) {
    const body = asked(ASK_TWICE, { tools: [tool] });
    const reply = streamed ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
    const calls = reply.content.filter((block) => block.type === "tool_use");
    assert.equal(reply.stop_reason, "tool_use");
    assert.deepEqual(calls.map((call) => call.input), [{ city: "Oslo" }, { city: "Oslo" }]);
    const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: RESULT }));
    const history = [...body.messages, { role: "assistant", content: reply.content }, { role: "user", content: results }];
    assert.match(textOf(await client.messages.create({ ...body, messages: history })), /4 degrees.*4 degrees/);
  }
});

test("thinking that goes along into the next turn", { skip: !THINKS }, async () => {
  const thinking = { type: "adaptive", display: "summarized" };
  for (const streamed of [false, true]) {
    const body = asked(ASK_WEATHER, { model: THINK, max_tokens: 4000, tools: [tool], thinking, output_config: { effort: "low" } });
    const reply = streamed ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
    const [thought, call] = reply.content;
    assert.equal(thought.type, "thinking");
    assert.equal(thought.thinking, THOUGHT);
    const results = [{ type: "tool_result", tool_use_id: call.id, content: RESULT }];
    const history = [...body.messages, { role: "assistant", content: reply.content }, { role: "user", content: results }];
    assert.match(textOf(await client.messages.create({ ...body, messages: history })), /4 degrees/);
  }
});

test("structured output", async () => {
  const Trip = z.object({ city: z.enum(["Oslo"]), days: z.literal(3) });
  const reply = await client.messages.parse(asked("A trip", { output_config: { format: zodOutputFormat(Trip) } }));
  assert.deepEqual(reply.parsed_output, { city: "Oslo", days: 3 });
});

test("an image", async () => {
  const source = { type: "base64", media_type: "image/png", data: PNG_BASE64 };
  const reply = await client.messages.create(asked([{ type: "text", text: "Look." }, { type: "image", source }]));
  assert.equal(textOf(reply), "I see 1 image.");
});

test("models and tokens", async () => {
  const found = await all(client.models.list());
  assert.ok(found.some((model) => model.id === TALK));
  const counted = await client.messages.countTokens({ model: TALK, messages: [{ role: "user", content: "Hi" }] });
  assert.ok(counted.input_tokens > 0);
});

test("errors have the SDK's classes", async () => {
  const busy = await failure(client.messages.create({ ...asked("Hi"), model: BUSY }));
  assert.ok(busy instanceof Anthropic.RateLimitError, String(busy));
  assert.equal(busy.headers.get("retry-after"), "3600");
  const stranger = new Anthropic({ baseURL: GATEWAY, apiKey: "sk-wrong", maxRetries: 0 });
  const refused = await failure(stranger.messages.create(asked("Hi")));
  assert.ok(refused instanceof Anthropic.AuthenticationError, String(refused));
  const unknown = await failure(client.messages.create({ ...asked("Hi"), model: "no-such-model" }));
  assert.ok(unknown instanceof Anthropic.NotFoundError, String(unknown));
  const broken = await failure(client.messages.create({ ...asked("Hi"), messages: "Hi" }));
  assert.ok(broken instanceof Anthropic.BadRequestError, String(broken));
});

test("a stream that breaks off is an error", async () => {
  const cut = await failure(client.messages.stream({ ...asked("Hi"), model: BROKEN }).finalMessage());
  assert.ok(cut instanceof Anthropic.APIError, String(cut));
});
