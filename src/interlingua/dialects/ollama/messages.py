"""The history, both ways.

Rules
- The first system message is `Request.system`, unless it carries more than text; later ones stay where they are.
- Neighbouring tool messages are one canonical message with all results of the step; on the wire it is one each.
- A result names its call by id, else by the tool's name, else it answers the oldest open call; how it did is kept.
- A result's error flag is one leading `ERROR: `, never doubled.
- Texts of one message are one text on the wire, images follow it.
- Templates match results to calls by order: what comes from elsewhere is sent in the order of the calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlingua.dialects._contract import Undo
from interlingua.dialects._error_prefix import prefixed
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._history import ERROR_PREFIX, json_text, result_text
from interlingua.dialects._members import merge_members
from interlingua.dialects._turns import Turns
from interlingua.dialects.ollama.assistant import MEDIA_CODES, AssistantEncoder, CallReader, decode_turn
from interlingua.dialects.ollama.parts import NAME, PartNotes, decode_images
from interlingua.dialects.ollama.wire import MessageWire
from interlingua.errors import DecodeError
from interlingua.stream.calls import CallIdSource
from interlingua.types.content import ImagePart, Json, OpaquePart, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.wire.media import to_base64

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.dialects._contract import Quirks
    from interlingua.types.change import Changes
    from interlingua.types.content import BrokenToolCall, Part

__all__ = ["MessageEncoder", "decode_messages", "decode_prompt"]

NAMED_BY = ("tool_name", "tool_call_id")
"""The members by which a result names its call, both of which we send."""


# Reading


class _OpenCall(NamedTuple):
    id: str
    """Our id of it."""
    has_id: bool
    """Whether the wire gave it one."""
    name: str
    """The tool's name."""


class _History:
    """Reads messages one by one, remembering the calls that have no result yet."""

    def __init__(self, wires: Sequence[MessageWire], changes: Changes) -> None:
        said = {call.id for wire in wires for call in wire.tool_calls or () if call.id}
        self.ids = CallIdSource(taken=said, keeps_repeats=True)
        self.reader = CallReader(Undo(), changes)
        self.changes = changes
        self.system: tuple[TextPart, ...] = ()
        self.messages: Turns = Turns()
        self.open: list[_OpenCall] = []

    @property
    def here(self) -> str:
        """The pointer to the message that comes next."""
        return f"/messages/{len(self.messages)}"

    def assistant(self, wire: MessageWire) -> None:
        parts = tuple(decode_turn(wire, self.ids, self.reader, self.here))
        if wire.tool_calls:
            calls = cast("tuple[ToolCall | BrokenToolCall, ...]", parts[-len(wire.tool_calls) :])  # they come last
            self.open = [
                _OpenCall(call.id, bool(said.id), call.name) for call, said in zip(calls, wire.tool_calls, strict=True)
            ]
        self.messages.append(Message("assistant", parts, None, _members(wire)))

    def user(self, wire: MessageWire) -> None:
        self.messages.append(Message("user", self._parts(wire), None, _members(wire)))

    def system_text(self, wire: MessageWire) -> None:
        parts, extra = self._parts(wire), _members(wire)
        if not self.messages and not self.system and wire.content and len(parts) == 1 and not extra:
            self.system = (TextPart(wire.content),)
        else:
            self.messages.append(Message("system", parts, None, extra))

    def _parts(self, wire: MessageWire) -> tuple[Part, ...]:
        if not wire.images:
            return (TextPart(wire.content),) if wire.content else ()
        images = decode_images(wire.images, self.changes, self.here)
        return (TextPart(wire.content), *images) if wire.content else tuple(images)

    def tool(self, wire: MessageWire) -> None:
        call = self._answered(wire)
        call_id = wire.tool_call_id or "" if call is None else call.id
        said = wire.tool_name or wire.name or ""
        name = said if call is None else call.name
        content, is_error = _result_content(wire, self.changes, self.here)
        result = ToolResult(call_id, name, content, is_error, None, _naming(wire, said, name))
        if self.messages.last_role == "tool":
            self.messages.extend((result,))
        else:
            self.messages.append(Message("tool", (result,)))

    def _answered(self, wire: MessageWire) -> _OpenCall | None:
        """The call that a result is for, which is then no longer open."""
        for place, call in enumerate(self.open):
            if _answers(wire, call):
                return self.open.pop(place)
        return None


