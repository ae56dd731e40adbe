"""Streams of Messages in the frames of Bedrock: events in chunks, errors in exception frames."""

from __future__ import annotations

import json
from base64 import b64decode

from interlingua.dialects._hosted import ChunkFrames
from interlingua.wire.eventstream import EventStreamDecoder
from tests.support.cells import cells


def framed(stream: bytes) -> list[tuple[dict[str, str], bytes]]:
    """Headers and payload of each frame that a stream becomes."""
    return [(dict(frame.headers), frame.payload) for frame in EventStreamDecoder().feed(ChunkFrames().feed(stream))]


def test_an_event_goes_out_in_a_chunk() -> None:
    """The frame holds the event's data as they came."""
    data = b'{"type":"message_stop"}'
    [(headers, payload)] = framed(b"event: message_stop\ndata: %b\n\n" % data)
    assert headers == {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
    assert b64decode(json.loads(payload)["bytes"]) == data


@cells(
    ("data", "message"),
    [
        (b'{"type":"error","error":{"type":"api_error","message":"It broke."}}', "It broke."),
        (b'{"type":"error","message":"It broke."}', "It broke."),
        (b'{"type":"error","error":"It broke."}', "It broke."),
        (b'{"type":"error","error":{"type":"api_error"}}', "the server gave no reason"),
        (b'{"type":"error"}', "the server gave no reason"),
        (b'["It broke."]', "It broke."),
        (b"It broke.", "It broke."),
    ],
)
def test_an_error_goes_out_in_an_exception_frame(data: bytes, message: str) -> None:
    """Whatever its shape, the frame says the reason, or that there is none."""
    [(headers, payload)] = framed(b"event: error\ndata: %b\n\n" % data)
    kind, reply = headers.pop(":exception-type"), json.loads(payload)
    assert kind == "modelStreamErrorException"
    assert headers == {":content-type": "application/json", ":message-type": "exception"}
    assert reply == {"message": message}
