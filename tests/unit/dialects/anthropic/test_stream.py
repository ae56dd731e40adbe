"""Streams, both ways: each test feeds the bytes that broke somebody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.anthropic import DIALECT
from interlingua.errors import APIConnectionError, IncompleteStreamError, OverloadedError
from interlingua.stream.build import stream_error
from interlingua.stream.check import check
from interlingua.stream.unfold import unfold
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    ImagePart,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    Event,
    Extra,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
    UsageUpdate,
)
from interlingua.types.response import Alternative, Response
from interlingua.types.usage import Usage
from tests.support.messages import (
    NAME,
    START,
    STOP,
    block,
    codes,
    encode_stream,
    ended,
    event,
    events,
    failure,
    parts,
    raw_stream,
    reply,
    streamed,
)

TEXT = '{"type":"text","text":""}'
USE = '{"type":"tool_use","id":"a","name":"f","input":{}}'


def text(*pieces: str) -> tuple[str, ...]:
    """Text deltas."""
    return tuple(json.dumps({"type": "text_delta", "text": piece}) for piece in pieces)


def piece(*pieces: str) -> tuple[str, ...]:
    """Pieces of a call's arguments."""
    return tuple(json.dumps({"type": "input_json_delta", "partial_json": said}) for said in pieces)


# Calls


def test_str_12_text_and_two_calls_are_three_blocks() -> None:
    """Dense indexes, each call with its own arguments (STR-24, STR-25)."""
    raw = (
        block(0, TEXT, *text("Check", "ing."))
        + block(1, USE, *piece("", '{"city": "Os', 'lo"}'))
        + block(2, USE.replace('"a"', '"b"'), *piece('{"tz":1}'))
    )
    said = streamed(START + raw + ended("tool_use"))
    assert said.parts == (TextPart("Checking."), ToolCall("a", "f", '{"city": "Oslo"}'), ToolCall("b", "f", '{"tz":1}'))
    assert said.finish_reason == "tool_calls"
    assert sum(isinstance(found, ToolCallReady) for found in events(START + raw + ended("tool_use"))) == 2


def test_a_text_that_begins_like_that_of_another_stream_is_its_own() -> None:
    """The first delta is compared with the latest text that any stream began; all that differs is read as ever."""
    assert parts(block(0, TEXT, *text("one ", "two"))) == (TextPart("one two"),)
    assert parts(block(0, TEXT, *text('a "b"\n\u00e9', " c"))) == (TextPart('a "b"\n\u00e9 c'),)
    assert parts(block(0, TEXT, *text("", "x"))) == (TextPart("x"),)
    assert parts(block(1, TEXT, *text("other index"))) == (TextPart("other index"),)
    assert parts(block(1, TEXT.replace('""', '"he"'), *text("llo"))) == (TextPart("hello"),)
    cited = TEXT.replace('"text":""', '"text":"","citations":[{"type":"x"}]')
    assert parts(block(1, cited, *text("so"))) == (TextPart("so", (Citation(NAME, {"type": "x"}),)),)
    opaque = '{"type":"strange","text":"a"}'
    assert parts(block(1, opaque, *text("b"))) == (OpaquePart(NAME, "strange", {"type": "strange", "text": "ab"}),)
    delta = event(f'{{"type":"content_block_delta","index":1,"delta":{text("lost")[0]}}}')
    assert failure(START + delta).message == "a delta for block 1, which is not open"


@pytest.mark.parametrize("deltas", [(), piece(""), piece("", "")])
def test_str_27_a_call_without_arguments_is_a_call(deltas: tuple[str, ...]) -> None:
    """None or only empty ones are `{}`."""
    assert parts(block(0, USE, *deltas)) == (ToolCall("a", "f", "{}"),)


