"""Blocks of content, both ways, and what of a part a Cohere message has no place for.

Rules
- Text alone is a string on the wire; with a member of its own or a neighbour it is a list of blocks.
- An image in a `data:` URL becomes bytes; one that is only pointed to is an opaque `media_ref`.
- A block of an unknown type is opaque and goes back verbatim.
Loss: an empty text block without members is no part at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._members import merge_members, plain, text_or_none
from interlingua.dialects._seals import note_seal
from interlingua.dialects.cohere.documents import document_text
from interlingua.dialects.cohere.wire import BlockWire
from interlingua.errors import DecodeError
from interlingua.types.content import ImagePart, OpaquePart, TextPart, ThinkingPart, ToolCall
from interlingua.wire.media import data_url, media_type_of, parse_data_url, told_detail

if TYPE_CHECKING:
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = [
    "NAME", "PLAN", "PartNotes", "beside", "decode_block", "decode_content", "encode_block", "is_bare", "is_text",
]  # fmt: skip

NAME = "cohere"
"""The dialect's name."""
PLAN = "tool_plan"
"""The name on the wire of the text before the calls of a turn; also the spelling that such a text keeps."""


_MEMBERS = ("text", "thinking", "image_url", "document")
"""The members of the blocks of each type."""

# Reading


def decode_content(content: str | list[BlockWire] | None) -> list[Part]:
    """The parts of a message's `content`.

    Raises: DecodeError, with the place inside the message.
    """
    if isinstance(content, str):
        return [TextPart(content)] if content else []
    parts: list[Part] = []
    for place, block in enumerate(content or ()):
        try:
            part = decode_block(block)
        except DecodeError as error:
            raise error.under(f"/content/{place}") from None
        if part is not None:
            parts.append(part)
    return parts


def decode_block(block: BlockWire) -> Part | None:
    """The part that a block is; None for one that says nothing.

    Raises: DecodeError for broken base64.
    """
    match block.type or ("text" if block.text is not None else ""):
        case "text":
            extra = beside(block, "text")
            return TextPart(block.text or "", extra=extra) if block.text or extra else None
        case "thinking":
            return ThinkingPart(block.thinking or "", extra=beside(block, "thinking"))
        case "image_url":
            raw = block.image_url
            rest: dict[str, Any] = {"url": raw} if isinstance(raw, str) else dict(raw or {})
            url = rest.pop("url", None)
            parsed = parse_data_url(url, "/image_url") if isinstance(url, str) else None
            if parsed is None:
                return OpaquePart(NAME, "media_ref", plain(block))
            detail = text_or_none(rest.pop("detail", None), "/image_url/detail")
            own = beside(block, "image_url").get(NAME, {}) | ({"image_url": rest} if rest else {})
            media_type = media_type_of(parsed[0] or "image/png")
            return ImagePart(parsed[1], media_type, detail, extra={NAME: own} if own else {})
        case "document":
            members = {"document": block.document, **beside(block, "document").get(NAME, {})}
            return TextPart(document_text(block.document), extra={NAME: members})
        case kind:
            return OpaquePart(NAME, kind or "unknown", plain(block))


def beside(block: BlockWire, own: str) -> dict[str, dict[str, Any]]:
    """The members of a block beside its `own`, also those that blocks of other types have."""
    others = {name: value for name in _MEMBERS if name != own and (value := getattr(block, name)) is not None}
    if own == "text" and "document" in others:
        others["type"] = own  # else a text with a document is the document
    return {NAME: {**others, **(block.extra or {})}} if others or block.extra else {}


def is_text(wire: BlockWire) -> bool:
    """Whether a block is text and nothing else, which a string says as well."""
    return wire.type == "text" and not beside(wire, "text")


# Writing


def encode_block(part: Part) -> BlockWire:
    """The block that a part is: text, thinking, an image, or an opaque one of this dialect.

    Raises: TypeError for a part that has no place in `content`.
    """
    match part:
        # The members of a text without a field say that it is a document.
        case TextPart(extra=extra) if "document" in (own := extra.get(NAME, {})) and own.get("type") != "text":
            wire = BlockWire(type="document")
        case TextPart(text=text):
            wire = BlockWire(type="text", text=text)
        case ThinkingPart(text=text):
            wire = BlockWire(type="thinking", thinking=text)
        case ImagePart(media_type=media_type, detail=detail):
            detail = told_detail(detail)
            url = data_url(part.base64, media_type_of(media_type))
            wire = BlockWire(type="image_url", image_url={"url": url, **({"detail": detail} if detail else {})})
        case OpaquePart(raw=raw):
            wire = BlockWire()
            merge_members(wire, raw)
            return wire
        case _:
            raise TypeError(f"{type(part).__name__} has no place in content")
    merge_members(wire, {name: value for name, value in part.extra.get(NAME, {}).items() if name != "field"})
    return wire


def is_bare(part: Part) -> bool:
    """Whether a part is nothing but text or a call, so that there is nothing to note."""
    if type(part) is TextPart:
        return not (part.cache or part.annotations or part.sealed or part.extra)
    return type(part) is ToolCall and not (part.sealed or part.extra)


class PartNotes:
    """Entries for what a part says and a Cohere message has no place for."""

    def __init__(self, changes: Changes) -> None:
        """Notes that go into `changes`."""
        self.changes = changes

    def lost(self, part: Part, path: str) -> None:
        """Note the ornaments of one part: cache mark, seal, members of other dialects."""
        if getattr(part, "cache", None) is not None:
            self.changes.add("cache_unsupported", f"{path}/cache")
        sealed = getattr(part, "sealed", None)
        if sealed is not None:
            note_seal(self.changes, sealed, path)
        note_foreign(self.changes, getattr(part, "extra", {}), path)
