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

from interlingua.client.batch.batch import Batch, batch_target, batches_at
from interlingua.client.batch.service import BatchService, Pauses, may_pass
from interlingua.client.call.attempt import answered, prepared
from interlingua.client.call.core import call_steps
from interlingua.client.call.effect import Work as Heavy
from interlingua.client.call.report import warn, warn_line
from interlingua.client.call.secrets import attribute
from interlingua.client.item import Item
from interlingua.client.journal import BatchRecord
from interlingua.client.price import most_written
from interlingua.dialects._batches import BatchOrder
from interlingua.errors import (
    APITimeoutError,
    DecodeError,
    Error,
    InternalServerError,
    NotFoundError,
    RateLimitError,
    UpstreamError,
    UsageError,
    WireError,
)
from interlingua.media.files import InputFile
from interlingua.types.response import Response

if TYPE_CHECKING:
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call
    from interlingua.client.hooks.run import Hooking
    from interlingua.client.item import Input
    from interlingua.client.map import Task, Terms, Work
    from interlingua.dialects._batches import BatchInfo
    from interlingua.dialects._contract import Encoded
    from interlingua.types.request import Request
    from interlingua.wire.http import Headers, HttpReply

__all__ = ["BatchRun", "Hooked", "Order", "Outcome", "Place"]

T = TypeVar("T")

MAX_ANSWER_BYTES = 48 * 1024 * 1024
"""The most bytes of the answers of one batch; the transport's own bound of a body is 64 MiB."""
_BYTES_A_TOKEN = 4
_BYTES_AROUND = 1_024


class Hooked(NamedTuple):
    """The hooks of one input, asked before it was handed over."""

    hooking: Hooking
    """They themselves."""
    result: Request | Response[Any]
    """The request as they have made it, or their answer in its place."""


class Place(NamedTuple):
    """One input."""

    position: int
    """The position of the input among all."""
    task: Task
    """The question."""
    hooked: Hooked | None = None
    """Its hooks; None where there are none, and where another run has handed it over."""


class Outcome(NamedTuple):
    """The end of one input's way through its batch."""

    place: Place
    """The input."""
    reply: HttpReply | None = None
    """The reply that its batch has; None: it is to be asked live, unless there is an error or its hooks answer."""
    error: Exception | None = None
    """Why there is no answer."""

    @property
    def position(self) -> int:
        """Which input it is."""
        return self.place.position

    @property
    def task(self) -> Task:
        """The question."""
        return self.place.task


class _Ended(NamedTuple):
    """A batch whose outcomes are being finished."""

    record: BatchRecord
    info: BatchInfo
    is_read: bool
    """Whether nothing more can be had of it."""


