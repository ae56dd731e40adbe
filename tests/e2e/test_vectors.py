"""Embeddings and rerank over real sockets: official SDKs through the gateway, and our client, at strict services."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

import pytest

pytest.importorskip("cohere", reason="the SDK is not installed")
pytest.importorskip("google.genai", reason="the SDK is not installed")
pytest.importorskip("ollama", reason="the SDK is not installed")
pytest.importorskip("openai", reason="the SDK is not installed")

import cohere
import httpx
import ollama
import openai
from google import genai

import interlingua as il
from interlingua.testing.upstream.vectors import VectorUpstream
from interlingua.wire.json import decode_any
from tests.support.gateway import serving

TEXTS = ["Oslo", "Bergen is rainy"]
VECTORS = [[4.0, 79.0, 79.0], [15.0, 66.0, 66.0]]
DSNS = {
    "openai": "openai-compatible://token@{host}/v1?tls=0&embed_base64=1",
    "voyage": "voyage://token@{host}/v1?tls=0",
    "jina": "jina://token@{host}/v1?tls=0",
    "google": "google://token@{host}/v1beta?tls=0",
    "vertex": "google://token@{host}/v1/projects/p/locations/l/publishers/google?tls=0&embed_form=predict",
    "ollama": "ollama://{host}",
    "cohere": "cohere://token@{host}/v2?tls=0",
}
"""How each service is reached."""
JINA = {
    "query": "retrieval.query", "document": "retrieval.passage", "similarity": "text-matching",
    "classification": "classification", "clustering": "separation",
}  # fmt: skip
"""Jina's words for what texts are for."""


@pytest.fixture(scope="module")
def services() -> Iterator[dict[str, tuple[VectorUpstream, str]]]:
    """Every service, with the DSN that leads to it."""
    with ExitStack() as stack:
        made: dict[str, tuple[VectorUpstream, str]] = {}
        for name, dsn in DSNS.items():
            service = VectorUpstream(name)
            base = stack.enter_context(service.serving())
            made[name] = service, dsn.format(host=base.partition("://")[2])
        yield made


@pytest.fixture(scope="module")
def url(services: dict[str, tuple[VectorUpstream, str]]) -> Iterator[str]:
    """A gateway in front of all of them."""
    with serving(providers={f"{name}x": dsn for name, (_, dsn) in services.items()}) as address:
        yield address


@contextmanager
def _openai_at(url: str) -> Generator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        yield client


@contextmanager
def _ollama_at(url: str) -> Generator[ollama.Client]:
    client = ollama.Client(host=url)
    try:
        yield client
    finally:
        cast("Any", client)._client.close()


def _by_openai(url: str, model: str) -> list[list[float]]:
    with _openai_at(url) as client:
        made = client.embeddings.create(model=model, input=TEXTS, dimensions=3)  # asks for base64 by itself
    assert made.model == model
    return [each.embedding for each in made.data]


def _by_openai_floats(url: str, model: str) -> list[list[float]]:
    with _openai_at(url) as client:
        made = client.embeddings.create(model=model, input=TEXTS, dimensions=3, encoding_format="float")
    return [each.embedding for each in made.data]


def _by_google(url: str, model: str) -> list[list[float]]:
    client = genai.Client(api_key="k", http_options=genai.types.HttpOptions(base_url=url))
    config = genai.types.EmbedContentConfig(output_dimensionality=3)
    try:
        made = client.models.embed_content(model=model, contents=list[Any](TEXTS), config=config)
    finally:
        client.close()
    return [each.values or [] for each in made.embeddings or []]


def _by_ollama(url: str, model: str) -> list[list[float]]:
    with _ollama_at(url) as client:
        made = client.embed(model=model, input=TEXTS, dimensions=3)
    return [list(each) for each in made.embeddings]


@contextmanager
def _cohere_at(url: str) -> Generator[cohere.ClientV2]:
    with httpx.Client() as carrier:
        yield cohere.ClientV2(api_key="k", base_url=url, httpx_client=carrier)


def _by_cohere(url: str, model: str) -> list[list[float]]:
    with _cohere_at(url) as client:
        made = client.embed(
            model=model, texts=TEXTS, input_type="search_query", output_dimension=3, embedding_types=["float"]
        )
    return made.embeddings.float_ or []


CLIENTS = {
    "cohere": _by_cohere,
    "openai": _by_openai,
    "openai-floats": _by_openai_floats,
    "google": _by_google,
    "ollama": _by_ollama,
}


@pytest.mark.parametrize("name", DSNS)
@pytest.mark.parametrize("client", CLIENTS)
def test_r67_official_clients_reach_every_service(client: str, name: str, url: str) -> None:
    """Two texts, three dimensions, whatever speaks on either side."""
    assert CLIENTS[client](url, f"{name}x/some-model") == VECTORS


