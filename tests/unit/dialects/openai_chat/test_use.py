"""Usage, finish reasons and errors: each test feeds the bytes that broke somebody."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.errors import (
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    BillingError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    DecodeError,
    Error,
    HistoryError,
    IncompleteStreamError,
    InternalServerError,
    LimitExceededError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    RateLimitError,
    RequestTooLargeError,
    UnsupportedError,
    UpstreamError,
)
from interlingua.types.change import Change
from interlingua.types.content import BrokenToolCall, TextPart, ToolCall
from interlingua.types.event import StreamError, UsageUpdate
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply
from tests.support.cells import cells
from tests.support.chat import (
    DIALECT,
    DONE,
    answer,
    chunk,
    codes,
    decode_error,
    encode_reply,
    encode_stream,
    events,
    reply,
    stream,
    streamed,
)

CALL = '"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]'
OPEN_CALL = '"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\\"x"}}]'


def test_use_01_cumulative_counts_of_every_chunk_are_not_summed() -> None:
    """The last value wins, field by field; what the last one leaves out stays."""
    raw = (
        chunk('{"content":"a"}', rest=',"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}')
        + chunk('{"content":"b"}', rest=',"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}')
        + chunk('{"content":"b"}', rest=',"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}')
        + chunk("{}", "stop", rest=',"usage":{"completion_tokens":3}')
        + DONE
    )
    assert streamed(raw).usage == Usage(
        input_tokens=9, output_tokens=3, extra={"openai-chat": {"total_tokens": 11}}
    ) or streamed(raw).usage == Usage(input_tokens=9, output_tokens=3)
    assert [event.usage.output_tokens for event in events(raw) if isinstance(event, UsageUpdate)] == [1, 2, 3]


USAGE = (
    ',"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,'
    '"prompt_tokens_details":{"cached_tokens":80,"cache_write_tokens":10},'
    '"completion_tokens_details":{"reasoning_tokens":15}}'
)


def test_use_05_streamed_and_whole_usage_are_the_same() -> None:
    """Cached, written and reasoning tokens in both."""
    whole = reply('{"content":"Hi"}', rest=USAGE).usage
    pieces = streamed(chunk('{"content":"Hi"}', "stop", rest=USAGE) + DONE).usage
    assert (
        whole
        == pieces
        == Usage(input_tokens=100, output_tokens=20, cache_read_tokens=80, cache_write_tokens=10, reasoning_tokens=15)
    )


@pytest.mark.parametrize(
    "members",
    [
        '"prompt_tokens_details":{"cached_tokens":80}',
        '"num_cached_tokens":80',
        '"prompt_cache_hit_tokens":80,"prompt_cache_miss_tokens":20',
        '"cached_tokens":80',
    ],
)
def test_use_05_cached_tokens_have_four_names(members: str) -> None:
    """All are read; what came goes back as it came."""
    rest = f',"usage":{{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,{members}}}'
    response = reply('{"content":"Hi"}', rest=rest)
    assert response.usage is not None
    assert response.usage.cache_read_tokens == 80
    sent = encode_reply(response)["usage"]
    assert members.partition(":")[0].strip('"') in sent
    assert "80" in str(sent)


def test_use_07_our_usage_has_its_three_numbers() -> None:
    """Clients insist on integers; an unknown count is 0 there and nowhere else."""
    sent = encode_reply(answer(TextPart("Hi"), finish="stop", usage=Usage(output_tokens=3)))["usage"]
    assert sent == {"prompt_tokens": 0, "completion_tokens": 3, "total_tokens": 3}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [("a_new_word", "other"), ("", "stop"), ("eos", "stop"), ("MAX", "other")],
)
def test_use_08_an_unknown_finish_reason_loses_no_answer(raw: str, reason: str) -> None:
    """Kept beside the canonical one; a foreign client sees one of the five legal words."""
    whole = reply('{"content":"Hi"}', raw)
    assert (whole.text, whole.finish_reason, whole.finish_reason_raw) == ("Hi", reason, raw)
    assert encode_reply(whole)["choices"][0]["finish_reason"] == "stop"
    pieces = streamed(chunk('{"content":"Hi"}', raw) + DONE)
    assert (pieces.text, pieces.finish_reason) == ("Hi", reason)


@pytest.mark.parametrize(
    ("message", "finish"),
    [('{"content":"Hi"}', "stop"), (f'{{"content":null,{CALL}}}', "tool_calls"), ('{"content":""}', "error")],
)
def test_use_08_an_answer_without_a_finish_reason_is_settled_by_what_it_holds(message: str, finish: str) -> None:
    """`finish_reason: null`, whole, and streamed up to `[DONE]`: text, a call, or nothing, which is a failure."""
    whole = reply(message, None)
    assert (whole.finish_reason, whole.finish_reason_raw) == (finish, None)
    assert streamed(chunk(message) + DONE).finish_reason == finish


@pytest.mark.parametrize("raw", ["error", "abort", "insufficient_system_resource"])
def test_end_02_a_broken_off_answer_is_an_error_in_every_dialect(raw: str) -> None:
    """It is read with what it holds, and sent as the server's failure to whoever speaks another dialect."""
    whole = reply('{"content":"Hi"}', raw)
    assert (whole.text, whole.finish_reason, whole.finish_reason_raw) == ("Hi", "error", raw)
    assert streamed(chunk('{"content":"Hi"}', raw) + DONE).finish_reason == "error"
    told = DIALECT.encode_response(whole, ServerContext(source="google"))
    assert (told.status, json.loads(told.body)["error"]["type"]) == (500, "server_error")


