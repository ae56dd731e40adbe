"""`il extract`: many files become rows, and a rerun goes on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import interlingua as il
from interlingua.cli.main import main
from interlingua.testing import FakeModel, use
from tests.support.client import chat, scripted

Capture = pytest.CaptureFixture[str]
BAD = "none of the kinds known here: mail, text in UTF-8, an image, a PDF or audio"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    (tmp_path / "mails").mkdir()
    (tmp_path / "mails" / "a.eml").write_text("Subject: Bill\n\nTotal 30\n")
    (tmp_path / "mails" / "b.bin").write_bytes(b"\x00\x01")
    (tmp_path / "mails" / "c.txt").write_text("Total 7")
    (tmp_path / "invoices.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Invoice:\n    total: int\n"
    )


def _extract(*more: str, pattern: str = "mails/*") -> int:
    return main(["extract", pattern, "--schema", "invoices.py:Invoice", "-o", "rows.jsonl", "-m", "fake/x", *more])


def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]


def _total(request: il.Request) -> str:
    return json.dumps({"total": int(request.messages[-1].text.split()[-1])})


def test_rows_are_in_the_file(capsys: Capture) -> None:
    """One line for each file; what cannot be read is told and counted; the exit code says that something failed."""
    with use(FakeModel(_total)):
        code = _extract("-s", "Amounts are in euros.", "--concurrency", "1")
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        f"il: mails/b.bin: the file mails/b.bin is {BAD}",
        "il: 2 of 3 done; 1 failed (--retry-failed tries those again)",
    ]
    rows = {row["key"]: row for row in _rows()}
    assert rows["mails/a.eml"]["output"] == {"total": 30}
    assert rows["mails/c.txt"]["output"] == {"total": 7}
    assert rows["mails/b.bin"]["error"]["type"] == "UsageError"


def test_a_rerun_goes_on(capsys: Capture) -> None:
    """Nothing that is there is asked again; `--retry-failed` asks for what failed; new files are asked for."""
    with use(FakeModel([il.RateLimitError("slow", status=429), '{"total": 7}'])):
        assert _extract("--concurrency", "1", pattern="mails/[ac].*") == 1
    with use(FakeModel([])):
        assert _extract(pattern="mails/[ac].*") == 1
    with use(FakeModel(['{"total": 30}'])):
        assert _extract("--retry-failed", pattern="mails/[ac].*") == 0
    with use(FakeModel([])):
        assert _extract(pattern="mails/[ac].*") == 0
    assert capsys.readouterr().err.splitlines() == [
        "il: mails/a.eml: fake/x: 429 slow",
        "il: 1 of 2 done; 1 failed (--retry-failed tries those again)",
        "il: mails/a.eml: fake/x: 429 slow",
        "il: 1 of 2 done; 2 were there before; 1 failed (--retry-failed tries those again)",
        "il: 2 of 2 done; 1 were there before",
        "il: 2 of 2 done; 2 were there before",
    ]


def test_a_dry_run_asks_nothing(capsys: Capture) -> None:
    """Every file with what it becomes and whether it would be asked about; no file is written, no model asked."""
    with use(FakeModel([])):
        assert _extract("--dry-run") == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "new     mails/a.eml: text",
        f"bad     mails/b.bin: the file mails/b.bin is {BAD}",
        "new     mails/c.txt: text",
    ]
    assert err == "il: 2 of 3 would be sent; nothing was sent\n"
    assert not Path("rows.jsonl").exists()
    with use(FakeModel([il.RateLimitError("slow", status=429), '{"total": 7}'])):
        _extract("--concurrency", "1", pattern="mails/[ac].*")
    capsys.readouterr()
    with use(FakeModel([])):
        _extract("--dry-run", pattern="mails/[ac].*")
        _extract("--dry-run", "--retry-failed", pattern="mails/[ac].*")
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "failed  mails/a.eml: text",
        "done    mails/c.txt: text",
        "again   mails/a.eml: text",
        "done    mails/c.txt: text",
    ]


def test_answers_that_do_not_fit_have_their_own_exit_code(capsys: Capture) -> None:
    """Where all that failed is answers that were no invoice, the code is that of the schema."""
    with use(FakeModel("no json")):
        assert _extract(pattern="mails/c.txt") == 3
    assert capsys.readouterr().err.splitlines()[1] == "il: 0 of 1 done; 1 failed (--retry-failed tries those again)"


def test_the_price_is_told(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is known."""
    monkeypatch.setenv("LLM_WORK", "openai://tok-12345678@gateway.example/v1?price_in=2000&price_out=8000")
    with scripted(chat('{"total": 7}')):
        assert _extract("-m", "work/x", pattern="mails/c.txt") == 0
    assert capsys.readouterr().err == "il: 1 of 1 done; $0.0220\n"


def test_a_bar_where_stderr_is_a_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is drawn over itself and taken away at the end; failures have lines of their own."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    with use(FakeModel(_total)):
        _extract("--concurrency", "1")
    err = capsys.readouterr().err
    assert "\r\x1b[K[##############################] 3/3, 1 failed" in err
    assert err.endswith("\r\x1b[Kil: 2 of 3 done; 1 failed (--retry-failed tries those again)\n")


def test_many_failures_are_told_in_short(capsys: Capture, tmp_path: Path) -> None:
    """Twenty of them by name, the rest by number; all are in the file."""
    for number in range(25):
        (tmp_path / f"x{number}.txt").write_text("x")
    with use(FakeModel(il.RateLimitError("slow", status=429))):
        assert _extract(pattern="x*.txt") == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 22
    assert lines[20:] == ["il: and 5 more failures", "il: 0 of 25 done; 25 failed (--retry-failed tries those again)"]
    assert len(_rows()) == 25


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("none/*",), "il: no file is named by none/*"),
        (
            ("mails/*", "-o", "invoices.py"),
            "il: invoices.py is not a journal: line 1 was not written by map; use another file",
        ),
    ],
)
def test_misuse_is_one_line(capsys: Capture, arguments: tuple[str, ...], why: str) -> None:
    """Exit code 2, and nothing is asked."""
    pattern, *more = arguments
    with use(FakeModel([])):
        assert _extract(*more, pattern=pattern) == 2
    assert capsys.readouterr().err.splitlines()[0] == why
