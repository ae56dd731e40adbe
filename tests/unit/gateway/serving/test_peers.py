"""Workers that meet in a directory: who answers, who is left out, and what outlives them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from interlingua.errors import ConfigError
from interlingua.gateway.serving import peers
from interlingua.gateway.serving.peers import Peers


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes longer to answer than others wait."""
    monkeypatch.setattr(peers, "ANSWER_S", 60.0)


@pytest.fixture
def worker(tmp_path: Path) -> Generator[Callable[[str], Peers]]:
    """Makes workers that say what they are called, and what they are asked about."""
    with ExitStack() as stack:

        def make(name: str) -> Peers:
            made = Peers(tmp_path)
            made.answers["who"] = lambda about: f"{name} {about}".strip().encode()
            made.start()
            stack.callback(made.close)
            return made

        yield make


async def test_each_is_answered_by_all_others(worker: Callable[[str], Peers]) -> None:
    """Places are the lowest free numbers; what nobody knows is answered by nobody."""
    first, second, third = worker("one"), worker("two"), worker("three")
    assert [one.number for one in (first, second, third)] == [0, 1, 2]
    assert await first.ask("who") == {1: b"two", 2: b"three"}
    assert await third.ask("who", "are you") == {0: b"one are you", 1: b"two are you"}
    assert await second.ask("what") == {}


async def test_a_place_is_taken_again_with_what_was_kept(tmp_path: Path) -> None:
    """Who comes after reads what was kept; meanwhile the others do."""
    first, second = Peers(tmp_path), Peers(tmp_path)
    second.keep = lambda: "7"
    second.write()
    assert first.stored_texts() == {1: "7"}
    second.start()
    second.keep = lambda: "8"
    second.close()
    assert first.stored_texts() == {1: "8"}
    assert await first.ask("who") == {}
    with closing(Peers(tmp_path)) as third:
        third.start()
        assert (third.number, third.before) == (1, "8")
    first.start()
    first.close()


def test_the_last_one_takes_the_room_away_where_the_supervisor_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else would; while the supervisor runs it is his, also when all workers have ended."""
    room = tmp_path / "room"
    room.mkdir()
    Peers(room).close()
    assert room.exists()
    first, second = Peers(room), Peers(room)
    monkeypatch.setattr("os.getppid", lambda: 1)
    first.close()
    assert room.exists()
    second.close()
    assert not room.exists()


async def test_the_silent_and_the_faulty_are_left_out(
    worker: Callable[[str], Peers], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A worker that never answers costs the time that is waited; one whose answer fails goes on with the next one."""
    let_go = threading.Event()
    first, second, third = worker("one"), worker("two"), worker("three")
    second.answers["slow"] = lambda _: b"late" if let_go.wait(60) else b""
    second.answers["who"] = lambda _: {"": b""}["unknown"]
    assert await first.ask("who") == {2: b"three"}
    assert "a worker was not answered" in caplog.text
    second.answers["who"] = lambda _: b"back"
    assert await first.ask("who") == {1: b"back", 2: b"three"}
    third.answers["slow"] = lambda _: b"at once"
    for answer_s in (0.05, 0.5, 5.0, 20.0):  # a busy machine is not at once, now and then
        monkeypatch.setattr(peers, "ANSWER_S", answer_s)
        if answers := await first.ask("slow"):
            break
    let_go.set()
    assert answers == {2: b"at once"}


def test_a_socket_that_was_left_behind_is_replaced(tmp_path: Path) -> None:
    """A killed worker leaves its socket; a directory that is too deep for one is told."""
    (tmp_path / "0.sock").touch()
    made = Peers(tmp_path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "0.sock"))
    made.start()
    made.close()
    assert not (tmp_path / "0.sock").exists()
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    with pytest.raises(ConfigError, match="workers cannot hear each other there"):
        Peers(deep)
