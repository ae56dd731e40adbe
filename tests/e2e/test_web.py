"""Streams told by web applications: FastAPI, Starlette and WSGI in front, official SDKs as their clients."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from typing import TYPE_CHECKING, Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest

from tests.support.trying import at_best

uvicorn = pytest.importorskip("uvicorn", reason="the server of the gateway extra is not installed")
fastapi = pytest.importorskip("fastapi", reason="comes with a package for development")
anthropic = pytest.importorskip("anthropic", reason="the official SDK is not installed")
openai = pytest.importorskip("openai", reason="the official SDK is not installed")

from fastapi.responses import JSONResponse, StreamingResponse  # noqa: E402 - after the skip
from starlette.applications import Starlette  # noqa: E402 - after the skip
from starlette.routing import Route  # noqa: E402 - after the skip

import interlingua as il  # noqa: E402 - after the skip
from interlingua import aio  # noqa: E402 - after the skip
from interlingua.testing import FakeModel, tool_call, use  # noqa: E402 - after the skip
from tests.support.client import chunks  # noqa: E402 - after the skip
from tests.support.server import Answer, Hold, chunked, serving  # noqa: E402 - after the skip
from tests.support.web import web  # noqa: E402 - after the skip

if TYPE_CHECKING:
    from starlette.requests import Request

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
CUT = il.IncompleteStreamError("cut", partial=il.Response(parts=(il.TextPart("Once"),)))
PATHS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}


def _application(model: str = "openai-chat/gpt-4.1") -> Any:
    """An application that answers every question, in the dialect of the path it was asked on, or as UI messages."""
    app = fastapi.FastAPI()

    def told(dialect: str) -> Any:
        async def answer() -> Any:
            stream = aio.model(model).stream("Hi", tools=[il.Tool(name="f")])
            try:
                await stream.open()
            except il.UpstreamError as error:
                return JSONResponse({"error": {"message": error.message}}, status_code=error.http_status)
            body = stream.sse(dialect)
            return StreamingResponse(body, headers=body.headers)

        return answer

    for dialect, path in {**PATHS, "ai-sdk": "/chat", "ollama": "/api/chat"}.items():
        app.post(path)(told(dialect))
    return app


# Official SDKs as clients


def test_openai_sdk_reads_chat() -> None:
    """The stream helper adds the chunks up to the text and the call that the model gave."""
    reply = il.Response(parts=(il.TextPart("Hello"), tool_call("f", call_id="call_1", city="Oslo")))
    with use(FakeModel([reply])), web(_application()) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        with client.chat.completions.stream(model="any", messages=[{"role": "user", "content": "Hi"}]) as stream:
            message = stream.get_final_completion().choices[0].message
        client.close()
    assert message.content == "Hello"
    [call] = message.tool_calls
    assert (call.id, call.function.name, json.loads(call.function.arguments)) == ("call_1", "f", {"city": "Oslo"})


def test_openai_sdk_reads_responses() -> None:
    """The same for Responses."""
    with use(FakeModel(["Hello there"])), web(_application()) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        with client.responses.stream(model="any", input="Hi") as stream:
            text = stream.get_final_response().output_text
        client.close()
    assert text == "Hello there"


def test_anthropic_sdk_reads_messages() -> None:
    """The same for Messages."""
    reply = il.Response(parts=(il.TextPart("Hello"), tool_call("f", call_id="toolu_1", city="Oslo")))
    with use(FakeModel([reply])), web(_application()) as url:
        client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        asked: dict[str, Any] = {"model": "any", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
        with client.messages.stream(**asked) as stream:
            message = stream.get_final_message()
        client.close()
    assert [block.type for block in message.content] == ["text", "tool_use"]
    assert message.content[1].input == {"city": "Oslo"}


def test_sse_15_sdks_raise_what_broke_in_the_middle() -> None:
    """A stream that breaks is an error in the SDKs, not the end of an answer."""
    with use(FakeModel([CUT, CUT])), web(_application()) as url:
        chat = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        with pytest.raises(openai.APIError, match="the stream ended"):
            list(chat.chat.completions.create(model="any", messages=[{"role": "user", "content": "Hi"}], stream=True))
        chat.close()
        messages = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        asked: dict[str, Any] = {"model": "any", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
        with pytest.raises(anthropic.APIStatusError, match="the stream ended"):
            list(messages.messages.create(**asked, stream=True))
        messages.close()


def test_sse_14_an_early_failure_is_a_status() -> None:
    """What fails before the first content is still a status, since the stream is opened before the answer begins."""
    with use(FakeModel([il.RateLimitError("slow down", status=429)])), web(_application()) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        with pytest.raises(openai.RateLimitError, match="slow down"):
            client.chat.completions.create(model="any", messages=[], stream=True)
        client.close()


# Bytes


def _asked(url: str, path: str) -> tuple[bytes, bytes]:
    """Head and body of a plain answer to a POST."""
    with _sent(url, path) as link:
        head, _, body = _until(link, b"\r\n0\r\n\r\n").partition(b"\r\n\r\n")
    return head, body


def _sent(url: str, path: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    link = socket.create_connection((host, int(port)), timeout=10)
    link.sendall(f"POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".encode())
    return link


def _until(link: socket.socket, what: bytes) -> bytes:
    """What comes until `what` has come, or the end."""
    told = b""
    while what not in told and (piece := link.recv(65_536)):
        told += piece
    return told


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/chat", b"text/event-stream"),
        ("/v1/chat/completions", b"text/event-stream"),
        ("/api/chat", b"application/x-ndjson"),
    ],
)
def test_sse_25_headers_on_the_wire(path: str, media_type: bytes) -> None:
    """The media type is the dialect's, once; proxies are told to hold nothing back."""
    with use(FakeModel(["Hi"])), web(_application()) as url:
        head, body = _asked(url, path)
    lines = head.lower().split(b"\r\n")
    assert [line for line in lines if line.startswith(b"content-type")] == [b"content-type: " + media_type]
    assert b"cache-control: no-cache, no-transform" in lines
    assert b"x-accel-buffering: no" in lines
    assert (b"x-vercel-ai-ui-message-stream: v1" in lines) == (path == "/chat")
    assert body.endswith(b"0\r\n\r\n")


