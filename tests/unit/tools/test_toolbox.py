from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

import annotated_types
import msgspec
import pydantic
import pytest

from interlingua.errors import SchemaError, ToolError, UsageError
from interlingua.tools.tool import tool
from interlingua.tools.toolbox import AsyncToolbox, Toolbox
from interlingua.types.content import BrokenReason, BrokenToolCall, Json, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.response import Response
from interlingua.types.tool import Freeform, OpaqueTool, Tool


def get_weather(city: str, days: int = 1) -> dict[str, Any]:
    """Weather forecast for a city."""
    return {"city": city, "days": days}


def fail(secret: str) -> str:
    """Fail."""
    raise KeyError(f"the password is {secret}")


def tell(text: str) -> str:
    """Fail with words for the model."""
    raise ToolError(text)


def echo(text: str) -> str:
    """Give back what came."""
    return text


def call(name: str, arguments: str = "{}", id: str = "call_0") -> ToolCall:
    """A call as a model makes it."""
    return ToolCall(id, name, arguments)


def only(message: Message) -> ToolResult:
    """The one result of a message."""
    (result,) = message.tool_results
    assert message.parts == (result,)
    return result


class Both:
    """The two faces behind one method, so that each test holds for both."""

    def __init__(self, face: type[Toolbox | AsyncToolbox]) -> None:
        self.face = face

    def execute(self, tools: list[Any], calls: Any) -> Message:
        """The answer of a box of these tools."""
        box = self.face(tools)
        return box.execute(calls) if isinstance(box, Toolbox) else asyncio.run(box.execute(calls))


@pytest.fixture(params=[Toolbox, AsyncToolbox])
def both(request: pytest.FixtureRequest) -> Both:
    """Each face in turn."""
    return Both(request.param)


def test_r11_one_message_holds_all_results_in_call_order(both: Both) -> None:
    """Every call of a step is answered, once, in the order of the calls."""
    message = both.execute(
        [get_weather, tell],
        [call("get_weather", '{"city": "Oslo"}', "a"), call("tell", '{"text": "no"}', "b"), call("nope", "{}", "c")],
    )
    assert message == Message(
        "tool",
        (
            ToolResult("a", "get_weather", Json({"city": "Oslo", "days": 1})),
            ToolResult("b", "tell", "no", is_error=True),
            ToolResult("c", "nope", "there is no tool nope; there are: get_weather, tell", is_error=True),
        ),
    )


def test_calls_come_alone_in_lists_or_not_at_all(both: Both) -> None:
    """One call, any iterable of calls, and none."""
    assert only(both.execute([get_weather], call("get_weather", '{"city": "a"}'))).is_error is False
    assert len(both.execute([get_weather], iter([call("get_weather", '{"city": "a"}')])).parts) == 1
    assert both.execute([get_weather], ()) == Message("tool")


def test_r34_exceptions_stay_private(both: Both, caplog: pytest.LogCaptureFixture) -> None:
    """The model reads that it failed, the log says how; the exception's text is nowhere in the result."""
    with caplog.at_level(logging.WARNING, "interlingua.tools"):
        result = only(both.execute([fail], call("fail", '{"secret": "hunter2"}')))
    assert result == ToolResult("call_0", "fail", "tool fail failed with an internal error", is_error=True)
    (record,) = caplog.records
    assert record.getMessage() == "tool fail failed"
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], KeyError)


def test_tool_errors_are_for_the_model(both: Both, caplog: pytest.LogCaptureFixture) -> None:
    """The text of a ToolError is the result, without a log entry."""
    assert only(both.execute([tell], call("tell", '{"text": "ask for a city"}'))).content == "ask for a city"
    assert only(both.execute([tell], call("tell", '{"text": ""}'))).content == "tool tell failed"
    assert caplog.records == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_no_result(error: type[BaseException]) -> None:
    """What asks the program to stop passes through."""

    def stop() -> None:
        raise error

    with pytest.raises(error):
        Toolbox([stop]).execute(call("stop"))


