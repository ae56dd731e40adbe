"""The way of a call through its chain: again, onwards or not at all, and in which time; in both faces."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.client.call.chain import is_committed
from interlingua.client.call.core import Outcome
from interlingua.client.call.values import CallTarget
from interlingua.dialects.table import get_dialect
from interlingua.registry.resolve import Registry
from interlingua.types.request import Request, ServerState
from interlingua.types.tool import OpaqueTool
from tests.support.chains import Body, World, ask, good, refusal, stalled, told
from tests.support.client import chat, chunk, chunks

A, B, C = "a/one", "b/two", "c/three"
SEARCH = OpaqueTool("openai-responses", "web_search", {"type": "web_search"})


def _unreached() -> il.APIConnectionError:
    error = il.APIConnectionError("cannot connect")
    error.reached = False
    return error


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def awaited(request: pytest.FixtureRequest) -> bool:
    """Both faces."""
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    """Whole answers and streams."""
    return request.param


# The same target again


def test_rtr_03_what_may_pass_is_asked_again(awaited: bool, streamed: bool) -> None:
    """A single target, whole and streamed alike: one more try, after a pause of our own."""
    world = World().on(A, refusal(503), good(streamed=streamed))
    reply = ask(world, world.call_to(A), awaited=awaited, streamed=streamed)
    assert reply.text == "Hello"
    assert world.slept == [0.5]
    first, second = reply.attempts
    assert (first.outcome, first.status, first.delay_s) == ("failed", 503, None)
    assert (second.outcome, second.delay_s) == ("served", 0.5)
    assert world.open_replies == 0


def test_a_target_is_asked_again_as_often_as_is_said(awaited: bool, streamed: bool) -> None:
    """Pauses double; the error of the only target is its own, with every try."""
    world = World().on(A, refusal(500))
    with pytest.raises(il.InternalServerError) as caught:
        ask(world, world.call_to(A, retries=3), awaited=awaited, streamed=streamed)
    assert world.slept == [0.5, 1.0, 2.0]
    assert told(caught.value.attempts) == [(A, "failed")] * 4
    assert world.open_replies == 0


def test_at_most_eight_tries_are_made(awaited: bool, streamed: bool) -> None:
    """All targets together; those behind are passed over, and it says so."""
    world = World().on(A, refusal(500)).on(B, refusal(500)).on(C, refusal(500))
    with pytest.raises(il.ChainExhaustedError, match="c/three: 8 tries were made") as caught:
        ask(world, world.call_to(A, B, C, retries=7), awaited=awaited, streamed=streamed)
    assert len(world.asked) == 8
    assert told(caught.value.attempts)[-1] == (C, "skipped")


def test_without_retries_the_first_failure_counts(awaited: bool, streamed: bool) -> None:
    """`retries=0` asks once."""
    world = World().on(A, refusal(429))
    with pytest.raises(il.RateLimitError):
        ask(world, world.call_to(A, retries=0), awaited=awaited, streamed=streamed)
    assert (world.asked, world.slept) == ([A], [])


@pytest.mark.parametrize(
    ("headers", "slept"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after": "Sun, 22 Nov 2026 05:00:20 GMT", "date": "Sun, 22 Nov 2026 05:00:00 GMT"}, 20.0),
    ],
    ids=["seconds", "milliseconds", "date"],
)
def test_retry_after_is_kept_to(headers: dict[str, str], slept: float, awaited: bool, streamed: bool) -> None:
    """Seconds, milliseconds and dates: what the server asks for is waited, not what we would have."""
    world = World().on(A, refusal(429, **headers), good(streamed=streamed))
    ask(world, world.call_to(A, chance=0.0), awaited=awaited, streamed=streamed)
    assert world.slept == [slept]


def test_retry_after_of_google_stands_in_the_body(awaited: bool) -> None:
    """`RetryInfo` is a Retry-After."""
    detail = b'{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}'
    body = b'{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[%b]}}' % detail
    world = World().on(A, refusal(429).__class__(status=429, headers=(), body=body), refusal(500))
    with pytest.raises(il.InternalServerError):
        world.call(world.call_to(A, dialect="google", chance=0.0), awaited=awaited)
    assert world.slept == [3.0]


def test_nobody_waits_for_ever(awaited: bool, streamed: bool) -> None:
    """A Retry-After beyond the bound is given to the caller instead of being waited for."""
    world = World().on(A, refusal(429, retry_after="90"))
    with pytest.raises(il.RateLimitError) as caught:
        ask(world, world.call_to(A), awaited=awaited, streamed=streamed)
    assert (world.slept, caught.value.retry_after_s) == ([], 90.0)


def test_nobody_waits_longer_than_there_is_time(awaited: bool, streamed: bool) -> None:
    """A pause that would not end before the call's time does not begin."""
    world = World().on(A, refusal(429, retry_after="20"))
    with pytest.raises(il.RateLimitError):
        ask(world, world.call_to(A, timeout_s=20), awaited=awaited, streamed=streamed)
    assert world.slept == []


