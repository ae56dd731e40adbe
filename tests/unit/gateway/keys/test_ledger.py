"""The accounts of a file: shared by processes, committed in batches, closed by damage and never refilled."""

from __future__ import annotations

import asyncio
import os
import platform
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from interlingua.errors import ConfigError, InternalServerError
from interlingua.gateway.keys import ledger
from interlingua.gateway.keys.accounts import MAX_COUNT, Row
from interlingua.gateway.keys.budget import Account, MeteredCall, Refusal, Used, used_of
from interlingua.gateway.keys.database import KeyDatabase
from interlingua.gateway.keys.file import checksum_of, commits_file
from interlingua.gateway.keys.file_accounts import FileAccounts
from interlingua.gateway.keys.holders import holder_here, is_gone_here
from interlingua.gateway.keys.memory import MemoryAccounts
from interlingua.gateway.keys.operations import Enter, Leave
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.wire.json import encode

NOW = 1_795_348_800.0
TOTAL = read_budget("1000 tokens")
TERMS = (("key:a", Terms(budgets=(TOTAL,))),)
OTHER = (("key:b", Terms(budgets=(TOTAL,))),)
ROW = Row(key="a", day="2026-11-22", model="m", requests=1, input_tokens=5)
KILLED = """
import asyncio, sys
from pathlib import Path
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.budget import MeteredCall, Used
from interlingua.gateway.keys.operations import Enter, Leave
from interlingua.gateway.keys.file_accounts import FileAccounts
from interlingua.gateway.keys.holders import holder_here
from interlingua.gateway.keys.terms import Terms, read_budget

terms = (("key:a", Terms(budgets=(read_budget("1000M tokens"),))),)

async def main():
    holder = holder_here()
    accounts = FileAccounts(Path(sys.argv[1]), now=lambda: 1_795_348_800.0, holder=holder)
    async def client(name):
        for number in range(1_000_000):
            call = MeteredCall(f"{name}.{number}", holder, 1_795_348_800.0, 10, 0)
            assert await accounts.enter(Enter(call, terms)) is None
            row = Row(key="a", day="2026-11-22", model="m", requests=1, input_tokens=7)
            await accounts.leave(Leave(call, ("key:a",), Used(7), 1_795_348_800.0), row)
            sys.stdout.write("settled\\n")
            sys.stdout.flush()
    await asyncio.gather(*[client(name) for name in range(8)])

asyncio.run(main())
"""


def call(name: str, tokens: int = 0, holder: str = "h") -> MeteredCall:
    """A call."""
    return MeteredCall(name, holder, NOW, tokens, 0)


def opened(path: Path, holder: str = "here:1:x") -> FileAccounts:
    """The accounts of a file in a folder."""
    return FileAccounts(path / "keys.sqlite", now=lambda: NOW, holder=holder)


def stored(path: Path, query: str) -> list[Any]:
    """The rows of a query to the file in a folder."""
    with closing(sqlite3.connect(path / "keys.sqlite")) as connection:
        return connection.execute(query).fetchall()


async def spent(accounts: FileAccounts | MemoryAccounts, name: str = "key:a") -> tuple[int, int]:
    """How much of an account is used, and how much is reserved."""
    (account,) = await accounts.accounts([name])
    assert isinstance(account, Account)
    return used_of(account, TOTAL, NOW)


async def spent_after(path: Path) -> tuple[int, int]:
    """How much is used and reserved for a process that begins."""
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
    assert (refusal.account, refusal.left, refusal.unspent) == ("key:a", 400, 1_000)
    await accounts.leave(Leave(call("1", 600), ("key:a",), Used(100), NOW), ROW)
    await accounts.leave(Leave(call("3"), ("key:a",), Used(1), NOW), ROW)
    assert await spent(accounts) == (101, 0)
    whole = [Row(key="a", day="2026-11-22", model="m", requests=2, input_tokens=10)]
    assert await accounts.used() == whole
    await accounts.close()
    if kind == "file":
        with closing(KeyDatabase(tmp_path / "keys.sqlite", now=lambda: NOW)) as database:
            assert database.usage() == whole
            assert used_of(database.accounts(["key:a"])["key:a"], TOTAL, NOW) == (101, 0)


async def test_processes_that_share_a_file_share_its_budget(tmp_path: Path) -> None:
    """Two stores on one file let in together as many as one of them would."""
    stores = [opened(tmp_path, f"here:{number}:x") for number in (1, 2)]
    outcomes = await asyncio.gather(
        *[stores[number % 2].enter(Enter(call(str(number), 30), TERMS)) for number in range(64)]
    )
    assert outcomes.count(None) == 33
    assert await spent(stores[0]) == (0, 990)
    for store in stores:
        await store.close()


