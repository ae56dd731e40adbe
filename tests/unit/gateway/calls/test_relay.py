"""Bodies that go out as they came: what is changed of them, what goes along, and what is held back of the answer."""

from __future__ import annotations

import re
from typing import Any

import pytest

import interlingua as il
from interlingua.client.call.values import CallTarget
from interlingua.dialects._contract import DecodeContext, Encoded, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.gateway.calls.passing_stream import PassedStream
from interlingua.gateway.http import GatewayRequest
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import Call, Cut, Fail, Say, Upstream
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from interlingua.wire.json import decode_any
from tests.support.gateway import MODELS, answer_of, asking, body_of, events_of, gateway, header_of

SAME = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere")
"""Dialects whose bodies are relayed; the unified one has ids of our own always."""


def _sent(path: str, body: bytes, **headers: str) -> GatewayRequest:
    given = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return GatewayRequest(path=path, body=body, headers=given, peer="127.0.0.1")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            b'{ "messages":[{"role":"user","content":"\\u00e9t\\u00e9"}],\n "model" : "openai-chat/gpt-4.1","n":1e0 }',
            b'{ "messages":[{"role":"user","content":"\\u00e9t\\u00e9"}],\n "model" : "gpt-4.1","n":1e0 }',
        ),
        (
            b'{"model":"openai-chat/gpt-4.1","messages":[{"role":"user","content":"\\"model\\""}],"new":{"a":1.0}}',
            b'{"model":"gpt-4.1","messages":[{"role":"user","content":"\\"model\\""}],"new":{"a":1.0}}',
        ),
        (  # as Python writes it, and another member with the same text
            b'{"user": "openai-chat/gpt", "model": "openai-chat/gpt", "messages": [{"role":"user","content":"Hi"}]}',
            b'{"user": "openai-chat/gpt", "model": "gpt", "messages": [{"role":"user","content":"Hi"}]}',
        ),
        (  # a member of that name deeper down is not the one
            b'{"model":"openai-chat/gpt-4.1", "messages":[{"role":"user","content":"Hi"}], "a":{"model":1, "n":1.50}}',
            b'{"model":"gpt-4.1", "messages":[{"role":"user","content":"Hi"}], "a":{"model":1, "n":1.50}}',
        ),
        (  # the name is found however it is written
            b'{"messages":[{"role":"user","content":"Hi"}],"mod\\u0065l":"openai-chat/gpt-4.1"}',
            b'{"messages":[{"role":"user","content":"Hi"}],"mod\\u0065l":"gpt-4.1"}',
        ),
    ],
)
async def test_only_the_models_name_is_changed_of_a_body(body: bytes, expected: bytes) -> None:
    """Spaces, escapes, numbers and members that nobody knows stay as they were written."""
    with Upstream("openai-chat").standing() as upstream:
        reply = await gateway()(_sent("/v1/chat/completions", body))
        await body_of(reply)
    assert upstream.requests[0].body == expected


@pytest.mark.parametrize("dialect", SAME)
@pytest.mark.parametrize("stream", [False, True])
async def test_the_answer_is_the_providers_own(dialect: str, stream: bool) -> None:
    """Whole and streamed, byte for byte what the upstream said."""
    say = Say(text="It is 4 degrees.", calls=(Call("get_weather", {"city": "Oslo"}),))
    said: list[bytes] = []
    with Upstream(dialect, say, spoil=_listening(said)).standing():
        got = await body_of(await gateway()(asking(dialect, MODELS[dialect], stream=stream)))
    assert got == b"".join(said)


def _listening(said: list[bytes]) -> Any:
    """Spoils nothing, and keeps what an upstream says."""

    def listen(frames: list[bytes]) -> list[bytes]:
        said.extend(frames)
        return frames

    return listen


