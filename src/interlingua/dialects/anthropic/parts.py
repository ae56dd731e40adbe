"""Blocks of prompts and of tool results, both ways.

Rules
- Media that a block holds become bytes; what only points to media is an opaque `media_ref`.
- A block of any other kind is opaque and goes back verbatim, in its place.
Loss: an empty text block is no part at all; the service refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._members import (
    is_list,
    is_object,
    members_of,
    merge_members,
    plain,
    text_or_none,
)
from interlingua.dialects._seals import note_seal
from interlingua.dialects.anthropic.citations import history_citations, read_citation, reply_citations
from interlingua.dialects.anthropic.marks import decode_mark
from interlingua.dialects.anthropic.wire import BlocksWire, BlockWire
from interlingua.errors import DecodeError
from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    TextPart,
    ToolCall,
)
from interlingua.wire.json import decode_wire, exact_reader, raw_text
from interlingua.wire.media import media_type_of, text_data

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from msgspec import UnsetType

    from interlingua.dialects._contract import Facts
    from interlingua.dialects.anthropic.marks import Marks
    from interlingua.types.change import Changes
    from interlingua.types.content import Part
    from interlingua.types.message import Message

__all__ = [
    "NAME",
    "BlockEncoder",
    "block_citations",
    "block_of",
    "citations_in",
    "decode_block",
    "decode_content",
    "decode_nested",
    "is_bare",
    "is_bare_text",
    "opaque",
    "opaque_block",
    "text_part",
]

NAME = "anthropic"
"""The dialect's name."""

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The types of an image."""
PDF, PLAIN = "application/pdf", "text/plain"
TEXTUAL = frozenset({"application/json", "application/xml", "application/yaml", "application/javascript"})
"""Documents beside `text/…` that are text, and can be sent as plain text."""


# Reading


def decode_content(content: str | Sequence[BlockWire] | None) -> list[Part]:
    """The parts of a prompt's `content`; results of tools are not among them.

    Raises: DecodeError for broken base64.
    """
    if isinstance(content, str):
        return [TextPart(content)] if content else []
    parts: list[Part] = []
    for place, wire in enumerate(content or ()):
        try:
            part = decode_block(wire)
        except DecodeError as error:
            raise error.under(f"/content/{place}") from None
        if part is not None:
            parts.append(part)
    return parts


def decode_nested(content: Raw | UnsetType) -> str | tuple[Any, ...]:
    """The content of a tool result: text, or parts; absent is empty text, and so are no parts at all.

    Raises: DecodeError for content that is neither.
    """
    if not isinstance(content, Raw):
        return ""
    text = bytes(content)
    first = text[:1]
    if first == b'"':
        return raw_text(text)
    if first == b"[":
        blocks = _read_blocks(text)
        if blocks is None:
            blocks = decode_wire(b'{"content":%b}' % text, BlocksWire).content
        return tuple(decode_content(blocks)) or ""
    if first == b"n":
        return ""
    raise DecodeError("the content of a tool result is text or a list of blocks", path="/content")


_read_blocks = exact_reader(list[BlockWire])  # how deep they are was looked at in the body


def decode_block(wire: BlockWire) -> Part | None:
    """The part that a block of a prompt is, or None for an empty text.

    Raises: DecodeError for broken base64.
    """
    reader = _READERS.get(wire.type or "")
    return reader(wire) if reader is not None else opaque(wire)


def is_bare_text(wire: BlockWire) -> bool:
    """Whether a block is a text, and there is nothing to it but the text."""
    return bool(wire.text) and wire.type == "text" and wire.citations is wire.cache_control is wire.extra is None


def opaque(wire: BlockWire) -> OpaquePart:
    """A block that goes on unread."""
    cache = decode_mark(wire)
    kind = wire.type or "unknown"
    return OpaquePart(NAME, "media_ref" if kind in _REFERRING else kind, plain(wire), cache)


def text_part(wire: BlockWire) -> TextPart | None:
    """Text with its citations; None for an empty text with nothing to it."""
    cache = decode_mark(wire)
    if not wire.text and not wire.citations and not wire.extra:
        return None
    annotations = tuple([read_citation(citation) for citation in citations_in(wire)])
    return TextPart(wire.text or "", annotations, cache, extra=members_of(wire, NAME))


def citations_in(wire: BlockWire) -> list[dict[str, Any]]:
    """The citations of a text block.

    Raises: DecodeError for one that is no object.
    """
    raw: object = wire.citations
    citations = raw if is_list(raw) else []
    for place, citation in enumerate(citations):
        if not is_object(citation):
            raise DecodeError("a citation must be an object", path=f"/citations/{place}")
    return citations


def _image(wire: BlockWire) -> Part:
    source = wire.source if is_object(wire.source) else {}
    data, media_type = source.get("data"), source.get("media_type")
    if source.get("type") != "base64" or not isinstance(data, str) or not isinstance(media_type, str):
        return opaque(wire)
    cache = decode_mark(wire)
    return ImagePart(
        text_data(data, "/source/data"), media_type_of(media_type), cache=cache, extra=_members(wire, source)
    )


def _document(wire: BlockWire) -> Part:
    source = wire.source if is_object(wire.source) else {}
    data = source.get("data")
    if not isinstance(data, str) or source.get("type") not in ("base64", "text"):
        return opaque(wire)
    body = data.encode() if source["type"] == "text" else text_data(data, "/source/data")
    media_type = text_or_none(source.get("media_type"), "/source/media_type")
    media_type = media_type or (PLAIN if source["type"] == "text" else PDF)
    cache = decode_mark(wire)
    return DocumentPart(body, media_type_of(media_type), wire.title, cache, extra=_members(wire, source))


def _members(wire: BlockWire, source: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The members of a media block without a field: its own members, and those of its source."""
    members = {name: value for name in ("context", "citations") if (value := getattr(wire, name)) is not None}
    rest = {name: value for name, value in source.items() if name not in ("type", "data", "media_type")}
    extra = {**members, **(wire.extra or {}), **({"source": rest} if rest else {})}
    return {NAME: extra} if extra else {}


