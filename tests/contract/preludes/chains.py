"""What `docs/guides/chains.md` takes for granted."""

from __future__ import annotations

import interlingua as il

BUSY = il.OverloadedError("Busy.", status=529)

REPLIES = [
    BUSY,
    BUSY,
    BUSY,
    "Oslo lies on a fjord.",
    il.AuthenticationError("No such key.", status=401),
    il.NotFoundError("No such model.", status=404),
    "Hello.",
    "Hello.",
]
"""The script of the fake model."""
