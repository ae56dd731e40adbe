"""A map on Ray: shards of inputs go out as tasks, lines of journals come back as items.

Strategy: the driver cuts the inputs into shards and holds two for each worker, or one where the cluster has more
processors than workers may be: it would carry out both. A task is the map of one process over a
shard (`shard`). Ray carries a shard out again whose worker or machine died, and its journal says where to go on.

Rules
- Nothing but inputs, the question and lines of answers crosses the cluster; keys are those of the worker's environment.
- A shard whose workers died as often as may be is an error of each of its inputs; those that have an answer in the
  journal get it in a rerun.
- Leaving early asks the workers to stop: the calls under way end and are in the journal, which is waited for.
- A driver that dies takes its workers along; a rerun reads where every finished input is, once, in a worker.
"""

from __future__ import annotations

import pickle
from collections import deque
from contextlib import suppress
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from interlingua.client.cluster.cluster import shard_size
from interlingua.client.cluster.index import Index
from interlingua.client.cluster.segments import place_of
from interlingua.client.cluster.shard import answered_lines, question_of, shard_name
from interlingua.client.item import Item
from interlingua.client.journal import read_entry
from interlingua.client.map import key_of
from interlingua.client.meter import count
from interlingua.errors import ConfigError, Error, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator

    from interlingua.client.cluster.cluster import Cluster
    from interlingua.client.cluster.shard import Question
    from interlingua.client.face import Face
    from interlingua.client.item import Input
    from interlingua.client.map import Terms, Work

__all__ = ["mapped_on_ray"]

T = TypeVar("T")

SHARDS_PER_WORKER = 2
"""How many shards are out for each worker: the one that it works on, and the next one."""
_STOP_POLL_S = 0.2
"""How often a map that waits for a shard looks whether it is to stop."""


class _Shard(NamedTuple):
    """A shard that is out."""

    reference: Any
    """Ray's name for what comes back."""
    inputs: list[Input]
    """Its inputs."""
    position: int
    """The position of the first one."""
    name: str
    """The name of its journal."""


def mapped_on_ray(
    work: Work[T],
    face: Face,
    inputs: Iterable[Input],
    terms: Terms,
    cluster: Cluster,
    *,
    is_stopping: Callable[[], bool] = bool,
) -> Generator[Item[T]]:
    """The items of `inputs`, asked for by the workers of a cluster; a shard's items come when it is finished.

    Where another thread wants it to end, `is_stopping` says so: it ends as if it had been left.

    Raises: what the inputs raise; UsageError for a journal that cannot be used and for what would fail every input;
        ConfigError where Ray is not installed; Error when a journal cannot be written.
    """
    try:
        ray = import_module("ray")
    except ImportError:
        raise ConfigError("engine='ray' needs the [ray] extra: pip install 'interlingua[ray]'") from None
    if not ray.is_initialized():
        try:
            ray.init(cluster.address, include_dashboard=False, log_to_driver=False)
        except ConnectionError as error:
            raise ConfigError(f"the cluster {cluster.address or ''} cannot be reached: {error}") from None
    run = _Run(ray, face, terms, cluster)
    out: deque[_Shard] = deque()
    coming = _shards(inputs, shard_size(cluster, terms))
    try:
        while True:
            for position, sources in islice(coming, run.room - len(out)):
                out.append(run.begin(sources, position))
            if not out:
                return
            shard = run.next(out, is_stopping, ordered=terms.ordered)
            if shard is None:
                return
            for item in run.items(work, shard):
                if item.response is not None and not item.recorded:
                    count(item.response)
                yield item
    finally:
        run.stop(out)


def _shards(inputs: Iterable[Input], size: int) -> Iterator[tuple[int, list[Input]]]:
    """The inputs in parts, each with the position of its first one."""
    position, rest = 0, iter(inputs)
    while sources := list(islice(rest, size)):
        yield position, sources
        position += len(sources)


