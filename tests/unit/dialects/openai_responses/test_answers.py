"""Answers out: whole and streamed, the same, in the official SDK's strict types; and errors both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.responses import Response as SdkResponse
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.errors import (
    AuthenticationError,
    BadRequestError,
    BillingError,
    ContextWindowExceededError,
    DecodeError,
    Error,
    IncompleteStreamError,
    InternalServerError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    RateLimitError,
    RequestTooLargeError,
)
from interlingua.stream.build import StreamBuilder, stream_error
from interlingua.stream.calls import CallIdSource
from interlingua.stream.unfold import unfold
from interlingua.types.change import Change, Changes
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    DocumentPart,
    ImagePart,
    OpaquePart,
    Part,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.event import BlockEnd, BlockStart, Extra, StreamError, StreamStart, TextDelta, ThinkingDelta
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Alternative, Response
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply
from tests.support.responses import (
    DIALECT,
    NAME,
    added,
    answer,
    call_item,
    codes,
    decode_error,
    done,
    encode_reply,
    encode_stream,
    event,
    events,
    message_item,
    reply,
    stream,
)

EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
FOREIGN = ServerContext(model="m", created=7, make_id=lambda: "resp_9", source="openai-chat")
CALL = ToolCall("call_a", "look", '{"x":1}')
PATCH = ToolCall("call_b", "patch", '{"input":"*** a\\"b"}', freeform=True)
FULL = answer(
    ThinkingPart("Hm."),
    TextPart("Hi "),
    TextPart("there"),
    CALL,
    RefusalPart("No."),
    PATCH,
    ImagePart(b"\x89PNG", "image/png"),
    finish="tool_calls",
    usage=Usage(input_tokens=3, output_tokens=2, cache_read_tokens=1),
)
ENDINGS: list[Response[Any]] = [
    FULL,
    answer(),
    answer(TextPart("Hi")),
    answer(RefusalPart("No."), finish="refusal"),
    answer(TextPart("Hi"), finish="length"),
    answer(TextPart("Hi"), finish="content_filter"),
    answer(BrokenToolCall("call_a", "look", '{"x":', "cut_off"), finish="length"),
    answer(BrokenToolCall("call_a", "look", "{oops", "malformed"), finish="tool_calls"),
    answer(TextPart("Hi"), finish="pause", usage=Usage()),
    answer(TextPart("Hi"), finish="error"),
]


@pytest.mark.parametrize("response", ENDINGS, ids=lambda response: f"{response.finish_reason}{len(response.parts)}")
def test_out_06_07_08_09_what_is_emitted_is_what_the_sdk_reads(response: Response[Any]) -> None:
    """Strict types for the whole answer and for each event; the last event holds the whole answer."""
    whole = encode_reply(response, FOREIGN)
    SdkResponse.model_validate(whole, strict=True)
    told = encode_stream(list(unfold(response)), FOREIGN)
    for number, body in enumerate(told):
        EVENTS.validate_python({**body, "sequence_number": number}, strict=True)
    assert [body["type"] for body in told[:2]] == ["response.created", "response.in_progress"]
    assert told[0]["response"]["status"] == "in_progress"
    assert told[-1]["type"] == f"response.{whole['status']}"
    assert told[-1]["response"] == whole


def test_an_answer_from_elsewhere_as_items() -> None:
    """Neighbouring texts are one message; every item has an id that goes with the answer."""
    body = encode_reply(FULL, FOREIGN)
    assert body["id"] == "resp_9"
    assert body["output"] == [
        {"type": "reasoning", "id": "rs_901", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {
            "type": "message",
            "id": "msg_902",
            "role": "assistant",
            "status": "completed",
            "content": [
                {"type": "output_text", "text": "Hi ", "annotations": []},
                {"type": "output_text", "text": "there", "annotations": []},
            ],
        },
        call_item("call_a", "look", '{"x":1}', "fc_903"),
        {
            "type": "message",
            "id": "msg_904",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "refusal", "refusal": "No."}],
        },
        {"type": "custom_tool_call", "id": "ctc_905", "call_id": "call_b", "name": "patch", "input": '*** a"b'},
        {"type": "image_generation_call", "id": "ig_906", "status": "completed", "result": "iVBORw=="},
    ]
    assert body["usage"] == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 5,
    }


def test_out_06_an_item_has_its_whole_life() -> None:
    """Codex: 'delta without active item'. Text, then a call."""
    told = encode_stream(list(unfold(answer(TextPart("Hi"), CALL, finish="tool_calls"))), FOREIGN)
    assert [body["type"].removeprefix("response.") for body in told] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert {body["item_id"] for body in told if "item_id" in body} == {"msg_901", "fc_902"}
    assert [body["output_index"] for body in told if "output_index" in body] == [0] * 6 + [1] * 4


def test_events_are_numbered_on_however_many_there_are() -> None:
    """The ends of the first thousands of texts are known bytes; those of the others are made."""
    encoder = DIALECT.stream_encoder(ServerContext())
    for said in (StreamStart("m"), BlockStart(0, "text"), TextDelta(0, "a")):
        encoder.encode(said)
    told = [encoder.encode(TextDelta(0, "b")) for _ in range(4_096)]
    head = b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"msg_01",'
    tail = b'"output_index":0,"content_index":0,"delta":"b","logprobs":[],"sequence_number":%d}\n\n'
    assert told == [head + tail % number for number in range(5, 4_101)]


def test_what_waits_for_the_id_of_its_item_is_told_piece_by_piece() -> None:
    """An answer of this dialect names an item where its block ends, and nothing is said of it before."""
    encoder = DIALECT.stream_encoder(ServerContext(source="openai-responses"))
    encoder.encode(StreamStart("m", id="resp_1"))
    sealed = Sealed("openai-responses", {"type": "reasoning", "id": "rs_1", "summary": []})
    events = [BlockStart(0, "thinking"), ThinkingDelta(0, "H"), ThinkingDelta(0, "m.")]
    assert [encoder.encode(event) for event in events] == [b"", b"", b""]
    frames = encoder.encode(BlockEnd(0, ThinkingPart("Hm.", sealed))).decode().split("\n\n")
    kinds = [frame.partition("\n")[0].removeprefix("event: response.") for frame in frames]
    assert kinds == [
        "output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta",
        "reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done",
        "output_item.done", "",
    ]  # fmt: skip


def test_srv_03_a_freeform_call_has_its_own_events() -> None:
    """OUT-10: never those of a function."""
    told = encode_stream(list(unfold(answer(PATCH, finish="tool_calls"))), FOREIGN)
    kinds = [body["type"].removeprefix("response.") for body in told[2:-1]]
    assert kinds == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    assert told[3]["delta"] == told[4]["input"] == '*** a"b'


def test_pieces_stay_pieces() -> None:
    """Each delta is passed on as it comes, calls side by side among them."""
    changes = Changes("openai-chat", "decode_response")
    builder = StreamBuilder(changes, CallIdSource())
    builder.thinking("Hm")
    builder.thinking(".")
    builder.text("H")
    builder.text("i")
    one, other = builder.open_call("call_a", "look"), builder.open_call("call_b", "look")
    for block, piece in ((one, '{"x"'), (other, '{"y"'), (one, ":1}"), (other, ":2}")):
        builder.call_arguments(block, piece)
    builder.finish("tool_calls", "tool_calls")
    builder.end()
    told = encode_stream(builder.take(), FOREIGN)
    deltas = [(body["output_index"], body["delta"]) for body in told if body["type"].endswith(".delta")]
    assert deltas == [
        (0, "Hm"), (0, "."), (1, "H"), (1, "i"), (2, '{"x"'), (2, ":1}"), (3, '{"y"'), (3, ":2}"),
    ]  # fmt: skip
    assert [item["type"] for item in told[-1]["response"]["output"]] == [
        "reasoning", "message", "function_call", "function_call",
    ]  # fmt: skip


def test_what_an_answer_cannot_say_is_an_entry() -> None:
    """Audio, documents, parts and seals of others, citations, a second choice, counts."""
    found: list[Change] = []
    response = Response[Any](
        parts=(
            AudioPart(b"x", "audio/wav"),
            DocumentPart(b"x", "application/pdf"),
            OpaquePart("anthropic", "server_tool_use", {}),
            TextPart("Hi", (Citation("google", {}),), sealed=Sealed("google", {"thoughtSignature": "x"})),
        ),
        finish_reason="pause",
        usage=Usage(input_tokens=1, output_tokens=1),
        alternatives=(Alternative(),),
    )
    expected = [
        "audio /parts/0",
        "documents /parts/1",
        "opaque_part /parts/2",
        "seal_foreign /parts/3/sealed",
        "annotation_unsupported /parts/3/annotations/0",
        "finish_reason_approximated /finish_reason",
        "parameter_added /usage",
        "alternatives_unsupported /alternatives",
    ]
    encode_reply(response, ServerContext(changes=found))
    assert codes(tuple(found)) == expected
    assert all(change.action in ("dropped", "approximated") for change in found)
    streamed: list[Change] = []
    encode_stream(list(unfold(response)), ServerContext(changes=streamed))
    assert {*codes(tuple(streamed))} >= {
        "audio /parts/0",
        "opaque_part /parts/2",
        "alternatives_unsupported /alternatives",
    }


def test_an_answer_of_this_dialect_comes_back_whole_and_streamed() -> None:
    """Ids, phases, citations, hosted items and members: nothing is made up, nothing is lost."""
    own = ServerContext(source=NAME)
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    raw = stream(
        added({**search, "status": "in_progress"}),
        event("web_search_call.searching", output_index=0, item_id="ws_1"),
        done(search),
        added(message_item("", content=[], phase="final_answer"), 1),
        event("output_text.delta", output_index=1, item_id="msg_1", content_index=0, delta="Hi"),
        done(message_item("Hi", phase="final_answer"), 1),
        created_at=7,
        service_tier="flex",
        metadata={"a": "b"},
    )
    found = events(raw)
    told = encode_stream(found, own)
    kinds = [body["type"].removeprefix("response.") for body in told]
    assert kinds[2:6] == ["output_item.added", "web_search_call.searching", "output_item.done", "output_item.added"]
    assert kinds.count("output_item.added") == kinds.count("output_item.done") == 2
    last = told[-1]["response"]
    assert last["output"] == [search, message_item("Hi", phase="final_answer")]
    assert (last["service_tier"], last["metadata"], last["created_at"]) == ("flex", {"a": "b"}, 7)
    response = DIALECT.decode_response(HttpReply(status=200, body=json.dumps(last).encode()), DecodeContext())
    assert encode_reply(response, own) == last


def test_the_status_of_an_answer_decides() -> None:
    """The table of statuses."""
    table = {
        ("completed", None): "stop",
        ("incomplete", "max_output_tokens"): "length",
        ("incomplete", "content_filter"): "content_filter",
        ("incomplete", "steered"): "other",
        ("queued", None): "error",
        ("cancelled", None): "error",
    }
    for (status, reason), expected in table.items():
        found = reply(status=status, incomplete_details={"reason": reason} if reason else None)
        assert found.finish_reason == expected
        assert found.finish_reason_raw == (f"{status}/{reason}" if reason else status)
        again = encode_reply(found, ServerContext(source=NAME))
        assert again["status"] == status
        assert again["incomplete_details"] == ({"reason": reason} if reason else None)
    both = {**message_item(""), "content": [{"type": "refusal", "refusal": "No."}]}
    assert reply(both).finish_reason == "refusal"
    assert reply(both, call_item("call_a", "look", "{}")).finish_reason == "tool_calls"


def test_cho_12_a_refusal_without_words_is_the_filters() -> None:
    """Claude's `refusal` with empty content is no empty success."""
    body = encode_reply(answer(finish="refusal"))
    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": "content_filter"})
    assert encode_reply(answer(RefusalPart("No."), finish="refusal"))["status"] == "completed"


