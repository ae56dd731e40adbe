"""Blocks of tools that the service runs, read: a call, or what came of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_list, is_object
from interlingua.dialects._steps import files_in, joined, string_in
from interlingua.dialects.anthropic.parts import NAME
from interlingua.types.content import ServerToolPart, Source
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.types.content import Cache

__all__ = ["is_step", "read_step"]

RESULT = "_tool_result"
"""How the types of results end; `tool_result` itself is the client's."""
_SEALED = ("encrypted_content", "encrypted_stdout", "encrypted_index", "type")
"""Members of a result that say nothing to a reader."""


def is_step(kind: str | None) -> bool:
    """Whether a block of this type is a step of a tool that the service runs, or its summary of what came before."""
    return kind in ("server_tool_use", "mcp_tool_use", "compaction") or bool(kind and kind.endswith(RESULT))


def read_step(raw: dict[str, Any], provider: str | None, cache: Cache | None = None) -> ServerToolPart:
    """The step that a block is."""
    kind = str(raw.get("type"))
    if kind == "compaction":
        summary = raw.get("content")
        text = summary if isinstance(summary, str) else None
        return ServerToolPart(NAME, kind, raw, kind, None, None, text, provider=provider, cache=cache)
    if kind in ("server_tool_use", "mcp_tool_use"):
        name = "/".join([one for one in (string_in(raw, "server_name"), string_in(raw, "name")) if one])
        arguments = raw.get("input", {})
        return ServerToolPart(
            NAME, kind, raw, name, string_in(raw, "id"), arguments, provider=provider, cache=cache
        )  # fmt: skip
    content = raw.get("content")
    sources = _sources(content)
    failed = raw.get("is_error") is True or string_in(content, "error_code") is not None
    return ServerToolPart(
        NAME,
        kind,
        raw,
        kind.removesuffix(RESULT),
        string_in(raw, "tool_use_id"),
        None,
        _output(content),
        sources,
        "failed" if failed else "completed",
        provider,
        cache,
    )


def _sources(content: object) -> tuple[Source, ...]:
    """The pages that a search found, or the one that was fetched."""
    if is_object(content) and "url" in content:
        return (Source(string_in(content, "url"), string_in(content.get("content"), "title")),)
    results = content if is_list(content) else ()
    return files_in([one for one in results if is_object(one) and one.get("type") == "web_search_result"])


def _output(content: object) -> str:
    """The words of a result; one of a kind that is not known is sent as its JSON."""
    if isinstance(content, str):
        return content
    if is_list(content):
        return joined([string_in(one, "text") for one in content])
    return _object_output(content) if is_object(content) else ""


def _object_output(content: dict[str, Any]) -> str:
    match content:
        case {"error_code": str(code)}:
            return joined([code, string_in(content, "error_message")])
        case {"stdout": _}:
            code = content.get("return_code")
            ended = f"return code {code}" if code else None
            return joined([string_in(content, "stdout"), string_in(content, "stderr"), ended])
        case {"tool_references": list()}:
            return joined([string_in(one, "tool_name") for one in content["tool_references"]])
        case {"content": {"source": {"type": "text", "data": str(text)}}} | {"text": str(text)}:
            return text
        case {"type": "web_fetch_result"}:
            return ""  # a file, of which the address is told
        case _:
            rest = {name: value for name, value in content.items() if name not in _SEALED}
            return encode(rest).decode() if rest else ""
