"""One file over HTTP, on loopback: whole, in pieces, against servers that misbehave."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from interlingua.errors import ConfigError
from interlingua.local.download import Interrupted, download

CONTENT = bytes(range(256)) * 4_096
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Origin(ThreadingHTTPServer):
    """Serves `content`; the knobs make it misbehave."""

    content = CONTENT
    ranges = True
    cut_after: list[int]
    statuses: list[int]
    asked: list[str | None]

    @property
    def url(self) -> str:
        """Where the file is."""
        return f"http://127.0.0.1:{self.server_address[1]}/file.whl"


class Handler(BaseHTTPRequestHandler):
    """Answers GET."""

    @property
    def origin(self) -> Origin:
        """The server, with its knobs."""
        assert isinstance(self.server, Origin)
        return self.server

    def do_GET(self) -> None:
        """Send the file, from where it is asked for, as far as the knobs let it."""
        wanted = self.headers.get("range")
        self.origin.asked.append(wanted)
        if self.origin.statuses:
            self.send_error(self.origin.statuses.pop(0))
            return
        found = re.fullmatch(r"bytes=(\d+)-", wanted or "")
        start = int(found[1]) if found and self.origin.ranges else 0
        if start >= len(self.origin.content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("content-length", str(len(self.origin.content) - start))
        self.end_headers()
        cut = self.origin.cut_after.pop(0) if self.origin.cut_after else None
        self.wfile.write(self.origin.content[start : None if cut is None else start + cut])

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def origin() -> Iterator[Origin]:
    """A server on loopback."""
    server = Origin(("127.0.0.1", 0), Handler)
    server.cut_after, server.statuses, server.asked = [], [], []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(
    origin: Origin, target: Path, *, sha256: str | None = DIGEST, attempts: int = 3
) -> list[tuple[int, int | None]]:
    """Download without pauses; what progress was told."""
    told: list[tuple[int, int | None]] = []
    download(
        origin.url,
        target,
        sha256=sha256,
        progress=lambda done, total: told.append((done, total)),
        attempts=attempts,
        sleep=lambda _: None,
    )
    return told


def test_a_file_comes_whole_and_progress_is_told(origin: Origin, tmp_path: Path) -> None:
    """Bytes there and bytes in all, up to the end; nothing else stays behind."""
    told = fetch(origin, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert [file.name for file in tmp_path.iterdir()] == ["f"]


def test_a_cut_download_goes_on_where_it_stopped(origin: Origin, tmp_path: Path) -> None:
    """Each further try asks for the rest only."""
    origin.cut_after = [300_000, 400_000]
    fetch(origin, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert origin.asked == [None, "bytes=300000-", "bytes=700000-"]


def test_an_earlier_process_s_part_is_used(origin: Origin, tmp_path: Path) -> None:
    """What lies there from yesterday is not fetched again."""
    (tmp_path / "f.part").write_bytes(CONTENT[:500_000])
    fetch(origin, tmp_path / "f")
    assert origin.asked == ["bytes=500000-"]


def test_a_server_without_ranges_is_believed(origin: Origin, tmp_path: Path) -> None:
    """It sends the whole again, and the whole is taken."""
    origin.ranges, origin.cut_after = False, [300_000]
    fetch(origin, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert origin.asked == [None, "bytes=300000-"]


def test_a_part_that_is_too_long_is_thrown_away(origin: Origin, tmp_path: Path) -> None:
    """The server says 416; the download begins anew."""
    (tmp_path / "f.part").write_bytes(CONTENT + b"more")
    fetch(origin, tmp_path / "f")
    assert origin.asked == [f"bytes={len(CONTENT) + 4}-", None]
    assert (tmp_path / "f").read_bytes() == CONTENT


def test_a_wrong_file_is_tried_anew_once_and_then_refused(origin: Origin, tmp_path: Path) -> None:
    """A part of another file heals; a wrong file does not, and leaves nothing."""
    (tmp_path / "f.part").write_bytes(b"x" * 10)
    fetch(origin, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == CONTENT
    with pytest.raises(ConfigError, match="g does not have the digest"):
        fetch(origin, tmp_path / "g", sha256="0" * 64)
    assert [file.name for file in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_server_that_refuses_interrupts_at_once(origin: Origin, tmp_path: Path, status: int) -> None:
    """What a server refuses is left to the fallback."""
    origin.statuses = [status]
    with pytest.raises(Interrupted, match=f"HTTP {status}"):
        fetch(origin, tmp_path / "f")


def test_tries_that_bring_nothing_end(origin: Origin, tmp_path: Path) -> None:
    """The bound counts tries without progress; the part stays for the next time."""
    origin.cut_after = [1_000, 0, 0, 0]
    with pytest.raises(Interrupted, match="3 tries brought nothing"):
        fetch(origin, tmp_path / "f")
    assert (tmp_path / "f.part").stat().st_size == 1_000


def test_a_file_that_is_there_is_not_fetched(origin: Origin, tmp_path: Path) -> None:
    """Its digest is enough."""
    (tmp_path / "f").write_bytes(CONTENT)
    assert fetch(origin, tmp_path / "f") == []
    assert origin.asked == []


def test_a_file_on_disk_is_copied(tmp_path: Path) -> None:
    """An index may be a directory."""
    (tmp_path / "a b.whl").write_bytes(CONTENT)
    download((tmp_path / "a b.whl").as_uri(), tmp_path / "f", sha256=DIGEST, progress=lambda done, total: None)
    assert (tmp_path / "f").read_bytes() == CONTENT
