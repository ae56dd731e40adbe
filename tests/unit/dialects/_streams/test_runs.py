"""Runs of text: which pieces are read by comparing bytes, and that they say what they say when they are parsed."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import pytest

from bench.rows.pairs import EVENTS, load
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects._streams.runs import DATA, Frame, RunDecoder, run_of
from interlingua.dialects._streams.templates import Template, template_of
from interlingua.dialects.ollama.lines import LINE, Time, time_of
from interlingua.dialects.openai_responses.template import numbered_template_of
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.stream.build import Block
from interlingua.types.event import Event, TextDelta, ThinkingDelta, ToolCallDelta, ToolCallReady

HEAD, TAIL = b'{"content":', b',"n":1}'
LONG = 70_000
PADDED = b'{"delta":"Hi","obfuscation":"ab","sequence_number":7}'
NUMBERED = b'{"sequence_number":7,"delta":"Hi","obfuscation":"ab"}'


class Framing:
    """What cuts a stream."""

    def __init__(self, *, is_between: bool = True) -> None:
        self.is_between = is_between


class Run(RunDecoder):
    """Only what a run reads; anything else is None."""

    def __init__(self, template: Template, block: Block, *, is_between: bool = True, frame: Frame = DATA) -> None:
        super().__init__()
        self._run = run_of(template, frame, Framing(is_between=is_between), block)

    def more(self, data: bytes) -> list[Event] | None:
        """The events of a piece."""
        return self.feed(data) or None

    def _read(self, data: bytes) -> list[Event]:
        return []

    @property
    def piece(self) -> bytes:
        """The last piece that was one of the run."""
        return self.compared


def run_and_block(template: Template, *, is_between: bool = True) -> tuple[Run, Block]:
    """A run and the block that it grows."""
    block = Block("text", 2, 1)
    return Run(template, block, is_between=is_between), block


def framed(data: bytes) -> bytes:
    """The event of some data."""
    return b"data: %b\n\n" % data


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        (framed(HEAD + b'"Ho"' + TAIL), "Ho"),
        (framed(HEAD + rb'"\u00e9\n"' + TAIL), "é\n"),
        (framed(HEAD + b'""' + TAIL), None),
        (framed(HEAD + b"null" + TAIL), None),
        (framed(HEAD + b'"a","content":"b"' + TAIL), None),
        (framed(HEAD + b'"\xff"' + TAIL), None),
        (framed(HEAD + b'"a"\n' + TAIL), None),
        (framed(HEAD + b'\n"a"' + TAIL), None),
        (framed(HEAD + b'"' + TAIL), None),
        (framed(HEAD + b'"a' + TAIL), None),
        (framed(HEAD + TAIL), None),
        (framed(b'{"content":1}'), None),
        (framed(HEAD + b'"' + b"x" * LONG + b'"' + TAIL), None),
        (framed(HEAD + b'"Ho"' + TAIL)[:-1], None),
        (HEAD + b'"Ho"' + TAIL, None),
        (b"data: " + HEAD + b'"Ho"', None),
        (b"", None),
    ],
)
def test_a_piece_of_a_run_is_one_delta(piece: bytes, text: str | None) -> None:
    """Of the block, which grows by it; anything else is for the parser, and changes nothing."""
    run, block = run_and_block(Template(HEAD, TAIL))
    assert run.more(piece) == (None if text is None else [TextDelta(2, text, 1)])
    assert block.pieces == ([] if text is None else [text])


def test_in_the_middle_of_an_event_nothing_is_a_piece() -> None:
    """Bytes belong to the event that has begun."""
    run, _ = run_and_block(Template(HEAD, TAIL), is_between=False)
    assert run.more(framed(HEAD + b'"Ho"' + TAIL)) is None


@pytest.mark.parametrize(
    ("first", "piece", "text"),
    [
        (b'{"delta":"Hi","sequence_number":7}', b'{"delta":"Ho","sequence_number":18}', "Ho"),
        (b'{"delta":"Hi","sequence_number":7}', b'{"delta":"Ho","sequence_number":1e5}', None),
        (b'{"delta":"Hi","sequence_number":7}', b'{"delta":"Ho","sequence_number":}', None),
        (PADDED, b'{"delta":"Ho","obfuscation":"x","sequence_number":8}', "Ho"),
        (PADDED, b'{"delta":"Ho","obfuscation":"-","sequence_number":8}', None),
        (b'{"delta":"Hi","sequence_number":7}', b'{"delta":"Ho"\n,"sequence_number":8}', None),
        (b'{"sequence_number":7,"delta":"Hi"}', b'{"sequence_number":123,"delta":"Ho"}', "Ho"),
        (b'{"sequence_number":7,"delta":"Hi"}', b'{"sequence_number":1.5,"delta":"Ho"}', None),
        (b'{"sequence_number":7,"delta":"Hi"}', b'{"sequence_number":' + b"1" * 30 + b',"delta":"Ho"}', None),
        (NUMBERED, b'{"sequence_number":8,"delta":"Ho","obfuscation":"cde"}', "Ho"),
        (NUMBERED, b'{"sequence_number":8,"delta":"Ho"}', None),
    ],
)
def test_numbers_and_padding_say_nothing(first: bytes, piece: bytes, text: str | None) -> None:
    """A number before the text or as the last member, and padding, may be any; what is none is parsed."""
    template = numbered_template_of(first, "Hi")
    assert template is not None
    run, _ = run_and_block(template)
    assert run.more(framed(piece)) == (None if text is None else [TextDelta(2, text, 1)])


def test_padding_alone_says_nothing() -> None:
    """As in Chat."""
    template = template_of(b'{"content":"Hi","obfuscation":"ab"}', "content", "Hi")
    assert template is not None
    run, _ = run_and_block(template)
    assert run.more(framed(b'{"content":"Ho","obfuscation":"q"}')) == [TextDelta(2, "Ho", 1)]


@pytest.mark.parametrize(("kind", "delta"), [("thinking", ThinkingDelta), ("tool_call", ToolCallDelta)])
def test_a_block_of_another_kind_grows_in_its_own_way(kind: Any, delta: Any) -> None:
    """Thinking by thinking, a call by arguments."""
    run = Run(Template(HEAD, TAIL), Block(kind, 0, 0))
    assert run.more(framed(HEAD + b'"Ho"' + TAIL)) == [delta(0, "Ho", 0)]


@pytest.mark.parametrize(
    ("line", "text", "time"),
    [
        (b'{"created_at":"2026-01-01T00:00:01Z","content":"Ho"}\n', "Ho", "2026-01-01T00:00:01Z"),
        (b'{"created_at":"noon","content":"Ho"}\n', None, ""),
        (b'{"created_at":"2026","content":""}\n', None, ""),
        (b'{"created_at":"2026","content":"a\n"}\n', None, ""),
        (b'{"created_at":"2026","content":"' + b"x" * LONG + b'"}\n', None, ""),
        (b'{"created_at":"2026","content":"Ho"}', None, ""),
        (b'{"created_at":"2026","content":"Ho"}\n{"created_at":"2027","content":"Ho"}\n', None, ""),
        (b'{"created_at":"}\n', None, ""),
    ],
)
def test_a_line_of_a_run_is_one_delta_and_a_time(line: bytes, text: str | None, time: str) -> None:
    """The time of the last line is kept, and nothing of any other piece."""
    template = Template(b'{"created_at":"', b"}", Time(b"2026-01", b'","content":'))
    run = Run(template, Block("text", 0, 0), frame=LINE)
    assert run.more(line) == (None if text is None else [TextDelta(0, text, 0)])
    assert time_of(template, run.piece) == time


def chunk(delta: str) -> bytes:
    """A chunk of Chat with a delta, as an event."""
    return b'data: {"id":"c","choices":[{"index":0,"delta":{%b}}]}\n\n' % delta.encode()


def fragment(text: str, index: int = 0, more: str = "") -> bytes:
    """A chunk with more of the arguments of a call."""
    shown = json.dumps(text)
    return chunk(f'"tool_calls":[{{"index":{index}{more},"function":{{"arguments":{shown}}}}}]')


def opened(index: int) -> bytes:
    """A chunk that opens a call."""
    function = '"function":{"name":"f","arguments":""}'
    return chunk(f'"tool_calls":[{{"index":{index},"id":"call_{index}","type":"function",{function}}}]')


END = b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize(
    ("pieces", "texts"),
    [
        ([fragment('{"a"'), fragment(":"), fragment("1"), fragment("2"), fragment("}")], ['{"a":12}']),
        ([fragment('{"a"'), fragment(":1}"), fragment('{"a":1}')], ['{"a":1}']),
        ([fragment('{"a"'), fragment(":1"), fragment("}"), fragment("{}")], ['{"a":1}']),
        ([fragment('{"a"'), fragment(":"), fragment('{"b"'), fragment(":2}"), fragment("}")], ['{"a":{"b":2}}']),
        ([fragment("{"), fragment('"a":'), fragment("1}"), opened(1), fragment("{}", 1)], ['{"a":1}', "{}"]),
        ([fragment(piece, more=',"id":"call_0","type":"function"') for piece in ("{", '"a":', "1", "}")], ['{"a":1}']),
    ],
)
def test_arguments_in_a_run_add_up(pieces: list[bytes], texts: list[str]) -> None:
    """Each piece by itself, or cut in two, or all at once: the same calls, and what is repeated is not told again."""
    stream = [opened(0), *pieces, END]
    halves = [half for piece in stream for half in (piece[:20], piece[20:])]
    told = [_events("openai-chat", given) for given in (stream, halves, [b"".join(stream)])]
    assert told[0] == told[1] == told[2]
    assert [event.call.arguments_json for event in told[0] if isinstance(event, ToolCallReady)] == texts


@pytest.mark.parametrize(
    ("deltas", "kind"),
    [
        (['"reasoning_content":"a"', '"reasoning_content":"b"', '"reasoning_content":"c"'], ThinkingDelta),
        (['"reasoning":"a"', '"reasoning":"b"', '"reasoning":"c"'], ThinkingDelta),
        (['"content":"a"', '"content":"b"', '"content":"c"'], TextDelta),
    ],
)
def test_what_chat_says_piece_by_piece_is_a_run(deltas: list[str], kind: Any) -> None:
    """Text and reasoning: the second piece and the third are not parsed."""
    decoder = get_dialect("openai-chat").stream_decoder(DecodeContext())
    first, *others = [chunk(delta) for delta in deltas]
    decoder.feed(first)
    with patch("interlingua.dialects.openai_chat.client_stream.decode_wire", side_effect=AssertionError):
        assert [decoder.feed(piece) for piece in others] == [[kind(0, "b")], [kind(0, "c")]]


@pytest.mark.parametrize("name", DIALECTS)
def test_a_run_says_what_its_events_say(name: str) -> None:
    """Piece by piece, cut in the middle of each, and all at once: the same events and the same end."""
    frames = load(name).frames
    halves = [half for frame in frames for half in (frame[: len(frame) // 2], frame[len(frame) // 2 :])]
    told = [_events(name, pieces) for pieces in (list(frames), halves, [b"".join(frames)])]
    assert told[0] == told[1] == told[2]
    assert sum(isinstance(event, TextDelta) for event in told[0]) >= EVENTS


READ = {"openai-chat": 3, "openai-responses": 4, "anthropic": 3, "google": 2, "ollama": 2, "cohere": 5, "unified": 5}
"""Pieces of a stream of many texts that are read as events: the first ones, and the end. Frames with a checksum
of their own, as Converse has them, are each read."""


@pytest.mark.parametrize("name", READ)
def test_nothing_of_a_run_is_parsed_in_any_dialect(name: str) -> None:
    """A stream of many texts, each in a piece: those that go on are compared with the one before, and no more."""
    decoder: Any = get_dialect(name).stream_decoder(DecodeContext())
    with patch.object(decoder, "_read", side_effect=decoder._read) as reader:
        for frame in load(name).frames:
            decoder.feed(frame)
    assert reader.call_count == READ[name]


def _events(name: str, pieces: list[bytes]) -> list[Event]:
    decoder = get_dialect(name).stream_decoder(DecodeContext())
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()
