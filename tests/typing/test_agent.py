"""What type checkers must know about agents and their runs, in both faces. Read by them, never run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, assert_type

import interlingua as il
from interlingua import aio


@dataclass
class Plan:
    """Something typed."""

    days: int


def typed_runs(model: il.Model) -> None:
    """The type of the answer is that of the output; without one it is text."""
    agent = il.Agent(model, tools=[len], output=Plan, max_steps=3, max_cost_usd=0.5, approve="ask")
    assert_type(agent, il.Agent[Plan])
    run = agent.run("Plan.", context=object())
    assert_type(run, il.Run[Plan])
    assert_type(run.output, Plan)
    assert_type(run.output.days, int)
    assert_type(agent.with_options(max_steps=4).run("Plan.").output, Plan)
    assert_type(agent.resume(run, approvals={"call_0": "no"}).output, Plan)
    assert_type(agent.resume(il.dump(run)).output, Plan)
    assert_type(il.Agent("a/b").run("Hi", history=run).output, str)
    assert_type(il.Agent("a/b", output=list[int]).run("Hi").output, list[int])
    assert_type(il.Agent("a/b", output=Literal["yes", "no"]).run("Hi").output, Literal["yes", "no"])
    assert_type(il.Agent("a/b", output=Plan | None).run("Hi").output, Plan | None)
    assert_type(il.Agent("a/b", output={"type": "object"}).run("Hi").output, Any)
    assert_type(il.Agent("a/b", tools=[len], final_tool="len").run("Hi").output, Any)
    assert_type(model.generate("Go on.", history=run).text, str)
    assert_type(agent.as_tool("plan", "Plans."), il.Tool)
    assert_type(il.Agent("a/b", tools=[len, il.mcp("uvx some-server"), il.mcp(".mcp.json")]), il.Agent[str])
    assert_type(aio.Agent("a/b", tools=[len, aio.mcp("uvx some-server")]), aio.Agent[str])


def facts(run: il.Run[Plan]) -> None:
    """What there is to see of a run."""
    assert_type(run.messages, tuple[il.Message, ...])
    assert_type(run.steps, tuple[il.Step, ...])
    assert_type(run.usage, il.Usage | None)
    assert_type(run.cost_usd, float | None)
    assert_type(run.stop_reason, il.StopReason | None)
    assert_type(run.changes, tuple[il.Change, ...])
    assert_type(run.record, il.RunRecord)


def live(agent: il.Agent[Plan]) -> None:
    """A live run gives the events of the model and of the loop."""
    with agent.stream("Plan.") as run:
        assert_type(run, il.Run[Plan])
        for event in run:
            assert_type(event, il.RunEvent)
            match event:
                case il.TextDelta(text=text):
                    assert_type(text, str)
                case il.ToolStarted(call=call, step=step):
                    assert_type(call, il.ToolCall)
                    assert_type(step, int)
                case il.ToolFinished(result=result):
                    assert_type(result.is_error, bool)
                case il.ApprovalNeeded(call=call):
                    run.approve(call)
                    run.deny(call, "why")
                case _:
                    pass
        assert_type(run.finish().output, Plan)


async def awaited(model: aio.Model) -> None:
    """The same, awaited."""
    agent = aio.Agent(model, output=Plan)
    assert_type(agent, aio.Agent[Plan])
    assert_type((await agent.run("Plan.")).output, Plan)
    async with agent.stream("Plan.") as run:
        async for event in run:
            assert_type(event, il.RunEvent)
        assert_type(run.output, Plan)
    assert_type((await aio.Agent(model).run("Plan.")).output, str)
