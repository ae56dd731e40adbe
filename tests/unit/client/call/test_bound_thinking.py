"""Thinking that Claude binds to what stood before it: where that changed, it is left out and the target asked again.

Source: the vendor's page "Fix a thinking block bound to a different conversation", read 2026-11-29, has the sentence of
the refusal; `tests/golden/error_bodies` has its other forms.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.client.call.values import Call
from interlingua.types.content import Part, Sealed, ThinkingPart
from interlingua.types.message import Message
from interlingua.types.tool import OpaqueTool
from interlingua.wire.http import HttpReply
from tests.support.chains import JSON, Body, Step, World, ask, told

A, B = "anthropic/claude-fable-5-1", "anthropic/claude-opus-5-5"
SENTENCE = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
BOUND = HttpReply(
    status=400,
    headers=JSON,
    body=(
        b'{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` '
        b"in `thinking` block. The block is bound to a different conversation. Remove the block, or set "
        b'`thinking.block_binding.prefix_mismatch_behavior` to \\"drop_block\\"."},"request_id":"req_1"}'
    ),
)
OVERLOADED = HttpReply(
    status=529, headers=JSON, body=b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
)
SIGNED = {"type": "thinking", "thinking": "It is two.", "signature": "EqQB"}
REDACTED = {"type": "redacted_thinking", "data": "c2VjcmV0"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "2"}]}
TOOL = il.Tool(name="add", description="Adds.", parameters={"type": "object", "properties": {}})
SEARCH = OpaqueTool("anthropic", "web_search_20250305", {"type": "web_search_20250305", "name": "web_search"})
DROPPED = [
    ("dropped", "seal_bound", "/messages/1/parts/0/sealed"),
    ("dropped", "thinking_unsupported", "/messages/1/parts/0"),
    ("dropped", "seal_bound", "/messages/1/parts/1/sealed"),
]
"""What is told of the two blocks: the text of the one that can be read is lost, too."""


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def awaited(request: pytest.FixtureRequest) -> bool:
    """Both faces."""
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    """Whole answers and streams."""
    return request.param


def _event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _good(*, streamed: bool, **members: Any) -> Step:
    """A target that answers "Two."; `members` are further ones of the answer."""
    answer: dict[str, Any] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-fable-5-1", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2}, **members,
    }  # fmt: skip
    text = {"type": "text", "text": "Two."}
    if not streamed:
        return HttpReply(
            status=200, headers=JSON, body=json.dumps({**answer, "content": [text], "stop_reason": "end_turn"}).encode()
        )
    return Body(
        _event({"type": "message_start", "message": answer}),
        _event({"type": "content_block_start", "index": 0, "content_block": {**text, "text": ""}}),
        _event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Two."}}),
        _event({"type": "content_block_stop", "index": 0}),
        _event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
        _event({"type": "message_stop"}),
    )


def _call(world: World, *specs: str, extra: Any = None, **options: Any) -> Call:
    """A call whose history has two blocks of thinking, both of the first target, before a call with its result."""
    call = world.call_to(*specs, dialect="anthropic", tools=[TOOL], **options)
    target = call.targets[0].endpoint.target
    parts: tuple[Part, ...] = (
        ThinkingPart("It is two.", Sealed("anthropic", {"signature": "EqQB"}, target.provider, target.model)),
        ThinkingPart("", Sealed("anthropic", {"data": "c2VjcmV0"}, target.provider, target.model)),
        il.ToolCall("toolu_1", "add", '{"a": 1}'),
    )
    history = (
        il.user("1 + 1?"),
        Message("assistant", parts),
        il.Message("tool", (il.ToolResult("toolu_1", "add", "2"),)),
    )
    return replace(call, request=replace(call.request, messages=history, max_tokens=100, extra=extra or {}))


def _sent(world: World) -> list[list[Any]]:
    """The messages of each request."""
    return [json.loads(body)["messages"] for body in world.bodies]


def _codes(changes: tuple[il.Change, ...]) -> list[tuple[str, str, str]]:
    return [(change.action, change.code, change.path) for change in changes]


FULL = [
    {"role": "user", "content": [{"type": "text", "text": "1 + 1?"}]},
    {"role": "assistant", "content": [SIGNED, REDACTED, CALL]},
    RESULT,
]
BARE = [FULL[0], {"role": "assistant", "content": [CALL]}, RESULT]


def test_a_refusal_of_bound_thinking_is_asked_again_without_any(awaited: bool, streamed: bool) -> None:
    """All thinking of the history is left out, with an entry for each place; nothing else changes, nobody waits."""
    world = World().on(A, BOUND, _good(streamed=streamed))
    call = _call(world, A)
    reply = ask(world, call, awaited=awaited, streamed=streamed)
    assert reply.text == "Two."
    assert _sent(world) == [FULL, BARE]
    first, second = [json.loads(body) for body in world.bodies]
    assert {**first, "messages": 0} == {**second, "messages": 0}
    assert _codes(reply.changes) == DROPPED
    assert reply.changes[0].detail == ""
    assert str(reply.changes[0]) == (
        "dropped /messages/1/parts/0/sealed: "
        "sealed reasoning that its issuer binds to what stood before it, which has changed"
    )
    assert told(reply.attempts) == [(A, "failed"), (A, "served")]
    assert reply.attempts[0].status == 400
    assert reply.request == call.request, "the caller's history keeps its thinking"
    assert set(world.slept) <= {0.0}
    assert world.open_replies == 0


def test_nothing_is_learned_of_the_target(awaited: bool) -> None:
    """The next conversation gets its thinking through, and health knows nothing of it."""
    world = World().on(A, BOUND, _good(streamed=False))
    ask(world, _call(world, A), awaited=awaited, streamed=False)
    assert world.health.snapshot() == {}
    reply = ask(world, _call(world, A), awaited=awaited, streamed=False)
    assert _sent(world) == [FULL, BARE, FULL]
    assert reply.changes == ()


def test_a_second_refusal_ends_the_call(awaited: bool, streamed: bool) -> None:
    """The target is asked once more, not for ever; the error is its own."""
    world = World().on(A, BOUND)
    with pytest.raises(il.BadRequestError) as caught:
        ask(world, _call(world, A), awaited=awaited, streamed=streamed)
    assert caught.value.message == SENTENCE
    assert caught.value.has_bound_thinking
    assert told(caught.value.attempts) == [(A, "failed")] * 2
    assert _sent(world) == [FULL, BARE]
    assert world.open_replies == 0


def test_neither_retries_nor_what_may_run_once_only_keep_it_away(awaited: bool, streamed: bool) -> None:
    """It is another request, and the refused one did nothing."""
    world = World().on(A, BOUND, _good(streamed=streamed))
    call = _call(world, A, retries=0)
    call = replace(call, request=replace(call.request, tools=(TOOL, SEARCH)))
    assert ask(world, call, awaited=awaited, streamed=streamed).text == "Two."
    assert len(world.asked) == 2


def test_strict_refuses_what_would_be_left_out(awaited: bool, streamed: bool) -> None:
    """Nothing is sent a second time; the error names each place, and the refusal is among the attempts."""
    world = World().on(A, BOUND)
    with pytest.raises(
        il.UnsupportedError, match="as it is \\(strict\\): dropped /messages/1/parts/0/sealed"
    ) as caught:
        ask(world, _call(world, A, strict=True), awaited=awaited, streamed=streamed)
    assert _codes(caught.value.changes) == DROPPED
    assert told(caught.value.attempts) == [(A, "failed"), (A, "skipped")]
    assert len(world.asked) == 1


def test_a_chain_asks_the_same_target_first(awaited: bool, streamed: bool) -> None:
    """The second target is not needed."""
    world = World().on(A, BOUND, _good(streamed=streamed)).on(B, _good(streamed=streamed))
    reply = ask(world, _call(world, A, B), awaited=awaited, streamed=streamed)
    assert told(reply.attempts) == [(A, "failed"), (A, "served")]


def test_a_chain_goes_on_where_the_second_try_fails(awaited: bool, streamed: bool) -> None:
    """The other target gets its own request, with what its model may read: nothing of another model's thinking."""
    world = World().on(A, BOUND, OVERLOADED).on(B, _good(streamed=streamed))
    reply = ask(world, _call(world, A, B, retries=0), awaited=awaited, streamed=streamed)
    assert told(reply.attempts) == [(A, "failed"), (A, "failed"), (B, "served")]
    assert [change.code for change in reply.changes] == ["seal_foreign", "thinking_unsupported", "seal_foreign"]


