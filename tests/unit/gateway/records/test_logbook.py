"""The SQLite file of requests: what is in it, filters, bounds, several writers, files of others."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from interlingua.errors import ConfigError
from interlingua.gateway.records.logbook import BETWEEN_TRIMS_S, DAY_S, Filter, Logbook, read_rows
from interlingua.gateway.records.record import Record
from interlingua.types.response import Attempt

NOW = 2_000_000_000.0


def record(number: int, **facts: object) -> Record:
    """A request of so many seconds ago."""
    known = {"id": f"r{number}", "at": NOW - number, "status": 200, "message": "what was said", **facts}
    return Record(**known)  # pyright: ignore[reportArgumentType] - the facts of each test


def filled(path: Path, *records: Record, **terms: object) -> Logbook:
    """A file with requests."""
    book = Logbook(path, now=lambda: NOW, **terms)  # pyright: ignore[reportArgumentType] - the terms of each test
    book.write(list(records))
    return book


def ids(path: Path, most: int = 100, **wanted: object) -> list[object]:
    """The ids of what is found."""
    return [row.facts["id"] for row in read_rows(path, Filter(**wanted), most)]  # pyright: ignore[reportArgumentType]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Every fact, with the tries; neither content nor sentences."""
    path = tmp_path / "log.db"
    tried = Attempt(model="a/b", outcome="failed", error="RateLimitError: said", status=429)
    filled(
        path, record(1, key="k", model="m", target="a/b", stream=True, attempts=(tried,), input_tokens=3, cost_usd=0.5)
    ).close()
    (row,) = read_rows(path, Filter(), 10)
    assert row.number == 1
    assert row.facts == {
        "at": NOW - 1, "id": "r1", "key": "k", "team": "", "client": "", "method": "POST", "path": "", "model": "m",
        "target": "a/b", "stream": True, "status": 200, "error": "", "changes": 0, "input_tokens": 3,
        "output_tokens": None, "cache_read_tokens": None, "cost_usd": 0.5, "first_s": None, "total_s": 0.0,
        "aborted": False, "peer": "",
        "attempts": [{"model": "a/b", "outcome": "failed", "error": "RateLimitError", "status": 429}],
    }  # fmt: skip
    assert b"what was said" not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_ends_after_the_gateway_is_not_written(tmp_path: Path) -> None:
    """A page of the console may still be open then."""
    path = tmp_path / "log.db"
    book = Logbook(path)
    book.close()
    book.write([record(1)])
    assert ids(path) == []


def test_sentences_are_kept_with_content(tmp_path: Path) -> None:
    """Where the log has content, the file has the sentences of errors."""
    path = tmp_path / "log.db"
    filled(path, record(1), content=True).close()
    assert read_rows(path, Filter(), 1)[0].facts["message"] == "what was said"


def test_filters(tmp_path: Path) -> None:
    """Each narrows; together they narrow further; the last ones count."""
    path = tmp_path / "log.db"
    filled(
        path,
        record(5, key="a", model="claude-1", target="x/1", status=200),
        record(4, key="b", model="claude-2", target="x/2", status=429),
        record(3, key="a", model="gpt%1", target="y/1", status=404),
        record(2, key="a", model="gpt_2", target="y/2", status=500),
    ).close()
    assert ids(path) == ["r5", "r4", "r3", "r2"]
    assert ids(path, 2) == ["r3", "r2"]
    assert ids(path, key="a") == ["r5", "r3", "r2"]
    assert ids(path, model="claude-*") == ["r5", "r4"]
    assert ids(path, model="gpt%*") == ["r3"]
    assert ids(path, model="claude") == []
    assert ids(path, target="y/*", key="a") == ["r3", "r2"]
    assert ids(path, status="4xx") == ["r4", "r3"]
    assert ids(path, status="500") == ["r2"]
    assert ids(path, since=NOW - 3) == ["r3", "r2"]
    assert ids(path, after=3) == ["r2"]
    with pytest.raises(ConfigError, match="a status is 429 or 4xx, not 4x"):
        ids(path, status="4x")


def test_old_requests_make_room(tmp_path: Path) -> None:
    """By age, whenever the bounds are looked at."""
    path = tmp_path / "log.db"
    filled(path, record(1), record(int(2 * DAY_S)), days=1.0).close()
    assert ids(path) == ["r1"]


def test_bounds_are_looked_at_where_the_clock_is_put_back(tmp_path: Path) -> None:
    """By a day: they would not be for so long, otherwise."""
    path, now_s = tmp_path / "log.db", NOW
    book = Logbook(path, days=1.0, now=lambda: now_s)
    book.write([record(0)])
    now_s -= DAY_S
    book.write([record(0), record(int(3 * DAY_S))])
    assert ids(path) == ["r0", "r0"]
    now_s += BETWEEN_TRIMS_S - 1
    book.write([record(int(3 * DAY_S))])
    assert len(ids(path)) == 3  # not at each writing
    book.close()


def test_a_file_that_was_moved_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What is written goes with it, and nothing is lost."""
    path, moved = tmp_path / "log.db", tmp_path / "moved.db"
    book = filled(path, record(1))
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").rename(f"{moved}{end}")
    for number in (2, 3):
        book.write([record(number)])
    assert [one.getMessage() for one in caplog.records] == [
        f"{path} was moved or taken away, and what is written went with it; start the gateway again to begin anew"
    ]
    assert ids(moved) == ["r1", "r2", "r3"]
    moved.rename(path)
    book.write([record(4)])
    path.unlink()
    book.write([record(5)])
    assert len(caplog.records) == 2
    book.close()


def test_a_file_stays_within_its_size(tmp_path: Path) -> None:
    """The oldest go first, and the file itself becomes smaller."""
    path = tmp_path / "log.db"
    book = filled(path, max_bytes=300_000)
    for begin in range(0, 5_000, 500):
        book.write([record(-number, model="m" * 200) for number in range(begin, begin + 500)])
    book.trim()
    book.close()
    rows = read_rows(path, Filter(), 10_000)
    assert 100 < len(rows) < 2_000
    assert rows[-1].facts["id"] == "r-4999"
    assert path.stat().st_size < 600_000


def test_several_processes_may_write_one_file(tmp_path: Path) -> None:
    """Each its own, and reading does not wait for them."""
    path = tmp_path / "log.db"
    one, other = filled(path, record(1)), filled(path, record(2))
    one.write([record(3)])
    assert ids(path) == ["r1", "r2", "r3"]
    other.close()
    one.close()


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    """A database of something else, a file that is none, a place that cannot be written, nothing at all."""
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(ConfigError, match="is a database of something else"):
        Logbook(other)
    text = tmp_path / "text"
    text.write_text("no database, but a long enough text of some kind" * 10)
    with pytest.raises(ConfigError, match="no log can be kept there"):
        Logbook(text)
    with pytest.raises(ConfigError, match="no log can be kept there"):
        Logbook(text / "x" / "log.db")
    with pytest.raises(ConfigError, match="is no log of a gateway"):
        read_rows(text, Filter(), 1)
    with pytest.raises(ConfigError, match=r"no log at .*; a gateway writes one with: il serve --store"):
        read_rows(tmp_path / "missing", Filter(), 1)
