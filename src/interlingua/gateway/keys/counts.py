"""Counts of tokens that can be true: what an upstream says is charged only as far as it can be so.

Rules
- A negative count says nothing, and is estimated like one that is absent. It never pays anything back.
- A count above the largest context of any model and the size of the request together is made up. Of the input it is
  estimated; of the output, of which some may be hidden, what the call had reserved is charged. It is said in the log.
  One above the reservation that can be true is charged:
  a provider may have ignored the cap, and bills for it.
- No output beside an answer is not believed, and is estimated. Of the input no more was cached than there was of it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MAX_CONTEXT_TOKENS", "Bounds", "sound_usage"]

MAX_CONTEXT_TOKENS = 10_000_000
"""More tokens than any model reads or writes in one answer."""
_WRITTEN = ("output_tokens", "reasoning_tokens")
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class Bounds(NamedTuple):
    """The possible counts of one call."""

    spec: str
    """The target that answered."""
    body_bytes: int
    """How large the request was; a token has a byte at least."""
    reserved_tokens: int
    """The tokens reserved for it; 0 for nothing."""
    has_content: bool = False
    """Whether something was answered, so that its output is not 0."""
    is_clamped: bool = False
    """Whether reading the answer left a count out, or clamped it."""


def sound_usage(usage: Usage, bounds: Bounds) -> Usage:
    """The counts that can be true; the very same usage where all of them can."""
    possible = _possible(usage, bounds)
    if bounds.is_clamped and possible is usage:
        _log(bounds.spec, ["a count below 0"])
    return _within_input(possible, bounds)


def _within_input(usage: Usage, bounds: Bounds) -> Usage:
    """The usage with no more cached than was read; the same one where it is so."""
    cached, stored = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    if usage.input_tokens is None or cached + stored <= usage.input_tokens:
        return usage
    _log(bounds.spec, ["cache_read_tokens", "cache_write_tokens"])
    read = min(cached, usage.input_tokens)
    return msgspec.structs.replace(
        usage, cache_read_tokens=read, cache_write_tokens=min(stored, usage.input_tokens - read)
    )


def _possible(usage: Usage, bounds: Bounds) -> Usage:
    """The usage without each count that is out of bounds alone; the same one where none is."""
    most = MAX_CONTEXT_TOKENS + bounds.body_bytes
    is_silent = bounds.has_content and usage.output_tokens == 0
    if not is_silent and (
        0 <= (usage.input_tokens or 0) <= most
        and 0 <= (usage.output_tokens or 0) <= most
        and 0 <= (usage.cache_read_tokens or 0) <= most
        and 0 <= (usage.cache_write_tokens or 0) <= most
        and 0 <= (usage.reasoning_tokens or 0) <= most
    ):
        return usage
    counts: dict[str, int | None] = {name: getattr(usage, name) for name in _COUNTS}
    bad = [name for name, count in counts.items() if count is not None and not 0 <= count <= most]
    bad += ["output_tokens"] if is_silent else []
    _log(bounds.spec, bad)
    for name in bad:
        is_huge_output = name in _WRITTEN and (counts[name] or 0) > 0
        counts[name] = (bounds.reserved_tokens or None) if is_huge_output else None
    return msgspec.structs.replace(usage, **counts)


def _log(spec: str, names: Iterable[str]) -> None:
    logging.getLogger("interlingua.gateway").warning(
        "%s counted tokens that cannot be true (%s); they are not charged as they are", spec, ", ".join(names)
    )
