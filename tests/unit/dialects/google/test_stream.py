"""Streams, both ways: framing, parts, calls in pieces, ends; each test feeds the bytes that broke somebody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext, Undo
from interlingua.errors import APIConnectionError, RateLimitError
from interlingua.stream.fold import fold
from interlingua.stream.unfold import unfold
from interlingua.testing.laws import assert_lawful, assert_stream_round_trip, events_of
from interlingua.types.content import (
    BrokenToolCall,
    Citation,
    ImagePart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.event import (
    StreamEnd,
    StreamError,
    TextDelta,
    ThinkingDelta,
    ToolCallReady,
    UsageUpdate,
)
from interlingua.types.response import Alternative, Response
from interlingua.types.usage import Usage
from tests.support.google import DIALECT, candidate, codes, events, frame, frames, reply, served, streamed

SEAL = Sealed("google", {"thoughtSignature": "c2ln"})
CALL = {"functionCall": {"id": "fc-3", "name": "f", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"}
OTHER = {"functionCall": {"id": "fc-4", "name": "g", "args": {"tz": "Europe/Oslo"}}}
USAGE = {"promptTokenCount": 300, "candidatesTokenCount": 40, "thoughtsTokenCount": 25, "totalTokenCount": 365}


def test_thoughts_text_and_calls_of_a_whole_stream() -> None:
    """The documented stream: neighbours of one kind are one part, the empty last text is none."""
    early = {"promptTokenCount": 300, "totalTokenCount": 300}
    data = (
        frame(
            {"text": "Two lookups.", "thought": True}, usageMetadata=early, modelVersion="gemini-3-pro", responseId="r"
        )
        + frame({"text": "Checking"}, usageMetadata=early)
        + frame({"text": " both."})
        + frame(CALL, OTHER, usageMetadata=USAGE)
        + frame({"text": ""}, finish="STOP", usageMetadata=USAGE)
    )
    found = streamed(data)
    assert found.parts == (
        ThinkingPart("Two lookups."),
        TextPart("Checking both."),
        ToolCall("fc-3", "f", '{"city": "Oslo"}', sealed=SEAL),
        ToolCall("fc-4", "g", '{"tz": "Europe/Oslo"}'),
    )
    assert (found.finish_reason, found.finish_reason_raw, found.id, found.wire_model) == (
        "tool_calls", "STOP", "r", "gemini-3-pro",
    )  # fmt: skip
    assert found.usage == Usage(input_tokens=300, output_tokens=65, reasoning_tokens=25)
    assert found.changes == ()
    made = events(data)
    assert [event.text for event in made if isinstance(event, TextDelta)] == ["Checking", " both."]
    told = [event.usage for event in made if isinstance(event, UsageUpdate)]
    assert told == [Usage(input_tokens=300), Usage(input_tokens=300, output_tokens=65, reasoning_tokens=25)]


def test_str_31_each_call_in_a_frame_of_its_own_is_one_call() -> None:
    """Without index and without id; the order of arrival is its ordinal."""
    bare = {"functionCall": {"name": "f", "args": {"n": 1}}}
    found = streamed(frame(bare) + frame(bare) + frame({"text": ""}, finish="STOP"))
    assert [(call.id, call.name) for call in found.tool_calls] == [("call_0", "f"), ("call_1", "f")]
    assert codes(found.changes) == ["call_id_made", "call_id_made"]


def test_sse_19_a_finish_reason_in_every_frame_ends_nothing() -> None:
    """SSE-19: the last one counts, and the end of the bytes is awaited as long as ever."""
    data = frame({"text": "a"}, finish="STOP") + frame(CALL, finish="STOP") + frame({"text": "b"}, finish="MAX_TOKENS")
    found = streamed(data)
    assert [type(part) for part in found.parts] == [TextPart, ToolCall, TextPart]
    assert found.finish_reason == "length"
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(data)
    assert not decoder.terminal
    assert isinstance(decoder.close()[-1], StreamEnd)
    assert decoder.terminal


@pytest.mark.parametrize(
    ("frames", "terminal"),
    [
        (frame({"text": "a"}, finish="STOP"), True),
        (frame({"text": "a"}), False),
        (frame({"text": "a"}, finish="STOP") + frame({"text": ""}, finish="STOP"), True),
        (frame({"text": "a"}, finish="STOP") + frame(usage={"promptTokenCount": 4}), True),
        (b'data: {"promptFeedback":{"blockReason":"SAFETY"}}\r\n\r\n', True),
        (b'data: {"promptFeedback":{}}\r\n\r\n', False),
    ],
)
def test_sse_09_a_finish_reason_is_a_terminal_signal(frames: bytes, terminal: bool) -> None:
    """SSE-09: after the reason of every candidate, or of a block, only the drain time is waited."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(frames)
    assert (decoder.terminal, decoder.ended) == (terminal, False)


