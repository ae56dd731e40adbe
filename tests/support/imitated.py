"""The dialects whose services are imitated strictly, which laws about faults, other spellings and cost go through."""

from __future__ import annotations

from interlingua.dialects.table import DIALECTS
from interlingua.testing.upstream.door import DOORS

__all__ = ["IMITATED"]

IMITATED = tuple([name for name in DIALECTS if name in DOORS])
"""Those of the table that have an imitation, in its order."""
