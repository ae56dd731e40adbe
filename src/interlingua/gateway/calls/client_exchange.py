"""One request of a client, read: whom it names, how it wants its answer, and what it asks.

Strategy: the body is read once (`reading`), and what is decided before a target is asked is decided from that (`Head`).
A request that can go out as it came needs no more; one that has to be translated is decoded by its dialect.

Rules
- A body without a model, or without anything to say to it, is refused with the name of the missing member.
- Histories of foreign clients are mended; the unified dialect refuses by its rules.
- The answer shows the model under the name that the client used for it.
- Every question to a head is answered from what was read: members by their names, the words of a history or of tools.
  Nothing is looked for in the text.
- A word is the name of a member, or the value of `role` or `type`, outside of data.
- A name is looked at where it stands: the type of a source or of bytes, the format of a sound, the head of a data URL.
- What a dialect itself calls a type is no other name of it (`mp3` in Chat, `audio/mp3` at Google).
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from interlingua.client.estimate import estimate_body
from interlingua.dialects._contract import DecodeOptions, ServerContext
from interlingua.dialects._members import is_object
from interlingua.dialects._shapes import SHAPES
from interlingua.dialects.table import get_dialect, get_service, services
from interlingua.errors import DecodeError, Error
from interlingua.gateway.calls.other_models import check_overrides, other_models
from interlingua.gateway.calls.reading import body_of, checked_model, rules_of
from interlingua.types.capability import HistoryPolicy
from interlingua.types.change import Changes
from interlingua.wire.body import body_without, objects_in
from interlingua.wire.http import HttpRequest
from interlingua.wire.media import media_type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.client.call.job import Lane
    from interlingua.client.hooks.run import Hooking
    from interlingua.dialects._contract import DecodedRequest, Dialect
    from interlingua.dialects._service import Service
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.auth import Guard
    from interlingua.gateway.keys.grant import Grant
    from interlingua.gateway.settings import GatewayKey
    from interlingua.gateway.state.stored import Keeping
    from interlingua.gateway.state.vault import Restored
    from interlingua.types.change import Change
    from interlingua.types.request import Request
    from interlingua.types.response import Response
    from interlingua.wire.body import Body
    from interlingua.wire.http import Headers

__all__ = ["ClientExchange", "Head", "missing", "nothing_said", "read", "read_head", "respelled", "spelling_of"]

_OPTIONS = {policy: DecodeOptions(history=policy) for policy in get_args(HistoryPolicy)}


class ClientExchange(msgspec.Struct, eq=False):
    """One request of a client, whose head was read."""

    gateway: Gateway
    """The gateway that serves it."""
    http: GatewayRequest
    """The request as it came."""
    dialect: Dialect
    """The client's dialect."""
    head: Head
    """The facts of its body."""
    key: GatewayKey | None = None
    """The key that it brought; None where none is wanted."""
    changes: list[Change] = []
    """The changes of writing the answer."""
    provider_ids: dict[str, str] = {}
    """Our own call ids in the answer, and the provider's that they stand for."""
    grant: Grant | None = None
    """The right to make this call; None where nothing is counted."""
    keeping: Keeping | None = None
    """How the answer is kept, for a client that can go on from it by its id."""
    warms_up: bool = False
    """Whether the client prepares what it will go on from, and wants no answer of a model."""
    taken_out: tuple[Change, ...] = ()
    """The members that were taken out of the body, since the key may not ask for them."""
    respelled: tuple[Change, ...] = ()
    """The names of media types that are sent under the name that the client's dialect takes."""
    relayed: tuple[Lane, ...] = ()
    """The targets that get the body as it came."""
    hooking: Hooking | None = None
    """The hooks that run around the call; None where there are none, and before they do."""
    hook_changes: tuple[Change, ...] = ()
    """The hooks' changes of the request."""
    restored: Restored | None = None
    """The request with what its dialect had no room for; None before it is translated."""
    _decoded: DecodedRequest | None = None
    _problem: Error | None = None

    @property
    def owner(self) -> str:
        """The name of that key: whose state it may see; empty where there is none."""
        return "" if self.key is None else self.key.name

    @property
    def decoded(self) -> DecodedRequest:
        """The whole request, read by its dialect the first time that somebody asks.

        Raises: DecodeError, HistoryError, LimitExceededError.
        """
        if self._problem is not None:
            raise self._problem
        if self._decoded is None:
            self._decoded = self._read()
        return self._decoded

    async def decode(self) -> None:
        """Have a costly body decoded in another process, so that `decoded` is at hand; for any other one, nothing."""
        if self._decoded is None and self._problem is None and self.head.body.is_costly:
            try:
                offload, name = self.gateway.offload, self.dialect.name
                decoded = await offload.decode(name, self._request(), self._options(), self.owner)
                self._decoded = self._checked(decoded)
            except Error as error:
                self._problem = error.with_traceback(None)

    @property
    def is_read(self) -> bool:
        """Whether the whole request was read."""
        return self._decoded is not None

    def _request(self) -> HttpRequest:
        http = self.http
        url = f"{http.path}?{http.query}" if http.query else http.path
        return HttpRequest(method=http.method, url=url, headers=http.headers, body=http.body)

    def _options(self) -> DecodeOptions:
        return _OPTIONS[self.dialect.service.history]

    def _read(self) -> DecodedRequest:
        return self._checked(self.dialect.decode_request(self._request(), self._options()))

    def _checked(self, decoded: DecodedRequest) -> DecodedRequest:
        if self.keeping is not None:
            self.keeping.store.opened(
                decoded.request
            )  # what is wrong with a namespace is told before any target is asked
        return decoded

    @property
    def is_ours(self) -> bool:
        """Whether the history holds turns that were translated for this client, so that no provider knows them."""
        return (self.keeping is not None and self.keeping.is_changed) or self.head.is_ours

    @property
    def wants_usage(self) -> bool:
        """Whether token counts belong in the stream."""
        if not self.dialect.service.usage_if_asked:
            return True
        options = self.head.body.get("stream_options")
        return is_object(options) and options.get("include_usage") is True

    @property
    def read_changes(self) -> tuple[Change, ...]:
        """Changes of reading the request, and its key's cap; repairs only where it did not go out as it came."""
        before = self.http.changes + self.taken_out + self.respelled
        is_only_seen = bool(self.relayed) and self.restored is None  # an observer reads what goes out as it came
        changes = before if self._decoded is None or is_only_seen else before + self._decoded.changes
        changes = changes if self.grant is None else changes + self.grant.changes
        changes += self.hook_changes
        return changes if self.restored is None else changes + self.restored.changes

    @property
    def hook_headers(self) -> Headers:
        """The headers that report hooks: whether the answer was in a cache, where that was looked into."""
        came = "" if self.hooking is None else self.hooking.context.cache
        return (("x-interlingua-cache", came),) if came else ()

    async def whole(self) -> Request:
        """The whole request with what is stored of its history, restored the first time that somebody asks.

        Raises: as `decoded`.
        """
        if self.restored is None:
            self.restored = await self.gateway.vault.restore(self.owner, self.decoded.request)
        return self.restored.request

    async def remember(self, response: Response[Any]) -> None:
        """Keep what the client's dialect has no room for of a translated answer."""
        if self.restored is not None:
            await self.gateway.vault.remember(self.owner, self.restored, response, self.provider_ids)

    async def keep(self, response: Response[Any], lane: Lane, body: bytes | None = None) -> None:
        """Keep an answer for a client that can go on from it by its id; `body` is its whole text, where it has one."""
        keeping = self.keeping
        if keeping is None:
            return

        def written() -> bytes:
            if body is not None:
                return body
            context = msgspec.structs.replace(self.context(lane.dialect.name), changes=None)
            return self.dialect.encode_response(keeping.answer(response, lane), context).body

        await keeping.keep(response, lane, written)

    def signing(self, lane: Lane) -> Callable[[bytes], bytes] | None:
        """The function that signs the ids in the answer of a target; None where nothing is signed."""
        is_here = self.keeping is not None and self.keeping.is_ours(lane)
        return self.gateway.ids.signing(self.http, lane.endpoint.provider, is_here=is_here)

    def context(self, source: str | None) -> ServerContext:
        """How the answer is to be written, when a target of the dialect `source` gave it."""
        gateway, head = self.gateway, self.head
        return ServerContext(
            model=head.model,
            created=int(gateway.now()),
            make_id=partial(gateway.make_id, self.dialect.service.id_prefix),
            stream_usage=head.stream and self.wants_usage,
            source=source,
            legal=True,
            json_array=head.json_array,
            path=self.http.path,
            request=None if self._decoded is None else self._decoded.request,
            changes=self.changes,
            input_tokens=partial(estimate_body, self.http.body) if self.dialect.service.counts_first else None,
        )


