"""Amazon Bedrock's Converse and ConverseStream, in both roles.

Both roles are loaded when they are used; with the dialect come the facts beside its bodies alone.
"""

from __future__ import annotations

from interlingua.dialects._late import late_dialect
from interlingua.dialects.bedrock.service import SERVICE

__all__ = ["DIALECT"]

DIALECT = late_dialect(
    "bedrock",
    __name__,
    SERVICE,
    stream_decoder="ConverseStreamDecoder",
    stream_encoder="ConverseStreamEncoder",
)
