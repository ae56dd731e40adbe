from __future__ import annotations

import copy
import datetime as dt
import functools
import gc
import json
import pickle
import weakref
from dataclasses import dataclass
from types import FunctionType
from typing import Annotated, Any, Literal, TypedDict, cast

import msgspec
import pydantic
import pytest

from interlingua.errors import SchemaError, UsageError
from interlingua.tools.mcp import mcp
from interlingua.tools.tool import Handler, One, is_async, origin_of, tool, tool_of
from interlingua.tools.toolbox import Toolbox
from interlingua.types.content import ToolCall
from interlingua.types.tool import Tool


@dataclass
class Place:
    """Where it is.

    Attributes:
        city: City name.
    """

    city: str
    country: str = "NO"


class Query(TypedDict):
    """A search."""

    text: str


class Move(msgspec.Struct):
    """A move."""

    steps: int


class Order(pydantic.BaseModel):
    """An order."""

    item: str
    count: int = pydantic.Field(1, ge=1)


def get_weather(city: str, days: int = 1) -> dict[str, Any]:
    """Weather forecast for a city.

    Args:
        city: City name, in English.
        days: How many days ahead, 1 to 7.
    """
    return {"city": city, "days": days}


WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "City name, in English."},
        "days": {"type": "integer", "description": "How many days ahead, 1 to 7.", "default": 1},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def plan(  # noqa: D103 - a function without a docstring is a tool without a description
    place: Place,
    at: dt.datetime,
    *,
    unit: Literal["c", "f"] = "c",
    limit: Annotated[int, msgspec.Meta(ge=1, description="At most.")] | None = None,
    note: str = None,  # type: ignore[assignment]  # noqa: RUF013  # what people write
    anything: Any = (1, 2),
) -> tuple[object, ...]:
    return place, at, unit, limit, note, anything


def test_r33_a_function_is_a_tool() -> None:
    """Name, description and parameters come from the function; what has a default stays optional."""
    made = tool(get_weather)
    assert (made.name, made.description, made.strict) == ("get_weather", "Weather forecast for a city.", None)
    assert made.parameters == WEATHER
    assert made.handler is not None
    assert made.handler(city="Oslo") == {"city": "Oslo", "days": 1}


def test_parameters_may_be_of_any_type() -> None:
    """Classes, dates, choices, bounds, None as a default and missing annotations all have their schema."""
    assert tool(plan).parameters == {
        "type": "object",
        "properties": {
            "place": {
                "type": "object",
                "description": "Where it is.",
                "properties": {
                    "city": {"type": "string", "description": "City name."},
                    "country": {"type": "string", "default": "NO"},
                },
                "required": ["city"],
                "additionalProperties": False,
            },
            "at": {"type": "string", "format": "date-time"},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "limit": {
                "anyOf": [{"type": "integer", "description": "At most.", "minimum": 1}, {"type": "null"}],
                "default": None,
            },
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "anything": {"default": [1, 2]},
        },
        "required": ["place", "at"],
        "additionalProperties": False,
    }


def test_handlers_get_python_values() -> None:
    """JSON arguments arrive as the types that the function names; what is left out is the function's own default."""
    handler = tool(plan).handler
    assert handler is not None
    made = handler(place={"city": "Oslo"}, at="2026-01-31T12:00:00Z")
    assert made == (Place("Oslo"), dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC), "c", None, None, (1, 2))


def test_sch_18_strict_is_only_asked_for() -> None:
    """With `strict=True` all parameters are required and nullable, and a null never reaches the handler."""
    made = tool(get_weather, strict=True)
    assert made.strict is True
    assert made.parameters["required"] == ["city", "days"]
    assert made.parameters["properties"]["days"] == {
        "description": "How many days ahead, 1 to 7; null means 1.",
        "anyOf": [{"type": "integer"}, {"type": "null"}],
    }
    assert made.handler is not None
    assert made.handler(city="Oslo", days=None) == {"city": "Oslo", "days": 1}


