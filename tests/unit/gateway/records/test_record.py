"""Records of requests: one for each, whatever its end, and nothing at all while nobody wants any."""

from __future__ import annotations

import asyncio
import gc
import logging
import weakref
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from interlingua.gateway.asgi import GatewayApp
from interlingua.gateway.calls.streams import InFlightStream
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.records.record import LEFT_STATUS, Entry, Record
from interlingua.gateway.records.traffic import Traffic
from interlingua.gateway.settings import GatewayKey
from interlingua.providers.price import Price
from interlingua.testing.upstream import Say, Upstream
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from tests.support.gateway import MODELS, asking, body_of, gateway
from tests.support.leaping import LEAPING
from tests.unit.gateway.test_asgi import HELLO, Client, Slow

CHAT = ("openai-chat", MODELS["openai-chat"])
KEY = GatewayKey(name="team-a", hash=hash_key("il-secret-key"), team="red")


@pytest.fixture
def anyio_backend() -> Any:
    """Time moves by timers alone."""
    return LEAPING


def listened(**settings: Any) -> tuple[Gateway, list[Record]]:
    """A gateway with a sink, and what that gets."""
    made, records = gateway(**settings), list[Record]()
    made.recorder.sinks = (records.append,)
    return made, records


async def served(made: Gateway, client: Client) -> None:
    """One request by ASGI, to its end."""
    await asyncio.wait_for(GatewayApp(made)(client.scope, client.receive, client.send), 5)


async def left(made: Gateway, client: Client, upstream: Slow) -> None:
    """One request by ASGI, whose client leaves in the middle of its stream."""
    task = asyncio.ensure_future(GatewayApp(made)(client.scope, client.receive, client.send))
    async with asyncio.timeout(5):
        while len(client.sent) < 2 and not upstream.silent_open:  # noqa: ASYNC110 - what is waited for is another's list
            await asyncio.sleep(0.001)
        if upstream.silent_open:
            await upstream.opened.wait()
    client.left.set()
    await asyncio.wait_for(task, 5)


async def test_nothing_is_made_while_nobody_wants_to_know() -> None:
    """Without a sink a request has no entry, in the process and by ASGI."""
    made = gateway()
    request = asking(*CHAT)
    assert made.begin(request) is None
    assert request.entry is None
    with Upstream("openai-chat").standing():
        await served(made, Client(request))
    assert made.recorder.under_way == {}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
async def test_an_answer_is_one_record(client: str, stream: bool) -> None:
    """Relayed and translated, whole and streamed: what is known of it, and no content."""
    made, records = listened(keys=(KEY,))
    with Upstream("openai-chat").standing():
        key = {"authorization": "Bearer il-secret-key", "x-request-id": "mine-1"}
        await served(made, Client(asking(client, CHAT[1], stream=stream, headers=key)))
    (record,) = records
    assert (record.id, record.key, record.team, record.client) == ("mine-1", "team-a", "red", client)
    assert (record.model, record.target, record.stream) == (CHAT[1], CHAT[1], stream)
    assert (record.status, record.error, record.message, record.aborted) == (200, "", "", False)
    assert [attempt.outcome for attempt in record.attempts] == ["served"]
    assert (record.first_s is not None) is stream
    assert record.content is None
    if not stream:
        assert (record.input_tokens, record.output_tokens) == (20, 10)
    assert made.recorder.under_way == {}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
async def test_counts_below_nothing_are_in_no_record(client: str, stream: bool) -> None:
    """They say nothing: neither totals nor counters go backwards."""
    made, records = listened(keys=(KEY,))
    counts = Say(text="Hello", input_tokens=-1_000_000, output_tokens=-7)
    with Upstream("openai-chat", counts).standing():
        key = {"authorization": "Bearer il-secret-key"}
        await served(made, Client(asking(client, CHAT[1], stream=stream, headers=key)))
    (record,) = records
    assert (record.status, record.input_tokens, record.output_tokens) == (200, None, None)


