"""`il embed` and `il rerank` on the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from interlingua.cli.main import main

Capture = pytest.CaptureFixture[str]


def _piped(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    stdin: Any = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stdin)


def test_r67_one_text_gives_its_vector(capsys: Capture) -> None:
    """A JSON list on stdout; tokens on stderr where they are wanted."""
    assert main(["embed", "-m", "fake/any", "--dimensions", "4", "--usage", "Oslo Oslo"]) == 0
    told = capsys.readouterr()
    assert [abs(number) for number in sorted(json.loads(told.out), key=abs)] == [0, 0, 0, 1]
    assert told.err == "il: fake/any: 2 tokens\n"


def test_r67_lines_give_lines(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of a file, of stdin, of several arguments; blank ones are none."""
    (tmp_path / "lines.txt").write_text("one\n\n  two  \n", encoding="utf-8")
    monkeypatch.setenv("INTERLINGUA_MODEL", "fake/any")
    assert main(["embed", "--file", str(tmp_path / "lines.txt")]) == 0
    of_file = capsys.readouterr().out
    _piped(monkeypatch, "one\ntwo\n")
    assert main(["embed"]) == 0
    assert capsys.readouterr().out == of_file
    assert main(["embed", "one", "two"]) == 0
    assert capsys.readouterr().out == of_file
    assert [json.loads(line)["text"] for line in of_file.splitlines()] == ["one", "two"]
    assert {len(json.loads(line)["vector"]) for line in of_file.splitlines()} == {64}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["embed", "-m", "fake/a", "x", "--file", "y"], "give texts or --file, not both"),
        (["embed", "-m", "fake/a", "--file", "/nowhere/x"], "/nowhere/x cannot be read"),
        (["embed", "-m", "fake/a"], "there is no text"),
        (["embed", "-m", "fake/a,fake/b", "x"], "vectors of two models do not compare"),
        (["embed", "x"], "no model"),
        (["rerank", "-m", "fake/a", "x"], "there are no documents"),
    ],
)
def test_what_cannot_be_embedded_is_one_line_and_a_two(
    arguments: list[str], sentence: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with the way out."""
    monkeypatch.delenv("INTERLINGUA_MODEL", raising=False)
    _piped(monkeypatch, "")
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert (told.out, sentence in told.err, told.err.count("\n")) == ("", True, 1)


def test_documents_come_by_their_relevance(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The score and the document, or JSON."""
    assert main(["rerank", "-m", "fake/any", "rain", "sun in Rome", "rain in Oslo"]) == 0
    assert capsys.readouterr().out == "0.5774\train in Oslo\n0.0000\tsun in Rome\n"
    _piped(monkeypatch, "sun in Rome\nrain in Oslo\n")
    assert main(["rerank", "-m", "fake/any", "-n", "1", "--json", "rain"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "index": 1,
        "score": pytest.approx(0.57735),
        "document": "rain in Oslo",
    }