def test_str_21_the_input_of_the_start_counts_where_no_delta_comes() -> None:
    """A server may say it all at once; deltas that come win (STR-41)."""
    whole = USE.replace("{}", '{"x":1}')
    assert parts(block(0, whole)) == (ToolCall("a", "f", '{"x":1}'),)
    assert parts(block(0, whole, *piece('{"x":2}'))) == (ToolCall("a", "f", '{"x":2}'),)


def test_str_20_blocks_that_interleave_keep_their_own_bytes() -> None:
    """Deltas go by index, never by recency (STR-19, OUT-12)."""

    def start(index: int, call_id: str) -> bytes:
        use = USE.replace('"a"', f'"{call_id}"')
        return event(f'{{"type":"content_block_start","index":{index},"content_block":{use}}}')

    def more(index: int, said: str) -> bytes:
        return event(f'{{"type":"content_block_delta","index":{index},"delta":{piece(said)[0]}}}')

    def stop(index: int) -> bytes:
        return event(f'{{"type":"content_block_stop","index":{index}}}')

    raw = start(4, "a") + more(4, '{"x"') + start(7, "b") + more(7, '{"y"') + more(4, ":1}") + more(7, ":2}")
    assert parts(raw + stop(7) + stop(4)) == (ToolCall("a", "f", '{"x":1}'), ToolCall("b", "f", '{"y":2}'))


def test_str_35_a_call_that_was_cut_is_broken_and_never_run() -> None:
    """By the length limit, and by the end of the bytes, even where its JSON happens to be whole."""
    raw = START + block(0, USE, *piece('{"city": "Os')) + ended("max_tokens")
    assert streamed(raw).parts == (BrokenToolCall("a", "f", '{"city": "Os', "cut_off"),)
    assert streamed(raw).finish_reason == "length"
    started = event(f'{{"type":"content_block_start","index":0,"content_block":{USE}}}')
    grown = event(f'{{"type":"content_block_delta","index":0,"delta":{piece("{}")[0]}}}')
    cut = failure(START + started + grown)
    assert cut.error == "IncompleteStreamError"
    assert cut.partial is not None
    assert cut.partial.parts == (BrokenToolCall("a", "f", "{}", "cut_off"),)


def test_arg_12_broken_arguments_without_a_limit_are_malformed() -> None:
    """Invalid JSON is kept as it came."""
    assert parts(block(0, USE, *piece('{"a":'))) == (BrokenToolCall("a", "f", '{"a":', "malformed"),)


def test_arg_08_integers_and_key_order_are_exact() -> None:
    """The very text of the object, streamed and whole."""
    text = '{"id": 12345678901234567890, "b": 1, "a": "\\u00e9"}'
    assert parts(block(0, USE, *piece(text))) == (ToolCall("a", "f", text),)
    assert reply(f"[{USE.replace('{}', text)}]", "tool_use").parts == (ToolCall("a", "f", text),)


def test_id_10_a_repeated_id_gets_a_new_one() -> None:
    """At parse time, and recorded."""
    said = streamed(START + block(0, USE) + block(1, USE) + ended("tool_use"))
    assert [call.id for call in said.tool_calls] == ["a", "call_1"]
    assert "repaired call_id_duplicate /parts/1/id" in codes(said.changes)


def test_r19_own_ids_are_made_for_every_call() -> None:
    """With a maker, the provider's ids are gone."""
    context = DecodeContext(make_id=lambda: "call_own")
    assert streamed(START + block(0, USE) + ended("tool_use"), context).tool_calls[0].id == "call_own"


# Framing and ends


def test_sse_04_text_survives_every_cut_of_its_bytes() -> None:
    """CJK and emoji, byte by byte."""
    assert parts(block(0, TEXT, *text("日本", "語 🎉"))) == (TextPart("日本語 🎉"),)


@pytest.mark.parametrize(
    "noise",
    [b": ping\n\n", event('{"type":"ping"}'), b"event: ping\n\n", b"event: keepalive\ndata:\n\n", b":\r\n\r\n"],
)
def test_sse_05_signs_of_life_say_nothing(noise: bytes) -> None:
    """Comments, pings and empty events, anywhere (SSE-08)."""
    raw = noise + START + noise + block(0, TEXT, *text("a")) + noise + ended()
    assert streamed(raw).parts == (TextPart("a"),)


