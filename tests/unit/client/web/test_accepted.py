"""Approvals of web pages are accepted once, wherever that is noted, and not after their time."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import interlingua as il
from interlingua.client.web import accepted
from interlingua.client.web.accepted import FileAccepted, MemoryAccepted, accepted_in
from interlingua.client.web.signature import Signer
from tests.support.shared_servers import RoomOfPostgres, make_redis

SECRET = "a secret of the server"
CALL = il.ToolCall("t1", "wipe", '{"disk":1}')


@pytest.fixture(params=["memory", "file", "redis", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """Each place in which accepted approvals can be noted, empty."""
    accepted_in.cache_clear()
    if request.param == "redis":
        server = make_redis(tmp_path)
        yield server.url
        server.stop()
    elif request.param == "postgres":
        yield RoomOfPostgres(request.getfixturevalue("postgres_server")).url
    else:
        yield str(tmp_path / "approvals.sqlite") if request.param == "file" else "memory"


def page(signature: str, *, approved: bool = True, later: str = "") -> dict[str, Any]:
    """What a page sends that has answered a request for an approval."""
    part: dict[str, Any] = {
        "type": "tool-wipe", "toolCallId": "t1", "state": "approval-responded", "input": {"disk": 1},
        "approval": {"id": "t1", "approved": approved},
        "callProviderMetadata": {"interlingua": {"signature": signature}},
    }  # fmt: skip
    messages: list[Any] = [
        {"role": "user", "parts": [{"type": "text", "text": "Wipe it."}]},
        {"role": "assistant", "parts": [{"type": "step-start"}, part]},
    ]
    if later:
        messages.append({"role": "user", "parts": [{"type": "text", "text": later}]})
    return {"id": "c1", "messages": messages}


def test_an_approval_is_accepted_once(place: str) -> None:
    """Whoever sends it again gets an error; another request for the same call is another approval."""
    signer = Signer(SECRET)
    first, second = signer.sign("c1", CALL), signer.sign("c1", CALL)
    for signature in (first, second):
        assert il.web_chat(page(signature), secret=SECRET, accepted=place).approvals == {"t1": True}
        with pytest.raises(il.DecodeError, match="an approval was used already"):
            il.web_chat(page(signature), secret=SECRET, accepted=place)


def test_one_of_many_at_once_is_accepted(place: str) -> None:
    """Twenty threads send one approval."""

    def send(_: int) -> bool:
        try:
            il.web_chat(page(signature), secret=SECRET, accepted=place)
        except il.DecodeError:
            return False
        return True

    signature = Signer(SECRET).sign("c1", CALL)
    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(send, range(20))).count(True) == 1


def test_a_denial_and_an_old_answer_use_nothing_up(place: str) -> None:
    """What runs nothing may come again: a denial, and an answer that the conversation has left behind."""
    signature = Signer(SECRET).sign("c1", CALL)
    for body in (page(signature, approved=False), page(signature, later="Never mind.")):
        for _ in range(2):
            il.web_chat(body, secret=SECRET, accepted=place)
    assert il.web_chat(page(signature), secret=SECRET, accepted=place).approvals == {"t1": True}


def test_an_interrupt_of_ag_ui_is_resolved_once(place: str) -> None:
    """The other protocol, alike."""
    signature = Signer(SECRET).sign("c1", CALL)
    function = {"name": "wipe", "arguments": '{"disk":1}'}
    body: dict[str, Any] = {
        "threadId": "c1", "runId": "r1", "tools": [], "context": [],
        "messages": [
            {"id": "1", "role": "user", "content": "Wipe it."},
            {"id": "2", "role": "assistant", "toolCalls": [{"id": "t1", "type": "function", "function": function}]},
        ],
        "resume": [{"interruptId": f"t1.{signature}", "status": "resolved", "payload": {"approved": True}}],
    }  # fmt: skip
    assert il.web_chat(body, "ag-ui", secret=SECRET, accepted=place).approvals == {"t1": True}
    with pytest.raises(il.DecodeError, match="an approval was used already"):
        il.web_chat(body, "ag-ui", secret=SECRET, accepted=place)


def test_an_approval_comes_too_late() -> None:
    """A signature holds for its time, and its time cannot be written over."""
    now = 1_000_000.0
    signer = Signer(SECRET, valid_s=60.0, now=lambda: now)
    signature = signer.sign("c1", CALL)
    now += 59.0
    signer.check("c1", CALL, signature, "/x")
    now += 1.0
    with pytest.raises(il.DecodeError, match="/x: the approval of wipe was requested too long ago"):
        signer.check("c1", CALL, signature, "/x")
    made, nonce, mac = signature.split("-")
    for forged in (f"{int(made, 16) + 60:x}-{nonce}-{mac}", f"-{nonce}-{mac}", mac, "", "x" * 100_000, "é-é-é"):
        with pytest.raises(il.DecodeError, match="was not requested here"):
            signer.check("c1", CALL, forged, "/x")


def _places(tmp_path: Path, now: Callable[[], float]) -> list[MemoryAccepted | FileAccepted]:
    return [MemoryAccepted(now=now), FileAccepted(str(tmp_path / "a"), now=now)]


def test_a_full_place_accepts_nothing_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An entry that is still good is never dropped for a new one; what is over makes room."""
    monkeypatch.setattr(accepted, "MAX_ACCEPTED", 3)
    times = [0.0]
    for store in _places(tmp_path, lambda: times[-1]):
        times.append(0.0)
        assert store.take({"a": 10.0, "b": 20.0})
        assert store.take({"c": 10.0})
        with pytest.raises(
            il.APIConnectionError, match=r"approvals cannot be noted in .*: it holds 3 that are still good"
        ):
            store.take({"d": 20.0})
        assert not store.take({"a": 10.0})
        times.append(10.0)
        assert store.take({"d": 20.0, "e": 20.0})
        assert not store.take({"b": 20.0})
        with pytest.raises(il.APIConnectionError, match="it holds 3 that are still good"):
            store.take({"f": 20.0})


