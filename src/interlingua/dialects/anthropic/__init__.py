"""Anthropic Messages, in both roles.

The client's whole requests and replies are loaded with the dialect; streams and the server role when they are used.
"""

from __future__ import annotations

from interlingua.dialects._contract import Dialect
from interlingua.dialects._late import late
from interlingua.dialects.anthropic.client import decode_error, decode_response, encode_request
from interlingua.dialects.anthropic.parts import NAME

__all__ = ["DIALECT"]

DIALECT = Dialect(
    name=NAME,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder=late("interlingua.dialects.anthropic.client_stream", "MessagesStreamDecoder"),
    decode_request=late("interlingua.dialects.anthropic.server", "decode_request"),
    encode_response=late("interlingua.dialects.anthropic.server", "encode_response"),
    encode_error=late("interlingua.dialects.anthropic.server", "encode_error"),
    stream_encoder=late("interlingua.dialects.anthropic.server_stream", "MessagesStreamEncoder"),
    normal_form=late("interlingua.dialects.anthropic.normal", "normal_form"),
)
