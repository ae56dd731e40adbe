"""Exchanges that nobody recorded, with what servers and clients are known to do: invented here, each oddity once."""

from __future__ import annotations

from pathlib import Path

from interlingua.testing.corpus import run
from interlingua.testing.known import read_known

INVENTED = Path(__file__).with_name("invented.jsonl")
KNOWN = Path(__file__).with_name("known.toml")


def test_invented_exchanges_pass() -> None:
    """Every exchange survives the trips to its own dialect and every other, but for known faults; none is refused."""
    known_faults = read_known([KNOWN])
    [file] = run([INVENTED], known_faults=known_faults).files
    assert [line for line in file.lines() if line.split(" ")[2] != "known"] == []
    assert file.count("passed") == file.count() > 180
    assert known_faults.needless(file.verdicts) == []
