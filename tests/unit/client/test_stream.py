"""Streamed answers, in both faces: what comes, how it ends, and that nothing stays open."""

from __future__ import annotations

import asyncio
import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import interlingua as il
from interlingua.client.call.core import DRAIN_S, GRACE_S, Outcome, stream_steps
from interlingua.client.call.effect import Open, Read
from interlingua.client.call.values import Call, CallTarget
from interlingua.client.options import Settings
from interlingua.dialects.table import get_dialect
from interlingua.registry.resolve import placeholder
from interlingua.stream.check import check
from interlingua.transport.override import Override, overriding
from interlingua.wire.http import HttpReply
from interlingua.wire.json import encode
from tests.support.client import AWAITED, BLOCKING, Face, chat, chunk, chunks, scripted, sse

if TYPE_CHECKING:
    from collections.abc import Generator

    from interlingua.wire.http import HttpRequest

JSON = (("content-type", "application/json"),)


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


def _call_chunk(arguments: str, **head: Any) -> bytes:
    return chunk({"tool_calls": [{"index": 0, **head, "function": {"arguments": arguments}}]})


def _calling(*pieces: str, finish: str = "tool_calls") -> list[bytes]:
    opening = {"index": 0, "id": "call_9", "type": "function", "function": {"name": "f", "arguments": ""}}
    told = [chunk({"role": "assistant", "tool_calls": [opening]}), *[_call_chunk(piece) for piece in pieces]]
    return [*told, chunk({}, finish), b"data: [DONE]\n\n"]


class Watched:
    """A transport of both faces that knows what is still open."""

    def __init__(self, *pieces: bytes | BaseException, status: int = 200) -> None:
        """Answers every request with these pieces; an exception among them is raised by `read`."""
        self.pieces = pieces
        self.status = status
        self.open_replies = 0
        self.was_read = asyncio.Event()

    @contextmanager
    def everywhere(self) -> Generator[Watched]:
        """Stands in for every transport."""
        with overriding(Override(lambda _: _Blocking(self), lambda _: _Awaited(self), answers=True)):
            yield self


class _WatchedReply:
    def __init__(self, watched: Watched) -> None:
        self.status = watched.status
        self.headers = (("content-type", "text/event-stream"),)
        self.watched = watched
        self.left = list(watched.pieces)
        self.closed = False
        watched.open_replies += 1

    def next(self) -> bytes:
        assert not self.closed
        self.watched.was_read.set()
        piece = self.left.pop(0) if self.left else b""
        if isinstance(piece, BaseException):
            raise piece
        return piece

    def shut(self) -> None:
        if not self.closed:
            self.closed = True
            self.watched.open_replies -= 1


class _BlockingReply(_WatchedReply):
    def read(self) -> bytes:
        return self.next()

    def close(self) -> None:
        self.shut()


class _AwaitedReply(_WatchedReply):
    async def read(self) -> bytes:
        await asyncio.sleep(0)
        return self.next()

    async def close(self) -> None:
        self.shut()


class _Blocking:
    def __init__(self, watched: Watched) -> None:
        self.watched = watched

    def open(self, request: HttpRequest, timeouts: il.Timeouts) -> _BlockingReply:
        return _BlockingReply(self.watched)

    def close(self) -> None:
        pass


class _Awaited:
    def __init__(self, watched: Watched) -> None:
        self.watched = watched

    async def open(self, request: HttpRequest, timeouts: il.Timeouts) -> _AwaitedReply:
        return _AwaitedReply(self.watched)

    async def close(self) -> None:
        pass


