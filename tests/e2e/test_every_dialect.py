"""Our client against the server role of every dialect over real sockets: one line of the environment, and it speaks."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

import interlingua as il
from interlingua.dialects._contract import DecodedRequest
from interlingua.stream.unfold import unfold
from interlingua.testing import FakeModel, no_network, use
from interlingua.transport.aio import HttpTransport as AsyncHttpTransport
from interlingua.transport.options import HttpOptions
from interlingua.transport.override import Override, overriding
from interlingua.transport.sync import HttpTransport
from interlingua.wire.json import decode_any
from tests.support.chat_server import KEY, ChatServer, Streamed, chat_serving
from tests.support.client import AWAITED, BLOCKING, Face
from tests.support.imitated import IMITATED
from tests.support.server import Answer, Hold, Pause, Reset, chunked
from tests.support.server import reply as framed
from tests.support.trying import at_best

SEAL = "c2VhbGVkLXN0YXRl"
"""What stands in sealed state, wherever the dialect has it."""
HELLO = il.Response(
    parts=(il.TextPart("Hello"),),
    finish_reason="stop",
    usage=il.Usage(input_tokens=9, output_tokens=4, cache_read_tokens=2),
)


class Wire(NamedTuple):
    """What the wire page of a dialect says about its requests."""

    whole: str
    streamed: str
    credential: tuple[str, str]
    headers: dict[str, str]
    stream_type: str = "text/event-stream"


BEARER = ("authorization", f"Bearer {KEY}")
CHAT = "POST /v1/chat/completions HTTP/1.1"
RESPONSES = "POST /v1/responses HTTP/1.1"
MESSAGES = "POST /v1/messages HTTP/1.1"
GEMINI = "POST /v1beta/models/some-model:{} HTTP/1.1"
OLLAMA = "POST /api/chat HTTP/1.1"
COHERE = "POST /v2/chat HTTP/1.1"
CONVERSE = "POST /model/some-model/converse{} HTTP/1.1"
UNIFIED = "POST /unified/v1/generate HTTP/1.1"
WIRES = {
    "openai-chat": Wire(CHAT, CHAT, BEARER, {}),
    "openai-responses": Wire(RESPONSES, RESPONSES, BEARER, {}),
    "anthropic": Wire(MESSAGES, MESSAGES, ("x-api-key", KEY), {"anthropic-version": "2023-06-01"}),
    "google": Wire(
        GEMINI.format("generateContent"),
        GEMINI.format("streamGenerateContent?alt=sse"),
        ("x-goog-api-key", KEY),
        {},
    ),
    "ollama": Wire(OLLAMA, OLLAMA, BEARER, {}, "application/x-ndjson"),
    "cohere": Wire(COHERE, COHERE, BEARER, {}),
    "unified": Wire(UNIFIED, UNIFIED, BEARER, {}),
    "bedrock": Wire(CONVERSE.format(""), CONVERSE.format("-stream"), BEARER, {}, "application/vnd.amazon.eventstream"),
}
PAIRS = list(permutations(WIRES, 2))
NO_SEALS = ("ollama", "cohere", "unified")
"""Dialects without sealed state of their own."""
RELAYS = ("unified",)
"""Dialects that carry the sealed state of every other one to whoever issued it."""


@pytest.fixture(params=WIRES)
def dialect(request: pytest.FixtureRequest) -> str:
    """The name of a dialect."""
    return request.param


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def streamed(request: pytest.FixtureRequest) -> bool:
    """Whether to stream."""
    return request.param


@pytest.fixture
def ask(streamed: bool, face: Face) -> Callable[..., il.Response[Any]]:
    """Asks a model, whole or streamed."""

    def asking(model: Any, prompt: Any = "Hi", **options: Any) -> il.Response[Any]:
        if streamed:
            return face.finish(model.stream(prompt, **options))
        return face.generate(model, prompt, **options)

    return asking


def _model(face: Face, chat: ChatServer, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """A model of the server, through one line of the environment."""
    name = chat.dialect.replace("-", "_").upper()
    monkeypatch.setenv(f"LLM_MY_{name}", chat.dsn)
    return face.model(f"my-{chat.dialect}/some-model", **options)


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"4 degrees in {city}"


def _thinking(dialect: str) -> il.ThinkingPart:
    """A thought, with the sealed state of thoughts where the dialect has such."""
    data: dict[str, dict[str, Any]] = {
        "openai-chat": {"reasoning_details": [{"type": "reasoning.encrypted", "data": SEAL, "index": 0}]},
        "openai-responses": {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "encrypted_content": SEAL,
        },
        "anthropic": {"signature": SEAL},
        "bedrock": {"signature": SEAL},
    }
    return il.ThinkingPart("Hm.", il.Sealed(dialect, data[dialect]) if dialect in data else None)


def _calls(dialect: str) -> il.Response[Any]:
    """A thought and two calls; in Gemini's dialect the first call carries the seal."""
    signature = il.Sealed(dialect, {"thoughtSignature": SEAL}) if dialect == "google" else None
    return il.Response(
        parts=(
            _thinking(dialect),
            il.ToolCall("call_oslo", "get_weather", '{"city":"Oslo"}', sealed=signature),
            il.ToolCall("call_bergen", "get_weather", '{"city":"Bergen"}'),
        ),
        finish_reason="tool_calls",
    )


