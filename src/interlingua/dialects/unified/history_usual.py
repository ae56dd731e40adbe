"""The usual history: texts, calls with their results, and nothing that has to be interpreted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Raw

from interlingua.dialects._usual.histories import UnusualError, UsualHistory, call_text, plain_messages
from interlingua.dialects.unified.parts import NAME
from interlingua.wire.json import ExactStruct, encode_exact, exact_reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Target
    from interlingua.types.message import Message

__all__ = ["read_usual_history", "write_usual_history"]


class _Text(ExactStruct, tag_field="type", tag="text"):
    text: str


class _Call(ExactStruct, tag_field="type", tag="tool_call"):
    id: str
    name: str
    arguments: Raw


class _Result(ExactStruct, tag_field="type", tag="tool_result", omit_defaults=True):
    tool_call_id: str
    name: str | None = None
    content: str = ""
    is_error: bool = False


class _Message(ExactStruct):
    role: Literal["user", "assistant", "tool"]
    content: str | None = None
    parts: list[_Text | _Call | _Result] | None = None


_read = exact_reader(list[_Message])


def read_usual_history(text: bytes) -> UsualHistory | None:
    """What the messages of a request say; None for unusual ones."""
    wires = _read(text)
    if wires is None:
        return None
    history = UsualHistory()
    try:
        for wire in wires:
            if (wire.content is None) is (wire.parts is None):
                return None
            if wire.role == "tool":
                _results(history, wire.parts or ())
            elif wire.role == "assistant":
                _turn(history, wire)
            else:
                history.say("user", wire.content)
        return history.done()
    except UnusualError:
        return None


def _turn(history: UsualHistory, wire: _Message) -> None:
    parts = wire.parts
    if parts is None:
        history.turn(wire.content, ())
        return
    text = parts[0].text if parts and type(parts[0]) is _Text else None
    calls = [(call.id, call.name, call_text(call.arguments)) for call in parts if type(call) is _Call]
    if text == "" or len(calls) + (text is not None) != len(parts):
        raise UnusualError
    history.turn(text, calls)


def _results(history: UsualHistory, parts: Sequence[_Text | _Call | _Result]) -> None:
    """The results of one message, which is none with those of its neighbour."""
    if history.results or not parts:
        raise UnusualError
    for part in parts:
        if type(part) is not _Result or part.name not in (None, history.open.get(part.tool_call_id)):
            raise UnusualError
        history.answer(part.tool_call_id, part.content, is_error=part.is_error)


# Writing: the members stand in the order in which the general writer has them


class _ToldText(msgspec.Struct, gc=False):
    role: str
    content: str


class _ToldParts(msgspec.Struct, gc=False):
    role: str
    parts: list[_Text | _Call | _ToldResult]


class _ToldResult(msgspec.Struct, gc=False, tag_field="type", tag="tool_result"):
    tool_call_id: str
    name: str | msgspec.UnsetType
    content: str
    is_error: Literal[True] | msgspec.UnsetType
    extra: dict[str, dict[str, Any]] | msgspec.UnsetType


def write_usual_history(messages: tuple[Message, ...], target: Target) -> bytes | None:
    """The messages as elements of an array, names as they are; None where one is unusual."""
    del target
    plain = plain_messages(messages, NAME)
    if plain is None:
        return None
    told: list[_ToldText | _ToldParts] = []
    called: dict[str, str] = {}
    for role, text, calls, results in plain:
        if text and not calls:
            told.append(_ToldText(role, text))
            continue
        parts: list[_Text | _Call | _ToldResult] = [_Text(text)] if text else []
        for call in calls:
            called[call.id] = call.name
            parts.append(_Call(call.id, call.name, Raw(call.arguments_json)))
        for result in results:
            if result.extra and not _are_texts(result.extra):  # members of all dialects are said here
                return None
            name = msgspec.UNSET if called.get(result.call_id) == result.name else result.name or msgspec.UNSET
            is_error = True if result.is_error else msgspec.UNSET
            extra = result.extra or msgspec.UNSET
            parts.append(_ToldResult(result.call_id, name, str(result.content), is_error, extra))
        told.append(_ToldParts(role, parts))
    body = encode_exact(told)
    return None if body is None else body[1:-1]


def _are_texts(extra: dict[str, dict[str, Any]]) -> bool:
    """Whether all members of other dialects are texts, which stand on the wire as they are."""
    return all(type(member) is str for members in extra.values() for member in members.values())
