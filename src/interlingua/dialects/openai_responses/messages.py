"""The history, both ways: items and messages.

Rules
- `instructions` are `Request.system`; system and developer items are messages in their place.
- Neighbouring items of the assistant are one message; neighbouring results are one message with role tool.
- A result is a `custom_tool_call_output` when its call was freeform.
- A result's error flag is one leading `ERROR: `, never doubled.
- Items of unknown kinds stand where they stood: in the message of the assistant or of the results around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard, cast

from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from interlingua.dialects._contract import Target, Undo
from interlingua.dialects._error_prefix import prefixed
from interlingua.dialects._foreign import note_foreign, note_joined
from interlingua.dialects._history import ERROR_PREFIX, result_text
from interlingua.dialects._members import is_object, merge_members, plain
from interlingua.dialects._openai.calls import arguments_text
from interlingua.dialects._openai.requests import system_role
from interlingua.dialects.openai_responses.assistant import (
    COMPLETED,
    ItemDecoder,
    item_kind,
    item_members,
    message_members,
)
from interlingua.dialects.openai_responses.items import ItemEncoder, bare_items, opaque_item
from interlingua.dialects.openai_responses.parts import NAME, decode_content, encode_content, encode_part
from interlingua.dialects.openai_responses.wire import ItemWire, PartWire
from interlingua.errors import DecodeError
from interlingua.stream.calls import CallIdSource
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    TextPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message
from interlingua.wire.arguments import are_sound
from interlingua.wire.json import WireStruct, decode_wire, encode, encode_text, encode_wire, raw_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Quirks
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = ["REFERENCE", "InputEncoder", "decode_input", "refers"]

REFERENCE = "item_reference"
"""The kind of an item that stands for one that the provider keeps."""
RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_NOBODY, _NOTHING = Target(), Undo()
MEDIA = (ImagePart, AudioPart, DocumentPart)
_DONE = (None, COMPLETED)
"""The states of an item that is whole."""


class _Output(WireStruct):
    """A list of parts has no struct of its own; this one holds it while it is read."""

    output: list[PartWire] = []


# Reading


class _History:
    """Reads items one by one, remembering the calls; the message of the last items is open until another begins."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.messages: list[Message] = []
        self.names: dict[str, str] = {}
        self.ids = CallIdSource(keeps_repeats=True)
        self.decoder: ItemDecoder | None = None
        self.results: list[Part] = []
        self.open: dict[str, int] = {}
        """The calls without a result, and the place of the message that they stand in."""

    def read(self, wire: ItemWire) -> None:
        text, kind, role = wire.content, wire.type or item_kind(wire), wire.role
        is_text = type(text) is str and text and wire.id is wire.phase is wire.name is wire.extra is None
        if kind in RESULTS:
            self._result(wire, kind)
        elif is_text and kind == "message" and role == "user" and wire.status in _DONE:
            if self.decoder is not None or self.results:
                self.close()
            self.messages.append(Message("user", (TextPart(cast("str", text)),)))
        elif is_text and kind == "message" and role == "assistant" and wire.status in _DONE:
            (self.decoder or self._turn()).parts.append(TextPart(cast("str", text)))
        elif kind == "message" and role != "assistant":
            self._prompt(wire)
        elif kind == "function_call" and wire.status in _DONE and self._bare_call(wire):
            return
        elif self.results and kind.endswith("_output") and not is_text:
            self.results.append(OpaquePart(NAME, kind, plain(wire)))
        else:
            self._assistant(wire)

    def close(self) -> None:
        """Finish the open message."""
        if self.decoder is not None:
            self.messages.append(Message("assistant", tuple(self.decoder.parts)))
            self.decoder = None
        elif self.results:
            self.messages.append(Message("tool", tuple(self.results)))
            self.results = []

    def _turn(self) -> ItemDecoder:
        """The decoder of the open turn of the model."""
        if self.decoder is None:
            self.close()
            self.decoder = ItemDecoder(self.ids, self.changes, f"/messages/{len(self.messages)}", _NOBODY, _NOTHING)
        return self.decoder

    def _bare_call(self, wire: ItemWire) -> bool:
        """Read a call with nothing beside its arguments; False for one in which anything is to be repaired."""
        name, text = wire.name, wire.arguments
        if not name or "<|" in name or wire.id is not None or wire.phase is not None or wire.extra or text is UNSET:
            return False
        arguments, was_object = arguments_text(text)
        if was_object or not are_sound(arguments):
            return False
        turn = self.decoder or self._turn()
        call_id, code = self.ids.assign(wire.call_id)
        if code is not None:
            self.changes.add(code, f"{turn.path}/parts/{len(turn.parts)}/id")
        turn.parts.append(ToolCall(call_id, name, arguments))
        self.names[call_id] = name
        self.open[call_id] = len(self.messages)
        return True

    def _assistant(self, wire: ItemWire) -> None:
        decoder = self._turn()
        decoder.cut_off = wire.status == "incomplete"
        decoder.decode(wire)
        part = decoder.parts[-1]
        if type(part) is ToolCall or type(part) is BrokenToolCall:
            self.names[part.id] = part.name
            self.open[part.id] = len(self.messages)

    def _prompt(self, wire: ItemWire) -> None:
        role = _ROLES.get(wire.role or "")
        if role is None:
            raise DecodeError(f"{wire.role!r} is no role (there are {', '.join(_ROLES)}, assistant)", path="/role")
        self.close()
        extra: dict[str, dict[str, Any]] = {}
        if wire.id is not None or wire.status is not None or wire.extra or wire.name or wire.role == "developer":
            members = message_members(wire)
            if wire.role == "developer":
                members["role"] = "developer"
            extra = {NAME: members} if members else {}
        content = wire.content
        parts = (TextPart(content),) if isinstance(content, str) and content else tuple(decode_content(content))
        self.messages.append(Message(role, parts, None, extra))

    def _result(self, wire: ItemWire, kind: str) -> None:
        if self.decoder is not None:
            self.close()
        content, is_error = _decode_output(wire.output)
        call_id = wire.call_id or ""
        members: dict[str, Any] = {}
        if wire.id is not None or wire.status is not None or wire.phase is not None or wire.extra:
            members = {**item_members(wire), **(wire.extra or {})}
        if call_id not in self.names and kind != "function_call_output":
            members["type"] = kind
        extra = {NAME: members} if members else {}
        name = self.names.get(call_id) or wire.name or ""
        result = ToolResult(call_id, name, content, is_error, None, extra)
        place = self.open.pop(call_id, len(self.messages)) + 1
        if place >= len(self.messages):
            self.results.append(result)
            return
        # It came after somebody spoke, and is told right after its call, where other services want it.
        answers = self.messages[place]
        if answers.role == "tool":
            self.messages[place] = replace(answers, parts=(*answers.parts, result))
        else:
            self.messages.insert(place, Message("tool", (result,)))
            self.open = {one: at + (at >= place) for one, at in self.open.items()}
        at = len(self.messages[place].parts) - 1
        self.changes.add("order_changed", f"/messages/{place}/parts/{at}", "a result is told right after its call")


