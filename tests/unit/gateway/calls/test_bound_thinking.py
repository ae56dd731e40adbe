"""Thinking that the reasoning store restores behind a changed prefix: the conversation of a Chat client goes on."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply
from interlingua.stream.fold import fold
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from tests.support.gateway import answer_of, asking, body_of, events_of, gateway, header_of

MODEL = "work/claude-fable-5-1"
ENVIRON = {"LLM_WORK": "anthropic://token@127.0.0.1:1?tls=0"}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}
QUESTION, NEXT = {"role": "user", "content": "A city?"}, {"role": "user", "content": "Its weather?"}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Weather.", "parameters": SCHEMA}}]
MADE = [{"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}]
REFUSED = (
    b'{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` '
    b"in `thinking` block. The block is bound to a different conversation. Remove the block, or set "
    b'`thinking.block_binding.prefix_mismatch_behavior` to \\"drop_block\\"."},"request_id":"req_1"}'
)
BOUND = Line(status=400, pieces=(REFUSED,))


def _message(*content: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-fable-5-1", "content": content,
        "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2}, **members,
    }  # fmt: skip


def _whole(text: str, **members: Any) -> Line:
    return Line(pieces=(json.dumps(_message(THOUGHT, {"type": "text", "text": text}, **members)).encode(),))


def _streamed(text: str) -> Line:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**_message(), "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    pieces = tuple([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events])
    return Line(pieces=pieces, headers=(("content-type", "text/event-stream"),))


async def _asked(made: Gateway, dialect: str, *lines: Line, **members: Any) -> tuple[GatewayReply, list[Any]]:
    """The reply to a client, and the bodies that the upstream got, each with the beta features of its header."""
    script = Script(*lines)
    with overriding(Override(lambda _: ReplayTransport(), lambda _: AsyncReplayTransport(script=script))):
        reply = await made(asking(dialect, MODEL, **members))
        reply = msgspec.structs.replace(reply, body=await body_of(reply))
    headers = [dict(request.headers) for request in script.requests]
    betas = [{"betas": named["anthropic-beta"]} if "anthropic-beta" in named else {} for named in headers]
    return reply, [json.loads(request.body) | beta for request, beta in zip(script.requests, betas, strict=True)]


async def _second_turn(*lines: Line, **members: Any) -> tuple[GatewayReply, list[Any]]:
    """The reply to the second request of a Chat client, which has a tool that the first one did not have."""
    made = gateway(ENVIRON)
    first, _ = await _asked(made, "openai-chat", _whole("Oslo."), messages=[QUESTION])
    text = (await answer_of("openai-chat", first)).text
    history = [QUESTION, {"role": "assistant", "content": text}, NEXT]
    return await _asked(made, "openai-chat", *lines, messages=history, tools=TOOLS, **members)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_restored_thinking_that_is_refused_is_left_out(stream: bool) -> None:
    """The client gets an answer; its header tells of the restored thinking and of its loss."""
    good = _streamed("Rain.") if stream else _whole("Rain.")
    reply, bodies = await _second_turn(BOUND, good, stream=stream)
    text = {"type": "text", "text": "Oslo."}
    assert reply.status == 200
    assert [body["messages"][1]["content"] for body in bodies] == [[THOUGHT, text], [text]]
    told = header_of(reply, "x-interlingua-changes") or ""
    assert "repaired reasoning_restored" in told
    assert "dropped seal_bound /messages/1/parts/0/sealed" in told
    if stream:
        assert fold(await events_of("openai-chat", reply)).text == "Rain."
    else:
        assert (await answer_of("openai-chat", reply)).text.endswith("Rain.")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_what_was_refused_once_is_not_restored_again(stream: bool) -> None:
    """The next turn of the conversation is asked once, with the thinking since the refusal alone."""
    made = gateway(ENVIRON)
    first, _ = await _asked(made, "openai-chat", _whole("Oslo."), messages=[QUESTION])
    history = [QUESTION, {"role": "assistant", "content": (await answer_of("openai-chat", first)).text}, NEXT]
    good = _streamed("Rain.") if stream else _whole("Rain.")
    second, _ = await _asked(made, "openai-chat", BOUND, good, messages=history, tools=TOOLS, stream=stream)
    said = fold(await events_of("openai-chat", second)) if stream else await answer_of("openai-chat", second)
    history += [{"role": "assistant", "content": said.text}, {"role": "user", "content": "And tomorrow?"}]
    third, bodies = await _asked(made, "openai-chat", _whole("Sun."), messages=history, tools=TOOLS)
    assert third.status == 200
    thinking = [] if stream else [THOUGHT]
    assert [[message["content"] for message in body["messages"][1::2]] for body in bodies] == [
        [[{"type": "text", "text": "Oslo."}], [*thinking, {"type": "text", "text": "Rain."}]]
    ]
    told = header_of(third, "x-interlingua-changes") or ""
    assert "dropped reasoning_missing /messages" in told
    assert ("repaired reasoning_restored" in told) is not stream


async def test_a_second_refusal_reaches_the_client() -> None:
    """One more try, and then the provider's own words as a 400."""
    reply, bodies = await _second_turn(BOUND, BOUND, BOUND)
    assert len(bodies) == 2
    assert reply.status == 400
    assert "bound to a different conversation" in str(reply.body)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_client_of_the_same_dialect_gets_the_refusal(stream: bool) -> None:
    """Its body goes out as it came, once: it has the thinking, and can leave it out or ask for `drop_block` itself."""
    messages = [QUESTION, {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "Oslo."}]}, NEXT]
    reply, bodies = await _asked(gateway(ENVIRON), "anthropic", BOUND, messages=messages, stream=stream)
    assert [body["messages"] for body in bodies] == [messages]
    assert reply.status == 400
    assert json.loads(await body_of(reply))["error"] == json.loads(REFUSED)["error"]


async def test_what_the_provider_changed_reaches_its_own_clients_and_is_told_to_others() -> None:
    """`input_transformations` of an answer: the member for a client of Messages, an entry for a client of Chat."""
    reply, _ = await _asked(gateway(ENVIRON), "anthropic", _whole("Hi.", input_transformations=MADE))
    assert json.loads(await body_of(reply))["input_transformations"] == MADE
    reply, _ = await _asked(gateway(ENVIRON), "openai-chat", _whole("Hi.", input_transformations=MADE))
    assert "dropped extra_foreign /extra/anthropic" in (header_of(reply, "x-interlingua-changes") or "")


async def test_the_wish_for_dropped_blocks_travels() -> None:
    """`block_binding` and its beta feature, of a client of Messages to a target of that dialect."""
    thinking = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    beta = "thinking-binding-controls-2026-08-01"
    headers = {"anthropic-beta": beta}
    _, bodies = await _asked(gateway(ENVIRON), "anthropic", _whole("Hi."), thinking=thinking, headers=headers)
    assert [(body["thinking"], body["betas"]) for body in bodies] == [(thinking, beta)]
