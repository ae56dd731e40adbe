"""Two targets at once: the first answer counts, nothing of the other is left; in both faces."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.client.aio.pump import AsyncPump
from interlingua.client.call.core import Outcome, call_steps, stream_steps
from interlingua.client.call.pump import Pump
from interlingua.client.options import Settings, settle
from interlingua.transport.override import Override, overriding
from tests.support.chains import World, refusal
from tests.support.client import chat, chunks
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Generator

    from interlingua.client.call.values import Call
    from interlingua.wire.http import HttpReply, HttpRequest

A, B, C = "a/one", "b/two", "c/three"
SOON_S, NEVER_S = 0.02, 600.0


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def awaited(request: pytest.FixtureRequest) -> bool:
    """Both faces."""
    return request.param


class Targets:
    """Targets that answer after a while; they know who was asked, and what is still open."""

    def __init__(self, **answers: tuple[float | str, HttpReply | list[bytes]]) -> None:
        """`one`, `two`, `three`: when the headers come, and a whole reply or the pieces of a stream.

        They come after so many seconds, or once something has become of another target: `two asked`, `two over`.
        """
        self.answers = answers
        self.asked: list[str] = []
        self.over: list[str] = []
        self.given_up: list[str] = []
        self.open_replies = 0

    async def open(self, request: HttpRequest, timeouts: Any) -> _Reply:
        """The reply after its time."""
        del timeouts
        name = (request.target or "").partition("/")[2]
        self.asked.append(name)
        delay, answer = self.answers[name]
        try:
            await (self._until(delay) if isinstance(delay, str) else asyncio.sleep(delay))
        except asyncio.CancelledError:
            self.given_up.append(name)
            raise
        return _Reply(self, name, answer)

    async def _until(self, said: str) -> None:
        name, _, what = said.partition(" ")
        while name not in (self.asked if what == "asked" else self.over):  # noqa: ASYNC110 - in a loop of its own
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)

    async def close(self) -> None:
        """Nothing is kept."""

    @contextmanager
    def standing(self) -> Generator[None]:
        """They stand in for every transport; who blocks waits for them."""
        with overriding(Override(lambda _: _Blocking(self), lambda _: self)):
            yield


class _Reply:
    def __init__(self, targets: Targets, name: str, answer: HttpReply | list[bytes]) -> None:
        self._name = name
        self.status = 200 if isinstance(answer, list) else answer.status
        streamed = (("content-type", "text/event-stream"),)
        self.headers = streamed if isinstance(answer, list) else answer.headers
        self._pieces = list(answer) if isinstance(answer, list) else [answer.body]
        self._targets = targets
        self._is_open = True
        targets.open_replies += 1

    async def read(self) -> bytes:
        await asyncio.sleep(0)
        return self._pieces.pop(0) if self._pieces else b""

    async def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._targets.open_replies -= 1
            self._targets.over.append(self._name)


class _Blocking:
    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def open(self, request: Any, timeouts: Any) -> Any:
        reply = asyncio.run(self._targets.open(request, timeouts))

        class Read:
            status, headers = reply.status, reply.headers

            def read(self) -> bytes:
                return asyncio.run(reply.read())

            def close(self) -> None:
                asyncio.run(reply.close())

        return Read()

    def close(self) -> None:
        """Nothing is kept."""


def _call(*specs: str, **options: Any) -> Call:
    call = World().call_to(*specs, **options)
    settings = settle(Settings(), {"hedge_after_s": SOON_S, "retries": 0, **options})
    return replace(call, settings=settings, clock=time.monotonic)


def _ask(call: Call, *, awaited: bool) -> il.Response[Any]:
    return asyncio.run(AsyncPump(call_steps(call)).run()) if awaited else Pump(call_steps(call)).run()


def _told(attempts: tuple[il.Attempt, ...]) -> list[tuple[str, str]]:
    return [(attempt.model, attempt.outcome) for attempt in attempts]


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Generator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before  # one of an earlier test may have ended


def test_a_second_target_is_asked_when_the_first_takes_long(awaited: bool) -> None:
    """Its answer counts; the first exchange is given up at once, and both are told."""
    targets = Targets(one=(NEVER_S, chat("A")), two=(0.0, chat("B")))
    began = time.monotonic()
    with targets.standing():
        reply = _ask(_call(A, B), awaited=awaited)
    assert time.monotonic() - began < NEVER_S / 2
    assert (reply.text, reply.model) == ("B", B)
    assert _told(reply.attempts) == [(A, "failed"), (B, "served")]
    assert reply.attempts[0].error == "outrun: another target answered first"
    assert (targets.asked, targets.given_up, targets.open_replies) == (["one", "two"], ["one"], 0)


def test_nobody_else_is_asked_when_the_first_is_quick(awaited: bool) -> None:
    """The usual case: one target, one exchange."""
    targets = Targets(one=(0.0, chat("A")), two=(0.0, chat("B")))
    with targets.standing():
        reply = _ask(_call(A, B, hedge_after_s=60.0), awaited=awaited)
    assert (reply.text, _told(reply.attempts), targets.asked) == ("A", [(A, "served")], ["one"])
    assert targets.open_replies == 0


def test_the_first_may_win_all_the_same(awaited: bool) -> None:
    """Who was asked later is not preferred."""
    targets = Targets(one=("two asked", chat("A")), two=(NEVER_S, chat("B")))
    with targets.standing():
        reply = _ask(_call(A, B), awaited=awaited)
    assert (reply.text, targets.given_up) == ("A", ["two"])
    assert _told(reply.attempts) == [(B, "failed"), (A, "served")]


def test_a_quick_failure_is_followed_by_the_next_target(awaited: bool) -> None:
    """That is no race but a chain: every target is asked once."""
    targets = Targets(one=(0.0, refusal(401)), two=(0.0, chat("B")), three=(0.0, chat("C")))
    with targets.standing():
        reply = _ask(_call(A, B, C, hedge_after_s=60.0), awaited=awaited)
    assert (reply.text, targets.asked) == ("B", ["one", "two"])


def test_when_both_fail_the_third_is_asked(awaited: bool) -> None:
    """A race that nobody wins is two failed tries."""
    targets = Targets(one=("two over", refusal(401)), two=(0.0, refusal(404)), three=(0.0, chat("C")))
    with targets.standing():
        reply = _ask(_call(A, B, C), awaited=awaited)
    assert targets.asked == ["one", "two", "three"]
    assert _told(reply.attempts) == [(B, "failed"), (A, "failed"), (C, "served")]
    assert targets.open_replies == 0


def test_a_fault_of_the_request_ends_the_race(awaited: bool) -> None:
    """The other target would say the same; it is not waited for."""
    targets = Targets(one=(NEVER_S, chat("A")), two=(0.0, refusal(400)))
    with targets.standing(), pytest.raises(il.BadRequestError):
        _ask(_call(A, B), awaited=awaited)
    assert (targets.given_up, targets.open_replies) == (["one"], 0)


def test_rtr_10_what_must_not_run_twice_is_not_hedged(awaited: bool) -> None:
    """A committed request is waited for, however long it takes."""
    targets = Targets(one=(0.1, chat("A")), two=(0.0, chat("B")))
    call = _call(A, B)
    call = replace(call, request=il.Request(messages=call.request.messages, store=True))
    with targets.standing():
        assert _ask(call, awaited=awaited).text == "A"
    assert targets.asked == ["one"]


def test_the_stream_that_begins_first_is_read_to_its_end(awaited: bool) -> None:
    """The other one is closed before its first event reached anybody."""
    targets = Targets(one=(NEVER_S, chunks("A")), two=(0.0, chunks("Hello ", "you")))
    outcome = Outcome()
    with targets.standing():
        steps = stream_steps(_call(A, B), outcome)
        if awaited:
            asyncio.run(AsyncPump(steps).run())
        else:
            Pump(steps).run()
    reply = outcome.whole(ended=True)
    assert (reply.text, reply.model) == ("Hello you", B)
    assert (targets.given_up, targets.open_replies) == (["one"], 0)


def test_a_stream_that_won_can_be_left(awaited: bool) -> None:
    """Closing it closes its exchange, and the thread that carried it where there was one."""
    targets = Targets(one=(NEVER_S, chunks("A")), two=(0.0, chunks("Hello ", "you")))

    async def left() -> None:
        pump = AsyncPump(stream_steps(_call(A, B), Outcome()))
        await pump.pull()
        await pump.close()

    with targets.standing():
        if awaited:
            asyncio.run(left())
        else:
            pump = Pump(stream_steps(_call(A, B), Outcome()))
            pump.pull()
            pump.close()
    assert targets.open_replies == 0


def test_who_is_cancelled_cancels_both() -> None:
    """Nothing goes on behind the caller's back."""
    targets = Targets(one=(NEVER_S, chat("A")), two=(NEVER_S, chat("B")))

    async def cancelled() -> None:
        task = asyncio.ensure_future(AsyncPump(call_steps(_call(A, B))).run())
        while len(targets.asked) < 2:  # noqa: ASYNC110 - what is waited for is another's list
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(targets.given_up) == ["one", "two"]
        assert len(asyncio.all_tasks()) == 1

    with targets.standing():
        asyncio.run(cancelled())


def test_an_interrupt_cancels_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """KeyboardInterrupt in the thread that waits: both exchanges are given up before it goes on."""
    targets = Targets(one=(NEVER_S, chat("A")), two=(NEVER_S, chat("B")))
    result = Future[Any].result

    def interrupted(future: Future[Any], timeout: float | None = None) -> Any:
        assert until(lambda: future.done() or len(targets.asked) == 2)
        if future.done():
            return result(future, timeout)
        raise KeyboardInterrupt

    monkeypatch.setattr(Future, "result", interrupted)
    with targets.standing(), pytest.raises(KeyboardInterrupt):
        _ask(_call(A, B), awaited=False)
    assert sorted(targets.given_up) == ["one", "two"]
    assert targets.open_replies == 0
