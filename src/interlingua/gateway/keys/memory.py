"""The accounts of keys in this process's memory.

Rules
- Nothing is kept of them: what keys have used ends with the process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.gateway.keys.accounts import chosen
from interlingua.gateway.keys.books import Books, Left, Since, rows_of
from interlingua.gateway.keys.budget import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.keys.budget import Account, Call, Enter, Leave, Owed, Used

__all__ = ["MemoryAccounts"]


class MemoryAccounts:
    """Accounts in this process."""

    is_shared: bool = False
    """Every process has its own."""

    def __init__(self) -> None:
        """No account was used yet."""
        self._books = Books({})
        self._used = Since()

    @property
    def at_once(self) -> MemoryAccounts:
        """Itself: it never waits."""
        return self

    @property
    def rows(self) -> list[Row]:
        """What was used, in no order; also for a thread that other workers are answered from."""
        return rows_of(self._used.sums.copy())

    def enter_now(self, call: Call, terms: Owed) -> Refusal | bool:
        """Reserve what a call may use; the refusal where it does not fit."""
        line = self._books.entered(call, terms)
        if type(line) is Refusal:
            return line
        self._books.enter(line)
        return True

    def leave_now(self, call: Call, accounts: tuple[str, ...], used: Used, now_s: float, rows: tuple[Row, ...]) -> bool:
        """Settle a call, and add rows to what was used."""
        self._books.leave(Left(call, accounts, used, now_s))
        self._used.count(rows)
        return True

    async def enter(self, operation: Enter) -> Refusal | None:
        """As `enter_now`."""
        entered = self.enter_now(*operation)
        return entered if isinstance(entered, Refusal) else None

    async def leave(self, operation: Leave, *rows: Row) -> None:
        """As `leave_now`."""
        self.leave_now(*operation, rows)

    async def used(self, key: str = "", since: str = "") -> list[Row]:
        """What was used, by key, day and model; of one key where it is named, from a day on."""
        return chosen(self.rows, key, since)

    async def accounts(self, names: Sequence[str]) -> list[Account | None]:
        """The account of each name; None for one that nobody has used."""
        found = self._books.values(names)
        return [found.get(name) for name in names]

    async def close(self) -> None:
        """Nothing: what is in memory ends with the process."""