def test_thk_07_signatures_of_texts_make_parts_of_their_own() -> None:
    """A signed text is never joined to its neighbours; an empty one that carries a signature is kept."""
    data = (
        frame({"text": "a"})
        + frame({"text": "b", "thoughtSignature": "c2ln"})
        + frame({"text": "c"})
        + frame({"text": "", "thoughtSignature": "c2ln"}, finish="STOP")
    )
    assert streamed(data).parts == (
        TextPart("a"),
        TextPart("b", sealed=SEAL),
        TextPart("c"),
        TextPart("", sealed=SEAL),
    )
    assert fold(events_of(DIALECT, [served(events(data))])) == streamed(data)


def pieces(*said: dict[str, Any]) -> bytes:
    """A call that arrives in pieces."""
    return b"".join([frame({"functionCall": piece}) for piece in said])


def arg(path: str, **value: Any) -> dict[str, Any]:
    """One piece of the arguments."""
    return {"partialArgs": [{"jsonPath": path, **value}], "willContinue": True}


def test_partial_arguments_are_gathered_until_the_call_is_whole() -> None:
    """Text goes on at its path, lists grow, a value-less `[]` is an empty list; the call is ready once."""
    data = pieces(
        {"name": "cook", "willContinue": True},
        arg("$.city", stringValue="Os", willContinue=True),
        arg("$.city", stringValue="lo"),
        arg("$.items[0].name", stringValue="Eggs"),
        arg("$.items[1]['full name']", boolValue=True),
        arg("$.items[]"),
        arg("$.none[]"),
        arg("$.n", numberValue=2.5),
        arg("$.nil", nullValue="NULL_VALUE"),
        {},
    )
    made = events(data + frame(finish="STOP"))
    (ready,) = [event.call for event in made if isinstance(event, ToolCallReady)]
    assert ready.arguments == {
        "city": "Oslo",
        "items": [{"name": "Eggs"}, {"full name": True}],
        "none": [],
        "n": 2.5,
        "nil": None,
    }


def test_a_call_in_pieces_keeps_its_signature_and_two_follow_each_other() -> None:
    """The signature stands on the first piece."""
    first = frame({"functionCall": {"name": "f", "willContinue": True}, "thoughtSignature": "c2ln"})
    data = first + pieces({}, {"name": "g", "willContinue": True}, arg("$.a", stringValue="x"), {})
    found = streamed(data + frame(finish="STOP"))
    assert found.tool_calls == (ToolCall("call_0", "f", "{}", sealed=SEAL), ToolCall("call_1", "g", '{"a":"x"}'))


def test_a_call_cut_in_pieces_is_never_run() -> None:
    """The end of the bytes in the middle of it: an error that holds what came."""
    made = events(pieces({"name": "f", "willContinue": True}, arg("$.a", stringValue="x")))
    last = made[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.partial and last.partial.parts) == (
        "IncompleteStreamError",
        (BrokenToolCall("call_0", "f", '{"a":"x"', "cut_off"),),
    )


