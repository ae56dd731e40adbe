"""The server that a recorded request was written for, as quirks read off the request itself.

A same-dialect trip has to end in the body it began with. So it goes to a server that takes everything and that spells
things the way this very client spelled them: under the names that it used, and with nothing refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from interlingua.dialects._contract import Quirks, Target
from interlingua.testing.wirefacts.values import members, objects

__all__ = ["faithful_target"]

Reasoning: TypeAlias = Literal["none", "reasoning_content", "reasoning", "thinking_chunks"]


def faithful_target(dialect: str, body: Any, model: str) -> Target:
    """The target that the client of `body` spoke to, so that encoding for it keeps the client's own spelling."""
    quirks = QUIRKS.get(dialect)
    return Target(model=model, quirks=Quirks(schema_form="as_read") if quirks is None else quirks(members(body)))


def _chat(body: dict[str, Any]) -> Quirks:
    messages = objects(body.get("messages"))
    parts = [part for message in messages for part in objects(message.get("content"))]
    assistants = [message for message in messages if message.get("role") == "assistant"]
    reasoning = _reasoning_field(assistants)
    return Quirks(
        max_tokens_field="max_tokens" if "max_tokens" in body else "max_completion_tokens",
        seed_field="random_seed" if "random_seed" in body else "seed",
        effort_field="reasoning.effort" if body.get("reasoning") else "reasoning_effort",
        system_role="developer" if any(message.get("role") == "developer" for message in messages) else "system",
        reasoning_field=reasoning,
        reasoning_echo="never" if reasoning == "none" else "always",
        tool_only_content=_tool_only_content(assistants),
        result_media=True,
        image_url_string=any(isinstance(part.get("image_url"), str) for part in parts),
        allowed_tools=True,
        schema_form="as_read",
        stream_usage="stream_options" in body,
    )


def _reasoning_field(assistants: list[dict[str, Any]]) -> Reasoning:
    for message in assistants:
        if any(part.get("type") == "thinking" for part in objects(message.get("content"))):
            return "thinking_chunks"
        if message.get("reasoning_content") is not None:
            return "reasoning_content"
        if message.get("reasoning") is not None or message.get("reasoning_details"):
            return "reasoning"
    return "none"


def _tool_only_content(assistants: list[dict[str, Any]]) -> Literal["null", "empty", "omit"]:
    for message in assistants:
        if message.get("tool_calls") and not message.get("content"):
            return "omit" if "content" not in message else "null" if message["content"] is None else "empty"
    return "null"


def _messages(_: dict[str, Any]) -> Quirks:
    return Quirks(schema_form="as_read", reasoning_echo="always")  # who shows unsigned thinking wants it back


QUIRKS: dict[str, Callable[[dict[str, Any]], Quirks]] = {"openai-chat": _chat, "anthropic": _messages}
"""How each dialect's requests show their server."""