def read(gateway: Gateway, http: GatewayRequest, name: str, body: Body | None = None) -> ClientExchange:
    """The exchange of a client of the dialect `name`; `body` is that of the request, where it was read already.

    Raises: DecodeError with the place for a body that is no JSON object, is ambiguous, names no model, says nothing, or
    says twice what is decided here; PermissionDeniedError for a model that the key may not ask for.
    """
    head = read_head(http, name, body_of(http, name) if body is None else body)
    if http.entry is not None:
        http.entry.set_model(head.model, stream=head.stream)
    if not head.model:
        raise missing("model", "name the model, as `provider/model` or by an alias")
    key = gateway.guard.key_for(http, head.model)
    if head.service.overrides is not None:
        check_overrides(head.body, head.service)
    if not head.says_something and http.path not in head.service.silent_paths:
        raise nothing_said(name)
    exchange = ClientExchange(gateway, http, get_dialect(name), head, key)
    if gateway.guard.lists_models(key):
        _take_out_other_models(exchange, partial(_may_use, gateway.guard, key, head.model))
    return exchange


def _may_use(guard: Guard, key: GatewayKey | None, model: str, other: str) -> bool:
    """Whether a key that asks for a model may ask for another one, under its own name or that of the same provider."""
    provider, slash, _ = model.partition("/")
    lets = guard.lets
    return "," not in other and (lets(key, other) or (bool(slash) and lets(key, f"{provider}/{other}")))


