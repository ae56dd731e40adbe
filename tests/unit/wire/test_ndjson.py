from __future__ import annotations

import pytest

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire.ndjson import JsonArrayDecoder, NdjsonDecoder, encode_line


def lines(*pieces: bytes, max_event_bytes: int = 100) -> list[bytes]:
    """All lines of a stream that comes in these pieces."""
    decoder = NdjsonDecoder(max_event_bytes=max_event_bytes)
    return [line for piece in pieces for line in decoder.feed(piece)] + decoder.close()


def elements(*pieces: bytes, max_event_bytes: int = 100) -> list[bytes]:
    """All objects of an array that comes in these pieces."""
    decoder = JsonArrayDecoder(max_event_bytes=max_event_bytes)
    return [element for piece in pieces for element in decoder.feed(piece)] + decoder.close()


def each_byte(text: bytes) -> list[bytes]:
    """The text in pieces of one byte."""
    return [text[at : at + 1] for at in range(len(text))]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r", b"\n\n \n"])
def test_lines_end_as_they_like(newline: bytes) -> None:
    """CR, LF, CRLF; blank lines are skipped; a byte order mark is, too."""
    stream = newline.join([b'\xef\xbb\xbf{"a":1}', b' {"b":2} ', b'{"c":3}', b""])
    assert lines(stream) == lines(*each_byte(stream)) == [b'{"a":1}', b'{"b":2}', b'{"c":3}']


def test_the_last_line_needs_no_line_break() -> None:
    """A single buffered object is a stream of one."""
    assert lines(b'{"done":true}') == [b'{"done":true}']


def test_a_line_that_was_cut_is_left_out_and_said() -> None:
    """Only at the end of the stream, and only when it is not whole."""
    decoder = NdjsonDecoder()
    assert decoder.feed(b'{"a":1}\n{"b"') == [b'{"a":1}']
    assert decoder.close() == []
    assert decoder.cut


def test_nothing_at_the_end_is_no_cut() -> None:
    """White space is nothing."""
    decoder = NdjsonDecoder()
    decoder.feed(b'{"a":1}\n  ')
    assert decoder.close() == []
    assert not decoder.cut


def test_a_line_at_the_limit_passes_and_one_byte_more_does_not() -> None:
    """Whether it has ended or not."""
    assert lines(b'"12"\n"34"', max_event_bytes=4) == [b'"12"', b'"34"']
    for stream in (b'"123"\n', b'"123"', b"     "):
        with pytest.raises(LimitExceededError):
            lines(stream, max_event_bytes=4)


def test_a_line_is_written_with_its_line_break() -> None:
    """And read back."""
    assert encode_line(b'{"a":1}') == b'{"a":1}\n'
    assert lines(encode_line(b"1"), encode_line(b"2")) == [b"1", b"2"]


ARRAY = b'\xef\xbb\xbf [{"a":"}]\\"{\\\\"}\n,\r\n{"b":[{"c":[]}, "]"]},{}]\n'
OBJECTS = [b'{"a":"}]\\"{\\\\"}', b'{"b":[{"c":[]}, "]"]}', b"{}"]


def test_objects_of_an_array_come_out_as_they_close() -> None:
    """Brackets and quotes in strings are text; every byte cut gives the same."""
    assert elements(ARRAY) == elements(*each_byte(ARRAY)) == OBJECTS
    for cut in range(len(ARRAY)):
        assert elements(ARRAY[:cut], ARRAY[cut:]) == OBJECTS


def test_an_object_is_given_on_before_the_array_ends() -> None:
    """A stream is a stream."""
    decoder = JsonArrayDecoder()
    assert decoder.feed(b'[{"a":1}') == [b'{"a":1}']
    assert decoder.feed(b',\r\n{"b":2}') == [b'{"b":2}']
    assert decoder.feed(b',{"c":3},{"d"') == [b'{"c":3}']
    assert decoder.feed(b":4}\n]") == [b'{"d":4}']
    assert decoder.close() == []
    assert not decoder.cut


@pytest.mark.parametrize("text", [b"[]", b" [ ] ", b""])
def test_an_empty_array_is_an_empty_stream(text: bytes) -> None:
    """So is nothing."""
    assert elements(text) == []


def test_one_object_stands_for_an_array_of_one() -> None:
    """Servers send a bare error object."""
    assert elements(b' {"error":{"code":400}}\n') == [b'{"error":{"code":400}}']


@pytest.mark.parametrize("text", [b"[", b'[{"a":1}', b'[{"a":1},', b'[{"a":1},{"b', b'[{"a', b'{"a":1'])
def test_an_array_that_was_cut_is_said(text: bytes) -> None:
    """Whether the cut was in an object or between two."""
    decoder = JsonArrayDecoder()
    assert decoder.feed(text) == ([b'{"a":1}'] if b"1}" in text else [])
    assert decoder.close() == []
    assert decoder.cut


@pytest.mark.parametrize(
    "text",
    [
        b"hello",
        b"[1]",
        b'["a"]',
        b'["a{}"]',
        b"[[{}]]",
        b"[{}]]",
        b"[{}] x",
        b"[{}][",
        b"{}{}",
        b"{},{}",
        b"]",
        b"}",
        b"[}",
    ],
)
def test_anything_but_objects_in_an_array_is_a_decode_error(text: bytes) -> None:
    """However it is cut."""
    for pieces in ([text], each_byte(text)):
        with pytest.raises(DecodeError, match="not one JSON array of objects"):
            elements(*pieces)


def test_an_object_at_the_limit_passes_and_one_byte_more_does_not() -> None:
    """Whether it is whole or not."""
    assert elements(b'[{"a":1},{"b":2}]', max_event_bytes=7) == [b'{"a":1}', b'{"b":2}']
    for pieces in ([b'[{"a":12}]'], [b"[", b'{"a":12}'], [b'[{"a":123'], each_byte(b'[{"a":123')):
        with pytest.raises(LimitExceededError):
            elements(*pieces, max_event_bytes=7)
