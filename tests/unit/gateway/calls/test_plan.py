"""What is settled once for requests that name the same model, and when it is settled anew."""

import msgspec

from interlingua.gateway.calls.exchange import call_of
from interlingua.gateway.calls.plan import UNREAD
from tests.support.gateway import asking, gateway


def test_a_plan_is_made_once() -> None:
    """For each name, dialect and kind of request."""
    plans = gateway(aliases={"smart": "anthropic/claude-opus-4-5"}).plans
    plan = plans.plan("smart", "anthropic", tools=False)
    assert plans.plan("smart", "anthropic", tools=False) is plan
    assert plans.plan("smart", "openai-chat", tools=False) is not plan
    assert plans.plan("smart", "anthropic", tools=True) is not plan


def test_a_plan_ends_with_what_it_was_made_of() -> None:
    """Another meaning of the name, and other settings."""
    made = gateway(aliases={"smart": "anthropic/claude-opus-4-5"})
    first = made.plans.plan("smart", "anthropic", tools=False)
    made.registry.register_alias("smart", "anthropic/claude-haiku-4-5")
    second = made.plans.plan("smart", "anthropic", tools=False)
    assert [target.endpoint.model for target in second.targets] == ["claude-haiku-4-5"]
    made.set_up(msgspec.structs.replace(made.settings, strict=True))
    third = made.plans.plan("smart", "anthropic", tools=False)
    assert (first.call.settings.strict, second.call.settings.strict, third.call.settings.strict) == (False, False, True)


async def test_a_request_that_goes_out_as_it_came_has_the_call_of_its_plan() -> None:
    """The very same object, unless something of the request bears on it."""
    made = gateway(aliases={"smart": "anthropic/claude-opus-4-5"})
    plan = made.plans.plan("smart", "anthropic", tools=False)
    asked = made.parts.conversations.read(asking("anthropic", "smart"), "anthropic")
    assert await call_of(asked) is plan.call
    assert plan.call.request is UNREAD
    strict = made.parts.conversations.read(
        asking("anthropic", "smart", headers={"x-interlingua-strict": "1"}), "anthropic"
    )
    call = await call_of(strict)
    assert (call.settings.strict, plan.call.settings.strict) == (True, False)
