"""Our client against our server role over real sockets: the two roles of the dialect understand each other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import interlingua as il
from interlingua import aio
from interlingua.dialects._contract import DecodedRequest
from interlingua.stream.unfold import unfold
from tests.support.chat_server import ChatServer, Streamed, chat_serving
from tests.support.client import AWAITED, BLOCKING, Face
from tests.support.server import Answer, Hold, Reset, chunked
from tests.support.server import reply as framed
from tests.support.trying import at_best

HELLO = il.Response(
    parts=(il.ThinkingPart("Hm."), il.TextPart("Hello")),
    finish_reason="stop",
    usage=il.Usage(input_tokens=9, output_tokens=4, cache_read_tokens=2, reasoning_tokens=1),
)
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def ask(request: pytest.FixtureRequest, face: Face) -> Callable[..., il.Response[Any]]:
    """Asks a model, whole or streamed."""

    def asking(model: Any, prompt: Any = "Hi", **options: Any) -> il.Response[Any]:
        if request.param:
            return face.finish(model.stream(prompt, **options))
        return face.generate(model, prompt, **options)

    return asking


def _model(face: Face, chat: ChatServer, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """A model of the server, through one line of the environment."""
    monkeypatch.setenv("LLM_WORK", chat.dsn)
    return face.model("work/some-model", **options)


def test_an_answer(face: Face, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the server says is what the client gets, and what it asked is what the server read."""
    with chat_serving(HELLO) as chat:
        reply = ask(_model(face, chat, monkeypatch, system="Be brief.", temperature=0.5, max_tokens=9))
    assert (reply.parts, reply.finish_reason, reply.usage) == (HELLO.parts, "stop", HELLO.usage)
    assert (reply.model, reply.wire_model, reply.id) == ("work/some-model", "some-model", "chatcmpl-1")
    asked = chat.requests[0]
    assert asked.model == "some-model"
    assert asked.request.system == (il.TextPart("Be brief."),)
    assert asked.request.messages == (il.user("Hi"),)
    assert (asked.request.temperature, asked.request.max_tokens) == (0.5, 9)


