"""A map by batches, blocking: hands over, waits, and finishes the outcomes of each batch in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from interlingua.client.batch.run import BatchRun, Order
from interlingua.client.call.pump import carried_out
from interlingua.client.map import Queue, flow, window_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from interlingua.client.batch.run import Outcome
    from interlingua.client.item import Input, Item
    from interlingua.client.map import Terms, Work

__all__ = ["mapped_in_batches"]

T = TypeVar("T")


def mapped_in_batches(work: Work[T], inputs: Iterable[Input], terms: Terms) -> Generator[Item[T]]:
    """The items of `inputs`, by batches of the provider's; leaving it early leaves them running, for a rerun to find.

    Raises: what the inputs raise; what handing a batch over, and waiting for it, comes to.
    """

    def finish(outcome: Outcome, _: int) -> tuple[int, Item[T]]:
        try:
            response = carried_out(run.finish(outcome))
        except Exception as error:  # noqa: BLE001 - whatever it is, the other inputs are not to suffer
            return outcome.position, work.fail(outcome.task, error)
        return outcome.position, work.end(outcome.task, response)

    with work.opened(), ExitStack() as ending:
        run, order = BatchRun(work, terms), Order[T](ordered=terms.ordered)
        carried_out(run.recover())
        for position, source in enumerate(inputs):
            item = carried_out(run.add(source, position))
            if item is not None:
                yield from order.put(position, item)
        carried_out(run.submit())
        pool = ThreadPoolExecutor(terms.concurrency, thread_name_prefix="interlingua-map")
        ending.callback(pool.shutdown, wait=True, cancel_futures=True)
        while (outcomes := carried_out(run.next())) is not None:
            queue = Queue(pool, finish, ordered=False)
            for finished in flow(queue, enumerate(outcomes), window_of(terms.concurrency)):
                yield from order.put(*finished)
