"""Losses in a whole answer, and in the answer that a stream ends with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from interlingua.types.content import ImagePart, RefusalPart, ServerToolPart, TextPart, ThinkingPart, ToolCall
from sabotage.requests import (
    Spoil,
    as_texts,
    less,
    other_arguments,
    other_bytes,
    other_type,
    pairs_swapped,
    rounded,
    text_ascii,
    text_cut,
    text_lines,
    text_stripped,
    unsealed,
)

__all__ = ["ANSWERS"]


def _part(change: Callable[[Any], Any], *kinds: type) -> Spoil:
    """A spoiler of the first part of these kinds that it can change."""

    def spoil(response: Any) -> Any:
        for place, part in enumerate(response.parts):
            if isinstance(part, kinds) and (changed := change(part)) is not part:
                kept = () if changed is None else (changed,)
                return replace(response, parts=(*response.parts[:place], *kept, *response.parts[place + 1 :]))
        return response

    return spoil


def _gone(part: Any) -> None:
    del part


def _last(kind: type) -> Spoil:
    def spoil(response: Any) -> Any:
        places = [place for place, part in enumerate(response.parts) if isinstance(part, kind)]
        if not places:
            return response
        return replace(response, parts=(*response.parts[: places[-1]], *response.parts[places[-1] + 1 :]))

    return spoil


def _finish(one: str, other: str) -> Spoil:
    def spoil(response: Any) -> Any:
        if response.finish_reason != one:
            return response
        return replace(response, finish_reason=other, finish_reason_raw=None)

    return spoil


def _usage(change: Callable[[Any], Any]) -> Spoil:
    def spoil(response: Any) -> Any:
        if response.usage is None:
            return response
        changed = change(response.usage)
        return response if changed == response.usage else replace(response, usage=changed)

    return spoil


def _count(name: str) -> Spoil:
    return _usage(lambda usage: replace(usage, **{name: None}) if getattr(usage, name) else usage)


def _arguments(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Spoil:
    def spoil(call: ToolCall) -> ToolCall:
        text = other_arguments(call.arguments_json, change)
        return call if text == call.arguments_json else replace(call, arguments_json=text)

    return _part(spoil, ToolCall)


def _swapped(response: Any) -> Any:
    return replace(response, parts=pairs_swapped(response.parts, ToolCall, "arguments_json"))


def _empty(response: Any) -> Any:
    return replace(response, parts=()) if response.parts else response


def _texts_swapped(response: Any) -> Any:
    return replace(response, parts=pairs_swapped(response.parts, TextPart, "text"))


def _catalogue() -> Iterator[tuple[str, Spoil]]:
    yield "everything lost", _empty
    yield "text lost", _part(_gone, TextPart)
    yield "last character of the text lost", _part(text_cut, TextPart)
    yield "white space around the text lost", _part(text_stripped, TextPart)
    yield "letters beyond ASCII lost", _part(text_ascii, TextPart)
    yield "lines of the text joined", _part(text_lines, TextPart)
    yield "two texts swapped", _texts_swapped
    yield "thinking lost", _part(_gone, ThinkingPart)
    yield "thinking sent as text", _part(lambda part: TextPart(part.text) if part.text else part, ThinkingPart)
    yield "signature lost", _part(unsealed, ThinkingPart)
    yield "refusal lost", _part(_gone, RefusalPart)
    yield "refusal sent as text", _part(lambda part: TextPart(part.text), RefusalPart)
    yield "last call lost", _last(ToolCall)
    yield "name of a call changed", _part(lambda call: replace(call, name=f"{call.name}_2"), ToolCall)
    yield "id of a call changed", _part(lambda call: replace(call, id=f"{call.id}x"), ToolCall)
    yield "arguments of parallel calls swapped", _swapped
    yield "last argument of a call lost", _arguments(less)
    yield "numbers of a call rounded", _arguments(rounded)
    yield "numbers of a call sent as text", _arguments(as_texts)
    yield "image lost", _part(_gone, ImagePart)
    yield "MIME type of an image changed", _part(other_type, ImagePart)
    yield "last byte of an image lost", _part(other_bytes, ImagePart)
    yield "citations lost", _part(lambda part: replace(part, annotations=()) if part.annotations else part, TextPart)
    yield "last citation lost", _part(_last_citation, TextPart)
    yield "address of a citation changed", _part(_other_address, TextPart)
    yield "step of a server tool lost", _part(_gone, ServerToolPart)
    yield "what a server tool was called with lost", _part(_inputless, ServerToolPart)
    yield "what a server tool answered lost", _part(_outputless, ServerToolPart)
    yield "second choice lost", lambda one: replace(one, alternatives=()) if one.alternatives else one
    for one, other in (
        *(("length", "stop"), ("stop", "length"), ("tool_calls", "stop"), ("content_filter", "stop")),
        *(("refusal", "stop"), ("pause", "stop"), ("error", "stop"), ("stop", "content_filter")),
    ):
        yield f"{one} sent as {other}", _finish(one, other)
    yield "usage lost", lambda one: replace(one, usage=None) if one.usage is not None else one
    for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"):
        yield f"{name} lost", _count(name)
    yield "input_tokens without cached ones", _usage(_fresh)
    yield "output_tokens without reasoning", _usage(_unthought)
    yield "id of the answer lost", lambda one: replace(one, id=None) if one.id else one
    yield "model of the answer lost", _no_model


def _last_citation(part: TextPart) -> TextPart:
    return replace(part, annotations=part.annotations[:-1]) if len(part.annotations) > 1 else part


def _other_address(part: TextPart) -> TextPart:
    others = [replace(one, url=f"{one.url}x") if one.url else one for one in part.annotations]
    return replace(part, annotations=tuple(others)) if tuple(others) != part.annotations else part


def _inputless(step: ServerToolPart) -> ServerToolPart:
    return replace(step, input={}) if step.input else step


def _outputless(step: ServerToolPart) -> ServerToolPart:
    return replace(step, output="", sources=()) if step.output or step.sources else step


def _fresh(usage: Any) -> Any:
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    return replace(usage, input_tokens=usage.input_tokens - cached) if cached and usage.input_tokens else usage


def _unthought(usage: Any) -> Any:
    thought = usage.reasoning_tokens or 0
    return replace(usage, output_tokens=usage.output_tokens - thought) if thought and usage.output_tokens else usage


def _no_model(response: Any) -> Any:
    return replace(response, model="", wire_model=None) if response.model else response


ANSWERS: dict[str, Spoil] = dict(_catalogue())
"""Every loss, by name."""
