"""What answers cost: configured prices, the installed list, and what is not known."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any

import msgspec
import pytest

import interlingua as il
from interlingua.client import price as cost
from interlingua.client.face import Face as PlainFace
from interlingua.client.face import call_of
from interlingua.providers.price import Price, cost_usd
from interlingua.registry import prices as pricing
from interlingua.registry.resolve import Registry
from interlingua.testing import FakeModel, use
from interlingua.wire.http import HttpReply
from interlingua.wire.json import encode
from tests.support.client import AWAITED, BLOCKING, Face, chat, chunks, scripted, sse

PRICED = "openai://tok-12345678@gateway.example/v1?price_in=2&price_out=8"
KEY = "sk-test-0123456789abcdef"


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


def _usage(**counts: Any) -> il.Usage:
    return il.Usage(**counts)


def test_use_04_no_token_is_paid_twice() -> None:
    """The input holds what was read from the cache and written to it; each of the three has its own price."""
    price = Price(input=3, output=15, cached=0.3, cache_write=3.75)
    usage = _usage(input_tokens=11_000, output_tokens=1_000, cache_read_tokens=6_000, cache_write_tokens=4_000)
    # 1,000 fresh at 3, 6,000 read at 0.3, 4,000 written at 3.75, 1,000 of output at 15
    assert cost_usd(price, usage) == (3_000 + 1_800 + 15_000 + 15_000) / 1_000_000


def test_cached_tokens_without_a_price_cost_what_input_costs() -> None:
    """Unknown is not free: without a price for cached tokens they cost the full one."""
    usage = _usage(input_tokens=1_000_000, output_tokens=0, cache_read_tokens=400_000, cache_write_tokens=100_000)
    assert cost_usd(Price(input=2, output=8), usage) == 2.0


def test_writes_that_are_kept_for_an_hour_have_their_own_price() -> None:
    """The one dialect that tells two life times apart is paid by each."""
    usage = il.Usage(
        input_tokens=1_000_000,
        output_tokens=0,
        cache_write_tokens=1_000_000,
        extra={
            "anthropic": {
                "cache_creation": {"ephemeral_5m_input_tokens": 400_000, "ephemeral_1h_input_tokens": 600_000}
            }
        },
    )
    assert cost_usd(Price(input=5, output=25, cache_write=6.25, cache_write_1h=10), usage) == 2.5 + 6.0


@pytest.mark.parametrize("count", ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"])
def test_a_count_below_nothing_pays_nothing_back(count: str) -> None:
    """What was counted so costs nobody knows what."""
    usage = _usage(**{"input_tokens": 100, "output_tokens": 10, count: -1_000_000})
    assert cost_usd(Price(input=2, output=8), usage) is None


def test_a_part_of_the_writes_below_nothing_is_none() -> None:
    """All of them are charged as the usual ones."""
    told = {"anthropic": {"cache_creation": {"ephemeral_1h_input_tokens": -1_000_000_000}}}
    usage = _usage(input_tokens=100, output_tokens=0, cache_write_tokens=100, extra=told)
    assert cost_usd(Price(input=5, output=25, cache_write=6.25, cache_write_1h=10), usage) == 0.000625


@pytest.mark.parametrize(("tokens", "cost"), [(200_000, 0.4), (200_001, 0.800004)])
def test_long_prompts_have_their_own_price(tokens: int, cost: float) -> None:
    """Beyond the bound everything costs the higher price, at the bound nothing does."""
    price = Price(input=2, output=12, above=((200_000, Price(input=4, output=18)),))
    assert cost_usd(price, _usage(input_tokens=tokens, output_tokens=0)) == cost


@pytest.mark.parametrize("usage", [None, il.Usage(), il.Usage(input_tokens=5), il.Usage(output_tokens=5)])
def test_without_both_counts_nothing_is_known(usage: il.Usage | None) -> None:
    """None, never 0."""
    assert cost_usd(Price(input=2, output=8, request=0.01), usage) is None


@pytest.mark.parametrize("streamed", [False, True])
def test_use_05_a_price_in_the_dsn_counts_whole_and_streamed(
    face: Face, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same counts cost the same, however the answer came; the terminal event's response says it, too."""
    monkeypatch.setenv("LLM_WORK", PRICED)
    line = sse(*chunks("Hi", "!")) if streamed else chat("Hi!")
    with scripted(line):
        model = face.model("work/large")
        reply = face.finish(model.stream("Hi")) if streamed else face.generate(model, "Hi")
    assert reply.usage == il.Usage(input_tokens=3, output_tokens=2)
    assert reply.cost_usd == (3 * 2 + 2 * 8) / 1_000_000