_ROLES: dict[str, Any] = {"user": "user", "system": "system", "developer": "system"}


def decode_input(items: str | list[ItemWire] | None, changes: Changes) -> tuple[Message, ...]:
    """The messages of a request.

    Raises: DecodeError for an unknown role and for parts that cannot be read.
    """
    if isinstance(items, str):
        return (Message("user", (TextPart(items),) if items else ()),)
    history = _History(changes)
    for place, wire in enumerate(items or ()):
        try:
            history.read(wire)
        except DecodeError as error:
            raise error.under(f"/input/{place}") from None
    history.close()
    return tuple(history.messages)


def refers(messages: Sequence[Message]) -> bool:
    """Whether some item stands for one that the provider keeps."""
    for message in messages:
        for part in message.parts:
            if type(part) is OpaquePart and part.dialect == NAME and part.kind == REFERENCE:
                return True
    return False


def _decode_output(output: str | Raw | UnsetType) -> tuple[str | tuple[Any, ...], bool]:
    text = b"" if isinstance(output, UnsetType | str) else bytes(output)
    if isinstance(output, str) or text[:1] == b'"':
        words = output if isinstance(output, str) else raw_text(text)
        return (words.removeprefix(ERROR_PREFIX), True) if words.startswith(ERROR_PREFIX) else (words, False)
    if text in (b"", b"null"):
        return "", False
    if not text.startswith(b"["):
        raise DecodeError("an output must be a string or a list of parts", path="/output")
    parts = decode_content(decode_wire(b'{"output":%b}' % text, _Output).output, "output")
    first = parts[0] if parts else None
    if not isinstance(first, TextPart) or not first.text.startswith(ERROR_PREFIX):
        return tuple(parts), False
    return (replace(first, text=first.text.removeprefix(ERROR_PREFIX)), *parts[1:]), True


# Writing