def _tool_reference(wire: BlockWire) -> Part:
    """A tool that a search of the client's found: its name as text, which is a reference at home."""
    members: dict[str, Any] = {"type": REFERENCE, **(wire.extra or {})}
    name = members.get("tool_name")
    if not isinstance(name, str):
        return opaque(wire)
    return TextPart(name, cache=decode_mark(wire), extra={NAME: members})


REFERENCE = "tool_reference"
_REFERRING = frozenset({"image", "document", "container_upload"})
"""Blocks that point to media, if they do not hold them."""
_READERS: dict[str, Callable[[BlockWire], Part | None]] = {
    "text": text_part,
    REFERENCE: _tool_reference,
    "image": _image,
    "document": _document,
}


# Writing


def block_citations(part: TextPart, changes: Changes, path: str) -> list[dict[str, Any]]:
    """The citations of a block: of an answer all that can be told, of a history those that are the service's own."""
    if changes.stage == "encode_response":
        return reply_citations(part.annotations, part.text, changes, f"{path}/annotations")
    return history_citations(part.annotations, changes, f"{path}/annotations")


def is_bare(part: TextPart) -> bool:
    """Whether a text says something, and there is nothing to it but the text."""
    if part.cache or part.annotations or part.sealed or part.extra:
        return False
    return bool(part.text) and not part.text.isspace()


def opaque_block(part: OpaquePart) -> BlockWire | None:
    """A block that came unread, as it came; None for one of another dialect."""
    if part.dialect != NAME or not is_object(part.raw):
        return None
    return block_of(part.raw)


def block_of(raw: dict[str, Any]) -> BlockWire:
    """A block as it was."""
    wire = BlockWire()
    merge_members(wire, raw)
    return wire


