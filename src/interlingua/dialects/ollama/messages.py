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

from typing import TYPE_CHECKING, Any, cast

from interlingua.dialects._contract import Undo
from interlingua.dialects._error_prefix import prefixed
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._history import ERROR_PREFIX, json_text, result_text
from interlingua.dialects._members import merge_members
from interlingua.dialects._roles import MessagesReader
from interlingua.dialects._serve import read_member
from interlingua.dialects.ollama.assistant import MEDIA_CODES, AssistantEncoder, CallReader, bare_turn, decode_turn
from interlingua.dialects.ollama.parts import NAME, PartNotes, decode_images
from interlingua.dialects.ollama.wire import (
    MessagesWire,
    MessageWire,
    PlainMessageWire,
    PlainResultWire,
    PlainSystemWire,
    PlainTurnWire,
    PlainUserWire,
)
from interlingua.stream.calls import CallIdSource
from interlingua.types.content import ImagePart, Json, OpaquePart, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.wire.json import MAX_DEPTH, exact_reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Quirks
    from interlingua.types.change import Changes
    from interlingua.types.content import Part
    from interlingua.types.message import Role

__all__ = ["MessageEncoder", "decode_messages", "decode_prompt"]

NAMED_BY = ("tool_name", "tool_call_id")
"""The members by which a result names its call, both of which we send."""
BOTH_NAMES = " ".join(NAMED_BY)
"""The two of them, as `extra` keeps how a result named its call."""
_NOTHING = Undo()


# Reading


class _History(MessagesReader[MessageWire]):
    """Reads messages one by one, remembering the calls that have no result yet."""

    def __init__(self, wires: Sequence[MessageWire], changes: Changes) -> None:
        super().__init__()
        wire_ids = [call.id for wire in wires if wire.tool_calls for call in wire.tool_calls if call.id]
        self.ids = CallIdSource(used_ids=wire_ids, keeps_repeats=True)
        self.reader = CallReader(_NOTHING, changes)
        self.changes = changes
        self.open: list[tuple[str, bool, str]] = []
        """The calls without a result: our id, whether the wire gave it, and the name of the tool."""

    def plain(self, wire: MessageWire) -> bool:
        role = wire.role if wire.is_plain else None
        if role == "user" and wire.content:
            self.messages.append(Message("user", (TextPart(wire.content),)))
        elif role == "assistant" and wire.content and wire.tool_calls is wire.thinking is None:
            self.messages.append(Message("assistant", (TextPart(wire.content),)))
        elif role == "assistant":
            self.assistant(wire)
        elif role == "tool" and self.open:
            call_id, has_id, name = self.open[0]
            content = wire.content or ""
            is_named = has_id and wire.tool_call_id == call_id and wire.tool_name == name
            if not is_named or content.startswith(ERROR_PREFIX):
                return False
            del self.open[0]  # it is no longer open
            self.results.append(ToolResult(call_id, name, content, False, None, {NAME: {"field": BOTH_NAMES}}))
        else:
            return False
        return True

    def assistant(self, wire: MessageWire) -> None:
        parts = tuple(decode_turn(wire, self.ids, self.reader, self.here))
        if wire.tool_calls:
            self.open = self.reader.calls
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
        text = (TextPart(wire.content),) if wire.content else ()
        return (*text, *decode_images(wire.images, self.changes, self.here)) if wire.images else text

    def tool(self, wire: MessageWire) -> None:
        wire_id, wire_name = wire.tool_call_id or "", wire.tool_name or wire.name or ""
        call_id, name = wire_id, wire_name
        # Its call is found by id where both have one, else by name, else by order.
        for place, (open_id, has_id, open_name) in enumerate(self.open):
            if wire_id == open_id if wire_id and has_id else not wire_name or wire_name == open_name:
                del self.open[place]  # it is no longer open
                call_id, name = open_id, open_name
                break
        text = wire.content or ""
        is_error = text.startswith(ERROR_PREFIX)
        if is_error:
            text = text.removeprefix(ERROR_PREFIX)
        content: Any = text
        if wire.images:
            images = decode_images(wire.images, self.changes, self.here)
            content = (TextPart(text), *images) if text else tuple(images)
        used = [member for member in ("name", *NAMED_BY) if getattr(wire, member)]  # how the result named its call
        extra: dict[str, Any] = {"field": " ".join(used), **(wire.extra or {})}
        if wire_name and wire_name != name:
            extra["tool_name" if wire.tool_name else "name"] = wire_name
        self.results.append(ToolResult(call_id, name, content, is_error, None, {NAME: extra}))


