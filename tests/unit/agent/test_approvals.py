"""Approvals: asked for, given, denied, kept over the end of a process."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import interlingua as il
from interlingua.testing import FakeModel, no_network, tool_call, use
from tests.support.agents import AWAITED, FACES, AgentFace, call, get_weather, played

both = pytest.mark.parametrize("face", FACES, ids=repr)


def _results(run: il.Run[Any]) -> list[tuple[Any, bool]]:
    return [(one.content, one.is_error) for step in run.steps for one in step.results]


OSLO = (il.Json({"city": "Oslo", "celsius": 4}), False)


@both
def test_r38_without_a_word_every_call_runs(face: AgentFace) -> None:
    """The default is `auto`: tools that were given to an agent are there to be called."""
    run, _ = played(face, [call(), "Done."])
    assert _results(run) == [OSLO]
    run, _ = played(face, [call(), "Done."], approve="auto")
    assert _results(run) == [OSLO]


@both
def test_r38_never_denies_every_call(face: AgentFace) -> None:
    """No tool runs, and the model is told so."""
    run, _ = played(face, [call(), "Done."], approve="never")
    assert _results(run) == [("the call of get_weather was not approved", True)]
    assert run.output == "Done."


@both
@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (True, [OSLO]),
        (False, [("the call of get_weather was not approved", True)]),
        ("too cold", [("the call of get_weather was not approved: too cold", True)]),
    ],
)
def test_r38_a_function_decides(face: AgentFace, verdict: bool | str, expected: list[Any]) -> None:
    """True lets it run, False denies it, a text denies it with that reason."""
    asked: list[il.ToolCall] = []

    def approve(call: il.ToolCall) -> bool | str:
        asked.append(call)
        return verdict

    run, _ = played(face, [call(), "Done."], approve=approve)
    assert _results(run) == expected
    assert [one.arguments for one in asked] == [{"city": "Oslo"}]


@both
@pytest.mark.parametrize("word", ["auto", "ask", "never"])
def test_r38_a_function_s_text_denies_whatever_it_says(face: AgentFace, word: str) -> None:
    """The words of the option are none of a function's: what a person or a model wrote never lets a call run."""

    def approve(_: il.ToolCall) -> str:
        return word

    run, _ = played(face, [call(), "Done."], approve=approve)
    assert _results(run) == [(f"the call of get_weather was not approved: {word}", True)]


@both
@pytest.mark.parametrize("verdict", [1, 0, 5, {}, b"x"])
def test_r38_a_verdict_of_another_kind_is_an_error(face: AgentFace, verdict: Any) -> None:
    """Neither a yes nor a no: who wrote the function is told, and nothing runs; so is who decides a stored run."""

    def approve(_: il.ToolCall) -> Any:
        return verdict

    with pytest.raises(il.UsageError, match=r"^approve of get_weather: True, False or a text that denies, not "):
        played(face, [call(), "Done."], approve=approve)
    waiting, _ = played(face, [call(), "Done."], approve="ask")
    [pending] = waiting.pending
    with pytest.raises(il.UsageError, match=rf"^approvals of {pending.id}: True, False or a text that denies, not "):
        il.Agent("openai/m", tools=[get_weather]).resume(waiting, approvals={pending.id: verdict})


def test_r38_a_function_may_be_awaited() -> None:
    """In the awaited face the deciding function may be a coroutine function."""

    async def approve(call: il.ToolCall) -> bool:
        return call.name == "get_weather"

    run, _ = played(AWAITED, [call(), "Done."], approve=approve)
    assert _results(run) == [OSLO]


@both
def test_r38_a_reader_decides_as_the_events_come(face: AgentFace) -> None:
    """`ask` hands each call to whoever reads the run; nothing runs before all are decided."""
    with no_network(), use(FakeModel([[call("Oslo"), call("Bergen"), tool_call("nope")], "Done."])):
        live = face.agent(approve="ask").stream("Weather?")

        def decide(event: Any) -> None:
            match event:
                case il.ApprovalNeeded(call=wanted) if wanted.arguments["city"] == "Oslo":
                    live.approve(wanted)
                case il.ApprovalNeeded(call=wanted):
                    live.deny(wanted, "too wet")
                case _:
                    pass

        events = face.live(live, decide)
    own = [type(event).__name__ for event in events if hasattr(event, "step")]
    assert own[:4] == ["StepFinished", "ApprovalNeeded", "ApprovalNeeded", "ToolFinished"]
    assert own[4] == "ToolStarted"
    assert own[-2:] == ["StepFinished", "RunFinished"]
    assert _results(live) == [
        OSLO,
        ("the call of get_weather was not approved: too wet", True),
        ("there is no tool nope; there are: get_weather", True),
    ]
    assert {event.step for event in events if isinstance(event, il.ApprovalNeeded | il.ToolFinished)} == {1}


