// LangChain for JavaScript: the chat models of its four packages.
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { z } from "zod";

import { ASK, connect, job, main, PNG_BASE64 } from "./common.mjs";

const THINKING = {
  "openai-responses": { reasoning: { effort: "high", summary: "auto" } },
  anthropic: { thinking: { type: "enabled", budget_tokens: 2000 }, maxTokens: 4000 },
  google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 } },
  ollama: { think: true },
};
const Trip = z.object({ city: z.enum(["Oslo", "Bergen"]), days: z.number().int() });
const chat = async (name) => (await connect(name)).model;

async function steps(model, call, content, ask) {
  const weather = tool(({ city }) => call(city), {
    name: "get_weather", description: "The weather of a city.", schema: z.object({ city: z.string() }),
  });
  const bound = model.bindTools([weather]);
  const messages = [new HumanMessage(content)];
  const replies = [];
  for (;;) {
    const reply = await ask(bound, messages);
    replies.push(reply);
    messages.push(reply);
    if (!reply.tool_calls?.length) return replies;
    for (const each of reply.tool_calls) {
      messages.push(new ToolMessage({ content: call(each.args.city), tool_call_id: each.id, name: each.name }));
    }
  }
}

const whole = (model, messages) => model.invoke(messages);

async function summed(model, messages) {
  let sum;
  for await (const chunk of await model.stream(messages)) sum = sum ? sum.concat(chunk) : chunk;
  return sum;
}

const driver = {
  text: async (name) => (await (await chat(name)).invoke("Hi")).text,
  fail: async (name) => {
    const made = await chat(name);
    return new made.constructor({ ...made.lc_kwargs, maxRetries: 0 }).invoke("Hi"); // else it tries seven times
  },
  stream: async (name) => {
    const pieces = [];
    for await (const chunk of await (await chat(name)).stream("Hi")) pieces.push(chunk.text);
    return pieces;
  },
  loop: async (name, call) => (await steps(await chat(name), call, ASK, whole)).at(-1).text,
  loopStreamed: async (name, call) => (await steps(await chat(name), call, ASK, summed)).at(-1).text,
  structured: async (name) => (await chat(name)).withStructuredOutput(Trip, { name: "Trip" }).invoke("A trip, by Trip."),
  image: async (name) => {
    const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG_BASE64}` } };
    return (await (await chat(name)).invoke([new HumanMessage({ content: [{ type: "text", text: "Look." }, picture] })])).text;
  },
  usage: async (name) => {
    const { usage_metadata: usage } = await (await chat(name)).invoke("Hi");
    return [usage.input_tokens, usage.output_tokens];
  },
};
if (THINKING[job.dialect]) {
  driver.thinking = async (name, call) => {
    const made = await chat(name);
    const model = new made.constructor({ ...made.lc_kwargs, ...THINKING[job.dialect] });
    const replies = await steps(model, call, "Use get_weather.", whole);
    const thoughts = (replies[0].contentBlocks ?? []).filter((block) => ["reasoning", "thinking"].includes(block.type));
    return [thoughts[0]?.reasoning ?? thoughts[0]?.thinking ?? "", replies.at(-1).text];
  };
}
await main(driver);
