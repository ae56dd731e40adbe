// The official Google GenAI SDK.
import assert from "node:assert/strict";
import test from "node:test";

import { ApiError, FunctionCallingConfigMode, GoogleGenAI, ThinkingLevel } from "@google/genai";

import {
  all, ASK_TWICE, ASK_WEATHER, BROKEN, BUSY, failure, GATEWAY, HELLO, KEY, PNG_BASE64, RESULT, TALK, THINK, THINKS,
  THOUGHT, TRIP, WEATHER,
} from "./common.mjs";

const made = (apiKey) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: GATEWAY } });
const client = made(KEY);
const { parameters: parametersJsonSchema, ...named } = WEATHER;
const tools = [{ functionDeclarations: [{ ...named, parametersJsonSchema }] }];
const responses = (calls) =>
  calls.map((call) => ({ functionResponse: { id: call.id, name: call.name, response: { output: RESULT } } }));

test("a whole answer", async () => {
  const reply = await client.models.generateContent({ model: TALK, contents: "Hi", config: { systemInstruction: "Be brief." } });
  assert.equal(reply.text, HELLO);
  assert.equal(reply.candidates[0].finishReason, "STOP");
  assert.equal(reply.usageMetadata.candidatesTokenCount, 10);
});

test("a stream", async () => {
  const chunks = await all(await client.models.generateContentStream({ model: TALK, contents: "Hi" }));
  assert.ok(chunks.length > 1);
  assert.equal(chunks.map((chunk) => chunk.text ?? "").join(""), HELLO);
  assert.equal(chunks.at(-1).candidates[0].finishReason, "STOP");
});

test("a chat over two turns", async () => {
  const chat = client.chats.create({ model: TALK });
  assert.equal((await chat.sendMessage({ message: "Hi" })).text, HELLO);
  const chunks = await all(await chat.sendMessageStream({ message: "And again?" }));
  assert.equal(chunks.map((chunk) => chunk.text ?? "").join(""), HELLO);
  assert.equal(chat.getHistory(true)[0].parts[0].text, "Hi");
});

test("tools over two turns", async () => {
  const chat = client.chats.create({ model: TALK, config: { tools } });
  const reply = await chat.sendMessage({ message: ASK_WEATHER });
  assert.deepEqual(reply.functionCalls.map((call) => [call.name, call.args]), [[WEATHER.name, { city: "Oslo" }]]);
  assert.match((await chat.sendMessage({ message: responses(reply.functionCalls) })).text, /4 degrees/);
});

test("parallel calls and their results, streamed", async () => {
  const chat = client.chats.create({ model: TALK, config: { tools } });
  const chunks = await all(await chat.sendMessageStream({ message: ASK_TWICE }));
  const calls = chunks.flatMap((chunk) => chunk.functionCalls ?? []);
  assert.deepEqual(calls.map((call) => call.args), [{ city: "Oslo" }, { city: "Oslo" }]);
  assert.match((await chat.sendMessage({ message: responses(calls) })).text, /4 degrees.*4 degrees/);
});

test("a thought that goes along into the next turn", { skip: !THINKS }, async () => {
  for (const streamed of [false, true]) {
    const config = { tools, thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.LOW } };
    const chat = client.chats.create({ model: THINK, config });
    const told = streamed
      ? await all(await chat.sendMessageStream({ message: ASK_WEATHER }))
      : [await chat.sendMessage({ message: ASK_WEATHER })];
    const parts = told.flatMap((reply) => reply.candidates[0].content.parts);
    assert.equal(parts.filter((part) => part.thought).map((part) => part.text).join(""), THOUGHT);
    const calls = told.flatMap((reply) => reply.functionCalls ?? []);
    assert.match((await chat.sendMessage({ message: responses(calls) })).text, /4 degrees/);
  }
});

test("a forced call", async () => {
  const functionCallingConfig = { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: [WEATHER.name] };
  const config = { tools, toolConfig: { functionCallingConfig } };
  const reply = await client.models.generateContent({ model: TALK, contents: "Hi", config });
  assert.equal(reply.functionCalls[0].name, WEATHER.name);
});

test("structured output", async () => {
  const config = { responseMimeType: "application/json", responseJsonSchema: TRIP };
  const reply = await client.models.generateContent({ model: TALK, contents: "A trip", config });
  assert.deepEqual(JSON.parse(reply.text), { city: "Oslo", days: 3 });
});

test("an image", async () => {
  const parts = [{ text: "Look." }, { inlineData: { mimeType: "image/png", data: PNG_BASE64 } }];
  const reply = await client.models.generateContent({ model: TALK, contents: [{ role: "user", parts }] });
  assert.equal(reply.text, "I see 1 image.");
});

test("models and tokens", async () => {
  const found = await all(await client.models.list());
  assert.ok(found.some((model) => model.name === `models/${TALK}`), JSON.stringify(found));
  const counted = await client.models.countTokens({ model: TALK, contents: "Hi" });
  assert.ok(counted.totalTokens > 0);
});

test("errors have their status", async () => {
  const statuses = [];
  for (const [asking, model] of [[client, BUSY], [made("wrong"), TALK], [client, "no-such-model"]]) {
    const error = await failure(asking.models.generateContent({ model, contents: "Hi" }));
    assert.ok(error instanceof ApiError, String(error));
    statuses.push(error.status);
  }
  assert.deepEqual(statuses, [429, 401, 404]);
});

test("a stream that breaks off is an error", async () => {
  const read = async () => all(await client.models.generateContentStream({ model: BROKEN, contents: "Hi" }));
  assert.ok((await failure(read())) instanceof ApiError);
});
