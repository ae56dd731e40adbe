"""Google Gemini's generateContent and streamGenerateContent, in both roles; Vertex differs by quirks.

Both roles are loaded when they are used; with the dialect come the facts beside its bodies alone.
"""

from __future__ import annotations

from interlingua.dialects._late import late_dialect
from interlingua.dialects.google.service import SERVICE

__all__ = ["DIALECT"]

DIALECT = late_dialect(
    "google",
    __name__,
    SERVICE,
    stream_decoder="GoogleStreamDecoder",
    stream_encoder="GoogleStreamEncoder",
)
