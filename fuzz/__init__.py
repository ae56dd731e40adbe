"""Every decoder against random and mutated bytes: `python -m fuzz [--seconds N] [--seed N] [target…]`."""

from __future__ import annotations
