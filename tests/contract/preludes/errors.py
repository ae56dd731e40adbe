"""What `docs/guides/errors.md` takes for granted."""

from __future__ import annotations

import interlingua as il

REPLIES = [
    il.RateLimitError("Slow down.", status=429, retry_after_s=2.0),
    il.OverloadedError("Busy.", status=503),
    il.OverloadedError("Busy.", status=503),
    "Hello.",
    "Hello.",
    "Hello.",
]
"""The script of the fake model."""
