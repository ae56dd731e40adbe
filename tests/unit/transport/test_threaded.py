"""A blocking transport that is awaited: what is cancelled in the middle of a step is closed where the step ends."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from interlingua.transport.base import Timeouts
from interlingua.transport.handed import ThreadedTransport
from interlingua.wire.http import Headers, HttpRequest

REQUEST = HttpRequest(url="http://127.0.0.1:9/", body=b"")


class Slow:
    """A transport whose steps wait until they are let go; it is its own reply."""

    def __init__(self) -> None:
        self.status: int = 200
        self.headers: Headers = ()
        self.step = threading.Event()
        self.begun = threading.Event()
        self.closed = threading.Event()

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Slow:
        """The reply, when the step is let go."""
        del request, timeouts
        self.read()
        return self

    def read(self) -> bytes:
        """A piece, when the step is let go."""
        self.begun.set()
        assert self.step.wait(60)
        return b"piece"

    def close(self) -> None:
        """It was closed."""
        self.closed.set()


async def cancelled(task: asyncio.Task[object], slow: Slow) -> None:
    """Cancel a task whose step is under way."""
    assert await asyncio.to_thread(slow.begun.wait, 60)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_reply_that_comes_too_late_is_closed() -> None:
    """Its task was cancelled while the transport opened it."""
    slow = Slow()
    await cancelled(asyncio.create_task(ThreadedTransport(slow).open(REQUEST, Timeouts())), slow)
    assert not slow.closed.is_set()
    slow.step.set()
    assert await asyncio.to_thread(slow.closed.wait, 60)


async def test_a_reply_is_closed_where_its_step_ends() -> None:
    """Closing it does not wait for the step."""
    slow = Slow()
    slow.step.set()
    reply = await ThreadedTransport(slow).open(REQUEST, Timeouts())
    assert await reply.read() == b"piece"
    slow.step.clear()
    slow.begun.clear()
    await cancelled(asyncio.create_task(reply.read()), slow)
    await reply.close()
    assert not slow.closed.is_set()
    slow.step.set()
    assert await asyncio.to_thread(slow.closed.wait, 60)


async def test_a_reply_without_a_step_under_way_is_closed_at_once() -> None:
    """As any other."""
    slow = Slow()
    slow.step.set()
    reply = await ThreadedTransport(slow).open(REQUEST, Timeouts())
    await reply.close()
    assert slow.closed.is_set()
