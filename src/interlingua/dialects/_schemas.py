"""Schemas fitted to the place where they are sent, and earlier calls put into their form.

A writer names the subset of each place; what has to be rewritten is rewritten here, once for each schema: verdicts are
kept by the schema's bytes. `_own_form` turns back what a rewritten schema changes of the answer.

Rules
- A schema that the target takes is not touched, and arguments of its calls keep their exact text.
- A strict tool whose schema no strict mode can say goes without strictness; any other schema that cannot be said is
  refused, and only this one tool with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec
from msgspec import Raw

from interlingua.dialects._tool_cache import CachedTools, memory_of
from interlingua.errors import SchemaError
from interlingua.schema.subset import have_lists, have_plain_roots
from interlingua.types.content import ToolCall
from interlingua.types.tool import Tool
from interlingua.wire._nulls import holds_null, is_told_by
from interlingua.wire.json import encode, write_text

if TYPE_CHECKING:
    from interlingua.schema.convert import Conversion
    from interlingua.schema.fit import Fitted
    from interlingua.schema.subset import Subset
    from interlingua.types.change import Changes
    from interlingua.types.content import Part
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.tool import OpaqueTool

    PlainTools: TypeAlias = list[tuple[Tool, Any]]

__all__ = ["FittedRequest", "fit_request", "plain_tools", "with_arguments"]

MAX_GENERATION_BYTES = 3_000_000
"""How much memory each of the two generations of verdicts may take."""


# What was found out before


class _Verdicts:
    """What became of the schemas that came lately, by their bytes."""

    __slots__ = ("_bytes", "_old", "_young")

    def __init__(self) -> None:
        self._bytes = 0
        self._young: dict[tuple[str, bytes], Fitted | SchemaError | None] = {}
        self._old: dict[tuple[str, bytes], Fitted | SchemaError | None] = {}

    def fitted(self, schema: dict[str, Any], subset: Subset) -> Fitted | None:
        """The schema as `subset` takes it; None where it takes the caller's own.

        Raises: SchemaError, for one that cannot be said.
        """
        found = self._verdict((subset.name, encode(schema)), schema, subset)
        if isinstance(found, SchemaError):
            raise found.with_traceback(None)  # or it would hold the frames of all who were told so
        return found

    def taken(self, schemas: list[dict[str, Any]], texts: list[bytes], subset: Subset) -> bool:
        """Whether all of these schemas are taken as they are, whose texts these are."""
        known, name = self._young, subset.name
        for schema, text in zip(schemas, texts, strict=True):
            if known.get((name, text), self) is not None and self._verdict((name, text), schema, subset) is not None:
                return False
        return True

    def _verdict(self, key: tuple[str, bytes], schema: dict[str, Any], subset: Subset) -> Fitted | SchemaError | None:
        if key in self._young:
            return self._young[key]
        found = self._old[key] if key in self._old else _verdict(schema, key[1], subset)
        self._keep(key, found)
        return found

    def _keep(self, key: tuple[str, bytes], found: Fitted | SchemaError | None) -> None:
        size = memory_of(key[1])
        if size > MAX_GENERATION_BYTES:
            return
        if self._bytes + size > MAX_GENERATION_BYTES:
            self._old, self._young, self._bytes = self._young, {}, 0
        self._bytes += size
        self._young[key] = found


_VERDICTS = _Verdicts()


def _verdict(schema: dict[str, Any], text: bytes, subset: Subset) -> Fitted | SchemaError | None:
    from interlingua.schema.usual import is_usual  # only who has schemas pays for it

    if subset.usual and is_usual(text, subset.references):
        return None
    from interlingua.schema.fit import fit  # only who has such schemas pays for it
    from interlingua.schema.validate import check_bounds

    try:
        check_bounds(schema, where="/")
        return fit(schema, subset)
    except SchemaError as error:
        return error


# Writing a request


class FittedRequest(msgspec.Struct, frozen=True, eq=False):
    """A request whose schemas the target takes."""

    request: Request
    """The request; the caller's own where nothing had to be rewritten."""
    arguments: dict[str, Conversion]
    """What becomes of the arguments, by the tool's own name."""
    output: Conversion | None
    """What becomes of the output."""
    plain: PlainTools | None
    """The tools with what is written of their schemas, if all of them are plain and new, and taken as they are."""


