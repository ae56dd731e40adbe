"""Schemas fitted to the place where they are sent, and earlier calls put into their form.

A writer names the subset of each place; what has to be rewritten is rewritten here. The schemas of plain tools are
looked at as they were read, together; the verdicts of the whole walk are kept by the schema's bytes. `_own_form` turns
back what a rewritten schema changes of the answer.

Rules
- A schema that the target takes is not touched, and arguments of its calls keep their exact text.
- A strict tool whose schema no strict mode can say goes without strictness; any other schema that cannot be said is
  refused, and only this one tool with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from interlingua.dialects._tool_cache import CachedTools, memory_of
from interlingua.errors import SchemaError
from interlingua.schema.loose import are_untouched
from interlingua.schema.subset import have_lists, have_plain_roots
from interlingua.types.content import ToolCall
from interlingua.types.tool import Tool
from interlingua.wire._nulls import is_told_by
from interlingua.wire.cache import ByteCache
from interlingua.wire.json import decode_any, encode, write_text

if TYPE_CHECKING:
    from interlingua.schema.convert import Conversion
    from interlingua.schema.fit import Fitted
    from interlingua.schema.subset import Subset
    from interlingua.types.change import Changes
    from interlingua.types.content import Part
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.tool import OpaqueTool

__all__ = ["FittedRequest", "fit_request", "plain_tools", "with_arguments"]

_MAX_VERDICTS_BYTES = 6_000_000


class _Rewritten(msgspec.Struct, frozen=True, eq=False):
    """A schema that the target takes in other words alone."""

    schema: dict[str, Any]
    """The schema to send; requests share it, and nobody changes it."""
    rewrites: tuple[tuple[str, str], ...]
    """Each rewritten place once, with all that was done there."""
    conversion: Conversion | None
    """The conversion of the values; None where they look the same."""


_Verdict: TypeAlias = "_Rewritten | str | None"
"""The verdict on a schema: other words, the reason why it cannot be said, or nothing."""


def _judge(key: tuple[bytes, Subset]) -> _Verdict:
    text, subset = key
    if subset.loose and are_untouched(b"[%b]" % text):
        return None
    from interlingua.schema.fit import fit  # only who has such schemas pays for it
    from interlingua.schema.validate import check_bounds, is_within_bounds

    schema = decode_any(text)
    try:
        if not is_within_bounds(text):
            check_bounds(schema, where="/")
        fitted = fit(schema, subset)
    except SchemaError as error:
        return error.message
    return None if fitted is None else _told_once(fitted)


def _weight(key: tuple[bytes, Subset], verdict: _Verdict) -> int:
    """About the bytes that a verdict takes, with the objects of a rewritten schema and what else it came with."""
    return memory_of(key[0]) + (2 * memory_of(write_text(verdict.schema)) if isinstance(verdict, _Rewritten) else 0)


_verdicts = ByteCache[tuple[bytes, "Subset"], _Verdict](_MAX_VERDICTS_BYTES, _judge, weigh=_weight)
"""Verdicts on schemas, by their text and the subset."""


def _rewritten(schema: dict[str, Any], subset: Subset) -> _Rewritten | None:
    """The schema as `subset` takes it; None where it takes the caller's own.

    Raises: SchemaError, for one that cannot be said.
    """
    verdict = _verdicts[encode(schema), subset]
    if isinstance(verdict, str):
        raise SchemaError(verdict)
    return verdict


def _look_at(schemas: list[dict[str, Any]], text: bytes, subset: Subset) -> list[_Verdict]:
    """The verdicts on schemas that make up the JSON array `text`, none where all are taken.

    Those that need the whole walk are remembered.
    """
    if _takes_all(subset, schemas, text):
        return []
    from interlingua.schema.fit import glance  # only who has such schemas pays for it
    from interlingua.schema.validate import is_within_bounds

    verdicts: list[_Verdict] = []
    are_bounded = is_within_bounds(text)
    for schema in schemas:
        fitted = glance(schema, subset) if are_bounded or is_within_bounds(write_text(schema)) else None
        if fitted is None:
            verdicts.append(_verdicts[write_text(schema), subset])
        else:
            verdicts.append(_told_once(fitted) if fitted.rewrites else None)
    return verdicts


def _told_once(fitted: Fitted) -> _Rewritten:
    """A rewritten schema, with each rewritten place once, and all that was done there."""
    by_path: dict[str, list[str]] = {}
    for path, why in fitted.rewrites:
        whys = by_path.get(path)
        if whys is None:
            by_path[path] = [why]
        elif why not in whys:
            whys.append(why)
    rewrites = tuple([(path, "; ".join(whys)) for path, whys in by_path.items()])
    return _Rewritten(fitted.schema, rewrites, fitted.conversion)


# Writing a request


class FittedRequest(msgspec.Struct, frozen=True, eq=False):
    """A request whose schemas the target takes."""

    request: Request
    """The request; the caller's own where nothing had to be rewritten."""
    arguments: dict[str, Conversion]
    """The conversions of the arguments, by the tool's own name."""
    output: Conversion | None
    """The conversion of the output."""
    is_plain: bool
    """Whether all tools are plain and new, JSON can say their schemas, and none is refused."""


