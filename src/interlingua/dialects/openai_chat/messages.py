"""The history, both ways.

Rules
- The first system message is `Request.system`, unless it carries more than text; later ones stay where they are.
- Neighbouring tool messages are one canonical message with all results of the step; on the wire it is one each.
- A result's error flag is one leading `ERROR: `, never doubled.
- Where a tool message may hold text alone, its media follow in a user message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.dialects._contract import Target, Undo
from interlingua.dialects._history import result_text
from interlingua.dialects._members import foreign_extras, members_of, merge_members
from interlingua.dialects.openai_chat.assistant import AssistantEncoder, decode_assistant
from interlingua.dialects.openai_chat.parts import NAME, decode_content, encode_cache, encode_content
from interlingua.dialects.openai_chat.wire import MessageWire
from interlingua.errors import DecodeError
from interlingua.stream.calls import CallIdSource
from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    TextPart,
    ToolResult,
)
from interlingua.types.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = ["ERROR_PREFIX", "MessageEncoder", "decode_messages"]

ERROR_PREFIX = "ERROR: "
"""What marks a failed tool's text; the wire has no flag."""

MEDIA = (ImagePart, AudioPart, DocumentPart)


class _History:
    """Reads messages one by one, remembering the calls."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.system: tuple[TextPart, ...] = ()
        self.messages: list[Message] = []
        self.names: dict[str, str] = {}
        self.unnamed: list[str] = []
        self.ordinal = 0

    def assistant(self, wire: MessageWire, path: str) -> None:
        ids = CallIdSource(first_index=self.ordinal)
        deprecated = wire.function_call is not None and bool(wire.function_call.name)
        parts = decode_assistant(wire, ids, Target(), Undo(), self.changes, path, cut_off=False)
        for part in parts:
            call_id = getattr(part, "id", None)
            if call_id is not None:
                self.ordinal += 1
                self.names[call_id] = part.name  # type: ignore[union-attr] - only calls have an id
                if deprecated:
                    self.unnamed.append(call_id)
        members = _rest(
            wire, "content", "tool_calls", "function_call", "reasoning_details", "audio", "images", "refusal"
        )
        for name in ("reasoning_content", "reasoning"):
            if members.get(name):
                del members[name]
        self._add(Message("assistant", tuple(parts), wire.name, {NAME: members} if members else {}))

    def prompt(self, wire: MessageWire, path: str) -> None:
        parts = tuple(decode_content(wire.content, f"{path}/content"))
        extra = members_of(wire, NAME)
        role = "user" if wire.role == "user" else "system"
        if wire.role == "developer":
            extra = {NAME: {"role": "developer", **extra.get(NAME, {})}}
        if role == "system" and not self.messages and not self.system and not extra and not wire.name and parts:
            texts = tuple([part for part in parts if isinstance(part, TextPart)])
            if len(texts) == len(parts):
                self.system = texts
                return
        self._add(Message(role, parts, wire.name, extra))

    def tool(self, wire: MessageWire, path: str) -> None:
        call_id = wire.tool_call_id or ""
        self._result(call_id, wire, path)

    def function(self, wire: MessageWire, path: str) -> None:
        self.changes.add("functions_deprecated", path)
        call_id = self.unnamed.pop(0) if self.unnamed else ""
        self._result(call_id, wire, path)

    def _result(self, call_id: str, wire: MessageWire, path: str) -> None:
        content, is_error = _decode_result(wire, f"{path}/content")
        extra = members_of(wire, NAME)
        if wire.name and wire.role == "tool":
            extra = {NAME: {"name": wire.name, **extra.get(NAME, {})}}
        name = self.names.get(call_id) or wire.name or ""
        result = ToolResult(call_id, name, content, is_error, extra=extra)
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role == "tool":
            self.messages[-1] = msgspec.structs.replace(last, parts=(*last.parts, result))
        else:
            self._add(Message("tool", (result,)))

    def _add(self, message: Message) -> None:
        self.messages.append(message)


_ROLES: dict[str, Callable[[_History, MessageWire, str], None]] = {
    "system": _History.prompt,
    "developer": _History.prompt,
    "user": _History.prompt,
    "assistant": _History.assistant,
    "tool": _History.tool,
    "function": _History.function,
}


def decode_messages(wires: Sequence[MessageWire], changes: Changes) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text and the messages of a request.

    Raises: DecodeError for an unknown role and for parts that cannot be read.
    """
    history = _History(changes)
    for place, wire in enumerate(wires):
        path = f"/messages/{place}"
        reader = _ROLES.get(wire.role or "")
        if reader is None:
            known = ", ".join(_ROLES)
            raise DecodeError(f"{path}/role: {wire.role!r} is no role (there are {known})", path=f"{path}/role")
        reader(history, wire, path)
    return history.system, tuple(history.messages)


def _rest(wire: MessageWire, *consumed: str) -> dict[str, Any]:
    """What of an assistant message has no part: members that are said and were not read, and the unknown ones."""
    unread = ("annotations", "reasoning_content", "reasoning")
    members = {name: value for name in unread if name not in consumed and (value := getattr(wire, name)) is not None}
    if members.get("annotations") == []:
        del members["annotations"]
    return {**members, **(wire.extra or {})}


