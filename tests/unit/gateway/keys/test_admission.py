"""What a key may now, at the gateway: limits, budgets, expiry, and what is told in every client's dialect."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.batches import Batches, Outcome, Waiting
from interlingua.gateway.keys.budget import Refusal, used_of
from interlingua.gateway.keys.database import KeyDatabase
from interlingua.gateway.keys.memory import MemoryAccounts
from interlingua.gateway.keys.operations import Enter, Leave
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.testing.conformance.session import TONGUES
from interlingua.testing.upstream import Call as UpstreamCall
from interlingua.testing.upstream import Cut, Fail, Say, Upstream
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import decode_any, encode
from tests.support.gateway import asking, body_of, events_of, header_of

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()
KEY = "sk-il-0123456789abcdef0123456789abcdef0123456789abcdef"
TOTAL = read_budget("1000000 tokens")
MONEY = read_budget("1000 USD")
PRICED = {"LLM_WORK": "anthropic://token@127.0.0.1:1?tls=0&price_in=10&price_out=100"}
LONGEST: dict[str, dict[str, Any]] = {
    "openai-chat": {"max_tokens": 400},
    "openai-responses": {"max_output_tokens": 400},
    "anthropic": {"max_tokens": 400},
    "google": {"generationConfig": {"maxOutputTokens": 400}},
    "ollama": {"options": {"num_predict": 400}},
    "cohere": {"max_tokens": 400},
    "bedrock": {"inferenceConfig": {"maxTokens": 400}},
    "unified": {"max_tokens": 400},
}
"""How a client of each dialect bounds its answer."""
every_client = pytest.mark.parametrize("dialect", TONGUES)


class Clock:
    """A wall clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at_s = NOON

    def __call__(self) -> float:
        """Unix seconds."""
        return self.at_s


def keyed(
    clock: Clock | None = None,
    *,
    environ: dict[str, str] | None = None,
    settings: dict[str, Any] | None = None,
    **key: Any,
) -> Gateway:
    """A gateway with one key, the terms of which are given; its targets have prices unless `environ` says others."""
    terms = {name: key.pop(name) for name in ("rpm", "tpm", "concurrency", "budgets") if name in key}
    made = GatewayKey(name="team-a", hash=hash_key(KEY), terms=Terms(**terms), **key)
    registry = Registry(PRICED if environ is None else environ)
    return Gateway(GatewaySettings(keys=(made,), **(settings or {})), registry=registry, now=clock or Clock())


def asked(dialect: str = "anthropic", model: str = "work/m", key: str = KEY, **members: Any) -> GatewayRequest:
    """What a client with the key asks."""
    return asking(dialect, model, headers={"x-api-key": key}, **members)


def memory(made: Gateway) -> MemoryAccounts:
    """The accounts of a gateway in memory."""
    assert isinstance(made.admission.accounts, MemoryAccounts)
    return made.admission.accounts


async def used(made: Gateway, name: str = "key:team-a") -> tuple[int, int, int]:
    """Tokens used, tokens reserved, and billionths of a dollar used, in all."""
    (account,) = await made.admission.accounts.accounts([name])
    assert account is not None
    (tokens, reserved), (money, _) = used_of(account, TOTAL, NOON), used_of(account, MONEY, NOON)
    return tokens, reserved, money


async def error_of(dialect: str, reply: GatewayReply) -> il.Error:
    """An error, as our own client of `dialect` reads it."""
    whole = HttpReply(status=reply.status, headers=reply.headers, body=await body_of(reply))
    return get_dialect(dialect).decode_error(whole, DecodeContext())


# Limits of a minute


