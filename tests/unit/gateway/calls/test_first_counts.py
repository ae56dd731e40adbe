"""Streams for Anthropic clients begin with the input tokens: those that are known, else an estimate."""

from __future__ import annotations

import json
from typing import Any

from interlingua.routing.estimate import estimate_body
from interlingua.testing.upstream import Upstream
from tests.support.gateway import asking, body_of, gateway


async def _counts(upstream: str, model: str) -> tuple[int, Any, Any]:
    """How long the request's body is in tokens, and the counts at the start and at the end of the stream."""
    asked = asking("anthropic", model, stream=True)
    with Upstream(upstream, "Hello.").standing():
        raw = await body_of(await gateway()(asked))
    told = [json.loads(frame.partition(b"data: ")[2]) for frame in raw.split(b"\n\n")[:-1]]
    start = next(event["message"] for event in told if event["type"] == "message_start")
    end = next(event for event in told if event["type"] == "message_delta")
    return estimate_body(asked.body), start["usage"], end["usage"]


async def test_r64_what_nobody_has_counted_yet_is_estimated() -> None:
    """A Chat server counts at the end: its numbers are in the last counts."""
    estimate, start, end = await _counts("openai-chat", "openai-chat/gpt-4.1")
    assert (start["input_tokens"], start["output_tokens"]) == (estimate, 0)
    assert (end["input_tokens"], end["output_tokens"]) == (20, 10)


async def test_r64_what_is_counted_is_no_estimate() -> None:
    """Google counts in its first event; Anthropic's own start goes out as it came."""
    _, start, end = await _counts("google", "google/gemini-2.5-pro")
    assert start["input_tokens"] == end["input_tokens"]
    estimate, start, _ = await _counts("anthropic", "anthropic/claude-opus-4-5")
    assert start["input_tokens"] != estimate
