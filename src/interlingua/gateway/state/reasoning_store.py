"""The reasoning store: what a client's dialect has no room for, kept beside the conversation and put back later.

A Chat, Ollama, Responses or Anthropic client that is served by another dialect gets answers without thought signatures,
encrypted reasoning and the provider's call ids, and sends them back so. The store keeps the turn as it was and puts it
back into the next request of the same conversation.

Rules
- A turn belongs to an owner and to its conversation: it comes back by the digest of everything before it and of itself,
  and by nothing else. What another conversation says, however alike its turns are, never meets it.
- What a client shows with seals of its own is its own turn, and stays so where the same conversation had an equal
  answer of another provider: it may have asked both.
- A turn without calls that was kept behind the same words of another prefix is a miss: the digest of both shows that,
  and nothing of the other turn is read but whether it had reasoning.
- Where a provider has refused the reasoning of earlier turns as that of another conversation (`seal_bound`), it is not
  put back any more: the turn that answered without it is the first whose reasoning counts.
- An id of ours stands for the provider's by owner and id alone: it is unguessable, so who shows it has got it.
- A hit and a miss are each one entry of `changes` in a request, with a count. A miss is normal: the encoder then does
  what the provider documents for lost state.
- Seals are tagged with their issuer, so a turn is put back whoever will be asked next: encoders leave out what is not
  theirs.

Source: FAILURES THK-07, ISO-01, ISO-02; decision 0063.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from interlingua.gateway.state.stored import is_own_item
from interlingua.gateway.state.turn_store import MemoryTurns
from interlingua.gateway.state.turns import Prefix, Restorer, Turn, call_ids_of, has_reasoning, is_worth_keeping
from interlingua.types.change import CODES, Change
from interlingua.types.content import ThinkingPart, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from interlingua.gateway.state.turn_store import Turns
    from interlingua.types.content import Part
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = ["KEEP_S", "MAX_BYTES", "MAX_ENTRIES", "ReasoningStore", "Restored", "memory_reasoning_store"]

MAX_BYTES = 48 * 1024 * 1024
"""How much the reasoning store in memory holds."""
MAX_ENTRIES = 200_000
"""How many names it has; a turn takes one, and one for each call."""
KEEP_S = 24 * 3600.0
"""How long a turn is kept."""
_OWN_ID = re.compile(r"call_\d{1,4}|[a-z]+_il[a-z0-9]{22}")
"""Ids of calls that the gateway made, for answers and for histories without ids."""


class Restored(NamedTuple):
    """A request with what its dialect had no room for."""

    request: Request
    """The request with every turn that was found as it was; the very request where none was."""
    prefix: Prefix
    """The identity of its conversation, by which its answer is remembered."""
    changes: tuple[Change, ...] = ()
    """How many turns got their reasoning back, and how many did not."""


class ReasoningStore:
    """Remembers turns and puts them back."""

    def __init__(self, turns: Turns) -> None:
        """A reasoning store over a place for turns."""
        self._turns = turns

    async def remember(
        self, owner: str, restored: Restored, response: Response[Any], provider_ids: Mapping[str, str]
    ) -> None:
        """Keep the turn that answers a request, and every further choice, if a client could lose something of it.

        `provider_ids` maps our own call ids of the answer to the provider's.
        """
        messages = restored.request.messages
        begin = len(messages)
        while begin and messages[begin - 1].role == "assistant":  # the answer goes on with them, as one turn
            begin -= 1
        open_parts = tuple([part for message in messages[begin:] for part in message.parts])
        if ToolCall in map(type, open_parts):  # a call without a result: its provider keeps what this goes on with
            return
        begins = any([change.code == "seal_bound" for change in response.changes])
        for parts in (response.parts, *[one.parts for one in response.alternatives]):
            if begins or is_worth_keeping(parts):
                ids = {call_id: provider_ids[call_id] for call_id in call_ids_of(parts) if call_id in provider_ids}
                answer = restored.prefix.answer(parts)
                await self._turns.put(owner, Turn(answer.key, (*open_parts, *parts), ids, answer.step_key, begins))

    async def restore(self, owner: str, request: Request) -> Restored:
        """The request with every turn of an owner that is stored as it was."""
        prefix = Prefix(request)
        if self._turns.lacks(owner):
            replies = [message for message in request.messages if message.role == "assistant"]
            lost = [message for message in replies if _is_lost((message,), ())]
            return Restored(request, prefix, _entries(0, len(lost)))
        matches = await self._turns.find(owner, prefix.turns)
        restorer = Restorer(request.messages) if any(matches) else None
        history = request.messages
        messages: list[Message] = []
        hits = misses = place = 0
        pairs: list[tuple[Turn | None, Sequence[Turn]]] = []
        for reply, turns in zip(prefix.turns, matches, strict=True):
            turn = next((turn for turn in turns if turn.key == reply.key), None) if turns else None
            is_own = turn is not None and _has_own_seals(history[reply.begin : reply.end], turn)
            pairs.append((None, ()) if is_own else (turn, turns))
        first = max([number for number, (turn, _) in enumerate(pairs) if turn is not None and turn.begins], default=0)
        for number, (reply, (same, turns)) in enumerate(zip(prefix.turns, pairs, strict=True)):
            turn = same if number >= first else None
            if turn is not None:
                hits += has_reasoning(turn.parts)
            elif number < first:
                misses += any([has_reasoning(turn.parts) for turn in turns])
            elif turns or any(map(_OWN_ID.fullmatch, reply.call_ids)):
                misses += _is_lost(history[reply.begin : reply.end], turns)
            if restorer is not None:
                own = history[reply.begin : reply.end]
                messages += map(restorer.results, history[place : reply.begin])
                messages += restorer.ids(own, turns) if turn is None else (restorer.turn(own, turn),)
                place = reply.end
        if restorer is not None:
            messages += map(restorer.results, history[place:])
            request = msgspec.structs.replace(request, messages=tuple(messages))
        return Restored(request, prefix, _entries(hits, misses))


def _is_lost(reply: Sequence[Message], turns: Sequence[Turn]) -> bool:
    """Whether a turn of another key, or of none, may have had reasoning that its calls need.

    `turns` are those that its ids or its words lead to. Calls under somebody else's ids were never translated here, and
    a client with room for seals has lost none.
    """
    parts = [part for message in reply for part in message.parts]
    shown = _issuers(parts)
    if turns:
        return any([has_reasoning(turn.parts) and not _shows(parts, shown, turn.parts) for turn in turns])
    return not shown and any(map(_OWN_ID.fullmatch, call_ids_of(parts)))


def _has_own_seals(reply: Sequence[Message], turn: Turn) -> bool:
    """Whether a client shows seals of a dialect that the stored turn has none of: an equal answer of somebody else."""
    return not _issuers([part for message in reply for part in message.parts]) <= _issuers(turn.parts)


def _issuers(parts: Iterable[Part]) -> set[str]:
    """The dialects of the seals among parts; what the gateway wrote as an item of Responses has none."""
    seals = [seal for part in parts if (seal := getattr(part, "sealed", None)) is not None]
    return {seal.dialect for seal in seals if not is_own_item(seal.data)}


def _shows(parts: Sequence[Part], shown: set[str], stored: Sequence[Part]) -> bool:
    """Whether parts with seals of the dialects `shown` still have the reasoning that was stored."""
    sealed = _issuers(stored)
    return sealed <= shown if sealed else any([type(part) is ThinkingPart and part.text for part in parts])


def _entries(hits: int, misses: int) -> tuple[Change, ...]:
    """One entry for all turns that got their reasoning back, and one for all that did not."""
    counts = (("reasoning_restored", hits), ("reasoning_missing", misses))
    entries: list[Change] = []
    for code, count in counts:
        if count:
            turns = "1 turn" if count == 1 else f"{count} turns"
            meaning = f"{CODES[code].meaning}: {turns}"
            entries.append(Change(CODES[code].action, code, "/messages", None, "repair", meaning))
    return tuple(entries)


def memory_reasoning_store(
    clock: Callable[[], float],
    *,
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
    keep_s: float = KEEP_S,
) -> ReasoningStore:
    """A reasoning store in the memory of this process."""
    return ReasoningStore(MemoryTurns(max_bytes=max_bytes, max_entries=max_entries, keep_s=keep_s, clock=clock))
