from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlingua.cli.lines import Lines

Capture = pytest.CaptureFixture[str]


def _typing(monkeypatch: pytest.MonkeyPatch, *lines: str | BaseException) -> list[str]:
    """Has `input` give these lines; the prompts that it showed."""
    prompts: list[str] = []
    script: Iterator[str | BaseException] = iter([*lines, EOFError()])

    def said(prompt: str = "") -> str:
        prompts.append(prompt)
        line = next(script)
        if isinstance(line, BaseException):
            raise line
        return line

    monkeypatch.setattr("builtins.input", said)
    return prompts


def test_prompts(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A prompt for a line, another for what it goes on with; a pipe gets none."""
    prompts = _typing(monkeypatch, " One ", "Two\\", "three")
    lines = Lines(typed=True)
    assert [lines.next(), lines.next(), lines.next()] == ["One", "Two\nthree", None]
    assert prompts == ["> ", "> ", "… ", "> "]
    assert capsys.readouterr().out == "\n"
    prompts = _typing(monkeypatch, "One")
    assert Lines(typed=False).next() == "One"
    assert prompts == [""]


def test_ctrl_c_drops_what_was_begun(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """At a terminal the talk goes on; in a pipe an interrupt is one."""
    _typing(monkeypatch, "One\\", KeyboardInterrupt(), "Two")
    assert Lines(typed=True).next() == "Two"
    assert capsys.readouterr().err == "il: /quit or Ctrl-D ends\n"
    _typing(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        Lines(typed=False).next()


def test_at_a_terminal(tmp_path: Path) -> None:
    """A real terminal: the prompt, an answer, Ctrl-C, the end; what was typed is kept for its owner alone."""
    pytest.importorskip("readline")
    outer, inner = os.openpty()
    code = (
        "import sys; from interlingua.cli.main import main; from interlingua.testing import use\n"
        "with use(['Hi there.']): sys.exit(main(['chat', '-m', 'fake/x']))"
    )
    environment = {**os.environ, "INTERLINGUA_HOME": str(tmp_path), "TERM": "dumb"}
    talk = subprocess.Popen(
        [sys.executable, "-c", code], stdin=inner, stdout=inner, stderr=inner, env=environment, start_new_session=True
    )
    os.close(inner)
    seen = _until(outer, "> ", b"Hello\n")
    seen += _until(outer, "Hi there.\r\n> ", b"\x04")
    assert talk.wait(20) == 0
    os.close(outer)
    assert "fake/x; /help lists the commands" in seen
    kept = tmp_path / "state" / "chat-lines"
    assert kept.read_text(encoding="utf-8") == "Hello\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def _until(terminal: int, wanted: str, reply: bytes) -> str:
    """What is shown until `wanted` is; then `reply` is typed."""
    shown = ""
    deadline = time.monotonic() + 20
    while not shown.endswith(wanted):
        assert time.monotonic() < deadline, shown
        shown += os.read(terminal, 4096).decode()
    os.write(terminal, reply)
    return shown