def test_a_tool_without_parameters_has_an_object_schema() -> None:
    """No parameters is an object without properties (SCH-15)."""

    def ping() -> str:
        return "pong"

    assert tool(ping).parameters == {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("kind", "required"), [(Place, ["city"]), (Query, ["text"]), (Move, ["steps"]), (Order, ["item"])]
)
def test_r33_a_class_is_a_tool(kind: Any, required: list[str]) -> None:
    """Dataclasses, TypedDicts, structs and pydantic models lend their name, description and fields."""
    made = tool(kind)
    assert made.name == kind.__name__
    assert made.description is not None
    assert made.parameters["required"] == required
    assert made.handler is None


@pytest.mark.parametrize(
    ("kind", "arguments", "value"),
    [
        (Place, {"city": "Oslo"}, Place("Oslo")),
        (Query, {"text": "a"}, {"text": "a"}),
        (Move, {"steps": 2}, Move(2)),
        (Order, {"item": "a", "count": None}, Order(item="a", count=1)),
    ],
)
def test_the_handler_of_a_class_takes_one_instance(kind: Any, arguments: dict[str, Any], value: object) -> None:
    """The arguments arrive as one value of the class."""
    handler = tool(kind, handler=echo).handler
    assert handler is not None
    assert handler(**arguments) == value


def test_a_schema_is_a_tool() -> None:
    """A raw schema stays the caller's own object; its handler gets the arguments as they came."""

    def when(when: str) -> str:
        return when

    schema = {"type": "object", "properties": {"when": {"type": "string", "format": "date"}}}
    made = tool(schema, name="raw", description="Raw.", handler=when)
    assert made.parameters is schema
    assert (made.name, made.description) == ("raw", "Raw.")
    assert made.handler is not None
    assert made.handler(when="2026-01-31") == "2026-01-31"
    assert tool({"title": "titled", "type": "object"}).name == "titled"


def test_a_definition_is_a_tool() -> None:
    """Name, description and parameters may come in one dict; missing parameters are none."""
    made = tool({"name": "f", "description": "F.", "parameters": {"type": "object", "properties": {}}})
    assert made == Tool(name="f", description="F.", parameters={"type": "object", "properties": {}})
    assert tool({"name": "f"}).parameters == {"type": "object", "properties": {}}


def test_a_strict_schema_keeps_nulls_from_its_handler() -> None:
    """A schema of the caller's own is made strict when that is asked for, and the handler never sees the nulls."""
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    made = tool(schema, name="raw", handler=dict, strict=True)
    assert made.parameters["required"] == ["q"]
    assert made.handler is not None
    assert made.handler(q=None) == {}


def test_names_and_descriptions_can_be_given() -> None:
    """What is given replaces what the function says; a tool can be changed the same way."""
    made = tool(get_weather, name="weather", description="Weather.")
    assert (made.name, made.description) == ("weather", "Weather.")
    assert tool(made, name="forecast").name == "forecast"
    assert tool(UNNAMED, name="f").name == "f"


def test_methods_partials_and_callable_objects_are_tools() -> None:
    """Whatever can be called has parameters; what a partial has bound is optional."""

    class Service:
        """A service."""

        def find(self, text: str) -> str:
            """Find it."""
            return text

        def __call__(self, number: int) -> int:
            return number

    assert tool(Service().find).parameters["required"] == ["text"]
    assert tool(Service().find).description == "Find it."
    made = tool(Service())
    assert (made.name, made.description, made.parameters["required"]) == ("Service", "A service.", ["number"])
    bound = tool(functools.partial(get_weather, days=3))
    assert (bound.name, bound.parameters["properties"]["days"]["default"]) == ("get_weather", 3)


def with_names(*names: str) -> None:
    """Take any number of names."""


def with_options(**options: str) -> None:
    """Take any options."""


