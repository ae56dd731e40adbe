// The official Ollama client.
import assert from "node:assert/strict";
import test from "node:test";

import { Ollama } from "ollama";

import {
  all, ASK_TWICE, ASK_WEATHER, BROKEN, BUSY, failure, GATEWAY, HELLO, KEY, PNG_BASE64, RESULT, TALK, THINK, THINKS,
  THOUGHT, TRIP, WEATHER,
} from "./common.mjs";

const made = (key) => new Ollama({ host: GATEWAY, headers: { Authorization: `Bearer ${key}` } });
const client = made(KEY);
const tools = [{ type: "function", function: WEATHER }];
const asked = (content, more = {}) => ({ model: TALK, messages: [{ role: "user", content }], ...more });

test("a whole answer", async () => {
  const reply = await client.chat(asked("Hi", { options: { temperature: 0.5 } }));
  assert.equal(reply.message.content, HELLO);
  assert.equal(reply.done, true);
  assert.equal(reply.done_reason, "stop");
  assert.equal(reply.eval_count, 10);
});

test("a stream", async () => {
  const lines = await all(await client.chat(asked("Hi", { stream: true })));
  assert.ok(lines.length > 1);
  assert.equal(lines.map((line) => line.message.content).join(""), HELLO);
  assert.equal(lines.at(-1).done, true);
});

test("a prompt", async () => {
  assert.equal((await client.generate({ model: TALK, prompt: "Hi" })).response, HELLO);
  const lines = await all(await client.generate({ model: TALK, prompt: "Hi", stream: true }));
  assert.equal(lines.map((line) => line.response).join(""), HELLO);
});

test("tools over two turns", async () => {
  const body = asked(ASK_WEATHER, { tools });
  const { message } = await client.chat(body);
  assert.deepEqual(message.tool_calls[0].function.arguments, { city: "Oslo" });
  const result = { role: "tool", tool_name: WEATHER.name, content: RESULT };
  const next = await client.chat({ ...body, messages: [...body.messages, message, result] });
  assert.match(next.message.content, /4 degrees/);
});

test("parallel calls and their results, streamed", async () => {
  const body = asked(ASK_TWICE, { tools });
  const lines = await all(await client.chat({ ...body, stream: true }));
  const tool_calls = lines.flatMap((line) => line.message.tool_calls ?? []);
  assert.deepEqual(tool_calls.map((call) => call.function.arguments), [{ city: "Oslo" }, { city: "Oslo" }]);
  const results = tool_calls.map(() => ({ role: "tool", tool_name: WEATHER.name, content: RESULT }));
  const history = [...body.messages, { role: "assistant", content: "", tool_calls }, ...results];
  assert.match((await client.chat({ ...body, messages: history })).message.content, /4 degrees.*4 degrees/);
});

test("thinking", { skip: !THINKS }, async () => {
  const body = { ...asked("Hi", { think: true }), model: THINK };
  assert.equal((await client.chat(body)).message.thinking, THOUGHT);
  const lines = await all(await client.chat({ ...body, stream: true }));
  assert.equal(lines.map((line) => line.message.thinking ?? "").join(""), THOUGHT);
});

test("structured output", async () => {
  const reply = await client.chat(asked("A trip", { format: TRIP }));
  assert.deepEqual(JSON.parse(reply.message.content), { city: "Oslo", days: 3 });
});

test("an image", async () => {
  const messages = [{ role: "user", content: "Look.", images: [PNG_BASE64] }];
  assert.equal((await client.chat({ model: TALK, messages })).message.content, "I see 1 image.");
});

test("models", async () => {
  const { models } = await client.list();
  assert.ok(models.some((model) => model.name === TALK || model.model === TALK), JSON.stringify(models));
  assert.ok((await client.show({ model: TALK })).capabilities.includes("tools"));
  assert.ok((await client.version()).version);
});

test("errors have their status", async () => {
  const statuses = [];
  for (const [asking, model] of [[client, BUSY], [made("wrong"), TALK], [client, "no-such-model"]]) {
    statuses.push((await failure(asking.chat({ ...asked("Hi"), model }))).status_code);
  }
  assert.deepEqual(statuses, [429, 401, 404]);
});

test("a stream that breaks off is an error", async () => {
  const read = async () => all(await client.chat({ ...asked("Hi"), model: BROKEN, stream: true }));
  assert.match(String(await failure(read())), /broke off|ended/);
});
