"""Bodies of clients: whether one is cheap to read on the event loop, and the one reading of each.

Rules
- What is wrong with a body is the client's fault, with the status 400 and the place.
- What costs is the number of values far more than the bytes: an object takes about 7 µs to be read, decoded and
  encoded, a megabyte of text 20 ms, and one of escapes 40 ms. So a cheap body takes 80 ms at most, and most of them a
  tenth of that (measured on one of two shared cores, November 2026; `fuzz/shapes.py` has the shapes).
- A bound of the number that is found at once is looked at first. Only where it is beyond, as with program text, what
  stands in strings is left out of the count.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from interlingua.dialects._shapes import SHAPES
from interlingua.dialects.table import DIALECTS, get_service
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire.body import body_rules, read_body

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayRequest
    from interlingua.wire.body import Body, BodyRules
    from interlingua.wire.json import WireStruct

__all__ = [
    "CHEAP_BYTES",
    "MAX_CONTAINERS",
    "MAX_MODEL_CHARACTERS",
    "MAX_VALUES",
    "PASSED_RULES",
    "body_at_hand",
    "body_of",
    "check_values",
    "checked_model",
    "is_cheap",
    "read_object",
    "read_request",
    "rules_of",
]

CHEAP_BYTES = 65_536
"""Whatever is in a body of that size, it is cheap."""
_MOST_BYTES = 2_097_152
"""A larger body is never cheap."""
_CHEAP_CONTAINERS = 6_000
_CHEAP_VALUES = 100_000
_CHEAP_STRINGS = 50_000
_CHEAP_HALVES = 10_000
"""Halves of surrogate pairs: each that has lost the other one costs 2 µs."""
MAX_CONTAINERS = 50_000
"""How many objects and arrays a body may hold."""
MAX_VALUES = 400_000
"""How many values it may hold, all levels together."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A string, or what is left of one that does not end."""


def is_cheap(body: bytes) -> bool:
    """Whether a body can be read, decoded and encoded on the event loop."""
    if len(body) <= CHEAP_BYTES:
        return True
    if len(body) > _MOST_BYTES:
        return False
    if body.count(b"\\ud") + body.count(b"\\uD") > _CHEAP_HALVES:
        return False
    if _holds(body, _CHEAP_CONTAINERS, _CHEAP_VALUES):
        return True
    strings = (body.count(b'"') - body.count(b'\\"')) // 2
    return strings <= _CHEAP_STRINGS and _holds(_bare(body), _CHEAP_CONTAINERS, _CHEAP_VALUES)


def check_values(body: bytes) -> None:
    """Nothing, for a body within the bounds on its values; what is no JSON may count as anything.

    Raises: LimitExceededError with the status 400.
    """
    if not (_holds(body, MAX_CONTAINERS, MAX_VALUES) or _holds(_bare(body), MAX_CONTAINERS, MAX_VALUES)):
        raise LimitExceededError(
            f"the body holds more than {MAX_CONTAINERS:,} objects and arrays, or {MAX_VALUES:,} values", status=400
        )


def _holds(text: bytes, containers: int, values: int) -> bool:
    """Whether there are no more of them, as far as it shows from commas and brackets."""
    return text.count(b"{") + text.count(b"[") <= containers and text.count(b",") <= values


def _bare(body: bytes) -> bytes:
    """The bytes outside of strings."""
    return _STRING.sub(b"", body)


# One reading


MAX_MODEL_CHARACTERS = 1_024
"""How long the name of a model may be, a chain included."""
_DATA = ("arguments", "env", "headers", "labels", "logit_bias", "logprobs", "metadata", "parameters", "schema")
"""Members whose inside is somebody else's in any dialect."""
PASSED_RULES: BodyRules = body_rules(("model",), _DATA)
"""The rules for bodies of which the name of the model alone is read."""


@cache
def rules_of(dialect: str) -> BodyRules:
    """How the request bodies of a dialect are read: the members it defines, those that hold data, and usual forms."""
    wire: type[WireStruct] = import_module(f"{DIALECTS[dialect]}.wire").RequestWire
    shapes = {name: shape.kind for name, shape in SHAPES.get(dialect, {}).items()}
    return body_rules(wire.__struct_encode_fields__, (*_DATA, *get_service(dialect).data), shapes)


def read_request(body: bytes, dialect: str) -> Body:
    """The body of a request in a dialect; of any other request where that is empty.

    Raises: DecodeError, LimitExceededError with the status 400, and the place of what is ambiguous.
    """
    return read_body(body, rules_of(dialect) if dialect else PASSED_RULES)


def body_of(request: GatewayRequest, dialect: str) -> Body:
    """The body of a request in a dialect, read once.

    Raises: as `read_request`.
    """
    return read_request(request.body, dialect) if request.read is None else request.read


def body_at_hand(request: GatewayRequest, dialect: str) -> Body | None:
    """The body of a request in a dialect, if it was read before or is cheap; None for one to be read elsewhere.

    Raises: as `read_request`.
    """
    return body_of(request, dialect) if request.read is not None or is_cheap(request.body) else None


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object that a body is, on a route that takes no conversation.

    Raises: as `read_request`, and LimitExceededError with the status 413 for a body that would take long.
    """
    if not is_cheap(body):
        raise LimitExceededError("the body is too large, or holds too many values, for this path", status=413)
    return read_body(body).value


def checked_model(name: str) -> str:
    """The name of a model, which is short enough to be looked up and remembered.

    Raises: DecodeError with the status 400.
    """
    if len(name) > MAX_MODEL_CHARACTERS:
        raise DecodeError(f"/model: a name has at most {MAX_MODEL_CHARACTERS} characters", path="/model", status=400)
    return name
