"""Accounts in a file: shared by processes, written together, and never lost once they are settled."""

from __future__ import annotations

import asyncio
import errno
import os
import platform
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from interlingua.errors import InternalServerError
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.budget import Account, Call, Enter, Leave, Refusal, Used, used_of
from interlingua.gateway.keys.database import KeyDatabase
from interlingua.gateway.keys.journal import Journal
from interlingua.gateway.keys.ledger import FileAccounts, holder_here, is_gone_here
from interlingua.gateway.keys.memory import MemoryAccounts
from interlingua.gateway.keys.terms import Terms, read_budget

NOW = 1_795_348_800.0
TOTAL = read_budget("1000 tokens")
TERMS = (("key:a", Terms(budgets=(TOTAL,))),)
KILLED = """
import asyncio, sys
from pathlib import Path
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.budget import Call, Enter, Leave, Used
from interlingua.gateway.keys.journal import Journal
from interlingua.gateway.keys.ledger import FileAccounts, holder_here
from interlingua.gateway.keys.terms import Terms, read_budget

terms = (("key:a", Terms(budgets=(read_budget("1000M tokens"),))),)

async def main():
    holder = holder_here()
    accounts = FileAccounts(Path(sys.argv[1]), now=lambda: 1_795_348_800.0, holder=holder)
    async def client(name):
        for number in range(1_000_000):
            call = Call(f"{name}.{number}", holder, 1_795_348_800.0, 10, 0)
            assert await accounts.enter(Enter(call, terms)) is None
            row = Row(key="a", day="2026-11-22", model="m", requests=1, input_tokens=7)
            await accounts.leave(Leave(call, ("key:a",), Used(7), 1_795_348_800.0), row)
            sys.stdout.write("settled\\n")
            sys.stdout.flush()
    await asyncio.gather(*[client(name) for name in range(8)])

asyncio.run(main())
"""


def call(name: str, tokens: int = 0, holder: str = "h") -> Call:
    """A call."""
    return Call(name, holder, NOW, tokens, 0)


def opened(path: Path, holder: str = "here:1:x") -> FileAccounts:
    """The accounts of a file in a folder."""
    return FileAccounts(path / "keys.sqlite", now=lambda: NOW, holder=holder)


def files(path: Path) -> dict[str, int]:
    """The files of a folder, and how large they are."""
    return {each.name: each.stat().st_size for each in path.iterdir()}


async def spent(accounts: FileAccounts | MemoryAccounts, name: str = "key:a") -> tuple[int, int]:
    """What of an account is used, and what is reserved."""
    (account,) = await accounts.accounts([name])
    assert isinstance(account, Account)
    return used_of(account, TOTAL, NOW)


async def spent_after(path: Path) -> tuple[int, int]:
    """The same, for a process that begins."""
    accounts = FileAccounts(path, now=lambda: NOW, holder=holder_here())
    try:
        return await spent(accounts)
    finally:
        await accounts.close()


@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_both_stores_do_the_same(tmp_path: Path, kind: str) -> None:
    """Reserve, refuse, settle, count: one suite for every store."""
    accounts: Any = MemoryAccounts() if kind == "memory" else opened(tmp_path)
    assert await accounts.accounts(["key:a"]) == [None]
    assert await accounts.enter(Enter(call("1", 600), TERMS)) is None
    refusal = await accounts.enter(Enter(call("2", 401), TERMS))
    assert isinstance(refusal, Refusal)
    assert (refusal.account, refusal.left) == ("key:a", 400)
    row = Row(key="a", day="2026-11-22", model="m", requests=1, input_tokens=5)
    await accounts.leave(Leave(call("1", 600), ("key:a",), Used(100), NOW), row)
    await accounts.leave(Leave(call("3"), ("key:a",), Used(1), NOW), row)
    assert await spent(accounts) == (101, 0)
    await accounts.close()
    if kind == "memory":
        rows = accounts.rows
    else:
        with closing(KeyDatabase(tmp_path / "keys.sqlite", now=lambda: NOW)) as database:
            rows = database.usage()
    assert rows == [Row(key="a", day="2026-11-22", model="m", requests=2, input_tokens=10)]