@every_client
async def test_a_request_too_many_is_a_429_with_the_limit_and_its_reset(dialect: str) -> None:
    """The client's own SDK reads a rate limit with the seconds to wait, and the sentence names limit and reset."""
    clock = Clock()
    made = keyed(clock, rpm=1)
    with Upstream("anthropic").standing():
        assert (await made(asked(dialect))).status == 200
        clock.at_s += 20
        reply = await made(asked(dialect))
        error = await error_of(dialect, reply)
        assert (reply.status, header_of(reply, "retry-after")) == (429, "40")
        assert isinstance(error, il.RateLimitError)
        assert error.retry_after_s == 40
        assert "the key team-a may have 1 requests a minute, and they are used up; it may come again in 40 s" in str(
            error
        )
        name = "anthropic-ratelimit-requests-limit" if dialect == "anthropic" else "x-ratelimit-limit-requests"
        assert header_of(reply, name) == "1"
        clock.at_s += 40
        assert (await made(asked(dialect))).status == 200


async def test_calls_at_a_time_are_bounded_until_a_stream_has_ended() -> None:
    """A stream holds its place until it is read or left, and gives it back once."""
    made = keyed(concurrency=1)
    with Upstream("anthropic", *[Say(text="one two three")] * 4).standing():
        first = await made(asked(stream=True))
        assert (await made(asked())).status == 429
        await events_of("anthropic", first)
        second = await made(asked(stream=True))
        assert not isinstance(second.body, bytes)
        assert (await made(asked())).status == 429
        await second.body.aclose()
        assert (await made(asked())).status == 200


# Budgets


async def test_a_budget_is_reserved_before_a_call_and_settled_after_it() -> None:
    """What is charged at the end is what the provider counted, not what was reserved."""
    made = keyed(budgets=(read_budget("10000 tokens"), read_budget("1 USD")))
    with Upstream("anthropic", Say(text="Hello", input_tokens=100, output_tokens=20)).standing():
        assert (await made(asked())).status == 200
    assert await used(made) == (120, 0, 1_000_000 + 2_000_000)


@every_client
async def test_a_budget_that_is_used_up_is_told_with_what_is_left(dialect: str) -> None:
    """402 (or what the dialect has for it), with the amount, what the call would take, and when it begins anew."""
    made = keyed(budgets=(read_budget("0.05 USD/day"),))
    with Upstream("anthropic", Say(text="Hello", input_tokens=10, output_tokens=499)).standing():
        assert (await made(asked(max_tokens=400))).status == 200
        reply = await made(asked(dialect, **LONGEST[dialect]))
    assert reply.status == {"google": 403, "bedrock": 403}.get(dialect, 402)
    error = await error_of(dialect, reply)
    assert isinstance(error, il.BillingError)
    assert "the key team-a has a budget of 0.05 USD/day; this call may use up to 0.04" in str(error)
    assert "with 0.00 USD left; it begins anew at 2026-11-23T00:00:00Z" in str(error)
    assert error.retry_after_s in (43_200, None)


@pytest.mark.parametrize(("budget", "status"), [("2200 tokens", 200), ("1900 tokens", 200), ("1200 tokens", 402)])
async def test_a_body_is_read_only_where_its_bytes_are_too_much(budget: str, status: int) -> None:
    """7,000 letters are about 2,000 tokens by their bytes, and about 1,500 by their text, which has the last word."""
    made = keyed(budgets=(read_budget(budget),))
    with Upstream("anthropic").standing():
        assert (await made(asked(text="word " * 1_400, max_tokens=100))).status == status


async def test_an_unknown_price_is_refused_where_money_is_limited() -> None:
    """What cannot be counted cannot be limited; the sentence says what to configure."""
    environ = {"LLM_WORK": "anthropic://token@127.0.0.1:1?tls=0"}
    reply = await keyed(environ=environ, budgets=(read_budget("1 USD"),))(asked())
    error = await error_of("anthropic", reply)
    assert isinstance(error, il.PermissionDeniedError)
    assert "the price of work/m is not known: configure it (?price_in=…&price_out=… in its DSN" in str(error)
    with Upstream("anthropic").standing():
        assert (await keyed(environ=environ, budgets=(TOTAL,))(asked())).status == 200


