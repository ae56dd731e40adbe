"""OpenAI Responses and the servers compatible with it, in both roles.

The client's whole requests and replies are loaded with the dialect; streams and the server role when they are used.
"""

from __future__ import annotations

from interlingua.dialects._contract import Dialect
from interlingua.dialects._late import late
from interlingua.dialects.openai_responses.client import decode_error, decode_response, encode_request
from interlingua.dialects.openai_responses.parts import NAME

__all__ = ["DIALECT"]

DIALECT = Dialect(
    name=NAME,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder=late("interlingua.dialects.openai_responses.client_stream", "ResponsesStreamDecoder"),
    decode_request=late("interlingua.dialects.openai_responses.server", "decode_request"),
    encode_response=late("interlingua.dialects.openai_responses.server", "encode_response"),
    encode_error=late("interlingua.dialects.openai_responses.server", "encode_error"),
    stream_encoder=late("interlingua.dialects.openai_responses.server_stream", "ResponsesStreamEncoder"),
    normal_form=late("interlingua.dialects.openai_responses.normal", "normal_form"),
)
