"""Every entry of the list of equivalent mutants names one that can still be made, and every suite that is tried exists.

A stale entry hides nothing, but its mutant then counts as one that survived; a suite that is gone kills none.
"""

from __future__ import annotations

import tomllib
from functools import cache

from mutants.__main__ import ROOT, SUITES
from mutants.operators import find_mutants
from tests.support.cells import cells

ENTRIES: list[dict[str, str]] = tomllib.loads((ROOT / "mutants/equivalent.toml").read_text("utf-8"))["equivalent"]
NAMES = [entry["mutant"] for entry in ENTRIES]


@cache
def names_in(module: str) -> frozenset[str]:
    """The names of all mutants of a module."""
    source = (ROOT / "src" / f"{module.replace('.', '/')}.py").read_text("utf-8")
    return frozenset([mutant.name for mutant in find_mutants(source, module)[1]])


@cells("name", NAMES)
def test_an_equivalent_mutant_can_still_be_made(name: str) -> None:
    """Its module, its function and its words are in the sources; where they moved, the entry has to follow."""
    assert name in names_in(name.partition(":")[0])


def test_no_equivalent_mutant_is_listed_twice_or_without_a_reason() -> None:
    """Each is listed once, and the list says why it is not counted."""
    assert len(set(NAMES)) == len(NAMES)
    assert [entry["mutant"] for entry in ENTRIES if not entry["reason"]] == []


@cells("suite", SUITES)
def test_a_suite_that_is_tried_on_mutants_exists(suite: str) -> None:
    """A file that was renamed is not left out in silence."""
    assert (ROOT / suite).exists()
