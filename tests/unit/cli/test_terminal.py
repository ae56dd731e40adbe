from __future__ import annotations

import os
import sys
from collections.abc import Callable
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest

from interlingua.cli import terminal
from interlingua.errors import LimitExceededError


class _Terminal(StringIO):
    """Something that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def _screen(monkeypatch: pytest.MonkeyPatch) -> _Terminal:
    """A terminal for stdout and stderr; set inside a test, since pytest sets its own between a fixture and a test."""
    made = _Terminal()
    monkeypatch.setattr(sys, "stdout", made)
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return made


def test_a_model_cannot_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Escape sequences of an answer are shown as what they are not."""
    screen = _screen(monkeypatch)
    terminal.write("a\x1b[2Jb\tc\n\x9b0m")
    assert screen.getvalue() == "a�[2Jb\tc\n�0m"


def test_a_pipe_gets_every_byte(capsys: pytest.CaptureFixture[str]) -> None:
    """Where no terminal is, nothing is replaced."""
    terminal.write("a\x1b[2Jb")
    assert capsys.readouterr().out == "a\x1b[2Jb"


def test_notes_are_one_line_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    """Line ends become spaces; credentials stars."""
    terminal.note("one\ntwo Bearer abcdefgh12345678")
    assert capsys.readouterr().err == "il: one two Bearer ***\n"


def test_thinking_is_dimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colour on a terminal, unless NO_COLOR says otherwise."""
    screen = _screen(monkeypatch)
    terminal.think("hm")
    assert screen.getvalue() == "\x1b[2mhm\x1b[22m"
    monkeypatch.setenv("NO_COLOR", "1")
    terminal.think("hm")
    assert screen.getvalue() == "\x1b[2mhm\x1b[22mhm"


def test_an_old_terminal_gets_question_marks() -> None:
    """What an encoding does not know is replaced, never an exception."""
    raw = BytesIO()
    stream = TextIOWrapper(raw, encoding="ascii")
    terminal.lenient(stream)
    stream.write("→ é")
    stream.flush()
    assert raw.getvalue() == b"? ?"


def test_a_terminal_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal on stdin is nobody's prompt."""
    monkeypatch.setattr(sys, "stdin", _Terminal("typed"))
    assert terminal.piped_input() == b""


def test_a_real_pipe_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe is; a device such as the null device is not, unless it is asked for."""
    reader, writer = os.pipe()
    os.write(writer, b"data")
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert terminal.piped_input() == b"data"
    with Path(os.devnull).open(encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert terminal.piped_input() == b""
        assert terminal.piped_input(force=True) == b""


def test_no_stdin_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may have none, or a closed one."""
    monkeypatch.setattr(sys, "stdin", None)
    assert terminal.piped_input() == b""
    closed = TextIOWrapper(BytesIO())
    closed.close()
    monkeypatch.setattr(sys, "stdin", closed)
    assert terminal.piped_input() == b""


def test_a_pipe_is_bounded(monkeypatch: pytest.MonkeyPatch, pipe: Callable[[bytes], None]) -> None:
    """The bound itself passes, one byte more does not."""
    monkeypatch.setattr(terminal, "MAX_STDIN_BYTES", 4)
    pipe(b"1234")
    assert terminal.piped_input() == b"1234"
    pipe(b"12345")
    with pytest.raises(LimitExceededError, match="more than 4 bytes"):
        terminal.piped_input()
