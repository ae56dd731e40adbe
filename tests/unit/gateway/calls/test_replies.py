"""Headers around an answer: who served, who did not, what was changed, what it cost, and nothing that breaks out."""

from __future__ import annotations

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.gateway.calls.replies import (
    MAX_CHANGES_BYTES,
    changes_text,
    error_reply,
    limit_headers,
    reply_of,
    trail_headers,
)
from interlingua.gateway.http import GatewayReply
from interlingua.testing.upstream import Upstream
from interlingua.types.limit import RateLimit
from interlingua.types.response import Attempt
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_any
from tests.support.cells import cells
from tests.support.gateway import asking, gateway, header_of


def _change(path: str) -> il.Change:
    return il.Change("dropped", "parameter_unsupported", path, "anthropic", "encode_request", "")


def test_changes_are_told_up_to_the_bound_and_then_counted() -> None:
    """At most 2 kB; what does not fit is a number."""
    assert changes_text([]) == ""
    assert changes_text([_change("/seed")]) == "dropped parameter_unsupported /seed"
    many = changes_text([_change(f"/messages/{number}/parts/0/cache") for number in range(500)])
    assert len(many) <= MAX_CHANGES_BYTES
    shown, _, rest = many.rpartition(", +")
    assert shown.count(", ") + 1 + int(rest) == 500


def test_a_repair_of_an_answer_is_told_with_its_place_on_the_wire() -> None:
    """A count that was clamped has no place in the canonical form; a sentence is no place."""
    clamped = il.Change("repaired", "count_clamped", "", "openai-chat", "decode_response", "/usage/prompt_tokens")
    sentence = il.Change("repaired", "reasoning_restored", "", None, "repair", "restored: 1 turn")
    assert (
        changes_text([clamped, sentence]) == "repaired count_clamped /usage/prompt_tokens, repaired reasoning_restored"
    )


def test_paths_are_visible_ascii() -> None:
    """What a client wrote can neither end a header nor begin another one."""
    assert changes_text([_change("/extra/x\r\nset-cookie: a=b/ü")]) == (
        "dropped parameter_unsupported /extra/x%0D%0Aset-cookie%3A%20a%3Db/%C3%BC"
    )
    headers = trail_headers([Attempt(model="a/b\r\nx: y", outcome="served")])
    assert headers == (("x-interlingua-target", "a/b?x: y"),)


def test_the_trail_names_who_served_and_why_others_did_not() -> None:
    """In the order of the tries, with the class of each error and no word of a provider's."""
    attempts = [
        Attempt(model="a/one", outcome="failed", error="RateLimitError: slow down", status=429),
        Attempt(model="b/two", outcome="skipped", error="UnsupportedError: no images"),
        Attempt(model="c/three", outcome="served"),
    ]
    assert trail_headers(attempts, (), 0.000125) == (
        ("x-interlingua-target", "c/three"),
        ("x-interlingua-skipped", "a/one (failed: RateLimitError), b/two (skipped: UnsupportedError)"),
        ("x-interlingua-cost-usd", "0.000125"),
    )


@pytest.mark.parametrize("cost", [None, 0.0])
def test_an_unknown_cost_is_not_told_and_none_is(cost: float | None) -> None:
    """None is not 0."""
    told = dict(trail_headers([], (), cost)).get("x-interlingua-cost-usd")
    assert told == (None if cost is None else "0")


async def test_what_an_answer_cost_is_told_where_a_price_is_known() -> None:
    """By the price of the DSN: 20 tokens in, 10 out."""
    upstream = Upstream("openai-chat")
    with upstream.serving() as at:
        dsn = f"openai-chat://k@{at[7:]}/v1?tls=0&price_in=2&price_out=8"
        reply = await gateway({"LLM_UP": dsn})(asking("anthropic", "up/m"))
    assert header_of(reply, "x-interlingua-cost-usd") == "0.00012"


def test_limits_are_told_in_each_clients_form() -> None:
    """Anthropic's clients want a time, the others a duration."""
    limits = {"input_tokens": RateLimit(limit=100, remaining=7, reset_s=1.5)}
    assert limit_headers("openai-chat", limits) == (
        ("x-ratelimit-limit-input-tokens", "100"),
        ("x-ratelimit-remaining-input-tokens", "7"),
        ("x-ratelimit-reset-input-tokens", "1.5s"),
    )
    told = dict(limit_headers("anthropic", limits))
    assert told["anthropic-ratelimit-input-tokens-limit"] == "100"
    assert told["anthropic-ratelimit-input-tokens-reset"].endswith("Z")


def test_the_upstreams_id_of_a_request_steps_aside() -> None:
    """The client's `x-request-id` is ours; the provider's is told beside it."""
    reply = error_reply("openai-chat", il.RateLimitError("slow down", status=429, request_id="req_theirs"))
    assert header_of(reply, "x-interlingua-upstream-x-request-id") == "req_theirs"
    assert header_of(reply, "x-request-id") is None


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("2.5", "3"),
        ("7", "7"),
        ("0.001", "1"),
        ("1e+06", "1000000"),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ("inf", None),
    ],
)
def test_a_retry_after_is_in_whole_seconds(told: str, shown: str | None) -> None:
    """HTTP has no other ones, and many clients stumble over a fraction; it is never earlier than it was."""
    reply = reply_of(HttpReply(status=429, headers=(("retry-after", told),), body=b""), ())
    assert reply.headers == (("retry-after", shown or told),)


