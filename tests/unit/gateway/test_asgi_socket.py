"""WebSockets of an ASGI server: the same session, and what the server is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import pytest

from interlingua.gateway.asgi import GatewayApp
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.records.record import Record
from interlingua.gateway.settings import GatewayKey
from interlingua.testing.upstream import Upstream
from tests.support.gateway import gateway
from tests.support.sockets import ENDS, text_of

Message = MutableMapping[str, Any]
MODEL = "anthropic/claude-opus-4-5"
ASK = {"type": "response.create", "model": MODEL, "input": "Hi", "store": False}


class _Client:
    """The client's side of a connection that an ASGI server has."""

    def __init__(self, app: GatewayApp, path: str = "/v1/responses", **scope: Any) -> None:
        self._to: asyncio.Queue[Message] = asyncio.Queue()
        self._from: asyncio.Queue[Message] = asyncio.Queue()
        headers = [(b"host", b"localhost"), (b"authorization", b"Bearer secret")]
        told = {"type": "websocket", "path": path, "headers": headers, "client": ("127.0.0.1", 5), **scope}
        receive: Callable[[], Awaitable[Message]] = self._to.get
        self.task: asyncio.Task[None] = asyncio.create_task(app(told, receive, self._from.put))
        self._to.put_nowait({"type": "websocket.connect"})

    def send(self, **message: Any) -> None:
        """Send a message of the server."""
        self._to.put_nowait({"type": "websocket.receive", **message})

    def leave(self) -> None:
        """Close the connection."""
        self._to.put_nowait({"type": "websocket.disconnect", "code": 1000})

    async def next(self) -> Message:
        """The next message to the server."""
        async with asyncio.timeout(30):
            return await self._from.get()

    async def turn(self, **members: Any) -> dict[str, Any]:
        """The event that ends a turn."""
        self.send(text=json.dumps({**ASK, **members}))
        event: dict[str, Any] = {"type": ""}
        while event["type"] not in ENDS:
            event = json.loads((await self.next())["text"])
        return event


async def test_turns_go_on_as_on_the_own_server() -> None:
    """Accepted, two turns with the new input alone; the client leaves, and nothing is left."""
    made, records = gateway(), list[Record]()
    made.recorder.sinks = (records.append,)
    with Upstream("anthropic", "One.", "Two.").standing() as upstream:
        client = _Client(GatewayApp(made))
        assert await client.next() == {"type": "websocket.accept"}
        first = await client.turn()
        second = await client.turn(input="And?", previous_response_id=first["response"]["id"])
        client.leave()
        await client.task
    assert [text_of(event) for event in (first, second)] == ["One.", "Two."]
    assert b"One." in upstream.requests[1].body
    assert [(record.method, record.status) for record in records] == [("GET", 101), ("POST", 200), ("POST", 200)]
    assert len(made.latest) == 0


@pytest.mark.parametrize("scope", [{"extensions": {"websocket.http.response": {}}}, {}, {"extensions": None}])
async def test_who_may_not_ask_is_refused(scope: Message) -> None:
    """By HTTP where the server can say that, else by a close before the connection is accepted."""
    keys = (GatewayKey(name="k", hash=hash_key("another")),)
    client = _Client(GatewayApp(gateway(keys=keys)), **scope)
    first = await client.next()
    if scope.get("extensions"):
        assert (first["type"], first["status"]) == ("websocket.http.response.start", 401)
        assert b"invalid_api_key" in (await client.next())["body"]
    else:
        assert first == {"type": "websocket.close", "code": 1008}
    await client.task


async def test_elsewhere_there_is_no_websocket() -> None:
    """A path that nothing answers is a 404."""
    client = _Client(GatewayApp(gateway()), "/v1/nothing", extensions={"websocket.http.response": {}})
    assert (await client.next())["status"] == 404
    await client.next()
    await client.task


@pytest.mark.parametrize(
    ("message", "status", "code"), [({"bytes": b"{}"}, 400, 1003), ({"text": "x" * 600}, 413, 1009)]
)
async def test_what_is_no_text_of_ours_ends_the_connection(message: Message, status: int, code: int) -> None:
    """With an error event, and the code of the standard."""
    client = _Client(GatewayApp(gateway(max_body_bytes=500)))
    await client.next()
    client.send(**message)
    assert json.loads((await client.next())["text"])["status"] == status
    last = await client.next()
    assert (last["type"], last["code"]) == ("websocket.close", code)
    await client.task


async def test_a_client_that_leaves_cancels_what_is_under_way() -> None:
    """In the middle of an answer: the task ends, and the record says that it was left."""
    made, records = gateway(), list[Record]()
    made.recorder.sinks = (records.append,)
    begun = asyncio.Event()

    async def answer(request: object) -> Any:
        begun.set()
        await asyncio.Event().wait()

    made.answer = answer
    client = _Client(GatewayApp(made))
    await client.next()
    client.send(text=json.dumps(ASK))
    await begun.wait()
    client.leave()
    await client.task
    assert [record.status for record in records] == [101, 499]


async def test_a_gateway_that_drains_takes_no_further_turn() -> None:
    """The turn under way is answered, then the connection is closed with 1001."""
    made = gateway()
    with Upstream("anthropic", "One.").standing():
        client = _Client(GatewayApp(made))
        await client.next()
        client.send(text=json.dumps(ASK))
        assert json.loads((await client.next())["text"])["type"] == "response.created"
        made.lifecycle.is_draining = True
        while (message := await client.next())["type"] == "websocket.send":
            pass
    assert (message["type"], message["code"]) == ("websocket.close", 1001)
    await client.task
