"""The latest response of a WebSocket, which its client goes on from without having it stored.

Rules
- With `store: false` a response is kept for its connection alone, in memory, until the next one takes its place; nobody
  else can name it, and it ends with the connection.
- It is kept with the whole conversation that it answers: what came before it is kept nowhere.
- A turn that goes on from it and fails takes it away: the next turn that names it is told that there is no such answer.
- A conversation that a provider keeps is not whole here: going on from its unstored answer is refused.
- All connections together are bounded in bytes; what was not asked for the longest goes first, and its client sends the
  conversation again.

Source: vendor page "WebSocket mode" (OpenAI), read 2026-11-23.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.gateway.state.store import MemoryStore
from interlingua.gateway.state.stored import ID_PATTERN, Held, StoredResponses, answer_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.gateway.state.store import Entry, Key
    from interlingua.gateway.state.stored import Prepared

__all__ = ["Latest", "latest_responses"]

MAX_BYTES = 128 * 1024 * 1024
"""How much the latest responses of all connections take."""
MAX_ENTRY_BYTES = 32 * 1024 * 1024
"""How much one of them may take."""
MAX_ENTRIES = 10_000
"""How many there are."""
KEEP_S = 2 * 3600.0
"""How long one is kept; no connection lives as long."""


def latest_responses(clock: Callable[[], float]) -> MemoryStore[Held]:
    """The memory of the latest responses of all connections of a gateway."""
    return MemoryStore(
        max_bytes=MAX_BYTES, max_entries=MAX_ENTRIES, keep_s=KEEP_S, clock=clock, max_entry_bytes=MAX_ENTRY_BYTES
    )


class Latest:
    """The latest response of one connection, before the store of all responses."""

    def __init__(self, connection: str, latest: MemoryStore[Held], stored: StoredResponses) -> None:
        """None yet; `connection` is its id, `latest` the memory of all connections, `stored` what is kept for all."""
        self._connection, self._memory, self._stored = connection, latest, stored
        self._id = ""
        self._is_named = False
        self.responses: StoredResponses = StoredResponses(self, wants_calls=True)
        """The responses that a turn of this connection can go on from."""

    # As a store

    async def get(self, keys: Sequence[Key]) -> list[Held | None]:
        """The value of each key, or None; the latest response of the connection comes before what is stored."""
        if not any(self._id and key[2] == self._id for key in keys):
            return await self._stored.store.get(keys)
        self._is_named = True
        own = await self._memory.get([self._key(key[2]) for key in keys])
        return [mine or stored for mine, stored in zip(own, await self._stored.store.get(keys), strict=True)]

    async def put(self, entries: Sequence[Entry[Held]]) -> None:
        """Keep values in the store of all."""
        await self._stored.store.put(entries)

    async def drop(self, keys: Sequence[Key]) -> None:
        """Forget values of the store of all."""
        await self._stored.store.drop(keys)

    # Turns

    def with_whole_input(self, prepared: Prepared) -> Prepared:
        """A request that goes on from the latest response, as one that says everything itself; any other as it is."""
        if not self._id or prepared.previous != self._id:
            return prepared
        return prepared._replace(original=prepared.body, previous="")

    async def keep(self, response_id: str, write: Callable[[], bytes], prepared: Prepared) -> None:
        """Keep a response, as `write` gives it, in the place of the one before."""
        await self.forget()
        if ID_PATTERN.fullmatch(response_id) and prepared.body.get("previous_response_id") is None:
            self._id = response_id
            whole = prepared._replace(original=prepared.body, previous="")
            await self._memory.put([answer_entry(self._key(response_id), write(), whole)])

    def begin(self) -> None:
        """A turn begins, which has named nothing yet."""
        self._is_named = False

    async def fail(self) -> None:
        """The turn failed: what it went on from goes."""
        if self._is_named:
            await self.forget()

    async def forget(self) -> None:
        """Forget the latest response."""
        if self._id:
            await self._memory.drop([self._key(self._id)])
            self._id = ""

    def _key(self, response_id: str) -> Key:
        return self._connection, "latest", response_id
