"""Token counts, both ways: `tokens` is what the model read and wrote, cached tokens included.

Rules
- Where `tokens` is missing, what is charged stands for it.
- `billed_units` is an invoice: it stays in `extra` as it came, and no other provider's answer gets one.
Loss: the wire has no place for reasoning tokens and for tokens written to a cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects.cohere.parts import NAME
from interlingua.types.usage import MAX_COUNT, Usage

if TYPE_CHECKING:
    from interlingua.dialects.cohere.wire import UsageWire
    from interlingua.types.change import Changes

__all__ = ["decode_usage", "encode_usage"]

UNCOUNTED = ("cache_write_tokens", "reasoning_tokens")
"""Counts that the wire has no place for."""


def decode_usage(wire: UsageWire) -> Usage:
    """The counts of an answer."""
    tokens = wire.tokens
    extra: dict[str, Any] = {} if wire.billed_units is None else {"billed_units": wire.billed_units}
    extra |= wire.extra or {}
    if tokens is not None:
        if tokens.extra:
            extra["tokens"] = dict(tokens.extra)
        read, written = tokens.input_tokens, tokens.output_tokens
    else:
        billed = wire.billed_units or {}
        counts: list[Any] = [billed.get(name) for name in ("input_tokens", "output_tokens")]
        read, written = [
            int(count) if type(count) in (int, float) and 0 <= count <= MAX_COUNT else None for count in counts
        ]
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cache_read_tokens=wire.cached_tokens,
        extra={NAME: extra} if extra else {},
    )


def encode_usage(usage: Usage, changes: Changes) -> dict[str, Any]:
    """The counts of an answer on the wire."""
    for name in UNCOUNTED:
        if getattr(usage, name) is not None:
            changes.add("parameter_unsupported", f"/usage/{name}", "the dialect has no such count")
    extra = dict(usage.extra.get(NAME, {}))
    tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    tokens = {name: count for name, count in tokens.items() if count is not None} | extra.pop("tokens", {})
    counts = {"tokens": tokens or None, "cached_tokens": usage.cache_read_tokens}
    return {**extra, **{name: value for name, value in counts.items() if value is not None}}
