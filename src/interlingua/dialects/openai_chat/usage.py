"""Token counts, both ways: the wire counts as we do, input with cached and output with reasoning tokens.

Cached tokens have four names in the field. The first known one is read; every member that is not the reference
server's own stays in `extra` and goes back as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from interlingua.dialects._members import is_object, passing, plain
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.dialects.openai_chat.wire import UsageWire
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from interlingua.dialects.openai_chat.wire import TokenDetailsWire
    from interlingua.types._base import JsonObject
    from interlingua.types.change import Changes

__all__ = ["decode_usage", "encode_usage"]

CACHED_NAMES = ("num_cached_tokens", "prompt_cache_hit_tokens", "cached_tokens")
"""Other servers' names of the cached tokens."""
_RENAMED = frozenset(CACHED_NAMES)
_READ = frozenset({
    "prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details", "extra",
})  # fmt: skip
_other_counts = passing(*[name for name in UsageWire.__struct_fields__ if name not in _READ])


def decode_usage(wire: UsageWire) -> Usage:
    """The counts of a reply; what is no count of ours passes through, as does a total that is not their sum."""
    extra = _other_counts(wire)
    prompt, completion = _details(wire.prompt_tokens_details), _details(wire.completion_tokens_details)
    cached, cache_written = prompt.pop("cached_tokens", None), prompt.pop("cache_write_tokens", None)
    reasoning = completion.pop("reasoning_tokens", None)
    read, written, total = wire.prompt_tokens, wire.completion_tokens, wire.total_tokens
    if total is not None and (read is None or written is None or total != read + written):
        extra["total_tokens"] = total
    named = [extra[name] for name in CACHED_NAMES if name in extra] if extra else None
    if named and cached is None:
        cached = named[0]
    elif named:
        prompt["cached_tokens"] = cached
    if prompt:
        extra["prompt_tokens_details"] = prompt
    if completion:
        extra["completion_tokens_details"] = completion
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cache_read_tokens=cached,
        cache_write_tokens=cache_written,
        reasoning_tokens=reasoning,
        extra={NAME: extra} if extra else {},
    )


def _details(wire: TokenDetailsWire | None) -> dict[str, Any]:
    """The parts of a count that are stated."""
    if wire is None:
        return {}
    return to_builtins(wire) if wire.extra is None else plain(wire)


def encode_usage(usage: Usage, changes: Changes, *, own: bool) -> JsonObject:
    """The counts on the wire, as they came where the answer is one of this dialect (`own`)."""
    read, written = usage.input_tokens, usage.output_tokens
    if own and (read is None or written is None):
        stated = {"prompt_tokens": read, "completion_tokens": written}
        counts: JsonObject = {name: count for name, count in stated.items() if count is not None}
    else:
        if read is None or written is None:  # clients insist on numbers
            changes.add("parameter_added", "/usage", "sent as 0, because the provider did not count them")
            read, written = read or 0, written or 0
        counts = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    extra = usage.extra.get(NAME) or _NONE
    if extra:
        counts.update(extra)
    if usage.cache_write_tokens is not None:
        _add_detail(counts, "prompt_tokens_details", "cache_write_tokens", usage.cache_write_tokens)
    if usage.cache_read_tokens is not None and (not own or _RENAMED.isdisjoint(extra)):
        _add_detail(counts, "prompt_tokens_details", "cached_tokens", usage.cache_read_tokens)
    if usage.reasoning_tokens is not None:
        _add_detail(counts, "completion_tokens_details", "reasoning_tokens", usage.reasoning_tokens)
    return counts


def _add_detail(counts: JsonObject, holder: str, name: str, count: int) -> None:
    """Put one part of a count before the others, unless the dialect's own members say it, or anything but parts."""
    details = counts.get(holder)
    if not details or is_object(details):
        counts[holder] = {name: count, **details} if details else {name: count}


_NONE: JsonObject = {}