@both
def test_r38_nobody_there_to_ask_ends_the_run(face: AgentFace) -> None:
    """`run` has no reader, so it stops with the calls that wait; what was decided then is carried out by `resume`."""
    with no_network(), use(FakeModel([[call("Oslo", "a"), call("Bergen", "b")], "Done."])):
        agent = face.agent(approve="ask")
        run = face.run(agent)
        assert (run.stop_reason, [one.id for one in run.pending]) == ("approval", ["a", "b"])
        with pytest.raises(il.RunStoppedError, match="waits for an approval"):
            _ = run.output
        with pytest.raises(il.UsageError, match=r"no call c waits for an approval; there wait: a \(get_weather\), b"):
            run.approve("c")
        run.approve("a")
        again = face.resume(agent, run)
        assert [one.id for one in again.pending] == ["b"]
        done = face.resume(agent, again, approvals={"b": "too wet"})
    assert done.output == "Done."
    assert _results(done) == [OSLO, ("the call of get_weather was not approved: too wet", True)]
    assert [message.role for message in done.messages] == ["user", "assistant", "tool", "assistant"]


@both
def test_r38_one_word_for_all_that_wait(face: AgentFace) -> None:
    """`approvals=True` lets everything run that waits."""
    with no_network(), use(FakeModel([[call(), call()], "Done."])):
        agent = face.agent(approve="ask")
        run = face.resume(agent, face.run(agent), approvals=True)
    assert _results(run) == [OSLO, OSLO]


@both
def test_r38_a_stored_run_is_the_run(face: AgentFace) -> None:
    """`il.dump` writes all of it, `il.load` gives its record, and both are what `resume` takes."""
    with no_network(), use(FakeModel([call("Oslo", "a"), "Done.", "Well."])):
        agent = face.agent(approve="ask", system="Be terse.")
        run = face.run(agent)
        text = il.dump(run)
        record = il.load(text)
        assert isinstance(record, il.RunRecord)
        assert (record.pending, record.messages) == (run.pending, run.messages)
        assert (record.usage, record.stop_reason, record.tool_counts) == (run.usage, "approval", {})
        assert il.dump(record) == text
        done = face.resume(agent, text, approvals={"a": True})
        assert face.live(agent.resume_stream(record, approvals={"a": False}))[0].result.is_error is True
    assert done.output == "Done."
    assert done.record.tool_counts == {"get_weather": 1}
    assert text.startswith('{"interlingua":1,"kind":"run","messages":[{"role":"system"')


@both
def test_r38_what_has_ended_is_not_resumed(face: AgentFace) -> None:
    """A run that is done is a history; what is no run is named."""
    run, _ = played(face, ["Done."])
    with pytest.raises(
        il.UsageError, match=r"ended with the model's answer \(done\); run\(prompt, history=run\) continues it"
    ):
        face.resume(face.agent(), run)
    with pytest.raises(il.UsageError, match="resume takes a run"):
        face.resume(face.agent(), il.dump([il.user("Hi")]))
    with pytest.raises(il.DecodeError):
        face.resume(face.agent(), "{}")


SCRIPT = """
import os, sys
import interlingua as il
from interlingua.testing import FakeModel, tool_call, use

def pay(amount: int) -> str:
    '''Pay.'''
    return f"paid {amount} in process {sys.argv[1]}"

agent = il.Agent("fake/scripted", tools=[pay], approve="ask")
if sys.argv[1] == "1":
    with use(FakeModel([tool_call("pay", call_id="a", amount=5)])):
        with agent.stream("Pay 5.") as run:
            for event in run:
                if isinstance(event, il.ApprovalNeeded):
                    sys.stdout.write(il.dump(run))
                    sys.stdout.flush()
                    os.kill(os.getpid(), 9)
else:
    with use(FakeModel(["It is paid."])) as fake:
        run = agent.resume(sys.stdin.read(), approvals={"a": True})
        print(run.output, fake.last_request.messages[-1].tool_results[0].content)
"""


def test_r38_an_approval_survives_the_process() -> None:
    """A process that is killed while a call waits loses nothing that it has stored: another one goes on."""
    command = [sys.executable, "-c", SCRIPT]
    first = subprocess.run([*command, "1"], capture_output=True, text=True, check=False, timeout=60)
    assert first.returncode == -9
    second = subprocess.run(
        [*command, "2"], input=first.stdout, capture_output=True, text=True, check=False, timeout=60
    )
    assert (second.returncode, second.stdout) == (0, "It is paid. paid 5 in process 2\n"), second.stderr


def test_the_tool_of_these_tests() -> None:
    """The tool gives what the tests expect of it."""
    assert get_weather("Oslo") == OSLO[0].value
