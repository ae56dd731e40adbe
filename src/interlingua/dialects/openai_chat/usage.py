"""Token counts, both ways: the wire counts as we do, input with cached and output with reasoning tokens.

Cached tokens have four names in the field. The first known one is read; every member that is not the reference
server's own stays in `extra` and goes back as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import merge_members
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.dialects.openai_chat.wire import TokenDetailsWire, UsageWire
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from interlingua.types.change import Changes
    from interlingua.wire.json import WireStruct

__all__ = ["decode_usage", "encode_usage"]

CACHED_NAMES = ("num_cached_tokens", "prompt_cache_hit_tokens", "cached_tokens")
"""Other servers' names of the cached tokens."""
OTHER_MEMBERS = (
    *CACHED_NAMES,
    "prompt_cache_miss_tokens",
    "queue_time",
    "prompt_time",
    "completion_time",
    "total_time",
)


def decode_usage(wire: UsageWire) -> Usage:
    """The counts of a reply."""
    prompt = wire.prompt_tokens_details or _NO_DETAILS
    completion = wire.completion_tokens_details or _NO_DETAILS
    cached = prompt.cached_tokens
    if cached is None:
        cached = next((count for name in CACHED_NAMES if (count := getattr(wire, name)) is not None), None)
    extra = _extra(wire, prompt, completion)
    return Usage(
        input_tokens=wire.prompt_tokens,
        output_tokens=wire.completion_tokens,
        cache_read_tokens=cached,
        cache_write_tokens=prompt.cache_write_tokens,
        reasoning_tokens=completion.reasoning_tokens,
        extra={NAME: extra} if extra else {},
    )


_NO_DETAILS = TokenDetailsWire()


def _extra(wire: UsageWire, prompt: TokenDetailsWire, completion: TokenDetailsWire) -> dict[str, Any]:
    """The members that are no count of ours, and a total that is not the sum of its parts."""
    extra = _members(wire, OTHER_MEMBERS)
    if wire.total_tokens is not None and wire.total_tokens != _total(wire):
        extra["total_tokens"] = wire.total_tokens
    if extra and prompt.cached_tokens is not None and any(name in extra for name in CACHED_NAMES):
        extra["prompt_tokens_details"] = {"cached_tokens": prompt.cached_tokens}
    for name, details in (("prompt_tokens_details", prompt), ("completion_tokens_details", completion)):
        members = _members(details, DETAIL_MEMBERS)
        if members:
            extra[name] = {**extra.get(name, {}), **members}
    return extra


DETAIL_MEMBERS = (
    "audio_tokens", "text_tokens", "image_tokens", "video_tokens",
    "accepted_prediction_tokens", "rejected_prediction_tokens",
)  # fmt: skip


def _members(wire: WireStruct, names: tuple[str, ...]) -> dict[str, Any]:
    said = {name: value for name in names if (value := getattr(wire, name)) is not None}
    return {**said, **wire.extra} if wire.extra else said


def _total(wire: UsageWire) -> int | None:
    """Input and output together; None when one of them is unknown."""
    if wire.prompt_tokens is None or wire.completion_tokens is None:
        return None
    return wire.prompt_tokens + wire.completion_tokens


def encode_usage(usage: Usage, changes: Changes) -> UsageWire:
    """The counts on the wire; unknown ones are 0, since clients insist on numbers, and an entry says so."""
    if usage.input_tokens is None or usage.output_tokens is None:
        changes.add("parameter_added", "/usage", "told as 0, since nobody counted them")
    extra = usage.extra.get(NAME, {})
    renamed = any(name in extra for name in CACHED_NAMES)
    cached = None if renamed else usage.cache_read_tokens
    wire = UsageWire(
        prompt_tokens=usage.input_tokens or 0,
        completion_tokens=usage.output_tokens or 0,
        total_tokens=(usage.input_tokens or 0) + (usage.output_tokens or 0),
    )
    if cached is not None or usage.cache_write_tokens is not None or "prompt_tokens_details" in extra:
        wire.prompt_tokens_details = TokenDetailsWire(cached_tokens=cached, cache_write_tokens=usage.cache_write_tokens)
    if usage.reasoning_tokens is not None or "completion_tokens_details" in extra:
        wire.completion_tokens_details = TokenDetailsWire(reasoning_tokens=usage.reasoning_tokens)
    if extra:
        merge_members(wire, extra)
    return wire
