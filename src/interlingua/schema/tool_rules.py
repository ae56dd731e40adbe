"""The strict rules of tools: a plain name, a description of the tool and of each of its parameters, a valid schema.

They hold in our own HTTP format, and for whoever asks for them. `filled` is the other side: a tool that keeps to the
rules as far as descriptions go, with the name standing in for each description that is missing.

Rules
- A name is 1 to 64 of `a-z A-Z 0-9 _`.
- A parameter is a member of the schema's own `properties`, or of those behind its `$ref`, `allOf`, `anyOf` and `oneOf`;
  what lies deeper needs no description. It is described by itself, by the definition that it refers to, or by one that
  is all of it (`allOf`), once where it stands in several places. One that is `false` can never be given.
- Arguments are an object, whatever stands between the root and their properties.
- A freeform tool has no parameters.
"""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

import msgspec

from interlingua.errors import LimitExceededError, SchemaError
from interlingua.schema.usual import bare_parameters
from interlingua.schema.validate import check_schema
from interlingua.schema.walk import follow, resolve
from interlingua.wire._nulls import is_told_by
from interlingua.wire.cache import ByteCache
from interlingua.wire.json import decode_any, encode_exact, pointer_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from interlingua.types.tool import Tool

__all__ = ["LEGAL_NAME", "ToolFault", "describes_all", "filled", "tool_faults", "undescribed"]

T = TypeVar("T")
_MAX_SCHEMAS_BYTES = 8 * 1024 * 1024
LEGAL_NAME = re.compile(r"[a-zA-Z0-9_]{1,64}")
"""The whole of a name."""


class ToolFault(NamedTuple):
    """One rule that a tool breaks."""

    rule: str
    """The rule's name."""
    place: str
    """RFC 6901 pointer to the bad member, seen from the list of tools: `/0/name`."""
    sentence: str
    """The fault, and its tool."""


def tool_faults(tools: Iterable[Tool | None], texts: Sequence[bytes] = ()) -> Iterator[ToolFault]:
    """Every rule that the tools break, in their order; None stands where a tool of another kind is.

    `texts` are the JSON texts of which their schemas were read, if they were.
    """
    places: dict[str, int] = {}
    for place, tool in enumerate(tools):
        if tool is None:
            continue
        if not LEGAL_NAME.fullmatch(tool.name):
            sentence = f"the tool name {tool.name!r} is not 1 to 64 of a-z, A-Z, 0-9 and _"
            yield ToolFault("tool_name_illegal", f"/{place}/name", sentence)
        if tool.name in places:
            sentence = f"the tools {places[tool.name]} and {place} have the same name {tool.name!r}"
            yield ToolFault("tool_name_duplicate", f"/{place}/name", sentence)
        places.setdefault(tool.name, place)
        if not (tool.description or "").strip():
            sentence = f"the tool {tool.name!r} has no description"
            yield ToolFault("tool_description_missing", f"/{place}/description", sentence)
        if tool.freeform is None:
            text = texts[place] if texts else encode_exact(tool.parameters)
            if not texts and text is not None and not is_told_by(text, tool.parameters):
                text = None  # JSON cannot say it
            yield from _parameter_faults(tool, f"/{place}/parameters", text)


def _parameter_faults(tool: Tool, place: str, text: bytes | None) -> Iterator[ToolFault]:
    where = f"the parameters of the tool {tool.name!r}"
    if tool.parameters.get("type", "object") != "object":
        yield ToolFault("schema_invalid", f"{place}/type", f"{where}: the type of arguments is object")
        return
    if text is not None:
        bare = bare_parameters(text)
        if bare == [] or (bare is None and _is_faultless(text)):
            return
    try:
        check_schema(tool.parameters, where=where)
    except SchemaError as error:
        yield ToolFault("schema_invalid", place, error.message)
        return
    for steps in _other_types(tool.parameters):
        yield ToolFault("schema_invalid", _pointer(place, *steps, "type"), f"{where}: the type of arguments is object")
    for name, steps in _bare(tool.parameters).items():
        sentence = f"the parameter {name!r} of the tool {tool.name!r} has no description"
        yield ToolFault("parameter_description_missing", _pointer(place, *steps, "description"), sentence)


def _pointer(place: str, *steps: str) -> str:
    return "/".join([place, *[step.replace("~", "~0").replace("/", "~1") for step in steps]])


def _with_cache(look: Callable[[bytes], T]) -> Callable[[bytes], T]:
    """A look at the text of a schema that is taken once, since most come again and again."""
    return ByteCache(_MAX_SCHEMAS_BYTES, look).__getitem__


