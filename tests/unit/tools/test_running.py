"""R34, and issue 4, point 1: calls run at once, within bounds, and no handler breaks the loop."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
import pytest

import interlingua as il
from interlingua.tools.toolbox import AsyncToolbox, Toolbox
from interlingua.types.content import ToolCall, ToolResult
from interlingua.types.message import Message


def call(name: str, arguments: str = "{}", id: str = "call_0") -> ToolCall:
    """A call as a model makes it."""
    return ToolCall(id, name, arguments)


def contents(message: Message) -> list[object]:
    """The contents of all results."""
    return [result.content for result in message.tool_results]


class Both:
    """The two faces behind one method."""

    def __init__(self, face: type[Toolbox | AsyncToolbox]) -> None:
        self.face = face

    def execute(self, tools: list[Any], calls: Any, box: dict[str, Any] | None = None, **options: Any) -> Message:
        """The answer of a box of these tools."""
        made = self.face(tools, **(box or {}))
        if isinstance(made, Toolbox):
            return made.execute(calls, **options)
        return asyncio.run(made.execute(calls, **options))


@pytest.fixture(params=[Toolbox, AsyncToolbox])
def both(request: pytest.FixtureRequest) -> Both:
    """Each face in turn."""
    return Both(request.param)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Threads end with the call, or with the function that was given up."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
    assert set(threading.enumerate()) <= before


class Gate:
    """Handlers that only end when the other one runs, too."""

    def __init__(self) -> None:
        self.first, self.second = threading.Event(), threading.Event()

    def ping(self) -> str:
        """Wait for pong."""
        self.first.set()
        return "ping" if self.second.wait(60) else "alone"

    def pong(self) -> str:
        """Wait for ping."""
        self.second.set()
        return "pong" if self.first.wait(60) else "alone"


def test_functions_of_one_step_run_at_once(both: Both) -> None:
    """Two functions that wait for each other both end; results keep the order of the calls."""
    gate = Gate()
    message = both.execute([gate.ping, gate.pong], [call("ping", id="a"), call("pong", id="b")])
    assert contents(message) == ["ping", "pong"]
    assert [result.call_id for result in message.tool_results] == ["a", "b"]


def test_the_slow_one_does_not_change_the_order(both: Both) -> None:
    """The first call ends last, and its result is first."""
    done = threading.Event()

    def slow() -> str:
        done.wait(60)
        return "slow"

    def fast() -> str:
        done.set()
        return "fast"

    assert contents(both.execute([slow, fast], [call("slow"), call("fast")])) == ["slow", "fast"]


def test_no_more_calls_run_at_once_than_the_box_says(both: Both) -> None:
    """Eight calls in a box for three: three at a time, at most."""
    lock, now, most = threading.Lock(), 0, 0
    pair = threading.Barrier(2, timeout=60)  # nobody ends alone, so that two are seen at once on any machine

    def work() -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        pair.wait()
        time.sleep(0.01)
        with lock:
            now -= 1

    message = both.execute([work], [call("work", id=str(n)) for n in range(8)], {"max_concurrency": 3})
    assert len(message.tool_results) == 8
    assert 2 <= most <= 3
    with pytest.raises(il.UsageError, match="max_concurrency is 0, and must be at least 1"):
        both.face([], max_concurrency=0)


def test_one_call_runs_where_it_is_called() -> None:
    """Without a bound on its time no thread is needed; several calls, or a bound, need them."""

    def where() -> bool:
        return threading.current_thread() is threading.main_thread()

    box = Toolbox([where])
    assert contents(box.execute(call("where"))) == [il.Json(value=True)]
    assert contents(box.execute([call("where"), call("nope")]))[0] == il.Json(value=True)
    assert contents(box.execute([call("where")] * 2)) == [il.Json(value=False)] * 2
    assert contents(box.execute(call("where"), timeout_s=60)) == [il.Json(value=False)]


VARIABLE = contextvars.ContextVar("VARIABLE", default="nothing")


@pytest.mark.parametrize("count", [1, 2])
def test_context_variables_are_there_and_stay_there(both: Both, count: int) -> None:
    """A handler sees the caller's variables; what it sets is its own."""

    def read() -> str:
        found = VARIABLE.get()
        VARIABLE.set("mine")
        return found

    async def read_later() -> str:
        return read()

    token = VARIABLE.set("caller's")
    try:
        for name in ("read", "read_later"):
            assert contents(both.execute([read, read_later], [call(name)] * count)) == ["caller's"] * count
        assert VARIABLE.get() == "caller's"
    finally:
        VARIABLE.reset(token)


