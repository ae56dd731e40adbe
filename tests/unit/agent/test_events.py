"""What the stream of a run gives: the model's events and the loop's own, each with its step."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import interlingua as il
from interlingua.testing import FakeModel, no_network, tool_call, use
from tests.support.agents import AWAITED, FACES, AgentFace, call, played

both = pytest.mark.parametrize("face", FACES, ids=repr)


@both
def test_r38_one_stream_holds_all_events(face: AgentFace) -> None:
    """Each step is the model's events, the whole answer, then its tools; the end comes once, and last."""
    with no_network(), use(FakeModel([call(), "Done."])):
        live = face.agent().stream("Weather?")
        events = face.live(live)
    assert [type(event).__name__ for event in events] == [
        *("StreamStart", "BlockStart", "UsageUpdate", "BlockEnd", "ToolCallReady", "StreamEnd"),
        *("StepFinished", "ToolStarted", "ToolFinished"),
        *("StreamStart", "BlockStart", "TextDelta", "UsageUpdate", "BlockEnd", "StreamEnd"),
        *("StepFinished", "RunFinished"),
    ]
    assert [event.step for event in events if hasattr(event, "step")] == [1, 1, 1, 2, 2]
    assert events[-1] == il.RunFinished("done", 2)
    assert events[7].call == events[8].call == live.messages[1].tool_calls[0]


@both
def test_r38_text_of_a_live_run(face: AgentFace) -> None:
    """`text_stream` is the text of all steps; `finish` gives the run itself."""
    with no_network(), use(FakeModel([["Let me see. ", call()], "It is cold."])):
        live: Any = face.agent().stream("Weather?")

        async def read() -> str:
            return "".join([piece async for piece in live.text_stream])

        text = face.settle(read) if face.awaited else "".join(live.text_stream)
        assert face.settle(live.finish) is live
    assert text == "Let me see. It is cold."


@both
def test_r38_progress_is_told_while_a_tool_runs(face: AgentFace) -> None:
    """What a handler says comes before its result, with its call and step."""

    def slow() -> str:
        """Take two steps."""
        il.progress("half")
        time.sleep(0.01)
        il.progress("almost")
        return "whole"

    with no_network(), use(FakeModel([tool_call("slow"), "Done."])):
        events = face.live(face.agent(tools=[slow]).stream("Go."))
    told = [event for event in events if isinstance(event, il.ToolStarted | il.ToolProgress | il.ToolFinished)]
    assert [type(event).__name__ for event in told] == ["ToolStarted", "ToolProgress", "ToolProgress", "ToolFinished"]
    assert [(event.text, event.step) for event in told if isinstance(event, il.ToolProgress)] == [
        ("half", 1),
        ("almost", 1),
    ]


@both
def test_r38_results_are_told_as_they_come(face: AgentFace) -> None:
    """The quick one is told first, and stands second in the message."""
    told = threading.Event()

    def wait(long: bool) -> bool:
        """Wait."""
        return told.wait(60) if long else True

    def see(event: object) -> None:
        if isinstance(event, il.ToolFinished):
            told.set()

    calls = [tool_call("wait", call_id="slow", long=True), tool_call("wait", call_id="quick", long=False)]
    with no_network(), use(FakeModel([calls, "Done."])):
        live = face.agent(tools=[wait]).stream("Go.")
        events = face.live(live, see)
    assert [event.call.id for event in events if isinstance(event, il.ToolFinished)] == ["quick", "slow"]
    assert [result.call_id for result in live.messages[2].tool_results] == ["slow", "quick"]


@both
def test_r38_context_goes_to_who_asks_for_it(face: AgentFace) -> None:
    """A parameter of type `il.Context` gets what the run was given, also in a sub-agent; it is in no schema."""

    def look_up(name: str, db: il.Context[dict[str, str]]) -> str:
        """Look up."""
        return db[name]

    answers = [tool_call("look_up", name="Ada"), "Oslo."]
    with no_network(), use(FakeModel(answers)) as fake:
        run = face.run(face.agent(tools=[look_up]), context={"Ada": "Oslo"})
    assert run.steps[0].results[0].content == "Oslo"
    (tool,) = fake.requests[0].tools
    assert isinstance(tool, il.Tool)
    assert set(tool.parameters["properties"]) == {"name"}
    with no_network(), use(FakeModel([tool_call("helper", task="Ada?"), *answers, "Done."])):
        helper = face.agent(tools=[look_up]).as_tool("helper", "Looks up.")
        run = face.run(face.agent(tools=[helper]), context={"Ada": "Oslo"})
    assert run.steps[0].results[0].content == "Oslo."


@both
def test_r38_a_price_adds_up(face: AgentFace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the price is known, that of a run is the sum of its steps, and a bound on it holds."""
    monkeypatch.setenv("LLM_DEAR", "openai://key@dear.example/v1?price_in=1000&price_out=1000")
    run, fake = played(face, [call(), "never asked"], model="dear/m", max_cost_usd=0.001)
    costs = [step.response.cost_usd for step in run.steps]
    assert costs[0] is not None
    assert run.cost_usd == pytest.approx(costs[0])
    assert (run.stop_reason, fake.left) == ("max_cost_usd", 1)


@both
def test_observers_learn_of_an_error(face: AgentFace) -> None:
    """The end of a run that an error ended is told to who observes it."""
    seen: list[Any] = []
    with no_network(), use(FakeModel([il.OverloadedError("busy")])), pytest.raises(il.OverloadedError):
        face.run(face.agent(observers=[seen.append]))
    assert seen == [il.RunFinished("error", 0)]


@both
def test_a_picture_is_an_answer(face: AgentFace) -> None:
    """An answer without a word is not blank when it shows something."""
    picture = il.ImagePart(b"\x89PNG\r\n\x1a\n" + bytes(16), "image/png")
    run, _ = played(face, [picture], model="google/gemini-3-pro", tools=[])
    assert (run.stop_reason, run.output) == ("done", "")
    assert run.messages[-1].parts == (picture,)


@both
def test_nothing_more_is_said_in_a_run_that_is_done(face: AgentFace) -> None:
    """Who has something to say goes on with the run as history."""
    run, _ = played(face, ["Done."])
    with pytest.raises(il.UsageError, match="this run has ended"):
        run.inject("And?")


def test_a_live_run_is_read_once() -> None:
    """Reading on after the end gives nothing, in either face."""
    with no_network(), use(FakeModel(["Done."])):
        live = il.Agent("fake/a").stream("Hi")
        assert len(list(live)) > 3
        assert list(live) == []
        awaited = AWAITED.agent().stream("Hi")
    assert awaited.stop_reason is None
    with pytest.raises(il.RunStoppedError, match="it has not come to its end"):
        _ = awaited.output