async def test_of_the_headers_only_those_of_the_dialect_go_along() -> None:
    """The client's credential, cookies and other people's headers end here; betas and versions belong to the body."""
    headers = {
        "x-api-key": "the-clients-own",
        "authorization": "Bearer the-clients-own",
        "cookie": "a=b",
        "x-forwarded-for": "10.0.0.1",
        "anthropic-beta": "context-management-2025-06-27",
        "anthropic-version": "2023-06-01",
        "user-agent": "claude-cli/9",
    }
    asked = asking("anthropic", MODELS["anthropic"], headers=headers, context_management={"edits": []})
    with Upstream("anthropic").standing() as upstream:
        await body_of(await gateway()(asked))
    sent = dict(upstream.requests[0].headers)
    assert sent["anthropic-beta"] == "context-management-2025-06-27"
    assert "the-clients-own" not in repr(upstream.requests[0].headers)
    assert not {"cookie", "x-forwarded-for", "x-api-key", "authorization"} & set(sent)


async def test_the_beta_query_goes_along_and_no_other() -> None:
    """The official SDK asks its beta endpoints so."""
    asked = asking("anthropic", MODELS["anthropic"])
    query = GatewayRequest(path=asked.path, query="beta=true&key=secret", body=asked.body, peer="127.0.0.1")
    with Upstream("anthropic").standing() as upstream:
        await body_of(await gateway()(query))
    assert upstream.requests[0].url == "https://api.anthropic.com/v1/messages?beta=true"


async def test_par_01_a_member_that_the_target_does_not_know_stays_at_home() -> None:
    """Claude Code's own members do not break a server that speaks Messages without betas; strict says so instead."""
    environ = {"LLM_OTHER": "anthropic://t@127.0.0.1:9/v1?tls=0"}
    beta = {"anthropic-beta": "context-management-2025-06-27"}
    own: dict[str, Any] = {"edits": []}
    with Upstream("anthropic").standing() as upstream:
        reply = await gateway(environ)(asking("anthropic", "other/m", headers=beta, context_management=own))
        await body_of(reply)
        strict = {"x-interlingua-strict": "1", **beta}
        refused = await gateway(environ)(asking("anthropic", "other/m", headers=strict, context_management=own))
    body: Any = decode_any(upstream.requests[0].body)
    assert "context_management" not in body
    assert "anthropic-beta" not in dict(upstream.requests[0].headers)
    assert header_of(reply, "x-interlingua-changes") == (
        "dropped parameter_unsupported /extra/anthropic/context_management"
    )
    assert refused.status == 400
    assert len(upstream.requests) == 1


async def test_par_01_words_of_other_servers_are_told_in_the_targets_own() -> None:
    """A member that one server of the dialect taught its clients is translated for one that does not know it."""
    with Upstream("openai-chat").standing() as upstream:
        asked = asking("openai-chat", "openai-chat/gpt-5.1", reasoning={"effort": "low"}, max_completion_tokens=9)
        reply = await gateway()(asked)
        await body_of(reply)
    body: Any = decode_any(upstream.requests[0].body)
    assert reply.status == 200
    assert body["reasoning_effort"] == "low"
    assert "reasoning" not in body


@pytest.mark.parametrize(
    ("members", "field"),
    [({"max_completion_tokens": 9}, "max_tokens"), ({"max_tokens": 9}, "max_tokens")],
)
async def test_compatible_servers_get_the_words_that_they_know(members: dict[str, Any], field: str) -> None:
    """A server with the older name of the limit gets it under that name."""
    with Upstream("openai-chat").standing() as upstream:
        await body_of(await gateway()(asking("openai-chat", "together/m", **members)))
    body: Any = decode_any(upstream.requests[0].body)
    assert body[field] == 9
    assert "max_completion_tokens" not in body


