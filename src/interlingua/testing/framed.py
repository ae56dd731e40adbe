"""Streams as text, for files and readers: what is framed in bytes stands there as one JSON object a line.

A line is `{"contentBlockDelta": {…}}`, as the SDKs show an event; an exception is called so. Any other stream is
its text.
"""

from __future__ import annotations

import re

from interlingua.wire.eventstream import EventStreamDecoder, encode_event_frame

__all__ = ["BINARY", "stream_bytes", "stream_text"]

BINARY = frozenset({"bedrock"})
"""The dialects whose streams are binary."""
_LINE = re.compile(r'\s*\{\s*"(?P<name>[\w.-]+)"\s*:\s*(?P<payload>.*)\}\s*', re.DOTALL)


def stream_text(dialect: str, data: bytes) -> str:
    """A stream as text; of a binary one the whole frames."""
    if dialect not in BINARY:
        return data.decode()
    frames = EventStreamDecoder().feed(data)
    lines = [(frame.headers.get(":event-type") or frame.headers.get(":exception-type", ""), frame) for frame in frames]
    return "".join([f'{{"{name}":{frame.payload.decode()}}}\n' for name, frame in lines])


def stream_bytes(dialect: str, text: str) -> bytes:
    """The bytes of a stream that stands as text."""
    if dialect not in BINARY:
        return text.encode()
    return b"".join([_frame(line) for line in text.split("\n") if line.strip()])


def _frame(line: str) -> bytes:
    match = _LINE.fullmatch(line)
    if match is None:
        return encode_event_frame({}, line.encode())[:-1]  # a line that was cut is a frame that was
    kind = "exception" if match["name"].endswith("Exception") else "event"
    headers = {f":{kind}-type": match["name"], ":content-type": "application/json", ":message-type": kind}
    return encode_event_frame(headers, match["payload"].strip().encode())
