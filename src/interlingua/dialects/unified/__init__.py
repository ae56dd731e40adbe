"""Our own HTTP format in both roles: for programs that want one format and no vendor's.

The client's whole requests and replies are loaded with the dialect; streams and the server role when they are used.
"""

from __future__ import annotations

from interlingua.dialects._contract import Dialect
from interlingua.dialects._late import late
from interlingua.dialects.unified.client import decode_error, decode_response, encode_request
from interlingua.dialects.unified.parts import NAME

__all__ = ["DIALECT"]

DIALECT = Dialect(
    name=NAME,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder=late("interlingua.dialects.unified.client_stream", "UnifiedStreamDecoder"),
    decode_request=late("interlingua.dialects.unified.server", "decode_request"),
    encode_response=late("interlingua.dialects.unified.server", "encode_response"),
    encode_error=late("interlingua.dialects.unified.server", "encode_error"),
    stream_encoder=late("interlingua.dialects.unified.server_stream", "UnifiedStreamEncoder"),
    normal_form=late("interlingua.dialects.unified.normal", "normal_form"),
)
