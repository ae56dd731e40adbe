"""The gateway between real sockets under faults: what each client reads, what is closed behind it, what is left."""

from __future__ import annotations

import gc
import socket
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import interlingua as il
from interlingua.client.state import forget_state
from interlingua.dialects.table import stream_type
from interlingua.errors import Error
from interlingua.testing.upstream import Say, Upstream
from interlingua.transport.fault import Fault, FaultPlan, parse_fault
from interlingua.transport.override import overriding
from interlingua.wire.http import HttpRequest
from tests.support.cells import cells
from tests.support.fault_world import SCHEMES, TEXT, World, variable
from tests.support.gateway import asking, serving
from tests.support.imitated import IMITATED
from tests.support.server import Answer, Hold, Server
from tests.support.server import serving as serving_bytes
from tests.support.trying import at_best

DESCRIPTORS = Path("/proc/self/fd")
NAMES = list(IMITATED)
PAIRS = [(client, NAMES[(place + step) % len(NAMES)]) for step in (0, 1) for place, client in enumerate(NAMES)]
"""Each client dialect over its own and over another one."""
OUTCOMES: dict[str, type[Error]] = {
    "reset": il.APIConnectionError,
    "429:0": il.RateLimitError,
    "500": il.InternalServerError,
    "529": il.OverloadedError,
    "401": il.AuthenticationError,
    "cut:0": il.APIConnectionError,
    "garbage:0": il.DecodeError,
}
"""Fault of the upstream before its first word -> what it is; clients of other dialects than ours know fewer words."""


class Switch(FaultPlan):
    """A plan whose one fault can be changed while a service runs."""

    def __init__(self) -> None:
        """No fault."""
        super().__init__({})
        self.text = "ok"

    def next(self, request: HttpRequest) -> Fault:
        """The fault that is set."""
        return parse_fault(self.text)


class Bridge:
    """A gateway in front of an upstream that breaks as its switch says, and our client in front of the gateway."""

    def __init__(self, switch: Switch, gateway_url: str, client: str) -> None:
        """All of it, running."""
        self.switch = switch
        self.url = gateway_url
        self.client = client

    def ask(self, monkeypatch: pytest.MonkeyPatch, fault: str, *, stream: bool) -> il.Response[Any]:
        """One call of a client that does not ask twice."""
        forget_state()
        self.switch.text = fault
        port = urlsplit(self.url).port
        bare = dict.fromkeys(("ollama", "bedrock", "unified"), "")
        path = {"google": "/v1beta", "cohere": "/v2", **bare}.get(self.client, "/v1")
        monkeypatch.setenv("LLM_BRIDGE", f"{SCHEMES[self.client]}://key@127.0.0.1:{port}{path}?tls=0")
        model = il.model("bridge/up/some-model", retries=0)
        return model.stream("Count.").finish() if stream else model.generate("Count.")


@pytest.fixture(params=PAIRS, ids="-over-".join)
def bridge(request: pytest.FixtureRequest) -> Generator[Bridge]:
    """One client dialect over one upstream dialect."""
    client, upstream = request.param
    switch = Switch()
    with Upstream(upstream, *[Say(text=TEXT)] * 200).serving(switch) as url:
        scheme, port = SCHEMES[upstream], urlsplit(url).port
        with serving(providers={"up": f"{scheme}://key@127.0.0.1:{port}?tls=0"}) as at:
            yield Bridge(switch, at, client)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between two tries."""
    monkeypatch.setattr("interlingua.client.call.chain._random", lambda: 0.0)


def _held() -> tuple[int, int]:
    gc.collect()
    return len(list(DESCRIPTORS.iterdir())), threading.active_count()


def test_what_a_client_reads_of_an_upstream_that_breaks(bridge: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own error with its own class, whole and streamed; half an answer is never a whole one; nothing is left."""

    def storm() -> None:
        for stream in (False, True):
            assert bridge.ask(monkeypatch, "ok", stream=stream).text == TEXT
            for fault, kind in OUTCOMES.items():
                with pytest.raises(Error) as caught:
                    bridge.ask(monkeypatch, fault, stream=stream)
                knows = bridge.client == "unified" or issubclass(kind, il.UpstreamError)
                down = bridge.client == "bedrock" and kind is il.APIConnectionError  # its ServiceUnavailableException
                other = il.OverloadedError if down else il.InternalServerError
                assert type(caught.value) is (kind if knows else other), (fault, stream)
            for fault in ("cut:900", "truncate:900"):
                try:
                    text = bridge.ask(monkeypatch, fault, stream=stream).text
                except Error as error:
                    partial = (
                        error.partial.text if isinstance(error, il.IncompleteStreamError) and error.partial else ""
                    )
                    assert TEXT.startswith(partial)
                else:
                    assert text == TEXT, (fault, stream)

    storm()
    before = _held()
    storm()
    deadline = time.monotonic() + 3
    while any(now > then + 6 for now, then in zip(_held(), before, strict=True)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert all(now <= then + 6 for now, then in zip(_held(), before, strict=True)), (before, _held())


@cells(
    ("phase", "stream"),
    [
        ("before the head", False),
        ("before the head", True),
        ("before the body", False),
        ("before the body", True),
        ("in the middle", True),
    ],
)
@cells(("client", "upstream"), PAIRS[::2])
def test_rtr_08_a_client_that_leaves_hangs_up_on_the_upstream(
    client: str, upstream: str, phase: str, stream: bool
) -> None:
    """A socket that is closed in front closes the one behind, whatever was said by then."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {stream_type(upstream)}\r\n\r\n".encode()
    said = {"before the head": (), "before the body": (head,), "in the middle": (head, _beginning(upstream))}[phase]

    def open_s() -> float:
        with serving_bytes(Answer((*said, Hold()))) as server:
            dsn = f"{SCHEMES[upstream]}://key@127.0.0.1:{server.port}?tls=0"
            with serving(providers={"up": dsn}) as url:
                _leave(url, client, server, stream=stream, after_the_first_byte=phase == "in the middle")
                left_at = time.monotonic()
                assert server.hung_up.wait(60)
                return time.monotonic() - left_at

    assert at_best(lambda: open_s() < 1.0)  # 100 ms on an idle machine; test_asgi holds it to that


def _beginning(upstream: str) -> bytes:
    """The first half of a streamed answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(*variable(upstream))
        world = World()
        with overriding(world.transports()):
            il.model(f"my-{upstream}/some-model").stream("Count.").finish()
    frames = world.line(upstream, streamed=True).pieces
    return b"".join(frames[: len(frames) * 2 // 3])


def _leave(url: str, client: str, upstream: Server, *, stream: bool, after_the_first_byte: bool) -> None:
    """Ask, wait for the upstream to be asked or for the first bytes of the answer, and close the socket."""
    asked = asking(client, "up/some-model", "Count.", stream=stream)
    query = f"?{asked.query}" if asked.query else ""
    head = "".join(f"{name}: {value}\r\n" for name, value in asked.headers)
    told = f"POST {asked.path}{query} HTTP/1.1\r\n{head}content-length: {len(asked.body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), 5) as link:
        link.sendall(told.encode() + asked.body)
        if after_the_first_byte:
            assert link.recv(65_536).startswith(b"HTTP/1.1 200")
        else:
            while not upstream.seen:  # who leaves earlier asks for nothing
                time.sleep(0.01)