def _answers(wire: MessageWire, call: _OpenCall) -> bool:
    """Whether a result is for that call: by id where both have one, else by name, else by order."""
    if wire.tool_call_id and call.has_id:
        return wire.tool_call_id == call.id
    name = wire.tool_name or wire.name
    return not name or name == call.name


def _members(wire: MessageWire) -> dict[str, dict[str, Any]]:
    """Members that no part of a message can hold."""
    if wire.tool_name is None and wire.tool_call_id is None and wire.name is None and not wire.extra:
        return {}
    said = {name: value for name in ("name", *NAMED_BY) if (value := getattr(wire, name)) is not None}
    return {NAME: {**said, **(wire.extra or {})}}


def _naming(wire: MessageWire, said: str, name: str) -> dict[str, dict[str, Any]]:
    """How a result named its call, and its unknown members."""
    if wire.tool_name == name and wire.tool_call_id and not wire.name and not wire.extra:
        return {NAME: {"field": "tool_name tool_call_id"}}
    used = [member for member in ("name", *NAMED_BY) if getattr(wire, member)]
    extra: dict[str, Any] = {"field": " ".join(used), **(wire.extra or {})}
    if said and said != name:
        extra["tool_name" if wire.tool_name else "name"] = said
    return {NAME: extra}


def _result_content(wire: MessageWire, changes: Changes, path: str) -> tuple[Any, bool]:
    text = wire.content or ""
    is_error = text.startswith(ERROR_PREFIX)
    text = text.removeprefix(ERROR_PREFIX)
    if not wire.images:
        return text, is_error
    images = decode_images(wire.images, changes, path)
    return ((TextPart(text), *images) if text else tuple(images)), is_error


_ROLES: dict[str, Callable[[_History, MessageWire], None]] = {
    "system": _History.system_text,
    "user": _History.user,
    "assistant": _History.assistant,
    "tool": _History.tool,
}


def decode_messages(wires: Sequence[MessageWire], changes: Changes) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text and the messages of a request.

    Raises: DecodeError for an unknown role and for parts that cannot be read.
    """
    history = _History(wires, changes)
    for place, wire in enumerate(wires):
        reader = _ROLES.get(wire.role or "")
        try:
            if reader is None:
                raise DecodeError(f"{wire.role!r} is no role (there are {', '.join(_ROLES)})", path="/role")
            reader(history, wire)
        except DecodeError as error:
            raise error.under(f"/messages/{place}") from None
    return history.system, history.messages.done()


def decode_prompt(
    system: str | None, prompt: str | None, images: Sequence[str] | None, changes: Changes
) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text and the one message of a request in the older form.

    Raises: DecodeError for an image that cannot be read.
    """
    parts: list[Part] = [TextPart(prompt)] if prompt else []
    parts.extend(decode_images(images or (), changes, "/messages/0"))
    return (TextPart(system),) if system else (), (Message("user", tuple(parts)),) if parts else ()


# Writing