def _members(wire: MessageWire) -> dict[str, dict[str, Any]]:
    """Members that no part of a message can hold."""
    if wire.tool_name is wire.tool_call_id is wire.name is None and not wire.extra:
        return {}
    members = {name: value for name in ("name", *NAMED_BY) if (value := getattr(wire, name)) is not None}
    return {NAME: {**members, **(wire.extra or {})}}


_read_plain = exact_reader(list[PlainMessageWire], max_depth=MAX_DEPTH - 1)  # they stand in an object
_read_known = exact_reader(list[MessageWire], max_depth=MAX_DEPTH - 1)
"""Reads messages of which every member is known."""


def decode_messages(text: bytes, changes: Changes) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text and the messages of a request, whose `messages` are this text.

    Raises: DecodeError for an unknown role, for calls of anyone but the model, and for parts that cannot be read;
    LimitExceededError.
    """
    wires = cast("list[MessageWire] | None", _read_plain(text)) or _read_known(text)  # plain ones have its members
    if wires is None:
        wires = read_member(b"messages", text, MessagesWire).messages or []
    return _History(wires, changes).read(wires)


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
        self.wires: list[Any] = []
        self.is_bare: bool = True
        """Whether there is nothing in the messages but texts, calls and results that are texts."""
        self.turn: tuple[Part, ...] = ()
        """The latest turn of the model."""

    def encode(self, system: tuple[TextPart, ...], messages: tuple[Message, ...], first: int = 0) -> list[MessageWire]:
        """The messages on the wire, the system text first; `first` is the place of the first of them in the request."""
        if system and not self._bare("system", system, ""):
            self._prompt(Message("system", system), "", "/system")
        for place, message in enumerate(messages, first):
            path = f"/messages/{place}"
            if message.name is not None or message.extra or not self._bare(message.role, message.parts, path):
                self._message(message, path)
            if message.role == "assistant":
                self.turn = message.parts
        return self.wires

    def _bare(self, role: Role, parts: Sequence[Part], path: str) -> bool:
        """Write a message of which there is nothing to note but members of other dialects, if it is one."""
        if role == "tool":
            return self._bare_results(parts, path)
        wire: PlainTurnWire | PlainUserWire | PlainSystemWire | None = None
        part = parts[0] if len(parts) == 1 else None
        if role == "assistant":
            wire = bare_turn(parts, self.changes, path)
        elif type(part) is TextPart and not (part.cache or part.annotations or part.sealed or part.extra):
            wire = PlainUserWire(part.text) if role == "user" else PlainSystemWire(part.text)
        if wire is None:
            return False
        self.wires.append(wire)
        return True

    def _bare_results(self, parts: Sequence[Part], path: str) -> bool:
        """Write results that are texts, stand in the order of their calls and have no members of this dialect, if so.

        Members that only other dialects know are noted.
        """
        wires: list[PlainResultWire] = []
        for part in parts:
            if type(part) is not ToolResult or type(part.content) is not str or part.is_error or part.cache:
                return False
            if NAME in part.extra or part.content.startswith(ERROR_PREFIX):
                return False
            wires.append(PlainResultWire(part.content, part.name or None, part.call_id or None))
        if len(wires) > 1:
            calls = [part.id for part in self.turn if type(part) is ToolCall]
            if calls != [wire.tool_call_id for wire in wires]:
                return False
        for place, part in enumerate(parts):
            if type(part) is ToolResult and part.extra:
                note_foreign(self.changes, part.extra, f"{path}/parts/{place}")
        self.wires += wires
        return True

    def _message(self, message: Message, path: str) -> None:
        if message.role == "assistant":
            wire = AssistantEncoder(self.changes, path).encode(message.parts)
            self.wires.append(wire)
            self._members(message, wire, path)
        elif message.role == "tool" or any([type(part) is ToolResult for part in message.parts]):
            results = [(place, part) for place, part in enumerate(message.parts) if type(part) is ToolResult]
            moved: list[Part] = []
            if len(results) < len(message.parts):
                moved = [part for part in message.parts if type(part) is not ToolResult]
            for place, result in self._in_call_order(results, path) if len(results) > 1 else results:
                self._result(result, moved, f"{path}/parts/{place}")
            if message.extra:
                note_foreign(self.changes, message.extra, path)
            if moved:
                self._prompt(Message("user", tuple(moved)), path, "/parts")
        else:
            self._prompt(message, path, "/parts")

    def _members(self, message: Message, wire: MessageWire, path: str) -> None:
        self.is_bare = False
        if message.name is not None:
            self.changes.add("name_unsupported", f"{path}/name")
        if message.extra:
            note_foreign(self.changes, message.extra, path)
            merge_members(wire, message.extra.get(NAME, {}))

    def _prompt(self, message: Message, path: str, within: str) -> None:
        """A message of the user or of the system; its parts stand `within` what `path` points to."""
        content, images = self._content(message.parts, path + within)
        wire = MessageWire(role=message.role, content=content, images=images or None)
        self.wires.append(wire)
        self._members(message, wire, path)

    def _content(
        self, parts: Sequence[Part | Json], path: str, *, apart: type[Part] | tuple[()] = ()
    ) -> tuple[str, list[str]]:
        """Text and images of a message, without those of a kind that go `apart`; what has no place is refused."""
        texts: list[str] = []
        images: list[str] = []
        for place, part in enumerate(parts):
            if isinstance(part, Json):
                texts.append(json_text(part))
                continue
            if isinstance(part, apart):
                continue
            if not self.notes.plain(part):
                self.notes.lost(part, f"{path}/{place}")
            if isinstance(part, TextPart):
                if images:
                    self.changes.add("order_changed", f"{path}/{place}", "text is told before images")
                texts.append(part.text)
            elif isinstance(part, ImagePart):
                images.append(part.base64)
            elif isinstance(part, OpaquePart):
                code = "media_refs" if part.kind == "media_ref" else "opaque_part"
                self.changes.add(code, f"{path}/{place}", f"{part.kind} of {part.dialect}")
            else:
                code, kind = MEDIA_CODES.get(type(part), "opaque_part"), type(part).__name__
                self.changes.add(code, f"{path}/{place}", f"no place for {kind}")
        return "".join(texts), images

    def _in_call_order(self, results: list[tuple[int, ToolResult]], path: str) -> list[tuple[int, ToolResult]]:
        """The results in the order of their calls; those that came in this dialect stay where they were."""
        calls = [part.id for part in self.turn if type(part) is ToolCall]
        if [result.call_id for _, result in results] == calls or any([NAME in result.extra for _, result in results]):
            return results
        places = {call_id: place for place, call_id in enumerate(calls)}
        ordered = sorted(results, key=lambda pair: places.get(pair[1].call_id, len(places)))
        if ordered != results:
            self.changes.add("order_changed", path, "results are told in the order of their calls")
        return ordered

    def _result(self, result: ToolResult, moved: list[Part], path: str) -> None:
        content, images = result.content, None
        if type(content) is not str or result.is_error or content.startswith(ERROR_PREFIX):
            content, images = self._result_content(result, moved, path)
        wire = MessageWire(role="tool", content=content, images=images)
        extra = result.extra.get(NAME)
        if extra is None:
            wire.tool_name, wire.tool_call_id = result.name or None, result.call_id or None
        else:
            named_by = str(extra.get("field", "tool_name tool_call_id")).split()
            names = {"tool_name": result.name, "name": result.name, "tool_call_id": result.call_id}
            for member in names.keys() & set(named_by):
                setattr(wire, member, names[member] or None)
        if result.cache is not None:
            self.changes.add("cache_unsupported", f"{path}/cache")
        if result.extra:
            self.is_bare = False
            note_foreign(self.changes, result.extra, path)
            merge_members(wire, {name: value for name, value in (extra or {}).items() if name != "field"})
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
        text, _ = self._content(content, f"{path}/content", apart=ImagePart)
        note = f"[{len(images)} image(s) follow in the next user message]"
        return prefixed(text or note, result, self.changes, path), None
