// What the AI SDK's own transport and reader make of streams that a Python web application tells.
import assert from "node:assert/strict";
import test from "node:test";

import { DefaultChatTransport, readUIMessageStream } from "ai";

const APPLICATION = process.env.APPLICATION;

/** The last state of the message that an answer adds up to, and the errors on the way. */
async function read(path) {
  const transport = new DefaultChatTransport({ api: `${APPLICATION}${path}` });
  const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: "Hi" }] }];
  const stream = await transport.sendMessages({ trigger: "submit-message", chatId: "c", messages, abortSignal: undefined });
  const errors = [];
  let message;
  for await (const state of readUIMessageStream({ stream, onError: (error) => errors.push(String(error)) })) message = state;
  return { parts: message?.parts ?? [], errors };
}

test("text and reasoning", async () => {
  const { parts, errors } = await read("/text");
  assert.deepEqual(errors, []);
  assert.deepEqual(parts.map(({ type, text, state }) => [type, text, state]), [
    ["step-start", undefined, undefined],
    ["reasoning", "Let me see.", "done"],
    ["text", 'Say "hi", 世界 🌍\n', "done"],
  ]);
});

test("a call for the page to run", async () => {
  const { parts, errors } = await read("/call");
  assert.deepEqual(errors, []);
  const [, call] = parts;
  assert.equal(call.type, "tool-get_weather");
  assert.equal(call.state, "input-available");
  assert.deepEqual(call.input, { city: "Oslo" });
});

test("a file and a source", async () => {
  const { parts, errors } = await read("/media");
  assert.deepEqual(errors, []);
  assert.deepEqual(parts.map((part) => part.type), ["step-start", "text", "source-url", "file"]);
  assert.equal(parts[2].url, "https://example.org/oslo");
  assert.equal(parts[3].mediaType, "image/png");
});

test("a run of an agent", async () => {
  const { parts, errors } = await read("/agent");
  assert.deepEqual(errors, []);
  assert.deepEqual(parts.map((part) => part.type), ["step-start", "tool-get_weather", "step-start", "text"]);
  assert.equal(parts[1].state, "output-available");
  assert.deepEqual(parts[1].output, { city: "Oslo", celsius: 4 });
  assert.equal(parts[3].text, "Cold.");
});

test("a tool that fails", async () => {
  const { parts } = await read("/failing");
  assert.equal(parts[1].state, "output-error");
  assert.equal(parts[1].errorText, "no such city");
});

test("a call that waits for an approval", async () => {
  const { parts, errors } = await read("/approval");
  assert.deepEqual(errors, []);
  assert.equal(parts[1].state, "approval-requested");
  assert.equal(parts[1].approval.id, parts[1].toolCallId);
});

test("a stream that breaks off is an error", async () => {
  const { parts, errors } = await read("/broken");
  assert.equal(parts[1].text, "Once");
  assert.equal(errors.length, 1);
  assert.match(errors[0], /the stream ended/);
});

test("what fails before the first content is a status", async () => {
  await assert.rejects(read("/refused"), /no such key/);
});