def test_a_strict_chain_goes_on_to_the_next_target() -> None:
    """A target that would have to leave something out is passed over, as any that cannot take the request."""
    world = World().on(A, BOUND).on(B, _good(streamed=False))
    call = _call(world, A, B, strict=True)
    first, second = call.targets
    twin = replace(second.endpoint, target=replace(second.endpoint.target, model=first.endpoint.target.model))
    reply = ask(world, replace(call, targets=(first, replace(second, endpoint=twin))), awaited=False, streamed=False)
    assert told(reply.attempts) == [(A, "failed"), (A, "skipped"), (B, "served")]
    assert _sent(world) == [FULL, FULL]


def test_a_request_without_thinking_is_not_asked_again() -> None:
    """There is nothing to leave out: the refusal is like that of any bad request."""
    world = World().on(A, BOUND)
    with pytest.raises(il.BadRequestError):
        ask(world, world.call_to(A, dialect="anthropic", max_tokens=100), awaited=False, streamed=False)
    assert len(world.asked) == 1


@pytest.mark.parametrize(("behavior", "asked"), [("error", 1), ("drop_block", 2)])
def test_who_asks_for_the_error_gets_it(behavior: str, asked: int) -> None:
    """`prefix_mismatch_behavior: "error"` is a wish to be told of such changes; the member reaches the target."""
    world = World().on(A, BOUND)
    thinking = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": behavior}}
    with pytest.raises(il.BadRequestError):
        ask(world, _call(world, A, extra={"anthropic": {"thinking": thinking}}), awaited=False, streamed=False)
    assert len(world.asked) == asked
    assert [json.loads(body)["thinking"] for body in world.bodies] == [thinking] * asked


