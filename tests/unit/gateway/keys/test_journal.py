"""Lines beside a database: one sequence for all processes, through generations, and never a torn one."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from interlingua.gateway.keys.books import Entered, Gone, Line, Next
from interlingua.gateway.keys.budget import Call
from interlingua.gateway.keys.journal import GenerationGone, Journal, lines_from
from interlingua.wire.json import encode


def entered(name: str) -> Entered:
    """A call that was let in."""
    return Entered(Call(name, "h", 1.5, 10, 0), (("key:a", 10, True),))


def text_of(line: Line) -> bytes:
    """A line as it is written."""
    return encode(line) + b"\n"


@pytest.fixture
def made(tmp_path: Path) -> Generator[Callable[[], Journal]]:
    """Makes journals of one database, as of several processes."""
    journals: list[Journal] = []

    def make() -> Journal:
        journals.append(Journal(tmp_path / "keys.sqlite", 4_096))
        journals[-1].begin(0, new=True)
        return journals[-1]

    yield make
    for journal in journals:
        journal.close()


def test_what_one_writes_the_others_read(made: Callable[[], Journal], tmp_path: Path) -> None:
    """In the form that is documented; also who has no lock."""
    one, other = made(), made()
    one.append(text_of(entered("1")) + text_of(Gone(frozenset({"h"}), 2.0)))
    said = b'["enter",["1","h",1.5,10,0],[["key:a",10,true]]]\n["gone",["h"],2.0]\n'
    written = (tmp_path / "keys.sqlite-calls-0").read_bytes()
    assert written == len(said).to_bytes(8, sys.byteorder) + bytes(8) + said + bytes(4_096 - 16 - len(said))
    assert other.read() == [entered("1"), Gone(frozenset({"h"}), 2.0)]
    assert other.read() == []
    other.append(text_of(entered("2")))
    assert one.read() == [entered("2")]
    assert list(lines_from(tmp_path / "keys.sqlite", 0)) == [entered("1"), Gone(frozenset({"h"}), 2.0), entered("2")]


def test_one_at_a_time_has_the_lock(made: Callable[[], Journal]) -> None:
    """Until it is unlocked, or its process ends."""
    one, other = made(), made()
    assert one.lock()
    assert not other.lock()
    one.unlock()
    assert other.lock()


@pytest.mark.parametrize("torn", [b"\x00" * 70, b'["enter",["2"' + b"\x00" * 30, b'["what"]\n', b"\xff\n"])
def test_what_is_no_line_is_the_end(made: Callable[[], Journal], tmp_path: Path, torn: bytes) -> None:
    """Of a machine that lost its power: what comes next stands in its place."""
    path = tmp_path / "keys.sqlite-calls-0"
    one, other = made(), made()
    first, second = text_of(entered("1")), text_of(entered("2"))
    one.append(first)
    size = len(first) + len(torn)
    path.write_bytes(size.to_bytes(8, sys.byteorder) + bytes(8) + first + torn + bytes(4_096 - 16 - size))
    assert list(lines_from(tmp_path / "keys.sqlite", 0)) == [entered("1")]
    assert other.read() == [entered("1")]
    other.append(second)
    assert list(lines_from(tmp_path / "keys.sqlite", 0)) == [entered("1"), entered("2")]
    assert other.size == len(first) + len(second)


def test_room_is_taken_also_where_the_file_system_cannot_promise_it(
    made: Callable[[], Journal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is written; a disk that is full says so before a line is stored."""

    def refused(number: int) -> Callable[[int, int, int], None]:
        def refuse(file: int, offset: int, size: int) -> None:
            raise OSError(number, "no")

        return refuse

    journal = made()
    monkeypatch.setattr(os, "posix_fallocate", refused(errno.EOPNOTSUPP), raising=False)
    journal.end(Next(0))
    assert (tmp_path / "keys.sqlite-calls-1").stat().st_size == 4_096
    monkeypatch.setattr(os, "posix_fallocate", refused(errno.ENOSPC), raising=False)
    with pytest.raises(OSError, match="no"):
        journal.end(Next(0))
    assert journal.generation == 1


def test_a_line_without_room_is_refused(made: Callable[[], Journal]) -> None:
    """There is room up to the last line; nothing of a longer one is written."""
    one, other = made(), made()
    most = 4_096 - 16 - 64
    assert not one.append(b"x" * (most + 1))
    assert other.read() == []
    assert one.append(text_of(entered("1")))
    assert not one.append(b"x" * (most - len(text_of(entered("1"))) + 1))
    one.end(Next(0))
    assert other.read() == [entered("1"), Next(0)]


def test_a_generation_goes_on_in_the_next_one(made: Callable[[], Journal], tmp_path: Path) -> None:
    """Who reads its last line turns to the next; what stood there from one that failed to begin is gone."""
    (tmp_path / "keys.sqlite-calls-1").write_bytes(b"of somebody who was killed")
    one, other = made(), made()
    one.append(text_of(entered("1")))
    one.end(Next(0))
    one.append(text_of(entered("2")))
    assert (one.generation, one.size) == (1, len(text_of(entered("2"))))
    assert other.read() == [entered("1"), Next(0)]
    other.begin(1)
    assert other.read() == [entered("2")]
    assert list(lines_from(tmp_path / "keys.sqlite", 0)) == [entered("1"), Next(0), entered("2")]


def test_a_generation_that_is_gone_is_told(made: Callable[[], Journal], tmp_path: Path) -> None:
    """Its lines are in the database: who needs them begins there."""
    one = made()
    one.end(Next(0))
    one.remove_before(1)
    assert sorted(path.name for path in tmp_path.glob("*-calls-*")) == ["keys.sqlite-calls-1"]
    with pytest.raises(GenerationGone):
        one.begin(0)
    with pytest.raises(GenerationGone):
        list(lines_from(tmp_path / "keys.sqlite", 0))
