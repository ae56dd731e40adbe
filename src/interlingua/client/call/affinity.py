"""The prefix of a conversation, by which policy `prefix` chooses among targets.

Rules
- The prefix is the system text, the tools, and the messages up to the first one of the user: every turn of a
  conversation has it, and conversations that share long instructions differ in their first question.
- Nothing is remembered: the same prefix gives the same digest in every process.
- Fields that no model reads are no part of it: handlers, and cache marks, which clients move from turn to turn.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec.structs import replace

from interlingua.types.tool import Tool
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.content import Part
    from interlingua.types.request import Request

__all__ = ["prefix_digest"]


def prefix_digest(request: Request) -> bytes:
    """The digest of the prefix of a request."""
    messages = request.messages
    first = next((place for place, message in enumerate(messages) if message.role == "user"), len(messages) - 1)
    tools = [
        (tool.name, tool.description, tool.parameters) if isinstance(tool, Tool) else tool for tool in request.tools
    ]
    opening = [(message.role, _unmarked(message.parts)) for message in messages[: first + 1]]
    return sha256(encode((_unmarked(request.system), tools, opening))).digest()


def _unmarked(parts: Sequence[Part]) -> list[Part]:
    """Parts without cache marks."""
    return [replace(part, cache=None) if getattr(part, "cache", None) is not None else part for part in parts]
