"""The assistant's turn, both ways, in histories and in answers.

Rules
- Blocks keep their order: thinking, text and calls interleave.
- `thinking` with its signature and `redacted_thinking` with its data are sealed, byte-exact, and go back only to their
  issuer. Thinking without a seal cannot be sent to a service; an answer may hold it.
- The `input` of a call keeps its exact text, so that a cached prefix stays the same bytes.
- Blocks of tools that the provider runs stay where they are, and so do those of kinds that are not known, opaque.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Raw

from interlingua.dialects._members import members_of, merge_members, passing, plain
from interlingua.dialects._seals import note_seal, seal_fits
from interlingua.dialects._steps import answer_thinking, at_home, history_text
from interlingua.dialects._transcripts import transcript_text
from interlingua.dialects.anthropic.marks import decode_mark
from interlingua.dialects.anthropic.parts import NAME, block_of, decode_block, is_bare, opaque_block
from interlingua.dialects.anthropic.steps import is_step, read_step
from interlingua.dialects.anthropic.wire import BlockWire
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.stream.calls import is_empty_arguments, make_call
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    Sealed,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.wire.arguments import are_sound
from interlingua.wire.json import decode_any, raw_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from interlingua.dialects._contract import Target, Undo
    from interlingua.dialects._turns import Turns
    from interlingua.dialects.anthropic.parts import BlockEncoder
    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = [
    "AssistantDecoder",
    "AssistantEncoder",
    "call_extra",
    "is_redacted",
    "media_note",
    "seal_of",
    "signature_of",
    "thinking_block",
]

MEDIA_CODES: dict[type, str] = {ImagePart: "images", AudioPart: "audio", DocumentPart: "documents"}
SIGNATURE, REDACTED = "signature", "data"
"""The member that seals a thinking block, and the one that a redacted block is."""


# Reading


def seal_of(wire: BlockWire, target: Target) -> Sealed | None:
    """The seal of a thinking block; None for one that is not signed."""
    name = REDACTED if wire.type == "redacted_thinking" else SIGNATURE
    value = getattr(wire, name)
    return Sealed(NAME, {name: value}, target.provider or None, target.model or None) if value else None


class AssistantDecoder:
    """Reads assistant turns."""

    __slots__ = ("called", "changes", "history", "ids", "place", "target", "undo")

    def __init__(
        self, ids: CallIdSource, target: Target, undo: Undo, changes: Changes, history: Turns | None = None
    ) -> None:
        """`ids` gives the calls their ids, `target` is who said it, `undo` what the request had mapped.

        A turn of a history stands behind the messages of `history`.
        """
        self.ids: CallIdSource = ids
        self.target: Target = target
        self.undo: Undo = undo
        self.changes: Changes = changes
        self.history: Turns | None = history
        self.called: dict[str, str] = {}
        """Id and tool of the calls that were read."""
        self.place = 0

    def decode(self, content: str | Sequence[BlockWire] | None, *, cut_off: bool = False) -> list[Part]:
        """The parts of a turn; `cut_off` says that the length limit ended it.

        Raises: DecodeError, with a path inside the message.
        """
        if isinstance(content, str):
            return [TextPart(content)] if content else []
        parts: list[Part] = []
        blocks = content or ()
        last = len(blocks) - 1 if cut_off else -1
        for place, wire in enumerate(blocks):
            kind = wire.type
            if kind == "text" and wire.text and wire.citations is wire.cache_control is wire.extra is None:
                parts.append(TextPart(wire.text))
                continue
            self.place: int = len(parts)
            try:
                part = self._call(wire, cut_off=place == last) if kind == "tool_use" else self._part(wire)
            except DecodeError as error:
                raise error.under(f"/content/{place}") from None
            if part is not None:
                parts.append(part)
        return parts

    def _part(self, wire: BlockWire) -> Part | None:
        match wire.type:
            case "thinking" | "redacted_thinking":
                if wire.cache_control is not None:
                    self.changes.add("cache_unsupported", self._here(), "thinking takes no cache mark")
                return ThinkingPart(wire.thinking or "", seal_of(wire, self.target), members_of(wire, NAME))
            case kind if is_step(kind):
                return read_step(plain(wire), self.target.provider or None, decode_mark(wire))
            case _:
                return decode_block(wire)

    def _here(self, member: str = "") -> str:
        message = "" if self.history is None else f"/messages/{len(self.history)}"
        return f"{message}/parts/{self.place}{member}"

    def _call(self, wire: BlockWire, *, cut_off: bool) -> Part:
        if not wire.name:
            raise DecodeError("a tool call must have a name", path="/name")
        call_id, code = self.ids.assign(wire.id)
        if code is not None:
            self.changes.add(code, self._here("/id"))
        name, undo = wire.name, self.undo
        if undo.names:
            name = undo.names.get(name, name)
        self.called[call_id] = name
        text, freeform = "" if wire.input is UNSET else str(wire.input, "utf-8"), name in undo.freeform
        extra = {} if wire.caller is wire.cache_control is wire.extra is None else call_extra(wire)
        if not cut_off and are_sound(text):
            return ToolCall(call_id, name, text, freeform, None, extra)
        if text[:1] == '"':  # as other dialects have it
            self.changes.add("foreign_shape", self._here("/arguments_json"), "the input is text")
            text = raw_text(text.encode())
        if cut_off and text.strip() == "{}":  # it begins so, and nobody knows whether arguments were to come
            text = ""
        if not cut_off and is_empty_arguments(text):
            self.changes.add("arguments_empty", self._here("/arguments_json"))
        return make_call(call_id, name, text, cut_off=cut_off, freeform=freeform, extra=extra)


def call_extra(wire: BlockWire) -> dict[str, dict[str, Any]]:
    """The members of a call without a field."""
    extra = _beside_a_call(wire)
    return {NAME: extra} if extra else {}


_beside_a_call = passing("caller", "cache_control")


# Writing


def signature_of(part: ThinkingPart) -> str:
    """The signature of a thinking block; empty for one that this dialect did not sign."""
    sealed = part.sealed
    return str(sealed.data.get(SIGNATURE, "")) if sealed is not None and sealed.dialect == NAME else ""


def is_redacted(part: ThinkingPart) -> bool:
    """Whether a part came as a block that nobody may read."""
    sealed = part.sealed
    return sealed is not None and sealed.dialect == NAME and REDACTED in sealed.data


def thinking_block(part: ThinkingPart) -> BlockWire:
    """Thinking as the block that it came in; unsigned thinking has an empty signature."""
    if part.sealed is not None and is_redacted(part):
        wire = BlockWire(type="redacted_thinking")
        merge_members(wire, part.sealed.data)
    else:
        wire = BlockWire(type="thinking", thinking=part.text, signature=signature_of(part))
    if part.extra:
        merge_members(wire, part.extra.get(NAME, {}))
    return wire


def media_note(part: ImagePart | AudioPart | DocumentPart) -> str:
    """The text that stands where an answer holds media that the wire cannot say."""
    return f"[{part.media_type}, {part.size_bytes} bytes]"


class AssistantEncoder:
    """Writes assistant turns; a `reply` is an answer to a client, else it is a turn of a history."""

    def __init__(
        self,
        blocks: BlockEncoder,
        target: Target,
        changes: Changes,
        names: Mapping[str, str] | None = None,
        ids: Mapping[str, str] | None = None,
        *,
        reply: bool,
        own: bool = False,
    ) -> None:
        """`names` and `ids` map the caller's own names and ids to those of the wire; an `own` reply came so."""
        self.blocks = blocks
        self.target = target
        self.changes = changes
        self.names: Mapping[str, str] | dict[str, str] = names or {}
        self.ids: Mapping[str, str] | dict[str, str] = ids or {}
        self.reply = reply
        self.own = own
        self.is_bare: bool = True
        """Whether there is nothing in the turns but texts and calls."""

    def encode(self, parts: Sequence[Part], path: str) -> list[BlockWire]:
        """The blocks of one turn, in order."""
        wires: list[BlockWire] = []
        ids, names = self.ids, self.names
        for place, part in enumerate(parts):
            if type(part) is ToolCall and not (part.sealed or part.extra):
                call_id, name = ids.get(part.id, part.id), names.get(part.name, part.name)
                wires.append(BlockWire(type="tool_use", id=call_id, name=name, input=Raw(part.arguments_json)))
            elif type(part) is TextPart and is_bare(part):
                wires.append(BlockWire(type="text", text=part.text))
            else:
                self.is_bare = False
                wire = self.part(part, f"{path}/parts/{place}")
                if wire is not None:
                    wires.append(wire)
        return wires

    def part(self, part: Part, path: str) -> BlockWire | None:
        """The block of one part; None when it has no place."""
        writer = _WRITERS.get(type(part))
        return writer(self, part, path) if writer is not None else self.blocks.encode(part, path)

    def call(self, part: ToolCall, path: str) -> BlockWire:
        """A call; its input is the very text of its arguments."""
        if part.sealed is not None:
            note_seal(self.changes, part.sealed, path)
        return self._call(part, part.arguments_json, path)

    def broken(self, part: BrokenToolCall, path: str) -> BlockWire | None:
        """A broken call: as it is where that is JSON, else sent as text, so that nobody runs it."""
        if self.own and not part.raw_arguments:
            return self._call(part, "{}", path)
        if part.reason in ("not_object", "duplicate_key") and _is_json(part.raw_arguments):
            return self._call(part, part.raw_arguments, path)
        self.changes.add("broken_call_as_text", path, f"{part.name}: {part.reason}")
        return BlockWire(type="text", text=f"{part.name}({part.raw_arguments})")

    def _call(self, part: ToolCall | BrokenToolCall, text: str, path: str) -> BlockWire:
        call_id, name = self.ids.get(part.id, part.id), self.names.get(part.name, part.name)
        wire = BlockWire(type="tool_use", id=call_id, name=name, input=Raw(text))
        if part.extra:
            self.blocks.finish(wire, part, path)
        return wire

    def thinking(self, part: ThinkingPart, path: str) -> BlockWire | None:
        """Thinking that its issuer, or a client, may have."""
        sealed = part.sealed
        if self.reply:
            if sealed is not None and sealed.dialect != NAME:
                note_seal(self.changes, sealed, path)
            return thinking_block(part) if part.text or (sealed is not None and sealed.dialect == NAME) else None
        if sealed is not None and not seal_fits(sealed, NAME, self.target):
            note_seal(self.changes, sealed, path, self.target)
            sealed = None
        if sealed is None and self.target.quirks.reasoning_echo != "always":
            if part.text:
                self.changes.add("thinking_unsupported", path, "thinking without a signature is refused")
            return None
        wire = thinking_block(part)
        if wire.cache_control is not None:
            self.changes.add("cache_unsupported", path, "thinking takes no cache mark")
            wire.cache_control = None
        return wire

    def media(self, part: ImagePart | AudioPart | DocumentPart, path: str) -> BlockWire | None:
        """Media of an assistant, which the wire cannot say: the transcript, a note to a client, else refused."""
        if isinstance(part, ImagePart) and part.sealed is not None:
            note_seal(self.changes, part.sealed, path)
        transcript = transcript_text(part, self.changes, path)
        if transcript is not None:
            return BlockWire(type="text", text=transcript.text)
        if self.reply:
            self.changes.add("media_as_text", path, "an answer of this dialect has no media")
            return BlockWire(type="text", text=media_note(part))
        self.changes.add(MEDIA_CODES[type(part)], path, "an assistant's message holds no media")
        return None

    def step(self, part: ServerToolPart, path: str) -> BlockWire | None:
        """A step of a tool that the service ran, as it came; one of another provider in words."""
        if at_home(part, NAME, self.target):
            wire = block_of(part.raw)
            if not self.reply:
                self.blocks.finish(wire, part, path)
            return wire
        if self.reply:
            return self.thinking(answer_thinking(part, self.changes, path), path)
        block = history_text(part, self.changes, path)  # the last block may not end with white space
        return self.blocks.encode(msgspec.structs.replace(block, text=block.text.rstrip()), path)

    def opaque(self, part: OpaquePart, path: str) -> BlockWire | None:
        """A block that came unread; one of another dialect has no place."""
        if not self.reply:
            return self.blocks.encode(part, path)
        wire = opaque_block(part)
        if wire is None:
            self.changes.add("opaque_part", path, f"{part.kind} of {part.dialect}", action="dropped")
        return wire


def _is_json(text: str) -> bool:
    try:
        decode_any(text)
    except (DecodeError, LimitExceededError):
        return False
    return True


_WRITERS: dict[type, Callable[[AssistantEncoder, Any, str], BlockWire | None]] = {
    ToolCall: AssistantEncoder.call,
    BrokenToolCall: AssistantEncoder.broken,
    ThinkingPart: AssistantEncoder.thinking,
    ImagePart: AssistantEncoder.media,
    AudioPart: AssistantEncoder.media,
    DocumentPart: AssistantEncoder.media,
    ServerToolPart: AssistantEncoder.step,
    OpaquePart: AssistantEncoder.opaque,
}
