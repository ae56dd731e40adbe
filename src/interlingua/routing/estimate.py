"""About how many tokens a request has, for targets that nobody can ask: by script, by family, without a tokenizer.

Strategy: every tokenizer spends about one token on five letters or spaces, on two signs or digits, and on one letter of
a script whose letters are whole words or syllables. Around the text, services add tokens of their own for messages,
tools and calls; how many is a fact of the family of the model.

Rules
- An estimate reads each text once and allocates nothing that stays.
- Thinking of earlier turns is not counted: services leave it out, or count it where nobody can see.
- An image counts by its pixels, up to what services scale down to; a recording and a document by their bytes.
- A body that nobody reads counts by its bytes, and files in it, which are base64, by their kind.

Source: 2,330 recorded requests without media and provider-run tools, held against the usage in their answers, November
2026. The median of the error is 12 % for Claude, 11 % for GPT, 16 % for Gemini and 48 % for all others, whose servers
put templates around a prompt that are often longer than it; nine of ten are within 46, 33, 83 and 97 %.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.tool import Tool
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.types.content import Part
    from interlingua.types.request import Request
    from interlingua.types.tool import OpaqueTool

__all__ = ["AUDIO_BYTES", "estimate_body", "estimate_text", "estimate_tokens"]

_PLAIN = bytes(range(65, 91)) + bytes(range(97, 123)) + b" \t\r\n"
_TWO_BYTES, _THREE_BYTES, _FOUR_BYTES = bytes(range(0xC0, 0xE0)), bytes(range(0xE0, 0xF0)), bytes(range(0xF0, 0xF8))
_BEYOND = bytes(range(0x80, 0x100))
_ASCII_PLAIN, _ASCII_OTHER = 0.19, 0.6
_LATIN_GREEK_CYRILLIC, _SYLLABLES, _SYMBOLS = 0.7, 0.9, 2.0
_ANY_NULLS = 1 << 30


class _Family(NamedTuple):
    """The tokens that a service adds to the text of a request."""

    models: str
    """A regular expression that is found in the names of its models."""
    base: float
    message: float
    """For each message."""
    text: float
    """How many tokens it has for one of an average tokenizer."""
    json: float
    """For a byte of a schema or of arguments."""
    tools: float
    """For having tools at all."""
    tool: float
    """For each tool."""
    call: float
    """For each call and each result."""
    schema: float
    """For an output schema, beside its bytes."""
    image: tuple[float, float, float]
    """For each image: at least, pixels of a token more, at most."""


_FAMILIES = (
    _Family(r"claude", 3, 5, 1.1, 0.28, 480, 30, 15, 100, (0, 750, 1_600)),
    _Family(r"gemini|gemma", 0, 1, 1.05, 0.23, 0, 12, 10, 0, (258, 2_286, 1_548)),
    _Family(r"gpt-(?!oss)|^o\d|/o\d|codex", 3, 4, 1.0, 0.19, 12, 7, 8, 12, (85, 1_542, 1_445)),
    _Family(r"", 6, 5, 1.0, 0.25, 40, 25, 12, 3, (64, 784, 2_000)),
)
DOCUMENT_BYTES = 40
"""How many bytes of a document that is no text make a token; a short one counts as a page."""
PAGE_TOKENS = 1_500
AUDIO_BYTES = 500
"""How many bytes of a recording make a token: compressed speech."""
HOSTED_TOOL_TOKENS = 300
"""For a tool that the provider runs: its description is the provider's own."""
BODY_BYTES = 3.5
"""How many bytes of a body that nobody reads make a token."""
LEAST_FILE_BYTES = 4_096
"""Shorter texts of such a body are no files: they count like the rest of it."""
_STEP_BYTES = LEAST_FILE_BYTES // 2
IMAGE_TOKENS = 1_600
"""For an image whose pixels nobody counts."""
_IMAGES = (b"iVBORw0KGgo", b"/9j/", b"R0lGOD", b"UklGR")
"""How base64 of PNG, JPEG, GIF and WebP begins."""
_PDF = b"JVBERi0"


