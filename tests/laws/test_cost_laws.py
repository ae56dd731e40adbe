"""What a client's body costs grows with its size alone: every reader, every dialect, every expensive shape.

Steps are counted exactly; the time of C functions is held to the law by `make fuzz`, which has machines to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from fuzz import cost
from fuzz.cost import MAX_STEPS_A_BYTE, fuzz_costs, readers, why_not
from fuzz.shapes import SHAPES
from interlingua.dialects.table import DIALECTS
from tests.support.cells import cells


@pytest.mark.parametrize("name", DIALECTS)
@cells("shape", SHAPES)
def test_dos_03_a_byte_costs_a_bounded_number_of_steps(name: str, shape: str) -> None:
    """Twice as many bytes cost at most two and a half times as many steps."""

    def make(size: int) -> bytes:
        return SHAPES[shape](name, size, Random(5))

    problems = {kind: why_not(read, make, timed=False)[0] for kind, read in readers(name).items()}
    assert problems == dict.fromkeys(problems, "")


def test_a_reader_that_is_worse_than_linear_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the times that a clock gives for four sizes; a single step between two of them is no growth."""

    def clock(read: Callable[[bytes], float], data: bytes, tries: int) -> float:
        del tries
        return read(data)

    monkeypatch.setattr(cost, "_time_of", clock)

    def problem(seconds: Callable[[int], float]) -> str:
        return why_not(lambda data: seconds(len(data)), bytes)[0]

    assert problem(lambda size: size / 1e6) == ""
    assert problem(lambda size: 0.0 if size < 200_000 else size / 1e6) == ""
    assert problem(lambda size: size**2 / 1e11) == "900.0 ms for 300,000 bytes, 3600.0 ms for 600,000"


def test_random_shapes_are_tried_until_the_time_is_over() -> None:
    """A second of them keeps the law."""
    costs = fuzz_costs(seconds=1, seed=1, timed=False)
    assert costs.failure == ""
    assert costs.inputs >= 1
    assert costs.most_steps < MAX_STEPS_A_BYTE
