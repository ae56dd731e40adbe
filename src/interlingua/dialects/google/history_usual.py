"""The usual history: texts, calls with their results, and nothing that has to be interpreted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._usual.histories import UnusualError, UsualHistory, call_text, plain_messages
from interlingua.dialects.google.parts import NAME, in_call_order
from interlingua.dialects.google.spelling import MARK
from interlingua.stream.calls import is_made_id
from interlingua.wire.json import ExactStruct, encode_exact, exact_reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Target
    from interlingua.types.content import ToolResult
    from interlingua.types.message import Message, Role

__all__ = ["read_usual_history", "write_usual_history"]

_JOINED: frozenset[Role] = frozenset({"assistant"})


class _Call(ExactStruct, omit_defaults=True):
    id: str | None = None
    name: str = ""
    args: Raw = Raw(b"{}")


class _Response(ExactStruct, omit_defaults=True):
    output: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


class _Result(ExactStruct, omit_defaults=True):
    response: _Response
    id: str | None = None
    name: str = ""


class _Part(ExactStruct):
    text: str | None = None
    functionCall: _Call | None = None
    functionResponse: _Result | None = None


class _Content(ExactStruct):
    parts: list[_Part]
    role: str | None = None


_read = exact_reader(list[_Content])


def read_usual_history(text: bytes) -> UsualHistory | None:
    """What the contents of a request say; None for unusual ones."""
    wires = _read(text)
    if wires is None:
        return None
    history = UsualHistory(_JOINED)
    try:
        for wire in wires:
            if wire.role == "model":
                _turn(history, wire.parts)
            elif wire.role == "user":
                _prompt(history, wire.parts)
            else:
                return None
        return history.done()
    except UnusualError:
        return None


def _turn(history: UsualHistory, parts: Sequence[_Part]) -> None:
    first = parts[0] if parts and parts[0].text is not None else None
    if first is None:
        history.turn(None, _calls(history, parts, 0))
    elif first.text and first.functionCall is first.functionResponse is None:
        history.turn(first.text, _calls(history, parts[1:], 1))
    else:
        raise UnusualError


def _calls(history: UsualHistory, parts: Sequence[_Part], place: int) -> list[tuple[str, str, str]]:
    """The calls of a turn, of which the first is the part at a place."""
    calls: list[tuple[str, str, str]] = []
    for part in parts:
        call = part.functionCall
        if call is None or part.text is not None or part.functionResponse is not None:
            raise UnusualError
        text = call_text(call.args)
        if "\n" in text or "\r" in text or MARK in text:
            raise UnusualError
        if call.id is None:
            calls.append((history.made_id(place + len(calls), len(calls), NAME), call.name, text))
        elif is_made_id(call.id):
            raise UnusualError
        else:
            calls.append((call.id, call.name, text))
    return calls


def _prompt(history: UsualHistory, parts: Sequence[_Part]) -> None:
    """Results, or a text."""
    if len(parts) == 1 and parts[0].functionCall is parts[0].functionResponse is None:
        history.say("user", parts[0].text)
        return
    if not parts:
        raise UnusualError
    for part in parts:
        result = part.functionResponse
        if result is None or part.text is not None or part.functionCall is not None:
            raise UnusualError
        _answer(history, result)


def _called(history: UsualHistory, name: str) -> str:
    """The id of the first call of a tool that has no result."""
    for call_id, called in history.open.items():
        if called == name:
            return call_id
    raise UnusualError


def _answer(history: UsualHistory, result: _Result) -> None:
    """A result, by the id of its call, or by the name of its tool where it has no id."""
    call_id = result.id or _called(history, result.name)
    output, error = result.response.output, result.response.error
    if (result.id is not None and is_made_id(result.id)) or (output is UNSET) is (error is UNSET):
        raise UnusualError
    history.answer(call_id, error if isinstance(error, str) else str(output), is_error=error is not UNSET)


# Writing: the members stand in the order in which the general writer has them


class _ToldResult(msgspec.Struct, gc=False):
    id: str | UnsetType
    name: str
    response: _Response


class _ToldPart(msgspec.Struct, gc=False, omit_defaults=True):
    text: str | None = None
    functionCall: _Call | None = None
    functionResponse: _ToldResult | None = None


class _Told(msgspec.Struct, gc=False):
    parts: list[_ToldPart]
    role: str


def write_usual_history(messages: tuple[Message, ...], target: Target) -> bytes | None:
    """The messages as elements of an array, names and ids as they are; None where one is unusual."""
    plain = None if target.facts.call_seals else plain_messages(messages, NAME)
    if plain is None:
        return None
    told: list[_Told] = []
    last = ""
    called: dict[str, str] = {}
    sends_ids = target.quirks.call_ids_back
    for role, text, calls, results in plain:
        if role == last != "user":
            return None
        last = role
        parts = [_ToldPart(text)] if text else []
        for call in calls:
            called[call.id] = call.name
            call_id = call.id if sends_ids and not is_made_id(call.id) else None
            parts.append(_ToldPart(None, _Call(call_id, call.name, Raw(call.arguments_json))))
        if len(results) > 1:
            bare = [one for one in results if is_made_id(one.call_id)] if sends_ids else results
            if in_call_order(bare, called) != bare:
                return None
        for result in results:
            name = called.get(result.call_id) or result.name or result.call_id
            parts.append(_ToldPart(None, None, _told_result(result, name, sends_ids=sends_ids)))
        told.append(_Told(parts, "model" if role == "assistant" else "user"))
    body = encode_exact(told)
    return None if body is None else body[1:-1]


def _told_result(result: ToolResult, name: str, *, sends_ids: bool) -> _ToldResult:
    call_id = result.call_id if sends_ids and not is_made_id(result.call_id) else UNSET
    text = str(result.content)
    return _ToldResult(call_id, name, _Response(UNSET, text) if result.is_error else _Response(text))