# The next target


def test_r42_transient_errors_are_tried_twice_then_the_next_target_is(awaited: bool, streamed: bool) -> None:
    """Again once, then onwards; the story has every try."""
    world = World().on(A, refusal(529)).on(B, good("B", streamed=streamed))
    reply = ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    assert (reply.text, reply.model) == ("B", B)
    assert world.asked == [A, A, B]
    assert told(reply.attempts) == [(A, "failed"), (A, "failed"), (B, "served")]
    assert reply.attempts[0].error == "OverloadedError: No."


@pytest.mark.parametrize("status", [401, 402, 403, 404, 413])
def test_r42_a_fault_of_the_target_goes_on_at_once(status: int, awaited: bool, streamed: bool) -> None:
    """A key, an account, an unknown model, a body that is too large: no second try, the next target."""
    world = World().on(A, refusal(status)).on(B, good(streamed=streamed))
    ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    assert (world.asked, world.slept) == ([A, B], [])


@pytest.mark.parametrize("status", [400, 405, 422, 418])
def test_rtr_07_a_fault_of_the_request_stops(status: int, awaited: bool, streamed: bool) -> None:
    """Nothing is sent again, nobody is benched; `persist` goes on, since some targets take what others refuse."""
    world = World().on(A, refusal(status)).on(B, good(streamed=streamed))
    for _ in range(3):
        with pytest.raises(il.BadRequestError):
            ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    assert world.asked == [A, A, A]
    assert world.health.snapshot() == {}
    assert ask(world, world.call_to(A, B, persist=True), awaited=awaited, streamed=streamed).model == B


def test_a_target_without_a_key_is_skipped(awaited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """R42: nothing was sent, so nothing is held against it; the sentence says what to set."""
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    world = World().on(B, chat())
    keyless = CallTarget(Registry({}).resolve("groq/llama")[0], get_dialect("openai-chat"))
    call = world.call_to(B)
    reply = world.call(replace(call, targets=(keyless, *call.targets)), awaited=awaited)
    assert told(reply.attempts) == [("groq/llama", "skipped"), (B, "served")]
    assert reply.attempts[0].error is not None
    assert "GROQ_API_KEY" in reply.attempts[0].error


def test_an_exhausted_chain_says_when_to_come_again(awaited: bool, streamed: bool) -> None:
    """The least of what was asked for, and whether it is worth while."""
    world = World().on(A, refusal(429, retry_after="70")).on(B, refusal(401))
    with pytest.raises(il.ChainExhaustedError) as caught:
        ask(world, world.call_to(B, A), awaited=awaited, streamed=streamed)
    assert (caught.value.retryable, caught.value.retry_after_s) == (True, 70.0)
    assert isinstance(caught.value.__cause__, il.RateLimitError)


def test_a_pause_closes_what_is_open(awaited: bool) -> None:
    """While a target is left alone, no connection to it is held."""
    held: list[int] = []
    world = World()
    world.on(A, refusal(503), lambda w, _: (held.append(w.open_replies), chat())[1])
    world.call(world.call_to(A), awaited=awaited)
    assert held == [0]


# Streams


def test_rtr_01_nothing_is_asked_again_after_the_first_content(awaited: bool) -> None:
    """A stream that breaks in the middle is an error with what came; no other target is asked."""
    world = World().on(A, Body(*chunks("Hel", done=False)[:2], il.APIConnectionError("cut"))).on(B, Body(*chunks("x")))
    call = world.call_to(A, B)
    outcome = Outcome()
    with pytest.raises(il.IncompleteStreamError) as caught:
        world.stream(call, awaited=awaited)
    assert caught.value.partial is not None
    assert (caught.value.partial.text, world.asked) == ("Hel", [A])
    assert told(caught.value.attempts) == [(A, "served")]
    assert outcome.response is None
    assert world.open_replies == 0


@pytest.mark.parametrize(
    "body",
    [
        Body(b": ping\n\n", il.APIConnectionError("cut")),
        Body(chunk(error={"message": "busy", "type": "server_error"})),
        Body(b": ping\n\n"),
        Body(),
    ],
    ids=["cut", "error-event", "empty", "nothing"],
)
def test_rtr_03_a_stream_that_fails_before_its_content_goes_on(body: Body, awaited: bool) -> None:
    """Whatever comes before the first content is no reason to give up: not a comment, not an error event."""
    world = World().on(A, body).on(B, Body(*chunks("B")))
    events, outcome = world.stream(world.call_to(A, B), awaited=awaited)
    assert outcome.whole(ended=True).text == "B"
    assert sum(isinstance(event, il.StreamStart) for event in events) == 1


def test_an_error_right_after_the_head_of_a_stream_goes_on(awaited: bool) -> None:
    """Messages begins with its head; an overload that comes with it has told nothing yet."""
    head = (
        b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant",'
    )
    head += b'"model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
    error = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    world = World().on(A, Body(head + error)).on(B, refusal(529))
    with pytest.raises(il.ChainExhaustedError) as caught:
        world.stream(world.call_to(A, B, dialect="anthropic"), awaited=awaited)
    assert world.asked == [A, A, B, B]
    assert caught.value.attempts[0].error == "OverloadedError: Overloaded"


# Committed requests


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (Request(), False),
        (Request(store=False), False),
        (Request(store=True), True),
        (Request(tools=(SEARCH,)), True),
        (Request(tools=(il.Tool(name="f"),)), False),
        (Request(continues=ServerState("openai-responses", {"previous_response_id": "r"})), True),
        (Request(continues=ServerState("google", {"cachedContent": "c"})), False),
        (Request(extra={"anthropic": {"mcp_servers": []}}), True),
    ],
)
def test_rtr_10_what_lets_the_provider_act_is_committed(request_: Request, expected: bool) -> None:
    """Tools that the provider runs, and conversations that it keeps."""
    assert is_committed(request_) is expected


