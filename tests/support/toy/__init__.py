"""A dialect that no vendor has, in both roles: a contract test adds it to a copy of the package.

A request is `{"model": …, "lines": [{"by": "user", "words": …}]}`, an answer `{"words": …, "why": "done"}`.
"""

from __future__ import annotations

from interlingua.dialects._late import late_dialect
from tests.support.toy.service import SERVICE

__all__ = ["DIALECT"]

DIALECT = late_dialect("toy", __name__, SERVICE, stream_decoder="ToyDecoder", stream_encoder="ToyEncoder")
