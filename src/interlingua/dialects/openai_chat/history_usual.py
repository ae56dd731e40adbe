"""The usual history: system text, texts, calls with their results, and nothing that has to be interpreted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from interlingua.dialects._usual.histories import UnusualError, UsualHistory, marked_text, plain_messages
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.wire.json import ExactStruct, encode_exact, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.types.message import Message

__all__ = ["read_usual_history", "write_usual_history"]


class _Function(ExactStruct):
    name: str
    arguments: str


class _Call(ExactStruct, kw_only=True):
    id: str
    type: Literal["function"] = "function"
    function: _Function


class _System(ExactStruct, tag_field="role", tag="system"):
    content: str


class _User(ExactStruct, tag_field="role", tag="user"):
    content: str


class _Assistant(ExactStruct, tag_field="role", tag="assistant"):
    content: str | None = None
    tool_calls: list[_Call] | None = None
    refusal: None = None
    annotations: tuple[()] | None = None
    audio: None = None
    function_call: None = None


class _Result(ExactStruct, tag_field="role", tag="tool"):
    tool_call_id: str
    content: str


_read = exact_reader(list[_User | _Assistant | _Result | _System])


def read_usual_history(text: bytes) -> UsualHistory | None:
    """What the messages of a request say; None for unusual ones."""
    wires = _read(text)
    if wires is None:
        return None
    history = UsualHistory()
    try:
        for wire in wires:
            if type(wire) is _Result:
                history.answer_marked(wire.tool_call_id, wire.content)
            elif type(wire) is _Assistant:
                calls = wire.tool_calls or ()
                history.turn(wire.content, [(call.id, call.function.name, call.function.arguments) for call in calls])
            elif type(wire) is _User:
                history.say("user", wire.content)
            else:
                history.instruct(wire.content)
        return history.done()
    except UnusualError:
        return None


# Writing: the members stand in the order in which the general writer has them


class _ToldText(msgspec.Struct, gc=False):
    role: str
    content: str


class _ToldCall(msgspec.Struct, gc=False):
    id: str
    type: str
    function: _Function


class _ToldCalls(msgspec.Struct, gc=False):
    role: str
    content: str | None
    tool_calls: list[_ToldCall]


class _ToldResult(msgspec.Struct, gc=False):
    role: str
    content: str
    tool_call_id: str


_NO_TEXT = {"null": None, "empty": ""}
"""What stands for the text of a turn of calls alone."""


def write_usual_history(messages: tuple[Message, ...], target: Target) -> bytes | None:
    """The messages as elements of an array, names and ids as they are; None where one is unusual."""
    quirks = target.quirks
    plain = plain_messages(messages, NAME)
    if plain is None or quirks.reasoning_echo in ("always", "calls") or quirks.result_name:
        return None
    if quirks.tool_only_content not in _NO_TEXT:
        return None
    no_text = _NO_TEXT[quirks.tool_only_content]
    told: list[_ToldText | _ToldCalls | _ToldResult] = []
    for role, text, calls, results in plain:
        if calls:
            said = [_ToldCall(call.id, "function", _Function(call.name, call.arguments_json)) for call in calls]
            told.append(_ToldCalls(role, text or no_text, said))
        elif text:
            told.append(_ToldText(role, text))
        for result in results:
            said = marked_text(result)
            if said is None:
                return None
            told.append(_ToldResult("tool", said, result.call_id))
    body = encode_exact(told)
    return None if body is None else body[1:-1]