async def test_calls_of_one_moment_are_one_commit(tmp_path: Path) -> None:
    """Sixty-four calls that come together cost one transaction, and their settlements another one."""
    accounts = opened(tmp_path)
    calls = [call(str(number), 10) for number in range(64)]
    await asyncio.gather(*[accounts.enter(Enter(each, TERMS)) for each in calls])
    await asyncio.gather(*[accounts.leave(Leave(each, ("key:a",), Used(4), NOW), ROW) for each in calls])
    assert stored(tmp_path, "SELECT number FROM commits") == [(2,)]
    assert await spent(accounts) == (256, 0)
    await accounts.close()


@pytest.fixture
def other(tmp_path: Path) -> Generator[sqlite3.Connection]:
    """Another process that may write."""
    with closing(KeyDatabase(tmp_path / "keys.sqlite", now=lambda: NOW)):
        pass
    with closing(sqlite3.connect(tmp_path / "keys.sqlite", isolation_level=None)) as connection:
        yield connection


async def test_who_leaves_while_it_is_written_is_settled(tmp_path: Path, other: sqlite3.Connection) -> None:
    """A cancelled client does not take its settlement along."""
    accounts = opened(tmp_path)
    await accounts.enter(Enter(call("1", 10), TERMS))
    other.execute("BEGIN IMMEDIATE")
    leaving = accounts.leave(Leave(call("1", 10), ("key:a",), Used(4), NOW))
    task = asyncio.ensure_future(asyncio.wait_for(leaving, 10))
    await asyncio.sleep(0.005)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    other.execute("COMMIT")
    await accounts.close()
    assert await spent_after(tmp_path / "keys.sqlite") == (4, 0)


async def test_who_leaves_before_it_enters_reserves_nothing(tmp_path: Path, other: sqlite3.Connection) -> None:
    """A client that is cancelled while another process writes gives its reservation back; others go on."""
    accounts = opened(tmp_path)
    other.execute("BEGIN IMMEDIATE")
    futures = [asyncio.ensure_future(accounts.enter(Enter(call(name, 10), TERMS))) for name in "12"]
    await asyncio.sleep(0.005)
    futures[0].cancel()
    other.execute("COMMIT")
    assert await futures[1] is None
    await accounts.leave(Leave(call("3"), ("key:a",), Used(), NOW))
    assert await spent(accounts) == (0, 10)
    await accounts.close()


async def test_who_leaves_at_the_moment_when_it_enters_reserves_nothing(tmp_path: Path) -> None:
    """Its reservation is committed, and its client is cancelled before it hears of that."""
    accounts = opened(tmp_path)
    tasks = [asyncio.ensure_future(accounts.enter(Enter(call(str(number), 10), TERMS))) for number in range(9)]
    for turn in range(8):
        tasks[turn].cancel()
        await asyncio.sleep(0)
    assert await tasks[8] is None
    await accounts.leave(Leave(call("x"), ("key:a",), Used(), NOW))
    entered = [task for task in tasks if not task.cancelled()]
    assert 1 <= len(entered) < 9
    assert await spent(accounts) == (0, 10 * len(entered))
    await accounts.close()


