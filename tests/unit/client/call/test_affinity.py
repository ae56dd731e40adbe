"""Policy `prefix`: the turns of a conversation go to one target, and fall over by its order."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.client.call.affinity import prefix_digest
from interlingua.registry.resolve import Registry
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.tool import Tool


def _conversation(question: str, turns: int = 1) -> list[Message]:
    messages = [Message(role="user", parts=(il.TextPart(text=question),))]
    for _ in range(turns - 1):
        messages += [
            Message(role="assistant", parts=(il.TextPart(text="So."),)),
            Message(role="user", parts=(il.TextPart(text="And?"),)),
        ]
    return messages


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> il.Model:
    """A chain of three targets."""
    registry = Registry({})
    registry.register_alias("pool", "fake/a,fake/b,fake/c", policy="prefix")
    monkeypatch.setattr("interlingua.client.face.default_registry", lambda: registry)
    return il.model("pool", system="Be brief.")


def test_the_prefix_is_what_every_turn_has() -> None:
    """Later turns, handlers and cache marks are no part of it; first question, system text and tools are."""
    tool = Tool(name="f", description="d")
    request = Request(messages=tuple(_conversation("Hi")), system=(il.TextPart(text="Be brief."),), tools=(tool,))
    grown = replace(request, messages=tuple(_conversation("Hi", 3)), max_tokens=5)
    handled = replace(request, tools=(replace(tool, handler=print),))
    marked = replace(request, system=(il.TextPart(text="Be brief.", cache="5m"),))
    assert {prefix_digest(each) for each in (request, grown, handled, marked)} == {prefix_digest(request)}
    others = [
        replace(request, messages=tuple(_conversation("Ho"))),
        replace(request, system=(il.TextPart(text="Be long."),)),
        replace(request, tools=()),
        replace(request, messages=()),
    ]
    assert len({prefix_digest(each) for each in (request, *others)}) == 5


def test_a_conversation_stays_where_it_began(pool: il.Model) -> None:
    """Each of forty conversations has one target over four turns; all three targets have some; `explain` agrees."""
    firsts: set[str] = set()
    for number in range(40):
        targets = {pool.generate(_conversation(f"Question {number}", turns)).model for turns in range(1, 5)}
        plan = pool.explain(_conversation(f"Question {number}", 2))
        assert {target.spec for target in plan.targets if target.chosen} == targets
        firsts |= targets
    assert firsts == {"fake/a", "fake/b", "fake/c"}


def test_a_suspended_target_gives_its_conversations_to_the_others(pool: il.Model) -> None:
    """Each goes to the next one of its own order, and returns when the target does; the rest stay."""
    before = [pool.generate(_conversation(f"Question {number}")).model for number in range(40)]
    il.health.suspend("fake/b")
    during = [pool.generate(_conversation(f"Question {number}")).model for number in range(40)]
    il.health.resume("fake/b")
    after = [pool.generate(_conversation(f"Question {number}")).model for number in range(40)]
    assert [one for one, other in zip(during, before, strict=True) if other != "fake/b"] == [
        one for one in before if one != "fake/b"
    ]
    moved = {one for one, other in zip(during, before, strict=True) if other == "fake/b"}
    assert moved == {"fake/a", "fake/c"}
    assert after == before
