"""Requests out of the bytes of one connection, without I/O; any cut of the bytes gives the same requests.

Strategy: httptools does the tokenizing; what it leaves open is decided here. A request is an `Arrival` as soon as its
head is whole, and is fed while its body comes. A plain head that was read before is known again by its bytes (`heads`):
then neither it nor its body is parsed, and a request that came whole and alone is taken at once.

Rules
- What two readers could read in two ways is refused with all that follows: the connection has no next request.
- Request line and headers are bounded in bytes and number, what stands around chunks is bounded by the chunks, from
  the first read on, and the requests that come before the first of them was answered are bounded in number.
- HTTP/1.1 names its host once. HTTP/1.0 has no chunks. No coding but `chunked` is undone.
- No other protocol is read here. The parser takes what follows such a wish for the other protocol, a body included:
  with a body it is refused, and without one it is the last request of its connection; what follows it is `rest`.
- Trailers are left out: a header that comes after the body was screened by nobody.
- `content-length` is left out as well: it is the body's, and heads that differ in nothing else are one.

Not responsible for: sockets, time, and what a body's content may be.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import unquote

import httptools

from interlingua.gateway.http import Head
from interlingua.gateway.serving.heads import MAX_DIGITS

if TYPE_CHECKING:
    from interlingua.gateway.serving.heads import Heads, Known

__all__ = ["MAX_HEADERS", "MAX_HEAD_BYTES", "MAX_WAITING", "Arrival", "Fault", "RequestReader"]

MAX_HEAD_BYTES = 65_536
"""The most that a request line and its headers may have together, and what is around a body."""
MAX_HEADERS = 128
"""The most headers of a request."""
MAX_WAITING = 64
"""The most requests that may come before the first of them is answered; what follows them has to be asked again."""
MAX_MISSES = 4
"""After how many heads in a row that were not known none is looked up: they differ each time."""
_AGAIN = 64
"""At each which request of a connection one is looked up all the same."""
_SLICE_BYTES = 65_536
"""How much is parsed before the bounds are looked at: one read may bring several times as much."""
_FRAMING = 8
"""How many bytes of framing are taken for each byte of a chunked body: enough for chunks of one byte."""
_LINE_BYTES = 4
"""The bytes of a header beside its name and its value."""
_NOTED = frozenset({"content-encoding", "content-length", "expect", "host", "transfer-encoding"})
"""Headers that say how a request is to be read."""
_ONLY_HTTP_1 = "this server speaks HTTP/1.1, not HTTP/2: have the client, or the proxy in front, ask with HTTP/1.1"
_PLAIN = frozenset({"content-length", "host"})
"""Those of them that a plain request has."""


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

    __slots__ = ("announced_bytes", "awaits", "head", "is_whole", "pieces")

    def __init__(self, head: Head, announced_bytes: int) -> None:
        """A request whose body has not come."""
        self.head: Head = head
        """Its head."""
        self.pieces: list[bytes] = []
        """The pieces of the body so far, unframed; who takes it clears it."""
        self.is_whole: bool = False
        """Whether nothing more will come."""
        self.awaits: bool = head.expects
        """Whether the client still waits to be told that it may send the body."""
        self.announced_bytes: int = announced_bytes
        """The length of its body, as far as its head says it."""


def _split(target: bytes) -> tuple[str, str]:
    """Path and query of a target, the path percent-decoded."""
    if target[:1] != b"/" and target != b"*":  # an address, as clients of proxies send it; `*` is the whole server
        scheme, mark, rest = target.partition(b"://")
        if not mark or scheme.lower() not in (b"http", b"https"):
            raise ValueError
        end = next((place for place, byte in enumerate(rest) if byte in b"/?"), len(rest))
        target = rest[end:] if rest[end : end + 1] == b"/" else b"/" + rest[end:]
    text = target.decode("ascii")
    if "#" in text:
        raise ValueError
    path, _, query = text.partition("?")
    return unquote(path) if "%" in path else path, query


class RequestReader:
    """Reads the requests of one connection."""

    __slots__ = (
        "_body_count", "_cached_head", "_head", "_head_count", "_headers", "_heads", "_is_in_head", "_left_bytes",
        "_misses", "_noted", "_parser", "_target", "arrivals", "begun", "count", "fault", "is_over", "is_receiving",
        "rest",
    )  # fmt: skip

    def __init__(self, heads: Heads) -> None:
        """A reader at the beginning of a connection, with the heads that are known."""
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
        self.rest: bytes = b""
        """The bytes behind a request that would go on with another protocol."""
        self._heads = heads
        self._cached_head: Known | None = heads.latest
        self._misses = 0
        self._left_bytes = 0
        self._parser: httptools.HttpRequestParser | None = None
        self._head: Head | None = None
        self._body_count = self._head_count = 0
        self._is_in_head = True
        self._target = b""
        self._headers: list[tuple[str, str]] = []
        self._noted: list[tuple[str, str]] = []

    def feed(self, data: bytes, limit_bytes: int = -1) -> tuple[Head, bytes] | None:
        """Read what came; `arrivals`, `fault` and `is_over` say afterwards what it was.

        Where the data are one whole request and nothing else, with a head that is known and a body of `limit_bytes` at
        most, and no other request waits, it gives head and body instead.
        """
        while data and not self.is_over:
            if self._left_bytes:  # of a body behind a known head
                piece, data = data[: self._left_bytes], data[self._left_bytes :]
                self._left_bytes -= len(piece)
                self.count += len(piece)
                self.arrivals[-1].pieces.append(piece)
                if not self._left_bytes:
                    self.on_message_complete()
            elif self.is_receiving or (parsed := _fit(self._cached_head, data) or self._find(data)) is None:
                self._parse(data)
                break
            else:
                head, length, place = parsed
                if length <= limit_bytes and place + length == len(data) and not self.arrivals:
                    self.begun += 1
                    self._misses = 0
                    return head, data[place:]
                data = self._feed_head(data, head, length, place)
        return None

    def close(self) -> None:
        """Read nothing more, and let go of the parser, which knows this reader."""
        self.is_over, self._parser = True, None

    def partial_head(self) -> Head | None:
        """The path and headers so far of a head that is not whole or cannot be read; None without a path."""
        if self._parser is None or not self._target:
            return None
        try:
            path = _split(self._target)[0]
        except ValueError:
            path = ""
        method = self._parser.get_method().decode("ascii")
        return Head(method=method, path=path, headers=tuple(self._headers))

    # A head that is known

    def _find(self, data: bytes) -> tuple[Head, int, int] | None:
        """The known head that data begin with, where it is not the latest one; what comes behind it, as `_fit` says."""
        if self._misses > MAX_MISSES and self.begun % _AGAIN:
            return None
        self._cached_head = self._heads.find(data)
        fit = _fit(self._cached_head, data)
        if fit is None:
            self._misses += 1
        return fit

    def _feed_head(self, data: bytes, head: Head, length: int, place: int) -> bytes:
        """Begin a request whose head is known; gives what comes behind the head."""
        self._misses = 0
        if len(self.arrivals) >= MAX_WAITING:
            self.is_over = True
            return b""
        self._begin()
        self.count, self._left_bytes = place, length
        self.arrivals.append(Arrival(head, length))
        if not length:
            self.on_message_complete()
        return data[place:]

    # Any other

    def _parse(self, data: bytes) -> None:
        is_beginning = not self.is_receiving
        if is_beginning:
            self._begin()
        begun = self.begun
        parser = self._parser = self._parser or httptools.HttpRequestParser(self)
        for place in range(0, len(data), _SLICE_BYTES):
            piece = data[place : place + _SLICE_BYTES]
            self.count += len(piece)
            try:
                parser.feed_data(piece)
            except httptools.HttpParserUpgrade as switch:
                self.is_over, self.rest = True, piece[switch.args[0] :]
            except httptools.HttpParserError as error:
                is_http_2 = parser.get_method() == b"PRI"  # how a connection of HTTP/2 begins
                self._fail(400, _ONLY_HTTP_1 if is_http_2 else f"this is no HTTP/1.1: {error}")
            if self.is_receiving and self.count - self._body_count > MAX_HEAD_BYTES + _FRAMING * self._body_count:
                self._fail(431, f"more than {MAX_HEAD_BYTES} bytes of headers, or around the chunks of a body")
            if self.is_over:
                self.rest += data[place + _SLICE_BYTES :]
                break
        head, is_alone = self._head, is_beginning and self.begun == begun
        if is_alone and head is not None and (self._misses <= MAX_MISSES or begun % _AGAIN == 1):
            noted = dict(self._noted)
            if head.keeps and not noted.keys() - _PLAIN:  # it is plain, and all that the data have: it is known again
                lines = len(head.headers) + ("content-length" in noted) + 2
                self._cached_head = self._heads.keep(data, head, lines=lines, length=noted.get("content-length", ""))

    def _begin(self) -> None:
        self.is_receiving = self._is_in_head = True
        self.begun += 1
        self.count = self._body_count = 0
        self._head = None
        self._target = b""

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
        parser = cast("httptools.HttpRequestParser", self._parser)
        noted = dict(self._noted)
        version = parser.get_http_version()
        try:
            path, query = _split(self._target)
        except ValueError:
            raise self._refuse(400, "the target of the request is neither a path nor an address of HTTP") from None
        upgrades = parser.should_upgrade()
        if why := self._why_not(noted, version, upgrades=upgrades):
            raise self._refuse(400, why)
        is_old = version == "1.0"
        self._head = Head(
            method=parser.get_method().decode("ascii"),
            path=path,
            query=query,
            headers=tuple([header for header in self._headers if header[0] != "content-length"]),
            is_coded="content-encoding" in noted,
            is_old=is_old,
            keeps=not (is_old or upgrades) and parser.should_keep_alive(),
            expects=not is_old and noted.get("expect", "").lower() == "100-continue",
            upgrades=upgrades and not is_old,
        )
        self.arrivals.append(Arrival(self._head, int(noted.get("content-length", "0")[:20])))
        if upgrades:
            self.is_over = True

    def _why_not(self, noted: dict[str, str], version: str, *, upgrades: bool) -> str:
        """The reason that forbids to read a request, or nothing."""
        coding = noted.get("transfer-encoding")
        if version not in ("1.0", "1.1"):
            return "HTTP/1.1 and HTTP/1.0 are spoken here"
        if len(noted) != len(self._noted):
            return "a header that counts came twice: which one is meant would depend on who reads them"
        if "host" not in noted and version == "1.1":
            return "no Host header"
        if coding is not None and (coding.lower() != "chunked" or version == "1.0"):
            return "Transfer-Encoding: only chunked is undone here, and only of HTTP/1.1"
        if upgrades and (coding is not None or "content-length" in noted):
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


def _fit(entry: Known | None, data: bytes) -> tuple[Head, int, int] | None:
    """The head, the length of its body and where that begins, if data begin with this head and any length."""
    if entry is None or not data.startswith(entry.before):
        return None
    place, after = len(entry.before), entry.after
    if not after:
        return entry.head, 0, place
    end = data.find(b"\r", place, place + MAX_DIGITS + 1)
    digits = data[place:end]
    if not digits.isdigit() or not data.startswith(after, end):
        return None
    return entry.head, int(digits), end + len(after)
