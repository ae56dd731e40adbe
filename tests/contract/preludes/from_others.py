"""What `docs/guides/from-others.md` takes for granted."""

from __future__ import annotations

REPLIES = ["Oslo is small and green.", "Bergen is rainy."]
"""The script of the fake model."""