async def test_processes_that_share_a_file_share_its_budget(tmp_path: Path) -> None:
    """Two stores on one file let in together what one of them would."""
    stores = [opened(tmp_path, f"here:{number}:x") for number in (1, 2)]
    outcomes = await asyncio.gather(
        *[stores[number % 2].enter(Enter(call(str(number), 30), TERMS)) for number in range(64)]
    )
    assert outcomes.count(None) == 33
    assert await spent(stores[0]) == (0, 990)
    for store in stores:
        await store.close()


async def test_what_somebody_else_wrote_is_no_account(tmp_path: Path) -> None:
    """A row that cannot be read begins anew, and nobody waits for ever."""
    with closing(KeyDatabase(tmp_path / "keys.sqlite", now=lambda: NOW)):
        pass
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as connection, connection:
        connection.execute("INSERT INTO accounts VALUES ('key:a', x'00ff')")
    accounts = opened(tmp_path)
    assert await accounts.enter(Enter(call("1", 10), TERMS)) is None
    assert await spent(accounts) == (0, 10)
    await accounts.close()


@pytest.fixture
def other(tmp_path: Path) -> Generator[Journal]:
    """Another process that may have the lock."""
    journal = Journal(tmp_path / "keys.sqlite", 4_096)
    yield journal
    journal.close()


