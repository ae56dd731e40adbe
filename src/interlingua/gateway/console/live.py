"""The requests of a gateway as a stream of events, for the page: first who looks, then what comes.

Shape: `hello` with `key`, `operator`, `content`, `version`; then, at most twice a second and only where something has
changed, `requests` with `done` (the requests that are over), `now` (those under way) and `missed`; of several workers,
the requests of all.

Rules
- The stream ends when the key stops working, when the console is switched off, and when the gateway drains.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.errors import Error, RateLimitError
from interlingua.gateway.console.feed import MAX_WATCHERS
from interlingua.gateway.http import Closing, GatewayReply
from interlingua.gateway.serving.registration import glances_of_all
from interlingua.wire.json import encode
from interlingua.wire.sse import STREAM_HEADERS, encode_comment, encode_event

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from interlingua.gateway.console.access import Access, Viewer
    from interlingua.gateway.console.feed import Feed
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.auth import Guard
    from interlingua.gateway.lifecycle import Lifecycle
    from interlingua.gateway.records.record import Record
    from interlingua.gateway.serving.peers import Peers

__all__ = ["TICK_S", "LiveRequests"]

TICK_S = 0.5
"""How often is looked."""
_HEADERS = (("content-type", "text/event-stream"), *STREAM_HEADERS)


class LiveRequests(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of a gateway as they come, for the page."""

    guard: Guard
    """The guard that checks keys."""
    access: Access
    """The rights of those who look."""
    feed: Feed
    """The last requests."""
    peers: Peers | None
    """The other workers."""
    lifecycle: Lifecycle
    """Whether the gateway drains."""

    async def answer(self, request: GatewayRequest) -> GatewayReply:
        """The stream.

        Raises: NotFoundError where there is no console; RateLimitError where too many look.
        """
        viewer = self.access.viewer_of(request)
        feed = self.feed
        if not feed.enter():
            raise RateLimitError(f"{MAX_WATCHERS} pages look already", status=429, retry_after_s=5.0)
        left = False

        async def leave() -> None:
            nonlocal left
            if not left:
                left = True
                feed.leave()

        body = self._stream(request, viewer)
        return GatewayReply(headers=_HEADERS, body=Closing(body, leave), keep_alive=encode_comment("keep-alive"))

    async def _stream(self, request: GatewayRequest, viewer: Viewer) -> AsyncGenerator[bytes]:
        from interlingua import __version__

        hello = {
            "key": viewer.name,
            "operator": viewer.sees_all,
            "content": self.feed.has_content,
            "version": __version__,
        }
        yield _event("hello", hello)
        last: dict[int, int] = {}
        before = b""
        while not self.lifecycle.is_draining and self._may_look(request, viewer):
            glances = await glances_of_all(self.feed, self.peers, viewer, last)
            last |= {number: glance.batch.last for number, glance in glances.items()}
            latest = glances.values()
            done = sorted([one for glance in latest for one in glance.batch.records], key=_end_of)
            missed = sum(glance.batch.missed for glance in latest)
            now = encode(sorted([one for glance in latest for one in glance.now], key=lambda one: -one.at))
            if done or missed or now != before:
                before = now
                yield _event("requests", {"done": done, "now": msgspec.Raw(now), "missed": missed})
            await asyncio.sleep(TICK_S)

    def _may_look(self, request: GatewayRequest, viewer: Viewer) -> bool:
        """Whether who looks still is who they were when the stream began."""
        try:
            self.guard.check(request)
            return self.access.viewer_of(request) == viewer
        except Error:
            return False


def _end_of(record: Record) -> float:
    return record.at + record.total_s


def _event(name: str, value: dict[str, Any]) -> bytes:
    return encode_event(encode(value), event=name)
