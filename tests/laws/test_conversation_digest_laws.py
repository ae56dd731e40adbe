"""The identity of a conversation: the same through every dialect that can say it, and another for every other one."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Quirks, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.gateway.state.turns import Prefix
from interlingua.types.content import (
    Cache,
    ImagePart,
    Json,
    Part,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message
from interlingua.types.request import Request, ServerState
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode

MODEL = "m"
URLS = {"google": f"http://test/v1beta/models/{MODEL}:generateContent"}
HARMLESS = frozenset(
    {
        "cache_unsupported",
        "id_mapped",
        "messages_merged",
        "order_changed",
        "parameter_added",
        "parameter_adjusted",
        "refusal_as_text",
        "seal_filler",
        "seal_foreign",
        "thinking_unsupported",
    }
)
"""What a dialect may change of a conversation without telling another one."""

_words = st.sampled_from(["Hi", "Yes.", "a\nb", " padded ", '{"a": 1}', "æ 日本 🎉", "A1:x"])
_marks = st.none() | st.sampled_from(get_args(Cache))
_texts = st.builds(TextPart, _words, cache=_marks)
_images = st.builds(ImagePart, st.sampled_from([b"\x89PNG1", b"\x89PNG2"]), st.just("image/png"), cache=_marks)
_thoughts = st.builds(ThinkingPart, _words, st.none() | st.just(Sealed("anthropic", {"signature": "c2ln"})))
_arguments = st.fixed_dictionaries({"city": _words}, optional={"n": st.integers(0, 2) | st.just(2**70), "b": st.none()})
_results = (
    _words
    | st.builds(Json, st.dictionaries(st.sampled_from("ab"), st.integers(0, 2), min_size=1, max_size=2))
    | st.tuples(_texts, _images)
)


@st.composite
def _turns(draw: st.DrawFn, number: int) -> list[Message]:
    """A question, an answer, perhaps calls with their results."""
    question = tuple(draw(st.lists(_texts, min_size=1, max_size=2)) + draw(st.lists(_images, max_size=2)))
    spoken: list[Part] = draw(st.lists(_texts | _thoughts, max_size=3))
    spoken += [RefusalPart(text) for text in draw(st.lists(_words, max_size=1))]  # Chat tells it after the text
    names = draw(st.lists(st.sampled_from(["find", "read"]), max_size=2))
    calls = [
        ToolCall(f"call_il{number}{place:021}", name, encode(draw(_arguments)).decode())
        for place, name in enumerate(names)
    ]
    if not calls and not any(isinstance(part, TextPart | RefusalPart) for part in spoken):
        spoken.append(TextPart("ok"))
    messages = [Message("user", question), Message("assistant", (*spoken, *calls))]
    if calls:
        results = [ToolResult(call.id, call.name, draw(_results), draw(st.booleans()), draw(_marks)) for call in calls]
        messages.append(Message("tool", tuple(results)))
    return messages


@st.composite
def conversations(draw: st.DrawFn) -> Request:
    """A conversation that every dialect can say."""
    system = tuple(draw(st.lists(_texts, max_size=2)))
    messages = [message for number in range(draw(st.integers(1, 3))) for message in draw(_turns(number))]
    tools = tuple(
        [Tool(name=name, description="d", parameters={"type": "object", "properties": {}}) for name in ("find", "read")]
    )
    return Request(system=system, messages=(*messages, Message("user", (TextPart("And now?"),))), tools=tools)


def _keys(request: Request) -> tuple[list[str], str]:
    prefix = Prefix(request)
    return [turn.key for turn in prefix.turns], prefix.answer_key((TextPart("So."),))


@pytest.mark.parametrize("name", DIALECTS)
@given(request=conversations())
def test_a_conversation_has_the_same_digest_through_every_dialect(name: str, request: Request) -> None:
    """Written by a client of the dialect and read by our server side, each turn has the key that it had."""
    dialect, target = get_dialect(name), Target(model=MODEL, quirks=Quirks(result_media=True))
    encoded = dialect.encode_request(request, EncodeOptions(target=target, history="mend"))
    assume(all(change.code != "result_media_moved" for change in encoded.changes))
    assert {change.code for change in encoded.changes} <= HARMLESS, encoded.changes
    http = HttpRequest(url=URLS.get(name, "http://test/"), body=encoded.body)
    assert _keys(dialect.decode_request(http, DecodeOptions(history="mend")).request) == _keys(request)


def _first(request: Request, role: str, *parts: Part) -> Request:
    """The request with another first message of a role."""
    place = next(place for place, message in enumerate(request.messages) if message.role == role)
    messages = list(request.messages)
    messages[place] = replace(messages[place], parts=parts)
    return replace(request, messages=tuple(messages))


ID, OTHER_ID = "call_il0000000000000000000001", "toolu_01"
QUESTION, CALL, RESULT = TextPart("Is it cold?"), ToolCall(ID, "find", '{"a":1,"b":2}'), ToolResult(ID, "find", "4")
PICTURE = ImagePart(b"\x89PNG1", "image/png")
PLAIN = Request(
    system=(TextPart("Be brief."),),
    messages=(
        Message("user", (QUESTION, PICTURE)),
        Message("assistant", (TextPart("Looking."), CALL)),
        Message("tool", (RESULT,)),
        Message("assistant", (TextPart("Yes."),)),
        Message("user", (TextPart("And now?"),)),
    ),
)
SAME = {
    "thinking and seals": _first(
        PLAIN,
        "assistant",
        ThinkingPart("Hm.", Sealed("google", {"x": 1})),
        TextPart("Looking."),
        replace(CALL, sealed=Sealed("google", {"x": 1})),
    ),
    "marks": _first(PLAIN, "user", replace(QUESTION, cache="5m"), replace(PICTURE, cache="1h")),
    "parts": _first(PLAIN, "user", TextPart("Is it "), PICTURE, TextPart("cold?")),
    "blanks": _first(PLAIN, "user", TextPart("\n Is it cold? "), PICTURE),
    "arguments": _first(PLAIN, "assistant", TextPart("Looking."), replace(CALL, arguments_json='{"b": 2.0, "a": 1}')),
    "order": _first(PLAIN, "assistant", CALL, TextPart("Looking.")),
    "ids": _first(
        _first(PLAIN, "assistant", TextPart("Looking."), replace(CALL, id=OTHER_ID)),
        "tool",
        replace(RESULT, call_id=OTHER_ID),
    ),
    "the name of a result": _first(PLAIN, "tool", replace(RESULT, name="")),
    "a line of Claude Code": replace(
        PLAIN,
        system=(TextPart("x-anthropic-billing-header: cc_version=2.1.117.48f; cch=71fea;"), *PLAIN.system),
    ),
    "a line of Claude Code in one text": replace(
        PLAIN, system=(TextPart("x-anthropic-billing-header: cc_version=2.1.117.48f; cch=0aaa9;\n\nBe brief."),)
    ),
    "tools and knobs": replace(PLAIN, tools=(Tool(name="find"),), temperature=0.0, max_tokens=9, user="somebody"),
}
OTHERS = {
    "system": replace(PLAIN, system=(TextPart("Be long."),)),
    "no system": replace(PLAIN, system=()),
    "system as a question": replace(
        PLAIN, system=(), messages=(Message("user", (TextPart("Be brief."),)), *PLAIN.messages)
    ),
    "question": _first(PLAIN, "user", TextPart("Is it warm?"), PICTURE),
    "picture": _first(PLAIN, "user", QUESTION, ImagePart(b"\x89PNG2", "image/png")),
    "no picture": _first(PLAIN, "user", QUESTION),
    "answer": _first(PLAIN, "assistant", TextPart("Finding."), CALL),
    "name": _first(PLAIN, "assistant", TextPart("Looking."), replace(CALL, name="read")),
    "arguments": _first(PLAIN, "assistant", TextPart("Looking."), replace(CALL, arguments_json='{"a":1,"b":3}')),
    "result": _first(PLAIN, "tool", replace(RESULT, content="5")),
    "failed result": _first(PLAIN, "tool", replace(RESULT, is_error=True)),
    "result of nobody": _first(PLAIN, "tool", replace(RESULT, call_id="call_7")),
    "one message less": replace(PLAIN, messages=PLAIN.messages[1:]),
    "conversation at the provider": replace(PLAIN, continues=ServerState("openai-responses", {"conversation": "c"})),
    "text that looks like another piece": _first(PLAIN, "user", TextPart("Is it cold?U"), PICTURE),
}


@pytest.mark.parametrize("change", SAME)
def test_what_clients_drop_or_move_makes_no_other_conversation(change: str) -> None:
    """Every key stays."""
    assert _keys(SAME[change]) == _keys(PLAIN)


@pytest.mark.parametrize("change", OTHERS)
def test_what_was_said_makes_another_conversation(change: str) -> None:
    """The last turn and the one to come get other keys."""
    turns, answer = _keys(OTHERS[change])
    assert turns[-1] != _keys(PLAIN)[0][-1]
    assert answer != _keys(PLAIN)[1]


def test_a_longer_conversation_has_the_keys_of_a_shorter_one() -> None:
    """A turn keeps its key for good, and the answer gets the key that it was promised."""
    prefix = Prefix(replace(PLAIN, messages=PLAIN.messages[:3]))
    turns = Prefix(PLAIN).turns
    assert [turn.key for turn in prefix.turns] == [turns[0].key]
    assert prefix.answer_key((ThinkingPart("Hm."), TextPart("Yes."))) == turns[1].key
    assert prefix.answer_key((TextPart("No."),)) != turns[1].key
