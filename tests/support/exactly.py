"""Values written out whole, so that equal texts mean the same members in the same order, kinds of containers aside."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["exactly"]


def exactly(value: object) -> str:
    """Every member of a value, those that are left unsaid in its repr among them."""
    if isinstance(value, msgspec.Struct):
        members = ", ".join(f"{name}={exactly(getattr(value, name))}" for name in value.__struct_fields__)
        return f"{type(value).__name__}({members})"
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return f"{{{', '.join(f'{exactly(name)}: {exactly(member)}' for name, member in items)}}}"
    if isinstance(value, list):
        return f"[{_listed(cast('list[object]', value))}]"
    if isinstance(value, tuple):
        name = type(cast("object", value)).__name__ if getattr(cast("object", value), "_fields", None) else ""
        return f"{name}({_listed(cast('tuple[object, ...]', value))})"
    return repr(value)


def _listed(values: Sequence[object]) -> str:
    return ", ".join(map(exactly, values))
