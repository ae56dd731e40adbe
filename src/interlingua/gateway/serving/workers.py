"""Several processes on one socket: a supervisor that starts them, starts dead ones again, and passes signals on.

Strategy: the supervisor holds the socket and does nothing else. Each worker is the same command with the socket given
to it, so that it reads its configuration itself; the system hands out connections among those that accept.

Rules
- A worker that dies is replaced at once; one that dies young, later and later, up to five seconds.
- SIGHUP goes to every worker. SIGTERM and Ctrl-C have all of them drain; who is not done in time is killed.
- Workers that cannot start at all (a file with an error, a missing package) end the whole command. Once it has begun,
  a file with an error ends nobody: who dies then is started again and again, until the file is repaired.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.gateway.serving.draining import turn_away
from interlingua.gateway.serving.sighup import holding_sighup

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

__all__ = ["Supervisor", "worker_command"]

YOUNG_S = 2.0
"""The seconds before which a worker that dies did not really run."""
LONGEST_PAUSE_S = 5.0
"""How long the next start waits at most."""
LOOK_S = 0.05
USAGE_CODE = 2
"""How a command ends that was told nonsense: to start it again would not help."""


def _deaf() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until it listens: the file is still to be read


_FORM: dict[str, Any] = {"stdin": subprocess.DEVNULL, "process_group": 0, "preexec_fn": _deaf}
"""Ctrl-C reaches a worker through the supervisor alone."""


class _Worker(NamedTuple):
    process: subprocess.Popen[Any]
    began_s: float


def worker_command(arguments: Sequence[str], listener: socket.socket) -> list[str]:
    """The command of a worker: `il` with the same arguments, the number of the socket, and who is its supervisor."""
    return [sys.executable, "-m", "interlingua", *arguments, "--worker", str(listener.fileno()), str(os.getpid())]


class Supervisor:
    """Keeps so many workers running."""

    def __init__(
        self,
        command: Sequence[str],
        listener: socket.socket,
        count: int,
        *,
        notice_s: float,
        stop_s: float,
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Of `count` processes of a command that get the socket.

        They take new requests for `notice_s` seconds after SIGTERM, and have `stop_s` seconds to end.
        """
        self._notice_s = notice_s
        self._command = list(command)
        self._listener = listener
        self._count = count
        self._stop_s = stop_s
        self._tell = tell
        self._workers: list[_Worker] = []
        self._starts_s: list[float] = []
        self._deaths = 0
        self._began_s = 0.0
        self._is_over = False
        self.code: int = 0
        """How the command ends."""

    def run(self) -> int:
        """Keep them running until a signal comes; the exit code."""
        signals = {signal.SIGTERM: self._end, signal.SIGINT: self._end, signal.SIGHUP: self._pass_on}
        previous = {sign: signal.signal(sign, handler) for sign, handler in signals.items()}
        try:
            self._starts_s = [0.0] * self._count
            self._began_s = time.monotonic()
            while not self._is_over:
                self._start_due()
                time.sleep(LOOK_S)
                self._bury()
            began_s = time.monotonic()
            is_open = True
            while self._workers and time.monotonic() < began_s + self._stop_s:
                if is_open and time.monotonic() >= began_s + self._notice_s:
                    is_open = False
                    turn_away(self._listener)
                self._bury()
                time.sleep(LOOK_S)
        finally:
            for worker in self._workers:
                worker.process.kill()
                worker.process.wait()
            for sign, handler in previous.items():
                signal.signal(sign, handler)
        return self.code

    @property
    def _is_beginning(self) -> bool:
        return not self._deaths and time.monotonic() < self._began_s + LONGEST_PAUSE_S

    def _start_due(self) -> None:
        now_s = time.monotonic()
        due = [at_s for at_s in self._starts_s if at_s <= now_s]
        self._starts_s = [at_s for at_s in self._starts_s if at_s > now_s]
        for _ in due:
            if self._is_over:  # a signal came meanwhile
                return
            number = self._listener.fileno()
            with holding_sighup():  # a worker that cannot hear it yet would end by it
                process = subprocess.Popen(self._command, pass_fds=(number,), **_FORM)  # noqa: S603 - our own command
            self._workers.append(_Worker(process, time.monotonic()))

    def _bury(self) -> None:
        for worker in [worker for worker in self._workers if worker.process.poll() is not None]:
            self._workers.remove(worker)
            code, age_s = worker.process.returncode, time.monotonic() - worker.began_s
            if self._is_over:
                continue
            if code == USAGE_CODE and self._is_beginning:
                self.code, self._is_over = code, True
                self._signal(signal.SIGTERM)
                return
            self._deaths = self._deaths + 1 if age_s < YOUNG_S else 0
            pause_s = min(LONGEST_PAUSE_S, 0.1 * 2**self._deaths) if self._deaths else 0.0
            how = f"by signal {-code}" if code < 0 else f"with {code}"
            self._tell(f"the worker {worker.process.pid} ended {how}; another one takes its place")
            self._starts_s.append(time.monotonic() + pause_s)

    def _end(self, number: int, frame: object) -> None:  # noqa: ARG002 - the form of a signal's handler
        self._is_over = True
        self._signal(number)

    def _pass_on(self, number: int, frame: object) -> None:  # noqa: ARG002 - as above
        self._signal(number)

    def _signal(self, number: int) -> None:
        for worker in self._workers:
            if worker.process.poll() is None:
                os.kill(worker.process.pid, number)
