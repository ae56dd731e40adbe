"""The assistant's turn, both ways: one mapping for a history, a whole reply, and what a stream adds up to.

Rules
- Each content part of a message is a part of its own; the seal of a text has the members of the message around it, and
  neighbours with the same `id` become one message again.
- A piece of reasoning is sealed whole. Where its seal does not fit, the ids of what came with it do not fit either.
- The status `completed` is what not saying it means.
- The step of a tool that the service runs is a part of its own; an item of any other kind is opaque, verbatim, in its
  place; a generated picture is an image sealed with its item.
Loss: thinking without our seal has no place in a history; in a reply it is sent as a summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from interlingua.dialects._contract import Target, Undo
from interlingua.dialects._members import is_list, is_object, plain
from interlingua.dialects._openai.calls import arguments_text, clean_name, freeform_arguments, repaired_arguments
from interlingua.dialects._parallel import WRAPPERS, inner_calls, is_wrapper
from interlingua.dialects.openai_responses.parts import NAME, SPOKEN, decode_content
from interlingua.dialects.openai_responses.steps import is_step, read_step
from interlingua.dialects.openai_responses.wire import ItemWire
from interlingua.errors import DecodeError
from interlingua.stream.calls import make_call
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    ImagePart,
    OpaquePart,
    RefusalPart,
    Sealed,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.wire.arguments import are_sound
from interlingua.wire.json import encode_text, raw_text
from interlingua.wire.media import text_data

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = [
    "CALLS",
    "FREEFORM_END",
    "ItemDecoder",
    "item_kind",
    "item_members",
    "message_members",
    "picture",
    "reasoning_text",
    "text_of",
    "unread",
]

CALLS = frozenset({"function_call", "custom_tool_call"})
"""The items that the client must answer."""
COMPLETED = "completed"
FREEFORM_END = '"}'
"""The end of the arguments of a freeform call."""


def item_kind(wire: ItemWire) -> str:
    """The kind of an item; a role alone makes a message, an id alone a reference."""
    return wire.type or ("message" if wire.role is not None else "item_reference")


def item_members(wire: ItemWire) -> dict[str, Any]:
    """The members of a message or a call besides what it says."""
    members: dict[str, Any] = {}
    if wire.id is not None:
        members["id"] = wire.id
    if wire.status is not None and wire.status != COMPLETED:
        members["status"] = wire.status
    if wire.phase is not None:
        members["phase"] = wire.phase
    return members


def message_members(wire: ItemWire) -> dict[str, Any]:
    """The members of a message besides what it says: all that are no member of the wire among them."""
    members = {**item_members(wire), **(wire.extra or {})}
    if wire.name is not None:
        members["name"] = wire.name
    return members


def unread(wire: ItemWire, target: Target) -> OpaquePart | ServerToolPart:
    """An item that is no message, call or reasoning: the step of a tool of the service, or opaque."""
    kind, raw = item_kind(wire), plain(wire)
    return read_step(raw, kind, target.provider or None) if is_step(kind) else OpaquePart(NAME, kind, raw)


class ItemDecoder:
    """Reads the items of the assistant; `path` points to the value whose `parts` they become."""

    __slots__ = ("changes", "cut_off", "ids", "parts", "path", "target", "undo")

    def __init__(
        self,
        ids: CallIdSource,
        changes: Changes,
        path: str = "",
        target: Target | None = None,
        undo: Undo | None = None,
    ) -> None:
        """`ids` gives the calls their ids, `target` is who said it, `undo` what the request had mapped."""
        self.ids: CallIdSource = ids
        self.changes: Changes = changes
        self.path: str = path
        self.target: Target = target or Target()
        self.undo: Undo = undo or Undo()
        self.parts: list[Part] = []
        self.cut_off: bool = False

    def decode(self, wire: ItemWire) -> None:
        """Read one item into `parts`.

        Raises: DecodeError, with a path inside the item.
        """
        before = len(self.parts)
        _READERS.get(item_kind(wire), _unknown)(self, wire)
        if len(self.parts) == before:
            self.opaque(wire)

    def sealed(self, data: dict[str, Any]) -> Sealed:
        """A seal of whoever answers."""
        return Sealed(NAME, data, self.target.provider or None, self.target.model or None)

    def opaque(self, wire: ItemWire) -> None:
        """An item that is nothing but what its own service makes of it, verbatim."""
        self.parts.append(unread(wire, self.target))

    def message(self, wire: ItemWire) -> None:
        """A message: one part for each of its contents; its members are in the seal of a text."""
        content = wire.content
        is_bare = wire.id is wire.phase is wire.name is wire.extra is None and wire.status in (None, COMPLETED)
        members = {} if is_bare else message_members(wire)
        if isinstance(content, str) and content and not members:
            self.parts.append(TextPart(content))
            return
        parts = [TextPart(content)] if isinstance(content, str) else decode_content(content)
        # Without an id it could be taken for a part of the message before it.
        follows = "id" not in members and bool(self.parts) and isinstance(self.parts[-1], TextPart | RefusalPart)
        for place, part in enumerate(parts):
            self.parts.append(self._content(part, members, first=follows and place == 0))

    def _content(self, part: Part, members: dict[str, Any], *, first: bool) -> Part:
        own: dict[str, Any] = {"new_item": True} if first else {}
        match part:
            case TextPart(extra=extra):
                own = {**extra.get(NAME, {}), **own}
                return replace(part, sealed=self.sealed(members), extra={NAME: own} if own else {})
            case RefusalPart(extra=extra) | AudioPart(extra=extra) if (
                isinstance(part, RefusalPart) or SPOKEN in extra.get(NAME, {})  # sound that goes in is no answer
            ):
                own = {**extra.get(NAME, {}), **own, **({"item": members} if members else {})}
                return replace(part, extra={NAME: own} if own else {})
            case OpaquePart(raw=raw):
                return OpaquePart(NAME, "content_part", {"part": raw, "item": members, **own})
            case _:
                raise DecodeError(f"an assistant message holds no {type(part).__name__}", path="/content")

    def reasoning(self, wire: ItemWire) -> None:
        """A piece of reasoning, sealed whole."""
        item = plain(wire)
        self.parts.append(ThinkingPart(reasoning_text(item), self.sealed(item)))

    def call(self, wire: ItemWire) -> None:
        """A call that the client must answer, or those that it wraps."""
        if wire.name in WRAPPERS:
            for one in self._apart(wire):
                self._call(one)
        else:
            self._call(wire)

    def _apart(self, wire: ItemWire) -> list[ItemWire]:
        """The calls that a call wraps, the first with its id; the call itself where it wraps none."""
        name = wire.name or ""
        if not is_wrapper(name, self.undo) or item_kind(wire) != "function_call":
            return [wire]
        inner = inner_calls(name, arguments_text(wire.arguments)[0], self.undo)
        if not inner:
            return [wire]
        self.changes.add("calls_expanded", f"{self.path}/parts/{len(self.parts)}", f"{name} with {len(inner)} calls")
        ids = [wire.call_id, *[None] * (len(inner) - 1)]
        return [
            ItemWire(type=wire.type, call_id=call_id, name=one.name, arguments=Raw(encode_text(one.arguments_json)))
            for call_id, one in zip(ids, inner, strict=True)
        ]

    def _call(self, wire: ItemWire) -> None:
        freeform = wire.type == "custom_tool_call"
        if not wire.name:
            raise DecodeError("a tool call must have a name", path="/name")
        here = f"{self.path}/parts/{len(self.parts)}"
        call_id, code = self.ids.assign(wire.call_id)
        if code is not None:
            self.changes.add(code, f"{here}/id")
        if freeform:
            text = freeform_arguments(text_of(wire.input))
            if wire.status == "incomplete":  # one that was cut off stays open
                text = text.removesuffix(FREEFORM_END)
        else:
            text, was_object = arguments_text(wire.arguments)
            if was_object:
                self.changes.add("arguments_object", f"{here}/arguments_json")
        if text[:1] != "{":
            text = repaired_arguments(text, self.changes, f"{here}/arguments_json", cut_off=self.cut_off)
        name = wire.name
        if name not in self.undo.tool_names and (self.undo.names or "<|" in name):
            name = clean_name(name, self.undo, self.changes, f"{here}/name")
        freeform = freeform or name in self.undo.freeform
        members = item_members(wire)
        sealed = self.sealed(members) if members else None
        extra: dict[str, dict[str, Any]] = {NAME: dict(wire.extra)} if wire.extra else {}
        if are_sound(text):
            self.parts.append(ToolCall(call_id, name, text, freeform, sealed, extra))
            return
        part = make_call(call_id, name, text, cut_off=self.cut_off, freeform=freeform, sealed=sealed, extra=extra)
        if members and isinstance(part, BrokenToolCall):
            part = replace(part, extra={NAME: {**(wire.extra or {}), "item": members}})
        self.parts.append(part)

    def image(self, wire: ItemWire) -> None:
        """A generated picture."""
        part = picture(plain(wire), self.sealed)
        if part is not None:
            self.parts.append(part)


def _unknown(decoder: ItemDecoder, wire: ItemWire) -> None:
    decoder.opaque(wire)


_READERS: dict[str, Callable[[ItemDecoder, ItemWire], None]] = {
    "message": ItemDecoder.message,
    "reasoning": ItemDecoder.reasoning,
    "function_call": ItemDecoder.call,
    "custom_tool_call": ItemDecoder.call,
    "image_generation_call": ItemDecoder.image,
}


def text_of(text: Raw | UnsetType) -> str:
    """The string that a member is; empty where it is absent or null.

    Raises: DecodeError for anything else.
    """
    return "" if text is UNSET or bytes(text) == b"null" else raw_text(text)


def reasoning_text(item: dict[str, Any]) -> str:
    """The readable text of a reasoning item: its summaries, or else its content, blocks parted by a blank line."""
    return "\n\n".join(_texts(item.get("summary")) or _texts(item.get("content")))


def _texts(parts: object) -> list[str]:
    items: Sequence[object] = parts if is_list(parts) else ()
    return [part["text"] for part in items if is_object(part) and isinstance(part.get("text"), str)]


def picture(item: dict[str, Any], sealed: Callable[[dict[str, Any]], Sealed]) -> ImagePart | None:
    """The picture of an item, sealed with the rest of the item; None where there is none.

    Raises: DecodeError for broken base64.
    """
    result = item.pop("result", None)
    if not isinstance(result, str) or not result:
        if result is not None:
            item["result"] = result
        return None
    kind = item.get("output_format") or "png"
    return ImagePart(text_data(result, "/result"), f"image/{kind}", sealed=sealed(item))
