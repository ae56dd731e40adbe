"""Runs mutants: each in a process of its own, forked before the library is imported, for a bounded time."""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import math
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

from mutants.operators import Mutant
from mutants.reach import Reach

__all__ = ["Outcome", "Plan", "Verdict", "plan", "run", "warm_up"]

Verdict = Literal["killed", "timeout", "survived", "unreached"]

PYTEST = [
    *("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"),
    *("--no-header", "--tb=no", "--assert=plain", "--capture=sys"),
]
"""How pytest is called: until the first failure, without what only people need."""
MAX_TESTS_S = 12.0
"""The most seconds of tests, as they took without a mutant, that are tried on one mutant."""
GRACE_S = 10.0
"""Processor seconds that a mutant's run may take beyond three times its tests: an endless loop ends there."""
PATIENCE = 4
"""How many times as long its run may last: a wait without end takes no processor, and a busy machine gives little."""
WARM = ("anyio.pytest_plugin", "hypothesis.strategies", "jsonschema_rs", "msgspec", "pytest")
"""What tests need besides the library."""
BODIES = "tests/golden/test_bodies.py::test_each_body_means_and_is_written_as_the_case_says"
"""The golden bodies of every dialect; a case begins with the dialect's name."""
MAX_EXAMPLES = 25
"""How often a property is tried."""
MAX_MEMORY_BYTES = 3 * 2**30


class Plan(NamedTuple):
    """The tests for one mutant, in the order in which they are tried."""

    stages: list[list[str]]
    """The nearest first; each stage is a run of its own, so that most mutants wait for the import of few files."""
    seconds: float
    """What they take without a mutant."""


class Outcome(NamedTuple):
    """What became of one mutant."""

    mutant: Mutant
    """The fault."""
    verdict: Verdict
    """`timeout` is an endless loop: noticed, too."""
    test: str
    """The test that noticed."""


def plan(mutant: Mutant, file: str, reach: Reach) -> Plan:
    """The tests that run the changed lines: those that are nearest to the module first, of them the fastest."""
    found = reach.tests_of_module(file) if mutant.at_import else reach.tests_of(file, mutant.line, mutant.end_line)
    rooms = _rooms(file)
    stages: list[list[str]] = [[] for _ in range(len(rooms) + 1)]
    seconds = 0.0
    ordered = sorted((_distance(reach.tests[test], rooms), reach.seconds[test], reach.tests[test]) for test in found)
    for distance, took, test in ordered:
        if seconds + took <= MAX_TESTS_S:
            seconds += took
            stages[distance].append(test)
    return Plan([stage for stage in stages if stage], seconds)


def _rooms(file: str) -> list[tuple[str, ...]]:
    """Where tests are about a module, the nearest first: few files that see much, the mirrored folder, all goldens."""
    parts = Path(file).parent.parts[2:]
    mirrored = f"tests/unit/{'/'.join(parts)}/"
    if "dialects" not in parts:
        return [(mirrored,)]
    bodies = f"{BODIES}[{parts[-1].replace('_', '-')}-"
    return [(bodies, "tests/golden/test_encodings.py", "tests/golden/test_decodings.py"), (mirrored, "tests/golden/")]


def _distance(test: str, rooms: list[tuple[str, ...]]) -> int:
    return next((place for place, room in enumerate(rooms) if test.startswith(room)), len(rooms))


def warm_up() -> None:
    """Import what tests need, except the library: whoever is forked from here imports only that.

    Properties are tried on few examples and not made shorter; a mutant that takes many is left to other tests.
    """
    for name in WARM:
        importlib.import_module(name)
    from hypothesis import HealthCheck, Phase, settings

    checks = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
    few = settings(
        max_examples=MAX_EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=checks,
    )
    settings.register_profile("mutants", few)
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"  # read by tests/conftest.py
    loaded = [name for name in sys.modules if name.split(".")[0] == "interlingua"]
    if loaded:
        raise RuntimeError(f"imported too early: {loaded[0]}")


class _Lane(NamedTuple):
    """One mutant at work."""

    place: int
    pipe: int
    deadline: float


