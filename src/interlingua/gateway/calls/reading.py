"""Bodies of clients that are read without a dialect: what is wrong with them is the client's fault."""

from __future__ import annotations

from typing import Any, cast

from interlingua.errors import DecodeError
from interlingua.wire.json import decode_any

__all__ = ["is_plain", "read_object"]

_ESCAPED_LETTER = b"\\u006"
"""How an escape of each of the letters of `model` begins."""


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


def is_plain(body: bytes, member: str) -> bool:
    r"""Whether a member of an object can be found in its text by its name: it stands there once, and nowhere escaped.

    Elsewhere the name may be spelled with escapes (`mod\u0065l`), so that what is found is another member's, or one
    deeper down: what was read and what would be sent on then were not the same.
    """
    return body.count(b'"%s"' % member.encode()) == 1 and _ESCAPED_LETTER not in body
