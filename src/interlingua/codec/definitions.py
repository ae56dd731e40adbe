"""Definitions of tools in the form of any dialect, read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec

from interlingua.codec.service import body_of, with_tools
from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, SchemaError, UsageError, kind_of
from interlingua.types._base import JsonObject
from interlingua.types.change import Change
from interlingua.types.content import TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.tool import OpaqueTool, Tool
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.dialects._contract import Dialect

__all__ = ["Definition", "collect", "read_definitions"]

Definition: TypeAlias = Tool | OpaqueTool | JsonObject
"""A tool: a value of ours, an entry of any dialect's `tools`, or `{"name": …, "description": …, "parameters": …}`."""

_QUESTION = Request(messages=(Message("user", (TextPart("?"),)),))
"""The request around definitions that are read."""


def read_definitions(
    definitions: Iterable[Definition], dialect: Dialect, changes: list[Change] | None = None
) -> tuple[Tool | OpaqueTool, ...]:
    """The definitions as tools.

    Raises: DecodeError or SchemaError, which name the entry; UsageError for what is no list.
    """
    if isinstance(definitions, dict | str) or not hasattr(definitions, "__iter__"):
        kind = kind_of(cast("object", definitions))
        raise UsageError(f"definitions are a list, not {kind}; one alone is [definition]")
    tools = tuple([tool for place, entry in enumerate(definitions) for tool in _read(entry, place, dialect, changes)])
    names = [tool.name for tool in tools if isinstance(tool, Tool)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SchemaError(f"two tools are called {twice}; give one of them another name")
    return tools


def _read(entry: object, place: int, dialect: Dialect, changes: list[Change] | None) -> tuple[Tool | OpaqueTool, ...]:
    where = f"definitions[{place}]"
    if isinstance(entry, Tool | OpaqueTool):
        tools: tuple[Tool | OpaqueTool, ...] = (entry,)
    elif isinstance(entry, dict):
        tools, repairs = _decode(cast("JsonObject", entry), place, where, dialect)
        collect(changes, repairs, {"/tools/0/": f"/{place}/", "/tools/0": f"/{place}"})
    else:
        raise DecodeError(f"{where}: a definition is a tool or a dict, not {type(entry).__name__}", path=f"/{place}")
    for tool in tools:
        if isinstance(tool, Tool):
            from interlingua.schema.validate import check_schema  # only who has tools pays for it

            if not tool.name:
                raise SchemaError(f"{where}: a tool must have a name")
            if tool.freeform is None:
                check_schema(tool.parameters, where=f"{where} (tool {tool.name})")
    return tools


def _decode(
    entry: JsonObject, place: int, where: str, dialect: Dialect
) -> tuple[tuple[Tool | OpaqueTool, ...], tuple[Change, ...]]:
    """The tools of one entry, and what reading it has repaired."""
    origin, tool = _shape(entry, dialect)
    question = origin.encode_request(_QUESTION, EncodeOptions(target=Target(model="m")))
    try:
        body = {**body_of(question), **with_tools(origin, [tool])}
        http = HttpRequest(url=f"https://localhost{question.path}", body=encode(body))
        decoded = origin.decode_request(http, DecodeOptions())
    except DecodeError as error:
        sentence = error.message.removeprefix(error.path).removeprefix(": ").removesuffix(f", at {error.path}")
        below = error.path.removeprefix("/toolConfig").removeprefix("/tools/0")
        if "function" not in entry:
            below = below.replace("/function/", "/", 1)
        raise DecodeError(f"{where}{below}: {sentence}", path=f"/{place}{below}") from None
    except UsageError as error:
        raise SchemaError(f"{where}: {error.message.replace('/tools/0/', '/')}") from None
    tools = decoded.request.tools
    if not tools:
        raise DecodeError(f"{where}: no tool is defined", path=f"/{place}")
    return tools, decoded.changes


_KNOWN_BY = (
    (frozenset({"functionDeclarations", "function_declarations"}), "google"),
    (frozenset({"toolSpec", "systemTool"}), "bedrock"),
    (frozenset({"input_schema"}), "anthropic"),
    (frozenset({"function", "custom"}), "openai-chat"),
)
"""Members by which the dialect of a definition is known."""


def _shape(entry: JsonObject, dialect: Dialect) -> tuple[Dialect, JsonObject]:
    """The dialect in whose shape a definition stands, and the definition as that dialect's entry."""
    names = entry.keys()
    origin = next((origin for members, origin in _KNOWN_BY if names & members), None)
    if origin is not None:
        return get_dialect(origin), entry
    if names & {"parametersJsonSchema", "parameters_json_schema"}:
        return get_dialect("google"), {"functionDeclarations": [entry]}
    if entry.get("type") in ("function", "custom"):
        return get_dialect("openai-responses"), entry
    if "freeform" in names or entry.get("type") == "opaque_tool":
        return get_dialect("unified"), entry
    if "type" not in names and names & {"name", "description", "parameters"}:
        # Not as Responses writes it: a function that says nothing of strictness is strict there.
        function = {
            name: value for name, value in entry.items() if name != "metadata"
        }  # notes of the caller, never sent
        return get_dialect("openai-chat"), {"type": "function", "function": function}
    return dialect, entry  # a tool that the provider runs, in the words of the dialect that is asked for


def collect(changes: list[Change] | None, entries: Iterable[Change], places: Mapping[str, str] | None = None) -> None:
    """Add entries to the caller's list.

    `places` maps the beginnings of paths to those in what the caller gave, longest first; what is elsewhere in the
    request around it concerns nobody.
    """
    if changes is None:
        return
    for entry in entries:
        if places is None:
            changes.append(entry)
            continue
        for beginning, place in places.items():
            is_within = entry.path.startswith(beginning) if beginning.endswith("/") else entry.path == beginning
            if is_within:
                path = place + entry.path.removeprefix(beginning)
                changes.append(msgspec.structs.replace(entry, path=path))
                break
