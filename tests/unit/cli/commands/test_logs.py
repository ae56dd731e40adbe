"""`il logs` and `il replay`: what a gateway kept, told to people and scripts, and asked again."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path

import pytest

from interlingua.cli.commands import logs
from interlingua.cli.main import main
from interlingua.gateway.records.logbook import Logbook
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.records.record import Record
from interlingua.testing.upstream import Upstream
from tests.support.gateway import MODELS, asking, body_of, gateway, serving

Capture = pytest.CaptureFixture[str]
AT = 1_795_325_400.0


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A file with two requests of a fixed time."""
    path = tmp_path / "log.db"
    book = Logbook(path, now=lambda: AT)
    book.write([
        Record(
            id="r1", at=AT, key="team-a", model="smart", target="openai/gpt-5.6", status=200, input_tokens=12,
            output_tokens=3, cost_usd=0.0031, first_s=0.25, total_s=1.5,
        ),
        Record(id="r2", at=AT + 1, model="odd\x1b[31m", status=429, error="RateLimitError", total_s=0.5, aborted=True),
    ])  # fmt: skip
    book.close()
    return path


def test_requests_are_a_table(store: Path, capsys: Capture) -> None:
    """One line each, the oldest first; nothing in it steers a terminal."""
    assert main(["logs", "--store", str(store)]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["time", "status", "key", "model", "target", "tokens", "cost", "first", "took", "end", "id"]
    assert [" ".join(line.split()) for line in lines] == [
        "2026-11-22T05:30:00.000Z 200 team-a smart openai/gpt-5.6 12+3 $0.003100 0.25 s 1.50 s - r1",
        "2026-11-22T05:30:01.000Z 429 - odd\N{REPLACEMENT CHARACTER}[31m - - - - 0.50 s RateLimitError aborted r2",
    ]


def test_requests_are_json_for_scripts(store: Path, capsys: Capture) -> None:
    """One object a line, with every fact; filters narrow."""
    assert main(["logs", "--store", str(store), "--json", "--status", "4xx"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["at"], told["id"], told["error"], told["aborted"]) == (
        "2026-11-22T05:30:01.000Z", "r2", "RateLimitError", True,
    )  # fmt: skip


def test_a_request_is_found_by_the_id_that_its_client_was_told(store: Path, capsys: Capture) -> None:
    """One, or none."""
    for name, found in (("r1", ["r1"]), ("r3", [])):
        assert main(["logs", "--store", str(store), "--json", "--id", name]) == 0
        assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == found


def test_the_file_may_stand_in_the_configuration(store: Path, tmp_path: Path, capsys: Capture) -> None:
    """As the gateway reads it."""
    config = tmp_path / "gateway.toml"
    config.write_text(f'[server]\nstore = "{store}"\n')
    assert main(["logs", "--config", str(config), "--key", "team-a", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    config.write_text("[server]\n")
    assert main(["logs", "--config", str(config)]) == 2
    assert capsys.readouterr().err == f"il: logs: {config} names no store in [server], so its gateway keeps none\n"


def test_what_is_not_there_is_said(store: Path, tmp_path: Path, capsys: Capture) -> None:
    """No file, no such file, no such request, no time."""
    assert main(["logs"]) == 2
    assert "which file?" in capsys.readouterr().err
    assert main(["logs", "--store", str(tmp_path / "none")]) == 2
    assert "no log at" in capsys.readouterr().err
    assert main(["logs", "--store", str(store), "--since", "1s"]) == 0
    assert capsys.readouterr() == ("", "il: no request matches\n")
    assert main(["logs", "--store", str(store), "--since", "soon"]) == 2
    assert capsys.readouterr().err == "il: --since takes 30s, 10m, 2h or 1d, not soon\n"


def test_following_shows_what_comes(store: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there, then what another process writes, until Ctrl-C."""
    monkeypatch.setattr(logs, "FOLLOW_S", 0.01)
    written = threading.Event()
    rests = 0

    def rest(_: float) -> None:
        nonlocal rests
        rests += 1
        if rests == 1:
            book = Logbook(store, now=lambda: AT)
            book.write([Record(id="r3", at=AT + 2, status=200)])
            book.close()
            written.set()
        if rests == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", rest)
    assert main(["logs", "--store", str(store), "--follow", "--json", "-n", "1"]) == 130
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == ["r2", "r3"]
    assert written.is_set()


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    """A recorded request of a client of Chat, which Anthropic answered."""

    async def record() -> None:
        made = gateway(observing=Observing(record=str(tmp_path / "cassettes")))
        with Upstream("anthropic").standing():
            await body_of(await made(asking("openai-chat", MODELS["anthropic"])))
        await made.close()

    asyncio.run(record())
    return next((tmp_path / "cassettes").iterdir())


def test_a_recorded_request_is_asked_again(cassette: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The answer on stdout; on stderr who gave it, and that it is the same."""
    assert main(["replay", str(cassette)]) == 0
    out, err = capfdbinary.readouterr()
    assert json.loads(out)["object"] == "chat.completion"
    assert b"il: 200 in openai-chat; recorded was 200 in openai-chat\n" in err
    assert MODELS["anthropic"].encode() in err


def test_a_recorded_request_is_asked_in_another_dialect(
    cassette: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """As a client of Google would have got it."""
    assert main(["replay", str(cassette), "--dialect", "google"]) == 0
    out, _ = capfdbinary.readouterr()
    assert "candidates" in json.loads(out)


def test_another_answer_is_said(cassette: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Exit code 1, and in what it differs."""
    document = json.loads(cassette.read_text())
    document["reply"]["body"] = json.dumps({"choices": [{"message": {"content": "x"}, "finish_reason": "length"}]})
    cassette.write_text(json.dumps(document))
    assert main(["replay", str(cassette)]) == 1
    err = capfdbinary.readouterr().err.decode()
    assert "il: another text: " in err
    assert "il: another finish: 'stop' instead of 'length'\n" in err


def test_a_recorded_request_goes_to_a_gateway_that_runs(
    cassette: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same request over a socket; the answer is compared as well."""
    with Upstream("anthropic").standing(), serving() as url:
        assert main(["replay", str(cassette), "--url", url]) == 0
    assert json.loads(capfdbinary.readouterr().out)["object"] == "chat.completion"
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    assert main(["replay", str(cassette), "--url", url, "--key-env", "NO_SUCH_KEY"]) == 2


def test_what_is_no_cassette_is_said(tmp_path: Path, capsys: Capture) -> None:
    """One line and exit 2."""
    assert main(["replay", str(tmp_path / "none.json")]) == 2
    assert "none.json: No such file or directory" in capsys.readouterr().err
