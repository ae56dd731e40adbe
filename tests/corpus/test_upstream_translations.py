"""Every recorded request, told in every other dialect for a current model, is what that provider takes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from interlingua.dialects._contract import DecodedRequest, DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import Error
from interlingua.providers.limits import facts_for
from interlingua.providers.rows import ROWS
from interlingua.testing.corpus import read_exchanges
from interlingua.testing.exchange import APIS
from interlingua.testing.upstream import Problem, judge_body
from interlingua.types.capability import Capability
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode

RECORDINGS = Path(os.environ.get("INTERLINGUA_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
"""Where the recordings are; they are too large to be kept here."""
FILES = (
    *("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "bedrock"),
    *("groq", "mistral", "deepseek", "openrouter", "other"),
)
MODELS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-6-astra",
    "anthropic": "claude-opus-5",
    "google": "gemini-3-pro",
    "ollama": "qwen3",
    "cohere": "command-a-03-2025",
    "bedrock": "us.anthropic.claude-opus-5",
}
BASES = {
    "openai-chat": "/v1",
    "openai-responses": "/v1",
    "anthropic": "/v1",
    "google": "/v1beta",
    "ollama": "",
    "cohere": "/v2",
    "bedrock": "",
}
ALLOW = frozenset(get_args(Capability))

EMPTY = "a request with system text alone, or with an empty text, has nothing that this service takes"
KNOWN: dict[tuple[str, str, str], str] = {
    ("anthropic", "missing_member", "messages"): EMPTY,
    ("openai-responses", "nothing_asked", "input"): EMPTY,
    ("bedrock", "empty_message", "messages"): EMPTY,
    ("bedrock", "unsupported_by_model", "video"): "Claude takes no films, and no fact of a family says so yet",
}
"""Target, rule and last member of what is refused all the same, and why."""


def _decoded(name: str) -> Iterator[tuple[str, str, DecodedRequest]]:
    """Id, dialect and canonical form of every request that was not refused when it was recorded."""
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    for exchange in read_exchanges(path):
        dialect = APIS.get(exchange.api)
        request: object = exchange.request
        if dialect is None or not isinstance(request, dict) or (exchange.status or 200) >= 400:
            continue
        asked = HttpRequest(url=f"http://{exchange.url or 'x'}", body=encode(exchange.request))
        try:
            yield exchange.id, dialect, get_dialect(dialect).decode_request(asked, DecodeOptions(history="mend"))
        except Error:
            continue


def _problems(decoded: DecodedRequest, dialect: str) -> tuple[Problem, ...]:
    """Why the provider of `dialect` would refuse what we send it; nothing when we refuse to send it."""
    model = MODELS[dialect]
    facts = facts_for(dialect, dialect, model)
    target = Target(model=model, provider=dialect, quirks=ROWS[dialect].quirks, facts=facts)
    options = EncodeOptions(target=target, stream=decoded.stream, allow=ALLOW, history="mend")
    try:
        encoded = get_dialect(dialect).encode_request(decoded.request, options)
    except Error:
        return ()
    headers = (("anthropic-version", "2023-06-01"), *encoded.headers)
    return judge_body(dialect, encoded.body, model=model, path=BASES[dialect] + encoded.path, headers=headers).problems


@pytest.mark.parametrize("name", FILES)
def test_every_translation_is_taken(name: str) -> None:
    """No body that we make of a recorded request breaks a rule of its target, but for the known."""
    found = [
        f"{identity} {source} -> {target}: {problem}"
        for identity, source, decoded in _decoded(name)
        for target in MODELS
        if target != source
        for problem in _problems(decoded, target)
        if (target, problem.rule, str(problem.steps[-1:][0] if problem.steps else "")) not in KNOWN
    ]
    assert found == []