def test_padded_data_lines_are_read() -> None:
    """Recorded: spaces after the JSON."""
    raw = START + block(0, TEXT, *text("a")) + ended()
    assert streamed(raw.replace(b"}\n\n", b"}   \n\n")).parts == (TextPart("a"),)


def test_sse_10_a_stream_without_message_stop_is_incomplete() -> None:
    """Even where the stop reason has come; what came is kept."""
    whole = START + block(0, TEXT, *text("a")) + ended()
    cut = failure(whole.removesuffix(STOP))
    assert cut.error == "IncompleteStreamError"
    assert cut.partial is not None
    assert cut.partial.parts == (TextPart("a"),)


def test_sse_13_an_error_event_is_an_error() -> None:
    """With the class of its type, what came, and the id of the request."""
    bad = event('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}')
    found = failure(START + block(0, TEXT, *text("a")) + bad)
    assert (found.error, found.message, found.code, found.request_id) == (
        "OverloadedError",
        "Overloaded",
        "overloaded_error",
        "req_1",
    )
    assert found.partial is not None
    assert found.partial.parts == (TextPart("a"),)
    assert failure(bad).error == "OverloadedError"
    assert failure(b'data: {"error":{"message":"no"}}\n\n').error == "InternalServerError"


def test_sse_22_a_whole_answer_in_place_of_a_stream_is_read() -> None:
    """A JSON body is the same answer, an error body the same error, a page an error."""
    content = f'[{{"type":"text","text":"a"}},{USE.replace("{}", chr(123) + chr(34) + "x" + chr(34) + ":1}")}]'
    body = (
        f'{{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":{content},'
        '"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":7}}'
    )
    assert streamed(body.encode()) == reply(content, "tool_use")
    assert failure(b'{"type":"error","error":{"type":"api_error","message":"x"}}').error == "InternalServerError"
    assert failure(b"<html>busy</html>").error == "IncompleteStreamError"


def test_nothing_comes_after_the_end() -> None:
    """What follows `message_stop`, or an error, is not read."""
    raw = START + ended() + block(0, TEXT, *text("late")) + STOP
    found = events(raw)
    assert isinstance(found[-1], StreamEnd)
    assert found[-1].response.parts == ()


def test_unknown_events_and_deltas_go_on_as_they_are() -> None:
    """With members of any type; a delta for a block that never started is an error (OUT-15)."""
    odd = '{"type":"weather","index":"north","delta":5}'
    strange = '{"type":"smell_delta","smell":"x"}'
    found = events(START + event(odd) + block(0, TEXT, *text("a"), strange) + ended())
    extras = [one.raw for one in found if isinstance(one, Extra)]
    assert extras[0] == json.loads(odd)
    assert extras[1]["delta"] == json.loads(strange)
    assert encode_stream([StreamStart(), Extra(NAME, json.loads(odd))])[-1] == json.loads(odd)
    assert (
        failure(START + event(f'{{"type":"content_block_delta","index":3,"delta":{text("a")[0]}}}')).error
        == "DecodeError"
    )


@pytest.mark.parametrize("raw", [b"data: {\n\n", b"data: 5\n\n"])
def test_what_is_no_event_is_a_decode_error(raw: bytes) -> None:
    """Our own error, whatever comes after it."""
    assert failure(raw + ended()).error == "DecodeError"


