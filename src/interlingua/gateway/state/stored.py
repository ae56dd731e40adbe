"""Stored responses: conversations that a Responses client continues by the id of an answer.

One owner of the state: an answer that a Responses provider gave is kept there, and its signed id says so (`ownership`);
without keys, who keeps it is remembered here. Every other answer is kept here. A request that goes on from an answer
that is kept here is turned into one that says everything itself, so that any target can serve it.

How the answer to one request is kept says `Keeping`.

Rules
- An answer is kept before its last bytes are given out, since the client's next request may come at once.
- A Responses client whose answer came from another dialect gets an id of ours, and is told whether it is kept here.
- Who keeps the answer is not told to keep it twice: a target of another dialect is not asked to store anything.
- Kept for a while, in bounded memory, apart by owner. Ids are restricted by a pattern before anything is looked up.
- `store: false` keeps nothing; the answer says which of the two holds.
- An id that was another owner's is as unknown as one that never was.
- A reference to an item of ours becomes the item, or is refused by name. Another one stays: a provider may know it, and
  where none can, the encoder refuses it by name.
- An id that the gateway made says so (`il`), and the id of an item names the answer that holds it; nobody else knows
  it, so it never goes to a provider.
- A compacted conversation is an item whose content only we can read: it holds a summary, and whoever sends it back has
  sent the summary.

Source: FAILURES SRV-11, SRV-12, SRV-13, SEC-11; decision 0033.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import msgspec

from interlingua.dialects._shapes import SHAPES
from interlingua.dialects.table import get_service, store_dialect
from interlingua.errors import BadRequestError, DecodeError, Error, NotFoundError
from interlingua.gateway.calls.reading import read_request
from interlingua.gateway.state.store import Entry, MemoryStore
from interlingua.types.event import StreamEnd, StreamStart
from interlingua.wire.body import edited_body
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.client.call.values import CallTarget
    from interlingua.dialects._service import AnswerStore
    from interlingua.gateway.state.latest import Latest
    from interlingua.gateway.state.store import Key, Store
    from interlingua.types.event import Event
    from interlingua.types.request import Request
    from interlingua.types.response import Response
    from interlingua.wire.body import Body

__all__ = [
    "ID_PATTERN",
    "OWN_RESPONSE",
    "Held",
    "Item",
    "Keeping",
    "KeptAnswer",
    "KeptElsewhere",
    "Prepared",
    "StoredResponses",
    "answer_entry",
    "answer_of_item",
    "as_input",
    "check_results",
    "compacted",
    "input_list",
    "input_of",
    "is_own_item",
    "listed",
    "memory_responses",
    "no_previous",
    "not_found",
    "output_of",
    "page",
    "unpacked",
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
        repaired; DecodeError for a malformed id and an unknown item of
        ours, which name the member.
        """
        if "previous_response_id" not in body:
            usual = body.shaped.get("input")
            # The usual items stand for no others, where none has an id of ours.
            if usual is not None and not any(map(answer_of_item, SHAPES[store_dialect()]["input"].ids(usual))):
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
        resolved: list[Item] = []
        for item in items:
            answer_id = answer_of_item(item.get("id")) if item.get("type") == "item_reference" else None
            if answer_id is None:
                resolved.append(item)
                continue
            stored = await self.find(owner, answer_id)
            there = [*output_of(stored), *listed(input_of(stored), answer_id)] if isinstance(stored, KeptAnswer) else []
            referenced = next((one for one in there if one.get("id") == item["id"]), None)
            if referenced is None:
                raise DecodeError(f"/input: item_reference: there is no item {item['id']}", path="/input", status=400)
            resolved.append(referenced)
        return resolved

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


# Items of the Responses dialect as plain JSON


Item: TypeAlias = dict[str, Any]

ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,128}")
"""The form of an id of an answer or of an item; no other text is looked up, sent on or told again."""
OWN_RESPONSE = re.compile(r"resp_il[a-z0-9]{22}")
"""Ids of answers that the gateway made."""
_OWN_ITEM = re.compile(r"[a-z]{2,3}_(il[a-z0-9]{22})(?:i?\d{2,})")
_SEAL = "il1."
_SUMMARY = "What was said before, in short:\n\n"


