"""Whether a gateway takes requests, is about to end, or ends."""

from __future__ import annotations

import msgspec

__all__ = ["Lifecycle"]


class Lifecycle(msgspec.Struct):
    """The end of one gateway, which whoever serves it tells."""

    is_draining: bool = False
    """Whether it is about to end: what is under way is finished, and readiness says no."""
    is_ending: bool = False
    """Whether what is still under way is cut off: the time to finish is over."""