def _take_out_other_models(exchange: ClientExchange, may_use: Callable[[str], bool]) -> None:
    """Take the members out of a request by which its key could reach models that it may not ask for."""
    name, body = exchange.dialect.name, exchange.head.body
    exchange.taken_out = other_models(body, rules_of(name), name, may_use)
    if exchange.taken_out:
        body = body_without(body, frozenset([change.path.rpartition("/")[2] for change in exchange.taken_out]))
        exchange.http = msgspec.structs.replace(exchange.http, body=body.text, read=body)
        exchange.head = msgspec.structs.replace(exchange.head, body=body)


# The head of a request: decisions from the one reading of its body


_OUR_ID = re.compile(r"_il[a-z0-9]{22}")
"""The mark of a turn of the history from another dialect: our own ids."""
_ID_NAMES = ("id", "call_id", "tool_call_id", "tool_use_id")
_ACTING = re.compile(
    r"(?:web_?search|web_fetch|file_?search|code_interpreter|code_?execution|image_generation|mcp|computer_use|"
    r"google_?search|google_?maps|url_?context|tool_search)\w*",
    re.IGNORECASE,
)
"""Words of tools that the provider runs."""
_STATE = frozenset({"previous_response_id", "conversation", "cachedContent", "cached_content", "mcp_servers"})
"""Members that let a provider act, or keep something."""


class Head(msgspec.Struct, frozen=True, eq=False):
    """A request of which the body was read, and nothing was translated."""

    dialect: str
    """The dialect that it is in."""
    service: Service
    """The facts of that dialect beside its bodies."""
    model: str
    """The model that the client names."""
    stream: bool
    """Whether it wants a stream."""
    json_array: bool
    """Whether it wants the stream as one JSON array."""
    body: Body
    """The body."""
    _words: dict[str, frozenset[str]] = {}

    @property
    def has_tools(self) -> bool:
        """Whether tools are offered."""
        return self._says("tools")

    @property
    def says_something(self) -> bool:
        """Whether there is anything to say to the model."""
        return any([self._says(name) for name in self.service.message_members])

    @property
    def is_ours(self) -> bool:
        """Whether the history holds turns that were translated for this client, so that no provider knows them."""
        for name in self.service.message_members:
            if name in self.body.shaped:
                ids = SHAPES[self.dialect][name].ids(self.body.shaped[name])
            else:
                objects = self.objects(name)
                is_foreign = self.service.is_foreign
                if is_foreign is not None and any(map(is_foreign, objects)):
                    return True
                ids = [node[name] for node in objects for name in _ID_NAMES if type(node.get(name)) is str]
            if ids and _OUR_ID.search("\n".join(ids)) is not None:
                return True
        return False

    @property
    def is_committed(self) -> bool:
        """Whether the request lets the provider act or keep something, so that it must not run twice."""
        members = self.body.members
        if "store" in members and self.body.get("store") is True:
            return True
        if not _STATE.isdisjoint(members) and any([self._says(name) for name in _STATE]):
            return True
        return "tools" in members and any([_ACTING.fullmatch(word) is not None for word in self.words("tools")])

    @property
    def is_normal(self) -> bool:
        """Whether a provider of the dialect takes the body as it is written.

        Where it is not, the writer of the dialect says the same in a form that is taken.
        """
        body, is_unusual = self.body, self.service.is_unusual
        if body.repeats_in_data:
            return False
        history = self.service.message_members[0]
        if history in body.shaped:
            return True
        nodes = self.objects(history)
        if is_unusual is not None and any(map(is_unusual, nodes)):
            return False
        return not any([spelling_of(node) is not None for node in nodes])

    @property
    def respelled(self) -> tuple[Change, ...]:
        """The changes where media types stand under other names, and the body is therefore written anew."""
        history = self.service.message_members[0]
        return () if history in self.body.shaped else respelled(self.objects(history), self.dialect, "/messages")

    def objects(self, name: str) -> list[dict[str, Any]]:
        """The objects in a member, as reading has gathered them where it had the rules of this dialect."""
        body, rules = self.body, rules_of(self.dialect)
        if body.rules is rules and name in body.objects:
            return body.objects[name]
        return objects_in(body.get(name), rules.data)

    def words(self, name: str) -> frozenset[str]:
        """The words of a member, gathered the first time that somebody asks."""
        if name not in self._words:
            self._words[name] = self._gathered_words(name)
        return self._words[name]

    def _gathered_words(self, name: str) -> frozenset[str]:
        if name in self.body.shaped:
            return SHAPES[self.dialect][name].words(self.body.shaped[name])
        if name not in self.body:
            return frozenset()
        objects = self.objects(name)
        values = [node.get(name) for node in objects for name in ("role", "type")]
        return frozenset([value for value in values if type(value) is str]).union(*objects)

    def _says(self, name: str) -> bool:
        """Whether a member holds something."""
        shaped = self.body.shaped
        return bool(shaped[name] if name in shaped else self.body.get(name))


