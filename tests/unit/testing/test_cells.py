"""Cells of one test: all are tried, and each that fails is named."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.cells import cells


def _outcome(check: Callable[..., Any]) -> str:
    with pytest.raises(pytest.fail.Exception) as caught:
        check()
    return str(caught.value)


def test_every_cell_is_tried_and_each_failure_named() -> None:
    """The second and the last fail: both are in the outcome with why, and those between were tried."""
    tried: list[int] = []

    @cells(("number", "word"), [(number, f"w{number}") for number in range(5)])
    def check(number: int, word: str) -> None:
        tried.append(number)
        assert word not in ("w1", "w4")

    lines = _outcome(check).splitlines()
    assert lines[0] == "2 of 5 cells failed"
    assert {"1-w1", "4-w4"} <= set(lines)
    assert sum(line.startswith("AssertionError") for line in lines) == 2
    assert tried == [0, 1, 2, 3, 4]


def test_a_cell_that_skips_or_raises_nothing_fails() -> None:
    """What pytest itself says of a cell is told of that cell."""

    @cells("number", range(3), ids=["first", "second", "third"])
    def check(number: int) -> None:
        if number == 0:
            pytest.skip("no")
        with pytest.raises(ValueError, match="invalid"):
            int("a" if number == 1 else "1")

    text = _outcome(check)
    assert text.startswith("2 of 3 cells failed\nfirst: a cell cannot skip (no)\nthird\n")
    assert "DID NOT RAISE" in text


def test_a_cell_that_uses_up_the_time_ends_the_test() -> None:
    """No clock runs for those behind it."""
    tried: list[int] = []

    @cells("number", range(3))
    def check(number: int) -> None:
        tried.append(number)
        pytest.fail("Timeout (>300.0s) from pytest-timeout.")

    assert _outcome(check).startswith("Timeout")
    assert tried == [0]


def test_groups_and_fixtures() -> None:
    """A test for each answer of `by`; other arguments are fixtures still, and a list without cells is none."""

    @cells("number", range(4), by=lambda number: number % 2)
    def check(number: int, tmp_path: object) -> None:
        assert (number, tmp_path) == (0, "here")

    assert list(inspect.signature(check).parameters) == ["tmp_path", "cells_of"]
    with pytest.raises(pytest.fail.Exception, match="1 of 2 cells failed\n2\n"):
        check(tmp_path="here", cells_of="0")
    with pytest.raises(AssertionError, match="tests nothing"):
        cells("number", [])
