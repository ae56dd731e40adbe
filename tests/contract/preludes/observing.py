"""What `docs/guides/observing.md` takes for granted."""

from __future__ import annotations

REPLIES = "Hello."
"""What the fake model says to everything."""
