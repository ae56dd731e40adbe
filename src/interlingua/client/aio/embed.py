"""Vectors of texts and an order of documents, awaited: `interlingua.aio.embed` and `rerank`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Unpack

from interlingua.client.aio.pump import carried_out
from interlingua.client.call.core import call_steps
from interlingua.client.call.values import later
from interlingua.client.embed import check_embed, check_rerank, face_of
from interlingua.client.vectors import (
    CONCURRENCY,
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
from interlingua.errors import Error
from interlingua.types.vectors import Embeddings, Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.client.face import Face
    from interlingua.client.keywords import CallOptions
    from interlingua.client.vectors import Batch
    from interlingua.registry.resolve import Registry
    from interlingua.registry.secret import Key
    from interlingua.types.response import Response
    from interlingua.types.vectors import EmbedInput, InputType

__all__ = ["embed", "gathered", "rerank"]


async def embed(
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
    a provider takes at once go out in several requests, `concurrency` of them at once.

    Raises: UsageError and its kinds, ConfigError for a chain of several models, TransportError, UpstreamError and their
    kinds, DecodeError, ChainExhaustedError; of several requests with the numbers of the texts.
    """
    ask = check_embed(texts, dimensions, input_type, concurrency)
    if not ask.inputs:
        return Embeddings()
    call = embed_call(face_of(model, api_key, base_url, registry), ask, options)
    return combined(await gathered(call, ask.inputs, embedded(ask), concurrency))


async def gathered(
    call: Call,
    inputs: tuple[EmbedInput, ...],
    attempt: Callable[[Call, CallTarget], Steps[Response[Any]]],
    concurrency: int = CONCURRENCY,
) -> list[Response[Embeddings]]:
    """The answers of all requests that the inputs take, in their order; the first failure ends the others.

    A deadline of the whole is that of all requests together.

    Raises: the error of a request, with the numbers of its texts.
    """
    room, began = asyncio.Semaphore(concurrency), call.clock()

    async def carry_out(batch: Batch) -> Response[Embeddings]:
        async with room:
            try:
                return output_of(
                    await carried_out(
                        call_steps(with_inputs(later(call, call.clock() - began), batch.inputs), attempt)
                    ),
                    Embeddings,
                )
            except Error as error:
                raise placed(error, batch, len(inputs))  # noqa: B904 - the same error, with its place

    batches = batches_of(call, inputs)
    if len(batches) == 1:
        return [await carry_out(batches[0])]
    tasks = [asyncio.create_task(carry_out(batch)) for batch in batches]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def rerank(
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
    ask = check_rerank(query, documents, top_n)
    if not ask.documents:
        return Ranking()
    call = rerank_call(face_of(model, api_key, base_url, registry), ask, options)
    return ranking_of(output_of(await carried_out(call_steps(call, ranked(ask))), Ranking))