def estimate_text(text: str) -> float:
    """About how many tokens an average tokenizer makes of a text."""
    data = text.encode(errors="replace")
    plain = _count(data, _PLAIN)
    beyond = 0 if data.isascii() else _count(data, _BEYOND)
    tokens = _ASCII_PLAIN * plain + _ASCII_OTHER * (len(data) - plain - beyond)
    if beyond:
        tokens += _LATIN_GREEK_CYRILLIC * _count(data, _TWO_BYTES)
        tokens += _SYLLABLES * _count(data, _THREE_BYTES) + _SYMBOLS * _count(data, _FOUR_BYTES)
    return tokens


def _count(data: bytes, of: bytes) -> int:
    return len(data) - len(data.translate(None, of))


def estimate_tokens(request: Request, model: str = "") -> int:
    """About how many input tokens a request has for the model of that name."""
    family = next(family for family in _FAMILIES if re.search(family.models, model.lower()))
    tokens = family.base + family.message * len(request.messages)
    tokens += family.text * sum(estimate_text(part.text) for part in request.system)
    tokens += sum(_part(part, family) for message in request.messages for part in message.parts)
    if request.tools:
        tokens += family.tools + sum([_tool(tool, family) for tool in request.tools])
    if request.output_schema is not None and family.schema:
        tokens += family.schema + family.json * _bytes(request.output_schema)
    return max(1, round(tokens))


def estimate_body(body: bytes) -> int:
    """About how many input tokens a body has that nobody reads, from its size; files in it count as files."""
    find, end = body.find, len(body)
    size, of_files, place = end, 0.0, _STEP_BYTES
    while place <= end:
        if find(b'"', place - _STEP_BYTES, place) < 0:  # a long text has no quote in half of the least file
            begins, ends = body.rfind(b'"', 0, place - _STEP_BYTES) + 1, find(b'"', place)
            place = ends if ends >= 0 else end
            text = body[begins:place]
            beginning = text[:1_024]  # of base64 it is all ASCII, without a space
            if len(text) > LEAST_FILE_BYTES and b" " not in beginning and beginning.isascii():
                size -= len(text)
                of_files += _file(text)
        place += _STEP_BYTES
    return round(size / BODY_BYTES + of_files) or 1


def _file(text: bytes) -> float:
    """About how many tokens a file in base64 has, by how its kind begins."""
    data = text.partition(b",")[2] if text.startswith(b"data:") else text
    if data.startswith(_IMAGES):
        return IMAGE_TOKENS
    return len(data) * 3 / 4 / (DOCUMENT_BYTES if data.startswith(_PDF) else AUDIO_BYTES)


def _tool(tool: Tool | OpaqueTool, family: _Family) -> float:
    if not isinstance(tool, Tool):
        return HOSTED_TOOL_TOKENS
    return family.tool + family.json * (len(tool.name) + len(tool.description or "") + _bytes(tool.parameters))


def _part(part: Part | Json, family: _Family) -> float:
    match part:
        case TextPart(text=text) | RefusalPart(text=text):
            return family.text * estimate_text(text)
        case ToolCall(name=name, arguments_json=text) | BrokenToolCall(name=name, raw_arguments=text):
            return family.call + family.json * (len(name) + len(text))
        case ToolResult(content=str(text)):
            return family.call + family.text * estimate_text(text)
        case ToolResult(content=Json() as value):
            return family.call + _part(value, family)
        case ToolResult(content=tuple(parts)):
            return family.call + sum(_part(inner, family) for inner in parts)
        case Json(value=value) | OpaquePart(raw=value) | ServerToolPart(raw=value):
            return family.json * _bytes(value)
        case _:
            return _media(part, family)


def _media(part: Part, family: _Family) -> float:
    match part:
        case ImagePart(data=data):
            from interlingua.media.header import read_header  # only who has images pays for it

            least, pixels, most = family.image
            header = read_header(data)
            if header is None or not header.width:
                return most
            return min(most, least + header.width * header.height / pixels)
        case AudioPart():
            return part.size_bytes / AUDIO_BYTES
        case DocumentPart(data=data, media_type=media_type) if media_type.startswith("text/"):
            return family.text * estimate_text(data.decode(errors="replace"))
        case DocumentPart(data=data):
            return max(PAGE_TOKENS, len(data) / DOCUMENT_BYTES)
        case _:
            return 0.0  # thinking


def _bytes(value: object) -> int:
    return len(encode(value, nulls=_ANY_NULLS))
