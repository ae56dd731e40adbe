"""The messages of a request one by one, for the dialects whose roles are system, user, assistant and tool.

Rules
- Neighbouring tool messages are one canonical message with all results of the step.
- Calls are the model's: in a message of anyone else they are refused, since no other dialect could say them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from interlingua.errors import DecodeError
from interlingua.types.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.types.content import Part, TextPart

__all__ = ["MessagesReader"]


class _TurnWire(Protocol):
    role: str | None
    tool_calls: Any


W = TypeVar("W", bound=_TurnWire)


class MessagesReader(Generic[W]):
    """Reads a history; a dialect has a method for each role, which adds to `messages`, `system` or `results`."""

    def __init__(self) -> None:
        """Nothing was read."""
        self.system: tuple[TextPart, ...] = ()
        """The system text."""
        self.messages: list[Message] = []
        """The messages so far."""
        self.results: list[Part] = []
        """The results since the last message, which are one message."""

    @property
    def here(self) -> str:
        """The pointer to the message that is read."""
        return f"/messages/{len(self.messages)}"

    def plain(self, wire: W) -> bool:
        """Whether a plain message was read; any other is left to the method of its role."""
        del wire
        return False

    def system_text(self, wire: W) -> None:
        """Read a system message."""
        raise NotImplementedError

    def user(self, wire: W) -> None:
        """Read a message of the user."""
        raise NotImplementedError

    def assistant(self, wire: W) -> None:
        """Read a turn of the model."""
        raise NotImplementedError

    def tool(self, wire: W) -> None:
        """Read a tool's result."""
        raise NotImplementedError

    def read(self, wires: Sequence[W]) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
        """The system text and the messages of a request.

        Raises: DecodeError for an unknown role, for calls of anyone but the model, and for what cannot be read.
        """
        readers: dict[str, Callable[[W], None]] = {
            "system": self.system_text,
            "user": self.user,
            "assistant": self.assistant,
            "tool": self.tool,
        }
        for place, wire in enumerate(wires):
            role = wire.role or ""
            if self.results and role != "tool":
                self._close()
            try:
                if self.plain(wire):
                    continue
                reader = readers.get(role)
                if reader is None:
                    raise DecodeError(f"{wire.role!r} is no role (there are {', '.join(readers)})", path="/role")
                if wire.tool_calls and role != "assistant":
                    raise DecodeError(f"a message of the role {role} calls no tools", path="/tool_calls")
                reader(wire)
            except DecodeError as error:
                raise error.under(f"/messages/{place}") from None
        if self.results:
            self._close()
        return self.system, tuple(self.messages)

    def _close(self) -> None:
        """Finish the message of the results."""
        self.messages.append(Message("tool", tuple(self.results)))
        self.results = []
