"""The file of known faults: compact, exact, and empty when there is nothing to mend."""

from __future__ import annotations

from pathlib import Path

from interlingua.testing.exchange import Fault, Verdict
from interlingua.testing.known import read_known

FAULTS = """
[[fault]]
topic = "A"
what = "an answer that ended in an error is sent as a clean end"
part = "b response in *"
path = "calls under the finish reason"
ids = ["one", "two"]

[[fault]]
topic = "C"
what = "a cache mark is lost"
part = "b request in openai-responses"
path = "/cache_marks/messages/*/parts/0"
ids = ["one"]
"""
CLEAN_END = Fault("b response in anthropic", "calls under the finish reason stop")
LOST_MARK = Fault(
    "b request in openai-responses", "/cache_marks/messages/3/parts/0: …", "/cache_marks/messages/3/parts/0"
)


def _verdict(*faults: Fault) -> Verdict:
    return Verdict(outcome="failed" if faults else "passed", faults=faults)


def test_a_fault_is_known_by_exchange_part_and_place(tmp_path: Path) -> None:
    """Another exchange, another part or another place is another fault."""
    path = tmp_path / "known.toml"
    path.write_text(FAULTS, encoding="utf-8")
    faults = read_known([path])
    assert faults.unknown("one", _verdict(CLEAN_END, LOST_MARK)) == []
    assert faults.unknown("two", _verdict(CLEAN_END, LOST_MARK)) == [LOST_MARK]
    elsewhere = LOST_MARK._replace(part="b request in google")
    assert faults.unknown("one", _verdict(elsewhere)) == [elsewhere]
    other = LOST_MARK._replace(path="/cache_marks/tools/0")
    assert faults.unknown("one", _verdict(other)) == [other]


def test_an_entry_that_is_not_needed_is_named(tmp_path: Path) -> None:
    """Of the exchanges that were judged; the others are nobody's business."""
    path = tmp_path / "known.toml"
    path.write_text(FAULTS, encoding="utf-8")
    faults = read_known([path])
    assert faults.needless({"one": _verdict(CLEAN_END, LOST_MARK)}) == []
    assert faults.needless({"one": _verdict(LOST_MARK), "two": _verdict()}) == [
        "A one b response in * calls under the finish reason",
        "A two b response in * calls under the finish reason",
    ]
