"""Reply bodies, inflated piece by piece: gzip and deflate, never more than a bound at once.

Rules
- Each piece gives what can be had of it at once, so a compressed event stream is not held back.
- One call inflates at most the given number of bytes; what is left waits compressed.
- A whole body is bounded after inflating; an event stream has no bound in total.
- gzip members are bounded by what they hold: each costs a step of its own, also an empty one of 20 bytes.
- Headers describe the body that is handed out.
- Only codings of the standard library are known; a request must not offer others. `ACCEPT_ENCODING` names them.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol

from interlingua.errors import APIConnectionError, LimitExceededError
from interlingua.transport.options import MAX_READ_BYTES

if TYPE_CHECKING:
    from interlingua.wire.http import Headers

__all__ = ["ACCEPT_ENCODING", "Body", "Inflater", "begin_body", "said_of_body"]

ACCEPT_ENCODING = "gzip, deflate"
"""The codings that a request for a whole reply may offer; a request for a stream should say `identity`."""

_STREAM_TYPES = (
    "text/event-stream",
    "application/x-ndjson",
    "application/jsonl",
    "application/stream+json",
    "application/vnd.amazon.eventstream",
)
_SAID_OF_BODIES = frozenset({"content-encoding", "content-type", "content-length", "transfer-encoding"})
_INFLATED = frozenset({"transfer-encoding", "content-encoding", "content-length"})
_GZIP_WBITS = 31
_ZLIB_WBITS = 15
_RAW_WBITS = -15


_MIN_MEMBERS = 100
_MEMBER_BYTES = 16_384
"""Beyond the first hundred, a gzip member for each so many inflated bytes: `bgzip` makes one for 64 KiB."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


class Inflater:
    """One compressed body on its way through."""

    __slots__ = ("_count", "_decompressor", "_gzip", "_members", "_more", "_peer", "_pending")

    def __init__(self, *, gzip: bool, peer: str) -> None:
        """A body of gzip members, or of deflate in a zlib or no wrapper; `peer` is named in errors."""
        self._gzip = gzip
        self._peer = peer
        self._pending = b""
        self._more = False
        self._members = self._count = 0
        self._decompressor: _Decompressor | None = None

    def feed(self, data: bytes) -> None:
        """Take one compressed piece."""
        self._pending += data
        self._more = True

    def read(self, limit_bytes: int) -> bytes:
        """At most `limit_bytes` inflated bytes; `b""` when more input is needed.

        Raises: APIConnectionError for a body that is not what its header says.
        """
        while self._more:
            decompressor = self._decompressor or self._open()
            if decompressor is None:
                return b""
            try:
                data = decompressor.decompress(self._pending, limit_bytes)
            except zlib.error:
                sentence = f"{self._peer} sent a body that is not the gzip or deflate it claims"
                raise APIConnectionError(sentence) from None
            self._pending = decompressor.unconsumed_tail
            self._more = bool(self._pending) or len(data) == limit_bytes
            self._count += len(data)
            if decompressor.eof:
                self._next_member(decompressor.unused_data)
            if data:
                return data
        return b""

    def finish(self) -> None:
        """Check that the body was whole.

        Raises: APIConnectionError when the compressed body was cut short.
        """
        if self._pending or not (self._decompressor is None or self._decompressor.eof):
            raise APIConnectionError(f"{self._peer} cut its compressed body short")

    def _open(self) -> _Decompressor | None:
        head = self._pending
        if self._gzip:
            self._decompressor = zlib.decompressobj(_GZIP_WBITS)
        elif len(head) < 2:
            self._more = False
        else:
            wrapped = head[0] & 15 == 8 and (head[0] << 8 | head[1]) % 31 == 0
            self._decompressor = zlib.decompressobj(_ZLIB_WBITS if wrapped else _RAW_WBITS)
        return self._decompressor

    def _next_member(self, rest: bytes) -> None:
        self._pending = rest
        self._more = bool(rest)
        if not rest:
            return
        if not self._gzip:
            raise APIConnectionError(f"{self._peer} sent bytes after the end of its compressed body")
        self._members += 1
        if self._members > _MIN_MEMBERS + self._count // _MEMBER_BYTES:
            raise APIConnectionError(
                f"{self._peer} sent {self._members} gzip members with {self._count} bytes in them: send one",
                retryable=False,
            )
        self._decompressor = None


def _inflater_for(coding: str, peer: str) -> Inflater | None:
    """The inflater that undoes a `content-encoding`, or None for identity.

    Raises: APIConnectionError for a coding that was not offered.
    """
    match coding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return Inflater(gzip=True, peer=peer)
        case "deflate":
            return Inflater(gzip=False, peer=peer)
        case other:
            raise APIConnectionError(
                f"{peer} compressed its body as {other[:40]!r}: take that out of the request's accept-encoding",
                retryable=False,
            )