class _FittedTools(msgspec.Struct, frozen=True, eq=False):
    """The tools of a request, as the target takes them."""

    tools: tuple[Tool | OpaqueTool, ...]
    arguments: dict[str, Conversion]
    entries: tuple[tuple[str, str, str], ...]


def fit_request(
    request: Request,
    tool_subset: Callable[[Tool], Subset | None],
    output_subset: Callable[[Request], Subset | None],
    changes: Changes,
    *,
    ways: tuple[object, ...],
) -> FittedRequest:
    """The request with its schemas rewritten where the target does not take them, and earlier calls in their form.

    `ways` are all that `tool_subset` depends on besides the tool.
    """
    arguments: dict[str, Conversion] = {}
    plain = None if type(request.tools) is CachedTools else _taken_tools(request.tools, tool_subset)
    if request.tools and plain is None:
        fitted = _known_tools(request.tools, tool_subset, ways)
        if fitted is not None:
            for code, path, why in fitted.entries:
                changes.add(code, path, why)
            arguments = fitted.arguments
            request = msgspec.structs.replace(request, tools=_taken(fitted, changes))
    output = None
    if request.output_schema is not None:
        request, output = _fit_output(request, output_subset, changes)
    if arguments:
        messages = tuple([_with_calls(message, arguments) for message in request.messages])
        request = msgspec.structs.replace(request, messages=messages)
    return FittedRequest(request, arguments, output, plain)


def _taken_tools(
    tools: tuple[Tool | OpaqueTool, ...], tool_subset: Callable[[Tool], Subset | None]
) -> PlainTools | None:
    """Plain tools with what is written of their schemas; None where one is not plain, or may have to be rewritten."""
    plain = plain_tools(tools)
    if not plain:
        return None
    schemas = [tool.parameters for tool in plain]
    texts = _texts_of(schemas)
    subset = tool_subset(plain[0])  # all of them are alike
    if texts is None:
        return None
    if subset is not None and not _takes_all(subset, plain, texts) and not _VERDICTS.taken(schemas, texts, subset):
        return None
    return list(zip(plain, map(Raw, texts), strict=True))


def plain_tools(tools: tuple[Tool | OpaqueTool, ...]) -> list[Tool] | None:
    """The tools, if there is nothing to any of them but name, description and schema."""
    plain: list[Tool] = []
    for tool in tools:
        if type(tool) is not Tool or tool.strict or tool.cache is not None or tool.freeform is not None or tool.extra:
            return None
        plain.append(tool)
    return plain


def _texts_of(schemas: list[dict[str, Any]]) -> list[bytes] | None:
    """Schemas as JSON; None where JSON cannot say one of them."""
    try:
        texts = [write_text(schema) for schema in schemas]
    except (TypeError, ValueError, RecursionError):
        return None
    if holds_null(b"".join(texts)) and not all(map(is_told_by, texts, schemas)):
        return None
    return texts


def _takes_all(subset: Subset, tools: Sequence[Tool], texts: list[bytes]) -> bool:
    """Whether the schemas of tools, whose texts these are, are taken, whatever stands inside."""
    return subset.any_inside and have_plain_roots([tool.parameters for tool in tools]) and have_lists(b"".join(texts))


def _known_tools(
    tools: tuple[Tool | OpaqueTool, ...], tool_subset: Callable[[Tool], Subset | None], ways: tuple[object, ...]
) -> _FittedTools | None:
    """The tools as the target takes them; None where it takes the caller's own."""
    if not isinstance(tools, CachedTools) or not tools.untouched:
        return _fit_tools(tools, tool_subset)
    if ways not in tools.fitted:
        tools.fitted[ways] = _fit_tools(tools, tool_subset)
    return cast("_FittedTools | None", tools.fitted[ways])


def _fit_tools(
    tools: tuple[Tool | OpaqueTool, ...], tool_subset: Callable[[Tool], Subset | None]
) -> _FittedTools | None:
    entries: list[tuple[str, str, str]] = []
    arguments: dict[str, Conversion] = {}
    sent: list[Tool | OpaqueTool] = []
    for place, tool in enumerate(tools):
        subset = tool_subset(tool) if isinstance(tool, Tool) and tool.freeform is None else None
        if subset is None:
            sent.append(tool)
            continue
        one, conversion = _fit_tool(cast("Tool", tool), subset, tool_subset, f"/tools/{place}", entries)
        sent.append(one)
        if conversion is not None:
            arguments[one.name] = conversion
    return _FittedTools(tuple(sent), arguments, tuple(entries)) if entries else None


