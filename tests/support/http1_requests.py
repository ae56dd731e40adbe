"""Requests out of bytes by our reader and by h11, and the law that binds them: what we read, h11 reads the same.

What is not the meaning of a request is evened out before they are compared: the host in a target; empty lines before
a request and several spaces around its target, both for the recipient to ignore (RFC 9112, 2.2 and 3); and the names of
two protocols that httptools takes for HTTP's, RTSP and ICE.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

import h11

from interlingua.gateway.serving.heads import Heads
from interlingua.gateway.serving.reader import Arrival, RequestReader
from interlingua.wire.http import Headers

_ADDRESS = re.compile(r"\Ahttps?://[^/?]*/?", re.IGNORECASE)
_LENGTH = re.compile(rb"(content-length: ?)\d+", re.IGNORECASE)
_GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
_LINE = re.compile(rb"([A-Z-]+) +(\S+) +(?:HTTP|RTSP|ICE)/")

__all__ = ["Read", "Request", "check", "fuzz_requests", "h11_reads", "reads"]


class Request(NamedTuple):
    """One whole request."""

    method: str
    path: str
    query: str
    headers: Headers
    body: bytes


class Read(NamedTuple):
    """What somebody made of the bytes of one connection."""

    requests: tuple[Request, ...]
    """The whole ones, in order."""
    status: int
    """The status of a refusal; 0 for none."""
    is_over: bool
    """Whether nothing that comes could be read any more."""


def reads(*pieces: bytes, heads: Heads | None = None, before: bytes = b"") -> Read:
    """What our reader makes of bytes that come in pieces: with heads that it knows, and behind other requests."""
    reader = RequestReader(heads or Heads())
    reader.feed(before)
    reader.arrivals.clear()
    for piece in pieces:
        reader.feed(piece)
    requests = [_request(arrival) for arrival in reader.arrivals if arrival.is_whole]
    read = Read(tuple(requests), 0 if reader.fault is None else reader.fault.status, reader.is_over)
    reader.close()
    return read


def _request(arrival: Arrival) -> Request:
    head = arrival.head
    return Request(head.method, head.path, head.query, _even(head.headers), b"".join(arrival.pieces))


def _even(headers: Headers) -> Headers:
    """Headers without the body's length, and with the name of the coding as h11 tells it."""
    told = [(name, value.lower() if name == "transfer-encoding" else value) for name, value in headers]
    return tuple([header for header in told if header[0] != "content-length"])


def h11_reads(data: bytes) -> Read:
    """What h11 makes of them, each request by a connection of its own."""
    requests: list[Request] = []
    rest = data
    while rest := rest.lstrip(b"\r\n"):
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1_000_000)
        connection.receive_data(_LINE.sub(rb"\1 \2 HTTP/", rest, count=1) if _LINE.match(rest) else rest)
        try:
            request = _h11_request(connection)
        except h11.RemoteProtocolError as error:
            return Read(tuple(requests), error.error_status_hint, is_over=True)
        if request is None:
            break
        requests.append(request)
        if connection.their_state in (h11.MUST_CLOSE, h11.CLOSED):
            return Read(tuple(requests), 0, is_over=True)
        rest = connection.trailing_data[0]
    return Read(tuple(requests), 0, is_over=False)


def _h11_request(connection: h11.Connection) -> Request | None:
    head: h11.Request | None = None
    body: list[bytes] = []
    while True:
        event = connection.next_event()
        match event:
            case h11.Request():
                head = event
            case h11.Data():
                body.append(bytes(event.data))
            case h11.EndOfMessage() if head is not None:
                path, _, query = _ADDRESS.sub("/", head.target.decode("latin-1"), count=1).partition("?")
                headers = _even(
                    tuple([(name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers])
                )
                return Request(head.method.decode(), unquote(path), query, headers, b"".join(body))
            case _:
                return None


def check(data: bytes, *known: bytes) -> Read:
    """What our reader makes of bytes, and nothing that h11 reads in another way.

    It is the same for other cuts, and where the heads are known: by themselves, with other lengths, or from others that
    came before.
    """
    read = reads(data)
    middle = len(data) // 2
    cuts = ([data], [data[:middle], data[middle:]], [data[place : place + 1] for place in range(len(data))])
    for heads in (None, _knowing(data), _knowing(_LENGTH.sub(rb"\g<1>0", data), *known)):
        for pieces in cuts:
            assert reads(*pieces, heads=heads) == read, "the cut of the bytes, or a known head, changed what was read"
            assert reads(*pieces, heads=heads, before=_GET) == read, "what came before changed what was read"
    theirs = h11_reads(data)
    assert read.requests == theirs.requests[: len(read.requests)], "h11 reads other requests"
    if not read.is_over:
        assert len(read.requests) == len(theirs.requests), "h11 reads more"
        assert theirs.status == 0, "h11 refuses what we wait for"
    return read


def _knowing(*seen: bytes) -> Heads:
    heads = Heads()
    for data in seen:
        reads(data, heads=heads)
    return heads


def fuzz_requests(data: bytes) -> None:
    """Read `data` as the requests of a connection."""
    check(data)
