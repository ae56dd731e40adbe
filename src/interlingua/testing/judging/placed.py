"""Everything that a canonical request or answer says, each fact with its place: an entry excuses that fact alone.

The judge compares this with what the wire says on both sides: with the body that was read, and with every body that is
written. The readers of `wirefacts` share no code with the dialects, and neither does this module.

Rules
- A place is an RFC 6901 pointer into the canonical JSON, as in `Change.path`.
- Texts are kept in pieces, one for each part; formats join them as they like.
- What a part says beside its kind (its seal, its citations, its cache mark) has the place of the part.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from interlingua.testing.facts import builtins_of, without_nulls
from interlingua.testing.wirefacts.marks import EXCERPT
from interlingua.testing.wirefacts.origins import citation_source
from interlingua.testing.wirefacts.settings import SETTINGS
from interlingua.testing.wirefacts.steps import step_words
from interlingua.testing.wirefacts.unified import references_of, seals_of, server_tool
from interlingua.testing.wirefacts.values import NO_PARAMETERS, Facts, arguments_value, decoded, digest, items, members
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    Part,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import AllowedTools, NamedTool, Tool

__all__ = ["Fact", "PlacedAnswer", "PlacedChoice", "PlacedRequest", "placed_answer", "placed_request"]

Media = ImagePart | AudioPart | DocumentPart


MARKED: dict[Any, str] = {
    TextPart: "text",
    ImagePart: "image",
    DocumentPart: "document",
    ToolResult: "result",
    ToolCall: "call",
}
"""The thing that a cache mark stands on, in the words of `wirefacts.marks`."""


class Fact(NamedTuple):
    """One thing said, and where."""

    place: str
    """Pointer into the canonical JSON."""
    value: Any
    """The value, in the words of `wirefacts`."""
    role: str = ""
    """The speaker of a text."""


class PlacedChoice:
    """The facts of parts, in order."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.order: list[Fact] = []
        """Every part as (place, kind, role): where a note may stand for one."""
        self.texts: list[Fact] = []
        self.thinking: list[Fact] = []
        self.seals: list[Fact] = []
        self.calls: list[Fact] = []
        self.results: list[Fact] = []
        self.media: list[Fact] = []
        self.references: list[Fact] = []
        self.refusals: list[Fact] = []
        self.citations: list[Fact] = []
        self.steps: list[Fact] = []
        self.cache_marks: list[Fact] = []
        self.finish_reason: str = ""
        self.place: str = ""
        self._numbers: dict[str, int] = {}

    def read(self, parts: Sequence[Part], path: str, role: str) -> None:
        """More parts, whose places begin with `path`."""
        for number, part in enumerate(parts):
            self._part(part, f"{path}/{number}", role)

    def _part(self, part: Any, place: str, role: str) -> None:
        self.order.append(Fact(place, type(part).__name__, role))
        match part:
            case TextPart():
                self.texts.append(Fact(place, part.text, role))
                cited = enumerate(part.annotations)
                self.citations += [Fact(f"{place}/annotations/{at}", _source(one)) for at, one in cited]
            case ThinkingPart():
                self.thinking.append(Fact(place, part.text))
            case RefusalPart():
                self.refusals.append(Fact(place, part.text))
            case ToolCall() | BrokenToolCall():
                self._call(part, place)
            case ToolResult():
                self._result(part, place)
            case ServerToolPart():
                self.steps.append(Fact(place, _step(part)))
            case OpaquePart():
                self.references += [Fact(place, one) for one in without_nulls(references_of(builtins_of(part)))]
            case _:
                self.media.append(Fact(place, _digest(part)))
        sealed = getattr(part, "sealed", None)
        if sealed is not None:
            self.seals += [Fact(place, seal) for seal in seals_of(builtins_of(sealed))]
        self._mark(part, place)

    def _mark(self, part: Any, place: str) -> None:
        life = getattr(part, "cache", None)
        if life is not None:
            text = part.text[:EXCERPT] if isinstance(part, TextPart) else ""
            self.cache_marks.append(Fact(place, f"{life} on {MARKED.get(type(part), 'other')} {text}".rstrip()))

    def _call(self, call: ToolCall | BrokenToolCall, place: str) -> None:
        text = call.arguments_json if isinstance(call, ToolCall) else call.raw_arguments
        self._numbers[call.id] = len(self.calls)
        self.calls.append(Fact(place, {"id": call.id, "name": call.name, "arguments": arguments_value(text)}))

    def _result(self, result: ToolResult, place: str) -> None:
        number = self._numbers.get(result.call_id)
        content = result.content
        value: Any = content
        if isinstance(content, Json):
            value = content.value
        elif not isinstance(content, str):
            value = "".join([_part_text(part) for part in content])
            self._inside(content, f"{place}/content")
        if value is None or isinstance(value, bool | int | float):
            value = json.dumps(value)
        value = {"call": number, "content": decoded(value), "is_error": result.is_error}
        self.results.append(Fact(place, value))

    def _inside(self, parts: Sequence[Any], path: str) -> None:
        """Media and references in a result."""
        for number, part in enumerate(parts):
            place = f"{path}/{number}"
            if isinstance(part, OpaquePart):
                self.references += [Fact(place, one) for one in without_nulls(references_of(builtins_of(part)))]
            elif isinstance(part, Media):
                self.media.append(Fact(place, _digest(part)))
            self._mark(part, place)


