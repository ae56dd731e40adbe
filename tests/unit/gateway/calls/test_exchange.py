"""The way of a call through the gateway: chains, errors, streams and their ends, in every client dialect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import interlingua as il
from interlingua.client.state import limit, limiter
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect, stream_type
from interlingua.gateway.calls.exchange import call_of
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.testing.conformance.session import TONGUES
from interlingua.testing.upstream import Call, Cut, Fail, Say, Upstream
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_any
from tests.support.gateway import MODELS, answer_of, asking, body_of, events_of, gateway, header_of

WEATHER: dict[str, Any] = {
    "openai-chat": {
        "tools": [
            {
                "type": "function",
                "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}},
            }
        ]
    },
    "openai-responses": {
        "tools": [{"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {}}}]
    },
    "anthropic": {"tools": [{"name": "get_weather", "input_schema": {"type": "object"}}]},
    "google": {"tools": [{"functionDeclarations": [{"name": "get_weather"}]}]},
    "ollama": {"tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]},
    "cohere": {"tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]},
    "bedrock": {
        "toolConfig": {"tools": [{"toolSpec": {"name": "get_weather", "inputSchema": {"json": {"type": "object"}}}}]}
    },
    "unified": {"tools": [{"name": "get_weather", "description": "Weather.", "parameters": {"type": "object"}}]},
}
"""One tool, as a client of each dialect offers it."""
CALL = Call("get_weather", {"city": "Oslo"})
every_client = pytest.mark.parametrize("dialect", TONGUES)


def _other(dialect: str) -> str:
    """An upstream of another dialect."""
    return "openai-chat" if dialect == "anthropic" else "anthropic"


async def _error_of(dialect: str, reply: GatewayReply) -> il.Error:
    """An error, as our own client of `dialect` reads it."""
    whole = HttpReply(status=reply.status, headers=reply.headers, body=await body_of(reply))
    return get_dialect(dialect).decode_error(whole, DecodeContext())


# Calls and ids


@every_client
async def test_str_33_parallel_calls_keep_their_ids_and_names_through_a_translated_stream(dialect: str) -> None:
    """Two calls at once arrive as two calls, each with its name, arguments and an id of our own."""
    say = Say(text="Let me see.", calls=(CALL, Call("get_weather", {"city": "Bergen"})))
    with Upstream(_other(dialect), say).standing():
        asked = asking(dialect, MODELS[_other(dialect)], stream=True, **WEATHER[dialect])
        events = await events_of(dialect, await gateway()(asked))
    end = events[-1]
    assert isinstance(end, il.StreamEnd)
    assert [(call.name, call.arguments) for call in end.response.tool_calls] == [
        ("get_weather", {"city": "Oslo"}),
        ("get_weather", {"city": "Bergen"}),
    ]
    assert end.response.finish_reason == "tool_calls"
    ids = [call.id for call in end.response.tool_calls]
    assert len(set(ids)) == 2
    if dialect != "ollama":  # which has none
        assert all(call_id.startswith("call_il") and len(call_id) == 29 for call_id in ids)


@every_client
async def test_ids_of_a_target_of_the_clients_own_dialect_are_its_own(dialect: str) -> None:
    """Where nothing is translated the provider's ids stay; the unified dialect and Bedrock have our own always."""
    with Upstream(dialect, Say(calls=(CALL,))).standing():
        response = await answer_of(dialect, await gateway()(asking(dialect, MODELS[dialect], **WEATHER[dialect])))
    (call,) = response.tool_calls
    assert call.id.startswith("call_il") == (dialect in ("unified", "bedrock"))


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic", "unified"])
@pytest.mark.parametrize("upstream", ["openai-chat", "openai-responses", "anthropic"])
async def test_r27_pieces_of_arguments_are_passed_on_as_they_come(dialect: str, upstream: str) -> None:
    """Where both sides have pieces the client gets them as such, not one whole text at the end."""
    with Upstream(upstream, Say(calls=(Call("get_weather", {"city": "Oslo", "days": 7}),))).standing():
        events = await events_of(
            dialect, await gateway()(asking(dialect, MODELS[upstream], stream=True, **WEATHER[dialect]))
        )
    pieces = [event.arguments for event in events if isinstance(event, il.ToolCallDelta)]
    assert len(pieces) > 1
    assert decode_any("".join(pieces)) == {"city": "Oslo", "days": 7}


