"""Content parts, both ways.

Rules
- Text alone is a string on the wire; with a mark, a member of its own or a neighbour it is a list of parts.
- Media in a `data:` URL become bytes; anything that only points to media is an opaque `media_ref`.
- A part of an unknown type is opaque and goes back verbatim.
Loss: an empty text part without marks is no part at all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import members_of, merge_members, plain, text_or_none
from interlingua.dialects.openai_chat.wire import PartWire
from interlingua.errors import DecodeError
from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
)
from interlingua.wire.json import Extra
from interlingua.wire.media import (
    data_url,
    image_type,
    media_type_of,
    parse_data_url,
    text_data,
    told_detail,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from msgspec import UnsetType

    from interlingua.dialects._contract import Quirks
    from interlingua.types.content import Cache, Part

__all__ = [
    "NAME",
    "decode_cache",
    "decode_content",
    "decode_images",
    "encode_cache",
    "encode_content",
    "encode_part",
    "thinking_chunk",
]

NAME = "openai-chat"
"""The dialect's name."""

AUDIO_FORMATS = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "opus": "audio/opus",
    "aac": "audio/aac",
    "aiff": "audio/aiff",
    "m4a": "audio/mp4",
    "webm": "audio/webm",
    "pcm16": "audio/pcm",
}
"""Wire format of input audio -> MIME type, as OpenAI and OpenRouter call them; any other format f is audio/f."""
FORMATS_BY_TYPE = {media_type: name for name, media_type in AUDIO_FORMATS.items()}

FOREIGN_TYPES = frozenset({"tool_use", "tool_result", "image", "document", "input_text", "input_image", "input_file"})
"""Part types of other dialects: refused by name, because passing them on would lose them."""


# Reading


def decode_content(content: str | list[PartWire] | UnsetType | None) -> list[Part]:
    """The parts of a message's `content`.

    Raises: DecodeError for broken base64 and for parts in another dialect's shape.
    """
    if type(content) is str:
        return [TextPart(content)] if content else []
    parts: list[Part] = []
    for place, wire in enumerate(content if isinstance(content, list) else ()):
        try:
            part = _decode_part(wire)
        except DecodeError as error:
            raise error.under(f"/content/{place}") from None
        if part is not None:
            parts.append(part)
    return parts


def decode_images(images: Sequence[PartWire | str]) -> list[Part]:
    """The parts of a message's `images`: parts, or bare base64 and URLs, as servers and clients of Ollama have them.

    Raises: DecodeError for broken base64.
    """
    parts: list[Part] = []
    for place, image in enumerate(images):
        path = f"/images/{place}"
        if isinstance(image, str) and not _URL.match(image):
            data = text_data(image, path)
            parts.append(ImagePart(data, image_type(data)))
            continue
        wire = PartWire(type="image_url", image_url={"url": image}) if isinstance(image, str) else image
        try:
            part = _decode_part(wire)
        except DecodeError as error:
            raise error.under(path) from None
        if part is not None:
            parts.append(part)
    return parts


_URL = re.compile(r"(data|https?|gs|file):", re.IGNORECASE)


def _decode_part(part: PartWire) -> Part | None:
    kind = part.type or ("text" if part.text is not None else "")
    if kind in FOREIGN_TYPES:
        raise DecodeError(f"a part of type {kind!r} belongs to another dialect")
    reader = _READERS.get(kind)
    return reader(part) if reader is not None else _opaque(part, kind or "unknown")


def _opaque(part: PartWire, kind: str) -> OpaquePart:
    cache = decode_cache(part)
    return OpaquePart(NAME, "media_ref" if kind.endswith("_url") or kind == "file" else kind, plain(part), cache)


def _text(part: PartWire) -> Part | None:
    cache = decode_cache(part)
    if not part.text and cache is None and not part.extra:
        return None
    return TextPart(part.text or "", cache=cache, extra=members_of(part, NAME))


def _image(part: PartWire) -> Part:
    raw = part.image_url
    members: dict[str, Any] = {"url": raw} if isinstance(raw, str) else dict(raw or {})
    url = members.pop("url", None)
    parsed = parse_data_url(url, "/image_url") if isinstance(url, str) else None
    if parsed is None:
        return _opaque(part, "image_url")
    detail = text_or_none(members.pop("detail", None), "/image_url/detail")
    extra = dict(part.extra or {}) | ({"image_url": members} if members else {})
    cache = decode_cache(part)
    return ImagePart(
        parsed[1], media_type_of(parsed[0] or "image/png"), detail, cache, extra={NAME: extra} if extra else {}
    )


def _audio(part: PartWire) -> Part:
    members = dict(part.input_audio or {})
    data, kind = members.get("data"), members.get("format")
    if not isinstance(data, str) or not isinstance(kind, str):
        raise DecodeError("data and format must be strings", path="/input_audio")
    media_type = AUDIO_FORMATS.get(kind) or media_type_of(kind if "/" in kind else f"audio/{kind}")
    cache = decode_cache(part)
    parsed = parse_data_url(data, "/input_audio/data")
    body = parsed[1] if parsed else text_data(data, "/input_audio/data")
    return AudioPart(body, media_type, cache=cache, extra=members_of(part, NAME))


