"""Members that travel without being understood: `extra` members and opaque parts, taken out or weighed.

A codec could pass any round trip by carrying the body along unread. So a translation is also judged with everything
opaque taken out, and what was opaque is counted by its path.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeVar, cast

import msgspec

from interlingua.types.content import OpaquePart
from interlingua.types.tool import OpaqueTool

__all__ = ["stripped", "weigh"]

T = TypeVar("T")

OPAQUE = (OpaquePart, OpaqueTool)


def stripped(value: T) -> T:
    """`value` with every `extra` emptied and every opaque part and tool removed, at any depth."""
    return cast("T", _strip(value))


def _strip(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        fields = {name: _strip(getattr(value, name)) for name in value.__struct_fields__ if name != "extra"}
        if "extra" in value.__struct_fields__:
            fields["extra"] = {}
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, tuple):
        return tuple(_strip(item) for item in cast("tuple[Any, ...]", value) if not isinstance(item, OPAQUE))
    return value


def weigh(value: object) -> Counter[str]:
    """How many bytes of JSON are opaque in `value`, by path, objects by their members; positions are written as `*`."""
    weights: Counter[str] = Counter()
    _weigh(value, "", weights)
    return weights


def _weigh(value: object, path: str, weights: Counter[str]) -> None:
    match value:
        case OpaquePart() | OpaqueTool():
            weights[f"{path}/{value.kind}"] += _size(value.raw)
        case msgspec.Struct():
            for name in value.__struct_fields__:
                member = getattr(value, name)
                if name == "extra":
                    _weigh_extra(member, path, weights)
                else:
                    _weigh(member, f"{path}/{name}", weights)
        case tuple():
            for item in cast("tuple[object, ...]", value):
                _weigh(item, f"{path}/*", weights)
        case _:
            pass


def _weigh_extra(extra: dict[str, dict[str, Any]], path: str, weights: Counter[str]) -> None:
    for dialect, members in extra.items():
        for name, member in members.items():
            place = f"{path}/extra/{dialect}/{name}"
            for key, size in _sizes(member).items():
                weights[place + key] += size


def _sizes(member: Any) -> dict[str, int]:
    """The size of each member of an object, or of the value itself where it is none."""
    if isinstance(member, dict) and member:
        inner = cast("dict[str, Any]", member)
        return {f"/{name}": _size(value) for name, value in inner.items()}
    return {"": _size(cast("object", member))}


def _size(value: object) -> int:
    return len(msgspec.json.encode(value))
