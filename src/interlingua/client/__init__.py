"""Models to talk to: `core` is the logic of a call without I/O, `pump` drives it, `model` and `aio` are the faces.

`options`, `prompt` and `output` turn what callers give into one strict request; `plan` explains instead of sending.
"""

from __future__ import annotations

__all__: list[str] = []
