"""Processes that share a file of keys are killed at every step, and in a crowd: nothing that was settled is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs processes that are forked and killed")


def run(kind: str, folder: Path) -> str:
    """What the processes tell."""
    command = [sys.executable, "-m", "tests.support.killed_ledger", kind, str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_process_that_is_killed_at_any_step_loses_nothing(tmp_path: Path) -> None:
    """Before and after every statement and write; what is told is kept, and what follows counts on."""
    assert int(run("steps", tmp_path)) > 60


def test_a_crowd_counts_what_each_of_it_was_told(tmp_path: Path) -> None:
    """Three processes with 720 calls, one killed, one standing still."""
    run("crowd", tmp_path)