def test_several_choices(face: Face, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """n=2: the further choice is an alternative."""
    other = il.Alternative(parts=(il.TextPart("Hi there"),), finish_reason="length", finish_reason_raw="length")
    said = il.Response(parts=(il.TextPart("Hello"),), finish_reason="stop", alternatives=(other,))
    with chat_serving(said) as chat:
        reply = ask(_model(face, chat, monkeypatch), n=2)
    assert reply.text == "Hello"
    assert reply.alternatives == (other,)


def get_weather(city: str) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise il.ToolError("There is no Atlantis.")
    return f"4 degrees in {city}"


def _weather_model(asked: DecodedRequest) -> il.Response[Any]:
    """Calls twice at once, then repeats what the results say."""
    results = [result for message in asked.request.messages for result in message.tool_results]
    if results:
        text = "; ".join(f"{result.content}{'!' if result.is_error else ''}" for result in results)
        return il.Response(parts=(il.TextPart(text),), finish_reason="stop")
    calls = [
        il.ToolCall(f"call_{city}", "get_weather", f'{{"city":"{city}"}}') for city in ("Oslo", "Bergen", "Atlantis")
    ]
    return il.Response(parts=tuple(calls), finish_reason="tool_calls")


def test_a_tool_loop(face: Face, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parallel calls, their results, an error among them, and the answer."""
    tools = il.Toolbox([get_weather])
    with chat_serving(_weather_model) as chat:
        model = _model(face, chat, monkeypatch, tools=tools)
        reply = ask(model)
        while reply.tool_calls:
            reply = ask(model, tools.execute(reply.tool_calls), history=reply)
    assert reply.text == "4 degrees in Oslo; 4 degrees in Bergen; There is no Atlantis.!"
    assert len(chat.requests) == 2


@dataclass
class Place:
    city: str
    celsius: float


def test_a_typed_answer(face: Face, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataclass goes out as a schema and comes back as a value; what does not fit is an error with the answer."""
    fitting = il.Response(parts=(il.TextPart('{"city":"Oslo","celsius":4}'),), finish_reason="stop")
    cut = il.Response(parts=(il.TextPart('{"city":"Os'),), finish_reason="length")
    refused = il.Response(parts=(il.RefusalPart("No."),), finish_reason="refusal")
    with chat_serving(fitting, cut, refused) as chat:
        model = _model(face, chat, monkeypatch)
        assert ask(model, output=Place).output == Place("Oslo", 4.0)
        faults: list[str] = []
        for _ in range(2):
            with pytest.raises(il.OutputError) as caught:
                ask(model, output=Place)
            assert caught.value.response is not None
            faults.append(caught.value.fault)
    assert faults == ["truncated", "refused"]
    assert chat.requests[0].request.output_schema is not None


@pytest.mark.parametrize(
    "error",
    [
        il.BadRequestError("No.", status=400),
        il.ContextWindowExceededError("Too long.", status=400),
        il.ContentPolicyViolationError("Not that.", status=400),
        il.AuthenticationError("No key.", status=401),
        il.PermissionDeniedError("Not you.", status=403),
        il.NotFoundError("No such model.", status=404),
        il.UpstreamError("Locked.", status=409),
        il.UpstreamError("Locked for now.", status=409, retryable=True),
        il.BadRequestError("A bad call was made.", status=400, retryable=True),
        il.RequestTooLargeError("Too big.", status=413),
        il.BadRequestError("Not so.", status=422),
        il.BillingError("Pay.", status=429),
        il.RateLimitError("Slow down.", status=429, retry_after_s=1.5),
        il.InternalServerError("Oops.", status=500),
        il.OverloadedError("Busy.", status=503, retry_after_s=2),
        il.APITimeoutError("Late.", status=504, phase="upstream"),
    ],
    ids=str,
)
def test_errors_keep_their_class(face: Face, ask: Any, monkeypatch: pytest.MonkeyPatch, error: il.Error) -> None:
    """An error of the server is the same at the client: class, status, sentence, wait, request id, worth a retry."""
    error.request_id = "req_9"
    with chat_serving(error) as chat:
        model = _model(face, chat, monkeypatch).with_options(retries=0)
        with pytest.raises(il.Error) as caught:
            ask(model)
    found = caught.value
    assert type(found) is type(error)
    assert error.message in found.message
    assert (found.status, found.retry_after_s, found.request_id) == (error.status, error.retry_after_s, "req_9")
    assert found.retryable is error.retryable


def test_sse_13_an_error_inside_a_stream(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-13: after status 200 the error comes as an event, and is raised with its class; what came stays readable."""
    events = [*list(unfold(HELLO))[:6], il.StreamError("OverloadedError", "No capacity.", code="overloaded")]
    with chat_serving(events) as chat:
        stream = _model(face, chat, monkeypatch).stream("Hi")
        with pytest.raises(il.OverloadedError, match="No capacity"):
            face.finish(stream)
    assert stream.partial.parts == HELLO.parts


def test_a_cut_stream_is_incomplete(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-10: reset in the middle, or ended in good order without a finish: the error has what came."""
    started = tuple(unfold(HELLO))[:6]
    with chat_serving(Streamed(started, Reset()), Streamed(started)) as chat:
        model = _model(face, chat, monkeypatch)
        for _ in range(2):
            with pytest.raises(il.IncompleteStreamError) as caught:
                face.finish(model.stream("Hi"))
            assert caught.value.partial is not None
            assert caught.value.partial.parts == HELLO.parts
            assert caught.value.retryable


def test_a_call_that_was_cut_is_never_ready(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-10: a stream that ends inside of arguments hands over no call."""
    events = (il.StreamStart(), il.BlockStart(0, "tool_call", "call_1", "f"), il.ToolCallDelta(0, '{"city":"Os'))
    with chat_serving(Streamed(events)) as chat, pytest.raises(il.IncompleteStreamError) as caught:
        face.finish(_model(face, chat, monkeypatch).stream("Hi"))
    assert caught.value.partial is not None
    assert caught.value.partial.tool_calls == ()
    [broken] = caught.value.partial.parts
    assert isinstance(broken, il.BrokenToolCall)
    assert broken.reason == "cut_off"


def test_sse_09_a_finish_on_an_open_socket_is_an_end(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-09: everything came, but the server holds the socket: the client ends within the drain time and hangs up."""

    def ended_s() -> float:
        with chat_serving(Streamed(tuple(unfold(HELLO)), Hold())) as chat:
            started = time.monotonic()
            reply = face.finish(_model(face, chat, monkeypatch).stream("Hi"))
            took_s = time.monotonic() - started
            assert chat.server.hung_up.wait(60)
        assert reply.parts == HELLO.parts
        return took_s

    assert at_best(lambda: ended_s() < 4)


@pytest.mark.parametrize("head", [SSE_HEAD, SSE_HEAD.replace(b"text/event-stream", b"text/html")], ids=["sse", "html"])
def test_sse_22_html_instead_of_a_stream(face: Face, head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-22: a page with status 200 is an error that shows it, never an empty answer."""
    page = Answer((head, chunked(b"<!doctype html><html>", b"<body>Sign in</body></html>")))
    with chat_serving(page) as chat, pytest.raises(il.WireError) as caught:
        face.finish(_model(face, chat, monkeypatch).stream("Hi"))
    assert "html" in caught.value.message.lower()


def test_sse_22_a_whole_answer_instead_of_a_stream(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-22: a server that cannot stream and answers whole is understood."""
    body = (
        b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":'
        b'{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}'
    )
    with chat_serving(Answer((framed(body, headers="content-type: application/json\r\n"),))) as chat:
        assert face.finish(_model(face, chat, monkeypatch).stream("Hi")).text == "Hello"


def test_connections_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers, streams, errors and a stream that was left at its end go over one connection."""
    with chat_serving(HELLO, HELLO, il.RateLimitError("Slow down."), HELLO) as chat:
        model = _model(BLOCKING, chat, monkeypatch)
        model.generate("Hi")
        model.stream("Hi").finish()
        with pytest.raises(il.RateLimitError):
            model.generate("Hi", retries=0)
        model.generate("Hi")
    assert chat.server.connections == 1


async def test_connections_are_kept_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, awaited."""
    with chat_serving(HELLO, HELLO, il.RateLimitError("Slow down."), HELLO) as chat:
        monkeypatch.setenv("LLM_WORK", chat.dsn)
        model = aio.model("work/some-model")
        await model.generate("Hi")
        await model.stream("Hi").finish()
        with pytest.raises(il.RateLimitError):
            await model.generate("Hi", retries=0)
        await model.generate("Hi")
    assert chat.server.connections == 1


async def test_cancelling_a_stream_closes_its_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """RTR-08: cancelled between two events, the server sees the hang-up at once."""
    with chat_serving(Streamed(tuple(unfold(HELLO))[:6], Hold())) as chat:
        monkeypatch.setenv("LLM_WORK", chat.dsn)
        stream = aio.model("work/some-model").stream("Hi")
        await stream.open()
        task = asyncio.create_task(stream.finish())
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(chat.server.hung_up.wait, 60)
