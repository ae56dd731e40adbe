"""What botocore's service model says of Converse bodies: the shapes that boto3 checks, sends and reads."""

from __future__ import annotations

import base64
from functools import cache
from importlib import import_module
from typing import Any, cast

from interlingua.testing.upstream.shapes import (
    Anything,
    Choice,
    Flag,
    Grammar,
    ListOf,
    MapOf,
    Member,
    Members,
    Named,
    Number,
    Shape,
    Text,
    Word,
)

__all__ = ["botocore", "converse_problems", "converse_shapes", "with_bytes"]


def botocore(module: str) -> Any:
    """A module of botocore, which has no types."""
    return import_module(f"botocore.{module}")


@cache
def _model() -> Any:
    found = botocore("loaders").Loader().load_service_model("bedrock-runtime", "service-2")
    return botocore("model").ServiceModel(found)


def converse_problems(shape: str, value: Any) -> list[str]:
    """What the shape of that name has against a value whose bytes are base64, as they are in JSON."""
    found = _model().shape_for(shape)
    report = botocore("validate").ParamValidator().validate(with_bytes(value, found), found)
    return report.generate_report().splitlines() if report.has_errors() else []


def converse_shapes() -> Grammar:
    """The shapes of a streamed request, by name, without what stands in its path."""
    shapes: dict[str, Shape] = {}
    _add_shape(shapes, _model().shape_for("ConverseStreamRequest"))
    return shapes


def _add_shape(shapes: dict[str, Shape], shape: Any) -> Shape:
    """The shape, in whose place a structure's name stands."""
    match shape.type_name:
        case "structure" if not shape.is_document_type:
            if shape.name not in shapes:
                shapes[shape.name] = Anything()
                required = () if shape.is_tagged_union else shape.required_members
                members = {
                    name: Member(_add_shape(shapes, member), name in required)
                    for name, member in shape.members.items()
                    if member.serialization.get("location") != "uri"
                }
                shapes[shape.name] = Members(shape.name, members, is_union=bool(shape.is_tagged_union))
            return Named(shape.name)
        case "list":
            return ListOf(_add_shape(shapes, shape.member))
        case "map":
            return MapOf(_add_shape(shapes, shape.value))
        case "string" if shape.enum:
            return Choice(tuple([Word(word) for word in shape.enum]))
        case kind:
            return PLAIN.get(kind, Anything())


PLAIN: dict[str, Shape] = {
    "string": Text(),
    "blob": Text(),
    "integer": Number(whole=True),
    "float": Number(),
    "boolean": Flag(),
}
"""Kinds of values that are no objects; a document is anything."""


def with_bytes(value: object, shape: Any) -> object:
    """A value as boto3 has it: bytes where the wire has base64."""
    if shape.type_name == "blob" and isinstance(value, str):
        return base64.b64decode(value, validate=True)
    if shape.type_name == "structure" and isinstance(value, dict) and not shape.is_document_type:
        given, known = cast("dict[str, object]", value), cast("dict[str, object]", shape.members)
        return {name: with_bytes(one, known[name]) if name in known else one for name, one in given.items()}
    if shape.type_name == "list" and isinstance(value, list):
        return [with_bytes(one, shape.member) for one in cast("list[object]", value)]
    return cast("object", value)
