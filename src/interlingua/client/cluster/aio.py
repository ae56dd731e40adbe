"""A map on a cluster, awaited: the blocking one, taken step by step in a thread."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from interlingua.client.cluster.engine import mapped_on_ray

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from interlingua.client.cluster.cluster import Cluster
    from interlingua.client.face import Face
    from interlingua.client.item import Input, Item
    from interlingua.client.map import Terms, Work

__all__ = ["mapped_async"]

T = TypeVar("T")


async def mapped_async(
    work: Work[T], face: Face, inputs: Iterable[Input], terms: Terms, cluster: Cluster
) -> AsyncGenerator[Item[T]]:
    """The items of `inputs`; leaving early waits for the calls under way.

    Raises: as `mapped_on_ray`.
    """
    is_stopping = Event()
    items = mapped_on_ray(work, face, inputs, terms, cluster, is_stopping=is_stopping.is_set)
    step: asyncio.Future[Item[T] | None] | None = None
    try:
        while True:
            step = asyncio.ensure_future(asyncio.to_thread(next, items, None))
            item = await asyncio.shield(step)
            if item is None:
                return
            yield item
    finally:
        is_stopping.set()
        if step is not None and not step.done():  # the thread of a step that nobody waits for any more
            await asyncio.wait([step])
            step.exception()
        await asyncio.to_thread(items.close)
