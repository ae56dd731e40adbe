"""Stored responses: conversations that a Responses client continues by the id of an answer.

One owner of the state: an answer that a Responses provider gave is kept there, and its signed id says so (`ownership`);
without keys, who keeps it is remembered here. Every other answer is kept here. A request that goes on from an answer
that is kept here is turned into one that says everything itself, so that any target can serve it.

Rules
- Kept for a while, in bounded memory, apart by owner. Ids are restricted by a pattern before anything is looked up.
- `store: false` keeps nothing; the answer says which of the two holds.
- An id that was another owner's is as unknown as one that never was.
- A reference to an item of ours becomes the item, or is refused by name. Another one stays: a provider may know it, and
  where none can, the encoder refuses it by name.

Source: FAILURES SRV-11, SRV-12, SRV-13, SEC-11; decision 0033.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import msgspec

from interlingua.dialects._shapes import SHAPES
from interlingua.dialects.table import store_dialect
from interlingua.errors import BadRequestError, DecodeError, NotFoundError
from interlingua.gateway.calls.head import read_request
from interlingua.gateway.state.items import (
    ID_PATTERN,
    OWN_RESPONSE,
    Item,
    answer_of_item,
    as_input,
    check_results,
    input_list,
    listed,
)
from interlingua.gateway.state.store import Entry, MemoryStore
from interlingua.wire.body import edited_body
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.gateway.state.store import Key, Store
    from interlingua.wire.body import Body

__all__ = [
    "Held",
    "KeptAnswer",
    "KeptElsewhere",
    "Prepared",
    "StoredResponses",
    "answer_entry",
    "input_of",
    "memory_responses",
    "no_previous",
    "not_found",
    "output_of",
    "page",
]

MAX_BYTES = 64 * 1024 * 1024
"""How much the store in memory holds."""
MAX_ENTRIES = 100_000
"""How many answers it holds."""
KEEP_S = 24 * 3600.0
"""How long an answer is kept."""
MAX_TURNS = 1_000
"""How many answers one conversation may go back."""


class KeptAnswer(msgspec.Struct, frozen=True):
    """An answer that is kept here."""

    answer: bytes
    """The whole answer as the client got it, JSON, but with the ids of its provider."""
    input: bytes
    """The `input` that it answers, without what came before, JSON."""
    previous: str = ""
    """The id of the answer before it; empty at the beginning of a conversation."""
    provider: str = ""
    """The provider that gave it, for which its ids are signed."""


class KeptElsewhere(msgspec.Struct, frozen=True):
    """An answer that its provider keeps."""

    spec: str
    """The provider that keeps it, `provider/model`."""


Held: TypeAlias = "KeptAnswer | KeptElsewhere"
"""The record under the id of an answer."""


class Prepared(NamedTuple):
    """A request's body, and what it goes on with."""

    body: Body
    """The body of the request as it is now; the very one that came where nothing had to be replaced."""
    original: Body
    """The body that came."""
    is_changed: bool = False
    """Whether it is another body, that no longer can go out as it came."""
    previous: str = ""
    """The id of the answer, kept here, that it goes on from."""
    kept_by: str = ""
    """The target that keeps the answer that it goes on from; empty where nobody is known to."""


