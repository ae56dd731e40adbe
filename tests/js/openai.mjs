// The official OpenAI SDK: Chat Completions and Responses.
import assert from "node:assert/strict";
import test from "node:test";

import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

import {
  all, ASK_TWICE, ASK_WEATHER, BROKEN, BUSY, failure, GATEWAY, HELLO, KEY, PNG_BASE64, RESULT, TALK, THINK, THINKS,
  THOUGHT, WEATHER,
} from "./common.mjs";

const client = new OpenAI({ baseURL: `${GATEWAY}/v1`, apiKey: KEY, maxRetries: 0 });
const tool = { type: "function", function: { ...WEATHER, strict: true } };
const flatTool = { type: "function", ...WEATHER, strict: true };
const Trip = z.object({ city: z.enum(["Oslo"]), days: z.literal(3) });
const asked = (content, more = {}) => ({ model: TALK, messages: [{ role: "user", content }], ...more });

test("chat: a whole answer", async () => {
  const reply = await client.chat.completions.create(asked("Hi", { temperature: 0.5, max_completion_tokens: 100 }));
  assert.equal(reply.object, "chat.completion");
  assert.equal(reply.choices[0].message.content, HELLO);
  assert.equal(reply.choices[0].finish_reason, "stop");
  assert.equal(reply.usage.prompt_tokens, 20);
  assert.equal(reply.usage.completion_tokens, 10);
  assert.ok(reply._request_id);
});

test("chat: the stream helper", async () => {
  const stream = client.chat.completions.stream(asked("Hi", { stream_options: { include_usage: true } }));
  const pieces = [];
  stream.on("content", (piece) => pieces.push(piece));
  const reply = await stream.finalChatCompletion();
  assert.ok(pieces.length > 1);
  assert.equal(pieces.join(""), HELLO);
  assert.equal(reply.choices[0].message.content, HELLO);
  assert.equal((await stream.totalUsage()).completion_tokens, 10);
});

test("chat: tools over two turns, run by the SDK", async () => {
  const seen = [];
  const get_weather = ({ city }) => {
    seen.push(city);
    return RESULT;
  };
  const runnable = { type: "function", function: { ...WEATHER, function: get_weather, parse: JSON.parse } };
  const runner = client.chat.completions.runTools(asked(ASK_WEATHER, { tools: [runnable] }));
  assert.match(await runner.finalContent(), /4 degrees/);
  assert.deepEqual(seen, ["Oslo"]);
});

test("chat: tools over two turns, streamed and run by the SDK", async () => {
  const runnable = { type: "function", function: { ...WEATHER, function: () => RESULT, parse: JSON.parse } };
  const runner = client.chat.completions.runTools(asked(ASK_WEATHER, { tools: [runnable], stream: true }));
  assert.match(await runner.finalContent(), /4 degrees/);
});

test("chat: parallel calls and their results", async () => {
  for (const stream of [false, true]) {
    const body = asked(ASK_TWICE, { tools: [tool] });
    const reply = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    const message = reply.choices[0].message;
    assert.equal(reply.choices[0].finish_reason, "tool_calls");
    assert.deepEqual(message.tool_calls.map((call) => JSON.parse(call.function.arguments)), [{ city: "Oslo" }, { city: "Oslo" }]);
    assert.equal(new Set(message.tool_calls.map((call) => call.id)).size, 2);
    const results = message.tool_calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: RESULT }));
    const next = await client.chat.completions.create({ ...body, messages: [...body.messages, message, ...results] });
    assert.match(next.choices[0].message.content, /4 degrees.*4 degrees/);
  }
});

test("chat: structured output", async () => {
  const reply = await client.chat.completions.parse(asked("A trip", { response_format: zodResponseFormat(Trip, "trip") }));
  assert.deepEqual(reply.choices[0].message.parsed, { city: "Oslo", days: 3 });
});

