"""Two thinking blocks are the same text in a stream as in a whole answer, where the wire has one place for them."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.stream.unfold import unfold
from interlingua.types.content import TextPart, ThinkingPart
from interlingua.types.event import StreamEnd
from interlingua.types.response import Response

ANSWER = Response(
    parts=(ThinkingPart("First."), ThinkingPart(""), ThinkingPart("Second."), TextPart("Hi")),
    finish_reason="stop",
    model="m",
)


@pytest.mark.parametrize("name", ["openai-chat", "ollama"])
def test_his_02_blocks_are_parted_in_a_stream_as_in_a_whole_answer(name: str) -> None:
    """A blank line parts them both ways; an empty block adds nothing."""
    dialect = get_dialect(name)
    whole = dialect.decode_response(dialect.encode_response(ANSWER, ServerContext()), DecodeContext())
    encoder, decoder = dialect.stream_encoder(ServerContext()), dialect.stream_decoder(DecodeContext())
    data = b"".join([encoder.encode(event) for event in unfold(ANSWER)])
    end = [*decoder.feed(data), *decoder.close()][-1]
    assert isinstance(end, StreamEnd)
    assert end.response.thinking == whole.thinking == "First.\n\nSecond."
    assert end.response.text == whole.text == "Hi"
