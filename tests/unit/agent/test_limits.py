"""The bounds of a run: each ends it with a reason and what there is, never with an exception."""

from __future__ import annotations

from typing import Any

import pytest

import interlingua as il
from interlingua.agent.limits import Limits, reached
from interlingua.testing import FakeModel, no_network, tool_call, use
from tests.support.agents import FACES, AgentFace, call, get_weather, played

both = pytest.mark.parametrize("face", FACES, ids=repr)


@both
def test_r38_ten_steps_by_default(face: AgentFace) -> None:
    """A model that never comes to an end is asked ten times; the tools of its last step have run."""
    run, fake = played(face, lambda _: call())  # pyright: ignore[reportUnknownLambdaType]  # a fake takes any function
    assert (run.stop_reason, len(run.steps), len(fake.requests)) == ("max_steps", 10, 10)
    assert run.messages[-1].tool_results[0].is_error is False
    with pytest.raises(il.RunStoppedError, match="max_steps") as caught:
        _ = run.output
    assert caught.value.run is run


@both
def test_r38_a_higher_bound_lets_it_go_on(face: AgentFace) -> None:
    """What stopped at a bound goes on where it was, the steps before counted in."""
    with no_network(), use(FakeModel([call(), call("Bergen"), "Done."])):
        agent = face.agent(max_steps=1)
        run = face.run(agent)
        assert face.resume(agent, run).stop_reason == "max_steps"
        run = face.resume(agent.with_options(max_steps=3), run)
    assert (run.output, len(run.steps)) == ("Done.", 3)


@both
def test_r38_tokens_are_bounded(face: AgentFace) -> None:
    """The bound is looked at before the model is asked again."""
    run, fake = played(face, [call(), "never asked"], max_tokens=1)
    assert (run.stop_reason, fake.left) == ("max_tokens", 1)
    run, _ = played(face, ["An answer that came is never thrown away."], max_tokens=1)
    assert run.stop_reason == "done"


@both
def test_r38_money_that_nobody_counts_ends_the_run(face: AgentFace) -> None:
    """A bound on a price that is unknown cannot hold, so it does not pretend to."""
    run, fake = played(face, [call(), "never asked"], max_cost_usd=1.0)
    assert (run.stop_reason, run.cost_usd, fake.left) == ("uncounted", None, 1)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (il.RunRecord(), None),
        (il.RunRecord(steps=(il.Step(il.Response()),), cost_usd=0.4), "uncounted"),
        (il.RunRecord(steps=(il.Step(il.Response()),), usage=il.Usage(input_tokens=4, output_tokens=5)), "uncounted"),
        (
            il.RunRecord(
                steps=(il.Step(il.Response()),), usage=il.Usage(input_tokens=4, output_tokens=5), cost_usd=0.49
            ),
            None,
        ),
        (
            il.RunRecord(
                steps=(il.Step(il.Response()),), usage=il.Usage(input_tokens=4, output_tokens=5), cost_usd=0.5
            ),
            "max_cost_usd",
        ),
        (
            il.RunRecord(
                steps=(il.Step(il.Response()),), usage=il.Usage(input_tokens=5, output_tokens=5), cost_usd=0.5
            ),
            "max_tokens",
        ),
        (il.RunRecord(elapsed_s=2.0), "max_time_s"),
        (il.RunRecord(steps=(il.Step(il.Response()),) * 3, elapsed_s=2.0), "max_steps"),
    ],
)
def test_r38_bounds_are_hit_at_their_edge(record: il.RunRecord, reason: str | None) -> None:
    """At the bound the run ends; just under it, it goes on."""
    limits = Limits(max_steps=3, max_tokens=10, max_cost_usd=0.5, max_time_s=2.0)
    assert reached(limits, record) == reason


@both
def test_r38_a_bound_in_the_middle_of_a_step(face: AgentFace) -> None:
    """Of three calls two may run: the third is answered as not run, and the run ends with all three results."""
    run, fake = played(face, [[call("Oslo"), call("Bergen"), call("Narvik")], "never asked"], max_tool_calls=2)
    assert (run.stop_reason, fake.left) == ("max_tool_calls", 1)
    assert [result.is_error for result in run.steps[0].results] == [False, False, True]
    assert run.steps[0].results[2].content == "this call was not run: the run may make no more calls"


@both
def test_r38_a_bound_on_one_tool_lets_the_run_go_on(face: AgentFace) -> None:
    """The model is told that this tool is used up, and answers without it."""
    run, _ = played(face, [[call("Oslo"), call("Bergen")], call("Narvik"), "Done."], tool_limits={"get_weather": 1})
    assert [result.is_error for step in run.steps for result in step.results] == [False, True, True]
    assert run.steps[1].results[0].content == "get_weather was called as often as it may be (1); go on without it"
    assert run.output == "Done."


@both
def test_r38_the_same_error_again_and_again_ends_the_run(face: AgentFace) -> None:
    """Three steps in a row with the same error are enough; another error, or a success, begins anew."""
    run, fake = played(face, [tool_call("nope")] * 3 + ["never asked"])
    assert (run.stop_reason, len(run.steps), fake.left) == ("repeated_error", 3, 1)
    again: list[Any] = [tool_call("nope"), tool_call("nope"), call(), tool_call("nope"), tool_call("nah"), "Done."]
    run, _ = played(face, again)
    assert run.output == "Done."
    run, _ = played(face, [*[tool_call("nope")] * 5, "Done."], max_repeated_errors=None)
    assert run.output == "Done."


@both
def test_r38_no_bound_on_steps(face: AgentFace) -> None:
    """None is no bound."""
    run, _ = played(face, [*[call(f"City {place}") for place in range(12)], "Done."], max_steps=None)
    assert (run.output, len(run.steps)) == ("Done.", 13)


def test_bounds_name_themselves() -> None:
    """The defaults that the pages tell."""
    assert (Limits().max_steps, Limits().max_repeated_errors, Limits().max_blank_answers) == (10, 3, 2)
    assert get_weather("Oslo") == {"city": "Oslo", "celsius": 4}
