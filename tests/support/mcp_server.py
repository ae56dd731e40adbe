"""An MCP server written with the official package alone: `python -m tests.support.mcp_server NAME`."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import mcp_types as t
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
DATA = base64.b64encode(b"bytes").decode()


def text(words: object) -> t.CallToolResult:
    """A result of one text."""
    return t.CallToolResult(content=[t.TextContent(text=str(words))])


async def double(request: ServerRequestContext, arguments: dict[str, Any]) -> t.CallToolResult:
    """Twice the number."""
    return text(2 * arguments["number"])


async def pid(request: ServerRequestContext, arguments: dict[str, Any]) -> t.CallToolResult:
    """The process that answers."""
    return text(os.getpid())


async def environment(request: ServerRequestContext, arguments: dict[str, Any]) -> t.CallToolResult:
    """The names of the environment's variables, and the folder."""
    return t.CallToolResult(content=[], structured_content={"names": sorted(os.environ), "folder": str(Path.cwd())})


async def refuse(request: ServerRequestContext, arguments: dict[str, Any]) -> t.CallToolResult:
    """A failure that the model reads."""
    return t.CallToolResult(content=[t.TextContent(text="no such order")], is_error=True)


async def show(request: ServerRequestContext, arguments: dict[str, Any]) -> t.CallToolResult:
    """A text and an image."""
    return t.CallToolResult(content=[t.TextContent(text="look"), t.ImageContent(data=DATA, mime_type="image/png")])


def _note_cancelling() -> None:
    Path("cancelled").write_text("yes", encoding="utf-8")


async def wait(request: ServerRequestContext, arguments: dict[str, Any]) -> t.CallToolResult:
    """Notes, a long time, and a file when it is cancelled."""
    await request.session.report_progress(1, 4, "waiting")
    await request.session.report_progress(2, 4)
    await request.session.report_progress(3)
    try:
        await asyncio.sleep(arguments["number"])
    except BaseException:
        _note_cancelling()
        raise
    return text("waited")


Answer = Callable[[ServerRequestContext, dict[str, Any]], Awaitable[t.CallToolResult]]
ANSWERS: tuple[Answer, ...] = (double, pid, environment, refuse, show, wait)
TOOLS = {answer.__name__: answer for answer in ANSWERS}


async def list_tools(request: ServerRequestContext, params: t.PaginatedRequestParams | None) -> t.ListToolsResult:
    """Two pages of tools."""
    tools = [
        t.Tool(
            name=name,
            description=answer.__doc__,
            input_schema=NUMBER if name in {"double", "wait"} else NOTHING,
            annotations=t.ToolAnnotations(read_only_hint=True) if name == "double" else None,
        )
        for name, answer in TOOLS.items()
    ]
    if params is not None and params.cursor == "more":
        return t.ListToolsResult(tools=tools[3:])
    return t.ListToolsResult(tools=tools[:3], next_cursor="more")


async def call_tool(request: ServerRequestContext, params: t.CallToolRequestParams) -> t.CallToolResult:
    """The tool's answer."""
    return await TOOLS[params.name](request, params.arguments or {})


def made(name: str) -> Server[Any]:
    """The server."""
    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool)


async def main(name: str) -> None:
    """Serve over standard input and output."""
    server = made(name)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
