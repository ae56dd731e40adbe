"""OpenAI Chat Completions and the servers compatible with it, in both roles.

Both roles are loaded when they are used; with the dialect come the facts beside its bodies alone.
"""

from __future__ import annotations

from interlingua.dialects._late import late_dialect
from interlingua.dialects.openai_chat.service import SERVICE

__all__ = ["DIALECT"]

DIALECT = late_dialect(
    "openai-chat",
    __name__,
    SERVICE,
    stream_decoder="ChatStreamDecoder",
    stream_encoder="ChatStreamEncoder",
)
