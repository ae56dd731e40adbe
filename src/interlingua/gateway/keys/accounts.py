"""The store of the accounts of keys: its interface, and rows of use.

Rules
- A store applies an operation to all of its accounts or to none, and no two operations at the same time.
- What was reserved and what was settled stays so: `enter` and `leave` are done when the store would still know it if
  the process were killed.
- Damage never makes an account smaller: one that cannot be read lets nobody in.
- An operation that a store cannot write has a place of its own there, and stands in the way of no other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from interlingua.gateway.keys.budget import Used
from interlingua.gateway.keys.operations import Leave
from interlingua.types.usage import MAX_COUNT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence

    from interlingua.gateway.keys.budget import Account, Refusal
    from interlingua.gateway.keys.operations import Enter

__all__ = [
    "COUNTS",
    "MAX_COUNT",
    "MAX_NAME_CHARACTERS",
    "Accounts",
    "Row",
    "account_of",
    "add_rows",
    "added",
    "as_reserved",
    "chosen",
    "fault_of",
]


class Row(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The use of one model by a key on one day; also the share of one call."""

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
    """The cost, as far as that is known, in billionths of a dollar."""
    unpriced: int = 0
    """Calls whose price is not known."""


class Accounts(Protocol):
    """Keeps the accounts of keys and teams, and what was used."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes have the same accounts."""
        ...

    def enter(self, operation: Enter) -> Awaitable[Refusal | None]:
        """Reserve the most that a call may use; the refusal of a call that does not fit.

        The operation waits from the call of this method on; who stops waiting for it reserves nothing.

        Raises: InternalServerError with status 503 where the store cannot be written.
        """
        ...

    def leave(self, operation: Leave, *rows: Row) -> Awaitable[object]:
        """Settle a call, and add rows to what was used; done also when nobody waits for it.

        What cannot be written now is written as soon as it can be.
        """
        ...

    async def used(self, key: str = "", since: str = "") -> list[Row]:
        """The use, by key, day and model; of one key where it is named, from a day on."""
        ...

    async def accounts(self, names: Sequence[str]) -> list[Account | None]:
        """The account of each name, as it was written last; None for one that nobody has used."""
        ...

    async def close(self) -> None:
        """Write what is still to be written, and let go of what is open."""
        ...


COUNTS = ("requests", "failed", "input_tokens", "output_tokens", "estimated", "nano_usd", "unpriced")
"""The members of a row that are summed."""
MAX_NAME_CHARACTERS = 2_048
"""How long the name of a model may be."""


def account_of(name: str, *, team: bool = False) -> str:
    """The name of a key's account, or of a team's."""
    return f"{'team' if team else 'key'}:{name}"


def fault_of(operation: Enter | Leave, rows: Iterable[Row]) -> str:
    """The fault of an operation, so that no store keeps it; empty where there is none."""
    call = operation.call
    numbers = (call.tokens, call.nano_usd)
    if isinstance(operation, Leave):
        numbers += (operation.used.tokens, operation.used.nano_usd)
    for row in rows:
        _, _, model, *counts = msgspec.structs.astuple(row)
        numbers += tuple(counts)
        if len(model) > MAX_NAME_CHARACTERS:
            return f"the name of its model has more than {MAX_NAME_CHARACTERS} characters"
    if min(numbers) < 0 or max(numbers) > MAX_COUNT:
        return f"a number of it is below 0 or above {MAX_COUNT}"
    return ""


def chosen(rows: Iterable[Row], key: str = "", since: str = "") -> list[Row]:
    """Rows by key, day and model; of one key where it is named, from a day on."""
    matching = [row for row in rows if key in ("", row.key) and row.day >= since]
    return sorted(matching, key=lambda row: (row.key, row.day, row.model))


def add_rows(by_place: dict[tuple[str, str, str], Row], rows: Iterable[Row]) -> None:
    """Add rows to those that are known, by key, day and model."""
    for row in rows:
        place = row.key, row.day, row.model
        by_place[place] = added(by_place[place], row) if place in by_place else row


def added(first: Row, second: Row) -> Row:
    """Both rows as one."""
    return Row(
        first.key,
        first.day,
        first.model,
        first.requests + second.requests,
        first.failed + second.failed,
        first.input_tokens + second.input_tokens,
        first.output_tokens + second.output_tokens,
        first.estimated + second.estimated,
        first.nano_usd + second.nano_usd,
        first.unpriced + second.unpriced,
    )


def as_reserved(operation: Leave) -> Leave:
    """The settlement of a call of which nobody knows what it used: the whole of its reservation."""
    call = operation.call
    used = Used(min(max(call.tokens, 0), MAX_COUNT), min(max(call.nano_usd, 0), MAX_COUNT))
    return operation._replace(used=used)
