"""JSON as a person reads it: what fits on a line is on a line, and its members keep their order."""

from __future__ import annotations

import json
from typing import Any, cast

__all__ = ["json_text"]

WIDTH = 118


def json_text(value: Any, indent: int = 0, room: int = WIDTH) -> str:
    """`value` as JSON, broken only where it is longer than a line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= room or not isinstance(value, dict | list) or not value:
        return line
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value).items()
        lines = [f"{inner}{json.dumps(name)}: {json_text(member, indent + 1, room)}" for name, member in members]
        return "{\n" + ",\n".join(lines) + f"\n{' ' * indent}}}"
    lines = [inner + json_text(item, indent + 1, room) for item in cast("list[Any]", value)]
    return "[\n" + ",\n".join(lines) + f"\n{' ' * indent}]"
