"""Calls of the library over WebSockets: loops of tools on one connection, both faces, and what is left to HTTP."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.sync.server import ServerConnection, serve

import interlingua as il
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.terms import Terms
from interlingua.gateway.settings import GatewayKey
from interlingua.gateway.state.stored import memory_responses
from interlingua.testing.upstream import Call, Cut, Say, Upstream
from tests.support.gateway import gateway, provider, serving

MODEL = "gate/gpt-5.1"
Asked = list[dict[str, Any]]


class _Gate:
    """A gateway of ours as the provider, and what it was asked."""

    def __init__(self, *answers: Any, **settings: Any) -> None:
        self._upstream = Upstream("anthropic", *answers)
        self._settings = settings
        self.asked: Asked = []
        """The bodies of its requests."""
        self.sockets: list[bool] = []
        """Whether each came over a WebSocket."""

    @contextmanager
    def serving(self, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
        """Serve it as the provider `gate`."""
        with self._upstream.serving() as at:
            aliases = {"gpt-5.1": "up/claude-opus-4-5"}
            made = self.made = gateway({"LLM_UP": provider("anthropic", f"{at}/v1")}, aliases, **self._settings)
            answer = made.answer

            async def noting(request: GatewayRequest) -> GatewayReply:
                if request.method == "POST":
                    self.asked.append(json.loads(request.body))
                    self.sockets.append(request.latest is not None)
                return await answer(request)

            made.answer = noting
            with serving(made) as url:
                monkeypatch.setenv("LLM_GATE", provider("openai-responses", f"{url}/v1"))
                yield


@il.tool
def weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Which one.
    """
    return f"fine in {city}"


LOOP = [*[Say(calls=(Call("weather", {"city": city}),)) for city in ("Oslo", "Rome", "Paris")], "All fine."]


def test_r64_a_loop_of_tools_has_one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four steps: the first says everything, each further one sends the result of the call alone."""
    gate = _Gate(*LOOP)
    with gate.serving(monkeypatch), il.websockets() as counts:
        run = il.Agent(MODEL, tools=[weather]).run("Weather?")
    assert run.text == "All fine."
    assert (counts.connections, counts.turns, counts.continued, counts.refused) == (1, 4, 3, 0)
    assert [len(body["input"]) for body in gate.asked] == [1, 1, 1, 1]
    assert [body["input"][0]["output"] for body in gate.asked[1:]] == [
        f"fine in {city}" for city in ("Oslo", "Rome", "Paris")
    ]
    assert gate.sockets == [True] * 4


async def test_an_awaited_loop_has_one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """On asyncio, too."""
    gate = _Gate(*LOOP)
    with gate.serving(monkeypatch), il.websockets() as counts:
        run = await il.aio.Agent(MODEL, tools=[weather]).run("Weather?")
    assert run.text == "All fine."
    assert (counts.connections, counts.turns, counts.continued) == (1, 4, 3)


def test_streams_and_whole_answers_share_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream gives its events as over HTTP; the next call goes on from it."""
    gate = _Gate("One two.", "Three.")
    with gate.serving(monkeypatch), il.websockets() as counts:
        model = il.model(MODEL)
        with model.stream("Count.") as stream:
            text = "".join([event.text for event in stream if isinstance(event, il.TextDelta)])
            first = stream.response
        second = model.generate([*first.messages, il.user("More.")])
    assert (text, first.text, second.text) == ("One two.", "One two.", "Three.")
    assert (counts.connections, counts.continued) == (1, 1)
    assert gate.asked[1]["input"] == [{"role": "user", "content": "More."}]


def test_outside_of_the_block_http_carries_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left of it: no connection, and no WebSocket for the next call."""
    gate = _Gate("One.", "Two.")
    with gate.serving(monkeypatch):
        with il.websockets():
            il.model(MODEL).generate("Hi")
        il.model(MODEL).generate("Hi")
    assert gate.sockets == [True, False]


def test_r54_a_turn_over_a_socket_keeps_its_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole it is the body, streamed the frames, as over HTTP."""
    gate = _Gate("One two.", "Three.")
    with gate.serving(monkeypatch), il.websockets():
        model = il.model(MODEL, raw=True)
        assert model.generate("Hi").raw["object"] == "response"
        with model.stream("Hi") as stream:
            frames = stream.finish().raw
    assert (frames[0]["type"], frames[-1]["type"]) == ("response.created", "response.completed")


