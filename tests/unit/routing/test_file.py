"""Health in a file: several processes, a file that cannot be used, and one that is locked."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from interlingua.errors import ConfigError
from interlingua.routing.file import FileHealth
from interlingua.routing.health import Admit, Failed, Look, Suspend
from interlingua.routing.outage import REST_S
from tests.support.trying import at_best

A = "openai/a"


class Clock:
    """A clock that moves when it is told to."""

    now_s: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now_s


def make_store(path: Path, rest_clock: Clock | None = None, told: list[str] | None = None) -> FileHealth:
    """A store as a process has it."""
    said: list[str] = [] if told is None else told
    return FileHealth(path, clock=time.time, rest_clock=rest_clock or time.monotonic, on_change=said.append)


PROCESS = """
import sys, time
from pathlib import Path
from interlingua.routing.file import FileHealth
from interlingua.routing.health import Failed
store = FileHealth(Path(sys.argv[1]), clock=time.time, rest_clock=time.monotonic)
for _ in range(50):
    store.apply([("count/me", Failed())])
print(store.problem, end="")
"""


def test_a_place_that_cannot_be_used_is_refused_where_that_is_asked(tmp_path: Path) -> None:
    """A folder, a file in a file, and what is no database; not one that another process only has locked."""
    (tmp_path / "text").write_text("no database at all, and longer than the head of one" * 40)
    for place, why in ((".", "Is a directory"), ("text/a", "its folder is a file"), ("text", "file is not a database")):
        path = tmp_path / place
        with pytest.raises(ConfigError, match=f"^state cannot be kept in {re.escape(str(path))}: {why}$"):
            make_store(path).check()
    store = make_store(tmp_path / "deep" / "state.sqlite")
    store.check()
    with closing(sqlite3.connect(tmp_path / "deep" / "state.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store.check()
    store.apply([(A, Failed())])
    assert store.problem == ""
    store.close()


def test_processes_count_together(tmp_path: Path) -> None:
    """Four processes lose no failure of two hundred."""
    path = tmp_path / "deep" / "state.sqlite"
    command = [sys.executable, "-c", PROCESS, str(path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate(timeout=30)[0] for process in processes] == [""] * 4
    store = make_store(path)
    assert store.apply([("count/me", Look())])[0].failures == 200
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    """Others of the machine do not read which providers somebody uses."""
    store = make_store(tmp_path / "deep" / "state.sqlite")
    store.apply([(A, Failed())])
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "deep").iterdir()} == {0o600}
    store.close()


def test_rtr_06_the_remaining_time_survives_the_process(tmp_path: Path) -> None:
    """A process that starts later finds the deadline where it was."""
    first = make_store(tmp_path / "s")
    first.apply([(A, Failed(retry_after_s=90.0)), ("b/b", Suspend())])
    first.close()
    noon = time.time()
    later = FileHealth(tmp_path / "s", clock=lambda: noon + 60.0, rest_clock=time.monotonic)
    assert later.apply([(A, Admit())])[0].wait_s == pytest.approx(30.0, abs=1.0)
    assert list(later.snapshot()) == ["b/b", A]
    later.close()


def test_what_may_be_forgotten_is_deleted(tmp_path: Path) -> None:
    """The file does not grow with targets that nobody asks any more; what a person said stays."""
    store = make_store(tmp_path / "s")
    store.apply([("a/a", Failed()), ("b/b", Suspend())])
    store.close()
    later = FileHealth(tmp_path / "s", clock=lambda: time.time() + 5_000.0, rest_clock=time.monotonic)
    later.apply([("c/c", Failed())])
    later.close()
    with sqlite3.connect(tmp_path / "s") as connection:
        found = connection.execute("SELECT target FROM health").fetchall()
    connection.close()
    assert found == [("b/b",), ("c/c",)]


def test_a_file_that_cannot_be_used_is_told_once(tmp_path: Path) -> None:
    """The process remembers by itself, and tries the file again after a rest."""
    clock, told = Clock(), list[str]()
    path = tmp_path / "not-a-folder" / "state.sqlite"
    path.parent.write_text("in the way")
    store = make_store(path, clock, told)
    for _ in range(3):
        store.apply([(A, Failed())])
    assert store.snapshot()[A].failures == 3
    assert store.problem.startswith(f"{path}: ")
    path.parent.unlink()
    assert store.apply([(A, Look())])[0].failures == 3
    clock.now_s += REST_S
    assert store.apply([(A, Look())])[0].failures == 0
    assert store.problem == ""
    assert [bool(text) for text in told] == [True, False]
    store.close()


def test_a_file_that_is_no_database_is_no_crash(tmp_path: Path) -> None:
    """Somebody else's file is left as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("my notes, " * 1_000)
    store = make_store(path)
    assert store.apply([(A, Failed("auth"))])[0].state == "benched"
    assert "not a database" in store.problem
    assert path.read_text() == "my notes, " * 1_000
    store.close()


def test_what_somebody_else_wrote_counts_as_nothing(tmp_path: Path) -> None:
    """A value that is no mark is no reason to fail, and is written over."""
    store = make_store(tmp_path / "s")
    store.apply([(A, Failed("auth"))])
    with sqlite3.connect(tmp_path / "s") as connection:
        connection.execute("UPDATE health SET mark = ?", (b"[1]",))
    connection.close()
    assert store.snapshot() == {}
    assert store.apply([(A, Failed()), (A, Failed())])[1].state == "benched"
    store.close()


def test_a_lock_is_waited_for_a_quarter_of_a_second_once(tmp_path: Path) -> None:
    """Somebody who holds the file does not stop sixty-four threads for longer than that."""

    def stopped_s(path: Path) -> float:
        store = make_store(path)
        store.apply([(A, Failed())])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        threads = [threading.Thread(target=lambda: store.apply([(A, Failed("auth"))])) for _ in range(64)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took_s = time.monotonic() - began
        assert store.apply([(A, Look())])[0].state == "benched"
        assert "locked" in store.problem
        other.close()
        store.close()
        return took_s

    number = count()
    assert at_best(lambda: stopped_s(tmp_path / str(next(number))) < 2.0)


def test_what_is_well_takes_no_lock(tmp_path: Path) -> None:
    """Looking at healthy targets waits for nobody who writes."""
    store = make_store(tmp_path / "s")
    store.apply([(A, Look())])
    other = sqlite3.connect(tmp_path / "s", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.apply([(A, Admit())])[0].state == "open"
    assert store.problem == ""
    other.close()
    store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_opens_the_file_for_itself(tmp_path: Path) -> None:
    """A child does not write through its parent's connection."""
    store = make_store(tmp_path / "s")
    store.apply([(A, Failed())])
    script = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from interlingua.routing.file import FileHealth\n"
        "from interlingua.routing.health import Failed\n"
        "store = FileHealth(Path(sys.argv[1]), clock=time.time, rest_clock=time.monotonic)\n"
        "store.apply([('openai/a', Failed())])\n"
        "child = os.fork()\n"
        "store.apply([('openai/a', Failed())])\n"
        "if child:\n    os.waitpid(child, 0)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "s")], check=True, timeout=30)
    assert store.apply([(A, Look())])[0].failures == 4
    store.close()


async def test_tasks_wait_in_threads(tmp_path: Path) -> None:
    """The awaited face is the same store."""
    store = make_store(tmp_path / "s")
    assert (await store.apply_async([(A, Failed("auth"))]))[0].state == "benched"
    assert list(await store.snapshot_async()) == [A]
    store.close()
