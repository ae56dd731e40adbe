"""Pauses between tries, and shares of a chain's time."""

from __future__ import annotations

import pytest

from interlingua.routing.retry import Retry, pause_s, share_s

THREE = Retry(retries=3)


@pytest.mark.parametrize(
    ("number", "chance", "expected"),
    [(0, 1.0, 0.5), (1, 1.0, 1.0), (2, 1.0, 2.0), (2, 0.25, 0.5), (0, 0.0, 0.0), (3, 1.0, None)],
)
def test_pauses_double_and_are_drawn_from_their_whole_span(number: int, chance: float, expected: float | None) -> None:
    """Full jitter: from 0 to the bound of this try; no pause after the last try."""
    assert pause_s(THREE, number, None, chance, is_last=True) == expected


def test_pauses_stop_growing() -> None:
    """The longest own pause is 8 seconds."""
    assert pause_s(Retry(retries=20), 12, None, 1.0, is_last=True) == 8.0


@pytest.mark.parametrize(
    ("asked_s", "is_last", "expected"),
    [
        (3.0, True, 3.25),
        (3.0, False, 3.25),
        (60.0, True, 60.25),
        (60.1, True, None),
        (8.0, False, 8.25),
        (9.0, False, None),
    ],
)
def test_retry_after_wins_up_to_a_bound(asked_s: float, is_last: bool, expected: float | None) -> None:
    """The peer's wish is kept to, a little spread out; where another target is left, only as long as our own pauses."""
    assert pause_s(Retry(), 0, asked_s, 0.5, is_last=is_last) == expected


def test_time_is_shared_by_the_targets_that_are_left() -> None:
    """A third, then half of what is left, then all of it; never nothing, which would mean for ever."""
    assert share_s(60.0, 3) == 20.0
    assert share_s(40.0, 2) == 20.0
    assert share_s(20.0, 1) == 20.0
    assert share_s(-1.0, 1) == 0.001