async def test_a_file_that_is_locked_for_long_lets_nobody_in_and_forgets_nothing(
    tmp_path: Path, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls are refused, the outage is named once, and what ended meanwhile is written once it can be."""
    accounts = opened(tmp_path)
    monkeypatch.setattr("interlingua.gateway.keys.file_accounts.BUSY_S", 0.02)
    await accounts.enter(Enter(call("1", 10), TERMS))
    other.execute("BEGIN IMMEDIATE")
    for name in "23":
        with pytest.raises(InternalServerError, match="cannot be written, so nothing more is let in") as caught:
            await accounts.enter(Enter(call(name, 10), TERMS))
        assert caught.value.status == 503
    await accounts.leave(Leave(call("1", 10), ("key:a",), Used(4), NOW))
    other.execute("COMMIT")
    assert await accounts.enter(Enter(call("3", 10), TERMS)) is None
    assert await spent(accounts) == (4, 10)
    await accounts.close()
    assert [record.getMessage() for record in caplog.records] == [
        "the accounts of keys in keys.sqlite cannot be written, so keys with limits are not let in: database is locked",
        "the accounts in keys.sqlite can be written again",
    ]


async def test_what_is_left_to_be_written_is_written_at_the_end(
    tmp_path: Path, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An outage that ends before the process does costs nothing."""
    accounts = opened(tmp_path)
    monkeypatch.setattr("interlingua.gateway.keys.file_accounts.BUSY_S", 0.02)
    other.execute("BEGIN IMMEDIATE")
    await accounts.leave(Leave(call("1", 7), ("key:a",), Used(11), NOW), ROW)
    other.execute("COMMIT")
    await accounts.close()
    assert await spent_after(tmp_path / "keys.sqlite") == (4, 0), "without a reservation the difference counts"
    assert len(caplog.records) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
async def test_dos_04_a_disk_that_is_full_is_an_outage_and_ends_no_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No file may grow: limited keys are refused, settlements wait, and all of them are written afterwards."""
    accounts = opened(tmp_path)
    await accounts.enter(Enter(call("1", 10), TERMS))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, before[1]))
    try:
        outcomes = await asyncio.gather(
            *[accounts.enter(Enter(call(f"x{number}", 10), TERMS)) for number in range(3)], return_exceptions=True
        )
        await accounts.leave(Leave(call("1", 10), ("key:a",), Used(4), NOW), ROW)
        await accounts.leave(Leave(call(""), ("key:b",), Used(3), NOW), ROW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert [type(outcome) for outcome in outcomes] == [InternalServerError] * 3
    assert await accounts.enter(Enter(call("2", 20), TERMS)) is None
    assert (await spent(accounts), await spent(accounts, "key:b")) == ((4, 20), (3, 0))
    await accounts.close()
    assert len([record for record in caplog.records if "cannot be written" in record.getMessage()]) == 1


# What cannot be written, and what is damaged


@pytest.mark.parametrize(
    ("used", "row", "reason"),
    [
        (Used(5), Row("a", "2026-11-22", "m" * 4_300_000, 1), "the name of its model has more than 2048 characters"),
        (Used(10**20), ROW, f"a number of it is below 0 or above {MAX_COUNT}"),
        (Used(-5), ROW, f"a number of it is below 0 or above {MAX_COUNT}"),
        (Used(5), Row("a", "2026-11-22", "m", 1, nano_usd=2**63), f"a number of it is below 0 or above {MAX_COUNT}"),
    ],
    ids=["name", "huge", "negative", "row"],
)
async def test_mon_03_what_cannot_be_written_is_set_aside_and_closes_nobody(
    tmp_path: Path, used: Used, row: Row, reason: str
) -> None:
    """Such a call is charged as it was reserved; others of its batch are written as if it were not there."""
    accounts = opened(tmp_path)
    for name, terms in (("1", TERMS), ("2", OTHER)):
        assert await accounts.enter(Enter(call(name, 10), terms)) is None
    await asyncio.gather(
        accounts.leave(Leave(call("1", 10), ("key:a",), used, NOW), row),
        accounts.leave(Leave(call("2", 10), ("key:b",), Used(4), NOW), ROW),
    )
    assert (await spent(accounts), await spent(accounts, "key:b")) == ((10, 0), (4, 0))
    assert await accounts.enter(Enter(call("3", 990), TERMS)) is None
    assert await accounts.used() == [ROW]
    await accounts.close()
    ((kept, operation),) = stored(tmp_path, "SELECT reason, operation FROM set_aside")
    assert kept == reason
    assert len(operation) <= ledger.MAX_SHOWN_CHARACTERS


async def test_a_value_that_sqlite_does_not_take_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nobody foresaw it: the batch is written one by one, and the bad one kept apart."""
    monkeypatch.setattr(ledger, "fault_of", lambda operation, rows: "")  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    accounts = opened(tmp_path)
    bad = Row("b", "2026-11-22", "m", 1, nano_usd=2**70)
    await asyncio.gather(
        accounts.leave(Leave(call("1", 10), ("key:a",), Used(14), NOW), ROW),
        accounts.leave(Leave(call("2", 10), ("key:b",), Used(14), NOW), bad),
    )
    assert await spent(accounts) == (4, 0)
    assert await accounts.used() == [ROW]
    await accounts.close()
    assert stored(tmp_path, "SELECT reason FROM set_aside") == [
        ("OverflowError: Python int too large to convert to SQLite INTEGER",)
    ]


async def test_what_is_set_aside_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest ones stay."""
    monkeypatch.setattr(ledger, "MAX_SET_ASIDE", 3)
    accounts = opened(tmp_path)
    for number in range(5):
        await accounts.leave(Leave(call(str(number)), ("key:a",), Used(-1), NOW))
    await accounts.close()
    assert stored(tmp_path, "SELECT id FROM set_aside") == [(3,), (4,), (5,)]


def damage(path: Path, account: bytes, *, name: str = "key:a") -> None:
    """Change the bytes of an account, and leave its checksum."""
    with closing(sqlite3.connect(path / "keys.sqlite")) as connection, connection:
        connection.execute("UPDATE accounts SET account = ?, name = ? WHERE name = 'key:a'", (account, name))


async def used_up(path: Path) -> bytes:
    """A file in which key:a has used everything and key:b nothing; the account of key:a."""
    accounts = opened(path)
    for name, key in (("1", "key:a"), ("2", "key:b")):
        terms = ((key, TERMS[0][1]),)
        await accounts.enter(Enter(call(name, 1_000 if key == "key:a" else 1), terms))
        await accounts.leave(Leave(call(name, 1_000 if key == "key:a" else 1), (key,), Used(1_000), NOW), ROW)
    await accounts.close()
    ((account,),) = stored(path, "SELECT account FROM accounts WHERE name = 'key:a'")
    return account


async def test_mon_04_one_changed_byte_closes_its_account_and_refills_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is said at the start, other keys go on, `il keys usage` names it, and it is not written over."""
    account = await used_up(tmp_path)
    changed = account.replace(b"[1000,0]", b"[0000,0]", 1).replace(b"[0000,0]", b"[ 100,0]", 1)
    damage(tmp_path, changed)
    accounts = opened(tmp_path)
    assert "the account key:a is damaged, so that nobody knows what is left of its limits" in caplog.text
    with pytest.raises(InternalServerError, match="what the account key:a has used cannot be read") as caught:
        await accounts.enter(Enter(call("3", 1), TERMS))
    assert caught.value.status == 503
    await accounts.leave(Leave(call("4"), ("key:a",), Used(3), NOW), ROW)
    refusal = await accounts.enter(Enter(call("5", 1), OTHER))
    assert isinstance(refusal, Refusal)
    await accounts.close()
    assert stored(tmp_path, "SELECT account FROM accounts WHERE name = 'key:a'") == [(changed,)]
    assert len(stored(tmp_path, "SELECT * FROM set_aside")) == 1
    with (
        closing(KeyDatabase(tmp_path / "keys.sqlite", now=lambda: NOW)) as database,
        pytest.raises(ConfigError, match="the account key:a is damaged"),
    ):
        database.accounts(["key:a"])


async def test_mon_04_a_changed_name_begins_no_account_anew(tmp_path: Path) -> None:
    """While an account is there that belongs to nobody, one that is not there does not begin."""
    damage(tmp_path, await used_up(tmp_path), name="key:q")
    accounts = opened(tmp_path)
    with pytest.raises(InternalServerError, match="what the account key:a has used cannot be read"):
        await accounts.enter(Enter(call("3", 1), TERMS))
    refusal = await accounts.enter(Enter(call("4", 1), OTHER))
    assert isinstance(refusal, Refusal)
    await accounts.close()


async def test_an_account_that_is_no_account_is_damaged_whatever_its_checksum_says(tmp_path: Path) -> None:
    """Another program wrote it."""
    with closing(KeyDatabase(tmp_path / "keys.sqlite", now=lambda: NOW)):
        pass
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as connection, connection:
        text = encode({"spent": 0})
        connection.execute("INSERT INTO accounts VALUES ('key:a', ?, ?)", (text, checksum_of("key:a", text)))
    accounts = opened(tmp_path)
    with pytest.raises(InternalServerError, match="what the account key:a has used cannot be read"):
        await accounts.enter(Enter(call("1", 10), TERMS))
    await accounts.close()


def killed(path: Path, settlements: int) -> int:
    """Have a process settle calls and be killed in the middle; how many it said were settled."""
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = 0
        while told < settlements:
            assert process.stdout.readline() == b"settled\n"
            told += 1
        process.send_signal(signal.SIGKILL)
        return told + process.stdout.read().count(b"settled\n")


def test_kill_9_in_the_middle_of_settling_loses_nothing_that_was_settled(tmp_path: Path) -> None:
    """What a killed process said was settled is there; what it had reserved is charged when the next one begins."""
    path = tmp_path / "keys.sqlite"
    told = killed(path, 200)
    used, reserved = asyncio.run(spent_after(path))
    with closing(KeyDatabase(path, now=lambda: NOW)) as database:
        (row,) = database.usage()
    assert row.requests >= told
    assert row.input_tokens == 7 * row.requests
    assert reserved == 0
    open_calls, rest = divmod(used - row.input_tokens, 10)
    assert rest == 0
    assert 0 <= open_calls <= 8


def test_mon_04_a_log_with_a_changed_byte_refills_no_budget(tmp_path: Path) -> None:
    """SQLite ends such a log there and says nothing; the gateway does not start, and says how to go on."""
    path = tmp_path / "keys.sqlite"
    killed(path, 200)
    log = path.with_name("keys.sqlite-wal")
    with log.open("r+b") as file:
        file.seek(log.stat().st_size // 2)
        (byte,) = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 4]))
    lost = r"keys\.sqlite has lost the last .* changes of accounts .* remove keys\.sqlite-commits to go on"
    for _ in range(2):
        with pytest.raises(ConfigError, match=lost):
            FileAccounts(path, now=lambda: NOW, holder=holder_here())
    commits_file(path).unlink()
    asyncio.run(spent_after(path))


