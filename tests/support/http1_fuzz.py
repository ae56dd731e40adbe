"""The fuzz target of the HTTP/1.1 reader: any bytes give a reply or one of our errors, in bounded memory."""

from __future__ import annotations

from contextlib import suppress

from interlingua.errors import APIConnectionError, LimitExceededError
from interlingua.transport.http1 import ResponseReader
from interlingua.transport.options import MAX_READ_BYTES

__all__ = ["fuzz_http1", "read_all"]

_MAX_BODY_BYTES = 1_000_000


def read_all(
    reader: ResponseReader, pieces: list[bytes], method: str = "POST"
) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
    """Status, headers and body of one reply whose bytes come in `pieces`, then the end of the connection."""
    reader.start(method)
    body: list[bytes] = []
    for piece in pieces:
        reader.feed(piece)
        while data := reader.take():
            assert len(data) <= max(MAX_READ_BYTES, len(piece))
            body.append(data)
    reader.eof()
    while not reader.finished:
        body.append(reader.take())
    return reader.status, reader.headers, b"".join(body)


def fuzz_http1(data: bytes) -> None:
    """Read `data` as a reply: whole, and cut in the middle. The first byte chooses method and cut."""
    if not data:
        return
    method = ("POST", "GET", "HEAD", "CONNECT")[data[0] % 4]
    wire, cut = data[1:], data[0] * len(data) // 256
    for pieces in ([wire], [piece for piece in (wire[:cut], wire[cut:]) if piece]):
        with suppress(APIConnectionError, LimitExceededError):
            _, _, body = read_all(ResponseReader("fuzz:80", max_body_bytes=_MAX_BODY_BYTES), pieces, method)
            assert (
                len(body) <= _MAX_BODY_BYTES
                or b"stream" in wire.lower()
                or b"jsonl" in wire.lower()
                or b"ndjson" in wire
            )
