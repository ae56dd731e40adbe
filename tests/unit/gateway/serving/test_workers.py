"""The supervisor of workers: what ends the whole command, and what ends nobody."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from interlingua.gateway.serving import workers
from interlingua.gateway.serving.workers import Supervisor
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="workers get their socket as Unix hands them on")


def _supervised(bad: Path, told: list[str]) -> tuple[Supervisor, socket.socket]:
    """Two workers that end as one with a bad file does while `bad` is there."""
    listener = socket.create_server(("127.0.0.1", 0))
    command = ["/bin/sh", "-c", f"test -e {bad} && exit 2; : > {bad}.$$; exec sleep 600"]
    return Supervisor(command, listener, 2, notice_s=0, stop_s=5, tell=told.append), listener


def test_a_sighup_ends_nobody_who_cannot_hear_it_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker begins with it held back, and the supervisor hears it."""
    monkeypatch.setattr(workers, "LOOK_S", 0.005)
    held, told = tmp_path / "held", list[str]()
    code = (
        "import os, pathlib, signal, sys; is_held = signal.SIGHUP in signal.pthread_sigmask(signal.SIG_BLOCK, []); "
        f"pathlib.Path({str(held)!r}).write_text(str(is_held)); signal.pause()"
    )
    listener = socket.create_server(("127.0.0.1", 0))
    supervisor = Supervisor([sys.executable, "-c", code], listener, 1, notice_s=0, stop_s=5, tell=told.append)

    def happens() -> None:
        try:
            assert until(lambda: held.exists() and held.read_text() != "")
            os.kill(os.getpid(), signal.SIGHUP)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=happens)
    thread.start()
    with listener:
        assert supervisor.run() == 0
    thread.join()
    assert (held.read_text(), told) == ("True", [])


_EARLY = """
import os, signal
from interlingua.gateway.serving.sighup import holding_sighup
from interlingua.gateway.serving.serve import hearing_sighup

class Noting:
    def ask(self):
        print("asked")

with holding_sighup():
    os.kill(os.getpid(), signal.SIGHUP)
    print("held")
    with hearing_sighup(Noting()):
        print("heard")
        os.kill(os.getpid(), signal.SIGHUP)
    with hearing_sighup(None):
        os.kill(os.getpid(), signal.SIGHUP)
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""


def test_a_sighup_that_comes_early_is_heard_later() -> None:
    """Once somebody listens; the process goes on. It has one thread alone: any other one would take the signal."""
    done = subprocess.run([sys.executable, "-c", _EARLY], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n")[:-1] == ["held", "asked", "heard", "asked", "set()"]


def test_a_file_with_an_error_ends_who_begins(tmp_path: Path) -> None:
    """The command ends as its workers do, at once."""
    bad, told = tmp_path / "bad", list[str]()
    bad.touch()
    supervisor, listener = _supervised(bad, told)
    with listener:
        assert supervisor.run() == 2
    assert told == []


def test_a_file_with_an_error_ends_nobody_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that is killed beside it is started until the file is repaired; the other one serves on."""
    monkeypatch.setattr(workers, "LONGEST_PAUSE_S", 0.1)
    monkeypatch.setattr(workers, "LOOK_S", 0.005)
    bad, told = tmp_path / "bad", list[str]()
    supervisor, listener = _supervised(bad, told)
    running: list[list[int]] = []

    def alive() -> list[int]:
        return [worker.process.pid for worker in supervisor._workers if worker.process.poll() is None]

    def happens() -> None:
        try:
            assert until(lambda: len(alive()) == 2)
            running.append(alive())
            assert until(lambda: all(Path(f"{bad}.{pid}").exists() for pid in running[0]))
            time.sleep(0.12)  # it has begun
            bad.touch()
            os.kill(running[0][0], signal.SIGKILL)
            assert until(lambda: sum("ended with 2" in sentence for sentence in told) >= 2)
            bad.unlink()
            assert until(lambda: len(alive()) == 2)
            running.append(alive())
        finally:
            os.kill(os.getpid(), signal.SIGTERM)  # ends the supervisor, whatever became of this

    thread = threading.Thread(target=happens)
    thread.start()
    with listener:
        assert supervisor.run() == 0
    thread.join()
    assert told[0] == f"the worker {running[0][0]} ended by signal 9; another one takes its place"
    assert len(running[1]) == 2
    assert running[0][1] in running[1]
