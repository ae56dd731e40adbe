"""What type checkers see of tools: a context is what it says, a box takes functions and servers alike."""

from __future__ import annotations

from typing import assert_type

import interlingua as il
from interlingua import aio


class Shop:
    """What handlers work on."""

    name = "Oslo"


def find(number: int, shop: il.Context[Shop]) -> str:
    """Find an order."""
    assert_type(shop, Shop)
    return f"{shop.name} {number}"


def find_maybe(number: int, shop: il.Context[Shop] | None = None) -> str:
    """Find an order."""
    assert_type(shop, Shop | None)
    return f"{number}"


def listen(call: il.ToolCall, text: str) -> None:
    """Take a note."""


def boxes(call: il.ToolCall) -> None:
    """A box takes functions, tools and servers."""
    box = il.Toolbox([find, il.tool(find_maybe, timeout_s=3), il.mcp("uvx some-server")], rules="strict", timeout_s=5)
    assert_type(box.execute(call, context=Shop(), on_progress=listen), il.Message)
    assert_type(box.execute([call], timeout_s=1), il.Message)
    assert_type(find(7, Shop()), str)


async def awaited(call: il.ToolCall) -> None:
    """The other face."""
    async with aio.Toolbox([find, aio.mcp(".mcp.json", only=["find"])]) as opened:
        assert_type(await opened.execute(call, context=Shop()), il.Message)
