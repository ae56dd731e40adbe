"""Anthropic Messages, in both roles."""

from __future__ import annotations

from interlingua.dialects._contract import Dialect
from interlingua.dialects.anthropic.client import decode_error, decode_response, encode_request
from interlingua.dialects.anthropic.client_stream import MessagesStreamDecoder
from interlingua.dialects.anthropic.normal import normal_form
from interlingua.dialects.anthropic.parts import NAME
from interlingua.dialects.anthropic.server import decode_request, encode_error, encode_response
from interlingua.dialects.anthropic.server_stream import MessagesStreamEncoder

__all__ = ["DIALECT"]

DIALECT = Dialect(
    name=NAME,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder=MessagesStreamDecoder,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_error=encode_error,
    stream_encoder=MessagesStreamEncoder,
    normal_form=normal_form,
)
