"""A limit of tokens that nothing else in a request contradicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects._members import is_object
from interlingua.dialects.table import DIALECTS, get_service

if TYPE_CHECKING:
    from interlingua.types.request import Request

__all__ = ["limited"]


def limited(request: Request, most: int) -> Request:
    """The request with that limit of tokens, which no member that only one dialect knows says otherwise."""
    extra = {dialect: _without_limit(dialect, members) for dialect, members in request.extra.items()}
    return replace(request, max_tokens=most, extra=extra)


def _without_limit(dialect: str, members: dict[str, Any]) -> dict[str, Any]:
    """The members of a request in a dialect without those that limit the length of the answer."""
    if dialect not in DIALECTS:
        return members
    fields = get_service(dialect).limits
    return {
        name: {inner: each for inner, each in value.items() if inner not in fields.names}
        if name in fields.holders and is_object(value)
        else value
        for name, value in members.items()
        if name not in fields.names
    }
