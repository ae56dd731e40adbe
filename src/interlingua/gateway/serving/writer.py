"""Bytes of replies, without I/O: status line, headers, whole bodies and pieces.

Rules
- A header is written as visible ASCII, whoever made it: it breaks neither the head nor its encoding.
- A body has its length, or comes in chunks, or ends with its connection where the client knows no chunks; the replies
  to HEAD, 204 and 304 have none.
- A reply that is the last of its connection says so.
"""

from __future__ import annotations

import re
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING

from interlingua.gateway.calls.replies import visible
from interlingua.wire.cache import ByteCache
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayRequest, Head
    from interlingua.gateway.serving.reader import Fault
    from interlingua.wire.http import Headers

__all__ = ["CONTINUE", "LAST_CHUNK", "chunk", "date_line", "field", "has_body", "head", "refusal", "whole"]

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
"""Has a client send the body that it holds back."""
LAST_CHUNK = b"0\r\n\r\n"
"""Ends a body of chunks."""
_LAST = b"connection: close\r\n\r\n"
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NAMING = 2
"""How many headers name the request."""
_BODILESS = frozenset({204, 304})
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def date_line(now_s: float) -> bytes:
    """The header that says when a reply was written, from Unix seconds."""
    return f"date: {formatdate(now_s, usegmt=True)}\r\n".encode()


def field(value: str) -> str:
    """A header's value as it is sent."""
    return value if value.isascii() and value.isprintable() else visible(value)


def has_body(request: Head | GatewayRequest, status: int) -> bool:
    """Whether the reply to a request has a body."""
    return request.method != "HEAD" and status not in _BODILESS


def whole(
    request: Head | GatewayRequest, status: int, headers: Headers, body: bytes, *, more: bytes, keeps: bool
) -> bytes:
    """A whole reply; `more` are header lines of the server, `keeps` says that the connection goes on."""
    start, end = _head_bytes(status, headers), b"\r\n" if keeps else _LAST
    if status in _BODILESS:
        return b"%b%b%b" % (start, more, end)
    return b"%b%bcontent-length: %d\r\n%b%b" % (start, more, len(body), end, body if request.method != "HEAD" else b"")


def head(request: Head, status: int, headers: Headers, *, more: bytes, keeps: bool) -> bytes:
    """The head of a reply whose body comes in pieces; of an old client's connection the body is the rest."""
    framing = b"" if request.is_old or status in _BODILESS else b"transfer-encoding: chunked\r\n"
    return b"%b%b%b%b" % (_head_bytes(status, headers), more, framing, b"\r\n" if keeps else _LAST)


def chunk(piece: bytes) -> bytes:
    """A piece of a body as a chunk; it is not empty."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def refusal(fault: Fault, *, more: bytes) -> bytes:
    """The last reply of a connection, where not even a path could be read: an error in OpenAI's form."""
    kind = "server_error" if fault.status >= 500 else "invalid_request_error"
    error = {"message": fault.message, "type": kind, "param": None, "code": None}
    body = encode({"error": error}, nulls=2)
    start = _head_bytes(fault.status, (("content-type", "application/json"),))
    return b"%b%bcontent-length: %d\r\n%b%b" % (start, more, len(body), _LAST, body)


def _head_bytes(status: int, headers: Headers) -> bytes:
    """Status line and headers; replies of one kind mostly differ in the name of the request alone, which comes last."""
    if len(headers) < _NAMING or headers[-1][0] != "request-id" or headers[-2][0] != "x-request-id":
        return _written((status, headers))
    name, again = headers[-1][1], headers[-2][1]
    if name is not again or not (name.isascii() and name.isprintable()):
        return _written((status, headers))
    return b"%bx-request-id: %b\r\nrequest-id: %b\r\n" % (_before[status, headers[:-2]], name.encode(), name.encode())


def _written(key: tuple[int, Headers]) -> bytes:
    status, headers = key
    if not headers:
        return _forms[status, ()].encode("ascii")
    names, values = zip(*headers)  # noqa: B905 - headers are pairs, and looking after that costs a third of this
    text = "".join(values)
    if not (text.isascii() and text.isprintable()):
        values = tuple(map(field, values))
    return (_forms[status, names] % values).encode("ascii")


_before = ByteCache(500_000, _written)
"""The text before the name of the request."""


def _make_form(key: tuple[int, tuple[str, ...]]) -> str:
    """Status line and headers with a place for each value; replies have the same names again and again."""
    status, names = key
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"no name of a header: {name[:60]!r}")
    lines = [f"{name.replace('%', '%%')}: %s\r\n" for name in names]
    return f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n{''.join(lines)}"


_forms = ByteCache(500_000, _make_form)