async def test_a_refusal_is_one_record() -> None:
    """An unknown key, an unknown path, a body that is too large, a body that names no model."""
    made, records = listened(keys=(KEY,), max_body_bytes=100)
    key = (("authorization", "Bearer il-secret-key"),)
    for request in (
        asking(*CHAT, headers={"authorization": "Bearer other"}),
        GatewayRequest(method="GET", path="/nothing", headers=key),
        GatewayRequest(path="/v1/messages", headers=key, body=b" " * 200),
        GatewayRequest(path="/api/chat", headers=key, body=b"{}"),
    ):
        await served(made, Client(request))
    assert [(record.status, record.error, record.route) for record in records] == [
        (401, "AuthenticationError", "/v1/chat/completions"),
        (404, "NotFoundError", ""),
        (413, "LimitExceededError", "/v1/messages"),
        (400, "DecodeError", "/api/chat"),
    ]
    assert [record.key for record in records] == ["", "team-a", "team-a", "team-a"]
    assert not any(record.aborted for record in records)


async def test_a_failed_upstream_is_one_record() -> None:
    """A status before the answer, and a break in the middle of a stream, under the error's class."""
    made, records = listened()
    refusal = Line(status=401, pieces=(b'{"error":{"message":"bad key"}}',))
    cut = Line(pieces=(HELLO,), headers=(("content-type", "text/event-stream"),))
    for line, stream in ((refusal, False), (cut, True)):
        upstream = Slow()
        upstream.status, upstream.headers = line.status, line.headers
        pieces = list(line.pieces)

        async def read(pieces: list[bytes] = pieces) -> bytes:
            return pieces.pop(0) if pieces else b""

        upstream.read = read
        with upstream.standing():
            await served(made, Client(asking(*CHAT, stream=stream)))
    first, second = records
    assert (first.status, first.error, first.aborted) == (401, "AuthenticationError", False)
    assert [attempt.status for attempt in first.attempts] == [401]
    assert (second.status, second.error, second.target) == (200, "IncompleteStreamError", CHAT[1])
    assert not second.aborted


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_is_one_record(stream: bool) -> None:
    """Before there is a status it is 499, afterwards the status that was sent; always `aborted`."""
    made, records = listened()
    upstream = Slow([HELLO] if stream else [], silent_open=not stream)
    with upstream.standing():
        await left(made, Client(asking(*CHAT, stream=stream)), upstream)
    (record,) = records
    assert (record.status, record.aborted) == (200 if stream else LEFT_STATUS, True)
    assert record.model == CHAT[1]


