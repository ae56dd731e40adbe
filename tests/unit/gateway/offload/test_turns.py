"""Turns on the event loop: one in each round, in order, whoever leaves meanwhile."""

from __future__ import annotations

import asyncio

from interlingua.gateway.offload.pool import Turns


async def _rounds(turns: Turns, count: int, leaves: int | None = None) -> list[tuple[int, int]]:
    """Who went on, and in which round of the loop."""
    went, at = list[tuple[int, int]](), 0

    async def go(number: int) -> None:
        await turns.wait()
        went.append((number, at))

    tasks = [asyncio.create_task(go(number)) for number in range(count)]
    for at in range(1, 2 * count + 4):
        await asyncio.sleep(0)
        if at == 1 and leaves is not None:
            tasks[leaves].cancel()
    return went


async def test_each_round_of_the_loop_has_one() -> None:
    """Of all that come in one round: between two of them the loop looks at its sockets."""
    went = await _rounds(Turns(), 5)
    assert [number for number, _ in went] == [0, 1, 2, 3, 4]
    assert len({at for _, at in went}) == 5


async def test_who_leaves_takes_no_turn() -> None:
    """The next one goes on in its place."""
    turns = Turns()
    assert [number for number, _ in await _rounds(turns, 5, leaves=2)] == [0, 1, 3, 4]
    assert [number for number, _ in await _rounds(turns, 2)] == [0, 1]


def test_another_loop_begins_anew() -> None:
    """Also where the one before ended with somebody waiting."""
    turns = Turns()

    async def leave() -> None:
        for _ in range(3):
            asyncio.get_running_loop().create_task(turns.wait())
        await asyncio.sleep(0)

    asyncio.run(leave())
    assert [number for number, _ in asyncio.run(_rounds(turns, 3))] == [0, 1, 2]
