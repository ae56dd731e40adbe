"""Routing: which target is asked, when, and how often."""

from __future__ import annotations

__all__: list[str] = []