def test_an_older_copy_of_the_file_is_not_taken_for_what_keys_used(tmp_path: Path) -> None:
    """A copy from before some calls is refused where those calls are known to be missing."""
    path = tmp_path / "keys.sqlite"
    asyncio.run(used_up(tmp_path))
    copy = path.read_bytes()
    asyncio.run(used_up(tmp_path))
    path.write_bytes(copy)
    with pytest.raises(ConfigError, match="has lost the last 2 changes of accounts that were written to it"):
        opened(tmp_path)


def test_what_a_machine_lost_with_its_power_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """After another boot the gateway starts: what is missing is the last second at most."""
    asyncio.run(used_up(tmp_path))
    commits_file(tmp_path / "keys.sqlite").write_text(f"{9:020} another-boot\n")
    asyncio.run(spent_after(tmp_path / "keys.sqlite"))
    assert "has lost the last 5 changes of accounts that were written to it" in caplog.text
    assert "the machine ended before they were on the disk" in caplog.text


def test_a_page_that_is_damaged_is_named(tmp_path: Path) -> None:
    """The structure of the file is looked through when it is opened."""
    asyncio.run(used_up(tmp_path))
    path = tmp_path / "keys.sqlite"
    whole = bytearray(path.read_bytes())
    for page in range(1, len(whole) // 4_096):
        whole[page * 4_096 : page * 4_096 + 8] = b"\xff" * 8
    path.write_bytes(whole)
    with pytest.raises(ConfigError, match=r"keys\.sqlite is (damaged|no file of keys)"):
        opened(tmp_path)


# Earlier versions


def earlier(path: Path, *, journal: bytes) -> None:
    """A file as version 2 left it, with its journal."""
    asyncio.run(used_up(path))
    with closing(sqlite3.connect(path / "keys.sqlite")) as connection:
        connection.executescript(
            "ALTER TABLE accounts DROP COLUMN checksum; DROP TABLE commits; DROP TABLE set_aside;"
            "CREATE TABLE journal (folded INTEGER NOT NULL); INSERT INTO journal VALUES (3); PRAGMA user_version = 2;"
        )
    commits_file(path / "keys.sqlite").unlink()
    (path / "keys.sqlite-calls-3").write_bytes(journal)
    (path / "keys.sqlite-lock").write_bytes(bytes(16))


def test_a_database_of_the_version_before_goes_on(tmp_path: Path) -> None:
    """Its accounts get checksums, its empty journal goes, and the version before refuses it from then on."""
    earlier(tmp_path, journal=bytes(4_096))
    assert asyncio.run(spent_after(tmp_path / "keys.sqlite")) == (1_000, 0)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["keys.sqlite", "keys.sqlite-commits"]
    assert stored(tmp_path, "PRAGMA user_version") == [(3,)]


def test_a_journal_of_the_version_before_that_holds_calls_is_not_ignored(tmp_path: Path) -> None:
    """The sentence says what to do; nothing was changed."""
    earlier(tmp_path, journal=(120).to_bytes(8, sys.byteorder) + bytes(200))
    with pytest.raises(ConfigError, match=r"keys\.sqlite-calls-3 has calls of an earlier version of interlingua"):
        opened(tmp_path)
    assert stored(tmp_path, "PRAGMA user_version") == [(2,)]
    assert (tmp_path / "keys.sqlite-calls-3").exists()


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