class InputEncoder:
    """Writes a history; `names` and `ids` map the caller's own names and ids to those of the wire."""

    def __init__(self, target: Target, names: dict[str, str], ids: dict[str, str], changes: Changes) -> None:
        self.target = target
        self.quirks: Quirks = target.quirks
        self.names = names
        self.ids = ids
        self.changes = changes
        self.items: list[ItemWire] = []
        self.is_bare: bool = True
        """Whether there is nothing in the items but texts, calls and results that are texts."""
        self._freeform: set[str] = set()

    def encode(self, messages: Sequence[Message], first: int = 0) -> list[ItemWire]:
        """The items on the wire; `first` is the place of the first message in the request."""
        for place, message in enumerate(messages, first):
            path = f"/messages/{place}"
            match message.role:
                case "assistant":
                    self._assistant(message, path)
                case "tool":
                    moved: list[Part] = []
                    for at, part in enumerate(message.parts):
                        here = f"{path}/parts/{at}"
                        if isinstance(part, ToolResult):
                            self.items.append(self._result(part, moved, here))
                        elif isinstance(part, OpaquePart) and part.dialect == NAME and is_object(part.raw):
                            self.is_bare = False
                            self.items.append(opaque_item(part.raw))
                        else:
                            moved.append(part)
                    if moved:
                        self.prompt(Message("user", tuple(moved)), path)
                case _:
                    self.prompt(message, path)
            if message.name:
                self.changes.add("name_unsupported", f"{path}/name")
            if message.extra:
                note_foreign(self.changes, message.extra, path)
        return self.items

    def _assistant(self, message: Message, path: str) -> None:
        bare = bare_items(message.parts, self.names, self.ids)
        if bare is not None:
            self.items += bare
            return
        self.is_bare = False
        encoder = ItemEncoder(self.changes, target=self.target, names=self.names, ids=self.ids)
        self.items.extend(encoder.encode(message.parts, path))
        if self.quirks.freeform_tools:
            self._freeform.update([part.id for part in message.parts if isinstance(part, ToolCall) and part.freeform])

    def prompt(self, message: Message, path: str, within: str = "/parts") -> None:
        """Write a message of the user or of the system; its parts stand `within` what `path` points to."""
        path += within
        first = message.parts[0] if len(message.parts) == 1 and not message.extra and message.role == "user" else None
        if type(first) is TextPart and not (first.cache or first.extra):
            self.items.append(ItemWire(role="user", content=first.text))
            return
        self.is_bare = False
        parts = [part for place, part in enumerate(message.parts) if self._keeps(part, f"{path}/{place}")]
        wire = ItemWire(role=message.role, content=encode_content(parts, detail=True))
        if message.extra:
            merge_members(wire, message.extra.get(NAME, {}))
        if message.role == "system":
            wire.role = system_role(self.target, wire.role)
        self.items.append(wire)

    def _keeps(self, part: Part | Json, path: str) -> bool:
        """Whether a part can stand in the input; what cannot is refused or dropped with an entry."""
        match part:
            case OpaquePart(dialect=dialect, kind=kind):
                if dialect == NAME and is_object(part.raw):
                    return True
                self.changes.add("media_refs" if kind == "media_ref" else "opaque_part", path, f"{kind} of {dialect}")
                return False
            case TextPart() | ImagePart() | AudioPart() | DocumentPart():
                if part.cache is not None:
                    self.changes.add("cache_unsupported", f"{path}/cache")
                note_foreign(self.changes, part.extra, path)
                return True
            case _:
                self.changes.add("opaque_part", path, f"the input holds no {type(part).__name__}")
                return False

    def _result(self, result: ToolResult, moved: list[Part], path: str) -> ItemWire:
        kind = "custom_tool_call_output" if result.call_id in self._freeform else "function_call_output"
        wire = ItemWire(type=kind, call_id=self.ids.get(result.call_id, result.call_id))
        if type(result.content) is str:
            text = result.content
            if result.is_error or text.startswith(ERROR_PREFIX):
                text = prefixed(text, result, self.changes, path)
            wire.output = cast("Raw", text)  # a string is what JSON text of it is
        else:
            self.is_bare = False
            wire.output = self._output(result, moved, path)
        if result.cache is not None:
            self.changes.add("cache_unsupported", f"{path}/cache")
        if result.extra:
            self.is_bare = False
            note_foreign(self.changes, result.extra, path)
            merge_members(wire, result.extra.get(NAME, {}))
        return wire

    def _output(self, result: ToolResult, moved: list[Part], path: str) -> Raw:
        """The content of a result that is no text."""
        content = result.content
        if isinstance(content, str | Json):
            return Raw(encode_text(prefixed(result_text(result), result, self.changes, path)))
        if not self.quirks.output_media and any([isinstance(part, MEDIA) for part in content]):
            media = [part for place, part in enumerate(content) if self._is_apart(part, f"{path}/content/{place}")]
            self.changes.add("result_media_moved", f"{path}/content")
            note = f"[{len(media)} media part(s) of this result follow in the next user message]"
            moved.extend([TextPart(f"Media of the result of {result.name or result.call_id}:"), *media])
            return Raw(encode_text(prefixed(result_text(result) or note, result, self.changes, path)))
        texts: list[Any] = [
            TextPart(encode(part.value).decode()) if isinstance(part, Json) else part for part in content
        ]
        parts = [part for place, part in enumerate(texts) if self._keeps(part, f"{path}/content/{place}")]
        first = parts[0] if parts else None
        if isinstance(first, TextPart):
            parts[0] = replace(first, text=prefixed(first.text, result, self.changes, path))
        elif result.is_error:
            parts.insert(0, TextPart(ERROR_PREFIX.strip()))
        return Raw(b"[%b]" % b",".join([encode_wire(encode_part(part, detail=False)) for part in parts]))

    def _is_apart(self, part: Part | Json, path: str) -> TypeGuard[Part]:
        """Whether a part of a result goes beside its text, into the next message of the user.

        What the text of the result, which is one string then, does not say has an entry.
        """
        if isinstance(part, MEDIA):
            return True
        keeps = isinstance(part, Json) or self._keeps(part, path)
        if isinstance(part, TextPart):
            note_joined(self.changes, part, path)
        return keeps and isinstance(part, OpaquePart)
