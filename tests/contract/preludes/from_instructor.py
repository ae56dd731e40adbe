"""What `docs/guides/from-instructor.md` takes for granted."""

from __future__ import annotations

REPLIES = [
    '{"number": "7"}',
    '{"number": "7", "total": 12.5}',
    "I cannot read it.",
    '{"value": [{"number": "7", "total": 12.5}, {"number": "8", "total": 3}]}',
    '{"value": "good"}',
    '{"number": "9", "total": 4}',
]
"""The script of the fake model."""
