"""OpenAI Responses and the servers compatible with it, in both roles.

Both roles are loaded when they are used; with the dialect come the facts beside its bodies alone.
"""

from __future__ import annotations

from interlingua.dialects._late import late_dialect
from interlingua.dialects.openai_responses.service import SERVICE

__all__ = ["DIALECT"]

DIALECT = late_dialect(
    "openai-responses",
    __name__,
    SERVICE,
    stream_decoder="ResponsesStreamDecoder",
    stream_encoder="ResponsesStreamEncoder",
)
