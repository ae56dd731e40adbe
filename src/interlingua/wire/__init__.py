"""Framings and JSON: bytes to values and back, bounded, without I/O.

`json` parses and writes JSON, `sse` and `ndjson` cut streams into events, `http` holds requests and replies as values.
Nothing here knows a provider or a dialect.
"""

from __future__ import annotations

__all__: list[str] = []