def _decode_result(wire: MessageWire, path: str) -> tuple[str | tuple[Any, ...], bool]:
    content = wire.content
    parts = decode_content(content, path)
    first = parts[0] if parts else None
    if not isinstance(first, TextPart):
        return (tuple(parts), False) if parts else ("", False)
    is_error = first.text.startswith(ERROR_PREFIX)
    text = first.text.removeprefix(ERROR_PREFIX)
    if len(parts) == 1 and not first.extra and first.cache is None:
        return text, is_error
    return (msgspec.structs.replace(first, text=text), *parts[1:]), is_error


# Writing


class MessageEncoder:
    """Writes a history; `names` and `ids` map the caller's own names and ids to those of the wire."""

    def __init__(self, target: Target, names: dict[str, str], ids: dict[str, str], changes: Changes) -> None:
        self.target = target
        self.quirks = target.quirks
        self.names = names
        self.ids = ids
        self.changes = changes
        self.wires: list[MessageWire] = []

    def encode(self, system: tuple[TextPart, ...], messages: tuple[Message, ...]) -> list[MessageWire]:
        """The messages on the wire, the system text first."""
        if system:
            self._prompt(Message("system", system), "/system")
        for place, message in enumerate(messages):
            self._message(message, f"/messages/{place}")
        return self.wires

    def _message(self, message: Message, path: str) -> None:
        match message.role:
            case "assistant":
                self._assistant(message, path)
            case "tool":
                self._results(message, path)
            case _:
                self._prompt(message, path)
        if message.extra:
            for dialect in foreign_extras(message.extra, NAME):
                self.changes.add("extra_foreign", f"{path}/extra/{dialect}")

    def _assistant(self, message: Message, path: str) -> None:
        encoder = AssistantEncoder(self.target, self.changes, path, self.names, self.ids)
        wire = encoder.encode(message.parts, reply=False)
        wire.name = message.name
        merge_members(wire, message.extra.get(NAME, {}))
        self.wires.append(wire)

    def _prompt(self, message: Message, path: str) -> None:
        kept = tuple([part for place, part in enumerate(message.parts) if self._keeps(part, f"{path}/parts/{place}")])
        wire = MessageWire(role=message.role, content=encode_content(kept, self.quirks), name=message.name)
        merge_members(wire, message.extra.get(NAME, {}))
        if message.role == "system" and self.quirks.system_role != "as_read":
            wire.role = self.quirks.system_role
        self.wires.append(wire)

    def _keeps(self, part: Part, path: str) -> bool:
        """Whether a part can stand in a prompt; what cannot is refused or dropped with an entry."""
        match part:
            case OpaquePart(dialect=dialect, kind=kind):
                if dialect != NAME:
                    code = "media_refs" if kind == "media_ref" else "opaque_part"
                    self.changes.add(code, path, f"{kind} of {dialect}")
                return dialect == NAME
            case TextPart() | ImagePart() | AudioPart() | DocumentPart():
                self._note_cache(part, path)
                return True
            case _:
                self.changes.add("opaque_part", path, f"a prompt holds no {type(part).__name__}")
                return False

    def _note_cache(self, part: TextPart | ImagePart | AudioPart | DocumentPart, path: str) -> None:
        if part.cache is not None and encode_cache(part.cache, self.quirks) is None:
            self.changes.add("cache_unsupported", f"{path}/cache")

    def _results(self, message: Message, path: str) -> None:
        moved: list[Part] = []
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolResult):
                self.wires.append(self._result(part, moved, f"{path}/parts/{place}"))
            else:
                moved.append(part)
        if moved:
            self._prompt(Message("user", tuple(moved)), path)

    def _result(self, result: ToolResult, moved: list[Part], path: str) -> MessageWire:
        wire = MessageWire(role="tool", tool_call_id=self.ids.get(result.call_id, result.call_id))
        wire.content = self._result_content(result, moved, path)
        if self.quirks.result_name:
            wire.name = self.names.get(result.name, result.name)
        extra = result.extra.get(NAME)
        if extra:
            merge_members(wire, extra)
        return wire

    def _result_content(self, result: ToolResult, moved: list[Part], path: str) -> Any:
        content = result.content
        if isinstance(content, str | Json):
            return self._prefixed(result_text(result), result, path)
        media = [part for part in content if isinstance(part, MEDIA)]
        if media and not self.quirks.result_media:
            self.changes.add("result_media_moved", f"{path}/content")
            note = f"[{len(media)} media part(s) of this result follow in the next user message]"
            moved.extend([TextPart(f"Media of the result of {result.name or result.call_id}:"), *media])
            return self._prefixed(result_text(result) or note, result, path)
        kept = [part for place, part in enumerate(content) if self._keeps(part, f"{path}/content/{place}")]
        first = kept[0] if kept else None
        if isinstance(first, TextPart):
            kept[0] = msgspec.structs.replace(first, text=self._prefixed(first.text, result, path))
        elif result.is_error:
            kept.insert(0, TextPart(ERROR_PREFIX.strip()))
        return encode_content(kept, self.quirks)

    def _prefixed(self, text: str, result: ToolResult, path: str) -> str:
        if result.is_error:
            return text if text.startswith(ERROR_PREFIX) else f"{ERROR_PREFIX}{text}"
        if text.startswith(ERROR_PREFIX):
            self.changes.add("error_prefix_ambiguous", f"{path}/is_error")
        return text
