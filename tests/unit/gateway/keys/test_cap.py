"""The cap of a key with limits: the most that an answer may have goes out with the call, in the words of its target."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlingua.gateway.calls.plan import make_call
from interlingua.gateway.core import Gateway
from interlingua.gateway.hooks import HookSettings
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.budget import used_of
from interlingua.gateway.keys.cap import tier_of
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.policy import PolicySettings
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import Say, Upstream
from interlingua.wire.json import decode_any
from tests.support.gateway import asking, body_of, header_of
from tests.support.greedy import GreedyUpstream
from tests.unit.gateway.keys.test_admission import BROKEN, TOOLS

NOON = 1_795_348_800.0
KEY = "sk-il-0123456789abcdef0123456789abcdef0123456789abcdef"
SCHEMES = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "google": "google",
    "ollama": "ollama",
    "cohere": "cohere",
    "bedrock": "bedrock",
    "compatible": "openai-compatible",
}
Where = Callable[[Any], Any]
WHERE: dict[str, Where] = {
    "openai-chat": lambda body: body.get("max_completion_tokens"),
    "openai-responses": lambda body: body.get("max_output_tokens"),
    "anthropic": lambda body: body.get("max_tokens"),
    "google": lambda body: body.get("generationConfig", {}).get("maxOutputTokens"),
    "ollama": lambda body: body.get("options", {}).get("num_predict"),
    "cohere": lambda body: body.get("max_tokens"),
    "bedrock": lambda body: body.get("inferenceConfig", {}).get("maxTokens"),
}
"""Where a dialect says how long an answer may get."""


def keyed(dialect: str, budget: str = "1M tokens", *, priced: bool = False, **terms: Any) -> Gateway:
    """A gateway with one key and one provider of a dialect."""
    price = "&price_in=10&price_out=100" if priced else ""
    environ = {"LLM_WORK": f"{SCHEMES[dialect]}://token@127.0.0.1:1?tls=0{price}"}
    settings = terms.pop("settings", {})
    made = Terms(budgets=(read_budget(budget),) if budget else (), **terms)
    key = GatewayKey(name="a", hash=hash_key(KEY), terms=made)
    return Gateway(GatewaySettings(keys=(key,), **settings), registry=Registry(environ), now=lambda: NOON)


def asked(dialect: str, **members: Any) -> Any:
    """The request of a client, with whatever the helper would bound it by taken out."""
    return asking(dialect, "work/m", headers={"x-api-key": KEY}, **members)


async def spent(made: Gateway, budget: str = "1000M tokens") -> tuple[int, int]:
    """How much is used in all, and how much is reserved."""
    (account,) = await made.admission.accounts.accounts(["key:a"])
    assert account is not None
    return used_of(account, read_budget(budget), NOON)


def sent(upstream: Upstream) -> Any:
    """The body of the last request to a provider."""
    return decode_any(upstream.requests[-1].body)


def bounded(dialect: str, limit: Any) -> dict[str, Any]:
    """The members by which a client of a dialect bounds its answer."""
    return {
        "openai-chat": {"max_completion_tokens": limit},
        "openai-responses": {"max_output_tokens": limit},
        "anthropic": {"max_tokens": limit},
        "google": {"generationConfig": {"maxOutputTokens": limit, "temperature": 0.5}},
        "ollama": {"options": {"num_predict": limit, "temperature": 0.5}},
        "cohere": {"max_tokens": limit},
        "bedrock": {"inferenceConfig": {"maxTokens": limit, "temperature": 0.5}},
    }[dialect]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", [name for name in WHERE if name != "anthropic"])
async def test_mon_02_who_names_no_limit_gets_the_default_of_the_key(dialect: str, stream: bool) -> None:
    """8,192 tokens go out in the member that the target knows, and the answer says so."""
    made = keyed(dialect)
    with Upstream(dialect).standing() as upstream:
        reply = await made(asked(dialect, stream=stream))
        await body_of(reply)
    assert reply.status == 200
    assert WHERE[dialect](sent(upstream)) == 8_192
    assert "parameter_added /max_tokens" in (header_of(reply, "x-interlingua-changes") or "").replace(
        "approximated ", ""
    )


@pytest.mark.parametrize("dialect", WHERE)
async def test_a_limit_is_lowered_to_what_is_left_of_the_budget(dialect: str) -> None:
    """Passed on byte for byte but for that number; the other members of its object stay."""
    made = keyed(dialect, "700 tokens")
    with Upstream(dialect).standing() as upstream:
        reply = await made(asked(dialect, **bounded(dialect, 5_000)))
    assert reply.status == 200
    cap = WHERE[dialect](sent(upstream))
    assert 600 < cap < 700
    for name in ("generationConfig", "options"):
        assert sent(upstream).get(name, {"temperature": 0.5})["temperature"] == 0.5


@pytest.mark.parametrize("dialect", WHERE)
async def test_a_limit_that_fits_goes_out_as_it_came(dialect: str) -> None:
    """Not a byte is changed, and nothing is said."""
    made = keyed(dialect)
    with Upstream(dialect).standing() as upstream:
        reply = await made(asked(dialect, **bounded(dialect, 300)))
    assert WHERE[dialect](sent(upstream)) == 300
    assert header_of(reply, "x-interlingua-changes") is None


@pytest.mark.parametrize("limit", [0, -1, None, "many", [5]])
async def test_a_limit_that_says_nothing_is_none(limit: Any) -> None:
    """Some servers take 0 or -1 for no limit: what goes out is the default of the key."""
    made = keyed("ollama", default_max_tokens=123)
    with Upstream("ollama").standing() as upstream:
        await made(asked("ollama", options={"num_predict": limit}))
    assert upstream.requests == [] or WHERE["ollama"](sent(upstream)) == 123


@pytest.mark.parametrize(("client", "target"), [("openai-chat", "anthropic"), ("google", "openai-chat")])
async def test_a_translated_request_has_the_cap_too(client: str, target: str) -> None:
    """It is the limit of the request that is translated."""
    made = keyed(target, default_max_tokens=77)
    with Upstream(target).standing() as upstream:
        reply = await made(asked(client))
    assert reply.status == 200
    assert WHERE[target](sent(upstream)) == 77
    assert "/max_tokens" in (header_of(reply, "x-interlingua-changes") or "")


async def test_choices_share_what_is_left_and_the_default() -> None:
    """Four answers get a quarter each."""
    made = keyed("openai-chat")
    with Upstream("openai-chat").standing() as upstream:
        await made(asked("openai-chat", n=4))
        assert WHERE["openai-chat"](sent(upstream)) == 2_048
    made = keyed("openai-chat", "1000 tokens")
    with Upstream("openai-chat").standing() as upstream:
        await made(asked("openai-chat", n=4, max_completion_tokens=5_000))
        assert 200 < WHERE["openai-chat"](sent(upstream)) <= 250


async def test_money_that_is_left_is_a_cap() -> None:
    """0.05 dollars at 100 dollars a million are 500 tokens."""
    made = keyed("openai-chat", "0.05 USD", priced=True)
    with Upstream("openai-chat").standing() as upstream:
        assert (await made(asked("openai-chat", max_tokens=5_000))).status == 200
    assert 450 < sent(upstream)["max_tokens"] < 500


async def test_a_minute_is_a_cap() -> None:
    """A call is no longer than the tokens of a whole minute."""
    made = keyed("openai-chat", "", tpm=1_000)
    with Upstream("openai-chat").standing() as upstream:
        assert (await made(asked("openai-chat"))).status == 200
    assert 900 < WHERE["openai-chat"](sent(upstream)) < 1_000


async def test_a_model_that_writes_less_gets_less() -> None:
    """Claude 3 Opus writes 4,096 tokens at most, and its provider refuses a limit above that."""
    environ = {"LLM_ANTHROPIC": "anthropic://token@127.0.0.1:1?tls=0"}
    key = GatewayKey(name="a", hash=hash_key(KEY), terms=Terms(budgets=(read_budget("1M tokens"),)))
    made = Gateway(GatewaySettings(keys=(key,)), registry=Registry(environ), now=lambda: NOON)
    with Upstream("anthropic").standing() as upstream:
        for client in ("openai-chat", "anthropic"):
            request = asking(client, "anthropic/claude-3-opus-20240229", headers={"x-api-key": KEY}, max_tokens=9_000)
            assert (await made(request)).status == 200
            assert sent(upstream)["max_tokens"] == 4_096


async def test_thinking_that_does_not_fit_is_a_budget_error_of_ours() -> None:
    """Its provider would answer 400 to a limit below the budget for thinking."""
    made = keyed("anthropic", "2000 tokens")
    thinking = {"type": "enabled", "budget_tokens": 4_000}
    with Upstream("anthropic").standing() as upstream:
        reply = await made(asked("anthropic", max_tokens=8_000, thinking=thinking))
    assert (reply.status, upstream.requests) == (402, [])
    assert b"its thinking alone is to have 4,000; ask for less thinking" in await body_of(reply)


async def test_thinking_without_a_limit_has_room_beside_the_default() -> None:
    """Gemini thinks within the limit of its answer."""
    made = keyed("google", default_max_tokens=1_000)
    config = {"thinkingConfig": {"thinkingBudget": 4_000}}
    with Upstream("google").standing() as upstream:
        assert (await made(asked("google", generationConfig=config))).status == 200
    assert WHERE["google"](sent(upstream)) == 5_000


@pytest.mark.parametrize("limit", [10**6, 1e6, "1000000", None])
async def test_a_client_of_converse_has_the_cap_however_it_says_its_limit(limit: Any) -> None:
    """A number, a fraction, a text or nothing: what goes out is what is left of the budget."""
    made = keyed("anthropic", "700 tokens")
    with Upstream("anthropic").standing() as upstream:
        reply = await made(asked("bedrock", inferenceConfig={"maxTokens": limit}))
    assert reply.status == 200
    assert 600 < WHERE["anthropic"](sent(upstream)) < 700


async def test_thinking_of_a_client_of_converse_counts() -> None:
    """It stands beside the object of the limit: room beside the default, and a refusal where none is left."""
    fields = {"thinking": {"type": "enabled", "budget_tokens": 4_000}}
    with Upstream("anthropic").standing() as upstream:
        made = keyed("anthropic", default_max_tokens=1_000)
        assert (await made(asked("bedrock", additionalModelRequestFields=fields))).status == 200
        assert WHERE["anthropic"](sent(upstream)) == 5_000
        reply = await keyed("anthropic", "2000 tokens")(asked("bedrock", additionalModelRequestFields=fields))
    assert (reply.status, len(upstream.requests)) == (403, 1)  # as AWS tells billing
    assert b"its thinking alone is to have 4,000; ask for less thinking" in await body_of(reply)


async def test_mon_01_the_background_is_refused_to_a_key_with_a_budget() -> None:
    """What such an answer costs is known only after it; a key without such limits may ask for it."""
    made = keyed("openai-responses")
    with Upstream("openai-responses").standing() as upstream:
        reply = await made(asked("openai-responses", background=True))
        assert (reply.status, upstream.requests) == (400, [])
        assert b"background: the key a has limits of tokens or money" in await body_of(reply)
        assert (await made(asked("openai-responses", background=False))).status == 200
        assert (await keyed("openai-responses", "", rpm=5)(asked("openai-responses", background=True))).status == 200
    assert await spent(made) != (0, 0)


async def test_a_key_without_such_limits_has_no_cap() -> None:
    """Requests and calls at a time count no tokens: the body goes out as it came."""
    made = keyed("openai-chat", "", rpm=5, concurrency=1)
    with Upstream("openai-chat").standing() as upstream:
        await made(asked("openai-chat"))
    assert WHERE["openai-chat"](sent(upstream)) is None


async def test_a_stream_is_counted_though_its_client_asks_for_no_counts() -> None:
    """Reasoning that nobody sees is billed: the counts are asked for, charged, and kept from the client."""
    made = keyed("openai-chat")
    say = Say(text="Hello", input_tokens=20, output_tokens=900)
    with Upstream("openai-chat", say, say, say).standing() as upstream:
        text = await body_of(await made(asked("openai-chat", stream=True)))
        assert sent(upstream)["stream_options"] == {"include_usage": True}
        assert (b"900" in text, text.endswith(b"data: [DONE]\n\n")) == (False, True)
        assert await spent(made) == (920, 0)
        text = await body_of(await made(asked("openai-chat", stream=True, stream_options={"include_usage": True})))
        assert b'"completion_tokens":900' in text.replace(b" ", b"")
        free = keyed("openai-chat", "", rpm=5)
        await body_of(await free(asked("openai-chat", stream=True)))
        assert "stream_options" not in sent(upstream)


# Many at once


@pytest.mark.parametrize("members", [{}, {"max_tokens": 3_000}, {"n": 3}, {"n": 2, "max_tokens": 900}], ids=str)
@pytest.mark.parametrize("is_file", [False, True])
async def test_mon_02_sixty_four_clients_stay_within_a_budget(
    tmp_path: Path, members: dict[str, Any], is_file: bool
) -> None:
    """Whatever they ask for, and however often they come again, whole and streamed."""
    settings = {"key_file": str(tmp_path / "keys.sqlite")} if is_file else {}
    made = keyed("openai-chat", "100000 tokens", settings=settings)

    async def client(number: int) -> int:
        count = 0
        for turn in range(3):
            reply = await made(asked("openai-chat", stream=(number + turn) % 2 == 0, **members))
            await body_of(reply)
            count += reply.status == 200
        return count

    with GreedyUpstream().standing():
        served = await asyncio.gather(*[client(number) for number in range(64)])
        for _ in range(200):
            if (await made(asked("openai-chat", **members))).status != 200:
                break
    used, reserved = await spent(made)
    assert reserved == 0
    assert 90_000 < used <= 100_000
    assert sum(served) > 0
    await made.close()


async def test_sixty_four_clients_of_a_large_budget_run_side_by_side() -> None:
    """A million tokens have room for all of them at once."""
    made = keyed("openai-chat", "1M tokens")
    with GreedyUpstream().standing():
        replies = await asyncio.gather(*[made(asked("openai-chat")) for _ in range(64)])
    assert {reply.status for reply in replies} == {200}


# Counts that cannot be true, and tries that were paid for


@pytest.mark.parametrize(
    ("read", "written", "least", "most"),
    [(20, 10**20, 100, 220), (10**20, 30, 31, 100), (-500, 30, 31, 100), (20, -500, 21, 100)],
    ids=["output", "input", "negative-input", "negative-output"],
)
@pytest.mark.parametrize("is_file", [False, True])
async def test_mon_03_counts_that_cannot_be_true_charge_what_can(
    tmp_path: Path, read: int, written: int, least: int, most: int, is_file: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """They are said in the log, pay nothing back, and the key goes on."""
    settings = {"key_file": str(tmp_path / "keys.sqlite")} if is_file else {}
    made = keyed("openai-chat", "100000 tokens", settings=settings)
    with Upstream(
        "openai-chat",
        Say(text="Hello", input_tokens=read, output_tokens=written),
        Say(text="x", input_tokens=2, output_tokens=3),
    ).standing():
        assert (await made(asked("openai-chat", max_tokens=150))).status == 200
        used, reserved = await spent(made)
        assert reserved == 0
        assert least <= used <= most
        assert (await made(asked("openai-chat", max_tokens=150))).status == 200
    assert await spent(made) == (used + 5, 0)
    assert "work/m counted tokens that cannot be true" in caplog.text
    await made.close()


@pytest.mark.parametrize(("limit", "status", "asked_upstream"), [(850, 402, 1), (700, 200, 2)])
async def test_a_try_after_one_that_was_paid_for_is_reserved_anew(limit: int, status: int, asked_upstream: int) -> None:
    """Broken arguments are billed: the next target is asked only where the budget has room for both."""
    made = keyed("compatible", "1000 tokens")
    with Upstream("openai-chat", BROKEN, Say(text="Hello", input_tokens=50, output_tokens=5)).standing() as upstream:
        members: dict[str, Any] = {"max_tokens": limit, "tools": TOOLS["openai-chat"]}
        reply = await made(asking("openai-chat", "work/m,work/n", headers={"x-api-key": KEY}, **members))
    assert (reply.status, len(upstream.requests)) == (status, asked_upstream)
    assert await spent(made) == (120 if status == 402 else 175, 0)
    rows = await made.admission.accounts.used("a")
    assert sum(row.requests for row in rows) == 1


FOREIGN: list[dict[str, Any]] = [
    {"n_predict": 90_000},
    {"n_predict": -1},
    {"max_tokens": 50, "n_predict": 90_000},
    {"max_tokens": 50, "n_predict": -1},
    {"max_completion_tokens": 50, "num_predict": -1},
    {"max_tokens": 50, "max_new_tokens": "90000"},
    {"max_tokens": 50, "options": {"num_predict": 90_000, "top_k": 3}},
    {"max_tokens": 50, "extra_body": {"n_predict": 90_000}},
    {"max_tokens": 50, "parameters": {"max_new_tokens": 90_000}},
]


def limits_in(body: Any) -> list[Any]:
    """Every limit of an answer in a body, wherever it stands."""
    names = {"n_predict", "num_predict", "max_new_tokens", "max_tokens", "max_completion_tokens"}
    inner = [value for name, value in body.items() if name in ("options", "parameters", "extra_body")]
    return [each for within in (body, *inner) for name, each in within.items() if name in names]


@pytest.mark.parametrize("policy", [False, True], ids=["passed on", "read"])
@pytest.mark.parametrize("members", FOREIGN, ids=str)
async def test_a_limit_in_a_word_of_another_server_beats_no_cap(members: dict[str, Any], policy: bool) -> None:
    """llama.cpp takes `n_predict` before `max_tokens`: what goes out has no limit above the key's, in no member."""
    settings = {"hooks": HookSettings(policy=PolicySettings(max_messages=9))} if policy else {}
    made = keyed("compatible", "900 tokens", settings=settings)
    with Upstream("openai-chat").standing() as upstream:
        await made(asked("openai-chat", **members))  # OpenAI itself refuses these words; what it got is what counts
    limits = limits_in(sent(upstream))
    assert limits
    assert all(type(limit) is int and 0 < limit < 900 for limit in limits)
    assert sent(upstream).get("options", {"top_k": 3})["top_k"] == 3