# Time-outs


def test_a_function_that_hangs_is_given_up(both: Both, caplog: pytest.LogCaptureFixture) -> None:
    """The result is an error that says so, the other calls are answered, and nobody waits for the function."""
    let_go = threading.Event()

    def hang() -> str:
        let_go.wait(60)
        return "too late"

    def fine() -> str:
        return "fine"

    began = time.monotonic()
    tools = [hang, il.tool(fine, timeout_s=60)]
    message = both.execute(tools, [call("hang", id="a"), call("fine", id="b")], timeout_s=0.05)
    assert time.monotonic() - began < 30
    assert message.tool_results == (
        ToolResult("a", "hang", "tool hang took longer than 0.05 s", is_error=True),
        ToolResult("b", "fine", "fine"),
    )
    assert caplog.messages == ["tool hang took longer than 0.05 s"]
    let_go.set()


def test_a_coroutine_that_hangs_is_cancelled(both: Both) -> None:
    """It learns that it is over, and can clean up."""
    cancelled = threading.Event()

    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    message = both.execute([il.tool(hang, timeout_s=0.05)], call("hang"))
    assert contents(message) == ["tool hang took longer than 0.05 s"]
    assert cancelled.wait(60)


def test_a_coroutine_that_will_not_end_is_given_up(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancelling it is tried once; the step goes on without it."""
    monkeypatch.setattr("interlingua.tools.aio.running.GRACE_S", 0.02)
    let_go, ended = threading.Event(), threading.Event()

    async def stubborn() -> str:
        while not let_go.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        ended.set()
        return "never seen"

    async def run(box: AsyncToolbox) -> None:
        message = await box.execute(call("stubborn"), timeout_s=0.02)
        assert contents(message) == ["tool stubborn took longer than 0.02 s"]
        assert not ended.is_set()
        let_go.set()
        assert await asyncio.to_thread(ended.wait, 60)

    if both.face is AsyncToolbox:
        asyncio.run(run(AsyncToolbox([stubborn])))
    else:
        assert contents(Toolbox([stubborn]).execute(call("stubborn"), timeout_s=0.02)) == [
            "tool stubborn took longer than 0.02 s"
        ]
        assert not ended.is_set()
        let_go.set()
        assert ended.wait(60)


def test_a_tools_own_time_goes_before_the_calls_and_the_boxes(both: Both) -> None:
    """The nearest word counts: the tool's, the call's, the box's."""
    let_go = threading.Event()

    def hang() -> None:
        let_go.wait(60)

    for tools, box, options, expected in (
        ([il.tool(hang, timeout_s=0.01)], {"timeout_s": 9}, {"timeout_s": 8}, "0.01"),
        ([hang], {"timeout_s": 9}, {"timeout_s": 0.02}, "0.02"),
        ([hang], {"timeout_s": 0.03}, {}, "0.03"),
    ):
        message = both.execute(tools, call("hang"), box, **options)
        assert contents(message) == [f"tool hang took longer than {expected} s"]
    let_go.set()
    assert contents(both.execute([il.tool(hang, timeout_s=60)], call("hang"), {"timeout_s": 0.01})) == [il.Json(None)]


def test_a_bound_needs_something_to_bound() -> None:
    """A tool without a handler and a bound that is none are the caller's mistakes."""
    with pytest.raises(il.UsageError, match="tool f has no handler, so nothing runs it here"):
        il.tool(il.Tool(name="f"), timeout_s=1)
    with pytest.raises(il.UsageError, match="tool test: timeout_s is 0, and must be more than 0"):
        il.tool(lambda: None, name="test", timeout_s=0)
    with pytest.raises(il.SchemaError, match="tool f, parameters: no valid JSON Schema"):
        il.tool(il.Tool(name="f", parameters={"type": "strin"}, handler=print), timeout_s=1)
    let_go = threading.Event()
    raw = il.tool({"name": "f", "parameters": {"type": "object"}}, handler=partial(let_go.wait, 60), timeout_s=0.01)
    assert contents(Toolbox([raw]).execute(call("f"))) == ["tool f took longer than 0.01 s"]
    let_go.set()


# What handlers do


def raises(error: BaseException) -> Callable[[], Any]:
    """A handler that raises."""

    def handler() -> None:
        raise error

    return handler


class Odd:
    """A value whose own code fails wherever it is looked at."""

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # as odd as can be
        """Fails."""
        raise ValueError("private")

    def __iter__(self) -> Iterator[Any]:
        raise ValueError("private")


def odd() -> object:
    """A value that cannot be looked at."""
    return Odd()


def endless() -> list[Any]:
    """A list that holds itself."""
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    "handler",
    [
        raises(ValueError("private")),
        raises(StopIteration("private")),
        raises(asyncio.CancelledError("private")),
        raises(TimeoutError("private")),
        raises(ExceptionGroup("private", [ValueError("private")])),
        odd,
        endless,
        lambda: b"private",
        lambda: float("nan"),
        lambda: {"\ud800": 1},
        lambda: (number for number in (1, 2)),
    ],
)
def test_r34_nothing_that_a_handler_does_breaks_the_loop(
    both: Both, handler: Callable[[], Any], count: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it raises or gives is one error result, whose text says nothing of it; the log does."""

    async def awaited() -> object:
        return handler()

    tools = [il.tool(handler, name="sync"), awaited]
    for name in ("sync", "awaited"):
        message = both.execute(tools, [call(name)] * count)
        assert message.tool_results == (
            (ToolResult("call_0", name, f"tool {name} failed with an internal error", is_error=True),) * count
        )
    assert {record.levelno for record in caplog.records} == {logging.WARNING}
    assert len(caplog.records) == 2 * count


def test_a_coroutine_that_cancels_itself_has_failed(both: Both) -> None:
    """Its own cancelling does not reach the step."""

    async def cancels() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(10)

    async def fine() -> str:
        return "fine"

    message = both.execute([cancels, fine], [call("cancels"), call("fine")])
    assert contents(message) == ["tool cancels failed with an internal error", "fine"]


def test_a_class_that_checks_itself_may_raise_anything(both: Both) -> None:
    """Code that runs while arguments are read is no better than a handler."""

    class Plan(msgspec.Struct):
        number: int

        def __post_init__(self) -> None:
            raise ZeroDivisionError("private")

    def use(plan: Plan) -> None: ...

    assert contents(both.execute([il.tool(Plan, handler=use)], call("Plan", '{"number": 1}'))) == [
        "tool Plan failed with an internal error"
    ]


class LeaveError(BaseException):
    """What a test runner raises to leave, for one."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, LeaveError])
@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_passes(
    both: Both, error: type[BaseException], count: int, caplog: pytest.LogCaptureFixture
) -> None:
    """What asks the program to stop is no result, in threads neither."""
    with pytest.raises(error):
        both.execute([il.tool(raises(error()), name="stop")], [call("stop")] * count)
    gc.collect()
    assert caplog.messages == []  # asyncio complains about exceptions that nobody took


def test_an_interrupt_cancels_the_coroutines_beside_it() -> None:
    """Who leaves does not leave anything running that could be stopped."""
    began, cancelled = threading.Event(), threading.Event()

    async def hang() -> None:
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    def stop() -> None:
        began.wait(60)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Toolbox([hang, stop]).execute([call("hang"), call("stop")])
    assert cancelled.wait(60)


@pytest.mark.parametrize("count", [1, 2])
async def test_cancelling_from_outside_passes_and_closes(count: int) -> None:
    """The coroutines are cancelled before the step ends; a function in a thread is given up."""
    began, ended = 0, 0
    all_began, let_go = asyncio.Event(), threading.Event()

    async def wait() -> None:
        nonlocal began, ended
        began += 1
        if began == count:
            all_began.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended += 1

    def block() -> None:
        let_go.wait(60)

    calls = [call("wait")] * count + [call("block")] * (count - 1)
    task = asyncio.create_task(AsyncToolbox([wait, block]).execute(calls))
    await asyncio.wait_for(all_began.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == count
    let_go.set()


def test_a_function_that_hangs_does_not_hold_up_the_end_of_a_loop() -> None:
    """A loop that is closed meanwhile gets nothing any more."""
    let_go = threading.Event()

    def hang() -> None:
        il.progress("still here")
        let_go.wait(60)
        il.progress("nobody listens")

    assert contents(Both(AsyncToolbox).execute([hang], call("hang"), timeout_s=0.05)) == [
        "tool hang took longer than 0.05 s"
    ]
    let_go.set()


# Progress


@pytest.mark.parametrize("count", [1, 2])
def test_notes_reach_the_listener_in_the_callers_thread(both: Both, count: int) -> None:
    """Each note comes with its call, in order, before the step ends; without a listener nothing happens."""
    heard: list[tuple[str, str]] = []

    def listen(one: ToolCall, text: str) -> None:
        assert threading.current_thread() is threading.main_thread()
        heard.append((one.id, text))

    def work() -> str:
        il.progress("half")
        il.progress("whole")
        return "done"

    async def work_later() -> str:
        il.progress("half")
        await asyncio.sleep(0)
        il.progress("whole")
        return "done"

    calls = [call(name, id=f"{name}{n}") for name in ("work", "work_later") for n in range(count)]
    for some in (calls[:count], calls[count:]):
        heard.clear()
        assert contents(both.execute([work, work_later], some, on_progress=listen)) == ["done"] * count
        for one in some:
            assert [text for heard_id, text in heard if heard_id == one.id] == ["half", "whole"]
    assert contents(both.execute([work, work_later], calls)) == ["done"] * (2 * count)
    il.progress("outside of any call")


def test_a_listener_that_raises_breaks_nothing(both: Both, caplog: pytest.LogCaptureFixture) -> None:
    """Its failure is in the log; the handler and the results know nothing of it."""

    def listen(one: ToolCall, text: str) -> None:
        raise ValueError("private")

    def work() -> str:
        il.progress("half")
        return "done"

    for count in (1, 2):
        assert contents(both.execute([work], [call("work")] * count, on_progress=listen)) == ["done"] * count
    assert set(caplog.messages) == {"the listener of tool work failed"}


def test_notes_after_a_time_out_are_not_heard() -> None:
    """A call that was given up has nothing to say."""
    heard: list[str] = []
    let_go = threading.Event()

    def hang() -> None:
        let_go.wait(60)
        il.progress("late")

    def wait() -> None:
        let_go.set()
        time.sleep(0.05)

    box = Toolbox([il.tool(hang, timeout_s=0.01), il.tool(wait)])
    box.execute([call("hang")], on_progress=lambda _, text: heard.append(text))
    box.execute([call("wait")], on_progress=lambda _, text: heard.append(text))
    assert heard == []


def test_boxes_are_used_from_many_threads() -> None:
    """A box has no state of its own calls."""

    def double(number: int) -> int:
        return 2 * number

    box = Toolbox([double])

    def ask(number: int) -> list[object]:
        return contents(box.execute([call("double", f'{{"number": {number}}}'), call("double", '{"number": 0}')]))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(20))) == [[il.Json(2 * n), il.Json(0)] for n in range(20)]