def _fit_tool(
    tool: Tool,
    subset: Subset,
    tool_subset: Callable[[Tool], Subset | None],
    path: str,
    entries: list[tuple[str, str, str]],
) -> tuple[Tool, Conversion | None]:
    if subset.any_inside and _takes_all(subset, (tool,), [encode(tool.parameters)]):
        return tool, None
    try:
        fitted = _VERDICTS.fitted(tool.parameters, subset)
    except SchemaError as error:
        loose = tool_subset(msgspec.structs.replace(tool, strict=None))
        if not tool.strict or loose is subset:
            entries.append(("tools", path, f"{tool.name}, parameters at {error.message}"))
            return tool, None
        entries.append(("strict_unsupported", f"{path}/strict", f"{tool.name}, parameters at {error.message}"))
        tool = msgspec.structs.replace(tool, strict=None)
        return (tool, None) if loose is None else _fit_tool(tool, loose, tool_subset, path, entries)
    if fitted is None:
        return tool, None
    entries += [("schema_rewritten", f"{path}/parameters{at}", why) for at, why in _told_once(fitted)]
    return msgspec.structs.replace(tool, parameters=fitted.schema), fitted.conversion


def _told_once(fitted: Fitted) -> list[tuple[str, str]]:
    """Each rewritten place once, with all that was done there."""
    told: dict[str, list[str]] = {}
    for rewrite in fitted.rewrites:
        whys = told.setdefault(rewrite.path, [])
        if rewrite.why not in whys:
            whys.append(rewrite.why)
    return [(path, "; ".join(whys)) for path, whys in told.items()]


def _taken(fitted: _FittedTools, changes: Changes) -> tuple[Tool | OpaqueTool, ...]:
    """The tools without those that may be let go."""
    refused = {path for code, path, _ in fitted.entries if code == "tools"}
    if not refused or "tools" not in changes.allow:
        return fitted.tools
    return tuple([tool for place, tool in enumerate(fitted.tools) if f"/tools/{place}" not in refused])


def _fit_output(
    request: Request, output_subset: Callable[[Request], Subset | None], changes: Changes
) -> tuple[Request, Conversion | None]:
    subset = output_subset(request)
    if subset is None or request.output_schema is None:
        return request, None
    try:
        fitted = _VERDICTS.fitted(request.output_schema, subset)
    except SchemaError as error:
        if request.schema_strict:
            changes.add("strict_unsupported", "/schema_strict", f"the schema at {error.message}")
            loose = msgspec.structs.replace(request, schema_strict=None)
            if output_subset(loose) is not subset:
                return _fit_output(loose, output_subset, changes)
        if "output_schema" not in changes.allow:
            changes.add("output_schema", "/output_schema", f"the schema at {error.message}")
            return request, None
        changes.add("output_schema_loosened", "/output_schema", f"the schema at {error.message}")
        return msgspec.structs.replace(request, output_schema=None, json_mode=True), None
    if fitted is None:
        return request, None
    for path, why in _told_once(fitted):
        changes.add("schema_rewritten", f"/output_schema{path}", why)
    return msgspec.structs.replace(request, output_schema=fitted.schema), fitted.conversion


def _with_calls(message: Message, arguments: dict[str, Conversion]) -> Message:
    """A message of the history, its calls as the model is told to make them."""
    if not any(isinstance(part, ToolCall) and part.name in arguments for part in message.parts):
        return message
    parts = tuple([_called(part, arguments) for part in message.parts])
    return msgspec.structs.replace(message, parts=parts)


def _called(part: Part, arguments: dict[str, Conversion]) -> Part:
    if not isinstance(part, ToolCall) or part.freeform or part.name not in arguments:
        return part
    return with_arguments(part, arguments[part.name].text_to_wire(part.arguments_json))


def with_arguments(call: ToolCall, text: str) -> ToolCall:
    """The call with other arguments; itself where these are no object."""
    if text == call.arguments_json or not text.startswith("{"):
        return call
    return msgspec.structs.replace(call, arguments_json=text)
