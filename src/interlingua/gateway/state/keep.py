"""How the answer to a Responses client is kept, so that the client can go on from it by its id.

Rules
- An answer is kept before its last bytes are given out, since the client's next request may come at once.
- A Responses client whose answer came from another dialect gets an id of ours, and is told whether it is kept here.
- Who keeps the answer is not told to keep it twice: a target of another dialect is not asked to store anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.dialects.table import get_service, store_dialect
from interlingua.types.event import StreamEnd, StreamStart

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.client.call.job import Lane
    from interlingua.dialects._service import AnswerStore
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.state.latest import Latest
    from interlingua.gateway.state.stored import Prepared
    from interlingua.types.event import Event
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = ["Keeping"]


class Keeping:
    """How the answer to one request of a Responses client is kept, and where."""

    def __init__(
        self, gateway: Gateway, owner: str, prepared: Prepared, *, wanted: bool, latest: Latest | None = None
    ) -> None:
        """`wanted` is what the client says of `store`, on unless it is off; `latest` is that of its WebSocket."""
        self._gateway = gateway
        self._owner = owner
        self._prepared = prepared
        self._latest = latest
        self._wanted = wanted
        self.id: str = gateway.make_id("resp_")
        """The id of an answer that is kept here."""
        self._dialect = store_dialect()
        self.store: AnswerStore = _store_of(self._dialect)
        """The facts of such answers in the client's dialect."""
        self._spaces: dict[str, tuple[str, str]] = {}
        self.is_changed: bool = prepared.is_changed
        """Whether the request is not the one that came, so that it cannot go out as it came."""

    @property
    def has_spaces(self) -> bool:
        """Whether calls of the answer have to be put in their namespaces."""
        return bool(self._spaces)

    def is_ours(self, lane: Lane) -> bool:
        """Whether the answer of a target is kept here: it has no store of this form, or knows not what came before."""
        return lane.dialect.name != self._dialect or bool(self._prepared.previous)

    def lanes(self, lanes: tuple[Lane, ...]) -> tuple[Lane, ...]:
        """The targets that can know what came before: where a provider is noted to keep it, no other one does."""
        keeper = self._prepared.kept_by.partition("/")[0]
        if not keeper:
            return lanes
        able = [lane for lane in lanes if lane.dialect.name != self._dialect or lane.endpoint.provider == keeper]
        return tuple(able) or lanes

    def asked(self, request: Request, lane: Lane) -> Request:
        """The request as a target gets it; its namespaces were looked at when it was read."""
        if not self.is_ours(lane):
            return request
        if lane.dialect.name != self._dialect:
            request, self._spaces = self.store.opened(request)
        return msgspec.structs.replace(request, store=False if lane.dialect.name == self._dialect else None)

    def event(self, event: Event, lane: Lane) -> Event:
        """An event of the answer as the client gets it."""
        if isinstance(event, StreamStart) and self.is_ours(lane):
            return msgspec.structs.replace(event, id=self.id, extra=self._told(event.extra))
        if isinstance(event, StreamEnd):
            return StreamEnd(self.answer(event.response, lane))
        return self.store.placed_event(event, self._spaces) if self._spaces else event

    def answer(self, response: Response[Any], lane: Lane) -> Response[Any]:
        """The answer as the client gets it."""
        if not self.is_ours(lane):
            return response
        response = self.store.placed(response, self._spaces)
        return msgspec.structs.replace(response, id=self.id, extra=self._told(response.extra))

    def _told(self, extra: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        previous = self._prepared.previous or None
        return {
            **extra,
            self._dialect: {**extra.get(self._dialect, {}), "store": self._wanted, "previous_response_id": previous},
        }

    async def keep(self, response: Response[Any], lane: Lane, write: Callable[[], bytes]) -> None:
        """Keep an answer, as `write` gives what the client gets; of an answer kept elsewhere only whose it is."""
        if self.is_ours(lane):
            await self.keep_here(self.id, write, lane.endpoint.provider)
        elif not self._wanted:
            await self.keep_here(response.id or "", write, lane.endpoint.provider)
        elif response.id is not None and not self._gateway.ids.is_on:  # a signed id says it itself
            await self._gateway.stored.note(self._owner, response.id, lane.endpoint.spec)

    async def keep_here(self, response_id: str, write: Callable[[], bytes], provider: str = "") -> None:
        """Keep a provider's answer under an id: in the store, or with its connection where the client wants none."""
        prepared, latest = self._prepared, self._latest
        if latest is not None:
            prepared = latest.told_whole(prepared)
        if self._wanted:
            await self._gateway.stored.keep(self._owner, response_id, write(), prepared, provider)
        elif latest is not None:
            await latest.keep(response_id, write, prepared)


def _store_of(dialect: str) -> AnswerStore:
    store = get_service(dialect).store
    assert store is not None  # noqa: S101 - the dialect was chosen by it
    return store
