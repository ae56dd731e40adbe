"""The reasoning store, whatever a model says and however a client shows it again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects._history import prepare_history
from interlingua.dialects.table import get_dialect
from interlingua.gateway.state.reasoning_store import memory_reasoning_store
from interlingua.gateway.state.turns import is_worth_keeping
from interlingua.types.change import Changes
from interlingua.types.content import Part, Sealed, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode
from tests.support.gateway import remembered

SEALS = st.none() | st.builds(
    Sealed, st.sampled_from(["google", "anthropic"]), st.fixed_dictionaries({"signature": st.text(max_size=8)})
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9, allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
CALLS = st.tuples(st.sampled_from(["a", "b"]), st.dictionaries(st.text(max_size=3), VALUES, max_size=3), SEALS)
SPOKEN = st.lists(
    st.builds(ThinkingPart, st.text(max_size=5), SEALS)
    | st.builds(TextPart, st.text(max_size=5), sealed=SEALS)
    | CALLS,
    min_size=1,
    max_size=6,
)


def _turn(spoken: Sequence[Any], number: int) -> tuple[Part, ...]:
    """The parts of a turn, its calls with ids of ours."""
    words = ThinkingPart | TextPart
    return tuple([part if isinstance(part, words) else _call(part, number, at) for at, part in enumerate(spoken)])


def _call(spoken: tuple[str, dict[str, Any], Sealed | None], number: int, place: int) -> ToolCall:
    name, arguments, sealed = spoken
    return ToolCall(f"call_il{number}{place:021}", name, json.dumps(arguments), sealed=sealed)


def _shown(parts: Sequence[Part], *, ids: bool) -> tuple[Part, ...]:
    """What a client without room for anything else sends back: the text, then the calls in its own spelling."""
    text = "".join([part.text for part in parts if isinstance(part, TextPart)])
    calls = [part for part in parts if isinstance(part, ToolCall)]
    told = [
        ToolCall(call.id if ids else "", call.name, json.dumps(call.arguments, sort_keys=True, indent=1))
        for call in calls
    ]
    return (*([TextPart(text)] if text else []), *told)


def _conversation(turns: Sequence[tuple[Part, ...]], *, ids: bool) -> tuple[Message, ...]:
    messages: list[Message] = [user("Go")]
    made = 0
    for number, parts in enumerate(turns):
        shown: list[Part] = []
        for part in _shown(parts, ids=ids):
            if isinstance(part, ToolCall) and not ids:
                shown.append(ToolCall(f"call_{made}", part.name, part.arguments_json))
                made += 1
            else:
                shown.append(part)
        results = tuple([ToolResult(part.id, part.name, "r") for part in shown if isinstance(part, ToolCall)])
        messages += [Message("assistant", tuple(shown)), Message("tool", results) if results else user(f"On {number}")]
    return tuple(messages)


@given(st.lists(SPOKEN, min_size=1, max_size=3), st.booleans(), st.booleans())
def test_every_turn_comes_back_as_it_was(spoken: list[Any], ids: bool, provider_ids: bool) -> None:
    """Same parts in the same order, each call under the provider's id where it gave one, results with their calls."""
    turns = [(*_turn(one, number), TextPart(f"This was turn {number}.")) for number, one in enumerate(spoken)]
    messages = _conversation(turns, ids=ids)
    reasoning_store = memory_reasoning_store(lambda: 0.0)

    async def loop() -> Request:
        for number, parts in enumerate(turns):
            calls = [part.id for part in parts if isinstance(part, ToolCall)]
            given_ids = {own: f"fc-{own[-22:]}" for own in calls} if provider_ids else {}
            asked = Request(messages=messages[: 1 + 2 * number])
            await remembered(reasoning_store, "", asked, Response(parts=parts), given_ids)
        return (await reasoning_store.restore("", Request(messages=messages))).request

    result = asyncio.run(loop()).messages
    assert [message.role for message in result] == [message.role for message in messages]
    for parts, message, before in zip(turns, result[1::2], messages[1::2], strict=True):
        if message is before:  # nothing in it was worth keeping
            assert not is_worth_keeping(parts)
            continue
        assert [_bare(part) for part in message.parts] == [_bare(part) for part in parts]
        if provider_ids:
            assert [call.id[:3] for call in message.tool_calls] == ["fc-"] * len(message.tool_calls)
    changes = Changes("any", "encode_request")
    assert prepare_history(result, "refuse", changes) == result
    assert changes.done() == ()


def _bare(part: Part) -> Part:
    return ToolCall("", part.name, part.arguments_json, sealed=part.sealed) if isinstance(part, ToolCall) else part


@given(SPOKEN, SPOKEN)
def test_a_turn_that_says_something_else_is_not_taken_for_it(one: list[Any], other: list[Any]) -> None:
    """A client without ids gets back what it shows, or what says the same."""
    kept, shown = _turn(one, 1), _shown(_turn(other, 2), ids=False)
    reasoning_store = memory_reasoning_store(lambda: 0.0)
    request = Request(messages=(user("Go"), Message("assistant", shown), user("And?")))
    asyncio.run(remembered(reasoning_store, "", Request(messages=(user("Go"),)), Response(parts=kept), {}))
    message = asyncio.run(reasoning_store.restore("", request)).request.messages[1]
    assert message.text.strip() == "".join([part.text for part in shown if isinstance(part, TextPart)]).strip()
    assert [(call.name, call.arguments) for call in message.tool_calls] == [
        (part.name, part.arguments) for part in shown if isinstance(part, ToolCall)
    ]


CHAT, CLAUDE = get_dialect("openai-chat"), get_dialect("anthropic")
TARGET = EncodeOptions(target=Target(model="claude-opus-4-5", provider="anthropic"), history="mend")


def _told(message: Message) -> list[dict[str, Any]]:
    """A message as a Chat client writes it."""
    if message.role == "tool":
        return [{"role": "tool", "tool_call_id": result.call_id, "content": "r"} for result in message.tool_results]
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_json}}
        for call in message.tool_calls
    ]
    return [{"role": message.role, "content": message.text, **({"tool_calls": calls} if calls else {})}]


@given(st.lists(SPOKEN, min_size=2, max_size=4), st.uuids())
def test_a_conversation_that_goes_on_is_restored_alike(spoken: list[Any], name: object) -> None:
    """Restored and written again with each further turn, it begins with the bytes that were sent before."""
    turns = [(*_turn(one, number), TextPart(f"This was turn {number}.")) for number, one in enumerate(spoken)]
    messages = (user(f"Go on with {name}, please. " * 8), *_conversation(turns, ids=True)[1:])
    reasoning_store = memory_reasoning_store(lambda: 0.0)
    before = written = b""
    for number, parts in enumerate(turns):
        ids = {part.id: f"fc-{part.id[-22:]}" for part in parts if isinstance(part, ToolCall)}
        asked = Request(messages=messages[: 1 + 2 * number])
        asyncio.run(remembered(reasoning_store, "", asked, Response(parts=parts), ids))
        body = encode({"model": "m", "messages": [told for one in messages[: 3 + 2 * number] for told in _told(one)]})
        for _ in range(2):
            request = CHAT.decode_request(HttpRequest(url="/", body=body), DecodeOptions(history="mend")).request
            written = CLAUDE.encode_request(asyncio.run(reasoning_store.restore("", request)).request, TARGET).body
        history = written[written.index(b'"messages":[') : written.rindex(b"]")]
        assert history.startswith(before)
        before = history
