"""Content parts of messages and results, both ways.

Rules
- Text alone is a string on the wire; with members of its own or a neighbour it is a list of parts.
- Media in a `data:` URL become bytes; what only points to media is an opaque `media_ref`.
- `detail: auto` is what not saying it means; it is said where the reference types insist on it.
- A part of an unknown type is opaque and goes back verbatim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._citations import span_in, written
from interlingua.dialects._members import members_of, merge_members, plain
from interlingua.dialects._openai.citations import read_annotation, url_members
from interlingua.dialects.openai_responses.wire import PartWire
from interlingua.errors import DecodeError
from interlingua.types.content import (
    AudioPart,
    Citation,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
)
from interlingua.wire.media import (
    audio_type,
    data_url,
    media_type_of,
    parse_data_url,
    text_data,
    told_detail,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = [
    "NAME",
    "SPOKEN",
    "annotations_of",
    "decode_content",
    "decode_part",
    "encode_content",
    "encode_part",
    "write_annotation",
]

NAME = "openai-responses"
"""The dialect's name."""

FORMATS_BY_TYPE = {"audio/wav": "wav", "audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/pcm": "pcm16"}
"""MIME type -> wire format of input audio, where it is not what stands behind `audio/`."""

FOREIGN_TYPES = frozenset({"tool_use", "tool_result", "image", "document", "image_url", "file"})
"""Part types of other dialects: refused by name, because passing them on would lose them."""
SPOKEN = "output_audio"
"""The content part that a sound of the model is, and under which its members stand in `extra`."""
REFERENCES = frozenset({"input_image", "input_file", "input_audio"})
ITEM_MEMBERS = ("item", "new_item")
"""Members in the `extra` of a part that belong to the item around it."""


# Reading


def decode_content(content: str | list[PartWire] | None, member: str = "content") -> list[Part]:
    """The parts of a message's `content`, or of another `member` like it.

    Raises: DecodeError for broken base64 and for parts in another dialect's shape.
    """
    if type(content) is str:
        return [TextPart(content)] if content else []
    parts: list[Part] = []
    for place, wire in enumerate(content if isinstance(content, list) else ()):
        try:
            parts.append(decode_part(wire))
        except DecodeError as error:
            raise error.under(f"/{member}/{place}") from None
    return parts


def decode_part(part: PartWire) -> Part:
    """One content part.

    Raises: DecodeError, with a path inside the part.
    """
    kind = part.type or ("input_text" if part.text is not None else "")
    if kind in FOREIGN_TYPES:
        raise DecodeError(f"a part of type {kind!r} belongs to another dialect")
    reader = _READERS.get(kind)
    return reader(part) if reader is not None else _opaque(part)


def _opaque(part: PartWire) -> OpaquePart:
    kind = part.type or "unknown"
    return OpaquePart(NAME, "media_ref" if kind in REFERENCES else kind, plain(part))


def _text(part: PartWire) -> Part:
    extra: dict[str, Any] = dict(part.extra or {})
    if part.logprobs:
        extra["logprobs"] = part.logprobs
    annotations = tuple([read_annotation(NAME, annotation) for annotation in part.annotations or ()])
    return TextPart(part.text or "", annotations, extra={NAME: extra} if extra else {})


def _refusal(part: PartWire) -> Part:
    return RefusalPart(part.refusal or "", members_of(part, NAME))


def _image(part: PartWire) -> Part:
    parsed = parse_data_url(part.image_url, "/image_url") if isinstance(part.image_url, str) else None
    if parsed is None:
        return _opaque(part)
    detail = None if part.detail == "auto" else part.detail
    return ImagePart(parsed[1], media_type_of(parsed[0] or "image/png"), detail, extra=_beside(part, "image_url"))


def _file(part: PartWire) -> Part:
    parsed = parse_data_url(part.file_data, "/file_data") if part.file_data is not None else None
    if parsed is None:
        return _opaque(part)
    extra = _beside(part, "file_data")
    return DocumentPart(parsed[1], media_type_of(parsed[0] or "application/octet-stream"), part.filename, extra=extra)


