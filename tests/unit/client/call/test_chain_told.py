"""What a chain tells, what it leaves behind when it is interrupted, and who else goes this way; in both faces."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.client.call.values import CallTarget
from interlingua.client.typed.output import answered, asking
from interlingua.dialects._contract import ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.registry.allowance import Allowance
from interlingua.registry.resolve import Registry
from interlingua.routing.health import Failed
from interlingua.testing import FakeModel, use
from interlingua.types.tool import OpaqueTool
from tests.support.chains import Body, Waited, World, ask, refusal, told
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


# Sealed state


def _said(dialect: str, text: str) -> Any:
    """An answer of a dialect."""
    parts = (il.TextPart(text),)
    return get_dialect(dialect).encode_response(
        il.Response(parts=parts, finish_reason="stop", usage=il.Usage(), id="x", model="m"),
        ServerContext(created=1, make_id=lambda: "x"),
    )


def test_sealed_state_does_not_follow_a_chain_to_another_issuer(awaited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thinking that Claude signed goes back to Claude alone; to the next target it is dropped, with an entry."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-test-0123456789abcdef")
    claude, gpt = "anthropic/claude-opus-5", "openai/gpt-5.6"
    sealed = il.Sealed("anthropic", {"signature": "c2lnbmVk"}, provider="anthropic", model="claude-opus-5")
    thought = il.ThinkingPart("Hm.", sealed=sealed)
    history = (
        il.user("Hi"),
        il.Message("assistant", (thought, il.TextPart("Hello."))),
        il.user("And?"),
    )
    world = World().on(claude, refusal(529)).on(gpt, _said("openai-responses", "Well."))
    targets = tuple([CallTarget(end, get_dialect(end.dialect)) for end in Registry().resolve(f"{claude},{gpt}")])
    call = replace(world.call_to(A, retries=0), targets=targets, request=il.Request(messages=history, max_tokens=99))
    reply = world.call(call, awaited=awaited)
    assert [target.dialect.name for target in targets] == ["anthropic", "openai-responses"]
    assert reply.model == gpt
    to_claude, to_gpt = world.bodies
    assert b"c2lnbmVk" in to_claude
    assert b"c2lnbmVk" not in to_gpt
    assert [(change.action, change.code, change.path) for change in reply.changes if "seal" in change.code] == [
        ("dropped", "seal_foreign", "/messages/1/parts/0/sealed")
    ]


# What is told


def _heard(world: World, call: Any, *, awaited: bool, streamed: bool) -> list[str]:
    """The events of a call in a few words."""
    told: list[str] = []
    with il.on_event(lambda event: told.append(_line(event))), suppress(il.Error):
        ask(world, call, awaited=awaited, streamed=streamed)
    return told


def _line(event: Any) -> str:
    facts = {name: getattr(event, name, None) for name in ("model", "number", "delay_s", "for_s", "reason", "error")}
    words = [f"{name}={fact}" for name, fact in facts.items() if fact is not None]
    return " ".join([type(event).__name__, *words])


def test_observers_hear_the_whole_story(awaited: bool) -> None:
    """Every try, every pause, every bench, and who answered in the end; then who was passed over."""
    world = World().on(A, refusal(529)).on(B, refusal(401)).on(C, chat())
    assert _heard(world, world.call_to(A, B, C), awaited=awaited, streamed=False) == [
        "CallStarted",
        "AttemptStarted model=a/one number=1",
        "AttemptFailed model=a/one number=1 error=OverloadedError",
        "RetryScheduled model=a/one number=2 delay_s=0.5 error=OverloadedError",
        "AttemptStarted model=a/one number=2",
        "AttemptFailed model=a/one number=2 error=OverloadedError",
        "TargetBenched model=a/one for_s=5.0 reason=failures (OverloadedError 529)",
        "AttemptStarted model=b/two number=3",
        "AttemptFailed model=b/two number=3 error=AuthenticationError",
        "TargetBenched model=b/two for_s=300.0 reason=auth (AuthenticationError 401)",
        "AttemptStarted model=c/three number=4",
        "CallFinished model=c/three",
    ]
    why = "circuit breaker open for another 5 s: it failed several times in a row, last OverloadedError 529"
    assert _heard(world, world.call_to(A, C), awaited=awaited, streamed=False)[1:3] == [
        f"TargetSkipped model=a/one reason={why}",
        "AttemptStarted model=c/three number=1",
    ]


def test_observers_hear_of_a_stream_that_goes_on_elsewhere(awaited: bool) -> None:
    """Its first content is that of the target that was handed over."""
    world = World().on(A, Body()).on(B, Body(*chunks("B")))
    assert _heard(world, world.call_to(A, B, retries=0), awaited=awaited, streamed=True) == [
        "CallStarted",
        "AttemptStarted model=a/one number=1",
        "AttemptFailed model=a/one number=1 error=IncompleteStreamError",
        "AttemptStarted model=b/two number=2",
        "FirstContent model=b/two number=2",
        "CallFinished model=b/two",
    ]


# Being interrupted


class _Interrupted(BaseException):
    """What nobody expects."""


@pytest.mark.parametrize("where", ["open", "read", "sleep", "consult", "enter"])
def test_whatever_interrupts_a_call_leaves_nothing_open(
    where: str, awaited: bool, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every place where a call waits: the exchange is closed, the limit is left, the probe is given back."""
    world = World().on(A, refusal(503), Body(*chunks("x")) if streamed else chat())
    world.limits.set(A, Allowance(concurrency=1))
    call = world.call_to(A, retries=3)

    def interrupt(*_: object) -> Any:
        raise _Interrupted

    match where:
        case "open":
            world.on(A, refusal(503), interrupt)
        case "read":
            world.on(A, refusal(503), Body(_Interrupted(), events=streamed))
        case "sleep":
            monkeypatch.setattr(world, "wait", interrupt)
        case "consult":
            call = replace(call, health=_Interrupting(world.health))
        case _:
            monkeypatch.setattr(world.limits, "enter", interrupt)
            monkeypatch.setattr(world.limits, "enter_async", interrupt)
    with pytest.raises(_Interrupted):
        ask(world, call, awaited=awaited, streamed=streamed)
    assert world.open_replies == 0
    assert world.limits.would_wait(A) is False
    if where in ("open", "read"):
        assert _probes(world) == []


