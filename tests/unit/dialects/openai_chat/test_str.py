"""Streams of calls as servers really send them: each test feeds the bytes that broke somebody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext, Undo
from interlingua.errors import APIConnectionError
from interlingua.stream.fold import error_of
from interlingua.stream.unfold import unfold
from interlingua.types.content import BrokenToolCall, TextPart, ThinkingPart, ToolCall
from interlingua.types.event import (
    BlockEnd,
    BlockStart,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
)
from interlingua.types.message import user
from interlingua.types.request import Request
from interlingua.types.tool import Tool
from tests.support.chat import (
    DIALECT,
    DONE,
    answer,
    chunk,
    codes,
    encode_stream,
    events,
    failure,
    parts,
    reply,
    stream,
    streamed,
    wire,
)

A = ToolCall("call_a", "look", '{"x":1}')
B = ToolCall("call_b", "look", '{"x":2}')
C = ToolCall("call_c", "find", "{}")


def test_str_01_without_index_a_new_id_opens_a_call_and_the_rest_goes_on() -> None:
    """Deltas carry no `index` at all, one per chunk."""
    raw = stream(
        '{"tool_calls":[{"id":"call_a","type":"function","function":{"name":"look","arguments":""}}]}',
        '{"tool_calls":[{"function":{"arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"function":{"arguments":":1}"}}]}',
        '{"tool_calls":[{"id":"call_b","type":"function","function":{"name":"look","arguments":"{\\"x\\":2}"}}]}',
    )
    assert parts(raw) == (A, B)


def test_str_01_without_index_and_id_a_name_opens_a_call_when_the_open_one_has_one() -> None:
    """The ids are made, the calls stay two."""
    raw = stream(
        '{"tool_calls":[{"function":{"name":"look","arguments":"{\\"x\\":1}"}}]}',
        '{"tool_calls":[{"function":{"name":"find","arguments":"{}"}}]}',
    )
    response = streamed(raw)
    assert response.parts == (ToolCall("call_0", "look", '{"x":1}'), ToolCall("call_1", "find", "{}"))
    assert codes(response.changes) == ["call_id_made /parts/0/id", "call_id_made /parts/1/id"]


def test_str_02_another_id_on_index_0_is_another_call() -> None:
    """Every call of the turn is labelled 0."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\":1}"}}]}',
        '{"tool_calls":[{"index":0,"id":"call_b","function":{"name":"look","arguments":"{\\"x\\":2}"}}]}',
        '{"tool_calls":[{"index":0,"id":"call_c","function":{"name":"find","arguments":"{}"}}]}',
    )
    assert parts(raw) == (A, B, C)


def test_str_02_fragments_after_a_second_call_on_index_0_belong_to_it() -> None:
    """Bare arguments go to the call that holds the index now."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\":1}"}}]}',
        '{"tool_calls":[{"index":0,"id":"call_b","function":{"name":"look","arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":":2}"}}]}',
    )
    assert parts(raw) == (A, B)


def test_str_03_position_in_the_chunk_is_no_index() -> None:
    """One delta a chunk without `index`: each is at position 0, and still they are two calls."""
    raw = stream(
        '{"tool_calls":[{"id":"call_a","function":{"name":"look","arguments":"{\\"x\\":"}}]}',
        '{"tool_calls":[{"id":"call_a","function":{"arguments":"1}"}}]}',
        '{"tool_calls":[{"id":"call_b","function":{"name":"look","arguments":"{\\"x\\":"}}]}',
        '{"tool_calls":[{"id":"call_b","function":{"arguments":"2}"}}]}',
    )
    assert parts(raw) == (A, B)


def test_str_04_two_entries_of_one_index_in_the_first_chunk_are_one_call() -> None:
    """Name in one, the first byte of the arguments in the other."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look"}},'
        '{"index":0,"function":{"arguments":"{"}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":"\\"x\\":1}"}}]}',
    )
    assert parts(raw) == (A,)