def run(
    mutants: list[Mutant], plans: list[Plan], trees: dict[str, tuple[str, ast.Module]], *, workers: int
) -> Iterator[Outcome]:
    """What became of each mutant, as it is known."""
    waiting = list(enumerate(mutants))[::-1]
    lanes: dict[int, _Lane] = {}
    while waiting or lanes:
        while waiting and len(lanes) < workers:
            place, mutant = waiting.pop()
            if not plans[place].stages:
                yield Outcome(mutant, "unreached", "")
                continue
            file, tree = trees[mutant.module]
            child, pipe = _fork(mutant, plans[place], file, tree)
            lanes[child] = _Lane(place, pipe, time.monotonic() + PATIENCE * _bound_s(plans[place]))
        for child, verdict, test in _over(lanes):
            yield Outcome(mutants[lanes.pop(child).place], verdict, test)


def _bound_s(plan: Plan) -> int:
    return math.ceil(GRACE_S + 3 * plan.seconds)


def _over(lanes: dict[int, _Lane]) -> Iterable[tuple[int, Verdict, str]]:
    """The processes that ended or took too long; waits a moment for one."""
    if not lanes:
        return []
    ready, _, _ = select.select([lane.pipe for lane in lanes.values()], [], [], 0.25)
    ended: list[tuple[int, Verdict, str]] = []
    for child, lane in lanes.items():
        if lane.pipe in ready:
            said = b""
            while piece := os.read(lane.pipe, 65_536):
                said += piece
            verdict, _, test = said.decode().partition(" ")
        elif time.monotonic() > lane.deadline:
            os.kill(child, signal.SIGKILL)
            verdict, test = "timeout", ""
        else:
            continue
        os.close(lane.pipe)
        _, status = os.waitpid(child, 0)
        ended.append((child, _verdict(verdict, status), test))
    return ended


def _verdict(said: str, status: int) -> Verdict:
    """What a process came to; one that died without a word was noticed: the interpreter itself did."""
    if said == "survived":
        return "survived"
    endless = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
    return "timeout" if endless or said == "timeout" else "killed"


def _fork(mutant: Mutant, plan: Plan, file: str, tree: ast.Module) -> tuple[int, int]:
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    status = 1
    try:
        os.close(read)
        _silence()
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (_bound_s(plan), _bound_s(plan) + 1))
        mutant.apply()
        sys.meta_path.insert(0, _Importer(mutant.module, file, tree))
        failed = next((test for stage in plan.stages if (test := _failing_test(stage)) is not None), None)
        os.write(write, b"survived" if failed is None else f"killed {failed}".encode())
        status = 0
    finally:
        os._exit(status)  # nothing of the parent may run twice


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


class _Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from its changed tree."""

    def __init__(self, module: str, file: str, tree: ast.Module) -> None:
        self.module = module
        self.file = file
        self.tree = tree

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """The specification of the one module."""
        del path, target
        if fullname != self.module:
            return None
        path = Path(self.file)
        inside = [str(path.parent)] if path.name == "__init__.py" else None
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=self.file, is_package=inside is not None)
        spec.submodule_search_locations = inside
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code in the module."""
        code = compile(ast.fix_missing_locations(self.tree), self.file, "exec", dont_inherit=True)
        exec(code, module.__dict__)


class _Chosen:
    """A pytest plugin: the tests of a plan, in its order; remembers the one that failed."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {test: place for place, test in enumerate(tests)}
        self.failed: str | None = None

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave the tests of the plan."""
        chosen = [item for item in items if self._place(item) is not None]
        items[:] = sorted(chosen, key=lambda item: self._place(item) or 0)

    def _place(self, item: Any) -> int | None:
        """Its place in the plan, which names a test with or without its parameters."""
        return self.order.get(item.nodeid, self.order.get(item.nodeid.partition("[")[0]))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember a failure."""
        if report.failed:
            self.failed = report.nodeid


def _failing_test(tests: list[str]) -> str | None:
    """The first of the tests that fails; None where all pass."""
    import pytest

    chosen = _Chosen(tests)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    status = pytest.main([*PYTEST, *files], plugins=[chosen])
    if chosen.failed is not None:
        return chosen.failed
    # Names of tests may follow from what was changed: those that are no longer there prove nothing.
    proved_nothing = status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return None if proved_nothing else "the tests cannot be imported"
