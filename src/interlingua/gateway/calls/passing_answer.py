"""A whole answer of the client's own dialect: passed on as it came where it is in normal form, else written anew.

Rules
- It is read by the dialect's decoder. A body in normal form, of which reading had nothing to repair, is the very body
  that the client gets, and nothing of it is reported as changed. Any other is encoded again, as one of another dialect.
- The model's name stays the upstream's.
- Of the headers only limits go along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects.table import services
from interlingua.wire.cache import ByteCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import Dialect, ServerContext
    from interlingua.types.response import Response
    from interlingua.wire.http import Headers, HttpReply

__all__ = ["as_sent", "kept_headers"]

_KEPT = ("x-ratelimit-", "retry-after", *[name for each in services().values() for name in each.limit_prefixes])
"""How headers of a reply begin that are passed on."""


def as_sent(
    dialect: Dialect,
    reply: HttpReply,
    response: Response[Any],
    context: Callable[[], ServerContext],
    *,
    is_whole: bool = True,
) -> tuple[HttpReply, Response[Any]]:
    """The reply that a client of the same dialect gets for one that says `response`, and what it says then.

    `context` tells how an answer is written; a reply in normal form is passed on without the changes of reading it.
    `is_whole` says that the body holds all that the client is to get.
    """
    made = [change for change in response.changes if change.stage == "decode_response"]
    is_harmless = not made or dialect.frame_check().harmless.issuperset([change.code for change in made])
    if is_whole and is_harmless and dialect.is_normal(reply.body):
        if made:
            response = replace(response, changes=tuple([one for one in response.changes if one not in made]))
        return reply, response
    told = context()
    encoded = dialect.encode_response(response, replace(told, model=response.wire_model or told.model))
    return replace(encoded, headers=reply.headers), response


def kept_headers(headers: Headers) -> Headers:
    """The headers of a reply that are the client's business."""
    return tuple([pair for pair in headers if _is_kept[pair[0]]])


def _is_passed_on(name: str) -> bool:
    return name.startswith(_KEPT)


_is_kept = ByteCache(200_000, _is_passed_on)
"""Whether headers are passed on, by their names; servers have the same ones each time."""
