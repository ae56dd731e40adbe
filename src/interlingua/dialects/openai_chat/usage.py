"""Token counts, both ways: the wire counts as we do, input with cached and output with reasoning tokens.

Cached tokens have four names in the field. The first known one is read; every member that is not the reference
server's own stays in `extra` and goes back as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_object, passing
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.dialects.openai_chat.wire import TokenDetailsWire, UsageWire
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.types._base import JsonObject
    from interlingua.types.change import Changes
    from interlingua.wire.json import WireStruct

__all__ = ["decode_usage", "encode_usage"]

CACHED_NAMES = ("num_cached_tokens", "prompt_cache_hit_tokens", "cached_tokens")
"""Other servers' names of the cached tokens."""
_RENAMED = frozenset(CACHED_NAMES)
_NO_DETAILS = TokenDetailsWire()


def _others(kind: type[WireStruct], *read: str) -> Callable[[WireStruct], dict[str, Any]]:
    """A reader of the members of a kind besides those that are `read`."""
    return passing(*[name for name in kind.__struct_fields__ if name not in (*read, "extra")])


_other_inputs = _others(TokenDetailsWire, "cached_tokens", "cache_write_tokens")
_other_outputs = _others(TokenDetailsWire, "reasoning_tokens")
_other_counts = _others(
    UsageWire,
    "prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details",
)  # fmt: skip


def decode_usage(wire: UsageWire) -> Usage:
    """The counts of a reply; what is no count of ours passes through, as does a total that is not their sum."""
    extra = _other_counts(wire)
    inputs, outputs = wire.prompt_tokens_details or _NO_DETAILS, wire.completion_tokens_details or _NO_DETAILS
    prompt, completion = _other_inputs(inputs), _other_outputs(outputs)
    read, written, total = wire.prompt_tokens, wire.completion_tokens, wire.total_tokens
    if total is not None and (read is None or written is None or total != read + written):
        extra["total_tokens"] = total
    cached = inputs.cached_tokens
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
        cache_write_tokens=inputs.cache_write_tokens,
        reasoning_tokens=outputs.reasoning_tokens,
        extra={NAME: extra} if extra else {},
    )


def encode_usage(usage: Usage, changes: Changes, *, own: bool) -> JsonObject:
    """The counts on the wire, as they came where the answer is one of this dialect (`own`)."""
    counts = _counts(usage, changes, own=own)
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


def _counts(usage: Usage, changes: Changes, *, own: bool) -> JsonObject:
    """Both counts and their sum; in an answer from elsewhere unknown ones are 0, since clients insist on numbers."""
    read, written = usage.input_tokens, usage.output_tokens
    if read is None or written is None:
        if own:
            counts = {"prompt_tokens": read, "completion_tokens": written}
            return {name: count for name, count in counts.items() if count is not None}
        changes.add("parameter_added", "/usage", "told as 0, since nobody counted them")
        read, written = read or 0, written or 0
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _add_detail(counts: JsonObject, holder: str, name: str, count: int) -> None:
    """Put one part of a count before the others, unless the dialect's own members say it, or anything but parts."""
    details = counts.get(holder)
    if not details or is_object(details):
        counts[holder] = {name: count, **details} if details else {name: count}


_NONE: JsonObject = {}
