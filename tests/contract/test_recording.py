"""The recording of the first minute is the output of the commands that it shows; of a model's words the form alone."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from interlingua.local import weights
from tests.contract.source import ROOT
from tests.support.local_model import weights_or_skip
from website.recording import CAST, COLUMNS, PICTURE, PROMPT, STEPS, Event, Step, draw, read, run
from website.terminal import Terminal

RERECORD = "python -m website.recording"
SECONDS = re.compile(r"\b\d+(?:\.\d+)? s\b")
NOTE = re.compile(r"[→←]|drill: |il: ")
"""The beginning of a line that `il` writes by itself, beside the words of a model."""


def _shown(step: Step) -> list[str]:
    """The lines after a command in the committed recording, unwrapped."""
    text = "".join([event.text for event in read(CAST.read_text(encoding="utf-8"))])
    number = STEPS.index(step)
    output = text.split(PROMPT)[number + 1].partition("\r\n" * 2 + "\x1b[2m# ")[0]
    output = output.partition("\r\n\x1b[2m# ")[0]
    lines = _lines([Event(0.0, output)])
    assert tuple(lines[: len(step.lines)]) == step.lines, RERECORD
    return lines[len(step.lines) :]


def _lines(events: list[Event]) -> list[str]:
    """The rows that stand on a wide terminal in the end, seconds made equal."""
    terminal = Terminal(1_000)
    for event in events:
        terminal.feed(event.time_s, event.text)
    return [SECONDS.sub("N s", line) for line in "\n".join(terminal.lines()).strip("\n").split("\n")]


def test_the_picture_is_drawn_from_the_recording() -> None:
    """The committed SVG is that of the committed recording, without a script, small, and it loops."""
    picture = PICTURE.read_text(encoding="utf-8")
    assert picture == draw(read(CAST.read_text(encoding="utf-8"))), f"{RERECORD} --draw"
    assert "<script" not in picture
    assert "prefers-reduced-motion:reduce" in picture
    assert len(picture) < 40_000


def test_the_recording_holds_the_commands_and_no_key() -> None:
    """Each command is typed in it once, under its note; the made-up keys are not in it."""
    text = CAST.read_text(encoding="utf-8")
    assert json.loads(text.splitlines()[0])["width"] == COLUMNS
    assert all(_shown(step) for step in STEPS)
    assert "not-a-key" not in text


@pytest.mark.parametrize("step", STEPS, ids=lambda step: shlex.split(step.command)[1])
def test_the_commands_write_what_is_recorded(step: Step, tmp_path: Path) -> None:
    """Run again, a command writes its recorded lines; for the words of the model, a typed answer or a sentence."""
    if step.needs_model:
        weights_or_skip("tiny")
        (tmp_path / "il").mkdir()
        (tmp_path / "il" / "models").symlink_to(weights.find("tiny")[1].parent)
    lines, shown = _lines(run(step, tmp_path)), _shown(step)
    if not step.needs_model:
        assert lines == shown, RERECORD
        return
    assert [line for line in lines if NOTE.match(line)] == [line for line in shown if NOTE.match(line)], RERECORD
    words, shown_words = [
        "\n".join([line for line in some if not NOTE.match(line)]) for some in (lines, shown)
    ]  # fmt: skip
    if "--schema" in step.command:
        words, shown_words = (str(list(json.loads(text))) for text in (words, shown_words))
        assert words == shown_words
    assert words


def test_a_terminal_keeps_what_stands_and_what_stood() -> None:
    """Erased text ends when it is erased; long lines go on in the next row; an unknown control character is refused."""
    terminal, dim = Terminal(4), "\x1b[2m"
    terminal.feed(0.5, f"{dim}one\x1b[22m")
    terminal.feed(1.0, "\r\x1b[K12345")
    assert [(content.row, content.text, content.start_s, content.end_s) for content in terminal.contents] == [
        (0, "one", 0.5, 1.0),
        (0, "1234", 1.0, None),
        (1, "5", 1.0, None),
    ]
    assert {style for _, style in terminal.contents[0].cells} == {"dim"}
    assert terminal.lines() == ["1234", "5"]
    with pytest.raises(ValueError, match=r"\\x1b\[2J"):
        terminal.feed(2.0, "\x1b[2J")


def test_the_landing_page_shows_it() -> None:
    """The picture stands on the first page of the site, with words for those who cannot see it."""
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert re.search(r"!\[[^\]]{40,}\]\(assets/first-minute\.svg\)", page)
