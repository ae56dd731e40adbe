"""Requests out of the bytes of one connection, without I/O; any cut of the bytes gives the same requests.

Strategy: httptools does the tokenizing; what it leaves open is decided here. A request is an `Arrival` as soon as its
head is whole, and is fed while its body comes.

Rules
- What two readers could read in two ways is refused with all that follows: the connection has no next request.
- Request line and headers are bounded in bytes and number, what stands around chunks is bounded by the chunks, and the
  requests that come before the first of them was answered are bounded in number.
- HTTP/1.1 names its host once. HTTP/1.0 has no chunks. No coding but `chunked` is undone.
- No other protocol is switched to. The parser takes what follows such a wish for the other protocol, a body included:
  with a body it is refused, and without one it is the last request of its connection.
- Trailers are left out: a header that comes after the body was screened by nobody.

Not responsible for: sockets, time, and what a body's content may be.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import httptools

from interlingua.gateway.http import GatewayRequest

if TYPE_CHECKING:
    from interlingua.wire.http import Headers

__all__ = ["MAX_HEADERS", "MAX_HEAD_BYTES", "MAX_WAITING", "Arrival", "Fault", "RequestReader"]

MAX_HEAD_BYTES = 65_536
"""The most that a request line and its headers may have together, and what is around a body."""
MAX_HEADERS = 128
"""The most headers of a request."""
MAX_WAITING = 64
"""The most requests that may come before the first of them is answered; what follows them has to be asked again."""
_FRAMING = 8
"""How many bytes of framing are taken for each byte of a chunked body: enough for chunks of one byte."""
_LINE_BYTES = 4
"""What a header has beside its name and its value."""
_NOTED = frozenset({"content-encoding", "content-length", "expect", "host", "transfer-encoding"})
"""Headers that say how a request is to be read."""


class Fault(NamedTuple):
    """Why a connection ends before its client wished it."""

    status: int
    """The HTTP status that says so."""
    message: str
    """The sentence that says so."""


class _RefusedError(Exception):
    """Ends the parser's work; `RequestReader.fault` says why."""


class Arrival:
    """One request on its way in: its head, and what has come of its body and was not taken yet."""

    __slots__ = ("expects", "headers", "is_coded", "is_old", "is_whole", "keeps", "method", "path", "pieces", "query")

    def __init__(self, method: str, target: bytes, headers: Headers) -> None:
        """A request whose body has not come.

        Raises: ValueError for a target that is neither a path nor an address of HTTP.
        """
        self.method: str = method
        """GET, POST, …"""
        path, query = _split(target)
        self.path: str = path
        """Percent-decoded."""
        self.query: str = query
        """What comes after the question mark, as it came."""
        self.headers: Headers = headers
        """Lower-case names."""
        self.pieces: list[bytes] = []
        """What has come of the body, unframed; who takes it clears it."""
        self.is_whole: bool = False
        """Whether nothing more will come."""
        self.is_coded: bool = False
        """Whether its body has a content coding, which nothing here undoes."""
        self.is_old: bool = False
        """Whether it is HTTP/1.0: it is the last of its connection, and its reply has no chunks."""
        self.keeps: bool = True
        """Whether the client would go on with the connection."""
        self.expects: bool = False
        """Whether the client waits to be told that it may send the body."""

    def request(self, peer: str, body: bytes = b"") -> GatewayRequest:
        """What the gateway is asked by the client at the address `peer`."""
        return GatewayRequest(
            method=self.method, path=self.path, query=self.query, headers=self.headers, body=body, peer=peer
        )


def _split(target: bytes) -> tuple[str, str]:
    """Path and query of a target, the path percent-decoded."""
    if target[:1] != b"/":
        target = _without_host(target)
    text = target.decode("ascii")
    if "#" in text:
        raise ValueError
    path, _, query = text.partition("?")
    return unquote(path) if "%" in path else path, query


def _without_host(target: bytes) -> bytes:
    """Path and query of an address, as clients of proxies send it; `*` stands for the whole server."""
    if target == b"*":
        return target
    scheme, mark, rest = target.partition(b"://")
    if not mark or scheme.lower() not in (b"http", b"https"):
        raise ValueError
    end = next((place for place, byte in enumerate(rest) if byte in b"/?"), len(rest))
    return rest[end:] if rest[end : end + 1] == b"/" else b"/" + rest[end:]


