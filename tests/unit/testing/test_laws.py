"""The law checks for everyone: they pass what is lawful and say what is not."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from interlingua.dialects.table import get_dialect
from interlingua.stream.unfold import unfold
from interlingua.testing.laws import (
    assert_any_cut,
    assert_lawful,
    assert_reply_round_trip,
    assert_stream_round_trip,
    cuts,
    encode_stream,
    first_other,
)
from interlingua.types.content import TextPart, ToolCall
from interlingua.types.event import StreamStart, TextDelta
from interlingua.types.response import Response
from interlingua.types.usage import Usage
from tests.support.codecs import losing

CHAT = get_dialect("openai-chat")
RESPONSE: Response[Any] = Response(
    parts=(TextPart("Hello."), ToolCall("call_a", "t", "{}")),
    finish_reason="tool_calls",
    finish_reason_raw="tool_calls",
    usage=Usage(input_tokens=1, output_tokens=2),
    model="m",
    wire_model="m",
    id="x",
)


def test_a_lawful_stream_passes() -> None:
    """An unfolded response breaks no law, and what breaks one is said."""
    assert_lawful(list(unfold(RESPONSE)))
    with pytest.raises(AssertionError, match="L3"):
        assert_lawful([StreamStart(), TextDelta(0, "x")])


def test_cuts_keep_every_byte() -> None:
    """Each way of cutting adds up to the bytes, also of nothing and of more than 4 kB; a seed repeats itself."""
    for data in (b"", b"x", bytes(range(256)) * 20):
        ways = list(cuts(data, seed="s"))
        assert [b"".join(pieces) for _, pieces in ways] == [data] * 2
        assert list(cuts(data, seed="s")) == ways


def test_any_cut_gives_the_events() -> None:
    """A stream of the dialect survives every cut, and a decoder that hangs on to pieces is caught."""
    data = encode_stream(CHAT, unfold(RESPONSE))
    assert assert_any_cut(CHAT, data)

    class Whole:
        """Reads only streams that come in one piece."""

        terminal = ended = False

        def __init__(self, context: Any) -> None:
            self.inner = CHAT.stream_decoder(context)

        def feed(self, data: bytes) -> Any:
            return self.inner.feed(data) if len(data) > 200 else []

        def close(self) -> Any:
            return self.inner.close()

        def fail(self, error: Any) -> Any:
            return self.inner.fail(error)

    with pytest.raises(AssertionError, match="byte by byte: other events from number 0 on"):
        assert_any_cut(replace(CHAT, stream_decoder=Whole), data)


def test_round_trips() -> None:
    """The dialect's replies and streams come back as they were; a codec that loses a call is caught."""
    assert_reply_round_trip(CHAT, RESPONSE)
    assert_stream_round_trip(CHAT, RESPONSE)
    with pytest.raises(AssertionError):
        assert_reply_round_trip(losing(CHAT), RESPONSE)


def test_the_first_other_event() -> None:
    """The place of the first difference, also where one stream is shorter."""
    assert first_other([StreamStart()], [StreamStart()]) is None
    assert first_other([StreamStart()], []) == 0