def test_use_06_counts_have_their_own_names() -> None:
    """Cached and reasoning tokens in their details; a total that is no sum, and counts of others, stay."""
    usage = {
        "input_tokens": 5,
        "input_tokens_details": {"cached_tokens": 2, "x": 1},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 1, "y": 2},
        "total_tokens": 9,
        "cost": 0.1,
    }
    found = reply(usage=usage).usage
    extra = {"total_tokens": 9, "cost": 0.1, "input_tokens_details": {"x": 1}, "output_tokens_details": {"y": 2}}
    assert found == Usage(input_tokens=5, output_tokens=3, cache_read_tokens=2, reasoning_tokens=1, extra={NAME: extra})
    assert encode_reply(reply(usage=usage), ServerContext(source=NAME))["usage"] == usage


def test_str_30_control_tokens_are_cut_from_names() -> None:
    """As in Chat."""
    from interlingua.dialects._contract import Undo

    found = reply(
        call_item("call_a", "look<|channel|>x", "{}"), context=DecodeContext(undo=Undo(tool_names=frozenset({"look"})))
    )
    assert [call.name for call in found.tool_calls] == ["look"]
    assert codes(found.changes) == ["call_name_cleaned /parts/0/name"]


def test_id_10_two_calls_with_one_id_are_two() -> None:
    """The second gets its own."""
    found = reply(call_item("call_a", "look", "{}"), call_item("call_a", "look", '{"x":1}', "fc_2"))
    assert [call.id for call in found.tool_calls] == ["call_a", "call_1"]
    assert codes(found.changes) == ["call_id_duplicate /parts/1/id"]


