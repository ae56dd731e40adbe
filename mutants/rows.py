"""`python -m mutants.rows [ROW…]`: break what a row of the requirements or failures names, run the row's tests alone.

Strategy: `rows.toml` holds breakages, a few words of a module that are replaced by others. Each is put into the module
in memory, in a process of its own (`mutants.engine`), where only the tests that the row itself names are run, until one
fails. A row is noticed when each of its breakages is. The test that failed must pass without the breakage.

Status 1 when a breakage is not noticed, or no longer fits the code. The last line is `N of M rows noticed`.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import time
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mutants.engine import Outcome, Plan, run, warm_up
from mutants.operators import Mutant

__all__ = ["Breakage", "breakages", "broken", "main", "row_tests", "rows_without"]

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).parent / "rows.toml"
LISTS = (ROOT / "tests" / "requirements.toml", ROOT / "tests" / "failures.toml")
TESTS_S = 90.0
"""How many seconds of tests a row may take, as far as the bound on its process goes."""


class Breakage(NamedTuple):
    """A behaviour that a row names, broken."""

    row: str
    """The id of the row."""
    what: str
    """What no longer holds, in words."""
    file: str
    """The module, below `src/interlingua`."""
    old: str
    """The words of it that are replaced, which stand there once."""
    new: str
    """What stands there instead."""

    @property
    def path(self) -> Path:
        """Where the module is."""
        return ROOT / "src" / "interlingua" / self.file

    @property
    def module(self) -> str:
        """The module's full name."""
        parts = ("interlingua", *Path(self.file).with_suffix("").parts)
        return ".".join(parts).removesuffix(".__init__")


def breakages() -> list[Breakage]:
    """Every breakage, in the order of the list."""
    data: dict[str, list[dict[str, str]]] = tomllib.loads(DATA.read_text(encoding="utf-8"))
    return [Breakage(row, **entry) for row, entries in data.items() for entry in entries]


def row_tests() -> dict[str, list[str]]:
    """The tests that each row names; none for a row that waits."""
    found: dict[str, dict[str, Any]] = {}
    for path in LISTS:
        found |= tomllib.loads(path.read_text(encoding="utf-8"))
    return {row: list(entry.get("tests", ())) for row, entry in found.items()}


def rows_without(known: Iterable[Breakage]) -> list[str]:
    """The rows of the requirements that have tests, and no breakage yet."""
    written = {breakage.row for breakage in known}
    requirements = tomllib.loads(LISTS[0].read_text(encoding="utf-8"))
    return [row for row, entry in requirements.items() if "tests" in entry and row not in written]


def broken(breakage: Breakage) -> ast.Module:
    """The module's tree with the breakage.

    Raises: ValueError where its words do not stand there once, or the module is none with the new ones.
    """
    text = breakage.path.read_text(encoding="utf-8")
    if text.count(breakage.old) != 1:
        raise ValueError(f"its words stand {text.count(breakage.old)} times in {breakage.file}")
    try:
        return ast.parse(text.replace(breakage.old, breakage.new))
    except SyntaxError as error:
        raise ValueError(f"{breakage.file} is no module with it: {error}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Break, run, report."""
    parser = argparse.ArgumentParser("python -m mutants.rows", description="Do the tests of a row prove it?")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows such as R07 (default: all that have a breakage)")
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
    known = breakages()
    chosen = [one for one in known if not options.rows or one.row in options.rows]
    began = time.monotonic()
    warm_up()
    unnoticed = _unnoticed(chosen, options.workers)
    rows = list(dict.fromkeys(one.row for one in chosen))
    noticed = [row for row in rows if not any(one.row == row for one in unnoticed)]
    without = [row for row in options.rows or rows_without(known) if row not in rows]
    if without:
        print(f"no breakage is written yet: {' '.join(without)}")
    print(f"{len(chosen) - len(unnoticed)} of {len(chosen)} breakages noticed; {time.monotonic() - began:.0f} s")
    print(f"{len(noticed)} of {len(rows)} rows noticed")
    return 1 if unnoticed or not chosen else 0


def _unnoticed(chosen: list[Breakage], workers: int) -> list[Breakage]:
    """The breakages that no test of their row notices; each is sent as it is known."""
    tests, mutants, plans, missed = row_tests(), list[Mutant](), list[Plan](), list[Breakage]()
    trees: dict[str, tuple[str, ast.Module]] = {}
    by_name: dict[str, Breakage] = {}
    for breakage in chosen:
        try:
            mutants.append(_mutant(breakage, trees))
        except ValueError as reason:
            missed.append(breakage)
            print(f"stale      {breakage.row}  {breakage.what}: {reason}", flush=True)
            continue
        named = tests[breakage.row]
        plans.append(Plan(_stages(named), TESTS_S))
        by_name[mutants[-1].name] = breakage
    for outcome in run(mutants, plans, trees, workers=workers):
        breakage = by_name[outcome.mutant.name]
        verdict = _verdict(outcome, trees)
        if verdict != "noticed":
            missed.append(breakage)
        print(f"{verdict:<9}  {breakage.row}  {breakage.what}  {outcome.test}".rstrip(), flush=True)
    return missed


def _stages(tests: list[str]) -> list[list[str]]:
    """The tests by their file: those of units come first, since they are fast."""
    files = sorted(dict.fromkeys(test.partition("::")[0] for test in tests), key=lambda file: "/unit/" not in file)
    return [[test for test in tests if test.startswith(f"{file}::")] for file in files]


def _mutant(breakage: Breakage, trees: dict[str, tuple[str, ast.Module]]) -> Mutant:
    """The breakage as a mutant, which is put into the tree of its module in the process that runs it."""
    changed = broken(breakage)
    if breakage.module not in trees:
        source = breakage.path.read_text(encoding="utf-8")
        trees[breakage.module] = (str(breakage.path), ast.parse(source))
    tree = trees[breakage.module][1]

    def apply() -> None:
        tree.body[:] = changed.body

    return Mutant(breakage.module, breakage.row, "breakage", breakage.what, 0, 0, at_import=False, apply=apply)


def _verdict(outcome: Outcome, trees: dict[str, tuple[str, ast.Module]]) -> str:
    """`noticed`, `missed`, or `broken` where the test that failed also fails without the breakage."""
    if outcome.verdict == "timeout":
        return "noticed"
    if outcome.verdict != "killed":
        return "missed"
    if not outcome.test:
        return "broken"
    plain = outcome.mutant._replace(apply=lambda: None)
    [again] = run([plain], [Plan([[outcome.test]], TESTS_S)], trees, workers=1)
    return "noticed" if again.verdict == "survived" else "broken"


if __name__ == "__main__":
    sys.exit(main())