def test_a_stream_gives_lawful_events_and_its_response(face: Face) -> None:
    """The events keep the stream laws, name the target, and fold to the response of the end."""
    with scripted(sse(*chunks("Once ", "upon"))):
        stream = face.model("openai-chat/gpt-4.1", max_tokens=9).stream("A story.")
        events = face.events(stream)
    assert check(events) == ()
    assert il.fold(events) == stream.response
    assert stream.response.text == "Once upon"
    assert stream.response.model == "openai-chat/gpt-4.1"
    assert stream.response.usage == il.Usage(input_tokens=3, output_tokens=2)
    assert stream.response.request == il.Request(messages=(il.user("A story."),), max_tokens=9)
    assert [attempt.outcome for attempt in stream.response.attempts] == ["served"]
    assert isinstance(events[-1], il.StreamEnd)
    assert events[-1].response is stream.response


def test_a_stream_is_its_response(face: Face) -> None:
    """The same answer, streamed and whole, is the same response."""
    with scripted(sse(*chunks("Good ", "day")), chat("Good day")):
        streamed = face.finish(face.model("openai-chat/gpt-4.1").stream("Hi"))
        whole = face.generate(face.model("openai-chat/gpt-4.1"))
    assert streamed == whole


def test_nothing_is_sent_before_the_stream_is_opened(face: Face) -> None:
    """Making a stream is free."""
    with scripted(sse(*chunks("a"))) as script:
        stream = face.model("openai-chat/gpt-4.1").stream("Hi")
        assert script.requests == []
        face.finish(stream)
    assert len(script.requests) == 1


def test_text_comes_piece_by_piece() -> None:
    """`text_stream` is the text of the first choice, and `finish` drains what is left."""
    with scripted(sse(*chunks("a", "b", "c"))), il.model("openai-chat/gpt-4.1").stream("Hi") as stream:
        pieces = stream.text_stream
        assert next(pieces) == "a"
        assert list(pieces) == ["b", "c"]
        assert stream.finish().text == "abc"


async def test_text_comes_piece_by_piece_awaited() -> None:
    """The same, awaited; `open` hands over a stream whose first content is there."""
    with scripted(sse(*chunks("a", "b", "c"))):
        stream = await il.aio.model("openai-chat/gpt-4.1").stream("Hi").open()
        async with stream:
            assert [piece async for piece in stream.text_stream] == ["a", "b", "c"]
            assert (await stream.finish()).text == "abc"


def test_calls_come_whole(face: Face) -> None:
    """R26: pieces of arguments are hidden; the whole call is one event."""
    with scripted(sse(*_calling('{"a"', ": 1}"))):
        events = face.events(face.model("openai-chat/gpt-4.1").stream("Hi", tools=[il.Tool(name="f")]))
    assert not any(isinstance(event, il.ToolCallDelta) for event in events)
    [ready] = [event for event in events if isinstance(event, il.ToolCallReady)]
    assert ready.call == il.ToolCall("call_9", "f", '{"a": 1}')


def test_pieces_of_calls_on_request(face: Face) -> None:
    """R27: with `tool_deltas=True` they are there, and the stream is lawful."""
    with scripted(sse(*_calling('{"a"', ": 1}"))):
        stream = face.model("openai-chat/gpt-4.1").stream("Hi", tools=[il.Tool(name="f")], tool_deltas=True)
        events = face.events(stream)
    assert [event.arguments for event in events if isinstance(event, il.ToolCallDelta)] == ['{"a"', ": 1}"]
    assert check(events) == ()


def test_malformed_arguments_end_a_stream(face: Face) -> None:
    """R21: the stream raises instead of ending, and the response rides along."""
    with scripted(sse(*_calling('{"a": '))), pytest.raises(il.MalformedArgumentsError) as caught:
        face.events(face.model("openai-chat/gpt-4.1").stream("Hi", tools=[il.Tool(name="f")]))
    assert caught.value.call == il.BrokenToolCall("call_9", "f", '{"a": ', "malformed")


