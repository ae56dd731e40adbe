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

from interlingua.types.event import StreamStart

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayRequest
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["names_provider", "start_with_provider", "with_provider"]

_CHAT = "openai-chat"
_PATH = "/api/v1/"
_HEADERS = ("http-referer", "x-title", "x-openrouter-title")


def names_provider(http: GatewayRequest, dialect: str) -> bool:
    """Whether a client of `dialect` asks as OpenRouter is asked."""
    if dialect != _CHAT:
        return False
    return http.path.startswith(_PATH) or any([name in http.named for name in _HEADERS])


def with_provider(response: Response[Any], provider: str) -> Response[Any]:
    """The answer with who gave it, unless that says so itself."""
    return replace(response, extra=_extra(response.extra, provider))


def start_with_provider(event: Event, provider: str) -> Event:
    """The event with who gives the answer, where it is the start."""
    return replace(event, extra=_extra(event.extra, provider)) if isinstance(event, StreamStart) else event


def _extra(extra: dict[str, dict[str, Any]], provider: str) -> dict[str, dict[str, Any]]:
    return {**extra, _CHAT: {"provider": provider, **extra.get(_CHAT, {})}}
