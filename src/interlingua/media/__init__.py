"""Media: what bytes are, and parts of a message made of files, bytes and images in memory."""

from __future__ import annotations

__all__: list[str] = []
