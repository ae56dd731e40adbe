"""Who was alone for long keeps the lock, and lets go as soon as anybody waits, or nothing happens."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from interlingua.gateway.keys.budget import Account, Call, Enter, Leave, Refusal, Used, used_of
from interlingua.gateway.keys.journal import Journal
from interlingua.gateway.keys.ledger import FileAccounts
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.keys.turn import ALONE, IDLE_S, Turn
from tests.support.leaping import LEAPING

NOW = 1_795_348_800.0
TOTAL = read_budget("1M tokens")
TERMS = (("key:a", Terms(budgets=(TOTAL,))),)


@pytest.fixture
def anyio_backend() -> Any:
    """Time moves by timers alone."""
    return LEAPING


def opened(path: Path, holder: str = "here:1:x") -> FileAccounts:
    """The accounts of a file in a folder."""
    return FileAccounts(path / "keys.sqlite", now=lambda: NOW, holder=holder)


async def alone(accounts: FileAccounts, name: str = "alone") -> None:
    """So many calls of nobody else that the lock is kept after them."""
    for number in range(ALONE // 2 + 1):
        call = Call(f"{name}.{number}", "h", NOW, 3)
        assert await accounts.enter(Enter(call, TERMS)) is None
        await accounts.leave(Leave(call, ("key:a",), Used(1), NOW))


async def spent(accounts: FileAccounts) -> tuple[int, int]:
    """What of the account is used, and what is reserved."""
    (account,) = await accounts.accounts(["key:a"])
    assert isinstance(account, Account)
    return used_of(account, TOTAL, NOW)


async def let_go(accounts: FileAccounts) -> None:
    """Wait until the lock is no longer kept; a busy machine lets timers wait."""
    async with asyncio.timeout(5):
        while accounts._turn.is_kept:  # noqa: ASYNC110 - what is waited for is a timer
            await asyncio.sleep(IDLE_S)


@pytest.fixture
def other(tmp_path: Path) -> Generator[Journal]:
    """Another process that may have the lock."""
    journal = Journal(tmp_path / "keys.sqlite", 4_096)
    yield journal
    journal.close()


async def test_it_is_kept_after_many_turns_alone_and_let_go_with_the_turn_after_it_is_wanted(
    tmp_path: Path, other: Journal
) -> None:
    """Before that everybody has it between two turns; after it, who waits; and then it is not kept again at once."""
    accounts = opened(tmp_path)
    await accounts.accounts([])
    assert other.lock()
    other.unlock()
    await alone(accounts)
    assert not other.lock()
    assert other.is_wanted
    await accounts.accounts([])
    assert (other.lock(), other.is_wanted) == (True, False)
    other.unlock()
    await accounts.accounts([])
    assert other.lock()
    other.unlock()
    await accounts.close()


async def test_what_waits_is_done_once_nothing_happens(other: Journal) -> None:
    """After the lock was let go, not while calls come; once for each time of rest."""
    rests: list[bool] = []
    turn = Turn(other, lambda: rests.append(turn.is_kept))
    for _ in range(ALONE + 1):
        assert turn.begins()
        turn.met(others=False)
        turn.ends()
    assert (turn.is_kept, rests) == (True, [])
    await asyncio.sleep(IDLE_S * 6)
    assert (turn.is_kept, rests) == (False, [False])
    turn.close()


async def test_who_does_nothing_lets_go(tmp_path: Path, other: Journal) -> None:
    """Nobody has to ask for it; with the next turn it is kept again."""
    accounts = opened(tmp_path)
    await alone(accounts)
    await let_go(accounts)
    assert other.lock()
    other.unlock()
    await accounts.accounts([])
    assert not other.lock()
    await let_go(accounts)
    assert other.lock()
    other.unlock()
    await accounts.close()


async def test_what_others_wrote_meanwhile_counts(tmp_path: Path) -> None:
    """One keeps the lock, another one waits for it; both have the same accounts, and neither keeps it then."""
    one = opened(tmp_path)
    await alone(one)
    two = opened(tmp_path, "here:2:x")  # in the same thread, which nobody else lets go in
    for number in range(20):
        for store in (one, two):
            assert not isinstance(await store.enter(Enter(Call(f"{number} {id(store)}", "h", NOW, 10), TERMS)), Refusal)
    assert await spent(one) == await spent(two) == (ALONE // 2 + 1, 400)
    await one.close()
    await two.close()


async def test_two_that_were_alone_in_turn_wait_for_each_other(tmp_path: Path) -> None:
    """The second one waits until the first one looks whether anybody does; nothing is lost in between."""
    one, two = opened(tmp_path), opened(tmp_path, "here:2:x")
    for round_ in range(3):
        await alone(one, f"one {round_}")
        await alone(two, f"two {round_}")
    assert await spent(one) == await spent(two) == (6 * (ALONE // 2 + 1), 0)
    await one.close()
    await two.close()


async def test_what_is_kept_is_let_go_at_the_end(tmp_path: Path, other: Journal) -> None:
    """The lock is free, and what was written stands in the database."""
    accounts = opened(tmp_path)
    await alone(accounts)
    await accounts.close()
    assert other.lock()
    other.unlock()
    again = opened(tmp_path)
    assert await spent(again) == (ALONE // 2 + 1, 0)
    await again.close()
