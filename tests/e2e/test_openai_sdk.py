"""The official SDK against the server role: whatever its users do with a Chat Completions server."""

from __future__ import annotations

import base64
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest

openai = pytest.importorskip("openai", reason="the official SDK is not installed")

from pydantic import BaseModel  # noqa: E402 - comes with the SDK

import interlingua as il  # noqa: E402
from interlingua.stream.unfold import unfold  # noqa: E402
from tests.support.chat_server import ChatServer, Said, Streamed, chat_serving  # noqa: E402
from tests.support.openai_sdk import MODEL, Sdk, judge  # noqa: E402
from tests.support.server import Reset  # noqa: E402

PNG = b"\x89PNG\r\n\x1a\n"
USAGE = il.Usage(input_tokens=9, output_tokens=4, cache_read_tokens=2, reasoning_tokens=1)
HELLO = il.Response(parts=(il.TextPart("Hello"),), finish_reason="stop", usage=USAGE)
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CALLS = il.Response(
    parts=(
        il.ToolCall("call_a", "get_weather", '{"city":"Oslo"}'),
        il.ToolCall("call_b", "get_weather", '{"city":"Bergen"}'),
    ),
    finish_reason="tool_calls",
    usage=USAGE,
)


class Trip(BaseModel):
    city: str
    celsius: float


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def awaited(request: pytest.FixtureRequest) -> bool:
    """Both faces of the SDK."""
    return request.param


@contextmanager
def _serving(*script: Said) -> Generator[ChatServer]:
    """A server whose every answer the SDK's own types must take."""
    with chat_serving(*script, judged=False) as chat:
        yield chat
    judge(chat)


# Replies


def test_a_whole_reply(awaited: bool) -> None:
    """Text, finish, usage with its details, the model's name and the request's id."""
    with _serving(HELLO) as chat:
        reply = Sdk(chat, awaited=awaited).create(temperature=0.5, max_completion_tokens=20, seed=7, stop=["END"])
    assert (reply.id, reply.object, reply.model) == ("chatcmpl-1", "chat.completion", MODEL)
    [choice] = reply.choices
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", "Hello", "stop")
    assert (choice.message.refusal, choice.message.annotations, choice.logprobs) == (None, [], None)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.total_tokens) == (9, 4, 13)
    assert reply.usage.prompt_tokens_details.cached_tokens == 2
    assert reply.usage.completion_tokens_details.reasoning_tokens == 1
    assert reply._request_id == "req_whole"
    [asked] = chat.requests
    assert asked.model == MODEL
    assert asked.request == il.Request(messages=(il.user("Hi"),), temperature=0.5, max_tokens=20, seed=7, stop=("END",))


def test_a_streamed_reply(awaited: bool) -> None:
    """The pieces join to the text; without being asked for, no counts come."""
    with _serving(HELLO) as chat:
        chunks = Sdk(chat, awaited=awaited).chunks()
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello"
    assert [chunk.choices[0].delta.role for chunk in chunks] == ["assistant", None, None]
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None, None, "stop"]
    assert {(chunk.id, chunk.model, chunk.object) for chunk in chunks} == {
        ("chatcmpl-1", MODEL, "chat.completion.chunk")
    }
    assert [chunk.usage for chunk in chunks] == [None, None, None]


def test_usage_of_a_stream_that_asks_for_it(awaited: bool) -> None:
    """With `include_usage` the last chunk has no choices and all counts."""
    with _serving(HELLO) as chat:
        *_, last = Sdk(chat, awaited=awaited).chunks(stream_options={"include_usage": True})
    assert last.choices == []
    assert (last.usage.prompt_tokens, last.usage.completion_tokens, last.usage.total_tokens) == (9, 4, 13)
    assert last.usage.completion_tokens_details.reasoning_tokens == 1


def test_the_stream_helper(awaited: bool) -> None:
    """The helper's events and the completion that it adds up."""
    with _serving(HELLO) as chat:
        events, final = Sdk(chat, awaited=awaited).helper(stream_options={"include_usage": True})
    kinds = [event.type for event in events if event.type != "chunk"]
    assert kinds == [
        "content.delta",
        "content.delta",
        "content.done",
    ]  # the first chunk's text is empty, as the vendor's
    assert final.choices[0].message.content == "Hello"
    assert final.choices[0].finish_reason == "stop"
    assert final.usage.total_tokens == 13


