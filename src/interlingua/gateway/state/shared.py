"""Shared state of gateways in Redis or Postgres: the reasoning store, stored responses, and the accounts of keys.

Strategy: a value lies under a key of its own as JSON, for as long as it would lie in memory. Accounts are
changed by the same `budget.step` as everywhere, from what this gateway wrote last, and written by a script if that is
still there; else from what is. Operations that wait in one gateway at the same time are one such change.

Rules
- Owners are kept apart: a key is made of the digest of its owner and that of its kind and name, so that no name can
  reach what another owner keeps, and nothing can be read from a key.
- Every value has an end, and a size beyond which it is not kept, whatever the store itself is set to.
- When the store does not answer, a gateway goes on with a memory of its own, and asks again a few seconds later. What
  is deleted meanwhile is deleted there as soon as it answers.
- An account goes on, in an outage, from what was known of it last, in each gateway by itself; what was let in and
  settled then, and counted, is written to the store afterwards. A store that comes back empty gets accounts as a
  gateway knew them last.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import nullcontext
from hashlib import sha256
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from interlingua.errors import DecodeError, InternalServerError, LimitExceededError
from interlingua.gateway.keys.accounts import add_rows, as_reserved, chosen, fault_of
from interlingua.gateway.keys.batches import Batches, given_back
from interlingua.gateway.keys.budget import EMPTY, Account, Refusal
from interlingua.gateway.keys.operations import Enter, Leave, Tallies, names_of, step
from interlingua.gateway.keys.shared_usage import count_commands, usage_steps
from interlingua.gateway.keys.terms import NO_TERMS
from interlingua.gateway.state.reasoning_store import ReasoningStore
from interlingua.gateway.state.store import Entry, Key, MemoryStore
from interlingua.gateway.state.stored import KeptAnswer, KeptElsewhere, StoredResponses
from interlingua.gateway.state.turn_store import StoredTurns
from interlingua.gateway.state.turns import Turn
from interlingua.routing.commands import Drop, LinkGone, Put, Read, Swap
from interlingua.routing.outage import REST_S
from interlingua.wire.json import decode, encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.keys.batches import Outcome, Waiting
    from interlingua.gateway.keys.operations import Operation
    from interlingua.routing.commands import Command, Count, Steps
    from interlingua.routing.link import Link

__all__ = ["KEEP_S", "MAX_ENTRY_BYTES", "SharedAccounts", "SharedStore", "shared_reasoning_store", "shared_responses"]

V = TypeVar("V")
KEEP_S = 24 * 3600.0
"""How long a value is kept."""
MAX_ENTRY_BYTES = 8 * 1024 * 1024
"""The largest value that is kept."""
LARGE_BYTES = 256 * 1024
"""Values of more than this are put one after the other, `MAX_LARGE` at once."""
MAX_LARGE = 2
MEMORY_BYTES = 64 * 1024 * 1024
"""How much a gateway holds by itself while the store is away."""
MEMORY_ENTRIES = 100_000
MAX_UNSURE = 1_000
"""Beyond so many operations that wait, calls that the store may have let in are not given back, and lapse there."""
MAX_PENDING = 10_000
"""So many deletions and settlements wait at most for the store to come back."""
MAX_TRIES = 64
"""How often a change is made anew because another gateway was faster."""


def _digest(*parts: str) -> str:
    return sha256(encode(parts)).hexdigest()[:32]


class _Held(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value under a key of the reasoning store."""

    turn: Turn | None = None
    at: Key | None = None