@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_without_an_answer_costs_nothing(stream: bool) -> None:
    """The reservation is given back, and the day knows of a failure."""
    made = keyed(budgets=(TOTAL,))
    with Upstream("anthropic", Fail(400)).standing():
        assert (await made(asked(stream=stream))).status == 400
    assert await used(made) == (0, 0, 0)
    (row,) = memory(made).rows
    assert row == Row(key="team-a", day="2026-11-22", model="", requests=1, failed=1)


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat"])
async def test_a_client_that_leaves_pays_for_what_came(dialect: str) -> None:
    """Relayed or translated: what had come is estimated and charged, not the whole reservation, and not nothing."""
    made = keyed(budgets=(TOTAL, MONEY))
    words = " ".join(["word"] * 500)
    with Upstream("anthropic", Say(text=words, input_tokens=50, output_tokens=500)).standing():
        reply = await made(asked(dialect, stream=True, max_tokens=4_000))
        assert not isinstance(reply.body, bytes)
        async with aclosing(reply.body) as pieces:
            async for _ in pieces:
                break
    tokens, reserved, money = await used(made)
    assert reserved == 0
    assert 50 <= tokens < 2_000
    assert money > 0


async def test_a_stream_that_was_never_taken_gives_its_reservation_back() -> None:
    """A reply whose body nobody began is settled when it is closed."""
    made = keyed(budgets=(TOTAL,), concurrency=1)
    with Upstream("anthropic").standing():
        reply = await made(asked(stream=True))
        assert not isinstance(reply.body, bytes)
        await reply.body.aclose()
    assert (await used(made))[1] == 0


async def test_a_stream_that_breaks_is_charged_for_what_came() -> None:
    """A cut stream was paid for as far as it came."""
    made = keyed(budgets=(TOTAL,))
    with Upstream("anthropic", Cut(Say(text="one two three four", input_tokens=50), after=5)).standing():
        await body_of(await made(asked(stream=True)))
    tokens, reserved, _ = await used(made)
    assert reserved == 0
    assert 50 <= tokens < 200


async def test_a_stream_whose_tokens_nobody_counts_is_estimated() -> None:
    """A Chat stream of a server that knows no include_usage has no counts; its text has."""
    price = "price_in=10&price_out=100"
    environ = {"LLM_WORK": f"openai-compatible://token@127.0.0.1:1?tls=0&stream_usage=0&{price}"}
    made = keyed(environ=environ, budgets=(TOTAL, MONEY))
    with Upstream("openai-chat", Say(text="word " * 300)).standing():
        await body_of(await made(asked("openai-chat", stream=True)))
    (row,) = memory(made).rows
    assert (row.estimated, row.failed, row.unpriced) == (1, 0, 0)
    assert 100 < row.output_tokens < 600
    assert (await used(made))[2] == row.nano_usd > 0


@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
async def test_a_count_below_nothing_gives_no_budget_back(client: str) -> None:
    """A server that counts wrong; what is told of its answer stays as it is."""
    environ = {"LLM_WORK": "openai-compatible://token@127.0.0.1:1?tls=0&price_in=10&price_out=100"}
    made = keyed(environ=environ, budgets=(TOTAL, MONEY))
    with Upstream("openai-chat", Say(text="Hello", input_tokens=-1_000_000, output_tokens=7)).standing():
        assert (await made(asked(client, max_tokens=100))).status == 200
    assert (await used(made))[:2] == (23, 0), "an input that nobody counted is estimated"
    assert (await used(made))[2] >= 0


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
async def test_no_output_beside_an_answer_is_not_believed(client: str, stream: bool) -> None:
    """A server that counts 0 for a long text; the text is estimated."""
    environ = {"LLM_WORK": "openai-compatible://token@127.0.0.1:1?tls=0&price_in=10&price_out=100"}
    made = keyed(environ=environ, budgets=(TOTAL, MONEY))
    with Upstream("openai-chat", Say(text="word " * 300, input_tokens=20, output_tokens=0)).standing():
        await body_of(await made(asked(client, max_tokens=2_000, stream=stream)))
    (row,) = memory(made).rows
    assert (row.input_tokens, row.estimated) == (20, 1)
    assert 100 < row.output_tokens < 600
    assert (await used(made))[2] == row.nano_usd == 20 * 10_000 + row.output_tokens * 100_000


