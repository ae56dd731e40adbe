"""What `docs/guides/health.md` takes for granted."""

from __future__ import annotations

REPLIES = ["Oslo lies at the end of a fjord."]
"""The script of the fake model."""