def test_several_choices(awaited: bool) -> None:
    """n=2: each choice has its place, whole and streamed."""
    other = il.Alternative(parts=(il.TextPart("Hi there"),), finish_reason="stop")
    said = il.Response(parts=(il.TextPart("Hello"),), finish_reason="stop", alternatives=(other,))
    with _serving(said) as chat:
        sdk = Sdk(chat, awaited=awaited)
        whole = sdk.create(n=2)
        _, final = sdk.helper(n=2)
    for reply in (whole, final):
        told = [(choice.index, choice.message.content, choice.finish_reason) for choice in reply.choices]
        assert told == [(0, "Hello", "stop"), (1, "Hi there", "stop")]
    assert chat.requests[0].request.n == 2


def test_log_probabilities(awaited: bool) -> None:
    """They pass through, whole and streamed."""
    content = [{"token": "Hello", "logprob": -0.5, "bytes": [72], "top_logprobs": []}]
    said = il.Response(
        parts=HELLO.parts, finish_reason="stop", extra={"openai-chat": {"choice": {"logprobs": {"content": content}}}}
    )
    with _serving(said) as chat:
        sdk = Sdk(chat, awaited=awaited)
        whole = sdk.create(logprobs=True, top_logprobs=0)
        _, final = sdk.helper(logprobs=True)
    for reply in (whole, final):
        [token] = reply.choices[0].logprobs.content
        assert (token.token, token.logprob) == ("Hello", -0.5)
    assert chat.requests[0].request.logprobs == 0


def test_reasoning_is_visible(awaited: bool) -> None:
    """Readable reasoning is where users of compatible servers look for it."""
    said = il.Response(parts=(il.ThinkingPart("Hm."), il.TextPart("Hello")), finish_reason="stop")
    with _serving(said) as chat:
        sdk = Sdk(chat, awaited=awaited)
        whole = sdk.create()
        chunks = sdk.chunks()
    assert whole.choices[0].message.model_extra["reasoning_content"] == "Hm."
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert [delta.reasoning_content for delta in deltas if "reasoning_content" in delta.model_extra] == ["Hm."]


def test_a_refusal(awaited: bool) -> None:
    """The model's own words of refusal, whole, streamed and parsed."""
    said = il.Response(parts=(il.RefusalPart("I will not."),), finish_reason="refusal")
    with _serving(said) as chat:
        sdk = Sdk(chat, awaited=awaited)
        whole = sdk.create()
        events, final = sdk.helper()
        parsed = sdk.parse(response_format=Trip)
    for reply in (whole, final, parsed):
        message = reply.choices[0].message
        assert (message.content, message.refusal, reply.choices[0].finish_reason) in (
            (None, "I will not.", "stop"),
            ("", "I will not.", "stop"),
        )
    assert parsed.choices[0].message.parsed is None
    assert "refusal.done" in [event.type for event in events]


def test_spoken_answers(awaited: bool) -> None:
    """Audio has every member that the SDK's type demands, whoever made it."""
    said = il.Response(parts=(il.AudioPart(b"RIFF....WAVE", "audio/wav", "Hello"),), finish_reason="stop")
    with _serving(said) as chat:
        reply = Sdk(chat, awaited=awaited).create()
    audio = reply.choices[0].message.audio
    assert (base64.b64decode(audio.data), audio.transcript) == (b"RIFF....WAVE", "Hello")
    assert isinstance(audio.id, str)
    assert isinstance(audio.expires_at, int)


# Tools


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_parallel_calls_over_two_turns(awaited: bool, streamed: bool) -> None:
    """Two calls at once, their results in the next request, and the answer."""
    with _serving(CALLS, HELLO) as chat:
        sdk = Sdk(chat, awaited=awaited)
        ask = sdk.final if streamed else sdk.create
        first = ask(tools=[WEATHER])
        message = first.choices[0].message
        results = [{"role": "tool", "tool_call_id": call.id, "content": "4"} for call in message.tool_calls]
        turn = message.model_dump(exclude_none=True, exclude={"parsed"})
        second = ask(tools=[WEATHER], messages=[{"role": "user", "content": "Hi"}, turn, *results])
    assert first.choices[0].finish_reason == "tool_calls"
    assert [(call.id, call.type, call.function.name, call.function.arguments) for call in message.tool_calls] == [
        ("call_a", "function", "get_weather", '{"city":"Oslo"}'),
        ("call_b", "function", "get_weather", '{"city":"Bergen"}'),
    ]
    assert second.choices[0].message.content == "Hello"
    asked = chat.requests[1].request
    assert asked.messages[1].tool_calls == CALLS.tool_calls
    assert [result for turn in asked.messages[2:] for result in turn.tool_results] == [
        il.ToolResult("call_a", "get_weather", "4"),
        il.ToolResult("call_b", "get_weather", "4"),
    ]


