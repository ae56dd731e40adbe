"""Operations that a provider has at another path than the dialect, or with other members at the top of the body."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec.structs import replace

from interlingua.wire.body import edited_body, read_body
from interlingua.wire.json import encode_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Encoded
    from interlingua.providers.row import Operation, Provider

__all__ = ["as_served", "operation_at", "operation_body", "operation_path"]


def operation_at(operations: Sequence[Operation], path: str) -> Operation | None:
    """The operation that a provider has in place of the dialect's at a path; None where it has the dialect's own."""
    bare = path.partition("?")[0]
    return next((operation for operation in operations if operation.path == bare), None)


def operation_path(operation: Operation, path: str, model: str, *, stream: bool) -> str:
    """The path behind the base URL, with the query of the dialect's path."""
    pattern = (stream and operation.streamed_to) or operation.to
    _, mark, query = path.partition("?")
    return f"{pattern.replace('{model}', quote(model, safe=SAFE))}{mark}{query}"


SAFE = "@-._~:"
"""Characters that stay in a segment of a path: names of models have them, and a colon is no end of one there."""


def as_served(row: Provider, encoded: Encoded, model: str, *, stream: bool) -> Encoded:
    """The encoded body of a dialect, with the path, the body and the headers that a provider wants."""
    headers = tuple([pair for pair in encoded.headers if pair[0] not in row.headers_left_out])
    operation = operation_at(row.operations, encoded.path)
    if operation is None:
        return replace(encoded, headers=headers)
    path = operation_path(operation, encoded.path, model, stream=stream)
    return replace(encoded, path=path, body=operation_body(operation, encoded.body), headers=headers)


def operation_body(operation: Operation, body: bytes) -> bytes:
    """The body with the members that the provider wants; every other byte stays.

    Raises: DecodeError, with the status 400, for a body that is no JSON object.
    """
    if not operation.left_out and not operation.added:
        return body
    parsed = read_body(body)
    edits: dict[str, bytes | None] = {name: None for name in operation.left_out if name in parsed}
    edits |= {name: encode_text(text) for name, text in operation.added if name not in parsed}
    return edited_body(parsed, edits) if edits else body
