"""The accounts of keys in this process's memory.

Rules
- Nothing is kept of them: what keys have used ends with the process.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from interlingua.gateway.keys.accounts import add_rows, chosen
from interlingua.gateway.keys.operations import Tallies

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.keys.budget import Account, Refusal
    from interlingua.gateway.keys.operations import Enter, Leave, Operation

__all__ = ["MemoryAccounts"]


class MemoryAccounts:
    """Accounts in this process."""

    is_shared: bool = False
    """Every process has its own."""

    def __init__(self) -> None:
        """No account was used yet."""
        self._tallies = Tallies()
        self._used: dict[tuple[str, str, str], Row] = {}

    @property
    def rows(self) -> list[Row]:
        """The use, in no order; also for a thread that other workers are answered from."""
        return list(self._used.copy().values())

    def enter(self, operation: Enter) -> Awaitable[Refusal | None]:
        """Reserve the most that a call may use; the refusal of a call that does not fit."""
        return self._done(operation)

    def leave(self, operation: Leave, *rows: Row) -> Awaitable[object]:
        """Settle a call, and add rows to what was used."""
        add_rows(self._used, rows)
        return self._done(operation)

    async def used(self, key: str = "", since: str = "") -> list[Row]:
        """The use, by key, day and model; of one key where it is named, from a day on."""
        return chosen(self.rows, key, since)

    async def accounts(self, names: Sequence[str]) -> list[Account | None]:
        """The account of each name; None for one that nobody has used."""
        return [self._tallies.value(name) for name in names]

    async def close(self) -> None:
        """Nothing: what is in memory ends with the process."""

    def _done(self, operation: Operation) -> Awaitable[Refusal | None]:
        done: asyncio.Future[Refusal | None] = asyncio.get_running_loop().create_future()
        done.set_result(self._tallies.apply(operation))
        self._tallies.changed.clear()
        return done