def test_calls_in_pieces(awaited: bool) -> None:
    """Arguments that come piece by piece, two calls interleaved: the helper puts each together."""
    first, second = CALLS.tool_calls
    events = [
        il.StreamStart(id="chatcmpl-7"),
        il.BlockStart(0, "tool_call", first.id, first.name),
        il.ToolCallDelta(0, '{"city"'),
        il.BlockStart(1, "tool_call", second.id, second.name),
        il.ToolCallDelta(1, '{"city":'),
        il.ToolCallDelta(0, ':"Oslo"}'),
        il.BlockEnd(0, first),
        il.ToolCallReady(0, first),
        il.ToolCallDelta(1, '"Bergen"}'),
        il.BlockEnd(1, second),
        il.ToolCallReady(1, second),
        il.StreamEnd(CALLS),
    ]
    with _serving(events) as chat:
        told, final = Sdk(chat, awaited=awaited).helper(tools=[WEATHER])
    assert [call.function.arguments for call in final.choices[0].message.tool_calls] == [
        '{"city":"Oslo"}',
        '{"city":"Bergen"}',
    ]
    assert [event.type for event in told].count("tool_calls.function.arguments.delta") >= 4


@pytest.mark.parametrize(
    ("choice", "read"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "function": {"name": "get_weather"}}, il.NamedTool("get_weather")),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "get_weather"}}],
                },
            },
            il.AllowedTools(("get_weather",), "required"),
        ),
    ],
    ids=["auto", "none", "required", "named", "allowed"],
)
def test_tool_choices(awaited: bool, choice: Any, read: il.ToolChoice) -> None:
    """Each of the five choices is understood."""
    with _serving(HELLO) as chat:
        Sdk(chat, awaited=awaited).create(tools=[WEATHER], tool_choice=choice, parallel_tool_calls=False)
    asked = chat.requests[0].request
    assert asked.tool_choice == read
    assert asked.parallel_tool_calls is False
    assert [tool.name for tool in asked.tools if isinstance(tool, il.Tool)] == ["get_weather"]


def test_freeform_tools(awaited: bool) -> None:
    """A custom tool in the request, its call in the answer."""
    call = il.ToolCall("call_c", "run", '{"input":"print(1)"}', freeform=True)
    tool = {"type": "custom", "custom": {"name": "run", "description": "Runs code."}}
    with _serving(il.Response(parts=(call,), finish_reason="tool_calls")) as chat:
        reply = Sdk(chat, awaited=awaited).create(tools=[tool])
    [told] = reply.choices[0].message.tool_calls
    assert (told.id, told.type, told.custom.name, told.custom.input) == ("call_c", "custom", "run", "print(1)")
    [asked] = chat.requests[0].request.tools
    assert isinstance(asked, il.Tool)
    assert asked.freeform == il.Freeform()


# Structured output


def test_a_model_as_response_format(awaited: bool) -> None:
    """`parse` and the helper give a value of the class; the schema came with its name and strict."""
    said = il.Response(parts=(il.TextPart('{"city":"Oslo","celsius":4.5}'),), finish_reason="stop")
    with _serving(said) as chat:
        sdk = Sdk(chat, awaited=awaited)
        parsed = sdk.parse(response_format=Trip)
        _, final = sdk.helper(response_format=Trip)
    for reply in (parsed, final):
        assert reply.choices[0].message.parsed == Trip(city="Oslo", celsius=4.5)
    for asked in chat.requests:
        assert (asked.request.schema_name, asked.request.schema_strict) == ("Trip", True)
        assert asked.request.output_schema is not None
        assert asked.request.output_schema["required"] == ["city", "celsius"]


