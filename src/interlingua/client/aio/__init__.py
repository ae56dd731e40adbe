"""The awaited twins of `client.pump`, `client.stream` and `client.model`."""

from __future__ import annotations

__all__: list[str] = []
