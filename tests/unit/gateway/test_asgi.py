"""The gateway as an ASGI application: bodies in, streams out, clients that leave, signs of life, mounting."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlingua.errors import UsageError
from interlingua.gateway.asgi import ONLY_ASYNCIO, GatewayApp
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.serving.bodies import Intake
from interlingua.gateway.settings import GatewayKey
from interlingua.transport.base import Timeouts
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import ReplayTransport
from interlingua.wire.http import Headers, HttpRequest
from tests.support.gateway import MODELS, asking, gateway
from tests.support.leaping import LEAPING

CHUNK = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s}]}\n\n'
)
HELLO = CHUNK % b'{"role":"assistant","content":"Hello"}'
STREAM: Headers = (("content-type", "text/event-stream"),)


@pytest.fixture
def anyio_backend() -> Any:
    """Time moves by timers alone."""
    return LEAPING


class Slow:
    """An upstream that says what it is told to, when it is told to, and knows whether it was closed."""

    def __init__(self, pieces: Iterable[bytes] = (), *, silent_open: bool = False) -> None:
        self.pieces = list(pieces)
        self.silent_open = silent_open
        self.opened = asyncio.Event()
        self.closed_at: float | None = None
        self.cancelled_at: float | None = None
        self.status = 200
        self.headers: Headers = STREAM

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> Slow:
        """Itself, unless it is to be silent."""
        self.opened.set()
        if self.silent_open:
            await self._wait()
        return self

    async def read(self) -> bytes:
        """The next piece; after the last one nothing for a long time."""
        if self.pieces:
            return self.pieces.pop(0)
        await self._wait()
        return b""

    async def close(self) -> None:
        """Remember when."""
        self.closed_at = asyncio.get_running_loop().time()

    async def _wait(self) -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.cancelled_at = asyncio.get_running_loop().time()
            raise

    def standing(self) -> AbstractContextManager[Override]:
        """This upstream in the place of every model."""
        return overriding(Override(lambda _: ReplayTransport(), lambda _: self, answers=True))


class Client:
    """The server's side of one connection: what the client sends, and what it got."""

    def __init__(self, request: GatewayRequest, *pieces: bytes, root: str = "") -> None:
        self.scope: dict[str, Any] = {
            "type": "http",
            "method": request.method,
            "path": f"{root}{request.path}",
            "root_path": root,
            "query_string": request.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in request.headers],
            "client": (request.peer, 5),
        }
        given = pieces or (request.body,)
        self.incoming = [
            {"type": "http.request", "body": piece, "more_body": place < len(given) - 1}
            for place, piece in enumerate(given)
        ]
        self.sent: list[dict[str, Any]] = []
        self.left = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        """What the client sends, and at last that it has left."""
        if self.incoming:
            return self.incoming.pop(0)
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        """Keep what the client gets."""
        self.sent.append(dict(message))

    @property
    def status(self) -> int:
        """The status of the reply."""
        return self.sent[0]["status"]

    @property
    def body(self) -> bytes:
        """The body so far."""
        return b"".join([message.get("body", b"") for message in self.sent[1:]])


async def _until(condition: Any) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - what is waited for is another's list
            await asyncio.sleep(0.001)