def test_a_cut_stream_is_an_error_with_what_came(face: Face) -> None:
    """R29: an end without a terminal signal is never a clean end."""
    with scripted(sse(*chunks("Once ", done=False))):
        stream = face.model("openai-chat/gpt-4.1").stream("Hi")
        with pytest.raises(il.IncompleteStreamError) as caught:
            face.finish(stream)
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Once "
    assert stream.partial == caught.value.partial
    with pytest.raises(il.UsageError, match="this stream failed, so there is no whole response"):
        _ = stream.response


def test_a_broken_connection_cuts_a_stream(face: Face) -> None:
    """What the transport said is the cause; what came is there."""
    broken = il.APIConnectionError("api.openai.com:443 closed the connection")
    with scripted(sse(*chunks("Once ", done=False), ending=broken)):
        stream = face.model("openai-chat/gpt-4.1").stream("Hi")
        with pytest.raises(
            il.IncompleteStreamError, match=r"openai-chat/gpt-4\.1 broke off: api\.openai\.com"
        ) as caught:
            face.finish(stream)
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Once "
    assert caught.value.__cause__ is broken


def test_silence_is_a_time_out_with_what_came(face: Face) -> None:
    """An idle time-out keeps its class and its phase."""
    with scripted(sse(*chunks("Once ", done=False), ending=il.APITimeoutError("silence", phase="idle"))):
        stream = face.model("openai-chat/gpt-4.1").stream("Hi")
        with pytest.raises(il.APITimeoutError) as caught:
            face.finish(stream)
    assert caught.value.phase == "idle"
    assert stream.partial is not None
    assert stream.partial.text == "Once "


def test_what_came_before_an_error_is_given(face: Face) -> None:
    """The events before the failure reach the reader first."""
    seen: list[il.Event] = []

    async def read_awaited(stream: Any) -> None:
        async for event in stream:
            seen.append(event)  # noqa: PERF401 - what came before the error is what is looked at

    def read(stream: Any) -> None:
        for event in stream:
            seen.append(event)  # noqa: PERF402 - what came before the error is what is looked at

    with scripted(sse(*chunks("a", "b", done=False))):
        stream = face.model("openai-chat/gpt-4.1").stream("Hi")
        with pytest.raises(il.IncompleteStreamError):
            face.settle(lambda: read_awaited(stream) if face.awaited else read(stream))
    assert [event.text for event in seen if isinstance(event, il.TextDelta)] == ["a", "b"]


def test_a_chain_goes_on_until_the_first_content(face: Face) -> None:
    """An error reply, a cut before content and an error event before content go to the next target."""
    refused = HttpReply(status=429, headers=JSON, body=encode({"error": {"message": "Slow down."}}))
    overloaded = b'data: {"error": {"message": "Busy.", "type": "server_error", "code": 503}}\n\n'
    with scripted(refused, sse(), sse(overloaded), sse(*chunks("Hello"))):
        stream = face.model("openai/a,groq/b,mistral/c,deepseek/d").stream("Hi")
        reply = face.finish(stream)
    assert (reply.text, reply.model) == ("Hello", "deepseek/d")
    assert [attempt.outcome for attempt in reply.attempts] == ["failed", "failed", "failed", "served"]


def test_a_chain_does_not_go_on_after_content(face: Face) -> None:
    """Once the reader has something, another target would tell another story."""
    cut, whole = sse(*chunks("Once ", done=False)), sse(*chunks("Hello"))
    with scripted(cut, whole) as script, pytest.raises(il.IncompleteStreamError) as caught:
        face.finish(face.model("openai-chat/a,groq/b").stream("Hi"))
    assert len(script.requests) == 1
    assert [attempt.outcome for attempt in caught.value.attempts] == ["served"]


def test_what_says_nothing_yet_is_held_back(face: Face) -> None:
    """OUT-13: a beginning without content is not handed over, so that a stream has one beginning, whoever gives it."""
    begun = [chunk({"role": "assistant", "content": ""}), chunk(usage={"prompt_tokens": 3})]
    with scripted(sse(*begun), sse(*chunks("Hello"))) as script:
        events = face.events(face.model("openai-chat/a,groq/b").stream("Hi"))
    assert len(script.requests) == 2
    assert [event.model for event in events if isinstance(event, il.StreamStart)] == ["groq/b"]
    assert check(events) == ()


