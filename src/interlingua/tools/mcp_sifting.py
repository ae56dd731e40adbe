"""An MCP server's list of tools without those that cannot be used, with a sentence for each of these.

Rules
- One bad tool costs itself alone. The official client refuses a whole list for it, so each list is looked through on
  its way to that client, whatever the server is reached by.
- Set aside is what is no tool at all, a tool whose inputs are no object, and one whose inputs are no valid JSON Schema:
  a reference that leads nowhere, a type that there is not, more than the bounds allow.
- Inputs that do not say that they are an object are one. A bad schema of outputs, which is for a check of the official
  client alone, is left out, and its tool stays.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from interlingua.errors import SchemaError
from interlingua.schema.validate import check_schema

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from types import TracebackType
    from typing import Self

    from mcp.client import Transport
    from mcp.client._transport import ReadStream, TransportStreams

__all__ = ["ToolSetAside", "sift", "sifted"]

MAX_SENTENCE = 300
"""How long the sentence on one tool may be, in characters."""


class ToolSetAside(NamedTuple):
    """A tool of a server that is not offered."""

    name: str
    """Its name, or its place in the list where it has none."""
    sentence: str
    """The fault."""


@asynccontextmanager
async def sifted(transport: Transport, aside: list[ToolSetAside]) -> AsyncGenerator[TransportStreams]:
    """The transport with lists of tools that are looked through; what is set aside is added to `aside`."""
    async with transport as (reading, writing):
        yield _Sifted(reading, aside), writing


class _Sifted:
    """A stream of a server's messages, looked through."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception], aside: list[ToolSetAside]) -> None:
        self._stream = stream
        self._aside = aside

    @property
    def last_context(self) -> object:
        """The context of the sender, which the official client asks its streams for."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return self._looked_through(await self._stream.receive())

    async def __anext__(self) -> SessionMessage | Exception:
        return self._looked_through(await self._stream.__anext__())

    def __aiter__(self) -> Self:
        return self

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(exc_type, exc_val, exc_tb)

    def _looked_through(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        """The item; in an answer that lists tools the bad ones are missing."""
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
            tools: object = item.message.result.get("tools")
            if isinstance(tools, list):
                item.message.result["tools"] = sift(cast("list[object]", tools), self._aside)
        return item


def sift(tools: list[object], aside: list[ToolSetAside]) -> list[dict[str, Any]]:
    """The tools that can be used; each other one is added to `aside`."""
    usable: list[dict[str, Any]] = []
    for place, raw in enumerate(tools):
        tool = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        fault = _repaired(tool)
        if fault is None:
            usable.append(tool)
        else:
            name = tool.get("name")
            sentence = fault if len(fault) <= MAX_SENTENCE else f"{fault[: MAX_SENTENCE - 1]}…"
            aside.append(ToolSetAside(name if isinstance(name, str) and name else f"#{place}", sentence))
    return usable


def _repaired(tool: dict[str, Any]) -> str | None:
    """Put right what can be put right in a tool; what is wrong with one that cannot be used."""
    schema: object = tool.get("inputSchema")
    if not isinstance(schema, dict):
        return "it has no inputSchema that is a JSON object"
    inputs = tool["inputSchema"] = {"type": "object", **cast("dict[str, Any]", schema)}
    if _is_bad_output(tool.get("outputSchema")):
        del tool["outputSchema"]
    try:
        check_schema(inputs, where="inputSchema")
    except SchemaError as error:
        return error.message
    if inputs["type"] != "object":
        return f"inputSchema: the type of inputs is object, not {inputs['type']!r}"
    try:
        validate_server_result("tools/list", _VERSION, {"tools": [tool]})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc'][2:]))}: {first['msg']}"
    return None


_VERSION = "2025-11-25"
"""The revision of the protocol whose form of a tool is asked for: the newest in which a list may say nothing else."""


def _is_bad_output(schema: object) -> bool:
    """Whether a schema of outputs is there that the official client would stumble over."""
    if schema is None:
        return False
    try:
        check_schema(cast("dict[str, Any]", schema), where="outputSchema")
    except SchemaError:
        return True
    return not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("type") != "object"
