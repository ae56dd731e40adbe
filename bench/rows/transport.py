"""What one HTTP exchange costs on loopback: our transports beside the standard library's and httpx.

As in all rows with sockets, what is measured has a core for itself and who answers another one. Left to the scheduler,
the two are on one core or on two, from one second to the next, and on two a bare `send` and `recv` take three times as
long. Part of that is the other core: who sends to one that sleeps has to wake it, which no client does whose server is
another machine. So who answers never sleeps here, and looks for requests all the time.
"""

from __future__ import annotations

import asyncio
import atexit
import http.client
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import cast

from bench.measure import NotRun, cpu_us, ratio
from bench.rows import Row
from bench.stage import apart, away
from interlingua.transport import aio, sync
from interlingua.transport.base import AsyncReply, Reply, Timeouts
from interlingua.wire.http import HttpRequest

EVENTS = 225
TIMEOUTS = Timeouts()
BODY = b'{"text":"' + b"x" * 7_000 + b'"}'
HEADERS = (
    ("authorization", "Bearer " + "k" * 40),
    ("content-type", "application/json"),
    ("accept", "application/json"),
    ("user-agent", "bench"),
)
_ANSWER = b'{"id":"r","choices":[{"index":0,"message":{"role":"assistant","content":"' + b"word " * 200 + b'"}}]}'
_EVENT = b'data: {"id":"r","choices":[{"index":0,"delta":{"content":"hello"}}]}\n\n'
_WHOLE = (
    b"HTTP/1.1 200 OK\r\ndate: Sat, 21 Nov 2026 22:00:00 GMT\r\nserver: bench\r\ncontent-type: application/json\r\n"
    b"x-request-id: 1\r\ncontent-length: %d\r\n\r\n" % len(_ANSWER)
) + _ANSWER
_STREAM = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    + (b"%x\r\n%s\r\n" % (len(_EVENT), _EVENT)) * EVENTS
    + b"0\r\n\r\n"
)


class _Answering(asyncio.Protocol):
    """Answers each request of the known length, without looking at more than its first line."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0 and len(self._buffer) >= end + 4 + len(BODY):
            answer = _STREAM if b"/stream" in self._buffer[:30] else _WHOLE
            self._buffer = self._buffer[end + 4 + len(BODY) :]
            self._transport.write(answer)


def serve() -> None:
    """Serve for ever without a pause, and print the port first."""

    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(_Answering, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        while server.is_serving():  # noqa: ASYNC110 - the loop is to be busy
            await asyncio.sleep(0)

    asyncio.run(main())


@cache
def _port() -> int:
    """The port of a server in a process of its own, which ends with this one."""
    command = [sys.executable, "-c", "from bench.rows.transport import serve; serve()"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        preexec_fn=away,  # noqa: PLW1509 - nothing here runs in threads
    )
    atexit.register(process.kill)
    if process.stdout is None or not (line := process.stdout.readline()):
        raise NotRun("the server did not start")
    return int(line)


def _url(path: str) -> str:
    return f"http://127.0.0.1:{_port()}{path}"


def _request(url: str) -> HttpRequest:
    return HttpRequest(url=url, headers=HEADERS, body=BODY)


def _drain(reply: Reply) -> None:
    while reply.read():
        pass


async def _drain_async(reply: AsyncReply) -> None:
    while await reply.read():
        pass


def _exchange(transport: sync.HttpTransport, url: str) -> None:
    """One exchange as calls make it: a whole answer is fetched, a stream is read as it comes."""
    if url.endswith("/stream"):
        _drain(transport.open(_request(url), TIMEOUTS))
    else:
        transport.fetch(_request(url), TIMEOUTS)


async def _exchange_async(transport: aio.HttpTransport, request: HttpRequest, *, is_stream: bool) -> None:
    if is_stream:
        await _drain_async(await transport.open(request, TIMEOUTS))
    else:
        await transport.fetch(request, TIMEOUTS)


def _sync_us(path: str) -> float:
    transport, url = sync.HttpTransport(), _url(path)
    with apart():
        return cpu_us(lambda: _exchange(transport, url))


async def _many(path: str, at_once: int, calls: int) -> float:
    transport, request = aio.HttpTransport(), _request(_url(path))

    async def work(times: int) -> None:
        for _ in range(times):
            await _exchange_async(transport, request, is_stream=path == "/stream")

    await asyncio.gather(*[work(3) for _ in range(at_once)])
    begin_s = time.process_time()
    await asyncio.gather(*[work(calls // at_once) for _ in range(at_once)])
    return (time.process_time() - begin_s) / (calls // at_once * at_once) * 1e6


def _aio_us(path: str, at_once: int, calls: int) -> float:
    _port()
    with apart():
        return min(asyncio.run(_many(path, at_once, calls)) for _ in range(3))


def _against_the_standard_library() -> float:
    transport, url = sync.HttpTransport(), _url("/v1/chat")
    theirs = http.client.HTTPConnection("127.0.0.1", _port())
    headers = dict(HEADERS)

    def exchange() -> None:
        theirs.request("POST", "/v1/chat", BODY, headers)
        theirs.getresponse().read()

    with apart():
        return ratio(lambda: _exchange(transport, url), exchange)


def _against_httpx() -> float:
    try:
        import httpx
    except ImportError:
        raise NotRun("httpx is not installed") from None
    transport, theirs, headers = sync.HttpTransport(), httpx.Client(), dict(HEADERS)
    url = _url("/v1/chat")
    with apart():
        return ratio(
            lambda: _exchange(transport, url), lambda: theirs.post(url, content=BODY, headers=headers).read(), turns=31
        )


ROWS = (
    Row("http/sync", "one exchange, blocking, 7 kB up", None, "µs", lambda: _sync_us("/v1/chat")),
    Row("http/aio", "one exchange, asyncio, one at a time", None, "µs", lambda: _aio_us("/v1/chat", 1, 3_000)),
    Row("http/aio-64", "one exchange, asyncio, 64 at once", None, "µs", lambda: _aio_us("/v1/chat", 64, 9_600)),
    Row("http/stream", "one event of a burst, blocking", None, "µs", lambda: _sync_us("/stream") / EVENTS),
    Row(
        "http/stream-64",
        "one event of a burst, asyncio, 64 streams",
        None,
        "µs",
        lambda: _aio_us("/stream", 64, 640) / EVENTS,
    ),
    Row("http/stdlib", "one exchange, blocking / http.client", 0.6, "x", _against_the_standard_library),
    Row("http/httpx", "one exchange, blocking / httpx", 0.1, "x", _against_httpx, only_full=True),
)
