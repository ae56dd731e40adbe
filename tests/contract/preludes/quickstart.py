"""What `docs/guides/quickstart.md` takes for granted."""

from __future__ import annotations

from pathlib import Path

from interlingua.testing import tool_call
from tests.support.tiny import PNG

REPLIES = [
    "Oslo is small and green.",
    "Bergen is rainy.",
    tool_call("get_weather", city="Oslo"),
    "It is 4 degrees.",
    '{"name": "Oslo", "inhabitants": 717710}',
    "A cat.",
    "Tromsø is dark.",
]
"""The script of the fake model."""

Path("photo.png").write_bytes(PNG)