def _probes(world: World) -> list[str]:
    return [target for target, health in world.health.snapshot().items() if health.state == "probe"]


class _Interrupting(Waited):
    """A store that is interrupted when it hears of a failure."""

    def apply(self, operations: Any) -> Any:
        if isinstance(operations[0][1], Failed):
            raise _Interrupted
        return super().apply(operations)

    async def apply_async(self, operations: Any) -> Any:
        return self.apply(operations)


def test_a_probe_that_is_interrupted_gives_its_place_back(awaited: bool) -> None:
    """The next call may be the probe at once; nothing was learned of the target."""
    world = World().on(A, chat())
    world.health.apply([(A, Failed()), (A, Failed())])
    world.now += 6.0

    def interrupt(*_: object) -> Any:
        raise _Interrupted

    world.on(A, interrupt)
    with pytest.raises(_Interrupted):
        world.call(world.call_to(A, B), awaited=awaited)
    assert world.health.snapshot()[A].state == "half_open"


# Who else goes this way


def test_a_typed_answer_is_asked_for_again(awaited: bool) -> None:
    """The same way: what may pass is tried again, then the answer is read."""
    world = World().on(A, refusal(503), chat('{"city": "Oslo"}'))
    call = world.call_to(A)
    steps = answered(replace(call, typed=True, request=asking(call.request, dict[str, str])), dict[str, str])
    reply = world.run(steps, awaited=awaited)
    assert reply.output == {"city": "Oslo"}
    assert told(reply.attempts) == [(A, "failed"), (A, "served")]


def test_map_asks_again_like_every_call(awaited: bool) -> None:
    """Each input goes the same way; its item has every try."""
    busy = il.OverloadedError("busy")
    with use(FakeModel([busy, "one", busy, busy])):
        model = (AWAITED if awaited else BLOCKING).model("fake/x", retries=1)
        items = _items(model, awaited=awaited)
    assert [item.response.text if item.response else type(item.error).__name__ for item in items] == [
        "one",
        "OverloadedError",
    ]
    assert items[0].response is not None
    assert told(items[0].response.attempts) == [("fake/x", "failed"), ("fake/x", "served")]


def _items(model: Any, *, awaited: bool) -> list[Any]:
    if not awaited:
        return list(model.map(["a", "b"], concurrency=1))

    async def all_items() -> list[Any]:
        return [item async for item in model.map(["a", "b"], concurrency=1)]

    return asyncio.run(all_items())
