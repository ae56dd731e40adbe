"""Runs that go on where a web page stands, told in the page's own protocol, in both faces."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

import interlingua as il
from interlingua.testing import FakeModel, use
from tests.support.agents import FACES, AgentFace, call

SECRET = "a secret of the server"
SAID = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Weather?"}]}
INPUT = {"threadId": "th", "runId": "r1", "messages": [{"id": "1", "role": "user", "content": "Weather?"}]}


@pytest.fixture(params=FACES, ids=repr)
def face(request: pytest.FixtureRequest) -> AgentFace:
    """Both faces of the agent."""
    return request.param


def told(face: AgentFace, agent: Any, chat: il.WebChat) -> list[dict[str, Any]]:
    """The events of a run that goes on where the page stands."""

    async def awaited() -> bytes:
        async with agent.stream(chat) as run:
            return b"".join([piece async for piece in run.sse(chat)])

    def blocking() -> bytes:
        with agent.stream(chat) as run:
            return b"".join(run.sse(chat))

    frames = cast("bytes", face.settle(awaited if face.awaited else blocking)).split(b"\n\n")
    return [json.loads(frame.removeprefix(b"data: ")) for frame in frames if frame and frame != b"data: [DONE]"]


def answered(parts: list[dict[str, Any]], *, approved: bool, **more: Any) -> dict[str, Any]:
    """The message of the page after a run that waits, with what its user decided."""
    [made] = [part for part in parts if part["type"] == "tool-input-available"]
    [asked] = [part for part in parts if part["type"] == "tool-approval-request"]
    call_part = {
        "type": f"tool-{made['toolName']}",
        "toolCallId": made["toolCallId"],
        "state": "approval-responded",
        "input": made["input"],
        "approval": {"id": asked["approvalId"], "approved": approved},
        "callProviderMetadata": made["providerMetadata"],
        **more,
    }
    return {"id": "2", "role": "assistant", "parts": [{"type": "step-start"}, call_part]}


def test_an_approved_call_runs_and_its_result_comes_first(face: AgentFace) -> None:
    """Nothing is kept on the server: the page brings the conversation, and the signature that its call is ours."""
    with use(FakeModel([call("Oslo", "call_1"), "Cold."])) as fake:
        agent = face.agent(approve="ask")
        chat = il.web_chat({"id": "c", "messages": [SAID]}, secret=SECRET)
        parts = told(face, agent, chat)
        assert parts[-1] == {"type": "finish", "finishReason": "tool-calls"}
        chat = il.web_chat({"id": "c", "messages": [SAID, answered(parts, approved=True)]}, secret=SECRET)
        parts = told(face, agent, chat)
    assert parts == [
        {"type": "start"},
        {"type": "tool-output-available", "toolCallId": "call_1", "output": {"city": "Oslo", "celsius": 4}},
        {"type": "start-step"},
        {"type": "text-start", "id": "1"},
        {"type": "text-delta", "id": "1", "delta": "Cold."},
        {"type": "text-end", "id": "1"},
        {"type": "finish-step"},
        {"type": "finish", "finishReason": "stop"},
    ]
    assert [message.role for message in fake.last_request.messages] == ["user", "assistant", "tool"]


def test_a_call_that_is_denied_does_not_run(face: AgentFace) -> None:
    """The model reads why."""
    with use(FakeModel([call("Oslo", "call_1"), "Then not."])) as fake:
        agent = face.agent(approve="ask")
        parts = told(face, agent, il.web_chat({"id": "c", "messages": [SAID]}, secret=SECRET))
        body = {"id": "c", "messages": [SAID, answered(parts, approved=False)]}
        parts = told(face, agent, il.web_chat(body, secret=SECRET))
    error = "the call of get_weather was not approved"
    assert parts[1] == {"type": "tool-output-error", "toolCallId": "call_1", "errorText": error}
    assert fake.last_request.messages[-1].tool_results[0].content == error


def test_a_call_with_other_arguments_is_refused(face: AgentFace) -> None:
    """Before anything runs."""
    with use(FakeModel([call("Oslo", "call_1")])):
        parts = told(face, face.agent(approve="ask"), il.web_chat({"id": "c", "messages": [SAID]}, secret=SECRET))
    body = {"id": "c", "messages": [SAID, answered(parts, approved=True, input={"city": "Moon"})]}
    with pytest.raises(il.DecodeError, match="not requested here, or not with these arguments"):
        il.web_chat(body, secret=SECRET)


def test_a_run_is_told_in_ag_ui(face: AgentFace) -> None:
    """One run: text and calls under the ids of their messages, results, and the end."""
    answer = il.Response(parts=(il.ThinkingPart("hm"), il.TextPart("Looking."), call("Oslo", "call_1")))
    with use(FakeModel([answer, "Cold."])):
        events = told(face, face.agent(), il.web_chat(INPUT, "ag-ui"))
    ids: dict[str, str] = {}
    for event in events:
        for name in ("messageId", "parentMessageId"):
            if name in event:
                event[name] = ids.setdefault(event[name], f"m{len(ids) + 1}")
    run = {"threadId": "th", "runId": "r1"}
    assert events == [
        {"type": "RUN_STARTED", **run, "protocolVersion": "1.0"},
        {"type": "REASONING_START", "messageId": "m1"},
        {"type": "REASONING_MESSAGE_START", "messageId": "m1", "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": "m1", "delta": "hm"},
        {"type": "REASONING_MESSAGE_END", "messageId": "m1"},
        {"type": "REASONING_END", "messageId": "m1"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m2", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m2", "delta": "Looking."},
        {"type": "TEXT_MESSAGE_END", "messageId": "m2"},
        {"type": "TOOL_CALL_START", "toolCallId": "call_1", "toolCallName": "get_weather", "parentMessageId": "m2"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "call_1", "delta": '{"city":"Oslo"}'},
        {"type": "TOOL_CALL_END", "toolCallId": "call_1"},
        {
            "type": "TOOL_CALL_RESULT",
            "messageId": "m3",
            "toolCallId": "call_1",
            "content": '{"city":"Oslo","celsius":4}',
            "role": "tool",
        },
        {"type": "TEXT_MESSAGE_START", "messageId": "m4", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m4", "delta": "Cold."},
        {"type": "TEXT_MESSAGE_END", "messageId": "m4"},
        {"type": "RUN_FINISHED", **run, "result": {"stopReason": "done"}, "outcome": {"type": "success"}},
    ]


def test_an_approval_is_an_interrupt_of_ag_ui(face: AgentFace) -> None:
    """Its id brings the signature back; the next run has the result first."""
    with use(FakeModel([call("Oslo", "call_1"), "Cold."])):
        agent = face.agent(approve="ask")
        *_, end = told(face, agent, il.web_chat(INPUT, "ag-ui", secret=SECRET))
        [interrupt] = end["outcome"]["interrupts"]
        assert (interrupt["reason"], interrupt["toolCallId"]) == ("tool_approval", "call_1")
        assert interrupt["id"].startswith("call_1.")
        function = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
        called = {
            "id": "2",
            "role": "assistant",
            "toolCalls": [{"id": "call_1", "type": "function", "function": function}],
        }
        resume = [{"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}]
        body = {**INPUT, "messages": [*INPUT["messages"], called], "resume": resume}
        events = told(face, agent, il.web_chat(body, "ag-ui", secret=SECRET))
    assert [event["type"] for event in events][:3] == ["RUN_STARTED", "TOOL_CALL_RESULT", "TEXT_MESSAGE_START"]


def test_an_error_ends_a_run_of_ag_ui(face: AgentFace) -> None:
    """As an error, never as an end."""
    with use(FakeModel([il.RateLimitError("slow down")])):
        events = told(face, face.agent(), il.web_chat(INPUT, "ag-ui"))
    assert events[-1] == {"type": "RUN_ERROR", "message": "slow down"}


def test_a_tool_says_itself_who_approves_it(face: AgentFace) -> None:
    """Whatever the agent says of all; the words are checked."""

    def get_weather(city: str) -> str:
        """Tell the weather."""
        return f"4 in {city}"

    with use(FakeModel([call("Oslo", "call_1")])):
        agent = face.agent(tools=[il.tool(get_weather, approve="ask")])
        parts = told(face, agent, il.web_chat({"id": "c", "messages": [SAID]}))
    assert {"type": "tool-approval-request", "approvalId": "call_1", "toolCallId": "call_1"} in parts
    with use(FakeModel([call("Oslo", "call_1"), "Warm."])):
        agent = face.agent(tools=[il.tool(get_weather, approve="auto")], approve="never")
        parts = told(face, agent, il.web_chat({"id": "c", "messages": [SAID]}))
    assert {"type": "tool-output-available", "toolCallId": "call_1", "output": "4 in Oslo"} in parts
    with pytest.raises(il.UsageError, match="approve takes auto, ask, never or a function"):
        il.tool(get_weather, approve="yes")  # pyright: ignore[reportArgumentType]  # what is tested
    with pytest.raises(il.UsageError, match="has no handler"):
        il.tool({"name": "f", "parameters": {"type": "object"}}, approve="ask")


def test_a_page_is_the_history_itself(face: AgentFace) -> None:
    """There cannot be another one."""
    chat = il.web_chat({"id": "c", "messages": [SAID]})
    with pytest.raises(il.UsageError, match="includes the history"):
        face.agent().stream(chat, history=[il.user("Hi")])
