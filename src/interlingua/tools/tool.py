"""Tools made from functions, classes and schemas.

Rules
- A function's parameters become the schema; names, types, defaults and the docstring are all that is read.
- What has a default stays optional, unless `strict=True`: then it is required and nullable, and null means the default.
- A class's fields become the schema, too; the handler that goes with it takes one instance.
- A schema of the caller's own stays as it is, and its handler gets the arguments as they came, by name.
- A parameter annotated `il.Context[…]` is the caller's: no schema has it, and no argument of a model reaches it.
- A pickled tool keeps its handler where the other process can import what the handler is made from; otherwise it comes
  without one, as from `il.dump`, so that replies and errors that hold tools always get through. Whoever executes a call
  of it there is told.

Not responsible for: running a call (`toolbox`), and names that a target refuses (`schema.names` maps them).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_origin

from msgspec.structs import replace

from interlingua.errors import SchemaError, UsageError, kind_of
from interlingua.schema._leaves import holds_decimals
from interlingua.schema.fields import docstring_of
from interlingua.schema.reflect import reflect
from interlingua.schema.signature import contexts_of, signature_of
from interlingua.schema.strict import relax, strictened
from interlingua.schema.validate import check_schema
from interlingua.schema.walk import Schema
from interlingua.types.content import ToolCall
from interlingua.types.context import WantedContext
from interlingua.types.tool import Tool, empty_parameters

__all__ = ["APPROVALS", "Approve", "Handler", "One", "ToolSource", "is_async", "origin_of", "tool", "tool_of"]

ToolSource: TypeAlias = Tool | Callable[..., Any] | type[Any] | dict[str, Any]
"""The sources of a tool: a function, a class with fields, a JSON Schema, or a tool that is one already."""


class One(NamedTuple):
    """A handler's only argument."""

    value: Any
    """The argument."""


Approve: TypeAlias = Literal["auto", "ask", "never"] | Callable[[ToolCall], Any]
"""Approves calls: nobody has to, whoever reads the run, nobody ever does, or a function. A function gives True or
False, a text to deny with that reason, or None to ask whoever reads the run."""
APPROVALS = ("auto", "ask", "never")
"""The words of `approve`."""


