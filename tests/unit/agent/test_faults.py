"""What handlers and observers do wrong, and what interrupts a run: nothing of it breaks the loop."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from contextvars import copy_context
from typing import Any

import pytest

import interlingua as il
from interlingua import aio
from interlingua.testing import FakeModel, no_network, tool_call, use
from interlingua.tools.cancellation import HALT, Halt
from tests.support.agents import BLOCKING, FACES, AgentFace, call, get_weather, played

both = pytest.mark.parametrize("face", FACES, ids=repr)


def failing() -> str:
    """Fail."""
    raise RuntimeError("secret of the house")


def honest() -> str:
    """Fail in words."""
    raise il.ToolError("the city is closed")


def nonsense() -> object:
    """Give what nobody can read."""
    return object()


def raw() -> bytes:
    """Give bytes."""
    return b"\x00"


async def cancelled() -> str:
    """Cancel itself."""
    raise asyncio.CancelledError


def _result(run: il.Run[Any]) -> tuple[Any, bool]:
    (result,) = run.steps[0].results
    return result.content, result.is_error


@both
def test_r34_a_handler_that_raises_is_an_error_result(face: AgentFace, caplog: pytest.LogCaptureFixture) -> None:
    """Only the text of a ToolError is for the model; the run goes on."""
    with caplog.at_level(logging.WARNING):
        run, _ = played(face, [tool_call("failing"), "Done."], tools=[failing])
    assert _result(run) == ("tool failing failed with an internal error", True)
    assert run.output == "Done."
    run, _ = played(face, [tool_call("honest"), "Done."], tools=[honest])
    assert _result(run) == ("the city is closed", True)


@both
@pytest.mark.parametrize("handler", [nonsense, raw], ids=["object", "bytes"])
def test_r34_nonsense_is_an_error_result(face: AgentFace, handler: Any) -> None:
    """What is neither text nor parts nor JSON is an error of the tool."""
    run, _ = played(face, [tool_call(handler.__name__), "Done."], tools=[handler])
    assert _result(run)[1] is True
    assert run.output == "Done."


@both
def test_r34_a_handler_that_cancels_is_an_error_result(face: AgentFace) -> None:
    """A cancellation of the handler's own making is a failure of the tool, not of the run."""
    run, _ = played(face, [[tool_call("cancelled"), call()], "Done."], tools=[cancelled, get_weather])
    assert [result.is_error for result in run.steps[0].results] == [True, False]
    assert run.output == "Done."


@both
def test_r38_handlers_run_at_once(face: AgentFace) -> None:
    """The calls of a step meet each other, which they could not one after the other."""
    barrier = threading.Barrier(3, timeout=5)

    def meet() -> int:
        """Wait for the others."""
        return barrier.wait()

    run, _ = played(face, [[tool_call("meet")] * 3, "Done."], tools=[meet])
    assert [result.is_error for result in run.steps[0].results] == [False, False, False]


@both
def test_r38_a_handler_that_hangs_ends_with_the_run_s_time(face: AgentFace) -> None:
    """What is late is answered as late, what came in time counts, and the run ends without an exception."""

    def hung() -> tuple[il.Run[Any], tuple[Any, ...]]:
        release = threading.Event()

        def hang() -> str:
            """Wait."""
            release.wait(5)
            return "late"

        timer = threading.Timer(1.0, release.set)  # a thread cannot be stopped, and the event loop waits for it
        timer.start()
        started = time.monotonic()
        run, fake = played(face, [[tool_call("hang"), call()], "never"], tools=[hang, get_weather], max_time_s=0.3)
        timer.join()
        results = [(one.content, one.is_error) for step in run.steps for one in step.results]
        return run, ((run.stop_reason, fake.left), results, time.monotonic() - started < 4)

    expected = (
        ("max_time_s", 1),
        [
            ("hang did not finish in the time of the run", True),
            (il.Json({"city": "Oslo", "celsius": 4}), False),
        ],
        True,
    )
    run, found = hung()
    for _ in range(9):  # a busy machine may take all of the time for less, now and then
        if found == expected:
            break
        run, found = hung()
    assert found == expected
    with pytest.raises(il.RunStoppedError, match="its time was up"):
        _ = run.output


@both
def test_r38_a_model_that_hangs_ends_with_the_run_s_time(face: AgentFace) -> None:
    """The time of the run is the deadline of its calls: when it is up, what came stays, and nothing is raised."""

    def hang(_: il.Request) -> il.Error:
        time.sleep(0.1)
        return il.APITimeoutError("no answer within the time of the call", phase="total")

    run, _ = played(face, [call(), hang], max_time_s=0.1)
    for _ in range(9):  # a busy machine may take all of the time for the first step, now and then
        if len(run.steps) == 1:
            break
        run, _ = played(face, [call(), hang], max_time_s=0.1)
    assert (run.stop_reason, len(run.steps)) == ("max_time_s", 1)
    assert run.elapsed_s >= 0.1
    assert run.elapsed_s == run.record.elapsed_s
    with pytest.raises(il.APITimeoutError):
        played(face, [hang], max_time_s=60)


