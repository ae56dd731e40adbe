"""Whole replies through any transport."""

from __future__ import annotations

import pytest

from interlingua.errors import APIConnectionError
from interlingua.transport.base import Timeouts, async_fetch_of, fetch_of
from interlingua.wire.http import Headers, HttpReply, HttpRequest

REQUEST = HttpRequest(url="http://h.test/")
WHOLE = HttpReply(status=201, headers=(("x", "1"),), body=b"onetwo")


class Pieces:
    """A reply of pieces, blocking; an empty list breaks it."""

    def __init__(self, pieces: list[bytes]) -> None:
        """A reply that was not read."""
        self.status = 201
        self.headers: Headers = (("x", "1"),)
        self.pieces = pieces
        self.closed = 0

    def read(self) -> bytes:
        """The next piece."""
        if not self.pieces:
            raise APIConnectionError("broken")
        return self.pieces.pop(0)

    def close(self) -> None:
        """Count."""
        self.closed += 1


class AwaitedPieces:
    """The same, awaited."""

    def __init__(self, inner: Pieces) -> None:
        """A reply that gives what `inner` does."""
        self.status = inner.status
        self.headers = inner.headers
        self._inner = inner

    async def read(self) -> bytes:
        """The next piece."""
        return self._inner.read()

    async def close(self) -> None:
        """Count."""
        self._inner.close()


class Opening:
    """A transport that only opens."""

    def __init__(self, reply: Pieces) -> None:
        """A transport that gives `reply`."""
        self._reply = reply

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Pieces:
        """The reply."""
        assert request is REQUEST
        assert timeouts == Timeouts()
        return self._reply

    def close(self) -> None:
        """Nothing to close."""


class AwaitedOpening:
    """The same, awaited."""

    def __init__(self, reply: Pieces) -> None:
        """A transport that gives `reply`."""
        self._opening = Opening(reply)

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AwaitedPieces:
        """The reply."""
        return AwaitedPieces(self._opening.open(request, timeouts))

    async def close(self) -> None:
        """Nothing to close."""


class Fetching(Opening):
    """A transport that can fetch."""

    def fetch(self, request: HttpRequest, timeouts: Timeouts) -> HttpReply:
        """Another reply than the one that opens."""
        return HttpReply(status=200, body=request.url.encode() + b"%d" % (timeouts.idle_s or 0))


async def test_what_only_opens_is_read_to_its_end_and_closed() -> None:
    """Blocking and awaited: status, headers, all pieces; closed once, also where reading breaks."""
    for pieces, closes in (([b"one", b"two", b""], 1), ([b"one"], 1)):
        blocking, awaited = Pieces(list(pieces)), Pieces(list(pieces))
        if len(pieces) == 1:
            with pytest.raises(APIConnectionError):
                fetch_of(Opening(blocking))(REQUEST, Timeouts())
            with pytest.raises(APIConnectionError):
                await async_fetch_of(AwaitedOpening(awaited))(REQUEST, Timeouts())
        else:
            assert fetch_of(Opening(blocking))(REQUEST, Timeouts()) == WHOLE
            assert await async_fetch_of(AwaitedOpening(awaited))(REQUEST, Timeouts()) == WHOLE
        assert (blocking.closed, awaited.closed) == (closes, closes)


def test_what_can_fetch_is_asked_to() -> None:
    """A transport's own `fetch` is taken."""
    assert fetch_of(Fetching(Pieces([])))(REQUEST, Timeouts()).body == b"http://h.test/120"