def _weather(dialect: str) -> Callable[[DecodedRequest], il.Response[Any]]:
    """A model that calls twice at once, then repeats what the results say."""

    def weather(asked: DecodedRequest) -> il.Response[Any]:
        results = [result for message in asked.request.messages for result in message.tool_results]
        if not results:
            return _calls(dialect)
        text = "; ".join(str(result.content) for result in results)
        return il.Response(parts=(il.TextPart(text),), finish_reason="stop")

    return weather


def test_every_dialect_is_here() -> None:
    """No dialect whose service is imitated is left out."""
    assert set(WIRES) == set(IMITATED)


def test_an_answer(dialect: str, face: Face, ask: Any, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, finish reason and counts are what the server says; system text and prompt are what it reads."""
    with chat_serving(HELLO, dialect=dialect) as chat:
        reply = ask(_model(face, chat, monkeypatch, system="Be brief.", max_tokens=20))
    assert (reply.text, reply.finish_reason) == ("Hello", "stop")
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (9, 4)
    assert reply.usage.cache_read_tokens == (None if dialect == "ollama" else 2)
    # Only our own format keeps apart what served and what its provider calls it; this server says nothing of that.
    # Nor does an answer of Cohere or Bedrock name its model.
    named = None if dialect in ("cohere", "bedrock", "unified") else "some-model"
    assert (reply.model, reply.wire_model) == (f"my-{dialect}/some-model", named)
    [asked] = chat.requests
    assert (asked.model, asked.stream) == ("some-model", streamed)
    assert asked.request.system == (il.TextPart("Be brief."),)
    assert asked.request.messages == (il.user("Hi"),)
    assert asked.request.max_tokens == 20


def test_the_request_is_that_of_the_wire_page(
    dialect: str, face: Face, ask: Any, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Request line, credential, content type and the headers that the dialect demands; no other credential."""
    with chat_serving(HELLO, dialect=dialect) as chat:
        ask(_model(face, chat, monkeypatch))
    [seen] = chat.server.seen
    wire = WIRES[dialect]
    assert seen.line == (wire.streamed if streamed else wire.whole)
    assert seen.header("content-type") == "application/json"
    assert seen.header("accept") == (wire.stream_type if streamed else "application/json")
    assert {name: seen.header(name) for name in wire.headers} == wire.headers
    names = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
    assert [(name, seen.header(name)) for name in names if seen.header(name)] == [wire.credential]
    body = decode_any(seen.body)
    assert body.get("model") == (None if dialect in ("google", "bedrock") else "some-model")
    assert KEY.encode() not in seen.body


def test_a_tool_loop(dialect: str, face: Face, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two calls at once, both results in one message, and the answer; the thought is back in its place."""
    tools = il.Toolbox([get_weather])
    with chat_serving(_weather(dialect), dialect=dialect) as chat:
        model = _model(face, chat, monkeypatch, tools=tools)
        first = ask(model)
        assert (first.finish_reason, first.thinking) == ("tool_calls", "Hm.")
        assert [call.arguments for call in first.tool_calls] == [{"city": "Oslo"}, {"city": "Bergen"}]
        reply = ask(model, tools.execute(first.tool_calls), history=first)
    assert reply.text == "4 degrees in Oslo; 4 degrees in Bergen"
    assert [tool.name for tool in chat.requests[0].request.tools if isinstance(tool, il.Tool)] == ["get_weather"]
    second = chat.requests[1].request
    assert [message.role for message in second.messages] == ["user", "assistant", "tool"]
    assert [call.arguments for call in second.messages[1].tool_calls] == [{"city": "Oslo"}, {"city": "Bergen"}]
    assert (SEAL.encode() in chat.server.seen[1].body) is (dialect not in NO_SEALS)
    assert [change for change in reply.changes if change.code == "seal_foreign"] == []


def _chat_result(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def _item(call: str, text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call, "output": text}


def _native(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_name": "get_weather", "tool_call_id": call, "content": text}


COUNTS = {
    "openai-chat": {"prompt_tokens": 9, "completion_tokens": 4},
    "openai-responses": {"input_tokens": 9, "output_tokens": 4},
    "anthropic": {"input_tokens": 7, "cache_read_input_tokens": 2, "output_tokens": 4},
    "google": {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 1},
    "ollama": {"prompt_eval_count": 9, "eval_count": 4},
    "cohere": {"tokens": {"input_tokens": 9, "output_tokens": 4}, "cached_tokens": 2},
    "bedrock": {"inputTokens": 7, "cacheReadInputTokens": 2, "outputTokens": 4, "totalTokens": 13},
    "unified": {"input_tokens": 9, "cache_read_tokens": 2, "output_tokens": 4, "reasoning_tokens": 1},
}
"""What each dialect calls nine tokens in, two of them cached, and four out, one of them thought."""
FOUND, LOST = "4 degrees in Oslo", "There is no Bergen."
RESULTS: dict[str, list[Any]] = {
    "openai-chat": [_chat_result("call_oslo", FOUND), _chat_result("call_bergen", f"ERROR: {LOST}")],
    "openai-responses": [_item("call_oslo", FOUND), _item("call_bergen", f"ERROR: {LOST}")],
    "anthropic": [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_oslo", "content": FOUND},
                {"type": "tool_result", "tool_use_id": "call_bergen", "content": LOST, "is_error": True},
            ],
        }
    ],
    "google": [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "call_oslo", "name": "get_weather", "response": {"output": FOUND}}},
                {"functionResponse": {"id": "call_bergen", "name": "get_weather", "response": {"error": LOST}}},
            ],
        }
    ],
    "bedrock": [
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "call_oslo", "content": [{"text": FOUND}]}},
                {"toolResult": {"toolUseId": "call_bergen", "content": [{"text": LOST}], "status": "error"}},
            ],
        }
    ],
    "cohere": [_chat_result("call_oslo", FOUND), _chat_result("call_bergen", f"ERROR: {LOST}")],
    "ollama": [_native("call_oslo", FOUND), _native("call_bergen", f"ERROR: {LOST}")],
    "unified": [
        {
            "role": "tool",
            "parts": [
                {"type": "tool_result", "tool_call_id": "call_oslo", "content": FOUND},
                {"type": "tool_result", "tool_call_id": "call_bergen", "content": LOST, "is_error": True},
            ],
        }
    ],
}
"""The end of the history on the wire: two results, the second one an error."""


def test_r14_results_are_grouped_as_the_wire_page_says(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R14, R15: one message per result or one for all, and the error in the dialect's own way; read back as said."""
    with chat_serving(_weather(dialect), dialect=dialect) as chat:
        model = _model(BLOCKING, chat, monkeypatch, tools=[get_weather])
        calls = model.generate("Hi")
        oslo, bergen = calls.tool_calls
        results = [il.ToolResult(oslo.id, oslo.name, FOUND), il.ToolResult(bergen.id, bergen.name, LOST, is_error=True)]
        model.generate([il.Message("tool", tuple(results))], history=calls)
    body = decode_any(chat.server.seen[1].body)
    history = next(body[name] for name in ("messages", "input", "contents") if name in body)
    assert history[-len(RESULTS[dialect]) :] == RESULTS[dialect]
    read = [result for message in chat.requests[1].request.messages for result in message.tool_results]
    assert [(result.content, result.is_error) for result in read] == [(FOUND, False), (LOST, True)]


def test_r13_arguments_go_back_in_their_own_form(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R13: a string of JSON for OpenAI's dialects and for Cohere, an object for the others."""
    with chat_serving(_weather(dialect), dialect=dialect) as chat:
        model = _model(BLOCKING, chat, monkeypatch, tools=[get_weather])
        calls = model.generate("Hi")
        model.generate(il.Toolbox([get_weather]).execute(calls.tool_calls), history=calls)
    is_text = dialect.startswith("openai") or dialect == "cohere"
    body = chat.server.seen[1].body
    assert (body.count(b'"arguments":"{\\"city\\":\\"Oslo\\"}"') == 1) is is_text
    assert (body.count(b':{"city":"Oslo"}') == 1) is not is_text


def test_r09_counts_follow_the_providers_convention(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R09: Messages counts cached input apart, generateContent counts thoughts apart; to us both are inside."""
    said = il.Usage(input_tokens=9, output_tokens=4, cache_read_tokens=2, reasoning_tokens=1)
    with chat_serving(msgspec.structs.replace(HELLO, usage=said), dialect=dialect) as chat:
        usage = _model(BLOCKING, chat, monkeypatch).generate("Hi").usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (9, 4)
    [body] = chat.bodies
    counts = body.get("usage") or body.get("usageMetadata") or body
    told = {name: counts[name] for name in COUNTS[dialect]}
    assert told == COUNTS[dialect]


@dataclass
class Place:
    city: str
    celsius: float


def test_a_typed_answer(dialect: str, face: Face, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataclass goes out as a schema and comes back as a value; what is cut is an error with the answer."""
    fitting = il.Response(parts=(il.TextPart('{"city":"Oslo","celsius":4}'),), finish_reason="stop")
    cut = il.Response(parts=(il.TextPart('{"city":"Os'),), finish_reason="length")
    with chat_serving(fitting, cut, dialect=dialect) as chat:
        model = _model(face, chat, monkeypatch)
        assert ask(model, output=Place).output == Place("Oslo", 4.0)
        with pytest.raises(il.OutputError) as caught:
            ask(model, output=Place)
    assert caught.value.fault == "truncated"
    schema = chat.requests[0].request.output_schema
    assert schema is not None
    assert set(schema["properties"]) == {"city", "celsius"}


def test_a_stream_of_text_and_a_call(dialect: str, face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of text as they come, the call once it is whole, one end."""
    call = il.ToolCall("call_oslo", "get_weather", '{"city":"Oslo"}')
    said = il.Response(parts=(il.TextPart("Let me see."), call), finish_reason="tool_calls")
    with chat_serving(said, dialect=dialect) as chat:
        model = _model(face, chat, monkeypatch, tools=[get_weather])
        events = face.events(model.stream("Hi"))
    assert "".join([event.text for event in events if isinstance(event, il.TextDelta)]) == "Let me see."
    [ready] = [event for event in events if isinstance(event, il.ToolCallReady)]
    assert (ready.call.name, ready.call.arguments) == ("get_weather", {"city": "Oslo"})
    assert isinstance(events[-1], il.StreamEnd)
    assert events[-1].response.finish_reason == "tool_calls"


def test_sse_13_an_error_inside_a_stream(dialect: str, face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-13: after status 200 the error comes inside the stream, and is raised with its class."""
    started = [event for event in unfold(HELLO) if not isinstance(event, il.StreamEnd)]
    error = il.StreamError("OverloadedError", "No capacity.", code="overloaded")
    with chat_serving([*started, error], dialect=dialect) as chat:
        stream = _model(face, chat, monkeypatch).stream("Hi")
        with pytest.raises(il.OverloadedError, match="No capacity"):
            face.finish(stream)


def test_a_call_that_was_cut_is_never_ready(dialect: str, face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-10: a stream that ends inside of arguments hands over no call."""
    started = (il.StreamStart(), il.BlockStart(0, "tool_call", "call_1", "f"), il.ToolCallDelta(0, '{"city":"Os'))
    with chat_serving(Streamed(started), dialect=dialect) as chat, pytest.raises(il.IncompleteStreamError) as caught:
        face.finish(_model(face, chat, monkeypatch).stream("Hi"))
    assert caught.value.partial is None or caught.value.partial.tool_calls == ()


def test_sse_09_a_finish_on_an_open_socket_is_an_end(dialect: str, face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-09: the terminal signal ends the stream within the drain time, although the server holds the socket."""
    monkeypatch.setattr("interlingua.client.call.core.DRAIN_S", 0.3)

    def ended_s() -> float:
        with chat_serving(Streamed(tuple(unfold(HELLO)), Hold()), dialect=dialect) as chat:
            started = time.monotonic()
            reply = face.finish(_model(face, chat, monkeypatch).stream("Hi"))
            took_s = time.monotonic() - started
            assert chat.server.hung_up.wait(60)
        assert reply.text == "Hello"
        return took_s

    assert at_best(lambda: ended_s() < 4)


def test_sse_19_reasons_in_every_frame_end_nothing(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-19: a Gemini server that goes on after a finish reason is not cut; its silence is the end."""
    monkeypatch.setattr("interlingua.client.call.core.DRAIN_S", 0.2)
    said = [_gemini_frame(text) for text in ("Hel", "lo ", "there")]
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    pieces = (head, chunked(*said[:2], end=False), Pause(0.5), chunked(said[2], end=False), Hold())

    def told() -> tuple[str, str]:
        with chat_serving(Answer(pieces), dialect="google") as chat:
            model = _model(face, chat, monkeypatch, timeouts=il.Timeouts(idle_s=1.5))
            reply = face.finish(model.stream("Hi"))
        return reply.text, reply.finish_reason

    assert at_best(lambda: told() == ("Hello there", "stop"))  # a busy machine may be silent itself


def _gemini_frame(text: str) -> bytes:
    body = {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP"}]}
    return b"data: " + json.dumps(body).encode() + b"\r\n\r\n"


def test_connections_are_kept(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers, streams and errors go over one connection."""
    with chat_serving(HELLO, HELLO, il.RateLimitError("Slow down."), HELLO, dialect=dialect) as chat:
        model = _model(BLOCKING, chat, monkeypatch)
        model.generate("Hi")
        model.stream("Hi").finish()
        with pytest.raises(il.RateLimitError):
            model.generate("Hi", retries=0)
        model.generate("Hi")
    assert chat.server.connections == 1


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/json", "text/event-stream"])
def test_lines_under_any_content_type_are_a_stream(face: Face, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-22: an Ollama stream that a proxy calls something else is read as what it is."""
    lines = b'{"model":"m","message":{"role":"assistant","content":"Hel"},"done":false}\n'
    last = b'{"model":"m","message":{"role":"assistant","content":"lo"},"done":true,"done_reason":"stop"}\n'
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    with chat_serving(Answer((head, chunked(lines, end=False), chunked(last))), dialect="ollama") as chat:
        assert face.finish(_model(face, chat, monkeypatch).stream("Hi")).text == "Hello"


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "several lines"])
def test_one_object_is_a_whole_stream(face: Face, indent: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """R28: an Ollama server that answers whole where a stream was asked for is understood."""
    said = {"model": "m", "message": {"role": "assistant", "content": "Hello"}, "done": True, "done_reason": "stop"}
    body = json.dumps(said, indent=indent).encode()
    whole = Answer((framed(body, headers="content-type: application/json\r\n"),))
    with chat_serving(whole, dialect="ollama") as chat:
        assert face.finish(_model(face, chat, monkeypatch).stream("Hi")).text == "Hello"


@pytest.mark.parametrize("row", ["openai", "openai-chat", "anthropic", "google", "ollama", "foreman", "hub", "bedrock"])
def test_the_fake_speaks_what_a_provider_speaks(row: str, face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model by its provider's name, without a key or a network: whole and streamed answers in its dialect."""
    monkeypatch.setenv("LLM_FOREMAN", "foreman://localhost")
    monkeypatch.setenv("LLM_HUB", "interlingua://localhost")
    with no_network(), use(FakeModel(["One", "Two"])):
        model = face.model(f"{row}/some-model")
        assert face.generate(model).text == "One"
        assert face.finish(model.stream("Hi")).text == "Two"


@pytest.mark.parametrize(
    "error",
    [
        il.AuthenticationError("No key.", status=401),
        il.NotFoundError("No such model.", status=404),
        il.RateLimitError("Slow down.", status=429, retry_after_s=7.0),
        il.InternalServerError("Oops.", status=500),
    ],
    ids=str,
)
def test_errors_keep_their_class(
    dialect: str, face: Face, ask: Any, monkeypatch: pytest.MonkeyPatch, error: il.Error
) -> None:
    """Class, status, sentence, wait and worth of a retry come through, each in the dialect's own body."""
    with chat_serving(error, dialect=dialect) as chat:
        model = _model(face, chat, monkeypatch).with_options(retries=0)
        with pytest.raises(il.Error) as caught:
            ask(model)
    found = caught.value
    assert type(found) is type(error)
    assert error.message in found.message
    status = 403 if dialect == "bedrock" and error.status == 401 else error.status  # a service of AWS has no 401
    assert (found.status, found.retry_after_s, found.retryable) == (status, error.retry_after_s, error.retryable)


@pytest.mark.parametrize("after", [None, Reset()], ids=["ended", "reset"])
def test_sse_10_a_cut_stream_is_incomplete(
    dialect: str, face: Face, monkeypatch: pytest.MonkeyPatch, after: Reset | None
) -> None:
    """SSE-10: ended in good order without a finish, or reset: an error, worth a retry, with what came."""
    started = tuple([event for event in unfold(HELLO) if not isinstance(event, il.StreamEnd | il.BlockEnd)])
    with chat_serving(Streamed(started, after), dialect=dialect) as chat:
        stream = _model(face, chat, monkeypatch).stream("Hi")
        with pytest.raises(il.IncompleteStreamError) as caught:
            face.finish(stream)
    assert caught.value.retryable
    assert caught.value.partial is not None
    # A Gemini server keeps the last character for the frame of the finish, which must hold text.
    assert caught.value.partial.text == ("Hell" if dialect == "google" else "Hello")


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=["->".join(pair) for pair in PAIRS])
def test_r22_a_switch_inside_a_tool_loop(
    first: str, second: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R22: another dialect goes on with the results and never sees the seal; its issuer gets it back as it was.

    Our own format carries the seal along: behind it may be the issuer, and whoever is there drops it if it is not.
    """
    tools = il.Toolbox([get_weather])

    def ask(model: il.Model, prompt: Any, **options: Any) -> il.Response[Any]:
        return model.stream(prompt, **options).finish() if streamed else model.generate(prompt, **options)

    with (
        chat_serving(_weather(first), dialect=first) as one,
        chat_serving(_weather(second), dialect=second) as other,
    ):
        issuer = _model(BLOCKING, one, monkeypatch, tools=tools)
        heir = _model(BLOCKING, other, monkeypatch, tools=tools)
        calls = ask(issuer, "Weather?")
        answer = ask(heir, tools.execute(calls.tool_calls), history=calls)
        again = ask(issuer, "And now?", history=answer)
    assert answer.text == again.text == "4 degrees in Oslo; 4 degrees in Bergen"
    [taken] = other.requests
    assert [call.arguments for call in taken.request.messages[1].tool_calls] == [{"city": "Oslo"}, {"city": "Bergen"}]
    assert (SEAL.encode() in other.server.seen[0].body) is (second in RELAYS and first not in NO_SEALS)
    dropped = "seal_foreign" in [change.code for change in answer.changes]
    assert dropped is (first not in NO_SEALS and second not in RELAYS)
    assert (SEAL.encode() in one.server.seen[1].body) is (first not in NO_SEALS)
    lost = [change.path for change in again.changes if change.code == "seal_foreign"]
    assert [path for path in lost if path.startswith("/messages/1/")] == []


@pytest.mark.parametrize("by", ["variable", "option"])
def test_r40_a_foreman_over_tls(face: Face, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R40: a `foreman://` line with a token reaches a server of the Ollama family over TLS: a loop, then a stream."""
    trustme = pytest.importorskip("trustme", reason="makes certificates for tests")
    authority = trustme.CA()
    file = str(tmp_path / "authority.pem")
    authority.cert_pem.write_to_path(file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    if by == "variable":
        monkeypatch.setenv("SSL_CERT_FILE", file)
    options = HttpOptions(ca_file=file if by == "option" else None)
    tools = il.Toolbox([get_weather])
    with (
        chat_serving(_weather("ollama"), dialect="ollama", context=context) as chat,
        closing(HttpTransport(options)) as blocking,
        ExitStack() as stack,
    ):
        awaited = AsyncHttpTransport(options)
        stack.callback(awaited.close_without_loop)
        stack.enter_context(overriding(Override(lambda _: blocking, lambda _: awaited)))
        monkeypatch.setenv("LLM_FOREMAN", f"foreman://{KEY}@localhost:{chat.server.port}?tls=1")
        model = face.model("foreman/some-model:7b", tools=tools)
        calls = face.generate(model, "Weather?")
        reply = face.finish(model.stream(tools.execute(calls.tool_calls), history=calls))
    assert reply.text == "4 degrees in Oslo; 4 degrees in Bergen"
    assert reply.model == "foreman/some-model:7b"
    assert [(seen.line, seen.header("authorization")) for seen in chat.server.seen] == [(OLLAMA, BEARER[1])] * 2
    assert [decode_any(seen.body)["model"] for seen in chat.server.seen] == ["some-model:7b"] * 2
