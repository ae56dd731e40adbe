"""Ollama's own API, `/api/chat` and `/api/generate`, in both roles.

Both roles are loaded when they are used; with the dialect come the facts beside its bodies alone.
"""

from __future__ import annotations

from interlingua.dialects._late import late_dialect
from interlingua.dialects.ollama.service import SERVICE

__all__ = ["DIALECT"]

DIALECT = late_dialect(
    "ollama",
    __name__,
    SERVICE,
    stream_decoder="OllamaStreamDecoder",
    stream_encoder="OllamaStreamEncoder",
)