class Handler:
    """A function that takes JSON arguments: they are turned into its parameters' types first."""

    __slots__ = (
        "approve",
        "contexts",
        "function",
        "has_decimals",
        "is_async",
        "kind",
        "loose",
        "origin",
        "read",
        "timeout_s",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        loose: Schema,
        *,
        read: Callable[[dict[str, Any]], dict[str, Any] | One] = dict[str, Any],
        kind: Any = dict,
        origin: str = "",
        contexts: dict[str, WantedContext] | None = None,
        timeout_s: float | None = None,
        approve: Approve | None = None,
    ) -> None:
        """A handler of `function`."""
        self.function: Callable[..., Any] = function
        """The function that runs."""
        self.loose: Schema = loose
        """Schema of the arguments, in which what has a default may be left out."""
        self.read: Callable[[dict[str, Any]], dict[str, Any] | One] = read
        """Makes Python values of JSON arguments: by name, or One; raises MisfitError."""
        self.kind: Any = kind
        """The type that `read` makes: this class, or a dict as it came; None: the function's own parameters."""
        self.origin: str = origin or origin_of(function)
        """The source of the tool, for error messages."""
        self.contexts: dict[str, WantedContext] = contexts_of(function) if contexts is None else contexts
        """The parameters that take the caller's context."""
        self.timeout_s: float | None = timeout_s
        """Seconds that one call may take."""
        self.approve: Approve | None = approve
        """The approver of its calls in an agent; None leaves it to the agent."""
        self.is_async: bool = is_async(function)
        """Whether the function gives an awaitable."""
        self.has_decimals: bool = kind is not dict and holds_decimals(loose)
        """Whether `read` makes Decimals, which a number is taken for by its digits."""

    def __call__(self, /, **arguments: Any) -> Any:
        """The value of the function for these JSON arguments."""
        return self.run(self.read(relax(arguments, self.loose)))

    def run(self, values: dict[str, Any] | One, contexts: dict[str, Any] = {}) -> object:  # noqa: B006 - only read
        """The value of the function for the result of `read`, and for the contexts by parameter."""
        if isinstance(values, One):
            return self.function(values.value, **contexts)
        return self.function(**{**values, **contexts})

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickled as the names of what it is made from, and as None where another process cannot import them."""
        if _is_importable(self.function) and (self.kind is None or _is_importable(self.kind)):
            return _made_again, (self.function, self.kind, self.loose, self.timeout_s, self.approve)
        return type(None), ()

    def with_terms(self, timeout_s: float | None, approve: Approve | None) -> Handler:
        """The handler with another bound on its time and another word on approvals."""
        return Handler(
            self.function,
            self.loose,
            read=self.read,
            kind=self.kind,
            origin=self.origin,
            contexts=self.contexts,
            timeout_s=timeout_s,
            approve=approve,
        )


def _is_importable(source: Any) -> bool:
    """Whether a module has `source` under the name that pickle writes."""
    owner = get_origin(source) or source
    value: object = sys.modules.get(getattr(owner, "__module__", None) or "")
    for name in getattr(owner, "__qualname__", "").split("."):
        value = getattr(value, name, None)
    return value is owner


def _made_again(
    function: Callable[..., Any], kind: Any, loose: Schema, timeout_s: float | None, approve: Approve | None
) -> Handler:
    """The handler that was pickled."""
    if kind is dict:
        return Handler(function, loose, timeout_s=timeout_s, approve=approve)
    made = _from_function(function, None) if kind is None else _from_class(kind, function)
    return cast("Handler", made.handler).with_terms(timeout_s, approve)


def tool(
    source: ToolSource,
    *,
    name: str | None = None,
    description: str | None = None,
    handler: Callable[..., Any] | None = None,
    strict: bool | None = None,
    timeout_s: float | None = None,
    approve: Approve | None = None,
) -> Tool:
    """A tool made from a function, a class or a JSON Schema, or a tool with some of its fields changed.

    `handler` belongs to a class, whose instance it takes, or to a schema, whose arguments it takes by name. A schema
    may also come as a definition, `{"name": …, "description": …, "parameters": …}`. A call that takes longer than
    `timeout_s` is answered with an error result. `approve` says who lets an agent run it, whatever the agent's own
    `approve` says: `auto`, `ask`, `never`, or a function of the call.
    Raises: SchemaError, for what JSON cannot say; UsageError, for a tool without a name, a function with a handler and
    a time-out that bounds nothing.
    """
    if isinstance(source, dict):
        made = _from_schema(cast("Schema", source), name, handler)
    elif isinstance(source, type) or get_origin(source) is not None:
        made = _from_class(source, handler)
    elif handler is not None:
        raise UsageError(f"{origin_of(source)} brings its own handler; leave `handler` out")
    else:
        made = source if isinstance(source, Tool) else _from_function(source, name)
    changes = {"name": name, "description": description, "strict": strict}
    made = replace(made, **{field: value for field, value in changes.items() if value is not None})
    if strict:
        # Strict modes take the schema, and the handler never sees the nulls that this brings.
        own = made.handler
        if own is not None and not isinstance(own, Handler):
            own = Handler(own, made.parameters)
        made = replace(made, parameters=strictened(made.parameters), handler=own)
    return made if timeout_s is None and approve is None else _with_terms(made, timeout_s, approve)


_MADE = "__interlingua_tool__"
"""Where a function keeps the tool that it is, which so lives as long as the function and no longer."""


def tool_of(function: FunctionType) -> Tool:
    """The tool that a function is; reading its signature and its docstring, which takes 160 µs, is done once."""
    made: object = vars(function).get(_MADE)
    # `functools.wraps` gives a wrapper what the function keeps that it wraps
    if isinstance(made, Tool) and isinstance(made.handler, Handler) and made.handler.function is function:
        return made
    own = vars(function)[_MADE] = tool(function)
    return own


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling `function` gives an awaitable."""
    import inspect

    inner: Any = getattr(function, "func", function)
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(type(inner).__call__)


