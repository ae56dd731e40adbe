"""System messages that a dialect tells as the system text of a request, and what they lose there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._foreign import note_foreign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.change import Changes
    from interlingua.types.message import Message

__all__ = ["note_system"]


def note_system(changes: Changes, messages: Sequence[Message]) -> None:
    """Entries for what the first messages of a request lose where they are sent as its system text."""
    for place, message in enumerate(messages):
        if message.name is not None:
            changes.add("name_unsupported", f"/messages/{place}/name")
        note_foreign(changes, message.extra, f"/messages/{place}")
