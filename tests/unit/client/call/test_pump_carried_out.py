"""Steps that ask for whole exchanges need no pump, and get one as soon as they ask for anything else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import interlingua as il
from interlingua.client.aio.pump import carried_out as carried_out_async
from interlingua.client.call.effect import Fetch, Open, Rest, Sleep
from interlingua.client.call.pump import carried_out
from interlingua.transport.base import Timeouts
from interlingua.transport.override import Override, overriding
from interlingua.wire.http import HttpReply, HttpRequest

if TYPE_CHECKING:
    from interlingua.client.call.effect import Steps

GOOD, BAD = HttpRequest(url="http://test/good"), HttpRequest(url="http://test/bad")


class _Transport:
    """Answers with the address; refuses the bad one; has one exchange open at a time."""

    def __init__(self) -> None:
        self.open_replies = 0

    def open(self, request: HttpRequest, timeouts: Timeouts) -> _Reply:
        del timeouts
        if request is BAD:
            raise il.APIConnectionError("gone")
        self.open_replies += 1
        return _Reply(self, request.url.encode())

    def close(self) -> None:
        """Nothing is kept."""


class _Reply:
    status = 200
    headers = ()

    def __init__(self, home: _Transport, body: bytes) -> None:
        self._home, self._pieces = home, [body]
        self._is_open = True

    def read(self) -> bytes:
        return self._pieces.pop() if self._pieces else b""

    def close(self) -> None:
        self._home.open_replies -= self._is_open
        self._is_open = False


class _AsyncTransport:
    def __init__(self, inner: _Transport) -> None:
        self._inner = inner

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> _AsyncReply:
        return _AsyncReply(self._inner.open(request, timeouts))

    async def close(self) -> None:
        """Nothing is kept."""


class _AsyncReply:
    def __init__(self, inner: _Reply) -> None:
        self.status, self.headers, self._inner = inner.status, inner.headers, inner

    async def read(self) -> bytes:
        return self._inner.read()

    async def close(self) -> None:
        self._inner.close()


def _run(steps: Steps[list[bytes]], *, awaited: bool) -> list[bytes]:
    """What steps come to; nothing is open afterwards."""
    blocking = _Transport()
    with overriding(Override(lambda _: blocking, lambda _: _AsyncTransport(blocking))):
        try:
            return asyncio.run(carried_out_async(steps)) if awaited else carried_out(steps)
        finally:
            assert blocking.open_replies == 0


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def awaited(request: pytest.FixtureRequest) -> bool:
    """Both faces."""
    return request.param


def test_whole_exchanges_follow_each_other(awaited: bool) -> None:
    """Each gives its reply, and what a transport raises is thrown into the steps."""

    def steps() -> Steps[list[bytes]]:
        first: HttpReply = yield Fetch(GOOD, Timeouts())
        with pytest.raises(il.APIConnectionError, match="gone"):
            yield Fetch(BAD, Timeouts())
        second: HttpReply = yield Fetch(GOOD, Timeouts())
        return [first.body, second.body]

    assert _run(steps(), awaited=awaited) == [b"http://test/good"] * 2


def test_a_pump_takes_over(awaited: bool) -> None:
    """A pause, an exchange that is read by pieces, and one more as a whole, which closes that."""

    def steps() -> Steps[list[bytes]]:
        first: HttpReply = yield Fetch(GOOD, Timeouts())
        yield Sleep(0.0)
        yield Open(GOOD, Timeouts())
        rest: bytes = yield Rest()
        yield Open(GOOD, Timeouts())
        last: HttpReply = yield Fetch(GOOD, Timeouts())
        return [first.body, rest, last.body]

    assert _run(steps(), awaited=awaited) == [b"http://test/good"] * 3


def test_what_the_steps_raise_is_raised(awaited: bool) -> None:
    """Before, between and after exchanges."""

    def steps() -> Steps[list[bytes]]:
        yield Fetch(BAD, Timeouts())
        raise AssertionError("not reached")

    with pytest.raises(il.APIConnectionError, match="gone"):
        _run(steps(), awaited=awaited)
