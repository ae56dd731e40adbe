"""OpenAI Chat Completions and the servers compatible with it, in both roles."""

from __future__ import annotations

from interlingua.dialects._contract import Dialect
from interlingua.dialects.openai_chat.client import decode_error, decode_response, encode_request
from interlingua.dialects.openai_chat.client_stream import ChatStreamDecoder
from interlingua.dialects.openai_chat.normal import normal_form
from interlingua.dialects.openai_chat.parts import NAME
from interlingua.dialects.openai_chat.server import decode_request, encode_error, encode_response
from interlingua.dialects.openai_chat.server_stream import ChatStreamEncoder

__all__ = ["DIALECT"]

DIALECT = Dialect(
    name=NAME,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder=ChatStreamDecoder,
    decode_request=decode_request,
    encode_response=encode_response,
    encode_error=encode_error,
    stream_encoder=ChatStreamEncoder,
    normal_form=normal_form,
)
