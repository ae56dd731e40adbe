"""A Postgres of the tests' own on loopback, as Debian installs it: made in a temporary directory, and removed."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.support.ports import Place
from tests.support.waiting import until

__all__ = ["PostgresServer", "find_postgres"]

PASSWORD = "sesame-open"
_QUICK = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=60", "autovacuum=off")


def find_postgres() -> Path | None:
    """The directory of the programs, or None."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    program = shutil.which("initdb")
    return Path(program).parent if program else None


class PostgresServer:
    """A server that can be stopped, started again at the same port, and put to sleep."""

    def __init__(self, programs: Path) -> None:
        """A server that does not run yet; root has it run by the user postgres, since initdb refuses root."""
        self._place = Place()
        self.port: int = self._place.port
        self._programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="interlingua-postgres-"))
        self._user = "postgres" if os.geteuid() == 0 else None
        self.url = f"postgresql://il:{PASSWORD}@127.0.0.1:{self.port}/postgres?timeout_s=10"
        """Its address, for who is patient: a busy machine takes longer to answer than a second."""
        self._process: subprocess.Popen[bytes] | None = None
        self._log = self._folder / "log"
        self._log.touch()
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        if self._user:
            account = pwd.getpwnam(self._user)
            for path in (self._folder, secret):
                os.chown(path, account.pw_uid, account.pw_gid)
        self._run("initdb", "-D", "data", "-U", "il", "-A", "scram-sha-256", "--pwfile", "password", "--no-sync", "-N")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        subprocess.run(command, cwd=self._folder, user=self._user, stdout=subprocess.DEVNULL, timeout=60, check=True)

    def start(self) -> PostgresServer:
        """The same server, answering."""
        assert until(self._answers), f"the Postgres of the tests did not start: {self._log.read_text()[-2000:]}"
        return self

    def _begin(self) -> None:
        settings = [f"-c{setting}" for setting in (*_QUICK, f"unix_socket_directories={self._folder}")]
        command = [str(self._programs / "postgres"), "-D", "data", "-h", "127.0.0.1", "-p", str(self.port), *settings]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self._folder, user=self._user, stdout=log, stderr=log)

    def _answers(self) -> bool:
        import psycopg

        if self._process is None or self._process.poll() is not None:  # it ends at once while a killed one goes
            self._begin()
        with suppress(psycopg.Error), psycopg.connect(self.url.partition("?")[0], connect_timeout=20):
            return True
        return False

    @property
    def is_running(self) -> bool:
        """Whether it was started and not stopped."""
        return self._process is not None

    def _processes(self) -> list[int]:
        """The server and its children, each of which has a session of its own."""
        if self._process is None or self._process.poll() is not None:
            return []
        number = self._process.pid
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        return [number, *map(int, children)]

    def _signal(self, number: int) -> None:
        for process in self._processes():
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def stop(self) -> None:
        """End it at once (`kill -9`)."""
        if self._process is not None:
            self._signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def sleep(self) -> None:
        """Have it accept connections and answer nothing."""
        self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Have it answer again."""
        self._signal(signal.SIGCONT)

    def remove(self) -> None:
        """End it so that it gives its shared memory back, and delete its files."""
        if self._process is not None:
            self._signal(signal.SIGCONT)
            self._process.send_signal(signal.SIGQUIT)  # at once, and in order
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(20)
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)