class Body:
    """One reply body: pieces are fed as they arrive and taken as they are wanted, inflated and bounded.

    `begin` makes it the next one of the same peer.
    """

    __slots__ = (
        "_ended", "_inflater", "_limit_bytes", "_peer", "_taken_bytes", "buffered_bytes", "is_bounded", "pieces",
    )  # fmt: skip

    def __init__(self, peer: str, *, limit_bytes: int | None = None, coding: str = "") -> None:
        """An empty body from `peer`, of at most `limit_bytes` after inflating what `coding` says.

        Raises: APIConnectionError for a coding that was not offered.
        """
        self._peer = peer
        self.pieces: list[bytes] = []
        """The bytes that were fed and not yet taken, always the same list; who appends to it tells `count`."""
        self.begin(limit_bytes, coding)

    def begin(self, limit_bytes: int | None = None, coding: str = "") -> None:
        """An empty body, as if it were new.

        Raises: APIConnectionError for a coding that was not offered.
        """
        self._limit_bytes = limit_bytes
        self._inflater = _inflater_for(coding, self._peer) if coding else None
        self.is_bounded: bool = limit_bytes is not None or self._inflater is not None
        """Whether pieces have to be counted or inflated; those of any other body may be taken as they come."""
        self.pieces.clear()
        self._taken_bytes = 0
        self._ended = False
        self.buffered_bytes: int = 0
        """Bytes fed and not yet taken."""

    def fill(self, data: bytes) -> None:
        """A whole body at once, neither compressed nor beyond its bound."""
        self._inflater = None
        self.pieces.clear()
        if data:
            self.pieces.append(data)
        self._ended = True
        self.buffered_bytes = len(data)

    @property
    def finished(self) -> bool:
        """Whether the body has ended, was whole, and everything was taken."""
        return self._ended and not self.pieces and self._inflater is None

    @property
    def inflates(self) -> bool:
        """Whether what is fed is compressed."""
        return self._inflater is not None

    def feed(self, data: bytes) -> None:
        """Take one piece as it came.

        Raises: LimitExceededError for a body that was not compressed and is beyond the bound.
        """
        self.pieces.append(data)
        self.count(len(self.pieces) - 1)

    def count(self, before: int) -> None:
        """Take the pieces that were appended to those that were `known`.

        Raises: as `feed`.
        """
        pieces = self.pieces
        self.buffered_bytes += len(pieces[before]) if len(pieces) == before + 1 else sum(map(len, pieces[before:]))
        if self._limit_bytes is not None and self._inflater is None:
            self._check(self._taken_bytes + self.buffered_bytes)

    def end(self) -> None:
        """Nothing more will be fed."""
        self._ended = True

    def take(self) -> bytes:
        """The bytes at hand, inflated; `b""` when more input is needed or the body is finished.

        Raises: APIConnectionError for a broken coding, LimitExceededError for a body beyond the bound.
        """
        pieces = self.pieces
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self.buffered_bytes = 0
        inflater = self._inflater
        if inflater is not None:
            if data:
                inflater.feed(data)
            data = inflater.read(MAX_READ_BYTES)
            self._check(self._taken_bytes + len(data))
            if self._ended and not data:
                inflater.finish()
                self._inflater = None
        self._taken_bytes += len(data)
        return data

    def _check(self, count: int) -> None:
        if self._limit_bytes is not None and count > self._limit_bytes:
            raise LimitExceededError(f"{self._peer} sent a body beyond {self._limit_bytes} bytes")


def begin_body(headers: Headers, peer: str, max_body_bytes: int | None) -> tuple[Body, Headers]:
    """The body that follows `headers`, and the headers that describe it as it is handed out.

    Loss: `transfer-encoding` goes, and with a coding that is undone `content-encoding` and `content-length`.
    Raises: LimitExceededError for an announced length beyond the bound, APIConnectionError for an unknown coding.
    """
    limit_bytes, coding, shown = said_of_body(headers, peer, max_body_bytes)
    return Body(peer, limit_bytes=limit_bytes, coding=coding), shown


def said_of_body(headers: Headers, peer: str, max_body_bytes: int | None) -> tuple[int | None, str, Headers]:
    """The bound and the coding of the body that follows `headers`, and the headers that describe it in the end.

    Raises: LimitExceededError for an announced length beyond the bound.
    """
    coding = kind = length = ""
    is_chunked = False
    for name, value in headers:
        if name not in _SAID_OF_BODIES:
            continue
        match name:
            case "content-encoding":
                coding = f"{coding},{value}" if coding else value
            case "content-type":
                kind = value.lower()
            case "content-length":
                length = value
            case _:
                is_chunked = True
    limit_bytes = None if kind.startswith(_STREAM_TYPES) else max_body_bytes
    if limit_bytes is not None and length.isascii() and length.isdecimal() and int(length[:20]) > limit_bytes:
        raise LimitExceededError(f"{peer} announced a body beyond {limit_bytes} bytes")
    if coding.strip().lower() not in ("", "identity"):
        headers = tuple([pair for pair in headers if pair[0] not in _INFLATED])
    elif is_chunked:
        headers = tuple([pair for pair in headers if pair[0] != "transfer-encoding"])
    return limit_bytes, coding, headers
