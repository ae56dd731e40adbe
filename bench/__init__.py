"""The numbers to reach, measured side by side in one run: `python -m bench [row…]`."""

from __future__ import annotations
