"""The blocking and the awaited way to serve a toolbox to MCP clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlingua.tools.toolbox import AsyncToolbox, Toolbox

__all__ = ["async_serve_mcp", "serve_mcp"]


def serve_mcp(
    toolbox: Toolbox,
    *,
    name: str = "interlingua",
    instructions: str | None = None,
    context: object = None,
    timeout_s: float | None = None,
) -> None:
    """Serve the tools to one MCP client over standard input and output; ends when the client leaves.

    A program that does this alone is what a client's `.mcp.json` names as a command. `instructions` tell the client's
    model what the tools are for; `context` and `timeout_s` are those of `execute`. Needs the extra `[mcp]`.
    Raises: ConfigError, without the extra; UsageError, for a tool that nothing handles.
    """
    import asyncio

    from interlingua.tools.mcp_server import serve

    asyncio.run(serve(toolbox, name, instructions, context, timeout_s))


async def async_serve_mcp(
    toolbox: AsyncToolbox,
    *,
    name: str = "interlingua",
    instructions: str | None = None,
    context: object = None,
    timeout_s: float | None = None,
) -> None:
    """Serve the tools to one MCP client over standard input and output; ends when the client leaves.

    A program that does this alone is what a client's `.mcp.json` names as a command. `instructions` tell the client's
    model what the tools are for; `context` and `timeout_s` are those of `execute`. Needs the extra `[mcp]`.
    Raises: ConfigError, without the extra; UsageError, for a tool that nothing handles.
    """
    from interlingua.tools.mcp_server import serve

    await serve(toolbox, name, instructions, context, timeout_s)
