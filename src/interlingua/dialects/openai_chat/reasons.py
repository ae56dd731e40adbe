"""Finish reasons, both ways: the table of the dialect. Errors are those of both OpenAI dialects.

Source: vendor reference "Create chat completion"; recorded answers of many servers, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.wire.finish_words import finish_words

if TYPE_CHECKING:
    from interlingua.types.response import FinishReason

__all__ = ["decode_finish", "encode_finish", "finish_word"]

FINISH_REASONS = finish_words("openai-chat")
"""Everything seen as a finish reason; what is not here is `other`."""
WIRE_REASONS: dict[FinishReason, str] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "pause": "stop",
    "other": "stop",
}
"""The legal words of the wire; clients know no others."""


def decode_finish(raw: str | None) -> FinishReason:
    """The canonical finish reason of the wire's word; `stop` without one."""
    return FINISH_REASONS.get(raw, "other") if raw else "stop"


def finish_word(raw: str | None, native: str | None) -> str | None:
    """The word that counts: the one of the provider behind a router (`native`) where it says that the provider failed.

    OpenRouter normalises a word that it does not know to `stop`, and GLM's `network_error` was one of those.
    """
    return native if native and FINISH_REASONS.get(native) == "error" else raw


def encode_finish(reason: FinishReason, *, refused: bool) -> str:
    """The wire's word; a refusal in the model's own words ends with `stop`, any other with `content_filter`."""
    return "stop" if reason == "refusal" and refused else WIRE_REASONS[reason]