class _Run:
    """One map on a cluster."""

    def __init__(self, ray: Any, face: Face, terms: Terms, cluster: Cluster) -> None:
        self._ray = ray
        self._key = terms.key
        question = question_of(face, terms)
        slots = max(1, int(ray.cluster_resources().get("CPU", 1) / cluster.processors))
        counts = [
            number for _, allowed in question.limits for number in (allowed.concurrency, allowed.rpm, allowed.tpm)
        ]
        workers = min([cluster.workers or slots, *[number for number in counts if number is not None]])
        self.room: int = workers * SHARDS_PER_WORKER if workers >= slots else workers
        """How many shards may be out."""
        try:
            self._question = ray.put(question._replace(workers=workers))
        except TypeError as error:
            raise UsageError(f"engine: this map cannot go to another process: {error}") from None
        remote = ray.remote(num_cpus=cluster.processors, max_retries=cluster.retries, retry_exceptions=False)
        self._carry_out: Any = remote(_carried_out)
        journal = question.terms.journal
        self._place = None if journal is None else place_of(journal)
        self._index = None if journal is None else self._value(remote(_read_index).remote(journal))
        if self._index is not None:
            self._index = ray.put(self._index)

    def begin(self, inputs: list[Input], position: int) -> _Shard:
        """Send a shard out."""
        try:
            pickled = pickle.dumps(inputs, 5)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UsageError(f"engine: an input cannot go to another process: {error}") from None
        reference = self._carry_out.remote(self._question, pickled, position, self._index)
        return _Shard(reference, inputs, position, shard_name(pickled, position))

    def next(self, out: deque[_Shard], is_stopping: Callable[[], bool], *, ordered: bool) -> _Shard | None:
        """Take the shard whose items come next, once it is finished; None where the map is to stop."""
        references = [shard.reference for shard in islice(out, 1 if ordered else None)]
        ready: list[Any] = []
        while not ready:
            if is_stopping():
                return None
            ready, _ = self._ray.wait(references, num_returns=1, timeout=_STOP_POLL_S)
        while out[0].reference != ready[0]:
            out.rotate(-1)
        return out.popleft()

    def items(self, work: Work[T], shard: _Shard) -> Iterator[Item[T]]:
        """The items of a finished shard."""
        try:
            lines: list[tuple[bool, bytes]] = self._value(shard.reference)
        except self._ray.exceptions.RayError as error:
            why = f"its worker died each time: {type(error).__name__}"
            for number, source in enumerate(shard.inputs, shard.position):
                try:
                    key = key_of(source, number, self._key)
                except Exception:  # noqa: BLE001 - what the worker would have said of it, it cannot say
                    key = f"input {number}"
                yield Item(key=key, error=Error(why, retryable=True))
            return
        for recorded, line in lines:
            entry = read_entry(line)
            yield work.item_of(entry, entry.key, recorded=recorded)

    def stop(self, out: Collection[_Shard]) -> None:
        """Ask the workers to stop, and wait until they have."""
        references = [shard.reference for shard in out]
        for reference in references:
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(reference)
        if references:
            self._ray.wait(references, num_returns=len(references))
        if self._place is not None:
            # Ray may call a cancelled task done while its worker still ends the calls under way.
            for shard in out:
                self._place.wait_for_writer(shard.name)

    def _value(self, reference: Any) -> Any:
        """The value that a task returned.

        Raises: what the task raised.
        """
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None


def _carried_out(
    question: Question, pickled: bytes, position: int, index: tuple[tuple[str, ...], Any] | None
) -> list[tuple[bool, bytes]]:
    """A shard, in a worker."""
    read = None if index is None else Index(index[0], memoryview(index[1]))
    return answered_lines(question, pickled, position, read)


def _read_index(journal: str) -> tuple[tuple[str, ...], Any] | None:
    """Where every finished input is, as values that all workers of a machine share; None for none. In a worker."""
    index = place_of(journal).read_index()
    return (index.names, import_module("numpy").frombuffer(index.rows, "u1")) if len(index) else None