class PlacedRequest(PlacedChoice):
    """The facts of a request."""

    def __init__(self, model: str) -> None:
        """A request to that model, with nothing in it yet."""
        super().__init__()
        self.model = model
        self.settings: Facts = {}
        self.tools: list[Fact] = []
        self.server_tools: list[Fact] = []
        self.tool_choice: Any = None
        self.output_schema: Any = None


class PlacedAnswer(NamedTuple):
    """The facts of an answer."""

    model: str
    """The model that it names."""
    id: str | None
    """Its id."""
    usage: Facts | None
    """Its token counts."""
    choices: list[PlacedChoice]
    """Its choices."""


def placed_request(request: Request, model: str) -> PlacedRequest:
    """The facts of a request to `model`."""
    placed = PlacedRequest(model)
    placed.read(request.system, "/system", "system")
    for number, message in enumerate(request.messages):
        placed.read(message.parts, f"/messages/{number}/parts", message.role)
    for number, tool in enumerate(request.tools):
        place = f"/tools/{number}"
        if isinstance(tool, Tool):
            placed.tools.append(Fact(place, _tool(tool)))
            if tool.cache is not None:
                placed.cache_marks.append(Fact(place, f"{tool.cache} on tool {tool.name}"))
        else:
            placed.server_tools.append(Fact(place, without_nulls(server_tool(builtins_of(tool)))))
    for name in SETTINGS:
        value: Any = getattr(request, name)
        if value not in (None, (), {}):
            placed.settings[name] = list(value) if name == "stop" else value
    if placed.settings.get("effort") == "none":
        del placed.settings["effort"]
        placed.settings["thinking"] = False
    hosted = request.extra.get("openai-responses", {}).get("tool_choice")
    placed.server_tools += [Fact("/extra/openai-responses/tool_choice", hosted)] if hosted else []
    placed.tool_choice = _choice(request)
    placed.output_schema = request.output_schema or ("json" if request.json_mode else None)
    return placed


def placed_answer(response: Response[Any]) -> PlacedAnswer:
    """The facts of an answer."""
    choices = [_choice_of(response, "")]
    choices += [_choice_of(one, f"/alternatives/{number}") for number, one in enumerate(response.alternatives)]
    usage = None
    if response.usage is not None:
        names = ("input", "output", "cache_read", "cache_write", "reasoning")
        usage = {name: getattr(response.usage, f"{name}_tokens") for name in names}
    return PlacedAnswer(response.wire_model or response.model, response.id, usage, choices)


def _choice_of(choice: Any, path: str) -> PlacedChoice:
    placed = PlacedChoice()
    placed.place = path
    placed.read(choice.parts, f"{path}/parts", "assistant")
    placed.finish_reason = choice.finish_reason
    return placed


def _tool(tool: Tool) -> Facts:
    schema = "freeform" if tool.freeform is not None else tool.parameters or NO_PARAMETERS
    return {"name": tool.name, "description": tool.description or None, "schema": schema, "strict": tool.strict}


def _choice(request: Request) -> Any:
    """The tool choice; None is `auto`, said or not."""
    match request.tool_choice:
        case NamedTool(name=name):
            return {"name": name}
        case AllowedTools(names=(name,), mode="required"):
            return {"name": name}
        case AllowedTools(names=names, mode=mode):
            return {"allowed": list(names), "mode": mode}
        case choice:
            return None if choice == "auto" else choice


def _source(citation: Citation) -> str:
    """The source that a citation names: its fields, or what nobody has read of it."""
    return citation.url or citation.file or citation.title or citation_source(citation.raw)


def _step(part: ServerToolPart) -> Any:
    """The words of a step; those that its fields do not say, where there are any."""
    words = step_words(part.raw)
    fields = {"input": part.input, "output": part.output, "sources": builtins_of(part.sources)}
    text = "\n".join(_strings(fields))
    unread = [one for one in words if one not in text]
    return {"unread": unread} if unread else words


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for member in members(value).values() for text in _strings(member)]
    return [text for item in items(value) for text in _strings(item)] if isinstance(value, list) else [str(value)]


def _part_text(part: Any) -> str:
    if isinstance(part, TextPart):
        return part.text
    return json.dumps(part.value) if isinstance(part, Json) else ""


def _digest(part: Media) -> list[str]:
    return digest(part.media_type, part.data)
