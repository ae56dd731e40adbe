"""Where the accounts of keys are kept: the face of such a store, and rows of what was used.

Rules
- A store applies an operation to all of its accounts or to none, and no two operations at the same time.
- What was settled stays settled: `leave` returns when the store would still know it if the process were killed.
- The face is awaited, so that a store on another machine can have it. What needs no waiting is done at once,
  by plain calls (`AtOnce`): on a gateway's own machine that is so for all calls but a few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence

    from interlingua.gateway.keys.budget import Account, Call, Enter, Leave, Owed, Refusal, Used

__all__ = ["COUNTS", "Accounts", "AtOnce", "Row", "add_rows", "added", "chosen"]


class Row(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a key has used of one model on one day; also what one call adds to that."""

    key: str
    """The name of the key."""
    day: str
    """The day in UTC, as `2026-11-22`."""
    model: str
    """The target, `provider/model`; empty where none answered."""
    requests: int = 0
    """Calls that were let in."""
    failed: int = 0
    """Of these: calls without an answer; and tries of this target that failed after it had answered."""
    input_tokens: int = 0
    """Tokens read."""
    output_tokens: int = 0
    """Tokens written."""
    estimated: int = 0
    """Calls whose tokens nobody counted, so that they were estimated."""
    nano_usd: int = 0
    """What it cost, as far as that is known, in billionths of a dollar."""
    unpriced: int = 0
    """Calls whose price is not known."""


class AtOnce(Protocol):
    """Accounts that seldom have to wait for anything."""

    def enter_now(self, call: Call, terms: Owed) -> Refusal | bool:
        """As `enter`: True where the call is in; False where that has to be awaited, and nothing was done."""
        ...

    def leave_now(self, call: Call, accounts: tuple[str, ...], used: Used, now_s: float, rows: tuple[Row, ...]) -> bool:
        """As `leave`; False where that has to be awaited, and nothing was done."""
        ...


class Accounts(Protocol):
    """Keeps the accounts of keys and teams, and what was used."""

    @property
    def at_once(self) -> AtOnce | None:
        """What does most of it by plain calls, where nobody has to be asked who is far away.

        There a call cannot be left in the middle of a method: none waits, but before it begins or after it has.
        """
        ...

    @property
    def is_shared(self) -> bool:
        """Whether other processes have the same accounts."""
        ...

    def enter(self, operation: Enter) -> Awaitable[Refusal | None]:
        """Reserve what a call may use; the refusal where it does not fit."""
        ...

    def leave(self, operation: Leave, *rows: Row) -> Awaitable[None]:
        """Settle a call, and add rows to what was used."""
        ...

    async def used(self, key: str = "", since: str = "") -> list[Row]:
        """What was used, by key, day and model; of one key where it is named, from a day on."""
        ...

    async def accounts(self, names: Sequence[str]) -> list[Account | None]:
        """The account of each name, as it was written last; None for one that nobody has used."""
        ...

    async def close(self) -> None:
        """Write what is still to be written, and let go of what is open."""
        ...


COUNTS = ("requests", "failed", "input_tokens", "output_tokens", "estimated", "nano_usd", "unpriced")
"""The members of a row that are summed."""


def chosen(rows: Iterable[Row], key: str = "", since: str = "") -> list[Row]:
    """Rows by key, day and model; of one key where it is named, from a day on."""
    found = [row for row in rows if key in ("", row.key) and row.day >= since]
    return sorted(found, key=lambda row: (row.key, row.day, row.model))


def add_rows(known: dict[tuple[str, str, str], Row], rows: Iterable[Row]) -> None:
    """Add rows to those that are known, by key, day and model."""
    for row in rows:
        place = row.key, row.day, row.model
        known[place] = added(known[place], row) if place in known else row


def added(first: Row, second: Row) -> Row:
    """Both rows as one."""
    return Row(
        key=first.key,
        day=first.day,
        model=first.model,
        requests=first.requests + second.requests,
        failed=first.failed + second.failed,
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        estimated=first.estimated + second.estimated,
        nano_usd=first.nano_usd + second.nano_usd,
        unpriced=first.unpriced + second.unpriced,
    )
