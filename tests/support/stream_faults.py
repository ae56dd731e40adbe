"""Streams that break: {error frame, broken frame, cut, reset} by place and by how they are written, in every dialect.

The matrix is told by `tests/e2e/gateway/test_passed_streams.py` of our gateway, and by the scoreboard of any.
"""

from __future__ import annotations

import random

from tests.support.wrong_answers import SDK_FRAMES, Frames
from tests.support.wrong_converse import ERROR, frame

__all__ = ["FAULTS", "HARMLESS", "PLACES", "TEXTS", "WRITES", "broken", "pieces_of"]

FAULTS = ("error", "broken", "cut", "reset")
"""An error frame, a frame that is no JSON, a stream that ends early, a connection that breaks."""
_ERRORS = {
    "openai-chat": b'data: {"error":{"message":"gone","type":"invalid_request_error"}}\n\n',
    "openai-responses": b'event: error\ndata: {"type":"error","code":"invalid_prompt","message":"gone"}\n\n',
    "anthropic": b'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"gone"}}\n\n',
    "google": b'data: {"error":{"code":400,"message":"gone","status":"INVALID_ARGUMENT"}}\r\n\r\n',
    "ollama": b'{"error":"gone"}\n',
    "cohere": b'event: message-end\ndata: {"type":"message-end","delta":{"finish_reason":"ERROR","error":"gone"}}\n\n',
}
_BINARY = {"error": ERROR, "broken": frame("contentBlockDelta", b'{"delta":')}
"""The same as binary frames."""
PLACES: dict[str, dict[str, int]] = {
    "openai-chat": {"first": 0, "after text": 2, "inside a call": 3, "before the finish": 4, "after the finish": 6},
    "openai-responses": {
        "first": 0, "after text": 4, "inside a call": 9, "before the finish": 11, "after the finish": 12,
    },
    "anthropic": {"first": 0, "after text": 4, "inside a call": 6, "before the finish": 7, "after the finish": 8},
    "google": {"first": 0, "after text": 2, "inside a call": 3, "before the finish": 3, "after the finish": 4},
    "ollama": {"first": 0, "after text": 2, "inside a call": 3, "before the finish": 3, "after the finish": 4},
    "bedrock": {"first": 0, "after text": 3, "inside a call": 5, "before the finish": 7, "after the finish": 8},
    "cohere": {"first": 0, "after text": 4, "inside a call": 7, "before the finish": 8, "after the finish": 9},
}  # fmt: skip
"""Behind so many frames of `SDK_FRAMES` the fault comes; calls of Google and Ollama are whole in one."""
HARMLESS = {
    *[
        (dialect, fault) for dialect in ("openai-chat", "google", "bedrock") for fault in ("cut", "reset")
    ],  # a finish is an end
    *[
        (dialect, fault) for dialect in ("openai-responses", "ollama", "cohere") for fault in FAULTS
    ],  # nothing is read behind it
}
"""Faults after the finish that no client needs to hear of."""
WRITES = ("one write", "a write each", "random cuts")
"""How a stream may be written."""
TEXTS = {"openai-chat": "Hello there.", "openai-responses": "Hello there.", "anthropic": "Hello"}
"""The text that had come before a fault, where it is known."""


def broken(dialect: str, fault: str, place: int) -> bytes:
    """The stream of `SDK_FRAMES` with a fault behind so many frames."""
    frames = SDK_FRAMES[dialect]
    if fault not in ("error", "broken"):
        return b"".join(frames[:place])
    if dialect == "bedrock":
        return b"".join([*frames[:place], _BINARY[fault], *frames[place:]])
    wrong = {"error": _ERRORS[dialect], "broken": frames[1][: len(frames[1]) // 2] + frames[1][-4:].lstrip(b'}"]')}
    ending = b"\r\n\r\n" if dialect == "google" else b"\n" if dialect == "ollama" else b"\n\n"
    return b"".join(frames[:place]) + wrong[fault].rstrip() + ending + b"".join(frames[place:])


def pieces_of(data: bytes, way: str, seed: int) -> Frames:
    """The stream in one write, in a write for each line, or cut anywhere."""
    if way == "one write":
        return (data,)
    if way == "a write each":
        return tuple(data.splitlines(keepends=True))
    cuts = sorted(random.Random(seed).sample(range(1, len(data)), 9))
    return tuple([data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)])