THINKS: dict[str, dict[str, Any]] = {
    "openai-chat": {"reasoning_effort": "high"},
    "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 4000},
    "ollama": {"think": True},
}
"""How clients that have no word for showing thoughts ask for thinking."""


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", THINKS)
async def test_thoughts_of_gemini_are_asked_for_where_the_client_has_no_word_for_it(dialect: str, stream: bool) -> None:
    """A thought comes from Gemini where thinking is asked for; where it is not, Gemini is not asked to show it."""
    with Upstream("google").standing() as upstream:
        served = gateway()
        whole = await served(asking(dialect, MODELS["google"], stream=stream, **THINKS[dialect]))
        if stream:
            end = (await events_of(dialect, whole))[-1]
            assert isinstance(end, il.StreamEnd)
            response = end.response
        else:
            response = await answer_of(dialect, whole)
        await body_of(await served(asking(dialect, MODELS["google"], stream=stream)))
    asked, plain = [decode_any(request.body).get("generationConfig", {}) for request in upstream.requests]
    assert response.thinking == "Let me see."
    assert asked["thinkingConfig"]["includeThoughts"] is True
    assert "thinkingConfig" not in plain


@pytest.mark.parametrize(("shown", "said"), [(None, None), (False, False)])
async def test_a_google_client_says_itself_whether_thoughts_are_shown(shown: bool | None, said: bool | None) -> None:
    """To a client that has the word nothing is added."""
    told = {"thinkingBudget": 2000} if shown is None else {"thinkingBudget": 2000, "includeThoughts": shown}
    with Upstream("google").standing() as upstream:
        reply = await gateway()(asking("google", MODELS["google"], generationConfig={"thinkingConfig": told}))
        await body_of(reply)
    thinking = decode_any(upstream.requests[-1].body)["generationConfig"]["thinkingConfig"]
    assert thinking.get("includeThoughts") is said


# Errors before anything was answered


@every_client
@pytest.mark.parametrize("stream", [False, True])
async def test_sse_14_an_upstream_that_refuses_is_no_200(dialect: str, stream: bool) -> None:
    """The status line waits for the first upstream event: a refusal has its status and the client's own error body."""
    with Upstream(_other(dialect), Fail(401), Fail(401)).standing():
        reply = await gateway()(asking(dialect, MODELS[_other(dialect)], stream=stream))
        error = await _error_of(dialect, reply)
    assert reply.status == (403 if dialect == "bedrock" else 401)
    assert isinstance(error, il.AuthenticationError)


@every_client
async def test_sse_14_an_error_in_the_first_event_is_no_200(dialect: str) -> None:
    """A stream that begins with its error is an error reply, not a stream."""
    with Upstream("anthropic", spoil=lambda _: [OVERLOADED]).standing():
        reply = await gateway()(asking(dialect, MODELS["anthropic"], stream=True))
    assert reply.status in (503, 529)
    assert isinstance(reply.body, bytes)


OVERLOADED = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'


@every_client
async def test_rtr_02_a_chain_goes_on_until_the_first_event(dialect: str) -> None:
    """The first target's refusal of a stream is no business of the client: the second one answers."""
    chain = f"{MODELS['anthropic']},anthropic/claude-haiku-4-5"
    with Upstream("anthropic", models=frozenset({"claude-haiku-4-5"})).standing():
        reply = await gateway()(asking(dialect, chain, stream=True))
        events = await events_of(dialect, reply)
    assert isinstance(events[-1], il.StreamEnd)
    assert header_of(reply, "x-interlingua-target") == "anthropic/claude-haiku-4-5"
    assert header_of(reply, "x-interlingua-skipped") == "anthropic/claude-opus-4-5 (failed: NotFoundError)"


