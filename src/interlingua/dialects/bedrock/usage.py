"""Token counts, both ways.

The wire counts what was read from the prompt cache and written to it apart from the other input; the canonical input is
the sum of the three, and is taken apart again on the way back. Everything else stays in `extra` as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects.bedrock.parts import NAME
from interlingua.types.usage import MAX_COUNT, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.types.change import Changes

__all__ = ["decode_usage", "encode_usage"]

INPUT, OUTPUT, TOTAL = "inputTokens", "outputTokens", "totalTokens"
READ, WRITTEN = "cacheReadInputTokens", "cacheWriteInputTokens"
COUNTS = frozenset({INPUT, OUTPUT, READ, WRITTEN})


def decode_usage(wire: Mapping[str, Any], changes: Changes) -> Usage:
    """The counts of an answer; the total is told again where it is the sum of the others."""
    fresh, output, read, written = [_count(wire.get(name), changes) for name in (INPUT, OUTPUT, READ, WRITTEN)]
    total = None if fresh is None else fresh + (read or 0) + (written or 0)
    extra = {name: value for name, value in wire.items() if name not in COUNTS and value is not None}
    if total is not None and output is not None and extra.get(TOTAL) == total + output:
        del extra[TOTAL]
    return Usage(
        input_tokens=total,
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=written,
        extra={NAME: extra} if extra else {},
    )


def _count(value: object, changes: Changes) -> int | None:
    """A count as a whole number that can be true; None for anything else."""
    if type(value) is float and value.is_integer():
        changes.repaired(("whole_number",))
        value = int(value)
    if type(value) is not int:
        return None
    if 0 <= value <= MAX_COUNT:
        return value
    changes.repaired(("count_clamped",))
    return None if value < 0 else MAX_COUNT


def encode_usage(usage: Usage | None, changes: Changes, *, own: bool) -> dict[str, Any]:
    """The counts on the wire; clients insist on numbers: an unknown one is 0, save in the dialect's `own` answers."""
    usage = usage or Usage()
    if usage.reasoning_tokens is not None:
        changes.add("parameter_unsupported", "/usage/reasoning_tokens", "the dialect counts output as a whole")
    if not own and (usage.input_tokens is None or usage.output_tokens is None):
        changes.add("parameter_added", "/usage", "sent as 0, because the provider did not count them")
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    total = usage.input_tokens or 0
    if usage.input_tokens is not None and (read or 0) + (written or 0) > total:
        why = f"the {(read or 0) + (written or 0)} tokens of the cache are more than the input has"
        changes.add("parameter_adjusted", "/usage/input_tokens", why)
    wire: dict[str, Any] = {}
    if not own or usage.input_tokens is not None:
        wire[INPUT] = max(0, total - (read or 0) - (written or 0))
    if not own or usage.output_tokens is not None:
        wire[OUTPUT] = usage.output_tokens or 0
    if INPUT in wire and OUTPUT in wire:
        wire[TOTAL] = wire[INPUT] + (read or 0) + (written or 0) + wire[OUTPUT]
    wire |= {name: count for name, count in ((READ, read), (WRITTEN, written)) if count is not None}
    return wire | usage.extra.get(NAME, {})
