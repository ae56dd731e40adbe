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

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from interlingua.dialects._history_memo import KnownHistory, KnownMessages, shareable
from interlingua.gateway.state.store import Entry, Key, MemoryStore
from interlingua.gateway.state.turns import Turn, call_ids_of, fingerprints, is_worth_keeping, restored, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from interlingua.gateway.state.store import Store
    from interlingua.types.content import Part
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = ["KEEP_S", "MAX_BYTES", "MAX_ENTRIES", "Remembered", "Vault", "memory_vault"]

MAX_BYTES = 64 * 1024 * 1024
"""How much the vault in memory holds."""
MAX_ENTRIES = 200_000
"""How many keys it has; a turn takes two, and one for each call."""
KEEP_S = 24 * 3600.0
"""How long a turn is kept."""

MAX_ASIDE = 16
"""What is kept with one conversation: what it asks for, and how it was restored, of each owner and vault."""

Remembered: TypeAlias = "Turn | Key"
"""A turn, or the key that it is kept under."""


class Vault:
    """Remembers turns and puts them back."""

    def __init__(self, store: Store[Remembered]) -> None:
        """A vault over a store."""
        self._store = store
        self._token = object()

    async def remember(
        self, owner: str, request: Request, response: Response[Any], provider_ids: Mapping[str, str]
    ) -> None:
        """Keep the turn that answers `request`, and every further choice, if a client could lose something of it.

        `provider_ids` maps our own call ids of the answer to the provider's.
        """
        before = request.messages[-1] if request.messages else None
        for choice in (response, *response.alternatives) if response.alternatives else (response,):
            calls = call_ids_of(choice.parts)
            turn = Turn(choice.parts, {own: provider_ids[own] for own in calls if own in provider_ids})
            if is_worth_keeping(turn):
                words = _word_keys(owner, choice.parts, before)
                said = words[:1]
                if said and not self._store.lacks(said) and (await self._store.get(said))[0] is not None:
                    self._token = object()  # the same words again: what was put back of them before is out of date
                await self._store.put(_entries(turn, [*[_call_key(owner, one) for one in calls], *words]))

    async def restore(self, owner: str, request: Request) -> Request:
        """The request with every turn that is remembered as it was; the same request where none is."""
        if self._store.is_empty:
            return request
        messages = request.messages
        if type(messages) is KnownMessages:
            restored_messages = await self._restored_known(owner, messages.known)
        else:
            rest = await self._restored(messages, _lookups(owner, messages))
            restored_messages = messages if rest is None else tuple(rest)
        if restored_messages is messages:
            return request
        return msgspec.structs.replace(request, messages=restored_messages)

    async def _restored_known(self, owner: str, known: KnownHistory) -> tuple[Message, ...]:
        """The messages of a conversation that was read before; what was restored of its beginning is known, too."""
        slot = (self._token, owner)
        if slot in known.aside:
            return known.aside[slot].messages
        before = known.parent.aside.get(slot) if known.parent is not None else None
        begin, taken, head = (len(before.messages), before.calls, before.messages) if before else (0, (), ())
        rest = await self._restored(known.messages, _known_lookups(owner, known, begin), begin, taken)
        if rest is None and before is None:
            return known.messages
        rest = list(known.messages[begin:]) if rest is None else rest
        shared = shareable(rest)
        if shared is None:
            return (*head, *rest)
        made = KnownHistory(b"", known.system, [*head, *shared], known.entries, before)
        if before is not None:
            before.parent = None  # who goes on from there needs no more of what came before
        _put_aside(known, slot, made)
        return made.messages

    async def _restored(
        self, messages: Sequence[Message], lookups: _Lookups, begin: int = 0, taken: Sequence[str] = ()
    ) -> list[Message] | None:
        """The messages from a place on, restored; None where nothing of them is remembered."""
        if self._store.lacks(lookups.keys):
            return None
        found = await self._found_by_id(lookups.by_id)
        found |= await self._found_by_words([pair for pair in lookups.by_words if pair[0] not in found])
        return restored(messages, found, begin, taken) if found else None

    async def _found_by_id(self, asked: Sequence[tuple[int, Key]]) -> dict[int, tuple[Turn, ...]]:
        turns = await self._turns([key for _, key in asked])
        found: dict[int, tuple[Turn, ...]] = {}
        for (place, _), turn in zip(asked, turns, strict=True):
            known = found.get(place, ())
            if turn is not None and not any(turn is one or turn == one for one in known):
                found[place] = (*known, turn)
        return found

    async def _found_by_words(self, asked: Sequence[tuple[int, Key]]) -> dict[int, tuple[Turn, ...]]:
        turns = await self._turns([key for _, key in asked])
        found: dict[int, tuple[Turn, ...]] = {}
        for (place, _), turn in zip(asked, turns, strict=True):
            if turn is not None:
                found.setdefault(place, (turn,))
        return found

    async def _turns(self, keys: Sequence[Key]) -> list[Turn | None]:
        """The turn of each key, wherever it is kept."""
        if not keys:
            return []
        values = await self._store.get(keys)
        elsewhere = list(dict.fromkeys([value for value in values if isinstance(value, tuple)]))
        if not elsewhere:
            return [value if isinstance(value, Turn) else None for value in values]
        there = dict(zip(elsewhere, await self._store.get(elsewhere), strict=True))
        ends = [there[value] if isinstance(value, tuple) else value for value in values]
        return [end if isinstance(end, Turn) else None for end in ends]