async def test_the_policy_of_a_gateway_holds_for_words_of_other_servers() -> None:
    """`[policy] max_tokens` bounds what a server takes for the limit."""
    settings = {"hooks": HookSettings(policy=PolicySettings(max_tokens=100))}
    made = keyed("compatible", "", settings=settings)
    with Upstream("openai-chat").standing() as upstream:
        await made(asked("openai-chat", max_tokens=50, n_predict=90_000, options={"num_predict": 90_000}))
    assert limits_in(sent(upstream)) == [50]


async def test_choices_in_a_word_of_another_server_count() -> None:
    """llama.cpp takes `n_cmpl` before `n`: the cap is divided by the larger number."""
    made = keyed("compatible", "900 tokens")
    with Upstream("openai-chat").standing() as upstream:
        await made(asked("openai-chat", n=1, n_cmpl=8))
    assert all(limit <= 900 // 8 for limit in limits_in(sent(upstream)))


TIERS: dict[str, dict[str, Any]] = {
    "openai-chat": {"service_tier": "priority"},
    "openai-responses": {"service_tier": "priority"},
    "google": {"serviceTier": "priority"},
    "bedrock": {"serviceTier": {"type": "priority"}},
}
"""The members by which a client of a dialect asks for a dearer tier of service."""


@pytest.mark.parametrize("dialect", TIERS)
async def test_the_tier_of_a_body_that_goes_out_as_it_came_is_known(dialect: str) -> None:
    """Its price is that of the tier, whatever the dialect calls the member; without one nobody reads the body."""
    made = keyed(dialect)
    exchange = await made.parts.conversations.read_exchange(asked(dialect, **TIERS[dialect]), dialect)
    assert tier_of(exchange, await make_call(exchange)) == "priority"
    plain = await made.parts.conversations.read_exchange(asked(dialect), dialect)
    call = await make_call(plain)
    is_read = plain.is_read
    assert (tier_of(plain, call), plain.is_read) == (None, is_read)