def test_a_whole_reply_in_place_of_a_stream(face: Face) -> None:
    """A server that cannot stream is understood: its answer comes as a lawful stream."""
    with scripted(chat("Hello")):
        stream = face.model("openai-chat/gpt-4.1").stream("Hi")
        events = face.events(stream)
    assert check(events) == ()
    assert stream.response.text == "Hello"
    assert stream.response.model == "openai-chat/gpt-4.1"


def test_a_page_in_place_of_a_stream(face: Face) -> None:
    """A proxy's page is an error that shows how it begins."""
    page = HttpReply(status=200, headers=(("content-type", "text/html"),), body=b"<html>\n<h1>Sign in</h1>")
    with scripted(page), pytest.raises(il.DecodeError, match=r"web page; is the base URL right.*<h1>Sign in"):
        face.finish(face.model("openai-chat/gpt-4.1").stream("Hi"))


def test_a_stream_is_closed_at_its_end(face: Face) -> None:
    """Read to its end, it leaves nothing open."""
    with Watched(*chunks("a", "b")).everywhere() as watched:
        face.finish(face.model("x").stream("Hi"))
    assert watched.open_replies == 0


def test_a_stream_that_fails_is_closed(face: Face) -> None:
    """An error leaves nothing open."""
    with Watched(*chunks("a", done=False)).everywhere() as watched, pytest.raises(il.IncompleteStreamError):
        face.finish(face.model("x").stream("Hi"))
    assert watched.open_replies == 0


def test_leaving_a_stream_closes_it() -> None:
    """`with` closes it whatever was read."""
    with Watched(*chunks("a", "b")).everywhere() as watched:
        with il.model("x").stream("Hi") as stream:
            assert watched.open_replies == 1
            next(stream)
        assert watched.open_replies == 0
        stream.close()


async def test_leaving_a_stream_closes_it_awaited() -> None:
    """`async with` closes it whatever was read."""
    with Watched(*chunks("a", "b")).everywhere() as watched:
        async with il.aio.model("x").stream("Hi") as stream:
            assert watched.open_replies == 1
            await anext(stream)
        assert watched.open_replies == 0
        await stream.close()


def _response(stream: Any) -> il.Response[Any]:
    return stream.response


def test_a_stream_closed_early_is_no_short_answer(face: Face) -> None:
    """Half an answer never looks like a whole one: whatever is asked of it says that it was closed."""
    with scripted(sse(*chunks("a", "b"))):
        stream = face.model("x").stream("Hi")
        face.settle(stream.open)
        face.settle(stream.close)
        for read in (face.events, face.finish, _response):
            with pytest.raises(il.UsageError, match="closed before its end: nothing more can be read; call finish"):
                read(stream)


def test_a_stream_closed_at_its_end_keeps_its_response(face: Face) -> None:
    """Closing what has come to its end takes nothing away."""
    with scripted(sse(*chunks("a", "b"))):
        stream = face.model("x").stream("Hi")
        assert face.finish(stream).text == "ab"
        face.settle(stream.close)
    assert face.events(stream) == []
    assert face.finish(stream) is stream.response


def test_a_stream_that_failed_says_so(face: Face) -> None:
    """After the error there is no response, and what came is named."""
    with scripted(sse(*chunks("a", "b")[:1])):
        stream = face.model("x").stream("Hi")
        with pytest.raises(il.IncompleteStreamError):
            face.finish(stream)
        face.settle(stream.close)
    with pytest.raises(il.UsageError, match=r"this stream failed, so there is no whole response; \.partial has"):
        _ = stream.response


