"""Heads of replies that are read line by line: what a server says of one reply it nearly says of the next.

Strategy: a line that came before is known, so a head is one split and one look-up for each line. Only heads that leave
nothing open are read here: HTTP/1.1, a body of a length that is given once or in chunks, no coding, a connection that
is kept. All others, and whatever is not plainly written, are the parser's (`http1`), which reads these to the same
result. A head that says what the one before it on its connection said, but for the length, is not even split.

Rules
- Lines are remembered up to a bound, and one head for each connection; cookies never.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlingua.wire.http import Headers

__all__ = ["CHUNKED", "MAX_PLAIN_HEAD_BYTES", "LatestHead", "holds_cookies", "latest_head", "plain_head"]

MAX_PLAIN_HEAD_BYTES = 4096
"""Longer heads are the parser's; with the number of lines it bounds what is remembered."""

CHUNKED = -2
"""In the place of the length of a body that comes in chunks."""

_MAX_LINES = 2048
_STATUS = re.compile(rb"HTTP/1\.1 ([2-5][0-9]{2}) [ -~]*")
_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)")
_LENGTH = re.compile(r"[0-9]{1,15}")
_LENGTH_LINE = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]+)\r\n", re.IGNORECASE)
_MOST_DIGITS = 15
_NOT_PLAIN = frozenset({"content-encoding", "upgrade", "trailer"})
_FRAMING = frozenset({"content-length", "transfer-encoding"})
_NOT_KEPT = frozenset({"set-cookie", "set-cookie2"})
_WITHOUT_BODY = frozenset({204, 304})

_statuses: dict[bytes, int] = {}
_lines: dict[bytes, tuple[str, str]] = {}
_lengths: dict[bytes, int] = {}
"""Of the lines that say where a body ends: its length, or `CHUNKED`, and one."""
_unusual: set[bytes] = set()


def plain_head(head: bytes) -> tuple[int, Headers, int] | None:
    """Status, headers and the length of the body, from a head without its last line ends; None: ask the parser.

    `CHUNKED` is the length of a body that comes in chunks.
    """
    lines = head.split(b"\r\n")
    first = lines.pop(0)
    status = _statuses.get(first) or _status(first)
    cached: tuple[Any, ...] = tuple(map(_lines.get, lines))
    headers: Headers | None = cached if all(cached) else _learned(lines)
    lengths = list(filter(None, map(_lengths.get, lines)))
    if not status or headers is None or len(lengths) != 1:
        return None
    return status, headers, lengths[0] - 1


class LatestHead:
    """The plain head of the latest reply on a connection, and of the next one that differs in its length alone."""

    __slots__ = ("_before", "_behind", "_digits", "headers", "length_bytes", "status")

    def __init__(self, head: bytes, status: int, headers: Headers, length_bytes: int) -> None:
        """`head` with its last line ends, and what `plain_head` found in it."""
        self.status: int = status
        """The status."""
        self.headers: Headers = headers
        """Its lines."""
        self.length_bytes: int = length_bytes
        """How long the body behind it is."""
        match = _LENGTH_LINE.search(head)
        assert match is not None, "a plain head says a length"  # noqa: S101 - an invariant
        self._before, self._digits, self._behind = head[: match.start(1)], match[1], head[match.end(1) :]

    def body_at(self, data: bytes) -> int:
        """Where the body begins in what came, if that begins with such a head, which this one is then; 0 if not."""
        before = self._before
        if not data.startswith(before):
            return 0
        begin = len(before)
        end = data.find(b"\r", begin, begin + _MOST_DIGITS + 1)
        if end < 0 or not data.startswith(self._behind, end):
            return 0
        digits = data[begin:end]
        if digits != self._digits:
            if not digits.isdigit():
                return 0
            text = digits.decode("ascii")
            self._digits, self.length_bytes = digits, int(text)
            self.headers = tuple([(name, text if name == "content-length" else value) for name, value in self.headers])
        return end + len(self._behind)


def latest_head(head: bytes, parsed: tuple[int, Headers, int]) -> LatestHead | None:
    """The cached head, if it is plain and has a length; None where it holds anything that must not be cached."""
    return None if holds_cookies(parsed[1]) else LatestHead(head, *parsed)


def holds_cookies(headers: Headers) -> bool:
    """Whether there are cookies among headers, which are not remembered."""
    return any([name in _NOT_KEPT for name, _ in headers])


def _status(line: bytes) -> int:
    """The status that a first line tells; 0 for one that is not plain."""
    parts = _STATUS.fullmatch(line)
    status = int(parts[1]) if parts else 0
    if not parts or status in _WITHOUT_BODY:
        return 0
    if len(_statuses) >= _MAX_LINES:
        _statuses.clear()
    _statuses[line] = status
    return status


def _learned(lines: list[bytes]) -> Headers | None:
    """The headers in `lines`, which are known from now on; None where one of them is not plain."""
    if not _unusual.isdisjoint(lines):
        return None
    if len(_lines) + len(_unusual) + len(lines) > _MAX_LINES:
        for lines_cache in (_lines, _lengths, _unusual):
            lines_cache.clear()
    headers: list[tuple[str, str]] = []
    for line in lines:
        pair = _lines.get(line) or _read(line)
        if pair is None:
            return None
        headers.append(pair)
    return tuple(headers)


def _read(line: bytes) -> tuple[str, str] | None:
    parts = _LINE.fullmatch(line)
    pair = None if parts is None else (parts[1].decode("ascii").lower(), parts[2].decode("latin-1"))
    if pair is None or not _is_plain(*pair):
        _unusual.add(line)
        return None
    if pair[0] in _FRAMING:
        _lengths[line] = 1 + (CHUNKED if pair[0] == "transfer-encoding" else int(pair[1]))
    if pair[0] not in _NOT_KEPT:
        _lines[line] = pair
    return pair


def _is_plain(name: str, value: str) -> bool:
    match name:
        case "content-length":
            return _LENGTH.fullmatch(value) is not None
        case "transfer-encoding":
            return value == "chunked"
        case "connection":
            return value.lower() == "keep-alive"
        case _:
            return name not in _NOT_PLAIN