def test_two_conversations_keep_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each turn finds the connection that it goes on from."""
    gate = _Gate(*[f"{number}." for number in range(6)])
    with gate.serving(monkeypatch), il.websockets() as counts:
        model = il.model(MODEL)
        with model.stream("First conversation.") as one, model.stream("Second conversation.") as two:
            for stream in (one, two):
                assert list(stream)
        answers = [one.response, two.response]
        for _ in range(2):
            answers = [model.generate([*answer.messages, il.user("On.")]) for answer in answers]
    assert (counts.connections, counts.turns, counts.continued) == (2, 6, 4)


def test_a_lost_response_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server forgot it: the same connection gets the whole conversation, and the call succeeds."""
    gate = _Gate("One.", "Two.")
    with gate.serving(monkeypatch), il.websockets() as counts:
        model = il.model(MODEL)
        first = model.generate("Hi")
        gate.made.stored.store = memory_responses(time.monotonic).store
        second = model.generate([*first.messages, il.user("On.")])
    assert second.text == "Two."
    assert [len(body["input"]) for body in gate.asked] == [1, 1, 3]
    assert (counts.connections, counts.turns, counts.continued) == (1, 2, 0)


def test_a_refused_handshake_leaves_it_to_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider without WebSockets is asked once, and everything works."""
    with Upstream("openai-responses", "One.", "Two.").serving() as at:
        monkeypatch.setenv("LLM_GATE", provider("openai-responses", f"{at}/v1"))
        with il.websockets() as counts:
            model = il.model(MODEL)
            assert [model.generate("Hi").text for _ in range(2)] == ["One.", "Two."]
    assert (counts.refused, counts.connections, counts.turns) == (1, 0, 0)


def test_a_wrong_key_is_told_by_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the class that it has there."""
    gate = _Gate(keys=(GatewayKey(name="k", hash=hash_key("another")),))
    with gate.serving(monkeypatch), il.websockets(), pytest.raises(il.AuthenticationError):
        il.model(MODEL).generate("Hi")


@pytest.mark.parametrize("stream", [True, False])
def test_an_error_has_its_class(monkeypatch: pytest.MonkeyPatch, stream: bool) -> None:
    """A 429 of a turn is a rate limit with the time to wait; the connection goes on."""
    key = GatewayKey(name="k", hash=hash_key("upstream-key"), terms=Terms(rpm=1))
    gate = _Gate("One.", keys=(key,))
    with gate.serving(monkeypatch), il.websockets() as counts:
        model = il.model(MODEL, retries=0)
        model.generate("Hi")
        ask: Callable[[], object] = (lambda: list(model.stream("Hi"))) if stream else (lambda: model.generate("Hi"))
        with pytest.raises(il.RateLimitError) as limited:
            ask()
    assert limited.value.status == 429
    assert limited.value.retry_after_s is not None
    assert counts.connections == 1


def test_a_stream_that_is_cut_off_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What came rides along; the next call works."""
    gate = _Gate(Cut(Say(text="One two three four."), after=6), "Whole.")
    with gate.serving(monkeypatch), il.websockets():
        model = il.model(MODEL, retries=0)
        with pytest.raises(il.Error), model.stream("Hi") as stream:
            list(stream)
        assert model.generate("Hi").text == "Whole."


# A scripted server


@contextmanager
def _scripted(monkeypatch: pytest.MonkeyPatch, *scripts: Callable[[ServerConnection], None]) -> Generator[list[str]]:
    """A provider of which each connection follows a script; what it got as texts."""
    got: list[str] = []
    left = list(scripts)

    def handler(connection: ServerConnection) -> None:
        script = left.pop(0)
        receive: Any = connection.recv

        def noting(*args: Any, **options: Any) -> Any:
            text = receive(*args, **options)
            got.append(str(text))
            return text

        connection.recv = noting
        script(connection)

    with serve(handler, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = server.socket.getsockname()[1]
        monkeypatch.setenv("LLM_GATE", provider("openai-responses", f"http://127.0.0.1:{port}/v1"))
        try:
            yield got
        finally:
            server.shutdown()
            thread.join(20)


def _answer(connection: ServerConnection, text: str, number: int = 1) -> None:
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    content: list[Any] = [{"type": "output_text", "text": text, "annotations": []}]
    head: dict[str, Any] = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "gpt-5.1"}
    response: dict[str, Any] = {**head, "status": "completed", "output": [{**message, "content": content}]}
    connection.send(
        json.dumps({"type": "response.created", "response": {**head, "status": "in_progress", "output": []}})
    )
    connection.send(json.dumps({"type": "response.completed", "response": response}))


def test_a_connection_at_its_limit_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The turn is sent whole on a new one, once."""

    def old(connection: ServerConnection) -> None:
        connection.recv()
        _answer(connection, "One.")
        connection.recv()
        error = {"code": "websocket_connection_limit_reached", "message": "60 minutes"}
        connection.send(json.dumps({"type": "error", "status": 400, "error": error}))

    def new(connection: ServerConnection) -> None:
        connection.recv()
        _answer(connection, "Two.", 2)
        connection.recv_streaming()

    with _scripted(monkeypatch, old, new) as got, il.websockets() as counts:
        model = il.model(MODEL, retries=0)
        first = model.generate("Hi")
        assert model.generate([*first.messages, il.user("On.")]).text == "Two."
    assert [len(json.loads(text)["input"]) for text in got] == [1, 1, 3]
    assert counts.connections == 2


