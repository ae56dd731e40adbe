"""Observers: what they are told, in which order, where they listen, and that they cannot break anything."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextvars import copy_context
from typing import Any, cast

import msgspec
import pytest

import interlingua as il
from interlingua import aio
from interlingua.client import observe
from interlingua.client.call.watch import Watch
from interlingua.testing import FakeModel, tool_call, use
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpReply
from tests.support.agents import FACES, AgentFace, get_weather
from tests.support.client import AWAITED, BLOCKING, Face, chat, chunks, scripted, sse

KEY = "planted-value-0042-not-like-any-key"
"""A credential that no pattern knows."""


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.fixture(autouse=True)
def _work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_WORK", f"openai://{KEY}@gateway.example/v1?price_in=2&price_out=8")
    monkeypatch.setenv("LLM_SPARE", f"openai://{KEY}@spare.example:8443/v1")


@pytest.fixture
def heard() -> Iterator[list[Any]]:
    """Every event of this context, without content."""
    events: list[Any] = []
    with il.on_event(events.append):
        yield events


def kinds(events: list[Any]) -> list[str]:
    """The class names of events."""
    return [type(event).__name__ for event in events]


def refusal(status: int, text: str) -> HttpReply:
    """An error of an OpenAI-like server."""
    body = msgspec.json.encode({"error": {"message": text, "type": "x", "code": "y"}})
    return HttpReply(
        status=status, headers=(("content-type", "application/json"), ("x-request-id", "req-7")), body=body
    )


# What is told


def test_a_call_is_told_from_its_beginning_to_its_end(face: Face, heard: list[Any]) -> None:
    """Targets and settings, the try, the answer with usage and price, all under one id and with the meters' tags."""
    with scripted(chat("a")), il.meter(team="search"):
        face.generate(face.model("work/x"), max_tokens=9, temperature=0.5)
    started, attempt, finished = heard
    assert kinds(heard) == ["CallStarted", "AttemptStarted", "CallFinished"]
    assert {event.id for event in heard} == {started.id}
    assert {tuple(event.tags.items()) for event in heard} == {(("team", "search"),)}
    assert (started.targets, started.stream, started.json, started.request) == (("work/x",), False, False, None)
    assert started.parameters == {"max_tokens": 9, "temperature": 0.5}
    assert (attempt.model, attempt.dialect, attempt.number) == ("work/x", "openai-chat", 1)
    assert (attempt.host, attempt.port) == ("gateway.example", 443)
    assert (finished.model, finished.wire_model, finished.finish_reason) == ("work/x", "gpt-test-1", "stop")
    assert (finished.usage, finished.response_id) == (il.Usage(input_tokens=3, output_tokens=2), "chatcmpl-1")
    assert finished.cost_usd == pytest.approx((3 * 2 + 2 * 8) / 1_000_000)
    assert ([attempt.outcome for attempt in finished.attempts], finished.error) == (["served"], None)
    assert finished.response is None
    assert finished.duration_s >= 0


def test_a_stream_tells_its_first_content(face: Face, heard: list[Any]) -> None:
    """A stream tells when it began to answer, and that time again at its end."""
    with scripted(sse(*chunks("c", "d"))):
        face.finish(face.model("work/x").stream("Hi"))
    started, _, first, finished = heard
    assert kinds(heard) == ["CallStarted", "AttemptStarted", "FirstContent", "CallFinished"]
    assert (started.stream, first.model, first.number) == (True, "work/x", 1)
    assert finished.first_content_s == first.after_s
    assert finished.duration_s >= first.after_s >= 0


def test_a_chain_tells_every_failure(face: Face, heard: list[Any]) -> None:
    """A failed try has its error, what health makes of it is said, and the next target answers."""
    with scripted(refusal(401, "no such user"), chat("b")):
        face.generate(face.model("work/x,spare/y"))
    failed = heard[2]
    assert kinds(heard)[:4] == ["CallStarted", "AttemptStarted", "AttemptFailed", "TargetBenched"]
    assert kinds(heard)[4:] == ["AttemptStarted", "CallFinished"]
    assert (failed.model, failed.dialect, failed.number) == ("work/x", "openai-chat", 1)
    assert (failed.error, failed.status, failed.request_id) == ("AuthenticationError", 401, "req-7")
    assert (failed.retryable, failed.message) == (False, "no such user")
    assert (heard[3].model, heard[3].for_s > 0) == ("work/x", True)
    assert (heard[4].model, heard[4].number, heard[4].port) == ("spare/y", 2, 8443)
    assert [attempt.outcome for attempt in heard[-1].attempts] == ["failed", "served"]


