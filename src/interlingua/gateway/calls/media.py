"""Media that a client's body names by address: passed on in its own dialect, refused elsewhere, or fetched if allowed.

Rules
- Nothing is fetched unless the gateway was started so, and then by the guarded fetcher alone: https, public addresses,
  every redirect checked anew.
- An id of a file at a provider is nobody else's to read: it is never fetched.
- What cannot be fetched is the request's fault, and the error names the place and the host.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.errors import Error, UsageError
from interlingua.types.content import OpaquePart, ToolResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from interlingua.media.fetch import Fetched
    from interlingua.types.content import Part
    from interlingua.types.request import Request

__all__ = ["MAX_REFERENCES", "address_of", "with_media"]

MAX_REFERENCES = 32
"""How many addresses of one request are fetched."""
_MEMBERS = (
    "url", "image_url", "file_url", "document_url", "video_url", "audio_url", "source",
    "fileUri", "file_uri", "fileData", "file_data",
)  # fmt: skip
"""Members below which a dialect tells an address."""


def address_of(part: OpaquePart) -> str | None:
    """The address that a reference names; None for a file id and for anything else."""
    return _address(part.raw) if part.kind == "media_ref" else None


def _address(raw: object) -> str | None:
    if isinstance(raw, str):
        return raw if raw.startswith(("https://", "http://")) else None
    if not isinstance(raw, dict):
        return None
    members = cast("dict[str, Any]", raw)
    addresses = (_address(members[name]) for name in _MEMBERS if name in members)
    return next((address for address in addresses if address is not None), None)


async def with_media(request: Request, fetch: Callable[[str], Awaitable[Fetched]]) -> Request:
    """The request with the content of every address in the place of its reference.

    Raises: UsageError for more than `MAX_REFERENCES`, and for what cannot be fetched.
    """
    references = [
        (f"/messages/{place}/parts/{number}", address)
        for place, message in enumerate(request.messages)
        for number, part in enumerate(message.parts)
        for address in _addresses(part)
    ]
    if not references:
        return request
    addresses = dict.fromkeys(address for _, address in references)
    if len(addresses) > MAX_REFERENCES:
        raise UsageError(f"the request names {len(addresses)} addresses of media; {MAX_REFERENCES} are fetched at most")
    places = {address: place for place, address in reversed(references)}
    parts = await asyncio.gather(*[_fetched(address, places[address], fetch) for address in addresses])
    fetched = dict(zip(addresses, parts, strict=True))
    messages = [
        msgspec.structs.replace(message, parts=tuple([_with_content(part, fetched) for part in message.parts]))
        if any(_addresses(part) for part in message.parts)
        else message
        for message in request.messages
    ]
    return msgspec.structs.replace(request, messages=tuple(messages))


async def _fetched(address: str, place: str, fetch: Callable[[str], Awaitable[Fetched]]) -> Fetched:
    try:
        return await fetch(address)
    except Error as error:
        raise UsageError(f"{place}: {error.message}") from error


def _addresses(part: Part) -> list[str]:
    inner: Sequence[object] = (part,)
    if isinstance(part, ToolResult):
        inner = part.content if isinstance(part.content, tuple) else ()
    addresses = [address_of(one) for one in inner if isinstance(one, OpaquePart)]
    return [address for address in addresses if address is not None]


def _with_content(part: Any, fetched: dict[str, Fetched]) -> Any:
    if isinstance(part, ToolResult) and isinstance(part.content, tuple):
        content = tuple([_with_content(inner, fetched) for inner in part.content])
        return msgspec.structs.replace(part, content=content)
    address = address_of(part) if isinstance(part, OpaquePart) else None
    return part if address is None else fetched[address]
