"""Google Gemini's generateContent and streamGenerateContent, in both roles; Vertex differs by quirks.

The client's whole requests and replies are loaded with the dialect; streams and the server role when they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._contract import Dialect
from interlingua.dialects.google.client import decode_error, decode_response, encode_request
from interlingua.dialects.google.parts import NAME

if TYPE_CHECKING:
    from interlingua.dialects._contract import (
        DecodeContext,
        DecodedRequest,
        DecodeOptions,
        ServerContext,
        StreamDecoder,
        StreamEncoder,
    )
    from interlingua.errors import Error
    from interlingua.types.response import Response
    from interlingua.wire.http import HttpReply, HttpRequest

__all__ = ["DIALECT"]


def _stream_decoder(context: DecodeContext) -> StreamDecoder:
    from interlingua.dialects.google.client_stream import GoogleStreamDecoder

    return GoogleStreamDecoder(context)


def _decode_request(request: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    from interlingua.dialects.google.server import decode_request

    return decode_request(request, options)


def _encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    from interlingua.dialects.google.server import encode_response

    return encode_response(response, context)


def _encode_error(error: Error, context: ServerContext) -> HttpReply:
    from interlingua.dialects.google.server import encode_error

    return encode_error(error, context)


def _stream_encoder(context: ServerContext) -> StreamEncoder:
    from interlingua.dialects.google.server_stream import GoogleStreamEncoder

    return GoogleStreamEncoder(context)


def _normal_form(kind: str, body: object) -> object:
    from interlingua.dialects.google.normal import normal_form

    return normal_form(kind, body)


DIALECT = Dialect(
    name=NAME,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder=_stream_decoder,
    decode_request=_decode_request,
    encode_response=_encode_response,
    encode_error=_encode_error,
    stream_encoder=_stream_encoder,
    normal_form=_normal_form,
)
