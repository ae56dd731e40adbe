"""The installed command in processes of its own: pipes, state, exit codes, interrupts, secrets, and how fast it starts.

The fake provider answers without a network; failing targets are ports of this machine that nobody listens on.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlingua.registry.home import state_directory

IL = [sys.executable, "-m", "interlingua"]
KEPT = ("PATH", "HOME", "SYSTEMROOT", "TMPDIR", "LANG")
SECRET = "sk-e2e-0123456789abcdef"


def _environ(home: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "INTERLINGUA_HOME": str(home), "PYTHONUTF8": "1", **more}


def _il(home: Path, *arguments: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*IL, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        env=_environ(home, **environ),
        cwd=home,
        check=False,
    )


def test_a_pipe_through_the_command(tmp_path: Path) -> None:
    """A pipe in, answer out, nothing on stderr, exit 0."""
    done = _il(tmp_path, "ask", "-m", "fake/echo", "What failed?", stdin="disk full\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "This is the fake of interlingua, not a model. It was told: What failed?\n\ndisk full\n"


def test_a_conversation_over_three_processes(tmp_path: Path) -> None:
    """-c goes on where the process before ended, with its model, and the file is its owner's."""
    assert _il(tmp_path, "ask", "-m", "fake/echo", "One").returncode == 0
    assert _il(tmp_path, "ask", "-c", "Two").returncode == 0
    done = _il(tmp_path, "ask", "-c", "Three", "--json")
    texts = [part["text"] for message in json.loads(done.stdout)["request"]["messages"] for part in message["parts"]]
    assert texts[::2] == ["One", "Two", "Three"]
    if sys.platform != "win32":
        (kept,) = (tmp_path / "state").iterdir()
        assert kept.stat().st_mode & 0o777 == 0o600
    assert state_directory() != tmp_path / "state"


