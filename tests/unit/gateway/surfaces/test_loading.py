"""What clients of Ollama ask first: that a model be loaded, or let go."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.testing.upstream import Upstream
from tests.support.gateway import gateway
from tests.unit.gateway.asking import ask, header, told

JSON = (("content-type", "application/json"),)
CLAUDE = "anthropic/claude-opus-5"


def _made(**settings: Any) -> Gateway:
    made = gateway({"ANTHROPIC_API_KEY": "sk-ant"}, {"smart": CLAUDE, "own": "ollama/qwen3"}, **settings)
    made.now = lambda: 0.0
    made.compose()
    return made


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "load"),
        ({"prompt": ""}, "load"),
        ({"prompt": "", "keep_alive": "5m", "stream": True}, "load"),
        ({"keep_alive": 0}, "unload"),
        ({"prompt": None, "keep_alive": "0s"}, "unload"),
    ],
)
def test_a_model_elsewhere_is_there_already(body: dict[str, Any], reason: str) -> None:
    """`ollama run` begins with it; nothing is sent, and the answer is one object, asked for as a stream or not."""
    with Upstream("anthropic").standing() as upstream:
        reply = ask(_made(), "/api/generate", {"model": "smart", **body}, JSON)
    assert told(reply) == {
        "model": "smart",
        "created_at": "1970-01-01T00:00:00Z",
        "response": "",
        "done": True,
        "done_reason": reason,
    }
    assert header(reply, "content-type") == "application/json; charset=utf-8"
    assert upstream.requests == []


def test_a_chat_without_messages_is_the_same() -> None:
    """With an empty message in the place of the text."""
    reply = ask(_made(), "/api/chat", {"model": "smart", "messages": []}, JSON)
    assert told(reply) == {
        "model": "smart",
        "created_at": "1970-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "load",
    }


def test_an_ollama_is_asked_itself() -> None:
    """It has something to load; the body is its own but for the name."""
    with Upstream("ollama").standing() as upstream:
        ask(_made(), "/api/generate", b'{"model": "own", "keep_alive": -1}', JSON)
    assert [request.body for request in upstream.requests] == [b'{"model": "qwen3", "keep_alive": -1}']
    assert upstream.requests[0].url.endswith("/api/generate")


def test_what_says_something_is_a_request() -> None:
    """A prompt reaches the model; of a picture alone its reader says what is wrong."""
    with Upstream("anthropic").standing() as upstream:
        ask(_made(), "/api/generate", b'{"model":"smart","prompt":"x"}', JSON)
        reply = ask(_made(), "/api/generate", b'{"model":"smart","prompt":"","images":["aGk="]}', JSON)
    assert len(upstream.requests) == 1
    assert reply.status == 400


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"prompt":""}', b'{"model":5}'])
def test_what_is_no_request_is_refused_as_ever(body: bytes) -> None:
    """Nothing is loaded without a name."""
    assert ask(_made(), "/api/generate", body, JSON).status == 400


def test_nothing_is_loaded_that_is_not_there_or_not_for_the_key() -> None:
    """The words are the same, so that nobody learns which names exist."""
    assert ask(_made(), "/api/chat", {"model": "nothing"}, JSON).status == 404
    made = _made(keys=(GatewayKey(name="a", hash=hash_key("key-of-a"), models=("own",)),))
    reply = ask(made, "/api/chat", {"model": "smart"}, (*JSON, ("x-api-key", "key-of-a")))
    assert told(reply, 404) == {
        "error": "model not found: there is no model 'smart'; GET /v1/models lists those there are"
    }