@pytest.mark.parametrize("name", DSNS)
async def test_r67_our_client_reaches_every_service(name: str, services: dict[str, tuple[VectorUpstream, str]]) -> None:
    """By both faces, with nothing that a strict service refuses."""
    service, dsn = services[name]
    registry = il.Registry({"LLM_UP": dsn})
    input_type: Any = None if name in ("openai", "ollama") else "query"
    made = il.embed(TEXTS, model="up/some-model", dimensions=3, input_type=input_type, registry=registry)
    again = await il.aio.embed(TEXTS, model="up/some-model", dimensions=3, input_type=input_type, registry=registry)
    assert made.vectors == again.vectors == VECTORS
    assert (made.changes, service.problems) == ((), [])


@pytest.mark.parametrize("name", ["voyage", "jina", "cohere"])
def test_r67_a_rerank_reaches_its_services(name: str, services: dict[str, tuple[VectorUpstream, str]]) -> None:
    """The best first; of two the better one."""
    registry = il.Registry({"LLM_UP": services[name][1]})
    best = il.rerank("rain", TEXTS, model="up/some-model", top_n=1, registry=registry)
    assert list(best) == [il.Ranked(1, 0.15, "Bergen is rainy")]


@pytest.mark.parametrize("name", ["voyage", "jina", "cohere"])
def test_r67_coheres_client_ranks_at_every_service(name: str, url: str) -> None:
    """Through the gateway."""
    with _cohere_at(url) as client:
        made = client.rerank(model=f"{name}x/m", query="rain", documents=TEXTS, top_n=1)
    assert [(each.index, each.relevance_score) for each in made.results] == [(1, 0.15)]


def test_r67_a_million_inputs_in_small_go_out_in_batches(services: dict[str, tuple[VectorUpstream, str]]) -> None:
    """Google takes 100 at once: 250 texts are three requests, in order."""
    service, dsn = services["google"]
    before = len(service.requests)
    made = il.embed([f"text {number}" for number in range(250)], model="up/m", registry=il.Registry({"LLM_UP": dsn}))
    assert [vector[0] for vector in made] == [float(len(f"text {number}")) for number in range(250)]
    assert len(service.requests) - before == 3


def test_r67_a_service_that_is_down_is_asked_again() -> None:
    """A failure that may pass is tried once more, by the one road of all calls."""
    service = VectorUpstream("openai", failures=1)
    with service.serving() as base:
        registry = il.Registry({"LLM_UP": DSNS["openai"].format(host=base.partition("://")[2])})
        made = il.embed("Oslo", model="up/m", registry=registry)
    assert [attempt.outcome for attempt in made.attempts] == ["failed", "served"]
    assert made.usage == il.Usage(input_tokens=1, output_tokens=0)


def test_an_sdk_is_told_its_errors(url: str) -> None:
    """An image where text belongs, a name that nobody knows, and a model without embeddings."""
    with _openai_at(url) as client:
        with pytest.raises(openai.BadRequestError, match="/input"):
            client.embeddings.create(model="openaix/m", input=[])
        with pytest.raises(openai.NotFoundError):
            client.embeddings.create(model="nobody/m", input="Hi")
        with pytest.raises(openai.BadRequestError, match="cannot take /inputs/0"):
            client.embeddings.create(model="googlex/m", input=[1, 2, 3])
    with _ollama_at(url) as other, pytest.raises(ollama.ResponseError, match="do not compare"):
        other.embed(model="openaix/a,googlex/b", input="Hi")


@pytest.mark.parametrize("kind", ["query", "document", "similarity", "classification", "clustering"])
def test_another_gateway_of_ours_makes_vectors(
    kind: Any, url: str, services: dict[str, tuple[VectorUpstream, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its embeddings and its rerank, with every word for what texts are for; its errors keep their class."""
    monkeypatch.setenv("LLM_HUB", f"interlingua://{url.partition('://')[2]}?tls=0")
    made = il.embed(TEXTS, model="hub/jinax/m", input_type=kind, dimensions=3)
    assert (made.vectors, made.model, made.changes) == (VECTORS, "hub/jinax/m", ())
    assert decode_any(services["jina"][0].requests[-1].body)["task"] == JINA[kind]
    best = il.rerank("rain", TEXTS, model="hub/coherex/m", top_n=1)
    assert [each.document for each in best] == ["Bergen is rainy"]
    with pytest.raises(il.NotFoundError, match="no provider 'none'"):
        il.embed(TEXTS, model="hub/none/m")