def test_a_target_that_cannot_be_asked_is_skipped(heard: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key nothing is sent, so there is no try, only the reason."""
    monkeypatch.setenv("LLM_BARE", "openai://api.openai.com/v1")
    with pytest.raises(il.ConfigError):
        il.model("bare/z").generate("Hi")
    assert kinds(heard) == ["CallStarted", "TargetSkipped", "CallFinished"]
    assert (heard[1].model, "no key" in heard[1].reason) == ("bare/z", True)
    assert (heard[2].error, heard[2].model, heard[2].usage) == ("ConfigError", None, None)


def test_a_retry_is_told(heard: list[Any]) -> None:
    """The pause before the same target is asked again, with the error that it comes after."""
    with scripted(refusal(503, "busy"), chat("b")):
        il.model("work/x").generate("Hi", retries=1)
    assert kinds(heard) == [
        "CallStarted", "AttemptStarted", "AttemptFailed", "RetryScheduled", "AttemptStarted", "CallFinished",
    ]  # fmt: skip
    assert (heard[3].model, heard[3].number, heard[3].error) == ("work/x", 2, heard[2].error)


def test_a_stream_that_breaks_off_tells_what_came(face: Face, heard: list[Any]) -> None:
    """The end of a cut stream has the error, and the counts that were told until then."""
    with scripted(sse(*chunks("c", "d", done=False))), pytest.raises(il.IncompleteStreamError):
        face.finish(face.model("work/x").stream("Hi"))
    assert (heard[-1].error, heard[-1].closed, heard[-1].first_content_s is not None) == (
        "IncompleteStreamError", False, True,
    )  # fmt: skip


def test_a_stream_that_is_left_is_told_at_once(heard: list[Any]) -> None:
    """Closing a stream ends its call there and then, without an error."""
    with scripted(sse(*chunks("c", "d"))):
        stream = il.model("work/x").stream("Hi").open()
        next(stream)
        assert kinds(heard)[-1] == "FirstContent"
        stream.close()
    assert (kinds(heard)[-1], heard[-1].closed, heard[-1].error) == ("CallFinished", True, None)


async def test_a_call_that_is_cancelled_is_told(heard: list[Any]) -> None:
    """A cancelled call ends as closed, not as an error."""
    with scripted(Line(pieces=(b"{}",), pause_s=5.0)):
        task = asyncio.create_task(aio.model("work/x").generate("Hi"))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (kinds(heard)[-1], heard[-1].closed, heard[-1].error) == ("CallFinished", True, None)


def test_interruption_is_told(heard: list[Any]) -> None:
    """KeyboardInterrupt in the middle of a call ends it as closed, and passes."""

    def interrupted(_: object) -> str:
        raise KeyboardInterrupt

    with use(FakeModel([interrupted])), pytest.raises(KeyboardInterrupt):
        il.model("work/x").generate("Hi")
    assert (kinds(heard)[-1], heard[-1].closed, heard[-1].error) == ("CallFinished", True, None)


# Agents and tools

both = pytest.mark.parametrize("agents", FACES, ids=repr)


@both
def test_an_agent_is_told_with_its_calls_and_tools(agents: AgentFace, heard: list[Any]) -> None:
    """A run, its calls and the work of its tools: each knows the run that it belongs to."""
    with use(FakeModel([tool_call("get_weather", city="Oslo"), "Done."])), il.meter(team="x"):
        agents.run(agents.agent())
    assert kinds(heard) == [
        "AgentStarted",
        "CallStarted", "AttemptStarted", "CallFinished",
        "ToolCalled", "ToolReturned",
        "CallStarted", "AttemptStarted", "CallFinished",
        "AgentFinished",
    ]  # fmt: skip
    run, called, returned, finished = heard[0], heard[4], heard[5], heard[9]
    assert run.targets == ("fake/scripted",)
    assert {event.parent_id for event in heard[1:9]} == {run.id}
    assert (run.parent_id, finished.parent_id, finished.id) == (None, None, run.id)
    assert (called.tool, called.tool_call_id, called.call) == ("get_weather", "call_0", None)
    assert (returned.is_error, returned.error, returned.result, returned.id) == (False, None, None, called.id)
    assert (finished.stop_reason, finished.steps, finished.error) == ("done", 2, None)
    assert finished.usage is not None
    assert all(event.tags == {"team": "x"} for event in heard)


@both
def test_what_a_tool_does_belongs_to_the_tool(agents: AgentFace, heard: list[Any]) -> None:
    """A model that is asked in a handler, and an agent that is a tool, are sent as inside of that tool's work."""
    inner = agents.agent("fake/inner", tools=[]).as_tool("ask_inner", "Asks another agent.")
    script = FakeModel([tool_call("ask_inner", task="Say hi."), "Hi.", "Done."])
    with use(script):
        agents.run(agents.agent(tools=[inner]))
    outer_run, inner_run = [event for event in heard if isinstance(event, il.AgentStarted)]
    work = next(event for event in heard if isinstance(event, il.ToolCalled))
    calls = [event for event in heard if isinstance(event, il.CallStarted)]
    assert (work.parent_id, inner_run.parent_id) == (outer_run.id, work.id)
    assert [event.parent_id for event in calls] == [outer_run.id, inner_run.id, outer_run.id]


@both
def test_a_failing_tool_tells_only_its_class(agents: AgentFace, heard: list[Any]) -> None:
    """What a handler raises may be private: its class is told, its text is not."""

    def broken(city: str) -> str:
        """Fails.

        Args:
            city: City name.
        """
        raise ValueError(KEY + city)

    with use(FakeModel([tool_call("broken", city="Oslo"), "Done."])):
        agents.run(agents.agent(tools=[broken]))
    returned = next(event for event in heard if isinstance(event, il.ToolReturned))
    assert (returned.is_error, returned.error) == (True, "ValueError")
    assert KEY not in repr(heard)


@both
def test_a_tool_that_takes_too_long_is_told(agents: AgentFace, heard: list[Any]) -> None:
    """A time-out ends the work once, as an error."""
    release = threading.Event()

    def slow(city: str) -> str:
        """Waits.

        Args:
            city: City name.
        """
        release.wait(5)
        return city

    tools = (aio if agents.awaited else il).Toolbox([slow], timeout_s=0.02)
    with use(FakeModel([tool_call("slow", city="Oslo"), "Done."])):
        agents.run(agents.agent(tools=tools))
    release.set()
    returned = [event for event in heard if isinstance(event, il.ToolReturned)]
    assert [(event.is_error, event.error) for event in returned] == [(True, "TimeoutError")]


def test_tools_of_one_step_are_told_from_their_threads(heard: list[Any]) -> None:
    """A toolbox by itself tells its work, too: each call begins and ends once."""
    calls = [il.ToolCall(f"call_{place}", "get_weather", f'{{"city":"{place}"}}') for place in range(5)]
    il.Toolbox([get_weather]).execute(calls)
    begun = {event.tool_call_id for event in heard if isinstance(event, il.ToolCalled)}
    ended = [event.tool_call_id for event in heard if isinstance(event, il.ToolReturned)]
    assert begun == set(ended) == {call.id for call in calls}
    assert (len(heard), {event.parent_id for event in heard}) == (10, {None})


@both
def test_a_run_that_an_error_ends_is_told(agents: AgentFace, heard: list[Any]) -> None:
    """The run ends with the error's class; its sentence is in the event of the call."""
    with scripted(refusal(401, "no such user")), pytest.raises(il.AuthenticationError):
        agents.run(agents.agent("work/x"))
    assert (heard[-1].stop_reason, heard[-1].error, heard[-1].steps) == ("error", "AuthenticationError", 0)
    assert heard[-2].message == "no such user"


def test_a_run_that_is_left_is_told(heard: list[Any]) -> None:
    """Closing a live run ends it as cancelled."""
    with use(FakeModel(["One two three."])), il.Agent("fake/x").stream("Hi") as run:
        next(run)
    assert (kinds(heard)[-1], heard[-1].stop_reason) == ("AgentFinished", "cancelled")


# Content


def test_content_is_only_for_who_asks_for_it() -> None:
    """One observer has the request and the answer, the other one neither; both have the same id."""
    bare: list[Any] = []
    full: list[Any] = []
    with scripted(chat("SECRET-ANSWER")), il.on_event(bare.append), il.on_event(full.append, content=True):
        il.model("work/x").generate("SECRET-QUESTION", system="SECRET-SYSTEM", user="SECRET-USER")
    assert "SECRET" not in repr(bare)
    assert full[0].request.messages == (il.user("SECRET-QUESTION"),)
    assert full[-1].response.text == "SECRET-ANSWER"
    assert [event.id for event in bare] == [event.id for event in full]


def test_content_of_tools() -> None:
    """Arguments and results are content."""
    bare: list[Any] = []
    full: list[Any] = []
    with il.on_event(bare.append), il.on_event(full.append, content=True):
        il.Toolbox([get_weather]).execute(il.ToolCall("c1", "get_weather", '{"city":"SECRET"}'))
    assert "SECRET" not in repr(bare)
    assert full[0].call.arguments == {"city": "SECRET"}
    assert full[1].result.content == il.Json({"city": "SECRET", "celsius": 4})


def test_sec_05_no_event_holds_a_key(face: Face) -> None:
    """A key that is planted in the DSN, in headers and in whatever a server sends back is in no event."""
    events: list[Any] = []
    echo = f"the key {KEY} of Bearer {KEY} is wrong"
    lines = [
        refusal(401, echo),
        HttpReply(status=502, headers=(("content-type", "text/html"),), body=f"<html>{echo}</html>".encode()),
        sse(chunks("a")[0], b'data: {"error":{"message":"' + echo.encode() + b'","code":"' + KEY.encode() + b'"}}\n\n'),
        sse(*chunks("a", "b", done=False), ending=il.APIConnectionError(echo)),
    ]
    with il.on_event(events.append, content=True), scripted(*lines, alone=False):
        for turn in range(4):
            model = face.model("work/x", headers={"x-tenant": f"{KEY}-tenant", "authorization": f"Bearer {KEY}"})
            with pytest.raises(il.Error):
                face.generate(model, retries=0) if turn < 2 else face.finish(model.stream("Hi", retries=0))
    told = "".join([f"{event}{event!r}" for event in events]) + msgspec.json.encode(events, enc_hook=str).decode()
    assert kinds(events).count("CallFinished") == 4
    assert KEY not in told
    assert "***" in told


# Who listens, and where


def test_an_observer_listens_to_the_process_until_it_is_closed() -> None:
    """Without `with` it hears other threads, too; after `close` nothing more, and closing again is nothing."""
    events: list[Any] = []
    observation = il.on_event(events.append)
    with scripted(chat("a"), chat("b")):
        thread = threading.Thread(target=lambda: il.model("work/x").generate("Hi"))
        thread.start()
        thread.join()
        assert (observation.is_open, len(events)) == (True, 3)
        observation.close()
        observation.close()
        il.model("work/x").generate("Hi")
    assert (observation.is_open, len(events)) == (False, 3)


def test_as_a_context_manager_it_hears_its_context_alone() -> None:
    """The code inside, and what inherits its context; not other threads, not what comes after."""
    events: list[Any] = []
    with scripted(*[chat("a") for _ in range(6)]):
        with il.on_event(events.append):
            thread = threading.Thread(target=lambda: il.model("work/x").generate("Hi"))
            thread.start()
            thread.join()
            assert events == []
            il.model("work/x").generate("Hi")
            assert kinds(events) == ["CallStarted", "AttemptStarted", "CallFinished"]
            items = list(il.model("work/x").map(["a", "b"], concurrency=2))
            assert [item.error for item in items] == [None, None]
            assert kinds(events).count("CallFinished") == 3
        il.model("work/x").generate("Hi")
    assert kinds(events).count("CallFinished") == 3
    assert not observe.is_observed()


async def test_tasks_hear_what_their_context_hears() -> None:
    """A task that is begun inside `with` is heard, one from outside is not."""
    events: list[Any] = []
    inside = asyncio.Event()

    async def elsewhere() -> None:
        await inside.wait()
        await aio.model("work/x").generate("Hi")

    with scripted(chat("a"), chat("b")):
        other = asyncio.create_task(elsewhere())
        with il.on_event(events.append):
            inside.set()
            await other
            assert events == []
            await asyncio.create_task(aio.model("work/x").generate("Hi"))
    assert kinds(events) == ["CallStarted", "AttemptStarted", "CallFinished"]


def test_a_stream_is_heard_by_who_listened_when_it_began() -> None:
    """A stream that is read on after `with` is no longer heard; one begun before is not heard at all."""
    events: list[Any] = []
    with scripted(sse(*chunks("a", "b")), sse(*chunks("a", "b"))):
        before = il.model("work/x").stream("Hi").open()
        with il.on_event(events.append):
            before.finish()
            inside = il.model("work/x").stream("Hi").open()
        inside.finish()
    assert kinds(events) == ["CallStarted", "AttemptStarted", "FirstContent"]


def test_observers_are_called_in_order() -> None:
    """In the order of registration, those of the process before those of the context."""
    told: list[str] = []
    first = il.on_event(lambda _: told.append("first"))
    with il.on_event(lambda _: told.append("context")):
        second = il.on_event(lambda _: told.append("second"))
        observe.tell(il.TargetSkipped(id="1", model="a/b", reason="x"))
    first.close()
    second.close()
    assert told == ["first", "second", "context"]


def test_an_observation_is_entered_once() -> None:
    """A closed one cannot be entered, nor one that was entered already."""
    observation = il.on_event(print)
    with observation, pytest.raises(il.UsageError, match="entered already"):
        observation.__enter__()
    with pytest.raises(il.UsageError, match="makes another one"):
        observation.__enter__()


def test_an_observation_may_be_left_in_another_context() -> None:
    """A fixture may be ended elsewhere than it was begun: nothing is raised, and nothing is heard any more."""
    events: list[Any] = []
    observation = il.on_event(events.append)
    begun = copy_context()
    begun.run(observation.__enter__)
    begun.run(observe.tell, il.TargetSkipped(id="1", model="a/b", reason="x"))
    observation.__exit__(None, None, None)
    begun.run(observe.tell, il.TargetSkipped(id="2", model="a/b", reason="x"))
    assert [event.id for event in events] == ["1"]
    assert not observe.is_observed()


# Observers cannot break anything


def test_an_observer_that_raises_does_not_reach_the_call(caplog: pytest.LogCaptureFixture) -> None:
    """The call goes on, the next observer is called, and the failure is logged once."""
    events: list[Any] = []

    def broken(_: object) -> None:
        raise ValueError("no")

    with caplog.at_level(logging.WARNING), il.on_event(broken), il.on_event(events.append), scripted(chat("a")):
        assert il.model("work/x").generate("Hi").text == "a"
    assert len(events) == 3
    assert len(caplog.records) == 1
    assert caplog.records[0].name == "interlingua.observe"


def test_a_coroutine_function_is_refused() -> None:
    """Nobody would await it, and that is said at once, of objects with such a `__call__`, too."""

    async def observer(event: object) -> None:
        del event

    class Observer:
        async def __call__(self, event: object) -> None:
            del event

    for given in (observer, Observer()):
        with pytest.raises(il.UsageError, match="cannot be a coroutine function"):
            il.on_event(given)
    with pytest.raises(il.UsageError, match="a function that takes an event, not 7"):
        il.on_event(cast("Any", 7))


def test_an_observer_that_gives_a_coroutine_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """A coroutine that slipped through is closed, so that Python does not complain later, and logged."""

    async def later() -> None:
        return None

    with caplog.at_level(logging.WARNING), il.on_event(lambda _: later()), scripted(chat("a")):
        il.model("work/x").generate("Hi")
    assert [record.exc_info is not None for record in caplog.records] == [True]


def test_what_an_observer_asks_is_not_told() -> None:
    """An observer that asks a model itself does not hear itself without end."""
    calls: list[str] = []

    def curious(event: object) -> None:
        if isinstance(event, il.CallFinished):
            calls.append(il.model("work/x").generate("And?").text)

    with scripted(chat("a"), chat("b")), il.on_event(curious):
        il.model("work/x").generate("Hi")
    assert calls == ["b"]


# What it costs, and how it reads


def test_nothing_is_made_when_nobody_listens() -> None:
    """A call that nobody listens to does not even load the module that would watch it, and reads no clock for it."""
    code = """
import sys
import interlingua as il
from interlingua.testing import FakeModel, use
with use(FakeModel(["a", "b"])):
    il.model("fake/x").generate("Hi")
    il.Agent("fake/x").run("Hi")
names = ("client.call.watch", "agent.watch", "client.telemetry.instrument")
loaded = [name for name in names if f"interlingua.{name}" in sys.modules]
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-I", "-c", code], check=True)


def test_is_observed_allocates_nothing() -> None:
    """Asking whether anybody listens makes no object."""
    observe.is_observed()
    before = sys.getallocatedblocks()
    for _ in range(1_000):
        observe.is_observed()
    assert sys.getallocatedblocks() - before < 10


def test_ids_and_times_come_from_what_is_injected() -> None:
    """The id source and the clock of a watch are arguments."""
    events: list[Any] = []
    ticks = iter([1.0, 3.5])
    with il.on_event(events.append):
        watch = Watch(lambda: next(ticks), make_id=lambda: "request-7")
        watch.left()
        watch.left()
    assert [(event.id, event.duration_s, event.closed) for event in events] == [("request-7", 2.5, True)]


def test_events_print_as_one_readable_line() -> None:
    """Kind, id, what is known, tags; never content."""
    event = il.CallFinished(
        id="9f",
        tags={"team": "search"},
        model="a/b",
        duration_s=0.51239,
        usage=il.Usage(input_tokens=3, output_tokens=2),
    )
    assert str(event) == "CallFinished 9f model=a/b duration_s=0.5124 usage=3+2 [team=search]"
    started = il.CallStarted(id="9f", targets=("a/b", "c/d"), stream=True, parameters={"max_tokens": 5, "top_p": 0.5})
    assert str(started) == "CallStarted 9f targets=a/b,c/d stream=True parameters=max_tokens:5,top_p:0.5"
    called = il.ToolCalled(id="1", parent_id="9f", tool="t", tool_call_id="c", call=il.ToolCall("c", "t", "{}"))
    assert str(called) == "ToolCalled 1 parent_id=9f tool=t tool_call_id=c"


def test_a_line_is_one_line_whatever_a_server_says() -> None:
    """Line breaks and what steers a terminal become blanks, a long sentence is cut; the event keeps it as it is."""
    said = "no\r\nCallFinished \x1b[31mfake\u2028" + "x" * 400
    event = il.TargetSkipped(id="9f", model="a/b", reason=said)
    line = str(event)
    assert line == "TargetSkipped 9f model=a/b reason=no CallFinished [31mfake " + "x" * 272 + "…"
    assert event.reason == said


def test_printing_is_an_observer(capsys: pytest.CaptureFixture[str]) -> None:
    """`il.on_event(print)` prints a line for every event."""
    with il.on_event(print), scripted(chat("a")):
        il.model("work/x").generate("Hi")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["CallStarted", "AttemptStarted", "CallFinished"]


def test_both_faces_have_the_same_observers() -> None:
    """`interlingua.aio` has the very same function and classes."""
    for name in ("on_event", "instrument", "CallStarted", "ToolReturned", "Observation"):
        assert getattr(aio, name) is getattr(il, name)


def test_two_targets_at_once_are_told_apart(face: Face, heard: list[Any]) -> None:
    """With a hedge both tries are told, each with its number, and the slower one as given up."""
    slow = Line(pieces=(chat("slow").body,), pause_s=3.0, when=lambda request: request.target == "work/x")
    with scripted(slow, chat("quick")):
        reply = face.generate(face.model("work/x,spare/y", hedge_after_s=0.02))
    told = [(type(event).__name__, event.model, event.number) for event in heard[1:-1]]
    assert reply.text == "quick"
    assert told == [
        ("AttemptStarted", "work/x", 1), ("AttemptStarted", "spare/y", 2), ("AttemptFailed", "work/x", 1),
    ]  # fmt: skip
    assert (heard[3].error, heard[3].message) == ("Error", "outrun: another target answered first")
    assert (heard[-1].model, {event.id for event in heard}) == ("spare/y", {heard[0].id})