def test_a_clock_that_jumps_lets_nothing_in_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A clock that was ahead made entries forgotten; when it is right again, their signatures are refused."""
    monkeypatch.setattr(accepted, "MAX_ACCEPTED", 2)
    times = [0.0]
    for store in _places(tmp_path, lambda: times[-1]):
        times.append(0.0)
        assert store.take({"a": 10.0, "b": 12.0})
        times.append(1_000.0)
        assert store.take({"c": 1_010.0})
        times.append(1.0)
        assert [store.take({"a": 10.0}), store.take({"b": 12.0})] == [False, False]
        assert store.take({"d": 12.5})


def test_approvals_are_accepted_together_or_not_at_all(place: str) -> None:
    """One that was used already leaves the others of its page as they were."""
    store, ends = accepted_in(place), time.time() + 60
    assert store.take({"used": ends})
    assert not store.take({"new": ends, "used": ends})
    assert store.take({"new": ends})


def test_a_place_that_cannot_be_used_accepts_nothing(tmp_path: Path) -> None:
    """The error is typed, and the call does not run."""
    signature = Signer(SECRET).sign("c1", CALL)
    with pytest.raises(il.APIConnectionError, match="approvals cannot be noted in"):
        il.web_chat(page(signature), secret=SECRET, accepted=str(tmp_path / "none" / "a"))
    with pytest.raises(il.APIConnectionError, match="approvals cannot be noted"):
        il.web_chat(page(signature), secret=SECRET, accepted="redis://127.0.0.1:1/0")
    for wrong, kind in ((None, il.UsageError), (3, il.UsageError), ("", il.ConfigError)):
        with pytest.raises(kind):
            il.web_chat(page(signature), secret=SECRET, accepted=wrong)  # type: ignore[arg-type]
    for valid_s in (0, -1, float("inf"), "x", None):
        with pytest.raises(il.UsageError, match="an approval is waited for some seconds"):
            il.web_chat(page(signature), secret=SECRET, valid_s=valid_s)  # type: ignore[arg-type]
