"""Models against a server on loopback: the whole path from a call to bytes on a socket and back, in both faces."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

import interlingua as il
from interlingua import aio
from interlingua.client.call.core import DRAIN_S
from interlingua.wire.json import decode_any
from tests.support.client import AWAITED, BLOCKING, Face, chat, chunks
from tests.support.server import Answer, Await, Hold, Reset, Server, chunked, reply, serving
from tests.support.trying import at_best

KEY = "sk-test-0123456789abcdef"
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
WHOLE = Answer((reply(chat("Hello").body, headers="content-type: application/json\r\n"),))


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


def _at(server: Server, monkeypatch: pytest.MonkeyPatch, name: str = "here") -> str:
    """The spec of a model of this server, which `LLM_<NAME>` defines."""
    monkeypatch.setenv(f"LLM_{name.upper()}", f"openai://{KEY}@127.0.0.1:{server.port}/v1?tls=0")
    return f"{name}/some-model"


def _streamed(*steps: Any, end: bool = True) -> Answer:
    return Answer((SSE_HEAD, *steps, *([b"0\r\n\r\n"] if end else [])))


def test_a_call_goes_over_the_wire(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider of one line answers; the key went in the header alone."""
    with serving(WHOLE) as server:
        answer = face.generate(face.model(_at(server, monkeypatch)), "Hi")
    assert (answer.text, answer.model) == ("Hello", "here/some-model")
    [seen] = server.seen
    assert seen.line == "POST /v1/chat/completions HTTP/1.1"
    assert seen.header("authorization") == f"Bearer {KEY}"
    assert decode_any(seen.body)["model"] == "some-model"
    assert KEY not in il.dump(answer)


def test_a_conversation_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls and streams one after the other use one connection."""
    told = [chunked(piece, end=False) for piece in chunks("a", "b")]
    with serving([WHOLE, _streamed(*told), _streamed(*told), WHOLE]) as server:
        model = il.model(_at(server, monkeypatch))
        model.generate("Hi")
        assert model.stream("Hi").finish().text == "ab"
        assert list(model.stream("Hi").text_stream) == ["a", "b"]
        model.generate("Hi")
    assert server.connections == 1


async def test_a_conversation_keeps_its_connection_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, awaited."""
    told = [chunked(piece, end=False) for piece in chunks("a", "b")]
    with serving([WHOLE, _streamed(*told), WHOLE]) as server:
        model = aio.model(_at(server, monkeypatch))
        await model.generate("Hi")
        assert (await model.stream("Hi").finish()).text == "ab"
        await model.generate("Hi")
    assert server.connections == 1


def test_a_chain_goes_on_over_the_wire(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """R42: a server that resets and one that is overloaded are asked twice each, then the one that answers."""
    busy = Answer((reply(b'{"error": {"message": "Busy."}}', status="503 Service Unavailable"),))
    with serving(Answer((Reset(),))) as first, serving(busy) as second, serving(WHOLE) as third:
        spec = ",".join(_at(server, monkeypatch, name) for server, name in ((first, "a"), (second, "b"), (third, "c")))
        answer = face.generate(face.model(spec), "Hi")
    assert answer.model == "c/some-model"
    assert [(attempt.model, attempt.outcome) for attempt in answer.attempts] == [
        *[("a/some-model", "failed")] * 2,
        *[("b/some-model", "failed")] * 2,
        ("c/some-model", "served"),
    ]


def test_a_stream_comes_as_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first text is there while the server still holds the rest back."""
    told = [chunked(piece, end=False) for piece in chunks("a", "b")]
    was_read = threading.Event()
    answer = _streamed(*told[:2], Await(was_read), *told[2:])
    with serving(answer) as server, il.model(_at(server, monkeypatch)).stream("Hi") as stream:
        pieces = stream.text_stream
        assert next(pieces) == "a"
        was_read.set()
        assert list(pieces) == ["b"]


def test_a_stream_that_is_reset_is_incomplete(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came is in the error."""
    with serving(_streamed(*[chunked(piece, end=False) for piece in chunks("a", done=False)], Reset())) as server:
        stream = face.model(_at(server, monkeypatch)).stream("Hi")
        with pytest.raises(il.IncompleteStreamError) as caught:
            face.finish(stream)
    assert caught.value.partial is not None
    assert caught.value.partial.text == "a"


def test_leaving_a_stream_hangs_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """RTR-08: whoever leaves in the middle closes the socket, so that nobody generates and bills on."""
    told = [chunked(piece, end=False) for piece in chunks("a", done=False)]
    with serving(_streamed(*told, Hold(), end=False)) as server:
        with il.model(_at(server, monkeypatch)).stream("Hi") as stream:
            next(stream)
        assert server.hung_up.wait(60)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
async def test_cancelling_hangs_up(streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """RTR-08: a cancelled task closes the socket, before the answer begins and in the middle of it."""
    with serving(Answer((Hold(),))) as server:
        model = aio.model(_at(server, monkeypatch))
        task = asyncio.create_task(_finish(model.stream("Hi")) if streamed else model.generate("Hi"))
        async with asyncio.timeout(60):
            while not server.seen:  # noqa: ASYNC110 - the server runs in a thread and has no asyncio event
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.hung_up.wait, 60)


async def _finish(stream: Any) -> Any:
    return await stream.finish()


def test_time_outs_are_kept(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """`timeout_s` bounds the whole call."""
    with serving(Answer((Hold(),))) as server:
        model = face.model(_at(server, monkeypatch), timeout_s=0.2)

        def waited_s() -> float:
            started = time.monotonic()
            with pytest.raises(il.APITimeoutError) as caught:
                face.generate(model, "Hi")
            assert caught.value.phase in {"total", "first_byte"}
            return time.monotonic() - started

        assert at_best(lambda: waited_s() < 2)


def test_sse_09_a_stream_without_an_end_of_body_ends(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSE-09: a finish reason, no `[DONE]`, and a socket that stays open: the stream ends within the drain time."""
    assert DRAIN_S == 2.0
    monkeypatch.setattr("interlingua.client.call.core.DRAIN_S", 0.2)
    told = [chunked(piece, end=False) for piece in chunks("a")[:3]]
    with serving(_streamed(*told, Hold(), end=False)) as server:
        started = time.monotonic()
        assert face.finish(face.model(_at(server, monkeypatch)).stream("Hi")).text == "a"
        assert time.monotonic() - started < 30
        assert server.hung_up.wait(60)


async def test_the_blocking_face_inside_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook calls without await; real sockets and all."""
    with serving(WHOLE) as server:
        assert il.model(_at(server, monkeypatch)).generate("Hi").text == "Hello"


def test_threads_share_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many threads call one model at the same time."""
    with serving(WHOLE) as server:
        model = il.model(_at(server, monkeypatch))
        texts: list[str] = []
        threads = [
            threading.Thread(target=lambda: texts.append(model.generate("Hi").text), name=str(number))
            for number in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert texts == ["Hello"] * 16


async def test_many_calls_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 calls of one loop are answered together."""
    with serving(WHOLE) as server:
        model = aio.model(_at(server, monkeypatch))
        replies = await asyncio.gather(*[model.generate("Hi") for _ in range(64)])
    assert [answer.text for answer in replies] == ["Hello"] * 64
