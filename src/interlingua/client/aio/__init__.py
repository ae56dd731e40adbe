"""The awaited twins of what stands under the same names in `client`, `client.call` and `client.web`."""

from __future__ import annotations

__all__: list[str] = []