def test_a_model_as_tool(awaited: bool) -> None:
    """`pydantic_function_tool`: the arguments come parsed."""
    call = il.ToolCall("call_d", "Trip", '{"city":"Oslo","celsius":4}')
    with _serving(il.Response(parts=(call,), finish_reason="tool_calls")) as chat:
        reply = Sdk(chat, awaited=awaited).parse(tools=[openai.pydantic_function_tool(Trip)])
    [told] = reply.choices[0].message.tool_calls
    assert told.function.parsed_arguments == Trip(city="Oslo", celsius=4)
    [tool] = chat.requests[0].request.tools
    assert isinstance(tool, il.Tool)
    assert tool.strict is True


@pytest.mark.parametrize(
    ("finish", "error"),
    [("length", "LengthFinishReasonError"), ("content_filter", "ContentFilterFinishReasonError")],
)
def test_an_answer_that_was_cut_is_not_parsed(awaited: bool, finish: il.FinishReason, error: str) -> None:
    """`length` and `content_filter` raise the SDK's own errors."""
    said = il.Response(parts=(il.TextPart('{"city":"Os'),), finish_reason=finish)
    with _serving(said) as chat, pytest.raises(getattr(openai, error)):
        Sdk(chat, awaited=awaited).parse(response_format=Trip)


# What goes in


def test_images_audio_and_files_go_in(awaited: bool) -> None:
    """Every kind of part of a user message arrives as bytes."""
    wav, pdf = b"RIFF\x00\x00\x00\x00WAVE", b"%PDF-1.4"
    content = [
        {"type": "text", "text": "Look."},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_base64(PNG)}", "detail": "low"}},
        {"type": "input_audio", "input_audio": {"data": _base64(wav), "format": "wav"}},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{_base64(pdf)}"},
        },
    ]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "In French."},
        {"role": "user", "content": content, "name": "ada"},
    ]
    with _serving(HELLO) as chat:
        Sdk(chat, awaited=awaited).create(messages=messages)
    asked = chat.requests[0].request
    assert asked.system == (il.TextPart("Be brief."),)
    assert asked.messages == (
        il.Message("system", (il.TextPart("In French."),), extra={"openai-chat": {"role": "developer"}}),
        il.Message(
            "user",
            (
                il.TextPart("Look."),
                il.ImagePart(PNG, "image/png", "low"),
                il.AudioPart(wav, "audio/wav"),
                il.DocumentPart(pdf, "application/pdf", "a.pdf"),
            ),
            "ada",
        ),
    )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


# Errors

ERRORS = [
    (il.BadRequestError("No.", status=400), 400, "BadRequestError", None),
    (il.ContextWindowExceededError("Too long.", status=400), 400, "BadRequestError", "context_length_exceeded"),
    (il.ContentPolicyViolationError("No."), 400, "BadRequestError", "content_filter"),
    (il.AuthenticationError("No key."), 401, "AuthenticationError", "invalid_api_key"),
    (il.PermissionDeniedError("Not you."), 403, "PermissionDeniedError", "permission_denied"),
    (il.NotFoundError("No model."), 404, "NotFoundError", "model_not_found"),
    (il.UpstreamError("Locked.", status=409), 409, "ConflictError", "conflict"),
    (il.RequestTooLargeError("Too big."), 413, "APIStatusError", "request_too_large"),
    (il.LimitExceededError("Too deep."), 413, "APIStatusError", "request_too_large"),
    (il.BadRequestError("Not so.", status=422), 422, "UnprocessableEntityError", None),
    (il.BillingError("Pay."), 429, "RateLimitError", "insufficient_quota"),
    (il.RateLimitError("Slow down."), 429, "RateLimitError", "rate_limit_exceeded"),
    (il.InternalServerError("Oops."), 500, "InternalServerError", "server_error"),
    (il.OverloadedError("Busy."), 503, "InternalServerError", "overloaded"),
    (il.APITimeoutError("Late."), 504, "InternalServerError", "timeout"),
    (il.UnsupportedError("No images."), 400, "BadRequestError", None),
    (il.HistoryError("No pair."), 400, "BadRequestError", None),
    (il.DecodeError("A broken upstream."), 502, "InternalServerError", "server_error"),
]


