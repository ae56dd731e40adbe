"""Texts that differ in nothing but themselves are told without being parsed, and told alike."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.unified import DIALECT
from interlingua.types.event import Event, StreamError, TextDelta

START = b'data: {"type":"stream_start","model":"m"}\n\ndata: {"type":"block_start","index":0,"block":"text"}\n\n'


def told(*texts: bytes) -> list[Event]:
    """What is told of these texts, each a delta of its own."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    pieces = [b'data: {"type":"text_delta","index":0,"text":%b}\n\n' % text for text in texts]
    return [event for piece in (START, *pieces) for event in decoder.feed(piece)]


def test_each_text_is_told_as_it_is() -> None:
    """Escapes and other letters are those of JSON, whichever way a text is read."""
    events = told(b'"a"', b'"b\\n"', '"°"'.encode(), b'"\\u00e9"')
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["a", "b\n", "°", "é"]


@pytest.mark.parametrize("text", [b'"\xff"', b'"a'])
def test_anything_else_is_read_as_ever(text: bytes) -> None:
    """What is not one string in the place of the text is the same fault after a text as before any."""
    after, first = told(b'"x"', text)[-1], told(text)[-1]
    assert isinstance(after, StreamError)
    assert isinstance(first, StreamError)
    assert after.error == first.error


def test_a_number_is_read_for_its_words_both_ways() -> None:
    """After a text as before any."""
    assert [told(b'"x"', b"5")[-1], told(b"5")[-1]] == [TextDelta(0, "5"), TextDelta(0, "5")]
