"""Answers that pause for tools of the provider: the gateway goes on with them for clients that know no pause."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.gateway.calls.pauses import MAX_CONTINUATIONS
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.memory import MemoryAccounts
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.http import HttpReply
from tests.support.gateway import answer_of, asking, body_of, gateway, header_of

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
KEY = "sk-il-0123456789abcdef0123456789abcdef0123456789abcdef"


def _said(stop: str, *content: dict[str, Any], tokens: tuple[int, int] = (3, 2)) -> Line:
    """A whole answer of Anthropic."""
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": stop,
        "stop_sequence": None, "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
    }  # fmt: skip
    return Line(pieces=(json.dumps(body).encode(),))


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
    """It is gone on with so many times, and told as cut off then."""
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
