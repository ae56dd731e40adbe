"""Results of tools of MCP servers as the content of a result; and the other way round.

Shape: a list of blocks (text, image, audio, a resource, a link to one), and a structured value beside it.
Loss: texts beside a structured value, which by the protocol say the same; annotations and icons of blocks.
Source: modelcontextprotocol.io, specification 2025-11-25, Server features, Tools, Tool result, read 2026-11-22.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from interlingua.errors import ToolError
from interlingua.tools.outcome import Outcome
from interlingua.tools.result import content_of
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, Json, OpaquePart, TextPart, ToolResult
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from mcp_types import BlobResourceContents as Blob
    from mcp_types import CallToolResult, ContentBlock

__all__ = ["decode_result", "encode_result"]

_Media: TypeAlias = ImagePart | AudioPart | DocumentPart
_Given: TypeAlias = TextPart | _Media


def decode_result(result: CallToolResult) -> Outcome:
    """The content that a server's result holds.

    Raises: ToolError, for bytes that are not base64; UsageError, for numbers that JSON has not.
    """
    parts = tuple([_decode_block(block) for block in result.content])
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    structured: object = result.structured_content
    if len(texts) < len(parts):
        return Outcome(parts, result.is_error)
    if structured is not None and structured != {"result": "\n".join(texts)}:
        return Outcome(content_of(structured), result.is_error)
    if len(parts) > 1:
        return Outcome(parts, result.is_error)
    return Outcome("".join(texts), result.is_error)


def _decode_block(block: ContentBlock) -> _Given:
    match block.type:
        case "text":
            return TextPart(block.text)
        case "image":
            return ImagePart(_decode_bytes(block.data), block.mime_type)
        case "audio":
            return AudioPart(_decode_bytes(block.data), block.mime_type)
        case "resource_link":
            words = [f"Resource {block.name}: {block.uri}", block.mime_type, block.description]
            return TextPart(", ".join(word for word in words if word))
        case "resource":
            resource = block.resource
            text: object = getattr(resource, "text", None)
            if isinstance(text, str):
                return TextPart(text)
            data = _decode_bytes(cast("Blob", resource).blob)
            kind = resource.mime_type or "application/octet-stream"
            if kind.startswith("image/"):
                return ImagePart(data, kind)
            if kind.startswith("audio/"):
                return AudioPart(data, kind)
            return DocumentPart(data, kind, resource.uri.rstrip("/").rpartition("/")[2] or None)


def _decode_bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:  # which is what is wrong with the letters, the length or the padding
        raise ToolError("the tool gave bytes that are not base64") from None


def encode_result(result: ToolResult) -> CallToolResult:
    """A result as a server answers it; a JSON object is structured content, too."""
    from mcp_types import CallToolResult, TextContent

    content = result.content
    structured: dict[str, Any] | None = None
    if isinstance(content, str):
        blocks: list[ContentBlock] = [TextContent(text=content)] if content else []
    elif isinstance(content, Json):
        blocks = [_encode_json(content)]
        value: object = content.value
        structured = cast("dict[str, Any]", value) if isinstance(value, dict) else None
    else:
        blocks = [_encode_part(part) for part in content]
    return CallToolResult(content=blocks, structured_content=structured, is_error=result.is_error)


def _encode_json(value: Json) -> ContentBlock:
    from mcp_types import TextContent

    return TextContent(text=encode(value.value).decode())


def _encode_part(part: _Given | OpaquePart | Json) -> ContentBlock:
    from mcp_types import AudioContent, BlobResourceContents, EmbeddedResource, ImageContent, TextContent

    match part:
        case TextPart():
            return TextContent(text=part.text)
        case ImagePart():
            return ImageContent(data=part.base64, mime_type=part.media_type)
        case AudioPart():
            return AudioContent(data=part.base64, mime_type=part.media_type)
        case DocumentPart():
            uri = f"document:///{part.name or 'document'}"
            resource = BlobResourceContents(uri=uri, mime_type=part.media_type, blob=part.base64)
            return EmbeddedResource(resource=resource)
        case Json():
            return _encode_json(part)
        case OpaquePart():
            return TextContent(text=f"A part that only {part.dialect} can read: {part.kind}")