CHAT = ("openai-chat", MODELS["openai-chat"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("phase", ["before the head", "before the body", "in the middle"])
async def test_rtr_08_a_client_that_leaves_closes_the_upstream_within_100_ms(phase: str, stream: bool) -> None:
    """Before the upstream answers, before its first event, and after it: relayed, whole and streamed."""
    pieces = [HELLO] if phase == "in the middle" else []
    upstream = Slow(pieces, silent_open=phase == "before the head")
    with upstream.standing():
        client = Client(asking(*CHAT, stream=stream))
        task = asyncio.ensure_future(GatewayApp(gateway())(client.scope, client.receive, client.send))
        await _until(lambda: upstream.opened.is_set() and (len(client.sent) > 1 or not (stream and pieces)))
        await asyncio.sleep(0.01)
        left_at = asyncio.get_running_loop().time()
        client.left.set()
        await asyncio.wait_for(task, 5)
    assert upstream.cancelled_at == left_at
    if phase != "before the head":
        assert upstream.closed_at == left_at


async def test_rtr_08_a_translated_stream_is_closed_as_well() -> None:
    """The same for a client of another dialect, in the middle of its answer."""
    upstream = Slow([HELLO])
    with upstream.standing():
        client = Client(asking("anthropic", MODELS["openai-chat"], stream=True))
        task = asyncio.ensure_future(GatewayApp(gateway())(client.scope, client.receive, client.send))
        await _until(lambda: b"Hello" in client.body if len(client.sent) > 1 else False)
        client.left.set()
        await asyncio.wait_for(task, 5)
    assert upstream.closed_at is not None


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
async def test_rtr_08_a_client_that_leaves_while_the_head_is_sent_closes_the_upstream(dialect: str) -> None:
    """The stream has begun upstream, and nothing of it was taken yet: relayed and translated."""
    upstream = Slow([HELLO])
    with upstream.standing():
        client = Client(asking(dialect, MODELS["openai-chat"], stream=True))
        send = client.send

        async def stuck(message: Any) -> None:
            await send(message)
            client.left.set()
            await asyncio.sleep(30)

        await asyncio.wait_for(GatewayApp(gateway())(client.scope, client.receive, stuck), 5)
    assert [message["type"] for message in client.sent] == ["http.response.start"]
    assert upstream.closed_at is not None


SIGNS = {
    "openai-chat": b": keep-alive\n",
    "openai-responses": b": keep-alive\n",
    "anthropic": b'event: ping\ndata: {"type": "ping"}\n\n',
    "google": b"\n",
    "unified": b": keep-alive\n",
}


@pytest.mark.parametrize("dialect", [*SIGNS, "ollama"])
async def test_sse_07_a_silent_stream_shows_that_it_is_alive(dialect: str) -> None:
    """Between two pieces the client gets a sign that its SDK takes for nothing; never inside of a frame."""
    upstream = Slow([HELLO])
    with upstream.standing():
        client = Client(asking(dialect, MODELS["openai-chat"], stream=True))
        app = GatewayApp(gateway(keep_alive_s=0.02))
        task = asyncio.ensure_future(app(client.scope, client.receive, client.send))
        await _until(lambda: len(client.sent) > 4)
        client.left.set()
        await asyncio.wait_for(task, 5)
    sign = client.sent[-1]["body"]
    if dialect == "ollama":
        assert sign.endswith(b'"message":{"role":"assistant","content":""},"done":false}\n')
    else:
        assert sign == SIGNS[dialect]


# Bodies


def _packed(data: bytes, coding: str) -> bytes:
    return gzip.compress(data) if coding == "gzip" else zlib.compress(data)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_compressed_bodies_are_taken(coding: str) -> None:
    """A body that a client compressed is the body that it compressed, however it is cut."""
    from interlingua.testing.upstream import Upstream

    with Upstream("openai-chat").standing():
        request = asking(*CHAT, headers={"content-encoding": coding})
        packed = _packed(request.body, coding)
        client = Client(request, packed[:7], packed[7:30], packed[30:])
        await GatewayApp(gateway())(client.scope, client.receive, client.send)
    assert client.status == 200


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_sec_07_a_bomb_is_refused_while_it_inflates(coding: str) -> None:
    """The bound holds for what a body inflates to: the first piece beyond it ends the reading."""
    bomb = _packed(b"\0" * 20_000_000, coding)
    assert len(bomb) < 30_000
    intake = Intake(coding, 1_000_000)
    with pytest.raises(Exception, match=r"(larger than|beyond) 1000000 bytes"):
        intake.feed(bomb)


async def test_sec_07_who_may_not_ask_has_no_body_read() -> None:
    """A request without a key is answered by its head alone: its body, of whatever size, is never taken."""
    client = Client(asking(*CHAT))
    client.incoming = []
    app = GatewayApp(gateway(keys=(GatewayKey(name="k", hash=hash_key("secret")),)))
    await asyncio.wait_for(app(client.scope, client.receive, client.send), 5)
    assert client.status == 401


@pytest.mark.parametrize(
    ("headers", "pieces", "status"),
    [
        ({"content-length": "999999999999"}, [b"{"], 413),
        ({}, [b"x" * 600, b"x" * 600], 413),
        ({"content-encoding": "gzip"}, [b"not gzip at all"], 400),
        ({"content-encoding": "gzip"}, [gzip.compress(b'{"a":1}', mtime=0)[:-4]], 400),
        ({"content-encoding": "gzip"}, [gzip.compress(bytes(20_000_000), mtime=0)], 413),
        ({"content-encoding": "br"}, [b"{}"], 400),
    ],
)
async def test_bodies_that_cannot_be_read_are_refused_in_the_clients_dialect(
    headers: dict[str, str], pieces: list[bytes], status: int
) -> None:
    """Too large, announced or sent; not what it says; cut short; a coding that nobody undoes."""
    client = Client(asking("anthropic", "m", headers=headers), *pieces)
    await GatewayApp(gateway(max_body_bytes=1_000))(client.scope, client.receive, client.send)
    assert client.status == status
    assert client.body.startswith(b'{"type":"error","error":{')


async def test_a_client_that_leaves_before_its_body_is_whole_gets_nothing() -> None:
    """There is nobody to answer, and nothing to do."""
    client = Client(asking(*CHAT), b"{")
    client.incoming[0]["more_body"] = True
    client.left.set()
    await GatewayApp(gateway())(client.scope, client.receive, client.send)
    assert client.sent == []


# As an application


async def test_it_can_be_mounted() -> None:
    """Below another application's path the routes are the same, whether the server takes the path off or not."""
    client = Client(GatewayRequest(method="GET", path="/health/live", peer="10.0.0.9"), root="/llm")
    await GatewayApp(gateway())(client.scope, client.receive, client.send)
    assert (client.status, client.body) == (200, b'{"status":"ok"}')
    client = Client(GatewayRequest(method="GET", path="/health/live", peer="10.0.0.9"))
    client.scope["root_path"] = "/llm"
    await GatewayApp(gateway())(client.scope, client.receive, client.send)
    assert client.status == 200


@pytest.mark.parametrize(
    ("root", "path"), [("/", "/health/live"), ("/health", "/health/health/live"), ("/heal", "/health/live")]
)
async def test_a_place_is_taken_off_whole(root: str, path: str) -> None:
    """Only where the path begins with it, and not a part of a name."""
    client = Client(GatewayRequest(method="GET", path=path, peer="127.0.0.1"))
    client.scope["root_path"] = root
    await GatewayApp(gateway())(client.scope, client.receive, client.send)
    assert client.status == 200


async def test_it_can_live_again(tmp_path: Path) -> None:
    """As in tests, where one application has a client after the other: keys, budgets and readiness as before."""
    terms = Terms(budgets=(read_budget("1M tokens/day"),))
    keys = (GatewayKey(name="k", hash=hash_key("secret"), terms=terms),)
    app = GatewayApp(gateway(keys=keys, key_file=str(tmp_path / "keys.sqlite")))
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    for _ in range(2):
        begun = asyncio.Event()
        ended = asyncio.Event()

        async def receive(begun: asyncio.Event = begun, ended: asyncio.Event = ended) -> Any:
            if not begun.is_set():
                begun.set()
                return {"type": "lifespan.startup"}
            await ended.wait()
            return {"type": "lifespan.shutdown"}

        living = asyncio.create_task(app({"type": "lifespan"}, receive, send))
        while len(sent) % 2 == 0:  # noqa: ASYNC110 - until it has begun
            await asyncio.sleep(0)
        for asked in (GatewayRequest(method="GET", path="/health/ready"), asking("openai-chat", "fake/m")):
            headers = (*asked.headers, ("authorization", "Bearer secret"))
            client = Client(msgspec.structs.replace(asked, headers=headers, peer="127.0.0.1"))
            await app(client.scope, client.receive, client.send)
            assert client.status == 200
        ended.set()
        await living
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"] * 2


def test_another_loop_than_asyncios_is_told_so() -> None:
    """Before it serves, and where a server does not ask."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    with pytest.raises(StopIteration):
        GatewayApp(gateway())({"type": "lifespan"}, receive, send).__await__().__next__()
    assert sent == [{"type": "lifespan.startup.failed", "message": ONLY_ASYNCIO}]
    with pytest.raises(UsageError, match="the gateway runs on asyncio"):
        GatewayApp(gateway())({"type": "http"}, receive, send).__await__().__next__()


async def test_it_lives_and_ends_with_its_server() -> None:
    """The lifespan is answered; once it ends, readiness says no."""
    made = gateway()
    messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    sent: list[Any] = []

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await GatewayApp(made)({"type": "lifespan"}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    client = Client(GatewayRequest(method="GET", path="/health/ready", peer="127.0.0.1"))
    await GatewayApp(made)(client.scope, client.receive, client.send)
    assert client.status == 503


async def test_aborted_streams_leave_nothing_behind() -> None:
    """After a hundred clients that left there are no more tasks than before, and every upstream is closed."""
    before = len(asyncio.all_tasks())
    upstreams: list[Slow] = []
    app = GatewayApp(gateway(keep_alive_s=0.01))

    async def leave(number: int) -> None:
        upstream = Slow([HELLO], silent_open=number % 5 == 0)
        upstreams.append(upstream)
        with upstream.standing():
            dialect = ("openai-chat", "anthropic")[number % 2]
            client = Client(asking(dialect, MODELS["openai-chat"], stream=number % 3 > 0))
            task = asyncio.ensure_future(app(client.scope, client.receive, client.send))
            await _until(upstream.opened.is_set)
            await asyncio.sleep(0.001 * (number % 4))
            client.left.set()
            await asyncio.wait_for(task, 5)

    for number in range(100):
        await leave(number)
    await asyncio.sleep(0.05)
    assert len(asyncio.all_tasks()) == before
    assert all(upstream.closed_at is not None or upstream.silent_open for upstream in upstreams)
