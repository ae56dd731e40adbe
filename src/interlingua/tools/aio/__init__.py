"""The awaited twins of what tools wait for."""

from __future__ import annotations

__all__: list[str] = []
