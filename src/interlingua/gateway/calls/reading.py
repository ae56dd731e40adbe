"""Bodies of clients that are read without a dialect: what is wrong with them is the client's fault."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from interlingua.dialects.table import DIALECTS
from interlingua.errors import DecodeError
from interlingua.wire.body import body_rules
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from interlingua.wire.body import BodyRules
    from interlingua.wire.json import WireStruct

__all__ = ["PASSED_RULES", "is_plain", "known_name", "pieces_of", "read_object", "rules_of", "spaced_pieces"]

_DATA = ("arguments", "env", "headers", "labels", "logit_bias", "logprobs", "metadata", "parameters", "schema")
"""Members whose inside is somebody else's in any dialect."""
_DATA_OF: dict[str, tuple[str, ...]] = {
    "openai-chat": ("reasoning_details",),
    "openai-responses": ("output_schema",),
    "anthropic": ("input", "input_schema", "input_examples"),
    "google": (
        *("args", "response", "parametersJsonSchema", "responseSchema", "responseJsonSchema"),
        *("parameters_json_schema", "response_schema", "response_json_schema"),
    ),
    "ollama": ("format",),
    "unified": ("input_schema", "output_schema", "extra"),
}
"""More of them, by dialect."""
PASSED_RULES: BodyRules = body_rules(("model",), _DATA)
"""The rules for bodies of which the name of the model alone is read."""


@cache
def rules_of(dialect: str) -> BodyRules:
    """How the request bodies of a dialect are read: the members it defines, and those that hold data."""
    wire: type[WireStruct] = import_module(f"{DIALECTS[dialect]}.wire").RequestWire
    return body_rules(wire.__struct_encode_fields__, (*_DATA, *_DATA_OF[dialect]))


LONGEST_NAME = 40
"""The longest name of a member whose text is remembered."""
_BEGINNING = 64
"""So much of a body tells how it is spaced."""
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


def spaced_pieces(members: Mapping[str, bytes], body: bytes) -> list[bytes] | None:
    """The pieces that a body is made of, as `pieces_of` gives them; None for one that is not written as usual.

    Where they are the body, each of its members is there once, and where it seems to be.
    """
    pieces = pieces_of(members, b" " if b'": ' in body[:_BEGINNING] else b"")
    return pieces if b"".join(pieces) == body else None


def pieces_of(members: Mapping[str, bytes], spaces: bytes = b"") -> list[bytes]:
    """An object of members that are JSON texts, four pieces each: what is before, name, colon, text.

    Clients put a space, or none, behind each colon and comma.
    """
    pieces: list[bytes] = []
    before, after = b"{", b":" + spaces
    for name, text in members.items():
        told = known_name(name) if len(name) <= LONGEST_NAME else encode(name)
        pieces += (before, told, after, text)
        before = b"," + spaces
    return [*pieces, b"}"] if pieces else [b"{}"]


known_name: Callable[[str], bytes] = lru_cache(maxsize=256)(encode)
"""A name as JSON text; they are the same again and again."""