class _Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value under the id of an answer."""

    stored: KeptAnswer | None = None
    elsewhere: KeptElsewhere | None = None


class SharedStore(Generic[V]):
    """A store behind a link that several gateways have."""

    def __init__(
        self,
        link: Link,
        room: str,
        *,
        write: Callable[[V], bytes],
        read: Callable[[bytes], V],
        clock: Callable[[], float],
        keep_s: float = KEEP_S,
        max_entry_bytes: int = MAX_ENTRY_BYTES,
        mirrors: bool = False,
    ) -> None:
        """The store behind `link` whose keys stand in `room`; `clock` gives seconds that only grow.

        `mirrors` has the memory hold everything that this gateway put, for an outage, and not only what the store did
        not take: for what nobody deletes.
        """
        self._link = link
        self._room = f"{link.prefix}{{{room}}}"
        self._write = write
        self._read = read
        self._keep_ms = int(keep_s * 1000)
        self._max_entry_bytes = max_entry_bytes
        self._mirrors = mirrors
        self._memory: MemoryStore[V] = MemoryStore(
            max_bytes=MEMORY_BYTES, max_entries=MEMORY_ENTRIES, keep_s=keep_s, clock=clock
        )
        self._to_drop: OrderedDict[str, None] = OrderedDict()
        self._large = asyncio.Semaphore(MAX_LARGE)

    async def get(self, keys: Sequence[Key]) -> list[V | None]:
        """The value of each key, or None."""
        if not keys:
            return []
        try:
            values = await self._link.run_async(self._got(keys))
        except LinkGone:
            return await self._memory.get(keys)
        if self._memory.is_empty or None not in values:
            return values
        own = await self._memory.get(keys)  # put while the store was away, or forgotten by it
        return [mine if value is None else value for value, mine in zip(values, own, strict=True)]

    async def put(self, entries: Sequence[Entry[V]]) -> None:
        """Keep values; one that is larger than may be is not kept, and what it would replace is gone."""
        written = {entry.key: self._write(entry.value) for entry in entries}
        if self._mirrors:
            await self._memory.put(entries)
        is_large = sum(map(len, written.values())) > LARGE_BYTES
        try:
            async with self._large if is_large else nullcontext():  # others would wait for them, and call it an outage
                await self._link.run_async(self._put(written))
        except LinkGone:
            if not self._mirrors:
                await self._memory.put(entries)

    async def drop(self, keys: Sequence[Key]) -> None:
        """Forget values; in an outage they are gone from here, and from the store as soon as it is back."""
        await self._memory.drop(keys)
        names = [self._name(key) for key in keys]
        try:
            await self._link.run_async(self._dropped(names))
        except LinkGone:
            self._to_drop |= dict.fromkeys(names)
            while len(self._to_drop) > MAX_PENDING:
                self._to_drop.popitem(last=False)

    def _name(self, key: Key) -> str:
        owner, kind, name = key
        return f"{self._room}:{_digest(owner)}:{_digest(kind, name)}"

    def _pending(self) -> list[Command]:
        """Commands that delete the values that are to be deleted still."""
        return [Drop(tuple(self._to_drop))] if self._to_drop else []

    def _got(self, keys: Sequence[Key]) -> Steps[list[V | None]]:
        pending = self._pending()
        *_, values = yield [*pending, Read(tuple([self._name(key) for key in keys]))]
        if pending:
            self._to_drop.clear()
        decoded: list[V | None] = []
        for value in values:
            try:
                decoded.append(None if value is None else self._read(value))
            except (DecodeError, LimitExceededError):
                decoded.append(None)  # another version wrote it: as if it were not there
        return decoded

    def _put(self, written: dict[Key, bytes]) -> Steps[None]:
        pending, commands = self._pending(), list["Command"]()
        for key, value in written.items():
            name = self._name(key)
            fits = len(value) <= self._max_entry_bytes
            commands.append(Put(name, value, self._keep_ms) if fits else Drop((name,)))
        yield [*pending, *commands]
        if pending:
            self._to_drop.clear()

    def _dropped(self, names: Sequence[str]) -> Steps[None]:
        yield [*self._pending(), Drop(tuple(names))]
        self._to_drop.clear()


def shared_reasoning_store(link: Link, clock: Callable[[], float]) -> ReasoningStore:
    """A reasoning store that several gateways have."""

    def write(value: Turn | Key) -> bytes:
        return encode(_Held(at=value) if isinstance(value, tuple) else _Held(turn=value))

    def read(value: bytes) -> Turn | Key:
        entry = decode(value, _Held)
        return _one(entry.turn, entry.at)

    return ReasoningStore(
        StoredTurns(SharedStore(link, "reasoning", write=write, read=read, clock=clock, mirrors=True))
    )


def shared_responses(link: Link, clock: Callable[[], float]) -> StoredResponses:
    """Stored responses that several gateways have."""

    def write(value: KeptAnswer | KeptElsewhere) -> bytes:
        return encode(_Answer(stored=value) if isinstance(value, KeptAnswer) else _Answer(elsewhere=value))

    def read(value: bytes) -> KeptAnswer | KeptElsewhere:
        answer = decode(value, _Answer)
        return _one(answer.stored, answer.elsewhere)

    return StoredResponses(SharedStore(link, "responses", write=write, read=read, clock=clock))


A = TypeVar("A")
B = TypeVar("B")


def _one(first: A | None, second: B | None) -> A | B:
    if first is not None:
        return first
    if second is not None:
        return second
    raise DecodeError("neither of two values is there")


class SharedAccounts:
    """Accounts in the store; every gateway that has the same address shares them."""

    is_shared: bool = True
    """Other gateways have the same accounts."""

    def __init__(self, link: Link, *, gone: Callable[[], frozenset[str]] = frozenset) -> None:
        """The accounts behind `link`, and the rows of what was used; `gone` gives processes that live no more."""
        self._link = link
        self._gone = gone
        self._room = f"{link.prefix}{{accounts}}:"
        self._batches = Batches(self._write)
        self._damaged: set[str] = set()
        self._latest: dict[str, Account] = {}
        self._written: dict[str, bytes] = {}
        self._alone: dict[str, Account] = {}
        self._missed: list[Operation] = []
        self._uncounted: dict[tuple[str, str, str], Row] = {}

    def enter(self, operation: Enter) -> Awaitable[Refusal | None]:
        """Reserve the most that a call may use; the refusal of a call that does not fit.

        Raises: InternalServerError where others change the same account without pause, and for one that is damaged.
        """
        return self._batches.enter(operation)

    def leave(self, operation: Leave, *rows: Row) -> Awaitable[object]:
        """Settle a call, and add rows to what was used."""
        return self._batches.add(operation, rows)

    async def used(self, key: str = "", since: str = "") -> list[Row]:
        """The use at all gateways by key, day and model; while the store is away, the part that it has not got yet."""
        try:
            return await self._link.run_async(usage_steps(self._link, key, since))
        except LinkGone:
            return chosen(self._uncounted.values(), key, since)

    async def accounts(self, names: Sequence[str]) -> list[Account | None]:
        """The account of each name, as it was written last."""
        if not names:
            return []
        try:
            by_name = await self._link.run_async(self._read_accounts(names))
        except LinkGone:
            return [self._alone.get(name, self._latest.get(name)) for name in names]
        return [by_name.get(name) for name in names]

    async def close(self) -> None:
        """Write what is still to be written."""
        await self._batches.settle()

    async def _write(self, batch: Sequence[Waiting]) -> Sequence[Outcome]:
        operations = [self._counted(waiting) for waiting in batch]
        try:
            outcomes = await self._link.run_async(self._applied([*self._missed, *operations]))
        except LinkGone:
            # This process goes on from its own knowledge. A call with a budget is not let in, since others may have
            # used what was left of it. The store may have let it in and not been heard, so it is given back there.
            results: list[Outcome] = []
            for operation in operations:
                if isinstance(operation, Enter) and any([terms.budgets for _, terms in operation.terms]):
                    place = f"what this key has used is in {self._link.kind}, which does not answer"
                    message = f"{place}, so nothing more is let in; ask again soon"
                    results.append(InternalServerError(message, status=503, retry_after_s=REST_S))
                    self._miss(given_back(operation), most=MAX_UNSURE)
                    continue
                changed, outcome = step({**self._latest, **self._alone}, operation)
                self._alone |= changed
                results.append(outcome)
                if outcome is None:
                    self._miss(_unlimited(operation))
            return results
        if outcomes is None:  # others were faster each time; settlements are written with the next batch
            self._missed += [operation for operation in operations if isinstance(operation, Leave)]
            busy = "what this key may use is being changed by others without pause; ask again"
            return [
                None if isinstance(operation, Leave) else InternalServerError(busy, status=503)
                for operation in operations
            ]
        own_outcomes = outcomes[len(self._missed) :]
        self._alone.clear()
        self._missed.clear()
        return own_outcomes

    def _counted(self, waiting: Waiting) -> Operation:
        """An operation, with its rows added with the next command that the store hears."""
        operation, rows, _ = waiting
        if isinstance(operation, Leave):
            fault = fault_of(operation, rows)
            if fault:
                self._log("a call of a key cannot be written, and is charged as it was reserved: %s", fault)
                return as_reserved(operation)
            if len(self._uncounted) < MAX_PENDING:
                add_rows(self._uncounted, rows)
        return operation

    def _miss(self, operation: Operation, most: int = MAX_PENDING) -> None:
        """Have an operation done when the store is back, if there are not so many already."""
        if len(self._missed) < most:
            self._missed.append(operation)

    def _applied(self, operations: Sequence[Operation]) -> Steps[list[Outcome] | None]:
        """The results of operations, written; None where others were faster each time."""
        names, retried = names_of(operations), len(self._missed)
        outcomes: list[Outcome] = [None for _ in operations]
        if not names:
            return outcomes
        keys = tuple([self._room + name for name in names])
        counts = count_commands(self._link, self._uncounted.values())
        # The values as this gateway wrote them last are a guess: a swap that succeeds proves it, and one that fails
        # says what is there. Where nothing is to be written, they are read, for a refusal has to be that of now.
        stored: tuple[bytes, ...] | None = None
        if all([name in self._written for name in names]):
            stored = tuple([self._written[name] for name in names])
        is_current = False
        for _ in range(MAX_TRIES):
            if stored is None:
                values, *_ = yield [Read(keys), *counts]
                counts = self._heard()
                stored, is_current = tuple([value or b"" for value in values]), True
            accounts = self._read(names, stored)
            tallies = Tallies(accounts)
            self._charge_gone(tallies, operations)
            for place, operation in enumerate(operations):
                if not _is_done(operation, tallies, retried=place < retried):
                    outcomes[place] = self._outcome(operation, tallies)
            accounts |= {name: tallies.value(name) or EMPTY for name in tallies.changed}
            pairs = zip(names, stored, strict=True)
            written = tuple([encode(accounts[name]) if name in tallies.changed else value for name, value in pairs])
            if written != stored:
                tally, others = (counts[0], counts[1:]) if counts else (None, counts)
                reply, *_ = yield [Swap(keys, stored, written, tally=tally), *others]
                counts = self._heard()
                if reply == 1:
                    self._latest |= accounts
                    self._written |= zip(names, written, strict=True)
                    return outcomes
                stored, is_current = tuple(reply), True
            elif is_current:
                return outcomes
            else:
                stored, outcomes = None, [None for _ in operations]
        return None

    def _heard(self) -> list[Count]:
        """No rows are left to be counted: the store has heard of all."""
        self._uncounted.clear()
        return []

    def _outcome(self, operation: Operation, tallies: Tallies) -> Outcome:
        """Do an operation; an account that is damaged lets nobody in and stays as it is."""
        if not self._damaged:
            return tallies.apply(operation)
        if isinstance(operation, Leave):
            names = tuple([name for name in operation.accounts if name not in self._damaged])
            return tallies.apply(operation._replace(accounts=names))
        damaged = [name for name, _ in operation.terms if name in self._damaged]
        if damaged:
            message = f"what the account {damaged[0]} has used cannot be read, so nothing more is let in"
            return InternalServerError(message, status=503)
        return tallies.apply(operation)

    def _charge_gone(self, tallies: Tallies, operations: Sequence[Operation]) -> None:
        """Charge the reservations of dead processes."""
        gone = self._gone()
        if gone:
            now_s = max(each.now_s if isinstance(each, Leave) else each.call.at_s for each in operations)
            tallies.charge(gone.__contains__, now_s)

    def _read_accounts(self, names: Sequence[str]) -> Steps[dict[str, Account]]:
        (values,) = yield [Read(tuple([self._room + name for name in names]))]
        return self._read(names, [value or b"" for value in values])

    def _read(self, names: Iterable[str], values: Iterable[bytes]) -> dict[str, Account]:
        """The accounts that are there; of one that the store has lost what was known of it last.

        One that is damaged is left out, which is said once.
        """
        accounts: dict[str, Account] = {}
        for name, value in zip(names, values, strict=True):
            try:
                account = decode(value, Account) if value else self._latest.get(name)
            except (DecodeError, LimitExceededError):
                self._written.pop(name, None)  # it is read anew each time, and so once it is repaired
                if name not in self._damaged:
                    self._damaged.add(name)
                    self._log("the shared account %s is damaged; delete it in the store to begin it anew", name)
                continue
            self._damaged.discard(name)
            if account is not None:
                accounts[name] = account
        return accounts

    @staticmethod
    def _log(message: str, *arguments: str) -> None:
        import logging  # only an outage needs it

        logging.getLogger("interlingua.gateway").error(message, *arguments)


def _unlimited(operation: Operation) -> Operation:
    """An operation that was let through, to be made again elsewhere: it is not asked anew whether it fits."""
    if isinstance(operation, Leave):
        return operation
    return Enter(operation.call, tuple([(name, NO_TERMS) for name, _ in operation.terms]))


def _is_done(operation: Operation, tallies: Tallies, *, retried: bool) -> bool:
    """Whether the store had done an operation of which it was not heard any more that it did.

    A settlement that is made again and has no reservation was made before, or its call was charged.
    """
    entered = tallies.has_entered(operation)
    if isinstance(operation, Leave):
        return retried and bool(operation.call.id) and not entered
    return entered
