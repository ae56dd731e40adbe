"""Bodies of clients that are read without a dialect: what is wrong with them is the client's fault."""

from __future__ import annotations

from typing import Any, cast

from interlingua.errors import DecodeError
from interlingua.wire.json import decode_any

__all__ = ["read_object"]


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object that a body is.

    Raises: DecodeError with the status 400 for anything else; LimitExceededError.
    """
    try:
        value = decode_any(body)
    except DecodeError as error:
        error.status = 400
        raise
    if not isinstance(value, dict):
        raise DecodeError("the body is no JSON object", status=400)
    return cast("dict[str, Any]", value)