def test_r35_bad_arguments_name_every_field(both: Both) -> None:
    """Nothing runs, and one sentence says all that is wrong."""
    result = only(both.execute([get_weather], call("get_weather", '{"days": "x", "town": "Oslo"}')))
    assert result.is_error
    assert result.content == (
        'tool get_weather, argument days: "x" is not an integer;'
        " argument town: is not known; there are: city, days; argument city: is missing"
    )


def test_a_null_for_what_may_be_left_out_is_left_out(both: Both) -> None:
    """Models often say null for an optional argument; the function's own default holds."""
    result = only(both.execute([get_weather], call("get_weather", '{"city": "Oslo", "days": null}')))
    assert result.content == Json({"city": "Oslo", "days": 1})


def test_the_schema_decides_even_when_it_was_changed(both: Both) -> None:
    """Arguments are checked against the tool's own schema, not against the function's (R35)."""
    stricter = {**tool(get_weather).parameters, "properties": {"city": {"const": "Oslo"}}}
    changed = msgspec.structs.replace(tool(get_weather), parameters=stricter)
    assert only(both.execute([changed], call("get_weather", '{"city": "Rome"}'))).content == (
        'tool get_weather, argument city: "Rome" is not "Oslo"'
    )


def test_strict_tools_take_nulls_for_defaults(both: Both) -> None:
    """A strict tool's null never reaches the function."""
    strict = tool(get_weather, strict=True)
    result = only(both.execute([strict], call("get_weather", '{"city": "Oslo", "days": null}')))
    assert result.content == Json({"city": "Oslo", "days": 1})


def test_values_that_only_python_refuses_are_bad_arguments(both: Both) -> None:
    """A class that checks itself speaks to the model like the schema does."""

    class Even(msgspec.Struct):
        number: int

        def __post_init__(self) -> None:
            if self.number % 2:
                raise ValueError("the number must be even")

    def _number(even: Even) -> int:
        return even.number

    made = tool(Even, handler=_number)
    assert only(both.execute([made], call("Even", '{"number": 3}'))).content == "tool Even, the number must be even"
    assert only(both.execute([made], call("Even", '{"number": 4}'))).content == Json(4)


def test_r35_every_value_that_only_python_refuses_is_named(both: Both) -> None:
    """Faults of several values, of several kinds of classes, are in one sentence, each with its place."""

    def even(number: int) -> int:
        if number % 2:
            raise ValueError("must be even")
        return number

    kind = Annotated[int, pydantic.AfterValidator(even)]
    pair = pydantic.create_model("Pair", first=kind, second=kind)

    class Order(msgspec.Struct):
        number: int

        def __post_init__(self) -> None:
            if self.number % 2:
                raise ValueError("the number must be even")

    def take(pair: Any, order: Any, other: Any) -> int:
        return order.number

    take.__annotations__.update(pair=pair, order=Order, other=Order)
    said = '{"pair": {"first": 1, "second": 3}, "order": {"number": 5}, "other": {"number": 7}}'
    assert only(both.execute([take], call("take", said))).content == (
        "tool take, argument pair.first: Value error, must be even; argument pair.second: Value error, must be even;"
        " argument order: the number must be even; argument other: the number must be even"
    )
    fine = '{"pair": {"first": 2, "second": 4}, "order": {"number": 6}, "other": {"number": 8}}'
    assert only(both.execute([take], call("take", fine))).content == Json(6)