def test_a_broken_transport_ends_the_stream_once() -> None:
    """With its own error; after the end it is no failure."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(START + block(0, TEXT, *text("a")))
    (found,) = decoder.fail(APIConnectionError("reset"))
    assert isinstance(found, StreamError)
    assert (found.error, decoder.ended, decoder.terminal) == ("APIConnectionError", True, True)
    assert decoder.fail(APIConnectionError("reset")) == []
    assert decoder.close() == []


# Usage and reasons


def test_use_02_counts_are_put_together_by_name() -> None:
    """The later ones replace the earlier; cache counts of the start stay in the sum (USE-01)."""
    start = START.replace(
        b'{"input_tokens":5,"output_tokens":1}',
        b'{"input_tokens":5,"cache_read_input_tokens":10,"cache_creation_input_tokens":3,"output_tokens":1}',
    )
    raw = start + block(0, TEXT, *text("a"))
    usage = '{"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}}'
    assert streamed(raw + ended(usage=usage)).usage == Usage(
        input_tokens=18, output_tokens=9, cache_read_tokens=10, cache_write_tokens=3, reasoning_tokens=4
    )
    again = event('{"type":"message_delta","delta":{},"usage":{"output_tokens":4}}')
    later = '{"input_tokens":6,"cache_read_input_tokens":11,"output_tokens":9}'
    found = streamed(raw + again + ended(usage=later)).usage
    assert found == Usage(input_tokens=20, output_tokens=9, cache_read_tokens=11, cache_write_tokens=3)


def test_use_07_usage_is_always_an_object_of_numbers() -> None:
    """In both places, also where nothing is known."""
    told = encode_stream(list(unfold(Response(parts=(TextPart("a"),), finish_reason="stop"))))
    assert told[0]["message"]["usage"] == {"input_tokens": 0, "output_tokens": 0}
    assert next(body for body in told if body["type"] == "message_delta")["usage"] == {
        "input_tokens": 0,
        "output_tokens": 0,
    }


def test_what_the_start_told_of_the_usage_is_not_told_again() -> None:
    """Only counts stand in `message_delta`; a member that came late stands there too."""
    start = START.replace(b'"output_tokens":1}', b'"output_tokens":1,"service_tier":"standard","inference_geo":"eu"}')
    raw = start + block(0, TEXT, *text("a")) + ended(usage='{"output_tokens":9,"inference_geo":"us"}')
    told = encode_stream(events(raw), ServerContext(source=NAME))
    assert told[0]["message"]["usage"] == {
        "input_tokens": 5, "output_tokens": 1, "service_tier": "standard", "inference_geo": "eu",
    }  # fmt: skip
    assert told[-2]["usage"] == {"input_tokens": 5, "output_tokens": 9, "inference_geo": "us"}
    assert streamed(raw_stream(events(raw), ServerContext(source=NAME))).usage == streamed(raw).usage


def test_every_count_is_told_once_more_at_the_end() -> None:
    """Whoever looks at the end alone finds them; the tier, which is none, stands at the start."""
    counts = (
        '"input_tokens":5,"cache_creation_input_tokens":1,"cache_read_input_tokens":2,"output_tokens":3,'
        '"output_tokens_details":{"thinking_tokens":2},"server_tool_use":{"web_search_requests":1}'
    )
    usage = f'{{{counts},"service_tier":"standard"}}'
    start = START.replace(b'{"input_tokens":5,"output_tokens":1}', usage.encode())
    told = encode_stream(events(start + block(0, TEXT, *text("a")) + ended(usage=usage)), ServerContext(source=NAME))
    assert told[0]["message"]["usage"] == json.loads(usage)
    assert told[-2]["usage"] == json.loads(f"{{{counts}}}")


def test_members_of_the_answer_survive_the_stream() -> None:
    """Container, stop details, context management and what is new."""
    delta = (
        '{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber"},"container":{"id":"c"},"new":1}'
    )
    raw = (
        START + event(f'{{"type":"message_delta","delta":{delta},"usage":{{}},"context_management":{{"x":1}}}}') + STOP
    )
    said = streamed(raw)
    assert said.finish_reason == "refusal"
    assert said.extra == {
        NAME: {
            "stop_details": {"type": "refusal", "category": "cyber"},
            "container": {"id": "c"},
            "new": 1,
            "context_management": {"x": 1},
        }
    }
    told = encode_stream(events(raw), ServerContext(source=NAME))[-2]
    assert told["delta"]["stop_details"] == {"type": "refusal", "category": "cyber"}
    assert told["context_management"] == {"x": 1}


# Blocks that go on unread, and citations


def test_srv_09_blocks_of_provider_run_tools_are_gathered_whole() -> None:
    """The input of the call, the content of its result; never a tool call of ours (SRV-06)."""
    use = '{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}'
    found = '{"type":"web_search_result","page_age":null}'
    result = f'{{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{found}]}}'
    said = streamed(START + block(0, use, *piece('{"q', '":1}')) + block(1, result) + ended())
    assert said.parts == (
        ServerToolPart(
            NAME, "server_tool_use", {**json.loads(use), "input": {"q": 1}}, "web_search", "srvtoolu_1", {"q": 1}
        ),
        ServerToolPart(NAME, "web_search_tool_result", json.loads(result), "web_search", "srvtoolu_1", output=""),
    )
    assert said.tool_calls == ()
    told = encode_stream(list(unfold(said)))
    assert [body["content_block"] for body in told if body["type"] == "content_block_start"] == [
        json.loads(use),
        json.loads(result),
    ]
    assert json.loads(next(body["delta"]["partial_json"] for body in told if "delta" in body)) == {"q": 1}


def test_a_compaction_grows_by_its_deltas() -> None:
    """Texts of one member are joined."""
    deltas = ('{"type":"compaction_delta","content":"Sum"}', '{"type":"compaction_delta","content":"mary"}')
    said = parts(block(0, '{"type":"compaction","content":null}', *deltas))
    assert said == (
        ServerToolPart(
            NAME, "compaction", {"type": "compaction", "content": "Summary"}, "compaction", output="Summary"
        ),
    )


def test_citations_hang_on_their_text() -> None:
    """Also those that come before it; those of others are dropped, and that is said."""
    cited = {"type": "char_location", "cited_text": "x", "document_index": 0}
    delta = json.dumps({"type": "citations_delta", "citation": cited})
    said = streamed(START + block(0, TEXT, delta, *text("a")) + block(1, TEXT, *text("b")) + ended())
    assert said.parts == (TextPart("a", (Citation(NAME, cited, quote="x"),)), TextPart("b"))
    told = encode_stream(events(START + block(0, TEXT, delta, *text("a")) + ended()))
    assert {"type": "citations_delta", "citation": cited} in [body.get("delta") for body in told]
    entries: list[Any] = []
    cited_elsewhere = TextPart("a", (Citation("openai-chat", {"x": 1}),))
    foreign = Response(parts=(cited_elsewhere,), finish_reason="stop", usage=Usage(input_tokens=1, output_tokens=1))
    raw_stream(list(unfold(foreign)), ServerContext(changes=entries))
    assert codes(entries) == ["dropped annotation_unsupported /parts/0/annotations/0"]


# The server's stream


def test_out_01_one_block_is_open_at_a_time() -> None:
    """Blocks that interleave wait for each other; every delta belongs to the open block (OUT-04, OUT-15)."""
    found: list[Event] = [
        StreamStart("m", "m", "msg_1"),
        BlockStart(0, "tool_call", "a", "f"),
        ToolCallDelta(0, '{"x"'),
        BlockStart(1, "tool_call", "b", "g"),
        ToolCallDelta(1, '{"y":2}'),
        BlockStart(2, "text"),
        TextDelta(2, "late"),
        BlockEnd(2, TextPart("late")),
        ToolCallDelta(0, ":1}"),
        BlockEnd(1, ToolCall("b", "g", '{"y":2}')),
        ToolCallReady(1, ToolCall("b", "g", '{"y":2}')),
        BlockEnd(0, ToolCall("a", "f", '{"x":1}')),
        ToolCallReady(0, ToolCall("a", "f", '{"x":1}')),
    ]
    calls = (ToolCall("a", "f", '{"x":1}'), ToolCall("b", "g", '{"y":2}'), TextPart("late"))
    end = Response(parts=calls, finish_reason="tool_calls", model="m", wire_model="m", id="msg_1")
    found.append(StreamEnd(end))
    assert check(found) == ()
    told = encode_stream(found)
    _is_lawful(told)
    assert streamed(raw_stream(found)).parts == calls


def _is_lawful(told: list[Any]) -> None:
    """Starts, deltas and stops of a stream follow each other, with dense indexes."""
    open_block: int | None = None
    opened = 0
    assert told[0]["type"] == "message_start"
    assert told[-1]["type"] == "message_stop"
    for body in told:
        match body["type"]:
            case "content_block_start":
                assert open_block is None
                assert body["index"] == opened
                open_block, opened = opened, opened + 1
            case "content_block_delta":
                assert body["index"] == open_block
            case "content_block_stop":
                assert body["index"] == open_block
                open_block = None
            case _:
                assert open_block is None


def test_str_40_a_call_has_an_empty_input_and_its_arguments_in_a_delta() -> None:
    """Also one that came whole, and one without arguments (OUT-03)."""
    for arguments in ('{"x": 1}', "{}"):
        said = Response(parts=(ToolCall("a", "f", arguments),), finish_reason="tool_calls")
        told = encode_stream(list(unfold(said)))
        start = next(body for body in told if body["type"] == "content_block_start")
        assert start["content_block"] == {"type": "tool_use", "id": "a", "name": "f", "input": {}}
        pieces = [body["delta"]["partial_json"] for body in told if body["type"] == "content_block_delta"]
        assert pieces == [arguments]
    silent = [StreamStart(), BlockStart(0, "tool_call", "a", "f"), BlockEnd(0, ToolCall("a", "f", "{}"))]
    assert encode_stream(silent)[3]["delta"] == {"type": "input_json_delta", "partial_json": "{}"}


def test_out_13_there_is_one_start_and_a_ping() -> None:
    """Held until there is something to say, with the counts known by then."""
    usage = Usage(input_tokens=12, output_tokens=1, cache_read_tokens=4)
    found: list[Event] = [StreamStart("m", "m", "msg_1"), UsageUpdate(usage), BlockStart(0, "text"), TextDelta(0, "a")]
    told = encode_stream(found)
    assert [body["type"] for body in told] == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
    ]
    assert told[0]["message"] == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 8, "cache_read_input_tokens": 4, "output_tokens": 1},
    }


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, {"input_tokens": 99, "output_tokens": 0}),
        (Usage(output_tokens=3), {"input_tokens": 99, "output_tokens": 3}),
        (Usage(input_tokens=7, output_tokens=3), {"input_tokens": 7, "output_tokens": 3}),
    ],
)
def test_r64_the_start_has_the_input_that_was_counted_or_else_an_estimate(
    usage: Usage | None, counted: dict[str, int]
) -> None:
    """Clients of Messages read the input tokens from it."""
    found: list[Event] = [StreamStart("m", "m", "msg_1"), BlockStart(0, "text"), TextDelta(0, "a")]
    if usage is not None:
        found.insert(1, UsageUpdate(usage))
    encoder = DIALECT.stream_encoder(ServerContext(input_tokens=lambda: 99))
    raw = b"".join([encoder.encode(event) for event in found])
    start = json.loads(raw.partition(b"data: ")[2].partition(b"\n\n")[0])
    assert start["message"]["usage"] == counted


def test_sse_15_a_failure_ends_in_an_error_event() -> None:
    """No stop, no made-up success; nothing before it but what was said (SSE-16)."""
    partial = Response(parts=(TextPart("a"),), finish_reason="error")
    found: list[Event] = [
        StreamStart(),
        BlockStart(0, "text"),
        TextDelta(0, "a"),
        stream_error(OverloadedError("busy"), partial),
    ]
    told = encode_stream(found)
    assert told[-1] == {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    assert "message_stop" not in [body["type"] for body in told]
    assert encode_stream([stream_error(IncompleteStreamError("cut"), None)]) == [
        {
            "type": "error",
            "error": {"type": "api_error", "message": "cut", "details": {"error_code": "incomplete_stream"}},
        }
    ]


def test_str_35_a_cut_call_is_never_told_as_whole() -> None:
    """Its block does not stop before the error, so that no client runs it."""
    started = event(f'{{"type":"content_block_start","index":0,"content_block":{USE}}}')
    grown = event(f'{{"type":"content_block_delta","index":0,"delta":{piece("{}")[0]}}}')
    told = encode_stream(events(START + started + grown))
    assert [body["type"] for body in told][-2:] == ["content_block_delta", "error"]
    limited = encode_stream(events(START + block(0, USE, *piece('{"a')) + ended("max_tokens")))
    assert [body["type"] for body in limited][-3:] == ["content_block_stop", "message_delta", "message_stop"]


def test_what_the_wire_has_no_block_for_is_told_or_dropped() -> None:
    """Refusals and media as text, opaque blocks of others not at all; each with its entry."""
    entries: list[Any] = []
    said = Response(
        parts=(
            RefusalPart("No."),
            ImagePart(b"x", "image/png"),
            AudioPart(b"y", "audio/wav", "Hello"),
            OpaquePart("google", "executableCode", {}),
            ThinkingPart(""),
            TextPart("end"),
        ),
        finish_reason="content_filter",
        usage=Usage(input_tokens=1, output_tokens=1),
        alternatives=(Alternative(parts=(TextPart("other"),)),),
    )
    told = encode_stream(list(unfold(said)), ServerContext(changes=entries))
    _is_lawful(told)
    assert [body["delta"]["text"] for body in told if body["type"] == "content_block_delta"] == [
        "No.",
        "[image/png, 1 bytes]",
        "Hello",
        "end",
    ]
    assert codes(entries) == [
        "approximated refusal_as_text /parts/0",
        "approximated media_as_text /parts/1",
        "approximated media_as_text /parts/2",
        "dropped opaque_part /parts/3",
        "approximated finish_reason_approximated /finish_reason",
        "dropped alternatives_unsupported /alternatives/0",
    ]
    assert told[-2]["delta"] == {"stop_reason": "refusal", "stop_sequence": None}


def test_annotations_of_a_block_that_waits_are_kept() -> None:
    """They wait with it."""
    cited = Citation(NAME, {"type": "char_location"})
    found: list[Event] = [
        StreamStart(),
        BlockStart(0, "tool_call", "a", "f"),
        BlockStart(1, "text"),
        Annotation(1, cited),
        TextDelta(1, "x"),
        BlockEnd(1, TextPart("x", (cited,))),
        BlockEnd(0, ToolCall("a", "f", "{}")),
    ]
    deltas = [body["delta"]["type"] for body in encode_stream(found) if body["type"] == "content_block_delta"]
    assert deltas == ["input_json_delta", "citations_delta", "text_delta"]


@pytest.mark.parametrize(
    ("start", "delta"),
    [
        ('{"type":"thinking","thinking":"Hm."}', '{"type":"signature_delta","signature":"c2ln"}'),
        ('{"type":"text","text":"Hi"}', '{"type":"citations_delta","citation":{"type":"char_location"}}'),
    ],
)
def test_what_is_said_of_a_block_behind_the_next_one_is_an_error(start: str, delta: str) -> None:
    """A block that was never stopped ends where the next one begins; nothing is told of it any more."""
    raw = START + event(f'{{"type":"content_block_start","index":0,"content_block":{start}}}')
    raw += event('{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"So"}}')
    raw += event(f'{{"type":"content_block_delta","index":0,"delta":{delta}}}') + ended()
    broken = failure(raw)
    assert (broken.error, broken.message) == ("DecodeError", "a delta for block 0, which is not open")
