"""Models to talk to: `model`, `stream` and `map` are the blocking faces, `aio` holds the awaited ones.

`options` and `prompt` turn what callers give into one strict request, `call` asks it; `plan` only explains.
"""

from __future__ import annotations

__all__: list[str] = []
