"""A toolbox of ours as an MCP server: `python -m tests.support.mcp_served`; `--awaited` for the other face."""

from __future__ import annotations

import asyncio
import sys
import time

import interlingua as il
from interlingua import aio


def greet(name: str, times: int = 1) -> dict[str, str]:
    """Greet somebody.

    Args:
        name: Whom.
        times: How often.
    """
    print("a line that is no business of the protocol")  # noqa: T201 - what it proves
    il.progress("thinking")
    il.progress("greeting")
    return {"text": f"hello {name}" * times}


async def later(text: str, shop: il.Context[dict[str, str]]) -> str:
    """Say it later."""
    await asyncio.sleep(0)
    return f"{text} in {shop['name']}"


def fail() -> None:
    """Fail."""
    raise ValueError("private")


def tell() -> None:
    """Fail with words."""
    raise il.ToolError("ask for a name")


def hang() -> None:
    """Hang."""
    time.sleep(30)


def several() -> list[object]:
    """Parts of every kind."""
    return [
        "text",
        il.ImagePart(b"image", "image/png"),
        il.AudioPart(b"audio", "audio/wav"),
        il.DocumentPart(b"document", "application/pdf", "a.pdf"),
        il.OpaquePart("google", "video", {}),
    ]


def numbers() -> list[int]:
    """A list."""
    return [1, 2]


def shout(text: str) -> str:
    """Take plain text."""
    return text.upper()


TOOLS = [
    greet,
    later,
    fail,
    tell,
    il.tool(hang, timeout_s=0.05),
    several,
    numbers,
    il.Tool(name="shout", handler=shout, freeform=il.Freeform()),
]

if __name__ == "__main__":
    shop = {"name": "Oslo"}
    if "--awaited" in sys.argv:
        asyncio.run(aio.serve_mcp(aio.Toolbox(TOOLS), name="ours", instructions="Be kind.", context=shop))
    else:
        il.serve_mcp(il.Toolbox(TOOLS), name="ours", instructions="Be kind.", context=shop)
