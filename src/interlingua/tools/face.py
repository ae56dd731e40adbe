"""The shared half of the blocking and the awaited toolbox: everything but the running.

Rules
- One tool message answers one step: a result for each call, in call order.
- An unknown tool, broken arguments and arguments that do not fit become error results that say how to do better; the
  handler does not run. A null for something that may be left out counts as left out.
- Setting it up wrongly is the caller's fault and raises, before anything has run: two tools of one name, a tool that
  nothing handles, a context that is missing or of another type.
- A tool of an MCP server whose name another tool has, too, is offered as `<server>_<tool>`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from interlingua.errors import Error, UsageError, kind_of
from interlingua.schema.problem import MisfitError, describe
from interlingua.schema.signature import contexts_of
from interlingua.schema.strict import relax
from interlingua.schema.tool_rules import tool_faults
from interlingua.schema.validate import check_schema, validate
from interlingua.tools.mcp import McpSource
from interlingua.tools.outcome import Call, error_result, failed
from interlingua.tools.tool import Handler, ToolSource, is_async, origin_of, tool
from interlingua.types.capability import ToolRules
from interlingua.types.content import BrokenToolCall, ToolCall, ToolResult
from interlingua.types.tool import OpaqueTool, Tool

if TYPE_CHECKING:
    from interlingua.tools.watch import ToolWatch

__all__ = ["Box", "BoxItem", "Work"]

BoxItem: TypeAlias = ToolSource | OpaqueTool | McpSource
"""The things that a toolbox is made from."""

MAX_CONCURRENCY = 16
"""How many calls run at once, where the box does not say otherwise."""


class Work(NamedTuple):
    """A call that can run."""

    call: ToolCall
    """The call."""
    run: Callable[[], Any]
    """The handler with its arguments."""
    is_async: bool
    """Whether it gives an awaitable."""
    timeout_s: float | None
    """Seconds that it may take."""
    watch: ToolWatch | None = None
    """Tells what becomes of it, where it has begun and somebody listens."""


class Box:
    """Tools by name, and what each call is answered with."""

    def __init__(
        self,
        tools: Iterable[BoxItem] = (),
        *,
        rules: ToolRules = "lenient",
        timeout_s: float | None = None,
        max_concurrency: int = MAX_CONCURRENCY,
    ) -> None:
        """A box of functions, classes, schemas, tools and MCP servers.

        `rules="strict"` refuses tools whose names are not plain, and tools and parameters without a description; MCP
        servers are taken as they are. `timeout_s` holds for each call, where its tool has no bound of its own.
        Raises: UsageError, for two tools of one name and for rules that are broken; SchemaError, for a tool that is
        not JSON Schema.
        """
        if max_concurrency < 1:
            raise UsageError(f"max_concurrency is {max_concurrency}, and must be at least 1")
        self.timeout_s: float | None = timeout_s
        """Seconds that a call may take, where its tool has no bound of its own."""
        self.max_concurrency: int = max_concurrency
        """How many calls run at once."""
        items = [item if isinstance(item, OpaqueTool | McpSource) else tool(item) for item in _several(tools)]
        own = [item for item in items if not isinstance(item, McpSource)]
        if rules == "strict":
            faults = tool_faults(item if isinstance(item, Tool) else None for item in own)
            # Of two tools with one name `_fill` names both.
            sentences = [fault.sentence for fault in faults if fault.rule != "tool_name_duplicate"]
            if sentences:
                raise UsageError(f"the strict rules of tools are broken: {'; '.join(sentences)}")
        self._items = tuple(items)
        self._sources = tuple(item for item in items if isinstance(item, McpSource))
        self._opened: tuple[McpSource, ...] = ()
        self._by_name: dict[str, Tool] = {}
        self._fill(own)
        self._is_filled = not self._sources

    def _fill(self, items: Iterable[Tool | OpaqueTool]) -> None:
        self._tools = tuple(items)
        self._by_name = {}
        for item in self._tools:
            if not isinstance(item, Tool):
                continue
            other = self._by_name.setdefault(item.name, item)
            if other is not item:
                raise UsageError(
                    f"two tools are named {item.name}: {origin_of(other)} and {origin_of(item)};"
                    " give one of them another name with `tool(…, name=…)`"
                )
            if not isinstance(item.handler, Handler):
                check_schema(item.parameters, where=f"tool {item.name}, parameters")

    def _fill_with_servers(self) -> None:
        """Put the tools of the servers, all open by now, where the servers stand."""
        own = [item.name for item in self._items if isinstance(item, Tool)]
        names_of_all = own + [name for source in self._sources for name in source.names()]
        doubled = frozenset(name for name in names_of_all if names_of_all.count(name) > 1)
        self._fill(
            made for item in self._items for made in (item.made(doubled) if isinstance(item, McpSource) else (item,))
        )
        self._is_filled = True

    @property
    def _waits(self) -> bool:
        """Whether a server has to be opened before the tools are known."""
        return not self._is_filled or bool(self._closed_sources())

    def _closed_sources(self) -> list[McpSource]:
        return [source for source in self._sources if not source.is_open]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([*self._by_name, *map(repr, self._sources)])})"

    def _prepared(
        self, calls: Call | Iterable[Call], context: object, timeout_s: float | None
    ) -> list[Work | ToolResult]:
        """The work or the result for each call; UsageError before anything has run."""
        items: list[object] = [calls]
        if not isinstance(calls, ToolCall | BrokenToolCall) and isinstance(calls, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            items = list(calls)
        for item in items:
            if not isinstance(item, ToolCall | BrokenToolCall):
                raise UsageError(f"execute takes calls, such as reply.tool_calls, not {kind_of(item)}")
        every = cast("list[Call]", items)
        return [self._ready(call, context, self.timeout_s if timeout_s is None else timeout_s) for call in every]

    def _ready(self, call: Call, context: object, timeout_s: float | None) -> Work | ToolResult:
        """The handler with its arguments, or the error result that the call gets instead."""
        match = self._by_name.get(call.name)
        if match is None:
            names = ", ".join(self._by_name) or "none"
            return error_result(call, f"there is no tool {call.name}; there are: {names}")
        if isinstance(call, BrokenToolCall):
            return error_result(call, f"tool {call.name}, {_BROKEN[call.reason]}")
        handler = match.handler
        if handler is None:
            raise UsageError(
                f"tool {call.name} has no handler, so its calls cannot be executed here"
                "; pickled, a tool keeps only a handler that the other process can import"
            )
        parameters = handler.contexts if isinstance(handler, Handler) else contexts_of(handler)
        # Each parameter that takes the context gets it.
        for parameter, want in parameters.items():
            kind = want.kind
            if context is None:
                if not want.optional:
                    raise UsageError(f"tool {call.name} takes a context, {parameter}; give it with `context=…`")
            elif not _is_a(context, kind):
                raise UsageError(
                    f"tool {call.name} takes a {kind.__name__} as its context, {parameter}, not {kind_of(context)}"
                )
        contexts = dict.fromkeys(parameters, context)
        run = _bound(call, match, handler, contexts)
        if isinstance(run, ToolResult):
            return run
        if not isinstance(handler, Handler):
            return Work(call, run, is_async(handler), timeout_s)
        return Work(call, run, handler.is_async, timeout_s if handler.timeout_s is None else handler.timeout_s)


def _several(tools: object) -> Iterable[BoxItem]:
    """The tools; a single one is what a class or a dict would wrongly be iterated as."""
    if (
        isinstance(tools, McpSource)
        or callable(tools)
        or not isinstance(tools, Iterable)
        or isinstance(tools, str | dict)
    ):
        name = "il.mcp(…)" if isinstance(tools, McpSource) else getattr(cast("object", tools), "__name__", "…")
        raise UsageError(f"a toolbox takes a list, as in Toolbox([{name}])")
    return cast("Iterable[BoxItem]", tools)


def _is_a(context: object, kind: Any) -> bool:
    try:
        return not isinstance(kind, type) or isinstance(context, kind)
    except TypeError:  # a protocol that nothing can be checked against
        return True


def _bound(
    call: ToolCall, definition: Tool, handler: Callable[..., Any], contexts: dict[str, object]
) -> Callable[[], Any] | ToolResult:
    """The handler with arguments that fit the schema, or an error result that names every bad one."""
    try:
        arguments = call.arguments
    except Error as error:
        return error_result(call, f"tool {call.name}, {error.message}")
    typed = handler if isinstance(handler, Handler) else None
    if definition.freeform is not None:
        return partial(typed.function if typed else handler, arguments.get("input", ""), **contexts)
    schema = typed.loose if typed and definition.strict else definition.parameters
    if typed and typed.has_decimals:
        from interlingua.schema.digits import decode_digits, settle  # only who has a Decimal needs it

        arguments = cast("dict[str, Any]", settle(decode_digits(call.arguments_json), schema))
    arguments = relax(arguments, schema)
    problems = validate(schema, arguments, naive_times=typed is not None)
    if not problems:
        if typed is None:
            return partial(handler, **{**arguments, **contexts})
        try:
            return partial(typed.run, typed.read(arguments), contexts)
        except MisfitError as misfit:
            problems = misfit.problems
        except Exception as error:  # noqa: BLE001 - a class that checks itself may raise anything
            return failed(call, error)
    return error_result(call, f"tool {call.name}, {describe(problems, 'argument')}")


_BROKEN = {
    "malformed": "the arguments are not valid JSON; send one JSON object",
    "not_object": "the arguments are not a JSON object; send one JSON object",
    "duplicate_key": "an argument is given twice; give each argument once",
    "non_finite": "an argument is not a finite number; JSON has no NaN and no Infinity",
    "cut_off": "the arguments were cut off by the length limit; send shorter ones",
}
