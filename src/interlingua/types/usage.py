"""Token counts under one convention: input includes cached, output includes reasoning, absent is None."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec

__all__ = ["MAX_COUNT", "Count", "Total", "Usage", "add_usage", "merge_usage"]

MAX_COUNT = 2**53
"""The most tokens, or billionths of a US dollar, that a count can be: what every reader of JSON has exactly."""
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]
"""A count on the wire that can be true."""
Total: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2 * MAX_COUNT)]
"""Such a count of input and output together."""

COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class Usage(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, kw_only=True):
    """Tokens of one or several answers."""

    input_tokens: int | None = None
    """Tokens read, cached ones included."""
    output_tokens: int | None = None
    """Tokens written, reasoning included."""
    cache_read_tokens: int | None = None
    """Of the input: read from the provider's prompt cache."""
    cache_write_tokens: int | None = None
    """Of the input: written to the provider's prompt cache."""
    reasoning_tokens: int | None = None
    """Of the output: spent on reasoning."""
    extra: dict[str, dict[str, Any]] = {}
    """Further counts, by dialect, as the provider names them."""

    if not TYPE_CHECKING:  # type checkers are to know what there is alone

        def __getattr__(self, name: str) -> Any:
            """Nothing: the error says what there is instead of another library's word."""
            from interlingua.types.words import no_attribute  # only who errs needs it

            no_attribute(self, name)

    @property
    def total_tokens(self) -> int | None:
        """Input and output together; None when one of them is unknown."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


def merge_usage(first: Usage | None, later: Usage) -> Usage:
    """`first` with every count that `later` knows put in its place: counts of one answer are cumulative."""
    if first is None:
        return later
    counts = {name: getattr(first, name) if (count := getattr(later, name)) is None else count for name in COUNTS}
    return Usage(**counts, extra={**first.extra, **later.extra})


def add_usage(first: Usage | None, second: Usage | None) -> Usage | None:
    """The counts of two answers together; a count that neither knows stays None."""
    if first is None or second is None:
        return first or second
    counts = {name: _sum(getattr(first, name), getattr(second, name)) for name in COUNTS}
    return Usage(**counts, extra={})


def _sum(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return first if second is None else second
    return first + second