class _Lookups(NamedTuple):
    """What a conversation asks for: places of turns, with keys that these may be kept under."""

    by_id: list[tuple[int, Key]]
    by_words: list[tuple[int, Key]]
    keys: frozenset[Key]
    """All of them."""

    @classmethod
    def of(cls, by_id: list[tuple[int, Key]], by_words: list[tuple[int, Key]]) -> Self:
        """What is asked for by ids and by words."""
        return cls(by_id, by_words, frozenset([key for asked in (by_id, by_words) for _, key in asked]))


def _lookups(owner: str, messages: Sequence[Message], begin: int = 0) -> _Lookups:
    """What the messages from a place on ask for."""
    places = [place for place in range(begin, len(messages)) if messages[place].role == "assistant"]
    return _Lookups.of(
        [(place, _call_key(owner, call_id)) for place in places for call_id in call_ids_of(messages[place].parts)],
        [
            (place, key)
            for place in places
            for key in _word_keys(owner, messages[place].parts, messages[place - 1] if place else None)
        ],
    )


def _known_lookups(owner: str, known: KnownHistory, begin: int) -> _Lookups:
    """The same of a conversation that was read before; it is kept with it, and what goes on from it needs the rest."""
    slot = (owner, begin)
    found: _Lookups | None = known.aside.get(slot)
    if found is None:
        parent = known.parent
        before: _Lookups | None = None if parent is None else parent.aside.get(slot)
        if parent is None or before is None:
            found = _lookups(owner, known.messages, begin)
        else:
            rest = _lookups(owner, known.messages, len(parent.messages))
            found = _Lookups.of(before.by_id + rest.by_id, before.by_words + rest.by_words)
        _put_aside(known, slot, found)
    return found


def _put_aside(known: KnownHistory, slot: tuple[object, ...], made: KnownHistory | _Lookups) -> None:
    if len(known.aside) >= MAX_ASIDE:
        known.aside.clear()
    known.aside[slot] = made


def _call_key(owner: str, call_id: str) -> Key:
    return owner, "call", call_id


def _word_keys(owner: str, parts: Sequence[Part], before: Message | None) -> list[Key]:
    """The keys of a turn by its words: after this message, and anywhere."""
    found = fingerprints(parts, before)
    return [] if found is None else [(owner, "turn", found[0]), (owner, "words", found[1])]


def _entries(turn: Turn, keys: list[Key]) -> list[Entry[Remembered]]:
    """What is put for a turn: itself under its first key, which the other keys lead to; nothing where it has none."""
    entries: list[Entry[Remembered]] = []
    for key in dict.fromkeys(keys):
        entries.append(Entry(key, keys[0], 0) if entries else Entry(key, turn, size_of(turn)))
    return entries


def memory_vault(
    clock: Callable[[], float],
    *,
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
    keep_s: float = KEEP_S,
) -> Vault:
    """A vault in the memory of this process."""
    store: MemoryStore[Remembered] = MemoryStore(
        max_bytes=max_bytes, max_entries=max_entries, keep_s=keep_s, clock=clock
    )
    return Vault(store)
