"""JSON values that several requests share, and that nobody can change therefore.

Rules
- To change one is a TypeError; a copy of it (`copy.deepcopy`, pickle) is a plain dict or list.
- `NO_EXTRA` is the empty `extra` of tools that requests share. JSON leaves out plain dicts alone, so `owned_tool` gives
  a tool back with an `extra` of its own before it is written.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar, cast

import msgspec

from interlingua.types.tool import Tool

__all__ = ["NO_EXTRA", "ReadOnlyDict", "ReadOnlyList", "owned_tool", "read_only"]

T = TypeVar("T")


class ReadOnlyDict(dict[str, Any]):
    """A JSON object that several requests share; a copy of it is a plain dict."""

    __slots__ = ()

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        """Pickled and copied as a plain dict."""
        return dict, (dict(self),)


class ReadOnlyList(list[Any]):
    """A JSON array that several requests share; a copy of it is a plain list."""

    __slots__ = ()

    def __reduce__(self) -> tuple[type, tuple[list[Any]]]:
        """Pickled and copied as a plain list."""
        return list, (list(self),)


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError(
        "requests share this value: change a copy of it (copy.deepcopy), or make a new one (msgspec.structs.replace)"
    )


CHANGERS: dict[type, tuple[str, ...]] = {
    ReadOnlyDict: ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update"),
    ReadOnlyList: (
        *("__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "clear", "extend", "insert", "pop"),
        *("remove", "reverse", "sort"),
    ),
}
"""The methods that change a value, none of which these classes have."""
for _kind, _names in CHANGERS.items():
    for _name in _names:
        setattr(_kind, _name, _refuse)


def read_only(value: T) -> T:
    """A JSON value, equal to `value`, that nobody can change."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return cast("T", ReadOnlyDict({name: read_only(member) for name, member in members.items()}))
    if isinstance(value, list):
        return cast("T", ReadOnlyList([read_only(item) for item in cast("list[Any]", value)]))
    if isinstance(value, tuple):  # no parser makes one, but a program may write one for an array
        return cast("T", tuple([read_only(item) for item in cast("tuple[Any, ...]", value)]))
    return value


class _Nothing(ReadOnlyDict):
    """An object without members; a copy of it is itself."""

    __slots__ = ()

    def __reduce__(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]  # the name of the one value
        """Pickled and copied as the one value that it is."""
        return "NO_EXTRA"


NO_EXTRA: dict[str, dict[str, Any]] = _Nothing()
"""No members of any dialect."""


def owned_tool(tool: T) -> T:
    """The tool, if it is one; what is empty in it is plain, and JSON leaves it out."""
    if not isinstance(tool, Tool) or (tool.metadata is not NO_EXTRA and tool.extra is not NO_EXTRA):
        return tool
    return msgspec.structs.replace(tool, metadata=dict(tool.metadata), extra=tool.extra or {})