def test_str_05_one_whole_call_a_chunk_is_one_call_each() -> None:
    """Three chunks, three ids, each with its own arguments."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","type":"function",'
        '"function":{"name":"look","arguments":"{\\"x\\":1}"}}]}',
        '{"tool_calls":[{"index":1,"id":"call_b","type":"function",'
        '"function":{"name":"look","arguments":"{\\"x\\":2}"}}]}',
        '{"tool_calls":[{"index":2,"id":"call_c","type":"function","function":{"name":"find","arguments":"{}"}}]}',
    )
    assert parts(raw) == (A, B, C)


def test_str_06_an_index_in_quotes_is_that_number() -> None:
    """`"0"` in some deltas and `0` in others."""
    raw = stream(
        '{"tool_calls":[{"index":"0","id":"call_a","function":{"name":"look","arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":":1"}}]}',
        '{"tool_calls":[{"index":"0","function":{"arguments":"}"}}]}',
    )
    assert parts(raw) == (A,)


@pytest.mark.parametrize(
    "index",
    ["null", "-1", "0.5", '{"n":0}', "[]", '"x"', '"-1"', "true", '"²"', f'"{"7" * 5_000}"'],
    ids=lambda index: index[:9],
)
def test_str_07_an_unusable_index_is_no_index(index: str) -> None:
    """The stream lives on, and the calls are told apart by what else is there."""
    raw = stream(
        f'{{"tool_calls":[{{"index":{index},"id":"call_a","function":{{"name":"look","arguments":"{{"}}}}]}}',
        f'{{"tool_calls":[{{"index":{index},"function":{{"arguments":"\\"x\\":1}}"}}}}]}}',
        f'{{"tool_calls":[{{"index":{index},"id":"call_b","function":{{"name":"look","arguments":"{{\\"x\\":2}}"}}}}]}}',
    )
    assert parts(raw) == (A, B)


def test_str_08_arguments_under_another_index_go_to_the_only_open_call() -> None:
    """Id and name say 0, the arguments say 1."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look"}}]}',
        '{"tool_calls":[{"index":1,"function":{"arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"index":1,"function":{"arguments":":1}"}}]}',
    )
    assert parts(raw) == (A,)


def test_str_08_arguments_under_an_unknown_index_of_several_open_calls_are_an_error() -> None:
    """Nobody guesses; what came rides on the error."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look"}}]}',
        '{"tool_calls":[{"index":1,"id":"call_b","function":{"name":"look"}}]}',
        '{"tool_calls":[{"index":7,"function":{"arguments":"{}"}}]}',
    )
    error = failure(raw)
    assert (error.error, error.message) == (
        "DecodeError",
        "arguments for the unknown call 7 while 2 calls are open",
    )
    assert error.partial is not None
    assert error.partial.parts == (
        BrokenToolCall("call_a", "look", "", "cut_off"),
        BrokenToolCall("call_b", "look", "", "cut_off"),
    )


def calls_of(found: list[Any]) -> list[dict[str, Any]]:
    """All call fragments of an encoded stream, in order."""
    choices = [choice for data in found if data != "[DONE]" for choice in data["choices"]]
    return [call for choice in choices for call in choice["delta"].get("tool_calls", [])]


def test_str_09_the_first_call_after_text_has_index_0() -> None:
    """Call ordinals are dense and know nothing of blocks."""
    response = answer(TextPart("Looking."), A)
    assert calls_of(encode_stream(list(unfold(response)))) == [
        {"index": 0, "id": "call_a", "type": "function", "function": {"name": "look", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"x":1}'}},
    ]


def test_str_10_parallel_calls_have_indexes_of_their_own() -> None:
    """Also when their fragments interleave."""
    found = [
        StreamStart("m"),
        BlockStart(0, "tool_call", "call_a", "look"),
        BlockStart(1, "tool_call", "call_b", "look"),
        ToolCallDelta(1, '{"x":2}'),
        ToolCallDelta(0, '{"x":1}'),
        BlockEnd(0, A),
        ToolCallReady(0, A),
        BlockEnd(1, B),
        ToolCallReady(1, B),
        StreamEnd(answer(A, B, model="m")),
    ]
    assert [(call["index"], call.get("id")) for call in calls_of(encode_stream(found))] == [
        (0, "call_a"),
        (1, "call_b"),
        (1, None),
        (0, None),
    ]
    assert parts(b"".join(map(DIALECT.stream_encoder(ServerContext()).encode, found))) == (A, B)


def test_str_13_a_call_without_id_gets_one_that_stays() -> None:
    """Counting on from the calls of the history, free of its ids."""
    undo = Undo(first_index=1, history_ids=frozenset({"call_1"}))
    raw = stream(
        '{"tool_calls":[{"index":0,"function":{"name":"look","arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}',
    )
    response = streamed(raw, DecodeContext(undo=undo))
    assert response.parts == (ToolCall("call_2", "look", '{"x":1}'),)
    assert codes(response.changes) == ["call_id_made /parts/0/id"]


def test_str_14_arguments_before_the_name_wait_for_it() -> None:
    """The block opens when the name is known, and says everything at once."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"index":0,"function":{"name":"look"}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}',
    )
    found = events(raw)
    assert found[1:4] == [
        BlockStart(0, "tool_call", "call_a", "look"),
        ToolCallDelta(0, '{"x":1}'),
        BlockEnd(0, A),
    ]
    assert parts(raw) == (A,)


