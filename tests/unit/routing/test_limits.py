"""Limits on our own side: who is let through, who waits, in which order and for how long."""

from __future__ import annotations

import asyncio
import gc
import threading
import time

import pytest

from interlingua.errors import ConfigError, RateLimitError
from interlingua.registry.allowance import Allowance, allowance
from interlingua.routing.limits import MAX_WAITING, Gate, Limiter, Load, Ticket, Waiter
from interlingua.routing.window import Ledger
from tests.support.trying import at_best

A = "openai/gpt-5.6"


class Clock:
    """A clock that moves when it is told to."""

    now_s: float = 1000.0

    def __call__(self) -> float:
        """The time."""
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    """Noon."""
    return Clock()


def make_limiter(clock: Clock, **limits: int) -> Limiter:
    """A limiter with one limit for everything."""
    made = Limiter(clock)
    made.set("*", allowance(limits))
    return made


def make_waiter(clock: Clock, tokens: int = 0, within_s: float = 600.0) -> Waiter:
    """A call in the line that counts how often it is woken."""
    return Waiter(A, tokens, clock.now_s + within_s, lambda: None)


# Which limit holds


def test_without_limits_nothing_is_asked(clock: Clock) -> None:
    """A target without a limit costs a look into an empty table, and its ticket is no one's."""
    limiter = Limiter(clock)
    assert not limiter.covers(A)
    assert not limiter.would_wait(A)
    ticket = limiter.enter(A, 1_000_000)
    ticket.leave()
    assert limiter.loads() == {}


def test_an_exact_pattern_wins_then_the_longest_beginning(clock: Clock) -> None:
    """One limit applies to a target: the one that says most about it."""
    limiter = Limiter(clock)
    for pattern in ("*", "openai/*", "openai/gpt-*", "openai/gpt-5.6"):
        limiter.set(pattern, Allowance(concurrency=1))
    for target in ("openai/gpt-5.6", "openai/gpt-5.5", "openai/o9", "groq/x"):
        limiter.enter(target).leave()
        ticket = limiter.enter(target)
        assert [limiter.would_wait(name) for name in ("openai/gpt-5.6", "openai/gpt-5.5", "openai/o9", "groq/x")] == [
            name == target for name in ("openai/gpt-5.6", "openai/gpt-5.5", "openai/o9", "groq/x")
        ]
        ticket.leave()


def test_targets_of_a_pattern_share_what_it_allows(clock: Clock) -> None:
    """A limit is of the account, not of each model."""
    limiter = Limiter(clock)
    limiter.set("openai/*", Allowance(concurrency=1))
    with limiter.enter("openai/a"):
        assert limiter.would_wait("openai/b")
    assert not limiter.would_wait("openai/b")


def test_code_goes_before_the_file_and_a_new_file_forgets_the_old(clock: Clock) -> None:
    """What code says holds; a limit without numbers lifts what the file says."""
    limiter = Limiter(clock)
    limiter.load_file({"openai/*": Allowance(rpm=1), "groq/*": Allowance(rpm=2)})
    limiter.set("openai/*", Allowance(rpm=3))
    limiter.set("groq/*", Allowance())
    assert {pattern: load.allowance for pattern, load in limiter.loads().items()} == {"openai/*": Allowance(rpm=3)}
    limiter.load_file({"x/*": Allowance(rpm=4)})
    assert list(limiter.loads()) == ["openai/*", "x/*"]


@pytest.mark.parametrize("pattern", ["", "openai", "op*ai/x", "a/b,c/d", "**", "a/", "/m", "/*", " a/m", "a/m "])
def test_a_pattern_that_names_no_target_is_refused(clock: Clock, pattern: str) -> None:
    """A limit that could never hold is a mistake."""
    with pytest.raises(ConfigError, match="names no target; a limit is for provider/model"):
        Limiter(clock).set(pattern, Allowance(rpm=1))


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"rpm": 0}, "rpm is a whole number from 1 on, not '0'"),
        ({"tpm": -1}, "tpm is a whole number from 1 on, not '-1'"),
        ({"concurrency": True}, "concurrency is a whole number from 1 on, not 'True'"),
        ({"rpm": 1.5}, "rpm is a whole number from 1 on, not '1.5'"),
        ({"rps": 1}, "unknown limit 'rps'; known: concurrency, rpm, tpm"),
    ],
)
def test_a_limit_is_a_whole_number_from_one_on(members: dict[str, object], sentence: str) -> None:
    """The sentence names what was wrong."""
    with pytest.raises(ConfigError) as caught:
        allowance(members)
    assert caught.value.message == sentence