@pytest.mark.parametrize("path", ["city", "$", "$..a", "$.a[x]", "$.a[999999999]"])
def test_a_path_that_cannot_be_followed_is_an_error(path: str) -> None:
    """Bounded, and never a crash."""
    last = events(pieces({"name": "f", "willContinue": True}, arg(path, stringValue="x")))[-1]
    assert isinstance(last, StreamError)
    assert last.error in ("DecodeError", "LimitExceededError")


def test_paths_that_contradict_each_other_are_an_error() -> None:
    """A member of a text is no place."""
    last = events(
        pieces({"name": "f", "willContinue": True}, arg("$.a", stringValue="x"), arg("$.a.b", stringValue=""))
    )
    assert isinstance(last[-1], StreamError)
    assert last[-1].error == "DecodeError"


# Framing and ends


def test_a_json_array_says_the_same() -> None:
    """Without `alt=sse` the frames are the elements of one array, cut anywhere, indented or not."""
    objects = [
        event.removeprefix("data: ")
        for event in (frame(CALL) + frame({"text": "x"}, finish="STOP")).decode().split("\r\n\r\n")[:2]
    ]
    array = ("[" + ",\r\n".join([json.dumps(json.loads(one), indent=2) for one in objects]) + "\n]").encode()
    plain = streamed(frame(CALL) + frame({"text": "x"}, finish="STOP"))
    assert streamed(array).parts[1:] == plain.parts[1:]
    assert streamed(array).tool_calls[0].arguments == plain.tool_calls[0].arguments
    again = served(events(array), json_array=True)
    assert again[:1] == b"["
    assert len(json.loads(again)) == 2
    assert streamed(again) == streamed(array)


@pytest.mark.parametrize(
    "data",
    [
        b'data: {"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}\r\n\r\n',
        b'[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]',
        b'{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}',
    ],
)
def test_an_error_in_a_stream_is_its_end(data: bytes) -> None:
    """As a frame, as an element, and as a body."""
    (last,) = [event for event in events(data) if isinstance(event, StreamError)]
    assert (last.error, last.message, last.status) == ("RateLimitError", "slow", 429)
    shown = served(events(frame({"text": "Hi"}) + data)) if data.startswith(b"data") else served([last])
    assert frames(shown)[-1] == {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}


@pytest.mark.parametrize("data", [b"", b" ", frame({"text": "a"}), frame({"text": "a"})[:-20], b"["])
def test_an_end_without_a_finish_reason_is_incomplete(data: bytes) -> None:
    """Never a clean end, and what came is kept."""
    last = events(data)[-1]
    assert isinstance(last, StreamError)
    assert last.error == "IncompleteStreamError"


