// What the client of AG-UI makes of runs that a Python web application tells, approvals included.
import assert from "node:assert/strict";
import test from "node:test";

import { HttpAgent } from "@ag-ui/client";

const agent = () => new HttpAgent({
  url: `${process.env.APPLICATION}/ag-ui`,
  threadId: "thread",
  initialMessages: [{ id: "1", role: "user", content: "Weather in Oslo?" }],
});

test("an approved call runs, and the run goes on", async () => {
  const client = agent();
  let outcome;
  const watch = { onRunFinishedEvent: ({ event }) => { outcome = event.outcome; } };
  await client.runAgent({}, watch);
  assert.equal(outcome.type, "interrupt");
  const [interrupt] = outcome.interrupts;
  assert.equal(interrupt.reason, "tool_approval");
  await client.runAgent({ resume: [{ interruptId: interrupt.id, status: "resolved", payload: { approved: true } }] }, watch);
  assert.equal(outcome.type, "success");
  const roles = client.messages.map((message) => message.role);
  assert.deepEqual(roles, ["user", "assistant", "tool", "assistant"]);
  assert.equal(client.messages[2].content, '{"city":"Oslo","celsius":4}');
  assert.equal(client.messages[3].content, "Cold.");
});

test("a call that is denied does not run", async () => {
  const client = agent();
  let outcome;
  const watch = { onRunFinishedEvent: ({ event }) => { outcome = event.outcome; } };
  await client.runAgent({}, watch);
  const resume = [{ interruptId: outcome.interrupts[0].id, status: "resolved", payload: { approved: false, reason: "no" } }];
  await client.runAgent({ resume }, watch);
  assert.equal(client.messages[2].content, "the call of get_weather was not approved: no");
});
