"""Exchanges that nobody recorded, with what servers and clients are known to do: invented here, each oddity once."""

from __future__ import annotations

from pathlib import Path

from interlingua.testing.corpus import run

INVENTED = Path(__file__).with_name("invented.jsonl")


def test_invented_exchanges_pass() -> None:
    """Every exchange survives the trip through its own dialect and every other; none is refused."""
    report = run([INVENTED])
    [file] = report.files
    assert [line for line in report.lines() if not line.startswith(("unread ", "invented: ", "in all: "))] == []
    assert file.count("passed") == file.count() > 180