def test_str_15_an_empty_name_is_not_yet_known() -> None:
    """`name: ""` first, the real one after it, nothing lost."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"","arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"index":0,"function":{"name":"look","arguments":":1}"}}]}',
    )
    assert parts(raw) == (A,)


@pytest.mark.parametrize("name", ['"name":null,', '"name":"",', ""])
def test_str_16_a_continuation_may_say_no_name_in_three_ways(name: str) -> None:
    """Null, empty and missing are one."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\""}}]}',
        f'{{"tool_calls":[{{"index":0,"id":null,"type":null,"function":{{{name}"arguments":":1}}"}}}}]}}',
    )
    assert parts(raw) == (A,)


def test_str_16_our_continuations_say_no_name() -> None:
    """After the first delta the keys are absent, not null."""
    sent = calls_of(encode_stream(list(unfold(answer(A)))))
    assert sent[1] == {"index": 0, "function": {"arguments": '{"x":1}'}}


def test_str_17_a_name_that_comes_with_every_delta_is_one_name() -> None:
    """Full name repeated: no `lookloolook`."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{"}}]}',
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"\\"x\\""}}]}',
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":":1}"}}]}',
    )
    assert parts(raw) == (A,)


def test_str_17_a_growing_name_is_its_longest_form() -> None:
    """A prefix of the name first, before any argument came."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"lo"}}]}',
        '{"tool_calls":[{"index":0,"function":{"name":"look","arguments":"{\\"x\\":1}"}}]}',
    )
    assert parts(raw) == (A,)


def test_str_19_interleaved_fragments_go_by_index_not_by_recency() -> None:
    """Two open calls whose fragments alternate, without ids."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"index":1,"id":"call_b","function":{"name":"look","arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}',
        '{"tool_calls":[{"index":1,"function":{"arguments":":2}"}}]}',
    )
    assert parts(raw) == (A, B)


def test_str_20_a_new_call_does_not_overwrite_an_unfinished_one() -> None:
    """All three calls open in one chunk, and grow after that."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":""}},'
        '{"index":1,"id":"call_b","function":{"name":"look","arguments":""}},'
        '{"index":2,"id":"call_c","function":{"name":"find","arguments":""}}]}',
        '{"tool_calls":[{"index":1,"function":{"arguments":"{\\"x\\":2}"}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":"{\\"x\\":1}"}}]}',
    )
    assert parts(raw) == (A, B, C)


def test_str_21_arguments_of_the_delta_that_opens_the_call_are_said() -> None:
    """Name and whole arguments in one delta."""
    raw = stream('{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\":1}"}}]}')
    assert events(raw)[:5] == [
        StreamStart("m", "m", "c1", {"openai-chat": {"created": 1}}),
        BlockStart(0, "tool_call", "call_a", "look"),
        ToolCallDelta(0, '{"x":1}'),
        BlockEnd(0, A),
        ToolCallReady(0, A),
    ]


def test_str_24_text_and_call_of_one_chunk_are_both_there() -> None:
    """Call 0 is not text block 0."""
    raw = stream(
        '{"role":"assistant","content":"Looking.","tool_calls":'
        '[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\":1}"}}]}'
    )
    assert parts(raw) == (TextPart("Looking."), A)


def test_str_25_text_first_then_a_whole_call() -> None:
    """The message holds both."""
    raw = stream(
        '{"role":"assistant","content":"Look"}',
        '{"content":"ing."}',
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\":1}"}}]}',
    )
    assert parts(raw) == (TextPart("Looking."), A)


