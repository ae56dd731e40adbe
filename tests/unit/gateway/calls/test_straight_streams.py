"""A stream that is asked for straight away is the one that the steps of a chain come to."""

from __future__ import annotations

import re
from typing import Any

import pytest

from interlingua.client.call.job import Job
from interlingua.gateway.calls import exchange
from interlingua.testing.upstream import Cut, Fail, Say, Upstream
from tests.support.gateway import MODELS, asking, body_of, gateway

EVENT = b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1"}}\n\n'
PING = b'event: ping\ndata: {"type":"ping"}\n\n'
OVERLOADED = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
OURS = re.compile(rb"(req|call|chatcmpl)[_-]il[0-9a-z]+|\"created\":\d+")
"""Names and times that differ in any two answers."""
UPSTREAMS: dict[str, tuple[Any, ...]] = {
    "text": (Say(text="One two three."),),
    "nothing": (Say(text=""),),
    "cut": (Cut(Say(text="One two three four five six."), after=5),),
    "cut at once": (Cut(Say(text="One two three."), after=0),),
    "refused": (Fail(401), Fail(401)),
    "busy, then well": (Fail(529), Say(text="One two.")),
    "busy": tuple([Fail(529)] * 8),
}


async def _told(client: str, upstream: Upstream, model: str) -> tuple[int, list[tuple[str, str]], bytes]:
    with upstream.standing():
        reply = await gateway()(asking(client, model, stream=True))
        headers = [pair for pair in reply.headers if not pair[0].endswith("request-id")]
        return reply.status, headers, OURS.sub(b"", await body_of(reply))


def _never(job: Job) -> None:
    """No target may be asked straight away."""


async def _both(
    monkeypatch: pytest.MonkeyPatch, client: str, model: str, make: Any
) -> tuple[tuple[int, list[tuple[str, str]], bytes], ...]:
    """What a client is told without the steps, and with them."""
    short = await _told(client, make(), model)
    with monkeypatch.context() as patched:
        patched.setattr(exchange, "straight", _never)
        return short, await _told(client, make(), model)


@pytest.mark.parametrize("case", UPSTREAMS)
@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
async def test_both_forms_tell_the_same(monkeypatch: pytest.MonkeyPatch, client: str, case: str) -> None:
    """Translated and passed on: status, headers and every byte."""
    short, long = await _both(monkeypatch, client, MODELS["anthropic"], lambda: Upstream("anthropic", *UPSTREAMS[case]))
    assert short == long


@pytest.mark.parametrize(
    "frames", [[PING, EVENT, OVERLOADED], [OVERLOADED], [PING], [], [b"<html>Hi</html>"], [b'{"type":"message"}']]
)
@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
async def test_beginnings_that_are_none_go_on_in_the_steps(
    monkeypatch: pytest.MonkeyPatch, client: str, frames: list[bytes]
) -> None:
    """An error before any content, a page, an answer that is whole, and nothing at all."""
    short, long = await _both(
        monkeypatch, client, MODELS["anthropic"], lambda: Upstream("anthropic", spoil=lambda _: frames)
    )
    assert short == long
