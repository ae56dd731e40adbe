"""The usual history: system text, texts, calls with their results, and nothing that has to be interpreted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Raw

from interlingua.dialects._usual.histories import UnusualError, UsualHistory, call_text, marked_text, plain_messages
from interlingua.dialects.ollama.parts import NAME
from interlingua.wire.json import ExactStruct, encode_exact, exact_reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Target
    from interlingua.types.content import ToolResult
    from interlingua.types.message import Message

__all__ = ["read_usual_history", "write_usual_history"]


class _Function(ExactStruct, kw_only=True):
    index: int | None = None
    name: str
    arguments: Raw


class _Call(ExactStruct, kw_only=True):
    id: str | None = None
    type: Literal["function"] = "function"
    function: _Function


class _System(ExactStruct, tag_field="role", tag="system"):
    content: str


class _User(ExactStruct, tag_field="role", tag="user"):
    content: str


class _Assistant(ExactStruct, tag_field="role", tag="assistant"):
    content: str | None = None
    tool_calls: list[_Call] | None = None


class _Result(ExactStruct, tag_field="role", tag="tool"):
    content: str
    tool_name: str | None = None
    tool_call_id: str | None = None


_read = exact_reader(list[_User | _Assistant | _Result | _System])
_NAMED_BY = {
    (True, True): "tool_name tool_call_id",
    (True, False): "tool_name",
    (False, True): "tool_call_id",
    (False, False): "",
}
"""How a result named its call, by whether it has the name and the id."""


def read_usual_history(text: bytes) -> UsualHistory | None:
    """What the messages of a request say; None for unusual ones."""
    wires = _read(text)
    if wires is None:
        return None
    history = UsualHistory()
    made: set[str] = set()
    try:
        for wire in wires:
            if type(wire) is _Result:
                _answer(history, wire, made)
            elif type(wire) is _Assistant:
                first = 1 if wire.content else 0
                history.turn(wire.content, _calls(history, wire.tool_calls or (), first, made))
            elif type(wire) is _User:
                history.say("user", wire.content)
            else:
                history.instruct(wire.content)
        return history.done()
    except UnusualError:
        return None


def _calls(history: UsualHistory, calls: Sequence[_Call], place: int, made: set[str]) -> list[tuple[str, str, str]]:
    """The calls of a turn, of which the first is the part at a place; `made` takes the ids that were made."""
    told: list[tuple[str, str, str]] = []
    for call in calls:
        call_id = call.id
        if call_id is None:
            call_id = history.made_id(place + len(told), len(told), NAME)
            made.add(call_id)
        told.append((call_id, call.function.name, call_text(call.function.arguments)))
    return told


def _answer(history: UsualHistory, wire: _Result, made: set[str]) -> None:
    """A result: of the call with its id, else of the first one with its name, else of the first one."""
    name, said = wire.tool_name or "", wire.tool_call_id or ""
    for call_id, called in history.open.items():
        if said == call_id if said and call_id not in made else not name or name == called:
            if name not in ("", called):
                raise UnusualError
            history.answer_marked(call_id, wire.content, {NAME: {"field": _NAMED_BY[bool(name), bool(said)]}})
            return
    raise UnusualError


# Writing: the members stand in the order in which the general writer has them


class _ToldFunction(msgspec.Struct, gc=False):
    index: int
    name: str
    arguments: Raw


class _ToldCall(msgspec.Struct, gc=False):
    id: str
    function: _ToldFunction


class _ToldText(msgspec.Struct, gc=False):
    role: str
    content: str


class _ToldCalls(msgspec.Struct, gc=False):
    role: str
    content: str
    tool_calls: list[_ToldCall]


class _ToldResult(msgspec.Struct, gc=False):
    role: str
    content: str
    tool_name: str
    tool_call_id: str


def write_usual_history(messages: tuple[Message, ...], target: Target) -> bytes | None:
    """The messages as elements of an array; None where one is unusual."""
    del target
    plain = plain_messages(messages, NAME)
    if plain is None:
        return None
    told: list[_ToldText | _ToldCalls | _ToldResult] = []
    asked: list[str] = []
    for role, text, calls, results in plain:
        if calls:
            asked = [call.id for call in calls]
            said = [
                _ToldCall(call.id, _ToldFunction(index, call.name, Raw(call.arguments_json)))
                for index, call in enumerate(calls)
            ]
            told.append(_ToldCalls(role, text, said))
        elif text:
            told.append(_ToldText(role, text))
        elif len(results) > 1 and [result.call_id for result in results] != asked:
            return None  # they are told in the order of their calls
        else:
            for result in results:
                one = _told_result(result)
                if one is None:
                    return None
                told.append(one)
    body = encode_exact(told)
    return None if body is None else body[1:-1]


def _told_result(result: ToolResult) -> _ToldResult | None:
    text = marked_text(result)
    if text is None or not result.name or not result.call_id:
        return None
    return _ToldResult("tool", text, result.name, result.call_id)
