"""The usual history: texts, calls with their results, and nothing that has to be interpreted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Raw

from interlingua.dialects._usual.histories import UnusualError, UsualHistory, call_text, plain_messages
from interlingua.dialects.anthropic.parts import NAME
from interlingua.types.content import Sealed, TextPart, ThinkingPart
from interlingua.wire.json import ExactStruct, encode_exact, exact_reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Target
    from interlingua.types.content import Cache, Part, ToolCall, ToolResult
    from interlingua.types.message import Message, Role

__all__ = ["read_usual_history", "write_usual_history"]

_ALTERNATING: frozenset[Role] = frozenset({"user", "assistant"})


class _Mark(ExactStruct):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class _Text(ExactStruct, tag_field="type", tag="text"):
    text: str
    cache_control: _Mark | None = None


class _Thinking(ExactStruct, tag_field="type", tag="thinking"):
    thinking: str
    signature: str


class _Call(ExactStruct, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: Raw


class _ResultText(ExactStruct):
    type: Literal["text"]  # where one struct alone can stand, msgspec would take a block without its tag
    text: str
    cache_control: _Mark | None = None


class _Result(ExactStruct, tag_field="type", tag="tool_result"):
    tool_use_id: str
    content: str | list[_ResultText] | None = None
    is_error: bool | None = None
    cache_control: _Mark | None = None


class _User(ExactStruct, tag_field="role", tag="user"):
    content: str | list[_Text | _Result]


class _Assistant(ExactStruct, tag_field="role", tag="assistant"):
    content: str | list[_Text | _Call | _Thinking]


_read = exact_reader(list[_User | _Assistant])


def read_usual_history(text: bytes) -> UsualHistory | None:
    """What the messages of a request say; None for unusual ones."""
    wires = _read(text)
    if wires is None:
        return None
    history = UsualHistory(_ALTERNATING)
    try:
        for wire in wires:
            if type(wire) is _Assistant:
                _turn(history, wire.content)
            elif type(wire) is _User:
                _prompt(history, wire.content)
        return history.done()
    except UnusualError:
        return None


def _turn(history: UsualHistory, content: str | Sequence[_Text | _Call | _Thinking]) -> None:
    if type(content) is str:
        history.turn(content, ())
        return
    text: str | None = None
    thinking: list[Part] = []
    calls: list[tuple[str, str, str]] = []
    for block in content:
        if type(block) is _Call:
            calls.append((block.id, block.name, call_text(block.input)))
        elif type(block) is _Text and text is None and not calls and block.text and block.cache_control is None:
            text = block.text
        elif type(block) is _Thinking and text is None and not calls:
            thinking.append(_thought(block))
        else:
            raise UnusualError
    history.turn(text, calls, tuple(thinking))


def _thought(block: _Thinking) -> ThinkingPart:
    sealed = Sealed(NAME, {"signature": block.signature}) if block.signature else None
    return ThinkingPart(block.thinking, sealed)


def _prompt(history: UsualHistory, content: str | Sequence[_Text | _Result]) -> None:
    """Results, then texts."""
    if type(content) is str:
        history.say("user", content)
        return
    texts: list[Part] = []
    for block in content:
        if type(block) is _Text:
            texts.append(_text(block))
        elif type(block) is _Result and not texts:
            _answer(history, block)
        else:
            raise UnusualError
    if texts:
        history.say_all("user", tuple(texts))
    elif not content:
        raise UnusualError


def _answer(history: UsualHistory, block: _Result) -> None:
    content = "" if block.content is None else block.content
    told = content if isinstance(content, str) else tuple([_text(text) for text in content]) or ""
    cache = _cache(block.cache_control)
    history.answer(block.tool_use_id, told, is_error=bool(block.is_error), cache=cache)


def _text(block: _Text | _ResultText) -> TextPart:
    if not block.text:
        raise UnusualError
    return TextPart(block.text, (), _cache(block.cache_control))


def _cache(mark: _Mark | None) -> Cache | None:
    return None if mark is None else mark.ttl or "5m"


# Writing: the members stand in the order in which the general writer has them


class _ToldText(msgspec.Struct, gc=False, tag_field="type", tag="text"):
    text: str


class _ToldResult(msgspec.Struct, gc=False, tag_field="type", tag="tool_result", omit_defaults=True):
    tool_use_id: str
    content: str
    is_error: bool = False


class _Told(msgspec.Struct, gc=False):
    role: str
    content: list[_ToldText | _Call | _ToldResult]


def write_usual_history(messages: tuple[Message, ...], target: Target) -> bytes | None:
    """The messages as elements of an array, names and ids as they are; None where one is unusual."""
    del target
    plain = plain_messages(messages, NAME)
    if plain is None:
        return None
    told: list[_Told] = []
    last = ""
    for role, text, calls, results in plain:
        if role == last or (text.isspace() and not calls):
            return None
        if calls:
            told.append(_Told(role, _blocks(text, calls)))
        elif not results:
            _add(told, last, role, [_ToldText(text)])
        else:
            blocks = _results(results)
            if blocks is None:
                return None
            _add(told, last, "user", blocks)
        last = role
    body = encode_exact(told)
    return None if body is None else body[1:-1]


def _add(told: list[_Told], last: str, role: str, blocks: list[_ToldText | _Call | _ToldResult]) -> None:
    """A message, or more of the last one, since results and what the user says are one."""
    if role == "user" and last in ("tool", "user"):
        told[-1].content.extend(blocks)
    else:
        told.append(_Told(role, blocks))


def _blocks(text: str, calls: Sequence[ToolCall]) -> list[_ToldText | _Call | _ToldResult]:
    said: list[_ToldText | _Call | _ToldResult] = [_ToldText(text)] if text else []
    said.extend([_Call(call.id, call.name, Raw(call.arguments_json)) for call in calls])
    return said


def _results(results: Sequence[ToolResult]) -> list[_ToldText | _Call | _ToldResult] | None:
    """The blocks of results; None where one says nothing, which is not always taken."""
    told: list[_ToldText | _Call | _ToldResult] = []
    for result in results:
        if not result.content:
            return None
        told.append(_ToldResult(result.call_id, str(result.content), result.is_error))
    return told