@pytest.mark.parametrize(
    ("said", "made"),
    [
        ("12.10", "12.10"),
        ('"12.10"', "12.10"),
        ("3", "3"),
        ("0.1000000000000000000000001", "0.1000000000000000000000001"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("1.5e2", "150"),
        ("-2.50E-3", "-0.00250"),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_a_decimal_is_taken_from_the_digits_of_a_number(both: Both, said: str, made: str, strict: bool) -> None:
    """Also where it is optional, in a list, a map or a class; floats beside it stay floats."""

    class Line(msgspec.Struct):
        price: Decimal

    def pay(amount: Decimal | None, lines: Any, by: dict[str, Decimal], share: float, note: str = "") -> str:
        return f"{amount} {lines[0].price} {by['a']} {share!r}"

    pay.__annotations__["lines"] = list[Line]
    arguments = f'{{"amount": {said}, "lines": [{{"price": {said}}}], "by": {{"a": {said}}}, "share": 0.5}}'
    result = only(both.execute([tool(pay, strict=strict)], call("pay", arguments)))
    assert result.content == f"{made} {made} {made} 0.5"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("true", "argument amount: true is not a string"),
        ('"ten"', r'argument amount: "ten" does not match ^[+-]?\d+(\.\d+)?$'),
        ("-0.01", "argument amount: -0.01 is less than 0"),
        ("1e-999999999", r'argument amount: "1E-999999999" does not match ^[+-]?\d+(\.\d+)?$'),
        ("1e400", "the arguments are not one JSON object with unique keys and finite numbers: non_finite"),
    ],
)
def test_what_is_no_decimal_is_refused(both: Both, said: str, sentence: str) -> None:
    """An exponent that would write out a gigabyte of zeros is none, and bounds hold for numbers, too."""

    def pay(amount: Annotated[Decimal, msgspec.Meta(ge=0)]) -> str:
        return str(amount)

    assert only(both.execute([pay], call("pay", f'{{"amount": {said}}}'))).content == f"tool pay, {sentence}"


def test_a_schema_of_the_caller_s_own_keeps_its_numbers(both: Both) -> None:
    """Only a type asks for a Decimal: a pattern of one's own is for texts."""

    def give(amount: float) -> float:
        return amount

    own = {"type": "object", "properties": {"amount": {"pattern": r"^[+-]?\d+(\.\d+)?$"}}}
    made = tool(own, name="pay", handler=give)
    assert only(both.execute([made], call("pay", '{"amount": 1.10}'))).content == Json(1.1)


def test_predicates_are_asked_before_the_handler(both: Both) -> None:
    """Each that fails is told, by its name where it has one, with its place; what it raises by itself is an error."""

    def even(number: int) -> bool:
        return number % 2 == 0

    def known(name: str) -> bool:
        raise ValueError(f"there is no {name}")

    class Line(msgspec.Struct):
        count: Any

    def order(line: Any, name: Any = "", size: Any = 1.0, tags: Any = ()) -> str:
        return "ordered"

    Line.__annotations__["count"] = Annotated[int, annotated_types.Predicate(even)]
    order.__annotations__.update(
        line=Line,
        name=Annotated[str, annotated_types.Predicate(known)],
        size=annotated_types.IsFinite[float],
        tags=list[Annotated[str, annotated_types.Predicate(lambda tag: len(tag) < 3)]],
    )
    said = '{"line": {"count": 3}, "name": "Ada", "size": 2, "tags": ["ab", "abc"]}'
    assert only(both.execute([order], call("order", said))).content == (
        "tool order, argument line.count: 3 fails the check even; argument name: there is no Ada;"
        ' argument tags[1]: "abc" fails a check'
    )
    fine = '{"line": {"count": 4}, "size": 2, "tags": ["ab"]}'
    assert only(both.execute([order], call("order", fine))).content == "ordered"


@pytest.mark.parametrize("name", ["AfterValidator", "BeforeValidator", "PlainValidator", "WrapValidator"])
def test_a_validator_that_would_not_run_is_refused(name: str) -> None:
    """Only pydantic runs them, and only in its models."""

    def order(count: Any) -> None:
        """Order."""

    order.__annotations__["count"] = Annotated[int, getattr(pydantic, name)(abs)]
    with pytest.raises(SchemaError, match=f"tool order, parameter count: {name} runs in a pydantic model alone"):
        tool(order)


@pytest.mark.parametrize("reason", get_args(BrokenReason))
def test_arg_11_broken_calls_are_answered_and_never_run(both: Both, reason: Any) -> None:
    """Each reason has its own words, and the handler does not run."""
    ran: list[int] = []

    def note() -> None:
        ran.append(1)

    result = only(both.execute([note], BrokenToolCall("call_7", "note", '{"a', reason)))
    assert (result.call_id, result.name, result.is_error) == ("call_7", "note", True)
    assert str(result.content).startswith("tool note, ")
    assert ran == []


def test_arguments_that_are_no_object_are_answered(both: Both) -> None:
    """A call made by hand with broken arguments is an error result, too."""
    assert only(both.execute([get_weather], call("get_weather", "[1]"))).is_error
    assert only(both.execute([get_weather], call("get_weather", '{"city": "a", "city": "b"}'))).is_error


@pytest.mark.parametrize("value", [float("nan"), b"bytes", object()])
def test_arg_19_results_that_are_not_json_are_errors(both: Both, value: object) -> None:
    """The conversation goes on when a handler gives what JSON cannot say."""

    def give() -> object:
        return value

    assert only(both.execute([give], call("give"))).content == "tool give failed with an internal error"


def test_id_17_two_tools_of_one_name_are_refused(both: Both) -> None:
    """The error names both, so that one of them can be renamed (R33)."""
    with pytest.raises(
        UsageError, match=r"two tools are named get_weather: function .*get_weather and function .*tell;"
    ):
        both.face([get_weather, tool(tell, name="get_weather")])


def test_schemas_are_checked_at_once(both: Both) -> None:
    """A tool made by hand is checked when it goes in (R30)."""
    with pytest.raises(SchemaError, match="tool f, parameters: no valid JSON Schema"):
        both.face([Tool(name="f", parameters={"type": "strin"})])


def test_a_tool_that_nothing_handles_raises_before_anything_runs(both: Both) -> None:
    """It is the caller's mistake, and no other call of the step has run by then."""
    ran: list[int] = []

    def note() -> None:
        ran.append(1)

    with pytest.raises(UsageError, match="tool f has no handler"):
        both.execute([note, Tool(name="f")], [call("note"), call("f")])
    assert ran == []


def test_a_box_is_its_tools(both: Both) -> None:
    """It is iterated like a list of tools, provider-run tools included."""
    search = OpaqueTool("anthropic", "web_search", {"type": "web_search"})
    box = both.face([get_weather, search])
    assert [getattr(item, "name", "") for item in box] == ["get_weather", ""]
    assert box.tools[1] is search
    assert len(box) == 2
    assert both.face(box).tools == box.tools
    assert repr(box).endswith("Toolbox(get_weather)")


@pytest.mark.parametrize("given", [get_weather, "get_weather", 3, {"name": "f"}])
def test_a_box_takes_a_list(both: Both, given: Any) -> None:
    """One tool alone is told the form."""
    with pytest.raises(UsageError, match=r"a toolbox takes a list, as in Toolbox\(\[(get_weather|…)\]\)"):
        both.face(given)


def test_what_is_no_call_is_refused(both: Both) -> None:
    """A reply in place of its calls, a call's name: said before anything runs."""
    for given in (Response(), ["get_weather"], None):
        with pytest.raises(
            UsageError, match=r"execute takes calls, such as reply\.tool_calls, not (a Resp|a str|None)"
        ):
            both.execute([get_weather], given)


def test_freeform_tools_get_their_text(both: Both) -> None:
    """A freeform tool's handler takes the text itself."""
    shout = Tool(name="shout", handler=str.upper, freeform=Freeform())
    typed = msgspec.structs.replace(tool(echo), freeform=Freeform())
    assert only(both.execute([shout], ToolCall("a", "shout", '{"input": "hey"}', freeform=True))).content == "HEY"
    assert only(both.execute([typed], ToolCall("a", "echo", '{"input": "hey"}', freeform=True))).content == "hey"


def test_literals_and_raw_handlers(both: Both) -> None:
    """A raw schema's handler gets what came, by name; a function's literal is checked."""

    def pick(one: Literal["a", "b"]) -> str:
        return one

    raw = Tool(name="raw", parameters={"type": "object"}, handler=dict)
    assert only(both.execute([raw], call("raw", '{"x": 1}'))).content == Json({"x": 1})
    assert (
        only(both.execute([pick], call("pick", '{"one": "c"}'))).content
        == 'tool pick, argument one: "c" is not "a" or "b"'
    )


def test_a_blocking_box_runs_coroutine_functions(both: Both) -> None:
    """A coroutine function is a tool of both faces, and so is a function that gives a coroutine unannounced."""

    async def later(text: str) -> str:
        await asyncio.sleep(0)
        return text.upper()

    def lazy() -> Awaitable[str]:
        return later("lazy")

    raw = Tool(name="raw", parameters={"type": "object"}, handler=later)
    calls = [call("later", '{"text": "a"}'), call("raw", '{"text": "b"}'), call("lazy")]
    for some in (calls, calls[:1], calls[1:2], calls[2:]):
        message = both.execute([later, raw, lazy], some)
        expected = {"later": "A", "raw": "B", "lazy": "LAZY"}
        assert [result.content for result in message.tool_results] == [expected[one.name] for one in some]


async def test_a_blocking_box_works_inside_an_event_loop() -> None:
    """Nothing in it cares about a running loop, not even a coroutine function."""

    async def later() -> str:
        await asyncio.sleep(0)
        return "later"

    box = Toolbox([get_weather, later])
    assert only(box.execute(call("get_weather", '{"city": "a"}'))).is_error is False
    assert only(box.execute(call("later"))).content == "later"


async def test_coroutine_functions_run_at_once() -> None:
    """Two handlers that wait for each other both end; results keep the order of the calls."""
    first, second = asyncio.Event(), asyncio.Event()

    async def ping() -> str:
        first.set()
        await second.wait()
        return "ping"

    async def pong() -> str:
        second.set()
        await first.wait()
        return "pong"

    box = AsyncToolbox([ping, pong])
    async with asyncio.timeout(10):
        message = await box.execute([call("ping", id="a"), call("pong", id="b")])
    assert [result.content for result in message.tool_results] == ["ping", "pong"]


async def test_functions_that_block_run_in_threads() -> None:
    """An ordinary function does not hold up the event loop; what it gives is awaited when it can be."""
    loop_thread = threading.get_ident()

    async def later() -> str:
        return "later"

    def where() -> bool:
        return threading.get_ident() == loop_thread

    def lazy() -> Awaitable[str]:
        return later()

    box = AsyncToolbox([where, lazy])
    message = await box.execute([call("where"), call("lazy")])
    assert [result.content for result in message.tool_results] == [Json(value=False), "later"]


async def test_cancelling_reaches_the_handlers() -> None:
    """A cancelled step cancels its coroutines and is no result."""
    began, cancelled = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        began.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    task = asyncio.create_task(AsyncToolbox([wait]).execute(call("wait")))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()


def test_r31_strict_rules_on_request(both: Both) -> None:
    """Every rule that is broken is in one sentence; without the rules all of it is fine."""

    def undescribed(city: str) -> str:
        return city

    def half(city: str) -> str:
        """Half described."""
        return city

    def whole(city: str) -> str:
        """Whole.

        Args:
            city: The city.
        """
        return city

    tools = [undescribed, half, tool(whole, name="not-plain"), OpaqueTool("anthropic", "web_search", {})]
    assert len(both.face(tools).tools) == 4
    with pytest.raises(UsageError) as caught:
        both.face(tools, rules="strict")
    assert caught.value.message == (
        "the strict rules of tools are broken: the tool 'undescribed' has no description;"
        " the parameter 'city' of the tool 'undescribed' has no description;"
        " the parameter 'city' of the tool 'half' has no description;"
        " the tool name 'not-plain' is not 1 to 64 of a-z, A-Z, 0-9 and _"
    )
    assert repr(both.face([whole], rules="strict")).endswith("Toolbox(whole)")
    with pytest.raises(UsageError, match="two tools are named whole"):
        both.face([whole, tool(whole)], rules="strict")
