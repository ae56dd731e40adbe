"""An MCP server without any package, so that it starts at once: `python -m tests.support.mcp_plain NAME`.

With `--stays` after the name it goes on when its input ends; with `--faulty` it has more tools, most of them bad.

For tests of how servers begin and end. What travels is judged by the server of the official package, `mcp_server`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

NUMBER: dict[str, Any] = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
TOOLS = {"double": NUMBER, "pid": NOTHING, "crash": NOTHING}

FAULTY: list[Any] = [
    {"name": "dangling", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}},
    {"name": "misspelled", "inputSchema": {"type": "object", "properties": {"a": {"type": "objekt"}}}},
    {"name": "objekt", "inputSchema": {"type": "objekt"}},
    {"name": "listed", "inputSchema": {"type": "array", "items": {}}},
    {"name": "worded", "inputSchema": "an object"},
    {"name": "bare"},
    {"name": "described", "description": 7, "inputSchema": NOTHING},
    "a tool",
    {"name": "pid", "inputSchema": NUMBER},
    {"name": "untyped", "inputSchema": {"properties": {"number": {"type": "integer"}}}},
    {"name": "output", "inputSchema": NOTHING, "outputSchema": {"type": "objekt"}},
]
"""Tools that are bad, and two at the end that can be used all the same."""


def called(name: str, arguments: dict[str, Any]) -> str:
    """What a tool says; `crash` ends the server in the middle of the call."""
    if name == "crash":
        os._exit(3)
    return str(os.getpid() if name == "pid" else 2 * arguments.get("number", 0))


def answer(method: str, told: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for what is not known."""
    match method:
        case "initialize":
            version = told["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": SELF}
        case "tools/list":
            sound = [{"name": name, "inputSchema": schema} for name, schema in TOOLS.items()]
            return {"tools": [*sound, *(FAULTY if "--faulty" in sys.argv else [])]}
        case "tools/call":
            return {"content": [{"type": "text", "text": called(told["name"], told.get("arguments") or {})}]}
        case _:
            return None


if __name__ == "__main__":
    SELF = {"name": sys.argv[1], "version": "1"}
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            result = answer(asked["method"], asked.get("params") or {})
            said = {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)  # noqa: T201 - its only way
    if "--stays" in sys.argv:
        time.sleep(600)
