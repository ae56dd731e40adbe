"""The state of a provider's own rate limits, as it reports it."""

from __future__ import annotations

import msgspec

__all__ = ["RateLimit"]


class RateLimit(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, kw_only=True):
    """One limit, as the headers of an answer tell it; None is not said."""

    limit: int | None = None
    """How much is allowed in one period."""
    remaining: int | None = None
    """How much of it is left."""
    reset_s: float | None = None
    """Seconds until all of it is there again."""