async def test_a_client_that_leaves_after_the_end_has_the_whole_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The OpenAI SDK closes its connection at `[DONE]`, while the call is still settled: that is no abortion."""
    settling = asyncio.Event()

    async def keep(*_: object, **__: object) -> None:
        settling.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(InFlightStream, "keep", keep)
    made, records = listened()
    told = bytearray()

    async def read() -> None:
        reply = await made(asking(*CHAT, stream=True))
        assert not isinstance(reply.body, bytes)
        async with aclosing(reply.body):
            async for piece in reply.body:
                told.extend(piece)

    with Upstream("openai-chat").standing():
        task = asyncio.ensure_future(read())
        await settling.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert told.endswith(b"data: [DONE]\n\n")
    assert [(record.status, record.aborted) for record in records] == [(200, False)]


async def test_a_client_that_leaves_while_it_sends_is_one_record() -> None:
    """Its body never came whole."""
    made, records = listened()
    client = Client(asking(*CHAT), b"{", b"")
    client.incoming = client.incoming[:1]
    client.left.set()
    await served(made, client)
    assert [(record.status, record.aborted, record.model) for record in records] == [(LEFT_STATUS, True, "")]


async def test_a_thousand_streams_that_are_left_are_a_thousand_records() -> None:
    """Each is told once, with what had come of it, and nothing stays under way."""
    made, records = listened()
    for _ in range(20):
        upstreams = [Slow([HELLO]) for _ in range(50)]

        async def one(upstream: Slow) -> None:
            with overriding(Override(lambda _: ReplayTransport(), lambda _: upstream, answers=True)):
                await left(made, Client(asking(*CHAT, stream=True)), upstream)

        await asyncio.gather(*[asyncio.create_task(one(upstream)) for upstream in upstreams])
    assert len(records) == 1_000
    assert len({record.id for record in records}) == 1_000
    assert all(record.aborted and record.status == 200 and record.target == CHAT[1] for record in records)
    assert made.recorder.under_way == {}


async def test_a_gateway_without_a_server_tells_the_end_of_a_stream() -> None:
    """Called as a function, a stream is over when it was read, or closed without being read."""
    made, records = listened()
    with Upstream("openai-chat").standing():
        reply = await made(asking(*CHAT, stream=True))
        assert records == []
        assert len(made.recorder.under_way) == 1
        await body_of(reply)
        unread = await made(asking(*CHAT, stream=True))
        assert not isinstance(unread.body, bytes)
        await unread.body.aclose()
    assert [record.aborted for record in records] == [False, True]


async def test_a_sink_that_fails_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """The request is answered, other sinks are told, and the failure is logged once."""
    made, records = listened()

    def broken(record: Record) -> None:
        raise ValueError(record.id)

    made.recorder.sinks = (broken, *made.recorder.sinks)
    with caplog.at_level(logging.WARNING, logger="interlingua.gateway"), Upstream("openai-chat").standing():
        replies = [await made(asking(*CHAT)) for _ in range(3)]
    assert [reply.status for reply in replies] == [200, 200, 200]
    assert len(records) == 3
    assert len(caplog.records) == 1


async def test_content_is_for_who_asked_for_it() -> None:
    """Both sides of the gateway, without credentials; who did not ask gets none of it."""
    made, records = listened(keys=(KEY,))
    with_content: list[Record] = []
    made.recorder.content_sinks = (with_content.append,)
    with Upstream("openai-chat").standing():
        request = asking("anthropic", CHAT[1], "my question", stream=True, headers={"x-api-key": "il-secret-key"})
        client = Client(request)
        await served(made, client)
    assert [record.content for record in records] == [None]
    content = with_content[0].content
    assert content is not None
    assert content.is_whole
    assert content.body == request.body
    assert content.reply_body == client.body
    assert "il-secret-key" not in repr(content)
    (passage,) = content.passages
    assert (passage.target, passage.dialect, passage.status, passage.is_whole) == (CHAT[1], "openai-chat", 200, True)
    assert b"my question" in passage.request_body
    assert passage.body.startswith(b"data: ")


async def test_a_stream_that_is_left_has_what_it_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens that came before the client left, and what they cost where the price is known."""
    start = (
        b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant",'
    )
    start += b'"model":"x","content":[],"usage":{"input_tokens":1000,"output_tokens":1}}}\n\n'
    text = b'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text",'
    text += b'"text":""}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":'
    text += b'{"type":"text_delta","text":"Hel"}}\n\n'

    def priced(*_: object, **__: object) -> Price:
        return Price(input=2.0, output=4.0)

    monkeypatch.setattr("interlingua.gateway.calls.streams.price_of", priced)
    for client in ("openai-chat", "anthropic"):
        made, records = listened()
        upstream = Slow([start + text])
        with upstream.standing():
            await left(made, Client(asking(client, MODELS["anthropic"], stream=True)), upstream)
        (record,) = records
        assert (record.aborted, record.input_tokens, record.output_tokens) == (True, 1_000, 1)
        assert record.cost_usd == pytest.approx(0.002004)


async def test_a_request_that_is_passed_on_is_recorded_under_its_model() -> None:
    """A completion: nobody reads the answer, but whom it was asked of is known."""
    made, records = listened()
    transport = AsyncReplayTransport(Line(pieces=(b"{}",)))
    with overriding(Override(lambda _: ReplayTransport(), lambda _: transport, answers=True)):
        body = b'{"model":"openai/davinci","prompt":"x"}'
        await body_of(await made(GatewayRequest(path="/v1/completions", body=body, peer="127.0.0.1")))
    assert [(record.model, record.target, record.status) for record in records] == [
        ("openai/davinci", "openai/davinci", 200)
    ]


def entries() -> int:
    """How many entries there are in this process."""
    gc.collect()
    return sum(isinstance(one, Entry) for one in gc.get_objects())


@pytest.mark.parametrize("observing", [Observing(metrics="keys"), Observing(record="tapes"), Observing(store="a.db")])
async def test_nothing_of_a_request_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, observing: Observing
) -> None:
    """Whole and streamed: once a request is over, its entry is gone, with all that it heard."""
    monkeypatch.chdir(tmp_path)
    before = entries()
    made = gateway(observing=observing)
    begun: list[weakref.ref[Traffic]] = []
    begin = made.recorder.begin

    def watched(*known: Any) -> Any:
        entry = begin(*known)
        if entry.traffic is not None:
            begun.append(weakref.ref(entry.traffic))
        return entry

    monkeypatch.setattr(made.recorder, "begin", watched)
    with Upstream("openai-chat").standing():
        for stream in (False, True) * 5:
            await served(made, Client(asking("anthropic", CHAT[1], stream=stream)))
    await made.close()
    assert entries() <= before
    assert len(begun) == (10 if observing.record else 0)
    assert not any(one() for one in begun)
