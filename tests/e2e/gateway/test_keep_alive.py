"""Signs of life while an upstream is silent: no official SDK takes them for anything."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from interlingua.transport.base import Timeouts
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import ReplayTransport
from interlingua.wire.http import Headers, HttpRequest
from tests.support.gateway import MODELS, serving

MODEL = MODELS["openai-chat"]
HEAD = b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
FRAMES = [
    HEAD + b'{"role":"assistant","content":"One "},"finish_reason":null}]}\n\n',
    HEAD + b'{"content":"two."},"finish_reason":null}]}\n\n',
    HEAD + b'{},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
]


class Halting:
    """An upstream that is silent for a while before each frame but the first."""

    status = 200
    headers: Headers = (("content-type", "text/event-stream"),)

    def __init__(self) -> None:
        self._frames = list(FRAMES)

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> Halting:
        """A new answer."""
        return Halting()

    async def read(self) -> bytes:
        """The next frame, late."""
        if len(self._frames) < len(FRAMES):
            await asyncio.sleep(0.12)
        return self._frames.pop(0) if self._frames else b""

    async def close(self) -> None:
        """Nothing to do."""


@contextmanager
def _silent() -> Generator[str]:
    upstream = Halting()
    override = Override(lambda _: ReplayTransport(), lambda _: upstream, answers=True)
    with overriding(override), serving(keep_alive_s=0.03) as url:
        yield url


def test_sse_07_openais_sdk_reads_on() -> None:
    """Chat and Responses: text whole, no event of its own."""
    openai = pytest.importorskip("openai", reason="the official SDK is not installed")
    with _silent() as url, openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        told: Any = [{"role": "user", "content": "Hi"}]
        chunks = list(client.chat.completions.create(model=MODEL, messages=told, stream=True))
        assert "".join([chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]) == "One two."
        with client.responses.stream(model=MODEL, input="Hi") as stream:
            assert stream.get_final_response().output_text == "One two."


def test_sse_07_anthropics_sdk_reads_on() -> None:
    """Its pings are its protocol's own."""
    anthropic = pytest.importorskip("anthropic", reason="the official SDK is not installed")
    with _silent() as url, anthropic.Anthropic(base_url=url, api_key="any", max_retries=0) as client:
        told: Any = [{"role": "user", "content": "Hi"}]
        with client.messages.stream(model=MODEL, max_tokens=50, messages=told) as stream:
            assert "".join(stream.text_stream) == "One two."


def test_sse_07_googles_sdk_reads_on() -> None:
    """It takes a comment for data, and an empty line for nothing."""
    genai = pytest.importorskip("google.genai", reason="the official SDK is not installed")
    with _silent() as url:
        client = genai.Client(api_key="any", http_options={"base_url": url})
        chunks = list(client.models.generate_content_stream(model=MODEL, contents="Hi"))
        client.close()
    assert "".join([chunk.text or "" for chunk in chunks]) == "One two."


@pytest.mark.parametrize("older", [False, True])
def test_sse_07_ollamas_sdk_reads_on(older: bool) -> None:
    """Both of its forms: a piece that says nothing is one that may come any time."""
    ollama = pytest.importorskip("ollama", reason="the official SDK is not installed")
    with _silent() as url:
        client = ollama.Client(host=url)
        if older:
            told = [piece.response for piece in client.generate(model=MODEL, prompt="Hi", stream=True)]
        else:
            messages = [{"role": "user", "content": "Hi"}]
            told = [piece.message.content for piece in client.chat(model=MODEL, messages=messages, stream=True)]
        client._client.close()
    assert "".join(told) == "One two."
    assert "" in told
