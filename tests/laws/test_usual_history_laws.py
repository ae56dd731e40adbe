"""Law of usual histories: what is read or written in one go is what the general way makes of it, or is left to it."""

from __future__ import annotations

import copy
import json
from functools import partial
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeOptions, Facts, Quirks, Target
from interlingua.dialects._known.histories import KnownHistory, alone, read_further, usual_further
from interlingua.dialects.table import DIALECTS
from interlingua.errors import Error
from interlingua.types.change import Changes
from interlingua.types.content import TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.wire.json import encode_wires
from tests.support.strategies import conversations

TARGETS = (
    Target(),
    Target(quirks=Quirks(tool_only_content="empty", call_ids_back=False)),
    Target(quirks=Quirks(tool_only_content="omit", empty_result="marker")),
    Target(quirks=Quirks(result_name=True), facts=Facts(call_seals=True)),
    Target(quirks=Quirks(reasoning_echo="always")),
)
TEXTS = st.sampled_from(["Hello.", "ERROR: no", "ERROR:", "é 世界", "null", ' "quoted"\n', ""])
IDS = st.sampled_from(["call_1", "call_a", "toolu_01", "null", "x y", "call_0"])
ARGUMENTS = st.sampled_from(
    ["{}", '{"a": 1}', '{"a":"b","c":[{"d":null}]}', '{"n":\n1}', '{"a":1,"a":2}', "[]", "null"]
)
EXTRAS: st.SearchStrategy[dict[str, dict[str, Any]]] = st.sampled_from(
    [{}, {}, {}, {"ollama": {"field": "tool_name"}}, {"google": {"functionResponse": {"id": "call_1"}}}, {"x": {}}]
)
"""Mere spellings of how a result named its call, most of them none."""
VALUES = st.sampled_from([None, "", "x", {}, [], 0, 1, True, "user", "tool", "assistant", "system", {"a": 1}, ["x"]])


def client(name: str) -> Any:
    """The module of the client's role."""
    return import_module(f"{DIALECTS[name]}.client")


def server(name: str) -> Any:
    """The module of the server's role."""
    return import_module(f"{DIALECTS[name]}.server")


@st.composite
def histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """Conversations of texts, calls and results, most of them in order."""
    messages: list[Message] = []
    for turn in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            messages.append(Message("user", (TextPart(draw(TEXTS)),)))
        ids = draw(st.lists(IDS, max_size=2)) if draw(st.booleans()) else [f"id_{turn}"]
        calls = [ToolCall(one, draw(st.sampled_from(["look", "put"])), draw(ARGUMENTS)) for one in ids]
        texts = (TextPart(draw(TEXTS)),) if draw(st.booleans()) else ()
        messages.append(Message("assistant", (*texts, *calls)))
        extra = draw(EXTRAS)
        results = [
            ToolResult(call.id, call.name, draw(TEXTS), draw(st.booleans()), None, dict(extra)) for call in calls
        ]
        if draw(st.booleans()):
            results.reverse()
        if results:
            messages.append(Message("tool", tuple(results)))
    return tuple(messages)


def told(name: str, messages: tuple[Message, ...], target: Target = TARGETS[0]) -> tuple[bytes, list[Any]]:
    """The elements of the history as the general writer has them, and what it changed."""
    module, changes = client(name), Changes(name, "encode_request")
    wires = module._further(target, changes, messages, 0)
    return encode_wires(wires, lambda wire: getattr(wire, "content", "") is None), changes.entries


def told_or_nothing(name: str, messages: tuple[Message, ...]) -> bytes:
    """The same; nothing where that cannot be said."""
    try:
        return told(name, messages)[0]
    except Error:
        return b""


@pytest.mark.parametrize("name", DIALECTS)
@given(messages=st.one_of(histories(), conversations), target=st.sampled_from(TARGETS))
@settings(max_examples=80)
def test_what_is_written_in_one_go(name: str, messages: tuple[Message, ...], target: Target) -> None:
    """The writer gives nothing, or the general writer's very bytes, of which that has nothing to tell."""
    usual = import_module(f"{DIALECTS[name]}.history_usual").write_usual_history(messages, target)
    if usual is not None:
        assert (usual, []) == told(name, messages, target)


@st.composite
def bodies(draw: st.DrawFn, name: str) -> bytes:
    """The text of a history in a dialect, with one thing or another in it that is not as usual."""
    text = b"[%b]" % told_or_nothing(name, draw(histories()))
    value: Any = json.loads(text)
    for _ in range(draw(st.integers(0, 2))):
        value = draw(changed(value))
    return json.dumps(value, separators=draw(st.sampled_from([(",", ":"), (", ", ": ")]))).encode()


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """The value with something left out, put in, repeated or replaced somewhere."""
    value = copy.deepcopy(value)
    place: Any = value
    while True:
        is_object = isinstance(place, dict)
        keys = [*place] if is_object else [*range(len(place))]
        key = draw(st.sampled_from(keys)) if keys else None
        if key is not None and isinstance(place[key], dict | list) and draw(st.integers(0, 3)):
            place = place[key]
            continue
        how = draw(st.sampled_from(["out", "in", "again", "other"]))
        if how == "out" and key is not None:
            del place[key]
        elif how == "other" and key is not None:
            place[key] = draw(VALUES)
        elif is_object:
            place[draw(st.sampled_from(["id", "name", "type", "role", "content", "status", "x", "cache_control"]))] = (
                draw(VALUES)
            )
        elif key is not None:
            place.insert(key, copy.deepcopy(place[draw(st.sampled_from(keys))]))
        return value


def read_general(name: str, text: bytes) -> Any:
    """System text, messages and changes as the general reader has them; the error that they are."""
    changes = Changes(name, "decode_request")
    try:
        return (*server(name)._read_history(DecodeOptions(), text, changes), changes.entries)
    except Error as error:
        return error


@pytest.mark.parametrize("name", DIALECTS)
@given(data=st.data())
@settings(max_examples=150)
def test_what_is_read_in_one_go(name: str, data: st.DataObject) -> None:
    """The reader gives nothing, or what the general reader gives."""
    text = data.draw(bodies(name))
    usual = server(name).read_usual_history(text, None)
    if usual is not None:
        assert (usual.system, tuple(usual.messages), usual.entries) == read_general(name, text)


def facts(known: KnownHistory | None) -> object:
    """Everything that is known of a conversation."""
    if known is None:
        return None
    names = ("system", "messages", "entries", "rest", "calls", "taken_ids", "called", "is_marked")
    return [getattr(known, name) for name in names]


@pytest.mark.parametrize("name", DIALECTS)
@given(data=st.data())
@settings(max_examples=100)
def test_what_goes_on(name: str, data: st.DataObject) -> None:
    """What goes on with a known conversation is known as if the general reader had read it."""
    before, text = data.draw(bodies(name)), data.draw(bodies(name))
    module = server(name)
    first = module.read_usual_history(before, None)
    if first is None or not first.messages:
        return

    def known() -> KnownHistory:
        return KnownHistory(before, first.system, first.messages, first.entries, None, usual=first)

    usual = usual_further(known(), text, module.read_usual_history)
    if usual is None:
        return
    further = getattr(module, "_read_further", None)
    read = (
        alone(partial(module._read_history, DecodeOptions())) if further is None else partial(further, DecodeOptions())
    )
    general = read_further(known(), text, Changes(name, "decode_request"), read)
    assert facts(usual) == facts(general)
