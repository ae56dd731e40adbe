"""Runs told to web clients as UI messages of the AI SDK, in both faces."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

import interlingua as il
from interlingua import aio
from interlingua.testing import FakeModel, use
from tests.support.agents import FACES, AgentFace, call

START, STEP, STEP_END = {"type": "start"}, {"type": "start-step"}, {"type": "finish-step"}


@pytest.fixture(params=FACES, ids=repr)
def face(request: pytest.FixtureRequest) -> AgentFace:
    """Both faces of the agent."""
    return request.param


def _told(face: AgentFace, agent: Any, **options: Any) -> list[dict[str, Any]]:
    """The parts of a run that is told."""

    async def awaited() -> bytes:
        async with agent.stream("Weather?", **options) as run:
            return b"".join([piece async for piece in run.sse()])

    def blocking() -> bytes:
        with agent.stream("Weather?", **options) as run:
            return b"".join(run.sse())

    told = cast("bytes", face.settle(awaited if face.awaited else blocking))
    *frames, done, nothing = told.split(b"\n\n")
    assert (done, nothing) == (b"data: [DONE]", b"")
    return [json.loads(frame.removeprefix(b"data: ")) for frame in frames]


def _call(call_id: str, city: str = "Oslo") -> list[dict[str, Any]]:
    named = {"toolCallId": call_id, "toolName": "get_weather"}
    return [
        {"type": "tool-input-start", **named},
        {"type": "tool-input-available", **named, "input": {"city": city}},
    ]


def test_steps_and_results(face: AgentFace) -> None:
    """Each answer is a step, which ends after the results of its calls; the whole run is one message."""
    with use(FakeModel([call("Oslo", "call_1"), "Cold."])):
        told = _told(face, face.agent())
    assert told == [
        START,
        STEP,
        *_call("call_1"),
        {"type": "tool-output-available", "toolCallId": "call_1", "output": {"city": "Oslo", "celsius": 4}},
        STEP_END,
        STEP,
        {"type": "text-start", "id": "1"},
        {"type": "text-delta", "id": "1", "delta": "Cold."},
        {"type": "text-end", "id": "1"},
        STEP_END,
        {"type": "finish", "finishReason": "stop"},
    ]


def test_a_tool_that_fails(face: AgentFace) -> None:
    """What the model may read of a failure, the web client may read, too."""

    def get_weather(city: str) -> str:
        """Weather."""
        raise il.ToolError(f"no such city: {city}")

    with use(FakeModel([call("Atlantis", "call_1"), "Sorry."])):
        told = _told(face, face.agent(tools=[get_weather]))
    assert told[4] == {"type": "tool-output-error", "toolCallId": "call_1", "errorText": "no such city: Atlantis"}


def test_a_result_of_parts(face: AgentFace) -> None:
    """The texts and values among the parts, in order."""

    def get_weather(city: str) -> list[object]:
        """Weather."""
        return ["cold", il.ImagePart(b"\x89PNG\r\n\x1a\n", "image/png")]

    with use(FakeModel([call("Oslo", "call_1"), "Done."])):
        told = _told(face, face.agent(tools=[get_weather]))
    assert told[4] == {"type": "tool-output-available", "toolCallId": "call_1", "output": ["cold", ""]}


def test_progress_is_a_preliminary_output(face: AgentFace) -> None:
    """What a tool tells while it runs comes before its result."""

    def get_weather(city: str) -> str:
        """Weather."""
        il.progress(f"asking about {city}")
        return "4 degrees"

    with use(FakeModel([call("Oslo", "call_1"), "Cold."])):
        told = _told(face, face.agent(tools=[get_weather]))
    assert told[4:6] == [
        {"type": "tool-output-available", "toolCallId": "call_1", "output": "asking about Oslo", "preliminary": True},
        {"type": "tool-output-available", "toolCallId": "call_1", "output": "4 degrees"},
    ]


def test_an_approval_is_asked_for(face: AgentFace) -> None:
    """Under the call's own id, with which the run is resumed; the run ends there."""
    with use(FakeModel([call("Oslo", "call_1")])):
        told = _told(face, face.agent(approve="ask"))
    assert told[2:] == [
        *_call("call_1"),
        {"type": "tool-approval-request", "approvalId": "call_1", "toolCallId": "call_1"},
        STEP_END,
        {"type": "finish", "finishReason": "tool-calls"},
    ]


@pytest.mark.parametrize(
    ("reply", "options", "word"),
    [
        (il.Response(parts=(il.TextPart("Co"),), finish_reason="length"), {}, "length"),
        (il.Response(parts=(il.RefusalPart("no"),), finish_reason="refusal"), {}, "content-filter"),
        (call("Oslo", "call_1"), {"max_steps": 1}, "other"),
    ],
    ids=["length", "refusal", "max_steps"],
)
def test_why_it_ended(face: AgentFace, reply: Any, options: dict[str, Any], word: str) -> None:
    """Bounds and refusals in the AI SDK's words."""
    with use(FakeModel([reply])):
        told = _told(face, face.agent(**options))
    assert told[-2:] == [STEP_END, {"type": "finish", "finishReason": word}]


def test_an_error_ends_the_message(face: AgentFace) -> None:
    """A model that fails in a later step ends the message by an error part, without a finish."""
    with use(FakeModel([call("Oslo", "call_1"), il.AuthenticationError("wrong key", status=401)])):
        told = _told(face, face.agent())
    assert (told[-1]["type"], told[-1]["errorText"].endswith("wrong key")) == ("error", True)
    assert [part["type"] for part in told].count("finish") == 0


def test_a_dialect_tells_no_run(face: AgentFace) -> None:
    """A dialect has one answer of a model, and a run has several; and a run is told from its beginning."""
    with use(FakeModel(["Hi"])):
        run = face.agent().stream("Hi")
        with pytest.raises(il.UsageError, match="needs the format 'ai-sdk' or 'ag-ui', not 'openai-chat'"):
            run.sse("openai-chat")
        face.live(run)
        with pytest.raises(il.UsageError, match="from its beginning"):
            run.sse()


async def test_leaving_ends_the_run() -> None:
    """Closing the body ends the run."""
    with use(FakeModel(["Hi there"])):
        run = aio.Agent("fake/scripted").stream("Hi")
        body = run.sse()
        await anext(body)
        await body.aclose()
    assert run.stop_reason == "cancelled"
