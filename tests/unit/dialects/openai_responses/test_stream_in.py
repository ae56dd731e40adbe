"""Streams of Responses as servers really send them: each test feeds the bytes that broke somebody."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, Undo
from interlingua.errors import APIConnectionError
from interlingua.types.content import (
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
    BlockEnd,
    BlockStart,
    Extra,
    Seal,
    StreamError,
    StreamStart,
    TextDelta,
    ToolCallDelta,
)
from tests.support.responses import (
    DIALECT,
    NAME,
    added,
    call_item,
    completed,
    done,
    event,
    events,
    failure,
    message_item,
    parts,
    reply,
    seal,
    stream,
    streamed,
)

A = call_item("call_a", "look", '{"x":1}', "fc_a")
B = call_item("call_b", "find", '{"y":2}', "fc_b")
CALL_A = ToolCall("call_a", "look", '{"x":1}', sealed=seal(id="fc_a"))
CALL_B = ToolCall("call_b", "find", '{"y":2}', sealed=seal(id="fc_b"))


def opened(item: dict[str, object]) -> dict[str, object]:
    """A call as it opens."""
    return {**item, "arguments": "", "status": "in_progress"}


def arguments(text: str, index: int = 0, item_id: str = "fc_a") -> bytes:
    """A piece of a call's arguments."""
    return event("function_call_arguments.delta", output_index=index, item_id=item_id, delta=text)


def text(delta: str, **place: object) -> bytes:
    """A piece of a text."""
    return event(
        "output_text.delta", **{"output_index": 0, "item_id": "msg_1", "content_index": 0, **place}, delta=delta
    )


def test_a_stream_is_its_response() -> None:
    """Reasoning, text and a call, streamed with their whole life, are what the whole answer is."""
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}],
        "encrypted_content": "opaque",
    }
    message = message_item("Hi there", phase="commentary")
    usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    place = {"output_index": 0, "item_id": "rs_1"}
    raw = stream(
        added({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "half"}),
        event("reasoning_summary_part.added", **place, summary_index=0, part={"type": "summary_text", "text": ""}),
        event("reasoning_summary_text.delta", **place, summary_index=0, delta="One."),
        event("reasoning_summary_text.done", **place, summary_index=0, text="One."),
        event("reasoning_summary_part.added", **place, summary_index=1, part={"type": "summary_text", "text": ""}),
        event("reasoning_summary_text.delta", **place, summary_index=1, delta="Two."),
        done(reasoning),
        added(message_item("", phase="commentary", status="in_progress", content=[]), 1),
        event("content_part.added", output_index=1, item_id="msg_1", content_index=0, part={"type": "output_text"}),
        text("Hi", output_index=1, sequence_number=9),
        text(" there", output_index=1, sequence_number=10),
        done(message, 1),
        added(opened(A), 2),
        arguments('{"x"', 2),
        arguments(":1}", 2),
        done(A, 2),
        usage=usage,
    )
    found = streamed(raw)
    assert found == reply(reasoning, message, A, usage=usage)
    assert found.parts == (
        ThinkingPart("One.\n\nTwo.", seal(**reasoning)),
        TextPart("Hi there", sealed=seal(id="msg_1", phase="commentary")),
        CALL_A,
    )
    assert found.finish_reason == "tool_calls"
    assert found.finish_reason_raw == "completed"


def test_the_id_of_a_message_comes_before_its_text() -> None:
    """Whoever passes the stream on can open the item at once."""
    found = events(stream(added(message_item("", content=[])), text("Hi"), done(message_item("Hi"))))
    assert [type(one) for one in found[:4]] == [StreamStart, BlockStart, Seal, TextDelta]
    assert found[2] == Seal(0, seal(id="msg_1"))


def test_str_11_parallel_calls_are_kept_apart_by_their_item() -> None:
    """Interleaved fragments go to the call of their `output_index`."""
    raw = stream(
        added(opened(A), 0),
        added(opened(B), 1),
        arguments('{"y"', 1, "fc_b"),
        arguments('{"x"', 0),
        arguments(":2}", 1, "fc_b"),
        arguments(":1}", 0),
        done(A, 0),
        done(B, 1),
    )
    assert parts(raw) == (CALL_A, CALL_B)


