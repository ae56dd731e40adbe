"""Every breakage of a row fits the code, names a row that has tests, and is one of a kind."""

from __future__ import annotations

from mutants.rows import Breakage, breakages, broken, row_tests, rows_without
from tests.support.cells import cells

ALL = breakages()
TESTS = row_tests()
REPAIRED = ("R03", "R07", "R15", "R17", "R24", "R36", "R40", "R44")
"""Rows whose tests did not prove them once."""


@cells("one", ALL, ids=[f"{one.row}-{one.what}" for one in ALL])
def test_a_breakage_fits_the_code(one: Breakage) -> None:
    """Its words stand there once, the module is one with the new ones, and its row names tests that could notice."""
    assert one.old != one.new
    broken(one)  # where this raises, the words have to follow the code in mutants/rows.toml
    assert TESTS[one.row]


def test_no_breakage_is_written_twice() -> None:
    """Neither its words in a row, nor what it does to a module."""
    assert len({(one.row, one.what) for one in ALL}) == len(ALL)


def test_rows_whose_tests_were_repaired_have_breakages() -> None:
    """They show what had to be shown; what other rows lack is told by the run."""
    assert not set(REPAIRED) & set(rows_without(ALL))
