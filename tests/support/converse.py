"""What botocore's service model says of Converse bodies: the shapes that boto3 checks, sends and reads."""

from __future__ import annotations

import base64
from functools import cache
from importlib import import_module
from typing import Any, cast

__all__ = ["botocore", "converse_problems", "with_bytes"]


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
