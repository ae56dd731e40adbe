"""Tools: functions and types as the model sees them, and the box that runs its calls."""

from __future__ import annotations

__all__: list[str] = []