@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
async def test_no_more_was_cached_than_was_read(client: str) -> None:
    """A cached count above the input is taken for all of the input."""
    price = "price_in=10&price_out=100&price_cached=1"
    environ = {"LLM_WORK": f"openai-compatible://token@127.0.0.1:1?tls=0&{price}"}
    made = keyed(environ=environ, budgets=(TOTAL, MONEY))
    usage = b'{"prompt_tokens":20,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5000}}'
    body = b'{%b,"choices":[%b],"usage":%b}' % (SAID, CHOICE, usage)
    awaited = AsyncReplayTransport(script=Told(body, JSON))
    with overriding(Override(lambda _: ReplayTransport(script=Bytes()), lambda _: awaited)):
        assert (await made(asked(client, max_tokens=100))).status == 200
    assert await used(made) == (23, 0, 20 * 1_000 + 3 * 100_000)


BROKEN = Say(calls=(UpstreamCall("get_weather", text='{"city": '),), input_tokens=100, output_tokens=20)
TOOL: dict[str, Any] = {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}
TOOLS: dict[str, Any] = {
    "openai-chat": [{"type": "function", "function": TOOL}],
    "anthropic": [{"name": "get_weather", "input_schema": {"type": "object", "properties": {}}}],
}


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
async def test_tries_that_failed_and_were_paid_for_are_charged(dialect: str) -> None:
    """Relayed or translated: the broken answer of a chain's first target counts beside the good one of its second."""
    environ = {"LLM_WORK": "openai-compatible://token@127.0.0.1:1?tls=0&price_in=10&price_out=100"}
    made = keyed(environ=environ, budgets=(TOTAL, MONEY))
    good = Say(text="Hello", input_tokens=50, output_tokens=5)
    with Upstream("openai-chat", BROKEN, good, BROKEN, BROKEN, BROKEN).standing():
        body: dict[str, Any] = {"tools": TOOLS[dialect], "max_tokens": 400}
        assert (await made(asked(dialect, "work/m,work/n", **body))).status == 200
        assert await used(made) == (175, 0, 1_000_000 + 2_000_000 + 500_000 + 500_000)
        assert (await made(asked(dialect, "work/m,work/n", **body))).status == 502
        assert await used(made) == (175 + 240, 0, 4_000_000 + 6_000_000)
        assert (await made(asked(dialect, "work/o", **body))).status == 502
    row = Row(key="team-a", day="2026-11-22", model="", requests=1, failed=1)
    broken = {"input_tokens": 100, "output_tokens": 20, "nano_usd": 3_000_000}
    assert await made.admission.accounts.used("team-a", "2026-11-22") == [
        row,
        msgspec.structs.replace(
            row, model="work/m", requests=0, failed=2, input_tokens=200, output_tokens=40, nano_usd=6_000_000
        ),
        msgspec.structs.replace(row, model="work/n", failed=1, input_tokens=150, output_tokens=25, nano_usd=4_000_000),
        msgspec.structs.replace(row, model="work/o", failed=0, **broken),
    ]


async def test_a_team_holds_all_of_its_keys_together() -> None:
    """Two keys of a team share its limit, and the sentence names the team."""
    other = "sk-il-" + "f" * 48
    keys = tuple(
        [GatewayKey(name=name, hash=hash_key(text), team="research") for name, text in (("a", KEY), ("b", other))]
    )
    settings = GatewaySettings(keys=keys, teams={"research": Terms(rpm=1)})
    made = Gateway(settings, registry=Registry(PRICED), now=Clock())
    with Upstream("anthropic").standing():
        assert (await made(asked())).status == 200
        reply = await made(asked(key=other))
    assert "the team research may have 1 requests a minute" in str(await error_of("anthropic", reply))


