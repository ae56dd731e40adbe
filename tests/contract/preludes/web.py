"""What `docs/guides/web.md` takes for granted."""

from __future__ import annotations

from interlingua.testing import tool_call

CALL = tool_call("get_weather", city="Oslo")
REPLIES = ["Hi there.", CALL, "It is cold in Oslo.", CALL, "Hi again."]
"""The script of the fake model."""
