"""Our own HTTP format in both roles: for programs that want one format and no vendor's.

Both roles are loaded when they are used; with the dialect come the facts beside its bodies alone.
"""

from __future__ import annotations

from interlingua.dialects._late import late_dialect
from interlingua.dialects.unified.service import SERVICE

__all__ = ["DIALECT"]

DIALECT = late_dialect(
    "unified",
    __name__,
    SERVICE,
    stream_decoder="UnifiedStreamDecoder",
    stream_encoder="UnifiedStreamEncoder",
)
