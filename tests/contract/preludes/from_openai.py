"""What `docs/guides/from-openai.md` takes for granted."""

from __future__ import annotations

from interlingua.testing import tool_call

REPLIES = [
    "Oslo is small and green.",
    "Once upon a time.",
    "Bergen is rainy.",
    tool_call("get_weather", city="Oslo"),
    "It is 4 degrees.",
    '{"name": "fair", "day": "Friday"}',
]
"""The script of the fake model."""