async def test_who_leaves_while_it_is_written_is_settled(tmp_path: Path, other: Journal) -> None:
    """A cancelled client does not take its settlement along."""
    accounts = opened(tmp_path)
    await accounts.enter(Enter(call("1", 10), TERMS))
    assert other.lock()
    task = asyncio.ensure_future(accounts.leave(Leave(call("1", 10), ("key:a",), Used(4), NOW)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    other.unlock()
    await accounts.close()
    again = opened(tmp_path)
    assert await spent(again) == (4, 0)
    await again.close()


async def test_who_leaves_before_it_enters_reserves_nothing(tmp_path: Path, other: Journal) -> None:
    """A client that is cancelled while somebody else has the lock has not begun; others wait and go on."""
    accounts = opened(tmp_path)
    assert other.lock()
    tasks = [asyncio.ensure_future(accounts.enter(Enter(call(name, 10), TERMS))) for name in "12"]
    await asyncio.sleep(0.005)
    tasks[0].cancel()
    other.unlock()
    assert await tasks[1] is None
    assert await spent(accounts) == (0, 10)
    await accounts.close()


async def test_a_journal_that_cannot_be_written_lets_nobody_in_and_forgets_nothing(
    tmp_path: Path, other: Journal, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls are refused; what ended meanwhile is written once the journal can be."""
    accounts = opened(tmp_path)
    monkeypatch.setattr("interlingua.gateway.keys.ledger.BUSY_S", 0.02)
    await accounts.enter(Enter(call("1", 10), TERMS))
    assert other.lock()
    with pytest.raises(InternalServerError, match="cannot be written, so nothing more is let in"):
        await accounts.enter(Enter(call("2", 10), TERMS))
    await accounts.leave(Leave(call("1", 10), ("key:a",), Used(4), NOW))
    assert "the accounts of keys cannot be written: somebody else has locked them" in caplog.text
    other.unlock()
    assert await accounts.enter(Enter(call("3", 10), TERMS)) is None
    assert await spent(accounts) == (4, 10)
    await accounts.close()


async def test_what_is_left_to_be_written_is_written_at_the_end(
    tmp_path: Path, other: Journal, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An outage that ends before the process does costs nothing."""
    accounts = opened(tmp_path)
    monkeypatch.setattr("interlingua.gateway.keys.ledger.BUSY_S", 0.02)
    assert other.lock()
    await accounts.leave(Leave(call("1"), ("key:a",), Used(4), NOW))
    other.unlock()
    await accounts.close()
    again = opened(tmp_path)
    assert await spent(again) == (4, 0)
    await again.close()
    assert len(caplog.records) == 1


async def test_a_disk_that_is_full_is_an_outage_and_tears_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where no generation can begin, nobody is let in, and what has ended is kept until one can."""
    monkeypatch.setattr("interlingua.gateway.keys.ledger.GENERATION_BYTES", 300)
    accounts = opened(tmp_path)

    def full(file: int, size: int, capacity_bytes: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    await accounts.enter(Enter(call("1", 10), TERMS))
    with monkeypatch.context() as patch:
        patch.setattr("interlingua.gateway.keys.journal._reserve", full)
        await accounts.enter(Enter(call("2", 10), TERMS))
        outcomes = [
            await asyncio.gather(accounts.enter(Enter(call(name, 10), TERMS)), return_exceptions=True)
            for name in "3456789"
        ]
        assert isinstance(outcomes[-1][0], InternalServerError)
        await accounts.leave(Leave(call("1", 10), ("key:a",), Used(4), NOW))
        reserved = (await spent_after(tmp_path / "keys.sqlite"))[1]
    assert "No space left on device" in caplog.text
    assert await accounts.enter(Enter(call("10", 20), TERMS)) is None
    assert await spent(accounts) == (4, reserved - 10 + 20)
    await accounts.close()


async def test_a_journal_that_has_grown_is_written_into_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whoever made it grow, once; the others go on in the next generation, also one that was far behind."""
    monkeypatch.setattr("interlingua.gateway.keys.ledger.GENERATION_BYTES", 900)
    stores = [opened(tmp_path, f"here:{number}:x") for number in range(3)]
    row = Row(key="a", day="2026-11-22", model="m", requests=1, input_tokens=5)
    for number in range(20):
        accounts = stores[number % 2]  # the third one stands still
        await accounts.enter(Enter(call(str(number), 10), TERMS))
        await accounts.leave(Leave(call(str(number), 10), ("key:a",), Used(3), NOW), row)
        await asyncio.sleep(0.002)
    assert "keys.sqlite-calls-0" not in files(tmp_path)
    whole = [Row(key="a", day="2026-11-22", model="m", requests=20, input_tokens=100)]
    for accounts in stores:
        assert await spent(accounts) == (60, 0)
        assert await accounts.used() == whole
    for accounts in stores:
        await accounts.close()
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as connection:
        assert connection.execute("SELECT requests, input_tokens FROM usage").fetchall() == [(20, 100)]
        assert connection.execute("SELECT name FROM accounts").fetchall() == [("key:a",)]
    assert len([name for name in files(tmp_path) if "-calls-" in name]) == 1


async def test_a_database_of_the_version_before_goes_on(tmp_path: Path) -> None:
    """It gets the table that was not there; what was used stays, and the version before refuses it from then on."""
    accounts = opened(tmp_path)
    await accounts.leave(Leave(call("1"), ("key:a",), Used(4), NOW))
    await accounts.close()
    for name in files(tmp_path):
        if "-calls-" in name:
            (tmp_path / name).unlink()
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as connection, connection:
        connection.executescript("DROP TABLE journal; PRAGMA user_version = 1;")
    again = opened(tmp_path)
    assert await spent(again) == (4, 0)
    await again.close()
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_kill_9_in_the_middle_of_settling_loses_nothing_that_was_settled(tmp_path: Path) -> None:
    """What a killed process said was settled is there; what it had reserved is charged when the next one begins."""
    path = tmp_path / "keys.sqlite"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = 0
        while told < 200:
            assert process.stdout.readline() == b"settled\n"
            told += 1
        process.send_signal(signal.SIGKILL)
        told += process.stdout.read().count(b"settled\n")
    used, reserved = asyncio.run(spent_after(path))
    with closing(KeyDatabase(path, now=lambda: NOW)) as database:
        (row,) = database.usage()
    assert row.requests >= told
    assert row.input_tokens == 7 * row.requests
    assert reserved == 0
    open_calls, rest = divmod(used - row.input_tokens, 10)
    assert rest == 0
    assert 0 <= open_calls <= 8


def test_a_holder_is_gone_when_its_process_is() -> None:
    """This process lives; one before it with the same number, and one whose number nobody has, do not."""
    own = holder_here()
    is_gone = is_gone_here(own)
    machine = platform.node()
    assert not is_gone(own)
    assert is_gone(f"{machine}:{os.getpid()}:another")
    assert not is_gone(f"{machine}:{os.getppid()}:x")
    assert not is_gone("another-machine:1:x")
    assert not is_gone("memory")
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert is_gone(f"{machine}:{process.pid}:x")
