"""The price of tokens, and the sum that it makes of the counts of an answer.

Units: US dollars for a million tokens, and US dollars.

Rules
- The canonical input includes what was read from the prompt cache and written to it, so the input is taken apart into
  buckets that do not overlap, and each token is paid once.
- What is not known stays unknown: without both counts there is no sum, and never a 0 in its place.
- A kind of token without a price of its own costs what fresh input costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec

if TYPE_CHECKING:
    from interlingua.types.usage import Usage

__all__ = ["Price", "cost_usd"]

MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The price of a model's tokens."""

    input: float
    """Fresh input, US dollars for a million tokens."""
    output: float
    """Output, reasoning included."""
    cached: float | None = None
    """Input that was read from the prompt cache; None: as fresh input."""
    cache_write: float | None = None
    """Input that was written to the prompt cache; None: as fresh input."""
    cache_write_1h: float | None = None
    """Input that was written to the prompt cache for an hour; None: as other writes."""
    request: float = 0.0
    """US dollars for each request, on top of its tokens."""
    above: tuple[tuple[int, Price], ...] = ()
    """Prices of long prompts: more input tokens than this, and everything costs that; in ascending order."""


def cost_usd(price: Price, usage: Usage | None) -> float | None:
    """The cost of an answer, in US dollars; None when its tokens were not counted, or a count is below 0."""
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    for start, longer in price.above:
        if usage.input_tokens > start:
            price = longer
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    if min(usage.input_tokens, usage.output_tokens, read, written) < 0:
        return None
    # Of the tokens written to the cache, some are kept for an hour; one dialect tells them apart.
    creation = usage.extra.get("anthropic", {}).get("cache_creation")
    count = cast("dict[str, object]", creation).get("ephemeral_1h_input_tokens") if isinstance(creation, dict) else None
    hour = max(0, min(count, written)) if type(count) is int else 0
    write = price.input if price.cache_write is None else price.cache_write
    millionths = (
        max(0, usage.input_tokens - read - written) * price.input
        + read * (price.input if price.cached is None else price.cached)
        + (written - hour) * write
        + hour * (write if price.cache_write_1h is None else price.cache_write_1h)
        + usage.output_tokens * price.output
    )
    return millionths / MILLION + price.request