@both
def test_r38_a_broken_call_of_a_whole_chain_is_answered(face: AgentFace) -> None:
    """Where every target of a chain breaks the same call, the last one's is answered with an error."""
    broken = il.BrokenToolCall("b", "get_weather", "{", "malformed")
    run, fake = played(face, [broken, broken, "Done."], model="fake/a,fake/b")
    assert [(result.call_id, result.is_error) for result in run.steps[0].results] == [("b", True)]
    assert [attempt.outcome for attempt in run.steps[0].response.attempts] == ["failed", "failed"]
    assert (run.output, fake.models) == ("Done.", ["fake/a", "fake/b", "fake/a"])


@both
def test_r38_a_pause_goes_on(face: AgentFace) -> None:
    """An answer that is to be sent back as it is, is."""
    looking = il.OpaquePart(
        "anthropic", "server_tool_use", {"type": "server_tool_use", "id": "a", "name": "web_search"}
    )
    paused = il.Response(parts=(il.TextPart("Looking."), looking), finish_reason="pause")
    run, fake = played(face, [paused, "Done."], model="anthropic/claude-opus-5")
    assert run.output == "Done."
    assert [message.role for message in fake.last_request.messages] == ["user", "assistant"]


@both
def test_r38_an_exit_in_a_handler_passes(face: AgentFace) -> None:
    """What ends the program is no answer for a model."""

    async def leave() -> str:
        """Leave."""
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        played(face, [tool_call("leave"), "never"], tools=[leave])


@both
def test_r38_a_context_that_is_missing_is_the_caller_s_fault(face: AgentFace) -> None:
    """A handler that asks for a context which the run was not given is a mistake of the setup, and raised."""

    def look(name: str, db: il.Context[dict[str, str]]) -> str:
        """Look."""
        return db[name]

    with pytest.raises(il.UsageError) as caught:
        played(face, [tool_call("look", name="Ada"), "never"], tools=[look])
    assert caught.value.run is not None
    assert caught.value.run.record.stop_reason == "error"


@both
def test_r38_an_observer_cannot_break_a_run(face: AgentFace, caplog: pytest.LogCaptureFixture) -> None:
    """What an observer raises is logged; it is told every event of the loop."""
    seen: list[str] = []

    def observe(event: il.RunEvent) -> None:
        seen.append(type(event).__name__)
        raise RuntimeError("out of order")

    with caplog.at_level(logging.WARNING, "interlingua.agent"):
        run, _ = played(face, [call(), "Done."], observers=[observe])
    assert run.output == "Done."
    assert seen == ["StepFinished", "ToolStarted", "ToolFinished", "StepFinished", "RunFinished"]
    assert [record.getMessage() for record in caplog.records] == ["an observer of a run failed"] * 5


def test_r38_observers_may_be_awaited() -> None:
    """In the awaited face an observer and a compactor may be coroutine functions; in the blocking one they are told."""
    seen: list[str] = []

    async def observe(event: il.RunEvent) -> None:
        seen.append(type(event).__name__)

    async def compact(messages: tuple[il.Message, ...]) -> None:
        seen.append(str(len(messages)))

    async def main() -> None:
        with no_network(), use(FakeModel("Done.")):
            await aio.Agent("fake/a", observers=[observe], compact=compact).run("Hi")

    asyncio.run(main())
    assert seen == ["1", "StepFinished", "RunFinished"]
    with pytest.raises(il.UsageError, match=r"use the Agent of interlingua\.aio"):
        played(BLOCKING, "Done.", compact=compact)


@both
def test_r38_a_run_that_is_closed_is_cancelled(face: AgentFace) -> None:
    """Left in the middle of a step it says so, and its conversation can be gone on with."""
    with no_network(), use(FakeModel([call(), "Done.", "Well."])):
        agent = face.agent()
        live = agent.stream("Weather?")

        class LeaveError(Exception):
            """The reader has seen enough."""

        def leave(event: Any) -> None:
            if isinstance(event, il.ToolStarted):
                raise LeaveError

        with pytest.raises(LeaveError):
            face.live(live, leave)
        assert live.stop_reason == "cancelled"
        assert live.messages[-1].tool_results[0].content == "this call was not run: the run ended (cancelled)"
        run = face.run(agent, "Go on.", history=live)
    assert run.output == "Done."


