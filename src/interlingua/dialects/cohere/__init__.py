"""Cohere's chat API, version 2, in both roles.

Both roles are loaded when they are used; with the dialect come the facts beside its bodies alone.
"""

from __future__ import annotations

from interlingua.dialects._late import late_dialect
from interlingua.dialects.cohere.service import SERVICE

__all__ = ["DIALECT"]

DIALECT = late_dialect(
    "cohere",
    __name__,
    SERVICE,
    stream_decoder="CohereStreamDecoder",
    stream_encoder="CohereStreamEncoder",
)
