"""Google Gemini's generateContent and streamGenerateContent, in both roles; Vertex differs by quirks.

The client's whole requests and replies are loaded with the dialect; streams and the server role when they are used.
"""

from __future__ import annotations

from interlingua.dialects._contract import Dialect
from interlingua.dialects._late import late
from interlingua.dialects.google.client import decode_error, decode_response, encode_request
from interlingua.dialects.google.parts import NAME

__all__ = ["DIALECT"]

DIALECT = Dialect(
    name=NAME,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder=late("interlingua.dialects.google.client_stream", "GoogleStreamDecoder"),
    decode_request=late("interlingua.dialects.google.server", "decode_request"),
    encode_response=late("interlingua.dialects.google.server", "encode_response"),
    encode_error=late("interlingua.dialects.google.server", "encode_error"),
    stream_encoder=late("interlingua.dialects.google.server_stream", "GoogleStreamEncoder"),
    normal_form=late("interlingua.dialects.google.normal", "normal_form"),
)
