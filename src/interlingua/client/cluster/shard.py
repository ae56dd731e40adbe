"""One shard of inputs in one worker: the map of one process over a part of the inputs, with a journal of its own.

Rules
- A worker is any process that has the same providers in its environment: a question is pickled without keys.
- A worker that is interrupted takes no further inputs, and ends when the calls under way have ended and are in the
  journal; one that dies loses the calls under way and nothing else.
- Limits hold for all workers together where their state is in Redis; elsewhere each worker has an equal part of them.
"""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import lru_cache
from hashlib import sha256
from itertools import takewhile
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from interlingua.client.cluster.segments import absolute, place_of
from interlingua.client.map import Terms, Work, entry_of, mapped
from interlingua.client.model import Model
from interlingua.client.state import limiter, shared_link
from interlingua.registry.allowance import Allowance
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from interlingua.client.cluster.index import Index
    from interlingua.client.cluster.segments import Segment
    from interlingua.client.face import Face
    from interlingua.client.item import Input, Item
    from interlingua.client.options import Settings

__all__ = ["Question", "answered", "answered_lines", "question_of", "shard_name"]

R = TypeVar("R")

_INTERRUPT_POLL_S = 0.05
"""How often an interrupt is looked for: engines set a flag, and wake nobody."""


class Question(NamedTuple):
    """The request about every input, as it goes to a worker."""

    spec: str
    """The spec of the model."""
    settings: Settings
    """The options of the model."""
    terms: Terms
    """How the map is to go."""
    limits: tuple[tuple[str, Allowance], ...] = ()
    """The limits that hold for all workers, by pattern."""
    workers: int = 1
    """How many workers there are at most."""


def question_of(face: Face, terms: Terms, workers: int = 1) -> Question:
    """The question of a map.

    Raises: TypeError for a model with a registry, a transport or a clock of its own; ConfigError without a model;
        UsageError for a journal that is no folder and no address.
    """
    face.__reduce__()  # what cannot be pickled says why
    if terms.journal is not None:
        place_of(terms.journal)
        terms = terms._replace(journal=absolute(terms.journal))
    limits = tuple([(pattern, load.allowance) for pattern, load in limiter().loads().items()])
    return Question(face.spec, face.settings, terms, limits, workers)


def shard_name(pickled: bytes, position: int) -> str:
    """The name of a shard's journal, without its ending."""
    return sha256(b"%d %b" % (position, pickled)).hexdigest()[:32]  # the same inputs may stand in two places


def answered_lines(question: Question, pickled: bytes, position: int, index: Index | None) -> list[tuple[bool, bytes]]:
    """The items of a shard as lines of a journal, each with whether it was in one before; for another process."""
    inputs = pickle.loads(pickled)  # noqa: S301 - this program's own inputs
    return answered(question, inputs, position, index, _line, pickled=pickled)


def _line(item: Item[Any]) -> tuple[bool, bytes]:
    return item.recorded, encode(entry_of(item, ""))


def answered(
    question: Question,
    inputs: Sequence[Input],
    position: int,
    index: Index | None,
    make: Callable[[Item[Any]], R],
    *,
    pickled: bytes | None = None,
) -> list[R]:
    """Every item of a shard as `make` makes it; `pickled` are the inputs, for their name.

    The first input has that position among all. An item is let go of at once, since answers in their thousands are what
    the garbage collector looks through again and again.

    Raises: UsageError and its kinds for what would fail every input alike; Error when the journal cannot be written.
    """
    _limit(question.limits, question.workers)
    spec, settings, terms, *_ = question

    def open_segment() -> Segment:
        shard = pickled or pickle.dumps(list(inputs), 5)
        return place_of(terms.journal or "").open(shard_name(shard, position), index)

    model = Model(spec, settings)
    is_stopping = Event()

    def inputs_until_stop() -> Iterator[Input]:
        return takewhile(lambda _: not is_stopping.is_set(), inputs)

    def carry_out() -> list[R]:
        work = Work[Any](model, terms, open_segment)
        return [make(item) for item in mapped(work, model, inputs_until_stop(), terms, position)]

    with ThreadPoolExecutor(1, thread_name_prefix="interlingua-shard") as pool:
        future = pool.submit(copy_context().run, carry_out)
        while True:
            try:
                wait([future], timeout=_INTERRUPT_POLL_S)
                if future.done():
                    break
            except KeyboardInterrupt:  # engines repeat it while a task goes on
                is_stopping.set()
    if is_stopping.is_set():
        raise KeyboardInterrupt
    return future.result()


@lru_cache(maxsize=1)
def _limit(limits: tuple[tuple[str, Allowance], ...], workers: int) -> None:
    """Limit the calls of this process, once."""
    parts = 1 if shared_link() is not None else workers
    for pattern, allowed in limits:
        limiter().set(pattern, _part(allowed, parts))


def _part(allowed: Allowance, parts: int) -> Allowance:
    counts = [allowed.concurrency, allowed.rpm, allowed.tpm]
    concurrency, rpm, tpm = [None if count is None else max(1, count // parts) for count in counts]
    return Allowance(concurrency=concurrency, rpm=rpm, tpm=tpm)
