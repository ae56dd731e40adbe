"""The history, both ways.

Rules
- The first system message is `Request.system`, unless it carries more than text; later ones stay where they are.
- Neighbouring tool messages are one canonical message with all results of the step; on the wire it is one each.
- A result's error flag is one leading `ERROR: `, never doubled.
- Where a tool message may hold text alone, its media follow in a user message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, cast

import msgspec

from interlingua.dialects._contract import Target, Undo
from interlingua.dialects._error_prefix import prefixed
from interlingua.dialects._foreign import note_foreign, note_joined
from interlingua.dialects._history import ERROR_PREFIX, json_text, result_text
from interlingua.dialects._members import members_of, merge_members
from interlingua.dialects._openai.requests import system_role
from interlingua.dialects._seals import note_seal
from interlingua.dialects._serve import read_member
from interlingua.dialects.openai_chat.assistant import AssistantDecoder, AssistantEncoder, is_plain
from interlingua.dialects.openai_chat.parts import NAME, decode_content, decode_images, encode_cache, encode_content
from interlingua.dialects.openai_chat.wire import (
    MessagesWire,
    MessageWire,
    PlainMessageWire,
    PlainResultWire,
    PlainSystemWire,
    PlainTurnWire,
    PlainUserWire,
)
from interlingua.errors import DecodeError
from interlingua.stream.calls import PLACEHOLDER_IDS, CallIdSource
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message
from interlingua.wire.arguments import are_sound
from interlingua.wire.json import MAX_DEPTH, exact_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from msgspec import UnsetType

    from interlingua.dialects._contract import Quirks
    from interlingua.dialects.openai_chat.wire import PartWire, PlainCallWire
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = ["MessageEncoder", "decode_messages"]


MEDIA = (ImagePart, AudioPart, DocumentPart)


class _History:
    """Reads messages one by one, remembering the calls."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.system: tuple[TextPart, ...] = ()
        self.messages: list[Message] = []
        self.results: list[Part] = []
        self.names: dict[str, str] = {}
        self.unnamed: list[str] = []
        self.called: list[str] = []
        """The ids of the plain calls that the reader of other turns does not know yet."""
        self.decoder: AssistantDecoder | None = None

    def read(self, wires: Sequence[MessageWire | PlainMessageWire]) -> None:
        """Read the messages; a plain one in which something has to be looked at is left to its role."""
        for place, wire in enumerate(wires):
            if type(wire) is PlainResultWire and not wire.content.startswith(ERROR_PREFIX):
                call_id = wire.tool_call_id
                self.results.append(ToolResult(call_id, self.names.get(call_id, ""), wire.content))
                continue
            if self.results and wire.role not in _RESULTS:
                self.close()
            if type(wire) is PlainUserWire and wire.content:
                self.messages.append(Message("user", (TextPart(wire.content),)))
            elif (
                type(wire) is PlainTurnWire
                and wire.tool_calls is None
                and wire.content
                and wire.reasoning_content is None
            ):
                self.messages.append(Message("assistant", (TextPart(wire.content),)))
            elif type(wire) is PlainTurnWire and wire.reasoning_content != "" and _are_sound(wire.tool_calls or ()):
                self.turn(wire)
            elif type(wire) is PlainSystemWire and wire.content and not (self.messages or self.system):
                self.system = (TextPart(wire.content),)
            else:
                try:
                    (_ROLES.get(wire.role or "") or _unknown_role(wire.role))(self, wire)
                except DecodeError as error:
                    raise error.under(f"/messages/{place}") from None
        if self.results:
            self.close()

    def turn(self, wire: PlainTurnWire) -> None:
        """A plain turn, whose calls are sound."""
        parts: list[Part] = [ThinkingPart(wire.reasoning_content)] if wire.reasoning_content else []
        if wire.content:
            parts.append(TextPart(wire.content))
        for call in wire.tool_calls or ():
            call_id, function = call.id, call.function
            self.called.append(call_id)
            self.names[call_id] = function.name
            parts.append(ToolCall(call_id, function.name, function.arguments))
        self.messages.append(Message("assistant", tuple(parts)))

    def turns(self) -> AssistantDecoder:
        """The reader of turns that are not plain."""
        decoder = self.decoder
        if decoder is None:
            ids = CallIdSource(keeps_repeats=True)
            decoder = self.decoder = AssistantDecoder(ids, _NOBODY, _NOTHING, self.changes)
        for call_id in self.called:
            decoder.ids.assign(call_id)
        self.called = []
        return decoder

    def close(self) -> None:
        """The results of a step are one message."""
        self.messages.append(Message("tool", tuple(self.results)))
        self.results = []

    def _here(self) -> str:
        return f"/messages/{len(self.messages) + bool(self.results)}"

    def assistant(self, wire: MessageWire) -> None:
        turns = self.turns()
        turns.prefix = f"/messages/{len(self.messages)}"
        parts = tuple(turns.decode(wire))
        for part in parts:
            if type(part) is ToolCall or type(part) is BrokenToolCall:
                self.names[part.id] = part.name
                if not wire.tool_calls:
                    self.unnamed.append(part.id)
        extra: dict[str, dict[str, Any]] = {}
        if wire.extra or wire.annotations or wire.reasoning_content == "" or wire.reasoning == "":
            # What became no part: annotations without a text, empty reasoning, members without a field.
            members = extra[NAME] = dict(wire.extra) if wire.extra else {}
            if wire.annotations:
                members["annotations"] = wire.annotations
            if wire.reasoning_content == "":
                members["reasoning_content"] = ""
            if wire.reasoning == "":
                members["reasoning"] = ""
        self.messages.append(Message("assistant", parts, wire.name, extra))

    def user(self, wire: MessageWire) -> None:
        content, extra = wire.content, members_of(wire, NAME) if wire.extra else {}
        parts = (TextPart(content),) if content and type(content) is str else tuple(decode_content(content))
        if wire.images:
            parts = (*parts, *self._images(wire.images))
        self.messages.append(Message("user", parts, wire.name, extra))

    def _images(self, images: Sequence[PartWire | str]) -> list[Part]:
        """The images beside the content, as clients of Ollama send them."""
        self.changes.add("foreign_shape", self._here(), "images beside the content")
        return decode_images(images)

    def system_text(self, wire: MessageWire) -> None:
        content, extra = wire.content, members_of(wire, NAME)
        parts = (*decode_content(content), *(self._images(wire.images) if wire.images else ()))
        if wire.role == "developer":
            extra = {NAME: {"role": "developer", **extra.get(NAME, {})}}
        first = not self.messages and not self.system
        if first and parts and not extra and not wire.name:
            texts = tuple([part for part in parts if isinstance(part, TextPart)])
            if len(texts) == len(parts):
                self.system = texts
                return
        self.messages.append(Message("system", parts, wire.name, extra))

    def result(self, wire: MessageWire) -> None:
        call_id = wire.tool_call_id or ""
        if wire.role == "function":
            self.changes.add("functions_deprecated", self._here())
            call_id = self.unnamed.pop(0) if self.unnamed else ""
        content, is_error = wire.content, False
        if type(content) is not str or content.startswith(ERROR_PREFIX):
            content, is_error = _decode_result(content)
        if wire.images:
            texts = (TextPart(content),) if isinstance(content, str) and content else content or ()
            content = cast("tuple[Any, ...]", (*texts, *self._images(wire.images)))
        extra = members_of(wire, NAME) if wire.extra else {}
        if wire.name and wire.role == "tool":
            extra = {NAME: {"name": wire.name, **extra.get(NAME, {})}}
        name = self.names.get(call_id) or wire.name or ""
        self.results.append(ToolResult(call_id, name, content, is_error, None, extra))


