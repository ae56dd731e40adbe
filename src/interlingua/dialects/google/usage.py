"""Token counts, both ways: the wire counts thoughts beside the candidates, and what tools added beside the prompt.

Rules
- An answer that wrote nothing says so by leaving the count out.
- What has no canonical count (modalities, the class of traffic, a total that is no sum) stays in `extra`.
Loss: counts of what was written to a cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import merge_members, passing, plain
from interlingua.dialects.google.parts import NAME
from interlingua.dialects.google.wire import UsageWire
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from interlingua.types.change import Changes

__all__ = ["decode_usage", "encode_usage", "merge_counts", "note_uncounted", "uncounted"]

_other_members = passing(
    "toolUsePromptTokenCount", "promptTokensDetails", "candidatesTokensDetails", "cacheTokensDetails",
    "toolUsePromptTokensDetails", "serviceTier", "trafficType",
)  # fmt: skip
"""Reads the members that only pass through."""
_FIELDS = tuple(name for name in UsageWire.__struct_fields__ if name != "extra")


def merge_counts(first: UsageWire | None, later: UsageWire) -> UsageWire:
    """The counts of a frame over those of the frames before it, which they repeat."""
    # Whether every count of `first` is told again is spelt out, since it is asked for every frame.
    if first is None or (
        first.extra is None
        and first.serviceTier is first.trafficType is first.cacheTokensDetails is None
        and first.toolUsePromptTokenCount is first.toolUsePromptTokensDetails is None
        and (first.promptTokenCount is None or later.promptTokenCount is not None)
        and (first.totalTokenCount is None or later.totalTokenCount is not None)
        and (first.candidatesTokenCount is None or later.candidatesTokenCount is not None)
        and (first.thoughtsTokenCount is None or later.thoughtsTokenCount is not None)
        and (first.cachedContentTokenCount is None or later.cachedContentTokenCount is not None)
        and (first.promptTokensDetails is None or later.promptTokensDetails is not None)
        and (first.candidatesTokensDetails is None or later.candidatesTokensDetails is not None)
    ):
        return later
    for name in _FIELDS:
        value = getattr(later, name)
        if value is not None:
            setattr(first, name, value)
    if later.extra:
        merge_members(first, later.extra)
    return first


def decode_usage(wire: UsageWire) -> Usage | None:
    """The counts of an answer; None when it has none. An answer with a prompt and nothing else wrote 0 tokens."""
    input_tokens = _sum(wire.promptTokenCount, wire.toolUsePromptTokenCount)
    output = _sum(wire.candidatesTokenCount, wire.thoughtsTokenCount)
    if output is None:
        if input_tokens is None:
            return None
        output = 0
    extra = _other_members(wire)
    if wire.totalTokenCount not in (None, (input_tokens or 0) + output):
        extra["totalTokenCount"] = wire.totalTokenCount
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output,
        cache_read_tokens=wire.cachedContentTokenCount,
        reasoning_tokens=wire.thoughtsTokenCount,
        extra={NAME: extra} if extra else {},
    )


def uncounted(wire: UsageWire | None) -> dict[str, Any]:
    """The members in the place of counts that count nothing, as a member of the answer."""
    return {} if wire is None or decode_usage(wire) is not None else {"usageMetadata": plain(wire)}


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


def note_uncounted(usage: Usage, changes: Changes) -> None:
    """An entry for what was written to a cache."""
    if usage.cache_write_tokens is not None:
        changes.add("parameter_unsupported", "/usage/cache_write_tokens", "the dialect counts no cache writes")


def encode_usage(usage: Usage, changes: Changes) -> UsageWire:
    """The counts on the wire, which knows none of what was written to a cache."""
    note_uncounted(usage, changes)
    extra = usage.extra.get(NAME, {})
    by_tools = extra.get("toolUsePromptTokenCount")
    read, output, thoughts = usage.input_tokens, usage.output_tokens, usage.reasoning_tokens
    wire = UsageWire(
        promptTokenCount=None if read is None else read - (by_tools if type(by_tools) is int else 0),
        candidatesTokenCount=None if output is None else output - (thoughts or 0),
        thoughtsTokenCount=thoughts,
        cachedContentTokenCount=usage.cache_read_tokens,
    )
    if output is None and read is not None:
        changes.add("parameter_added", "/usage/output_tokens", "sent as 0, which is what the dialect leaves out")
    if read is not None or output is not None:
        wire.totalTokenCount = (read or 0) + (output or 0)
    if extra:
        merge_members(wire, extra)
    return wire
