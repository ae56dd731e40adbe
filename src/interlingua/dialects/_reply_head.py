"""The head of an answer as far as it speaks of the call: the provider's id of the request, and its rate limits.

Strategy: a server says the same things in the same order in every answer, so where they stand is found once for a list
of names.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from interlingua.dialects._errors.classes import REQUEST_ID_HEADERS
from interlingua.wire.cache import ByteCache
from interlingua.wire.limits import rate_limits, tells_limit

if TYPE_CHECKING:
    from interlingua.types.limit import RateLimit
    from interlingua.wire.http import Headers

__all__ = ["read_reply_head"]

_NAME = itemgetter(0)


def read_reply_head(headers: Headers) -> tuple[str | None, dict[str, RateLimit]]:
    """The provider's id of the request, and the limits that headers tell of."""
    places, is_limited = _places[tuple(map(_NAME, headers))]
    request_id = None
    for place in places:
        if request_id := headers[place][1]:
            break
    return request_id or None, rate_limits(headers) if is_limited else {}


def _find_places(names: tuple[str, ...]) -> tuple[tuple[int, ...], bool]:
    """Where ids of the request stand, the most telling first, and whether there are limits."""
    places = [names.index(name) for name in REQUEST_ID_HEADERS if name in names]
    return tuple(places), any(map(tells_limit, names))


_places = ByteCache(200_000, _find_places)
"""By the names, which the server chooses."""