@pytest.mark.parametrize(("error", "status", "kind", "code"), ERRORS, ids=[str(row[0]) for row in ERRORS])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_errors(awaited: bool, streamed: bool, error: il.Error, status: int, kind: str, code: str | None) -> None:
    """Status, class, code, sentence and request id, before a stream as before a whole answer."""
    error.request_id = "req_9"
    with _serving(error) as chat:
        sdk = Sdk(chat, awaited=awaited)
        with pytest.raises(openai.APIStatusError) as caught:
            (sdk.chunks if streamed else sdk.create)()
    assert type(caught.value).__name__ == kind
    assert (caught.value.status_code, caught.value.code, caught.value.request_id) == (status, code, "req_9")
    assert caught.value.body["message"] == error.message
    assert len(chat.requests) == 1


def test_a_broken_request_names_the_member(awaited: bool) -> None:
    """What the server role cannot read is a 400, and `param` is the place."""
    with _serving(HELLO) as chat, pytest.raises(openai.BadRequestError) as caught:
        Sdk(chat, awaited=awaited).create(messages=[{"role": "user", "content": 5}])
    assert caught.value.type == "invalid_request_error"
    assert caught.value.param == "messages[0].content"
    assert chat.requests == []


def test_retry_after_is_honoured(awaited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait that the error asks for is the wait that the SDK makes."""
    waits: list[float] = []
    sleep, sleep_awaited = time.sleep, anyio.sleep

    def slept(seconds: float) -> None:
        waits.append(seconds)
        sleep(seconds)

    async def slept_awaited(seconds: float) -> None:
        waits.append(seconds)
        await sleep_awaited(seconds)

    monkeypatch.setattr("openai._base_client.time.sleep", slept)
    monkeypatch.setattr("openai._base_client.anyio.sleep", slept_awaited)
    with _serving(il.RateLimitError("Slow down.", retry_after_s=0.2), HELLO) as chat:
        reply = Sdk(chat, awaited=awaited, max_retries=1).create()
    assert reply.choices[0].message.content == "Hello"
    assert waits == [0.2]  # without the header the wait is at least 0.375 s, and mostly more
    assert len(chat.requests) == 2


@pytest.mark.parametrize(
    ("error", "times"),
    [
        (il.BillingError("Pay.", status=429), 1),
        (il.MalformedArgumentsError("Broken arguments."), 1),
        (il.BadRequestError("A bad call was made.", status=400, retryable=True, retry_after_s=0.01), 2),
        (il.OverloadedError("Busy.", status=503, retry_after_s=0.01), 2),
    ],
    ids=["billing", "arguments", "bad-call", "overloaded"],
)
def test_only_what_is_worth_it_is_retried(awaited: bool, error: il.Error, times: int) -> None:
    """RTR-07: where the status alone would mislead the SDK, a header says whether to try again."""
    with _serving(error) as chat, pytest.raises(openai.APIStatusError):
        Sdk(chat, awaited=awaited, max_retries=1).create()
    assert len(chat.requests) == times


def test_retry_after_is_told(awaited: bool) -> None:
    """Whoever does not retry reads the wait in the header."""
    slow = il.RateLimitError("Slow down.", retry_after_s=7)
    with _serving(slow) as chat, pytest.raises(openai.RateLimitError) as caught:
        Sdk(chat, awaited=awaited).create()
    assert caught.value.response.headers["retry-after"] == "7"


def test_an_error_inside_a_stream(awaited: bool) -> None:
    """SSE-15: the stream ends with an error object, which the SDK raises."""
    events = [
        *list(unfold(HELLO))[:3],
        il.StreamError("OverloadedError", "No capacity.", code="overloaded"),
    ]
    with _serving(events) as chat:
        sdk = Sdk(chat, awaited=awaited)
        for read in (sdk.chunks, sdk.helper):
            with pytest.raises(openai.APIError) as caught:
                read()
            assert caught.value.message == "No capacity."
            assert (caught.value.type, caught.value.code) == ("server_error", "overloaded")


def test_a_stream_whose_connection_breaks(awaited: bool) -> None:
    """A reset in the middle is a connection error, never an end."""
    with _serving(Streamed(tuple(unfold(HELLO))[:3], Reset())) as chat, pytest.raises(openai.APIConnectionError):
        Sdk(chat, awaited=awaited).chunks()
