"""The usual history: texts, calls with their results, and nothing that has to be interpreted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from interlingua.dialects._usual.histories import UnusualError, UsualHistory, marked_text, plain_messages
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.wire.json import ExactStruct, encode_exact, exact_reader

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.types.message import Message

__all__ = ["read_usual_history", "write_usual_history"]


class _Item(ExactStruct):
    """One item; without a type it is a message."""

    type: Literal["message", "function_call", "function_call_output"] = "message"
    role: Literal["user", "assistant"] | None = None
    content: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    output: str | None = None
    id: None = None
    status: Literal["completed"] | None = None


_read = exact_reader(list[_Item])


def read_usual_history(text: bytes) -> UsualHistory | None:
    """What the items of a request say; None for unusual ones."""
    wires = _read(text)
    if wires is None:
        return None
    history = UsualHistory()
    turn = _Turn()
    try:
        for wire in wires:
            if wire.type == "function_call":
                turn.call(wire)
            elif wire.role == "assistant":
                turn.say(wire)
            else:
                turn.end(history)
                _other(history, wire)
        turn.end(history)
        return history.done()
    except UnusualError:
        return None


class _Turn:
    """Neighbouring items of the assistant, which are one message."""

    __slots__ = ("calls", "text")

    def __init__(self) -> None:
        self.text = ""
        self.calls: list[tuple[str, str, str]] = []

    def say(self, item: _Item) -> None:
        if self.text or self.calls or not item.content or not _is_message(item):
            raise UnusualError
        self.text = item.content

    def call(self, item: _Item) -> None:
        if item.name is None or item.call_id is None or item.arguments is None:
            raise UnusualError
        if not (item.role is item.content is item.output is None):
            raise UnusualError
        self.calls.append((item.call_id, item.name, item.arguments))

    def end(self, history: UsualHistory) -> None:
        if self.text or self.calls:
            history.turn(self.text, self.calls)
            self.text, self.calls = "", []


def _other(history: UsualHistory, item: _Item) -> None:
    """What the user says, or a result."""
    if item.type == "message":
        if item.role is None or item.status is not None or not _is_message(item):
            raise UnusualError
        history.say("user", item.content)
        return
    if item.call_id is None or item.output is None:
        raise UnusualError
    if not (item.role is item.content is item.name is item.arguments is None):
        raise UnusualError
    history.answer_marked(item.call_id, item.output)


def _is_message(item: _Item) -> bool:
    """Whether an item has no members but those of a message."""
    return item.type == "message" and item.call_id is item.name is item.arguments is item.output is None


# Writing: the members stand in the order in which the general writer has them


class _ToldText(msgspec.Struct, gc=False):
    role: str
    content: str


class _ToldCall(msgspec.Struct, gc=False):
    type: str
    call_id: str
    name: str
    arguments: str


class _ToldResult(msgspec.Struct, gc=False):
    type: str
    call_id: str
    output: str


def write_usual_history(messages: tuple[Message, ...], target: Target) -> bytes | None:
    """The messages as elements of an array, names and ids as they are; None where one is unusual."""
    del target
    plain = plain_messages(messages, NAME)
    if plain is None:
        return None
    told: list[_ToldText | _ToldCall | _ToldResult] = []
    for role, text, calls, results in plain:
        if text:
            told.append(_ToldText(role, text))
        told.extend([_ToldCall("function_call", call.id, call.name, call.arguments_json) for call in calls])
        for result in results:
            said = marked_text(result)
            if said is None:
                return None
            told.append(_ToldResult("function_call_output", result.call_id, said))
    body = encode_exact(told)
    return None if body is None else body[1:-1]
