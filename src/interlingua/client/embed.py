"""Vectors of texts and an order of documents, blocking: `il.embed` and `il.rerank`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from interlingua.client.face import Face, registry_of
from interlingua.client.vectors import (
    CONCURRENCY,
    as_texts,
    batches_of,
    combined,
    embed_call,
    embedded,
    output_of,
    placed,
    ranked,
    ranking_of,
    rerank_call,
    with_inputs,
)
from interlingua.errors import Error, UsageError
from interlingua.types.vectors import Embeddings, EmbedRequest, Ranking, RerankRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.client.keywords import CallOptions
    from interlingua.client.vectors import Batch
    from interlingua.registry.resolve import Registry
    from interlingua.registry.secret import Key
    from interlingua.types.response import Response
    from interlingua.types.vectors import EmbedInput, InputType

__all__ = ["check_embed", "check_rerank", "embed", "face_of", "gathered", "rerank"]

MAX_CONCURRENCY = 100
"""How many requests of one call may be under way at once."""


def embed(
    texts: str | Iterable[str],
    *,
    model: str | Face | None = None,
    dimensions: int | None = None,
    input_type: InputType | None = None,
    concurrency: int = CONCURRENCY,
    api_key: Key | None = None,
    base_url: str | None = None,
    registry: Registry | None = None,
    **options: Unpack[CallOptions],
) -> Embeddings:
    """The vectors of one text or of many, in their order.

    `model` is a spec as of `il.model`, or a model; a chain names one model under several providers. `dimensions` asks
    for so many numbers, and `input_type` says what the texts are for, where a model makes a difference. More texts than
    a provider takes at once go out in several requests, `concurrency` of them in threads that end with the call.

    Raises: UsageError and its kinds, ConfigError for a chain of several models, TransportError, UpstreamError and their
    kinds, DecodeError, ChainExhaustedError; of several requests with the numbers of the texts.
    """
    ask = check_embed(texts, dimensions, input_type, concurrency)
    if not ask.inputs:
        return Embeddings()
    call = embed_call(face_of(model, api_key, base_url, registry), ask, options)
    return combined(gathered(call, ask.inputs, embedded(ask), concurrency))


def gathered(
    call: Call,
    inputs: tuple[EmbedInput, ...],
    attempt: Callable[[Call, CallTarget], Steps[Response[Any]]],
    concurrency: int = CONCURRENCY,
) -> list[Response[Embeddings]]:
    """The answers of all requests that the inputs take, in their order; the first failure ends the others.

    A deadline of the whole is that of all requests together.

    Raises: the error of a request, with the numbers of its texts.
    """
    from interlingua.client.call.core import call_steps
    from interlingua.client.call.pump import carried_out
    from interlingua.client.call.values import later

    began = call.clock()

    def carry_out(batch: Batch) -> Response[Any]:
        try:
            return output_of(
                carried_out(call_steps(with_inputs(later(call, call.clock() - began), batch.inputs), attempt)),
                Embeddings,
            )
        except Error as error:
            raise placed(error, batch, len(inputs))  # noqa: B904 - the same error, with its place

    batches = batches_of(call, inputs)
    if len(batches) == 1:
        return [carry_out(batches[0])]
    from concurrent.futures import ThreadPoolExecutor  # only many texts need threads
    from contextvars import copy_context

    with ThreadPoolExecutor(min(concurrency, len(batches)), thread_name_prefix="interlingua-embed") as pool:
        waiting = [pool.submit(copy_context().run, carry_out, batch) for batch in batches]
        try:
            return [each.result() for each in waiting]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def rerank(
    query: str,
    documents: Iterable[str],
    *,
    model: str | Face | None = None,
    top_n: int | None = None,
    api_key: Key | None = None,
    base_url: str | None = None,
    registry: Registry | None = None,
    **options: Unpack[CallOptions],
) -> Ranking:
    """The documents by their relevance to `query`, the best first, at most `top_n` of them.

    Raises: as `embed`; a chain may name several models.
    """
    from interlingua.client.call.core import call_steps
    from interlingua.client.call.pump import carried_out

    ask = check_rerank(query, documents, top_n)
    if not ask.documents:
        return Ranking()
    call: Call = rerank_call(face_of(model, api_key, base_url, registry), ask, options)
    return ranking_of(output_of(carried_out(call_steps(call, ranked(ask))), Ranking))


def face_of(model: str | Face | None, api_key: Key | None, base_url: str | None, registry: Registry | None) -> Face:
    """The model that is asked: one that is there already, or that of a spec.

    Raises: UsageError for what is no spec, no key and no address.
    """
    if isinstance(model, Face):
        return model
    return Face(model, registry=registry_of(api_key, base_url, registry))


def check_embed(texts: object, dimensions: object, input_type: InputType | None, concurrency: object) -> EmbedRequest:
    """The request for vectors of these texts.

    Raises: UsageError for what cannot be asked.
    """
    if dimensions is not None and (type(dimensions) is not int or dimensions < 1):
        raise UsageError(f"dimensions takes a whole number from 1 on, not {dimensions!r:.60}")
    if type(concurrency) is not int or not 1 <= concurrency <= MAX_CONCURRENCY:
        raise UsageError(f"concurrency takes 1 to {MAX_CONCURRENCY} requests at once, not {concurrency!r:.60}")
    if input_type is not None and input_type not in INPUT_TYPES:
        raise UsageError(f"input_type takes {', '.join(INPUT_TYPES)}, not {input_type!r:.60}")
    return EmbedRequest(inputs=as_texts(texts, "embed", "text"), dimensions=dimensions, input_type=input_type)


INPUT_TYPES = ("query", "document", "similarity", "classification", "clustering")
"""The purposes of texts that are embedded."""


def check_rerank(query: object, documents: object, top_n: object) -> RerankRequest:
    """The request for an order of these documents.

    Raises: UsageError for what cannot be asked.
    """
    if not isinstance(query, str) or not query:
        raise UsageError(f"rerank looks for a text, not for {query!r:.60}")
    if isinstance(documents, str):
        raise UsageError("rerank takes several documents; one alone is [document]")
    if top_n is not None and (type(top_n) is not int or top_n < 1):
        raise UsageError(f"top_n takes a whole number from 1 on, not {top_n!r:.60}")
    return RerankRequest(query=query, documents=as_texts(documents, "rerank", "document"), top_n=top_n)
