"""The gateway's server from start to end, on both loops: it listens, looks around, and ends in steps."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.serving import server as module
from interlingua.gateway.serving.server import GatewayServer
from tests.support.trying import at_best
from tests.support.wire import GET, Pieces, answering


@pytest.fixture(params=["uvloop", "asyncio"], autouse=True)
def loop_of_server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either loop: uvloop is not everywhere."""
    if request.param == "uvloop":
        pytest.importorskip("uvloop", reason="the [gateway] extra is not installed")
    else:
        monkeypatch.setattr(module, "_loop_factory", lambda: None)


@contextmanager
def running(gateway: Gateway) -> Generator[tuple[GatewayServer, socket.socket, threading.Thread]]:
    """A server in a thread, and a connection to it."""
    server = GatewayServer(gateway)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=(listener,), daemon=True)
    thread.start()
    with listener, socket.create_connection(listener.getsockname(), timeout=10) as client:
        try:
            yield server, client, thread
        finally:
            server.stop()
            thread.join(60)
    assert not thread.is_alive()


def received(client: socket.socket, mark: bytes) -> bytes:
    """What comes until the mark, or the end."""
    data = b""
    while mark not in data:
        piece = client.recv(65_536)
        if not piece:
            break
        data += piece
    return data


def test_it_answers_and_ends_when_it_is_told() -> None:
    """From another thread, at once; who is connected and asks nothing is let go."""

    def ended_s() -> float:
        made = answering(drain_s=600.0)
        with running(made) as (server, client, thread):
            client.sendall(GET)
            assert received(client, b"{}").endswith(b"\r\n\r\n{}")
            assert server.is_started
            began_s = time.monotonic()
            server.stop()
            assert client.recv(1) == b""
            thread.join(60)
            took_s = time.monotonic() - began_s
        assert made.lifecycle.is_draining
        return took_s

    assert at_best(lambda: ended_s() < 2)


def test_rtr_08_a_client_that_half_closes_has_left() -> None:
    """The end of its side closes what is under way."""
    pieces = Pieces()
    closed = threading.Event()
    pieces_closed = pieces.aclose

    async def close() -> None:
        await pieces_closed()
        closed.set()

    pieces.aclose = close
    with running(answering(pieces.answer)) as (_, client, _):
        client.sendall(GET)
        received(client, b"\r\n\r\n")
        client.shutdown(socket.SHUT_WR)
        assert closed.wait(60)


def test_what_is_under_way_is_finished_and_then_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the drain time it may end; after that it is told, and at last everything is let go."""
    monkeypatch.setattr(module, "CUT_S", 0.1)
    begun, told = threading.Event(), threading.Event()

    async def deaf(request: GatewayRequest) -> GatewayReply:
        begun.set()
        while True:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                if told.is_set():
                    raise
                told.set()

    with running(answering(deaf, drain_s=0.1)) as (server, client, _):
        client.sendall(GET)
        assert begun.wait(60)
        server.stop()
        assert client.recv(1) == b""
    assert told.is_set()
    assert server.gateway.lifecycle.is_ending


def test_a_second_interrupt_waits_for_nothing() -> None:
    """Neither for the drain time nor for what was cut off."""
    pieces = Pieces()
    with running(answering(pieces.answer, drain_s=60.0)) as (server, client, thread):
        client.sendall(GET)
        received(client, b"\r\n\r\n")
        server._hear(signal.SIGINT, None)
        thread.join(0.05)
        assert thread.is_alive()
        server._hear(signal.SIGINT, None)
        thread.join(5)
        assert not thread.is_alive()


def test_it_looks_around_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The date is kept, what is to be done is done, and a worker ends with its supervisor."""
    monkeypatch.setattr(module, "TICK_S", 0.01)
    looks: list[float] = []
    with running(answering()) as (server, _, thread):
        server.date = b"date: old\r\n"
        server.on_second = lambda: looks.append(time.monotonic())
        while len(looks) < 3:
            time.sleep(0.005)
        assert server.date != b"date: old\r\n"
        server.supervisor = os.getppid()
        time.sleep(0.05)
        assert thread.is_alive()
        server.supervisor = -1
        thread.join(5)
        assert not thread.is_alive()
