"""Which test runs which line: the tests run once under coverage, each in a context of its own.

Tests that fail without any mutant are left out: they can prove nothing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Reach", "measure_reach"]


class Reach(NamedTuple):
    """What each test runs, and how long it takes."""

    tests: list[str]
    """Node ids."""
    seconds: list[float]
    """How long each takes, in the same order."""
    lines: dict[str, dict[int, list[int]]]
    """File, from the root -> line -> the tests that run it, by their place in `tests`."""

    def tests_of(self, file: str, first: int, last: int) -> set[int]:
        """The tests that run one of the lines."""
        lines = self.lines.get(file, {})
        return {test for line in range(first, last + 1) for test in lines.get(line, ())}

    def tests_of_module(self, file: str) -> set[int]:
        """The tests that run any line of a module, or, where none does, of its package."""
        here = {test for tests in self.lines.get(file, {}).values() for test in tests}
        package = Path(file).parent
        return here or {
            test
            for other, lines in self.lines.items()
            if Path(other).parent == package
            for tests in lines.values()
            for test in tests
        }

    def save(self, path: Path) -> None:
        """Keep it for a later run."""
        path.write_text(json.dumps(self._asdict()), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Reach:
        """What was kept."""
        kept = json.loads(path.read_text(encoding="utf-8"))
        lines = {file: {int(line): tests for line, tests in known.items()} for file, known in kept["lines"].items()}
        return cls(kept["tests"], kept["seconds"], lines)


class _Recorder:
    """A pytest plugin: each test is a context of the coverage measurement."""

    def __init__(self, coverage: Any) -> None:
        self.coverage = coverage
        self.tests: list[str] = []
        self.seconds: list[float] = []
        self.failed: set[int] = set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """The next test begins."""
        self.coverage.switch_context(str(len(self.tests)))
        self.tests.append(nodeid)
        self.started = time.perf_counter()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A phase of the test is over."""
        if not report.passed:
            self.failed.add(len(self.tests) - 1)

    def pytest_runtest_logfinish(self) -> None:
        """The test is over."""
        self.seconds.append(time.perf_counter() - self.started)
        self.coverage.switch_context("")


def measure_reach(root: Path, package: str, suites: Iterable[str], arguments: list[str]) -> Reach:
    """Run the suites once, in this process."""
    import coverage
    import pytest

    measured = coverage.Coverage(data_file=None, include=[f"{root}/{package}/*"], config_file=False)
    recorder = _Recorder(measured)
    measured.start()
    pytest.main([*arguments, *suites], plugins=[recorder])
    measured.stop()
    data = measured.get_data()
    lines: dict[str, dict[int, list[int]]] = {}
    for file in sorted(data.measured_files()):
        contexts = data.contexts_by_lineno(file)
        lines[os.path.relpath(file, root)] = {
            line: sorted(int(name) for name in names if name and int(name) not in recorder.failed)
            for line, names in sorted(contexts.items())
        }
    return Reach(recorder.tests, recorder.seconds, lines)
