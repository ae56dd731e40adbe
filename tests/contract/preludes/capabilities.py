"""What `docs/guides/capabilities.md` takes for granted."""

from __future__ import annotations

from pathlib import Path

import interlingua as il
from tests.support.tiny import PNG

Path("picture.png").write_bytes(PNG)

_ANSWER = "A red dot."
REPLIES: list[str | il.Error] = [_ANSWER] * 6
"""The script of the fake model."""
