"""The messages of a history that is read one by one, where several on the wire may make one.

Rules
- Ten thousand messages of one role in a row cost ten thousand times one: parts are gathered, and joined once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interlingua.types.message import Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from interlingua.types.content import Part
    from interlingua.types.message import Role

__all__ = ["Turns"]


class Turns:
    """Messages in order, of which the last one may get more parts."""

    __slots__ = ("_members", "_messages", "_parts", "last_role")

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        """Go on behind some messages."""
        self._messages = list(messages)
        self._parts: list[Part] = []
        self._members: dict[str, dict[str, Any]] = {}
        self.last_role: str = messages[-1].role if messages else ""
        """The role of the last message; empty where there is none."""

    def __len__(self) -> int:
        """How many messages there are."""
        return len(self._messages)

    @property
    def last_extra(self) -> Mapping[str, Mapping[str, Any]]:
        """The members by dialect of the last message, as it was appended; none where there is no message."""
        return self._messages[-1].extra if self._messages else {}

    @property
    def last_size(self) -> int:
        """How many parts the last message has."""
        return len(self._messages[-1].parts) + len(self._parts) if self._messages else 0

    def append(self, message: Message) -> None:
        """Another message."""
        if self._parts or self._members:
            self._join()
        self._messages.append(message)
        self.last_role = message.role

    def add(self, role: Role, parts: Sequence[Part], members: dict[str, dict[str, Any]]) -> None:
        """Another message, or more of the last one where that has this role."""
        if self.last_role == role:
            self.extend(parts, members)
            return
        if self._parts or self._members:
            self._join()
        self._messages.append(Message(role, tuple(parts), None, members))
        self.last_role = role

    def extend(self, parts: Sequence[Part], members: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """More parts, and members by dialect, of the last message."""
        self._parts += parts
        for name, more in (members or {}).items():
            self._members.setdefault(name, {}).update(more)

    def pop(self) -> Message:
        """The last message, which is no longer here."""
        self._join()
        last = self._messages.pop()
        self.last_role = self._messages[-1].role if self._messages else ""
        return last

    def done(self) -> tuple[Message, ...]:
        """All of them."""
        self._join()
        return tuple(self._messages)

    def _join(self) -> None:
        if not (self._parts or self._members):
            return
        last = self._messages[-1]
        extra = {**last.extra}
        for name, more in self._members.items():
            extra[name] = {**last.extra.get(name, {}), **more}
        self._messages[-1] = msgspec.structs.replace(last, parts=(*last.parts, *self._parts), extra=extra)
        self._parts, self._members = [], {}
