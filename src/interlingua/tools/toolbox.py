"""A box of tools that runs the model's calls and answers every one of them.

Rules
- One tool message answers one step: a result for each call, in call order.
- Nothing that a handler does breaks the loop: its exceptions become error results. Only the text of a `ToolError` is
  shown to the model; anything else may be private, and goes to the log alone.
- An unknown tool, broken arguments and arguments that do not fit become error results that say how to do better; the
  handler does not run. A null for something that may be left out counts as left out.
- Setting it up wrongly is the caller's fault and raises: two tools of one name, a tool that nothing handles.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from functools import partial
from typing import Any, TypeAlias, cast

from interlingua.errors import Error, ToolError, UsageError
from interlingua.schema.problem import MisfitError, Problem, describe
from interlingua.schema.strict import relax
from interlingua.schema.validate import check_schema, validate
from interlingua.tools.result import content_of
from interlingua.tools.tool import Handler, ToolSource, is_async, origin_of, tool
from interlingua.types.content import BrokenToolCall, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.tool import OpaqueTool, Tool

__all__ = ["AsyncToolbox", "Call", "Toolbox"]

Call: TypeAlias = ToolCall | BrokenToolCall
"""A call of the model, whole or broken."""
Run: TypeAlias = Callable[[], Any]
"""A handler with its arguments, ready to run."""


class _Box:
    """What the two faces share: everything but the running."""

    def __init__(self, tools: Iterable[ToolSource | OpaqueTool] = ()) -> None:
        """A box of functions, classes, schemas and tools.

        Raises: UsageError, for two tools of one name; SchemaError, for one that is not JSON Schema.
        """
        self._tools = tuple(item if isinstance(item, OpaqueTool) else tool(item) for item in _several(tools))
        self._by_name: dict[str, Tool] = {}
        for item in self._tools:
            if isinstance(item, Tool):
                self._take(item)

    def _take(self, item: Tool) -> None:
        other = self._by_name.setdefault(item.name, item)
        if other is not item:
            raise UsageError(
                f"two tools are named {item.name}: {origin_of(other)} and {origin_of(item)};"
                " give one of them another name with `tool(…, name=…)`"
            )
        if not isinstance(item.handler, Handler):
            check_schema(item.parameters, where=f"tool {item.name}, parameters")

    @property
    def tools(self) -> tuple[Tool | OpaqueTool, ...]:
        """The tools, in the order given."""
        return self._tools

    def __iter__(self) -> Iterator[Tool | OpaqueTool]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._by_name)})"

    def _prepared(self, calls: Call | Iterable[Call]) -> list[tuple[Call, Run | ToolResult]]:
        """Every call with what answers it; UsageError before anything has run."""
        every: list[Call] = [calls] if isinstance(calls, ToolCall | BrokenToolCall) else _listed(calls)
        return [(call, self._ready(call)) for call in every]

    def _ready(self, call: Call) -> Run | ToolResult:
        """The handler with its arguments, or the error result that the call gets instead."""
        found = self._by_name.get(call.name)
        if found is None:
            names = ", ".join(self._by_name) or "none"
            return _error(call, f"there is no tool {call.name}; there are: {names}")
        if isinstance(call, BrokenToolCall):
            return _error(call, f"tool {call.name}, {_BROKEN[call.reason]}")
        if found.handler is None:
            raise UsageError(f"tool {call.name} has no handler, so its calls cannot be executed here")
        try:
            arguments = call.arguments
        except Error as error:
            return _error(call, f"tool {call.name}, {error.message}")
        if found.freeform is not None:
            function = found.handler.function if isinstance(found.handler, Handler) else found.handler
            return partial(function, arguments.get("input", ""))
        return _bound(call, found, found.handler, arguments)


def _several(tools: object) -> Iterable[ToolSource | OpaqueTool]:
    """The tools; a single one is what a class or a dict would wrongly be iterated as."""
    if callable(tools) or not isinstance(tools, Iterable) or isinstance(tools, str | dict):
        name = getattr(cast("object", tools), "__name__", "…")
        raise UsageError(f"a toolbox takes a list, as in Toolbox([{name}])")
    return cast("Iterable[ToolSource | OpaqueTool]", tools)


def _listed(calls: object) -> list[Call]:
    """Several calls, judged before anything has run."""
    items: list[object] = list(cast("Iterable[object]", calls)) if isinstance(calls, Iterable) else [calls]
    for item in items:
        if not isinstance(item, ToolCall | BrokenToolCall):
            raise UsageError(f"execute takes calls, such as reply.tool_calls, not a {type(item).__name__}")
    return cast("list[Call]", items)


def _bound(call: Call, found: Tool, handler: Callable[..., Any], arguments: dict[str, Any]) -> Run | ToolResult:
    """The handler with arguments that fit the schema, or an error result that names every bad one."""
    typed = handler if isinstance(handler, Handler) else None
    schema = typed.loose if typed and found.strict else found.parameters
    arguments = relax(arguments, schema)
    problems = validate(schema, arguments, naive_times=typed is not None)
    if not problems:
        if typed is None:
            return partial(handler, **arguments)
        try:
            return partial(typed.run, typed.read(arguments))
        except MisfitError as misfit:
            problems = [Problem(misfit.path, misfit.message)]
    return _error(call, f"tool {call.name}, {describe(problems, 'argument')}")


def _error(call: Call, text: str) -> ToolResult:
    return ToolResult(call.id, call.name, text, is_error=True)


def _answer(call: Call, value: object) -> ToolResult:
    try:
        return ToolResult(call.id, call.name, content_of(value))
    except Error as error:
        return _failed(call, error)


def _failed(call: Call, error: Exception) -> ToolResult:
    """The result of a handler that raised."""
    if isinstance(error, ToolError):
        return _error(call, error.message or f"tool {call.name} failed")
    import logging  # only failures are logged

    logging.getLogger("interlingua.tools").warning("tool %s failed", call.name, exc_info=error)
    return _error(call, f"tool {call.name} failed with an internal error")


_BROKEN = {
    "malformed": "the arguments are not valid JSON; send one JSON object",
    "not_object": "the arguments are not a JSON object; send one JSON object",
    "duplicate_key": "an argument is given twice; give each argument once",
    "non_finite": "an argument is not a finite number; JSON has no NaN and no Infinity",
    "cut_off": "the arguments were cut off by the length limit; send shorter ones",
}


class Toolbox(_Box):
    """Tools, and the running of their calls, one after the other."""

    def _take(self, item: Tool) -> None:
        super()._take(item)
        handler = item.handler
        if handler is not None and (handler.is_async if isinstance(handler, Handler) else is_async(handler)):
            raise UsageError(f"{origin_of(item)} is a coroutine function; use the Toolbox of interlingua.aio")

    def execute(self, calls: Call | Iterable[Call]) -> Message:
        """One tool message with the results of these calls, in call order.

        Raises: UsageError, before anything has run, for a tool without a handler.
        """
        return Message("tool", tuple(_run(call, ready) for call, ready in self._prepared(calls)))


def _run(call: Call, ready: Run | ToolResult) -> ToolResult:
    if isinstance(ready, ToolResult):
        return ready
    try:
        value = ready()
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is an answer for the model
        return _failed(call, error)
    if isinstance(value, Coroutine):
        value.close()
        return _failed(call, UsageError(f"tool {call.name} gave a coroutine; use the Toolbox of interlingua.aio"))
    return _answer(call, value)


class AsyncToolbox(_Box):
    """Tools, and the running of their calls, all at once.

    Coroutine functions run in the event loop, ordinary functions in threads that end with the call.
    """

    async def execute(self, calls: Call | Iterable[Call]) -> Message:
        """One tool message with the results of these calls, in call order.

        Raises: UsageError, before anything has run, for a tool without a handler.
        """
        import asyncio

        prepared = self._prepared(calls)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_run_async(call, ready)) for call, ready in prepared]
        return Message("tool", tuple(task.result() for task in tasks))


async def _run_async(call: Call, ready: Run | ToolResult) -> ToolResult:
    if isinstance(ready, ToolResult):
        return ready
    try:
        value = await _value(ready)
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is an answer for the model
        return _failed(call, error)
    return _answer(call, value)


async def _value(run: Run) -> Any:
    """What a handler gives: awaited when it is awaitable; a function that may block runs in a thread."""
    import asyncio

    value = run() if _runs_in_the_loop(run) else await asyncio.to_thread(run)
    return await cast("Awaitable[Any]", value) if isinstance(value, Awaitable) else value


def _runs_in_the_loop(run: Run) -> bool:
    function = run.func if isinstance(run, partial) else run
    owner = getattr(function, "__self__", None)
    return owner.is_async if isinstance(owner, Handler) else is_async(function)
