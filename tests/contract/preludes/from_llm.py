"""What `docs/guides/from-llm.md` takes for granted."""

from __future__ import annotations

REPLIES = ["Oslo lies on a fjord.", "Bergen lies between hills."]
"""The script of the fake model."""