class _FittedTools(msgspec.Struct, frozen=True, eq=False):
    """The tools of a request, as the target takes them."""

    tools: tuple[Tool | OpaqueTool, ...]
    arguments: dict[str, Conversion]
    entries: list[tuple[str, str, str]]


class _Work(msgspec.Struct, eq=False):
    """The fitting of the tools of a request, as far as it got."""

    entries: list[tuple[str, str, str]] = []
    """Code, place and reason of each change."""
    arguments: dict[str, Conversion] = {}
    """The conversions of the arguments, by the tool's own name."""


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
    plain = None if type(request.tools) is CachedTools else _fit_plain_tools(request.tools, tool_subset)
    fitted = plain
    if plain is None and request.tools:
        fitted = _known_tools(request.tools, tool_subset, ways)
    if fitted is not None and fitted.entries:
        for code, path, why in fitted.entries:
            changes.add(code, path, why)
        arguments = fitted.arguments
        tools = fitted.tools
        refused = {path for code, path, _ in fitted.entries if code == "tools"} if "tools" in changes.allow else ()
        if refused:  # they may be let go
            tools = tuple([tool for place, tool in enumerate(tools) if f"/tools/{place}" not in refused])
        request = msgspec.structs.replace(request, tools=tools)
    output = None
    if request.output_schema is not None:
        request, output = _fit_output(request, output_subset, changes)
    if arguments:
        messages = tuple([_with_calls(message, arguments) for message in request.messages])
        request = msgspec.structs.replace(request, messages=messages)
    return FittedRequest(request, arguments, output, plain is not None)


def _fit_plain_tools(
    tools: tuple[Tool | OpaqueTool, ...], tool_subset: Callable[[Tool], Subset | None]
) -> _FittedTools | None:
    """Plain tools as the target takes them; None where one is not plain, or refused."""
    plain = plain_tools(tools)
    schemas = [tool.parameters for tool in plain or ()]
    text = _text_of(schemas)
    if not plain or text is None:
        return None
    subset = tool_subset(plain[0])  # all of them are alike
    work = _Work()
    for place, verdict in enumerate(() if subset is None else _look_at(schemas, text, subset)):
        if isinstance(verdict, str):
            return None
        if verdict is not None:
            plain[place] = _with_schema(plain[place], verdict, f"/tools/{place}", work)
    return _FittedTools(tuple(plain), work.arguments, work.entries)