def test_a_provider_made_in_code_has_its_price_as_a_value() -> None:
    """`il.Provider(price=il.Price(…))` counts as a price in a DSN does."""
    registry = Registry({})
    price = il.Price(input=1, output=1)
    row = il.Provider(name="mine", base_url="https://mine.example/v1", dialects=("openai-chat",), price=price)
    registry.register_provider(row, key="k-12345678")
    with scripted(chat("Hi!")):
        assert il.Model("mine/x", registry=registry).generate("Hi").cost_usd == 5 / 1_000_000


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("price_in=2", "a price needs both price_in and price_out, US dollars for a million tokens"),
        ("price_cached=1", "a price needs both price_in and price_out, US dollars for a million tokens"),
        ("price_in=2&price_out=-8", "price_out takes US dollars for a million tokens, such as 0.25"),
        ("price_in=nan&price_out=8", "price_in takes US dollars for a million tokens, such as 0.25"),
        ("price_in=&price_out=8", "price_in takes US dollars for a million tokens, such as 0.25"),
    ],
)
def test_a_bad_price_is_refused(options: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, with the variable and the option."""
    monkeypatch.setenv("LLM_WORK", f"openai://gateway.example/v1?{options}")
    with pytest.raises(il.ConfigError) as caught:
        il.model("work/large").explain("Hi")
    assert caught.value.message == f"LLM_WORK: {why}"


def _answer(model: str, **usage: Any) -> HttpReply:
    counts = {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100, **usage}
    return chat("Hi", model=model, usage=counts)


def test_the_installed_list_prices_a_known_service(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """What OpenAI bills for gpt-4.1 (2, 0.5 and 8 dollars a million), cached tokens at their own price."""
    pytest.importorskip("genai_prices")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with scripted(_answer("gpt-4.1-2025-04-14", prompt_tokens_details={"cached_tokens": 400}), alone=False):
        reply = face.generate(face.model("openai-chat/gpt-4.1"), "Hi")
    assert reply.cost_usd == (600 * 2 + 400 * 0.5 + 100 * 8) / 1_000_000


def test_a_name_of_ones_own_for_a_known_service_has_its_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address decides who bills: the same host costs the same, another host costs nobody knows what."""
    pytest.importorskip("genai_prices")
    monkeypatch.setenv("LLM_TEAM", "openai://tok-12345678@api.openai.com/v1?dialect=openai-chat")
    monkeypatch.setenv("LLM_OTHER", "openai://tok-12345678@gateway.example/v1?dialect=openai-chat")
    with scripted(_answer("gpt-4.1"), _answer("gpt-4.1"), alone=False):
        costs = [il.model(name).generate("Hi").cost_usd for name in ("team/gpt-4.1", "other/gpt-4.1")]
    assert costs == [0.0028, None]


@pytest.mark.parametrize(
    ("tier", "cost"),
    [(None, 0.0028), ("default", 0.0028), ("auto", 0.0028), ("priority", 0.0049), ("scale", None)],
)
def test_a_tier_of_service_has_its_own_price(
    tier: str | None, cost: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tier that the list prices costs that; one that it does not know is unknown, not standard."""
    pytest.importorskip("genai_prices")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with scripted(_answer("gpt-4.1"), alone=False):
        reply = il.model("openai-chat/gpt-4.1").generate("Hi", service_tier=tier)
    assert reply.cost_usd == cost


def test_a_model_that_the_list_does_not_know_costs_nobody_knows_what(monkeypatch: pytest.MonkeyPatch) -> None:
    """None for an unknown model of a known service."""
    pytest.importorskip("genai_prices")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with scripted(_answer("nobody-knows-1"), alone=False):
        assert il.model("openai-chat/nobody-knows-1").generate("Hi").cost_usd is None


def test_without_the_extra_costs_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing price list is no error, and it is looked for once."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(pricing, "_LIST", type(pricing._LIST)())
    with scripted(_answer("gpt-4.1"), _answer("gpt-4.1"), alone=False):
        with pytest.MonkeyPatch.context() as without:
            without.setitem(sys.modules, "genai_prices.data_snapshot", None)
            first = il.model("openai-chat/gpt-4.1").generate("Hi")
        second = il.model("openai-chat/gpt-4.1").generate("Hi")
    assert (first.cost_usd, second.cost_usd) == (None, None)


def test_made_up_counts_have_no_price_of_a_list() -> None:
    """A fake that stands in for a known model costs nobody knows what: its counts are invented."""
    with use(FakeModel("Hi")):
        assert il.model("openai/gpt-4.1").generate("Hi").cost_usd is None


def test_the_list_is_read_as_it_is_told() -> None:
    """Tiers, cached and written tokens and requests of the list's own form become ours; no token price, no price."""
    types = pytest.importorskip("genai_prices.types")
    listed = types.ModelPrice(
        input_mtok=types.TieredPrices(base=Decimal(2), tiers=[types.Tier(start=200_000, price=Decimal(4))]),
        output_mtok=Decimal(12),
        cache_read_mtok=Decimal("0.2"),
        requests_kcount=Decimal(5),
    )
    longer = Price(input=4.0, output=12.0, cached=0.2, request=0.005)
    assert pricing._read(listed) == Price(input=2.0, output=12.0, cached=0.2, request=0.005, above=((200_000, longer),))
    assert pricing._read(types.ModelPrice(input_mtok=Decimal(1))) is None


def test_a_wire_price_is_kept_in_canonical_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stored reply still says what it cost."""
    monkeypatch.setenv("LLM_WORK", PRICED)
    with scripted(chat("Hi!")):
        reply = il.model("work/large").generate("Hi")
    assert il.load(il.dump(reply)).cost_usd == reply.cost_usd == 22 / 1_000_000
    assert encode(reply.cost_usd) == b"0.000022"


def test_the_window_of_a_model_is_that_of_the_list() -> None:
    """By the address that is asked; a service of your own, and a model that nobody lists, have none that is known."""
    pytest.importorskip("genai_prices")
    registry = Registry({"LLM_WORK": "openai://token@127.0.0.1:1?tls=0"})
    specs = ("anthropic/claude-opus-4-5", "openai/gpt-4o", "anthropic/nobody-knows", "work/gpt-4o")
    assert [pricing.window_of(registry.resolve(spec)[0]) for spec in specs] == [200_000, 128_000, None, None]


@pytest.mark.parametrize(
    ("spec", "share"),
    [("openai/gpt-4.1", 0.5), ("anthropic/claude-opus-4-5", 0.5), ("mistral/mistral-large-latest", 0.5)],
)
def test_r68_the_price_of_a_batch(spec: str, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list's own price of batches, else half of the usual one; what has no price has none in a batch, either."""
    pytest.importorskip("genai_prices")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.setenv(name, KEY)
    call = call_of(PlainFace(spec), "Hi", None, {})
    response = il.Response(usage=il.Usage(input_tokens=1_000_000, output_tokens=1_000_000))
    usual = cost.cost_of(call, call.targets[0], response)
    batched = cost.cost_of(msgspec.structs.replace(call, is_batched=True), call.targets[0], response)
    assert usual is not None
    assert batched == pytest.approx(usual * share)
    unknown = call_of(PlainFace("openai/nobody-knows-it"), "Hi", None, {})
    assert cost.cost_of(msgspec.structs.replace(unknown, is_batched=True), unknown.targets[0], response) is None


def test_r68_the_lists_price_of_a_batch_goes_before_the_half(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the list says what batches cost, nothing is reckoned."""
    pytest.importorskip("genai_prices")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(cost, "BATCH_SHARE", 0.0)
    call = msgspec.structs.replace(call_of(PlainFace("openai/gpt-4.1"), "Hi", None, {}), is_batched=True)
    response = il.Response(usage=il.Usage(input_tokens=1_000_000, output_tokens=1_000_000))
    assert cost.cost_of(call, call.targets[0], response) == pytest.approx(1.0 + 4.0)