def test_a_broken_connection_after_the_finish_reason_is_no_failure() -> None:
    """And before it, it is."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(frame({"text": "a"}, finish="STOP"))
    assert isinstance(decoder.fail(APIConnectionError("gone"))[-1], StreamEnd)
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(frame({"text": "a"}))
    assert isinstance(decoder.fail(APIConnectionError("gone"))[-1], StreamError)


def test_a_blocked_prompt_in_a_stream() -> None:
    """No candidates, a block reason, and the end."""
    data = b'data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4}}\r\n\r\n'
    found = streamed(data)
    assert (found.parts, found.finish_reason, found.finish_reason_raw) == ((), "content_filter", "SAFETY")
    assert found.usage == Usage(input_tokens=4, output_tokens=0)
    assert streamed(served(events(data))) == found


def test_a_prompt_that_is_blocked_late_ends_what_was_said() -> None:
    """A block reason is a terminal signal; what came before it is kept, and no reason of its own is overwritten."""
    blocked = b'data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}\r\n\r\n'
    found = streamed(frame({"text": "It"}, finish=None) + blocked)
    assert (found.text, found.finish_reason, found.finish_reason_raw) == (
        "It", "content_filter", "PROHIBITED_CONTENT",
    )  # fmt: skip
    assert streamed(frame({"text": "It"}, finish="MAX_TOKENS") + blocked).finish_reason == "length"


def test_several_candidates_interleave() -> None:
    """Each by its index."""
    first = {"content": {"parts": [{"text": "a"}]}, "index": 0}
    second = {"content": {"parts": [{"text": "b"}]}, "index": 1, "finishReason": "STOP"}
    data = (
        b"data: " + json.dumps({"candidates": [first, second]}).encode() + b"\n\n" + frame({"text": "c"}, finish="STOP")
    )
    found = streamed(data)
    assert found.text == "ac"
    assert found.alternatives == (Alternative(parts=(TextPart("b"),), finish_reason="stop", finish_reason_raw="STOP"),)
    assert streamed(served(events(data))) == found


def test_citations_of_a_stream_hang_on_its_last_text() -> None:
    """The last grounding counts, citations of several frames are joined."""
    first = {**candidate({"text": "a"}, finish=None), "citationMetadata": {"citationSources": [{"uri": "1"}]}}
    second = {
        **candidate({"text": "b"}),
        "citationMetadata": {"citationSources": [{"uri": "2"}]},
        "groundingMetadata": {"webSearchQueries": ["q"]},
    }
    data = b"".join([b"data: " + json.dumps({"candidates": [one]}).encode() + b"\n\n" for one in (first, second)])
    sources = {"citationMetadata": {"citationSources": [{"uri": "1"}, {"uri": "2"}]}}
    found = streamed(data)
    assert found.parts == (
        TextPart(
            "ab",
            (
                Citation("google", {"groundingMetadata": {"webSearchQueries": ["q"]}}),
                Citation("google", sources, "1"),
                Citation("google", {}, "2"),
            ),
        ),
    )
    assert streamed(served(events(data))) == found


# Serving


def test_citations_beside_an_empty_signed_part_hang_on_the_text_before_it() -> None:
    """Gemini 3 ends with such a part; streamed and whole say the same, and the part itself cites nothing."""
    grounded = {"groundingMetadata": {"webSearchQueries": ["oslo"]}}
    signed = {"text": "", "thoughtSignature": "c2ln"}
    last: Any = {"candidates": [{**candidate(signed, finish="STOP"), **grounded}]}
    found = streamed(frame({"text": "It is"}) + frame({"text": " cold."}) + b"data: " + json.dumps(last).encode())
    whole = reply(body={"candidates": [{**candidate({"text": "It is cold."}, signed), **grounded}]})
    assert found.parts == whole.parts
    assert [len(part.annotations) for part in found.parts if isinstance(part, TextPart)] == [1, 0]
    assert found.extra == whole.extra == {}


def test_an_answer_in_snake_case_is_the_same_answer() -> None:
    """Whole and streamed; what is inside of arguments stays as it is."""
    call: dict[str, Any] = {"name": "f", "args": {"max_tokens": 1, "function_call": {}}}
    snake: Any = {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"function_call": call, "thought_signature": "c2ln"}]},
                "finish_reason": "STOP",
            }
        ],
        "usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 2, "total_token_count": 5},
        "model_version": "gemini-x",
        "response_id": "r-1",
    }
    found = streamed(b"data: " + json.dumps(snake).encode())
    assert found.finish_reason == "tool_calls"
    assert [made.arguments for made in found.tool_calls] == [call["args"]]
    assert found.tool_calls[0].sealed is not None
    assert (found.id, found.wire_model, found.usage) == ("r-1", "gemini-x", Usage(input_tokens=3, output_tokens=2))
    assert reply(body=snake) == found


def test_out_16_no_empty_part_and_everything_on_the_last_frame() -> None:
    """The last frame has content, finish reason and counts; the client's own check of answers passes."""
    response: Response[Any] = Response(
        parts=(TextPart("Hello"),),
        finish_reason="stop",
        usage=Usage(input_tokens=3, output_tokens=2),
        model="m",
        id="r",
    )
    shown = frames(served(list(unfold(response))))
    assert shown == [
        {
            "candidates": [{"content": {"parts": [{"text": "Hell"}], "role": "model"}, "index": 0}],
            "modelVersion": "m",
            "responseId": "r",
        },
        {
            "candidates": [
                {"content": {"parts": [{"text": "o"}], "role": "model"}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
            "modelVersion": "m",
            "responseId": "r",
        },
    ]


def test_calls_are_served_whole() -> None:
    """However they were streamed; the last with the finish reason."""
    calls = (ToolCall("a", "f", '{"x": 1}'), ToolCall("b", "g", "{}"))
    response: Response[Any] = Response(parts=calls, finish_reason="tool_calls")
    shown = frames(served(list(unfold(response)), source="openai-chat"))
    assert [one["candidates"][0]["content"]["parts"] for one in shown] == [
        [{"functionCall": {"id": "a", "name": "f", "args": {"x": 1}}}],
        [{"functionCall": {"id": "b", "name": "g", "args": {}}}],
    ]
    assert shown[1]["candidates"][0]["finishReason"] == "STOP"


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (TextPart("a"),),
        (ThinkingPart("hm, so"), TextPart("Hello")),
        (TextPart("Hi"), ToolCall("fc", "f", '{"a":1}', sealed=SEAL), TextPart("there")),
        (ImagePart(b"\x89PNG\r\n\x1a\n", "image/png"), TextPart("x")),
        (TextPart("", sealed=SEAL),),
        (TextPart("Hi"), TextPart("", sealed=SEAL)),
    ],
)
def test_an_answer_streamed_and_read_again_is_the_same(parts: Any) -> None:
    """For every kind of part."""
    response: Response[Any] = Response(
        parts=parts,
        finish_reason="tool_calls" if any(isinstance(part, ToolCall) for part in parts) else "stop",
        finish_reason_raw="STOP",
        usage=Usage(input_tokens=3, output_tokens=2),
        model="m",
        wire_model="m",
        id="r",
    )
    assert_stream_round_trip(DIALECT, response)