def by_place(name: str, /) -> None:
    """Take a name by its place."""


def of_what(what: type) -> None:
    """Take what JSON cannot say."""


def echo(value: Any) -> Any:
    """Give back what came."""
    return value


def _unnamed() -> Any:
    """A function without a name of its own."""
    given: Any = eval("lambda a: a")
    return given


UNNAMED = _unnamed()


class Thing:
    """Something with a method."""

    def without_its_object(self, a: int) -> int:
        """A method, taken from its class."""
        return a


def place_of(place: Place) -> str:
    """Where it is."""
    return place.city


def as_they_came(**arguments: Any) -> dict[str, Any]:
    """The arguments."""
    return arguments


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (tool(get_weather), {"city": "Oslo", "days": 1}),
        (tool(get_weather, name="forecast", strict=True, timeout_s=2.5), {"city": "Oslo", "days": 1}),
        (tool(Place, handler=place_of), "Oslo"),
        (tool({"name": "f", "parameters": {}}, handler=as_they_came), {"city": "Oslo"}),
        (tool({"name": "f", "parameters": {}}, handler=as_they_came, timeout_s=2.5), {"city": "Oslo"}),
    ],
)
def test_a_tool_crosses_process_borders(made: Tool, given: object) -> None:
    """Replies hold tools, and workers send replies back; what can be imported there runs there, too."""
    again = pickle.loads(pickle.dumps(made))
    assert msgspec.structs.replace(again, handler=None) == msgspec.structs.replace(made, handler=None)
    assert again.handler(city="Oslo") == given
    if isinstance(made.handler, Handler):
        assert (again.handler.origin, again.handler.timeout_s) == (made.handler.origin, made.handler.timeout_s)
        assert again.handler.kind is made.handler.kind


def test_a_handler_that_no_other_process_can_import_stays_here() -> None:
    """Pickle would fail, and take the whole reply with it."""

    def inner(city: str) -> str:
        return city

    held = Thing()
    for source in (inner, functools.partial(get_weather, days=2), held.without_its_object):
        made = tool(source)
        assert pickle.loads(pickle.dumps(made)) == msgspec.structs.replace(made, handler=None)
    for handler in (UNNAMED, inner, functools.partial(inner, "Oslo")):
        made = tool({"name": "f", "parameters": {}}, handler=handler)
        assert pickle.loads(pickle.dumps(made)) == msgspec.structs.replace(made, handler=None)


def test_a_pickled_tool_without_its_handler_says_why_it_cannot_run() -> None:
    """Who executes its call in the other process is told what came over, and what did not."""
    again = pickle.loads(pickle.dumps(tool({"name": "f", "parameters": {}}, handler=UNNAMED)))
    with pytest.raises(
        UsageError, match="tool f has no handler, so its calls cannot be executed here; pickled, a tool keeps"
    ):
        Toolbox([again]).execute(ToolCall("call_0", "f", "{}"))


@pytest.mark.parametrize("made", [tool(get_weather), tool({"name": "f", "parameters": {}}, handler=UNNAMED)])
def test_a_copied_tool_is_the_same_tool(made: Tool) -> None:
    """Functions are not copied, and handlers neither: a copy of a request equals it."""
    assert copy.deepcopy(made) == made
    assert copy.deepcopy(made).parameters is not made.parameters


