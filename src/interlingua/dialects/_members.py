"""Wire members without a canonical field: out of a wire object into `extra`, and back over it.

Rule: members are merged deeply; what `extra` says wins over what the canonical value says, since it was said for this
dialect alone.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import msgspec

from interlingua.errors import DecodeError, UsageError
from interlingua.wire.json import Extra, decode_any, encode_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from interlingua.wire.json import WireStruct

__all__ = [
    "foreign_extras",
    "is_list",
    "is_object",
    "members_of",
    "merge_members",
    "object_in",
    "passing",
    "plain",
    "reader_of",
    "text_or_none",
    "told_names",
]

MAX_NAMES = 8
MAX_NAME = 64
"""How many names of members an entry tells, and how many characters of each."""


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a parsed JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a parsed JSON value is a list."""
    return isinstance(value, list)


def reader_of(*names: str) -> Callable[[Any], dict[str, Any]]:
    """A reader of these members of a value: those that are stated, by their names."""
    if len(names) < 2:
        return lambda value: {name: member for name in names if (member := getattr(value, name)) is not None}
    values_of: Callable[[Any], tuple[Any, ...]] = attrgetter(*names)
    nothing = (None,) * len(names)
    unset = msgspec.UNSET

    def read(value: Any) -> dict[str, Any]:
        values = values_of(value)
        if values == nothing:
            return {}
        members = zip(names, values, strict=True)
        return {name: member for name, member in members if member is not None and member is not unset}

    return read


def passing(*names: str) -> Callable[[Any], dict[str, Any]]:
    """A reader of what only passes through: those of two or more members that are stated, and the unknown ones."""
    values_of: Callable[[WireStruct], tuple[Any, ...]] = attrgetter(*names)
    nothing = (None,) * len(names)
    unset = msgspec.UNSET

    def read(wire: WireStruct) -> dict[str, Any]:
        values = values_of(wire)
        members: dict[str, Any] = {}
        if values != nothing:
            stated = zip(names, values, strict=True)
            members = {name: value for name, value in stated if value is not None and value is not unset}
        return {**members, **wire.extra} if wire.extra else members

    return read


def members_of(wire: WireStruct, dialect: str) -> dict[str, dict[str, Any]]:
    """The unknown members of a wire object as canonical `extra`."""
    return {dialect: dict(wire.extra)} if wire.extra else {}


def plain(wire: WireStruct) -> Any:
    """A wire object as the plain JSON value that it is."""
    return decode_any(encode_wire(wire))


def merge_members(wire: WireStruct, members: Mapping[str, Any]) -> None:
    """Write `members` over the wire object, deeply.

    What we write as an object or as a list of objects keeps that form; anything else takes any value.

    Raises: UsageError for another form: an opaque value that never was this dialect's.
    """
    if not isinstance(members, dict):
        raise UsageError(f"an opaque value is written as an object, and this one is {type(members).__name__}")
    fields = _FIELDS.get(type(wire))
    if fields is None:
        fields = _FIELDS[type(wire)] = frozenset(wire.__struct_fields__) - {"extra"}
    for name, value in members.items():
        if name in fields:
            setattr(wire, name, _merged(name, getattr(wire, name), value))
        else:
            wire.extra = wire.extra or Extra()
            wire.extra[name] = value


def object_in(members: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object that stands under a name; an empty one where nothing does.

    Raises: UsageError for anything else: an opaque value that never was this dialect's.
    """
    value = members.get(name)
    if value is None:
        return {}
    if not is_object(value):
        raise UsageError(f"an opaque {name} is written as an object, and this one is {type(value).__name__}")
    return value


def text_or_none(value: object, path: str) -> str | None:
    """A member that is a text, where it is said at all.

    Raises: DecodeError at `path` for anything else.
    """
    if value is None or isinstance(value, str):
        return value
    raise DecodeError(f"expected a string, got {type(value).__name__}", path=path)


def completed(wire: WireStruct, text: bytes, members: Mapping[str, bytes]) -> bytes:
    """`text`, the JSON object that `wire` is, with `members` (name to JSON) where it does not say them."""
    extra: Mapping[str, object] = wire.extra or {}
    missing = [
        b'"%b":%b,' % (name.encode(), value)
        for name, value in members.items()
        if getattr(wire, name, None) in _UNSAID and name not in extra
    ]
    return b"{%b%b" % (b"".join(missing), text[1:]) if missing else text


_UNSAID = (None, msgspec.UNSET)
SPELLINGS = frozenset({"role", "field", "stream_options", "new_item", "response_mime"})
"""Members that only say how something was spelt: leaving them out changes nothing for another dialect."""


def foreign_extras(extra: Mapping[str, Any], dialect: str) -> list[str]:
    """The other dialects that `extra` holds members of, mere spellings and addresses of items aside."""
    if len(extra) == 1 and dialect in extra:
        return []
    return [name for name, members in extra.items() if name != dialect and _says_something(members)]


def told_names(members: Collection[str]) -> str:
    """Names of members as an entry tells them, mere spellings aside: of many the first ones, and how many more."""
    names = [str(name) for name in members if name not in SPELLINGS]
    first = [name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}…" for name in names[:MAX_NAMES]]
    return ", ".join([*first, f"{len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else first)


def says_more(extra: Mapping[str, Any], dialect: str) -> bool:
    """Whether `extra` holds members for `dialect`, or members of others that somebody could miss."""
    return dialect in extra or bool(foreign_extras(extra, dialect))


ADDRESS = frozenset({"id", "status"})
"""Members that only say where an item stands and how far it got."""
HOLDERS = frozenset({"item", "functionCall", "functionResponse", "reasoning"})
"""Members that may hold nothing but such an address, or nothing at all; a call has its id in every dialect."""


def _says_something(members: Mapping[str, Any]) -> bool:
    for name, member in members.items():
        if name not in SPELLINGS and (name not in HOLDERS or not is_object(member) or not ADDRESS.issuperset(member)):
            return True
    return False


def _merged(name: str, current: object, value: object) -> Any:
    if type(current) in _SCALARS:
        return value
    if is_object(current):
        return _deep(current, value) if is_object(value) else value
    if is_list(current) and current and isinstance(current[0], msgspec.Struct):
        if not is_list(value):
            raise UsageError(f"an opaque {name} is written as a list, and this one is {type(value).__name__}")
        return list(value)
    if isinstance(current, msgspec.Struct) and value is not None:
        merge_members(cast("WireStruct", current), object_in({name: value}, name))  # every struct in one is one
        return current
    return value


def _deep(current: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    merged = dict(current)
    for name, member in value.items():
        mine = merged.get(name)
        merged[name] = _deep(mine, member) if is_object(mine) and is_object(member) else member
    return merged


_FIELDS: dict[type, frozenset[str]] = {}
_SCALARS = frozenset({type(None), msgspec.UnsetType, str, int, float, bool})
"""The values that stand under most names, and give way to anything."""
