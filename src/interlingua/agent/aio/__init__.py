"""The awaited twins of `agent.run` and `agent.agent`."""

from __future__ import annotations

__all__: list[str] = []
