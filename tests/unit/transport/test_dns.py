"""Names that change their mind, fail, hang, or lead to dead addresses first; over real sockets on loopback."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager

import pytest

from interlingua.errors import APIConnectionError, APITimeoutError, TransportError
from interlingua.transport.aio import HttpTransport
from interlingua.transport.options import HttpOptions
from interlingua.transport.sockets import Address, Found, Network
from interlingua.wire.http import HttpRequest
from tests.support.faces import OWN, face, quick, whole
from tests.support.server import Answer, Reset, reply, serving

NAME = "upstream.test"
A, B, DEAD = "198.51.100.1", "198.51.100.2", "198.51.100.3"
ASK = HttpRequest(url=f"http://{NAME}/v1?key=sk-test-0123456789", body=b"{}")


@pytest.fixture(params=(*OWN, "uvloop"))
def kind(request: pytest.FixtureRequest) -> str:
    """The name of a transport."""
    return request.param


class Names:
    """A resolver that answers as it is told now, and where its addresses are."""

    def __init__(self, **ports: int) -> None:
        """Addresses by letter, as ports of the loopback."""
        self.ports = {{"a": A, "b": B, "dead": DEAD}[letter]: port for letter, port in ports.items()}
        self.said: list[str] | OSError = [A]
        self.asked: list[str] = []

    def resolve(self, host: str, port: int) -> Sequence[Found]:
        """What it was told to say."""
        self.asked.append(host)
        if isinstance(self.said, OSError):
            raise self.said
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in self.said]

    def route(self, address: Address) -> Address:
        """Where an address is."""
        return (socket.AF_INET, ("127.0.0.1", self.ports[str(address[1][0])]))

    @property
    def network(self) -> Network:
        """The network that it makes."""
        return Network(resolve=self.resolve, route=self.route)


def test_a_name_that_moves_is_found_where_it_is_now(kind: str) -> None:
    """A kept connection goes on; where it has ended, the name is looked up again, and whatever it was is forgotten."""
    with (
        serving([Answer((reply(b"a"),)), Answer((reply(b"a"),), close=True)]) as a,
        serving(Answer((reply(b"b"),))) as b,
    ):
        names = Names(a=a.port, b=b.port)
        with face(kind, network=names.network) as transport:
            bodies: list[bytes] = []
            for _ in range(4):
                bodies.append(whole(transport.open(ASK, quick())).body)
                names.said = [B]
    assert bodies == [b"a", b"a", b"b", b"b"]
    assert names.asked == [NAME, NAME]


def test_a_resolver_that_fails_costs_what_is_not_connected_yet(kind: str) -> None:
    """Kept connections serve; a new one is a retryable error that names the host, takes no place, and is over."""
    with serving(
        [Answer((reply(b"ok"),)), Answer((reply(b"last"),), close=True), Answer((reply(b"again"),))]
    ) as server:
        names = Names(a=server.port)
        with face(kind, HttpOptions(max_connections=2), network=names.network) as transport:
            assert whole(transport.open(ASK, quick())).body == b"ok"
            names.said = socket.gaierror(socket.EAI_AGAIN, "temporary failure in name resolution")
            assert whole(transport.open(ASK, quick())).body == b"last"
            for _ in range(5):  # more than there are places for connections
                with pytest.raises(APIConnectionError) as caught:
                    transport.open(ASK, quick())
                assert str(caught.value) == (
                    f"cannot resolve the host of {NAME}:80: check its spelling and the network"
                )
                assert (caught.value.retryable, caught.value.reached) == (True, False)
            names.said = [A]
            assert whole(transport.open(ASK, quick())).body == b"again"


@contextmanager
def _silent() -> Generator[int]:
    """The port of an address that answers nothing: who listens there takes nobody in any more."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, ExitStack() as stack:
        for _ in range(4):
            link = stack.enter_context(closing(socket.socket()))
            link.setblocking(False)
            link.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


@pytest.mark.parametrize("is_silent", [True, False])
def test_a_dead_address_does_not_hide_the_next_one(
    kind: str, monkeypatch: pytest.MonkeyPatch, *, is_silent: bool
) -> None:
    """Refused or silent, its turn is short, and the other one serves well before the deadline."""
    monkeypatch.setattr("interlingua.transport.sockets._NEXT_AFTER_S", 0.2)
    with _silent() as silent, serving(Answer((reply(b"b"),))) as alive, socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        names = Names(dead=silent if is_silent else unused.getsockname()[1], b=alive.port)
        names.said = [DEAD, B]
        with face(kind, network=names.network) as transport:
            assert whole(transport.open(ASK, quick(connect_s=25.0))).body == b"b"


def test_where_every_address_is_silent_the_deadline_says_so(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one has what is left of the time."""
    monkeypatch.setattr("interlingua.transport.sockets._NEXT_AFTER_S", 0.2)
    with _silent() as silent:
        names = Names(dead=silent, a=silent)
        names.said = [DEAD, A]
        with face(kind, network=names.network) as transport, pytest.raises(APITimeoutError) as caught:
            transport.open(ASK, quick(connect_s=0.6))
    assert caught.value.phase == "connect"


def test_an_address_that_resets_is_asked_by_nobody_twice(kind: str) -> None:
    """What failed behind a connection is no matter of names: the next address is for who was not connected."""
    with serving(Answer((Reset(),))) as broken, serving(Answer((reply(b"b"),))) as other:
        names = Names(a=broken.port, b=other.port)
        names.said = [A, B]
        with face(kind, network=names.network) as transport, pytest.raises(APIConnectionError):
            transport.open(ASK, quick())
    assert (len(broken.seen), len(other.seen)) == (1, 0)


@pytest.mark.parametrize("kind", ["aio", "uvloop"])
def test_a_resolver_that_hangs_for_one_name_leaves_others_alone(kind: str) -> None:
    """Forty callers wait for the same look-up, in one of the few threads that there are; another name is found."""
    answered = threading.Event()
    asked: list[str] = []

    def resolve(host: str, port: int) -> Sequence[Found]:
        asked.append(host)
        if host == NAME:
            answered.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    async def ask(transport: HttpTransport, url: str, connect_s: float) -> object:
        try:
            return (await transport.fetch(HttpRequest(url=url, body=b"{}"), quick(connect_s=connect_s))).body
        except TransportError as error:
            return type(error).__name__, getattr(error, "phase", None)

    async def crowd(port: int) -> tuple[list[object], object, list[object]]:
        transport = HttpTransport(network=Network(resolve=resolve))
        hanging = [asyncio.create_task(ask(transport, ASK.url, 0.3)) for _ in range(20)]
        patient = [asyncio.create_task(ask(transport, ASK.url, 60.0)) for _ in range(20)]
        over = [await one for one in hanging]
        other = await ask(transport, f"http://other.test:{port}/", 30.0)
        answered.set()
        told = [await one for one in patient]
        await transport.close()
        return over, other, told

    factory = pytest.importorskip("uvloop").new_event_loop if kind == "uvloop" else None
    with serving(Answer((reply(b"ok"),))) as server, asyncio.Runner(loop_factory=factory) as runner:
        over, other, told = runner.run(crowd(server.port))
    assert over == [("APITimeoutError", "connect")] * 20
    assert other == b"ok"
    assert told == [("APIConnectionError", None)] * 20
    assert asked == [NAME, "other.test"]