def test_str_13_a_call_without_an_id_gets_one() -> None:
    """`call_id` is null from the beginning to the end."""
    bare = {"type": "function_call", "id": "fc_a", "call_id": None, "name": "look"}
    raw = stream(added({**bare, "arguments": ""}), arguments('{"x":1}'), done({**bare, "arguments": '{"x":1}'}))
    assert parts(raw, DecodeContext(undo=Undo(first_index=2))) == (
        ToolCall("call_2", "look", '{"x":1}', sealed=seal(id="fc_a")),
    )


def test_str_14_arguments_wait_for_the_name() -> None:
    """The name comes only with the whole item."""
    raw = stream(added({**opened(A), "name": ""}), arguments('{"x"'), arguments(":1}"), done(A))
    assert parts(raw) == (CALL_A,)


def test_str_22_arguments_only_in_the_done_event() -> None:
    """No delta at all: the done payload is the arguments."""
    whole = event("function_call_arguments.done", output_index=0, item_id="fc_a", arguments='{"x":1}')
    assert parts(stream(added(opened(A)), whole, done(A))) == (CALL_A,)


def test_str_22_arguments_only_in_the_whole_item() -> None:
    """No delta and no done event: the item has them."""
    found = events(stream(added(opened(A)), done(A)))
    assert ToolCallDelta(0, '{"x":1}') in found
    assert parts(stream(added(opened(A)), done(A))) == (CALL_A,)


def test_str_22_what_the_deltas_left_out_is_added() -> None:
    """The done payload goes on where the deltas stopped."""
    assert parts(stream(added(opened(A)), arguments('{"x"'), done(A))) == (CALL_A,)


def test_str_22_deltas_that_contradict_the_done_payload_are_an_error() -> None:
    """Nobody knows which of the two the model said, so nothing is run."""
    broken = failure(stream(added(opened(A)), arguments('{"x":9}'), done(A)))
    assert broken.error == "DecodeError"
    assert broken.partial is not None
    assert broken.partial.parts == (BrokenToolCall("call_a", "look", '{"x":9}', "cut_off"),)


def test_str_22_the_same_json_in_other_letters_is_no_contradiction() -> None:
    """A server that writes the done payload anew, with spaces."""
    spaced = {**A, "arguments": '{ "x": 1 }'}
    assert parts(stream(added(opened(A)), arguments('{"x":1}'), done(spaced))) == (CALL_A,)


def test_str_27_a_call_without_arguments_is_an_empty_object() -> None:
    """The block opens and closes without a delta."""
    empty = {**A, "arguments": ""}
    found = streamed(stream(added(opened(A)), done(empty)))
    assert found.parts == (ToolCall("call_a", "look", "{}", sealed=seal(id="fc_a")),)
    assert [change.code for change in found.changes] == ["arguments_empty"]


def test_str_41_an_empty_repeat_replaces_nothing() -> None:
    """The whole item repeats the call with `{}`."""
    raw = stream(added(opened(A)), arguments('{"x":1}'), done({**A, "arguments": "{}"}))
    assert parts(raw) == (CALL_A,)


def test_items_without_index_and_id_are_the_newest() -> None:
    """Events that name nothing go on with the item that opened last."""
    raw = stream(
        b'data: {"type":"response.output_item.added","item":{"type":"message","role":"assistant","content":[]}}\n\n',
        b'data: {"type":"response.output_text.delta","delta":"Hi"}\n\n',
    )
    assert parts(raw) == (TextPart("Hi", sealed=seal()),)


def test_out_06_deltas_without_an_opened_item_open_one() -> None:
    """A server that sends text only."""
    assert parts(stream(text("Hi"), text("!"))) == (TextPart("Hi!", sealed=seal(id="msg_1")),)


def test_out_07_wrong_sequence_numbers_are_read_over() -> None:
    """-1, a repeat, a string and nothing."""
    numbers: tuple[object, ...] = (-1, -1, "7", None)
    raw = stream(added(message_item("", content=[])), *(text("x", sequence_number=number) for number in numbers))
    assert parts(raw) == (TextPart("xxxx", sealed=seal(id="msg_1")),)


def test_a_reasoning_item_may_end_after_the_text_it_led_to() -> None:
    """OpenRouter closes it last; its seal and its text are whole all the same, and in their order."""
    whole: dict[str, Any] = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "Hm."}],
    }
    raw = stream(
        added({"type": "reasoning", "id": "rs_1", "summary": []}),
        event("reasoning_text.delta", output_index=0, item_id="rs_1", content_index=0, delta="Hm."),
        added(message_item("", content=[]), 1),
        text("Hi", output_index=1),
        done(message_item("Hi"), 1),
        done(whole),
    )
    assert parts(raw) == (ThinkingPart("Hm.", seal(**whole)), TextPart("Hi", sealed=seal(id="msg_1")))


