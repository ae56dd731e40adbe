"""The compiled mock upstream and load generator, built when they are first needed.

They are in C, so that what is measured is not the measure. That needs a C compiler named `cc`; where there is none, the
rows that want them are not run.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from bench.measure import NotRun

__all__ = ["binary"]

HERE = Path(__file__).parent
BUILT = HERE.parent / "results" / "local" / "native"


@cache
def binary(name: str) -> Path:
    """The program `mock` or `load`, compiled when its source is newer.

    Raises: NotRun without a compiler, and where it cannot compile.
    """
    source, built = HERE / f"{name}.c", BUILT / name
    newest = max(path.stat().st_mtime for path in (source, HERE / "wire.h"))
    if built.exists() and built.stat().st_mtime >= newest:
        return built
    compiler = shutil.which("cc")
    if compiler is None:
        raise NotRun("no C compiler (cc) for the mock upstream and the load generator")
    built.parent.mkdir(parents=True, exist_ok=True)
    command = [compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(built), str(source)]
    compiled = subprocess.run(command, check=False, capture_output=True, text=True)
    if compiled.returncode:
        raise NotRun(f"{source.name} does not compile: {compiled.stderr.strip().splitlines()[0]}")
    return built
