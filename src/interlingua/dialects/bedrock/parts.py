"""Blocks of prompts and of tool results, both ways.

Rules
- Media that a block holds become bytes; what only points to media is an opaque `media_ref`.
- A mark for the prompt cache is a block behind what it marks, and the `cache` of that part; where nothing can have it,
  an empty text has it.
- Text for a guardrail to look at is text, whose form goes back to this dialect alone.
- The name of a document has letters, digits, blanks, hyphens and brackets, and stands once in a request.
- A block of any other kind is opaque and goes back verbatim, in its place.
Loss: text of white space alone is left out on its way to the service, which refuses it; marked, it was seen to pass.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from msgspec import Raw
from msgspec.structs import replace

from interlingua.dialects._citations import own_values, text_in, written
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._members import is_list, is_object, members_of, merge_members, object_in, plain
from interlingua.dialects._seals import note_seal
from interlingua.dialects.bedrock.wire import BlockWire, ResultWire, check_union
from interlingua.errors import DecodeError
from interlingua.types.content import (
    AudioPart,
    Citation,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    RefusalPart,
    TextPart,
)
from interlingua.wire.json import decode_any
from interlingua.wire.media import media_type_of, text_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects.bedrock.marks import Marks
    from interlingua.types.change import Changes
    from interlingua.types.content import Cache, Part

__all__ = [
    "MEDIA_CODES", "NAME", "BlockEncoder", "ResultContent", "add_block", "cache_of", "decode_block", "decode_content",
    "decode_result", "opaque", "read_citation",
]  # fmt: skip

ResultContent: TypeAlias = str | Json | tuple[TextPart | ImagePart | AudioPart | DocumentPart | OpaquePart | Json, ...]
"""The parts that a result may hold."""
NAME = "bedrock"
"""The dialect's name."""
MEDIA_CODES: dict[type, str] = {ImagePart: "images", AudioPart: "audio", DocumentPart: "documents"}
"""Kind of part -> the code of its refusal."""
IMAGES = ("png", "jpeg", "gif", "webp")
SOUNDS = (
    "mp3",
    "opus",
    "wav",
    "aac",
    "flac",
    "mp4",
    "ogg",
    "mkv",
    "mka",
    "x-aac",
    "m4a",
    "mpeg",
    "mpga",
    "pcm",
    "webm",
)
DOCUMENTS: dict[str, str] = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
"""Media type -> format of a document."""
TEXTUAL = frozenset({"application/json", "application/xml", "application/yaml", "application/javascript"})
"""Documents beside `text/…` that are text, and can be sent as plain text."""
FILMS: dict[str, str] = {
    "video/mp4": "mp4",
    "video/quicktime": "mov",
    "video/x-matroska": "mkv",
    "video/webm": "webm",
    "video/x-flv": "flv",
    "video/mpeg": "mpeg",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
}
"""Media type -> format of a film."""
_DOCUMENT_TYPES = {form: kind for kind, form in DOCUMENTS.items()}
_FILM_TYPES = {form: kind for kind, form in FILMS.items()} | {"mpg": "video/mpeg"}
_SOUND_FORMS = {"audio/mpeg": "mp3", "audio/mp4": "m4a"}
"""The formats of sounds that are not called like their media type."""
_SOURCE_TEXT = "source.text"
"""The spelling of a document whose text stands as it is."""
_ILLEGAL = re.compile(r"[^a-zA-Z0-9\s()\[\]-]+|\s+")
"""Runs of what no name of a document holds, or holds only as one blank."""
_LONGEST_NAME = 200
_SOURCES = ("bytes", "text", "content", "s3Location")
_MEDIA_MEMBERS = ("image", "document", "video", "audio")


# Reading


def decode_content(blocks: Sequence[BlockWire] | None, places: Sequence[int] | None = None) -> list[Part]:
    """The parts of a prompt's blocks, which stand at `places`; results of tools are not among them.

    Raises: DecodeError, with the place inside the message.
    """
    parts: list[Part] = []
    for place, wire in zip(places or count(), blocks or (), strict=False):
        try:
            check_union(wire)
            add_block(parts, wire)
        except DecodeError as error:
            raise error.under(f"/content/{place}") from None
    return parts