class StoredResponses:
    """The answers that are kept, and who keeps the others."""

    def __init__(self, store: Store[Held], *, wants_calls: bool = False) -> None:
        """Responses over a store; `wants_calls` says that a result whose call was never made is refused."""
        self.store: Store[Held] = store
        """Where they are kept."""
        self._wants_calls = wants_calls

    # A request

    async def prepare(self, owner: str, body: Body) -> Prepared:
        """The request as one that needs nothing of this store.

        Raises: BadRequestError for an answer that is not there, and for a result without its call where that is not
        mended; DecodeError for a malformed id and an unknown item of
        ours, which name the member.
        """
        if "previous_response_id" not in body and _is_plain(body):
            return Prepared(body, body)
        raw = body.get("input")
        if not _is_input(raw):
            return Prepared(body, body)  # whoever reads it as a request says what is wrong with it
        previous, kept_by = await self._previous(owner, body.get("previous_response_id"))
        before = await self._conversation(owner, previous) if previous else []
        items = input_list(raw)
        resolved = [as_input(item) for item in await self._resolved(owner, items)]
        if previous and self._wants_calls:
            check_results(before, resolved)
        if not before and resolved == items:
            return Prepared(body, body, kept_by=kept_by)
        whole = encode([*map(as_input, before), *resolved], nulls=len(body.text))
        edits: dict[str, bytes | None] = {"input": whole}
        if previous:
            edits["previous_response_id"] = None
        changed = read_request(edited_body(body, edits), store_dialect())
        changed.is_costly = body.is_costly
        return Prepared(changed, body, is_changed=True, previous=previous, kept_by=kept_by)

    async def _previous(self, owner: str, previous: object) -> tuple[str, str]:
        """The answer that is kept here, or else the target that keeps it."""
        if previous is None:
            return "", ""
        name = "previous_response_id"
        if not isinstance(previous, str) or ID_PATTERN.fullmatch(previous) is None:
            raise DecodeError(f"/{name}: this is no id of an answer", path=f"/{name}", status=400)
        stored = await self.find(owner, previous)
        if isinstance(stored, KeptAnswer):
            return previous, ""
        if stored is None and OWN_RESPONSE.fullmatch(previous):
            raise no_previous(previous)
        return "", stored.spec if stored is not None else ""

    async def _resolved(self, owner: str, items: list[Item]) -> list[Item]:
        """The items, with those that are kept here in the place of references to them."""
        return [await self._item(owner, item) if item.get("type") == "item_reference" else item for item in items]

    async def _item(self, owner: str, reference: Item) -> Item:
        answer_id = answer_of_item(reference.get("id"))
        if answer_id is None:
            return reference
        stored = await self.find(owner, answer_id)
        there = [*output_of(stored), *listed(input_of(stored), answer_id)] if isinstance(stored, KeptAnswer) else []
        referenced = next((item for item in there if item.get("id") == reference["id"]), None)
        if referenced is None:
            raise DecodeError(f"/input: item_reference: there is no item {reference['id']}", path="/input", status=400)
        return referenced

    async def _conversation(self, owner: str, response_id: str) -> list[Item]:
        """Everything that was said up to an answer, it included."""
        turns: list[list[Item]] = []
        while response_id:
            stored = await self.find(owner, response_id)
            if not isinstance(stored, KeptAnswer) or len(turns) >= MAX_TURNS:
                raise no_previous(response_id)
            turns.append([*await self._resolved(owner, input_of(stored)), *output_of(stored)])
            response_id = stored.previous
        return [item for turn in reversed(turns) for item in turn]

    # Answers

    async def find(self, owner: str, response_id: str) -> Held | None:
        """The record of an owner's answer; None where there is none."""
        if ID_PATTERN.fullmatch(response_id) is None:
            return None
        (stored,) = await self.store.get([_key(owner, response_id)])
        return stored

    async def keep(self, owner: str, response_id: str, answer: bytes, prepared: Prepared, provider: str = "") -> None:
        """Keep an answer of a provider, JSON as the client gets it before ids are signed, to a prepared request."""
        await self.store.put([answer_entry(_key(owner, response_id), answer, prepared, provider)])

    async def note(self, owner: str, response_id: str, spec: str) -> None:
        """Remember which provider keeps an answer, where its id does not say it."""
        if ID_PATTERN.fullmatch(response_id):
            await self.store.put([Entry(_key(owner, response_id), KeptElsewhere(spec), 200)])

    async def forget(self, owner: str, response_id: str) -> None:
        """Forget an owner's answer."""
        if await self.find(owner, response_id) is not None:
            await self.store.drop([_key(owner, response_id)])


def _is_plain(body: Body) -> bool:
    """Whether an input is of the usual items, which stand for no others, and none has an id of ours."""
    items = body.shaped.get("input")
    return items is not None and not any(map(answer_of_item, SHAPES[store_dialect()]["input"].ids(items)))


def _is_input(value: object) -> bool:
    """Whether an `input` is what it may be: nothing, a text, or a list of objects."""
    if value is None or isinstance(value, str):
        return True
    return isinstance(value, list) and all(isinstance(item, dict) for item in cast("list[object]", value))


def answer_entry(key: Key, answer: bytes, prepared: Prepared, provider: str = "") -> Entry[Held]:
    """An answer of a provider to the request that was prepared, as it is kept under a key."""
    raw = prepared.original.members.get("input")
    stored = KeptAnswer(answer, b"[]" if raw is None else bytes(raw), prepared.previous, provider)
    return Entry(key, stored, len(answer) + len(stored.input) + 100)


def _key(owner: str, response_id: str) -> Key:
    """Where an answer is kept, or is noted who keeps it."""
    return owner, "response", response_id


def input_of(answer: KeptAnswer) -> list[Item]:
    """The items that an answer was given to."""
    return input_list(decode_any(answer.input))


def output_of(answer: KeptAnswer) -> list[Item]:
    """The items of an answer."""
    return input_list(cast("dict[str, Any]", decode_any(answer.answer)).get("output"))


def page(items: Sequence[Item], *, after: str = "", limit: int = 20, order: str = "desc") -> dict[str, Any]:
    """One page of a list of items; newest first unless `order` is `asc`."""
    ordered = list(items) if order == "asc" else list(reversed(items))
    places = [place for place, item in enumerate(ordered, 1) if item.get("id") == after]
    rest = ordered[places[0] :] if places else ordered
    shown = rest[:limit]
    first, last = (shown[0]["id"], shown[-1]["id"]) if shown else ("", "")
    more = len(rest) > len(shown)
    return {"object": "list", "data": shown, "first_id": first, "last_id": last, "has_more": more}


def no_previous(response_id: str) -> BadRequestError:
    """The error of an answer that whoever asks cannot go on from."""
    shown = repr(response_id) if ID_PATTERN.fullmatch(response_id) else "of that id"
    return BadRequestError(
        f"previous_response_id: there is no answer {shown}; send the conversation itself, or begin a new one",
        status=400,
        code="previous_response_not_found",
    )


def not_found(response_id: str) -> NotFoundError:
    """The error of an answer that is not kept here for whoever asks."""
    shown = response_id if ID_PATTERN.fullmatch(response_id) else "of that id"
    return NotFoundError(f"there is no response {shown}", status=404, code="response_not_found")


def memory_responses(
    clock: Callable[[], float],
    *,
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
    keep_s: float = KEEP_S,
) -> StoredResponses:
    """Stored responses in the memory of this process."""
    store: MemoryStore[Held] = MemoryStore(max_bytes=max_bytes, max_entries=max_entries, keep_s=keep_s, clock=clock)
    return StoredResponses(store)