def test_a_stream_that_nobody_holds_is_closed() -> None:
    """A reader that went away leaves nothing open."""
    with Watched(*chunks("a", "b")).everywhere() as watched:
        for piece in il.model("x").stream("Hi").text_stream:
            assert piece == "a"
            break
        gc.collect()
    assert watched.open_replies == 0


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_closes_the_connection(interrupt: type[BaseException]) -> None:
    """Ctrl-C in the middle of a call or a stream closes the socket and is passed on."""
    with Watched(chunks("a")[0], interrupt()).everywhere() as watched:
        with pytest.raises(interrupt):
            il.model("x").generate("Hi")
        with pytest.raises(interrupt):
            il.model("x").stream("Hi").finish()
    assert watched.open_replies == 0


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
async def test_cancellation_closes_the_connection(streamed: bool) -> None:
    """A cancelled task closes the socket and is cancelled."""
    model = il.aio.model("x")
    with Watched(*([chunk({"content": "a"})] * 1_000)).everywhere() as watched:
        task = asyncio.create_task(_finish(model.stream("Hi")) if streamed else model.generate("Hi"))
        await asyncio.wait_for(watched.was_read.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert watched.open_replies == 0


async def _finish(stream: Any) -> Any:
    return await stream.finish()


def test_typed_output_of_a_stream(face: Face) -> None:
    """`output=T` makes the finished stream's response typed."""
    with scripted(sse(*chunks('{"value": ', "7}"))):
        reply = face.finish(face.model("openai-chat/gpt-4.1").stream("Seven?", output=int))
    assert reply.output == 7


# The steps themselves


def _steps(now: list[float]) -> Any:
    endpoint = placeholder("x/y")
    call = Call(
        il.Request(messages=(il.user("Hi"),)),
        Settings(),
        (CallTarget(endpoint, get_dialect(endpoint.dialect)),),
        lambda: now[0],
        with_credential=False,
    )
    return stream_steps(call, Outcome())


class _Head(msgspec.Struct):
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "text/event-stream"),)


def test_sse_09_the_end_is_waited_for_the_drain_time_only() -> None:
    """SSE-09: after the finish reason the rest has two seconds in all; then the stream ends by itself."""
    now = [100.0]
    steps = _steps(now)
    assert isinstance(next(steps), Open)
    assert steps.send(_Head()) == Read()
    assert isinstance(steps.send(chunks("a")[1]), list)
    assert next(steps) == Read()
    now[0] = 103.0
    read = steps.send(chunk({}, "stop"))
    while isinstance(read, list):
        read = next(steps)
    assert read == Read(DRAIN_S)
    now[0] = 104.5
    read = steps.send(b": still here\n\n")
    assert read == Read(0.5)
    now[0] = 105.1
    assert steps.send(b": and here\n\n") == Read(0.0)
    ending = steps.send(b"")
    assert isinstance(ending[-1], il.StreamEnd)
    with pytest.raises(StopIteration):
        next(steps)


def test_sse_09_a_failure_after_the_terminal_signal_is_the_end() -> None:
    """A server that resets the connection after its last word has said everything."""
    steps = _steps([0.0])
    next(steps)
    steps.send(_Head())
    steps.send(chunks("a")[1])
    next(steps)
    read = steps.send(chunk({}, "stop"))
    while isinstance(read, list):
        read = next(steps)
    ending = steps.throw(il.APIConnectionError("reset"))
    assert ending[-1].response.text == "a"


def test_the_connection_is_read_to_its_end_when_that_costs_nothing() -> None:
    """After `[DONE]` the events are given first; then the end of the body gets a moment, so that the socket is kept."""
    steps = _steps([0.0])
    next(steps)
    steps.send(_Head())
    events = steps.send(b"".join(chunks("a")))
    if not isinstance(events[-1], il.StreamEnd):
        events = next(steps)
    assert isinstance(events[-1], il.StreamEnd)
    assert next(steps) == Read(GRACE_S, needed=False)
    with pytest.raises(StopIteration):
        steps.send(b"")