def test_what_the_provider_changed_of_the_request_is_in_the_answer(awaited: bool, streamed: bool) -> None:
    """`input_transformations` has no field, and stays where members of Anthropic's answers stay."""
    made = [{"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}]
    world = World().on(A, _good(streamed=streamed, input_transformations=made))
    reply = ask(world, _call(world, A), awaited=awaited, streamed=streamed)
    assert reply.extra == {"anthropic": {"input_transformations": made}}


def test_claude_on_converse_is_asked_again_likewise() -> None:
    """Bedrock's other API says the same in its own frame, and has reasoning under another name."""
    spec = "bedrock/us.anthropic.claude-fable-5-1"
    body = {"message": f"The model returned the following errors: {SENTENCE}"}
    refused = HttpReply(
        status=400, headers=(*JSON, ("x-amzn-errortype", "ValidationException")), body=json.dumps(body).encode()
    )
    answer = {
        "output": {"message": {"role": "assistant", "content": [{"text": "Two."}]}}, "stopReason": "end_turn",
        "usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5},
    }  # fmt: skip
    world = World().on(spec, refused, HttpReply(status=200, headers=JSON, body=json.dumps(answer).encode()))
    call = world.call_to(spec, dialect="bedrock")
    thought = ThinkingPart("Hm.", Sealed("bedrock", {"signature": "EqQB"}))
    history = (il.user("1 + 1?"), Message("assistant", (thought, il.TextPart("2"))), il.user("Sure?"))
    reply = ask(world, replace(call, request=replace(call.request, messages=history)), awaited=False, streamed=False)
    assert [b"reasoningContent" in sent for sent in world.bodies] == [True, False]
    assert [change.code for change in reply.changes] == ["seal_bound", "thinking_unsupported"]
