"""OpenAI Chat Completions and the servers compatible with it, in both roles.

The client's whole requests and replies are loaded with the dialect; streams and the server role when they are used.
"""

from __future__ import annotations

from interlingua.dialects._late import late_dialect
from interlingua.dialects.openai_chat.client import decode_error, decode_response, encode_request
from interlingua.dialects.openai_chat.parts import NAME

__all__ = ["DIALECT"]

DIALECT = late_dialect(
    NAME,
    __name__,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder="ChatStreamDecoder",
    stream_encoder="ChatStreamEncoder",
)