def test_thk_16_encrypted_reasoning_comes_from_the_whole_item() -> None:
    """What opens the item may be incomplete; without a word, the seal alone is a block."""
    whole: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "whole"}
    raw = stream(added({**whole, "encrypted_content": "ha"}), done(whole))
    assert parts(raw) == (ThinkingPart("", seal(**whole)),)
    assert streamed(raw) == reply(whole)


def test_cho_11_a_streamed_refusal_is_a_refusal() -> None:
    """By its deltas, or by its done event alone."""
    place = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
    whole = {**message_item(""), "content": [{"type": "refusal", "refusal": "I can't."}]}
    opening = added(message_item("", content=[]))
    by_deltas = [event("refusal.delta", **place, delta="I "), event("refusal.delta", **place, delta="can't.")]
    for pieces in (by_deltas, [event("refusal.done", **place, refusal="I can't.")]):
        found = streamed(stream(opening, *pieces, done(whole)))
        assert found == reply(whole)
        assert found.parts == (RefusalPart("I can't.", {NAME: {"item": {"id": "msg_1"}}}),)
        assert found.finish_reason == "refusal"


def test_parts_of_a_message_are_parts() -> None:
    """A text with a citation and log probabilities, and a refusal after it."""
    citation = {"type": "url_citation", "url": "https://a.test", "title": "A", "start_index": 0, "end_index": 2}
    first = {"type": "output_text", "text": "Hi", "annotations": [citation], "logprobs": [{"token": "Hi"}]}
    whole = message_item("", content=[first, {"type": "refusal", "refusal": "No."}])
    place = {"output_index": 0, "item_id": "msg_1"}
    raw = stream(
        added(message_item("", content=[])),
        event("content_part.added", **place, content_index=0, part={"type": "output_text", "text": ""}),
        text("Hi"),
        event("output_text.annotation.added", **place, content_index=0, annotation_index=0, annotation=citation),
        event("content_part.done", **place, content_index=0, part=first),
        event("refusal.delta", **place, content_index=1, delta="No."),
        done(whole),
    )
    found = streamed(raw)
    assert found == reply(whole)
    logprobs = {NAME: {"logprobs": [{"token": "Hi"}]}}
    assert found.parts[0] == TextPart(
        "Hi",
        (Citation(NAME, citation, "https://a.test", "A", start=0, end=2),),
        sealed=seal(id="msg_1"),
        extra=logprobs,
    )


def test_srv_03_a_freeform_call_streams_as_its_text() -> None:
    """Pieces of the text become pieces of the arguments, escaped one by one."""
    whole = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_a", "name": "patch", "input": 'a"b\n🙂'}
    pieces = [
        event("custom_tool_call_input.delta", output_index=0, item_id="ctc_1", delta=one) for one in ('a"b', "\n🙂")
    ]
    expected = ToolCall("call_a", "patch", '{"input":"a\\"b\\n🙂"}', freeform=True, sealed=seal(id="ctc_1"))
    for middle in (pieces, pieces[:1], []):
        found = streamed(stream(added({**whole, "input": ""}), *middle, done(whole)))
        assert found == reply(whole)
        assert found.parts == (expected,)


def test_a_freeform_call_that_was_cut_off_is_broken() -> None:
    """Half a patch is never applied."""
    cut = {"type": "custom_tool_call", "call_id": "call_a", "name": "patch", "input": "half", "status": "incomplete"}
    ending: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    raw = stream(added({**cut, "input": "", "status": "in_progress"}), done(cut), **ending)
    found = streamed(raw)
    assert found.tool_calls == ()
    assert found == reply(cut, **ending)
    [part] = found.parts
    assert isinstance(part, BrokenToolCall)
    assert (part.reason, part.raw_arguments) == ("cut_off", '{"input":"half')


