"""A folder of journals that are one journal: on a disk, and by fsspec."""

from __future__ import annotations

import _thread
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import interlingua as il
from interlingua.client.cluster.index import Index, make_index
from interlingua.client.cluster.segments import Bucket, Folder, place_of
from interlingua.client.cluster.shard import _part, answered, question_of
from interlingua.client.journal import Entry, Fault, Journal, Known
from interlingua.client.map import Terms
from interlingua.registry.allowance import Allowance
from interlingua.testing import FakeModel, use


def _entry(identity: str, *, failed: bool = False) -> Entry:
    error = Fault("RateLimitError", "slow down") if failed else None
    return Entry(journal=1, id=identity, key=identity, error=error)


def test_r69_an_index_knows_every_line_of_every_journal() -> None:
    """33 bytes each; the answer to an id stands before a failure of it, in whichever journal."""
    first = {f"id {number}": Known(number * 10, 7, failed=number % 2 == 1) for number in range(1_000)}
    second = {"id 1": Known(5, 6, failed=False), "id 0": Known(1, 2, failed=True)}
    index = make_index([("b.jsonl", second), ("a.jsonl", first)])
    assert (len(index), len(index.rows)) == (1_002, 1_002 * 33)
    assert index.find("id 1") == ("b.jsonl", 5, 6, False)
    assert index.find("id 0") == ("a.jsonl", 0, 7, False)
    assert index.find("id 999") == ("a.jsonl", 9_990, 7, True)
    assert index.find("id 1000") is None
    assert Index().find("id 1") is None


def test_a_segment_finds_the_lines_of_the_others(tmp_path: Path) -> None:
    """Its own answer first, then an answer elsewhere, then its own failure, then a failure elsewhere."""
    folder = Folder(str(tmp_path / "run"))
    with folder.open("one", None) as one:
        for identity, failed in (("a", False), ("b", True), ("c", True)):
            one.add(_entry(identity, failed=failed))
        assert one.find("b") == _entry("b", failed=True)
    with folder.open("two", folder.read_index()) as two:
        two.add(_entry("b"))
        two.add(_entry("d", failed=True))
        assert two.find("a") == _entry("a")
        assert two.find("b") == _entry("b")
        assert two.find("c") == _entry("c", failed=True)
        assert two.find("c", failed=False) is None
        assert two.find("d", failed=False) is None
        assert two.find("e") is None
    with folder.open("one", folder.read_index()) as one:
        assert one.find("b") == _entry("b")
        assert one.find("c") == _entry("c", failed=True)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["one.jsonl", "two.jsonl"]


def test_the_other_writer_of_a_segment_is_waited_for(tmp_path: Path) -> None:
    """Such as a worker whose driver was killed: it ends soon, and its lines are there then."""
    path = tmp_path / "one.jsonl"
    first = Journal(path)

    def end() -> None:
        time.sleep(0.3)
        first.add(_entry("a"))
        first.__exit__(None, None, None)

    ending = threading.Thread(target=end)
    ending.start()
    with Folder(str(tmp_path)).open("one", None) as second:
        assert second.find("a") == _entry("a")
    ending.join()
    with Journal(path), pytest.raises(il.UsageError, match="is in use by another map"):
        Journal(path, wait_s=0.05)


class _Store:
    """An object store: whole objects, read by ranges, no locks, no appending."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.puts: list[str] = []
        self.is_away = False

    def url_to_fs(self, url: str) -> tuple[_Store, str]:
        scheme, _, path = url.partition("://")
        if scheme != "s3":
            raise ValueError(f"Protocol not known: {scheme}")
        return self, path

    def invalidate_cache(self) -> None:
        """There is none."""

    def makedirs(self, path: str, *, exist_ok: bool) -> None:
        (self.folder / path).mkdir(parents=True, exist_ok=exist_ok)

    def ls(self, path: str, *, detail: bool) -> list[str]:
        assert not detail
        return [f"{path}/{file.name}" for file in (self.folder / path).iterdir()]

    def get_file(self, path: str, local: str) -> None:
        Path(local).write_bytes((self.folder / path).read_bytes())

    def cat_file(self, path: str, start: int | None = None, end: int | None = None) -> bytes:
        return (self.folder / path).read_bytes()[start:end]

    def pipe_file(self, path: str, value: bytes) -> None:
        if self.is_away:
            raise OSError("the store is away")
        self.puts.append(path)
        (self.folder / path).write_bytes(value)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> _Store:
    """An object store that fsspec knows as s3."""
    store = _Store(tmp_path)
    monkeypatch.setitem(sys.modules, "fsspec", SimpleNamespace(__path__=[]))
    monkeypatch.setitem(sys.modules, "fsspec.core", store)
    return store


def test_r69_journals_in_a_bucket(store: _Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each writer has an object of its own, handed over while it grows, and begins with what was left of its shard."""
    monkeypatch.setattr("interlingua.client.cluster.segments.FLUSH_S", 0.02)
    bucket = place_of("s3://bucket/run")
    assert bucket == Bucket("s3://bucket/run")
    assert len(bucket.read_index()) == 0 or pytest.fail("it is empty")
    with bucket.open("one", None) as one:
        one.add(_entry("a"))
        until = time.monotonic() + 20
        while not store.puts and time.monotonic() < until:
            time.sleep(0.01)
        assert len(store.puts) == 1
        one.add(_entry("b"))
    objects = list((tmp_path / "bucket" / "run").iterdir())
    assert len(objects) == 1
    objects[0].write_bytes(objects[0].read_bytes() + b'{"journal":1,"id":"cut')  # as a machine that died leaves it
    with bucket.open("one", None) as again:
        assert again.find("b") == _entry("b")
        again.add(_entry("c"))
    assert len(list((tmp_path / "bucket" / "run").iterdir())) == 2
    with bucket.open("two", bucket.read_index()) as two:
        assert [two.find(name) for name in "abc"] == [_entry(name) for name in "abc"]
    assert len(list((tmp_path / "bucket" / "run").iterdir())) == 2  # what has no line is no object
    with pytest.raises(il.ConfigError, match="fsspec knows no such address: Protocol not known: s4"):
        place_of("s4://bucket/run").read_index()


