"""The questions of conformance, in no service's words, and how a service is spoken to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from interlingua.testing.conformance.seen import CallSeen, Seen
from interlingua.wire.http import Headers

__all__ = ["PNG", "SCHEMA", "TOOL", "TOOL_SCHEMA", "Question", "Result", "Tongue"]

TOOL = "get_weather"
"""The tool that is offered."""
TOOL_TEXT = "The weather in a city."
TOOL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Name of a city."}},
    "required": ["city"],
    "additionalProperties": False,
}
"""Its parameters."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "celsius": {"type": "integer"}},
    "required": ["city", "celsius"],
    "additionalProperties": False,
}
"""The schema of a structured answer."""
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mP4z8CAFTEMLQkAKP8/wc53yE8AAAAASUVORK5CYII="
"""A small red picture, in base64."""


class Result(msgspec.Struct, frozen=True):
    """The result of a call."""

    call: CallSeen
    """The call."""
    text: str
    """The result."""
    is_error: bool = False
    """Whether it failed."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    text: str = "Say hello."
    """The user's words."""
    stream: bool = False
    """Whether the answer is to be streamed."""
    tool: bool = False
    """Whether the tool is offered."""
    forced: bool = False
    """Whether a call is demanded."""
    schema: bool = False
    """Whether the answer is bound to the schema."""
    image: bool = False
    """Whether the picture comes along."""
    limit: int = 512
    """The longest answer, in tokens."""
    turn: tuple[dict[str, Any], ...] = ()
    """The assistant's turn that came before, as the service gave it."""
    results: tuple[Result, ...] = ()
    """The results of its calls."""


def _bearer(key: str) -> Headers:
    """The headers of most services; none without a key."""
    return (("authorization", f"Bearer {key}"),) if key else ()


class Tongue(msgspec.Struct, frozen=True, kw_only=True):
    """How one service is spoken to, and how its answers are read."""

    path: str | Callable[[Question, str], str]
    """The path, or that for a question to a model."""
    headers: Callable[[str], Headers] = _bearer
    """The headers for a key."""
    body: Callable[[Question, str], dict[str, Any]]
    """The body of a question to a model."""
    whole: Callable[[dict[str, Any], list[str]], Seen]
    """The reader of a whole answer; takes the faults found before."""
    streamed: Callable[[bytes, list[str]], Seen]
    """The reader of a streamed answer."""
    forces: bool = True
    """Whether a call can be demanded."""
    knows_results: bool = True
    """Whether a result without its call is refused."""