# Windows, exactly


def test_rpm_holds_in_any_sixty_seconds(clock: Clock) -> None:
    """Three a minute: the fourth comes a minute after the first, the fifth a minute after the second."""
    gate = Gate("*", Allowance(rpm=3), clock)
    for second in (1000.0, 1010.0, 1020.0):
        clock.now_s = second
        assert gate.try_now(0) is not None
    first, second = make_waiter(clock), make_waiter(clock)
    gate.join(first)
    gate.join(second)
    assert gate.turn(first) == 40.0
    assert gate.turn(second) == 600.0
    clock.now_s = 1059.5
    assert gate.turn(first) == 0.5
    clock.now_s = 1060.0
    assert isinstance(gate.turn(first), Ticket)
    assert gate.turn(second) == 10.0
    clock.now_s = 1070.0
    assert isinstance(gate.turn(second), Ticket)


def test_tpm_is_estimated_at_entry_and_settled_at_leave(clock: Clock) -> None:
    """What a call did not use is there for the next one at once; what it used more is missing."""
    limiter = make_limiter(clock, tpm=1_000)
    ticket = limiter.enter(A, 800)
    assert limiter.would_wait(A, 300)
    ticket.leave(100)
    assert not limiter.would_wait(A, 900)
    assert limiter.would_wait(A, 901)
    limiter.enter(A, 100).leave(2_000)
    assert limiter.loads()["*"].tokens == 2_100
    clock.now_s += 60.0
    assert not limiter.would_wait(A, 1_000)


def test_what_a_long_call_used_more_counts_when_it_ends(clock: Clock) -> None:
    """An answer of ninety seconds is not forgotten because it began too long ago; what it used less is gone by then."""
    limiter = make_limiter(clock, tpm=1_000)
    more, less = limiter.enter(A, 10), limiter.enter(A, 10)
    clock.now_s += 90.0
    more.leave(710)
    less.leave(1)
    assert limiter.loads()["*"] == Load(allowance=Allowance(tpm=1_000), running=0, waiting=0, requests=0, tokens=700)


def test_what_is_estimated_above_a_whole_minute_goes_alone(clock: Clock) -> None:
    """A guess of ours never makes a request impossible."""
    limiter = make_limiter(clock, tpm=1_000)
    limiter.enter(A, 1)
    assert limiter.would_wait(A, 5_000)
    clock.now_s += 60.0
    ticket = limiter.enter(A, 5_000)
    assert ticket.tokens == 1_000
    assert limiter.would_wait(A, 1)
    ticket.leave(5_000)
    assert limiter.loads()["*"].tokens == 5_000


def test_unknown_usage_leaves_the_estimate(clock: Clock) -> None:
    """A call that failed is charged what it was thought to need, once."""
    limiter = make_limiter(clock, tpm=1_000)
    ticket = limiter.enter(A, 400)
    ticket.leave()
    ticket.leave(0)
    assert limiter.loads()["*"] == Load(allowance=Allowance(tpm=1_000), running=0, waiting=0, requests=1, tokens=400)


def test_grants_within_a_grain_are_kept_together_and_never_too_early() -> None:
    """A shared store keeps sixty entries a minute instead of thousands, and is late by at most a grain."""
    ledger = Ledger(grain_s=1.0)
    allowed = Allowance(rpm=100)
    for hundredth in range(100):
        ledger.enter(allowed, 0, 5.0 + hundredth / 25)
    assert ledger.requests == 100
    assert ledger.wait_s(allowed, 0, 10.0) == pytest.approx(56.0)
    ledger.forget(66.0)
    assert ledger.requests == 74


# The line


def test_the_line_is_first_come_first_served(clock: Clock) -> None:
    """Who needs little does not overtake who needs much, also not who comes anew."""
    gate = Gate("*", Allowance(tpm=100), clock)
    assert gate.try_now(60) is not None
    big, small = make_waiter(clock, 50), make_waiter(clock, 1)
    gate.join(big)
    gate.join(small)
    assert gate.try_now(1) is None
    assert gate.would_wait(1)
    assert gate.turn(small) == 600.0
    clock.now_s += 60.0
    assert isinstance(gate.turn(big), Ticket)
    assert isinstance(gate.turn(small), Ticket)


