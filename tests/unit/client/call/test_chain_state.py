"""What calls know of each other on their way: health, limits of our own, policies; in both faces."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.client.call.core import Outcome, stream_steps
from interlingua.client.call.pump import Pump
from interlingua.registry.allowance import Allowance
from interlingua.registry.ranking import Ranking, Rule
from interlingua.registry.resolve import Registry
from interlingua.routing.health import Suspend
from interlingua.routing.limits import Limiter
from interlingua.routing.order import Traffic
from interlingua.types.tool import OpaqueTool
from tests.support.chains import Body, Waited, World, ask, good, refusal, told
from tests.support.client import AWAITED, BLOCKING, chat, chunks

A, B, C = "a/one", "b/two", "c/three"
SEARCH = OpaqueTool("openai-responses", "web_search", {"type": "web_search"})


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def awaited(request: pytest.FixtureRequest) -> bool:
    """Both faces."""
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    """Whole answers and streams."""
    return request.param


# Health


def test_a_benched_target_is_passed_over(awaited: bool, streamed: bool) -> None:
    """R42: what failed twice in a row is left alone, and the story says until when and why."""
    world = World().on(A, refusal(503)).on(B, good("B", streamed=streamed))
    ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    reply = ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    assert world.asked == [A, A, B, B]
    assert reply.attempts[0] == il.Attempt(
        model=A,
        outcome="skipped",
        error="circuit breaker open for another 5 s: it failed several times in a row, last OverloadedError 503",
    )


def test_a_bench_ends_by_a_probe(awaited: bool, streamed: bool) -> None:
    """After its time one try goes there; its success forgets everything."""
    world = World().on(A, refusal(503), refusal(503), good("A", streamed=streamed)).on(B, good(streamed=streamed))
    ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    world.now += 5.0
    assert ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed).model == A
    assert world.health.snapshot() == {}


@pytest.mark.parametrize(("status", "reason"), [(401, "auth"), (402, "billing")])
def test_r42_key_and_account_bench_for_five_minutes(status: int, reason: str, awaited: bool, streamed: bool) -> None:
    """One refusal is enough."""
    world = World().on(A, refusal(status)).on(B, good(streamed=streamed))
    ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    standing = world.health.snapshot()[A]
    assert (standing.state, standing.wait_s, standing.reason) == ("benched", 300.0, reason)


@pytest.mark.parametrize("problem", [refusal(404), refusal(413), il.UnsupportedError("x")])
def test_r42_what_a_target_cannot_take_is_no_fault_of_its_health(problem: Any, awaited: bool) -> None:
    """An unknown model and a request that is too large bench nobody."""
    world = World().on(A, problem).on(B, chat())
    world.call(world.call_to(A, B), awaited=awaited)
    assert world.health.snapshot() == {}


def test_a_single_target_is_asked_though_it_is_benched(awaited: bool, streamed: bool) -> None:
    """Nobody else is there: a bench must not make a call fail that could work."""
    world = World().on(A, refusal(503), refusal(503), good(streamed=streamed))
    with pytest.raises(il.OverloadedError):
        ask(world, world.call_to(A), awaited=awaited, streamed=streamed)
    assert world.health.snapshot()[A].state == "benched"
    world.now += 1.0
    assert told(ask(world, world.call_to(A), awaited=awaited, streamed=streamed).attempts) == [(A, "served")]
    assert world.health.snapshot() == {}


def test_when_all_are_benched_the_first_to_be_free_is_asked(awaited: bool, streamed: bool) -> None:
    """Both are passed over, then the one whose deadline comes first is asked all the same."""
    world = World().on(A, refusal(401), good("A", streamed=streamed))
    world.on(B, refusal(503), refusal(503), good("B", streamed=streamed))
    with pytest.raises(il.ChainExhaustedError):
        ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    reply = ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    assert told(reply.attempts) == [(A, "skipped"), (B, "skipped"), (B, "served")]


def test_what_a_person_took_out_is_not_asked(awaited: bool, streamed: bool) -> None:
    """Suspended is suspended, also when nobody else is left."""
    world = World().on(A, good(streamed=streamed))
    world.health.apply([(A, Suspend())])
    with pytest.raises(il.ChainExhaustedError, match="a/one: suspended by hand") as caught:
        ask(world, world.call_to(A), awaited=awaited, streamed=streamed)
    assert (world.asked, caught.value.retryable) == ([], False)


def test_a_stream_that_breaks_counts_against_its_target(awaited: bool) -> None:
    """Two streams in a row that broke off in the middle bench it."""
    world = World().on(A, Body(*chunks("Hel", done=False)[:2], il.APIConnectionError("cut")))
    for _ in range(2):
        with pytest.raises(il.IncompleteStreamError):
            world.stream(world.call_to(A), awaited=awaited)
    assert world.health.snapshot()[A].state == "benched"


def test_a_reader_who_leaves_says_nothing_of_the_target(awaited: bool) -> None:
    """A stream that was closed in the middle is neither a success nor a failure."""
    world = World().on(A, refusal(503), Body(*chunks("Hello", "you")))
    world.leave(world.call_to(A), awaited=awaited)
    assert world.health.snapshot()[A].failures == 1
    assert world.open_replies == 0


def test_a_store_that_takes_time_is_waited_for(awaited: bool, streamed: bool) -> None:
    """Health elsewhere: the driver asks it, blocking or awaited, and the way is the same."""
    world = World().on(A, refusal(503)).on(B, good(streamed=streamed))
    store = Waited(world.health)
    world.health = store
    ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    reply = ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    assert told(reply.attempts) == [(A, "skipped"), (B, "served")]
    assert store.asked == 9


# Limits of our own


def test_a_target_whose_limit_is_used_up_is_passed_over(awaited: bool, streamed: bool) -> None:
    """Another one is free; the story says why."""
    world = World().on(A, good("A", streamed=streamed)).on(B, good("B", streamed=streamed))
    world.limits.set(A, Allowance(rpm=1))
    assert ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed).model == A
    reply = ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    assert told(reply.attempts) == [(A, "skipped"), (B, "served")]
    assert reply.attempts[0].error == "its limit on our own side is used up"


class _Unknowing(Limiter):
    """A limiter that knows only when it is asked, as one does that is shared with other processes."""

    def would_wait(self, target: str, tokens: int = 0) -> bool:
        return False


def test_a_limit_that_others_used_up_costs_no_waiting_while_somebody_is_free(awaited: bool, streamed: bool) -> None:
    """It is found out when it is asked; then the next target is, and the first one is waited for when none is left."""
    world = World().on(A, good("A", streamed=streamed)).on(B, good("B", streamed=streamed), refusal(401))
    world.limits = _Unknowing(lambda: world.now)
    world.limits.set(A, Allowance(rpm=1))
    ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    reply = ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    assert told(reply.attempts) == [(A, "skipped"), (B, "served")]
    assert reply.attempts[0].error == "its limit on our own side is used up"
    with pytest.raises(il.ChainExhaustedError, match="limit of our own") as caught:
        ask(world, world.call_to(A, B, timeout_s=5), awaited=awaited, streamed=streamed)
    assert told(caught.value.attempts) == [(A, "skipped"), (B, "failed"), (A, "skipped")]
    assert list(world.health.snapshot()) == [B]


def test_a_limit_is_told_when_there_is_no_time_to_wait(awaited: bool, streamed: bool) -> None:
    """The only target: our own limit is a RateLimitError at once, and says when to come again; nobody is benched."""
    world = World().on(A, good(streamed=streamed))
    world.limits.set(A, Allowance(rpm=1))
    ask(world, world.call_to(A), awaited=awaited, streamed=streamed)
    with pytest.raises(il.RateLimitError, match="limit of our own") as caught:
        ask(world, world.call_to(A, timeout_s=10), awaited=awaited, streamed=streamed)
    assert caught.value.retry_after_s == 60.0
    assert world.health.snapshot() == {}


@pytest.mark.parametrize("end", ["whole", "failed", "left", "broken"])
def test_a_limit_is_left_in_whatever_way_a_call_ends(end: str, awaited: bool) -> None:
    """The place is free again after an answer, an error, a broken stream, and a reader who left."""
    steps = {
        "whole": Body(*chunks("Hello")),
        "failed": refusal(400),
        "left": Body(*chunks("Hello", "you")),
        "broken": Body(*chunks("Hel", done=False)[:2], il.APIConnectionError("cut")),
    }
    world = World().on(A, steps[end])
    world.limits.set(A, Allowance(concurrency=1))
    for _ in range(3):
        if end == "left":
            world.leave(world.call_to(A), awaited=awaited)
        elif end == "whole":
            world.stream(world.call_to(A), awaited=awaited)
        else:
            with pytest.raises(il.Error):
                world.stream(world.call_to(A), awaited=awaited)
    assert world.limits.would_wait(A) is False
    assert len(world.asked) == 3


def test_a_stream_that_is_collected_gives_its_place_back() -> None:
    """Nobody closed it; its ticket returns by itself."""
    world = World().on(A, Body(*chunks("Hello", "you")))
    world.limits.set(A, Allowance(concurrency=1))
    with world._standing():
        pump = Pump(stream_steps(world.call_to(A), Outcome()))
        pump.pull()
        assert world.limits.would_wait(A) is True
        del pump
    assert world.limits.would_wait(A) is False


# Policies


def test_a_weighted_chain_goes_on_all_the_same(awaited: bool, streamed: bool) -> None:
    """The policy decides who is first; whoever fails is followed by the others."""
    world = World().on(A, refusal(401)).on(B, good("B", streamed=streamed))
    call = replace(world.call_to(A, B, chance=0.5), ranking=Ranking(Rule("weighted", (1, 9)), (A, B)))
    assert ask(world, call, awaited=awaited, streamed=streamed).model == B
    assert world.asked == [B]
    call = replace(call, ranking=Ranking(Rule("weighted", (9, 1)), (A, B)))
    assert ask(world, call, awaited=awaited, streamed=streamed).model == B
    assert world.asked == [B, A, B]


def test_the_fastest_is_measured_by_its_first_content(awaited: bool) -> None:
    """Both get a try, then the faster one is the first target."""
    world = World().on(A, Body(4.0, *chunks("A"))).on(B, Body(1.0, *chunks("B"), 60.0))
    traffic = Traffic()
    call = replace(world.call_to(A, B), ranking=Ranking(Rule("fastest"), (A, B)), traffic=traffic)
    for _ in range(4):
        world.stream(call, awaited=awaited)
    assert world.asked == [A, B, B, B]


def test_the_least_busy_counts_streams_until_they_end() -> None:
    """A stream that is read is a call under way; one that was left, broke or ended is none."""
    world = World().on(A, Body(*chunks("Hello", "you"))).on(B, Body(*chunks("B")))
    traffic = Traffic()
    call = replace(world.call_to(A, B), ranking=Ranking(Rule("least-busy"), (A, B)), traffic=traffic)
    with world._standing():
        first, second, third = (Pump(stream_steps(call, Outcome())) for _ in range(3))
        first.pull()
        second.pull()
        assert (traffic.busy(A), traffic.busy(B)) == (1, 1)
        first.close()
        assert traffic.busy(A) == 0
        third.run()
        del second
    assert world.asked == [A, B, A]
    assert (traffic.busy(A), traffic.busy(B)) == (0, 0)


def test_an_alias_in_code_has_a_policy(awaited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """`register_alias(policy=…)` reaches the call: the weight of 0 is the last resort."""
    registry = Registry({})
    registry.register_alias("smart", "fake/a,fake/b", policy="weighted", weights=[0, 1])
    monkeypatch.setattr("interlingua.client.face.default_registry", lambda: registry)
    face = AWAITED if awaited else BLOCKING
    assert face.generate(face.model("smart")).model == "fake/b"
    assert face.generate(face.model("fake/a,smart")).model == "fake/a"
