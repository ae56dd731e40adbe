"""HTTP/1.1 of a client, without I/O: a request becomes bytes, bytes become a reply.

Strategy: `encode_request` writes a request head in one go. One `ResponseReader` lives as long as its connection; it is
fed whatever arrives and hands out the body piece by piece. httptools does the tokenizing; what it leaves open is
decided here.

Rules
- A name or value that would break the head apart is refused, not repaired (ConfigError).
- Reading raises only APIConnectionError (broken or cut short) and LimitExceededError (a bound was hit).
- Bounds: 64 KiB and 100 lines of head with interim replies, 64 KiB without a body byte inside a body (chunk extensions,
  trailers), `max_body_bytes` of a whole inflated body, 256 KiB inflated at once.
- 1xx is skipped; 101 is an error; 204, 304 and the replies to HEAD and CONNECT have no body.
- A connection is kept only when the reply was framed, ended, asked to be kept, and nothing came after it.
- Headers describe the body that is handed out: `content-encoding`, `content-length` and `transfer-encoding` go when the
  bytes were inflated or unframed.

Not responsible for: sockets, time, redirects, proxies, or what a body means.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httptools

from interlingua.errors import APIConnectionError, ConfigError, Error, LimitExceededError
from interlingua.transport.body import Body, said_of_body
from interlingua.transport.heads import CHUNKED, MAX_PLAIN_HEAD_BYTES, holds_cookies, latest_head, plain_head
from interlingua.transport.options import MAX_HEAD_BYTES, MAX_HEADERS
from interlingua.wire.cache import ByteCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.transport.heads import LatestHead
    from interlingua.transport.url import Target
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["ResponseReader", "encode_connect", "encode_head", "encode_request", "with_length"]

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING_HEADERS = frozenset({"content-length", "transfer-encoding"})
_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_BODILESS = frozenset({"HEAD", "CONNECT"})
_NO_BODY_STATUSES = frozenset({204, 304})
_CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
_MOST_STRANGE = 8
"""After how many heads that were not like the one before it only few are remembered: the server dates them, say."""
_SELDOM = 64


def _check_name(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise ConfigError(f"header name {name[:60]!r} is not allowed in HTTP: use letters, digits and hyphens")
    if name.lower() in _FRAMING_HEADERS:
        raise ConfigError(f"header {name} is set by the transport: leave it out")
    return name.lower()


def _lower(name: bytes) -> str:
    """The name of a header that came."""
    return name.decode("latin-1").lower()


_checked_names = ByteCache(200_000, _check_name)
_lowered = ByteCache(200_000, _lower)


def _check_values(headers: Headers) -> None:
    for name, value in headers:
        if "\r" in value or "\n" in value or "\0" in value:
            raise ConfigError(f"the value of header {name} holds a line break or a NUL: does a key end with one?")
        if any(ord(character) > 255 for character in value):
            raise ConfigError(f"the value of header {name} holds a character that HTTP cannot carry: percent-encode it")


def encode_request(
    request: HttpRequest, target: Target, *, absolute: bool = False, proxy_authorization: str | None = None
) -> bytes:
    """The head of a request; the body follows as it is.

    Shape: `absolute` writes the whole URL into the request line, as proxies of plain http want it.
    Raises: ConfigError for a method, name or value that does not fit into a head.
    """
    head = encode_head(request, target, absolute=absolute, proxy_authorization=proxy_authorization)
    return with_length(head, request.method, request.body)


def encode_head(
    request: HttpRequest, target: Target, *, absolute: bool = False, proxy_authorization: str | None = None
) -> bytes:
    """The head of a request without its length and its end; `with_length` ends it.

    Raises: as `encode_request`.
    """
    where = f"{target.origin.scheme}://{target.authority}{target.path}" if absolute else target.path
    return _heads[request.method, where, target.authority, request.headers, proxy_authorization]


def with_length(head: bytes, method: str, body: bytes) -> bytes:
    """A head with the length of the body that follows."""
    if body or method not in _WITHOUT_BODY:
        return b"%bcontent-length: %d\r\n\r\n" % (head, len(body))
    return head + b"\r\n"


def _write_head(key: tuple[str, str, str, Headers, str | None]) -> bytes:
    """The head of a request without its length and its end."""
    method, where, authority, headers, proxy_authorization = key
    if not _TOKEN.fullmatch(method):
        raise ConfigError(f"{method[:40]!r} is not an HTTP method")
    lines = [f"{method} {where} HTTP/1.1"]
    named_host = False
    for name, value in headers:
        lowered = _checked_names[name]
        named_host = named_host or lowered == "host"
        lines.append(f"{lowered}: {value}")
    if not named_host:
        lines.insert(1, f"host: {authority}")
    if proxy_authorization is not None:
        lines.append(f"proxy-authorization: {proxy_authorization}")
    return _join(lines, headers)


_heads = ByteCache(1_000_000, _write_head)
"""Calls of one target differ in their bodies, seldom in their heads."""


def _join(lines: list[str], headers: Headers) -> bytes:
    head = "\r\n".join(lines)
    if head.count("\n") != len(lines) - 1 or head.count("\r") != len(lines) - 1 or "\0" in head:
        _check_values(headers)
        raise ConfigError("a request head holds a line break or a NUL: refused")
    try:
        return f"{head}\r\n".encode("latin-1")
    except UnicodeEncodeError:
        _check_values(headers)
        raise ConfigError("a request head holds a character that HTTP cannot carry: percent-encode it") from None


def encode_connect(peer: str, proxy_authorization: str | None) -> bytes:
    """The request for a tunnel to `peer` (`host:port`)."""
    lines = [f"CONNECT {peer} HTTP/1.1", f"host: {peer}"]
    if proxy_authorization is not None:
        lines.append(f"proxy-authorization: {proxy_authorization}")
    return _join(lines, ()) + b"\r\n"


class ResponseReader:
    """The replies of one connection, one after the other: `start`, then `feed` and `take` until `finished`."""

    __slots__ = (
        "_framed",
        "_head_left",
        "_is_bodiless",
        "_is_told",
        "_latest",
        "_latest_chunked",
        "_left_bytes",
        "_length",
        "_max_body_bytes",
        "_parser",
        "_raw_headers",
        "_silent_bytes",
        "_strange",
        "_trouble",
        "body",
        "complete",
        "head_done",
        "headers",
        "in_head",
        "inflates",
        "on_body",
        "peer",
        "reusable",
        "started",
        "status",
        "take",
        "trailing",
    )

    def __init__(self, peer: str, *, max_body_bytes: int | None = None) -> None:
        """A reader for a new connection to `peer`, which is named in errors."""
        self.peer: str = peer
        self.body: Body = Body(peer)
        """The body of the latest reply."""
        self.take: Callable[[], bytes] = self.body.take
        """The body bytes at hand, inflated; `b""` when more input is needed or the reply is finished.

        Raises: APIConnectionError for a broken coding, LimitExceededError for a body beyond the bound.
        """
        self.on_body: Callable[[bytes], None] = self.body.pieces.append
        """Called by the parser with one piece of the body, unframed; `feed` counts them afterwards."""
        self._max_body_bytes = max_body_bytes
        self._parser = httptools.HttpResponseParser(self)
        self._left_bytes = 0
        self._is_told = False
        self._latest: LatestHead | None = None
        self._latest_chunked: tuple[bytes, int, Headers, int | None] | None = None
        self._strange = 0
        self.started: bool = False
        """Whether any byte came."""
        self.complete: bool = True
        """Whether the reply's framing has ended; its last pieces may still be waiting."""
        self.trailing: bool = False
        """Whether bytes came after the end of a reply."""
        self.reusable: bool = False
        """Whether the connection may carry another request once this reply is finished."""

    def start(self, method: str) -> None:
        """Expect the reply to a request of `method`."""
        self._is_bodiless = method in _BODILESS
        self._framed = False
        self._left_bytes = 0
        self.status: int = 0
        """HTTP status, 0 before the head is there."""
        self.headers: Headers = ()
        """Headers with lower-case names."""
        self.inflates: bool = False
        """Whether the body comes compressed."""
        self.in_head: bool = False
        """Whether a head, interim or final, has begun and not ended an interim reply."""
        self.head_done: bool = False
        """Whether status and headers are there."""
        self.started = self.complete = self.reusable = False
        if self.body.buffered_bytes:  # of a reply that nobody read
            self.body.begin()

    def _start_parsing(self) -> None:
        self._head_left = MAX_HEAD_BYTES
        self._silent_bytes = 0
        self._trouble: Error | None = None
        self._reset_head()

    def _reset_head(self) -> None:
        self._raw_headers: list[tuple[bytes, bytes]] = []
        self._framed = False
        self._length = ""

    @property
    def finished(self) -> bool:
        """Whether everything was taken."""
        return self.complete and self.body.finished

    def feed(self, data: bytes | memoryview) -> None:
        """Take what arrived; nothing of it is kept.

        Raises: APIConnectionError, LimitExceededError; the connection is of no use after either.
        """
        if self._left_bytes:
            self._feed_plainly(bytes(data))
            return
        if not self.started and not self.complete:
            self.started = True
            if not self._is_bodiless and self._read_plain_head(bytes(data)):
                return
            self._start_parsing()
        if (not self.head_done or self.complete) and not self._is_for_the_parser(data):
            return
        self._parse(data)

    def _parse(self, data: bytes | memoryview) -> None:
        before = len(self.body.pieces)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._broken(error)
        self._parsed(before, len(data))

    def feed_and_take(self, data: bytes | memoryview) -> bytes:
        """`feed` what arrived in the middle of a body, and what `take` gives then; nothing where the reply has ended.

        Raises: as both.
        """
        pieces = self.body.pieces
        if self._left_bytes or pieces or self.body.is_bounded:
            self.feed(data)
            return b"" if self.complete else self.take()
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._broken(error)
        if len(pieces) != 1 or self.complete:
            self._parsed(0, len(data))
            return b"" if self.complete else self.take()
        self._silent_bytes = 0
        return pieces.pop()

    def _parsed(self, before: int, count: int) -> None:
        """Look at what so many bytes have added to the pieces that were `known`."""
        pieces = self.body.pieces
        if len(pieces) == before:
            if self.complete:
                return
            if not self.head_done:
                self._head_left -= count
                return
            self._silent_bytes += count
            if self._silent_bytes > MAX_HEAD_BYTES:
                raise LimitExceededError(f"{self.peer} sent more than {MAX_HEAD_BYTES} bytes of framing without a body")
        elif self._is_bodiless:
            pieces.clear()
            self._trail()
        else:
            self._silent_bytes = 0
            try:
                self.body.count(before)
            except LimitExceededError:
                self.complete = self.reusable = False
                raise

    def _is_for_the_parser(self, data: bytes | memoryview) -> bool:
        """Whether the parser is to read `data` now: not behind the end, and no more of a head than is allowed."""
        if self.complete:
            self.started = True
            self._trail()
            return False
        allowed = self._head_left
        if len(data) <= allowed:
            return True
        self.feed(data[:allowed])
        if not self.head_done:
            raise LimitExceededError(f"{self.peer} sent more than {MAX_HEAD_BYTES} bytes of headers")
        self.feed(data[allowed:])
        return False

    def _trail(self) -> None:
        self.trailing = True
        self.reusable = False

    def _read_plain_head(self, data: bytes) -> bool:
        """Whether `data` begins with a whole plain head, which is read then, as the parser would read it."""
        chunked = self._latest_chunked
        if chunked is not None and data.startswith(chunked[0]):
            return self._go_on_chunked(data, len(chunked[0]), *chunked[1:])
        head = self._latest
        begin = 0 if head is None else head.body_at(data)
        if head is not None and begin:  # it is like the one before it
            self._strange = 0
            return self._begin_plainly(data, begin, head.status, head.headers, head.length_bytes)
        end = data.find(b"\r\n\r\n", 0, MAX_PLAIN_HEAD_BYTES)
        parsed = plain_head(data[:end]) if end > 0 else None
        if parsed is None:
            return False
        begin = end + 4
        if parsed[2] == CHUNKED:  # chunks are the parser's, which is told of a head that says no more than that
            status, headers, _ = parsed
            if len(headers) > MAX_HEADERS:
                return False
            limit_bytes, _, shown = said_of_body(headers, self.peer, self._max_body_bytes)
            self._latest_chunked = None if holds_cookies(headers) else (data[:begin], status, shown, limit_bytes)
            return self._go_on_chunked(data, begin, status, shown, limit_bytes)
        self._strange += 1
        if self._strange < _MOST_STRANGE or not self._strange % _SELDOM:
            self._latest = latest_head(data[:begin], parsed)
        return self._begin_plainly(data, begin, *parsed)

    def _begin_plainly(self, data: bytes, begin: int, status: int, headers: Headers, length: int) -> bool:
        """Whether the body in `data` may be read behind a plain head, which ends at `begin`; what is there is read."""
        if len(headers) > MAX_HEADERS or (self._max_body_bytes is not None and length > self._max_body_bytes):
            return False
        self.status, self.headers = status, headers
        self.head_done = self._framed = True
        if len(data) == begin + length:
            self.body.fill(data[begin:])
            self.complete = True
            self.reusable = not self.trailing
        else:
            self.body.begin()
            self._left_bytes = length
            self._feed_plainly(data[begin:])
        return True

    def _go_on_chunked(self, data: bytes, begin: int, status: int, shown: Headers, limit_bytes: int | None) -> bool:
        self._start_parsing()
        self._is_told = True
        self._parser.feed_data(_CHUNKED_HEAD)
        self._is_told = False
        self._raw_headers = [(b"", b"")] * (len(shown) + 1)  # trailers count with them
        self.body.begin(limit_bytes)
        self.status, self.headers = status, shown
        self.head_done = self._framed = True
        if len(data) > begin:
            self._parse(data[begin:])
        return True

    def _feed_plainly(self, data: bytes) -> None:
        """Take what comes of a body of known length behind a plain head, and what comes behind it."""
        left = self._left_bytes
        if piece := data[:left]:
            self.body.feed(piece)
        self._left_bytes = max(0, left - len(data))
        if len(data) > left:
            self.trailing = True
        if not self._left_bytes:
            self._end(keep_alive=True)

    def _broken(self, error: Exception) -> None:
        if self.complete:
            self._trail()
        elif self._trouble is not None:
            raise self._trouble from None
        else:
            raise APIConnectionError(f"{self.peer} answered with something that is not HTTP/1.1") from error

    def eof(self, *, is_torn: bool = False) -> None:
        """Take the end of the connection; `is_torn` says that TLS did not end with it, as whoever cuts it off can do.

        Raises: APIConnectionError when the reply was not yet whole, or nothing says that it is.
        """
        self.reusable = False
        if self.complete:
            return
        if not self.started:
            raise APIConnectionError(f"{self.peer} closed the connection without an answer")
        if not self.head_done:
            raise APIConnectionError(f"{self.peer} closed the connection in the middle of the headers")
        if self._framed:
            raise APIConnectionError(f"{self.peer} closed the connection in the middle of the body: it is cut off")
        if is_torn:
            raise APIConnectionError(
                f"{self.peer} closed the connection without ending TLS, and its reply names no length: "
                "it may be cut off"
            )
        self._end(keep_alive=False)

    # What follows is called by the parser.

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header or trailer line."""
        self._raw_headers.append((name, value))
        if len(self._raw_headers) > MAX_HEADERS:
            self._refuse(LimitExceededError(f"{self.peer} sent more than {MAX_HEADERS} headers"))

    def on_headers_complete(self) -> None:
        """The head of an interim or the final reply is there."""
        if self._is_told:
            return
        self.status = self._parser.get_status_code()
        headers = tuple([(_lowered[name], value.decode("latin-1")) for name, value in self._raw_headers])
        for name, value in headers:
            if name == "content-length":
                self._framed = True
                self._length = value.strip()
            elif name == "transfer-encoding":
                coding = value.strip().lower()
                if coding not in ("chunked", "identity"):
                    self._refuse(APIConnectionError(f"{self.peer} uses a transfer-encoding that was not asked for"))
                self._framed = self._framed or coding == "chunked"
        if self.status < 200:
            if self.status == 101 or self._framed:
                self._refuse(APIConnectionError(f"{self.peer} sent a reply {self.status} that was not asked for"))
            return
        self.headers = headers
        if self._is_bodiless or self.status in _NO_BODY_STATUSES:
            self.body.begin()
            # A length without a body leaves the parser waiting for one, so such a connection is not kept.
            is_framed = not self._is_bodiless and self._length in ("", "0")
            self._is_bodiless = True
            self._end(keep_alive=is_framed and self._parser.should_keep_alive())
        else:
            try:
                limit_bytes, coding, self.headers = said_of_body(headers, self.peer, self._max_body_bytes)
                self.body.begin(limit_bytes, coding)
                self.inflates = self.body.inflates
            except Error as error:
                self._refuse(error)
        self.head_done = True

    def on_message_begin(self) -> None:
        """Another head begins: the final reply after an interim one, or garbage after the end, which ends parsing."""
        if self.complete:
            self._refuse(APIConnectionError(f"{self.peer} sent more than one reply"))
        self.in_head = True

    def on_message_complete(self) -> None:
        """An interim or the final reply has ended."""
        if self.complete:
            return
        if self.status < 200:
            self._reset_head()
            self.in_head = False
            return
        self._end(keep_alive=self._parser.should_keep_alive())

    def _end(self, *, keep_alive: bool) -> None:
        self.complete = True
        self.reusable = keep_alive and not self.trailing
        self.body.end()

    def _refuse(self, error: Error) -> None:
        self._trouble = error
        raise error