# Keys


async def test_a_key_that_has_expired_or_was_revoked_says_so() -> None:
    """Who has the key may know what became of it; who has another one learns nothing."""
    clock = Clock()
    made = keyed(clock, expires_s=NOON + 10)
    with Upstream("anthropic").standing():
        assert (await made(asked())).status == 200
    clock.at_s += 10
    reply = await made(asked())
    assert reply.status == 401
    assert "the key team-a expired at 2026-11-22T12:00:10Z" in str(await error_of("anthropic", reply))
    assert "this key is not known here" in str(await error_of("anthropic", await made(asked(key="sk-il-other"))))
    gone = await keyed(revoked_s=NOON)(asked())
    assert (gone.status, "the key team-a was revoked" in str(await error_of("anthropic", gone))) == (401, True)


async def test_a_key_sees_and_asks_for_its_models_alone() -> None:
    """Lists, questions and calls know what the key may use, and `*` is everything."""
    registry = Registry(PRICED)
    registry.register_alias("smart", "work/m")
    registry.register_alias("secret", "work/other")
    key = GatewayKey(name="team-a", hash=hash_key(KEY), models=("smart",))
    made = Gateway(GatewaySettings(keys=(key,)), registry=registry)
    listed = GatewayRequest(method="GET", path="/v1/models", headers=(("x-api-key", KEY),), peer="127.0.0.1")
    assert [each["id"] for each in decode_any(await body_of(await made(listed)))["data"]] == ["smart"]
    assert (await made(asked(model="secret"))).status == 403
    made.set_up(GatewaySettings(keys=(GatewayKey(name="team-a", hash=hash_key(KEY), models=("*",)),)))
    assert len(decode_any(await body_of(await made(listed)))["data"]) == 4


def test_sec_05_no_text_of_a_request_or_a_grant_holds_a_key() -> None:
    """Whoever prints or logs a value of the gateway shows no key."""
    made = keyed(rpm=5)
    request = msgspec.structs.replace(asked(), query=f"key={KEY}")
    assert repr(request) == f"<GatewayRequest POST /v1/messages, {len(request.body)} bytes>"
    key = made.guard.key(request)
    told = [repr(value) for value in (key, made.settings, made.guard.keys, made.guard, made.admission, made)]
    assert not [text for text in told if KEY in text]


