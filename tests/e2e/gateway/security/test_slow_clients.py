"""Clients that take their time: each costs a bounded time, a bounded memory, and nobody else anything."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress

import pytest

from interlingua.gateway.serving.reader import MAX_HEAD_BYTES, MAX_HEADERS
from interlingua.transport.base import Timeouts
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import ReplayTransport
from interlingua.wire.http import Headers, HttpRequest
from interlingua.wire.json import encode
from tests.e2e.gateway.security.raw import BODY, CHAT, Answer, answer_of, chat, connected, rest_of, send
from tests.support.gateway import MODELS, serving
from tests.support.trying import at_best
from tests.support.waiting import until

HEAD = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\n".encode()
RECEIVE_S, SEND_S = 0.4, 0.4


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A gateway that is impatient."""
    with serving(receive_s=RECEIVE_S, send_s=SEND_S) as at:
        yield at


def _slowly(url: str, *pieces: bytes, every_s: float = 0.05, most_s: float = 3.0) -> tuple[Answer, float]:
    """The answer to pieces that come one by one, the last again and again, and how long it took."""
    began_s = time.monotonic()
    with connected(url) as connection:
        try:
            for piece in (*pieces, *[pieces[-1]] * int(most_s / every_s)):
                connection.sendall(piece)
                connection.settimeout(every_s)
                try:
                    if connection.recv(1, 2):  # MSG_PEEK: an answer, or the end
                        break
                    return answer_of(b""), time.monotonic() - began_s
                except TimeoutError:
                    connection.settimeout(10)
        except (BrokenPipeError, ConnectionResetError):
            pass
        connection.settimeout(10)
        return answer_of(rest_of(connection)), time.monotonic() - began_s


def _refused_in_time(answer: Answer, took_s: float) -> bool:
    return answer.status == 408 and took_s < 2


def test_headers_that_drip_in_are_a_408(url: str) -> None:
    """A byte now and then keeps no connection open: the time counts from the first one."""
    assert at_best(lambda: _refused_in_time(*_slowly(url, HEAD, b"x-a: b\r\n")))


def test_a_body_that_drips_in_is_a_408(url: str) -> None:
    """So with a body, whose length was announced."""
    assert at_best(lambda: _refused_in_time(*_slowly(url, HEAD + b"content-length: 1000\r\n\r\n", b"{")))


@pytest.mark.parametrize("begun", [b"", b"\r\n", b"POST", HEAD, HEAD + b"content-length: 9\r\n\r\n"])
def test_silence_is_a_408(url: str, begun: bytes) -> None:
    """Whether nothing was said yet, or half."""

    def waited_s() -> float:
        began_s = time.monotonic()
        assert send(url, begun).status == 408
        return time.monotonic() - began_s

    assert at_best(lambda: waited_s() < 2)


def test_a_body_that_comes_steadily_may_take_longer_than_silence(url: str) -> None:
    """What comes at a kilobyte a second or more has its time: slow is not attacked."""
    body = encode(BODY | {"metadata": {"a": "x" * 4_000}})

    def status() -> int:
        with connected(url) as connection, suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(HEAD + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body))
            for place in range(0, len(body), 600):
                connection.sendall(body[place : place + 600])
                time.sleep(0.1)
            return answer_of(rest_of(connection)).status
        return 0

    assert at_best(lambda: status() == 200)  # a busy machine may be silent for too long, now and then


# What is around a body


@pytest.mark.parametrize(
    "told",
    [
        chat(None, "x-a: " + "b" * MAX_HEAD_BYTES),
        chat(None, *[f"x-{number}: b" for number in range(MAX_HEADERS)]),
        chat(None, path="/v1/models/" + "a" * MAX_HEAD_BYTES, method="GET"),
        chat(None, "x" * MAX_HEAD_BYTES + ": a"),
    ],
    ids=["one header", "many headers", "the path", "a name"],
)
def test_a_head_beyond_its_bound_is_a_431(url: str, told: bytes) -> None:
    """In bytes and in number, and nothing of it is answered."""
    answer = send(url, told)
    assert (answer.status, answer.replies) == (431, 1)


