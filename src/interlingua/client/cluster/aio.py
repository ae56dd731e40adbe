"""A map on a cluster, awaited: the blocking one, taken step by step in a thread."""

from __future__ import annotations

import asyncio
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
    items = mapped_on_ray(work, face, inputs, terms, cluster)
    try:
        while (item := await asyncio.to_thread(next, items, None)) is not None:
            yield item
    finally:
        await asyncio.to_thread(items.close)
