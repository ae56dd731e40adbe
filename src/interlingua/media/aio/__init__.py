"""The awaited twin of `media.fetch`."""

from __future__ import annotations

__all__: list[str] = []
