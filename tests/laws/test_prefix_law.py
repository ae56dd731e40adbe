"""The law of the prefix, for every dialect and every row of providers: a further turn changes no byte before it."""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import EncodeOptions, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.providers.limits import FAMILIES
from interlingua.providers.rows import ROWS
from interlingua.types.capability import Capability
from interlingua.types.content import (
    Cache,
    ImagePart,
    Part,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.tool import Tool

ALLOW = frozenset(get_args(Capability))
CODECS = sorted(set(DIALECTS) - {"unified"})
"""The dialects of services; the unified one has strict rules of its own."""
SEALS: dict[str, dict[str, Any]] = {
    "anthropic": {"signature": "c2ln"},
    "google": {"thoughtSignature": "c2ln"},
    "openai-responses": {"encrypted_content": "c2ln"},
}

Members: TypeAlias = dict[str, msgspec.Raw]
HISTORIES = {"openai-responses": "input", "google": "contents"}
"""The member that holds the conversation, where it is not `messages`."""

_words = st.sampled_from(["Hi", "a\nb", "}]", '"', "æ 日本 🎉", " "])
_marks = st.none() | st.sampled_from(get_args(Cache))
_texts = st.builds(TextPart, _words, cache=_marks)
_images = st.builds(ImagePart, st.just(b"\x89PNG"), st.just("image/png"), cache=_marks)
_seals = st.sampled_from([Sealed(dialect, data) for dialect, data in SEALS.items()])
_ids = st.sampled_from(["toolu_1", "call_9", "a.b", "a:b", "x" * 50, "chatcmpl-tool-1"])
_names = st.sampled_from(["f", "files.read", "a b"])


@st.composite
def _turns(draw: st.DrawFn, number: int) -> list[Message]:
    """One turn: a question, an answer, perhaps calls with their results."""
    prompt: list[Part] = draw(st.lists(_texts | _images, min_size=1, max_size=2))
    said: list[Part] = draw(st.lists(_texts | st.builds(ThinkingPart, _words, st.none() | _seals), max_size=2))
    ids: list[str] = draw(st.lists(_ids, max_size=2, unique=True))
    calls = [
        ToolCall(f"{call_id}{number}", draw(_names), '{"x":1}', sealed=draw(st.none() | _seals)) for call_id in ids
    ]
    found = [Message("user", tuple(prompt)), Message("assistant", (*said, *calls) or (TextPart("ok"),))]
    if calls:
        contents: list[Any] = [draw(_words | st.tuples(_texts, _images)) for _ in calls]
        told = zip(calls, contents, strict=True)
        results = [ToolResult(call.id, call.name, said, draw(st.booleans()), draw(_marks)) for call, said in told]
        found.append(Message("tool", tuple(results)))
    return found


@st.composite
def _requests(draw: st.DrawFn) -> tuple[Request, int]:
    """A request, and how many of its messages the turn before had."""
    turns = [draw(_turns(number)) for number in range(draw(st.integers(2, 3)))]
    if turns[-1][-1].role == "assistant":
        turns.append([Message("user", (TextPart("And?"),))])
    cache: Cache | None = draw(_marks)
    # What `auto` adds to the beginning depends on how many marks the caller has, and an hour behind a mark of five
    # minutes is five minutes: the service takes no other order.
    if cache in ("auto", "1h"):
        turns = [[_unmarked(message) for message in turn] for turn in turns]
    tools = [Tool(name=name, cache=draw(_marks)) for name in draw(st.lists(_names, max_size=2, unique=True))]
    whole = Request(
        messages=tuple([message for turn in turns for message in turn]),
        system=tuple(draw(st.lists(_texts, max_size=2))),
        tools=tuple(tools),
        cache=cache,
        max_tokens=9_000,
    )
    ends = [sum(map(len, turns[:count])) for count in range(1, len(turns))]
    before = draw(st.sampled_from(ends))
    return whole, before


def _unmarked(message: Message) -> Message:
    return Message(message.role, tuple([_without_mark(part) for part in message.parts]))


def _without_mark(part: Any) -> Any:
    if isinstance(part, ToolResult) and isinstance(part.content, tuple):
        part = msgspec.structs.replace(part, content=tuple([_without_mark(inner) for inner in part.content]))
    return msgspec.structs.replace(part, cache=None) if hasattr(part, "cache") else part


def _targets(dialect: str) -> list[Target]:
    """A pure codec, every row that speaks the dialect, and every family of models that something is known of."""
    rows = [row for row in ROWS.values() if dialect in row.dialects]
    found = [Target(model="m"), *[Target(model="m", provider=row.name, quirks=row.quirks) for row in rows]]
    known = [family for family in FAMILIES if dialect in family.dialects and family.facts.tools is not False]
    facts = [msgspec.structs.replace(family.facts, prefill=None) for family in known]  # what is refused has no bytes
    return [*found, *[Target(model="m", facts=one) for one in facts]]


@pytest.mark.parametrize("dialect", CODECS)
@given(given_data=st.data())
def test_a_further_turn_changes_no_byte_before_it(dialect: str, given_data: st.DataObject) -> None:
    """With marks, tools, seals of anybody, foreign ids and names, pictures in results: prompt caches hit.

    Where a service insists on definitions of the tools that the history calls, and the request offers none, the first
    call adds them.
    """
    whole, before = given_data.draw(_requests())
    target = given_data.draw(st.sampled_from(_targets(dialect)))
    options = EncodeOptions(target=target, allow=ALLOW)
    encode = get_dialect(dialect).encode_request
    shorter = Request(
        messages=whole.messages[:before],
        system=whole.system,
        tools=whole.tools,
        cache=whole.cache,
        max_tokens=whole.max_tokens,
    )
    short, long = encode(shorter, options).body, encode(whole, options).body
    former, later = msgspec.json.decode(short, type=Members), msgspec.json.decode(long, type=Members)
    history = HISTORIES.get(dialect, "messages")
    said, more = bytes(former.pop(history)), bytes(later.pop(history))
    assert more.startswith(said.rstrip(b"]}"))
    if target.quirks.history_tools and not whole.tools:
        former.pop("toolConfig", None)
        later.pop("toolConfig", None)
    assert former == later