def test_end_03_an_error_in_a_choice_is_that_error_whole_and_streamed() -> None:
    """OpenRouter's `choices[0].error` under finish `error`: the class of its code, with what came."""
    failed = '"error":{"code":502,"message":"upstream idle"},"finish_reason":"error"'
    body = f'{{"id":"x","choices":[{{"index":0,"message":{{"content":"half"}},{failed}}}]}}'
    with pytest.raises(InternalServerError, match="upstream idle") as caught:
        DIALECT.decode_response(HttpReply(status=200, body=body.encode()), DecodeContext())
    assert caught.value.response is not None
    assert (caught.value.response.text, caught.value.response.finish_reason) == ("half", "error")
    frame = f'data: {{"id":"x","choices":[{{"index":0,"delta":{{"content":"half"}},{failed}}}]}}\n\n'
    last = events(frame.encode())[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.message) == ("InternalServerError", "upstream idle")
    assert last.partial is not None
    assert last.partial.text == "half"


@pytest.mark.parametrize("word", ["stop", "eos", "weird"])
def test_use_10_calls_make_the_finish_reason(word: str) -> None:
    """Calls present and reason stop or other: tool_calls, whole and streamed, and said so."""
    whole = reply(f'{{"content":null,{CALL}}}', word)
    pieces = streamed(stream(f"{{{CALL}}}", finish=word))
    for response in (whole, pieces):
        assert response.parts == (ToolCall("a", "f", "{}"),)
        assert (response.finish_reason, response.finish_reason_raw) == ("tool_calls", word)
        assert codes(response.changes) == ["finish_reason_derived /finish_reason"]


def test_use_12_tool_calls_without_a_call_is_stop() -> None:
    """With a warning, whole and streamed."""
    for response in (
        reply('{"content":"Hi"}', "tool_calls"),
        streamed(chunk('{"content":"Hi"}', "tool_calls") + DONE),
    ):
        assert (response.finish_reason, response.finish_reason_raw) == ("stop", "tool_calls")
        assert codes(response.changes) == ["finish_reason_derived /finish_reason"]


@pytest.mark.parametrize("word", ["length", "content_filter"])
def test_use_13_calls_never_hide_length_or_content_filter(word: str) -> None:
    """Promotion is for stop and other alone."""
    whole = reply(f'{{"content":null,{CALL}}}', word)
    pieces = streamed(stream(f"{{{CALL}}}", finish=word))
    assert whole.finish_reason == pieces.finish_reason == word