def test_str_26_empty_content_between_fragments_closes_nothing() -> None:
    """`content: ""` beside and between the fragments of a call."""
    raw = stream(
        '{"content":"","tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{"}}]}',
        '{"content":""}',
        '{"content":"","tool_calls":[{"index":0,"function":{"arguments":"\\"x\\":1"}}]}',
        '{"content":""}',
        '{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}',
    )
    found = events(raw)
    assert [event for event in found if isinstance(event, BlockStart)] == [BlockStart(0, "tool_call", "call_a", "look")]
    assert parts(raw) == (A,)


@pytest.mark.parametrize("arguments", ["", ',"arguments":""', ',"arguments":null'])
def test_str_27_a_call_without_arguments_has_empty_ones(arguments: str) -> None:
    """No argument delta at all: the call is there, its arguments are `{}`."""
    raw = stream(f'{{"tool_calls":[{{"index":0,"id":"call_c","function":{{"name":"find"{arguments}}}}}]}}')
    response = streamed(raw)
    assert response.parts == (C,)
    assert response.finish_reason == "tool_calls"
    assert codes(response.changes) == ["arguments_empty /parts/0/arguments_json"]
    assert [event for event in events(raw) if isinstance(event, ToolCallReady)] == [ToolCallReady(0, C)]


def test_str_28_null_fragments_are_empty_ones() -> None:
    """`arguments: null` first and last: streamed and whole are the same."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":null}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":"{\\"x\\":1}"}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":null}}]}',
    )
    whole = reply(
        '{"role":"assistant","content":null,"tool_calls":[{"id":"call_a","type":"function",'
        '"function":{"name":"look","arguments":"{\\"x\\":1}"}}]}',
        "tool_calls",
    )
    assert parts(raw) == whole.parts == (A,)


def test_str_29_every_cut_of_the_arguments_gives_the_same_call() -> None:
    """All two-way splits of a text with escapes, spaces and nesting."""
    text = '{"path": "a\\"b", "list": [1, 2, {"deep": "\\u00e9 x"}], "n": -1.5e3, "ok": true}'
    for at in range(len(text) + 1):
        first, second = (json.dumps(piece) for piece in (text[:at], text[at:]))
        raw = stream(
            f'{{"tool_calls":[{{"index":0,"id":"call_a","function":{{"name":"look","arguments":{first}}}}}]}}',
            f'{{"tool_calls":[{{"index":0,"function":{{"arguments":{second}}}}}]}}',
        )
        decoder = DIALECT.stream_decoder(DecodeContext())
        end = [*decoder.feed(raw), *decoder.close()][-1]
        assert isinstance(end, StreamEnd)
        assert end.response.parts == (ToolCall("call_a", "look", text),)


@pytest.mark.parametrize("name", ["look<|channel|>commentary", "look<|end|>", "look<|"])
def test_str_30_control_tokens_after_a_declared_name_are_cut_off(name: str) -> None:
    """Recorded, streamed and whole; never for a name that nobody declared."""
    call = f'{{"index":0,"id":"call_a","type":"function","function":{{"name":"{name}","arguments":"{{\\"x\\":1}}"}}}}'
    known = DecodeContext(undo=Undo(tool_names=frozenset({"look"})))
    raw = stream(f'{{"tool_calls":[{call}]}}')
    assert streamed(raw, known).parts == (A,)
    assert [change.code for change in streamed(raw, known).changes] == ["call_name_cleaned"]
    whole = reply(f'{{"role":"assistant","content":null,"tool_calls":[{call}]}}', "tool_calls", context=known)
    assert whole.parts == (A,)
    assert codes(whole.changes) == ["call_name_cleaned /parts/0/name"]
    assert parts(raw) == (ToolCall("call_a", name, '{"x":1}'),)


def test_str_31_calls_without_index_and_id_are_one_each() -> None:
    """Two calls of the same tool, each whole in its own event."""
    raw = stream(
        '{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"look","arguments":"{\\"x\\":1}"}}]}',
        '{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"look","arguments":"{\\"x\\":2}"}}]}',
    )
    assert parts(raw) == (ToolCall("call_0", "look", '{"x":1}'), ToolCall("call_1", "look", '{"x":2}'))


def test_str_32_only_a_whole_call_is_ready() -> None:
    """Fragments are deltas; `ToolCallReady` comes once, when the arguments are whole."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    early = decoder.feed(
        chunk('{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\""}}]}')
    )
    assert not any(isinstance(event, ToolCallReady | BlockEnd) for event in early)
    late = decoder.feed(chunk('{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}'))
    assert not any(isinstance(event, ToolCallReady | BlockEnd) for event in late)
    assert [event for event in decoder.feed(chunk("{}", "tool_calls") + DONE) if isinstance(event, ToolCallReady)] == [
        ToolCallReady(0, A)
    ]


