"""Streams of Messages in the frames of Bedrock: events in chunks, errors in exception frames."""

from __future__ import annotations

import json
from base64 import b64decode

import pytest

from interlingua.dialects._hosted import ChunkFrames, hosted_request
from interlingua.errors import DecodeError
from interlingua.wire.body import read_body
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


VERTEX, BEDROCK = "/v1/projects/p/locations/l/publishers/anthropic/models/m", "/model/m/invoke"
SAID = b'{"anthropic_version":"bedrock-2023-05-31","max_tokens":1}'


@cells(
    ("path", "stream", "framed"),
    [
        (f"{VERTEX}:rawPredict", None, False),
        (f"{VERTEX}:streamRawPredict", b"true", False),
        (BEDROCK, None, False),
        (f"{BEDROCK}-with-response-stream", b"true", True),
    ],
)
def test_the_path_of_a_cloud_names_the_model_and_the_stream(path: str, stream: bytes | None, framed: bool) -> None:
    """Both go to the members of Messages that say them."""
    found = hosted_request(path, read_body(SAID))
    assert (found.path, found.framed, found.headers) == ("/v1/messages", framed, ())
    assert found.edits == {"anthropic_version": None, "anthropic_beta": None, "model": b'"m"', "stream": stream}


@cells(
    ("path", "body"),
    [
        (f"{VERTEX}:rawPredict", b"{}"),
        (BEDROCK, b'{"inputText":"Hi"}'),
        ("/v1/messages", SAID),
        ("/v1/messages", b"{}"),
    ],
)
def test_a_body_without_the_version_of_messages_is_of_another_model(path: str, body: bytes) -> None:
    """It is refused at that member, whatever the path."""
    with pytest.raises(DecodeError, match="Messages of Claude are read here") as caught:
        hosted_request(path, read_body(body))
    assert (caught.value.path, caught.value.status) == ("/anthropic_version", 400)