def test_a_bucket_does_not_grow_with_reruns(store: _Store, tmp_path: Path) -> None:
    """A rerun that asks nothing hands nothing over; one that asks hands its own lines over, and no others."""
    bucket = Bucket("s3://bucket/run")
    for names in ("ab", "", "", "c", ""):
        with bucket.open("one", None) as segment:
            for name in names:
                segment.add(_entry(name))
    files = sorted((tmp_path / "bucket" / "run").iterdir(), key=lambda path: path.stat().st_size)
    assert [file.read_bytes().count(b"\n") for file in files] == [1, 2]
    with bucket.open("one", None) as segment:
        assert [segment.find(name) for name in "abc"] == [_entry(name) for name in "abc"]


def test_lines_that_a_bucket_does_not_take_stay_where_they_are(
    store: _Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error names the file; a bucket that is back in time takes them."""
    monkeypatch.setattr("interlingua.client.cluster.segments.FLUSH_S", 0.01)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store.is_away = True
    bucket = Bucket("s3://bucket/run")
    why = r"bucket/run/one-\w+\.jsonl cannot be written \(OSError\); the answers are in "
    with pytest.raises(il.Error, match=why), bucket.open("one", None) as segment:
        segment.add(_entry("a"))
    (left,) = tmp_path.glob("interlingua-*.jsonl")
    assert left.read_bytes().count(b"\n") == 1
    with bucket.open("one", None) as segment:
        segment.add(_entry("b"))
        store.is_away = False
    assert len(store.puts) == 1


def test_a_segment_whose_writer_does_not_end_gets_a_journal_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two parts of a table may have the same texts."""
    monkeypatch.setattr("interlingua.client.cluster.segments.LOCK_WAIT_S", 0.05)
    folder = Folder(str(tmp_path))
    with folder.open("one", None) as first, folder.open("one", None) as second:
        first.add(_entry("a"))
        second.add(_entry("b"))
    assert len(list(tmp_path.iterdir())) == 2
    with folder.open("two", folder.read_index()) as two:
        assert [two.find(name) for name in "ab"] == [_entry(name) for name in "ab"]


def test_a_journal_that_this_machine_does_not_see_is_named(tmp_path: Path) -> None:
    """An index that another machine read names it."""
    folder = Folder(str(tmp_path / "run"))
    with folder.open("one", None) as one:
        one.add(_entry("a"))
    index = folder.read_index()
    (tmp_path / "run" / "one.jsonl").unlink()
    with folder.open("two", index) as two, pytest.raises(il.UsageError, match=r"one\.jsonl cannot be read here"):
        two.find("a")


def test_what_is_no_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A number, a folder below a file, and an address without fsspec."""
    with pytest.raises(il.UsageError, match="the journal of a cluster is a folder or an address such as s3://…"):
        place_of(3)  # pyright: ignore[reportArgumentType] # callers without types
    (tmp_path / "file").write_text("")
    with pytest.raises(il.UsageError, match="cannot be made"):
        Folder(str(tmp_path / "file" / "run")).open("one", None)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(il.ConfigError, match=r"s3://… needs a package that is not installed"):
        place_of("s3://bucket/run").read_index()


def test_r69_an_interrupted_worker_keeps_the_calls_under_way(tmp_path: Path) -> None:
    """Interrupted twice: they end and are in the journal; the other inputs of the shard are not taken."""
    interrupts: list[None] = []

    def answer(_: il.Request) -> str:
        if len(interrupts) < 2:
            interrupts.append(None)
            _thread.interrupt_main()  # as Ray does
        time.sleep(0.3)
        return "ok"

    terms = Terms(None, 2, str(tmp_path), True, False, None, False, {})
    question = question_of(il.model("openai-chat/gpt-4.1"), terms)
    with use(FakeModel(answer)) as fake, pytest.raises(KeyboardInterrupt):
        answered(question, [str(number) for number in range(100)], 0, None, str)
    assert len(Folder(str(tmp_path)).read_index()) == len(fake.requests) < 10


def test_r69_each_worker_has_its_part_of_a_limit() -> None:
    """Rounded down, one at least; what is not limited stays so."""
    assert _part(Allowance(concurrency=5, rpm=100), 4) == Allowance(concurrency=1, rpm=25)
    assert _part(Allowance(tpm=3), 4) == Allowance(tpm=1)
    assert _part(Allowance(tpm=3), 1) == Allowance(tpm=3)
