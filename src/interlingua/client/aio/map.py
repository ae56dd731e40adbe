"""Many inputs through one model, awaited: a task for each, ended with the iteration."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Generic, TypeVar

from interlingua.client.item import Item
from interlingua.client.map import window_of
from interlingua.media.files import InputFile

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from interlingua.client.aio.model import AsyncModel
    from interlingua.client.item import Input
    from interlingua.client.map import Terms, Work

__all__ = ["Queue", "each", "mapped"]

T = TypeVar("T")


async def mapped(
    work: Work[T], model: AsyncModel, inputs: Iterable[Input] | AsyncIterable[Input], terms: Terms
) -> AsyncGenerator[Item[T]]:
    """The items of `inputs`, asked for in tasks; those under way are cancelled when it ends before its inputs.

    Raises: what the inputs raise; UsageError for a journal that cannot be used; Error when it cannot be written.
    """
    if work.is_batched:
        from interlingua.client.aio.batches import mapped_in_batches  # only who batches needs it

        async with aclosing(mapped_in_batches(work, inputs, terms)) as items:
            async for item in items:
                yield item
        return
    room = asyncio.Semaphore(terms.concurrency)

    async def carry_out(source: Input, position: int) -> Item[T]:
        async with room:
            read = isinstance(source, InputFile)  # a file is read and hashed beside the loop
            task = await asyncio.to_thread(work.begin, source, position) if read else work.begin(source, position)
            if isinstance(task, Item):
                return task
            try:
                response = await model.generate(task.prompt, output=terms.output, **terms.options)
            except Exception as error:  # noqa: BLE001 - whatever it is, the other inputs are not to suffer
                return work.fail(task, error)
            return work.end(task, response)

    with work.opened():
        queue = Queue["Item[T]"](ordered=terms.ordered)
        try:
            position = 0
            async for source in each(inputs):
                queue.add(asyncio.create_task(carry_out(source, position)))
                position += 1
                while queue.length >= window_of(terms.concurrency) or queue.ready:
                    yield await queue.take()
            while queue.length:
                yield await queue.take()
        finally:
            await queue.close()


async def each(inputs: Iterable[Input] | AsyncIterable[Input]) -> AsyncGenerator[Input]:
    """The inputs, with a turn of the loop after each, so that calls go on while they are taken."""
    if isinstance(inputs, AsyncIterable):
        async for source in inputs:
            yield source
        return
    for source in inputs:
        yield source
        await asyncio.sleep(0)


class Queue(Generic[T]):
    """Inputs under way in tasks, in the order in which what becomes of them is given out."""

    def __init__(self, *, ordered: bool) -> None:
        """Nothing is under way."""
        self._ordered = ordered
        self._waiting: deque[asyncio.Task[T]] = deque()
        self._done: asyncio.Queue[asyncio.Task[T]] = asyncio.Queue()
        self._open: set[asyncio.Task[T]] = set()

    @property
    def length(self) -> int:
        """How many are under way, or finished and not taken."""
        return len(self._open)

    @property
    def ready(self) -> bool:
        """Whether an item can be taken without waiting."""
        if self._ordered:
            return bool(self._waiting) and self._waiting[0].done()
        return not self._done.empty()

    def add(self, task: asyncio.Task[T]) -> None:
        """Take one that has begun."""
        self._open.add(task)
        if self._ordered:
            self._waiting.append(task)
        else:
            task.add_done_callback(self._done.put_nowait)

    async def take(self) -> T:
        """The result of the next one, once it is finished."""
        task = self._waiting.popleft() if self._ordered else await self._done.get()
        try:
            return await task
        finally:
            if task.done():
                self._open.discard(task)

    async def close(self) -> None:
        """Cancel what is under way, and wait until it has ended."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
