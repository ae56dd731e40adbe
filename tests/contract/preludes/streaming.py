"""What `docs/guides/streaming.md` takes for granted."""

from __future__ import annotations

import interlingua as il
from interlingua.testing import tool_call

REPLIES = [
    "Once upon a time.",
    tool_call("get_weather", city="Oslo"),
    il.IncompleteStreamError("cut", partial=il.Response(parts=(il.TextPart("Once"),))),
    "Once upon a time there was a very long story.",
    "Once.",
    "Once upon a time.",
]
"""The script of the fake model."""
