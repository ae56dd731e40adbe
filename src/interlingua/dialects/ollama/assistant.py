"""The assistant's turn, both ways: one mapping for a history, a whole reply, and what a stream adds up to.

Rules
- The wire has one place for each kind, so the order is: thinking, content, images, calls.
- A call's arguments are an object on the wire, and its exact text in between.
Loss: text or thinking that follows something else is told before it (`order_changed`); a refusal is text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw, UnsetType

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._members import merge_members
from interlingua.dialects._steps import answer_thinking, history_text
from interlingua.dialects._transcripts import transcript_text
from interlingua.dialects.ollama.parts import NAME, PartNotes, decode_images
from interlingua.dialects.ollama.wire import (
    FunctionCallWire,
    MessageWire,
    PlainCallWire,
    PlainFunctionWire,
    PlainTurnWire,
    ToolCallWire,
)
from interlingua.errors import DecodeError
from interlingua.stream.calls import is_empty_arguments, make_call
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.wire.arguments import are_sound
from interlingua.wire.json import raw_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Undo
    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = ["MEDIA_CODES", "AssistantEncoder", "CallReader", "bare_turn", "decode_turn"]

MEDIA_CODES: dict[type, str] = {ImagePart: "images", AudioPart: "audio", DocumentPart: "documents"}
"""Kind of part -> the code of its refusal."""
_FUNCTION = (None, "", "function")
"""Types of a call that is like all others."""


# Reading


class CallReader:
    """Reads what calls say on the wire: id, name, text of the arguments, members without a field."""

    def __init__(self, undo: Undo, changes: Changes) -> None:
        """`undo` tells which tools are freeform."""
        self.undo = undo
        self.changes = changes
        self.calls: list[tuple[str, bool, str]] = []
        """The calls of the latest turn: the id, whether the wire gave it, and the name of the tool."""

    def name(self, wire: ToolCallWire) -> str:
        """The tool's name.

        Raises: DecodeError for a call without one.
        """
        name = wire.function.name if wire.function is not None else None
        if not name:
            raise DecodeError("a tool call must have a name", path="/function/name")
        return name

    def freeform(self, name: str) -> bool:
        """Whether the tool takes plain text."""
        return name in self.undo.freeform

    def arguments(self, wire: ToolCallWire, path: str) -> str:
        """The text of the arguments; `path` points to the part that the call becomes."""
        arguments = wire.function.arguments if wire.function is not None else UNSET
        if isinstance(arguments, UnsetType):
            return ""
        text = str(arguments, "utf-8")
        if text[:1] != '"':
            return "" if text == "null" else text
        self.changes.add("foreign_shape", f"{path}/arguments_json", "arguments as a string where an object belongs")
        return raw_text(arguments)

    def members(self, wire: ToolCallWire) -> dict[str, dict[str, Any]]:
        """The members without a field."""
        within = wire.function.extra if wire.function is not None else None
        kind = wire.type
        if wire.extra is within is None and kind in _FUNCTION:
            return {}
        members: dict[str, Any] = dict(wire.extra) if wire.extra else {}
        if kind not in _FUNCTION:
            members["type"] = kind
        if within:
            members["function"] = dict(within)
        return {NAME: members} if members else {}


def decode_turn(
    message: MessageWire, ids: CallIdSource, reader: CallReader, prefix: str, *, cut_off: bool = False
) -> list[Part]:
    """The parts of an assistant message.

    `prefix` points to the message in the canonical value; `cut_off` says that the length limit ended it.
    Raises: DecodeError, with a path inside the message.
    """
    parts: list[Part] = []
    if message.thinking:
        parts.append(ThinkingPart(message.thinking))
    if message.content:
        parts.append(TextPart(message.content))
    if message.images:
        parts.extend(decode_images(message.images, reader.changes, prefix))
    reader.calls = []
    for place, wire in enumerate(message.tool_calls or (), 1):
        function = wire.function
        if function is not None and function.name and wire.type is wire.extra is function.extra is None:
            text = "" if function.arguments is UNSET else str(function.arguments, "utf-8")
            if are_sound(text):
                call_id, code = ids.assign(wire.id)
                if code is not None:
                    reader.changes.add(code, f"{prefix}/parts/{len(parts)}/id")
                parts.append(ToolCall(call_id, function.name, text, function.name in reader.undo.freeform))
                reader.calls.append((call_id, bool(wire.id), function.name))
                continue
        try:
            path, is_last = f"{prefix}/parts/{len(parts)}", place == len(message.tool_calls or ())
            parts.append(_call(wire, ids, reader, path, cut_off=cut_off and is_last))
        except DecodeError as error:
            raise error.under(f"/tool_calls/{place - 1}") from None
    return parts


def _call(wire: ToolCallWire, ids: CallIdSource, reader: CallReader, path: str, *, cut_off: bool) -> Part:
    name = reader.name(wire)
    call_id, code = ids.assign(wire.id)
    if code is not None:
        reader.changes.add(code, f"{path}/id")
    reader.calls.append((call_id, bool(wire.id), name))
    text = reader.arguments(wire, path)
    if is_empty_arguments(text):  # a call comes whole even where the length limit ended the answer
        reader.changes.add("arguments_empty", f"{path}/arguments_json")
        cut_off = False
    return make_call(call_id, name, text, cut_off=cut_off, freeform=reader.freeform(name), extra=reader.members(wire))


# Writing


class AssistantEncoder:
    """Writes one assistant turn into one message: of a history, or of a `reply`.

    `own` says that the reply came in this dialect: arguments that are JSON but no lawful object go back as they came.
    """

    def __init__(
        self, changes: Changes, path: str, *, reply: bool = False, own: bool = False, first_call: int = 0
    ) -> None:
        """Losses go into `changes`, with paths under `path`; `first_call` calls of the turn are already told."""
        self.changes = changes
        self.notes: PartNotes = PartNotes(changes)
        self.path = path
        self.reply = reply
        self.own = own
        self.first_call = first_call
        self.texts: list[str] = []
        self.thinking: list[str] = []
        self.images: list[str] = []
        self.calls: list[ToolCallWire] = []

    def encode(self, parts: Sequence[Part]) -> MessageWire:
        """The message."""
        for place, part in enumerate(parts):
            self.add(part, place)
        return self.message()

    def add(self, part: Part, place: int) -> None:
        """Take one part, the one at `place`."""
        path = f"{self.path}/parts/{place}"
        if not self.notes.plain(part):
            self.notes.lost(part, path)
        self._part(part, path)

    def message(self) -> MessageWire:
        """The message of the parts so far."""
        return MessageWire(
            role="assistant",
            content="".join(self.texts),
            thinking="\n\n".join(self.thinking) or None,
            images=self.images or None,
            tool_calls=self.calls or None,
        )

    def _part(self, part: Part, path: str) -> None:
        match part:
            case TextPart(text=text):
                self._text(text, path)
            case ToolCall(arguments_json=text):
                self._call(part, text)
            case ThinkingPart(text=text):
                if text and (self.texts or self.calls):
                    self.changes.add("order_changed", path, "thinking is told before everything else")
                self.thinking.extend([text] if text else [])
            case RefusalPart(text=text):
                self.changes.add("refusal_as_text", path)
                self._text(text, path)
            case ImagePart():
                self.images.append(part.base64)
            case BrokenToolCall():
                self._broken(part, path)
            case ServerToolPart():
                self._step(part, path)
            case AudioPart() | DocumentPart() | ToolResult() | OpaquePart():
                self._refuse(part, path)

    def _call(self, part: ToolCall | BrokenToolCall, arguments: str) -> None:
        """A call on the wire; `arguments` is JSON and goes out as it is."""
        index = self.first_call + len(self.calls)
        wire = ToolCallWire(
            id=part.id, function=FunctionCallWire(index=index, name=part.name, arguments=Raw(arguments))
        )
        if NAME in part.extra:
            merge_members(wire, part.extra[NAME])
        self.calls.append(wire)

    def _text(self, text: str, path: str) -> None:
        if self.calls or self.images:
            self.changes.add("order_changed", path, "text is told before images and calls")
        self.texts.append(text)

    def _broken(self, part: BrokenToolCall, path: str) -> None:
        """A broken call as text, unless the wire said it in just this way."""
        if self.own and part.reason in ("duplicate_key", "not_object"):
            self._call(part, part.raw_arguments)
            return
        self.changes.add("broken_call_as_text", path, f"{part.name}: {part.reason}")
        self._text(f"{part.name}({part.raw_arguments})", path)

    def _step(self, part: ServerToolPart, path: str) -> None:
        """A step of a tool that a provider ran, in words; it is on the way to the answer, where the dialect has one."""
        if self.reply:
            self.thinking.append(answer_thinking(part, self.changes, path).text)
        else:
            self._text(history_text(part, self.changes, path).text, path)

    def _refuse(self, part: Part, path: str) -> None:
        """Refuse a part that an assistant message cannot hold, but write a transcript; a reply drops the part."""
        spoken = transcript_text(part, self.changes, path)
        if spoken is not None:
            self._text(spoken.text, path)
            return
        code = MEDIA_CODES.get(type(part), "opaque_part")
        detail = type(part).__name__
        if isinstance(part, OpaquePart):
            code = "media_refs" if part.kind == "media_ref" else "opaque_part"
            detail = f"{part.kind} of {part.dialect}"
        self.changes.add(code, path, detail, action="dropped" if self.reply else None)


def bare_turn(parts: Sequence[Part], changes: Changes, path: str) -> PlainTurnWire | None:
    """The message of thinking, a text and calls, in this order and with nothing beside them; None for any other.

    Members of calls that only other dialects know are noted, with paths under `path`.
    """
    thinking = text = ""
    calls: list[PlainCallWire] = []
    has_foreign = False
    for part in parts:
        if type(part) is ToolCall and part.sealed is None and NAME not in part.extra:
            function = PlainFunctionWire(len(calls), part.name, Raw(part.arguments_json))
            calls.append(PlainCallWire(part.id, None, function))
            has_foreign = has_foreign or bool(part.extra)
        elif type(part) is TextPart and not (
            text or calls or part.cache or part.annotations or part.sealed or part.extra
        ):
            text = part.text
        elif type(part) is ThinkingPart and not (thinking or text or calls or part.sealed or part.extra):
            thinking = part.text
        else:
            return None
    for place, part in enumerate(parts if has_foreign else ()):
        if type(part) is ToolCall:
            note_foreign(changes, part.extra, f"{path}/parts/{place}")
    return PlainTurnWire(text, thinking or None, calls or None)