def test_r38_cancellation_closes_what_is_open() -> None:
    """A cancelled task cancels the handlers that run, and leaves a conversation behind."""
    cancelled_at: list[str] = []

    began: list[bool] = []

    async def wait() -> str:
        """Wait for ever."""
        began.append(True)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled_at.append("handler")
            raise
        return "never"

    async def main() -> aio.Run[str]:
        live = aio.Agent("fake/a", tools=[wait]).stream("Hi")
        started = asyncio.Event()

        async def read() -> None:
            async with live:
                async for event in live:
                    if isinstance(event, il.ToolStarted):
                        started.set()

        task = asyncio.create_task(read())
        await started.wait()
        while not began:  # noqa: ASYNC110 - the handler is another's, and made before the loop
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1
        return live

    with no_network(), use(FakeModel([tool_call("wait")])):
        live = asyncio.run(main())
    assert (live.stop_reason, cancelled_at) == ("cancelled", ["handler"])
    assert live.messages[-1].role == "tool"


@pytest.mark.parametrize("calls", [1, 2])
def test_r38_keyboard_interrupt_passes(calls: int) -> None:
    """An interrupt in a handler leaves the run, which is cancelled and can be gone on with."""

    def interrupted() -> str:
        """Interrupt."""
        raise KeyboardInterrupt

    run = il.Agent("fake/a", tools=[interrupted]).stream("Hi")
    with no_network(), use(FakeModel([[tool_call("interrupted")] * calls])), pytest.raises(KeyboardInterrupt):
        run.finish()
    assert run.stop_reason == "cancelled"
    assert len(run.messages[-1].tool_results) == calls


def test_r38_leaving_a_blocking_run_cancels_its_coroutines() -> None:
    """Each is in a thread that nobody waits for any more, whatever ended the run: an error, or its reader."""
    began, ended = threading.Event(), threading.Semaphore(0)

    async def hang() -> None:
        """Hang."""
        il.progress("hangs")
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.release()

    def interrupt() -> None:
        """Interrupt."""
        began.wait(60)
        raise KeyboardInterrupt

    both_calls = [tool_call("hang"), tool_call("interrupt")]
    with no_network(), use(FakeModel([both_calls, tool_call("hang")])):
        with pytest.raises(KeyboardInterrupt):
            il.Agent("fake/a", tools=[hang, interrupt]).run("Hi")
        assert ended.acquire(timeout=60)

        with il.Agent("fake/a", tools=[hang]).stream("Hi") as live:
            next(event for event in live if isinstance(event, il.ToolProgress))
        assert ended.acquire(timeout=60)


def test_r38_a_coroutine_that_begins_when_its_run_was_left_is_cancelled() -> None:
    """Between the start of its thread and that of its loop, too."""
    halt = Halt()
    halt.end()

    async def work() -> None:
        """Work."""
        await asyncio.sleep(60)

    def execute() -> None:
        HALT.set(halt)
        with pytest.raises(asyncio.CancelledError):
            il.Toolbox([work]).execute(il.ToolCall("call_0", "work", "{}"))

    copy_context().run(execute)


def test_r38_a_sub_agent_of_a_run_that_was_left_asks_nobody_again() -> None:
    """What it was about to do would cost money and be looked at by nobody."""
    began, let_go, over = threading.Event(), threading.Event(), threading.Event()

    def look() -> str:
        """Look."""
        began.set()
        let_go.wait(60)
        return "seen"

    fake = FakeModel([tool_call("research", task="Oslo"), tool_call("look"), "Never asked for."])
    with no_network(), use(fake):
        helper = il.Agent("fake/a", tools=[look])
        tool = helper.as_tool("research", "Looks things up.")

        def research(task: str) -> object:
            il.progress("begins")
            try:
                return tool.handler(task=task)  # pyright: ignore[reportOptionalCall]
            finally:
                over.set()

        given = il.tool(research, description="Looks things up.")
        with il.Agent("fake/a", tools=[given]).stream("Hi") as live:
            next(event for event in live if isinstance(event, il.ToolProgress))
            assert began.wait(60)
        let_go.set()
        assert over.wait(60)
    assert len(fake.requests) == 2


@both
def test_r38_a_sub_agent_is_a_tool(face: AgentFace) -> None:
    """It works on its task alone, gives its output, and what it used counts for the run that called it."""
    with no_network(), use(FakeModel([tool_call("research", task="Oslo"), call(), "4 degrees.", "Done."])) as fake:
        helper = face.agent(system="You look things up.")
        run = face.run(face.agent(tools=[helper.as_tool("research", "Looks things up.")]))
    assert run.output == "Done."
    assert run.steps[0].results[0].content == "4 degrees."
    assert fake.requests[1].messages == (il.user("Oslo"),)
    own = sum(step.response.usage.input_tokens or 0 for step in run.steps if step.response.usage)
    assert run.usage is not None
    assert (run.usage.input_tokens or 0) > own


@both
def test_r38_a_sub_agent_that_stops_is_an_error_result(face: AgentFace) -> None:
    """The calling model is told why."""
    with no_network(), use(FakeModel([tool_call("research", task="Oslo"), call(), "Done."])):
        helper = face.agent(max_steps=1)
        run = face.run(face.agent(tools=[helper.as_tool("research", "Looks things up.")]))
    assert _result(run) == ("research stopped before it was done (max_steps)", True)
    assert run.output == "Done."
