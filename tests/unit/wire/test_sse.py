from __future__ import annotations

import pytest

from interlingua.errors import LimitExceededError, UsageError
from interlingua.wire.json import decode_any
from interlingua.wire.sse import SseDecoder, SseEvent, encode_comment, encode_event, sniff
from tests.support.cells import cells


def read(*pieces: bytes, max_event_bytes: int = 1_000) -> list[SseEvent]:
    """All events of a stream that comes in these pieces."""
    decoder = SseDecoder(max_event_bytes=max_event_bytes)
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()


def data(*pieces: bytes) -> list[bytes]:
    """The data of all events."""
    return [event.data for event in read(*pieces)]


@pytest.mark.parametrize("newline", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_ends_a_line(newline: bytes) -> None:
    """CR, LF and CRLF, cut after every byte."""
    stream = newline.join([b"event: a", b"id: 7", b"data: 1", b"data: 2", b"", b"data: 3", b"", b""])
    expected = [SseEvent(b"1\n2", "a", "7"), SseEvent(b"3")]
    assert read(stream) == expected
    assert read(*(stream[at : at + 1] for at in range(len(stream)))) == expected


def test_a_lone_cr_at_the_end_of_a_piece_dispatches_at_once() -> None:
    """Nobody waits for the LF that may follow, and the LF is not a second line end."""
    decoder = SseDecoder()
    assert [event.data for event in decoder.feed(b"data: 1\r\n\r")] == [b"1"]
    assert decoder.feed(b"") == []
    assert [event.data for event in decoder.feed(b"\ndata: 2\r\r")] == [b"2"]


def test_sse_02_json_on_the_line_after_data_is_read() -> None:
    """Documented leniency, also for an object over several lines."""
    assert data(b'data:\n{"a":1}\n\n') == [b'{"a":1}']
    assert data(b'data:\n{\n"a": 1\n}\n\ndata: 2\n\n') == [b'{\n"a": 1\n}', b"2"]


def test_sse_13_a_bare_error_object_in_a_stream_is_seen() -> None:
    """It is data although no field names it; never a silent empty reply."""
    assert data(b'data: {"a":1}\n\n{"error":{"message":"boom"}}\n\n') == [b'{"a":1}', b'{"error":{"message":"boom"}}']


def test_events_without_blank_lines_between_them_are_told_apart() -> None:
    """As in a recorded Gemini stream whose blank lines were taken away; texts that are no object are joined."""
    assert data(b'data: {"a":1}\ndata: {"b":2}\r\ndata: {"c":3}\n') == [b'{"a":1}', b'{"b":2}', b'{"c":3}']
    assert data(b'{"a":1}\n{"b":2}\n{"c":3}\n') == [b'{"a":1}', b'{"b":2}', b'{"c":3}']
    assert data(b"data: 1\ndata: 2\n\n") == [b"1\n2"]
    assert data(b'data: {"a":\ndata: 1}\n\n') == [b'{"a":\n1}']
    assert read(b"event: x\nid: 1\ndata: {}\ndata: {}\n\n") == [SseEvent(b"{}", "x", "1"), SseEvent(b"{}")]


def test_a_bracket_after_data_is_an_unknown_field() -> None:
    """The leniency ends where data has come."""
    assert data(b'data: {"a":1}\n{"b":2}\n\n') == [b'{"a":1}']


def test_sse_04_a_character_cut_in_two_is_whole_again() -> None:
    """Every byte cut of CJK and emoji."""
    stream = 'data: {"t":"日本語😀é"}\n\n'.encode()
    for cut in range(len(stream) + 1):
        (event,) = read(stream[:cut], stream[cut:])
        assert decode_any(event.data) == {"t": "日本語😀é"}


def test_sse_05_comments_are_ignored() -> None:
    """They yield nothing, between events and within them."""
    stream = b': OPENROUTER PROCESSING\n\n: ping\ndata: {"a":\n: ping\n:\ndata: 1}\n\n'
    assert [event.data for event in SseDecoder().feed(stream)] == [b'{"a":\n1}']


def test_sse_06_and_07_our_comment_is_a_comment_with_a_single_line_end() -> None:
    """No data line, and no blank line that would dispatch an empty event."""
    assert encode_comment("ping") == b": ping\n"
    assert encode_comment() == b": \n"
    assert encode_comment("a\ndata: b") == b": a\n: data: b\n"
    assert data(b"id: 1\ndata: x\n\n", encode_comment("ping"), b"data: y\n\n") == [b"x", b"y"]


@pytest.mark.parametrize(
    "stream", [b"event: keepalive\n\n", b"data:\n\n", b"data\n\n", b"data: \n\n", b"\n\n\n", b"id: 3\n\n"]
)
def test_sse_08_events_with_empty_data_are_not_dispatched(stream: bytes) -> None:
    """Their name does not stick to the next event."""
    assert read(stream + b"data: 1\n\n") == [SseEvent(b"1")]


def test_sse_24_a_line_cut_by_the_network_is_one_line() -> None:
    """Pieces are joined before anything is read."""
    assert data(b"da", b'ta: {"a":"unter', b'minated"}', b"\n", b"\n") == [b'{"a":"unterminated"}']


def test_the_space_after_the_colon_is_optional_and_only_one_is_taken() -> None:
    """`data:x`, `data:  x`; trailing spaces stay."""
    assert data(b"data:x\n\ndata:  y \n\n") == [b"x", b" y "]


@pytest.mark.parametrize("line", [b"data", b"data:", b"data: "])
def test_a_line_of_no_data_is_a_line(line: bytes) -> None:
    """An empty one, between two others and at either end."""
    stream = b"%b\ndata: a\n%b\ndata: b\n%b\n\n" % (line, line, line)
    assert [event.data for event in SseDecoder().feed(stream)] == [b"\na\n\nb\n"]


def test_unknown_fields_and_retry_are_ignored() -> None:
    """As the standard says."""
    assert read(b"retry: 10\nfoo: bar\nbaz\ndatax: 1\ndata: 1\n\n") == [SseEvent(b"1")]


def test_names_and_ids() -> None:
    """An id with NUL is ignored, an empty name is none, bad UTF-8 in a name is replaced."""
    assert read(b"id: a\x00b\nevent:\ndata: 1\n\n") == [SseEvent(b"1")]
    assert read(b"id\nevent: \xff\ndata: 1\n\n") == [SseEvent(b"1", "\ufffd", "")]


def test_a_byte_order_mark_is_skipped_once() -> None:
    """At the start, also cut in two; a second one is part of a field name."""
    assert data(b"\xef", b"\xbb", b"\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n") == [b"1"]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("text", [b'{"a":1}', b"[DONE]", b"[DONE] ", b"3"])
def test_a_whole_last_event_needs_no_blank_line(text: bytes, end: bytes) -> None:
    """Many servers forget it."""
    decoder = SseDecoder()
    assert decoder.feed(b"data: 0\n\ndata: " + text + end) == [SseEvent(b"0")]
    assert decoder.close() == [SseEvent(text)]
    assert not decoder.cut
    assert decoder.close() == []


@pytest.mark.parametrize(
    "rest", [b'data: {"a":', b'data: {"a":\n', b"data: [DON", b'event: x\ndata: {"a":1}x\n', b'{"a']
)
def test_sse_10_a_last_event_that_was_cut_is_left_out_and_said(rest: bytes) -> None:
    """A truncated text is never taken for a whole one."""
    decoder = SseDecoder()
    decoder.feed(b"data: 0\n\n" + rest)
    assert decoder.close() == []
    assert decoder.cut
    assert decoder.close() == []
    assert decoder.cut


@pytest.mark.parametrize("rest", [b"", b": ping", b"event: x", b"data:", b"dat", b"id: 3\n"])
def test_an_end_without_data_is_no_cut(rest: bytes) -> None:
    """Nothing was lost."""
    decoder = SseDecoder()
    decoder.feed(b"data: 0\n\n" + rest)
    assert decoder.close() == []
    assert not decoder.cut


def test_a_line_at_the_limit_passes_and_one_byte_more_does_not() -> None:
    """Data, comments, and lines that have not ended yet."""
    assert len(read(b"data: " + b"x" * 10 + b"\n\n", max_event_bytes=16)) == 1
    assert read(b":" + b"x" * 15 + b"\n\n", max_event_bytes=16) == []
    for stream in (b"data: " + b"x" * 17, b":" + b"x" * 16, b":" + b"x" * 16 + b"\n", b"data: " + b"x" * 17 + b"\n"):
        with pytest.raises(LimitExceededError, match="larger than 16 bytes"):
            read(stream, max_event_bytes=16)


def test_an_event_at_the_limit_passes_and_one_byte_more_does_not() -> None:
    """Many short lines are one event."""
    assert len(read(b"data: 1234567\ndata: 12345678\n\n", max_event_bytes=16)) == 1
    with pytest.raises(LimitExceededError):
        read(b"data: 12345678\ndata: 12345678\n\n", max_event_bytes=16)


@pytest.mark.parametrize("first", [b"", b'{"a":"' + b"x" * 500_000])
def test_an_event_of_very_many_lines_costs_no_more_than_its_bytes(first: bytes) -> None:
    """Half a million lines in one event take well under the seconds that copying on each line would."""
    decoder = SseDecoder()
    (event,) = decoder.feed(b"data: %b\n%b\n" % (first, b"data:y\n" * 500_000))
    assert event.data == first + b"\ny" * 500_000


def test_a_fault_comes_after_what_came_before_it_and_stays() -> None:
    """Events of the same piece are not lost."""
    decoder = SseDecoder(max_event_bytes=16)
    assert [event.data for event in decoder.feed(b"data: 1\n\n:" + b"x" * 20)] == [b"1"]
    for _ in range(2):
        with pytest.raises(LimitExceededError):
            decoder.feed(b"data: 2\n\n")
    with pytest.raises(LimitExceededError):
        decoder.close()


@cells(
    "piece",
    [
        b'data: {"a":1}\n\n',
        b'data: {"a":1}\r\n\r\n',
        b'event: delta\ndata: {"a":1}\n\n',
        b'event: delta\r\ndata: {"a":1}\r\n\r\n',
        b"event: \xff\ndata: x\n\n",
        b"event: a\rdata: x\ndata: y\n\n",
        b"event: \ndata: x\n\n",
        b"event: " + b"n" * 200 + b"\ndata: x\n\n",
        b"data: x\rdata: y\n\n",
        b"data: x\n\ndata: y\n\n",
        b"data: \n\n",
        b"data: x\r\n\n",
        b"event: a\ndata: x\n\nevent: b\ndata: y\n\ndata: z\n\n",
        b"data: x\n\n\n\ndata: y\n\n",
        b"data: x\n\n: alive\n\ndata: y\n\n",
        b'data: {"a":1}\ndata: {"a":2}\n\ndata: y\n\n',
        b"data: x\n\ndata: y\n\ndata: z",
        b"\xef\xbb\xbfdata: x\n\n",
        b"data: x\n\n\xef\xbb\xbfdata: y\n\n",
    ],
)
@cells("first", [b"data: 0\n\n", b""])
def test_pieces_of_whole_events_are_what_their_bytes_are(first: bytes, piece: bytes) -> None:
    """The short look at whole events sees what reading line by line sees, at the start of a stream, too."""
    assert read(first, piece) == read(first, *[piece[at : at + 1] for at in range(len(piece))])


def test_encoded_events() -> None:
    """Name, id and data, each on its lines."""
    assert encode_event(b'{"a":1}') == b'data: {"a":1}\n\n'
    assert encode_event(b"x", event="ping", id="3") == b"event: ping\nid: 3\ndata: x\n\n"
    assert encode_event(b"a\nb\r\nc\rd") == b"data: a\ndata: b\ndata: c\ndata: d\n\n"


@pytest.mark.parametrize("name", ["a\nb", "a\rb"])
def test_a_line_break_in_a_name_is_refused(name: str) -> None:
    """It would be a line of its own."""
    with pytest.raises(UsageError):
        encode_event(b"x", event=name)
    with pytest.raises(UsageError):
        encode_event(b"x", id=name)


@pytest.mark.parametrize(
    ("content_type", "head", "kind"),
    [
        ("text/event-stream; charset=utf-8", b"data: {}\n\n", "sse"),
        ("text/event-stream", b"", "sse"),
        (None, b"\xef\xbb\xbf\r\n: ping", "sse"),
        ("text/plain", b"event: x", "sse"),
        ("application/json", b"data: 1", "sse"),
        ("text/event-stream", b'{"error":{}}', "json"),
        ("text/event-stream", b"<!DOCTYPE html>", "html"),
        ("application/json", b"  <html>", "html"),
        ("text/html", b"", "html"),
        ("application/x-ndjson", b'{"a":1}', "ndjson"),
        ("application/jsonl", b"", "ndjson"),
        ("application/json", b'{"a":1}\n{"a":2}\n', "ndjson"),
        ("application/json", b'{"a":1,\n{"a":2}\n', "json"),
        ("application/json; charset=utf-8", b'{"a":1}\n', "json"),
        ("application/json", b"", "json"),
        ("application/json", b'[{"a":1}', "json-array"),
        (None, b"[", "json-array"),
        (None, b"", "other"),
        ("text/plain", b"upstream connect error", "other"),
    ],
)
def test_sse_22_a_body_is_known_by_its_first_bytes(content_type: str | None, head: bytes, kind: str) -> None:
    """A page or a JSON body under the name of a stream is not an empty stream."""
    assert sniff(content_type, head) == kind


@pytest.mark.parametrize("data", [b"a\nb", b"a\rb", b"a\r\nb"])
def test_each_line_of_data_is_a_line_of_the_event(data: bytes) -> None:
    """Whatever ends the lines."""
    assert encode_event(data) == b"data: a\ndata: b\n\n"


@pytest.mark.parametrize("head", [b"data:", b"data: ", b"\xef\xbb\xbfdata:", b"\xef\xbb\xbfdata: "])
def test_a_cut_line_at_the_limit_passes_and_one_byte_more_does_not(head: bytes) -> None:
    """Only the data counts, also while its line has not ended."""
    decoder = SseDecoder(max_event_bytes=8)
    assert decoder.feed(head + b'"123456"') == []
    assert [event.data for event in decoder.feed(b"\n\n")] == [b'"123456"']
    with pytest.raises(LimitExceededError):
        SseDecoder(max_event_bytes=8).feed(head + b'"1234567"')
