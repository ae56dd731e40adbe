"""Counts of tokens: a provider's own where it speaks the client's dialect, else an estimate that says so."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.errors import APIConnectionError
from interlingua.gateway.http import GatewayReply
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode
from tests.support.gateway import gateway
from tests.unit.gateway.asking import ask, header, told

ENVIRONMENT = {"OPENAI_API_KEY": "sk", "ANTHROPIC_API_KEY": "sk-ant", "GEMINI_API_KEY": "g-key"}
MESSAGES = [{"role": "user", "content": "hello world"}]
CONTENTS = [{"role": "user", "parts": [{"text": "hello world"}]}]
JSON = (("content-type", "application/json"),)


class Counter(Script):
    """A provider that counts, refuses, or is not there."""

    def __init__(self, body: bytes, status: int = 200, *, fails: bool = False) -> None:
        super().__init__()
        self.body, self.status, self.fails = body, status, fails

    def answer(self, request: HttpRequest) -> Line:
        """The one answer."""
        self.requests.append(request)
        ending = APIConnectionError("gone") if self.fails else None
        return Line(pieces=() if self.fails else (self.body,), status=self.status, headers=JSON, ending=ending)


def _count(counter: Counter, path: str, body: Any) -> GatewayReply:
    blocking, awaited = ReplayTransport(script=counter), AsyncReplayTransport(script=counter)
    with overriding(Override(lambda _: blocking, lambda _: awaited)):
        return ask(gateway(ENVIRONMENT, {"smart": "anthropic/claude-opus-4-5"}), path, body, JSON)


@pytest.mark.parametrize(
    ("path", "body", "url", "sent", "answer"),
    [
        (
            "/v1/messages/count_tokens",
            {"model": "smart", "messages": MESSAGES},
            "https://api.anthropic.com/v1/messages/count_tokens",
            b'{"model":"claude-opus-4-5","messages":[{"role":"user","content":"hello world"}]}',
            {"input_tokens": 17},
        ),
        (
            "/v1beta/models/google/gemini-2.5-pro:countTokens",
            {"contents": CONTENTS},
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:countTokens",
            b'{"contents":[{"role":"user","parts":[{"text":"hello world"}]}]}',
            {"totalTokens": 17},
        ),
        (
            "/v1/responses/input_tokens",
            {"model": "openai/gpt-5.6", "input": "hello world"},
            "https://api.openai.com/v1/responses/input_tokens",
            b'{"model":"gpt-5.6","input":"hello world"}',
            {"object": "response.input_tokens", "input_tokens": 17},
        ),
    ],
)
def test_a_provider_of_the_dialect_counts(path: str, body: Any, url: str, sent: bytes, answer: dict[str, Any]) -> None:
    """The body goes out as it came, under the target's own name of the model."""
    counter = Counter(encode(answer))
    reply = _count(counter, path, body)
    assert told(reply) == answer
    assert (counter.requests[0].url, counter.requests[0].body) == (url, sent)
    assert header(reply, "x-interlingua-changes") is None


@pytest.mark.parametrize(
    ("path", "body", "answer", "place"),
    [
        (
            "/v1/messages/count_tokens",
            {"model": "openai/gpt-5.6", "messages": MESSAGES},
            {"input_tokens": 9},
            "input_tokens",
        ),
        ("/v1beta/models/openai/gpt-5.6:countTokens", {"contents": CONTENTS}, {"totalTokens": 9}, "totalTokens"),
        (
            "/v1beta/models/openai/gpt-5.6:countTokens",
            {"generateContentRequest": {"model": "models/x", "contents": CONTENTS}},
            {"totalTokens": 9},
            "totalTokens",
        ),
        (
            "/v1/responses/input_tokens",
            {"model": "smart", "input": "hello world"},
            {"object": "response.input_tokens", "input_tokens": 10},
            "input_tokens",
        ),
    ],
)
def test_elsewhere_the_count_is_an_estimate(path: str, body: Any, answer: dict[str, Any], place: str) -> None:
    """By the family of the target, nothing is sent, and a header says so."""
    counter = Counter(b"{}")
    reply = _count(counter, path, body)
    assert told(reply) == answer
    assert header(reply, "x-interlingua-changes") == f"approximated tokens_estimated /{place}"
    assert counter.requests == []


@pytest.mark.parametrize(
    "counter",
    [
        Counter(b"{}", 404),
        Counter(b"{}", 429),
        Counter(b"{}", 500),
        Counter(b"", fails=True),
        Counter(b"<html>Sign in</html>"),
        Counter(b'{"error":{"message":"no"}}'),
        Counter(b"[17]"),
        Counter(b"null", 400),
    ],
    ids=["no route", "no more requests", "broken", "not there", "a page", "an error as 200", "a list", "no reason"],
)
def test_who_cannot_count_is_not_waited_for(counter: Counter) -> None:
    """A count is worth no error: it is estimated."""
    reply = _count(counter, "/v1/messages/count_tokens", {"model": "smart", "messages": MESSAGES})
    assert told(reply) == {"input_tokens": 10}
    assert header(reply, "x-interlingua-changes") == "approximated tokens_estimated /input_tokens"


def test_a_body_that_the_provider_refuses_is_refused() -> None:
    """Its own words reach the client."""
    body = b'{"type":"error","error":{"type":"invalid_request_error","message":"messages: empty"}}'
    reply = _count(Counter(body, 400), "/v1/messages/count_tokens", {"model": "smart", "messages": MESSAGES})
    assert (reply.status, reply.body) == (400, body)


def test_a_count_needs_a_model_that_is_there() -> None:
    """The same checks as for the request itself."""
    counter = Counter(b"{}")
    assert _count(counter, "/v1/messages/count_tokens", {"messages": MESSAGES}).status == 400
    assert _count(counter, "/v1/messages/count_tokens", {"model": "nobody", "messages": MESSAGES}).status == 404