class BlockEncoder:
    """Writes the parts of prompts and results; what the service cannot take is an entry."""

    def __init__(self, facts: Facts, marks: Marks, changes: Changes) -> None:
        """`facts` say what the model takes."""
        self.facts = facts
        self.marks = marks
        self.changes = changes
        self.message: Message | None = None
        """The message of a history that is being written."""
        self.is_first: bool = False
        """Whether nothing was said before it."""

    def encode(self, part: Part, path: str) -> BlockWire | None:
        """The block of one part; None when it was refused or left out."""
        if type(part) is TextPart and is_bare(part):
            return BlockWire(type="text", text=part.text)
        wire = self._bare(part, path)
        if wire is None:
            return None
        self.finish(wire, part, path)
        return wire

    def finish(self, wire: BlockWire, part: Part, path: str) -> None:
        """Give a block its members and its mark."""
        extra = getattr(part, "extra", None)
        if extra:
            note_foreign(self.changes, extra, path)
            merge_members(wire, extra.get(NAME, {}))
        cache = None if isinstance(part, ToolCall) else getattr(part, "cache", None)
        if cache is not None or wire.cache_control is not None:
            self.marks.put(wire, cache, path)

    def text(self, part: TextPart, path: str) -> BlockWire | None:
        """A text block with its citations."""
        if part.sealed is not None:
            note_seal(self.changes, part.sealed, path)
        if not part.text or (part.text.isspace() and not self._keeps_blanks()):
            what = "text of white space alone" if part.text else "empty text"
            self.changes.add("empty_part", path, f"the service takes no {what}")
            return None
        if part.extra and part.extra.get(NAME, {}).get("type") == REFERENCE:
            return BlockWire(type=REFERENCE)
        cited = block_citations(part, self.changes, path) if part.annotations else None
        return BlockWire(type="text", text=part.text, citations=cited or None)

    def _keeps_blanks(self) -> bool:
        """Whether text of white space alone is told.

        It is to a client, as it came; to the service, which refuses it, beside a call, where it was seen to pass, and
        where there would be no message without it.
        """
        if self.message is None:
            return self.changes.stage == "encode_response"
        parts = self.message.parts
        if ToolCall in map(type, parts):
            return True
        return self.is_first and all([type(part) is TextPart and not part.text.strip() for part in parts])

    def _bare(self, part: Part, path: str) -> BlockWire | None:
        match part:
            case TextPart():
                return self.text(part, path)
            case RefusalPart(text=text):
                self.changes.add("refusal_as_text", path)
                return BlockWire(type="text", text=text) if text else None
            case ImagePart():
                return self._image(part, path)
            case DocumentPart():
                return self._document(part, path)
            case OpaquePart():
                wire = opaque_block(part)
                if wire is not None:
                    return wire
                code = "media_refs" if part.kind == "media_ref" else "opaque_part"
                self.changes.add(code, path, f"{part.kind} of {part.dialect}")
            case AudioPart():
                self.changes.add("audio", path, "the dialect has no audio")
            case _:
                self.changes.add("opaque_part", path, f"a prompt holds no {type(part).__name__}")
        return None

    def _image(self, part: ImagePart, path: str) -> BlockWire | None:
        media_type = media_type_of(part.media_type)
        if self.facts.images is False or media_type not in IMAGE_TYPES:
            self.changes.add("images", path, f"{part.media_type} is not taken")
            return None
        if part.detail not in (None, "full"):  # the full image is what is sent
            self.changes.add("detail_unsupported", f"{path}/detail")
        source = {"type": "base64", "media_type": media_type, "data": part.base64}
        return BlockWire(type="image", source=source)

    def _document(self, part: DocumentPart, path: str) -> BlockWire | None:
        source = self._source(part, path) if self.facts.documents is not False else None
        if source is None:
            self.changes.add("documents", path, f"{part.media_type} is not taken")
            return None
        return BlockWire(type="document", source=source, title=part.name)

    def _source(self, part: DocumentPart, path: str) -> dict[str, Any] | None:
        """Where the document stands: a PDF in base64, text as it is; None for anything else."""
        media_type = media_type_of(part.media_type).lower()
        if media_type == PDF:
            return {"type": "base64", "media_type": PDF, "data": part.base64}
        if not media_type.startswith("text/") and media_type not in TEXTUAL:
            return None
        try:
            text = part.data.decode()
        except UnicodeDecodeError:
            return None
        if media_type.partition(";")[0] != PLAIN:
            self.changes.add("media_as_text", path, f"{part.media_type} is sent as {PLAIN}")
        return {"type": "text", "media_type": PLAIN, "data": text}
