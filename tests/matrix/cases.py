"""What the matrix is made of: the dialects, the cases, and the files that were written by hand for each.

A dialect joins by standing in `dialects/table.py` and in `SPOKEN`, and by having its files under `given/`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from interlingua.dialects._contract import Target
from interlingua.dialects.table import DIALECTS
from interlingua.registry.endpoint import Endpoint
from interlingua.registry.resolve import Registry
from interlingua.testing.framed import stream_bytes
from interlingua.wire.http import HttpReply, HttpRequest

__all__ = [
    "CASES", "CELLS", "ERRORS", "SPOKEN", "Case", "Cell", "Spoken", "endpoint", "is_sealed_chat", "reply", "request",
    "stream", "target",
]  # fmt: skip

GIVEN = Path(__file__).parent / "given"
ENVIRONMENT = {
    **{f"{vendor}_API_KEY": "key-of-nobody" for vendor in ("OPENAI", "ANTHROPIC", "GEMINI", "OPENROUTER", "CO")},
    "AWS_REGION": "eu-north-1",
    "AWS_BEARER_TOKEN_BEDROCK": "key-of-nobody",
    "LLM_INTERLINGUA": "interlingua://key-of-nobody@gateway.example",
}


class Spoken(NamedTuple):
    """How a dialect is spoken in the matrix."""

    spec: str
    """The target as a client of ours names it; its row says how the real service differs from the pure dialect."""
    path: str
    """The path that a client of the dialect asks."""
    streamed_path: str
    """The path that it asks for a stream."""
    streaming: dict[str, Any]
    """The members with which it asks for a stream."""
    not_streaming: dict[str, Any] = {}
    """The members with which it asks for a whole answer, where streams are the default."""


GEMINI = "/v1beta/models/gemini-3-pro"
CONVERSE = "/model/us.anthropic.claude-opus-5-v1%3A0"
SPOKEN: dict[str, Spoken] = {
    "openai-chat": Spoken(
        "openai-chat/gpt-6-astra",
        "/v1/chat/completions",
        "/v1/chat/completions",
        {"stream": True, "stream_options": {"include_usage": True}},
    ),
    "openai-responses": Spoken("openai/gpt-6-astra", "/v1/responses", "/v1/responses", {"stream": True}),
    "anthropic": Spoken("anthropic/claude-opus-5", "/v1/messages", "/v1/messages", {"stream": True}),
    "google": Spoken("google/gemini-3-pro", f"{GEMINI}:generateContent", f"{GEMINI}:streamGenerateContent?alt=sse", {}),
    "ollama": Spoken("ollama/qwen3-vl", "/api/chat", "/api/chat", {"stream": True}, {"stream": False}),
    "cohere": Spoken("cohere/command-a-03-2025", "/v2/chat", "/v2/chat", {"stream": True}, {"stream": False}),
    "bedrock": Spoken(
        "bedrock/us.anthropic.claude-opus-5-v1:0", f"{CONVERSE}/converse", f"{CONVERSE}/converse-stream", {}
    ),
    "unified": Spoken("interlingua/smart", "/unified/v1/generate", "/unified/v1/generate", {"stream": True}),
}
"""Dialect -> how it is spoken."""
THINKERS = {"openai-chat": "openrouter/anthropic/claude-opus-5", "cohere": "cohere/command-a-reasoning-08-2025"}
"""The targets of the case of thinking, where the usual one has none: OpenAI keeps sealed reasoning for Responses, and
some of Cohere's models think."""


class Case(NamedTuple):
    """A case: which of the given requests is sent, and which of the given answers it gets."""

    request: str
    answer: str


CASES: dict[str, Case] = {
    "text": Case("text", "text"),
    "system": Case("system", "text"),
    "turns": Case("turns", "text"),
    "image": Case("image", "text"),
    "document": Case("document", "text"),
    "call": Case("call", "call"),
    "parallel": Case("call", "parallel"),
    "results": Case("results", "text"),
    "tool-error": Case("tool-error", "text"),
    "thinking": Case("thinking", "thinking"),
    "schema": Case("schema", "schema"),
    "refusal": Case("text", "refusal"),
    "length": Case("text", "length"),
    "usage": Case("usage", "usage"),
}
"""Case -> its request and its answer."""
ERRORS = tuple(f"error-{status}" for status in (400, 401, 404, 413, 429, 500, 503, 529))
"""Statuses that the upstream answers with."""


class Cell(NamedTuple):
    """One exchange of the matrix: a client of `source`, an upstream of `target`."""

    source: str
    target: str
    case: str

    def __str__(self) -> str:
        """The name of its test."""
        return f"{self.source}->{self.target}-{self.case}"


def endpoint(dialect: str, case: str) -> Endpoint:
    """Where a request of that case goes when it is sent in `dialect`."""
    spec = SPOKEN[dialect].spec
    (found,) = _registry().resolve(THINKERS.get(dialect, spec) if case == "thinking" else spec)
    return found


def is_sealed_chat(dialect: str, case: str) -> bool:
    """Whether the case is about sealed reasoning in Chat, which OpenAI itself has not."""
    return (dialect, case) == ("openai-chat", "thinking")


def target(dialect: str, case: str) -> Target:
    """Whom a request of that case is for when it is sent in `dialect`."""
    return endpoint(dialect, case).target


@cache
def _registry() -> Registry:
    return Registry(ENVIRONMENT)


@cache
def _text(path: str) -> str:
    return (GIVEN / path).read_text(encoding="utf-8")


def request(dialect: str, name: str, *, streamed: bool) -> HttpRequest:
    """The request of that name as a client of `dialect` sends it."""
    spoken = SPOKEN[dialect]
    path = spoken.streamed_path if streamed else spoken.path
    asking = spoken.streaming if streamed else spoken.not_streaming
    body = {**json.loads(_text(f"{dialect}/requests/{name}.json")), **asking}
    return HttpRequest(
        url=f"https://gateway.example{path}", body=json.dumps(body, ensure_ascii=False).encode(), dialect=dialect
    )


def reply(dialect: str, name: str) -> HttpReply:
    """The whole answer of that name, or the error, as a service of `dialect` gives it."""
    if name not in ERRORS:
        return HttpReply(status=200, headers=JSON, body=_text(f"{dialect}/answers/{name}.json").encode())
    given = json.loads(_text(f"{dialect}/errors.json"))[name]
    headers = (*JSON, *given["headers"].items())
    return HttpReply(status=given["status"], headers=headers, body=json.dumps(given["body"]).encode())


JSON = (("content-type", "application/json"),)


def stream(dialect: str, name: str) -> bytes | None:
    """The streamed answer of that name; None where the error comes before a stream begins."""
    path = f"{dialect}/answers/{name}.stream"
    return stream_bytes(dialect, _text(path)) if (GIVEN / path).exists() else None


def _sayable(source: str, case: str) -> bool:
    """Whether the source dialect can ask this at all; a client of Ollama or Cohere cannot show this document."""
    return case in ERRORS or (GIVEN / source / "requests" / f"{CASES[case].request}.json").exists()


NAMES = [name for name in SPOKEN if name in DIALECTS]
CELLS = [
    Cell(source, other, case)
    for source in NAMES
    for other in NAMES
    for case in (*CASES, *ERRORS)
    if _sayable(source, case)
]
"""Every cell there is."""
