"""A toolbox as an MCP server, over standard input and output.

Rules
- Calls are answered as `execute` answers them: arguments are checked, failures are error results for the model, and
  the client's cancelling reaches the handlers. Their notes are the protocol's progress.
- What handlers print goes to the error output; the protocol alone has the standard output.
- The server ends when its client closes its input.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from interlingua.errors import ConfigError, UsageError
from interlingua.tools.mcp_results import encode_result
from interlingua.tools.toolbox import AsyncToolbox, Toolbox
from interlingua.types.content import ToolCall, ToolResult
from interlingua.types.tool import OpaqueTool
from interlingua.wire.json import encode

try:
    import mcp_types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
except ModuleNotFoundError as _error:
    raise ConfigError("serving MCP needs the [mcp] extra: pip install 'interlingua[mcp]'") from _error

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

__all__ = ["serve"]

_FREEFORM: dict[str, Any] = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
"""The arguments of a tool that takes plain text."""


async def serve(
    toolbox: Toolbox | AsyncToolbox, name: str, instructions: str | None, context: object, timeout_s: float | None
) -> None:
    """Answer one client until it leaves."""
    box = toolbox
    if not isinstance(box, AsyncToolbox):
        box = AsyncToolbox(box.tools, timeout_s=box.timeout_s, max_concurrency=box.max_concurrency)
    await box.open()
    definitions: list[mcp_types.Tool] = []
    for tool in box:
        if isinstance(tool, OpaqueTool):
            raise UsageError(f"{tool.kind} is run by a provider, and cannot be served; leave it out")
        if tool.handler is None:
            raise UsageError(f"tool {tool.name} has no handler, and cannot be served; leave it out")
        parameters = {"type": "object", **tool.parameters} if tool.freeform is None else _FREEFORM
        definitions.append(mcp_types.Tool(name=tool.name, description=tool.description, input_schema=parameters))

    async def on_list_tools(
        request: ServerRequestContext, params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        del request, params
        return mcp_types.ListToolsResult(tools=definitions)

    async def on_call_tool(
        request: ServerRequestContext, params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        call = ToolCall(f"call_{request.request_id}", params.name, encode(params.arguments or {}).decode())
        notes = _Notes(request.session)
        message = await box.execute(call, context=context, timeout_s=timeout_s, on_progress=notes.take)
        await notes.sent()
        (result,) = [part for part in message.parts if isinstance(part, ToolResult)]
        return encode_result(result)

    server: Server[Any] = Server(
        name,
        version=version("interlingua"),
        instructions=instructions,
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
    )
    try:
        async with stdio_server() as (reading, writing):
            with contextlib.redirect_stdout(sys.stderr):
                await server.run(reading, writing, server.create_initialization_options())
    finally:
        await box.close()


class _Notes:
    """The notes of one call, on their way to the client."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._sending: list[asyncio.Task[None]] = []

    def take(self, call: ToolCall, text: str) -> None:
        """Send a note on, without waiting; the protocol wants a number that grows."""
        del call
        number = len(self._sending) + 1
        self._sending.append(asyncio.ensure_future(self._session.report_progress(number, None, text)))

    async def sent(self) -> None:
        """Wait until every note is sent."""
        await asyncio.gather(*self._sending)