async def test_a_chain_may_relay_to_its_first_target_and_translate_for_the_second() -> None:
    """Both are tries of one chain; the client sees one answer in its own dialect."""
    chain = f"{MODELS['openai-chat']},{MODELS['anthropic']}"
    first = Upstream("openai-chat", *[Fail(503)] * 4)
    second = Upstream("anthropic", "From the second.")
    with first.serving() as at, second.serving() as other:
        environ = {"LLM_A": f"openai-chat://k@{at[7:]}/v1?tls=0", "LLM_B": f"anthropic://k@{other[7:]}/v1?tls=0"}
        made = gateway(environ)
        whole = await made(asking("openai-chat", "a/gpt-4.1,b/claude-opus-4-5"))
        answer = await answer_of("openai-chat", whole)
        streamed = await made(asking("openai-chat", "a/gpt-4.1,b/claude-opus-4-5", stream=True))
        events = await events_of("openai-chat", streamed)
    assert chain
    assert answer.text == "From the second."
    assert header_of(whole, "x-interlingua-target") == "b/claude-opus-4-5"
    assert isinstance(events[-1], il.StreamEnd)
    assert b'"max_completion_tokens"' not in first.requests[0].body


async def test_a_history_with_turns_of_ours_is_translated() -> None:
    """Ids that we made are no provider's: the body is told anew instead of going out as it came."""
    call = {"id": "call_ilabcdefghijklmnopqrstuv", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": "4"},
    ]
    with Upstream("openai-chat").standing() as upstream:
        reply = await gateway()(asking("openai-chat", MODELS["openai-chat"], messages=messages))
        await body_of(reply)
    assert reply.status == 200
    assert upstream.requests[0].body.startswith(b'{"model":"gpt-4.1","messages":')


async def test_our_ids_outside_of_the_history_change_nothing() -> None:
    """What a client keeps under an id of ours is its own business: the body goes out as it came."""
    with Upstream("openai-chat").standing() as upstream:
        asked = asking("openai-chat", MODELS["openai-chat"], user="call_ilabcdefghijklmnopqrstuv")
        await body_of(await gateway()(asked))
    assert upstream.requests[0].body == asked.body.replace(b"openai-chat/gpt-4.1", b"gpt-4.1")


async def test_use_18_limits_of_a_relayed_answer_are_passed_on_as_they_are() -> None:
    """The headers of the provider's limits keep their names and values; no other header of its comes through."""
    said: list[bytes] = []
    with Upstream("openai-chat", spoil=_listening(said)).standing():
        await body_of(await gateway()(asking("openai-chat", MODELS["openai-chat"])))
    headers = (
        ("content-type", "application/json"),
        ("x-ratelimit-remaining-tokens", "149984"),
        ("openai-organization", "secret-org"),
        ("set-cookie", "a=b"),
        ("x-request-id", "req_theirs"),
    )
    script = AsyncReplayTransport(Line(pieces=tuple(said), headers=headers))
    with overriding(Override(lambda _: ReplayTransport(), lambda _: script, answers=True)):
        reply = await gateway()(asking("openai-chat", MODELS["openai-chat"]))
    assert header_of(reply, "x-ratelimit-remaining-tokens") == "149984"
    assert {"openai-organization", "set-cookie"} & {name for name, _ in reply.headers} == set()
    assert header_of(reply, "x-request-id") != "req_theirs"


@pytest.mark.parametrize("said", ["text/plain", None])
@pytest.mark.parametrize("dialect", SAME)
async def test_a_relayed_answer_is_json_whatever_its_server_calls_it(dialect: str, said: str | None) -> None:
    """SDKs go by the type: one that reads `text/plain` hands its caller a text in the place of the answer."""
    bodies: list[bytes] = []
    with Upstream(dialect, spoil=_listening(bodies)).standing():
        usual = await gateway()(asking(dialect, MODELS[dialect]))
    headers = () if said is None else (("content-type", said),)
    script = AsyncReplayTransport(Line(pieces=tuple(bodies), headers=headers))
    with overriding(Override(lambda _: ReplayTransport(), lambda _: script, answers=True)):
        reply = await gateway()(asking(dialect, MODELS[dialect]))
    charset = "; charset=utf-8" if dialect == "ollama" else ""
    assert header_of(reply, "content-type") == header_of(usual, "content-type") == f"application/json{charset}"


