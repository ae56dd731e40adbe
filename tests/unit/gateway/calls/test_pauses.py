"""Answers that pause for tools of the provider: the gateway goes on with them for clients that know no pause."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import Request, urlopen

import msgspec
import pytest

import interlingua as il
from interlingua.client.call.relay import MAX_CONTINUATIONS
from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import Closing, GatewayReply
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.memory import MemoryAccounts
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.stream.unfold import unfold
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.types.event import StreamEnd, StreamError
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.gateway import answer_of, asking, body_of, events_of, gateway, header_of, serving

HAVE_NO_PAUSE = [name for name in DIALECTS if name not in ("anthropic", "unified")]
LLM_WORK = "anthropic://token@127.0.0.1:1?tls=0&price_in=10&price_out=100"
MODEL = "work/claude-opus-4-6"
"""A model that takes no prefill: a last turn of its own only where it paused."""
SEARCH: dict[str, Any] = {
    "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Oslo"},
}  # fmt: skip
FOUND: dict[str, Any] = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {"type": "web_search_result", "url": "https://a.test", "title": "A", "encrypted_content": "c2VjcmV0"},
    ],
}
USAGE: dict[str, Any] = {"openai-chat": {"stream_options": {"include_usage": True}}}
"""How a client of a dialect asks for counts in a stream, where it has to."""
DONE = b"data: [DONE]\n\n"
KEY = "sk-il-0123456789abcdef0123456789abcdef0123456789abcdef"


def _said(stop: str, *content: dict[str, Any], tokens: tuple[int, int] = (3, 2)) -> Line:
    """A whole answer of Anthropic."""
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": stop,
        "stop_sequence": None, "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
    }  # fmt: skip
    return Line(pieces=(json.dumps(body).encode(),))


def _streamed(line: Line) -> Line:
    """A whole answer as a stream of Anthropic."""
    spoken = get_dialect("anthropic")
    encoder = spoken.stream_encoder(ServerContext(source="anthropic"))
    events = unfold(spoken.decode_response(HttpReply(status=200, body=line.pieces[0]), DecodeContext()))
    pieces = tuple([encoder.encode(event) for event in events])
    return Line(pieces=pieces, headers=(("content-type", "text/event-stream"),))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


PAUSED = _said("pause_turn", _text("Let me look. "), SEARCH, tokens=(100, 20))
ENDED = _said("end_turn", FOUND, _text("Rain."), tokens=(150, 5))
LIMITED = Line(status=429, pieces=(b'{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}',))


def _keyed(budget: str = "1000 USD") -> Gateway:
    """A gateway with a key that has a budget."""
    key = GatewayKey(name="a", hash=hash_key(KEY), terms=Terms(budgets=(read_budget(budget),)))
    return Gateway(GatewaySettings(keys=(key,)), registry=Registry({"LLM_WORK": LLM_WORK}))


async def _asked(made: Gateway, dialect: str, *lines: Line, **members: Any) -> tuple[GatewayReply, list[Any]]:
    """The reply to a client, and the bodies that the upstream got."""
    script = Script(*lines)
    with overriding(Override(lambda _: ReplayTransport(), lambda _: AsyncReplayTransport(script=script))):
        reply = await made(asking(dialect, MODEL, headers={"authorization": f"Bearer {KEY}"}, **members))
        reply = msgspec.structs.replace(reply, body=await body_of(reply))
    return reply, [json.loads(request.body) for request in script.requests]


def _rows(made: Gateway) -> list[Row]:
    """What the key has used, by model."""
    assert isinstance(made.admission.accounts, MemoryAccounts)
    return list(made.admission.accounts.rows)


@pytest.mark.parametrize("dialect", HAVE_NO_PAUSE)
async def test_end_05_a_paused_answer_is_gone_on_with(dialect: str) -> None:
    """The client gets one answer with a real end; the target gets its paused turn back as it wrote it."""
    made = gateway({"LLM_WORK": LLM_WORK})
    reply, bodies = await _asked(made, dialect, PAUSED, ENDED)
    answer = await answer_of(dialect, reply)
    assert answer.finish_reason == "stop"
    assert answer.text.startswith("Let me look.")
    assert answer.text.endswith("Rain.")
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (250, 25)
    first, second = bodies
    assert second["messages"] == [
        *first["messages"],
        {"role": "assistant", "content": [_text("Let me look. "), SEARCH]},
    ]
    assert {**second, "messages": 0} == {**first, "messages": 0}
    assert header_of(reply, "x-interlingua-cost-usd") == f"{(250 * 10 + 25 * 100) / 1e6:g}"


@pytest.mark.parametrize("dialect", ["anthropic", "unified"])
async def test_end_05_who_knows_pauses_is_told_of_them(dialect: str) -> None:
    """Clients of the dialects that have a pause go on by themselves."""
    reply, bodies = await _asked(gateway({"LLM_WORK": LLM_WORK}), dialect, PAUSED, ENDED)
    assert (await answer_of(dialect, reply)).finish_reason == "pause"
    assert len(bodies) == 1


@pytest.mark.parametrize("dialect", HAVE_NO_PAUSE)
async def test_end_05_an_answer_that_never_ends_is_cut_off(dialect: str) -> None:
    """It is gone on with so many times, and sent as cut off then."""
    reply, bodies = await _asked(gateway({"LLM_WORK": LLM_WORK}), dialect, *[PAUSED] * (MAX_CONTINUATIONS + 2))
    assert (await answer_of(dialect, reply)).finish_reason == "length"
    assert len(bodies) == MAX_CONTINUATIONS + 1
    assert len(bodies[-1]["messages"]) == 2, "all that it wrote is one turn"


async def test_end_05_a_pause_without_a_step_of_the_provider_is_told() -> None:
    """No target takes such a turn back: the answer is kept, with an entry for its end."""
    reply, bodies = await _asked(gateway({"LLM_WORK": LLM_WORK}), "openai-chat", _said("pause_turn", _text("Half")))
    assert (await answer_of("openai-chat", reply)).text == "Half"
    assert "finish_reason_approximated" in (header_of(reply, "x-interlingua-changes") or "")
    assert len(bodies) == 1


async def test_end_05_each_continuation_is_settled() -> None:
    """The key pays for what each answer used, as one request."""
    made = _keyed()
    reply, _ = await _asked(made, "openai-chat", PAUSED, PAUSED, ENDED, max_tokens=400)
    assert reply.status == 200
    (row,) = _rows(made)
    assert (row.requests, row.failed, row.input_tokens, row.output_tokens) == (1, 0, 350, 45)
    assert row.nano_usd == 350 * 10_000 + 45 * 100_000


async def test_end_05_a_continuation_that_fails_is_the_error_of_the_answer() -> None:
    """The client gets the error; what the paused answer used is charged."""
    made = _keyed()
    reply, _ = await _asked(made, "openai-chat", PAUSED, *[LIMITED] * 5, max_tokens=400)
    whole = HttpReply(status=reply.status, headers=reply.headers, body=await body_of(reply))
    error = get_dialect("openai-chat").decode_error(whole, DecodeContext())
    assert (type(error).__name__, reply.status) == ("RateLimitError", 429)
    rows = _rows(made)
    assert sum(row.input_tokens for row in rows) == 100
    assert sum(row.nano_usd for row in rows) == 100 * 10_000 + 20 * 100_000


async def test_end_05_a_continuation_that_no_budget_covers_is_refused() -> None:
    """Before it goes on, the next answer is reserved; the target is not asked where that does not fit."""
    made = _keyed("0.042 USD")
    reply, bodies = await _asked(made, "openai-chat", PAUSED, ENDED, max_tokens=400)
    assert (reply.status, len(bodies)) == (402, 1)
    assert sum(row.nano_usd for row in _rows(made)) == 100 * 10_000 + 20 * 100_000


async def test_end_05_who_listens_is_told_the_refusal_of_a_budget() -> None:
    """The error of the client, with its sentence and status, and no class that only the gateway has."""
    events: list[il.Observed] = []
    with il.on_event(events.append):
        reply, _ = await _asked(_keyed("0.042 USD"), "openai-chat", PAUSED, ENDED, max_tokens=400)
    assert reply.status == 402
    (last,) = [event for event in events if isinstance(event, il.CallFinished)]
    assert (last.error, last.status) == ("BillingError", 402)
    assert last.message is not None
    assert "budget" in last.message


def _in_container(line: Line, name: str | None) -> Line:
    """A whole answer whose tools ran in a container."""
    container = {"id": name, "expires_at": "2026-11-28T12:00:00Z"} if name else None
    return Line(pieces=(json.dumps({**json.loads(line.pieces[0]), "container": container}).encode(),))


@pytest.mark.parametrize("is_stream", [False, True])
async def test_end_05_a_continuation_runs_in_the_container_of_the_pause(*, is_stream: bool) -> None:
    """The id of the container goes along from the first answer that names one, beside nothing that was asked before."""
    lines = [_in_container(PAUSED, "container_1"), _in_container(PAUSED, None), _in_container(ENDED, "container_1")]
    if is_stream:
        lines = [_streamed(line) for line in lines]
    reply, bodies = await _asked(gateway({"LLM_WORK": LLM_WORK}), "openai-chat", *lines, stream=is_stream)
    assert reply.status == 200
    assert [body.get("container") for body in bodies] == [None, "container_1", "container_1"]


# Streams


@pytest.mark.parametrize("dialect", HAVE_NO_PAUSE)
async def test_end_05_a_paused_stream_is_gone_on_with(dialect: str) -> None:
    """The client reads one stream, which says what the whole answer says, and the target gets its turn back.

    White space between the steps is not compared: streams of some dialects do not tell where thinking is parted.
    """
    made = gateway({"LLM_WORK": LLM_WORK})
    whole_reply, _ = await _asked(made, dialect, PAUSED, PAUSED, ENDED)
    whole = await answer_of(dialect, whole_reply)
    lines = [_streamed(line) for line in (PAUSED, PAUSED, ENDED)]
    reply, bodies = await _asked(made, dialect, *lines, stream=True, **USAGE.get(dialect, {}))
    events = await events_of(dialect, reply)
    end = events[-1]
    assert isinstance(end, StreamEnd)
    assert end.response.finish_reason == "stop"
    assert end.response.text == whole.text
    assert "".join(end.response.thinking.split()) == "".join(whole.thinking.split())
    assert end.response.usage == whole.usage
    assert [type(event) for event in events].count(StreamEnd) == 1
    turn = [_text("Let me look. "), SEARCH]
    assert [body["messages"][1:] for body in bodies] == [
        [],
        [{"role": "assistant", "content": turn}],
        [{"role": "assistant", "content": turn * 2}],
    ]


@pytest.mark.parametrize("dialect", HAVE_NO_PAUSE)
async def test_end_05_a_stream_that_never_ends_is_cut_off(dialect: str) -> None:
    """As a whole answer, it is gone on with so many times."""
    lines = [_streamed(PAUSED)] * (MAX_CONTINUATIONS + 2)
    reply, bodies = await _asked(gateway({"LLM_WORK": LLM_WORK}), dialect, *lines, stream=True)
    end = (await events_of(dialect, reply))[-1]
    assert isinstance(end, StreamEnd)
    assert end.response.finish_reason == "length"
    assert len(bodies) == MAX_CONTINUATIONS + 1


@pytest.mark.parametrize("dialect", ["anthropic", "unified"])
async def test_end_05_who_knows_pauses_reads_them_in_a_stream(dialect: str) -> None:
    """Clients of the dialects that have a pause go on by themselves."""
    reply, bodies = await _asked(gateway({"LLM_WORK": LLM_WORK}), dialect, _streamed(PAUSED), stream=True)
    end = (await events_of(dialect, reply))[-1]
    assert isinstance(end, StreamEnd)
    assert end.response.finish_reason == "pause"
    assert len(bodies) == 1


async def test_end_05_each_continuation_of_a_stream_is_settled() -> None:
    """The key pays for what each answer used, as one request."""
    made = _keyed()
    lines = [_streamed(line) for line in (PAUSED, PAUSED, ENDED)]
    await _asked(made, "openai-chat", *lines, stream=True, max_tokens=400)
    (row,) = _rows(made)
    assert (row.requests, row.failed, row.input_tokens, row.output_tokens) == (1, 0, 350, 45)
    assert row.nano_usd == 350 * 10_000 + 45 * 100_000


@pytest.mark.parametrize(("budget", "lines"), [("1000 USD", [LIMITED] * 5), ("0.042 USD", [])])
async def test_end_05_a_stream_that_cannot_go_on_ends_in_the_error(budget: str, lines: list[Line]) -> None:
    """Neither a target that refuses nor a budget that is used up is sent as a clean end; what came is charged."""
    made = _keyed(budget)
    reply, _ = await _asked(made, "openai-chat", _streamed(PAUSED), *lines, stream=True, max_tokens=400)
    end = (await events_of("openai-chat", reply))[-1]
    assert isinstance(end, StreamError)
    rows = _rows(made)
    assert sum(row.input_tokens for row in rows) == 100
    assert sum(row.nano_usd for row in rows) == 100 * 10_000 + 20 * 100_000


async def test_end_05_who_leaves_while_a_stream_pauses_pays_for_what_came() -> None:
    """The paused answer is charged by its counts, whether or not it was gone on with."""
    made = _keyed()
    going_on = asyncio.Event()

    def comes(_: HttpRequest) -> bool:
        going_on.set()
        return True

    script = Script(_streamed(PAUSED), msgspec.structs.replace(_streamed(ENDED), pause_s=60.0, when=comes))
    with overriding(Override(lambda _: ReplayTransport(), lambda _: AsyncReplayTransport(script=script))):
        headers = {"authorization": f"Bearer {KEY}"}
        reply = await made(asking("openai-chat", MODEL, headers=headers, stream=True, max_tokens=400))
        assert isinstance(reply.body, Closing)
        reading = asyncio.create_task(body_of(reply))
        await going_on.wait()
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
        await reply.body.aclose()
    rows = _rows(made)
    assert sum(row.requests for row in rows) == 1
    assert sum(row.input_tokens for row in rows) > 100, "and what was reserved, since the target may write on"
    assert sum(row.nano_usd for row in rows) > 100 * 10_000 + 20 * 100_000


class _Upstream(BaseHTTPRequestHandler):
    """An Anthropic server of one paused answer and its continuation, streamed."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """The paused answer to a user, its continuation to itself."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = b"".join(_streamed(PAUSED if body["messages"][-1]["role"] == "user" else ENDED).pieces)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_end_05_a_paused_stream_is_gone_on_with_over_sockets() -> None:
    """The pieces that are poured from one socket into the other go on with those of the second upstream reply."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Upstream) as upstream:
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        dsn = f"anthropic://token@127.0.0.1:{upstream.server_port}?tls=0"
        with serving(providers={"work": dsn}) as url:
            asked = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}], "stream": True}
            headers = {"content-type": "application/json"}
            request = Request(f"{url}/v1/chat/completions", json.dumps(asked).encode(), headers)
            with urlopen(request, timeout=60) as reply:
                said = reply.read()
        upstream.shutdown()
    assert said.endswith(b"data: [DONE]\n\n")
    assert said.count(b'"finish_reason":"stop"') == 1
    assert said.index(b"Let me look. ") < said.index(b"Rain.")


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses"])
async def test_end_05_a_chat_server_that_says_pause_is_asked_once(dialect: str, is_stream: bool) -> None:
    """Its dialect has no pause: nobody can send the turn back, least of all where the body goes out as it came."""
    step = {"index": 0, "id": "call_1", "type": "web_search", "web_search": {"search_query": "q"}}
    content = {"role": "assistant", "content": "Hi", "tool_calls": [step]}
    head = {"id": "c", "created": 1, "model": "m"}
    whole = {"choices": [{"index": 0, "finish_reason": "pause_turn", "message": content}], **head}
    chunk = {"choices": [{"index": 0, "finish_reason": "pause_turn", "delta": content}], **head}
    stream = Line(
        pieces=(b"data: " + json.dumps({"object": "chat.completion.chunk", **chunk}).encode() + b"\n\n", DONE),
        headers=(("content-type", "text/event-stream"),),
    )
    line = stream if is_stream else Line(pieces=(json.dumps({"object": "chat.completion", **whole}).encode(),))
    script = Script(*[line] * 10)
    made = gateway({"LLM_UP": "openai://token@127.0.0.1:1?tls=0"})
    with overriding(Override(lambda _: ReplayTransport(), lambda _: AsyncReplayTransport(script=script))):
        reply = await made(asking(dialect, "up/m", stream=is_stream))
        body = await body_of(reply)
    assert (reply.status, len(script.requests)) == (200, 1)
    assert b"Hi" in body
