"""The batches of one map: which inputs go together, what the journal knows, which results have come.

Strategy: `BatchRun` knows neither threads nor tasks. Its steps hand batches over and wait for them; what becomes of one
input is an `Outcome`, which the shells (`mapped`, `aio.batches`) finish side by side, since it may take a live call.

Rules
- A batch is in the journal before it is handed over, and again with its id. A rerun looks for one that has no id yet
  before it hands its inputs over again, so that none is paid for twice.
- The id of a request is the mark of its batch and its number in it. Results are told apart by it alone: the first one
  counts, a strange one is nobody's.
- A batch is over when every input of it is in the journal. One with inputs that this run does not have stays for a run
  that has them.
- What the target refuses to be asked, and what is too large for a batch, is asked live.
- Answers have to fit the bound of a body: batches are cut by what they may come to, as well as by the service's limits.
"""

from __future__ import annotations

import time
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from interlingua.client.batch.batch import Batch, batch_lane, batches_at
from interlingua.client.batch.service import BatchService, Pauses, may_pass
from interlingua.client.call.attempt import answered, prepared
from interlingua.client.call.core import call
from interlingua.client.call.effect import Work as Heavy
from interlingua.client.call.report import warn
from interlingua.client.call.secrets import attribute
from interlingua.client.item import Item
from interlingua.client.journal import BatchRecord
from interlingua.client.price import most_written
from interlingua.dialects._batches import BatchOrder
from interlingua.errors import (
    APITimeoutError,
    Error,
    InternalServerError,
    NotFoundError,
    RateLimitError,
    UpstreamError,
    UsageError,
    WireError,
)
from interlingua.media.files import InputFile

if TYPE_CHECKING:
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.job import Job
    from interlingua.client.item import Input
    from interlingua.client.map import Task, Terms, Work
    from interlingua.dialects._batches import BatchInfo
    from interlingua.dialects._contract import Encoded
    from interlingua.types.response import Response
    from interlingua.wire.http import Headers, HttpReply

__all__ = ["BatchRun", "Order", "Outcome"]

T = TypeVar("T")

MAX_ANSWER_BYTES = 48 * 1024 * 1024
"""The most bytes of the answers of one batch; the transport's own bound of a body is 64 MiB."""
_BYTES_A_TOKEN = 4
_BYTES_AROUND = 1_024


class Outcome(NamedTuple):
    """The outcome of one input."""

    position: int
    """Which one it is."""
    task: Task
    """The task of the input."""
    reply: HttpReply | None = None
    """The reply that its batch has; None: it is to be asked live, unless there is an error."""
    error: Error | None = None
    """Why there is no answer."""


class _Chunk(msgspec.Struct):
    """Requests that will be handed over together."""

    mark: str
    path: str
    headers: Headers
    lines: list[bytes] = []
    places: list[tuple[int, Task]] = []
    size: int = 0
    answers: int = 0


class Order(Generic[T]):
    """Items in the order of their inputs, or as they come."""

    def __init__(self, *, ordered: bool) -> None:
        """Nothing has come."""
        self._ordered = ordered
        self._next = 0
        self._early: dict[int, Item[T]] = {}

    def put(self, position: int, item: Item[T]) -> list[Item[T]]:
        """Take an item; what may be given out now."""
        if not self._ordered:
            return [item]
        self._early[position] = item
        ready: list[Item[T]] = []
        while self._next in self._early:
            ready.append(self._early.pop(self._next))
            self._next += 1
        return ready


