"""Bodies of clients, read once each: by the rules of their dialect, or as plain values where nobody has a dialect.

What is wrong with a body is the client's fault: every error has the status 400.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from interlingua.dialects._shapes import SHAPES
from interlingua.dialects.table import DIALECTS, get_service
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.gateway.offload.cost import is_cheap
from interlingua.wire.body import body_rules, read_body

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayRequest
    from interlingua.wire.body import Body, BodyRules
    from interlingua.wire.json import WireStruct

__all__ = [
    "MAX_MODEL_CHARACTERS",
    "PASSED_RULES",
    "body_of",
    "checked_model",
    "read_object",
    "read_request",
    "rules_of",
]

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
