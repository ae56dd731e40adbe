"""The calls that solve the tasks of a public data set, played through the loop: every one arrives as it was said.

A scripted model says them, one by one or all at once, whole or streamed; the services are imitated strictly, and the
tools write down what they were called with.
"""

from __future__ import annotations

from itertools import cycle, product
from typing import NamedTuple

import pytest

import interlingua as il
from interlingua.testing import no_network
from interlingua.testing.upstream import Call, Say, Upstream
from interlingua.types.content import Json
from tests.support.imitated import IMITATED
from tests.support.tau2 import DOMAINS, NOT_HERE, Played, Task, domain, is_here

pytestmark = pytest.mark.skipif(not is_here(), reason=NOT_HERE)

SPECS = {
    "openai-chat": "openai-chat/gpt-4.1",
    "openai-responses": "openai/gpt-5.6",
    "anthropic": "anthropic/claude-opus-5",
    "google": "google/gemini-3-pro",
    "ollama": "ollama/qwen3-vl",
    "cohere": "cohere/command-a-03-2025",
    "unified": "hub/smart",
    "bedrock": "bedrock/us.anthropic.claude-opus-5",
}
COUNTS = {"airline": (50, 14, 148), "retail": (114, 15, 553)}
"""Tasks, tools and calls of each domain, as published."""


class Way(NamedTuple):
    """How a task is played."""

    at_once: bool
    """Whether one answer makes all calls of the task, or each one its own."""
    streamed: bool
    """Whether the answers are streamed."""


WAYS = tuple(Way(*pair) for pair in product((False, True), repeat=2))
"""Each task is played in one of them, in turn."""


def _script(task: Task, way: Way) -> list[Say]:
    """The answers of a model that makes the calls of the task, then says that it is done."""
    calls = tuple(Call(name, arguments) for name, arguments in task.actions)
    steps = [Say(calls=calls)] if way.at_once and calls else [Say(calls=(call,)) for call in calls]
    return [*steps, Say(text="Done.")]


def _play(agent: il.Agent[str], task: Task, way: Way) -> il.Run[str]:
    """The run of a task."""
    if not way.streamed:
        return agent.run(task.prompt)
    with agent.stream(task.prompt) as live:
        assert sum(isinstance(event, il.ToolFinished) for event in live) == len(task.actions)
    return live


def test_there_are_as_many_as_are_published() -> None:
    """No task, tool or call is lost on the way to the test."""
    counted = {name: sum(len(task.actions) for task in domain(name).tasks) for name in DOMAINS}
    assert {name: (len(domain(name).tasks), len(domain(name).tools([])), counted[name]) for name in DOMAINS} == COUNTS


@pytest.mark.parametrize("dialect", sorted(IMITATED))
@pytest.mark.parametrize("name", DOMAINS)
def test_r38_the_calls_of_every_task_arrive_as_they_were_said(
    name: str, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and arguments are the expected ones, results go back in their order, and no request is refused."""
    monkeypatch.setenv("LLM_HUB", "interlingua://token-of-the-hub@hub.example")
    policy, tasks, _ = data = domain(name)
    recorded: Played = []
    tools = il.Toolbox(data.tools(recorded))
    for task, way in zip(tasks, cycle(WAYS)):
        recorded.clear()
        script = _script(task, way)
        agent = il.Agent(SPECS[dialect], tools=tools, system=policy, max_steps=len(script))
        with no_network(), Upstream(dialect, *script).standing() as upstream:
            run = _play(agent, task, way)
        assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
        assert (run.stop_reason, run.output, len(run.steps)) == ("done", "Done.", len(script))
        assert [(call.name, call.arguments) for step in run.steps for call in step.response.tool_calls] == task.actions
        results = [result for step in run.steps for result in step.results]
        assert [(result.name, result.content) for result in results] == [
            (tool, Json(given)) for tool, given in task.actions
        ]
        if way.at_once:  # side by side, in any order
            recorded.sort(key=repr)
        assert recorded == (sorted(task.actions, key=repr) if way.at_once else task.actions)