def test_a_head_within_its_bounds_is_read(url: str) -> None:
    """As many headers and as many bytes as fit."""
    few = MAX_HEADERS - 3
    assert send(url, chat(None, *[f"x-{number}: b" for number in range(few)])).status == 200
    assert send(url, chat(None, "x-a: " + "b" * (MAX_HEAD_BYTES - 300))).status == 200


def test_a_header_that_never_ends_is_cut_off() -> None:
    """After some hundred kilobytes at most, however long the client may take."""
    with serving() as url, connected(url) as connection:
        connection.sendall(HEAD + b"x-a: ")
        sent = 0
        with suppress(BrokenPipeError, ConnectionResetError):
            while sent < 50_000_000:
                connection.sendall(b"b" * 10_000)
                sent += 10_000
                time.sleep(0.001)
    assert sent < 10_000_000


def test_what_stands_around_chunks_is_bounded_by_them() -> None:
    """Chunk extensions and trailers hold no connection, and grow no memory."""
    body = encode(BODY)
    chunks = HEAD + b"transfer-encoding: chunked\r\n\r\n"
    with serving() as url:
        assert send(url, chunks + b"1;" + b"a" * 200_000 + b"\r\n{\r\n").status == 431
        assert send(url, chunks + b"%x\r\n%s\r\n0\r\nx-a: " % (len(body), body) + b"a" * 200_000).status in (431, 0)
        single = b"".join([b"1\r\n%c\r\n" % byte for byte in body])
        assert (
            send(url, chunks.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n") + single + b"0\r\n\r\n").status
            == 200
        )


# How many


def test_connections_beyond_the_bound_are_a_503_and_the_others_go_on() -> None:
    """Many that say nothing take no more than their places, and give them back."""
    with serving(max_connections=8, receive_s=60.0) as url:
        with contextmanager(_idle)(url, 8):
            assert until(lambda: send(url, chat()).status == 503)
        assert _is_let_in(url)
    with serving(max_connections=8, receive_s=1.0) as url, contextmanager(_idle)(url, 8):
        assert _is_let_in(url)


def _is_let_in(url: str) -> bool:
    """Whether a place becomes free soon."""
    return until(lambda: send(url, chat()).status == 200)


def _idle(url: str, count: int) -> Generator[None]:
    if not count:
        yield
        return
    with connected(url), contextmanager(_idle)(url, count - 1):
        time.sleep(0.01)
        yield


# A reader that does not read


class Endless:
    """An upstream that answers for ever, and counts what was taken of it."""

    status = 200
    headers: Headers = (("content-type", "text/event-stream"),)

    def __init__(self) -> None:
        self.taken = 0
        self.is_closed = False

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> Endless:
        """Itself."""
        return self

    async def read(self) -> bytes:
        """Another ten kilobytes."""
        await asyncio.sleep(0)
        self.taken += 1
        delta = b'{"role":"assistant","content":"%s"}' % (b"x" * 10_000)
        return (
            b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
            b'"choices":[{"index":0,"delta":%s}]}\n\n' % delta
        )

    async def close(self) -> None:
        """Remember it."""
        self.is_closed = True


def _stands_still(upstream: Endless) -> bool:
    """Whether soon nothing is taken of it for a while."""
    deadline_s = time.monotonic() + 60
    while time.monotonic() < deadline_s:
        taken = upstream.taken
        time.sleep(0.2)
        if upstream.taken == taken > 0:
            return True
    return False


@pytest.mark.parametrize("path", [CHAT, "/v1/messages"], ids=["relayed", "translated"])
def test_a_reader_that_stops_holds_the_upstream_back_and_is_let_go(path: str) -> None:
    """What comes waits at the upstream, so that memory is flat; after a while the connection is ended, and so is it."""
    upstream = Endless()
    body = {**BODY, "model": MODELS["openai-chat"], "stream": True, "max_tokens": 100}
    standing = overriding(Override(lambda _: ReplayTransport(), lambda _: upstream, answers=True))
    with standing, serving(send_s=1.0) as url, connected(url, receive_bytes=4_096) as connection:
        connection.sendall(chat(body, path=path))
        connection.recv(1_000)
        assert _stands_still(upstream)
        assert upstream.taken * 10_000 < 12_000_000  # the buffers of the two sockets, and one of ours
        assert until(lambda: upstream.is_closed)