def test_str_33_a_clean_stream_of_parallel_calls_goes_through_as_it_came() -> None:
    """Decoded and encoded, every chunk says what it said."""
    raw = (
        chunk('{"role":"assistant","content":""}')
        + chunk(
            '{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"look","arguments":""}}]}'
        )
        + chunk('{"tool_calls":[{"index":0,"function":{"arguments":"{\\"x\\":1}"}}]}')
        + chunk(
            '{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"look","arguments":""}}]}'
        )
        + chunk('{"tool_calls":[{"index":1,"function":{"arguments":"{\\"x\\":2}"}}]}')
        + chunk("{}", "tool_calls")
        + DONE
    )
    encoder = DIALECT.stream_encoder(ServerContext())
    assert b"".join(encoder.encode(event) for event in events(raw)) == raw


def test_str_35_a_cut_stream_closes_no_arguments_and_runs_nothing() -> None:
    """The error holds the text that came, as it came."""
    error = failure(
        chunk('{"content":"Looking."}')
        + chunk('{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\":[1,"}}]}')
    )
    assert error.error == "IncompleteStreamError"
    assert error.partial is not None
    assert error.partial.parts == (TextPart("Looking."), BrokenToolCall("call_a", "look", '{"x":[1,', "cut_off"))
    assert error.partial.tool_calls == ()


def test_str_36_an_id_inside_the_function_is_the_id() -> None:
    """`tool_calls[].function.id`, the name in every delta; we say it on the call alone."""
    raw = stream(
        '{"tool_calls":[{"index":0,"function":{"id":"call_a","name":"look","arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"index":0,"function":{"id":"call_a","name":"look","arguments":":1}"}}]}',
    )
    assert parts(raw) == (A,)
    whole = reply(
        '{"role":"assistant","content":null,"tool_calls":[{"type":"function",'
        '"function":{"id":"call_a","name":"look","arguments":"{\\"x\\":1}"}}]}',
        "tool_calls",
    )
    assert whole.parts == (A,)
    assert calls_of(encode_stream(events(raw)))[0] == {
        "index": 0,
        "id": "call_a",
        "type": "function",
        "function": {"name": "look", "arguments": ""},
    }


