"""Typed answers: a type becomes the schema that is asked for, the answer's text becomes a value of the type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from interlingua.errors import DecodeError, LimitExceededError, OutputError
from interlingua.schema.reflect import decode_output, schema_name_of, schema_of
from interlingua.types.content import RefusalPart

if TYPE_CHECKING:
    from interlingua.errors import OutputFault
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = ["asking", "with_output"]

T = TypeVar("T")


def asking(request: Request, kind: type[T] | Any) -> Request:
    """`request` with the schema of `kind`.

    Raises: SchemaError for a type that JSON has no place for.
    """
    name = request.schema_name or schema_name_of(kind)
    return msgspec.structs.replace(request, output_schema=schema_of(kind), schema_name=name)


def with_output(response: Response[Any], kind: type[T] | Any) -> Response[T]:
    """`response` with the value that its text holds; as it is, while it calls tools and says nothing yet.

    Raises: OutputError, with the response: `refused`, `truncated` by the length limit, or `invalid`.
    """
    text = response.text
    if response.tool_calls and not text.strip():
        return response
    if response.finish_reason in ("refusal", "content_filter") or _refuses(response):
        raise _error(response, "refused", f"the model refused ({response.finish_reason_raw or response.finish_reason})")
    try:
        return msgspec.structs.replace(response, output=decode_output(text, kind))
    except (DecodeError, LimitExceededError) as error:
        if response.finish_reason == "length":
            raise _error(response, "truncated", "the answer was cut by the length limit; raise max_tokens") from error
        raise _error(response, "invalid", error.message) from error


def _refuses(response: Response[Any]) -> bool:
    return any(type(part) is RefusalPart for part in response.parts)


def _error(response: Response[Any], fault: OutputFault, why: str) -> OutputError:
    name = "" if response.request is None else response.request.schema_name
    return OutputError(
        f"{response.model} gave no {name or 'output'}: {why}",
        fault=fault,
        response=response,
        attempts=response.attempts,
    )
