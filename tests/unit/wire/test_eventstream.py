"""AWS's event streams: judged by botocore in both directions, cut at every byte, bounded."""

from __future__ import annotations

import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import DecodeError, LimitExceededError, WireError
from interlingua.wire.eventstream import EventFrame, EventStreamDecoder, encode_event_frame, frame_length
from tests.support.cells import cells
from tests.support.converse import botocore

HEADERS = {":event-type": "contentBlockDelta", ":content-type": "application/json", ":message-type": "event"}
FRAME = encode_event_frame(HEADERS, b'{"delta":{"text":"\xc3\xa9"}}')
names = st.text("abc:-", min_size=1, max_size=20)
frames = st.tuples(st.dictionaries(names, st.text(max_size=30), max_size=4), st.binary(max_size=60))


def read(*pieces: bytes, max_event_bytes: int = 1_000) -> list[EventFrame]:
    """All frames of a stream that comes in these pieces."""
    decoder = EventStreamDecoder(max_event_bytes=max_event_bytes)
    return [frame for piece in pieces for frame in decoder.feed(piece)] + decoder.close()


def by_botocore(data: bytes) -> list[EventFrame]:
    """What botocore reads."""
    buffer = botocore("eventstream").EventStreamBuffer()
    buffer.add_data(data)
    return [EventFrame(dict(message.headers), message.payload) for message in buffer]


def with_checksums(prelude: bytes, rest: bytes) -> bytes:
    """A frame with right checksums, whatever it says."""
    data = prelude + zlib.crc32(prelude).to_bytes(4) + rest
    return data + zlib.crc32(data).to_bytes(4)


@given(st.lists(frames, max_size=4), st.data())
def test_botocore_reads_what_is_written_and_any_cut_gives_the_same(
    told: list[tuple[dict[str, str], bytes]], data: st.DataObject
) -> None:
    """Frames in both directions, in pieces of any size."""
    stream = b"".join([encode_event_frame(headers, payload) for headers, payload in told])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[start:end] for start, end in pairwise([0, *cuts, len(stream)])]
    assert read(*pieces) == by_botocore(stream) == [EventFrame(headers, payload) for headers, payload in told]


def test_cut_at_each_byte_and_in_single_bytes() -> None:
    """Two frames, cut in two at every place, and byte by byte."""
    stream = FRAME * 2
    for place in range(len(stream)):
        assert read(stream[:place], stream[place:]) == [EventFrame(HEADERS, b'{"delta":{"text":"\xc3\xa9"}}')] * 2
    assert len(read(*[stream[at : at + 1] for at in range(len(stream))])) == 2


@cells("place", range(len(FRAME)))
def test_a_byte_that_was_changed_is_noticed(place: int) -> None:
    """Whichever byte it is: a checksum is wrong, or the bound is exceeded first."""
    broken = bytearray(FRAME)
    broken[place] ^= 1
    with pytest.raises(DecodeError):
        read(bytes(broken))


@given(st.binary(max_size=80))
def test_any_bytes_raise_our_errors_alone(data: bytes) -> None:
    """Garbage, and garbage behind a right prelude."""
    prelude = (16 + len(data)).to_bytes(4) + len(data).to_bytes(4)
    for stream in (data, with_checksums(prelude, data)):
        try:
            read(stream)
        except WireError:
            continue


def test_headers_of_every_type_are_passed_over() -> None:
    """Only texts are kept; botocore's own test frame of all types has a boolean, numbers, bytes, a time and a UUID."""
    values = [
        (0, b""), (1, b""), (2, b"\x01"), (3, b"\0\x01"), (4, b"\0" * 4), (5, b"\0" * 8), (6, b"\0\x02ab"),
        (7, b"\0\x02ok"), (8, b"\0" * 8), (9, b"\0" * 16),
    ]  # fmt: skip
    headers = b"".join([b"\x02k%d%c%b" % (kind, kind, value) for kind, value in values])
    prelude = (16 + len(headers)).to_bytes(4) + len(headers).to_bytes(4)
    stream = with_checksums(prelude, headers)
    assert read(stream) == [EventFrame({"k7": "ok"}, b"")]
    assert list(by_botocore(stream)[0].headers) == [f"k{kind}" for kind in range(10)]


@pytest.mark.parametrize(
    "headers", [b"\x02", b"\x01a", b"\x01a\x0a", b"\x01a\x07\0\x05x", b"\x01a\x07\0", b"\x01\xff\x07\0\x01x"]
)
def test_headers_that_cannot_be_read_are_refused(headers: bytes) -> None:
    """Cut names and values, unknown types, names that are no text."""
    prelude = (16 + len(headers)).to_bytes(4) + len(headers).to_bytes(4)
    with pytest.raises(DecodeError, match="header"):
        read(with_checksums(prelude, headers))


def test_a_frame_at_the_limit_passes_and_one_byte_more_does_not() -> None:
    """It is refused at its prelude, before anything of it is waited for."""
    frame = encode_event_frame({}, b"x" * 84)
    assert read(frame, max_event_bytes=100) == [EventFrame({}, b"x" * 84)]
    with pytest.raises(LimitExceededError, match="larger than 100 bytes"):
        read(encode_event_frame({}, b"x" * 85)[:12], max_event_bytes=100)


def test_lengths_that_contradict_each_other_are_refused() -> None:
    """A frame is as long as its headers at least."""
    with pytest.raises(DecodeError, match="shorter than its headers"):
        read(with_checksums((16).to_bytes(4) + (1).to_bytes(4), b""))


def test_a_frame_that_was_cut_is_left_out_and_said() -> None:
    """What came before it is given."""
    decoder = EventStreamDecoder()
    assert len(decoder.feed(FRAME + FRAME[:-1])) == 1
    assert decoder.close() == []
    assert decoder.cut
    assert not decoder.cut or frame_length(FRAME[:11]) is None


def test_what_came_before_a_fault_is_given_first() -> None:
    """The next call raises it."""
    decoder = EventStreamDecoder()
    broken = FRAME[:-1] + bytes([FRAME[-1] ^ 1])
    assert len(decoder.feed(FRAME + broken)) == 1
    with pytest.raises(DecodeError, match="checksum"):
        decoder.feed(b"")
