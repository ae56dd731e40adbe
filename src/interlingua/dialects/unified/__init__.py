"""Our own HTTP format in both roles: for programs that want one format and no vendor's.

The client's whole requests and replies are loaded with the dialect; streams and the server role when they are used.
"""

from __future__ import annotations

from interlingua.dialects._late import late_dialect
from interlingua.dialects.unified.client import decode_error, decode_response, encode_request
from interlingua.dialects.unified.parts import NAME

__all__ = ["DIALECT"]

DIALECT = late_dialect(
    NAME,
    __name__,
    encode_request=encode_request,
    decode_response=decode_response,
    decode_error=decode_error,
    stream_decoder="UnifiedStreamDecoder",
    stream_encoder="UnifiedStreamEncoder",
)
