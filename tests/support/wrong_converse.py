"""Answers of Converse that are wrong as somebody has seen it; `wrong_answers` has those of other dialects."""

from __future__ import annotations

from typing import Any

from interlingua.wire.eventstream import EventStreamDecoder, encode_event_frame
from interlingua.wire.json import encode

__all__ = ["ERROR", "FRAMES", "STREAMS", "WHOLES", "checked", "frame"]

Frames = tuple[bytes, ...]
OSLO, ROME = '{"city":"Oslo"}', '{"city":"Rome"}'


def frame(name: str, payload: Any, kind: str = "event") -> bytes:
    """One frame; a payload of bytes stands as it is."""
    headers = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    return encode_event_frame(headers, payload if isinstance(payload, bytes) else encode(payload, nulls=9))


def checked(data: bytes) -> bytes:
    """The bytes of one frame whose payload was changed, with lengths and checksums that are right again."""
    head = EventStreamDecoder().feed(HELLO[1])[0].headers
    return encode_event_frame(head, data[data.index(b'{"') : -4])  # without the old checksum


def _delta(index: int | None, **delta: Any) -> bytes:
    return frame("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})


def _input(index: int, text: Any) -> bytes:
    return _delta(index, toolUse={"input": text})


def _call(index: int, **members: Any) -> bytes:
    call = {"toolUseId": "tooluse_a", "name": "f", **members}
    return frame("contentBlockStart", {"contentBlockIndex": index, "start": {"toolUse": call}})


def _stop(index: int) -> bytes:
    return frame("contentBlockStop", {"contentBlockIndex": index})


def _end(reason: str = "end_turn") -> bytes:
    return frame("messageStop", {"stopReason": reason})


START = frame("messageStart", {"role": "assistant"})
USAGE = {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13}
COUNTS = frame("metadata", {"usage": USAGE, "metrics": {"latencyMs": 5}})
HELLO: Frames = (START, _delta(0, text="Hello"))
TEXT_END: Frames = (_stop(0), _end(), COUNTS)
ERROR = frame("validationException", {"message": "gone"}, "exception")


def _using(*frames: bytes, reason: str = "tool_use") -> Frames:
    """A text, and behind it what calls."""
    return (*HELLO, _stop(0), *frames, _end(reason), COUNTS)


STREAMS: dict[str, Frames] = {
    "normal text": (*HELLO, _delta(0, text=" there."), *TEXT_END),
    "normal call": _using(_call(1), _input(1, OSLO[:5]), _input(1, OSLO[5:]), _stop(1)),
    "padding": (START, frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hello"}, "p": "abc"}),
                *TEXT_END),
    "STR-27 no input": _using(_call(1), _stop(1)),
    "ARG-04 input encoded twice": _using(_call(1), _input(1, encode(OSLO).decode()), _stop(1)),
    "ARG-09 a key twice": _using(_call(1), _input(1, '{"a":1,"a":2}'), _stop(1)),
    "ARG-11 malformed": _using(_call(1), _input(1, '{"a":'), _stop(1)),
    "ARG-02 input an object": _using(_call(1), _input(1, {"city": "Oslo"}), _stop(1)),
    "STR-13 no id": _using(_call(1, toolUseId=None), _input(1, OSLO), _stop(1)),
    "STR-15 no name": _using(_call(1, name=""), _input(1, OSLO), _stop(1)),
    "ID-10 one id twice": _using(
        _call(1), _input(1, OSLO), _stop(1), _call(2), _input(2, ROME), _stop(2)
    ),
    "OUT-12 sparse index": _using(_call(3), _input(3, OSLO), _stop(3)),
    "STR-09 index from 1": (START, _delta(1, text="Hello"), _stop(1), _end(), COUNTS),
    "STR-07 index null": (START, _delta(None, text="Hello"), _end(), COUNTS),
    "STR-19 blocks interleave": _using(
        _call(1), _call(2, toolUseId="tooluse_b"), _input(1, OSLO), _input(2, ROME), _stop(1), _stop(2)
    ),
    "STR-08 input for the text": (*HELLO, _call(1), _input(0, OSLO), _stop(1), _stop(0), _end("tool_use"), COUNTS),
    "OUT-04 behind the stop": (*HELLO, *TEXT_END[:2], _delta(1, text="!"), COUNTS),
    "OUT-04 behind the counts": (*HELLO, *TEXT_END, _delta(1, text="!")),
    "SSE-13 an exception": (*HELLO, ERROR, *TEXT_END),
    "SSE-13 an error of the service": (
        *HELLO, encode_event_frame({":message-type": "error", ":error-code": "500", ":error-message": "gone"}, b""),
    ),
    "SSE-10 cut": HELLO,
    "SSE-10 cut in a frame": (*HELLO, _delta(0, text=" there.")[:30]),
    "a wrong checksum": (*HELLO, _delta(0, text=" there.").replace(b"there", b"their"), *TEXT_END),
    "broken JSON": (*HELLO, frame("contentBlockDelta", b'{"delta":'), *TEXT_END),
    "an event of another name": (*HELLO, frame("contentBlockNote", {"note": "x"}), *TEXT_END),
    "USE-07 no counts": (*HELLO, *TEXT_END[:2]),
    "USE-10 the turn ends beside calls": _using(_call(1), _input(1, OSLO), _stop(1), reason="end_turn"),
    "USE-12 calls announced, none there": (*HELLO, _stop(0), _end("tool_use"), COUNTS),
    "USE-14 length": (*HELLO, _stop(0), _end("max_tokens"), COUNTS),
    "END-04 malformed by the model": (*HELLO, _stop(0), _end("malformed_tool_use"), COUNTS),
    "a call begun twice": _using(_call(1), _call(1), _input(1, OSLO), _stop(1)),
    "no stop of a block": (*HELLO, _end(), COUNTS),
    "no beginning": (*HELLO[1:], *TEXT_END),
    "begun twice": (START, *HELLO, *TEXT_END),
}  # fmt: skip
"""Name, which begins with the ids of the rows of failures -> frames."""
FRAMES: Frames = (*HELLO, _delta(0, text=" there."), _stop(0), _call(1), _input(1, OSLO), _stop(1), _end("tool_use"),
                  COUNTS)  # fmt: skip
"""A text, a call and an end, in normal form."""


def _whole(*blocks: dict[str, Any], reason: str | None = "end_turn", usage: Any = USAGE) -> bytes:
    message = {"role": "assistant", "content": list(blocks)}
    return encode({"output": {"message": message}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 5}},
                  nulls=9)  # fmt: skip


def _use(value: Any, **members: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": "tooluse_a", "name": "f", "input": value, **members}}


WHOLES: dict[str, bytes] = {
    "normal text": _whole({"text": "Hello"}),
    "normal call": _whole({"text": "Hello"}, _use({"city": "Oslo"}), reason="tool_use"),
    "ARG-04 input as text": _whole(_use(OSLO), reason="tool_use"),
    "ARG-11 a list": _whole(_use([1]), reason="tool_use"),
    "STR-13 no id": _whole(_use({"city": "Oslo"}, toolUseId=None), reason="tool_use"),
    "STR-15 no name": _whole(_use({"city": "Oslo"}, name=""), reason="tool_use"),
    "ID-10 one id twice": _whole(_use({"city": "Oslo"}), _use({"city": "Rome"}), reason="tool_use"),
    "USE-10 the turn ends beside calls": _whole(_use({"city": "Oslo"})),
    "USE-14 length": _whole({"text": "Hello"}, reason="max_tokens"),
    "SSE-13 an error": encode({"message": "gone"}),
    "broken JSON": b'{"output":',
}
"""Name -> body of a whole answer."""
