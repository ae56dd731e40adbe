"""What keys with limits pay for calls whose use nobody tells: late ones, and those that are passed on unread."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.errors import APIConnectionError, APITimeoutError
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.keys.terms import read_budget
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.json import encode
from tests.support.gateway import asking, body_of
from tests.unit.gateway.keys.test_admission import KEY, TOTAL, asked, keyed, memory, used

ENVIRON = {"LLM_WORK": "openai-compatible://token@127.0.0.1:1?tls=0"}
MODEL = {"model": "work/m"}


def _over(script: Script) -> Override:
    awaited = AsyncReplayTransport(script=script)
    return Override(lambda _: ReplayTransport(script=script), lambda _: awaited)


def _passed(path: str, body: bytes, kind: str = "application/json") -> GatewayRequest:
    headers = (("x-api-key", KEY), ("content-type", kind))
    return GatewayRequest(path=path, headers=headers, body=body, peer="127.0.0.1")


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("phase", ["first_byte", "idle", "total"])
async def test_a_call_that_is_late_is_charged_as_it_was_reserved(dialect: str, stream: bool, phase: Any) -> None:
    """Its provider had the request and may have written, each time that it was asked."""
    made = keyed(environ=ENVIRON, budgets=(TOTAL,))
    script = Script(Line(refuse=APITimeoutError("late", phase=phase), times=None))
    with overriding(_over(script)):
        assert (await made(asked(dialect, stream=stream, max_tokens=400))).status == 504
    tokens, reserved, _ = await used(made)
    tries = len(script.requests)
    assert reserved == 0
    assert 400 < tokens / tries < 450
    assert sum(row.input_tokens for row in memory(made).rows) == tokens
    assert [row.requests for row in memory(made).rows].count(1) == 1


@pytest.mark.parametrize(
    "error", [APITimeoutError("no", phase="connect"), APITimeoutError("no", phase="pool"), APIConnectionError("no")]
)
async def test_a_call_that_nobody_got_costs_nothing(error: Exception) -> None:
    """A connection that was not made, or broke before an answer."""
    made = keyed(environ=ENVIRON, budgets=(TOTAL,))
    with overriding(_over(Script(Line(refuse=error, times=None)))):
        assert (await made(asked("openai-chat", max_tokens=400))).status >= 500
    assert await used(made) == (0, 0, 0)


@pytest.mark.parametrize(
    ("path", "body", "kind", "tokens"),
    [
        ("/v1/completions", encode({**MODEL, "prompt": "Hi", "max_tokens": 50, "n": 3}), "application/json", 165),
        ("/v1/completions", encode({**MODEL, "prompt": "Hi", "max_tokens": 50, "best_of": 4}), "application/json", 217),
        ("/v1/images/generations", encode({**MODEL, "prompt": "Hi"}), "application/json", 8_201),
        (
            "/v1/audio/transcriptions",
            b'--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nwork/m\r\n--x--' + bytes(50_000),
            "multipart/form-data; boundary=x",
            8_192 + 100,
        ),
    ],
)
async def test_what_is_passed_on_unread_counts_for_the_minute(path: str, body: bytes, kind: str, tokens: int) -> None:
    """Its body, and the answer that it may have; it counted nothing for a key with a limit of tokens alone."""
    made = keyed(environ=ENVIRON, tpm=tokens)
    with overriding(_over(Script(Line(pieces=(b"{}",), times=None)))):
        reply = await made(_passed(path, body, kind))
        assert reply.status == 200
        await body_of(reply)
        assert (await used(made))[0] == tokens
        assert (await made(_passed(path, body, kind))).status == 429


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/batches", {"input_file_id": "file-1", "endpoint": "/v1/chat/completions", "completion_window": "24h"}),
        ("/v1/messages/batches", {"requests": [{"custom_id": "a", "params": {"model": "m", "max_tokens": 9}}]}),
    ],
)
@pytest.mark.parametrize("terms", [{"tpm": 1_000}, {"budgets": (read_budget("1M tokens"),)}])
async def test_a_batch_is_refused_to_a_key_that_limits_tokens(path: str, body: dict[str, Any], terms: Any) -> None:
    """What it uses stands in a file, or is known a day later."""
    settings = {"providers": ("work", "claude")}
    environ = {**ENVIRON, "LLM_CLAUDE": "anthropic://token@127.0.0.1:1?tls=0"}
    reply = await keyed(environ=environ, settings=settings, **terms)(_passed(path, encode(body)))
    assert reply.status == 403
    assert b"what this request uses of it is not known" in await body_of(reply)


async def test_what_is_passed_on_and_late_is_charged() -> None:
    """A completion that did not come in time counts as it was reserved."""
    made = keyed(environ=ENVIRON, tpm=100_000)
    with overriding(_over(Script(Line(refuse=APITimeoutError("late", phase="first_byte"), times=None)))):
        body = encode({**MODEL, "prompt": "Hi", "max_tokens": 50, "n": 3})
        assert (await made(_passed("/v1/completions", body))).status == 504
    assert (await used(made))[0] == 165


async def test_a_call_without_limits_pays_nothing_for_being_late() -> None:
    """There is no reservation that it could be charged with."""
    made = keyed(environ=ENVIRON, rpm=10)
    with overriding(_over(Script(Line(refuse=APITimeoutError("late", phase="idle"), times=None)))):
        assert (await made(asking("openai-chat", "work/m", headers={"x-api-key": KEY}))).status == 504
    assert (await used(made))[0] == 0
