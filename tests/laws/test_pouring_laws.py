"""A stream that is poured says, byte for byte, what it says when it is read, wherever its bytes are cut."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextvars import copy_context

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.canned import answers
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import Closing
from interlingua.registry.resolve import Registry
from interlingua.transport.base import Timeouts
from interlingua.transport.override import Override, overriding
from interlingua.wire.http import HttpRequest
from tests.support.gateway import MODELS, asking

STREAMS = {
    "openai-chat": answers(9)["/v1/chat/completions"][1],
    "anthropic": answers(9)["/v1/messages"][1],
    "google": answers(9)["/v1beta/models/"][1],
    "ollama": answers(9)["/api/chat"][1],
    "chat that says its last word with the finish": b"".join(
        b'data: {"id":"1","choices":[{"index":0,"delta":{"content":"%b"},"finish_reason":%b}]}\n\n' % told
        for told in [(b"one", b"null"), (b"two", b"null"), (b"three", b"null"), (b"four", b'"stop"')]
    ),
}
RUNNER = asyncio.Runner()
GATEWAY = Gateway(registry=Registry({"LLM_HUB": "interlingua://hub.example"}), now=lambda: 1.0, random=lambda: "0")
CLIENTS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified")


class Reply:
    """A reply of pieces, of which so many are poured."""

    status = 200

    def __init__(self, pieces: list[bytes], poured: int, kind: str) -> None:
        self.headers = (("content-type", kind),)
        self._pieces, self._poured = list(pieces), poured

    async def pour(self, take: Callable[[bytes], bool]) -> None:
        """Give pieces, each in a turn of the loop."""
        while self._poured and len(self._pieces) > 1:
            await asyncio.sleep(0)
            self._poured -= 1
            if not take(self._pieces.pop(0)):
                return

    async def read(self) -> bytes:
        """The next piece."""
        return self._pieces.pop(0) if self._pieces else b""

    async def close(self) -> None:
        """Nothing is open."""


class Transport:
    """Answers with one reply."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        """The reply."""
        return self._reply

    async def close(self) -> None:
        """Nothing is kept."""


@pytest.fixture(scope="module", autouse=True)
def running() -> Iterator[None]:
    """The loop ends with the tests of this file."""
    yield
    RUNNER.close()


def told(client: str, upstream: str, reply: Reply, refused: set[int] | None) -> bytes:
    """What the client gets; a sink that says at these pieces that it is full, or none at all."""
    sent: list[bytes] = []
    note = sent.append

    def sink(piece: bytes) -> bool:
        note(piece)
        return len(sent) not in (refused or ())

    async def answered() -> None:
        got = await GATEWAY(asking(client, MODELS[upstream], stream=True))
        assert isinstance(got.body, Closing)
        if refused is not None and got.body.pour_into is not None:
            got.body.pour_into(sink)
        async for piece in got.body:
            note(piece)
        await got.body.aclose()

    with overriding(Override(lambda _: NotImplemented, lambda _: Transport(reply), answers=True)):
        RUNNER.run(answered(), context=copy_context())
    return re.sub(rb'"duration_s":[0-9.e-]+', b"", b"".join(sent))  # the clock's affair


@pytest.mark.parametrize("stream", STREAMS)
@settings(max_examples=30)
@given(data=st.data())
def test_poured_and_read_streams_are_the_same_bytes(stream: str, data: st.DataObject) -> None:
    """For every client, every cut, any number of pieces poured, and sinks that are full now and then."""
    body = STREAMS[stream]
    upstream = stream if stream in MODELS else "openai-chat"
    client = data.draw(st.sampled_from(CLIENTS))
    ends = [place + 2 for place in range(len(body)) if body[place : place + 2] == b"\n\n"]
    ends = ends or [place + 1 for place in range(len(body)) if body[place : place + 1] == b"\n"]
    cuts = sorted(data.draw(st.sets(st.sampled_from(ends) | st.integers(1, len(body) - 1), max_size=30)))
    pieces = [body[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(body)], strict=True) if begin < end]
    refused = data.draw(st.sets(st.integers(1, 20), max_size=4))
    poured = data.draw(st.integers(0, len(pieces)))
    kind = "application/x-ndjson" if upstream == "ollama" else "text/event-stream"
    was_read = told(client, upstream, Reply(pieces, 0, kind), None)
    assert told(client, upstream, Reply(pieces, poured, kind), refused) == was_read
    assert was_read
