"""Typed output where a target cannot be held to a schema: a fallback, with an entry.

1. The schema, as the target itself takes it.
2. A hidden tool whose arguments are the answer, forced. The caller's own tools stay callable; the hidden one is never
   seen: its call comes back as the text of the answer, whole and streamed.
3. The schema in words, at the end of the system text.

Rules
- Only what is refused for its output schema alone climbs down, and what would go without it (`allow`); anything else is
  refused as before.
- Each target of a chain has its own fallback; under `strict` there is none.
- A target that cannot force a call would only sometimes answer with the tool: it gets the schema in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects._request import schema_prompt
from interlingua.errors import UnsupportedError
from interlingua.types.change import CODES, Change
from interlingua.types.content import BrokenToolCall, TextPart, ToolCall
from interlingua.types.event import (
    BlockEnd,
    BlockStart,
    StreamEnd,
    StreamError,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
)
from interlingua.types.response import Response
from interlingua.types.tool import AllowedTools, NamedTool, Tool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.dialects._contract import Dialect, Encoded, EncodeOptions
    from interlingua.types.content import Part
    from interlingua.types.event import Event
    from interlingua.types.request import Request
    from interlingua.types.tool import ToolChoice

__all__ = ["Unwrapper", "encode_typed", "unwrapped"]

DESCRIPTION = "Gives the final answer. Call it once, when you have everything that the answer needs."


def encode_typed(dialect: Dialect, request: Request, options: EncodeOptions) -> Encoded:
    """The request on the wire, by the first form that the target takes.

    Raises: UnsupportedError for what has no fallback; HistoryError.
    """
    try:
        encoded = dialect.encode_request(request, options)
    except UnsupportedError as error:
        if any(change.action == "refused" and change.code != "output_schema" for change in error.changes):
            raise
        lower = _lower(dialect, request, options)
        if lower is None:
            raise
        return lower
    if all(change.code != "output_schema" for change in encoded.changes):
        return encoded
    return _lower(dialect, request, options) or encoded  # where it may be dropped, it is still better asked for


def _lower(dialect: Dialect, request: Request, options: EncodeOptions) -> Encoded | None:
    """The best fallback; None where there is none."""
    return _forced(dialect, request, options) or _prompted(dialect, request, options)


def _forced(dialect: Dialect, request: Request, options: EncodeOptions) -> Encoded | None:
    """The first fallback, a hidden tool; None where the target takes no tools, or no forced call."""
    names = {tool.name for tool in request.tools if isinstance(tool, Tool)}
    name = request.schema_name or "response"
    while name in names:  # no other tool is called as the hidden one is
        name = f"{name}_output"
    tool = Tool(name=name, description=DESCRIPTION, parameters=request.output_schema or {})
    with_tool = replace(
        _without_schema(request), tools=(*request.tools, tool), tool_choice=_choice(request.tool_choice, request, name)
    )
    try:
        encoded = dialect.encode_request(with_tool, options)
    except UnsupportedError:
        return None
    if any(change.path == "/tool_choice" for change in encoded.changes):
        return None
    entry = _entry(dialect, "output_schema_forced_tool", f"asked for as the tool {name}")
    return replace(encoded, changes=(entry, *encoded.changes), undo=replace(encoded.undo, output_tool=name))


def _prompted(dialect: Dialect, request: Request, options: EncodeOptions) -> Encoded | None:
    """The last fallback, words; None where the rest of the request is refused, too."""
    gap = "\n\n" if request.system else ""
    instruction = TextPart(gap + schema_prompt(request.output_schema))
    try:
        encoded = dialect.encode_request(
            replace(_without_schema(request), system=(*request.system, instruction)), options
        )
    except UnsupportedError:
        return None
    changes = (_entry(dialect, "output_schema_prompted", "asked for in words"), *encoded.changes)
    return replace(encoded, changes=changes, undo=replace(encoded.undo, fenced=True))


def _without_schema(request: Request) -> Request:
    return replace(request, output_schema=None, schema_name=None, schema_description=None, schema_strict=None)


def _choice(choice: ToolChoice | None, request: Request, name: str) -> ToolChoice:
    """The tool choice that makes the model answer by a call, the caller's own tools among those that it may call."""
    match choice:
        case NamedTool():
            return choice
        case AllowedTools(names=names):
            return AllowedTools((*names, name), "required")
        case _:
            return "required" if request.tools and choice != "none" else NamedTool(name)


def _entry(dialect: Dialect, code: str, detail: str) -> Change:
    return Change(CODES[code].action, code, "/output_schema", dialect.name, "encode_request", detail)


# The way back


def unwrapped(response: Response[Any], name: str) -> Response[Any]:
    """The response with the call of the hidden tool as its text."""
    parts = tuple([_text(part, name) for part in response.parts])
    calls = any(isinstance(part, ToolCall | BrokenToolCall) for part in parts)
    reason = "stop" if response.finish_reason == "tool_calls" and not calls else response.finish_reason
    return replace(response, parts=parts, finish_reason=reason)


def _text(part: Part, name: str) -> Part:
    match part:
        case ToolCall(name=called, arguments_json=text) if called == name:
            return TextPart(text)
        case BrokenToolCall(name=called, raw_arguments=text) if called == name:
            return TextPart(text)
        case _:
            return part


class Unwrapper:
    """Unwraps the hidden call of a stream: its block is a block of text."""

    def __init__(self, name: str) -> None:
        """For the hidden tool of that name."""
        self._name = name
        self._hidden: set[tuple[int, int]] = set()

    def events(self, events: Iterable[Event]) -> list[Event]:
        """The events as the caller sees them."""
        return [unwrapped for event in events if (unwrapped := self._event(event)) is not None]

    def _event(self, event: Event) -> Event | None:
        match event:
            case BlockStart(index=index, choice=choice, name=name) if name == self._name:
                self._hidden.add((choice, index))
                return BlockStart(index, "text", choice=choice)
            case ToolCallDelta(index=index, choice=choice) if (choice, index) in self._hidden:
                return TextDelta(index, event.arguments, choice)
            case BlockEnd(index=index, choice=choice) if (choice, index) in self._hidden:
                return replace(event, part=_text(event.part, self._name))
            case ToolCallReady(index=index, choice=choice) if (choice, index) in self._hidden:
                return None
            case StreamEnd(response=response):
                return replace(event, response=unwrapped(response, self._name))
            case StreamError(partial=partial) if partial is not None:
                return replace(event, partial=unwrapped(partial, self._name))
            case _:
                return event
