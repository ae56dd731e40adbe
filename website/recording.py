"""The recording of the first minute: four commands of `il`, run for real in a terminal, drawn as an animated picture.

- `python -m website.recording` runs the commands (three ask `local/tiny`: `il models pull tiny`) and writes
  `website/first-minute.cast`, an asciicast of version 2, and from it `docs/assets/first-minute.svg`.
- `python -m website.recording --draw` draws the committed recording anew and runs nothing.
- Output and its timing are those of the run. A command is typed at a steady speed, and the pauses between two are set.
- No key is needed. A made-up one stands in the environment, and nothing is sent: one command has its faults injected,
  the other one explains.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import NamedTuple

from interlingua.errors import ConfigError
from interlingua.local import weights
from website.animation import animation
from website.terminal import Terminal

__all__ = ["CAST", "COLUMNS", "PICTURE", "STEPS", "Event", "Step", "draw", "read", "run"]

ROOT = Path(__file__).resolve().parents[1]
CAST = ROOT / "website" / "first-minute.cast"
PICTURE = ROOT / "docs" / "assets" / "first-minute.svg"
COLUMNS, ROWS = 66, 22
TYPE_S, BEFORE_S, AFTER_S, END_S = 0.03, 0.4, 1.6, 4.0
"""Seconds for a character, before a command runs, after its output, and of the last picture."""
SILENCE_S = 120.0
"""A command that writes nothing for longer is an error."""
PROMPT = "\x1b[32m$\x1b[39m "
WEATHER = '''\
def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    return f"light rain and 4 °C in {city}"
'''
"""`weather.py` in the folder of the recording."""


class Event(NamedTuple):
    """One output of the terminal."""

    time_s: float
    """Since the beginning."""
    text: str
    """What was written."""


class Step(NamedTuple):
    """A command, and the note above it."""

    note: str
    """What it shows, as a comment of the shell."""
    lines: tuple[str, ...]
    """The lines as they are typed."""
    needs_model: bool = True
    """Whether `local/tiny` answers; then its words may be others on another machine."""

    @property
    def command(self) -> str:
        """The command for a shell."""
        return "\n".join(self.lines)


STEPS = (
    Step(
        "a small model, in this process, calls a Python function",
        ('il ask -m local/tiny "What is the weather in Oslo?" \\', "    --tool weather.py:get_weather"),
    ),
    Step(
        "structured output: a type is an answer",
        ("il ask -m local/tiny --schema 'company, total float' \\", '    "Acme sends a bill of 12.50 euros."'),
    ),
    Step(
        "fallback: Claude refuses the key here, on purpose",
        (
            "il ask -m anthropic/claude-opus-5,local/tiny \\",
            "    --fault 'anthropic/*=401' \"What is the capital of Norway?\"",
        ),
    ),
    Step(
        "what would be sent, and what a translation changes",
        ('il explain -m openai/gpt-5.6 "Hello" --temperature 0.2',),
        needs_model=False,
    ),
)
"""The four commands, in their order."""


def run(step: Step, home: Path) -> list[Event]:
    """The outputs of a step, run in a terminal of its own; `home` is the folder and keeps the state of `il`.

    Raises: RuntimeError where the command fails or does not end.
    """
    (home / "weather.py").write_text(WEATHER, encoding="utf-8")
    child, parent = _terminal()
    started_s = time.monotonic()
    process = subprocess.Popen(
        ["sh", "-c", step.command], cwd=home, env=_environment(home), stdin=child, stdout=child, stderr=child
    )
    os.close(child)
    decoder = codecs.getincrementaldecoder("utf-8")()
    events: list[Event] = []
    try:
        while data := _read(parent, step):
            events.append(Event(time.monotonic() - started_s, decoder.decode(data)))
        status = process.wait(SILENCE_S)
    finally:
        os.close(parent)
        process.kill()
        process.wait()
    if status:
        raise RuntimeError(f"{step.command} ended with {status}: {''.join([event.text for event in events])}")
    return events


def _terminal() -> tuple[int, int]:
    """Both ends of a terminal of the recording's size; the program's end comes first."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return child, parent


def _read(parent: int, step: Step) -> bytes:
    """The next output; nothing once the program has closed its end, which Linux reports as an error."""
    if not select.select([parent], [], [], SILENCE_S)[0]:
        raise RuntimeError(f"{step.command} has written nothing for {SILENCE_S:g} s")
    try:
        return os.read(parent, 65_536)
    except OSError:
        return b""


def _environment(home: Path) -> dict[str, str]:
    """What a new user has, the folder of this Python's programs first, and keys that nobody issued."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    made_up = {"ANTHROPIC_API_KEY": "not-a-key", "OPENAI_API_KEY": "not-a-key"}
    language = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
    return {"PATH": programs, "HOME": str(home), "INTERLINGUA_HOME": str(home / "il"), **language, **made_up}


def record() -> list[Event]:
    """All steps one after the other, as one recording."""
    events: list[Event] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        models = home / "il" / "models"
        models.parent.mkdir()
        models.symlink_to(weights.find("tiny")[1].parent)
        now_s = 0.0
        for step in STEPS:
            gap = "\r\n" if events else ""
            events.append(Event(now_s, f"{gap}\x1b[2m# {step.note}\x1b[22m\r\n"))
            now_s = _typed(events, step, now_s + BEFORE_S) + BEFORE_S
            outputs = run(step, home)
            events += [Event(now_s + event.time_s, event.text) for event in outputs]
            now_s = events[-1].time_s + AFTER_S
    return events


def _typed(events: list[Event], step: Step, now_s: float) -> float:
    """Add a command as somebody types it; the moment of its last character."""
    for number, line in enumerate(step.lines):
        events.append(Event(now_s, PROMPT if number == 0 else ""))
        for character in line:
            now_s += TYPE_S
            events.append(Event(now_s, character))
        now_s += TYPE_S
        events.append(Event(now_s, "\r\n"))
    return now_s


def write(events: list[Event]) -> str:
    """A recording as an asciicast of version 2: a line of JSON for the terminal, and one for each output."""
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "interlingua, the first minute"}
    lines: list[object] = [head, *[[round(event.time_s, 3), "o", event.text] for event in events if event.text]]
    return "".join([json.dumps(line, ensure_ascii=False) + "\n" for line in lines])


def read(text: str) -> list[Event]:
    """The outputs of an asciicast."""
    return [Event(time_s, output) for time_s, _, output in map(json.loads, text.splitlines()[1:])]


def draw(events: list[Event]) -> str:
    """The picture of a recording."""
    terminal = Terminal(COLUMNS)
    for event in events:
        terminal.feed(event.time_s, event.text)
    title = "Four commands of il: " + "; ".join([step.note for step in STEPS])
    return animation(terminal.contents, COLUMNS, ROWS, title=title, end_s=events[-1].time_s + END_S)


def main(arguments: list[str]) -> int:
    """Record, unless only the picture is to be drawn, and draw; 1 where the model is missing."""
    if "--draw" not in arguments:
        try:
            CAST.write_text(write(record()), encoding="utf-8")
        except ConfigError as problem:
            print(problem, file=sys.stderr)
            return 1
    PICTURE.write_text(draw(read(CAST.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