def _with_schema(
    tool: Tool,
    verdict: _Rewritten,
    path: str,
    work: _Work,
) -> Tool:
    """The tool with its rewritten schema, of which entries and conversion are noted."""
    work.entries += [("schema_rewritten", f"{path}/parameters{at}", why) for at, why in verdict.rewrites]
    if verdict.conversion is not None:
        work.arguments[tool.name] = verdict.conversion
    return msgspec.structs.replace(tool, parameters=verdict.schema)


def plain_tools(tools: tuple[Tool | OpaqueTool, ...]) -> list[Tool] | None:
    """The tools, if there is nothing to any of them but name, description and schema."""
    plain: list[Tool] = []
    for tool in tools:
        if type(tool) is not Tool or tool.strict or tool.cache is not None or tool.freeform is not None or tool.extra:
            return None
        plain.append(tool)
    return plain


def _text_of(schemas: list[dict[str, Any]]) -> bytes | None:
    """Schemas as a JSON array; None where JSON cannot say one of them."""
    try:
        text = write_text(schemas)
    except (TypeError, ValueError, RecursionError):
        return None
    return text if is_told_by(text, schemas) else None


def _takes_all(subset: Subset, schemas: Sequence[dict[str, Any]], text: bytes) -> bool:
    """Whether the schemas that make up a JSON array are surely taken, whatever stands inside."""
    if subset.loose:
        return are_untouched(text)
    return subset.any_inside and have_plain_roots(schemas) and have_lists(text)


def _known_tools(
    tools: tuple[Tool | OpaqueTool, ...], tool_subset: Callable[[Tool], Subset | None], ways: tuple[object, ...]
) -> _FittedTools | None:
    """The tools as the target takes them; None where it takes the caller's own."""
    if not isinstance(tools, CachedTools):
        return _fit_tools(tools, tool_subset)
    if ways not in tools.fitted:
        tools.fitted[ways] = _fit_tools(tools, tool_subset)
    return cast("_FittedTools | None", tools.fitted[ways])


def _fit_tools(
    tools: tuple[Tool | OpaqueTool, ...], tool_subset: Callable[[Tool], Subset | None]
) -> _FittedTools | None:
    work = _Work()
    sent: list[Tool | OpaqueTool] = []
    for place, tool in enumerate(tools):
        subset = tool_subset(tool) if isinstance(tool, Tool) and tool.freeform is None else None
        if subset is None:
            sent.append(tool)
            continue
        sent.append(_fit_tool(cast("Tool", tool), subset, tool_subset, f"/tools/{place}", work))
    return _FittedTools(tuple(sent), work.arguments, work.entries) if work.entries else None


def _fit_tool(
    tool: Tool,
    subset: Subset,
    tool_subset: Callable[[Tool], Subset | None],
    path: str,
    work: _Work,
) -> Tool:
    if subset.any_inside and _takes_all(subset, (tool.parameters,), encode(tool.parameters)):
        return tool
    try:
        rewritten = _rewritten(tool.parameters, subset)
    except SchemaError as error:
        loose = tool_subset(msgspec.structs.replace(tool, strict=None))
        if not tool.strict or loose is subset:
            work.entries.append(("tools", path, f"{tool.name}, parameters at {error.message}"))
            return tool
        work.entries.append(("strict_unsupported", f"{path}/strict", f"{tool.name}, parameters at {error.message}"))
        tool = msgspec.structs.replace(tool, strict=None)
        return tool if loose is None else _fit_tool(tool, loose, tool_subset, path, work)
    return tool if rewritten is None else _with_schema(tool, rewritten, path, work)


def _fit_output(
    request: Request, output_subset: Callable[[Request], Subset | None], changes: Changes
) -> tuple[Request, Conversion | None]:
    subset = output_subset(request)
    if subset is None or request.output_schema is None:
        return request, None
    try:
        rewritten = _rewritten(request.output_schema, subset)
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
    if rewritten is None:
        return request, None
    for path, why in rewritten.rewrites:
        changes.add("schema_rewritten", f"/output_schema{path}", why)
    return msgspec.structs.replace(request, output_schema=rewritten.schema), rewritten.conversion


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