async def test_every_digest_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A known and an unknown key take the same way, with one comparison each."""
    compared: list[tuple[bytes, bytes]] = []

    def compare(first: bytes, second: bytes) -> bool:
        compared.append((first, second))
        return first == second

    monkeypatch.setattr("interlingua.gateway.keys.keyring.hmac.compare_digest", compare)
    made = keyed()
    assert made.guard.key(asked()) is not None
    assert made.guard.key(asked(key="sk-il-wrong")) is None
    assert [len(first) == len(second) == 71 for first, second in compared] == [True, True]


# What is passed on, and what is counted


async def test_what_is_passed_on_is_refused_where_nobody_can_say_what_it_costs() -> None:
    """A budget has no back door: an image, whose tokens nobody knows, is refused; files are not billed by use."""
    environ = {"LLM_WORK": "openai-compatible://token@127.0.0.1:1?tls=0"}

    def request(path: str, kind: str = "application/json", method: str = "POST") -> GatewayRequest:
        return GatewayRequest(
            method=method,
            path=path,
            headers=(("x-api-key", KEY), ("content-type", kind)),
            body=encode({"model": "work/m", "input": "Hello"}) if method == "POST" else b"",
            peer="127.0.0.1",
        )

    money = keyed(environ=environ, budgets=(MONEY,))
    assert (await money(request("/v1/completions"))).status == 403
    assert (await money(request("/v1/images/generations"))).status == 403
    tokens = keyed(environ=environ, budgets=(read_budget("5 tokens"),))
    assert (await tokens(request("/v1/completions"))).status == 403
    assert (await tokens(request("/v1/images/generations", "multipart/form-data; boundary=x"))).status != 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/images/files", b'{"model":"work/m"}'),
        ("/v1beta/models/vertex/files/veo-3:predictLongRunning", b"{}"),
        ("/v1beta/models/vertex/x/moderations:predict", b"{}"),
    ],
)
async def test_a_word_in_the_name_of_a_model_makes_nothing_free(path: str, body: bytes) -> None:
    """The step behind the version says what is not billed: no other place of a path does."""
    environ = {"LLM_WORK": "openai-compatible://t@127.0.0.1:1?tls=0", "LLM_VERTEX": "google://t@127.0.0.1:1?tls=0"}
    made = keyed(environ=environ, budgets=(read_budget("5 USD"),))
    heads = (("x-api-key", KEY), ("content-type", "application/json"))
    reply = await made(GatewayRequest(path=path, headers=heads, body=body, peer="127.0.0.1"))
    assert reply.status == 403
    assert b"what this request uses of it is not known" in await body_of(reply)


class Bytes(Script):
    """A provider that answers everything with the same bytes."""

    def __init__(self, status: int = 200) -> None:
        """An answer with that status."""
        super().__init__()
        self.status = status

    def answer(self, request: HttpRequest) -> Line:
        """The one answer, in two pieces."""
        self.requests.append(request)
        return Line(pieces=(b'{"data":', b"[]}"), status=self.status, headers=(("content-type", "application/json"),))


class Told(Script):
    """A provider that answers with 200 and the bytes given."""

    def __init__(self, body: bytes, kind: str) -> None:
        """An answer of that media type."""
        super().__init__()
        self.body, self.kind = body, kind

    def answer(self, request: HttpRequest) -> Line:
        """The one answer."""
        self.requests.append(request)
        return Line(pieces=(self.body,), headers=(("content-type", self.kind),))


SAID = b'"object":"chat.completion","id":"c","created":1,"model":"m"'
CHOICE = b'{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}'
CALL = b'{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"arguments":"{}"}}]}'
NAMELESS = b'{%b,"choices":[{"index":0,"finish_reason":"tool_calls","message":%b}]}' % (SAID, CALL)
JSON, EVENTS = "application/json", "text/event-stream"
FRAME = b'{"object":"chat.completion.chunk","id":"c","created":1,"model":"m","choices":[{"index":0,"delta":%b}]}'


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
@pytest.mark.parametrize(
    ("body", "kind", "is_charged"),
    [
        (NAMELESS, JSON, True),
        (b'{%b,"choices":[]}' % SAID, JSON, True),
        (b'{"object":"chat.completion","choices":[', JSON, True),
        (b"data: {broken\n\n", EVENTS, True),
        (b'{"error":{"message":"no","type":"server_error"}}', JSON, False),
        (b'data: {"error":{"message":"no","type":"server_error"}}\n\n', EVENTS, False),
        (b"<html>log in</html>", "text/html", False),
    ],
)
async def test_an_answer_that_cannot_be_read_is_charged_as_it_was_reserved(
    dialect: str, body: bytes, kind: str, is_charged: bool
) -> None:
    """The provider wrote it. An error that it tells itself, and a page of a proxy, cost nothing."""
    environ = {"LLM_WORK": "openai-compatible://token@127.0.0.1:1?tls=0&price_in=10&price_out=100"}
    made = keyed(environ=environ, budgets=(TOTAL, MONEY))
    awaited = AsyncReplayTransport(script=(script := Told(body, kind)))
    with overriding(Override(lambda _: ReplayTransport(script=Bytes()), lambda _: awaited)):
        reply = await made(asked(dialect, stream=kind == EVENTS, max_tokens=400))
        assert reply.status >= 500
    tokens, reserved, money = await used(made)
    assert reserved == 0
    rows, tries = memory(made).rows, len(script.requests)
    assert sum(row.estimated for row in rows) == (tries if is_charged else 0), "each try was written"
    assert (sum(row.input_tokens for row in rows), sum(row.nano_usd for row in rows)) == (tokens, money)
    if is_charged:
        assert 400 < tokens / tries < 500
        assert money / tries > 400 * 100_000
    else:
        assert (tokens, money) == (0, 0)


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
async def test_a_stream_with_a_broken_frame_is_charged_for_what_came(dialect: str) -> None:
    """What came before the frame that cannot be read is estimated."""
    environ = {"LLM_WORK": "openai-compatible://token@127.0.0.1:1?tls=0&price_in=10&price_out=100"}
    made = keyed(environ=environ, budgets=(TOTAL, MONEY))
    body = b"data: %b\n\ndata: {broken\n\n" % (FRAME % b'{"content":"one two three four"}')
    awaited = AsyncReplayTransport(script=Told(body, EVENTS))
    with overriding(Override(lambda _: ReplayTransport(script=Bytes()), lambda _: awaited)):
        assert b"not JSON" in await body_of(await made(asked(dialect, stream=True, max_tokens=400)))
    (row,) = memory(made).rows
    assert (row.model, row.estimated) == ("work/m", 1)
    assert row.output_tokens >= 4
    assert (await used(made))[0] == row.input_tokens + row.output_tokens


@pytest.mark.parametrize("status", [200, 400])
async def test_what_is_passed_on_holds_its_place_until_it_is_read_and_is_counted(status: int) -> None:
    """A completion counts a request and its estimated tokens; one that fails counts a failure."""
    environ = {"LLM_WORK": "openai-compatible://token@127.0.0.1:1?tls=0"}
    made = keyed(environ=environ, concurrency=1, tpm=1_000)
    body = encode({"model": "work/m", "prompt": "Hello, world, how are you?", "max_tokens": 1})
    headers = (("x-api-key", KEY), ("content-type", "application/json"))
    request = GatewayRequest(path="/v1/completions", headers=headers, body=body, peer="127.0.0.1")
    awaited = AsyncReplayTransport(script=Bytes(status))
    with overriding(Override(lambda _: ReplayTransport(script=Bytes()), lambda _: awaited)):
        first = await made(request)
        if status == 200:
            assert (await made(request)).status == 429
        await body_of(first)
        await body_of(await made(request))
    (row,) = memory(made).rows
    tokens = round(len(body) / 3.5) + 1
    assert (row.model, row.requests, row.failed) == ("work/m", 2, 0 if status == 200 else 2)
    assert (row.input_tokens, row.estimated) == ((2 * tokens, 2) if status == 200 else (0, 0))


@pytest.mark.parametrize("dialect", ["anthropic", "openai-responses"])
async def test_a_compaction_is_charged(dialect: str) -> None:
    """A conversation that is summarised costs what the summary cost; one that a provider compacts what it may have."""
    scheme = "anthropic" if dialect == "anthropic" else "openai-responses"
    made = keyed(environ={"LLM_WORK": f"{scheme}://token@127.0.0.1:1?tls=0"}, budgets=(TOTAL,))
    body = encode({"model": "work/m", "input": [{"role": "user", "content": "Hello"}]})
    request = GatewayRequest(
        path="/v1/responses/compact",
        headers=(("x-api-key", KEY), ("content-type", "application/json")),
        body=body,
        peer="127.0.0.1",
    )
    if dialect == "anthropic":
        with Upstream("anthropic", Say(text="A summary.", input_tokens=100, output_tokens=20)).standing():
            assert (await made(request)).status == 200
        assert (await used(made))[:2] == (120, 0)
        return
    awaited = AsyncReplayTransport(script=Bytes())
    with overriding(Override(lambda _: ReplayTransport(script=Bytes()), lambda _: awaited)):
        assert (await made(request)).status == 200
    tokens, reserved, _ = await used(made)
    assert (tokens > 4_096, reserved) == (True, 0)


async def test_usage_is_counted_by_key_day_and_model_in_the_database(tmp_path: Path) -> None:
    """Keys without limits are counted, too, where a database is kept."""
    path = tmp_path / "keys.sqlite"
    clock = Clock()
    made = keyed(clock, settings={"key_file": str(path)})
    say = Say(text="Hello", input_tokens=100, output_tokens=20)
    with Upstream("anthropic", say, say, say, Fail(400)).standing():
        for _ in range(2):
            await body_of(await made(asked()))
        await body_of(await made(asked(model="work/n", stream=True)))
        await body_of(await made(asked()))
        clock.at_s += 86_400
    await made.close()
    database = KeyDatabase(path, now=clock)
    assert database.usage() == [
        Row(key="team-a", day="2026-11-22", model="", requests=1, failed=1),
        Row(
            key="team-a",
            day="2026-11-22",
            model="work/m",
            requests=2,
            input_tokens=200,
            output_tokens=40,
            nano_usd=6_000_000,
        ),
        Row(
            key="team-a",
            day="2026-11-22",
            model="work/n",
            requests=1,
            input_tokens=100,
            output_tokens=20,
            nano_usd=3_000_000,
        ),
    ]
    assert database.usage("team-b") == []
    assert database.usage("team-a", "2026-11-23") == []
    database.close()


async def test_a_key_without_limits_costs_nothing_where_nothing_is_kept() -> None:
    """No reservation, no account, no row."""
    made = keyed()
    with Upstream("anthropic").standing():
        assert (await made(asked())).status == 200
    assert memory(made).rows == []


class SlowAccounts(MemoryAccounts):
    """Accounts that are far away."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        super().__init__()
        self._batches = Batches(self._written)
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    def enter(self, operation: Enter) -> Awaitable[Refusal | None]:
        """Once it may."""
        return self._batches.enter(operation)

    def leave(self, operation: Leave, *rows: Row) -> Awaitable[object]:
        """Once it may."""
        return self._batches.add(operation, rows)

    async def close(self) -> None:
        """Write what waits."""
        await self._batches.settle()

    async def _written(self, batch: Sequence[Waiting]) -> Sequence[Outcome]:
        self.is_asked.set()
        await self.may_answer.wait()
        return [await self._done(waiting.operation) for waiting in batch]