def test_who_leaves_the_line_wakes_the_next(clock: Clock) -> None:
    """A waiter that goes away never holds what it waited for."""
    woken: list[str] = []
    gate = Gate("*", Allowance(concurrency=1), clock)
    ticket = gate.try_now(0)
    assert ticket is not None
    first, second = [Waiter(A, 0, 2000.0, lambda name=name: woken.append(name)) for name in ("first", "second")]
    gate.join(first)
    gate.join(second)
    ticket.leave()
    assert woken == ["first"]
    gate.go(first)
    gate.go(first)
    assert woken == ["first", "second"]
    assert isinstance(gate.turn(second), Ticket)


def test_a_full_line_turns_away_at_once(clock: Clock) -> None:
    """A thousand wait; the next one is told when to come again."""
    gate = Gate("openai/*", Allowance(rpm=1), clock)
    gate.try_now(0)
    for _ in range(MAX_WAITING):
        gate.join(make_waiter(clock))
    clock.now_s += 20.0
    with pytest.raises(RateLimitError) as caught:
        gate.join(make_waiter(clock))
    assert caught.value.message == (f"{A}: the limit of our own for openai/* is reached, and 1,000 calls wait already")
    assert (caught.value.code, caught.value.retry_after_s, caught.value.retryable) == ("client_limit", 40.0, True)
    assert len(gate.line) == MAX_WAITING


def test_who_would_be_too_late_is_told_at_once(clock: Clock) -> None:
    """There is no sense in waiting for what cannot come in time; those ahead count."""
    gate = Gate("openai/*", Allowance(rpm=2), clock)
    gate.try_now(0)
    clock.now_s += 10.0
    gate.try_now(0)
    gate.join(make_waiter(clock, within_s=50.0))
    with pytest.raises(RateLimitError, match=r"that takes at least 60\.0 s, with 59\.0 s left") as caught:
        gate.join(make_waiter(clock, within_s=59.0))
    assert caught.value.retry_after_s == 60.0
    gate.join(make_waiter(clock, within_s=60.0))
    assert len(gate.line) == 2


def test_whose_time_is_over_leaves_the_line(clock: Clock) -> None:
    """A deadline that passes in the line is a RateLimitError, and the next one is woken."""
    woken: list[int] = []
    gate = Gate("*", Allowance(concurrency=1), clock)
    ticket = gate.try_now(0)
    assert ticket is not None
    first = make_waiter(clock, within_s=3.0)
    gate.join(first)
    gate.join(Waiter(A, 0, 2000.0, lambda: woken.append(1)))
    assert gate.turn(first) == 3.0
    clock.now_s += 3.0
    with pytest.raises(RateLimitError, match="the call's time is over") as caught:
        gate.turn(first)
    assert caught.value.retry_after_s == 1.0
    assert woken == [1]
    assert len(gate.line) == 1


def test_a_lost_ticket_comes_back(clock: Clock) -> None:
    """A call that was dropped without an end does not take its place along."""
    limiter = make_limiter(clock, concurrency=1)
    limiter.enter(A)
    gc.collect()
    assert not limiter.would_wait(A)
    gate = Gate("*", Allowance(concurrency=1), clock)
    ticket = gate.try_now(0)
    assert ticket is not None
    with gate.lock:
        del ticket
        gc.collect()
        assert gate.ledger.running == 1
        assert not gate.would_wait(0)


def test_a_limit_may_change_while_calls_wait(clock: Clock) -> None:
    """Who waits is woken and finds more room; a limit that is lifted lets everybody through."""
    limiter = make_limiter(clock, rpm=1)
    limiter.enter(A).leave()
    assert limiter.would_wait(A)
    limiter.set("*", Allowance(rpm=2))
    assert not limiter.would_wait(A)
    limiter.enter(A).leave()
    assert limiter.would_wait(A)
    limiter.set("*", Allowance())
    assert not limiter.covers(A)


# Threads and tasks