# Whoever leaves


def test_a_client_that_leaves_closes_the_upstream(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the upstream says nothing more: its connection is closed within a moment, and costs no more tokens."""
    first = chunks("Hello")[:2]

    def open_s() -> float:
        with serving(Answer((HEAD + chunked(*first, end=False), Hold()))) as upstream:
            monkeypatch.setenv("LLM_STALLED", f"openai://key@127.0.0.1:{upstream.port}/v1?tls=0")
            with web(_application("stalled/any")) as url:
                with _sent(url, "/chat") as link:
                    assert b'"delta":"Hello"' in _until(link, b"Hello")
                began = time.monotonic()
                assert upstream.hung_up.wait(60)
                return time.monotonic() - began

    assert at_best(lambda: open_s() < 1)


def test_a_blocking_stream_in_starlette() -> None:
    """The blocking face is told by Starlette's threads, too."""

    def answer(_: Request) -> StreamingResponse:
        body = il.model("openai/gpt-5.6").stream("Hi").open().sse("ai-sdk")
        return StreamingResponse(body, headers=body.headers)

    app = Starlette(routes=[Route("/chat", answer, methods=["POST"])])
    with use(FakeModel(["Hello"])), web(app) as url:
        _, body = _asked(url, "/chat")
    assert b'data: {"type":"text-delta","id":"1","delta":"Hello"}' in body
    assert body.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")


def test_a_run_of_an_agent_in_fastapi() -> None:
    """A run is one message, with the results of its tools."""
    app = fastapi.FastAPI()

    def get_weather(city: str) -> str:
        """Weather."""
        return f"4 degrees in {city}"

    @app.post("/chat")
    async def answer() -> Any:
        run = aio.Agent("openai/gpt-5.6", tools=[get_weather]).stream("Weather?")
        body = run.sse("ai-sdk")
        return StreamingResponse(body, headers=body.headers)

    with use(FakeModel([tool_call("get_weather", city="Oslo"), "Cold."])), web(app) as url:
        _, body = _asked(url, "/chat")
    assert b'"output":"4 degrees in Oslo"' in body
    assert b'{"type":"finish","finishReason":"stop"}' in body


# WSGI


def _wsgi(environ: dict[str, Any], start: Any) -> Any:
    body = il.model("openai/gpt-5.6").stream("Hi").open().sse("openai-chat")
    start("200 OK", list(body.headers.items()))
    return body


def _environ() -> dict[str, Any]:
    environ: dict[str, Any] = {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": "0", "QUERY_STRING": ""}
    setup_testing_defaults(environ)
    return environ


def test_wsgi() -> None:
    """The blocking face is a body as WSGI wants it, and is closed as WSGI closes one."""
    started: list[Any] = []

    def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        started.append((status, dict(headers)["content-type"]))
        return None

    with use(FakeModel(["Hello"])):
        told: Any = validator(_wsgi)(_environ(), start)
        pieces = list(told)
        told.close()
    assert started == [("200 OK", "text/event-stream")]
    assert pieces[-1].endswith(b"data: [DONE]\n\n")


def test_wsgi_closes_what_its_client_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that stops in the middle closes the body, and that the exchange."""
    with serving(Answer((HEAD + chunked(*chunks("Hello")[:2], end=False), Hold()))) as upstream:
        monkeypatch.setenv("LLM_STALLED", f"openai://key@127.0.0.1:{upstream.port}/v1?tls=0")
        body = il.model("stalled/any").stream("Hi").open().sse("openai-chat")
        next(iter(body))
        body.close()
        assert upstream.hung_up.wait(60)


async def test_cancelling_the_reader_closes_the_upstream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that is cancelled while it waits for more leaves nothing open."""
    with serving(Answer((HEAD + chunked(*chunks("Hello")[:2], end=False), Hold()))) as upstream:
        monkeypatch.setenv("LLM_STALLED", f"openai://key@127.0.0.1:{upstream.port}/v1?tls=0")
        body = (await aio.model("stalled/any").stream("Hi").open()).sse("anthropic")

        async def read() -> None:
            async for _ in body:
                pass

        task = asyncio.create_task(read())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(upstream.hung_up.wait, 60)


async def test_a_body_that_nobody_holds_closes_the_upstream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that fails to send drops the body without a word; that is enough."""
    with serving(Answer((HEAD + chunked(*chunks("Hello")[:2], end=False), Hold()))) as upstream:
        monkeypatch.setenv("LLM_STALLED", f"openai://key@127.0.0.1:{upstream.port}/v1?tls=0")
        body = (await aio.model("stalled/any").stream("Hi").open()).sse("anthropic")
        await anext(body)
        del body
        assert await asyncio.to_thread(upstream.hung_up.wait, 60)