def read_head(http: GatewayRequest, name: str, body: Body) -> Head:
    """The head of a request in the dialect `name`, whose body was read.

    Raises: DecodeError with the place.
    """
    service = get_service(name)
    if service.read_path is not None:
        path = service.read_path(f"{http.path}?{http.query}")
        if path is None:
            end = service.asked_at.replace("{model}", "NAME").split("/", 2)[2]
            raise DecodeError(f"the path names no model: it must end in /{end}", status=400)
        return Head(name, service, checked_model(path.model), path.streams, path.json_array, body)
    stream = _member(body, "stream", bool)
    streams = service.streams if stream is None else stream
    return Head(name, service, checked_model(_member(body, "model", str) or ""), streams, False, body)


def _member(body: Body, name: str, kind: type) -> Any:
    """The value of a member; None where it says nothing."""
    value = body.get(name)
    if value is None or type(value) is kind:
        return value
    path, got = f"/{name}", type(value).__name__
    raise DecodeError(f"{path}: expected `{kind.__name__} | null`, got `{got}`", path=path, status=400)


def missing(member: str, hint: str) -> DecodeError:
    """The error of a body that lacks a member."""
    return DecodeError(f"/{member}: it is missing or empty; {hint}", path=f"/{member}", status=400)


def nothing_said(name: str) -> DecodeError:
    """The error of a body in the dialect `name` that says nothing to the model."""
    return missing(get_service(name).message_members[0], "there is nothing to say to the model")


# Names of media types that a provider of the client's dialect does not take


MAX_TOLD = 8
"""How many names are told of one request."""
_TYPES = ("media_type", "mimeType", "mime_type")
_URLS = ("url", "image_url", "file_data", "document_url")
_LONGEST_HEAD = 128
_OWN = frozenset[str]().union(*[service.media_names for service in services().values()])


def spelling_of(node: dict[str, Any]) -> tuple[str, str] | None:
    """The other name of a media type that an object has, and the one that is taken; None where it has none."""
    for name in _TYPES:
        word = node.get(name)
        if type(word) is str and (standard := media_type_of(word)) != word and word not in _OWN:
            return word, standard
    word = node.get("format")
    if type(word) is str and "data" in node and word not in _OWN:
        plain = word if "/" in word else f"audio/{word}"
        standard = media_type_of(plain)
        return (word, standard) if standard != plain or "/" in word else None
    for name in _URLS:
        url = node.get(name)
        if type(url) is str and url.startswith("data:"):
            word = url[5:_LONGEST_HEAD].partition(",")[0].partition(";")[0]
            if (standard := media_type_of(word)) != word:
                return word, standard
    return None


def respelled(nodes: Iterable[dict[str, Any]], dialect: str, path: str) -> tuple[Change, ...]:
    """An entry for each other name that the objects of a history have."""
    changes = Changes(dialect, "decode_request")
    spellings = dict.fromkeys([spelling for node in nodes if (spelling := spelling_of(node)) is not None])
    for word, standard in list(spellings)[:MAX_TOLD]:
        changes.add("media_type_corrected", path, f"{word[:_LONGEST_HEAD]} is {standard}")
    return changes.done()