def test_use_14_length_keeps_what_came() -> None:
    """Partial text and a partial call."""
    response = reply(f'{{"content":"Hi",{OPEN_CALL}}}', "length")
    assert response.parts == (TextPart("Hi"), BrokenToolCall("a", "f", '{"x', "cut_off"))
    assert response.finish_reason == "length"


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        (
            b'{"error":{"message":"No key","type":"invalid_request_error","code":"invalid_api_key"}}',
            AuthenticationError,
            "invalid_api_key",
        ),
        (b'{"id":null,"choices":null,"error":{"message":"Slow","code":429},"usage":null}', RateLimitError, "429"),
        (b'{"error":{"message":"Provider returned error","code":502},"user_id":"u"}', InternalServerError, "502"),
        (
            b'{"object":"error","message":"boom","type":"invalid_model","param":null,"code":"1500"}',
            NotFoundError,
            "1500",
        ),
    ],
)
def test_use_15_a_200_that_is_an_error_is_that_error(body: bytes, kind: type[Error], code: str) -> None:
    """Before anything of a choice is looked at."""
    with pytest.raises(kind) as found:
        DIALECT.decode_response(HttpReply(status=200, body=body), DecodeContext())
    assert found.value.code == code
    assert type(found.value) is kind


def test_use_15_vendor_members_may_be_null() -> None:
    """Nulls everywhere but in the content."""
    body = (
        b'{"id":null,"object":null,"created":null,"model":null,"system_fingerprint":null,"usage":null,"service_tier":null,'
        b'"choices":[{"index":null,"logprobs":null,"finish_reason":null,"message":{"role":null,"content":"Hi",'
        b'"refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":null,"reasoning":null}}]}'
    )
    response = DIALECT.decode_response(HttpReply(status=200, body=body), DecodeContext())
    assert response == answer(TextPart("Hi"), finish="stop", model="")


@pytest.mark.parametrize("body", [b"{}", b'{"choices":null}'])
def test_use_15_an_answer_without_a_choice_is_no_answer(body: bytes) -> None:
    """A typed error with the place."""
    with pytest.raises(DecodeError, match="no choice") as found:
        DIALECT.decode_response(HttpReply(status=200, body=body), DecodeContext())
    assert found.value.path == "/choices"


ERRORS: list[tuple[int, bytes, type[Error], str | None]] = [
    (
        400,
        b'{"error":{"message":"m","type":"invalid_request_error","param":"x","code":null}}',
        BadRequestError,
        "invalid_request_error",
    ),
    (
        400,
        b'{"error":{"message":"m","type":"invalid_request_error","code":"context_length_exceeded"}}',
        ContextWindowExceededError,
        "context_length_exceeded",
    ),
    (
        400,
        b'{"error":{"code":"content_filter","message":"m","innererror":{"code":"x"}}}',
        ContentPolicyViolationError,
        "content_filter",
    ),
    (
        401,
        b'{"error":{"message":"m","type":"invalid_request_error","code":"invalid_api_key"}}',
        AuthenticationError,
        "invalid_api_key",
    ),
    (401, b'{"detail":"Unauthorized"}', AuthenticationError, None),
    (402, b'{"error":{"message":"m","code":402}}', BillingError, "402"),
    (403, b'{"error":"forbidden"}', PermissionDeniedError, None),
    (
        404,
        b'{"error":{"message":"m","type":"invalid_request_error","code":"model_not_found"}}',
        NotFoundError,
        "model_not_found",
    ),
    (404, b"404 page not found", NotFoundError, None),
    (405, b"", BadRequestError, None),
    (408, b"{}", APITimeoutError, None),
    (409, b"{}", UpstreamError, None),
    (413, b"<html>too large</html>", RequestTooLargeError, None),
    (418, b"{}", BadRequestError, None),
    (422, b'{"detail":[{"loc":["body","messages",0],"msg":"field required","type":"missing"}]}', BadRequestError, None),
    (
        429,
        b'{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}',
        BillingError,
        "insufficient_quota",
    ),
    (
        429,
        b'{"error":{"message":"m","type":"tokens","code":"rate_limit_exceeded"}}',
        RateLimitError,
        "rate_limit_exceeded",
    ),
    (
        429,
        b'[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}]',
        RateLimitError,
        "RESOURCE_EXHAUSTED",
    ),
    (500, b'{"error":{"message":"m","type":"server_error"}}', InternalServerError, "server_error"),
    (502, b"<html>502 Bad Gateway</html>", InternalServerError, None),
    (503, b"upstream connect error", OverloadedError, None),
    (504, b"", APITimeoutError, None),
    (529, b'{"error":{"message":"m","type":"overloaded_error"}}', OverloadedError, "overloaded_error"),
]