@every_client
async def test_out_13_after_a_failover_there_is_one_start(dialect: str) -> None:
    """What a target said before its first content is forgotten with it: the stream of the next one stands alone."""
    begun_only = [b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_dead"}}\n\n', OVERLOADED]
    answers = iter([begun_only, begun_only])

    def spoil(frames: list[bytes]) -> list[bytes]:
        return next(answers, frames)

    chain = f"{MODELS['anthropic']},anthropic/claude-haiku-4-5"
    with Upstream("anthropic", spoil=spoil).standing():
        data = await body_of(await gateway()(asking(dialect, chain, stream=True)))
    assert b"msg_dead" not in data
    assert data.count(b"message_start") <= 2  # in its event's name and in its type
    assert data.count(b"response.created") <= 2
    assert data.count(b'"role":"assistant"') <= 2 if dialect == "ollama" else True


# The end of a stream


@every_client
@pytest.mark.parametrize("same", [False, True])
async def test_sse_15_a_cut_upstream_ends_in_the_dialects_own_error(dialect: str, same: bool) -> None:
    """Never in a clean end: what came is followed by the error that the client's SDK knows, and nothing else."""
    upstream = dialect if same else _other(dialect)
    say = Say(text="One two three four five six seven eight nine ten eleven twelve.")
    with Upstream(upstream, Cut(say, after=6)).standing():
        reply = await gateway()(asking(dialect, MODELS[upstream], stream=True))
        events = await events_of(dialect, reply)
    assert reply.status == 200
    end = events[-1]
    assert isinstance(end, il.StreamError)
    assert end.error in ("IncompleteStreamError", "InternalServerError", "UpstreamError", "APIConnectionError")
    assert end.partial is not None
    assert end.partial.text.startswith("One")


BROKEN = Say(text="Wait.", calls=(Call("get_weather", text='{"city": "Os'),))
BY_TEXT = ("openai-chat", "openai-responses")
"""Upstreams that tell arguments as text, whole answers included; in Anthropic's streams they are text as well."""


@pytest.mark.parametrize("dialect", TONGUES)
@pytest.mark.parametrize("upstream", BY_TEXT)
async def test_r48_broken_arguments_of_a_whole_answer_are_a_502(dialect: str, upstream: str) -> None:
    """Relayed and translated alike; the error names the call."""
    with Upstream(upstream, *[BROKEN] * 4).standing():
        reply = await gateway()(asking(dialect, MODELS[upstream], **WEATHER[dialect]))
    assert reply.status == (500 if dialect == "bedrock" else 502)  # whose exceptions have no 502
    assert b"get_weather" in await body_of(reply)


@pytest.mark.parametrize("dialect", TONGUES)
@pytest.mark.parametrize("upstream", [*BY_TEXT, "anthropic", "bedrock"])
async def test_r48_broken_arguments_of_a_stream_are_an_error_in_place_of_the_finish(
    dialect: str, upstream: str
) -> None:
    """Relayed and translated alike: the client's stream has no finish, but the dialect's own error."""
    with Upstream(upstream, *[BROKEN] * 4).standing():
        data = await body_of(await gateway()(asking(dialect, MODELS[upstream], stream=True, **WEATHER[dialect])))
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    events = [*decoder.feed(data), *decoder.close()]
    assert isinstance(events[-1], il.StreamError)
    assert b"get_weather" in data
    stops = (b'"stop_reason":"tool_use"', b'"stopReason":"tool_use"')
    finishes = (b'"finish_reason":"tool_calls"', *stops, b"response.completed", b"[DONE]")
    assert dialect == "unified" or not any(finish in data for finish in finishes)  # its error has what came


async def test_out_11_calls_and_the_finish_agree() -> None:
    """A finish of tool calls never comes without calls."""
    with Upstream("anthropic", Say(calls=(CALL,))).standing():
        reply = await gateway()(asking("openai-chat", MODELS["anthropic"], **WEATHER["openai-chat"]))
        body: Any = decode_any(await body_of(reply))
    assert body["choices"][0]["finish_reason"] == "tool_calls"
    assert len(body["choices"][0]["message"]["tool_calls"]) == 1


# Headers


@every_client
@pytest.mark.parametrize("same", [False, True])
async def test_sse_25_and_26_streams_are_neither_cached_buffered_nor_compressed(dialect: str, same: bool) -> None:
    """Every event stream says so to whatever stands between us and the client, whatever encodings that one accepts."""
    upstream = dialect if same else _other(dialect)
    with Upstream(upstream).standing():
        asked = asking(dialect, MODELS[upstream], stream=True, headers={"accept-encoding": "gzip, br, zstd"})
        reply = await gateway()(asked)
        await body_of(reply)
    assert header_of(reply, "cache-control") == "no-cache, no-transform"
    assert header_of(reply, "x-accel-buffering") == "no"
    assert header_of(reply, "content-encoding") is None
    assert header_of(reply, "content-type") == stream_type(dialect)


@every_client
async def test_use_18_limits_and_retry_after_are_told_as_the_client_knows_them(dialect: str) -> None:
    """A provider's limits arrive under the names that the client's SDK reads, on errors and on answers."""
    limited = HttpReply(
        status=429,
        headers=(("retry-after", "7"), ("x-ratelimit-limit-requests", "60"), ("x-ratelimit-remaining-requests", "0")),
        body=b'{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}',
    )
    with _scripted([limited] * 4):
        reply = await gateway()(asking(dialect, MODELS["openai-chat"]))
    assert reply.status == 429
    assert header_of(reply, "retry-after") == "7"
    prefix = "anthropic-ratelimit-requests-{}" if dialect == "anthropic" else "x-ratelimit-{}-requests"
    assert header_of(reply, prefix.format("limit")) == "60"
    assert header_of(reply, prefix.format("remaining")) == "0"


def _scripted(lines: list[Any]) -> Any:
    """Replies from a script in the place of every target."""
    from interlingua.transport.override import Override, overriding
    from interlingua.transport.replay import AsyncReplayTransport, ReplayTransport

    awaited = AsyncReplayTransport(*lines)
    return overriding(Override(lambda _: ReplayTransport(), lambda _: awaited, answers=True))


async def test_what_was_changed_is_told_in_a_header() -> None:
    """The header names each change; strict refuses instead, with the same words."""
    with Upstream("anthropic").standing():
        asked = asking("openai-chat", MODELS["anthropic"], max_tokens=50, seed=7)
        reply = await gateway()(asked)
        strict = await gateway()(
            asking("openai-chat", MODELS["anthropic"], seed=7, max_tokens=50, headers={"x-interlingua-strict": "1"})
        )
    assert header_of(reply, "x-interlingua-changes") == "dropped parameter_unsupported /seed"
    assert strict.status == 400
    assert b"seed" in await body_of(strict)


async def test_the_request_id_is_the_clients_or_a_new_one() -> None:
    """An id that the client brings comes back; one that could break out of a header does not."""
    with Upstream("openai-chat").standing():
        reply = await gateway()(asking("openai-chat", MODELS["openai-chat"], headers={"x-request-id": "mine-7"}))
        other = await gateway()(asking("openai-chat", MODELS["openai-chat"], headers={"x-request-id": "a b\r\nx: y"}))
    assert header_of(reply, "x-request-id") == header_of(reply, "request-id") == "mine-7"
    made = header_of(other, "x-request-id")
    assert made is not None
    assert made.startswith("req_il")


@pytest.mark.parametrize("upstream", ["google", "anthropic"])
@pytest.mark.parametrize("is_cut", [False, True])
async def test_a_google_client_may_want_its_stream_as_one_array(upstream: str, is_cut: bool) -> None:
    """Without `alt=sse` the body is one JSON array, also when it ends in an error."""
    say = Say(text="One two three four five six seven.")
    with Upstream(upstream, Cut(say, after=4) if is_cut else say).standing():
        asked = asking("google", MODELS[upstream], stream=True)
        reply = await gateway()(GatewayRequest(path=asked.path, body=asked.body, peer=asked.peer))
        frames: Any = decode_any(await body_of(reply))
    assert header_of(reply, "content-type") == "application/json"
    assert "candidates" in frames[0]
    assert ("error" in frames[-1]) is is_cut


async def test_the_policy_of_an_alias_orders_its_targets(tmp_path: Path) -> None:
    """A weight of a thousand to one asks the second target first."""
    path = tmp_path / "gateway.toml"
    targets = '["anthropic/one", "anthropic/two"]'
    rule = f'{{ targets = {targets}, policy = "weighted", weights = [1, 9999999] }}'
    path.write_text(f"[aliases]\nboth = {rule}\n", encoding="utf-8")
    made = gateway()
    made.registry.load_config(path)
    with Upstream("anthropic").standing():
        reply = await made(asking("openai-chat", "both"))
    assert header_of(reply, "x-interlingua-target") == "anthropic/two"


# Limits towards targets


async def test_a_limit_of_tokens_is_kept_beforehand_without_reading_the_body() -> None:
    """A body that goes out as it came counts by its size while its call is under way; nobody reads it for that."""
    made = gateway()
    http = asking("openai-chat", MODELS["openai-chat"], "word " * 700, stream=True)
    tokens = round(len(http.body) / 3.5)
    with Upstream("openai-chat", Say(text="Hello")).standing():
        limit("openai-chat/*", tpm=1_000_000)
        asked = await made.parts.conversations.read_exchange(http, "openai-chat")
        assert ((await call_of(asked)).input_tokens, asked.is_read) == (tokens, False)
        other = await made.parts.conversations.read_exchange(asking("openai-chat", MODELS["anthropic"]), "openai-chat")
        assert ((await call_of(other)).input_tokens, other.is_read) == (None, True)
        reply = await made(http)
        assert limiter().loads()["openai-chat/*"].tokens == tokens
        await body_of(reply)
