"""Operations of calls that wait at the same time are written as one batch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from interlingua.gateway.keys.batches import Batches, Outcome, Waiting
from interlingua.gateway.keys.budget import MeteredCall
from interlingua.gateway.keys.operations import Enter


async def test_who_comes_a_round_later_shares_the_batch() -> None:
    """The writer looks at the sockets once before it takes those that wait; who comes after that is the next batch."""
    batches: list[list[str]] = []

    async def write(waiting: Sequence[Waiting]) -> Sequence[Outcome]:
        batches.append([each.operation.call.id for each in waiting])
        return [None] * len(waiting)

    group = Batches(write)
    first = group.add(Enter(MeteredCall("a", "h", 0.0), ()))
    await asyncio.sleep(0)
    second = group.add(Enter(MeteredCall("b", "h", 0.0), ()))
    await asyncio.gather(first, second)
    await group.add(Enter(MeteredCall("c", "h", 0.0), ()))
    await group.settle()
    assert batches == [["a", "b"], ["c"]]