@cells(("status", "body", "kind", "code"), ERRORS)
def test_use_16_error_classes_survive_the_server(status: int, body: bytes, kind: type[Error], code: str | None) -> None:
    """From status and structured code to a class, and through our own error body to the same class and status.

    A status that clients of this dialect do not know becomes the one that they do.
    """
    error = decode_error(status, body)
    assert type(error) is kind
    assert (error.status, error.code) == (status, code)
    sent = DIALECT.encode_error(error, ServerContext())
    again = decode_error(sent.status, sent.body, sent.headers)
    assert (type(again), sent.status, again.message) == (kind, 503 if status == 529 else status, error.message)


LOST_STATE = Change("refused", "server_state", "/continues", detail="previous_response_id: only there")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (HistoryError("x"), 400, None),
        (UnsupportedError("x"), 400, None),
        (UnsupportedError("x", changes=(LOST_STATE,)), 400, "previous_response_not_found"),
        (UnsupportedError("x", changes=(replace(LOST_STATE, code="images"),)), 400, None),
        (UnsupportedError("x", changes=(replace(LOST_STATE, detail="conversation"),)), 400, None),
        (LimitExceededError("x"), 413, "request_too_large"),
        (IncompleteStreamError("x"), 502, "incomplete_stream"),
        (APITimeoutError("x", phase="idle"), 504, "timeout"),
        (BillingError("x"), 429, "insufficient_quota"),
        (DecodeError("x"), 502, "server_error"),
        (UpstreamError("x", status=409), 409, "conflict"),
    ],
)
def test_use_16_our_own_errors_have_an_openai_body(error: Error, status: int, code: str | None) -> None:
    """Four members, always."""
    sent = DIALECT.encode_error(error, ServerContext())
    body = json.loads(sent.body)["error"]
    assert (sent.status, body["code"], body["message"]) == (status, code, "x")
    assert body.keys() == {"message", "type", "param", "code"}


def test_use_17_a_limit_sent_as_400_is_known_by_its_code() -> None:
    """The code is more precise than the status; the words decide nothing."""
    body = b'{"error":{"message":"You hit your limit","type":"rate_limit_error","code":"rate_limit_exceeded"}}'
    error = decode_error(400, body)
    assert type(error) is RateLimitError
    assert error.retryable
    prose = decode_error(400, b'{"error":{"message":"rate limit exceeded, insufficient_quota","type":null}}')
    assert type(prose) is BadRequestError


def test_use_18_retry_after_and_request_id_go_on_to_the_client() -> None:
    """Under their standard names."""
    error = decode_error(429, b"{}", (("retry-after", "7"), ("x-request-id", "req_1")))
    sent = DIALECT.encode_error(error, ServerContext())
    assert sent.headers == (("content-type", "application/json"), ("retry-after", "7"), ("x-request-id", "req_1"))


def test_use_20_an_empty_or_early_finish_reason_ends_nothing() -> None:
    """`""` on every chunk, the word on the last; our chunks say null until the end."""
    raw = chunk('{"content":"a"}', "") + chunk('{"content":"b"}', "") + chunk('{"content":"c"}', "stop") + DONE
    response = streamed(raw)
    assert (response.text, response.finish_reason) == ("abc", "stop")
    finishes = [data["choices"][0]["finish_reason"] for data in encode_stream(events(raw))[:-1]]
    assert finishes == [None, None, None, None, "stop"]
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(chunk('{"content":"a"}', ""))
    assert not decoder.terminal