def test_sixty_four_threads_share_four_places() -> None:
    """Never more than four inside, everybody gets in, nobody twice."""
    limiter = Limiter(time.monotonic)
    limiter.set("*", Allowance(concurrency=4))
    inside: set[int] = set()
    most, done = 0, 0
    lock = threading.Lock()

    def work(number: int) -> None:
        nonlocal most, done
        for _ in range(5):
            with limiter.enter(A, within_s=30.0):
                with lock:
                    inside.add(number)
                    most = max(most, len(inside))
                time.sleep(0.0005)
                with lock:
                    inside.discard(number)
                    done += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, done) == (4, 320)
    assert limiter.loads()["*"].running == limiter.loads()["*"].waiting == 0


async def test_a_thousand_tasks_come_in_their_order() -> None:
    """First come, first served, with three places."""
    limiter = Limiter(time.monotonic)
    limiter.set("*", Allowance(concurrency=3))
    came: list[int] = []

    async def work(number: int) -> None:
        with await limiter.enter_async(A):
            came.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*[work(number) for number in range(1_000)])
    assert came == sorted(came)
    assert limiter.loads()["*"].running == 0


async def test_cancelled_tasks_take_nothing_along() -> None:
    """Every second of a thousand is cancelled, some of them in the moment that they are woken; the others get in."""
    limiter = Limiter(time.monotonic)
    limiter.set("*", Allowance(concurrency=2))
    came: list[int] = []

    async def work(number: int) -> None:
        with await limiter.enter_async(A):
            came.append(number)
            await asyncio.sleep(0)
            if number + 2 < 1_000:
                tasks[number + 2 - number % 2].cancel()

    tasks = [asyncio.create_task(work(number)) for number in range(1_000)]
    for task in tasks[501::2]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    cancelled = [number for number, result in enumerate(results) if isinstance(result, asyncio.CancelledError)]
    assert len(cancelled) >= 500
    assert came == sorted(came)
    load = limiter.loads()["*"]
    assert (load.running, load.waiting) == (0, 0)
    assert not limiter.would_wait(A)


async def test_threads_and_tasks_stand_in_one_line() -> None:
    """A task that leaves wakes a thread, and a thread that leaves wakes a task."""
    limiter = Limiter(time.monotonic)
    limiter.set("*", Allowance(concurrency=1))
    came: list[str] = []

    def in_thread(name: str) -> None:
        with limiter.enter(A, within_s=20.0):
            came.append(name)

    async def in_task(name: str) -> None:
        with await limiter.enter_async(A, within_s=20.0):
            came.append(name)

    with limiter.enter(A):
        waiting: list[asyncio.Future[None]] = []
        for number in range(6):
            name = f"{number}"
            waiting.append(asyncio.ensure_future(in_task(name) if number % 2 else asyncio.to_thread(in_thread, name)))
            while limiter.loads()["*"].waiting <= number:  # noqa: ASYNC110 - a thread in the line tells nobody
                await asyncio.sleep(0.001)
    await asyncio.gather(*waiting)
    assert came == ["0", "1", "2", "3", "4", "5"]


def test_waiting_ends_at_the_deadline() -> None:
    """In both faces; the time is real here."""
    limiter = Limiter(time.monotonic)
    limiter.set("*", Allowance(concurrency=1))

    def waited_s() -> float:
        began = time.monotonic()
        with pytest.raises(RateLimitError):
            asyncio.run(limiter.enter_async(A, within_s=0.05))
        with pytest.raises(RateLimitError):
            limiter.enter(A, within_s=0.05)
        took_s = time.monotonic() - began
        assert took_s >= 0.1
        return took_s

    with limiter.enter(A):
        assert at_best(lambda: waited_s() < 2.0)
    assert limiter.loads()["*"].waiting == 0


def test_a_minute_is_slept_through_by_the_first_alone() -> None:
    """With a window that is over in a moment, who waits gets in by itself: nobody has to wake it."""
    now_s = time.monotonic() - 59.9
    clock = Clock()
    clock.now_s = now_s
    limiter = Limiter(lambda: now_s if not moved else time.monotonic())
    moved: list[bool] = []
    limiter.set("*", Allowance(rpm=1))
    limiter.enter(A).leave()
    moved.append(True)
    limiter.enter(A, within_s=5.0).leave()
    assert limiter.loads()["*"].requests == 1