def _audio(part: PartWire) -> Part:
    members = part.input_audio or {}
    data, kind = members.get("data"), members.get("format")
    if not isinstance(data, str) or not isinstance(kind, str):
        raise DecodeError("data and format must be strings", path="/input_audio")
    body = text_data(data, "/input_audio/data")
    return AudioPart(body, media_type_of(kind if "/" in kind else f"audio/{kind}"), extra=members_of(part, NAME))


def _spoken(part: PartWire) -> Part:
    """A sound of the model with its transcript."""
    members: dict[str, Any] = dict(part.extra or {})
    data, words = members.pop("data", None), members.pop("transcript", None)
    if not isinstance(data, str) or not isinstance(words, str | None):
        return _opaque(part)
    body = text_data(data, "/data")
    return AudioPart(body, audio_type(body), words, extra={NAME: {SPOKEN: members}})


def _beside(part: PartWire, read: str) -> dict[str, dict[str, Any]]:
    """The members of a media part besides the one that was `read`, and what is canonical."""
    rest = {name: value for name in _SOURCES if name != read and (value := getattr(part, name)) is not None}
    if part.type == "input_file" and part.detail is not None:
        rest["detail"] = part.detail
    members = {**rest, **(part.extra or {})}
    return {NAME: members} if members else {}


_SOURCES = ("file_id", "file_url")
_READERS: dict[str, Callable[[PartWire], Part]] = {
    "input_text": _text,
    "output_text": _text,
    "text": _text,
    "refusal": _refusal,
    "input_image": _image,
    "input_file": _file,
    "input_audio": _audio,
    SPOKEN: _spoken,
}


# Writing


def encode_content(parts: Sequence[Part], *, detail: bool) -> str | list[PartWire]:
    """`content` of parts that the caller knows to be encodable: a string where text alone is said.

    `detail` says that an image must say how closely to look at it.
    """
    if not parts:
        return ""
    first = parts[0]
    if len(parts) == 1 and type(first) is TextPart and not first.extra:
        return first.text
    return [encode_part(part, detail=detail) for part in parts]


def encode_part(part: Part, *, detail: bool) -> PartWire:
    """One content part of the input; TypeError for a part that has no place there."""
    match part:
        case TextPart(text=text):
            wire = PartWire(type="input_text", text=text)
        case ImagePart(media_type=media_type, detail=level):
            url = data_url(part.base64, media_type_of(media_type))
            wire = PartWire(
                type="input_image", image_url=url, detail=told_detail(level) or ("auto" if detail else None)
            )
        case DocumentPart(media_type=media_type, name=name):
            url = data_url(part.base64, media_type_of(media_type))
            wire = PartWire(type="input_file", file_data=url, filename=name)
        case AudioPart(media_type=media_type):
            plain = media_type_of(media_type)
            kind = FORMATS_BY_TYPE.get(plain, plain.removeprefix("audio/"))
            wire = PartWire(type="input_audio", input_audio={"data": part.base64, "format": kind})
        case OpaquePart(raw=raw):
            wire = PartWire()
            merge_members(wire, raw)
        case _:
            raise TypeError(f"{type(part).__name__} has no place in content")
    extra = None if isinstance(part, OpaquePart | ServerToolPart) else part.extra.get(NAME)
    if extra:
        merge_members(wire, {name: value for name, value in extra.items() if name not in ITEM_MEMBERS})
    return wire


def annotations_of(part: TextPart, changes: Changes, path: str) -> list[dict[str, Any]]:
    """The annotations of a text of an answer, those of other dialects written anew."""
    return written(part.annotations, NAME, changes, path, lambda citation: write_annotation(citation, part.text))


def write_annotation(citation: Citation, text: str) -> dict[str, Any] | None:
    """A citation of `text` by its address or its file; None for one that has neither."""
    if (members := url_members(citation, text)) is not None:
        return {"type": "url_citation", **members}
    if citation.file is None:
        return None
    name, end = citation.title or "", span_in(citation, text)[1]
    return {"type": "file_citation", "file_id": citation.file, "filename": name, "index": end}