def test_use_21_log_probabilities_leave_the_ending_alone() -> None:
    """They are joined over the chunks and go out with the finish."""
    raw = b"".join(
        [
            chunk('{"content":"a"}').replace(
                b'"finish_reason":null', b'"logprobs":{"content":[{"token":"a","logprob":-1}]},"finish_reason":null'
            ),
            chunk('{"content":"b"}').replace(
                b'"finish_reason":null', b'"logprobs":{"content":[{"token":"b","logprob":-2}]},"finish_reason":null'
            ),
            chunk("{}", "stop"),
            DONE,
        ]
    )
    response = streamed(raw)
    assert (response.text, response.finish_reason) == ("ab", "stop")
    logprobs = {"content": [{"token": "a", "logprob": -1}, {"token": "b", "logprob": -2}]}
    assert response.extra["openai-chat"]["choice"] == {"logprobs": logprobs}
    last = encode_stream(events(raw))[-2]["choices"][0]
    assert (last["finish_reason"], last["logprobs"]) == ("stop", logprobs)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ((("retry-after", "20"),), 20.0),
        ((("retry-after", "1.5"),), 1.5),
        ((("retry-after-ms", "250"), ("retry-after", "20")), 0.25),
        ((("date", "Wed, 21 Oct 2015 07:28:00 GMT"), ("retry-after", "Wed, 21 Oct 2015 07:29:30 GMT")), 90.0),
        ((("date", "Wed, 21 Oct 2015 07:28:00 GMT"), ("retry-after", "Wed, 21 Oct 2015 07:00:00 GMT")), 0.0),
        ((("retry-after", "Wed, 21 Oct 2015 07:29:30 GMT"),), None),
        ((("date", "x"), ("retry-after", "y")), None),
        ((("retry-after", "999999999"),), 86_400.0),
        ((("retry-after", "-3"),), None),
        ((("retry-after", "nan"),), None),
        ((), None),
    ],
)
def test_use_22_retry_after_in_every_form(headers: tuple[tuple[str, str], ...], seconds: float | None) -> None:
    """Seconds, milliseconds, a date read against the answer's own; clamped, never invented."""
    assert decode_error(429, b"{}", headers).retry_after_s == seconds


@pytest.mark.parametrize(("word", "retryable"), [("true", True), ("False", False), ("maybe", None)])
def test_x_should_retry_overrules_the_status(word: str, retryable: bool | None) -> None:
    """Both ways; another word says nothing."""
    headers = (("x-should-retry", word),)
    assert decode_error(400, b"{}", headers).retryable is (retryable or False)
    assert decode_error(500, b"{}", headers).retryable is (True if retryable is None else retryable)


@pytest.mark.parametrize(("status", "retryable"), [(409, True), (410, False), (500, True), (422, False)])
def test_status_decides_whether_a_retry_helps(status: int, retryable: bool) -> None:
    """Conflict and server faults pass; the request's fault stays."""
    assert decode_error(status, b"{}").retryable is retryable


@pytest.mark.parametrize("code", ["tool_use_failed", "json_validate_failed"])
def test_a_400_that_is_the_models_fault_is_retryable(code: str) -> None:
    """The same request may succeed."""
    error = decode_error(400, b'{"error":{"message":"m","type":"invalid_request_error","code":"%b"}}' % code.encode())
    assert type(error) is BadRequestError
    assert error.retryable


@pytest.mark.parametrize("details", [1.5, "x", [1]])
def test_details_that_are_none_stay_what_they_are(details: object) -> None:
    """A count of ours does not go where another dialect's client has put anything but parts of counts."""
    extra = {"openai-chat": {"prompt_tokens_details": details}}
    usage = Usage(input_tokens=3, output_tokens=2, cache_read_tokens=1, extra=extra)
    assert encode_reply(answer(TextPart("Hi"), usage=usage))["usage"]["prompt_tokens_details"] == details


def test_end_02_what_came_before_an_error_has_no_finish() -> None:
    """Of an answer of the dialect, told to a client with legal words: the error follows, and no `stop` before it."""
    encoder = DIALECT.stream_encoder(ServerContext(source="openai-chat", legal=True))
    raw = b"".join([encoder.encode(event) for event in events(chunk('{"content":"Hi"}'))])
    assert b'"finish_reason":"stop"' not in raw
    assert b'"error":' in raw.splitlines()[-2]
