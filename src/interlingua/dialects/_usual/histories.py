"""Usual histories: texts, calls and the results of those calls, read and written in one go.

Each dialect has in `history_usual.py` the exact shapes of its usual messages, a reader that makes messages of them at
once, and a writer that makes their text at once. They give None for anything else, and the general reader or writer
has the word: what is here only ever says the same, sooner. Laws hold them to that.

Rules
- Every call has an id of its own, sound arguments, and one result before anybody says anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._history import ERROR_PREFIX
from interlingua.dialects._members import foreign_extras
from interlingua.stream.calls import PLACEHOLDER_IDS
from interlingua.types.change import Change
from interlingua.types.content import TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.wire.arguments import are_sound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from msgspec import Raw

    from interlingua.dialects._contract import Target
    from interlingua.types.change import Changes
    from interlingua.types.content import Cache, Part
    from interlingua.types.message import Role

    System: TypeAlias = tuple[TextPart, ...]
    Read: TypeAlias = tuple[System, tuple[Message, ...]]
    ReadUsual: TypeAlias = "Callable[[bytes], UsualHistory | None]"
    WriteUsual: TypeAlias = Callable[[tuple[Message, ...], Target], bytes | None]
    PlainMessage: TypeAlias = tuple[Role, str, list[ToolCall], list[ToolResult]]

__all__ = [
    "UnusualError",
    "UsualHistory",
    "call_text",
    "marked_text",
    "plain_messages",
]


class UnusualError(Exception):
    """Raised while a history is read, at what only the general reader reads."""


# Reading


class UsualHistory:
    """A usual history, told message by message."""

    __slots__ = ("apart", "calls", "entries", "messages", "open", "results", "system")

    def __init__(self, apart: frozenset[Role] = frozenset()) -> None:
        """An empty one; neighbours of a role in `apart` are unusual."""
        self.apart: frozenset[Role] = apart
        self.system: tuple[TextPart, ...] = ()
        self.messages: list[Message] = []
        self.calls: dict[str, str] = {}
        """All calls, in order: id, and name of the tool."""
        self.entries: list[Change] = []
        """What reading it repaired."""
        self.open: dict[str, str] = {}
        """Those that have no result yet."""
        self.results: list[Part] = []
        """The results since the last turn."""

    def instruct(self, text: str | None) -> None:
        """The system text, if it comes first of all."""
        if not text or self.messages or self.system or self.open:
            raise UnusualError
        self.system = (TextPart(text),)

    def say(self, role: Role, text: str | None) -> None:
        """A message of one text."""
        if not text or self.open:
            raise UnusualError
        if self.results or self.apart:
            self._begin(role)
        self.messages.append(Message(role, (TextPart(text),)))

    def say_all(self, role: Role, parts: tuple[Part, ...]) -> None:
        """A message of several texts, or of marked ones."""
        if self.open:
            raise UnusualError
        if self.results or self.apart:
            self._begin(role)
        self.messages.append(Message(role, parts))

    def turn(self, text: str | None, calls: Iterable[tuple[str, str, str]], thinking: tuple[Part, ...] = ()) -> None:
        """A turn of the model: thinking, a text, calls, each with its id, the name of its tool and its arguments."""
        if self.open:
            raise UnusualError
        if self.results or self.apart:
            self._begin("assistant")
        parts: list[Part] = [*thinking]
        if text:
            parts.append(TextPart(text))
        taken = self.calls
        for call_id, name, arguments in calls:
            if not name or call_id in taken or call_id.strip() in PLACEHOLDER_IDS or not are_sound(arguments):
                raise UnusualError
            taken[call_id] = self.open[call_id] = name
            parts.append(ToolCall(call_id, name, arguments))
        if not parts:
            raise UnusualError
        self.messages.append(Message("assistant", tuple(parts)))

    def made_id(self, place: int, ahead: int, dialect: str) -> str:
        """An id for a call of the next turn, `ahead` calls from its first one; it will be the part at a place there."""
        number = len(self.calls) + ahead
        at = len(self.messages) + (1 if self.results else 0)  # those are told first
        path = f"/messages/{at}/parts/{place}/id"
        self.entries.append(Change("repaired", "call_id_made", path, dialect, "decode_request", ""))
        return f"call_{number}"

    def answer(
        self,
        call_id: str,
        content: str | tuple[TextPart, ...],
        *,
        is_error: bool = False,
        cache: Cache | None = None,
        extra: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        """The result of a call that has none yet."""
        name = self.open.pop(call_id, None)
        if name is None:
            raise UnusualError
        self.results.append(ToolResult(call_id, name, content, is_error, cache, extra or {}))

    def answer_marked(self, call_id: str, text: str, extra: dict[str, dict[str, Any]] | None = None) -> None:
        """The same, where a mark before the text says that it is an error."""
        name = self.open.pop(call_id, None)
        if name is None:
            raise UnusualError
        is_error = text.startswith(ERROR_PREFIX)
        said = text[len(ERROR_PREFIX) :] if is_error else text
        self.results.append(ToolResult(call_id, name, said, is_error, None, extra or {}))

    def _begin(self, role: Role) -> None:
        """A message of another role than the last one, if that matters; the results before it are told."""
        if self.results:
            self.close()
        elif role in self.apart and self.messages and self.messages[-1].role == role:
            raise UnusualError

    def close(self) -> None:
        """The results of a step are one message."""
        self.messages.append(Message("tool", tuple(self.results)))
        self.results = []

    def read(self, changes: Changes) -> Read:
        """System text and messages; what reading them repaired is handed to `changes`."""
        changes.entries.extend(self.entries)
        return self.system, tuple(self.messages)

    def done(self) -> UsualHistory:
        """Itself, with all results told."""
        if self.open:
            raise UnusualError
        if self.results:
            self.close()
        return self


def call_text(raw: Raw) -> str:
    """The text of arguments that stand as an object."""
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError:
        raise UnusualError from None


# Writing


def plain_messages(messages: tuple[Message, ...], dialect: str) -> list[PlainMessage] | None:
    """What messages say; None where one says anything else, or has what a dialect may have to be told of it."""
    found: list[PlainMessage] = []
    for message in messages:
        role, parts = message.role, message.parts
        if message.name is not None or message.extra or role == "system":
            return None
        text = ""
        calls: list[ToolCall] = []
        results: list[ToolResult] = []
        for part in parts:
            if type(part) is ToolCall and role == "assistant":
                if part.freeform or part.sealed is not None or part.extra:
                    return None
                calls.append(part)
            elif type(part) is ToolResult and role == "tool" and _is_plain_result(part, dialect):
                results.append(part)
            elif type(part) is TextPart and role != "tool" and not (text or calls) and _is_plain_text(part):
                text = part.text
            else:
                return None
        if not (text or calls or results):
            return None
        found.append((role, text, calls, results))
    return found


def _is_plain_text(part: TextPart) -> bool:
    """Whether there is nothing to a text but the text."""
    return bool(part.text) and not (part.annotations or part.cache or part.sealed or part.extra)


def _is_plain_result(part: ToolResult, dialect: str) -> bool:
    """Whether a result is a text, and nothing beside it has to be written or noted."""
    if part.cache is not None or type(part.content) is not str:
        return False
    extra = part.extra
    return not extra or (dialect not in extra and not foreign_extras(extra, dialect))


def marked_text(result: ToolResult) -> str | None:
    """The text of a result with the mark of an error; None where it has that mark and is none."""
    text = str(result.content)
    if text.startswith(ERROR_PREFIX):
        return text if result.is_error else None
    return f"{ERROR_PREFIX}{text}" if result.is_error else text
