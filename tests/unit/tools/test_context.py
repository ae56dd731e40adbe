"""Issue 4, point 1: a handler takes the caller's context by annotation, and the model knows nothing of it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Optional, Protocol

import msgspec
import pytest

import interlingua as il
from interlingua.tools.toolbox import AsyncToolbox, Toolbox
from interlingua.types.content import Json, ToolCall


class Shop:
    """What handlers work on."""

    def __init__(self, name: str) -> None:
        self.name = name


class Branch(Shop):
    """A kind of shop."""


class Named(Protocol):
    """Whatever has a name; nothing can be checked against it."""

    name: str


def find(number: int, shop: il.Context[Shop]) -> str:
    """Find an order.

    Args:
        number: The order.
        shop: Whose order it is.
    """
    return f"{shop.name} {number}"


async def find_later(shop: il.Context[Shop], number: int = 1) -> str:
    """Find an order later."""
    return find(number, shop)


def find_maybe(number: int, shop: il.Context[Shop] | None = None) -> str:
    """Find an order, in a shop or not."""
    return find(number, shop) if shop else "no shop"


def find_old(number: int, shop: Optional[il.Context[Shop]]) -> str:  # noqa: UP045 - the older spelling
    """Find an order, in a shop or not."""
    return find_maybe(number, shop)


def find_anything(number: int, named: il.Context[Named]) -> str:
    """Find an order of whatever has a name."""
    return f"{named.name} {number}"


def find_bare(number: int, shop: il.Context) -> str:  # pyright: ignore[reportMissingTypeArgument, reportUnknownMemberType, reportUnknownParameterType]  # what it proves
    """Find an order, with a context of any type."""
    return f"{shop} {number}"


class Desk:
    """Methods, and objects that can be called, are handlers, too."""

    def find(self, number: int, shop: il.Context[Shop]) -> str:
        """Find an order."""
        return find(number, shop)

    def __call__(self, number: int, shop: il.Context[Shop]) -> str:
        """Find an order."""
        return find(number, shop)


class Order(msgspec.Struct):
    """An order."""

    number: int


def take(order: Order, shop: il.Context[Shop]) -> str:
    """Take an order."""
    return find(order.number, shop)


def take_raw(shop: il.Context[Shop], **arguments: Any) -> str:
    """Take anything."""
    return f"{shop.name} {sorted(arguments)}"


SOURCES: list[Any] = [find, find_maybe, find_old, find_anything, find_bare, Desk().find]
RAW = {"name": "raw", "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}}}


def executed(box: Toolbox | AsyncToolbox, calls: list[ToolCall], context: object) -> None:
    """Execute the calls, in either face."""
    if isinstance(box, Toolbox):
        box.execute(calls, context=context)
    else:
        asyncio.run(box.execute(calls, context=context))


def answer(tools: list[Any], name: str, arguments: str = '{"number": 7}', context: object = None) -> object:
    """The content of the result, the same from both faces."""
    call = ToolCall("a", name, arguments)
    (result,) = Toolbox(tools).execute(call, context=context).tool_results
    (awaited,) = asyncio.run(AsyncToolbox(tools).execute(call, context=context)).tool_results
    assert result == awaited
    return result.content


@pytest.mark.parametrize(
    "source",
    [
        find,
        find_later,
        find_maybe,
        find_old,
        find_anything,
        il.tool(Desk().find),
        il.tool(Desk(), name="desk"),
        partial(find),
        il.tool(find, strict=True),
        il.tool(find, timeout_s=5),
        il.tool(Order, handler=take),
    ],
)
def test_a_handler_takes_the_context(source: Any) -> None:
    """Functions, coroutines, methods, objects, partials, classes: the context is the very object given."""
    made = il.tool(source)
    assert answer([made], made.name, context=Shop("Oslo")) == "Oslo 7"
    assert answer([made], made.name, context=Branch("Bergen")) == "Bergen 7"


@pytest.mark.parametrize("source", SOURCES)
def test_the_model_sees_nothing_of_it(source: Any) -> None:
    """The schema has the other parameters alone, and the context's description goes with it."""
    parameters = il.tool(source).parameters
    assert list(parameters["properties"]) == ["number"]
    assert parameters["required"] == ["number"]


def test_no_argument_reaches_it() -> None:
    """A model that says the context's name is told that there is no such argument; a raw schema passes nothing."""
    said = '{"number": 7, "shop": "mine"}'
    assert "argument shop: is not known" in str(answer([find], "find", said, Shop("Oslo")))
    raw = il.tool({**RAW, "name": "open"}, handler=take_raw)
    assert answer([raw], "open", said, Shop("Oslo")) == "Oslo ['number']"


def test_a_context_of_any_type() -> None:
    """An annotation without a type takes what there is."""
    assert answer([find_bare], "find_bare", context="Oslo") == "Oslo 7"


def test_none_where_there_is_none() -> None:
    """A handler that does without a context gets None."""
    assert answer([find_maybe], "find_maybe") == "no shop"
    assert answer([find_old], "find_old") == "no shop"


def test_a_missing_or_wrong_context_is_the_callers_mistake() -> None:
    """It is said before anything has run."""
    ran: list[int] = []

    def note() -> None:
        ran.append(1)

    calls = [ToolCall("a", "note", "{}"), ToolCall("b", "find", '{"number": 7}')]
    for box in (Toolbox([note, find]), AsyncToolbox([note, find])):
        for context, sentence in (
            (None, r"tool find takes a context, shop; give it with `context=…`"),
            ("Oslo", r"tool find takes a Shop as its context, shop, not a str"),
        ):
            with pytest.raises(il.UsageError, match=sentence):
                executed(box, calls, context)
    assert ran == []


def test_a_context_that_nobody_wants_is_no_mistake() -> None:
    """One context serves a whole box."""

    def plain(number: int) -> int:
        return number

    assert answer([plain], "plain", context=Shop("Oslo")) == Json(7)


def test_a_handler_whose_types_are_unknown_takes_no_context() -> None:
    """A raw schema's handler needs no types, so broken ones break nothing."""

    def odd(number: int) -> str:
        return f"got {number}"

    odd.__annotations__["number"] = "NoSuchType"
    assert answer([il.tool(RAW, handler=odd)], "raw") == "got 7"
    assert answer([il.Tool(name="raw", handler=dict)], "raw", "{}") == Json({})
