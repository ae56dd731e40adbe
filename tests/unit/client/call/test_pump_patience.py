"""A read that is given a time of its own: what is over then is the time, and a transport's deadline stays an error."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from interlingua.client.aio.pump import AsyncPump
from interlingua.client.call.effect import Open, Read
from interlingua.client.call.pump import Pump
from interlingua.errors import APITimeoutError
from interlingua.transport.base import Timeouts
from interlingua.wire.http import HttpRequest
from tests.support.server import Answer, Hold, chunked, serving

if TYPE_CHECKING:
    from interlingua.client.call.effect import Steps

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _steps(url: str, timeouts: Timeouts, within_s: float) -> Steps[bytes]:
    """What comes second, of a body that falls silent after its first piece."""
    yield Open(HttpRequest(url=url), timeouts)
    yield Read()
    return (yield Read(within_s))


def _second(timeouts: Timeouts, within_s: float, *, awaited: bool) -> bytes:
    with serving(Answer((HEAD + chunked(b"data", end=False), Hold()))) as server:
        steps = _steps(server.url("/"), timeouts, within_s)
        return asyncio.run(AsyncPump(steps).run()) if awaited else Pump(steps).run()


@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "awaited"])
def test_a_time_that_is_over_is_the_end_of_the_body(awaited: bool) -> None:
    """Nothing came, and the call decides what that means."""
    assert _second(Timeouts(idle_s=60.0), 0.05, awaited=awaited) == b""


@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "awaited"])
def test_a_silence_that_is_too_long_is_an_error(awaited: bool) -> None:
    """It was read as an end before: a stream that hung was sent as one without a finish reason."""
    with pytest.raises(APITimeoutError, match=r"fell silent for 0\.05 s") as caught:
        _second(Timeouts(idle_s=0.05), 60.0, awaited=awaited)
    assert caught.value.phase == "idle"
