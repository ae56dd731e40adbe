from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import bench.__main__ as program
from bench.measure import Batches, NotRun, batch_ratios, cpu_us, once, ratio, run_child, start_ratio
from bench.outcomes import line as told
from bench.outcomes import measure, summary
from bench.rows import Row, all_rows
from bench.rows.pairs import MARK, bodies, load, pairs
from interlingua.dialects._contract import DecodeContext, DecodeOptions
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.wire.http import HttpReply, HttpRequest


def row(measured: float | None, bar: float | None = 2.0, *, only_full: bool = False) -> Row:
    """A row that measures this, or cannot."""

    def measure() -> float:
        if measured is None:
            raise NotRun("no such thing here")
        return measured

    return Row("a/b", "this / that", bar, "x", measure, only_full)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (row(2.0), "met"),
        (row(2.01), "missed"),
        (row(9.0, None), "-"),
        (row(None), "not run"),
        (row(1.0, only_full=True), "not run"),
    ],
)
def test_verdicts(given: Row, verdict: str) -> None:
    """A bar is the last number that meets it; what was not measured is never met."""
    assert measure(given, full=False).verdict == verdict


def test_a_row_of_several_cells_is_judged_by_the_highest() -> None:
    """One pair over the bar misses it; the best, the median and the worst stand in one line, each cell in its own."""
    cells = {"a -> b": 1.0, "b -> a": 3.0, "a -> c": 1.5}
    outcome = measure(Row("a/b", "this / that", 2.0, "x", lambda: cells), full=False)
    assert (outcome.measured, outcome.verdict, outcome.cells) == (3.0, "missed", cells)
    assert summary(outcome.row, cells) == "best 1 (a -> b), median 1.5, worst 3 (b -> a); 2 of 3 met"
    assert [line.split() for line in told(outcome).splitlines()[1:4]] == [
        ["a", "->", "b", "1x", "met"],
        ["b", "->", "a", "3x", "missed"],
        ["a", "->", "c", "1.5x", "met"],
    ]


def test_a_batch_is_made_anew_for_each_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither side sees a batch twice; the making of it and its beginning, which warms the processor, do not count."""
    made: list[list[int]] = []
    seen: list[list[int]] = []
    used_s = [0.0]

    def make() -> list[int]:
        used_s[0] += 1_000.0
        made.append([len(made)] * 16)
        return made[-1]

    def theirs(_: list[int]) -> None:
        used_s[0] += 8.0

    def ours(batch: list[int]) -> None:
        seen.append(batch)
        used_s[0] += 100.0 if len(batch) == 2 else 2.0

    monkeypatch.setattr("bench.measure.time.process_time", lambda: used_s[0])
    found = batch_ratios({"a": Batches(make, ours, theirs)}, turns=1)
    assert found["a"] == 0.25
    assert seen == [[0] * 2, [0] * 14, [1] * 2, [1] * 14]


def test_pairs_take_turns_with_each_other_and_sides_in_coming_first() -> None:
    """What disturbs the machine for a while takes a turn of each pair, and no side is always the second one."""
    seen: list[str] = []

    def side(name: str) -> Callable[[list[int]], None]:
        return lambda batch: seen.extend([name] * len(batch))

    batch_ratios({name: Batches(lambda: [0, 0], side(name), side(name.upper())) for name in "ab"}, turns=1)
    assert "".join(seen) == "aaAAbbBBAAaaBBbb"


def test_every_pair_is_measured_with_bodies_that_are_read() -> None:
    """The load of each dialect is a request, an answer and a stream of it; fresh bodies differ, others do not."""
    assert len(list(pairs())) == len(DIALECTS) * (len(DIALECTS) - 1)
    for name in DIALECTS:
        given, dialect = load(name), get_dialect(name)
        asked = dialect.decode_request(HttpRequest(url=given.url, body=given.request), DecodeOptions()).request
        assert (len(asked.messages), len(asked.tools)) == (9, 10)
        assert given.request.count(MARK) >= 20
        told = dialect.decode_response(HttpReply(status=200, body=given.reply), DecodeContext())
        assert len(told.message.tool_calls) == 2
        assert len(set(bodies(given.reply, fresh=True))) > 1 == len(set(bodies(given.reply, fresh=False)))
        assert len(given.frames) >= 220


def test_rows_have_names_of_their_own() -> None:
    """A name is how a row is asked for, and how two runs are compared."""
    names = [row.name for row in all_rows()]
    assert len(names) == len(set(names))
    assert "import/cpu" in names


def test_the_program_prints_and_keeps_its_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With --strict, a missed bar is status 1; file and page say the same; after its time nothing is begun."""
    monkeypatch.setattr(program, "all_rows", lambda: [row(3.0)])
    monkeypatch.setattr(program, "LOCAL", tmp_path / "kept")
    monkeypatch.setattr(program, "HERE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["bench", "--strict"])
    assert program.main() == 1
    assert "missed" in capsys.readouterr().out
    kept = json.loads((tmp_path / "kept" / "latest.json").read_text())
    assert (kept["rows"][0]["measured"], kept["rows"][0]["verdict"]) == (3.0, "missed")
    assert "| a/b | this / that | ≤ 2x | 3x |  | **missed** |" in (tmp_path / "kept" / "RESULTS.md").read_text()
    monkeypatch.setattr(sys, "argv", ["bench", "--minutes", "0"])
    assert program.main() == 0
    assert "not run (the 0 minutes of the run are over)" in capsys.readouterr().out


def test_settings_of_peers_are_stated() -> None:
    """Those of a library, of a gateway, and of what is both."""
    assert program.settings("aimux") == "one model, `generate_text`; it has no asyncio"
    assert program.settings("smg") == "`smg launch --backend openai`, log level warn; it does not translate"
    assert program.settings("litellm").startswith(
        "`completion` and `acompletion`, its banner and its telemetry off; `lit"
    )


def test_what_cannot_be_made_is_found_out_once() -> None:
    """A peer that takes a minute to fail takes it once, not for each of its rows."""
    made: list[int] = []

    @once
    def make(number: int, extra: int = 0) -> int:
        made.append(number)
        if number > 1:
            raise NotRun("no such thing")
        return number + extra

    assert (make(1), make(1), make(1, 0), make(number=1, extra=0)) == (1, 1, 1, 1)
    for _ in range(2):
        with pytest.raises(NotRun, match="no such thing"):
            make(2)
    assert made == [1, 2]


def test_a_ratio_sees_what_is_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """And that only, by a clock that nothing else moves; the real one moves when there is work."""
    assert cpu_us(lambda: sum(range(2_000)), turns=3) > 1
    used_ms = [0]

    def work(milliseconds: int) -> Callable[[], None]:
        return lambda: used_ms.__setitem__(0, used_ms[0] + milliseconds)

    monkeypatch.setattr("bench.measure.time.process_time", lambda: used_ms[0] / 1_000)
    assert ratio(work(4), work(2), turns=5) == pytest.approx(2.0)


def test_processes_are_measured_from_start_to_end() -> None:
    """Their status counts: what fails is not measured."""
    python = [sys.executable, "-S", "-c"]
    assert run_child([*python, "pass"]).cpu_s > 0
    assert run_child([*python, "x = bytearray(50_000_000)"]).resident_mb > 50
    assert start_ratio([*python, "sum(range(5_000_000))"], [*python, "pass"], turns=3) > 1.5
    with pytest.raises(NotRun):
        start_ratio([*python, "1/0"], [*python, "pass"])
