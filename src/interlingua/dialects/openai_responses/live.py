"""One item of a stream while it grows: what its events say, as blocks of the builder.

Strategy: the stream decoder finds the item of an event and calls the method that the event is about. Each kind of item
knows how it opens, grows and settles; `done` payloads fill in what the deltas left out.

Rules
- Where both came, the done payload must begin with what the deltas said; what is more is added. For the arguments of a
  call anything else is an error, unless both are the same JSON.
- An empty payload after something else says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects._members import plain
from interlingua.dialects._openai.calls import arguments_text, clean_name
from interlingua.dialects._openai.citations import read_annotation
from interlingua.dialects._parallel import inner_calls, is_wrapper
from interlingua.dialects.openai_responses.assistant import (
    FREEFORM_END,
    item_kind,
    item_members,
    picture,
    reasoning_text,
    text_of,
    unread,
)
from interlingua.dialects.openai_responses.parts import NAME, decode_part
from interlingua.dialects.openai_responses.wire import ItemWire
from interlingua.errors import DecodeError
from interlingua.stream.calls import decoded_twice, is_empty_arguments
from interlingua.types.content import AudioPart, OpaquePart, RefusalPart, Sealed, TextPart
from interlingua.wire.json import decode_any, encode_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeContext
    from interlingua.dialects.openai_responses.wire import PartWire
    from interlingua.stream.build import Block, StreamBuilder
    from interlingua.types.event import BlockKind

__all__ = ["CallItem", "Item", "MessageItem", "OtherItem", "ReasoningItem", "open_item"]

FREEFORM_START = '{"input":"'
"""The beginning of the arguments of a freeform call."""
BREAK = "\n\n"
"""The break between the summaries of one piece of reasoning."""


class Item:
    """The state of every item: its first form, and the builder that it speaks to."""

    __slots__ = ("block", "builder", "context", "settled", "wire")

    def __init__(self, wire: ItemWire, builder: StreamBuilder, context: DecodeContext) -> None:
        """An item as `response.output_item.added` shows it."""
        self.wire: ItemWire = wire
        self.builder: StreamBuilder = builder
        self.context: DecodeContext = context
        self.block: Block | None = None
        self.settled: bool = False

    def _keep(self, block: Block) -> Block:
        """Make `block` the one that grows."""
        self.block = block
        return block

    def sealed(self, data: dict[str, Any]) -> Sealed:
        """A seal of whoever answers."""
        target = self.context.target
        return Sealed(NAME, data, target.provider or None, target.model or None)

    def settle(self, wire: ItemWire) -> None:
        """The item is whole."""
        part = unread(wire, self.context.target)
        self.builder.whole(part, "opaque" if isinstance(part, OpaquePart) else "server_tool")

    def final_wire(self) -> ItemWire:
        """The item as it was when it was over; a step of a tool of the service is where it was."""
        if self.wire.status == "in_progress" and item_kind(self.wire) in KINDS:
            self.wire.status = None
        return self.wire

    def abandon(self) -> None:
        """The answer is whole, and nobody said that the item is: it is what was seen of it."""
        self.settle(self.final_wire())


class OtherItem(Item):
    """An item that the client only passes on; a generated picture is an image."""

    def settle(self, wire: ItemWire) -> None:
        """The item is whole: an image where it holds a picture, else opaque."""
        image = picture(plain(wire), self.sealed) if item_kind(wire) == "image_generation_call" else None
        if image is not None:
            self.builder.whole(image, "image")
        else:
            super().settle(wire)


class MessageItem(Item):
    """A message: each content part is a block."""

    __slots__ = ("_content_places", "_first", "_place")

    def __init__(self, wire: ItemWire, builder: StreamBuilder, context: DecodeContext) -> None:
        """A message without content so far."""
        super().__init__(wire, builder, context)
        self._first: Block | None = None
        self._content_places: set[int] = set()
        self._place = -1

    def _members(self, *, settled: bool = False) -> dict[str, Any]:
        members = {**item_members(self.wire), **(self.wire.extra or {})}
        if not settled:
            members.pop("status", None)
        return members

    def _opened(self, kind: BlockKind, place: int) -> Block:
        """The block of a content part, opened when it is another than before."""
        block = self.block
        if block is not None and block.part is None and self._place == place and block.kind == kind:
            return block
        if block is not None:
            self.builder.close_beside(block)
        self._place = place
        self._content_places.add(place)
        members = self._members()
        if kind == "text":
            block = self.builder.open_beside(kind)
            self.builder.seal(block, self.sealed(members))
        else:
            block = self.builder.open_beside(kind, extra={NAME: {"item": members}} if members else None)
        self._first = self._first or block
        return self._keep(block)

    def say(self, kind: BlockKind, place: int, text: str) -> None:
        """More of a text or a refusal."""
        self.builder.grow(self._opened(kind, place), text)

    def whole_text(self, kind: BlockKind, place: int, text: str) -> None:
        """All of a text or a refusal."""
        block = self._opened(kind, place)
        self.builder.grow(block, _rest(block, text))

    def annotate(self, place: int, annotation: dict[str, Any]) -> None:
        """One more annotation."""
        self.builder.annotate(self._opened("text", place), read_annotation(NAME, annotation))

    def begin(self, place: int, wire: PartWire) -> None:
        """A content part begins."""
        if wire.type in ("output_text", "text"):
            self._opened("text", place)
        elif wire.type == "refusal":
            self._opened("refusal", place)

    def part(self, place: int, wire: PartWire) -> None:
        """A content part is whole."""
        part = decode_part(wire)
        if isinstance(part, TextPart):
            self.whole_text("text", place, part.text)
            block = self.block
            if block is not None:
                for annotation in part.annotations[len(block.annotations) :]:
                    self.builder.annotate(block, annotation)
                block.extra = part.extra
        elif isinstance(part, RefusalPart):
            self.whole_text("refusal", place, part.text)
            if self.block is not None and part.extra:
                self.block.extra = {NAME: {**self.block.extra.get(NAME, {}), **part.extra[NAME]}}
        elif isinstance(part, AudioPart) and place not in self._content_places:
            self._content_places.add(place)
            own = {**part.extra.get(NAME, {}), **({"item": members} if (members := self._members()) else {})}
            self.builder.whole(replace(part, extra={NAME: own}), "audio")
        elif isinstance(part, OpaquePart) and place not in self._content_places:
            self._content_places.add(place)
            raw = {"part": part.raw, "item": self._members()}
            self.builder.whole(OpaquePart(NAME, "content_part", raw), "opaque")

    def settle(self, wire: ItemWire) -> None:
        """The message is whole: parts that were never streamed, and members that have changed."""
        self.wire = wire
        content = wire.content
        parts = content if isinstance(content, list) else []
        for place, part in zip(self._places(parts), parts, strict=True):
            if place not in self._content_places or place == self._place:
                self.part(place, part)
        if isinstance(content, str) and not self._content_places:
            self.whole_text("text", 0, content)
        block = self.block
        if block is not None:
            members = self._members(settled=True)
            if block.part is None and block.kind == "text":
                if block.sealed is None or block.sealed.data != members:
                    self.builder.seal(block, self.sealed(members))
            elif block.part is None and members:
                block.extra = {NAME: {**block.extra.get(NAME, {}), "item": members}}
            self.builder.close_beside(block)
        elif not self._content_places:
            super().settle(wire)

    def _places(self, parts: list[PartWire]) -> Sequence[int]:
        """The streamed places of a whole message's parts: some servers do not begin to count at 0 (vLLM, gpt-oss)."""
        streamed, count = sorted(self._content_places), len(parts)
        first = self._first
        if first is None or 0 in self._content_places or (streamed[-1] < count and _rest(first, parts[0].text or "")):
            return range(count)
        after = streamed[-1] + 1
        return [*streamed, *range(after, after + count)][:count]


