"""Law of usual histories: what is read or written in one go is what the general way makes of it, or is left to it."""

from __future__ import annotations

import copy
import json
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Facts, Quirks, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.types.change import Changes
from interlingua.types.content import TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.request import Request
from tests.support.roads import plain_shapes
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
MEMBERS = {"openai-responses": "input", "google": "contents"}
"""The member that holds the history, where that is not `messages`."""
VALUES = st.sampled_from([None, "", "x", {}, [], 0, 1, True, "user", "tool", "assistant", "system", {"a": 1}, ["x"]])


def client(name: str) -> Any:
    """The module of the client's role."""
    return import_module(f"{DIALECTS[name]}.client")


def server(name: str) -> Any:
    """The module of the server's role."""
    return import_module(f"{DIALECTS[name]}.server")


@contextmanager
def wide_shapes(name: str) -> Generator[None]:
    """Everything is read and written in the shapes that take all, for as long as the block runs."""
    writer = client(name)._RequestEncoder
    with ExitStack() as stack:
        for holder, member, instead in plain_shapes(DIALECTS[name]):
            stack.enter_context(patch.object(holder, member, instead))
        if "write_usual" in vars(writer):
            stack.enter_context(patch.object(writer, "write_usual", staticmethod(lambda *_: None)))
        if hasattr(server(name), "read_usual_history"):
            stack.enter_context(patch.object(server(name), "read_usual_history", return_value=None))
        yield


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


def written(
    name: str, messages: tuple[Message, ...], target: Target = TARGETS[0], *, general: bool = True
) -> tuple[bytes, object] | Error:
    """A request of the messages alone, with what writing it changed; by the general writer if that is wanted."""
    options = EncodeOptions(target=target, history="mend")
    try:
        with wide_shapes(name) if general else nullcontext():
            encoded = get_dialect(name).encode_request(Request(messages=messages), options)
    except Error as error:
        return error
    return encoded.body, encoded.changes


@pytest.mark.parametrize("name", DIALECTS)
@given(messages=st.one_of(histories(), conversations), target=st.sampled_from(TARGETS))
@settings(max_examples=80)
def test_what_is_written_in_one_go(name: str, messages: tuple[Message, ...], target: Target) -> None:
    """The request is that of the general writer, with the same entries, or the same error."""
    assert repr(written(name, messages, target, general=False)) == repr(written(name, messages, target))


@st.composite
def bodies(draw: st.DrawFn, name: str) -> bytes:
    """The text of a history in a dialect, with one thing or another in it that is not as usual."""
    made = written(name, draw(histories()))
    value: Any = [] if isinstance(made, Error) else json.loads(made[0]).get(MEMBERS.get(name, "messages"), [])
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


def read(name: str, text: bytes) -> Any:
    """System text, messages and changes; the error that they are."""
    changes = Changes(name, "decode_request")
    module = server(name)
    try:
        if name == "unified":
            found = module._read_history(text, changes, continues=False)
        else:
            found = module._read_history(DecodeOptions(), text, changes)
    except Error as error:
        return repr(error), error.message
    return (*found, changes.entries)


@pytest.mark.parametrize("name", DIALECTS)
@given(data=st.data())
@settings(max_examples=150)
def test_what_is_read_in_one_go(name: str, data: st.DataObject) -> None:
    """It is what the general reader reads."""
    text = data.draw(bodies(name))
    with wide_shapes(name):
        general = read(name, text)
    assert read(name, text) == general