def test_a_tool_of_a_file(tmp_path: Path) -> None:
    """A function of a file is called by the fake, and told on stderr."""
    (tmp_path / "mytools.py").write_text('def double(n: int) -> int:\n    """Doubles."""\n    return 2 * n\n')
    done = _il(tmp_path, "ask", "-m", "fake/echo", "Double it", "--tool", "mytools.py:double")
    assert done.returncode == 0
    assert done.stderr.splitlines()[0].startswith('→ double({"n":')
    assert done.stdout.startswith("This is the fake of interlingua, not a model. The tool answered: ")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("ask", "-m", "fake/echo", "Hi"), 0),
        (("ask", "-m", "down/x", "Hi", "--timeout", "5"), 1),
        (("ask", "Hi"), 2),
        (("ask", "-m", "nobody/x", "Hi"), 2),
        (("explain", "-m", "openai/gpt-4o", "Hi"), 0),
    ],
)
def test_exit_codes(tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    """Each outcome has its code; a failure is one line on stderr without a traceback, and shows no secret."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    done = _il(tmp_path, *arguments, LLM_DOWN=f"openai://{SECRET}@127.0.0.1:{port}/v1?tls=0", OPENAI_API_KEY=SECRET)
    assert done.returncode == code
    assert SECRET not in done.stdout + done.stderr
    assert done.stderr.count("\n") == (code != 0)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("providers",),
        ("providers", "--json"),
        ("doctor",),
        ("explain", "-m", "work/x", "Hi"),
        ("explain", "-m", "work/x", "--curl", "Hi"),
        ("explain", "-m", "openai/gpt-4o", "--curl", "Hi"),
    ],
)
def test_secrets_are_never_shown(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Neither a key of a variable nor a token of a DSN, also with INTERLINGUA_DEBUG."""
    done = _il(
        tmp_path,
        *arguments,
        OPENAI_API_KEY=SECRET,
        LLM_WORK="openai://token-of-work-123@gateway.example/v1",
        LLM_BAD="openai://token-of-bad-123@",
        INTERLINGUA_DEBUG="1",
    )
    assert SECRET not in done.stdout + done.stderr
    assert "token-of" not in done.stdout + done.stderr


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """`il … | head` ends in silence, with 141."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*IL, "providers"], stdout=writer, stderr=subprocess.PIPE, env=_environ(tmp_path), timeout=60, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_reader_of_notes_that_goes_away(tmp_path: Path) -> None:
    """`il … 2>&1 >file | head` does its work: the code is that of the outcome, also where stderr keeps what it has."""
    reader, writer = os.pipe()
    os.close(reader)
    commands = (["providers", "nobody"], ["sreve"], ["providers"])
    codes = [
        subprocess.run(
            [*IL, *command], stdout=subprocess.PIPE, stderr=writer, env=_environ(tmp_path), timeout=60, check=False
        ).returncode
        for command in commands
    ]
    os.close(writer)
    assert codes == [2, 2, 0]


@pytest.fixture
def silence() -> Iterator[tuple[int, threading.Event, threading.Event]]:
    """A server that takes a request and never answers: its port, whether it was asked, and the client has closed."""
    asked, closed = threading.Event(), threading.Event()
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(30)

    def serve() -> None:
        with server.accept()[0] as connection:
            connection.settimeout(30)
            while connection.recv(65536):
                asked.set()
            closed.set()

    thread = threading.Thread(target=serve)
    thread.start()
    yield server.getsockname()[1], asked, closed
    thread.join(30)
    server.close()


def _heed_interrupts() -> None:
    """Undo that a shell has its background jobs ignore interrupts, which their children inherit."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_closes_the_connection(tmp_path: Path, silence: tuple[int, threading.Event, threading.Event]) -> None:
    """An interrupt while a model is silent ends with 130, one line, and a closed socket."""
    port, asked, closed = silence
    environ = _environ(tmp_path, LLM_SLOW=f"openai://{SECRET}@127.0.0.1:{port}/v1?tls=0")
    process = subprocess.Popen(
        [*IL, "ask", "-m", "slow/x", "Hi"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environ,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 - it sets one signal and no more
    )
    assert asked.wait(30)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, b"il: interrupted\n")
    assert closed.wait(10)


def test_it_starts_fast(tmp_path: Path) -> None:
    """`il explain` from cold loads nothing heavy; the bench holds it to a ratio."""
    code = (
        "import sys; from interlingua.cli.main import main; code = main(['explain', '-m', 'fake/echo', 'Hi']); "
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=_environ(tmp_path), timeout=60, check=True
    )
    loaded = set(json.loads(done.stderr.replace("'", '"')))
    heavy = {"asyncio", "concurrent", "difflib", "email", "hashlib", "httptools", "http", "json", "jsonschema_rs"}
    heavy |= {"ipaddress", "pathlib", "shutil", "threading", "typing_extensions", "urllib"}
    assert loaded & (heavy | {"logging", "random", "socket", "ssl", "subprocess", "tempfile", "xllamacpp"}) == set()


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_a_conversation_at_a_terminal(tmp_path: Path) -> None:
    """Somebody types: a prompt for each line, the answer, and Ctrl-D ends with 0."""
    import pty

    reading, writing = pty.openpty()
    process = subprocess.Popen(
        [*IL, "chat", "-m", "fake/echo"],
        stdin=writing,
        stdout=writing,
        stderr=writing,
        env=_environ(tmp_path, TERM="xterm"),
        start_new_session=True,
    )
    os.close(writing)
    said = _until(reading, b"> ")
    os.write(reading, b"Hello\n")
    said = _until(reading, b"> ")
    assert b"It was told: Hello\r\n" in said
    os.write(reading, b"\x04")
    assert process.wait(30) == 0
    os.close(reading)


def test_what_is_spared_at_the_start_is_there_for_others(tmp_path: Path) -> None:
    """A module of the user's may import typing_extensions, though msgspec was loaded without it."""
    pytest.importorskip("typing_extensions")
    source = (
        "from typing_extensions import Annotated\ndef double(n: Annotated[int, 'a number']) -> int:\n    return 2 * n\n"
    )
    (tmp_path / "mytools.py").write_text(source, encoding="utf-8")
    done = _il(tmp_path, "explain", "-m", "fake/echo", "Hi", "--tool", "mytools.py:double")
    assert (done.returncode, done.stderr) == (0, "")
    assert '"name": "double"' in done.stdout


def _until(descriptor: int, end: bytes) -> bytes:
    """What comes until something ends with `end`."""
    said = b""
    while not said.endswith(end):
        said += os.read(descriptor, 4096)
    return said