@pytest.mark.parametrize(
    "problem", [refusal(503), refusal(429), il.APIConnectionError("reset"), il.APITimeoutError("x", phase="first_byte")]
)
def test_rtr_10_a_committed_request_is_sent_once(problem: Any, awaited: bool) -> None:
    """It may have run: not again at this target, not at the next one; a whole chain gives that error."""
    world = World().on(A, problem).on(B, chat())
    with pytest.raises(il.Error) as caught:
        world.call(world.call_to(A, B, store=True), awaited=awaited)
    assert world.asked == [A]
    assert not isinstance(caught.value, il.ChainExhaustedError)


def test_rtr_10_a_committed_request_that_was_never_sent_is_tried_again(awaited: bool) -> None:
    """Nobody was reached, so nothing ran; and who refuses the key runs nothing."""
    world = World().on(A, _unreached()).on(B, refusal(401)).on(C, chat("C"))
    assert world.call(world.call_to(A, B, C, store=True), awaited=awaited).text == "C"
    assert world.asked == [A, A, B, C]


# Time


def test_the_time_of_a_chain_is_shared_out(awaited: bool, streamed: bool) -> None:
    """A target that stalls gets its share, not all of it; the next ones share what is left."""
    world = World().on(A, stalled).on(B, stalled).on(C, good("C", streamed=streamed))
    reply = ask(world, world.call_to(A, B, C, timeout_s=60), awaited=awaited, streamed=streamed)
    assert reply.text == "C"
    assert world.asked == [A, B, C]
    assert world.now == 40.0
    first, second, third = world.timeouts
    limits = [(times.first_byte_s, times.total_s) for times in (first, second, third)]
    assert limits == ([(20, 60), (20, 40), (60, 20)] if streamed else [(60, 20), (60, 20), (60, 20)])


def test_a_single_target_has_all_the_time(awaited: bool, streamed: bool) -> None:
    """Nothing is held back for tries that may never be made; what the first one took is missing for the second."""
    world = World().on(A, refusal(500), good(streamed=streamed))
    ask(world, world.call_to(A, timeout_s=60), awaited=awaited, streamed=streamed)
    assert [times.total_s for times in world.timeouts] == [60, 59.5]


def test_a_stream_that_only_breathes_loses_its_turn(awaited: bool) -> None:
    """Comments are no content: when its share is over, the next target is asked."""
    world = World().on(A, Body(b": ping\n\n", 19.0, b": ping\n\n", 50.0, *chunks("late"))).on(B, Body(*chunks("B")))
    _, outcome = world.stream(world.call_to(A, B, timeout_s=60), awaited=awaited)
    reply = outcome.whole(ended=True)
    assert (reply.text, world.now, world.asked) == ("B", 30.0, [A, B])
    assert reply.attempts[0].error == (
        "APITimeoutError: a/one had not begun to answer when its share of the time was over"
    )
    assert world.open_replies == 0


def test_when_the_time_is_over_the_chain_is(awaited: bool, streamed: bool) -> None:
    """The last error is sent as it is; nobody else is asked."""
    world = World().on(A, stalled)
    with pytest.raises(il.APITimeoutError) as caught:
        ask(world, world.call_to(A, timeout_s=5), awaited=awaited, streamed=streamed)
    assert (world.asked, world.now, len(caught.value.attempts)) == ([A], 5.0, 1)
