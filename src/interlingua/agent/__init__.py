"""Agents: a model and tools in a loop, until the work is done or a limit says stop.

`loop` is the whole logic as a generator of effects, without I/O; `run` drives it blocking, `aio` awaited.
"""

from __future__ import annotations

__all__: list[str] = []
