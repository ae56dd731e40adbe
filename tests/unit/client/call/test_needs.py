"""Targets that are known not to take a request are passed over unasked; refusals that say so are kept."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.registry.allowance import Allowance
from interlingua.registry.resolve import placeholder
from interlingua.routing.health import LACK_S, TargetHealth
from interlingua.types.capabilities import Capabilities
from tests.support.chains import World, ask, good, refusal, told
from tests.support.tiny import PNG

A, B = "a/one", "b/two"
NO_TOOLS = refusal(400, "registry.ollama.ai/library/gemma3:4b does not support tools")
TOOL = il.Tool(name="look_up", description="Looks up.", parameters={"type": "object", "properties": {}})


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def awaited(request: pytest.FixtureRequest) -> bool:
    """Both faces."""
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    """Whole answers and streams."""
    return request.param


def _picture(world: World, *specs: str, **options: Any) -> Any:
    """A call with a picture, whose first target is known to take none."""
    call = world.call_to(*specs, **options)
    request = replace(call.request, messages=(il.user("?", il.image(PNG)),))
    first, *others = call.targets
    facts = replace(first.endpoint.target.facts, images=False)
    target = replace(first.endpoint.target, facts=facts)
    said = Capabilities(images=False, origins={"images": "LLM_A"})
    first = replace(first, endpoint=replace(first.endpoint, target=target, capabilities=said))
    return replace(call, request=request, targets=(first, *others))


def test_cap_01_what_is_known_not_to_be_taken_is_passed_over(awaited: bool, streamed: bool) -> None:
    """Nothing is sent to the first target, nothing is held against it, and the attempt says why."""
    world = World().on(A, good(streamed=streamed)).on(B, good(streamed=streamed))
    reply = ask(world, _picture(world, A, B), awaited=awaited, streamed=streamed)
    assert world.asked == [B]
    assert told(reply.attempts) == [(A, "skipped"), (B, "served")]
    assert reply.attempts[0].error == "UnsupportedError: a/one does not take images (LLM_A)"
    assert world.health.snapshot() == {}


def test_where_nobody_takes_it_one_error_names_each_and_what_it_lacks() -> None:
    """Every target with its reason, and a refused entry for each."""
    world = World()
    call = _picture(world, A, B)
    call = replace(
        call, targets=(call.targets[0], replace(call.targets[0], endpoint=replace(call.targets[0].endpoint, spec=B)))
    )
    with pytest.raises(il.UnsupportedError) as caught:
        ask(world, call, awaited=False, streamed=False)
    assert caught.value.message == (
        "no target of the chain takes the request: a/one does not take images (LLM_A); "
        "b/two does not take images (LLM_A)"
    )
    assert [(change.action, change.code, change.path) for change in caught.value.changes] == [
        ("refused", "images", "/messages/0/parts/1")
    ] * 2
    assert told(caught.value.attempts) == [(A, "skipped"), (B, "skipped")]


def test_what_may_be_let_go_keeps_no_target_away() -> None:
    """With `allow={"images"}` the first target is asked without the picture, as it would be alone."""
    world = World().on(A, good(streamed=False))
    reply = ask(world, _picture(world, A, B, allow={"images"}), awaited=False, streamed=False)
    assert world.asked == [A]
    assert b"image_url" not in world.bodies[0]
    assert [change.code for change in reply.changes] == ["images"]


def test_cap_01_a_refusal_that_says_so_advances_and_is_kept(awaited: bool, streamed: bool) -> None:
    """The 400 goes on to the next target; later calls with tools pass the first one over, others do not."""
    world = World().on(A, NO_TOOLS).on(B, good(streamed=streamed))
    reply = ask(world, world.call_to(A, B, tools=[TOOL]), awaited=awaited, streamed=streamed)
    assert told(reply.attempts) == [(A, "failed"), (B, "served")]
    assert world.health.snapshot() == {A: TargetHealth("open", lacks=("tools",), identity=placeholder(A).identity())}
    reply = ask(world, world.call_to(A, B, tools=[TOOL]), awaited=awaited, streamed=streamed)
    assert world.asked == [A, B, B]
    assert reply.attempts[0].error == "UnsupportedError: a/one does not take tools (the target refused it lately)"
    world.on(A, good(streamed=streamed))
    ask(world, world.call_to(A, B), awaited=awaited, streamed=streamed)
    assert world.asked == [A, B, B, A]
    world.now += LACK_S
    ask(world, world.call_to(A, B, tools=[TOOL]), awaited=awaited, streamed=streamed)
    assert world.asked == [A, B, B, A, A]


def test_the_only_target_is_refused_with_its_own_words_and_then_with_ours() -> None:
    """First the provider's 400; then an error that says what is known, before anything is sent."""
    world = World().on(A, NO_TOOLS)
    with pytest.raises(il.BadRequestError, match="does not support tools") as first:
        ask(world, world.call_to(A, tools=[TOOL]), awaited=False, streamed=False)
    assert first.value.lacking == "tools"
    with pytest.raises(il.UnsupportedError, match="a/one does not take tools"):
        ask(world, world.call_to(A, tools=[TOOL]), awaited=False, streamed=False)
    assert world.asked == [A]
    assert [change.code for change in ask(
        world.on(A, good(streamed=False)), world.call_to(A, tools=[TOOL], allow={"tools"}),
        awaited=False, streamed=False,
    ).changes] == ["tools"]  # fmt: skip