_NOBODY = Target()
_NOTHING = Undo()
_RESULTS = frozenset({"tool", "function"})
_ROLES: dict[str, Callable[[_History, Any], None]] = {
    "system": _History.system_text,
    "developer": _History.system_text,
    "user": _History.user,
    "assistant": _History.assistant,
    "tool": _History.result,
    "function": _History.result,
}


def decode_messages(text: bytes, changes: Changes) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text and the messages of a request, whose `messages` are this text.

    Raises: DecodeError for an unknown role and for parts that cannot be read; LimitExceededError.
    """
    history = _History(changes)
    wires = cast("list[MessageWire] | None", _read_plain(text)) or _read_known(text)  # plain ones have its members
    history.read(read_member(b"messages", text, MessagesWire).messages if wires is None else wires)
    return history.system, tuple(history.messages)


def _are_sound(calls: Sequence[PlainCallWire]) -> bool:
    """Whether each call has a name, an id of its own and sound arguments."""
    for call in calls:
        function = call.function
        if not function.name or call.id.strip() in PLACEHOLDER_IDS or not are_sound(function.arguments):
            return False
    return True


_read_plain = exact_reader(list[PlainMessageWire])
_read_known = exact_reader(list[MessageWire], max_depth=MAX_DEPTH)
"""Reads messages of which every member is known."""


def _unknown_role(role: str | None) -> NoReturn:
    raise DecodeError(f"{role!r} is no role (there are {', '.join(_ROLES)})", path="/role")


def _decode_result(content: str | list[PartWire] | UnsetType | None) -> tuple[str | tuple[Any, ...], bool]:
    if isinstance(content, str):
        return content.removeprefix(ERROR_PREFIX), True
    parts = decode_content(content)
    first = parts[0] if parts else None
    if not isinstance(first, TextPart):
        return (tuple(parts), False) if parts else ("", False)
    if first.text == ERROR_PREFIX.strip() and len(parts) > 1:  # the mark of a result that has no text itself
        return tuple(parts[1:]), True
    is_error = first.text.startswith(ERROR_PREFIX)
    text = first.text.removeprefix(ERROR_PREFIX)
    if len(parts) == 1 and not first.extra and first.cache is None:
        return text, is_error
    return (msgspec.structs.replace(first, text=text), *parts[1:]), is_error


# Writing


_PLAIN_PROMPTS: dict[str, type[PlainUserWire | PlainSystemWire]] = {"user": PlainUserWire, "system": PlainSystemWire}
"""Role on the wire -> the message of one text."""


class MessageEncoder:
    """Writes a history; `names` and `ids` map the caller's own names and ids to those of the wire."""

    def __init__(self, target: Target, names: dict[str, str], ids: dict[str, str], changes: Changes) -> None:
        self.target = target
        self.quirks: Quirks = target.quirks
        self.names = names
        self.ids = ids
        self.changes = changes
        self.wires: list[MessageWire | PlainMessageWire] = []
        self.is_plain: bool = True
        """Whether all of them are plain."""
        self.turns: AssistantEncoder = AssistantEncoder(target, changes, names, ids)

    def encode(
        self, system: tuple[TextPart, ...], messages: tuple[Message, ...]
    ) -> list[MessageWire | PlainMessageWire]:
        """The messages on the wire, the system text first."""
        if system:
            self._prompt(Message("system", system), "/system", within="")
        for place, message in enumerate(messages):
            path, role = f"/messages/{place}", message.role
            if role == "assistant":
                plain = None if message.name is not None or message.extra else self.turns.plain(message.parts, path)
                if plain is None:
                    self._add(self.turns.encode(message.parts, path, reply=False), message)
                else:
                    self.wires.append(plain)
            elif role == "tool":
                moved: list[Part] = []
                for at, part in enumerate(message.parts):
                    if isinstance(part, ToolResult):
                        self.wires.append(self._result(part, moved, f"{path}/parts/{at}"))
                    else:
                        moved.append(part)
                if moved:
                    self._prompt(Message("user", tuple(moved)), path)
            else:
                self._prompt(message, path)
            if message.extra:
                note_foreign(self.changes, message.extra, path)
        return self.wires

    def _add(self, wire: MessageWire, message: Message) -> None:
        """A message with what else is said of it."""
        wire.name = message.name
        if message.extra:
            merge_members(wire, message.extra.get(NAME, {}))
        self.wires.append(wire)
        self.is_plain = False

    def _prompt(self, message: Message, path: str, within: str = "/parts") -> None:
        """Write a message of the user or of the system; its parts stand `within` what `path` points to."""
        parts, role = message.parts, message.role
        part = parts[0] if len(parts) == 1 else None
        if type(part) is TextPart and is_plain(part):
            wire_role = system_role(self.target, role) if role == "system" else role
            kind = _PLAIN_PROMPTS.get(wire_role or "")
            if kind is not None and message.name is None and not message.extra:
                self.wires.append(kind(part.text))
                return
            content = part.text
        else:
            content_parts = [part for place, part in enumerate(parts) if self._keeps(part, f"{path}{within}/{place}")]
            content = encode_content(content_parts, self.quirks)
        wire = MessageWire(role=role, content=content)
        self._add(wire, message)
        if role == "system":
            wire.role = system_role(self.target, wire.role)

    def _keeps(self, part: Part, path: str) -> bool:
        """Whether a part can stand in a prompt; what cannot is refused or dropped with an entry."""
        match part:
            case OpaquePart(dialect=dialect, kind=kind):
                if dialect != NAME:
                    code = "media_refs" if kind == "media_ref" else "opaque_part"
                    self.changes.add(code, path, f"{kind} of {dialect}")
                return dialect == NAME
            case TextPart() | ImagePart() | AudioPart() | DocumentPart():
                if part.cache is not None and encode_cache(part.cache, self.quirks) is None:
                    self.changes.add("cache_unsupported", f"{path}/cache")
                if isinstance(part, TextPart) and part.annotations:
                    self.changes.add("annotation_unsupported", f"{path}/annotations")
                if isinstance(part, TextPart | ImagePart) and part.sealed is not None:
                    note_seal(self.changes, part.sealed, path)
                if isinstance(part, ImagePart) and part.detail is not None and self.quirks.image_url_string:
                    self.changes.add("detail_unsupported", f"{path}/detail")
                note_foreign(self.changes, part.extra, path)
                return True
            case _:
                self.changes.add("opaque_part", path, f"a prompt holds no {type(part).__name__}")
                return False

    def _result(self, result: ToolResult, moved: list[Part], path: str) -> MessageWire | PlainResultWire:
        content = result.content
        if type(content) is not str or result.is_error or content.startswith(ERROR_PREFIX):
            content = self._result_content(result, moved, path)
        call_id = self.ids.get(result.call_id, result.call_id)
        if type(content) is str and result.cache is None and not (result.extra or self.quirks.result_name):
            return PlainResultWire(content, call_id)
        self.is_plain = False
        wire = MessageWire(role="tool", content=content, tool_call_id=call_id)
        if self.quirks.result_name:
            wire.name = self.names.get(result.name, result.name)
        if result.cache is not None:
            self.changes.add("cache_unsupported", f"{path}/cache")
        if result.extra:
            note_foreign(self.changes, result.extra, path)
            merge_members(wire, result.extra.get(NAME, {}))
        return wire

    def _result_content(self, result: ToolResult, moved: list[Part], path: str) -> Any:
        content = result.content
        if isinstance(content, str):
            return prefixed(content, result, self.changes, path)
        if isinstance(content, Json):
            return prefixed(json_text(content), result, self.changes, path)
        content = tuple([TextPart(json_text(part)) if isinstance(part, Json) else part for part in content])
        if not self.quirks.result_media and any([isinstance(part, MEDIA) for part in content]):
            media = [part for place, part in enumerate(content) if self._is_apart(part, f"{path}/content/{place}")]
            self.changes.add("result_media_moved", f"{path}/content")
            note = f"[{len(media)} media part(s) of this result follow in the next user message]"
            moved.extend([TextPart(f"Media of the result of {result.name or result.call_id}:"), *media])
            return prefixed(result_text(result) or note, result, self.changes, path)
        parts = [part for place, part in enumerate(content) if self._keeps(part, f"{path}/content/{place}")]
        first = parts[0] if parts else None
        if isinstance(first, TextPart):
            parts[0] = msgspec.structs.replace(first, text=prefixed(first.text, result, self.changes, path))
        elif result.is_error:
            parts.insert(0, TextPart(ERROR_PREFIX.strip()))
        return encode_content(parts, self.quirks)

    def _is_apart(self, part: Part, path: str) -> bool:
        """Whether a part of a result goes beside its text, into the next message of the user.

        What the text of the result, which is one string then, does not say has an entry.
        """
        if isinstance(part, MEDIA):
            return True
        keeps = self._keeps(part, path)
        if isinstance(part, TextPart):
            note_joined(self.changes, part, path)
            if part.cache is not None and encode_cache(part.cache, self.quirks) is not None:
                self.changes.add("cache_unsupported", f"{path}/cache", "the texts of the result are joined")
        return keeps and isinstance(part, OpaquePart)