def test_str_37_content_may_be_missing_everywhere() -> None:
    """Role alone, reasoning alone; our own first delta has both role and content."""
    raw = stream('{"role":"assistant"}', '{"reasoning_content":"Hm."}', '{"content":"Yes."}', finish="stop")
    assert parts(raw) == (ThinkingPart("Hm."), TextPart("Yes."))
    assert encode_stream(events(raw))[0]["choices"] == [
        {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
    ]


def test_str_38_reasoning_then_a_call() -> None:
    """Closing the reasoning never touches the arguments."""
    raw = stream(
        '{"role":"assistant","content":null,"reasoning_content":"Hm"}',
        '{"content":null,"reasoning_content":", look."}',
        '{"reasoning_content":null,"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{"}}]}',
        '{"reasoning_content":null,"tool_calls":[{"index":0,"function":{"arguments":"\\"x\\":1}"}}]}',
    )
    assert parts(raw) == (ThinkingPart("Hm, look."), A)


def test_str_40_a_whole_call_is_streamed_with_its_arguments() -> None:
    """A call that came in one piece has at least one argument delta for the client."""
    sent = calls_of(encode_stream(list(unfold(answer(A, C)))))
    assert [call["function"] for call in sent] == [
        {"name": "look", "arguments": ""},
        {"arguments": '{"x":1}'},
        {"name": "find", "arguments": ""},
        {"arguments": "{}"},
    ]


@pytest.mark.parametrize("again", ["{}", '{\\"x\\":1}'])
def test_str_41_a_repeat_of_a_whole_call_changes_nothing(again: str) -> None:
    """A summary with empty, or with the same, arguments after the streamed ones."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\""}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}',
        f'{{"tool_calls":[{{"index":0,"id":"call_a","function":{{"name":"look","arguments":"{again}"}}}}]}}',
    )
    assert parts(raw) == (A,)


def test_str_42_calls_of_every_choice_are_reported() -> None:
    """Two choices, the fragments of both choices interleaved, both on index 0."""
    raw = (
        chunk('{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"look","arguments":"{\\"x\\""}}]}')
        + chunk(
            '{"tool_calls":[{"index":0,"id":"call_b","function":{"name":"look","arguments":"{\\"x\\""}}]}', choice=1
        )
        + chunk('{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}')
        + chunk('{"tool_calls":[{"index":0,"function":{"arguments":":2}"}}]}', choice=1)
        + chunk("{}", "tool_calls", 1)
        + chunk("{}", "tool_calls")
        + DONE
    )
    ready = [event for event in events(raw) if isinstance(event, ToolCallReady)]
    assert ready == [ToolCallReady(0, A), ToolCallReady(0, B, choice=1)]
    response = streamed(raw)
    assert response.parts == (A,)
    assert [other.parts for other in response.alternatives] == [(B,)]


def test_str_43_text_streams_while_tools_are_bound() -> None:
    """The request with tools asks for a stream, and text before a call is out before the call is."""
    asked = Request(messages=(user("Hi"),), tools=(Tool(name="look"),))
    assert wire(asked, stream=True)["stream"] is True
    decoder = DIALECT.stream_decoder(DecodeContext())
    assert decoder.feed(chunk('{"content":"Look"}'))[-1] == TextDelta(0, "Look")


def test_a_broken_transport_after_the_terminal_signal_is_the_end() -> None:
    """Before it, it is the error, with what came."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(chunk('{"content":"Hi"}', "stop"))
    assert decoder.terminal
    assert not decoder.ended
    assert isinstance(decoder.fail(APIConnectionError("reset"))[-1], StreamEnd)
    assert decoder.ended
    cut = DIALECT.stream_decoder(DecodeContext())
    cut.feed(chunk('{"content":"Hi"}'))
    last = cut.fail(APIConnectionError("reset"))[-1]
    assert isinstance(last, StreamError)
    assert isinstance(error_of(last), APIConnectionError)
    assert last.partial is not None
    assert last.partial.text == "Hi"


@pytest.mark.parametrize(
    ("pieces", "name"),
    [
        (("get_", "weather"), "get_weather"),
        (("get", "_", "weather"), "get_weather"),
        (("get", "get_weather"), "get_weather"),  # a longer form of it
        (("f", "f"), "f"),  # a repeat, though there is a tool of the joined name
        (("look", "find"), "look"),  # two names of tools: the first one counts
        (("get_", "unknown"), "get_"),
    ],
)
def test_a_name_in_pieces_is_the_name_of_a_tool_that_was_offered(pieces: tuple[str, ...], name: str) -> None:
    """The second piece was dropped, and a call of `get_` arrived."""
    heads = [f'{{"tool_calls":[{{"index":0,"function":{{"name":"{piece}"}}}}]}}' for piece in pieces]
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"arguments":""}}]}',
        *heads,
        '{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}',
    )
    offered = Undo(tool_names=frozenset({"get_weather", "look", "find", "f", "ff"}))
    response = streamed(raw, DecodeContext(undo=offered))
    assert [call.name for call in response.tool_calls] == [name]


def test_a_name_in_pieces_is_put_together_where_no_tools_are_known() -> None:
    """As for a client of Chat whose stream passes: its own SDK had put them together."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"get_","arguments":""}}]}',
        '{"tool_calls":[{"index":0,"function":{"name":"weather"}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}',
    )
    assert parts(raw) == (ToolCall("call_a", "get_weather", "{}"),)


def test_a_name_in_pieces_ends_where_no_tools_are_known() -> None:
    """Each piece copied the whole name: a server that sent nothing else held the loop."""
    piece = '{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"%s","arguments":""}}]}'
    raw = stream(
        *[piece % ("ab", "cd")[n % 2] for n in range(500)], '{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}'
    )
    assert parts(raw) == (ToolCall("call_a", "abcd" * 64, "{}"),)
