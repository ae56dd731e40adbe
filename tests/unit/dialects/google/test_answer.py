"""Whole answers, usage, finish reasons and errors, both ways; each test feeds the bytes that broke somebody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext, Undo
from interlingua.dialects.google.reasons import decode_finish
from interlingua.dialects.google.server import finish_word
from interlingua.errors import (
    APITimeoutError,
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
    UpstreamError,
)
from interlingua.types.change import Change, Changes
from interlingua.types.content import (
    BrokenToolCall,
    Citation,
    ImagePart,
    OpaquePart,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.event import StreamError
from interlingua.types.response import Alternative, Response
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply
from tests.support.google import DIALECT, candidate, codes, error, reply, shown

CALL = {"functionCall": {"name": "f", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"}


def test_parallel_calls_keep_their_order_and_only_their_own_signatures() -> None:
    """Text, a signed call and one without; STOP with calls is tool_calls, and no change is made of that."""
    second = {"functionCall": {"id": "fc-4", "name": "g"}}
    found = reply({"text": "Both."}, CALL, second)
    assert found.parts == (
        TextPart("Both."),
        ToolCall("call_0", "f", '{"city": "Oslo"}', sealed=Sealed("google", {"thoughtSignature": "c2ln"})),
        ToolCall("fc-4", "g", "{}"),
    )
    assert (found.finish_reason, found.finish_reason_raw) == ("tool_calls", "STOP")
    assert codes(found.changes) == ["call_id_made"]


def test_names_and_freeform_are_undone() -> None:
    """The wire's name is the caller's again, and a freeform tool's call is marked."""
    undo = Undo(names={"f": "my tool"}, tool_names=frozenset({"my tool"}), freeform=frozenset({"my tool"}))
    (call,) = reply(CALL, undo=undo).tool_calls
    assert (call.name, call.freeform) == ("my tool", True)


def test_arg_18_infinity_breaks_one_call_and_not_the_reply() -> None:
    """The other parts are kept, the call says why it is broken."""
    call = b'{"functionCall":{"name":"f","args":{"x":-Infinity}}}'
    body = b'{"candidates":[{"content":{"parts":[{"text":"Infinity"},' + call + b']},"finishReason":"STOP"}]}'
    found = reply(body=body)
    assert found.parts == (
        TextPart("Infinity"),
        BrokenToolCall("call_0", "f", '{"x":-Infinity}', "non_finite"),
    )
    assert found.tool_calls == ()


def test_arg_04_arguments_that_are_no_object_are_broken() -> None:
    """With the exact text; a duplicate key, too."""
    body = b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":[1]}},'
    body += b'{"functionCall":{"name":"f","args":{"a":1,"a":2}}}]},"finishReason":"STOP"}]}'
    parts = reply(body=body).parts
    assert [part.reason for part in parts if isinstance(part, BrokenToolCall)] == ["not_object", "duplicate_key"]


def test_arguments_keep_their_text_but_for_line_ends() -> None:
    """Big integers and spellings of numbers stay; an indented object is told on one line."""
    body = b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{\n  "a": 1.50,\n  "s": "x\\ny",'
    body += b'\n  "b": 12345678901234567890\n}}}]},"finishReason":"STOP"}]}'
    (call,) = reply(body=body).tool_calls
    assert call.arguments_json == '{"a": 1.50,"s": "x\\ny","b": 12345678901234567890}'


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        ("SAFETY", "content_filter"),
        ("MODEL_ARMOR", "content_filter"),
        ("IMAGE_SAFETY", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("MISSING_THOUGHT_SIGNATURE", "error"),
        ("LANGUAGE", "other"),
        ("SOMETHING_NEW", "other"),
        (1, "stop"),
        (2, "length"),
        (3, "content_filter"),
        (5, "other"),
    ],
)
def test_finish_reasons_in_words_and_numbers(raw: Any, reason: str) -> None:
    """Each is told canonically, and goes back to its own dialect as it came."""
    found = reply({"text": "x"}, finish=raw)
    assert found.finish_reason == reason
    assert shown(found, source="google")["candidates"][0]["finishReason"] == raw


def test_use_09_a_malformed_call_is_an_error_and_no_stop() -> None:
    """Even with a call that could be read: the finish stays `error`."""
    assert reply(finish="MALFORMED_FUNCTION_CALL").finish_reason == "error"
    assert reply(CALL, finish="MALFORMED_FUNCTION_CALL").finish_reason == "error"


