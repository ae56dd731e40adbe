// Google's own SDK for JavaScript, with its automatic function calling.
import { z } from "zod";

import { ASK, connect, main, PNG_BASE64 } from "./common.mjs";

const Trip = z.object({ city: z.enum(["Oslo", "Bergen"]), days: z.number().int() });

async function ask(name, contents, config = {}) {
  const { client, model } = await connect(name);
  return client.models.generateContent({ model, contents, config });
}

const callable = (call) => ({
  tool: async () => ({
    functionDeclarations: [{
      name: "get_weather",
      description: "The weather of a city.",
      parametersJsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    }],
  }),
  callTool: async (calls) =>
    calls.map(({ id, name, args }) => ({ functionResponse: { id, name, response: { output: call(args.city) } } })),
});

async function pieces(name, contents, config = {}) {
  const { client, model } = await connect(name);
  const found = [];
  for await (const chunk of await client.models.generateContentStream({ model, contents, config })) found.push(chunk.text);
  return found;
}

await main({
  text: async (model) => (await ask(model, "Hi")).text,
  fail: async (model) => ask(model, "Hi"),
  stream: async (model) => pieces(model, "Hi"),
  loop: async (model, call) => (await ask(model, ASK, { tools: [callable(call)] })).text,
  loopStreamed: async (model, call) => (await pieces(model, ASK, { tools: [callable(call)] })).filter(Boolean).join(""),
  structured: async (model) => {
    const config = { responseMimeType: "application/json", responseJsonSchema: z.toJSONSchema(Trip) };
    return JSON.parse((await ask(model, "A trip", config)).text);
  },
  image: async (model) =>
    (await ask(model, [{ text: "Look." }, { inlineData: { mimeType: "image/png", data: PNG_BASE64 } }])).text,
  thinking: async (model, call) => {
    const config = { tools: [callable(call)], thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 } };
    const reply = await ask(model, "Use get_weather.", config);
    const turns = reply.automaticFunctionCallingHistory ?? [];
    const thoughts = turns.flatMap((turn) => turn.parts ?? []).filter((part) => part.thought);
    return [thoughts[0]?.text ?? "", reply.text];
  },
  usage: async (model) => {
    const { usageMetadata } = await ask(model, "Hi");
    return [usageMetadata.promptTokenCount, usageMetadata.candidatesTokenCount];
  },
});
