"""Embeddings and rerank of every dialect against any JSON: only our errors, and a round trip of what is understood."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeContext, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import DIALECTS, get_embedding, get_reranking
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.types.vectors import Embeddings, EmbedRequest, Ranked, Ranking, RerankRequest
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import encode

EMBEDDING = [name for name in DIALECTS if get_embedding(name) is not None]
RERANKING = [name for name in DIALECTS if get_reranking(name) is not None]
OPTIONS = EncodeOptions(target=Target(model="cohere.m"))  # which takes several texts at Bedrock, too
CONTEXT = DecodeContext(target=Target(model="m"))

_names = st.sampled_from([
    "model", "input", "inputs", "texts", "prompt", "requests", "content", "parts", "text", "dimensions", "taskType",
    "outputDimensionality", "output_dimension", "embedding_types", "encoding_format", "input_type", "task", "images",
    "query", "documents", "top_n", "top_k", "data", "embedding", "embeddings", "index", "values", "predictions",
    "statistics", "usage", "usageMetadata", "meta", "billed_units", "float", "base64", "results", "relevance_score",
    "embedContentConfig", "type",
])  # fmt: skip
_leaves = st.none() | st.booleans() | st.integers(-5, 2**40) | st.floats(-10, 10) | st.text(max_size=5)
_json = st.recursive(_leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=4))
_bodies = st.dictionaries(_names, _json, max_size=6)


@pytest.mark.parametrize("name", EMBEDDING)
@given(body=_bodies, end=st.integers(0, 3))
def test_any_body_raises_only_our_errors(name: str, body: dict[str, Any], end: int) -> None:
    """As a request of a client, and as an answer of a service."""
    form = get_embedding(name)
    assert form is not None
    url = f"/v1beta/models/m{form.ends[end % len(form.ends)]}"
    for read in (
        lambda: form.decode_request(HttpRequest(url=url, body=encode(body, nulls=1_000))),
        lambda: form.decode_response(HttpReply(status=200, body=encode(body, nulls=1_000)), CONTEXT).vectors,
    ):
        with suppress(DecodeError, LimitExceededError):
            read()


@pytest.mark.parametrize("name", RERANKING)
@given(body=_bodies)
def test_any_body_of_a_rerank_raises_only_our_errors(name: str, body: dict[str, Any]) -> None:
    """As a request of a client, and as an answer of a service."""
    form = get_reranking(name)
    assert form is not None
    text = encode(body, nulls=1_000)
    for read in (
        lambda: form.decode_request(HttpRequest(url="/v1/rerank", body=text)),
        lambda: form.decode_response(HttpReply(status=200, body=text), CONTEXT),
    ):
        with suppress(DecodeError, LimitExceededError):
            read()


_vectors = st.lists(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=2), min_size=1, max_size=4)


@pytest.mark.parametrize("name", EMBEDDING)
@given(vectors=_vectors, texts=st.lists(st.text(min_size=1, max_size=9), min_size=4, max_size=4))
def test_what_a_dialect_writes_it_reads(name: str, vectors: list[list[float]], texts: list[str]) -> None:
    """A request as a client's, an answer as a service's; texts and vectors in their order."""
    form = get_embedding(name)
    assert form is not None
    ask = EmbedRequest(inputs=tuple(texts[: len(vectors)]), dimensions=2)
    encoded = form.encode_request(ask, OPTIONS)
    asked = form.decode_request(HttpRequest(url=f"/v1beta{encoded.path}", body=encoded.body))
    assert (asked.request.inputs, asked.request.dimensions) == (ask.inputs, 2)
    reply = form.encode_response(Embeddings(packed=tuple(vectors)), asked, ServerContext(model="m"))
    assert form.decode_response(reply, CONTEXT).vectors == vectors


@pytest.mark.parametrize("name", RERANKING)
@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=5, unique=True))
def test_what_a_rerank_writes_it_reads(name: str, scores: list[float]) -> None:
    """The documents, and their order."""
    form = get_reranking(name)
    assert form is not None
    ask = RerankRequest(query="q", documents=tuple([f"d{place}" for place in range(len(scores))]))
    encoded = form.encode_request(ask, OPTIONS)
    asked = form.decode_request(HttpRequest(url="/v1/rerank", body=encoded.body))
    assert asked.request == ask
    ranked = tuple(sorted([Ranked(place, score) for place, score in enumerate(scores)], key=lambda each: -each.score))
    reply = form.encode_response(Ranking(results=ranked), asked, ServerContext(model="m"))
    assert form.decode_response(reply, CONTEXT).results == ranked
