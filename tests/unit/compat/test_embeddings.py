"""Embeddings in the shapes of the OpenAI SDK and LiteLLM, made by any model, in as many requests as it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import interlingua as il
from interlingua.compat import AsyncOpenAI, CreateEmbeddingResponse, OpenAI, aembedding, embedding
from interlingua.testing.upstream.vectors import VectorUpstream

TEXTS = ["Oslo", "Bergen is rainy"]
VECTORS = [[4.0, 79.0, 79.0], [15.0, 66.0, 66.0]]
Call = Callable[..., CreateEmbeddingResponse]


def _by_async_openai(**body: Any) -> CreateEmbeddingResponse:
    return asyncio.run(AsyncOpenAI().embeddings.create(**body))


def _by_aembedding(**body: Any) -> CreateEmbeddingResponse:
    return asyncio.run(aembedding(**body))


def _by_openai(**body: Any) -> CreateEmbeddingResponse:
    return OpenAI().embeddings.create(**body)


CALLS: dict[str, Call] = {
    "OpenAI": _by_openai, "AsyncOpenAI": _by_async_openai, "embedding": embedding, "aembedding": _by_aembedding,
}  # fmt: skip


@pytest.fixture(params=list(CALLS))
def create(request: pytest.FixtureRequest) -> Call:
    """Each of the four ways."""
    return CALLS[request.param]


@pytest.mark.parametrize(
    ("name", "dsn"),
    [
        ("openai", "openai-compatible://token@{host}/v1?tls=0&embed_inputs=1&price_in=10&price_out=0"),
        ("cohere", "cohere://token@{host}/v2?tls=0&embed_inputs=1&price_in=10&price_out=0"),
    ],
)
def test_any_model_makes_vectors(create: Call, name: str, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As attributes and as items, in the order of the texts, with the provider's name of the model, price and tries."""
    service = VectorUpstream(name)
    with service.serving() as base:
        monkeypatch.setenv("LLM_WORK", dsn.format(host=base.partition("://")[2]))
        made = create(model="work/m", input=TEXTS, dimensions=3)
    assert [each.embedding for each in made.data] == VECTORS
    assert [each["index"] for each in made["data"]] == [0, 1]
    assert (made.object, made.data[0].object) == ("list", "embedding")
    assert made.usage.prompt_tokens == made.usage.total_tokens > 0
    answer = made.interlingua
    assert answer is not None
    assert isinstance(answer.output, il.Embeddings)
    assert answer.output.vectors == VECTORS
    assert (len(answer.attempts), answer.model) == (2, "work/m")
    assert answer.cost_usd == pytest.approx(made.usage.prompt_tokens / 100_000)


def test_base64_where_it_is_asked_for(create: Call) -> None:
    """The packed numbers as a text; a fake has as many as are wanted."""
    made = create(model="fake/any", input="Oslo", encoding_format="base64", dimensions=3)
    assert made.data[0].to_dict() == {"object": "embedding", "index": 0, "embedding": "AACAvwAAAAAAAAAA"}


def test_what_is_asked_wrongly_is_told_with_its_place(create: Call) -> None:
    """No text, a chain of two models, and an argument that is not taken here."""
    with pytest.raises(il.DecodeError, match=r"/input: a text or a list of texts is missing"):
        create(model="fake/any", input=[])
    with pytest.raises(il.ConfigError, match="do not compare"):
        create(model="fake/any,fake/other", input="Oslo")
    with pytest.raises(il.UsageError, match="extra_query is not taken here"):
        create(model="fake/any", input="Oslo", extra_query={"a": 1})


def test_fallbacks_of_one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteLLM's fallbacks make a chain: the same model under another provider serves."""
    service = VectorUpstream("openai")
    with service.serving() as base:
        monkeypatch.setenv("LLM_GONE", "openai-compatible://token@127.0.0.1:1/v1?tls=0")
        monkeypatch.setenv("LLM_WORK", f"openai-compatible://token@{base.partition('://')[2]}/v1?tls=0")
        made = embedding("gone/m", input=TEXTS, dimensions=3, fallbacks=["work/m"], num_retries=0)
    assert made.interlingua is not None
    assert [attempt.outcome for attempt in made.interlingua.attempts] == ["failed", "served"]
    assert made.interlingua.model == "work/m"