def test_arg_11_malformed_arguments_are_a_broken_call() -> None:
    """Kept as they are, with the members of their item."""
    [part] = reply(call_item("call_a", "look", "{oops")).parts
    assert part == BrokenToolCall("call_a", "look", "{oops", "malformed", extra={NAME: {"item": {"id": "fc_1"}}})


def test_an_item_without_a_name_or_output_is_refused() -> None:
    """R25, with the place."""
    with pytest.raises(DecodeError) as caught:
        reply(call_item("call_a", "", "{}"))
    assert caught.value.path == "/output/0/name"
    with pytest.raises(DecodeError, match="/output"):
        DIALECT.decode_response(HttpReply(status=200, body=b'{"model":"m"}'), DecodeContext())


# Errors


def test_a_200_that_failed_is_an_error() -> None:
    """`status: failed`, with an error or without."""
    failed: dict[str, Any] = {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "Slow down."}}
    with pytest.raises(RateLimitError, match="Slow down"):
        reply(**failed)
    with pytest.raises(InternalServerError):
        reply(status="failed")


ERRORS: list[Error] = [
    AuthenticationError("x"),
    PermissionDeniedError("x"),
    BillingError("x"),
    NotFoundError("x"),
    RequestTooLargeError("x"),
    ContextWindowExceededError("x"),
    RateLimitError("x", retry_after_s=3, request_id="req_1"),
    OverloadedError("x"),
    InternalServerError("x"),
    BadRequestError("x", code="invalid_prompt"),
    IncompleteStreamError("x"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_keep_their_class(error: Error) -> None:
    """As a whole answer, as the event of an answer that began, and as the event of one that did not."""
    told = DIALECT.encode_error(error, ServerContext())
    again = decode_error(told.status, told.body, told.headers)
    assert (type(again), again.retry_after_s, again.request_id) == (type(error), error.retry_after_s, error.request_id)
    for before in ([StreamStart("m")], []):
        said = encode_stream([*before, stream_error(error, None)], FOREIGN)
        kind = "response.failed" if before else "error"
        assert said[-1]["type"] == kind
        raw = b"".join(b"data: " + json.dumps(body).encode() + b"\n\n" for body in said)
        assert events(raw)[-1].error == type(error).__name__  # type: ignore[union-attr] - the last event is one


def test_sse_15_a_broken_stream_ends_in_its_own_failure() -> None:
    """What came is done, what was cut is not; the partial answer is in the event."""
    builder = StreamBuilder(Changes("openai-chat", "decode_response"), CallIdSource())
    builder.start(model="m", id="resp_1")
    builder.text("Hi")
    builder.call_arguments(builder.open_call("call_a", "look"), '{"x"')
    builder.fail(IncompleteStreamError("cut"))
    told = encode_stream(builder.take(), FOREIGN)
    kinds = [body["type"].removeprefix("response.") for body in told]
    assert kinds[-2:] == ["function_call_arguments.delta", "failed"]
    assert told[-1]["response"]["error"]["code"] == "incomplete_stream"
    assert [item["type"] for item in told[-1]["response"]["output"]] == ["message"]


def test_a_failed_stream_tells_what_its_last_event_made_up() -> None:
    """The counts that nobody gave are in the event, and in the changes; it did not complete at any time."""
    changes: list[Change] = []
    request = Request(messages=(Message("user", (TextPart("Hi"),)),))
    encoder = DIALECT.stream_encoder(ServerContext(source="anthropic", created=5, request=request, changes=changes))
    partial = Response[Any](usage=Usage(input_tokens=3))
    failure = StreamError("InternalServerError", "No.", partial=partial)
    told = encoder.encode(StreamStart("m")) + encoder.encode(failure)
    last = json.loads(told.split(b"data: ")[-1])["response"]
    assert (last["status"], last["completed_at"], last["usage"]["output_tokens"]) == ("failed", None, 0)
    assert [(change.code, change.path) for change in changes] == [("parameter_added", "/usage")]


def test_parts_only_a_stream_of_others_has() -> None:
    """A picture and a part of another dialect come in one piece, or not at all."""
    said: tuple[Part, ...] = (OpaquePart("google", "x", {}), ImagePart(b"\x89PNG", "image/png"), TextPart("Hi"))
    told = encode_stream(list(unfold(answer(*said))), FOREIGN)
    assert [item["type"] for item in told[-1]["response"]["output"]] == ["image_generation_call", "message"]


def test_events_of_a_hosted_tool_are_numbered_by_their_item() -> None:
    """The id of the item counts before the number that its provider has for it."""
    encoder = DIALECT.stream_encoder(ServerContext(source=NAME))
    item = {"type": "web_search_call", "id": "ws_1", "status": "in_progress"}
    raws = (
        {"type": "response.output_item.added", "output_index": 3, "item": item, "sequence_number": 9},
        {"type": "response.web_search_call.searching", "output_index": 7, "item_id": "ws_1", "sequence_number": 10},
        {"type": "response.web_search_call.completed", "output_index": 3, "sequence_number": 11},
    )
    data = b"".join([encoder.encode(Extra(NAME, raw)) for raw in raws])
    told = [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: ")]
    assert told == [
        {"type": "response.output_item.added", "item": item, "output_index": 0, "sequence_number": 0},
        {"type": "response.web_search_call.searching", "item_id": "ws_1", "output_index": 0, "sequence_number": 1},
        {"type": "response.web_search_call.completed", "output_index": 0, "sequence_number": 2},
    ]


def test_a_refusal_opens_in_the_item_that_it_came_in() -> None:
    """Id and members of the item are told at once, and not only when it is done."""
    encoder = DIALECT.stream_encoder(ServerContext(source=NAME))
    encoder.encode(StreamStart("m", "m", "resp_1"))
    start = BlockStart(0, "refusal", extra={NAME: {"item": {"id": "msg_9", "phase": "final_answer"}}})
    told = [json.loads(line[6:]) for line in encoder.encode(start).decode().splitlines() if line.startswith("data: ")]
    item: dict[str, Any] = {"type": "message", "id": "msg_9", "role": "assistant", "status": "in_progress"}
    item |= {"content": [], "phase": "final_answer"}
    empty = {"type": "refusal", "refusal": ""}
    assert told == [
        {"type": "response.output_item.added", "output_index": 0, "item": item, "sequence_number": 2},
        {
            "type": "response.content_part.added", "item_id": "msg_9", "output_index": 0, "content_index": 0,
            "part": empty, "sequence_number": 3,
        },
    ]  # fmt: skip