def test_names_and_freeform_are_undone_in_streams() -> None:
    """The caller's own name in the events."""
    undo = Undo(names={"f": "own name"}, freeform=frozenset({"own name"}))
    (call,) = streamed(frame(CALL, finish="STOP"), undo=undo).tool_calls
    assert (call.name, call.freeform) == ("own name", True)


def test_thoughts_are_streamed_as_they_come() -> None:
    """One delta a frame, lawful in every cut."""
    made = events(frame({"text": "a", "thought": True}) + frame({"text": "b", "thought": True}, finish="STOP"))
    assert_lawful(made)
    assert [event.text for event in made if isinstance(event, ThinkingDelta)] == ["a", "b"]


def test_the_name_shown_is_the_one_asked_for() -> None:
    """The client's own model name, and an id that is made."""
    response: Response[Any] = Response(parts=(TextPart("ab"),), finish_reason="stop", model="x")
    data = b"".join([DIALECT_ENCODER.encode(event) for event in unfold(response)])
    assert {(one["modelVersion"], one["responseId"]) for one in frames(data)} == {("gemini-pro", "made")}


DIALECT_ENCODER = DIALECT.stream_encoder(ServerContext(model="gemini-pro", make_id=lambda: "made"))


def test_an_error_keeps_its_class_through_a_stream() -> None:
    """From an event to the wire and back."""
    error = StreamError("RateLimitError", "slow", 429, retry_after_s=3.0)
    last = events(served([error]))[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.retry_after_s) == (RateLimitError.__name__, 3.0)


def test_line_breaks_between_the_tokens_of_arguments_stay_in_one_frame() -> None:
    """Arguments that another provider wrote on several lines are one line of data; texts in them stay as they are."""
    call = ToolCall("c", "f", '{\n  "city": "Oslo\\nS",\r\n  "days": 2\n}')
    data = served(list(unfold(Response(parts=(call,), finish_reason="tool_calls"))))
    lines = [line for line in data.split(b"\r\n") if line]
    assert all(line.startswith(b"data: {") for line in lines)
    assert b'"args":{   "city": "Oslo\\nS",    "days": 2 }' in data
