"""The batches of one target, asked and read: steps that both drivers carry out.

Rules
- Whatever only looks is asked again when it fails in a way that may pass, `MAX_FAILURES` times in a row.
- A batch is handed over once. Where the reply is lost, nobody knows whether it was taken: it is looked for by its mark
  before it is handed over again.
- A service that keeps no mark (`BatchInfo.mark` is None) is asked for batches of that size and time; one of them is
  ours when its results carry the mark, which can be read when it has ended.
- An entry of the list that shows no batch is skipped, with a warning. One that carries the mark that is looked for,
  and a list that cannot be gone through to its end, end the search with an error: handing over again might pay twice.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from interlingua.client.call.attempt import refusal
from interlingua.client.call.effect import Fetch, Sleep, Work
from interlingua.client.call.report import warn_line
from interlingua.client.call.secrets import attribute
from interlingua.client.call.transports import carrier_of
from interlingua.dialects._contract import DecodeContext, Encoded
from interlingua.errors import (
    APITimeoutError,
    DecodeError,
    Error,
    NotFoundError,
    RateLimitError,
    TransportError,
    UpstreamError,
    WireError,
)
from interlingua.transport.base import Timeouts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import TypeVar

    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.client.journal import BatchRecord
    from interlingua.dialects._batches import (
        BatchCall,
        Batches,
        BatchInfo,
        BatchOrder,
        BatchResult,
        StrangeEntry,
    )
    from interlingua.wire.http import HttpReply

    R = TypeVar("R")

__all__ = ["MAX_FAILURES", "BatchService", "Pauses", "Results", "may_pass", "skipped_line"]

MAX_FAILURES = 12
"""How often in a row a call may fail that only looks."""
MAX_STRANGE = 5
"""How many entries that show no batch are named."""
MAX_DELETIONS = 3
"""How often a call is tried that deletes."""
FIRST_PAUSE_S = 2.0
GROWTH = 1.5
SKEW_S = 3_600.0
"""How far the clock of a service may be behind ours."""
MAX_PAGES = 50
"""How many pages of a list are looked through for one batch."""
_TIMEOUTS = Timeouts(total_s=3_600.0)


class Pauses:
    """Pauses that grow up to a bound."""

    def __init__(self, most_s: float) -> None:
        """The first pause is `FIRST_PAUSE_S`, or `most_s` where that is shorter."""
        self._most_s = most_s
        self._next_s = min(FIRST_PAUSE_S, most_s)

    def next(self) -> Sleep:
        """The effect of the next pause."""
        seconds = self._next_s
        self._next_s = min(self._most_s, seconds * GROWTH)
        return Sleep(seconds)


class Results(NamedTuple):
    """The results that one call gave."""

    results: list[BatchResult]
    """As many as can be read."""
    problem: Error | None = None
    """Why there are no more."""


class BatchService(NamedTuple):
    """The batches of one target."""

    call: Call
    """A call for that target: its headers, its transport, whether it needs a key."""
    target: CallTarget
    """The target."""
    batches: Batches
    """The batch operations of its service's dialect."""
    poll_s: float
    """The longest pause between two looks."""
    wait_s: float
    """How long to wait for a batch at most."""

    def ask(self, call: BatchCall) -> Steps[HttpReply]:
        """The reply to a call that succeeded.

        Raises: ConfigError for a missing key; TransportError; UpstreamError.
        """
        endpoint, settings = self.target.endpoint, self.call.settings
        request = endpoint.http_request(
            Encoded(path=call.path, body=call.body, headers=call.headers),
            with_credential=self.call.with_credential,
            headers=settings.headers,
        )
        reply = yield Fetch(replace(request, method=call.method), _TIMEOUTS, carrier_of(self.call, self.target))
        if not 200 <= reply.status < 300:
            error = refusal(self.target, reply, DecodeContext(target=endpoint.target))
            attribute(error, endpoint, settings.headers)
            raise error
        return reply

    def look(self, call: BatchCall, read: Callable[[HttpReply], R], *, is_heavy: bool = False) -> Steps[R]:
        """The value of the reply to a call that only looks; the call is repeated when it fails.

        `is_heavy` reads the reply off the event loop.

        Raises: the last failure; an error that no repetition helps.
        """
        pauses, failures = Pauses(self.poll_s), 0
        while True:
            try:
                reply = yield from self.ask(call)
                return (yield Work(partial(read, reply))) if is_heavy else read(reply)
            except Error as error:
                failures += 1
                if failures >= MAX_FAILURES or not (error.retryable or isinstance(error, TransportError | DecodeError)):
                    raise
            yield pauses.next()

    def show(self, name: str) -> Steps[BatchInfo]:
        """The batch of that id. Raises: as `look`."""
        return (yield from self.look(self.batches.show(name), self.batches.read))

    def cancel(self, name: str) -> Steps[None]:
        """Cancel the batch of that id. Raises: as `ask`."""
        yield from self.ask(self.batches.cancel(name))

    def results(self, call: BatchCall) -> Steps[Results]:
        """The results that a call gives; a file that was cut off is fetched again, and in the end read up to there.

        Raises: as `look`, where none can be read.
        """
        results: list[BatchResult] = []

        def read(reply: HttpReply) -> None:
            results.clear()
            results.extend(self.batches.results(reply))

        try:
            yield from self.look(call, read, is_heavy=True)
        except DecodeError as error:
            if not results:
                raise
            return Results(results, error)
        return Results(results)

    def list(self, most: int) -> Steps[tuple[list[BatchInfo], tuple[StrangeEntry, ...]]]:
        """The newest batches, at most so many, and the entries among them that show none. Raises: as `look`."""
        listed: list[BatchInfo] = []
        strange: tuple[StrangeEntry, ...] = ()
        place = ""
        for _ in range(MAX_PAGES):
            page = yield from self.look(self.batches.list(place), self.batches.read_list)
            listed += page.batches
            strange += page.strange
            place = page.next
            if not place or len(listed) >= most:
                break
        return listed[:most], strange

    def delete(self, calls: Iterable[BatchCall]) -> Steps[list[str]]:
        """Carry out calls that delete; a line for each that failed. What is not there any more is deleted."""
        problems: list[str] = []
        for call in calls:
            pauses = Pauses(self.poll_s)
            for number in count(1):
                try:
                    yield from self.ask(call)
                except NotFoundError:
                    pass
                except Error as error:
                    if number < MAX_DELETIONS and may_pass(error):
                        yield pauses.next()
                        continue
                    problems.append(f"DELETE {call.path}: {error.message}")
                break
        return problems

    # Handing over

    def submit(
        self, order: BatchOrder, record: BatchRecord, others: Collection[str], on_file: Callable[[str], None]
    ) -> Steps[BatchInfo]:
        """The batch that was made of an order; `others` are ids of batches that are known to be something else.

        `on_file` is told the id of the file that was handed up for it.

        Raises: the refusal of the service; the last failure.
        """
        pauses, failures = Pauses(self.poll_s), 0
        while True:
            try:
                if self.batches.files is not None and not order.file:
                    reply = yield from self.ask(self.batches.files.upload(order))
                    order = order._replace(file=self.batches.files.read(reply))
                    on_file(order.file)
                return self.batches.read((yield from self.ask(self.batches.submit(order))))
            except Error as error:
                failures += 1
                if failures >= MAX_FAILURES or not may_pass(error):
                    raise
                problem = error
            yield pauses.next()
            if not isinstance(problem, RateLimitError):
                info = yield from self.find(record, others)
                if info is not None:
                    return info

    def find(self, record: BatchRecord, others: Collection[str]) -> Steps[BatchInfo | None]:
        """The batch that was handed over under a record's mark; None where the service has none.

        Raises: as `look`; DecodeError for a list that does not tell whether there is one.
        """
        place, since, places = "", record.at - SKEW_S, set[str]()
        while place not in places and len(places) < MAX_PAGES:
            places.add(place)
            page = yield from self.look(self.batches.list(place), self.batches.read_list)
            # Entries that show no batch are warned of; none may carry the mark that is looked for.
            for entry in page.strange:
                if entry.mark == record.mark:
                    raise self._unclear(f"the batch of this journal cannot be read: {entry.problem}")
            if page.strange:
                warn_line(f"{self.target.endpoint.spec}: {skipped_line(page.strange)}")
            for info in page.batches:
                if info.mark == record.mark or (
                    info.mark is None
                    and info.id not in others
                    and info.total == len(record.ids)
                    and (info.created_at or since) >= since
                    and (yield from self._is_ours(info, record))
                ):
                    return info
            place = page.next
            if any(info.created_at and info.created_at < since for info in page.batches):
                return None
            if page.is_cut:
                break
            if not place:
                return None
        raise self._unclear("its list of batches has no end that can be reached")

    def _unclear(self, why: str) -> DecodeError:
        return DecodeError(
            f"{self.target.endpoint.spec}: {why}; nothing is handed over again, since it might be paid for twice"
        )

    def _is_ours(self, info: BatchInfo, record: BatchRecord) -> Steps[bool]:
        """Whether the results of a batch carry the mark; it is waited for, since nothing else tells whose it is."""
        pauses, until = Pauses(self.poll_s), self.call.clock() + self.wait_s
        while info.state == "running":
            if self.call.clock() >= until:
                raise APITimeoutError(
                    f"{self.target.endpoint.spec}: {info.id} may be a batch of this journal, and has not ended within "
                    f"{self.wait_s:g} s; a rerun waits again"
                )
            yield pauses.next()
            info = yield from self.show(info.id)
        for call in info.results:
            try:
                results = (yield from self.results(call)).results
            except (WireError, NotFoundError):  # a stranger's, or ours that nobody can read
                continue
            if any(result.custom_id.startswith(f"{record.mark}-") for result in results):
                return True
        return False


def skipped_line(strange: tuple[StrangeEntry, ...]) -> str:
    """A sentence that says which entries of a list show no batch."""
    shown = "; ".join([entry.problem for entry in strange[:MAX_STRANGE]])
    more = f"; and {len(strange) - MAX_STRANGE} more" if len(strange) > MAX_STRANGE else ""
    return f"entries of the list of batches are skipped, since they show none: {shown}{more}"


def may_pass(error: Error) -> bool:
    """Whether a batch may be handed over after all, or was taken although nobody said so."""
    if isinstance(error, UpstreamError):
        return error.retryable or (error.status or 0) >= 500
    return isinstance(error, TransportError | DecodeError)