class ReasoningItem(Item):
    """A piece of reasoning: its summaries, or else its content, make one block."""

    __slots__ = ("_member", "_place")

    def __init__(self, wire: ItemWire, builder: StreamBuilder, context: DecodeContext) -> None:
        """Reasoning without a word so far; its block opens at once, since it may be sealed after what it led to."""
        super().__init__(wire, builder, context)
        self._member = ""
        self._place = -1
        self._opened()

    def _opened(self) -> Block:
        block = self.block
        if block is None or block.part is not None:
            extra = {NAME: {"id": self.wire.id}} if self.wire.id is not None else None
            block = self._keep(self.builder.open_beside("thinking", extra=extra))
            block.extra = {}  # the seal will say it
        return block

    def text(self, member: str, place: int, text: str) -> None:
        """More of a `summary` or of the `content`; what comes second of the two is not told again."""
        if self._member not in ("", member):
            return
        self._member = member
        block = self._opened()
        if place != self._place and block.pieces:
            self.builder.grow(block, BREAK)
        self._place = place
        self.builder.grow(block, text)

    def whole_text(self, member: str, place: int, text: str) -> None:
        """All of a summary or of a content part, where its deltas did not come."""
        if text and (self._member, self._place) != (member, place):
            self.text(member, place, text)

    def settle(self, wire: ItemWire) -> None:
        """The reasoning is whole and sealed."""
        item = plain(wire)
        block = self._opened()
        self.builder.grow(block, _rest(block, reasoning_text(item)))
        self.builder.seal(block, self.sealed(item))
        self.builder.close_beside(block)