def test_two_refusals_are_one_error_that_names_both() -> None:
    """Where the last target says so as well, nobody takes the request."""
    world = World().on(A, NO_TOOLS).on(B, refusal(404, 'No endpoints found that support tool use. Try disabling "x".'))
    with pytest.raises(il.UnsupportedError) as caught:
        ask(world, world.call_to(A, B, tools=[TOOL]), awaited=False, streamed=False)
    assert caught.value.message == (
        "no target of the chain takes the request: a/one: registry.ollama.ai/library/gemma3:4b does not support tools; "
        'b/two: No endpoints found that support tool use. Try disabling "x".'
    )
    assert caught.value.http_status == 400


@pytest.mark.parametrize(
    "message", ["Invalid value: 'm does not support tools'", "m does not support tools, said the user"]
)
def test_a_sentence_that_only_holds_the_words_is_not_believed(message: str) -> None:
    """What a client wrote may stand in an error; nothing is learned, and the chain stops as for any bad request."""
    world = World().on(A, refusal(400, message)).on(B, good(streamed=False))
    with pytest.raises(il.BadRequestError):
        ask(world, world.call_to(A, B, tools=[TOOL]), awaited=False, streamed=False)
    assert world.health.snapshot() == {}


def test_a_refusal_of_what_the_request_does_not_have_is_not_kept() -> None:
    """A request without tools says nothing of tools."""
    world = World().on(A, NO_TOOLS).on(B, good(streamed=False))
    with pytest.raises(il.BadRequestError):
        ask(world, world.call_to(A, B), awaited=False, streamed=False)
    assert world.health.snapshot() == {}


def test_a_500_that_says_so_counts_nothing_against_the_target() -> None:
    """llama.cpp refuses pictures with a 500: the chain goes on at once, and no failure is counted."""
    sentence = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
    world = World().on(A, refusal(500, sentence)).on(B, good(streamed=False))
    call = world.call_to(A, B)
    call = replace(call, request=replace(call.request, messages=(il.user("?", il.image(PNG)),)))
    reply = ask(world, call, awaited=False, streamed=False)
    assert told(reply.attempts) == [(A, "failed"), (B, "served")]
    assert (world.slept, world.health.snapshot()) == (
        [],
        {A: TargetHealth("open", lacks=("images",), identity=placeholder(A).identity())},
    )


def test_a_knob_that_was_refused_is_dropped_the_next_time() -> None:
    """Thinking is a knob: the target is asked again, without it, and the entry says so."""
    world = World().on(A, refusal(400, '"m" does not support thinking')).on(B, good(streamed=False))
    assert told(ask(world, _thinking(world), awaited=False, streamed=False).attempts) == [(A, "failed"), (B, "served")]
    with pytest.warns(il.ChangeWarning, match="/effort"):
        reply = ask(world.on(A, good(streamed=False)), _thinking(world), awaited=False, streamed=False)
    assert told(reply.attempts) == [(A, "served")]
    assert [(change.code, change.path) for change in reply.changes] == [("parameter_unsupported", "/effort")]


def _thinking(world: World) -> Any:
    call = world.call_to(A, B)
    return replace(call, request=replace(call.request, effort="high"))


@pytest.mark.parametrize("feature", ["n", "logprobs", "forced_choice"])
def test_what_is_required_keeps_a_target_away_that_is_known_not_to_have_it(feature: Any) -> None:
    """`require` makes a need of a knob; what is unknown is asked."""
    world = World().on(B, good(streamed=False))
    call = world.call_to(A, B, require={feature})
    first, second = call.targets
    quirks = replace(
        first.endpoint.target.quirks, unsupported=frozenset({"n", "logprobs"}), tool_choice="ignored"
    )  # fmt: skip
    target = replace(first.endpoint.target, quirks=quirks)
    first = replace(first, endpoint=replace(first.endpoint, target=target))
    reply = ask(world, replace(call, targets=(first, second)), awaited=False, streamed=False)
    assert world.asked == [B]
    assert told(reply.attempts) == [(A, "skipped"), (B, "served")]
    assert f"does not take {feature}" in (reply.attempts[0].error or "")


def test_a_limit_of_our_own_is_left_alone_by_who_is_passed_over() -> None:
    """Neither a ticket nor a place in the line is taken for a target that is not asked."""
    world = World().on(B, good(streamed=False))
    world.limits.set(A, Allowance(rpm=1))
    ask(world, _picture(world, A, B), awaited=False, streamed=False)
    assert world.limits.loads()[A].requests == 0


def test_a_typed_answer_as_a_tool_is_asked_for_in_words_after_a_refusal() -> None:
    """The hidden tool was refused: the next typed call of the same target goes out without one."""
    world = World().on(A, NO_TOOLS).on(B, good(streamed=False))
    assert told(ask(world, _typed(world), awaited=False, streamed=False).attempts) == [(A, "failed"), (B, "served")]
    reply = ask(world.on(A, good(streamed=False)), _typed(world), awaited=False, streamed=False)
    assert told(reply.attempts) == [(A, "served")]
    assert [change.code for change in reply.changes] == ["output_schema_prompted"]
    assert b'"tools"' in world.bodies[0]
    assert b'"tools"' not in world.bodies[-1]


def _typed(world: World) -> Any:
    """A typed call of a target that knows no schemas, so that the answer is asked for as a tool."""
    call = world.call_to(A, B)
    first, second = call.targets
    facts = replace(first.endpoint.target.facts, output_schema=False)
    quirks = replace(first.endpoint.target.quirks, output_schema="none")
    target = replace(first.endpoint.target, facts=facts, quirks=quirks)
    request = replace(call.request, output_schema={"type": "object", "properties": {"a": {"type": "string"}}})
    settings = replace(call.settings, warns=False)
    targets = (replace(first, endpoint=replace(first.endpoint, target=target)), second)
    return replace(call, request=request, targets=targets, typed=True, settings=settings)
