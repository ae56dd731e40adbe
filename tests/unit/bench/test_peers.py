"""Other people's libraries and gateways: what is asked of them, and what is said where they are not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from bench import gateways, peers
from bench.canned import CALLS, EVENTS, PIECES
from bench.gateways import GATEWAYS
from bench.libraries import LIBRARIES
from bench.measure import NotRun
from bench.peers import PEERS, worker
from bench.peers.libraries import Calls
from bench.rows import all_rows


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A place where no peer is installed."""
    monkeypatch.setattr(peers, "ROOT", tmp_path)
    return tmp_path


def test_what_is_not_installed_says_how_to_install_it(nothing: Path) -> None:
    """A row of it is not run; a folder without the mark of a whole installation counts as nothing."""
    with pytest.raises(NotRun, match=r"^smg is not installed: python -m bench\.peers smg$"):
        peers.program("smg")
    assert peers.version("smg") == peers.version("portkey") == "not installed"
    (nothing / "smg" / "bin").mkdir(parents=True)
    (nothing / "smg" / "bin" / "python").touch()
    with pytest.raises(NotRun):
        peers.program("smg")
    (nothing / "smg" / ".ready").touch()
    assert peers.program("smg") == nothing / "smg" / "bin" / "python"


def test_a_peer_that_cannot_be_had_says_so_in_a_sentence(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last error of the installer, and nothing is marked as ready; what is ready is not installed again."""
    monkeypatch.setattr(peers.shutil, "which", Mock(return_value=None))
    assert peers.install("portkey") == "npm is not installed"
    assert not (nothing / "portkey" / ".ready").exists()
    (nothing / "portkey" / ".ready").write_text(repr(PEERS["portkey"]))
    assert peers.install("portkey") is None


def test_every_peer_has_an_environment_and_rows() -> None:
    """Each library and gateway by one name; each that the bars name has a row with that bar."""
    assert {*LIBRARIES, *GATEWAYS} <= set(PEERS)
    rows = {row.name: row for row in all_rows()}
    for peer in ("openai", "litellm", "any-llm", "pydantic-ai"):
        assert (rows[f"library/sync/{peer}"].bar, rows[f"library/aio-64/{peer}"].bar) == (1 / 20, 1 / 25)
    assert {name: rows[name].bar for name in BARS} == BARS


BARS = {
    "import/cpu": 1.4,
    "import/memory": 20.0,
    "import/distributions": 6.0,
    "import/explain": 5.0,
    "library/stream": 10.0,
    "codec/grown": 1.0,
    "codec/new-text": 1.0,
    "codec/new": 1.5,
    "codec/pydantic": 2.0,
    "codec/recorded": 2.5,
    "codec/axes": 2.0,
    "gateway/paced": 2.5,
    "gateway/first": 3.0,
    "gateway/burst": 10.0,
    "gateway/memory": 60.0,
    "gateway/start": 1.0,
    "growth/workers": 1.1,
}
"""The numbers to reach, each with the row that measures it."""


def test_upstreams_are_named_by_headers_where_a_gateway_wants_that() -> None:
    """Each request to Portkey tells its provider and its address."""
    assert GATEWAYS["portkey"].headers(81, "claude-sonnet-4-5") == (
        "x-portkey-provider: anthropic",
        "x-portkey-custom-host: http://127.0.0.1:81/v1",
    )


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({"pass": "1 of 2 answers are refused or broken"}, "1 of 2 answers are refused or broken"),
        ({}, "x has no such thing"),
    ],
)
def test_a_load_that_a_gateway_does_not_bear_is_a_reason(
    figures: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is sent as it was, and its other rows stay."""
    monkeypatch.setattr(gateways, "figures", Mock(return_value=figures))
    with pytest.raises(NotRun, match=told):
        gateways.compare("x", "pass")


async def _awaited() -> int:
    return CALLS


def test_a_library_is_held_to_what_it_reads() -> None:
    """Whoever does not read the whole answer is not measured."""
    text = EVENTS * len(PIECES[0])
    calls = Calls(lambda: CALLS, lambda: text, _awaited, lambda: b'"get_weather_1"', lambda: b"")
    for kind in ("sync", "stream", "aio-1", "aio-64", "request"):
        assert worker.measured(calls, kind, 2) >= 0
    with pytest.raises(ValueError, match="without its tools"):
        worker.measured(calls, "reply", 1)
    with pytest.raises(ValueError, match=r"^1 of 2 of the answer$"):
        worker.measured(Calls(lambda: 1), "sync", 1)
    with pytest.raises(LookupError, match="it has no asyncio"):
        worker.measured(Calls(lambda: 1), "aio-1", 1)


def test_a_worker_answers_line_by_line(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """What a library prints does not get between the answers; what it raises is one of them."""

    def calls(port: int) -> Calls:
        def noisy() -> int:
            worker.sys.stdout.write("a banner\n")
            return CALLS

        return Calls(noisy)

    def lines() -> Iterator[str]:
        yield "sync 1\n"
        yield "aio-1 1\n"

    monkeypatch.setattr(worker, "import_module", Mock(return_value=SimpleNamespace(calls=calls)))
    monkeypatch.setattr(worker.sys, "argv", ["worker", "some-library", "1"])
    monkeypatch.setattr(worker.sys, "stdin", lines())
    stdout = worker.sys.stdout
    try:
        worker.main()
    finally:
        worker.sys.stdout = stdout
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [sorted(answer) for answer in told] == [["import_mb", "import_ms"], ["cpu_us"], ["error"]]
    assert told[2]["error"] == "LookupError: it has no asyncio"