def test_a_blocked_prompt_is_an_answer_without_parts() -> None:
    """Filtered, with the block's own word; there and back without candidates."""
    body = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 12}}
    found = reply(body=body)
    assert (found.parts, found.finish_reason, found.finish_reason_raw) == ((), "content_filter", "PROHIBITED_CONTENT")
    assert found.usage == Usage(input_tokens=12, output_tokens=0)
    again = shown(found, source="google")
    assert "candidates" not in again
    assert again["promptFeedback"] == {"blockReason": "PROHIBITED_CONTENT"}


def test_an_answer_without_a_candidate_is_no_answer() -> None:
    """With its place."""
    with pytest.raises(DecodeError) as caught:
        reply(body={"labels": {"promptTokenCount": 1}})
    assert caught.value.path == "/candidates"


@pytest.mark.parametrize("content", [None, {}, {"role": "model"}, {"parts": []}, {"parts": [{"text": ""}]}])
def test_a_candidate_without_parts_is_empty(content: Any) -> None:
    """Thinking ate the budget, or a filter all the rest."""
    given = {"finishReason": "MAX_TOKENS", **({} if content is None else {"content": content})}
    found = reply(body={"candidates": [given]})
    assert (found.parts, found.finish_reason) == ((), "length")


def test_several_candidates_are_alternatives() -> None:
    """Each with its own parts and members."""
    body = {
        "candidates": [candidate({"text": "a"}), candidate({"text": "b"}, finish="SAFETY", index=1, avgLogprobs=-1)]
    }
    found = reply(body=body)
    assert found.text == "a"
    assert found.alternatives == (
        Alternative(
            parts=(TextPart("b"),),
            finish_reason="content_filter",
            finish_reason_raw="SAFETY",
            extra={"google": {"candidate": {"avgLogprobs": -1}}},
        ),
    )
    again = shown(found, source="google")["candidates"]
    assert [one["index"] for one in again] == [0, 1]
    assert again[1]["avgLogprobs"] == -1


def test_citations_hang_on_the_last_text() -> None:
    """Grounding and citations, and back beside the content; without a text they stay with the candidate."""
    grounding, cited = {"webSearchQueries": ["q"]}, {"citationSources": [{"uri": "https://a"}]}
    given = candidate({"text": "a"}, {"text": "b"}, groundingMetadata=grounding, citationMetadata=cited)
    found = reply(body={"candidates": [given]})
    assert found.parts[1] == TextPart(
        "b",
        (
            Citation("google", {"groundingMetadata": grounding}),
            Citation("google", {"citationMetadata": cited}, url="https://a"),
        ),
    )
    assert shown(found)["candidates"][0]["groundingMetadata"] == grounding
    bare = reply(body={"candidates": [candidate(CALL, groundingMetadata=grounding)]})
    assert bare.extra == {"google": {"candidate": {"groundingMetadata": grounding}}}


def test_use_05_thoughts_and_tool_prompts_are_counted_in() -> None:
    """Output is candidates and thoughts, input is prompt and what tools added; and apart again on the wire."""
    counts = {
        "promptTokenCount": 300,
        "cachedContentTokenCount": 128,
        "candidatesTokenCount": 40,
        "thoughtsTokenCount": 25,
        "toolUsePromptTokenCount": 7,
        "totalTokenCount": 372,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 300}],
    }
    found = reply(body={"candidates": [candidate({"text": "x"})], "usageMetadata": counts})
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (307, 65)
    assert (found.usage.cache_read_tokens, found.usage.reasoning_tokens) == (128, 25)
    assert shown(found)["usageMetadata"] == counts


def test_counts_that_count_nothing_are_kept_beside() -> None:
    """A class of traffic alone is no usage, and survives."""
    found = reply(body={"candidates": [candidate({"text": "x"})], "usageMetadata": {"trafficType": "ON_DEMAND"}})
    assert found.usage is None
    assert shown(found)["usageMetadata"] == {"trafficType": "ON_DEMAND"}


