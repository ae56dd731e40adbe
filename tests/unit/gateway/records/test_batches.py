"""Writing away from the event loop: order, bounds, failures, the end."""

from __future__ import annotations

import logging
import threading

import pytest

from interlingua.gateway.records import batches
from interlingua.gateway.records.batches import Batches


def test_what_is_put_is_written_in_order_by_another_thread() -> None:
    """Everything that was put before the end, once."""
    written: list[int] = []
    threads: set[str] = set()

    def write(batch: list[int]) -> None:
        written.extend(batch)
        threads.add(threading.current_thread().name)

    queue = Batches(write, name="test", every_s=0.001)
    for number in range(1_000):
        queue.put(number)
    queue.close()
    assert written == list(range(1_000))
    assert threads == {"interlingua-test"}


def test_beyond_the_bound_it_is_dropped_and_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Putting never waits: a writer that hangs costs lines, no requests."""
    monkeypatch.setattr(batches, "MAX_WAITING", 5)
    hangs, written = threading.Event(), list[int]()

    def write(batch: list[int]) -> None:
        hangs.wait(60)
        written.extend(batch)

    queue = Batches(write, name="test", every_s=0.0)
    with caplog.at_level(logging.WARNING, logger="interlingua.gateway"):
        for number in range(100):
            queue.put(number)
    hangs.set()
    queue.close()
    assert queue.dropped >= 89
    assert len(written) + queue.dropped == 100
    assert len(caplog.records) == 1


def test_what_cannot_be_written_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """A full disk does not end the thread."""
    tried: list[list[int]] = []

    def write(batch: list[int]) -> None:
        tried.append(batch)
        raise OSError("no space")

    queue = Batches(write, name="test", every_s=0.0)
    with caplog.at_level(logging.WARNING, logger="interlingua.gateway"):
        for number in range(3):
            queue.put(number)
            while len(tried) <= number:
                threading.Event().wait(0.001)
        queue.close()
    assert tried == [[0], [1], [2]]
    assert len(caplog.records) == 1


def test_what_cannot_be_written_later_is_said_again(caplog: pytest.LogCaptureFixture) -> None:
    """And that it can be written again; not more often than once a minute, and what was lost in between counts."""
    now_s = 100.0
    outcomes = iter([OSError("full"), OSError("full"), None, OSError("full"), None, OSError("again"), None, None])
    written = threading.Semaphore(0)

    def write(_: list[int]) -> None:
        outcome = next(outcomes)
        written.release()
        if outcome is not None:
            raise outcome

    queue = Batches(write, name="test", every_s=0.0, clock=lambda: now_s)
    with caplog.at_level(logging.WARNING, logger="interlingua.gateway"):
        for number in range(8):
            if number == 5:
                now_s += batches.SAY_AGAIN_S
            queue.put(number)
            assert written.acquire(timeout=60)
            queue.close()
    assert [record.getMessage() for record in caplog.records] == [
        "test: what cannot be written is dropped, until it can be written again",
        "test: it is written again; 2 could not be",
        "test: what cannot be written is dropped, until it can be written again",
        "test: it is written again; 2 could not be",
    ]


def test_nothing_put_is_no_thread() -> None:
    """What is never used costs nothing."""
    before = set(threading.enumerate())
    queue = Batches(list[int]().extend, name="test")
    assert set(threading.enumerate()) <= before  # one of an earlier test may have ended
    queue.close()


def test_what_is_put_after_the_end_is_written_all_the_same() -> None:
    """A request that ends while the gateway closes is not lost."""
    written: list[int] = []
    queue = Batches(written.extend, name="test", every_s=0.001)
    for number in range(3):
        queue.put(number)
        queue.close()
    assert written == [0, 1, 2]
