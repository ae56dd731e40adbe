"""What `docs/guides/from-pydantic-ai.md` takes for granted."""

from __future__ import annotations

from interlingua.testing import tool_call

ADA = tool_call("balance", name="Ada")
ADVICE = '{"text": "12.50.", "block_card": false}'

REPLIES = [ADA, ADVICE, ADVICE, ADA, ADVICE]
"""The script of the fake model."""
