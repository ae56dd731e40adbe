// The AI SDK: generateText and streamText, over its providers.
import { generateText, isStepCount, Output, streamText, tool } from "ai";
import { z } from "zod";

import { ASK, connect, job, main, PNG_BASE64 } from "./common.mjs";

const THINKING = {
  "openai-responses": { openai: { reasoningEffort: "high", reasoningSummary: "auto", forceReasoning: true, store: false } },
  "openai-chat": { gateway: { reasoningEffort: "high" } },
  anthropic: { anthropic: { thinking: { type: "enabled", budgetTokens: 2000 } } },
  google: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 } } },
};
const Trip = z.object({ city: z.enum(["Oslo", "Bergen"]), days: z.number().int() });
const options = async (model, prompt) => ({ model: (await connect(model)).model, prompt, maxRetries: 0 });
const tools = (call) => ({
  get_weather: tool({
    description: "The weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => call(city),
  }),
});
const looped = async (model, call, prompt = ASK) => ({
  ...(await options(model, prompt)), tools: tools(call), stopWhen: isStepCount(5),
});

async function pieces(result) {
  const found = [];
  for await (const part of result.fullStream) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") found.push(part.text ?? part.delta);
  }
  return found;
}

await main({
  text: async (model) => (await generateText(await options(model, "Hi"))).text,
  fail: async (model) => generateText(await options(model, "Hi")),
  stream: async (model) => pieces(streamText({ ...(await options(model, "Hi")), onError: () => {} })),
  loop: async (model, call) => (await generateText(await looped(model, call))).text,
  loopStreamed: async (model, call) => (await pieces(streamText(await looped(model, call)))).join(""),
  structured: async (model) =>
    (await generateText({ ...(await options(model, "A trip, by json.")), output: Output.object({ schema: Trip }) })).output,
  image: async (model) => {
    const picture = { type: "file", data: Buffer.from(PNG_BASE64, "base64"), mediaType: "image/png" };
    const { prompt, ...rest } = await options(model);
    return (await generateText({ ...rest, messages: [{ role: "user", content: [{ type: "text", text: "Look." }, picture] }] })).text;
  },
  thinking: async (model, call) => {
    const asked = await looped(model, call, "Use get_weather.");
    const result = await generateText({ ...asked, maxOutputTokens: 4000, providerOptions: THINKING[job.dialect] });
    return [result.steps[0].reasoningText ?? "", result.text];
  },
  usage: async (model) => {
    const { usage } = await generateText(await options(model, "Hi"));
    return [usage.inputTokens, usage.outputTokens];
  },
});
