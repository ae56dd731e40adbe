"""Token counts, both ways: the wire counts as we do, input with cached and output with reasoning tokens."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import merge_members
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.dialects.openai_responses.wire import InputDetailsWire, OutputDetailsWire, UsageWire
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from interlingua.types.change import Changes

__all__ = ["decode_usage", "encode_usage", "note_unknown"]

COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
"""Counts that not every provider gives."""
_counts = attrgetter(*COUNTS)


def decode_usage(wire: UsageWire) -> Usage:
    """The counts of an answer; a total that is not the sum stays in `extra`."""
    read = wire.input_tokens_details or InputDetailsWire()
    written = wire.output_tokens_details or OutputDetailsWire()
    extra: dict[str, Any] = dict(wire.extra or {})
    total = (wire.input_tokens or 0) + (wire.output_tokens or 0)
    if wire.total_tokens is not None and wire.total_tokens != total:
        extra["total_tokens"] = wire.total_tokens
    if read.extra:
        extra["input_tokens_details"] = dict(read.extra)
    if written.extra:
        extra["output_tokens_details"] = dict(written.extra)
    return Usage(
        input_tokens=wire.input_tokens,
        output_tokens=wire.output_tokens,
        cache_read_tokens=read.cached_tokens,
        cache_write_tokens=read.cache_write_tokens,
        reasoning_tokens=written.reasoning_tokens,
        extra={NAME: extra} if extra else {},
    )


def note_unknown(usage: Usage, changes: Changes) -> None:
    """An entry for the counts that clients insist on and nobody gave."""
    if None in _counts(usage):
        unknown = [name for name in COUNTS if getattr(usage, name) is None]
        changes.add("parameter_added", "/usage", f"sent as 0, because the provider did not count: {', '.join(unknown)}")


def encode_usage(usage: Usage, changes: Changes, *, own: bool) -> UsageWire:
    """The counts on the wire; clients insist on numbers, so in an answer from elsewhere unknown ones are 0."""
    filler = None if own else 0
    if not own:
        note_unknown(usage, changes)
    wire = UsageWire(
        input_tokens=filler if usage.input_tokens is None else usage.input_tokens,
        input_tokens_details=InputDetailsWire(
            cached_tokens=filler if usage.cache_read_tokens is None else usage.cache_read_tokens,
            cache_write_tokens=filler if usage.cache_write_tokens is None else usage.cache_write_tokens,
        ),
        output_tokens=filler if usage.output_tokens is None else usage.output_tokens,
        output_tokens_details=OutputDetailsWire(
            reasoning_tokens=filler if usage.reasoning_tokens is None else usage.reasoning_tokens
        ),
        total_tokens=(usage.input_tokens or 0) + (usage.output_tokens or 0),
    )
    if usage.extra:
        merge_members(wire, usage.extra.get(NAME, {}))
    return wire
