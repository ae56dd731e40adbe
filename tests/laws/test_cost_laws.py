"""What a client's body costs grows with its size alone: every reader, every dialect, every expensive shape.

Steps are counted exactly; the time of C functions is held to the law by `make fuzz`, which has machines to itself.
"""

from __future__ import annotations

from random import Random

import pytest

from fuzz.cost import MAX_STEPS_A_BYTE, fuzz_costs, readers, why_not
from fuzz.shapes import SHAPES
from interlingua.dialects.table import DIALECTS


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", DIALECTS)
def test_dos_03_a_byte_costs_a_bounded_number_of_steps(name: str, shape: str) -> None:
    """Twice as many bytes cost at most two and a half times as many steps."""

    def make(size: int) -> bytes:
        return SHAPES[shape](name, size, Random(5))

    problems = {kind: why_not(read, make, timed=False)[0] for kind, read in readers(name).items()}
    assert problems == dict.fromkeys(problems, "")


def test_a_reader_that_is_worse_than_linear_is_found() -> None:
    """By its steps where it is Python, by its time where it is not."""

    def search(data: bytes) -> list[int]:
        return [data.count(b"\0", place) for place in range(0, len(data), 1_000)]

    assert "ms for" in why_not(search, bytes)[0]
    assert why_not(bytes.split, bytes)[0] == ""


def test_random_shapes_are_tried_until_the_time_is_over() -> None:
    """A second of them keeps the law."""
    costs = fuzz_costs(seconds=1, seed=1)
    assert costs.failure == ""
    assert costs.inputs >= 1
    assert costs.most_steps < MAX_STEPS_A_BYTE