class MessageEncoder:
    """Writes a history."""

    def __init__(self, quirks: Quirks, changes: Changes) -> None:
        """Losses go into `changes`."""
        self.quirks = quirks
        self.changes = changes
        self.notes: PartNotes = PartNotes(changes)
        self.wires: list[MessageWire] = []
        self.places: dict[str, int] = {}

    def encode(self, system: tuple[TextPart, ...], messages: tuple[Message, ...], first: int = 0) -> list[MessageWire]:
        """The messages on the wire, the system text first; `first` is the place of the first of them in the request."""
        if system:
            self._prompt(Message("system", system), "/system", "/system")
        for place, message in enumerate(messages, first):
            self._message(message, f"/messages/{place}")
        return self.wires

    def _message(self, message: Message, path: str) -> None:
        if message.role == "assistant":
            wire = AssistantEncoder(self.changes, path).encode(message.parts)
            self.wires.append(wire)
            self._members(message, wire, path)
            self.places = {part.id: place for place, part in enumerate(message.parts) if type(part) is ToolCall}
        elif message.role == "tool" or any(type(part) is ToolResult for part in message.parts):
            self._results(message, path)
        else:
            self._prompt(message, path, f"{path}/parts")

    def _members(self, message: Message, wire: MessageWire, path: str) -> None:
        if message.name is not None:
            self.changes.add("name_unsupported", f"{path}/name")
        if message.extra:
            note_foreign(self.changes, message.extra, path)
            merge_members(wire, message.extra.get(NAME, {}))

    def _prompt(self, message: Message, path: str, parts_path: str) -> None:
        wire = MessageWire(role=message.role)
        wire.content, images = self._content(message.parts, parts_path)
        wire.images = images or None
        self._members(message, wire, path)
        self.wires.append(wire)

    def _content(self, parts: Sequence[Part | Json], path: str) -> tuple[str, list[str]]:
        """Text and images of a message; what has no place is refused."""
        first = parts[0] if len(parts) == 1 else None
        if type(first) is TextPart and self.notes.plain(first):
            return first.text, []
        texts: list[str] = []
        images: list[str] = []
        for place, part in enumerate(parts):
            if isinstance(part, Json):
                texts.append(json_text(part))
                continue
            if not self.notes.plain(part):
                self.notes.lost(part, f"{path}/{place}")
            if isinstance(part, TextPart):
                if images:
                    self.changes.add("order_changed", f"{path}/{place}", "text is told before images")
                texts.append(part.text)
            elif isinstance(part, ImagePart):
                images.append(to_base64(part.data))
            else:
                self._refuse(part, f"{path}/{place}")
        return "".join(texts), images

    def _refuse(self, part: Part, path: str) -> None:
        if isinstance(part, OpaquePart):
            code = "media_refs" if part.kind == "media_ref" else "opaque_part"
            self.changes.add(code, path, f"{part.kind} of {part.dialect}")
        else:
            self.changes.add(MEDIA_CODES.get(type(part), "opaque_part"), path, f"no place for {type(part).__name__}")

    def _results(self, message: Message, path: str) -> None:
        results = [(place, part) for place, part in enumerate(message.parts) if type(part) is ToolResult]
        moved: list[Part] = [part for part in message.parts if type(part) is not ToolResult]
        for place, result in self._in_call_order(results, path):
            self._result(result, moved, f"{path}/parts/{place}")
        if message.extra:
            note_foreign(self.changes, message.extra, path)
        if moved:
            self._prompt(Message("user", tuple(moved)), path, f"{path}/parts")

    def _in_call_order(self, results: list[tuple[int, ToolResult]], path: str) -> list[tuple[int, ToolResult]]:
        """The results in the order of their calls; those that came in this dialect stay where they were."""
        if len(results) == 1 or any(NAME in result.extra for _, result in results):
            return results
        ordered = sorted(results, key=lambda pair: self.places.get(pair[1].call_id, len(self.places)))
        if ordered != results:
            self.changes.add("order_changed", path, "results are told in the order of their calls")
        return ordered

    def _result(self, result: ToolResult, moved: list[Part], path: str) -> None:
        wire = MessageWire(role="tool")
        wire.content, wire.images = self._result_content(result, moved, path)
        extra = result.extra.get(NAME, {})
        named_by = str(extra.get("field", "tool_name tool_call_id")).split()
        names = {"tool_name": result.name or None, "name": result.name or None, "tool_call_id": result.call_id or None}
        for member in names.keys() & set(named_by):
            setattr(wire, member, names[member])
        if result.cache is not None:
            self.changes.add("cache_unsupported", f"{path}/cache")
        if result.extra:
            note_foreign(self.changes, result.extra, path)
            merge_members(wire, {name: value for name, value in extra.items() if name != "field"})
        self.wires.append(wire)

    def _result_content(self, result: ToolResult, moved: list[Part], path: str) -> tuple[str, list[str] | None]:
        content = result.content
        if isinstance(content, str | Json):
            return prefixed(result_text(result), result, self.changes, path), None
        images = [part for part in content if isinstance(part, ImagePart)]
        if not images or self.quirks.result_media:
            text, shown = self._content(content, f"{path}/content")
            return prefixed(text, result, self.changes, path), shown or None
        self.changes.add("result_media_moved", f"{path}/content")
        moved.extend([TextPart(f"Images of the result of {result.name or result.call_id}:"), *images])
        text, _ = self._content([part for part in content if not isinstance(part, ImagePart)], f"{path}/content")
        note = f"[{len(images)} image(s) follow in the next user message]"
        return prefixed(text or note, result, self.changes, path), None