class CallItem(Item):
    """A call that the client must answer."""

    __slots__ = ("_arguments", "_pending", "freeform", "quoted")

    def __init__(self, wire: ItemWire, builder: StreamBuilder, context: DecodeContext) -> None:
        """A call without arguments so far; its block opens when its name is known, and its id or its arguments."""
        super().__init__(wire, builder, context)
        self.freeform: bool = item_kind(wire) == "custom_tool_call"
        self.quoted: bool = False
        """Whether its arguments begin as a text: they are told when they are whole, since they may be encoded twice."""
        self._pending: list[str] = []
        self._arguments = ""
        if wire.name and wire.call_id and not is_wrapper(wire.name, context.undo):
            self._open()

    def _open(self) -> Block:
        wire = self.wire
        if not wire.name:
            raise DecodeError("a tool call never got a name")
        path = f"{self.builder.next_path()}/name"
        name = clean_name(wire.name, self.context.undo, self.builder.changes, path)
        freeform = self.freeform or name in self.context.undo.freeform
        block = self._keep(self.builder.open_call(wire.call_id, name, freeform=freeform))
        members = item_members(wire)
        members.pop("status", None)  # it is not settled yet
        if members:
            self.builder.seal(block, self.sealed(members))
        if self.freeform:
            self.builder.call_arguments(block, FREEFORM_START)
        pieces, self._pending = "".join(self._pending), []
        self._say(pieces)
        return block

    def _say(self, text: str) -> None:
        if self.block is None:
            self._pending.append(text)
            return
        if text and self.block.part is not None:
            raise DecodeError(f"more arguments of {self.wire.name!r}, a call that is whole")
        self._arguments += text
        self.quoted = self.quoted or (self._arguments[:1] == '"' and not self.freeform)
        if self.quoted:
            return
        self.builder.call_arguments(self.block, encode_text(text)[1:-1].decode() if self.freeform else text)

    def tell_quoted(self) -> None:
        """Say the arguments that were held back, as far as they came: as the object that they are the text of."""
        block = self.block
        if block is None or not self.quoted:
            return
        self.quoted = False
        text = decoded_twice(self._arguments)
        if text is not None:
            self.builder.changes.add("arguments_twice", f"{block.path}/arguments_json")
        self.builder.call_arguments(block, self._arguments if text is None else text)

    def grow(self, text: str) -> None:
        """More of the arguments, or of the input."""
        if self.block is None and self.wire.name and not is_wrapper(self.wire.name, self.context.undo):
            self._open()
        self._say(text)

    def whole_text(self, text: str) -> None:
        """All of the arguments, or of the input."""
        sent = self._arguments if self.block is not None else "".join(self._pending)
        if text == sent or (sent and (text.strip() == "{}" or is_empty_arguments(text))):
            return
        if text.startswith(sent):
            self.grow(text[len(sent) :])
        elif self.freeform or not _same_json(sent, text):
            raise DecodeError(f"the arguments of {self.wire.name!r} are not what their pieces add up to")

    def settle(self, wire: ItemWire) -> None:
        """The call is whole."""
        earlier = self.wire
        self.wire = wire
        wire.name, wire.call_id = wire.name or earlier.name, wire.call_id or earlier.call_id
        if self._is_apart(wire):
            return
        block = self.block or self._open()
        if self.freeform:
            self.whole_text(text_of(wire.input))
            if wire.status != "incomplete":
                self.builder.call_arguments(block, FREEFORM_END)
        else:
            text, was_object = arguments_text(wire.arguments)
            self.whole_text(text)
            if self.quoted:
                self.tell_quoted()
            if was_object:
                self.builder.changes.add("arguments_object", f"{block.path}/arguments_json")
        members = item_members(wire)
        if members and (block.sealed is None or block.sealed.data != members):
            self.builder.seal(block, self.sealed(members))
        if wire.extra:
            block.extra = {NAME: dict(wire.extra)}
        if members:  # a broken one keeps in `extra` what a whole call is sealed with
            block.broken_extra = {NAME: {**block.extra.get(NAME, {}), "item": members}}
        block.cut_off = wire.status == "incomplete"
        self.builder.close_call(block)

    def _is_apart(self, wire: ItemWire) -> bool:
        """Whether the call wraps others, which are told in its place, the first with its id."""
        name, undo = wire.name or "", self.context.undo
        if self.block is not None or self.freeform or not is_wrapper(name, undo):
            return False
        text = arguments_text(wire.arguments)[0] or "".join(self._pending)
        inner = inner_calls(name, text, undo)
        if inner:
            self.builder.changes.add("calls_expanded", self.builder.next_path(), f"{name} with {len(inner)} calls")
        for place, call in enumerate(inner):
            call_id = None if place else wire.call_id
            block = self._keep(self.builder.open_call(call_id, call.name, freeform=call.name in undo.freeform))
            self.builder.call_arguments(block, call.arguments_json)
            self.builder.close_call(block)
        return bool(inner)

    def abandon(self) -> None:
        """The arguments are what the deltas said; a call that never got a name is an error."""
        if self.block is None:
            self._open()
        self.tell_quoted()


def _rest(block: Block, text: str) -> str:
    """The part of a whole text that was not sent yet; nothing where it begins otherwise, since sent text stays sent."""
    sent = block.content
    return text[len(sent) :] if text.startswith(sent) else ""


def _same_json(one: str, other: str) -> bool:
    try:
        return bool(decode_any(one) == decode_any(other))
    except DecodeError:
        return False


KINDS: dict[str, type[Item]] = {
    "message": MessageItem,
    "reasoning": ReasoningItem,
    "function_call": CallItem,
    "custom_tool_call": CallItem,
}


def open_item(wire: ItemWire, builder: StreamBuilder, context: DecodeContext) -> Item:
    """The item that `response.output_item.added` opens."""
    return KINDS.get(item_kind(wire), OtherItem)(wire, builder, context)
