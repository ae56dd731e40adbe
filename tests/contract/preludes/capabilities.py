"""What `docs/guides/capabilities.md` takes for granted."""

from __future__ import annotations

import interlingua as il
from tests.support.tiny import PNG

PICTURE = PNG

_ANSWER = "A red dot."
REPLIES: list[str | il.Error] = [_ANSWER] * 6
"""The script of the fake model."""