def test_arg_12_a_call_that_the_limit_cut_is_broken() -> None:
    """`incomplete` with half an object: kept as it is, never run."""
    cut = {**A, "arguments": '{"x":', "status": "incomplete"}
    ending: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    found = streamed(stream(added(opened(A)), arguments('{"x":'), done(cut), **ending))
    item = {NAME: {"item": {"id": "fc_a", "status": "incomplete"}}}
    assert found == reply(cut, **ending)
    assert found.finish_reason == "length"
    assert found.finish_reason_raw == "incomplete/max_output_tokens"
    assert found.parts == (BrokenToolCall("call_a", "look", '{"x":', "cut_off", extra=item),)
    assert found.tool_calls == ()


def test_hosted_items_pass_with_their_progress() -> None:
    """A web search: its opening and its progress as they are, the item whole in its place."""
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    progress = event("web_search_call.searching", output_index=0, item_id="ws_1")
    found = events(stream(added({**search, "status": "in_progress"}), progress, done(search)))
    assert [one.raw["type"] for one in found if isinstance(one, Extra)] == [
        "response.output_item.added",
        "response.web_search_call.searching",
    ]
    assert [one.part for one in found if isinstance(one, BlockEnd)] == [
        ServerToolPart(NAME, "web_search_call", search, "web_search", "ws_1", {"type": "search"})
    ]


def test_a_generated_picture_is_an_image() -> None:
    """Its bytes are canonical, the rest of its item is its seal."""
    item = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "output_format": "webp"}
    found = streamed(stream(added(item), done({**item, "result": "iVBORw=="})))
    assert found.parts == (ImagePart(b"\x89PNG", "image/webp", sealed=seal(**item)),)
    assert found == reply({**item, "result": "iVBORw=="})


def test_out_08_a_last_event_with_all_items_is_an_answer() -> None:
    """A server that streams nothing but the end."""
    assert parts(completed(message_item("Hi"), A)) == (TextPart("Hi", sealed=seal(id="msg_1")), CALL_A)


def test_sse_22_a_whole_answer_in_place_of_a_stream_is_an_answer() -> None:
    """The body is plain JSON."""
    raw = b'{"id":"resp_1","object":"response","status":"completed","model":"m","output":[],"usage":null}\n\n'
    assert streamed(raw).finish_reason == "stop"


def test_sse_05_comments_and_done_are_read_over() -> None:
    """OpenRouter: comments before, no names of events, `[DONE]` behind."""
    raw = b": OPENROUTER PROCESSING\n\n" + stream(text("Hi")) + b"data: [DONE]\n\n"
    assert parts(raw) == (TextPart("Hi", sealed=seal(id="msg_1")),)


