"""The loop: steps, results, ends, and whatever a model may do wrong."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import pytest

import interlingua as il
from interlingua.agent.loop import BLANK
from interlingua.client.typed.output import AGAIN
from interlingua.testing import FakeModel, no_network, tool_call, use
from interlingua.wire.http import HttpReply
from interlingua.wire.json import encode
from tests.support.agents import FACES, AgentFace, call, get_weather, played
from tests.support.client import scripted

both = pytest.mark.parametrize("face", FACES, ids=repr)


def _roles(run: il.Run[Any]) -> list[str]:
    return [message.role for message in run.messages]


def _results(run: il.Run[Any]) -> list[tuple[str, Any, bool]]:
    """Every result of a run: id, content, whether it is an error."""
    return [(one.call_id, one.content, one.is_error) for message in run.messages for one in message.tool_results]


@both
def test_r38_tools_run_until_the_model_answers(face: AgentFace) -> None:
    """A run is done with the first answer that calls no tool; its text is the output."""
    run, fake = played(face, [call("Oslo"), call("Bergen"), "It is 4 degrees."])
    assert (run.stop_reason, run.output, run.text) == ("done", "It is 4 degrees.", "It is 4 degrees.")
    assert _roles(run) == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [message.role for message in fake.last_request.messages] == _roles(run)[:-1]
    assert [len(step.results) for step in run.steps] == [1, 1, 0]
    assert run.attempts[0].outcome == "served"
    assert len(run.attempts) == 3
    assert run.changes == ()


@both
def test_r11_all_results_of_a_step_go_back_together(face: AgentFace) -> None:
    """One tool message answers one step, its results in call order."""
    run, _ = played(face, [[call("Oslo"), call("Bergen"), call("Narvik")], "Done."])
    assert _roles(run) == ["user", "assistant", "tool", "assistant"]
    assert _results(run) == [
        (f"call_{place}", il.Json({"city": city, "celsius": 4}), False)
        for place, city in enumerate(("Oslo", "Bergen", "Narvik"))
    ]


@both
def test_r38_usage_is_that_of_all_steps(face: AgentFace) -> None:
    """Counts add up over the steps; a price that nobody knows stays unknown."""
    run, _ = played(face, [call(), "Done."])
    assert run.usage is not None
    counts = [step.response.usage for step in run.steps]
    assert run.usage.input_tokens == sum(one.input_tokens or 0 for one in counts if one)
    assert run.usage.output_tokens == sum(one.output_tokens or 0 for one in counts if one)


@both
def test_r38_an_unknown_tool_is_a_helpful_error(face: AgentFace) -> None:
    """The model is told which tools there are, and goes on."""
    run, _ = played(face, [tool_call("weather", city="Oslo"), "Sorry."])
    assert _results(run) == [("call_0", "there is no tool weather; there are: get_weather", True)]
    assert run.output == "Sorry."


@both
def test_r38_bad_arguments_are_a_helpful_error(face: AgentFace) -> None:
    """Every bad field is named, and the handler does not run."""
    ran: list[str] = []

    def f(city: str) -> str:
        """Look."""
        ran.append(city)
        return city

    run, _ = played(face, [tool_call("f", town="Oslo"), "Sorry."], tools=[f])
    assert _results(run) == [
        ("call_0", "tool f, argument town: is not known; there are: city; argument city: is missing", True)
    ]
    assert ran == []


@both
def test_r38_a_broken_call_is_answered(face: AgentFace) -> None:
    """Arguments that are no JSON become an error result, in the same message as the results of whole calls."""
    broken = il.BrokenToolCall("b", "get_weather", '{"city": Oslo}', "malformed")
    run, _ = played(face, [[call("Oslo", "a"), broken], "Done."])
    assert _results(run) == [
        ("a", il.Json({"city": "Oslo", "celsius": 4}), False),
        ("b", "tool get_weather, the arguments are not valid JSON; send one JSON object", True),
    ]
    assert run.output == "Done."


@both
def test_arg_12_a_cut_call_never_runs(face: AgentFace) -> None:
    """A call that the length limit ended is answered with an error; whole ones before it run."""
    cut = il.BrokenToolCall("b", "get_weather", '{"city": "Os', "cut_off")
    answer = il.Response(parts=(call("Oslo", "a"), cut), finish_reason="length")
    run, _ = played(face, [answer, "Done."])
    assert _results(run) == [
        ("a", il.Json({"city": "Oslo", "celsius": 4}), False),
        ("b", "tool get_weather, the arguments were cut off by the length limit; send shorter ones", True),
    ]


@both
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_id_09_ids_that_come_again_are_renamed(face: AgentFace, streamed: bool) -> None:
    """A provider that counts anew in every turn gets unique ids, the results with them."""
    answers = [call("Oslo", "call_0"), call("Bergen", "call_0"), [call("Narvik", "x"), call("Vadsø", "x")], "Done."]
    with no_network(), use(FakeModel(answers)):
        agent = face.agent()
        run = agent.stream("Weather?") if streamed else face.run(agent)
        if streamed:
            face.live(run)
    ids = [part.id for message in run.messages for part in message.tool_calls]
    assert len(set(ids)) == 4
    assert ids[0] == "call_0"
    assert ids == [call_id for call_id, _, _ in _results(run)]
    assert run.output == "Done."


@both
def test_r38_a_blank_stop_is_asked_again(face: AgentFace) -> None:
    """A model that stops without a word is told to go on."""
    run, fake = played(face, ["", [il.ThinkingPart("Hm.")], "Done."])
    assert run.output == "Done."
    assert [message.text for message in fake.last_request.messages if message.role == "user"] == [
        "Weather?",
        BLANK,
        BLANK,
    ]


@both
def test_r38_nothing_but_blanks_ends_the_run(face: AgentFace) -> None:
    """It is told twice, and then the run ends."""
    run, fake = played(face, [call(), "", " ", "", "never asked"])
    assert (run.stop_reason, len(run.steps), fake.left) == ("blank", 4, 1)
    with pytest.raises(il.RunStoppedError, match="nothing but empty answers") as caught:
        _ = run.output
    assert caught.value.run is run


@both
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (il.Response(parts=(il.TextPart("Half"),), finish_reason="length"), "length"),
        (il.Response(parts=(il.TextPart("No."),), finish_reason="content_filter"), "refused"),
        (il.Response(parts=(il.RefusalPart("I will not."),), finish_reason="refusal"), "refused"),
    ],
    ids=["length", "filter", "refusal"],
)
def test_r38_an_answer_that_is_none_ends_the_run(face: AgentFace, answer: il.Response[Any], reason: str) -> None:
    """Cut, held back, refused: there is no output, and what came stays readable."""
    run, _ = played(face, [answer])
    assert run.stop_reason == reason
    assert run.messages[-1].parts == answer.parts
    with pytest.raises(il.RunStoppedError):
        _ = run.output


@both
def test_use_13_calls_of_an_answer_that_was_held_back_do_not_run(face: AgentFace) -> None:
    """They are answered as not run, so that the conversation can go on."""
    answer = il.Response(parts=(call("Oslo", "a"),), finish_reason="content_filter")
    run, _ = played(face, [answer])
    assert run.stop_reason == "refused"
    assert _results(run) == [("a", "this call was not run: the run ended (refused)", True)]


@both
def test_use_09_calls_of_an_answer_that_failed_do_not_run(face: AgentFace) -> None:
    """A malformed call makes Gemini end with an error; a call that could be read beside it does not run."""
    part = {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "MALFORMED_FUNCTION_CALL"}
    body = encode({"candidates": [candidate]})
    reply = HttpReply(status=200, headers=(("content-type", "application/json"),), body=body)
    with scripted(reply), pytest.raises(il.InternalServerError, match="MALFORMED_FUNCTION_CALL") as caught:
        face.run(face.agent("google/gemini-3-pro"))
    answer, run = caught.value.response, caught.value.run
    assert answer is not None
    assert [item.name for item in answer.tool_calls] == ["get_weather"]
    assert run is not None
    assert [message.role for message in run.messages] == ["user"]


@both
def test_r38_a_run_is_a_history(face: AgentFace) -> None:
    """The next run begins where the last one ended, its system text included."""
    with no_network(), use(FakeModel([call(), "4 degrees.", "Cold."])) as fake:
        agent = face.agent(system="Be terse.")
        first = face.run(agent)
        second = face.run(agent, "Is that cold?", history=first)
    assert first.messages[0] == il.system("Be terse.")
    assert second.messages == (*first.messages, il.user("Is that cold?"), il.assistant("Cold."))
    assert fake.last_request.system == (il.TextPart("Be terse."),)


@dataclass
class Plan:
    """A plan."""

    city: str
    days: int


@both
def test_r36_the_last_answer_is_a_value(face: AgentFace) -> None:
    """`output` makes the last answer a value of the type."""
    run, fake = played(face, [call(), '{"city":"Oslo","days":2}'], output=Plan)
    assert run.output == Plan("Oslo", 2)
    assert fake.last_request.schema_name == "Plan"


@both
def test_r36_an_answer_that_does_not_fit_ends_the_run(face: AgentFace) -> None:
    """Without repair the run stops, and says what is wrong."""
    run, _ = played(face, ['{"city":"Oslo"}'], output=Plan)
    assert run.stop_reason == "invalid_output"
    with pytest.raises(il.RunStoppedError, match="days"):
        _ = run.output


@both
def test_r37_problems_go_back_to_the_model(face: AgentFace) -> None:
    """With `repair="ask"` the model is told what is wrong, a bounded number of times."""
    model = il.model("fake/scripted", repair="ask", max_repairs=1)
    run, fake = played(face, ['{"city":"Oslo"}', '{"city":"Oslo","days":2}'], output=Plan, model=model)
    assert run.output == Plan("Oslo", 2)
    assert fake.last_request.messages[-1].text.endswith(AGAIN)
    run, _ = played(face, ["{}", "{}", "never asked"], output=Plan, model=model)
    assert (run.stop_reason, len(run.steps)) == ("invalid_output", 2)


@both
def test_r38_a_final_tool_ends_the_run(face: AgentFace) -> None:
    """The result of the final tool is the output; a failed one is not the end."""

    def submit(city: str) -> Plan:
        """Give the plan."""
        if city == "Oslo":
            raise il.ToolError("not Oslo")
        return Plan(city, 2)

    answers = [tool_call("submit", city="Oslo"), [call(), tool_call("submit", city="Bergen")], "never asked"]
    run, fake = played(face, answers, tools=[get_weather, submit], final_tool="submit")
    assert (run.stop_reason, run.output, fake.left) == ("done", {"city": "Bergen", "days": 2}, 1)
    assert [error for _, _, error in _results(run)] == [True, False, False]


@both
def test_r38_steering_comes_before_the_next_step(face: AgentFace) -> None:
    """A message that is put in while a tool runs stands behind its result; one before the end keeps the run going."""
    with no_network(), use(FakeModel([call(), "Done.", "In Celsius."])) as fake:
        live = face.agent().stream("Weather?")

        def steer(event: Any) -> None:
            if isinstance(event, il.ToolStarted):
                live.inject("Hurry.")
            if isinstance(event, il.TextDelta) and event.text == "Done.":
                live.inject("In which unit?")

        face.live(live, steer)
    assert [message.text for message in fake.last_request.messages if message.role != "tool"] == [
        "Weather?",
        "",
        "Hurry.",
        "Done.",
        "In which unit?",
    ]
    assert live.output == "In Celsius."


@both
def test_r38_a_compactor_makes_it_shorter(face: AgentFace) -> None:
    """Before each step the compactor may give other messages to go on with."""

    def compact(messages: tuple[il.Message, ...]) -> list[il.Message] | None:
        return [il.user("It was 4 degrees in Oslo.")] if len(messages) > 3 else None

    run, fake = played(face, [call(), call("Bergen"), "Done."], compact=compact)
    assert [len(request.messages) for request in fake.requests] == [1, 3, 1]
    assert run.messages == (il.user("It was 4 degrees in Oslo."), il.assistant("Done."))

    def confused(_: tuple[il.Message, ...]) -> str:
        return "shorter"

    with pytest.raises(il.UsageError, match="a compactor gives the messages"):
        played(face, ["Done."], compact=confused)

    def hasty(messages: tuple[il.Message, ...]) -> tuple[il.Message, ...]:
        return messages[-1:]

    with pytest.raises(il.HistoryError) as caught:
        played(face, [call(), "Done."], compact=hasty)
    assert caught.value.message == (
        "messages[0]: a tool result names the call 'call_0', which is not in the messages before it;"
        " these are messages that the compactor gave: calls go with their results"
    )


@both
def test_r38_an_error_of_the_model_brings_the_run(face: AgentFace) -> None:
    """The error is raised as from any call; what had come rides along, and can be gone on with."""
    with no_network(), use(FakeModel([call(), il.RateLimitError("slow down"), "Done."])):
        agent = face.agent()
        with pytest.raises(il.RateLimitError) as caught:
            face.run(agent)
        assert caught.value.run is not None
        assert caught.value.run.record.stop_reason == "error"
        run = face.resume(agent, caught.value.run)
    assert run.output == "Done."
    assert len(run.steps) == 2


@both
def test_tools_of_the_model_are_the_agent_s(face: AgentFace) -> None:
    """An agent without tools of its own runs those of its model."""
    model = il.model("fake/scripted", tools=[get_weather])
    with no_network(), use(FakeModel([call(), "Done."])):
        run = face.run(type(face.agent())(model))
    assert run.output == "Done."
    assert run.steps[0].results[0].content == il.Json({"city": "Oslo", "celsius": 4})


@both
def test_a_run_crosses_process_borders_as_its_record(face: AgentFace) -> None:
    """So does the error that holds it; the model, with its key, stays where it is."""
    agent = face.agent(max_steps=1)
    with no_network(), use(FakeModel([call(), "Done."])):
        run = face.run(agent)
        assert pickle.loads(pickle.dumps(run)) == il.load(il.dump(run)) == run.record
        with pytest.raises(il.RunStoppedError) as caught:
            _ = run.output
        again = pickle.loads(pickle.dumps(caught.value))
        assert (again.message, again.run.record) == (caught.value.message, run.record)
        assert face.run(agent, history=again.run).text == "Done."


@both
def test_what_cannot_be_is_said_at_once(face: AgentFace) -> None:
    """Options that are none, values that are none, tools that nothing handles."""
    with pytest.raises(il.UsageError, match="did you mean 'max_steps'"):
        face.agent(max_step=3)
    with pytest.raises(il.UsageError, match=r"^an agent has no option 'max_turns': it is called max_steps$"):
        face.agent(max_turns=3)
    with pytest.raises(il.UsageError, match=r"no option 'deps': run\(prompt, context=…\) takes what the tools"):
        face.agent(deps=3)
    with pytest.raises(il.UsageError, match="max_steps takes a whole number from 0 on, not 'x'"):
        face.agent(max_steps="x")
    with pytest.raises(il.UsageError, match=r"tool_limits\['f'\] takes a whole number"):
        face.agent(tool_limits={"f": -1})
    with pytest.raises(il.UsageError, match="tool_limits takes a dict"):
        face.agent(tool_limits=3)
    with pytest.raises(il.UsageError, match="approve takes auto, ask, never or a function, not 'maybe'"):
        face.agent(approve="maybe")
    with pytest.raises(il.UsageError, match="not with both"):
        face.agent(output=Plan, final_tool="get_weather")
    with no_network(), use(FakeModel("Done.")), pytest.raises(il.UsageError, match="tool f has no handler"):
        face.run(face.agent(tools=[il.Tool(name="f")]))
    with no_network(), use(FakeModel("Done.")), pytest.raises(il.UsageError, match="there is no tool g to end with"):
        face.run(face.agent(final_tool="g"))


@both
def test_with_options_is_a_copy(face: AgentFace) -> None:
    """Some options change, the others stay, and so does the agent."""
    agent = face.agent(max_steps=1, output=Plan)
    other = agent.with_options(max_steps=2)
    assert (agent.limits.max_steps, other.limits.max_steps, other.output) == (1, 2, Plan)
