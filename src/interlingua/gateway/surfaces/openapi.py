"""The OpenAPI description of the gateway, made of its table of routes and of what its dialects write.

Rules
- Every route is described, and nothing else: the description cannot be ahead of the gateway or behind it.
- The shape of an error is that of an error which the dialect has written, whole and with nothing invented.
- Of a body that asks a model only what the gateway itself needs is described; the dialect's owner describes the rest.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from interlingua.dialects.table import DEFAULT_DIALECT, DIALECTS, get_service, services, stream_type
from interlingua.errors import BadRequestError, RateLimitError
from interlingua.gateway.calls.reading import MAX_MODEL_CHARACTERS
from interlingua.gateway.calls.replies import error_reply
from interlingua.gateway.http import GatewayReply
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from interlingua.dialects._service import Service
    from interlingua.gateway.routes import Route

__all__ = ["BY_HEADERS", "describe", "openapi"]

Schema: TypeAlias = dict[str, Any]
_NAMED = re.compile(r"\{(\w+)(?::path)?\}")
_MODEL: Schema = {"type": "string", "minLength": 1, "maxLength": MAX_MODEL_CHARACTERS}
BY_HEADERS = (DEFAULT_DIALECT, *[name for name, service in services().items() if service.header])
"""The dialects of routes whose clients are told apart by their headers."""
_KEYS: Schema = {
    "bearer": {"type": "http", "scheme": "bearer"},
    **{name: {"type": "apiKey", "in": "header", "name": name} for name in ("x-api-key", "api-key", "x-goog-api-key")},
}


async def openapi() -> GatewayReply:
    """The description of everything that can be asked here."""
    return GatewayReply(headers=(("content-type", "application/json"),), body=_written())


@cache
def _written() -> bytes:
    from interlingua.gateway.routes import ROUTES  # the table holds this room, too

    return encode(describe(tuple(ROUTES)))


def describe(routes: tuple[Route, ...]) -> Schema:
    """The OpenAPI 3.1 description of routes."""
    paths: dict[str, Schema] = {}
    for route in routes:
        paths.setdefault(_NAMED.sub(r"{\1}", route.pattern), {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "interlingua gateway", "version": "1"},
        "security": [{name: []} for name in _KEYS],
        "paths": dict(sorted(paths.items())),
        "components": {
            "securitySchemes": _KEYS,
            "schemas": {
                **{_error(name): _error_shape(name) for name in DIALECTS},
                **{_request(name): _asked_shape(service) for name, service in services().items()},
            },
        },
    }


def _operation(route: Route) -> Schema:
    pattern = _NAMED.sub(r"{\1}", route.pattern)
    words = re.findall(r"[A-Za-z0-9]+", pattern)
    operation: Schema = {
        "operationId": "_".join([route.method.lower(), *words]),
        "tags": [route.dialect or "by headers"],
    }
    if names := _NAMED.findall(route.pattern):
        text = {"type": "string", "minLength": 1}
        operation["parameters"] = [{"in": "path", "name": name, "required": True, "schema": text} for name in names]
    if route.method in ("POST", "PUT", "PATCH"):
        if _asks(route):
            content = _json({"$ref": f"#/components/schemas/{_request(route.dialect)}"})
            operation["requestBody"] = {"required": True, "content": content}
        else:
            content = _json({"type": "object"})
            if route.kind == "passed":
                content["multipart/form-data"] = {"schema": {"type": "object"}}
            operation["requestBody"] = {"content": content}
    if route.is_open:
        operation["security"] = []
    errors: list[Schema] = [
        {"$ref": f"#/components/schemas/{_error(name)}"} for name in ((route.dialect,) if route.dialect else BY_HEADERS)
    ]
    failure = {"description": "An error.", "content": _json(errors[0] if len(errors) == 1 else {"anyOf": errors})}
    answer: Schema
    if route.method == "HEAD":
        answer = {"description": "There is something."}
    elif not _asks(route):
        answer = {"description": "What was asked for.", "content": {"*/*": {}}}
    else:
        kinds: Schema = {"application/json": {}, stream_type(route.dialect): {}}
        answer = {"description": "An answer, whole or as a stream.", "content": kinds}
    return operation | {"responses": {"2XX": answer, "default": failure}}


def _asks(route: Route) -> bool:
    """Whether a model is asked under a path, in the usual body of the dialect."""
    return route.kind == "conversation" or (
        route.kind == "load" and route.pattern == get_service(route.dialect).asked_at
    )


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


# Shapes


def _error(dialect: str) -> str:
    return f"Error.{dialect}"


def _request(dialect: str) -> str:
    return f"Request.{dialect}"


def _asked_shape(service: Service) -> Schema:
    """The members that the gateway needs of a body that asks a model."""
    stream: Schema = {"stream": {"type": "boolean"}}
    members = service.needs if service.model_in_path else {"model": _MODEL, **service.needs}
    optional = {} if service.model_in_path else stream
    return {"type": "object", "required": list(members), "properties": members | optional}


def _error_shape(dialect: str) -> Schema:
    """The shape that two errors of the dialect have in common."""
    bodies = [error_reply(dialect, error).body for error in (BadRequestError("x"), RateLimitError("x", status=429))]
    return _common(*[_shape(decode_any(body)) for body in bodies if isinstance(body, bytes)])


def _shape(value: object) -> Schema:
    match value:
        case dict():
            members = {name: _shape(member) for name, member in cast("dict[str, object]", value).items()}
            return {"type": "object", "required": list(members), "properties": members}
        case str():
            return {"type": "string"}
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "number"}
        case _:
            return {}


def _common(one: Schema, other: Schema) -> Schema:
    if one.get("type") != other.get("type"):
        return {}
    if one.get("type") != "object":
        return one
    names = [name for name in one["properties"] if name in other["properties"]]
    members = {name: _common(one["properties"][name], other["properties"][name]) for name in names}
    return {"type": "object", "required": names, "properties": members}
