"""What `docs/guides/conversations.md` takes for granted."""

from __future__ import annotations

REPLIES = [
    "Oslo.", "Bergen.", "Oslo is larger.", "Oslo is by far the larger one.", "Not for Oslo.", "Gladly.",
    "Oslo.", "Stockholm.", "Everybody.", "4 °C.", "Oslo.", "Oslo.", "Stockholm.",
]  # fmt: skip
"""The script of the fake model."""