def origin_of(source: object) -> str:
    """The source of a tool, in words."""
    if isinstance(source, Tool):
        return source.handler.origin if isinstance(source.handler, Handler) else f"the tool {source.name}"
    if isinstance(source, dict):
        return "a schema"
    owner = get_origin(source) or source
    kind = "class" if isinstance(owner, type) else "function"
    return f"{kind} {getattr(owner, '__module__', '')}.{getattr(owner, '__qualname__', type(owner).__qualname__)}"


def _from_function(function: Callable[..., Any], name: str | None) -> Tool:
    if not callable(function):
        way_out = (
            "put it in an il.Toolbox"
            if hasattr(type(function), "tools")
            else "give a function, a class, a JSON Schema or a Tool"
        )
        raise UsageError(f"{kind_of(function)} is no tool; {way_out}")
    signature = signature_of(function)
    own = name or signature.name
    if own == "<lambda>":
        raise UsageError(f"{origin_of(function)} has no name of its own; give the tool one with `name`")
    return Tool(
        name=own,
        description=signature.description,
        parameters=signature.parameters,
        handler=Handler(function, signature.parameters, read=signature.read, kind=None, contexts=signature.contexts),
    )


def _from_class(kind: Any, handler: Callable[..., Any] | None) -> Tool:
    reflection = reflect(kind)
    if "properties" not in reflection.loose:
        raise SchemaError(f"{origin_of(kind)} has no fields, and a tool takes arguments by name")
    parameters = {keyword: value for keyword, value in reflection.loose.items() if keyword != "description"}

    def read(arguments: dict[str, Any]) -> One:
        return One(reflection.read(arguments))  # the value is one argument, even where it is a dict

    return Tool(
        name=kind.__name__,
        description=docstring_of(kind).summary or None,
        parameters=parameters,
        handler=handler and Handler(handler, parameters, read=read, kind=kind, origin=origin_of(kind)),
    )


_MEMBERS = dict.fromkeys(("type", "name", "description", "parameters", "strict"))
"""The members that a definition may have; `type` is what some wire formats put before it."""


def _from_schema(source: dict[str, Any], name: str | None, handler: Callable[..., Any] | None) -> Tool:
    is_definition = isinstance(source.get("name"), str)
    definition: dict[str, Any] = source if is_definition else {"name": source.get("title"), "parameters": source}
    own = name or definition["name"]
    if not own:
        if isinstance(source.get("function"), dict):
            raise UsageError(
                "a definition has its name at the top; give what stands under 'function', not all around it"
            )
        raise UsageError("a schema has no name of its own; give the tool one with `name`")
    if strange := sorted(definition.keys() - _MEMBERS):
        members = ", ".join(_MEMBERS)
        raise UsageError(f"the definition of tool {own} has a member {strange[0]!r}; it may have {members}")
    parameters = cast("Schema", definition.get("parameters") or empty_parameters())
    check_schema(parameters, where=f"tool {own}, parameters")
    if parameters.get("type", "object") != "object":
        raise SchemaError(f"tool {own}, parameters: the type must be object, since arguments come by name")
    return Tool(
        name=own,
        description=definition.get("description"),
        parameters=parameters,
        handler=handler,
        strict=definition.get("strict"),
    )


def _with_terms(made: Tool, timeout_s: float | None, approve: Approve | None) -> Tool:
    """The tool with a bound on the time of its calls, and a word on who approves them."""
    if timeout_s is not None and timeout_s <= 0:
        raise UsageError(f"tool {made.name}: timeout_s is {timeout_s:g}, and must be more than 0")
    handler = made.handler
    if handler is None:
        raise UsageError(
            f"tool {made.name} has no handler, so nothing runs it here; leave `timeout_s` and `approve` out"
        )
    if approve is not None and not callable(approve) and approve not in APPROVALS:
        raise UsageError(f"tool {made.name}: approve takes {', '.join(APPROVALS)} or a function, not {approve!r:.60}")
    if not isinstance(handler, Handler):
        check_schema(made.parameters, where=f"tool {made.name}, parameters")
        handler = Handler(handler, made.parameters)
    timeout_s = handler.timeout_s if timeout_s is None else timeout_s
    return replace(made, handler=handler.with_terms(timeout_s, handler.approve if approve is None else approve))