@pytest.mark.parametrize("ending", [b"\n\n", b"\r\n\r\n", b"\r\r", b""])
@pytest.mark.parametrize("cut", [64, 1_000, 70_001])
def test_a_frame_of_many_pieces_is_copied_once(cut: int, ending: bytes) -> None:
    """A large event comes as it was sent, wherever it is cut and however it ends; so does what follows."""
    target = _target("openai-chat")
    encoded = Encoded(path="/chat/completions", body=b"{}")
    stream = PassedStream(target, encoded, (), target.dialect.stream_decoder(DecodeContext()))
    form = (
        b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
        b'"choices":[{"index":0,"delta":{"content":"%b"}}]}'
    )
    frames = [form % b"One", form % (b"A" * 140_000), form % b"two"]
    data = ending.join(frames) + ending if ending else frames[1]
    events = [event for at in range(0, len(data), cut) for event in stream.fed(data[at : at + cut])]
    texts = [event.text for event in events if type(event) is il.TextDelta]
    assert texts == (["One", "A" * 140_000, "two"] if ending else [])
    assert stream.take_bytes(ServerContext) == (data if ending else b"")


@pytest.mark.parametrize("cut", [1, 7, 64, 100_000])
async def test_frames_are_passed_on_whole_however_they_are_cut(cut: int) -> None:
    """Whatever the network does to a stream, the client gets the same bytes, and only whole frames at a time."""
    say = Say(text="Zürich, 東京, 🙂.", calls=(Call("get_weather", {"city": "Oslo"}),))

    def pieces(frames: list[bytes]) -> list[bytes]:
        data = b"".join(frames)
        return [data[at : at + cut] for at in range(0, len(data), cut)]

    with Upstream("anthropic", say, spoil=pieces).standing():
        reply = await gateway()(asking("anthropic", MODELS["anthropic"], stream=True))
        assert not isinstance(reply.body, bytes)
        got = [piece async for piece in reply.body]
    with Upstream("anthropic", say).standing():
        expected = await body_of(await gateway()(asking("anthropic", MODELS["anthropic"], stream=True)))
    assert b"".join(got) == expected
    assert all(piece.endswith(b"\n\n") for piece in got)


async def test_a_chat_stream_always_ends_with_its_marker() -> None:
    """A finish without `[DONE]` is an end; the client gets both."""

    def without(frames: list[bytes]) -> list[bytes]:
        return [frame for frame in frames if b"[DONE]" not in frame]

    with Upstream("openai-chat", spoil=without).standing():
        data = await body_of(await gateway()(asking("openai-chat", MODELS["openai-chat"], stream=True)))
    assert data.endswith(b"\n\ndata: [DONE]\n\n")
    assert data.count(b"[DONE]") == 1


async def test_a_server_that_cannot_stream_is_told_as_a_stream() -> None:
    """A whole answer where a stream was asked for becomes one, in the client's dialect."""
    said: list[bytes] = []
    with Upstream("openai-chat", spoil=_listening(said)).standing():
        await body_of(await gateway()(asking("openai-chat", MODELS["openai-chat"])))

    def unstreamed(frames: list[bytes]) -> list[bytes]:
        return said

    with Upstream("openai-chat", spoil=unstreamed).standing():
        reply = await gateway()(asking("openai-chat", MODELS["openai-chat"], stream=True))
        events = await events_of("openai-chat", reply)
    assert isinstance(events[-1], il.StreamEnd)
    assert events[-1].response.text == "Hello from the strict upstream."


@pytest.mark.parametrize("after", range(2, 14))
async def test_out_07_numbers_go_on_when_a_relayed_stream_breaks(after: int) -> None:
    """The error that we add to a provider's stream has the numbers that follow, wherever it is cut."""
    say = Say(text="One two three four five six seven eight nine ten eleven twelve.")
    with Upstream("openai-responses", Cut(say, after=after)).standing():
        reply = await gateway()(asking("openai-responses", MODELS["openai-responses"], stream=True))
        data = await body_of(reply)
    numbers = [int(number) for number in re.findall(rb'"sequence_number":(\d+)', data)]
    if reply.status == 200:
        assert numbers == list(range(len(numbers)))
        assert b"response.failed" in data


def _target(dialect: str) -> CallTarget:
    return CallTarget(Registry({}).resolve(MODELS[dialect], client=dialect)[0], get_dialect(dialect))