def test_servers_do_not_cross_process_borders() -> None:
    """Their environment and headers hold secrets, and a connection is this process's own."""
    box = Toolbox([get_weather, mcp("some-server", env={"KEY": "sk-secret"})])
    with pytest.raises(TypeError) as caught:
        pickle.dumps(box)
    assert str(caught.value) == (
        "McpTools(some-server) cannot be pickled, nor what holds it: another process has no connection to a server and"
        " is not told its secrets; call il.mcp(…) there"
    )
    assert repr(copy.deepcopy(box)) == repr(box) == "Toolbox(get_weather, McpTools(some-server))"


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (with_names, SchemaError, "tool with_names: .*names.* has no fixed names for a schema; name each parameter"),
    (with_options, SchemaError, "tool with_options: .*options.* has no fixed names for a schema"),
    (
        Thing.without_its_object,
        SchemaError,
        r"tool without_its_object: self is filled by Python; give the method of an",
    ),
    (json.dumps, SchemaError, "tool dumps: .*kw.* has no fixed names for a schema; name each parameter"),
    (by_place, SchemaError, "tool by_place: name is positional only, and arguments come by name"),
    (of_what, SchemaError, "tool of_what, parameter what: .*has no JSON form"),
    (UNNAMED, UsageError, "has no name of its own"),
    (list[int], SchemaError, "class builtins.list has no fields, and a tool takes arguments by name"),
    ({"type": "object"}, UsageError, "a schema has no name of its own; give the tool one with `name`"),
    ({"name": "f", "parameters": {"type": "strin"}}, SchemaError, "tool f, parameters: no valid JSON Schema"),
    ({"name": "f", "parameters": {"type": "array"}}, SchemaError, "tool f, parameters: the type must be object"),
    (
        {"type": "function", "function": {"name": "f"}},
        UsageError,
        "a definition has its name at the top; give what stands under 'function', not all around it",
    ),
    (
        {"name": "f", "input_schema": {}},
        UsageError,
        "the definition of tool f has a member 'input_schema'; it may have type, name, description, parameters, strict",
    ),
    (3, UsageError, "an int is no tool; give a function, a class, a JSON Schema or a Tool"),
]


@pytest.mark.parametrize(("source", "kind", "sentence"), REFUSED)
def test_what_cannot_be_a_tool_says_why(source: Any, kind: type[Exception], sentence: str) -> None:
    """Open parameters, missing names, broken schemas and foreign things are refused with the way out."""
    with pytest.raises(kind, match=sentence):
        tool(source)


def test_a_function_is_its_own_handler() -> None:
    """A function with a second handler is a mistake."""
    with pytest.raises(UsageError, match="brings its own handler"):
        tool(get_weather, handler=print)


def test_origins_are_named() -> None:
    """Error messages say where a tool comes from."""
    assert origin_of(tool(get_weather)).endswith("test_tool.get_weather")
    assert origin_of(tool(get_weather)).startswith("function ")
    assert origin_of(Place).endswith("Place")
    assert origin_of({}) == "a schema"
    assert origin_of(Tool(name="f")) == "the tool f"


def test_coroutine_functions_are_told_apart() -> None:
    """Functions, partials and objects say whether they have to be awaited."""

    async def wait(number: int) -> int:
        return number

    class Waits:
        async def __call__(self, number: int) -> int:
            return number

    handler = tool(wait).handler
    assert isinstance(handler, Handler)
    assert handler.is_async
    assert is_async(functools.partial(wait, 1))
    assert is_async(Waits())
    assert not is_async(get_weather)


def test_one_is_handed_over_whole() -> None:
    """A handler with one instance as its argument gets it, even when it is a dict."""
    assert Handler(echo, {}, origin="x").run(One({"a": 1})) == {"a": 1}


def test_a_function_that_nobody_else_has_is_let_go() -> None:
    """An inner function that was a tool of one call is not kept, nor what it closes over."""

    def call() -> weakref.ref[object]:
        session = _Session()

        def look_up(word: str) -> str:
            """A word."""
            return f"{word} {session}"

        @functools.wraps(look_up)
        def wrapper(word: str) -> str:
            return look_up(word)

        assert tool_of(look_up).name == "look_up"
        assert tool_of(look_up) is tool_of(look_up)
        assert tool_of(cast("FunctionType", wrapper)) is not tool_of(look_up)
        return weakref.ref(session)

    gone = call()
    gc.collect()
    assert gone() is None


class _Session:
    """A session of a database, as a request of a web application has one."""
