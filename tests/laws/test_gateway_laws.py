"""What holds for every stream through the gateway, however its upstream is cut: the same bytes, no false end."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import interlingua as il
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.testing.conformance.session import TONGUES
from interlingua.testing.upstream import Call, Say, Upstream
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from tests.support.gateway import MODELS, asking, body_of, gateway

SAY = Say(text="Zürich, 東京 and 🙂.", calls=(Call("get_weather", {"city": "Ås"}),))
TYPES = {"ollama": "application/x-ndjson"}
_said: dict[str, bytes] = {}


def _stream_of(upstream: str) -> bytes:
    """The whole stream of one upstream, as it came once."""
    if upstream not in _said:
        frames: list[bytes] = []

        def listen(given: list[bytes]) -> list[bytes]:
            frames.extend(given)
            return given

        async def ask() -> None:
            await body_of(await gateway()(asking(upstream, MODELS[upstream], stream=True)))

        with Upstream(upstream, SAY, spoil=listen).standing():
            asyncio.run(ask())
        _said[upstream] = b"".join(frames)
    return _said[upstream]


def _told(client: str, upstream: str, pieces: list[bytes]) -> bytes:
    """What a client gets when the upstream says these pieces, and no more."""
    headers = (("content-type", TYPES.get(upstream, "text/event-stream")),)

    async def ask() -> bytes:
        made = gateway()
        reply = await made(asking(client, MODELS[upstream], stream=True))
        return await body_of(reply)

    line = Line(pieces=tuple(pieces), headers=headers, times=None)
    script = AsyncReplayTransport(line)
    with overriding(Override(lambda _: ReplayTransport(), lambda _: script, answers=True)):
        return asyncio.run(ask())


def _events(client: str, data: bytes) -> list[Any]:
    decoder = get_dialect(client).stream_decoder(DecodeContext())
    return [*decoder.feed(data), *decoder.close()]


def _cut(data: bytes, places: list[int]) -> list[bytes]:
    at = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [piece for piece in (data[a:b] for a, b in pairwise(at)) if piece]


@pytest.mark.parametrize("upstream", TONGUES)
@settings(max_examples=12)
@given(places=st.lists(st.integers(0, 10_000), max_size=12))
def test_sse_04_a_relayed_stream_is_the_same_however_it_is_cut(upstream: str, places: list[int]) -> None:
    """The client's bytes are the provider's bytes, wherever the network cuts them, in the middle of a character too."""
    if upstream in ("unified", "bedrock"):  # never relayed: our ids, and binary frames (record 0089)
        return
    data = _stream_of(upstream)
    assert _told(upstream, upstream, _cut(data, places)) == data


@settings(max_examples=30)
@given(places=st.lists(st.integers(0, 10_000), max_size=12), ending=st.sampled_from([b"\r\n", b"\r"]))
def test_sse_04_other_line_ends_are_passed_on_as_they_are(places: list[int], ending: bytes) -> None:
    """CRLF and CR end lines as well, also when a cut goes through one; frames are passed on once they are whole."""
    data = _stream_of("anthropic").replace(b"\n", ending)
    assert _told("anthropic", "anthropic", _cut(data, places)) == data


@pytest.mark.parametrize("upstream", TONGUES)
@pytest.mark.parametrize(
    "client", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified"]
)
@settings(max_examples=8)
@given(end=st.integers(1, 100_000), places=st.lists(st.integers(0, 10_000), max_size=3))
def test_sse_10_a_stream_that_is_cut_short_never_looks_whole(
    client: str, upstream: str, end: int, places: list[int]
) -> None:
    """Where the provider's end did not come, the client gets an error: as a status, or as its dialect's own event."""
    data = _stream_of(upstream)
    cut = data[: 1 + end % (len(data) - 1)]
    told = _events(client, _told(client, upstream, _cut(cut, places)))
    ended = _events(upstream, cut)
    is_whole = isinstance(ended[-1], il.StreamEnd)
    if is_whole:
        assert isinstance(told[-1], il.StreamEnd)
        assert [(call.name, call.arguments) for call in told[-1].response.tool_calls] == [
            (call.name, call.arguments) for call in ended[-1].response.tool_calls
        ]
    else:
        assert not isinstance(told[-1], il.StreamEnd)
