"""A JSON object with attributes: what the SDK's answers look like, without the SDK.

Rules
- A member is read as an attribute or as an item; a declared one that the answer does not have is None as an attribute.
- Objects whose members are declared are bodies themselves; any other object stays a plain dict.
- What it is given it keeps: `to_dict` gives the very members of the wire, no more and no fewer.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from interlingua.wire.json import encode

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Body"]


class Body(Mapping[str, Any]):
    """One JSON object of an answer, read-only."""

    _kinds: ClassVar[Mapping[str, type[Body]]] = {}
    """The classes of the objects, and of the objects in the lists, below some members."""
    _declared: ClassVar[frozenset[str]] = frozenset()
    """Members that are known, whether an answer has them or not."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {name for name in cls.__annotations__ if not name.startswith("_")}
        cls._declared = cls._declared | own

    def __init__(self, members: dict[str, Any]) -> None:
        """A view of parsed JSON."""
        self._members = members
        self._nested = {name: _nested(kind, members[name]) for name, kind in self._kinds.items() if name in members}

    def __getitem__(self, name: str) -> Any:
        return self._nested[name] if name in self._nested else self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self._members == (other._members if isinstance(other, Body) else other)

    __hash__ = None  # as equal dicts have none

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([f'{name}={self[name]!r}' for name in self])})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(copy.deepcopy(self._members, memo))

    if not TYPE_CHECKING:  # type checkers are to know the declared members alone

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_"):
                if name in self._members:
                    return self[name]
                if name in self._declared:
                    return None
            raise AttributeError(f"{type(self).__name__} has no {name!r}", name=name, obj=self)

    def to_dict(self) -> dict[str, Any]:
        """The members as plain dicts and lists, a copy."""
        return copy.deepcopy(self._members)

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        """`to_dict` under the name that the SDK's objects have for it, without nulls if they are not wanted."""
        return cast("dict[str, Any]", _without_nulls(self._members)) if exclude_none else self.to_dict()

    def to_json(self) -> str:
        """The members as JSON text."""
        return encode(self._members, nulls=len(self._members)).decode()

    def model_dump_json(self) -> str:
        """`to_json` under the name that the SDK's objects have for it."""
        return self.to_json()


def _nested(kind: type[Body], value: object) -> object:
    if isinstance(value, list):
        return [_nested(kind, item) for item in cast("list[object]", value)]
    return kind(cast("dict[str, Any]", value)) if isinstance(value, dict) else value


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        members = cast("dict[str, object]", value).items()
        return {name: _without_nulls(member) for name, member in members if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in cast("list[object]", value)]
    return value
