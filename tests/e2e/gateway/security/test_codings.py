"""Compressed bodies of clients and of upstreams: what is undone, what is refused as unsupported, what is a bomb."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest

from interlingua.testing.upstream.loopback import serving as listening
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode
from tests.e2e.gateway.security.raw import BODY, chat, send
from tests.support.gateway import provider, serving
from tests.support.heavy import Served, served

MIB = 1024 * 1024
BOMB_BYTES = 200 * MIB
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "google": "/v1beta/models/fake/model:generateContent",
    "ollama": "/api/chat",
    "cohere": "/v2/chat",
    "unified": "/unified/v1/generate",
}
TOLD: dict[str, Callable[[Any], tuple[str, str]]] = {
    "openai-chat": lambda body: (body["error"]["type"], body["error"]["message"]),
    "openai-responses": lambda body: (body["error"]["type"], body["error"]["message"]),
    "anthropic": lambda body: (body["error"]["type"], body["error"]["message"]),
    "google": lambda body: (body["error"]["status"], body["error"]["message"]),
    "ollama": lambda body: ("", body["error"]),
    "cohere": lambda body: (body.get("code", ""), body["message"]),
    "unified": lambda body: (body["error"]["type"], body["error"]["message"]),
}
"""The type and the words of an error in each dialect."""
REFUSED = {
    "openai-chat": "invalid_request_error",
    "openai-responses": "invalid_request_error",
    "anthropic": "invalid_request_error",
    "google": "INVALID_ARGUMENT",
    "ollama": "",
    "cohere": "",
    "unified": "bad_request_error",
}
WHOLE: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
CHUNK: dict[str, Any] = {
    **WHOLE,
    "object": "chat.completion.chunk",
    "choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}],
}
FRAMES = b"data: " + encode(CHUNK, nulls=9) + b"\n\ndata: [DONE]\n\n"


def _raw_deflate(data: bytes) -> bytes:
    made = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return made.compress(data) + made.flush()


def _twice(data: bytes) -> bytes:
    return gzip.compress(gzip.compress(data, mtime=0), mtime=0)


UNDONE: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZip": gzip.compress,
    "deflate": zlib.compress,
    "deflate ": _raw_deflate,
    "identity": bytes,
}
"""Codings that are undone, as they are spelled, and what makes such a body."""
UNKNOWN = ("br", "zstd", "compress", "gzip, gzip", "gzip, br", "identity, gzip", "x-unheard-of")


@pytest.fixture(scope="module")
def url() -> Generator[str]:
    """A gateway with the fake model."""
    with serving() as at:
        yield at


# From a client


@pytest.mark.parametrize("coding", UNKNOWN)
@pytest.mark.parametrize("dialect", PATHS)
def test_a_coding_that_is_not_undone_is_refused_in_the_clients_dialect(url: str, dialect: str, coding: str) -> None:
    """The error names the coding and the way out, in the shape and with the type that the vendor's SDK knows."""
    if coding == "zstd" and _has_zstd():
        pytest.skip("a module for zstd is installed")
    answer = send(url, chat(_twice(encode(BODY)), f"content-encoding: {coding}", path=PATHS[dialect]))
    kind, words = TOLD[dialect](decode_any(answer.body))
    assert (answer.status, kind) == (400, REFUSED[dialect])
    assert f"content-encoding '{coding}' is not undone here; send the body as it is, or gzip" in words


@pytest.mark.parametrize("coding", UNDONE)
def test_a_coding_that_is_undone_is_undone(url: str, coding: str) -> None:
    """However it is spelled, with and without the head that zlib puts before deflate."""
    body = UNDONE[coding](encode(BODY))
    assert send(url, chat(body, f"content-encoding: {coding}")).status == 200


def _has_zstd() -> bool:
    from importlib.util import find_spec

    return any(find_spec(name.partition(".")[0]) is not None for name in ("compression.zstd", "backports.zstd"))


# From an upstream


@contextmanager
def _answering(coding: str, body: bytes, *, stream: bool) -> Generator[str]:
    """The address of a provider whose replies are that body, under that coding, whatever was offered."""
    kind = "text/event-stream" if stream else "application/json"

    def answer(request: HttpRequest) -> Line:
        offered = dict(request.headers).get("accept-encoding", "")
        assert "br" not in offered
        assert "zstd" not in offered
        return Line(pieces=(body,), headers=(("content-type", kind), ("content-encoding", coding)))

    with listening(answer) as at:
        yield provider("openai-chat", at)


def _asked(at: str, *, stream: bool, client: str = "openai-chat") -> Any:
    members: dict[str, Any] = {"model": "up/m", "stream": stream, "messages": [{"role": "user", "content": "Hi"}]}
    if client == "anthropic":
        members["max_tokens"] = 100
    return send(at, chat(members, path=PATHS[client]), timeout_s=60)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("coding", UNDONE)
def test_a_reply_in_a_coding_that_is_undone_is_read(coding: str, stream: bool) -> None:
    """Passed on and translated."""
    body = UNDONE[coding](FRAMES if stream else encode(WHOLE, nulls=9))
    with _answering(coding, body, stream=stream) as upstream, serving(providers={"up": upstream}) as at:
        for client in ("openai-chat", "anthropic"):
            answer = _asked(at, stream=stream, client=client)
            assert answer.status == 200
            assert answer.header("content-encoding") is None
            assert b"Hello" in answer.body


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "gzip, br"])
def test_a_reply_in_a_coding_that_was_not_offered_is_a_502(coding: str, stream: bool) -> None:
    """It names the coding, in the client's dialect; nothing of the bytes goes out."""
    body = _twice(FRAMES if stream else encode(WHOLE, nulls=9))
    with _answering(coding, body, stream=stream) as upstream, serving(providers={"up": upstream}) as at:
        for client in ("openai-chat", "anthropic"):
            answer = _asked(at, stream=stream, client=client)
            _, words = TOLD[client](decode_any(answer.body))
            assert answer.status == 502
            assert f"compressed its body as '{coding}'" in words


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_sec_07_a_bomb_of_an_upstream_costs_no_more_than_its_bound(coding: str, stream: bool) -> None:
    """200 MiB in 200 kB, as one answer or as one event: a 502, in a real process that does not grow by half of it."""
    text = b"data: " + b'"' + b"a" * BOMB_BYTES if stream else b'{"id":"' + b"a" * BOMB_BYTES
    bomb = UNDONE[coding](text)
    del text
    with _answering(coding, bomb, stream=stream) as upstream, served(LLM_UP=upstream) as gateway:
        assert gateway.post("/v1/chat/completions", _body(stream=False, model="fake/a"))[0] == 200
        before = gateway.resident_bytes()
        for _ in range(3):
            status, told = gateway.post("/v1/chat/completions", _body(stream=stream, model="up/m"))
            assert status == 502, told[:200]
            assert b"aaaaaaaaaa" not in told
        assert _growth(gateway, before) < BOMB_BYTES // 2


def _body(*, stream: bool, model: str) -> bytes:
    return encode({"model": model, "stream": stream, "messages": [{"role": "user", "content": "Hi"}]})


def _growth(gateway: Served, before: int) -> int:
    return gateway.resident_bytes() - before