def test_a_connection_that_was_closed_meanwhile_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two turns: pings are answered, a close is seen, and the next turn has a new connection."""

    def first(connection: ServerConnection) -> None:
        connection.recv()
        _answer(connection, "One.")
        connection.ping()

    def second(connection: ServerConnection) -> None:
        connection.recv()
        _answer(connection, "Two.")
        connection.recv()

    with _scripted(monkeypatch, first, second), il.websockets() as counts:
        model = il.model(MODEL, retries=0)
        model.generate("Hi")
        time.sleep(0.3)
        assert model.generate("Hi").text == "Two."
    assert counts.connections == 2


@pytest.mark.parametrize("said", ["no json", '{"no":"type"}', b"bytes"])
def test_what_is_no_event_is_an_error(monkeypatch: pytest.MonkeyPatch, said: str | bytes) -> None:
    """It closes its connection, and never hangs."""

    def odd(connection: ServerConnection) -> None:
        connection.recv()
        connection.send(said)

    with _scripted(monkeypatch, odd), il.websockets(), pytest.raises((il.DecodeError, il.APIConnectionError)):
        il.model(MODEL, retries=0).generate("Hi", timeout_s=20)


def test_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the deadline of the phase; the connection is closed."""
    closed = threading.Event()

    def silent(connection: ServerConnection) -> None:
        connection.recv()
        try:
            connection.recv(timeout=20)
        except Exception:  # noqa: BLE001 - however it ends
            closed.set()

    with _scripted(monkeypatch, silent), il.websockets():
        timeouts = il.Timeouts(first_byte_s=0.2)
        with pytest.raises(il.APITimeoutError):
            il.model(MODEL, retries=0, timeouts=timeouts).generate("Hi")
        assert closed.wait(20)


async def test_a_task_that_is_cancelled_closes_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a stream: the server sees the end at once."""
    closed, begun = threading.Event(), threading.Event()

    def endless(connection: ServerConnection) -> None:
        connection.recv()
        head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.1", "status": "in_progress"}
        connection.send(json.dumps({"type": "response.created", "response": {**head, "output": []}}))
        begun.set()
        try:
            connection.recv(timeout=20)
        except Exception:  # noqa: BLE001 - however it ends
            closed.set()

    with _scripted(monkeypatch, endless), il.websockets() as counts:
        task = asyncio.create_task(il.aio.model(MODEL, retries=0).generate("Hi"))
        assert await asyncio.to_thread(begun.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(closed.wait, 20)
        assert counts.connections == 1


def test_a_fake_around_the_block_stays_in_charge() -> None:
    """No connection is tried: whoever stands in for providers answers."""
    with Upstream("openai-responses", "Hello.").standing(), il.websockets() as counts:
        assert il.model("openai/gpt-5.1").generate("Hi").text == "Hello."
    assert (counts.turns, counts.refused) == (0, 0)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the beginning of the block."""
    import sys

    monkeypatch.setitem(sys.modules, "websockets.client", None)
    monkeypatch.delitem(sys.modules, "interlingua.transport.websocket.link", raising=False)
    import interlingua.transport.websocket as package

    monkeypatch.delattr(package, "link", raising=False)
    with pytest.raises(il.ConfigError, match=r"interlingua\[websocket\]"), il.websockets():
        pass
