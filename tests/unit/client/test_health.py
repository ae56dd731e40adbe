"""Health in the hands of a person: what is known, suspend, resume, in both faces."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, cast, get_args

import pytest

import interlingua as il
from interlingua import aio
from interlingua.client.state import health_store
from interlingua.routing.health import Failed, State, Suspend
from interlingua.testing import FakeModel, use


class Hands:
    """One face of `health`, blocking or awaited."""

    def __init__(self, face: object) -> None:
        self._face = face

    async def do(self, name: str, *arguments: object, **options: object) -> Any:
        """What the face answers."""
        answer = getattr(self._face, name)(*arguments, **options)
        return await cast("Awaitable[object]", answer) if inspect.isawaitable(answer) else answer


@pytest.fixture(params=["blocking", "awaited"])
def hands(request: pytest.FixtureRequest) -> Hands:
    """Both faces."""
    return Hands(il.health if request.param == "blocking" else aio.health)


async def test_what_is_known_is_shown(hands: Hands) -> None:
    """A target that is well is not in the table."""
    health_store().apply([("openai/a", Failed(error="OverloadedError 529"))])
    assert await hands.do("snapshot") == {
        "openai/a": il.TargetHealth("open", failures=1, error="OverloadedError 529"),
    }


async def test_the_state_of_a_target_is_that_of_a_circuit_breaker(hands: Hands) -> None:
    """`closed` is asked, `open` passed over, `half_open` awaits or makes its probe, `suspended` is a person's word."""
    health_store().apply([("openai/a", Failed()), ("openai/b", Failed("auth")), ("openai/c", Suspend())])
    assert {target: health.circuit for target, health in (await hands.do("snapshot")).items()} == {
        "openai/a": "closed",
        "openai/b": "open",
        "openai/c": "suspended",
    }
    assert [il.TargetHealth(state).circuit for state in get_args(State)] == [
        "closed",
        "half_open",
        "half_open",
        "open",
        "suspended",
    ]


async def test_a_person_suspends_and_resumes(hands: Hands) -> None:
    """Each target of an alias or a chain is meant; the last word counts."""
    il.register_alias("pair", "openai/a,groq/b")
    assert await hands.do("suspend", "pair,fake/echo") == ("openai/a", "groq/b", "fake/echo")
    assert {health.state for health in (await hands.do("snapshot")).values()} == {"suspended"}
    await hands.do("suspend", "openai/a", for_s=600)
    assert 599 < (await hands.do("snapshot"))["openai/a"].wait_s <= 600
    assert await hands.do("resume", "pair") == ("openai/a", "groq/b")
    assert list(await hands.do("snapshot")) == ["fake/echo"]


async def test_a_suspended_target_is_passed_over(hands: Hands) -> None:
    """A chain goes on to the next one, and a call of the target alone says why it is not made."""
    await hands.do("suspend", "fake/echo")
    reply = il.model("fake/echo,fake/other").generate("Hello")
    assert [(attempt.model, attempt.outcome) for attempt in reply.attempts] == [
        ("fake/echo", "skipped"),
        ("fake/other", "served"),
    ]
    with pytest.raises(il.Error, match="suspended"):
        il.model("fake/echo").generate("Hello")
    await hands.do("resume", "fake/echo")
    assert il.model("fake/echo").generate("Hello").model == "fake/echo"


async def test_a_target_that_only_another_process_knows_is_resumed_by_its_name(hands: Hands) -> None:
    """What is told of it in the shared place is enough; what nobody told of is still a typing error."""
    health_store().apply([("lab-of-theirs/a", Failed("auth"))])
    with pytest.raises(il.UnknownModelError, match="no provider 'lab-of-theirs'"):
        await hands.do("resume", "lab-of-theirs/b,lab-of-theirs/a")
    assert await hands.do("suspend", "openai/a,lab-of-theirs/a") == ("openai/a", "lab-of-theirs/a")
    assert await hands.do("resume", "lab-of-theirs/a, openai/a") == ("lab-of-theirs/a", "openai/a")
    assert await hands.do("snapshot") == {}


async def test_a_spec_that_leads_nowhere_is_refused(hands: Hands) -> None:
    """A typing error suspends nothing in silence."""
    with pytest.raises(il.UnknownModelError):
        await hands.do("suspend", "opnai/a")
    with pytest.raises(il.UsageError, match="is a pattern; health is of single targets"):
        await hands.do("suspend", "openai/*")
    for seconds in (0, -1, float("inf"), float("nan")):
        with pytest.raises(il.UsageError, match="a target is suspended for some seconds"):
            await hands.do("suspend", "openai/a", for_s=seconds)
    assert await hands.do("snapshot") == {}


async def test_under_a_fake_any_name_will_do(hands: Hands) -> None:
    """The code under test may suspend what no provider defines."""
    with use(FakeModel("hello")):
        assert await hands.do("suspend", "made/up, alias") == ("made/up", "alias")
        assert list(await hands.do("snapshot")) == ["alias", "made/up"]
    assert await hands.do("snapshot") == {}


async def test_a_word_that_could_not_be_shared_is_an_error(hands: Hands, tmp_path: Path) -> None:
    """Nobody believes a target suspended everywhere when one process alone knows of it."""
    (tmp_path / "in-the-way").write_text("")
    il.use_state(f"file:{tmp_path / 'in-the-way' / 'state.sqlite'}")
    with pytest.raises(il.APIConnectionError, match="only this process was changed: "):
        await hands.do("suspend", "openai/a")