class BatchRun(Generic[T]):
    """The batches of one map whose journal is open."""

    def __init__(self, work: Work[T], terms: Terms) -> None:
        """Nothing is handed over."""
        job = work.job("x")
        self._work, self._terms = work, terms
        self._how = terms.batch if isinstance(terms.batch, Batch) else Batch()
        self._lane = batch_lane(job)
        batches = batches_at(self._lane.endpoint)
        assert batches is not None  # noqa: S101 - that is the lane's sense
        self._batches = batches
        self._service = BatchService(job, self._lane, batches, self._how.poll_s, self._how.wait_s)
        self._clock = job.clock
        self._chunks: dict[tuple[str, Headers], _Chunk] = {}
        self._records: dict[str, BatchRecord] = {}
        self._owners: dict[str, str] = {}
        self._waiting: dict[str, dict[str, tuple[int, Task]]] = {}
        self._live: list[Outcome] = []
        self._ending: BatchRecord | None = None
        self._until: float | None = None

    # Before

    def recover(self) -> Steps[None]:
        """Take over the batches that the journal has of this target.

        Raises: what looking for one comes to.
        """
        records = [record for record in self._work.journal.batches() if record.target == self._lane.endpoint.spec]
        for record in records:
            if record.batch is not None and (yield from self._is_gone(record.batch)):
                self._work.journal.add_batch(replace(record, is_over=True, ids=()))
            elif record.batch is not None:
                self._own(record)
        for record in records:
            if record.batch is None:
                info = yield from self._searched(record)
                later = replace(record, batch=info.id) if info else replace(record, is_over=True, ids=())
                self._work.journal.add_batch(later)
                if info is not None:
                    self._own(later)

    def _is_gone(self, name: str) -> Steps[bool]:
        """Whether a batch is not there any more, for a run that tries again what failed; any other one trusts in it."""
        if not self._terms.retry_failed:
            return False
        try:
            yield from self._service.show(name)
        except NotFoundError:
            return True
        return False

    def _searched(self, record: BatchRecord) -> Steps[BatchInfo | None]:
        """The batch of a record without an id; it may have been taken just now, and is looked for a second time."""
        info = yield from self._service.find(record, self._batch_ids())
        if info is None:
            yield Pauses(self._how.poll_s).next()
            info = yield from self._service.find(record, self._batch_ids())
        return info

    def _batch_ids(self) -> set[str]:
        return {record.batch for record in self._records.values() if record.batch}

    def _own(self, record: BatchRecord) -> None:
        self._records[record.mark] = record
        self._owners.update(dict.fromkeys(record.ids, record.mark))

    def add(self, source: Input, position: int) -> Steps[Item[T] | None]:
        """Take an input; its item, where nothing has to be asked. What fills a batch hands it over.

        Raises: as `submit`.
        """
        begin = partial(self._work.begin, source, position)
        task: Task | Item[T] = (yield Heavy(begin)) if isinstance(source, InputFile) else begin()
        if isinstance(task, Item):
            return task
        owner = self._owners.get(task.identity)
        if owner is not None and not self._work.journal.is_settled(task.identity, self._records[owner]):
            self._waiting.setdefault(owner, {})[task.identity] = position, task
            return None
        try:
            job = self._work.job(task.prompt)
            encoded = yield from prepared(job, self._lane, stream=False)
            if encoded.changes and job.settings.warns:
                warn(self._lane.endpoint.spec, encoded.changes)
        except Error:  # the chain may have a target that takes it, and tells the error if not
            self._live.append(Outcome(position, task))
            return None
        yield from self._enqueue(position, task, job, encoded)
        return None

    def _enqueue(self, position: int, task: Task, job: Job, encoded: Encoded) -> Steps[None]:
        key = encoded.path, encoded.headers
        answer = _BYTES_AROUND + _BYTES_A_TOKEN * most_written(job.request)
        chunk = self._chunks.get(key)
        if chunk is not None and self._is_full(chunk, len(encoded.body), answer):
            yield from self._submit(self._chunks.pop(key))
            chunk = None
        if chunk is None:
            chunk = self._chunks[key] = _Chunk(token_hex(8), *key)
        line = self._batches.line(f"{chunk.mark}-{len(chunk.lines)}", encoded)
        if len(line) + 1 > self._batches.max_bytes:
            self._live.append(Outcome(position, task))
            return
        chunk.lines.append(line)
        chunk.places.append((position, task))
        chunk.size += len(line) + 1
        chunk.answers += answer

    def _is_full(self, chunk: _Chunk, size: int, answer: int) -> bool:
        """Whether a request of that size, with such an answer, belongs into another batch."""
        most = min(self._batches.max_requests, self._how.max_requests or self._batches.max_requests)
        return bool(chunk.lines) and (
            len(chunk.lines) >= most
            or chunk.size + size + _BYTES_AROUND > self._batches.max_bytes
            or chunk.answers + answer > MAX_ANSWER_BYTES
        )

    def submit(self) -> Steps[None]:
        """Hand over what no batch was filled with.

        Raises: ConfigError for a missing key; the refusal of the service; the last failure.
        """
        while self._chunks:
            yield from self._submit(self._chunks.popitem()[1])

    def _submit(self, chunk: _Chunk) -> Steps[None]:
        if not chunk.lines:
            return
        endpoint = self._lane.endpoint
        ids = tuple([task.identity for _, task in chunk.places])
        record = BatchRecord(mark=chunk.mark, target=endpoint.spec, at=time.time(), ids=ids)
        self._work.journal.add_batch(record)
        order = BatchOrder(chunk.mark, chunk.lines, chunk.path, endpoint.model, chunk.headers)
        try:
            info = yield from self._service.submit(order, record, self._batch_ids())
        except (UpstreamError, UsageError) as error:
            if not may_pass(error):  # it was refused, so that no rerun has to look for it
                self._work.journal.add_batch(replace(record, is_over=True, ids=()))
            raise
        record = replace(record, batch=info.id)
        self._work.journal.add_batch(record)
        self._own(record)
        self._waiting[record.mark] = {task.identity: (position, task) for position, task in chunk.places}

    # After

    def next(self) -> Steps[list[Outcome] | None]:
        """The outcomes of the inputs of the next batch that has ended; None when there is none left.

        Raises: APITimeoutError when the batches take longer than they may; the last failure of a look.
        """
        self._end()
        if self._live:
            live = list(self._live)
            self._live.clear()
            return live
        pauses = Pauses(self._how.poll_s)
        if self._until is None:
            self._until = self._clock() + self._how.wait_s
        while self._waiting:
            for mark in list(self._waiting):
                record = self._records[mark]
                info = yield from self._shown(record.batch or "")
                if info.state != "running":
                    self._ending = record
                    return (yield from self._outcomes(record, info, self._waiting.pop(mark)))
            if self._clock() >= self._until:
                raise APITimeoutError(
                    f"{self._lane.endpoint.spec}: the batches have not ended within {self._how.wait_s:g} s; they go "
                    "on, and a rerun with the same journal waits for them"
                )
            yield pauses.next()
        return None

    def _shown(self, name: str) -> Steps[BatchInfo]:
        try:
            return (yield from self._service.show(name))
        except NotFoundError as error:
            error.add_note(f"{name} is in the journal: is the key another account's? retry_failed=True gives it up")
            raise

    def _end(self) -> None:
        """Note in the journal that the batch is over whose outcomes were finished, unless it has inputs of others."""
        record, self._ending = self._ending, None
        if record is not None and all(self._work.journal.is_settled(name, record) for name in record.ids):
            self._work.journal.add_batch(replace(record, is_over=True, ids=()))

    def _outcomes(
        self, record: BatchRecord, info: BatchInfo, waiting: dict[str, tuple[int, Task]]
    ) -> Steps[list[Outcome]]:
        if info.state == "failed":
            why = f"{self._lane.endpoint.spec}: the batch {info.id} failed: {info.message or info.status}"
            if info.is_over_quota:
                why += "; il.Batch(max_requests=…) makes smaller ones, retry_failed=True hands over what failed"
            kind = RateLimitError if info.is_over_quota else UpstreamError
            return [Outcome(*place, error=kind(why)) for place in waiting.values()]
        names = {f"{record.mark}-{number}": name for number, name in enumerate(record.ids)}
        outcomes: list[Outcome] = []
        why = ""
        for source in info.results:
            try:
                results = yield from self._service.results(source)
            except (WireError, NotFoundError) as error:  # no rerun reads them: the other batches are not to suffer
                results, why = [], f"its results cannot be read: {error.message}"
            for result in results:
                place = waiting.pop(names.get(result.custom_id, ""), None)
                if place is not None:
                    outcomes.append(self._outcome(place, result.reply, info))
        return outcomes + [self._left_out(place, info, why) for place in waiting.values()]

    def _outcome(self, place: tuple[int, Task], reply: HttpReply | None, info: BatchInfo) -> Outcome:
        if reply is not None or self._how.live:
            return Outcome(*place, reply)
        return Outcome(*place, error=self._unanswered(info))

    def _left_out(self, place: tuple[int, Task], info: BatchInfo, why: str) -> Outcome:
        """An input that the results say nothing of: never run, if the batch was ended before; else nobody knows."""
        if not why and info.total is not None and info.done is not None and info.done < info.total and self._how.live:
            return Outcome(*place)
        return Outcome(*place, error=self._unanswered(info, why))

    def _unanswered(self, info: BatchInfo, why: str = "") -> Error:
        batch = f"{self._lane.endpoint.spec}: the batch {info.id} ({info.status})"
        return InternalServerError(f"{batch} has no answer to it{why and '; '}{why}", retryable=True)

    def finish(self, outcome: Outcome) -> Steps[Response[Any]]:
        """The answer to one input: from its batch, with a repair by live calls, or by a live call.

        Raises: every `Error` but those of streams.
        """
        job = self._work.job(outcome.task.prompt)
        if outcome.error is not None:
            attribute(outcome.error, self._lane.endpoint, job.settings.headers)
            raise outcome.error
        kind = self._terms.output
        if outcome.reply is None:
            response = yield from call(job)
        else:
            encoded = yield from prepared(job, self._lane, stream=False)
            try:
                response = answered(replace(job, is_batched=True), self._lane, encoded, outcome.reply)
            except Error as error:
                attribute(error, self._lane.endpoint, job.settings.headers)
                raise
        if kind is None:
            return response
        from interlingua.client.typed.output import settled  # only typed answers need schemas

        return (yield from settled(job, kind, response))
