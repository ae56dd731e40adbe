"""What it costs to have the library: time, memory, packages."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

from bench.measure import Measured, NotRun, start_ratio
from bench.rows import Row

# Without its `__init__` a folder can be imported, too, for nothing: that is no measurement.
_OURS = [sys.executable, "-c", "import interlingua, sys; sys.exit(interlingua.__file__ is None)"]
_MSGSPEC = [sys.executable, "-c", "import msgspec"]
_BARE = [sys.executable, "-c", "pass"]


_RESIDENT = """
import sys
with open("/proc/self/statm") as told:
    print(int(told.read().split()[1]), len(sys.modules))
"""


def taken(statement: str) -> tuple[float, int]:
    """MB that a fresh interpreter holds after a statement, and how many modules it has loaded.

    The peak that a parent is told of its child will not do: it is at least what the parent held when it began it.

    Raises: NotRun where the statement fails, or the operating system does not tell.
    """
    done = subprocess.run([sys.executable, "-c", statement + _RESIDENT], check=False, capture_output=True, text=True)
    if done.returncode:
        raise NotRun(f"`{statement}` fails: {done.stderr.strip().splitlines()[-1]}")
    pages, modules = done.stdout.split()
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6, int(modules)


def _memory() -> Measured:
    """MB over a bare interpreter, median of interleaved runs."""
    return Measured.of([taken("import interlingua")[0] - taken("pass")[0] for _ in range(7)])


def distributions() -> float:
    """How many packages a plain install brings, this one included."""
    try:
        importlib.metadata.distribution("interlingua")
    except importlib.metadata.PackageNotFoundError:
        raise NotRun("interlingua is not installed") from None
    found: set[str] = set()
    waiting = ["interlingua"]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name not in found:
            found.add(name)
            waiting += _requirements(name)
    return float(len(found))


def _requirements(name: str) -> list[str]:
    """What a package needs on this machine without any extra."""
    try:
        lines = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []  # a marker of another platform or Python keeps it out
    return [match[0] for line in lines if "extra ==" not in line and (match := re.match(r"[\w.-]+", line))]


def _explain() -> float:
    il = Path(sys.executable).with_name("il")
    if not il.exists():
        raise NotRun("the command is not installed")
    return start_ratio([str(il), "explain", "-m", "fake/echo", "Hello"], _BARE)


ROWS = (
    Row(
        "import/cpu",
        "process with `import interlingua` / with `import msgspec`",
        1.4,
        "x",
        lambda: start_ratio(_OURS, _MSGSPEC),
    ),
    Row("import/memory", "resident after `import interlingua`, over bare Python", 20.0, "MB", _memory),
    Row("import/distributions", "packages of a plain install", 6.0, "packages", distributions),
    Row("import/explain", "`il explain` from cold / bare Python", 5.0, "x", _explain),
)
