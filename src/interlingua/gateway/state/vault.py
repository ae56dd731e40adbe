"""The vault: what a client's dialect has no room for, kept beside the conversation and put back in the next request.

A Chat, Ollama, Responses or Anthropic client that is served by another dialect gets answers without thought signatures,
encrypted reasoning and the provider's call ids, and sends them back so. The vault remembers the turn as it was.

Rules
- A turn is found by any of our own call ids; where the client drops or rewrites these, by what it says after the
  message before it, else by what it says alone (of two such turns the later one counts).
- An owner finds its own turns only.
- A conversation that goes on is restored from where it was restored before, so that a turn costs no more than itself.
- A miss is normal: the encoder then does what the provider documents for lost state, and records it.
- Seals are tagged with their issuer, so a turn is put back whoever will be asked next: encoders leave out what is not
  theirs.

Source: FAILURES THK-07; decision 0032.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.dialects._known.histories import KnownHistory, KnownMessages
from interlingua.dialects._known.sharing import shareable
from interlingua.gateway.state.shelf import Lookups, MemoryTurns
from interlingua.gateway.state.turns import Turn, is_worth_keeping, restored, said, words_of
from interlingua.stream.calls import is_made_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from interlingua.gateway.state.shelf import Turns
    from interlingua.types.content import Part
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = ["KEEP_S", "MAX_BYTES", "MAX_ENTRIES", "Vault", "memory_vault"]

MAX_BYTES = 48 * 1024 * 1024
"""How much the vault in memory holds."""
MAX_ENTRIES = 200_000
"""How many keys it has; a turn takes two, and one for each call."""
KEEP_S = 24 * 3600.0
"""How long a turn is kept."""


class Vault:
    """Remembers turns and puts them back."""

    def __init__(self, turns: Turns) -> None:
        """A vault over a place for turns."""
        self._turns = turns
        self._token = object()

    def remember(
        self, owner: str, request: Request, response: Response[Any], provider_ids: Mapping[str, str]
    ) -> Awaitable[None] | None:
        """Keep the turn that answers `request`, and every further choice, if a client could lose something of it.

        `provider_ids` maps our own call ids of the answer to the provider's. To be awaited, where it is not done.
        """
        before = request.messages[-1] if request.messages else None
        if not response.alternatives:
            told = self._put(owner, response.parts, before, provider_ids)
            return told if told is None else self._told([told])
        choices = [response.parts, *[one.parts for one in response.alternatives]]
        several = [self._put(owner, parts, before, provider_ids) for parts in choices]
        return self._told([told for told in several if told is not None])

    def _put(
        self, owner: str, parts: tuple[Part, ...], before: Message | None, provider_ids: Mapping[str, str]
    ) -> Awaitable[bool] | None:
        """Keep a turn that is worth it; what is to be awaited then."""
        text, calls = said(parts)
        ids: dict[str, str] = {}
        for call in calls:
            if call.id in provider_ids:
                ids[call.id] = provider_ids[call.id]
        if not is_worth_keeping(parts, ids):
            return None
        call_ids = tuple(ids) if len(ids) == len(calls) else tuple(dict.fromkeys([call.id for call in calls]))
        again = self._turns.put(owner, Turn(parts, ids), call_ids, words_of(text, calls, before) or ())
        if not isinstance(again, bool):
            return again
        if again:
            self._token = object()  # what was put back of the same words before is out of date
        return None

    async def _told(self, several: Sequence[Awaitable[bool]]) -> None:
        for one in several:
            if await one:
                self._token = object()  # the same

    def lacks(self, owner: str, request: Request) -> bool:
        """Whether certainly no turn of a request is remembered; False where that takes more than a look."""
        messages = request.messages
        if type(messages) is not KnownMessages:
            return False
        known, slot = messages.known, (self._token, owner)
        if slot in known.aside or (known.parent is not None and slot in known.parent.aside):
            return False
        return self._turns.lacks(owner, _known_lookups(known, 0))

    async def restore(self, owner: str, request: Request) -> Request:
        """The request with every turn that is remembered as it was; the same request where none is."""
        messages = request.messages
        if type(messages) is KnownMessages:
            restored_messages = await self._restored_known(owner, messages.known)
        else:
            rest = await self._restored(owner, messages, _lookups(messages))
            restored_messages = messages if rest is None else tuple(rest)
        if restored_messages is messages:
            return request
        return msgspec.structs.replace(request, messages=restored_messages)

    async def _restored_known(self, owner: str, known: KnownHistory) -> tuple[Message, ...]:
        """The messages of a conversation that was read before; what was restored of its beginning is known, too."""
        slot = (self._token, owner)
        if slot in known.aside:
            return known.aside[slot].messages
        parent = known.parent
        if parent is not None and known.is_marked and slot not in parent.aside:
            await self._restored_known(owner, parent)  # who goes on from there has other marks
        before = parent.aside.get(slot) if parent is not None else None
        begin, head = (len(before.messages), before.messages) if before else (0, ())
        taken = known.taken_ids if before is None else known.taken_ids | before.taken_ids
        rest = await self._restored(owner, known.messages, _known_lookups(known, begin), begin, taken)
        if rest is None and before is None:
            return known.messages
        rest = list(known.messages[begin:]) if rest is None else rest
        shared = shareable(rest)
        if shared is None:
            return (*head, *rest)
        made = KnownHistory(b"", known.system, [*head, *shared], known.entries, before)
        if before is not None and not known.is_marked:
            before.parent = None  # who goes on from there needs no more of what came before
        known.put_aside(slot, made)
        return made.messages

    async def _restored(
        self,
        owner: str,
        messages: Sequence[Message],
        asked: Lookups,
        begin: int = 0,
        taken: frozenset[str] | None = None,
    ) -> list[Message] | None:
        """The messages from a place on, restored; None where nothing of them is remembered."""
        if self._turns.lacks(owner, asked):
            return None
        found = await self._turns.find(owner, asked)
        return restored(messages, found, begin, None if taken is None else set(taken)) if found else None


def _lookups(messages: Sequence[Message], begin: int = 0) -> Lookups:
    """What the messages from a place on ask for."""
    by_id: list[tuple[int, str]] = []
    by_words: list[tuple[int, str]] = []
    for place in range(begin, len(messages)):
        message = messages[place]
        if message.role == "assistant":
            text, calls = said(message.parts)
            by_id += [(place, call.id) for call in calls if not is_made_id(call.id)]
            words = words_of(text, calls, messages[place - 1] if place else None)
            by_words += [(place, one) for one in words or ()]
    return Lookups.of(by_id, by_words)


def _known_lookups(known: KnownHistory, begin: int) -> Lookups:
    """The same of a conversation that was read before; it is kept with it, and what goes on from it needs the rest."""
    slot = ("lookups", begin)
    found: Lookups | None = known.aside.get(slot)
    if found is None:
        parent = known.parent
        before: Lookups | None = None if parent is None else parent.aside.get(slot)
        if before is None and parent is not None and known.is_marked:
            before = _known_lookups(parent, begin)  # who goes on from there has other marks
        if parent is None or before is None:
            found = _lookups(known.messages, begin)
        else:
            rest = _lookups(known.messages, len(parent.messages))
            found = Lookups.of(before.by_id + rest.by_id, before.by_words + rest.by_words)
        known.put_aside(slot, found)
    return found


def memory_vault(
    clock: Callable[[], float],
    *,
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
    keep_s: float = KEEP_S,
) -> Vault:
    """A vault in the memory of this process."""
    return Vault(MemoryTurns(max_bytes=max_bytes, max_entries=max_entries, keep_s=keep_s, clock=clock))
