"""Token counts, both ways: two numbers of the answer itself, each absent when it is 0.

Loss: the wire has no place for cached and reasoning tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from interlingua.dialects.ollama.wire import ChunkWire
    from interlingua.types.change import Changes

__all__ = ["decode_usage", "encode_usage", "note_uncounted"]


UNCOUNTED = ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
"""Counts that the wire has no place for."""


def decode_usage(wire: ChunkWire) -> Usage | None:
    """The counts of an answer; None when it states none."""
    if wire.prompt_eval_count is None and wire.eval_count is None:
        return None
    return Usage(input_tokens=wire.prompt_eval_count, output_tokens=wire.eval_count)


def note_uncounted(usage: Usage, changes: Changes) -> None:
    """Entries for the counts that the wire has no place for."""
    if usage.cache_read_tokens is usage.cache_write_tokens is usage.reasoning_tokens is None:
        return
    for name in UNCOUNTED:
        if getattr(usage, name) is not None:
            changes.add("parameter_unsupported", f"/usage/{name}", "the dialect counts input and output alone")


def encode_usage(usage: Usage | None, changes: Changes) -> dict[str, int]:
    """The members of an answer that state its counts."""
    if usage is None:
        return {}
    note_uncounted(usage, changes)
    counts = {"prompt_eval_count": usage.input_tokens, "eval_count": usage.output_tokens}
    return {name: count for name, count in counts.items() if count is not None}
