"""OpenAI Chat Completions and the servers compatible with it, in both roles.

The client's whole requests and replies are loaded with the dialect; streams and the server role when they are used.
"""

from __future__ import annotations

from interlingua.dialects._contract import Dialect
from interlingua.dialects._late import late
from interlingua.dialects.openai_chat.client import decode_error, decode_response, encode_request
from interlingua.dialects.openai_chat.parts import NAME

__all__ = ["DIALECT"]

DIALECT = Dialect(
    name=NAME,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder=late("interlingua.dialects.openai_chat.client_stream", "ChatStreamDecoder"),
    decode_request=late("interlingua.dialects.openai_chat.server", "decode_request"),
    encode_response=late("interlingua.dialects.openai_chat.server", "encode_response"),
    encode_error=late("interlingua.dialects.openai_chat.server", "encode_error"),
    stream_encoder=late("interlingua.dialects.openai_chat.server_stream", "ChatStreamEncoder"),
    normal_form=late("interlingua.dialects.openai_chat.normal", "normal_form"),
)
