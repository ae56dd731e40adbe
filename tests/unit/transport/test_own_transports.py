"""What our own transports do beyond the kit: pools, threads, forks, loops, interrupts, stale connections."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from interlingua.errors import APIConnectionError, APITimeoutError
from interlingua.transport import aio, sync
from interlingua.transport.base import AsyncReply
from interlingua.transport.default import default_async_transport, default_transport
from interlingua.transport.options import HttpOptions
from interlingua.wire.http import HttpRequest
from tests.support.faces import OWN, face, quick, whole
from tests.support.server import Answer, Await, Hold, Pause, Reset, Seen, Server, Tell, chunked, reply, serving
from tests.support.waiting import until

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
OK = Answer((reply(b"ok"),))


@pytest.fixture(params=OWN)
def kind(request: pytest.FixtureRequest) -> str:
    """The name of a transport."""
    return request.param


def ask(server: Server, path: str = "/v1/chat", body: bytes = b"{}") -> HttpRequest:
    """A small request to the server."""
    return HttpRequest(url=server.url(path), body=body)


async def all_of(reply: AsyncReply) -> bytes:
    """The body, read to its end."""
    pieces: list[bytes] = []
    while piece := await reply.read():
        pieces.append(piece)
    return b"".join(pieces)


# Connections that the server closes.


@pytest.mark.parametrize("ending", [(), (Reset(),)], ids=["end", "reset"])
def test_a_kept_connection_that_was_closed_is_replaced_in_silence(kind: str, ending: tuple[Reset, ...]) -> None:
    """When the server has closed a kept connection meanwhile, the next request takes a new one."""
    answers = [Answer((reply(b"one"), *ending), close=True), Answer((reply(b"two"),))]
    with serving(answers) as server, face(kind) as transport:
        assert whole(transport.open(ask(server), quick())).body == b"one"
        time.sleep(0.05)
        assert whole(transport.open(ask(server), quick())).body == b"two"
    assert (len(server.seen), server.connections) == (2, 2)


async def test_what_comes_while_the_loop_stands_still_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that has lain for a while is looked at when it is taken, also where the loop had no time to."""
    monkeypatch.setattr("interlingua.transport.connection._FRESH_S", 0.01)
    read, said = threading.Event(), threading.Event()
    unasked = reply(b"nobody asked", status="408 Request Timeout")
    first = Answer((reply(b"one"), Await(read), unasked, Tell(said)))
    with serving([first, Answer((reply(b"two"),))]) as server:
        transport = aio.HttpTransport()
        assert await all_of(await transport.open(ask(server), quick())) == b"one"
        read.set()
        assert said.wait(60)
        time.sleep(0.05)  # noqa: ASYNC251 - the loop stands still
        assert await all_of(await transport.open(ask(server), quick())) == b"two"
        assert (len(server.seen), server.connections) == (2, 2)
        await transport.close()


