"""What `docs/guides/from-litellm.md` takes for granted."""

from __future__ import annotations

REPLIES = ["Oslo is small and green.", "Once upon a time.", "Hello.", "Bergen is rainy.", "Tromsø is dark."]
"""The script of the fake model."""