async def test_who_leaves_while_a_call_is_let_in_holds_nothing() -> None:
    """A client that is gone before its reservation is written has it given back."""
    made = keyed(concurrency=1)
    accounts = made.admission.accounts = SlowAccounts()
    task = asyncio.ensure_future(made(asked()))
    await accounts.is_asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    accounts.may_answer.set()
    await made.close()
    assert await used(made) == (0, 0, 0)
    with Upstream("anthropic").standing():
        assert (await made(asked())).status == 200


# Races


@pytest.mark.parametrize("is_file", [False, True])
async def test_sixty_four_clients_never_overspend_a_budget(tmp_path: Path, is_file: bool) -> None:
    """At once, on one budget: what was used stays within it, and all that fits was let in."""
    settings = {"key_file": str(tmp_path / "keys.sqlite")} if is_file else {}
    made = keyed(budgets=(read_budget("0.5 USD"), read_budget("1M tokens")), settings=settings)
    say = Say(text="Hello", input_tokens=20, output_tokens=300)  # all that a call may write
    with Upstream("anthropic", *[say] * 64).standing():
        replies = await asyncio.gather(*[made(asked(max_tokens=300)) for _ in range(64)])
        statuses = [reply.status for reply in replies]
        for _ in range(20):
            if (await made(asked(max_tokens=300))).status != 200:
                break
    assert set(statuses) <= {200, 402, 429}
    _, reserved, money = await used(made)
    assert reserved == 0
    one = 20 * 10_000 + 300 * 100_000
    assert money <= 500_000_000 + one
    assert money > 500_000_000 - 2 * one
    await made.close()