def test_what_an_answer_cannot_say_is_said() -> None:
    """Cache writes, refusals, foreign parts and seals, broken calls and finish reasons each leave an entry."""
    response: Response[Any] = Response(
        parts=(
            TextPart("a", (Citation("anthropic", {"type": "char_location"}),)),
            ThinkingPart("t", Sealed("anthropic", {"signature": "s"})),
            RefusalPart("No."),
            OpaquePart("anthropic", "server_tool_use", {}),
            BrokenToolCall("c", "f", '{"x', "malformed"),
        ),
        finish_reason="refusal",
        usage=Usage(input_tokens=1, output_tokens=2, cache_write_tokens=3),
    )
    told: list[Change] = []
    body = shown(response, changes=told)
    assert [(change.code, change.path) for change in told] == [
        ("annotation_unsupported", "/parts/0/annotations/0"),
        ("seal_foreign", "/parts/1/sealed"),
        ("refusal_as_text", "/parts/2"),
        ("opaque_part", "/parts/3"),
        ("broken_call_as_text", "/parts/4"),
        ("finish_reason_approximated", "/finish_reason"),
        ("parameter_unsupported", "/usage/cache_write_tokens"),
    ]
    assert body["candidates"][0]["content"]["parts"] == [
        {"text": "a"},
        {"text": "t", "thought": True},
        {"text": "No."},
        {"text": 'f({"x)'},
    ]
    assert body["candidates"][0]["finishReason"] == "SAFETY"


def test_ids_of_another_dialect_are_shown_and_made_ones_only_there() -> None:
    """To its own dialect an id that was made is not shown, since the service gave none."""
    made: Response[Any] = Response(parts=(ToolCall("call_0", "f", "{}"),), finish_reason="tool_calls")
    assert shown(made)["candidates"][0]["content"]["parts"][0]["functionCall"]["id"] == "call_0"
    assert "id" not in shown(made, source="google")["candidates"][0]["content"]["parts"][0]["functionCall"]


def test_a_generated_image_is_an_image() -> None:
    """With its signature, there and back."""
    part = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}, "thoughtSignature": "c2ln"}
    found = reply(part)
    assert found.parts == (
        ImagePart(b"\x89PNG\r\n\x1a\n", "image/png", sealed=Sealed("google", {"thoughtSignature": "c2ln"})),
    )
    assert shown(found)["candidates"][0]["content"]["parts"] == [part]


# Errors


def body_of(status: str, code: int, message: str = "no", details: Any = None) -> Any:
    """An error body."""
    return {"error": {"code": code, "message": message, "status": status, **({"details": details} if details else {})}}


INFO = "type.googleapis.com/google.rpc.ErrorInfo"
RETRY = "type.googleapis.com/google.rpc.RetryInfo"


TOO_LONG = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
BAD_KEY = [{"@type": INFO, "reason": "API_KEY_INVALID"}]
NO_BILLING = [{"@type": INFO, "reason": "BILLING_DISABLED"}]


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (400, body_of("INVALID_ARGUMENT", 400), BadRequestError, False),
        (400, body_of("INVALID_ARGUMENT", 400, details=BAD_KEY), AuthenticationError, False),
        (400, body_of("INVALID_ARGUMENT", 400, TOO_LONG), ContextWindowExceededError, False),
        (401, body_of("UNAUTHENTICATED", 401), AuthenticationError, False),
        (403, body_of("PERMISSION_DENIED", 403), PermissionDeniedError, False),
        (403, body_of("PERMISSION_DENIED", 403, details=NO_BILLING), BillingError, False),
        (404, body_of("NOT_FOUND", 404), NotFoundError, False),
        (409, body_of("ABORTED", 409), UpstreamError, True),
        (409, body_of("ALREADY_EXISTS", 409), UpstreamError, False),
        (413, {}, RequestTooLargeError, False),
        (429, body_of("RESOURCE_EXHAUSTED", 429), RateLimitError, True),
        (499, body_of("CANCELLED", 499), BadRequestError, False),
        (500, body_of("INTERNAL", 500), InternalServerError, True),
        (503, body_of("UNAVAILABLE", 503), OverloadedError, True),
        (504, body_of("DEADLINE_EXCEEDED", 504), APITimeoutError, True),
        (502, b"<html>Bad Gateway</html>", InternalServerError, True),
    ],
)
def test_error_classes_there_and_back(status: int, body: Any, kind: type[Error], retryable: bool) -> None:
    """Class, status and whether to try again; the same class after a trip through our own body."""
    found = error(status, body)
    assert (type(found), found.status, found.retryable) == (kind, status, retryable)
    again = DIALECT.encode_error(found, ServerContext())
    assert (again.status, type(error(again.status, json.loads(again.body)))) == (status, kind)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("INVALID_ARGUMENT", BadRequestError),
        ("FAILED_PRECONDITION", BadRequestError),
        ("OUT_OF_RANGE", BadRequestError),
        ("CANCELLED", BadRequestError),
        ("UNAUTHENTICATED", AuthenticationError),
        ("PERMISSION_DENIED", PermissionDeniedError),
        ("NOT_FOUND", NotFoundError),
        ("RESOURCE_EXHAUSTED", RateLimitError),
        ("ABORTED", UpstreamError),
        ("ALREADY_EXISTS", UpstreamError),
        ("INTERNAL", InternalServerError),
        ("UNAVAILABLE", OverloadedError),
        ("DEADLINE_EXCEEDED", APITimeoutError),
    ],
)
def test_a_status_word_counts_before_a_reason_that_nobody_knows(word: str, kind: type[Error]) -> None:
    """The service invents a reason for everything; in a stream there is no status beside its word."""
    told = json.dumps(body_of(word, 0, details=[{"@type": INFO, "reason": "NEW_REASON"}]))
    last = DIALECT.stream_decoder(DecodeContext()).feed(f"data: {told}\n\n".encode())[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.code) == (kind.__name__, word)


