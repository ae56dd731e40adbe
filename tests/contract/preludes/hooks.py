"""What `docs/guides/hooks.md` takes for granted."""

from __future__ import annotations

REPLIES = "Done."
"""What the fake model says to everything."""