class RequestReader:
    """Reads the requests of one connection."""

    def __init__(self) -> None:
        """A reader at the beginning of a connection."""
        self.arrivals: deque[Arrival] = deque()
        """The requests that have come, in order; who has answered one removes it."""
        self.fault: Fault | None = None
        """Why nothing more is read, where the client is to know."""
        self.is_over: bool = False
        """Whether nothing more is read."""
        self.is_receiving: bool = False
        """Whether a request has begun and is not whole."""
        self.begun: int = 0
        """How many requests have begun."""
        self.count: int = 0
        """How many bytes of the one that is being received have come."""
        self._body_count = 0
        self._head_count = 0
        self._is_in_head = True
        self._target = b""
        self._headers: list[tuple[str, str]] = []
        self._noted: list[tuple[str, str]] = []
        self._parser = httptools.HttpRequestParser(self)

    def feed(self, data: bytes) -> None:
        """Read what came; `arrivals`, `fault` and `is_over` say afterwards what it was."""
        if self.is_over:
            return
        if not self.is_receiving:
            self._begin()
        self.count += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.is_over = True
        except httptools.HttpParserError as error:
            self._fail(400, f"this is no HTTP/1.1: {error}")
        if self.is_receiving and self.count - self._body_count > MAX_HEAD_BYTES + _FRAMING * self._body_count:
            self._fail(431, f"more than {MAX_HEAD_BYTES} bytes of headers")

    def _begin(self) -> None:
        self.is_receiving = self._is_in_head = True
        self.begun += 1
        self.count = self._body_count = 0

    def _fail(self, status: int, message: str) -> None:
        if not self.is_over:
            self.is_over, self.fault = True, Fault(status, message)

    def _refuse(self, status: int, message: str) -> _RefusedError:
        self._fail(status, message)
        return _RefusedError()

    # What the parser calls

    def on_message_begin(self) -> None:
        """Begin another request."""
        if len(self.arrivals) >= MAX_WAITING:
            self.is_over = True
            raise _RefusedError
        if not self.is_receiving:
            self._begin()
        self._head_count = 0
        self._target = b""
        self._headers, self._noted = [], []

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self._add_to_head(len(url))
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; a trailer is left out."""
        if not self._is_in_head:
            return
        self._add_to_head(len(name) + len(value) + _LINE_BYTES)
        if len(self._headers) >= MAX_HEADERS:
            raise self._refuse(431, f"more than {MAX_HEADERS} headers")
        header = name.decode("latin-1").lower(), value.decode("latin-1").strip(" \t")
        self._headers.append(header)
        if header[0] in _NOTED:
            self._noted.append(header)

    def _add_to_head(self, count: int) -> None:
        self._head_count += count
        if self._head_count > MAX_HEAD_BYTES:
            raise self._refuse(431, f"more than {MAX_HEAD_BYTES} bytes of headers")

    def on_headers_complete(self) -> None:
        """Have the request arrive, and take what follows for its body."""
        self._is_in_head = False
        parser = self._parser
        noted = dict(self._noted)
        version = parser.get_http_version()
        try:
            arrival = Arrival(parser.get_method().decode("ascii"), self._target, tuple(self._headers))
        except ValueError:
            raise self._refuse(400, "the target of the request is neither a path nor an address of HTTP") from None
        if why := self._why_not(noted, version):
            raise self._refuse(400, why)
        arrival.is_coded = "content-encoding" in noted
        arrival.is_old = version == "1.0"
        arrival.keeps = not arrival.is_old and parser.should_keep_alive()
        arrival.expects = not arrival.is_old and noted.get("expect", "").lower() == "100-continue"
        self.arrivals.append(arrival)
        if parser.should_upgrade():
            self.is_over, arrival.keeps = True, False

    def _why_not(self, noted: dict[str, str], version: str) -> str:
        """What forbids to read a request, or nothing."""
        coding = noted.get("transfer-encoding")
        if version not in ("1.0", "1.1"):
            return "HTTP/1.1 and HTTP/1.0 are spoken here"
        if len(noted) != len(self._noted):
            return "a header that counts came twice: which one is meant would depend on who reads them"
        if "host" not in noted and version == "1.1":
            return "no Host header"
        if coding is not None and (coding.lower() != "chunked" or version == "1.0"):
            return "Transfer-Encoding: only chunked is undone here, and only of HTTP/1.1"
        if self._parser.should_upgrade() and (coding is not None or "content-length" in noted):
            return "Upgrade: no other protocol is spoken here, and a body cannot come with this header"
        return ""

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._body_count += len(body)
        self.arrivals[-1].pieces.append(body)

    def on_message_complete(self) -> None:
        """Wait for no more of this request."""
        self.is_receiving = False
        self.arrivals[-1].is_whole = True
