// The AI SDK, through its providers for OpenAI (Responses and Chat), Anthropic, Google and compatible servers.
import assert from "node:assert/strict";
import test from "node:test";

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, isStepCount, Output, streamText, tool } from "ai";
import { z } from "zod";

import {
  all, ASK_TWICE, ASK_WEATHER, BROKEN, BUSY, failure, GATEWAY, HELLO, KEY, PNG_BASE64, RESULT, TALK, WEATHER,
} from "./common.mjs";

const openai = createOpenAI({ baseURL: `${GATEWAY}/v1`, apiKey: KEY });
const anthropic = createAnthropic({ baseURL: `${GATEWAY}/v1`, apiKey: KEY });
const google = createGoogle({ baseURL: `${GATEWAY}/v1beta`, apiKey: KEY });
const compatible = createOpenAICompatible({
  name: "gateway", baseURL: `${GATEWAY}/v1`, apiKey: KEY, supportsStructuredOutputs: true, includeUsage: true,
});
const models = {
  "openai responses": (name) => openai.responses(name),
  "openai chat": (name) => openai.chat(name),
  anthropic,
  google,
  compatible: (name) => compatible.chatModel(name),
};
const Trip = z.object({ city: z.enum(["Oslo"]), days: z.literal(3) });
const called = [];
const tools = {
  get_weather: tool({
    description: WEATHER.description,
    inputSchema: z.object({ city: z.enum(["Oslo"]) }),
    execute: async ({ city }) => {
      called.push(city);
      return RESULT;
    },
  }),
};
const options = { maxRetries: 0 };

for (const [name, model] of Object.entries(models)) {
  test(`${name}: a whole answer`, async () => {
    const reply = await generateText({ ...options, model: model(TALK), system: "Be brief.", prompt: "Hi" });
    assert.equal(reply.text, HELLO);
    assert.equal(reply.finishReason, "stop");
    assert.equal(reply.usage.outputTokens, 10);
  });

  test(`${name}: a stream`, async () => {
    const result = streamText({ ...options, model: model(TALK), prompt: "Hi" });
    const pieces = await all(result.textStream);
    assert.ok(pieces.length > 1);
    assert.equal(pieces.join(""), HELLO);
    assert.equal((await result.usage).outputTokens, 10);
  });

  test(`${name}: tools over two steps, whole and streamed`, async () => {
    for (const prompt of [ASK_WEATHER, ASK_TWICE]) {
      called.length = 0;
      const body = { ...options, model: model(TALK), prompt, tools, stopWhen: isStepCount(3) };
      assert.match((await generateText(body)).text, /4 degrees/);
      assert.match(await streamText(body).text, /4 degrees/);
      assert.equal(called.length, prompt === ASK_TWICE ? 4 : 2);
    }
  });

  const unforced = name === "anthropic" && process.env.UPSTREAM === "ollama" && "it forces a call, and Ollama has none";
  test(`${name}: structured output`, { skip: unforced }, async () => {
    const body = { ...options, model: model(TALK), prompt: "A trip", output: Output.object({ schema: Trip }) };
    assert.deepEqual((await generateText(body)).output, { city: "Oslo", days: 3 });
    const parts = await all(streamText(body).partialOutputStream);
    assert.deepEqual(parts.at(-1), { city: "Oslo", days: 3 });
  });

  test(`${name}: an image`, async () => {
    const content = [
      { type: "text", text: "Look." },
      { type: "file", data: Buffer.from(PNG_BASE64, "base64"), mediaType: "image/png" },
    ];
    const reply = await generateText({ ...options, model: model(TALK), messages: [{ role: "user", content }] });
    assert.equal(reply.text, "I see 1 image.");
  });

  test(`${name}: errors`, async () => {
    const busy = await failure(generateText({ ...options, model: model(BUSY), prompt: "Hi" }));
    assert.ok(APICallError.isInstance(busy), String(busy));
    assert.equal(busy.statusCode, 429);
    assert.equal(busy.isRetryable, true);
    const unknown = await failure(generateText({ ...options, model: model("no-such-model"), prompt: "Hi" }));
    assert.equal(unknown.statusCode, 404);
  });

  test(`${name}: a stream that breaks off is an error`, async () => {
    const seen = [];
    const result = streamText({ ...options, model: model(BROKEN), prompt: "Hi", onError: ({ error }) => seen.push(error) });
    await result.consumeStream();
    assert.equal(seen.length, 1, "no error was told");
  });
}