def add_block(parts: list[Part], wire: BlockWire) -> None:
    """Add what a block is: a part, or the mark of the one before it."""
    cache = None if wire.cachePoint is None else cache_of(wire.cachePoint)
    if cache is None:
        part = decode_block(wire)
        if part is not None:
            parts.append(part)
    elif parts and getattr(parts[-1], "cache", "") is None:
        parts[-1] = replace(parts[-1], cache=cache)
    else:
        parts.append(TextPart("", cache=cache))


def cache_of(mark: dict[str, Any]) -> Cache | None:
    """The canonical mark; None for one that says more than a life time."""
    life = mark.get("ttl")
    if mark.get("type") != "default" or not mark.keys() <= {"type", "ttl"} or life not in (None, "5m", "1h"):
        return None
    return "1h" if life == "1h" else "5m"


def decode_block(wire: BlockWire | ResultWire) -> Part | None:
    """The part that a block is; None for a text without anything.

    Raises: DecodeError for broken base64.
    """
    if wire.text is not None:
        return TextPart(wire.text, extra=members_of(wire, NAME)) if wire.text or wire.extra else None
    for member in _MEDIA_MEMBERS:
        media = getattr(wire, member, None)
        if media is not None:
            return _media(wire, member, media)
    if isinstance(wire, BlockWire) and wire.citationsContent is not None:
        return _cited(wire.citationsContent) or opaque(wire)
    if isinstance(wire, BlockWire) and wire.guardContent is not None:
        return _guarded(wire.guardContent) or opaque(wire)
    return opaque(wire)


def opaque(wire: BlockWire | ResultWire) -> OpaquePart:
    """A block that goes on unread."""
    raw = plain(wire)
    return OpaquePart(NAME, next(iter(raw), "unknown"), raw)


def _media(wire: BlockWire | ResultWire, member: str, media: dict[str, Any]) -> Part:
    source = media.get("source")
    if is_object(source) and len(sources := [name for name in _SOURCES if source.get(name) is not None]) > 1:
        path = f"/{member}/source/{sources[1]}"
        raise DecodeError(f"one source is allowed here, and there are {' and '.join(sources)}", path=path)
    data, form = (source.get("bytes") if is_object(source) else None), media.get("format")
    if member == "document" and is_object(source) and isinstance(source.get("text"), str):
        return _document(media, source["text"].encode(), _SOURCE_TEXT)
    if not isinstance(data, str) or (not isinstance(form, str) and member != "document"):
        return OpaquePart(NAME, "media_ref", plain(wire))
    body = text_data(data, f"/{member}/source/bytes")
    form = form if isinstance(form, str) else ""
    match member:
        case "image":
            return ImagePart(body, f"image/{form}", extra=_rest(media, "format", "source"))
        case "audio":
            kind = media_type_of(f"audio/{form}")
            own = () if _sound_form(kind) == form else ("format",)
            return AudioPart(body, kind, extra=_rest(media, "format", "source", but=own))
        case "video":
            kind = _FILM_TYPES.get(form, form if "/" in form else f"video/{form}")
            own = () if FILMS.get(kind) == form else ("format",)
            return DocumentPart(body, kind, extra=_rest(media, "format", "source", but=own))
        case _:
            return _document(media, body, None)


def _document(media: dict[str, Any], body: bytes, field: str | None) -> DocumentPart:
    form, name = media.get("format"), media.get("name")
    kind = _DOCUMENT_TYPES.get(str(form), f"application/{form}" if form else "text/plain")
    extra = _rest(media, "format", "source", "name")
    if field is not None or form is None:
        spelt = [word for word in (field, "" if form is not None else "no format") if word]
        extra = {NAME: {**extra.get(NAME, {}), "field": " ".join(spelt)}}
    return DocumentPart(body, kind, name if isinstance(name, str) and name else None, extra=extra)


