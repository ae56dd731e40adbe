"""Ollama's own API, `/api/chat` and `/api/generate`, in both roles.

The client's whole requests and replies are loaded with the dialect; streams and the server role when they are used.
"""

from __future__ import annotations

from interlingua.dialects._contract import Dialect
from interlingua.dialects._late import late
from interlingua.dialects.ollama.client import decode_error, decode_response, encode_request
from interlingua.dialects.ollama.parts import NAME

__all__ = ["DIALECT"]

DIALECT = Dialect(
    name=NAME,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder=late("interlingua.dialects.ollama.client_stream", "OllamaStreamDecoder"),
    decode_request=late("interlingua.dialects.ollama.server", "decode_request"),
    encode_response=late("interlingua.dialects.ollama.server", "encode_response"),
    encode_error=late("interlingua.dialects.ollama.server", "encode_error"),
    stream_encoder=late("interlingua.dialects.ollama.server_stream", "OllamaStreamEncoder"),
    normal_form=late("interlingua.dialects.ollama.normal", "normal_form"),
)