def test_a_close_that_crosses_the_request_is_replaced_in_silence(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server takes the request and closes at once without a byte: one new connection, and no third."""
    monkeypatch.setattr("interlingua.transport.sync.CROSSING_S", 60.0)  # a busy machine is not at once
    monkeypatch.setattr("interlingua.transport.connection.CROSSING_S", 60.0)
    with serving([OK, Answer((), close=True), Answer((reply(b"again"),))]) as server, face(kind) as transport:
        whole(transport.open(ask(server), quick()))
        assert whole(transport.open(ask(server), quick())).body == b"again"
        assert len(server.seen) == 3
    with serving([OK, Answer((), close=True)]) as server, face(kind) as transport:
        whole(transport.open(ask(server), quick()))
        with pytest.raises(APIConnectionError, match="without an answer"):
            transport.open(ask(server), quick())
        assert len(server.seen) == 3


def test_a_close_after_work_is_not_repeated(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A close that comes later than a round trip is the caller's to repeat: the server may have done the work."""
    monkeypatch.setattr("interlingua.transport.sync.CROSSING_S", 0.05)
    monkeypatch.setattr("interlingua.transport.connection.CROSSING_S", 0.05)
    with serving([OK, Answer((Pause(0.2),), close=True), OK]) as server, face(kind) as transport:
        whole(transport.open(ask(server), quick()))
        with pytest.raises(APIConnectionError):
            transport.open(ask(server), quick())
        assert len(server.seen) == 2


def test_a_fresh_connection_is_never_repeated(kind: str) -> None:
    """Only a kept connection can be stale; a fresh one that closes is an error at once."""
    with serving(Answer((), close=True)) as server, face(kind) as transport:
        with pytest.raises(APIConnectionError):
            transport.open(ask(server), quick())
        assert len(server.seen) == 1


def test_an_early_refusal_of_a_large_body_is_read(kind: str) -> None:
    """A server that answers 413 and closes while the body is on its way is heard."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def refuse() -> None:
            link, _ = listener.accept()
            with link:
                link.recv(1_000)
                link.sendall(reply(b"too large", status="413 Content Too Large", headers="connection: close\r\n"))
                link.shutdown(socket.SHUT_WR)
                while link.recv(1_000_000):
                    pass

        thread = threading.Thread(target=refuse)
        thread.start()
        port = listener.getsockname()[1]
        with face(kind) as transport:
            got = transport.open(HttpRequest(url=f"http://127.0.0.1:{port}/", body=bytes(30_000_000)), quick())
            assert got.status == 413
            got.close()
        thread.join(5)


def test_a_server_that_takes_no_bytes_times_out(kind: str) -> None:
    """When a large body does not get through, the idle deadline ends the attempt."""
    with socket.create_server(("127.0.0.1", 0)) as listener, face(kind) as transport:
        request = HttpRequest(url=f"http://127.0.0.1:{listener.getsockname()[1]}/", body=bytes(30_000_000))
        with pytest.raises(APITimeoutError) as caught:
            transport.open(request, quick(idle_s=0.2))
        assert caught.value.phase == "idle"


def test_connecting_has_a_deadline(kind: str) -> None:
    """A server that never finishes the TLS handshake is an APITimeoutError of the connect phase."""
    with socket.create_server(("127.0.0.1", 0)) as listener, face(kind) as transport:
        with pytest.raises(APITimeoutError) as caught:
            transport.open(HttpRequest(url=f"https://127.0.0.1:{listener.getsockname()[1]}/"), quick(connect_s=0.2))
        assert caught.value.phase == "connect"


def test_localhost_is_tried_on_both_families(kind: str) -> None:
    """A server on `::1` alone is reached as localhost."""
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 on this machine")
    with listener, face(kind) as transport:

        def serve() -> None:
            link, _ = listener.accept()
            with link:
                link.recv(1_000)
                link.sendall(reply(b"six"))

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://localhost:{listener.getsockname()[1]}/"
        assert whole(transport.open(HttpRequest(url=url), quick())).body == b"six"
        thread.join(5)


def test_an_unknown_name_says_so(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that does not resolve is one sentence with the name."""

    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with face(kind) as transport, pytest.raises(APIConnectionError) as caught:
        transport.open(HttpRequest(url="https://no.such.test/v1?key=AIzaSecretSecretSecret12"), quick())
    assert str(caught.value) == "cannot resolve the host of no.such.test:443: check its spelling and the network"


# The pool.


def test_the_pool_is_bounded_and_times_out(kind: str) -> None:
    """With every connection in use a call waits for the pool's deadline, then says so."""
    with serving(Answer((STREAM, Hold()))) as server, face(kind, HttpOptions(max_connections=1)) as transport:
        held = transport.open(ask(server), quick())
        with pytest.raises(APITimeoutError) as caught:
            transport.open(ask(server), quick(pool_s=0.1))
        assert caught.value.phase == "pool"
        held.close()
        transport.open(ask(server), quick()).close()


def test_idle_connections_expire(kind: str) -> None:
    """A connection that was unused for longer than `keep_alive_s` is not used again."""
    with serving(OK) as server, face(kind, HttpOptions(keep_alive_s=0.05)) as transport:
        whole(transport.open(ask(server), quick()))
        time.sleep(0.1)
        whole(transport.open(ask(server), quick()))
        assert server.connections == 2


async def test_idle_connections_are_closed_where_nobody_asks_any_more() -> None:
    """A burst leaves no sockets behind: each is closed after `keep_alive_s`, though nothing else is asked."""
    held: list[int] = []
    came: list[int] = []
    gone = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(1)
        came.append(1)
        while await reader.read(65_536):
            await asyncio.sleep(0.01)  # so that all are open at a time
            writer.write(reply(b"ok"))
        writer.close()
        held.pop()
        if not held and len(came) == 3:
            gone.set()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        request = HttpRequest(url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", body=b"{}")
        transport = aio.HttpTransport(HttpOptions(keep_alive_s=0.05))
        opened = await asyncio.gather(*[transport.open(request, quick()) for _ in range(3)])
        assert [await all_of(one) for one in opened] == [b"ok"] * 3
        assert len(came) == 3
        await asyncio.wait_for(gone.wait(), 60)
        await transport.close()


def test_an_idle_connection_makes_room_for_another_origin(kind: str) -> None:
    """At the total bound an idle connection to elsewhere is given up."""
    with serving(OK) as one, serving(OK) as two, face(kind, HttpOptions(max_connections=1)) as transport:
        for server in (one, two, one):
            assert whole(transport.open(ask(server), quick())).body == b"ok"


def test_a_forgotten_reply_gives_its_place_back(kind: str) -> None:
    """A reply that is neither read nor closed frees its connection when it is collected."""
    with serving(Answer((STREAM, Hold()))) as server, face(kind, HttpOptions(max_connections=1)) as transport:
        for _ in range(3):
            forgotten = transport.open(ask(server), quick())
            del forgotten
            gc.collect()


def test_bytes_that_nobody_asked_for_end_a_kept_connection(kind: str) -> None:
    """A reply followed by garbage, at once or later, is never read as the next reply."""
    read, said = threading.Event(), threading.Event()
    late = Answer((reply(b"ok"), Await(read), reply(b"evil"), Tell(said)))
    for first in (Answer((reply(b"ok") + reply(b"evil"), Tell(said))), late):
        said.clear()
        with serving([first, Answer((reply(b"good"),))]) as server, face(kind) as transport:
            assert whole(transport.open(ask(server), quick())).body == b"ok"
            read.set()
            assert said.wait(60)
            time.sleep(0.1)
            assert whole(transport.open(ask(server), quick())).body == b"good"
            assert server.connections == 2


# The blocking transport: threads, forks, interrupts.


def test_threads_share_a_transport() -> None:
    """Many threads over few connections all get their own answer."""
    transport = sync.HttpTransport(HttpOptions(max_connections=3))
    wrong: list[bytes] = []

    def work(server: Server, number: int) -> None:
        for turn in range(20):
            body = f"{number}-{turn}".encode()
            got = whole(transport.open(ask(server, body=body), quick())).body
            if got != body:
                wrong.append(got)

    with serving(lambda seen: Answer((reply(seen.body),))) as server:
        threads = [threading.Thread(target=work, args=(server, number)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert not any(thread.is_alive() for thread in threads)
        assert len(server.seen) == 240
        assert server.connections <= 3
    assert not wrong
    transport.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_takes_its_own_connection() -> None:
    """Parent and child use different connections, and the parent's is still good afterwards."""
    transport = sync.HttpTransport()
    with serving(OK) as server:
        whole(transport.open(ask(server), quick()))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if whole(transport.open(ask(server), quick())).body == b"ok" else 2
                transport.close()
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert whole(transport.open(ask(server), quick())).body == b"ok"
        assert [seen.connection for seen in server.seen] == [1, 2, 1]
    transport.close()


def test_an_interrupt_closes_the_socket() -> None:
    """KeyboardInterrupt while waiting for an answer, or in mid-stream, hangs up and frees the place in the pool."""
    transport = sync.HttpTransport(HttpOptions(max_connections=1))
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for steps in ((Hold(),), (STREAM, Hold())):
            with serving(Answer(steps)) as server:

                def interrupt(server: Server = server) -> None:
                    assert until(lambda: server.seen)
                    time.sleep(0.1)
                    os.kill(os.getpid(), signal.SIGINT)

                threading.Thread(target=interrupt).start()
                with pytest.raises(KeyboardInterrupt):
                    whole(transport.open(ask(server), quick()))
                assert server.hung_up.wait(60)
    finally:
        signal.signal(signal.SIGINT, previous)
    with serving(OK) as server:
        assert whole(transport.open(ask(server), quick())).body == b"ok"
    transport.close()


def test_closing_from_another_thread_wakes_the_reader() -> None:
    """A thread that waits for a piece gets an error when another one closes the reply."""
    transport = sync.HttpTransport()
    with serving(Answer((STREAM, Hold()))) as server:
        opened = transport.open(ask(server), quick())
        threading.Timer(0.1, opened.close).start()
        with pytest.raises(APIConnectionError):
            opened.read()
    transport.close()


def test_a_blocking_call_works_inside_a_running_loop() -> None:
    """The blocking transport needs no loop and does not mind one."""

    async def main() -> bytes:
        with serving(OK) as server:
            transport = sync.HttpTransport()
            try:
                return whole(transport.open(ask(server), quick())).body
            finally:
                transport.close()

    assert asyncio.run(main()) == b"ok"


# The asyncio transport: loops, tasks, cancellation.


def test_one_transport_serves_many_loops() -> None:
    """`asyncio.run` again and again, and loops in threads, with nothing left open between."""
    transport = aio.HttpTransport()

    async def main(server: Server) -> bytes:
        replies = await asyncio.gather(*[transport.open(ask(server), quick()) for _ in range(3)])
        return b"".join([await all_of(each) for each in replies])

    with serving(OK) as server:
        results = [asyncio.run(main(server)) for _ in range(3)]
        threads = [threading.Thread(target=lambda: results.append(asyncio.run(main(server)))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert results == [b"okokok"] * 6
    assert not transport._homes
    gc.collect()


def test_a_loop_that_was_not_shut_down_is_cleaned_up_later() -> None:
    """The sockets of a loop that was merely closed are closed when the next loop comes."""
    transport = aio.HttpTransport()

    async def main(server: Server) -> bytes:
        return await all_of(await transport.open(ask(server), quick()))

    with serving(OK) as server:
        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(main(server)) == b"ok"
        (home,) = transport._homes.values()
        (link,) = [connection.socket for connection in home.connections]
        loop.run_until_complete(loop.shutdown_default_executor())
        for connection in home.connections:  # what a collected transport would warn of
            connection.abort()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        assert asyncio.run(main(server)) == b"ok"
        assert link.fileno() == -1
    assert not transport._homes


@pytest.mark.parametrize("steps", [(Hold(),), (STREAM, Hold()), (STREAM + chunked(b"x", end=False), Hold())])
def test_rtr_08_cancellation_closes_the_socket(steps: tuple[bytes | Hold, ...]) -> None:
    """A task that is cancelled before the head, before the body or in mid-stream hangs up and frees its place."""

    async def main(server: Server, transport: aio.HttpTransport) -> None:
        async def call() -> None:
            reply = await transport.open(ask(server), quick())
            await all_of(reply)

        task = asyncio.create_task(call())
        assert await asyncio.to_thread(until, lambda: server.seen)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.hung_up.wait, 60)
        (home,) = transport._homes.values()
        assert home.pool.slots_in_use == 0
        assert not home.connections

    with serving(Answer(steps)) as server:
        asyncio.run(main(server, aio.HttpTransport(HttpOptions(max_connections=1))))


def test_a_cancelled_wait_for_the_pool_loses_no_slot() -> None:
    """Tasks cancelled while they wait, or just when they are served, leave the pool whole."""

    async def main(server: Server, transport: aio.HttpTransport) -> None:
        async def call() -> bytes:
            return await all_of(await transport.open(ask(server), quick()))

        for turn in range(30):
            tasks = [asyncio.create_task(call()) for _ in range(6)]
            for _ in range(turn):
                await asyncio.sleep(0)
            for task in tasks[1::2]:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert results[::2] == [b"ok"] * 3
        (home,) = transport._homes.values()
        assert home.pool.slots_in_use <= 2

    with serving(OK) as server:
        asyncio.run(main(server, aio.HttpTransport(HttpOptions(max_connections=2))))


def test_a_fast_stream_is_slowed_down_when_nobody_reads() -> None:
    """A reply that is not read holds a bounded part of itself in memory."""

    async def main(server: Server, transport: aio.HttpTransport) -> None:
        reply = await transport.open(ask(server), quick())
        await asyncio.sleep(0.3)
        (home,) = transport._homes.values()
        (connection,) = home.connections
        assert connection.reader.body.buffered_bytes < 2_000_000
        assert len(await all_of(reply)) == 30_000_000

    flood = Answer((STREAM + chunked(bytes(30_000_000)),))
    with serving(flood) as server:
        asyncio.run(main(server, aio.HttpTransport()))


def test_other_loops_serve_too() -> None:
    """Uvloop's transports are their own kind: large bodies, kept connections and early closing work on it as well."""
    uvloop = pytest.importorskip("uvloop", reason="the [gateway] extra is not installed")

    async def main(server: Server, transport: aio.HttpTransport) -> None:
        body = os.urandom(3_000_000)
        for _ in range(2):
            assert await all_of(await transport.open(ask(server, body=body), quick())) == body
        reply = await transport.open(ask(server, "/stream"), quick())
        assert await reply.read() == b"x"
        await reply.close()
        assert server.hung_up.wait(60)

    def script(seen: Seen) -> Answer:
        if seen.line.startswith("POST /stream"):
            return Answer((STREAM + chunked(b"x", end=False), Hold()))
        return Answer((reply(seen.body),))

    with serving(script) as server:
        transport = aio.HttpTransport()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main(server, transport))
        assert server.connections == 1


def test_many_at_once() -> None:
    """Hundreds of calls at once, over a bounded pool, each get their own answer."""

    async def main(server: Server, transport: aio.HttpTransport) -> list[bytes]:
        async def call(number: int) -> bytes:
            return await all_of(await transport.open(ask(server, body=b"%d" % number), quick()))

        return await asyncio.gather(*[call(number) for number in range(300)])

    with serving(lambda seen: Answer((reply(seen.body),))) as server:
        results = asyncio.run(main(server, aio.HttpTransport(HttpOptions(max_connections=20))))
        assert results == [b"%d" % number for number in range(300)]
        assert server.connections <= 20


# The end of a process.

SCRIPT = """
import asyncio, sys
from interlingua.transport.default import default_async_transport, default_transport
from interlingua.transport.base import Timeouts
from interlingua.wire.http import HttpRequest
request = HttpRequest(url=sys.argv[1], body=b"{}")
reply = default_transport().open(request, Timeouts())
while reply.read(): pass
kept = default_transport().open(request, Timeouts())
async def main():
    asyncio.get_running_loop().slow_callback_duration = 60.0  # a busy machine is no fault of a callback
    reply = await default_async_transport().open(request, Timeouts())
    while await reply.read(): pass
    global also_kept
    also_kept = await default_async_transport().open(request, Timeouts())
asyncio.run(main())
loop = asyncio.new_event_loop()
loop.run_until_complete(main())
print("done")
"""


def test_a_process_ends_without_warnings() -> None:
    """Default transports with kept and unfinished connections leave no warning at exit, development mode included."""
    with serving(OK) as server:
        ended = subprocess.run(
            [sys.executable, "-X", "dev", "-c", SCRIPT, server.url()],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    warnings = [
        line for line in ended.stderr.splitlines() if "unclosed event loop" not in line and "_warn(" not in line
    ]
    assert (ended.returncode, ended.stdout, warnings) == (0, "done\n", [])


def test_default_transports_are_shared() -> None:
    """Every caller of a process gets the same one."""
    assert default_transport() is default_transport()
    assert default_async_transport() is default_async_transport()