@pytest.mark.parametrize(
    "dialect", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified"]
)
def test_a_target_that_sends_too_much_is_at_fault_itself(dialect: str) -> None:
    """A 413 would have the client shorten what it asks; that is for bodies of its own."""
    tried = (Attempt(model="a/one", outcome="failed", error="LimitExceededError: too much"),)
    assert error_reply(dialect, il.LimitExceededError("too much", attempts=tried)).status == 502
    assert error_reply(dialect, il.LimitExceededError("too much", status=502)).status == 502
    assert error_reply(dialect, il.LimitExceededError("too much", status=413)).status == 413


@pytest.mark.parametrize(
    "dialect", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified"]
)
def test_a_key_of_the_gateway_that_is_refused_is_told_from_the_clients(dialect: str) -> None:
    """Both are a 401: the sentence says whose key it is."""
    tried = (Attempt(model="a/one", outcome="failed", error="AuthenticationError: no"),)
    reply = error_reply(dialect, il.AuthenticationError("no such key", status=401, attempts=tried))
    assert isinstance(reply.body, bytes)
    assert reply.status == 401
    assert b"a/one refused the key that this gateway has for it: no such key" in reply.body
    own = error_reply(dialect, il.AuthenticationError("this key is not known here", status=401))
    assert isinstance(own.body, bytes)
    assert b"refused" not in own.body


@pytest.mark.parametrize(
    ("member", "code"), [("previous_response_id", "previous_response_not_found"), ("conversation", None)]
)
def test_an_answer_that_another_provider_keeps_is_told_as_one_that_is_not_there(member: str, code: str | None) -> None:
    """At that code a client of Responses sends the whole conversation, which any target takes."""
    change = il.Change(
        "refused", "server_state", "/continues", "anthropic", "encode_request", f"{member}: a conversation kept by x"
    )
    reply = error_reply("openai-responses", il.UnsupportedError("no", changes=(change,)))
    assert isinstance(reply.body, bytes)
    assert (reply.status, decode_any(reply.body)["error"]["code"]) == (400, code)


@cells("dialect", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified"])
@cells(
    ("kind", "status"),
    [
        (il.ContextWindowExceededError, 400),
        (il.RequestTooLargeError, 413),
        (il.RateLimitError, 429),
        (il.UnsupportedError, 400),
        (il.NotFoundError, 502),
        (il.AuthenticationError, 502),
    ],
)
def test_a_chain_that_says_one_thing_is_told_as_that(kind: type[il.Error], status: int, dialect: str) -> None:
    """A coding agent shortens its history at a 400 of that class, and would send it all again at a 502."""
    told = error_reply(dialect, _exhausted(kind, f"{kind.__name__}: x", f"{kind.__name__}: y"))
    assert told.status == status
    alone = kind("no target", status=status) if status != 502 else il.ChainExhaustedError("no target")
    assert type(_read(dialect, told)) is type(_read(dialect, error_reply(dialect, alone)))
    assert header_of(told, "retry-after") == (None if kind is il.UnsupportedError else "7")


@pytest.mark.parametrize(
    "said",
    [
        ("ContextWindowExceededError: x", "RateLimitError: y"),
        ("ContextWindowExceededError: x", "circuit breaker open for another 5 s: it failed several times in a row"),
        (
            "circuit breaker open for another 5 s: it failed several times in a row",
            "its limit on our own side is used up",
        ),
    ],
)
def test_a_chain_that_says_several_things_is_a_502(said: tuple[str, str]) -> None:
    """A target that was not asked may take what another one finds too long."""
    assert error_reply("openai-chat", _exhausted(il.ContextWindowExceededError, *said)).status == 502


def test_a_target_that_was_put_off_says_what_it_said_last() -> None:
    """It stands in the trail twice: when others were asked first, and when it was asked itself."""
    error = _exhausted(il.RateLimitError, "RateLimitError: x", "RateLimitError: y")
    put_off = Attempt(model="b/two", outcome="skipped", error="its limit on our own side is used up")
    error.attempts = (put_off, *error.attempts)
    assert error_reply("openai-chat", error).status == 429


def _read(dialect: str, reply: GatewayReply) -> il.Error:
    assert isinstance(reply.body, bytes)
    return get_dialect(dialect).decode_error(HttpReply(status=reply.status, body=reply.body), DecodeContext())


def _exhausted(kind: type[il.Error], *said: str) -> il.ChainExhaustedError:
    models = ("a/one", "b/two")
    attempts = tuple(
        [Attempt(model=model, outcome="failed", error=text) for model, text in zip(models, said, strict=True)]
    )
    error = il.ChainExhaustedError("no target", attempts=attempts, retry_after_s=7.0, retryable=kind.retryable)
    error.__cause__ = kind("last", status=None)
    return error
