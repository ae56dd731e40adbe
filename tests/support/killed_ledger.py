"""Processes that settle calls in one file and are killed: at every step that there is, or in the middle of a crowd.

Run as `python -m tests.support.killed_ledger steps FOLDER` or `… crowd FOLDER`; what does not hold is told and ends it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.budget import MeteredCall, Refusal, Used, used_of
from interlingua.gateway.keys.database import KeyDatabase
from interlingua.gateway.keys.file_accounts import FileAccounts
from interlingua.gateway.keys.holders import holder_here
from interlingua.gateway.keys.operations import Enter, Leave
from interlingua.gateway.keys.terms import Terms, read_budget

NOW = 1_795_348_800.0
BUDGET = read_budget("1000M tokens")
TERMS = (("key:a", Terms(rpm=1_000_000, budgets=(BUDGET,))),)
CALLS = 7
RESERVED, USED = 10, 7


def opened(path: Path) -> FileAccounts:
    """The accounts of a file, for this process."""
    return FileAccounts(path, now=lambda: NOW, holder=holder_here())


async def settle(accounts: FileAccounts, name: str, told: int) -> None:
    """One call, from its reservation to its settlement, which is told by a byte."""
    call = MeteredCall(name, holder_here(), NOW, RESERVED, 0)
    assert not isinstance(await accounts.enter(Enter(call, TERMS)), Refusal)
    await accounts.leave(Leave(call, ("key:a",), Used(USED), NOW), Row(key="a", day="d", model="m", requests=1))
    os.write(told, b".")


class Steps:
    """Counts what a process does to its files, and kills it before, within or after one of them."""

    def __init__(self, last: int) -> None:
        """Killed at the step of that number."""
        self._left = last

    def step(self) -> None:
        """One more."""
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """A function with a step before and after it."""

        def counted(*arguments: Any, **named: Any) -> Any:
            self.step()
            done = real(*arguments, **named)
            self.step()
            return done

        return counted


class Connection:
    """A connection to the database with steps around every statement."""

    def __init__(self, real: Any, steps: Steps) -> None:
        """As `real`."""
        self.execute = steps.around(real.execute)
        self.executemany = steps.around(real.executemany)
        self.close = real.close


async def _settling(path: Path, last: int, told: int) -> None:
    steps = Steps(last)
    accounts = opened(path)
    for name in ("lseek", "write"):
        setattr(os, name, steps.around(getattr(os, name)))
    connection: Any = Connection(accounts._ledger._connection, steps)
    accounts._ledger._connection = connection
    for number in range(CALLS):
        await settle(accounts, f"{os.getpid()}.{number}", told)
    await accounts.close()


def _forked(work: Callable[[int], None]) -> tuple[int, int]:
    """A process that does some work, and where what it tells can be read."""
    heard, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(heard)
        code = 1
        try:
            work(told)
            code = 0
        finally:
            os._exit(code)
    os.close(told)
    return pid, heard


async def _check(path: Path, told: int, under_way: int) -> None:
    """What was settled is there, in the accounts and in the rows, and nothing is reserved any more."""
    accounts = opened(path)
    (account,) = await accounts.accounts(["key:a"])
    used, reserved = (0, 0) if account is None else used_of(account, BUDGET, NOW)
    database = KeyDatabase(path, now=lambda: NOW)
    requests = sum(row.requests for row in database.usage())
    assert database.accounts(["key:a"]) == ({} if account is None else {"key:a": account})
    assert [row.requests for row in await accounts.used()] == ([requests] if requests else [])
    database.close()
    assert requests >= told, (requests, told)
    charged, rest = divmod(used - USED * requests, RESERVED)
    assert (rest, reserved) == (0, 0)
    assert 0 <= charged <= under_way, (charged, under_way)
    await settle(accounts, f"after {used}", os.open(os.devnull, os.O_WRONLY))
    await accounts.close()
    again = opened(path)
    (account,) = await again.accounts(["key:a"])
    assert account is not None
    assert used_of(account, BUDGET, NOW) == (used + USED, 0)
    assert (await again.used())[0].requests == requests + 1
    await again.close()


def at_every_step(folder: Path) -> int:
    """Kill a process at its first step, the next at its second, until one comes to its end; how many were killed."""
    empty, last = folder / "empty.sqlite", 0
    asyncio.run(opened(empty).close())
    while True:
        last += 1
        path = folder / f"{last}.sqlite"
        shutil.copy(empty, path)
        pid, heard = _forked(lambda told, path=path, last=last: asyncio.run(_settling(path, last, told)))
        told = b""
        while piece := os.read(heard, 64):
            told += piece
        os.close(heard)
        _, status = os.waitpid(pid, 0)
        asyncio.run(_check(path, len(told), 1))
        if not os.WIFSIGNALED(status):
            assert (status, len(told)) == (0, CALLS), (status, told)
            return last - 1


async def _crowding(path: Path, stops_at: int, told: int) -> None:
    accounts = opened(path)
    await asyncio.gather(*[_client(accounts, f"{os.getpid()}.{place}", stops_at, told) for place in range(4)])
    await accounts.close()


async def _client(accounts: FileAccounts, name: str, stops_at: int, told: int) -> None:
    for number in range(60):
        await settle(accounts, f"{name}.{number}", told)
        await asyncio.sleep(0)
        if number == stops_at:
            os.kill(os.getpid(), signal.SIGSTOP)


def in_a_crowd(folder: Path) -> None:
    """Three processes on one file, one of which is killed and one stands still until others went far ahead."""
    path = folder / "keys.sqlite"
    asyncio.run(_check(path, 0, 0))
    stops_at = (60, 10, 60)
    made = [_forked(lambda told, at=at: asyncio.run(_crowding(path, at, told))) for at in stops_at]
    (killed, first), (stopped, second), (_, third) = made
    _heard(first, 30)
    os.kill(killed, signal.SIGKILL)
    told = 30 + _heard(third)
    for _ in range(4):  # each of its clients stops it
        os.waitpid(stopped, os.WUNTRACED)
        os.kill(stopped, signal.SIGCONT)
    told += _heard(first) + _heard(second)
    for pid in (killed, stopped, made[2][0]):
        os.waitpid(pid, 0)
    assert told >= 2 * 4 * 60 + 30, told
    asyncio.run(_check(path, told + 1, 4))


def _heard(file: int, least: int = sys.maxsize) -> int:
    """How many settlements are told, up to that many or to the end."""
    count = 0
    while count < least and (piece := os.read(file, min(64, least - count))):
        count += len(piece)
    return count


if __name__ == "__main__":
    kind, place = sys.argv[1:]
    if kind == "steps":
        print(at_every_step(Path(place)))  # noqa: T201 - a script
    else:
        in_a_crowd(Path(place))
