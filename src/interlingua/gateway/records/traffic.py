"""The traffic of one request, on both sides of the gateway, for cassettes, content logs and the console.

Rules
- Bodies are kept up to a bound each, then no further; what is kept says whether it is whole.
- Headers that carry credentials are left out, and whatever was sent in one is cut out of everything else.
- What listens changes nothing: pieces are passed on as they come.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from interlingua.errors import redact
from interlingua.gateway.http import Closing
from interlingua.gateway.records.record import Content, Passage
from interlingua.wire.http import SECRET_HEADERS, SHORTEST_SECRET

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator

    from interlingua.gateway.http import GatewayReply, GatewayRequest, Pieces
    from interlingua.transport.base import AsyncReply, AsyncTransport, Timeouts
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["MAX_KEPT_BYTES", "Traffic"]

MAX_KEPT_BYTES = 1024 * 1024
"""The most that is kept of one body."""
MAX_PASSAGES = 16
"""The most exchanges with upstreams that are kept of one request: as many as a call makes tries."""
_SECRET_WORDS = ("key", "token", "secret", "auth", "cookie")
_QUERY_SECRET = re.compile(r"(^|&)((?:key|api[-_]?key|token|access_token)=)[^&]*", re.IGNORECASE)


class _Kept:
    """The beginning of a body, as much of it as is kept."""

    __slots__ = ("_pieces", "_size", "is_whole")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self.is_whole = False

    def hear(self, piece: bytes) -> None:
        left = MAX_KEPT_BYTES - self._size
        if left > 0:
            self._pieces.append(piece[:left])
        self._size += len(piece)

    def end(self) -> None:
        self.is_whole: bool = self._size <= MAX_KEPT_BYTES

    def bytes(self) -> bytes:
        return b"".join(self._pieces)


class Traffic:
    """The content of one request, its answer and its exchanges with upstreams."""

    def __init__(self, request: GatewayRequest) -> None:
        """A request that has just come."""
        self._request = request
        self._heard: list[_Heard] = []
        self._reply_headers: Headers = ()
        self._reply = _Kept()

    def set_request(self, request: GatewayRequest) -> None:
        """The whole request is there; its entry, which holds this, would make a circle that nobody collects."""
        self._request = msgspec.structs.replace(request, entry=None)

    def replied(self, reply: GatewayReply) -> GatewayReply:
        """The reply with somebody who listens to its body."""
        self._reply_headers = reply.headers
        if isinstance(reply.body, bytes):
            self._reply.hear(reply.body)
            self._reply.end()
            return reply
        pieces = reply.body
        return msgspec.structs.replace(reply, body=Closing(self._listened(pieces), pieces.aclose))

    async def _listened(self, pieces: Pieces) -> AsyncGenerator[bytes]:
        async for piece in pieces:
            self._reply.hear(piece)
            yield piece
        self._reply.end()

    def tap(self, transport: AsyncTransport) -> AsyncTransport:
        """The transport with somebody who listens to what goes through."""
        return _Listening(transport, self)

    def passes(self, request: HttpRequest) -> _Heard:
        """The recorder of an exchange that begins."""
        heard = _Heard(request)
        if len(self._heard) < MAX_PASSAGES:
            self._heard.append(heard)
        return heard

    def content(self, secret: str) -> Content:
        """All of it, without secrets; `secret` is the client's key."""
        request = self._request
        sent = [part for heard in self._heard for part in _secrets_of(heard.request.headers)]
        clean = _Cleaner([secret, *_secrets_of(request.headers), *sent])
        return Content(
            method=request.method,
            path=clean.text(request.path),
            query=clean.text(_QUERY_SECRET.sub(r"\1\2***", request.query)),
            headers=clean.headers(request.headers),
            body=clean.body(request.body[:MAX_KEPT_BYTES]),
            passages=tuple([clean.passage(heard) for heard in self._heard]),
            reply_headers=clean.headers(self._reply_headers),
            reply_body=clean.body(self._reply.bytes()),
            is_whole=self._reply.is_whole and len(request.body) <= MAX_KEPT_BYTES,
        )


class _Heard:
    """One exchange with an upstream, as far as it went."""

    __slots__ = ("body", "headers", "request", "status")

    def __init__(self, request: HttpRequest) -> None:
        self.request: HttpRequest = request
        self.status: int = 0
        self.headers: Headers = ()
        self.body: _Kept = _Kept()


class _Listening:
    """A transport that is listened to."""

    def __init__(self, inner: AsyncTransport, traffic: Traffic) -> None:
        self._inner = inner
        self._traffic = traffic

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        heard = self._traffic.passes(request)
        reply = await self._inner.open(request, timeouts)
        heard.status, heard.headers = reply.status, reply.headers
        return _ListeningReply(reply, heard)

    async def close(self) -> None:
        await self._inner.close()


class _ListeningReply:
    """A reply that is listened to."""

    def __init__(self, inner: AsyncReply, heard: _Heard) -> None:
        self._inner = inner
        self._heard = heard

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Headers:
        return self._inner.headers

    async def read(self) -> bytes:
        piece = await self._inner.read()
        if piece:
            self._heard.body.hear(piece)
        else:
            self._heard.body.end()
        return piece

    async def close(self) -> None:
        await self._inner.close()


# Without secrets


class _Cleaner:
    """Cuts out what was sent in secret, and what looks like a credential."""

    def __init__(self, secrets: Iterable[str]) -> None:
        longest_first = sorted({text for text in secrets if len(text) >= SHORTEST_SECRET}, key=len, reverse=True)
        self._secrets = longest_first

    def text(self, text: str) -> str:
        return redact(text, *self._secrets)

    def body(self, body: bytes) -> bytes:
        """A body; one that is no text stays as it is, but for the secrets themselves."""
        try:
            return self.text(body.decode()).encode()
        except UnicodeDecodeError:
            for secret in self._secrets:
                body = body.replace(secret.encode(), b"***")
            return body

    def headers(self, headers: Headers) -> Headers:
        return tuple([(name, self.text(value)) for name, value in headers if not _is_secret(name)])

    def passage(self, heard: _Heard) -> Passage:
        request = heard.request
        return Passage(
            target=request.target or "",
            dialect=request.dialect or "",
            method=request.method,
            url=self.text(request.url),
            request_headers=self.headers(request.headers),
            request_body=self.body(request.body[:MAX_KEPT_BYTES]),
            status=heard.status,
            headers=self.headers(heard.headers),
            body=self.body(heard.body.bytes()),
            is_whole=heard.body.is_whole and len(request.body) <= MAX_KEPT_BYTES,
        )


def _is_secret(name: str) -> bool:
    return name in SECRET_HEADERS or any(word in name for word in _SECRET_WORDS)


def _secrets_of(headers: Headers) -> Iterator[str]:
    """The values of headers that carry credentials, and each word of them."""
    for name, value in headers:
        if _is_secret(name):
            yield value
            yield from value.split()[1:]