@_with_cache
def _is_faultless(text: bytes) -> bool:
    """Whether an unusual schema is valid and describes each parameter."""
    try:
        schema = decode_any(text)
        check_schema(schema, where="")
    except (SchemaError, LimitExceededError):
        return False
    return describes_all(text) and not _other_types(schema)


def describes_all(text: bytes) -> bool:
    """Whether the schema that a text is describes each parameter."""
    return _undescribed_in(text) == []


@_with_cache
def _undescribed_in(text: bytes) -> list[str] | None:
    """The parameters without a description; None for a schema that is too deep to be told."""
    bare = bare_parameters(text)
    if bare is not None:
        return bare
    try:
        return undescribed(decode_any(text))
    except LimitExceededError:
        return None


def undescribed(parameters: dict[str, Any]) -> list[str]:
    """The parameters without a description, by name."""
    return list(_bare(parameters))


_Steps: TypeAlias = tuple[str, ...]
"""Where something stands in a schema."""


def _bare(root: dict[str, Any]) -> dict[str, _Steps]:
    """The parameters without a description, and where each stands first."""
    bare: dict[str, _Steps] = {}
    described: set[str] = set()
    for steps, schema in _heads(root):
        members: object = schema.get("properties")
        properties = cast("dict[str, object]", members) if isinstance(members, dict) else {}
        for name, own in properties.items():
            if own is False or name in described:
                continue
            if _has_description(own, root):
                described.add(name)
                bare.pop(name, None)
            else:
                bare.setdefault(name, (*steps, "properties", name))
    return bare


def _other_types(root: dict[str, Any]) -> list[_Steps]:
    """Where a schema says of the arguments that they are no object."""
    return [steps for steps, schema in _heads(root) if schema.get("type", "object") != "object"]


def _heads(root: dict[str, Any]) -> Iterator[tuple[_Steps, dict[str, Any]]]:
    """The schemas that say what the arguments themselves are, each once: the root, and what it leads to."""
    waiting: deque[tuple[_Steps, object]] = deque([((), root)])
    visited: set[_Steps] = set()
    while waiting:
        steps, node = waiting.popleft()
        if steps in visited or not isinstance(node, dict):
            continue
        visited.add(steps)
        schema = cast("dict[str, Any]", node)
        yield steps, schema
        reference: object = schema.get("$ref")
        if isinstance(reference, str):
            with suppress(SchemaError):
                waiting.append((tuple(pointer_steps(reference)), resolve(reference, root)))
        for keyword in ("allOf", "anyOf", "oneOf"):
            branches: object = schema.get(keyword)
            if isinstance(branches, list):
                several = enumerate(cast("list[object]", branches))
                waiting.extend([((*steps, keyword, str(place)), branch) for place, branch in several])


def _has_description(schema: object, root: dict[str, Any]) -> bool:
    if not isinstance(schema, dict):
        return False
    own = cast("dict[str, Any]", schema)
    if _is_text(own.get("description")):
        return True
    if "$ref" not in own and "allOf" not in own:
        return False
    try:
        return any([_is_text(one.get("description")) for one in _wholes(follow(own, root), root)])
    except (SchemaError, AttributeError):
        return False


def _wholes(schema: dict[str, Any], root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema, and each one of its `allOf`, or what that refers to."""
    yield schema
    branches: object = schema.get("allOf")
    if isinstance(branches, list):
        yield from [
            follow(cast("dict[str, Any]", one), root) for one in cast("list[object]", branches) if isinstance(one, dict)
        ]
        yield from [cast("dict[str, Any]", one) for one in cast("list[object]", branches) if isinstance(one, dict)]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def filled(tool: Tool) -> Tool:
    """The tool with its name, and its parameters' names, in the place of descriptions that are missing.

    It is the same tool when none is missing.
    """
    parameters = tool.parameters
    for name, steps in _bare(parameters).items() if tool.freeform is None else ():
        parameters = cast("dict[str, Any]", _named(parameters, steps, name))
    if parameters is not tool.parameters:
        tool = msgspec.structs.replace(tool, parameters=parameters)
    if (tool.description or "").strip():
        return tool
    return msgspec.structs.replace(tool, description=tool.name)


def _named(node: object, steps: _Steps, name: str) -> object:
    """A copy of a schema in which the one at `steps` has a name for its description."""
    if not steps:
        return {**cast("dict[str, Any]", node if isinstance(node, dict) else {}), "description": name}
    if isinstance(node, list):
        items, place = cast("list[object]", node), int(steps[0])
        return [*items[:place], _named(items[place], steps[1:], name), *items[place + 1 :]]
    members = cast("dict[str, object]", node)
    return {**members, steps[0]: _named(members[steps[0]], steps[1:], name)}