def test_the_id_of_the_request_stands_in_the_body_or_a_header() -> None:
    """The header's own counts first."""
    told = {"@type": "type.googleapis.com/google.rpc.RequestInfo", "requestId": "req-1"}
    body = {"error": {"code": 500, "message": "No.", "status": "INTERNAL", "details": [told]}}
    assert error(500, body).request_id == "req-1"
    assert error(500, body, (("x-request-id", "req-2"),)).request_id == "req-2"
    assert error(500, {"error": {"code": 500, "message": "No.", "status": "INTERNAL"}}).request_id is None


def test_the_time_to_wait_stands_in_the_body() -> None:
    """`RetryInfo`, also when the error is the one element of an array, and shown again."""
    body = [
        body_of("RESOURCE_EXHAUSTED", 429, "You exceeded your current quota.", [{"@type": RETRY, "retryDelay": "34s"}])
    ]
    found = error(429, body)
    assert (type(found), found.message, found.code) == (
        RateLimitError,
        "You exceeded your current quota.",
        "RESOURCE_EXHAUSTED",
    )
    assert found.retry_after_s == 34.0
    again = DIALECT.encode_error(found, ServerContext())
    assert dict(again.headers)["retry-after"] == "34"
    assert json.loads(again.body)["error"]["details"] == [{"@type": RETRY, "retryDelay": "34s"}]


@pytest.mark.parametrize("body", [body_of("UNAVAILABLE", 503), [body_of("UNAVAILABLE", 503)]])
def test_an_error_under_200_is_an_error(body: Any) -> None:
    """Alone or in an array."""
    with pytest.raises(OverloadedError):
        reply(body=body)


@pytest.mark.parametrize(
    "kind", [IncompleteStreamError, ContextWindowExceededError, BillingError, RequestTooLargeError]
)
def test_classes_without_a_word_of_the_service_survive(kind: type[Error]) -> None:
    """By a reason of our own in the details."""
    again = DIALECT.encode_error(kind("no"), ServerContext())
    assert type(error(again.status, again.body)) is kind


def test_members_named_like_a_candidate_pass_through() -> None:
    """An answer's own member `content`, found by a law: it is no candidate's, and goes back where it was."""
    body = b'{"content":{"a":1},"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Hi"}]}}]}'
    answer = DIALECT.decode_response(HttpReply(status=200, body=body), DecodeContext())
    told = DIALECT.encode_response(answer, ServerContext(source="google"))
    assert json.loads(told.body) == json.loads(body)
    empty = b'{"content":null,"candidates":[{"":{"aprst":[]}}]}'
    again = DIALECT.encode_response(
        DIALECT.decode_response(HttpReply(status=200, body=empty), DecodeContext()), ServerContext(source="google")
    )
    assert json.loads(again.body)["candidates"][0]["index"] == 0


def test_a_finish_reason_of_thousands_of_digits_stays_a_text() -> None:
    """A number is sent as one again; Python refuses to read this as a number."""
    long = "7" * 5_000
    told = [
        finish_word(
            Alternative(finish_reason=decode_finish(raw), finish_reason_raw=raw),
            Changes("google", "encode_response"),
            "",
            own=True,
        )
        for raw in ("7", long)
    ]
    assert told == [7, long]
