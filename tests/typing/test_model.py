"""What type checkers must know about models, replies and streams, in both faces. Read by them, never run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict, assert_type

import interlingua as il
from interlingua import aio


@dataclass
class Invoice:
    """Something typed."""

    total: float


class Plan(TypedDict):
    """A dict of its own."""

    days: int


def replies(model: il.Model) -> None:
    """A type as output makes a typed reply; without one there is no output."""
    reply = model.generate("Hi", temperature=0, tools=[il.Tool(name="f"), len, {"title": "g"}], system="Be terse.")
    assert_type(reply, il.Response[None])
    assert_type(reply.text, str)
    assert_type(reply.tool_calls, tuple[il.ToolCall, ...])
    typed = model.generate(["Hi", il.file("a.png")], history=reply, output=Invoice)
    assert_type(typed, il.Response[Invoice])
    assert_type(typed.output, Invoice)
    assert_type(typed.output.total, float)
    numbers = model.generate("Hi", history=typed.messages, output=list[int])
    assert_type(numbers.output, list[int])
    assert_type(model.generate("Hi", output=Literal["yes", "no"]).output, Literal["yes", "no"])
    assert_type(model.generate("Hi", output=Invoice | None).output, Invoice | None)
    assert_type(model.generate("Hi", output=Plan).output, Plan)
    assert_type(model.generate("Hi", output=dict[str, Invoice]).output, dict[str, Invoice])
    schema = model.generate("Hi", output={"type": "object"})
    assert_type(schema, il.Response[Any])
    repaired = model.generate("Hi", output=Invoice, repair="ask", max_repairs=1)
    assert_type(repaired.output, Invoice)


async def awaited_replies(model: aio.Model) -> None:
    """The same, awaited."""
    reply = await model.generate("Hi")
    assert_type(reply, il.Response[None])
    typed = await model.generate("Hi", history=reply, output=Invoice, repair="safe")
    assert_type(typed.output, Invoice)


def many(model: il.Model) -> None:
    """The items of a map have the type that was asked for."""
    for item in model.map(il.files("*.eml"), output=Invoice, journal="rows.jsonl"):
        assert_type(item, il.Item[Invoice])
        assert_type(item.output, Invoice)
    for plain in model.map(["a", [il.TextPart("b")], il.user("c")]):
        assert_type(plain, il.Item[None])
    with il.meter(team="search") as meter:
        assert_type(meter.cost_usd, float | None)


async def awaited_many(model: aio.Model) -> None:
    """The same, awaited."""
    async for item in model.map(["a"], output=list[int], ordered=False):
        assert_type(item.output, list[int])


def streams(model: il.Model) -> None:
    """A stream iterates over events and finishes with a typed reply."""
    with model.stream("Hi", output=Invoice) as stream:
        assert_type(stream, il.ModelStream[Invoice])
        for piece in stream.text_stream:
            assert_type(piece, str)
        for event in stream:
            match event:
                case il.TextDelta(text=text):
                    assert_type(text, str)
                case il.ToolCallReady(call=call):
                    assert_type(call, il.ToolCall)
                case il.StreamEnd(response=response):
                    assert_type(response, il.Response[Any])
                case _:
                    pass
        assert_type(stream.finish().output, Invoice)
    for partial in model.stream("Hi", output=list[Invoice], repair="safe").partials:
        assert_type(partial, list[Invoice | dict[str, Any]])
    for fields in model.stream("Hi", output=Invoice).partials:
        assert_type(fields, dict[str, Any])
    for text in model.stream("Hi", output=Literal["yes", "no"]).partials:
        assert_type(text, str)


async def awaited_streams(model: aio.Model) -> None:
    """The same, awaited; `open` gives the stream itself."""
    stream = await model.stream("Hi").open()
    assert_type(stream, aio.ModelStream[None])
    async for piece in stream.text_stream:
        assert_type(piece, str)
    async for event in stream:
        assert_type(event, il.Event)
    assert_type(await stream.finish(), il.Response[None])
    typed = model.stream("Hi", output=Literal[1, 2])
    async for partial in typed.partials:
        assert_type(partial, Literal[1, 2])
    async for fields in model.stream("Hi", output=Invoice).partials:
        assert_type(fields, dict[str, Any])
    assert_type((await typed.finish()).output, Literal[1, 2])


def faces() -> None:
    """Models of either face come from a function of the same name."""
    assert_type(il.model("a/b", timeout_s=60, cache="auto"), il.Model)
    assert_type(aio.model("a/b"), aio.Model)
    assert_type(il.model().with_options(effort="high"), il.Model)
    assert_type(aio.model().with_options(effort=None), aio.Model)
    assert_type(il.model().explain("Hi").curl(), str)


def builders() -> None:
    """Builders make messages and parts; canonical JSON is text."""
    assert_type(il.user("Hi", il.image(b"")), il.Message)
    assert_type(il.file("a"), il.ImagePart | il.AudioPart | il.DocumentPart)
    assert_type(il.dump([il.user("Hi")]), str)
    assert_type(il.Toolbox([print]).execute([]), il.Message)