def _rest(members: dict[str, Any], *names: str, but: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The members of a block that no field holds."""
    rest = {name: value for name, value in members.items() if name not in names or name in but}
    return {NAME: rest} if rest else {}


def _cited(wire: dict[str, Any]) -> TextPart | None:
    """Text with its citations; None for one in a form that is not known."""
    content: object = wire.get("content")
    citations: object = wire.get("citations") or []
    if not is_list(content) or not is_list(citations):
        return None
    texts = [one["text"] for one in content if is_object(one) and isinstance(one.get("text"), str)]
    if not texts or len(texts) < len(content):
        return None
    rest: dict[str, Any] = {name: value for name, value in wire.items() if name not in ("content", "citations")}
    if len(texts) > 1 or len(content[0]) > 1:
        rest["content"] = content
    if not all([is_object(one) for one in citations]):
        rest["citations"] = citations
    annotations = tuple([read_citation(one) for one in citations if is_object(one)])
    return TextPart("".join(texts), annotations, extra={NAME: {"citationsContent": rest}})


def read_citation(raw: dict[str, Any]) -> Citation:
    """The citation that a value of the wire is."""
    location = raw.get("location")
    web = location.get("web") if is_object(location) else None
    url = text_in(web.get("url")) if is_object(web) else None
    cited = raw.get("sourceContent")
    first = cited[0] if is_list(cited) and cited and is_object(cited[0]) else {}
    return Citation(NAME, raw, url, text_in(raw.get("title")), quote=text_in(first.get("text")))


def _write_citation(citation: Citation) -> dict[str, Any] | None:
    if citation.url is None:
        return None
    members: dict[str, Any] = {"location": {"web": {"url": citation.url}}}
    if citation.title:
        members["title"] = citation.title
    if citation.quote:
        members["sourceContent"] = [{"text": citation.quote}]
    return members


def _guarded(guard: dict[str, Any]) -> TextPart | None:
    """Text for a guardrail; None for anything else."""
    text = guard.get("text")
    words = text.get("text") if is_object(text) else None
    if not is_object(text) or not isinstance(words, str) or not words:
        return None
    rest = {name: value for name, value in text.items() if name != "text"}
    return TextPart(words, extra={NAME: {"guardContent": {**guard, "text": rest}}})


def decode_result(blocks: Sequence[ResultWire] | None) -> ResultContent:
    """The content of a result: one text, one JSON value, or parts.

    Raises: DecodeError, with the place inside the result.
    """
    content: list[Part | Json] = []
    for place, wire in enumerate(blocks or ()):
        try:
            check_union(wire)
            part = Json(decode_any(bytes(wire.json))) if isinstance(wire.json, Raw) else decode_block(wire)
        except DecodeError as error:
            raise error.under(f"/content/{place}") from None
        if part is not None:
            content.append(part)
    if len(content) == 1 and isinstance(content[0], Json):
        return content[0]
    if len(content) == 1 and isinstance(content[0], TextPart) and not content[0].extra:
        return content[0].text
    return cast("ResultContent", tuple(content) or "")  # blocks of a result hold nothing else


# Writing


class BlockEncoder:
    """Writes the parts of prompts, results and answers; what the service cannot take is an entry."""

    def __init__(self, marks: Marks, changes: Changes, *, reply: bool = False) -> None:
        """`marks` writes the marks for the prompt cache; a `reply` is an answer to a client."""
        self.marks = marks
        self.changes = changes
        self.reply = reply
        self._names: set[str] = set()

    def encode(self, part: Part, path: str) -> list[BlockWire]:
        """The block of one part with its mark; none when it was refused or left out."""
        wire = self._bare(part, path)
        extra = getattr(part, "extra", None)
        if extra:
            note_foreign(self.changes, extra, path)
        blocks = [] if wire is None else [wire]
        cache = getattr(part, "cache", None)
        return blocks if cache is None else [*blocks, *self.marks.block(cache, path)]

    def _bare(self, part: Part, path: str) -> BlockWire | None:
        match part:
            case TextPart():
                return self.text(part, path)
            case RefusalPart(text=text):
                self.changes.add("refusal_as_text", path)
                return BlockWire(text=text) if text.strip() or self.reply else None
            case ImagePart():
                return self._image(part, path)
            case DocumentPart():
                return self._document(part, path)
            case AudioPart():
                form = _sound_form(media_type_of(part.media_type))
                if form not in SOUNDS:
                    self.changes.add("audio", path, f"{part.media_type} is not taken")
                    return None
                if part.transcript:
                    self.changes.add(
                        "detail_unsupported", f"{path}/transcript", "a sound is sent without its transcript"
                    )
                return BlockWire(audio=self._media_members(part, form))
            case OpaquePart() if part.dialect == NAME and is_object(part.raw):
                wire = BlockWire()
                merge_members(wire, part.raw)
                return wire
            case OpaquePart():
                code = "media_refs" if part.kind == "media_ref" else "opaque_part"
                action = "dropped" if self.reply else None
                self.changes.add(code, path, f"{part.kind} of {part.dialect}", action=action)
            case _:
                self.changes.add("opaque_part", path, f"a prompt holds no {type(part).__name__}")
        return None

    def text(self, part: TextPart, path: str) -> BlockWire | None:
        """A text, in the form in which it came."""
        if part.sealed is not None:
            note_seal(self.changes, part.sealed, path)
        if not part.text.strip() and not (part.text and (self.reply or part.cache is not None)):
            if part.text or part.cache is None:
                what = "text of white space alone" if part.text else "empty text"
                self.changes.add("empty_part", path, f"the service takes no {what}")
            return None
        own = part.extra.get(NAME, {}) if part.extra else {}
        if "guardContent" in own:
            guard = object_in(own, "guardContent")
            return BlockWire(guardContent={**guard, "text": {"text": part.text, **object_in(guard, "text")}})
        if part.annotations or "citationsContent" in own:
            return self._cited(part, object_in(own, "citationsContent"), path)
        wire = BlockWire(text=part.text)
        merge_members(wire, own)
        return wire

    def _cited(self, part: TextPart, own: dict[str, Any], path: str) -> BlockWire:
        here = f"{path}/annotations"
        if self.reply:
            citations = written(part.annotations, NAME, self.changes, here, _write_citation)
        else:
            citations = own_values(part.annotations, NAME, self.changes, here)
        if not citations and not own:
            return BlockWire(text=part.text)
        return BlockWire(citationsContent={"content": [{"text": part.text}], "citations": citations, **own})

    def _image(self, part: ImagePart, path: str) -> BlockWire | None:
        if part.sealed is not None:
            note_seal(self.changes, part.sealed, path)
        form = media_type_of(part.media_type).removeprefix("image/")
        if form not in IMAGES:
            self.changes.add("images", path, f"{part.media_type} is not taken")
            return None
        if part.detail not in (None, "full"):  # the full image is what is sent
            self.changes.add("detail_unsupported", f"{path}/detail")
        return BlockWire(image=self._media_members(part, form))

    def _media_members(self, part: ImagePart | AudioPart | DocumentPart, form: str, **members: Any) -> dict[str, Any]:
        """The members of a block of media; what came beside it goes back over it."""
        own = part.extra.get(NAME, {}) if part.extra else {}
        own = {name: value for name, value in own.items() if name != "field"}
        return {"format": form, **members, "source": {"bytes": part.base64}, **own}

    def _document(self, part: DocumentPart, path: str) -> BlockWire | None:
        kind = media_type_of(part.media_type)
        if kind in FILMS:
            if part.name is not None:
                self.changes.add("detail_unsupported", f"{path}/name", "a film has no name")
            return BlockWire(video=self._media_members(part, FILMS[kind]))
        form = DOCUMENTS.get(kind.partition(";")[0])
        if form is None and (kind.startswith("text/") or kind in TEXTUAL):
            self.changes.add("media_as_text", path, f"{part.media_type} is sent as text/plain")
            form = "txt"
        if form is None:
            self.changes.add("documents", path, f"{part.media_type} is not taken")
            return None
        media = self._media_members(part, form, name=self._name(part, form, path))
        spelt = str(part.extra.get(NAME, {}).get("field", "")) if part.extra else ""
        if _SOURCE_TEXT in spelt:
            media["source"] = {"text": part.data.decode(errors="replace")}
        if "no format" in spelt:
            del media["format"]
        return BlockWire(document=media)

    def _name(self, part: DocumentPart, form: str, path: str) -> str:
        """A name that the service takes, and has not had in this request."""
        stem = (part.name or "document").removesuffix(f".{form}")
        stem = _ILLEGAL.sub(lambda run: " " if run[0].isspace() else "-", stem).strip()[: _LONGEST_NAME - 10]
        name = stem = stem if re.search("[a-zA-Z0-9]", stem) else "document"
        while name in self._names:
            name = f"{stem} ({len(self._names) + 1})"
        self._names.add(name)
        if part.name is None:
            self.changes.add("parameter_added", f"{path}/name", f"the service insists on one: {name}")
        elif name != part.name:
            self.changes.add("detail_unsupported", f"{path}/name", f"sent as {name!r}", action="approximated")
        return name


def _sound_form(kind: str) -> str:
    """The format of a sound by its media type."""
    return _SOUND_FORMS.get(kind, kind.removeprefix("audio/"))