def answer_of_item(item_id: object) -> str | None:
    """The id of the answer that holds an item of ours, by the item's id; None for an id that is not ours."""
    match = _OWN_ITEM.fullmatch(item_id) if isinstance(item_id, str) else None
    return f"resp_{match[1]}" if match else None


def is_own_item(data: object) -> bool:
    """Whether the state of a part is no more than the gateway writes itself: an id of ours, or reasoning in summary."""
    if not isinstance(data, dict):
        return False
    item = cast("Item", data)
    is_ours = item.get("id") is None or answer_of_item(item["id"]) is not None
    is_plain = item.get("type") == "reasoning" or not item.keys() - {"id"}
    return is_ours and is_plain and not item.get("encrypted_content")


def input_list(value: object) -> list[Item]:
    """The items of an `input`: its list, or the one message that a text is."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}] if value else []
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Item", item) for item in items if isinstance(item, dict)]


def as_input(item: Item) -> Item:
    """An item without an id of ours, which no provider would know; a compacted conversation of ours as its summary."""
    if item.get("type") == "compaction":
        return unpacked(item)
    if answer_of_item(item.get("id")) is None:
        return item
    return {name: value for name, value in item.items() if name != "id"}


def check_results(before: list[Item], items: list[Item]) -> None:
    """Nothing, if every result of a call among `items` follows its call, there or in the conversation before.

    Raises: BadRequestError that names the first one that does not, in the words of the format's owner.
    """
    calls = {item.get("call_id") for item in before if str(item.get("type")).endswith("_call")}
    for place, item in enumerate(items):
        kind = str(item.get("type"))
        if kind.endswith("_call"):
            calls.add(item.get("call_id"))
        elif kind.endswith("_call_output") and item.get("call_id") not in calls:
            name, called = kind.replace("_", " "), str(item.get("call_id"))[:100]
            raise BadRequestError(
                f"No tool call found for {name} with call_id {called}: /input/{place}; send results of calls that the "
                "conversation has",
                status=400,
            )


# Compaction


def compacted(summary: str, item_id: str) -> Item:
    """The item that a conversation is compacted to."""
    content = urlsafe_b64encode(encode({"summary": summary})).decode()
    return {"id": item_id, "type": "compaction", "encrypted_content": f"{_SEAL}{content}"}


def unpacked(item: Item) -> Item:
    """The message that a compacted conversation of ours stands for; another provider's item as it is.

    Raises: DecodeError for one of ours that was damaged.
    """
    content = item.get("encrypted_content")
    if not isinstance(content, str) or not content.startswith(_SEAL):
        return item
    try:
        own = cast("Item", decode_any(urlsafe_b64decode(content.removeprefix(_SEAL))))
        summary = own["summary"]
    except (ValueError, KeyError, TypeError, Error):
        raise DecodeError(
            "/input: encrypted_content of a compaction item is damaged", path="/input", status=400
        ) from None
    return {"role": "user", "content": f"{_SUMMARY}{summary}"}


# Listing


def listed(items: list[Item], response_id: str) -> list[Item]:
    """Items as a list of them is shown: each with an id, a type and a status, messages with a list of parts."""
    tail = response_id.removeprefix("resp_")
    entries: list[Item] = []
    for number, item in enumerate(items, 1):
        kind = str(item.get("type") or "message")
        entry = {"id": f"{_PREFIXES.get(kind, 'it')}_{tail}i{number:02}", **item, "type": kind}
        if kind == "message":
            content: object = item.get("content")
            if isinstance(content, str) and item.get("role") == "assistant":
                part: Item = {"type": "output_text", "text": content, "annotations": [], "logprobs": []}
                content = [part]
            elif isinstance(content, str):
                content = [{"type": "input_text", "text": content}]
            entry["content"] = content
        if kind in _PREFIXES:
            entry.setdefault("status", "completed")
        entries.append(entry)
    return entries


_PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "cto",
    "reasoning": "rs",
    "compaction": "cmp",
}
"""How ids begin, by the type of the item."""


# How the answer to one request is kept


class Keeping:
    """How the answer to one request of a Responses client is kept, and where."""

    def __init__(
        self,
        stored: StoredResponses,
        response_id: str,
        owner: str,
        prepared: Prepared,
        *,
        stores: bool,
        notes: bool,
        latest: Latest | None = None,
    ) -> None:
        """`response_id` is the id of an answer that is kept here.

        `stores` is what the client says of `store`, on unless it is off; `notes` says whether it has to be noted which
        provider keeps an answer, since its id is not signed; `latest` is that of its WebSocket.
        """
        self._stored = stored
        self._owner = owner
        self._notes = notes
        self._prepared = prepared
        self._latest = latest
        self._stores = stores
        self.id: str = response_id
        """The id of an answer that is kept here."""
        self._dialect = store_dialect()
        store = get_service(self._dialect).store
        assert store is not None  # noqa: S101 - the dialect was chosen by it
        self.store: AnswerStore = store
        """The facts of such answers in the client's dialect."""
        self._spaces: dict[str, tuple[str, str]] = {}
        self.is_changed: bool = prepared.is_changed
        """Whether the request is not the one that came, so that it cannot go out as it came."""

    @property
    def has_spaces(self) -> bool:
        """Whether calls of the answer have to be put in their namespaces."""
        return bool(self._spaces)

    def is_ours(self, target: CallTarget) -> bool:
        """Whether the answer of a target is kept here: it has no store of this form, or knows not what came before."""
        return target.dialect.name != self._dialect or bool(self._prepared.previous)

    def able_targets(self, targets: tuple[CallTarget, ...]) -> tuple[CallTarget, ...]:
        """The targets that can know what came before: where a provider is noted to keep it, no other one does."""
        keeper = self._prepared.kept_by.partition("/")[0]
        if not keeper:
            return targets
        able = [
            target for target in targets if target.dialect.name != self._dialect or target.endpoint.provider == keeper
        ]
        return tuple(able) or targets

    def request_for(self, request: Request, target: CallTarget) -> Request:
        """The request as a target gets it; its namespaces were looked at when it was read."""
        if not self.is_ours(target):
            return request
        if target.dialect.name != self._dialect:
            request, self._spaces = self.store.opened(request)
        return msgspec.structs.replace(request, store=False if target.dialect.name == self._dialect else None)

    def event(self, event: Event, target: CallTarget) -> Event:
        """An event of the answer as the client gets it."""
        if isinstance(event, StreamStart) and self.is_ours(target):
            return msgspec.structs.replace(event, id=self.id, extra=self._with_store_fields(event.extra))
        if isinstance(event, StreamEnd):
            return StreamEnd(self.answer(event.response, target))
        return self.store.placed_event(event, self._spaces) if self._spaces else event

    def answer(self, response: Response[Any], target: CallTarget) -> Response[Any]:
        """The answer as the client gets it."""
        if not self.is_ours(target):
            return response
        response = self.store.placed(response, self._spaces)
        return msgspec.structs.replace(response, id=self.id, extra=self._with_store_fields(response.extra))

    def _with_store_fields(self, extra: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        previous = self._prepared.previous or None
        return {
            **extra,
            self._dialect: {**extra.get(self._dialect, {}), "store": self._stores, "previous_response_id": previous},
        }

    async def keep(self, response: Response[Any], target: CallTarget, write: Callable[[], bytes]) -> None:
        """Keep an answer, as `write` gives what the client gets; of an answer kept elsewhere only whose it is."""
        if self.is_ours(target):
            await self.keep_here(self.id, write, target.endpoint.provider)
        elif not self._stores:
            await self.keep_here(response.id or "", write, target.endpoint.provider)
        elif response.id is not None and self._notes:
            await self._stored.note(self._owner, response.id, target.endpoint.spec)

    async def keep_here(self, response_id: str, write: Callable[[], bytes], provider: str = "") -> None:
        """Keep a provider's answer under an id: in the store, or with its connection where the client wants none."""
        prepared, latest = self._prepared, self._latest
        if latest is not None:
            prepared = latest.with_whole_input(prepared)
        if self._stores:
            await self._stored.keep(self._owner, response_id, write(), prepared, provider)
        elif latest is not None:
            await latest.keep(response_id, write, prepared)