test("chat: an image", async () => {
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG_BASE64}` } };
  const reply = await client.chat.completions.create(asked([{ type: "text", text: "Look." }, image]));
  assert.equal(reply.choices[0].message.content, "I see 1 image.");
});

test("responses: a whole answer and a streamed one", async () => {
  const reply = await client.responses.create({ model: TALK, input: "Hi", instructions: "Be brief." });
  assert.equal(reply.output_text, HELLO);
  assert.equal(reply.status, "completed");
  const stream = client.responses.stream({ model: TALK, input: "Hi" });
  const kinds = (await all(stream)).map((event) => event.type);
  assert.equal(kinds[0], "response.created");
  assert.equal(kinds.at(-1), "response.completed");
  assert.equal((await stream.finalResponse()).output_text, HELLO);
});

test("responses: parallel calls and their results", async () => {
  const input = [{ role: "user", content: ASK_TWICE }];
  for (const streamed of [false, true]) {
    const body = { model: TALK, input, tools: [flatTool], store: false };
    const reply = streamed ? await client.responses.stream(body).finalResponse() : await client.responses.create(body);
    const calls = reply.output.filter((item) => item.type === "function_call");
    assert.deepEqual(calls.map((call) => JSON.parse(call.arguments)), [{ city: "Oslo" }, { city: "Oslo" }]);
    const results = calls.map((call) => ({ type: "function_call_output", call_id: call.call_id, output: RESULT }));
    const next = await client.responses.create({ ...body, input: [...input, ...reply.output, ...results] });
    assert.match(next.output_text, /4 degrees.*4 degrees/);
  }
});

test("responses: reasoning that goes along into the next turn", { skip: !THINKS }, async () => {
  const input = [{ role: "user", content: ASK_WEATHER }];
  for (const streamed of [false, true]) {
    const body = { model: THINK, input, tools: [flatTool], reasoning: { effort: "low", summary: "auto" }, store: false };
    const reply = streamed ? await client.responses.stream(body).finalResponse() : await client.responses.create(body);
    const [thought, call] = reply.output;
    assert.equal(thought.type, "reasoning");
    assert.equal(thought.summary.map((part) => part.text).join(""), THOUGHT);
    const result = { type: "function_call_output", call_id: call.call_id, output: RESULT };
    const next = await client.responses.create({ ...body, input: [...input, ...reply.output, result] });
    assert.match(next.output_text, /4 degrees/);
  }
});

test("responses: structured output", async () => {
  const reply = await client.responses.parse({ model: TALK, input: "A trip", text: { format: zodTextFormat(Trip, "trip") } });
  assert.deepEqual(reply.output_parsed, { city: "Oslo", days: 3 });
});

test("responses: an image", async () => {
  const content = [
    { type: "input_text", text: "Look." },
    { type: "input_image", image_url: `data:image/png;base64,${PNG_BASE64}`, detail: "auto" },
  ];
  const reply = await client.responses.create({ model: TALK, input: [{ role: "user", content }] });
  assert.equal(reply.output_text, "I see 1 image.");
});

test("models", async () => {
  const found = await all(client.models.list());
  assert.ok(found.some((model) => model.id === TALK));
});

test("errors have the SDK's classes", async () => {
  const busy = await failure(client.chat.completions.create({ ...asked("Hi"), model: BUSY }));
  assert.ok(busy instanceof OpenAI.RateLimitError, String(busy));
  assert.equal(busy.headers.get("retry-after"), "3600");
  const stranger = new OpenAI({ baseURL: `${GATEWAY}/v1`, apiKey: "sk-wrong", maxRetries: 0 });
  const refused = await failure(stranger.chat.completions.create(asked("Hi")));
  assert.ok(refused instanceof OpenAI.AuthenticationError, String(refused));
  const unknown = await failure(client.chat.completions.create({ ...asked("Hi"), model: "no-such-model" }));
  assert.ok(unknown instanceof OpenAI.NotFoundError, String(unknown));
  const broken = await failure(client.chat.completions.create({ model: TALK, messages: "Hi" }));
  assert.ok(broken instanceof OpenAI.BadRequestError, String(broken));
});

test("a stream that breaks off is an error", async () => {
  const chat = failure(client.chat.completions.stream({ ...asked("Hi"), model: BROKEN }).finalChatCompletion());
  assert.ok((await chat) instanceof OpenAI.APIError, String(await chat));
  const events = await all(await client.responses.create({ model: BROKEN, input: "Hi", stream: true }));
  assert.equal(events.at(-1).type, "response.failed");
});