def _file(part: PartWire) -> Part:
    members = dict(part.file or {})
    data = members.pop("file_data", None)
    parsed = parse_data_url(data, "/file/file_data") if isinstance(data, str) else None
    if parsed is None:
        return _opaque(part, "file")
    name = text_or_none(members.pop("filename", None), "/file/filename")
    extra = dict(part.extra or {}) | ({"file": members} if members else {})
    cache = decode_cache(part)
    return DocumentPart(
        parsed[1],
        media_type_of(parsed[0] or "application/octet-stream"),
        name,
        cache,
        extra={NAME: extra} if extra else {},
    )


def _document_url(part: PartWire) -> Part:
    members: dict[str, Any] = dict(part.extra or {})
    url = members.pop("document_url", None)
    parsed = parse_data_url(url, "/document_url") if isinstance(url, str) else None
    if parsed is None:
        return _opaque(part, "document_url")
    name = text_or_none(members.pop("document_name", None), "/document_name")
    cache = decode_cache(part)
    extra = {NAME: members} if members else {}
    return DocumentPart(parsed[1], media_type_of(parsed[0] or "application/octet-stream"), name, cache, extra=extra)


def _refusal(part: PartWire) -> Part | None:
    return RefusalPart(part.refusal or "", members_of(part, NAME)) if part.refusal else None


def _thinking(part: PartWire) -> Part:
    """A thinking chunk; what is more than its text is sealed, so that it goes back whole."""
    chunks = [part.thinking] if isinstance(part.thinking, str) else (part.thinking or [])
    text = "".join([chunk if isinstance(chunk, str) else str(chunk.get("text", "")) for chunk in chunks])
    extra = {**(part.extra or {}), **({"signature": part.signature} if part.signature else {})}
    return ThinkingPart(text, extra={NAME: {"field": "thinking_chunks", **extra}})


_READERS: dict[str, Callable[[PartWire], Part | None]] = {
    "text": _text,
    "image_url": _image,
    "input_audio": _audio,
    "file": _file,
    "document_url": _document_url,
    "refusal": _refusal,
    "thinking": _thinking,
}


def decode_cache(part: PartWire) -> Cache | None:
    """The cache mark of a part, taken out of it; a mark of an unknown kind stays with the members."""
    mark = part.cache_control
    if mark is None:
        return None
    if mark.get("type") == "ephemeral" and mark.get("ttl") in (None, "5m", "1h") and mark.keys() <= {"type", "ttl"}:
        part.cache_control = None
        return "1h" if mark.get("ttl") == "1h" else "5m"
    part.extra = Extra({**(part.extra or {}), "cache_control": mark})
    return None


# Writing


def encode_cache(cache: Cache | None, quirks: Quirks) -> dict[str, Any] | None:
    """The cache mark on the wire."""
    if cache is None or quirks.cache_marks == "none":
        return None
    return {"type": "ephemeral", "ttl": "1h"} if cache == "1h" else {"type": "ephemeral"}


def encode_content(parts: Sequence[Part], quirks: Quirks) -> str | list[PartWire]:
    """`content` of parts that the caller knows to be encodable: a string where text alone is said."""
    if not parts:
        return ""
    first = parts[0]
    if len(parts) == 1 and type(first) is TextPart and not first.extra and encode_cache(first.cache, quirks) is None:
        return first.text
    return [encode_part(part, quirks) for part in parts]


def encode_part(part: Part, quirks: Quirks) -> PartWire:
    """One content part.

    Raises: TypeError for a part that has no place in `content`.
    """
    wire = _bare(part, quirks)
    cache = getattr(part, "cache", None)
    if cache is not None:
        wire.cache_control = encode_cache(cache, quirks)
    extra = None if isinstance(part, OpaquePart | ServerToolPart) else part.extra.get(NAME)
    if extra:
        merge_members(wire, extra)
    return wire


def _bare(part: Part, quirks: Quirks) -> PartWire:
    match part:
        case TextPart(text=text):
            return PartWire(type="text", text=text)
        case ImagePart(media_type=media_type, detail=detail):
            url, detail = data_url(part.base64, media_type_of(media_type)), told_detail(detail)
            if quirks.image_url_string:
                return PartWire(type="image_url", image_url=url)
            return PartWire(type="image_url", image_url={"url": url, **({"detail": detail} if detail else {})})
        case AudioPart(media_type=media_type):
            plain = media_type_of(media_type)
            kind = FORMATS_BY_TYPE.get(plain, plain.removeprefix("audio/"))
            return PartWire(type="input_audio", input_audio={"data": part.base64, "format": kind})
        case DocumentPart(media_type=media_type, name=name):
            url = data_url(part.base64, media_type_of(media_type))
            if quirks.document_part == "document_url":
                named = {"document_name": name} if name else {}
                return PartWire(type="document_url", extra=Extra({"document_url": url, **named}))
            return PartWire(type="file", file={**({"filename": name} if name else {}), "file_data": url})
        case RefusalPart(text=text):
            return PartWire(type="refusal", refusal=text)
        case OpaquePart(raw=raw):
            wire = PartWire()
            merge_members(wire, raw)
            return wire
        case _:
            raise TypeError(f"{type(part).__name__} has no place in content")


def thinking_chunk(part: ThinkingPart) -> PartWire:
    """Thinking as a chunk of `content`, the form of one provider."""
    extra = {name: value for name, value in part.extra.get(NAME, {}).items() if name != "field"}
    wire = PartWire(type="thinking", thinking=[{"type": "text", "text": part.text}])
    merge_members(wire, extra)
    return wire
