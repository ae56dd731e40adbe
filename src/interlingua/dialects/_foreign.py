"""What a translation leaves behind: the members that only other dialects know, each noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import foreign_extras

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.types.change import Changes

__all__ = ["note_foreign"]


def note_foreign(changes: Changes, extra: Mapping[str, Any], path: str = "") -> None:
    """Entries for the members in `extra` that only other dialects know."""
    for dialect in foreign_extras(extra, changes.dialect) if extra else ():
        changes.add("extra_foreign", f"{path}/extra/{dialect}")
