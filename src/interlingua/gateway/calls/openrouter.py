"""The member `provider` of Chat answers, for clients that ask as OpenRouter is asked: its own clients insist on it.

Rules
- Only who asks under OpenRouter's path, or with the headers by which its clients name their application, gets it; the
  vendor's own answers have no such member.
- What a provider says of it itself stays. The frames of a stream that is passed on stay as they came: there the member
  may be missing.
Source: OpenRouter "App Attribution"; pydantic-ai 2.68, whose answers must have the member, read in November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects.table import get_service
from interlingua.types.event import StreamStart

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayRequest
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["names_provider", "start_with_provider", "with_provider"]


def names_provider(http: GatewayRequest, dialect: str) -> bool:
    """Whether a client of `dialect` asks as OpenRouter is asked."""
    service = get_service(dialect) if dialect else None
    if service is None or not service.provider_paths:
        return False
    return http.path.startswith(service.provider_paths) or any(
        [name in http.named for name in service.provider_headers]
    )


def with_provider(response: Response[Any], provider: str, dialect: str) -> Response[Any]:
    """The answer to a client of `dialect` with who gave it, unless that says so itself."""
    return replace(response, extra=_extra(response.extra, provider, dialect))


def start_with_provider(event: Event, provider: str, dialect: str) -> Event:
    """The event with who gives the answer, where it is the start."""
    if not isinstance(event, StreamStart):
        return event
    return replace(event, extra=_extra(event.extra, provider, dialect))


def _extra(extra: dict[str, dict[str, Any]], provider: str, dialect: str) -> dict[str, dict[str, Any]]:
    return {**extra, dialect: {"provider": provider, **extra.get(dialect, {})}}
