"""A map by batches, awaited: hands over, waits, and finishes the outcomes of each batch in tasks."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeVar

from interlingua.client.aio.map import Queue, each
from interlingua.client.aio.pump import carried_out
from interlingua.client.batch.run import BatchRun, Order
from interlingua.client.map import window_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Iterable

    from interlingua.client.batch.run import Outcome
    from interlingua.client.item import Input, Item
    from interlingua.client.map import Terms, Work

__all__ = ["mapped_in_batches"]

T = TypeVar("T")


async def mapped_in_batches(
    work: Work[T], inputs: Iterable[Input] | AsyncIterable[Input], terms: Terms
) -> AsyncGenerator[Item[T]]:
    """The items of `inputs`, by batches of the provider's; leaving it early leaves them running, for a rerun to find.

    Raises: what the inputs raise; what handing a batch over, and waiting for it, comes to.
    """
    with work.opened():
        run, order = BatchRun(work, terms), Order[T](ordered=terms.ordered)
        await carried_out(run.recover())
        position = 0
        async for source in each(inputs):
            item = await carried_out(run.add(source, position))
            if item is not None:
                for ready in order.put(position, item):
                    yield ready
            position += 1
        await carried_out(run.submit())
        while (outcomes := await carried_out(run.next())) is not None:
            async with aclosing(_finished(run, work, outcomes, terms)) as finished:
                async for place, item in finished:
                    for ready in order.put(place, item):
                        yield ready


async def _finished(
    run: BatchRun[T], work: Work[T], outcomes: list[Outcome], terms: Terms
) -> AsyncGenerator[tuple[int, Item[T]]]:
    """The items of outcomes, as they are finished."""
    room = asyncio.Semaphore(terms.concurrency)

    async def finish(outcome: Outcome) -> tuple[int, Item[T]]:
        async with room:
            try:
                response = await carried_out(run.finish(outcome))
            except Exception as error:  # noqa: BLE001 - whatever it is, the other inputs are not to suffer
                return outcome.position, work.fail(outcome.task, error)
            return outcome.position, work.end(outcome.task, response)

    queue = Queue[tuple[int, "Item[T]"]](ordered=False)
    try:
        for outcome in outcomes:
            queue.add(asyncio.create_task(finish(outcome)))
            while queue.length >= window_of(terms.concurrency) or queue.ready:
                yield await queue.take()
        while queue.length:
            yield await queue.take()
    finally:
        await queue.close()