class _Chunk(msgspec.Struct):
    """Requests that will be handed over together."""

    mark: str
    path: str
    headers: Headers
    lines: list[bytes] = []
    places: list[Place] = []
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
        call = work.call("x")
        self._work, self._terms = work, terms
        self._how = terms.batch if isinstance(terms.batch, Batch) else Batch()
        self._target = batch_target(call)
        batches = batches_at(self._target.endpoint)
        assert batches is not None  # noqa: S101 - that is the target's sense
        self._batches = batches
        self._service = BatchService(call, self._target, batches, self._how.poll_s, self._how.wait_s)
        self._clock = call.clock
        self._chunks: dict[tuple[str, Headers], _Chunk] = {}
        self._records: dict[str, BatchRecord] = {}
        self._owners: dict[str, str] = {}
        self._waiting: dict[str, dict[str, Place]] = {}
        self._ready: list[Outcome] = []
        self._ending: _Ended | None = None
        self._until: float | None = None

    # Before

    def recover(self) -> Steps[None]:
        """Take over the batches that the journal has of this target.

        Raises: what looking for one comes to.
        """
        records = [record for record in self._work.journal.batches() if record.target == self._target.endpoint.spec]
        for record in records:
            if record.batch is None:
                continue
            if self._is_settled(record):
                yield from self._tidied(record, record.batch)
            elif (yield from self._is_gone(record.batch)):
                yield from self._over(record)
            else:
                self._own(record)
        for record in records:
            if record.batch is None:
                info = yield from self._service.find(record, self._batch_ids())
                if info is None:  # it may have been taken just now, and is looked for a second time
                    yield Pauses(self._how.poll_s).next()
                    info = yield from self._service.find(record, self._batch_ids())
                if info is None:
                    yield from self._over(record)
                    continue
                later = replace(record, batch=info.id)
                self._work.journal.add_batch(later)
                self._own(later)

    def _is_settled(self, record: BatchRecord) -> bool:
        return all(self._work.journal.is_settled(name, record) for name in record.ids)

    def _tidied(self, record: BatchRecord, batch: str) -> Steps[None]:
        """End a batch whose run was killed when all its results were in the journal; a failure is a warning."""
        if any(self._work.journal.find(name, failed=False) is None for name in record.ids):
            self._stays(record, "some of its inputs failed")
            yield from self._over(record, keep=True)
            return
        try:
            reply = yield from self._service.ask(self._batches.show(batch))
            info = self._batches.read(reply)
        except NotFoundError:
            info = None
        except Error as error:
            self._stays(record, error.message)
            return
        yield from self._over(record, info)

    def _over(self, record: BatchRecord, info: BatchInfo | None = None, *, keep: bool = False) -> Steps[None]:
        """Delete what the service keeps of a batch, unless it is to stay, and note in the journal that it is over."""
        if not (keep or self._how.keep):
            calls = () if info is None else info.deletions
            if record.file is not None and self._batches.files is not None:
                calls = (self._batches.files.delete(record.file), *calls)
            problems = yield from self._service.delete(calls)
            if problems:
                self._stays(record, "; ".join(problems))
        self._work.journal.add_batch(replace(record, is_over=True, ids=(), file=None))

    def _stays(self, record: BatchRecord, why: str) -> None:
        if not self._how.keep:
            spec = self._target.endpoint.spec
            warn_line(f"{spec}: what the provider keeps of the batch {record.batch or record.mark} stays there: {why}")

    def _is_gone(self, name: str) -> Steps[bool]:
        """Whether a batch is not there any more, for a run that tries again what failed; any other one trusts in it."""
        if not self._terms.retry_failed:
            return False
        try:
            yield from self._service.show(name)
        except NotFoundError:
            return True
        return False

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
            self._waiting.setdefault(owner, {})[task.identity] = Place(position, task)
            return None
        call = self._work.call(task.prompt)
        place = Place(position, task)
        if call.settings.hooks:
            try:
                hooked = yield from self._hooked(call)
            except Exception as error:  # noqa: BLE001 - whatever a hook raises is its own input's error
                self._ready.append(Outcome(place, error=error))
                return None
            place = Place(position, task, hooked)
            if isinstance(hooked.result, Response):
                self._ready.append(Outcome(place))
                return None
            call = replace(call, request=hooked.result)
        try:
            encoded = yield from prepared(call, self._target, stream=False)
            if encoded.changes and call.settings.warns:
                warn(self._target.endpoint.spec, encoded.changes)
        except Error:  # the chain may have a target that takes it, and tells the error if not
            self._ready.append(Outcome(Place(position, task)))
            return None
        yield from self._enqueue(place, call, encoded)
        return None

    @staticmethod
    def _hooked(call: Call) -> Steps[Hooked]:
        """The hooks of a call, asked what is before it."""
        from interlingua.client.hooks.run import Hooking, context_of  # who has no hooks pays nothing

        hooking = Hooking(call.settings.hooks, context_of(call, stream=False))
        return Hooked(hooking, (yield from hooking.before(call.request)))

    def _enqueue(self, place: Place, call: Call, encoded: Encoded) -> Steps[None]:
        key = encoded.path, encoded.headers
        answer = _BYTES_AROUND + _BYTES_A_TOKEN * most_written(call.request)
        chunk = self._chunks.get(key)
        most = min(self._batches.max_requests, self._how.max_requests or self._batches.max_requests)
        # A request of that size, with such an answer, belongs into another batch.
        if (
            chunk is not None
            and chunk.lines
            and (
                len(chunk.lines) >= most
                or chunk.size + len(encoded.body) + _BYTES_AROUND > self._batches.max_bytes
                or chunk.answers + answer > MAX_ANSWER_BYTES
            )
        ):
            yield from self._submit(self._chunks.pop(key))
            chunk = None
        if chunk is None:
            chunk = self._chunks[key] = _Chunk(token_hex(8), *key)
        line = self._batches.line(f"{chunk.mark}-{len(chunk.lines)}", encoded)
        if len(line) + 1 > self._batches.max_bytes:
            self._ready.append(Outcome(place._replace(hooked=None)))
            return
        chunk.lines.append(line)
        chunk.places.append(place)
        chunk.size += len(line) + 1
        chunk.answers += answer

    def submit(self) -> Steps[None]:
        """Hand over what no batch was filled with.

        Raises: ConfigError for a missing key; the refusal of the service; the last failure.
        """
        while self._chunks:
            yield from self._submit(self._chunks.popitem()[1])

    def _submit(self, chunk: _Chunk) -> Steps[None]:
        if not chunk.lines:
            return
        endpoint = self._target.endpoint
        ids = tuple([place.task.identity for place in chunk.places])
        record = BatchRecord(mark=chunk.mark, target=endpoint.spec, at=time.time(), ids=ids)
        self._work.journal.add_batch(record)
        order = BatchOrder(chunk.mark, chunk.lines, chunk.path, endpoint.model, chunk.headers)

        def on_file(file: str) -> None:
            nonlocal record
            record = replace(record, file=file)
            self._work.journal.add_batch(record)

        try:
            info = yield from self._service.submit(order, record, self._batch_ids(), on_file)
        except (UpstreamError, UsageError) as error:
            if not may_pass(error):  # it was refused, so that no rerun has to look for it
                yield from self._over(record)
            raise
        record = replace(record, batch=info.id)
        self._work.journal.add_batch(record)
        self._own(record)
        self._waiting[record.mark] = {place.task.identity: place for place in chunk.places}

    # After

    def next(self) -> Steps[list[Outcome] | None]:
        """The outcomes of the inputs of the next batch that has ended; None when there is none left.

        Raises: APITimeoutError when the batches take longer than they may; the last failure of a look.
        """
        # The batch whose outcomes were finished has ended, unless it has inputs of others.
        ended, self._ending = self._ending, None
        if ended is not None and self._is_settled(ended.record):
            yield from self._over(ended.record, ended.info, keep=not ended.is_read)
        if self._ready:
            ready = list(self._ready)
            self._ready.clear()
            return ready
        pauses = Pauses(self._how.poll_s)
        if self._until is None:
            self._until = self._clock() + self._how.wait_s
        while self._waiting:
            for mark in list(self._waiting):
                record = self._records[mark]
                name = record.batch or ""
                try:
                    info = yield from self._service.show(name)
                except NotFoundError as error:
                    error.add_note(
                        f"{name} is in the journal: is the key another account's? retry_failed=True gives it up"
                    )
                    raise
                except DecodeError as error:  # no rerun reads it: the other batches are not to suffer
                    why = f"{self._target.endpoint.spec}: the batch {record.batch} cannot be read: {error.message}"
                    problem = UpstreamError(f"{why}; retry_failed=True hands its inputs over again", retryable=True)
                    return [Outcome(place, error=problem) for place in self._waiting.pop(mark).values()]
                if info.state != "running":
                    return (yield from self._outcomes(record, info, self._waiting.pop(mark)))
            if self._clock() >= self._until:
                raise APITimeoutError(
                    f"{self._target.endpoint.spec}: the batches have not ended within {self._how.wait_s:g} s; they go "
                    "on, and a rerun with the same journal waits for them"
                )
            yield pauses.next()
        return None

    def _outcomes(self, record: BatchRecord, info: BatchInfo, waiting: dict[str, Place]) -> Steps[list[Outcome]]:
        self._ending = _Ended(record, info, is_read=True)
        if info.state == "failed":
            why = f"{self._target.endpoint.spec}: the batch {info.id} failed: {info.message or info.status}"
            if info.is_over_quota:
                why += "; il.Batch(max_requests=…) makes smaller ones, retry_failed=True hands over what failed"
            kind = RateLimitError if info.is_over_quota else UpstreamError
            return [Outcome(place, error=kind(why)) for place in waiting.values()]
        names = {f"{record.mark}-{number}": name for number, name in enumerate(record.ids)}
        outcomes: list[Outcome] = []
        why = ""
        for source in info.results:
            try:
                results, problem = yield from self._service.results(source)
            except (WireError, NotFoundError) as error:  # no rerun reads them: the other batches are not to suffer
                results, problem = [], error
            if problem is not None:
                why = f"its results cannot be read: {problem.message}"
            for result in results:
                place = waiting.pop(names.get(result.custom_id, ""), None)
                if place is None:
                    continue
                if result.reply is None:
                    outcomes.append(self._left_out(place, info, "", is_run=False))
                else:
                    outcomes.append(Outcome(place, result.reply))
        is_cut_short = not why and info.total is not None and info.done is not None and info.done < info.total
        self._ending = _Ended(record, info, is_read=not waiting or is_cut_short)
        left_out = [self._left_out(place, info, why, is_run=not is_cut_short) for place in waiting.values()]
        return outcomes + left_out

    def _left_out(self, place: Place, info: BatchInfo, why: str, *, is_run: bool) -> Outcome:
        """The outcome of an input without a result: never run, if the batch was ended before; else nobody knows."""
        if not is_run and self._how.live:
            return Outcome(place._replace(hooked=None))
        batch = f"{self._target.endpoint.spec}: the batch {info.id} ({info.status})"
        sentence = f"{batch} has no answer to it{why and '; '}{why}"
        return Outcome(place, error=InternalServerError(sentence, retryable=True))

    def finish(self, outcome: Outcome) -> Steps[Response[Any]]:
        """The answer to one input: from its batch, with a repair by live calls, or by a live call.

        Raises: every `Error` but those of streams.
        """
        call = self._work.call(outcome.task.prompt)
        kind, hooked = self._terms.output, outcome.place.hooked
        if isinstance(outcome.error, Error):
            attribute(outcome.error, self._target.endpoint, call.settings.headers)
        if outcome.error is not None:
            raise outcome.error
        if outcome.reply is None and hooked is None:
            response = yield from call_steps(call)
        elif not call.settings.hooks:
            response = yield from self._answer(call, outcome)
        else:
            hooking, result = (yield from self._hooked(call)) if hooked is None else hooked
            if isinstance(result, Response):
                response = replace(result, request=call.request)
            else:
                response = yield from self._answer(replace(call, request=result), outcome)
            response = yield from hooking.after(response)
        if kind is None:
            return response
        from interlingua.client.typed.output import settled  # only typed answers need schemas

        return (yield from settled(call, kind, response))

    def _answer(self, call: Call, outcome: Outcome) -> Steps[Response[Any]]:
        """The answer that a batch has to a call."""
        assert outcome.reply is not None  # noqa: S101 - whoever has none is asked live
        encoded = yield from prepared(call, self._target, stream=False)
        try:
            return answered(replace(call, is_batched=True), self._target, encoded, outcome.reply)
        except Error as error:
            attribute(error, self._target.endpoint, call.settings.headers)
            raise