@pytest.mark.parametrize(
    ("raw", "kind", "code"),
    [
        (event("failed", response={"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "Slow."}}),
         "RateLimitError", "rate_limit_exceeded"),
        (b'event: error\ndata: {"type":"error","code":"server_error","message":"Oh.","param":null}\n\n',
         "InternalServerError", "server_error"),
        (b'event: error\ndata: {"error":{"type":"tokens","code":"rate_limit_exceeded","message":"S"}}\n\n',
         "RateLimitError", "rate_limit_exceeded"),
        (b'event: error\ndata: {"error":{"code":"insufficient_quota","message":"Pay."}}\n\n',
         "BillingError", "insufficient_quota"),
        (event("failed", response={"status": "failed", "error": {"code": "bio_policy", "message": "No."}}),
         "ContentPolicyViolationError", "bio_policy"),
        (event("failed", response={"status": "failed", "error": {"code": "image_too_large", "message": "Big."}}),
         "BadRequestError", "image_too_large"),
    ],
)  # fmt: skip
def test_sse_13_a_failure_in_the_stream_is_an_error(raw: bytes, kind: str, code: str) -> None:
    """Flat, nested, and within the answer; what came is kept."""
    head = event("created", response={"id": "resp_1", "status": "in_progress", "model": "m"})
    found = failure(head + text("Hi") + raw + completed())
    assert (found.error, found.code) == (kind, code)
    assert found.partial is not None
    assert found.partial.text == "Hi"
    assert found.partial.id == "resp_1"


def test_sse_10_a_stream_without_its_last_event_is_incomplete() -> None:
    """A clean end of the bytes is not the end of the answer."""
    found = failure(added(opened(A)) + arguments('{"x":1}'))
    assert found.error == "IncompleteStreamError"
    assert found.partial is not None
    assert found.partial.parts == (BrokenToolCall("call_a", "look", '{"x":1}', "cut_off"),)


def test_after_the_end_nothing_is_read_and_nothing_fails() -> None:
    """The transport breaks behind `response.completed`."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(stream(text("Hi")))
    assert decoder.terminal
    assert decoder.ended
    assert decoder.feed(text("more")) == []
    assert decoder.fail(APIConnectionError("gone")) == []
    assert decoder.close() == []


def test_a_transport_that_breaks_keeps_what_came() -> None:
    """Before the end it is the transport's error."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(text("Hi"))
    [*_, last] = decoder.fail(APIConnectionError("gone"))
    assert last.error == "APIConnectionError"  # type: ignore[union-attr] - the last event is one


def test_unknown_events_pass() -> None:
    """An event of tomorrow is an extra event."""
    found = events(stream(event("new.thing", value=1)))
    assert Extra(NAME, {"type": "response.new.thing", "value": 1}) in found


def test_text_after_the_first_is_compared_not_parsed() -> None:
    """Numbers before and behind the text, padding, escapes; and text that only looks alike is parsed."""
    front = [text(piece, sequence_number=at) for at, piece in enumerate(["a", "b", '\\"', "ü"])]
    moved = [
        b'data: {"type":"response.output_text.delta","sequence_number":%d,"item_id":"msg_1","output_index":0,'
        b'"content_index":0,"delta":"%b","obfuscation":"%b"}\n\n' % (at, piece, pad)
        for at, (piece, pad) in enumerate([(b"c", b"xy"), (b"d", b"z1"), (b'\\"', b"q")])
    ]
    odd = b'data: {"type":"response.output_text.delta","sequence_number":9,"delta":"!","output_index":0}\n\n'
    raw = stream(*front, *moved, odd)
    assert parts(raw) == (TextPart('ab\\"ücd"!', sealed=seal(id="msg_1")),)


def test_text_after_the_first_may_be_numbered_last() -> None:
    """As in answers of our own, and of servers that sort their members."""
    pieces = [
        b'data: {"content_index":0,"delta":"%b","item_id":"msg_1","output_index":0,"sequence_number":%d,'
        b'"type":"response.output_text.delta"}\n\n' % (piece, at)
        for at, piece in enumerate([b"a", b"b", b"c"])
    ]
    last = [
        b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"msg_1",'
        b'"output_index":0,"content_index":0,"delta":"%b","logprobs":[],"sequence_number":%b}\n\n' % (piece, number)
        for piece, number in [(b"d", b"3"), (b"e", b"4"), (b"f", b"-1"), (b"g", b"6"), (b"h", b"7")]
    ]
    assert parts(stream(*pieces, *last)) == (TextPart("abcdefgh", sealed=seal(id="msg_1")),)


def test_unknown_content_stands_where_it_stood() -> None:
    """A content part of tomorrow, streamed and whole, and a message without any."""
    whole = message_item("", content=[{"type": "output_hologram", "x": 1}])
    opening = added(message_item("", content=[]))
    expected = OpaquePart(NAME, "content_part", {"part": whole["content"][0], "item": {"id": "msg_1"}})
    for raw in (stream(opening, done(whole)), stream(done(whole))):
        assert parts(raw) == (expected,)
    assert reply(whole).parts == (expected,)
    empty = message_item("", content=[])
    assert parts(stream(opening, done(empty))) == (OpaquePart(NAME, "message", empty),)


def test_a_message_told_only_at_its_end_is_told_then() -> None:
    """Nothing but the whole item, its content a string or parts; an item that ends twice ends once."""
    said = {**message_item(""), "content": "Hi"}
    assert parts(stream(done(said), done(said))) == (TextPart("Hi", sealed=seal(id="msg_1")),)
    refused = {**message_item(""), "content": [{"type": "refusal", "refusal": "No.", "x": 1}], "status": "incomplete"}
    item = {"id": "msg_1", "status": "incomplete"}
    assert parts(stream(done(refused))) == (RefusalPart("No.", {NAME: {"item": item, "x": 1}}),)
    assert reply(refused).parts == parts(stream(done(refused)))


@pytest.mark.parametrize(
    "raw",
    [
        arguments("{}"),
        b'data: {"type":"response.output_item.added"}\n\n',
        b'data: {"type":"response.output_item.done"}\n\n',
        added({**opened(A), "name": ""}) + completed(),
        b'data: {"type":\n\n',
    ],
)
def test_streams_that_break_the_format_are_errors(raw: bytes) -> None:
    """Arguments for nothing, events without their item, a call that never got a name, and no JSON."""
    assert failure(raw).error in ("DecodeError", "IncompleteStreamError")


def test_lone_surrogates_are_replaced_with_an_entry() -> None:
    """One bad escape does not end the stream."""
    found = streamed(stream(event("output_text.delta", output_index=0, item_id="msg_1", delta="\ud800!")))
    assert found.text == "\ufffd!"
    assert [change.code for change in found.changes] == ["lone_surrogate"]


def test_the_name_may_come_with_the_arguments() -> None:
    """One server names the call in `function_call_arguments.done`."""
    whole = event("function_call_arguments.done", output_index=0, item_id="fc_a", arguments='{"x":1}', name="look")
    assert parts(stream(added({**opened(A), "name": None}), whole, done({**A, "name": None}))) == (CALL_A,)


def test_a_whole_item_with_an_object_as_arguments_is_understood() -> None:
    """With an entry."""
    found = streamed(stream(added(opened(A)), done({**A, "arguments": {"x": 1}})))
    assert found.tool_calls == (CALL_A,) or found.tool_calls[0].arguments == {"x": 1}
    assert [change.code for change in found.changes] == ["arguments_object"]


def test_thoughts_and_summaries_in_one_item_are_told_once() -> None:
    """What began is gone on with; done events alone do as well."""
    place = {"output_index": 0, "item_id": "rs_1"}
    raw = stream(
        added({"type": "reasoning", "id": "rs_1", "summary": []}),
        event("reasoning_summary_text.done", **place, summary_index=0, text="Sum."),
        event("reasoning_text.delta", **place, content_index=0, delta="Raw."),
        event("reasoning_text.done", **place, content_index=0, text="Raw."),
    )
    assert parts(raw) == (ThinkingPart("Sum."),)
    alone = stream(event("reasoning_text.done", **place, content_index=0, text="Raw."))
    assert parts(alone) == (ThinkingPart("Raw."),)


def test_items_that_are_never_done_end_with_the_answer() -> None:
    """OUT-06: no `output_item.done`; the last snapshot has the rest, what it lacks is what was seen."""
    reasoning: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "whole"}
    search = {"type": "web_search_call", "id": "ws_1", "status": "in_progress"}
    raw = (
        added({**reasoning, "encrypted_content": "ha"})
        + added(message_item("", content=[]), 1)
        + text("Hi", output_index=1)
        + added(opened(B), 2)
        + arguments('{"y":2}', 2, "fc_b")
        + added({**opened(A), "name": ""}, 3)
        + arguments('{"x":1}', 3)
        + added(search, 4)
        + completed(reasoning, message_item("Hi", phase="final_answer"), A)
    )
    assert parts(raw) == (
        ThinkingPart("", seal(**reasoning)),
        TextPart("Hi", sealed=seal(id="msg_1", phase="final_answer")),
        CALL_B,
        CALL_A,
        ServerToolPart(NAME, "web_search_call", search, "web_search", "ws_1", {}, status="running"),
    )


@pytest.mark.parametrize("number", [b"01", b"00", b"1_0"])
@pytest.mark.parametrize("is_last", [True, False])
def test_a_number_that_is_none_is_found_where_texts_are_compared(number: bytes, is_last: bool) -> None:
    """What is no JSON is an error behind texts that are alike, too."""
    said = b'"delta":"a","item_id":"msg_1","output_index":0,"content_index":0'
    told = [
        b'data: {"type":"response.output_text.delta",%b}\n\n'
        % (b'%b,"sequence_number":%b' if is_last else b'"sequence_number":%b,%b')
        % ((said, at) if is_last else (at, said))
        for at in (b"1", b"2", b"3", number)
    ]
    assert failure(b"".join(told)).error == "DecodeError"
    decoder = DIALECT.stream_decoder(DecodeContext())
    assert [type(decoder.feed(piece)[-1]) for piece in told] == [TextDelta] * 3 + [StreamError]


def test_more_arguments_of_a_whole_call_are_an_error() -> None:
    """A piece that comes again behind the end of its call is none of the call, which has been told."""
    raw = stream(added(opened(A)), arguments('{"x":1}'), done(A), arguments(""), arguments('{"x":1}'))
    broken = failure(raw)
    assert broken.error == "DecodeError"
    assert broken.partial is not None
    assert broken.partial.parts == (CALL_A,)
