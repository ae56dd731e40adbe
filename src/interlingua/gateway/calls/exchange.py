"""One request of a client from its reading to its reply: the way of a call through the gateway, stage by stage.

Strategy: the body is read once (`reading`), its key is let in (`keys/admission`), its targets are planned (`plan`), the
call is sent (`sending`), and its answer becomes a reply, whole or as a stream (`streams`, `replies`). What is found out
on the way is in the `ClientExchange`, whose owner is this module.

Rules
- A body without a model, or without anything to say to it, is refused with the name of the missing member.
- Histories of foreign clients are repaired; the unified dialect refuses by its rules.
- The answer shows the model under the name that the client used for it.
- Nothing is sent to the client before the first upstream event is there: until then a chain may go on, and an error has
  a status of its own. After that a failure is the dialect's own error in the stream.
- Pieces of arguments are passed on as they come; arguments that turn out broken are an error in the finish's place.
- With hooks a request is read; one that they leave alone goes out as it came where it would without them, and so does
  its answer. What they change is written anew; so is a stream where a hook has a step for answers.
- Hooks are asked once the key was let in: its limits count for what they refuse and answer, too. An answer of a hook
  costs nothing. What a key is limited to is laid over what they change.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec.structs import replace

from interlingua.client.aio.pump import carried_out
from interlingua.client.call.relay import weighed
from interlingua.client.call.values import CallRefused
from interlingua.client.observe import is_observed
from interlingua.dialects._contract import DecodeOptions, ServerContext
from interlingua.dialects._limited import limited
from interlingua.dialects._members import is_object
from interlingua.dialects.table import get_dialect, get_service, stream_type
from interlingua.errors import BadRequestError, Error, UnsupportedError
from interlingua.gateway.calls.plan import make_call
from interlingua.gateway.calls.reading import (
    CHEAP_BYTES,
    Head,
    body_of,
    check_overrides,
    missing,
    nothing_said,
    other_models,
    posted_body,
    read_head,
    rules_of,
)
from interlingua.gateway.calls.replies import (
    kept_headers,
    own_headers,
    reply_as_sent,
    start_with_provider,
    trail_headers,
    translated_reply,
    with_provider,
    with_way_out,
)
from interlingua.gateway.calls.sending import Sending
from interlingua.gateway.calls.streams import streamed
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.state.stored import Keeping
from interlingua.routing.estimate import estimate_body
from interlingua.stream.unfold import unfold
from interlingua.types.capability import HistoryPolicy
from interlingua.types.change import first_changes
from interlingua.types.response import Response
from interlingua.types.usage import Usage
from interlingua.wire.body import body_without
from interlingua.wire.http import HttpRequest
from interlingua.wire.sse import STREAM_HEADERS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua import Hook
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.client.hooks.run import Hooking
    from interlingua.dialects._contract import DecodedRequest, Dialect, Encoded
    from interlingua.gateway.calls.plan import Plans
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.admission import Admission
    from interlingua.gateway.keys.auth import Guard
    from interlingua.gateway.keys.reservation import CallReservation
    from interlingua.gateway.lifecycle import Lifecycle
    from interlingua.gateway.offload.pool import Offload
    from interlingua.gateway.settings import GatewayKey
    from interlingua.gateway.state.ownership import Ownership
    from interlingua.gateway.state.reasoning_store import ReasoningStore, Restored
    from interlingua.gateway.state.stored import StoredResponses
    from interlingua.media.fetch import Fetched
    from interlingua.types.change import Change
    from interlingua.types.event import Event
    from interlingua.types.request import Request
    from interlingua.wire.body import Body
    from interlingua.wire.http import Headers

__all__ = ["ClientExchange", "Conversations", "call_of"]

_OPTIONS = {policy: DecodeOptions(history=policy) for policy in get_args(HistoryPolicy)}


class ClientExchange(msgspec.Struct, eq=False):
    """One request of a client, whose head was read."""

    conversations: Conversations
    """The conversations of the gateway that serves it."""
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
    reservation: CallReservation | None = None
    """The right to make this call; None where nothing is counted."""
    keeping: Keeping | None = None
    """How the answer is kept, for a client that can go on from it by its id."""
    warms_up: bool = False
    """Whether the client prepares what it will go on from, and wants no answer of a model."""
    taken_out: tuple[Change, ...] = ()
    """The members that were taken out of the body, since the key may not ask for them."""
    respelled: tuple[Change, ...] = ()
    """The names of media types that are sent under the name that the client's dialect takes."""
    relayed: tuple[CallTarget, ...] = ()
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
            self._decoded = self._checked(self.dialect.decode_request(self._request(), self._options()))
        return self._decoded

    async def decode(self) -> None:
        """Have a costly body decoded in another process, so that `decoded` is at hand; for any other one, nothing."""
        if self._decoded is None and self._problem is None and self.head.body.is_costly:
            try:
                offload, name = self.conversations.offload, self.dialect.name
                decoded = await offload.decode(name, self._request(), self._options(), self.owner)
                self._decoded = self._checked(decoded)
            except Error as error:
                self._problem = error.with_traceback(None)

    async def prepare(self) -> None:
        """Have a costly body decoded in another process where somebody looks into it; a large one waits its turn."""
        if self.head.body.is_costly and (self.key is not None or is_observed() or not self.relayed):
            await self.decode()
        elif len(self.http.body) > CHEAP_BYTES:
            await self.conversations.offload.turns.wait()

    @property
    def writer(self) -> partial[Awaitable[Encoded]]:
        """Encodes a costly request in another process."""
        return partial(self.conversations.offload.encode, owner=self.owner)

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

    def _checked(self, decoded: DecodedRequest) -> DecodedRequest:
        if self.keeping is not None:
            self.keeping.store.opened(decoded.request)  # a wrong namespace is told before any target is asked
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
        changes = changes if self.reservation is None else changes + self.reservation.changes
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
            self.restored = await self.conversations.reasoning_store.restore(self.owner, self.decoded.request)
        return self.restored.request

    async def remember(self, response: Response[Any]) -> None:
        """Keep what the client's dialect has no room for of a translated answer."""
        if self.restored is not None:
            await self.conversations.reasoning_store.remember(self.owner, self.restored, response, self.provider_ids)

    async def keep(self, response: Response[Any], target: CallTarget, body: bytes | None = None) -> None:
        """Keep an answer for a client that can go on from it by its id; `body` is its whole text, where it has one."""
        keeping = self.keeping
        if keeping is None:
            return

        def written() -> bytes:
            if body is not None:
                return body
            context = replace(self.context(target.dialect.name), changes=None)
            return self.dialect.encode_response(keeping.answer(response, target), context).body

        await keeping.keep(response, target, written)

    def able_targets(self, targets: tuple[CallTarget, ...]) -> tuple[CallTarget, ...]:
        """The targets that know what the request goes on with.

        Raises: BadRequestError where there is none.
        """
        targets = targets if self.keeping is None else self.keeping.able_targets(targets)
        return self.conversations.ids.able_targets(targets, self.http)

    def request_for(self, request: Request, target: CallTarget) -> Request:
        """The request as one of several targets gets it."""
        return request if self.keeping is None else self.keeping.request_for(request, target)

    async def settle(
        self, response: Response[Any] | None, target: CallTarget | None = None, *, is_partial: bool = False
    ) -> None:
        """Write down what the call has used, where that is counted and was not yet, as `CallReservation.settle`."""
        settling = (
            None if self.reservation is None else self.reservation.settle(response, target, is_partial=is_partial)
        )
        if settling is not None:
            await settling

    async def settle_failed(self, error: BaseException) -> None:
        """Write down what a call has used that ended with an error."""
        settling = None if self.reservation is None else self.reservation.settle_failed(error)
        if settling is not None:
            await settling

    def shown(self, response: Response[Any], target: CallTarget) -> Response[Any]:
        """The answer of a target as the client gets it."""
        response = response if self.keeping is None else self.keeping.answer(response, target)
        if self.http.facts.names_provider:
            response = with_provider(response, target.endpoint.provider, self.dialect.name)
        return response

    def shown_events(self, events: list[Event], target: CallTarget) -> list[Event]:
        """Events of the beginning, the end or a call of an answer, as the client gets them."""
        if self.http.facts.names_provider:
            events = [start_with_provider(event, target.endpoint.provider, self.dialect.name) for event in events]
        return events if self.keeping is None else [self.keeping.event(event, target) for event in events]

    @property
    def changes_calls(self) -> bool:
        """Whether the client gets calls of the answer in namespaces, so that every event has to be looked at."""
        return self.keeping is not None and self.keeping.has_spaces

    def signing(self, target: CallTarget) -> Callable[[bytes], bytes] | None:
        """The function that signs the ids in the answer of a target; None where nothing is signed."""
        is_here = self.keeping is not None and self.keeping.is_ours(target)
        return self.conversations.ids.signing(self.http, target.endpoint.provider, is_here=is_here)

    def context(self, source: str | None) -> ServerContext:
        """How the answer is to be written, when a target of the dialect `source` gave it."""
        conversations, head = self.conversations, self.head
        return ServerContext(
            model=head.model,
            created=int(conversations.now()),
            make_id=partial(conversations.make_id, self.dialect.service.id_prefix),
            stream_usage=head.stream and self.wants_usage,
            source=source,
            legal=True,
            json_array=head.json_array,
            enum_text=self._decoded is not None and self._decoded.enum_text,
            path=self.http.path,
            request=None if self._decoded is None else self._decoded.request,
            changes=self.changes,
            input_tokens=partial(estimate_body, self.http.body) if self.dialect.service.counts_first else None,
        )


class Conversations(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Conversations with clients of every dialect."""

    guard: Guard
    """The guard that knows the keys."""
    admission: Admission
    """The admission of calls by the limits of keys."""
    plans: Plans
    """The plans of requests."""
    ids: Ownership
    """The owners of state that providers keep."""
    stored: StoredResponses
    """Answers that clients go on from by their ids."""
    reasoning_store: ReasoningStore
    """State that clients' dialects have no room for."""
    offload: Offload
    """Where costly bodies are read, decoded and encoded."""
    hooks: tuple[Hook, ...]
    """Hooks that run around conversations, in this order."""
    lifecycle: Lifecycle
    """Whether the gateway ends."""
    fetch: Callable[[str], Awaitable[Fetched]] | None
    """Gets what an address in a body names; None where that is not allowed."""
    make_id: Callable[[str], str]
    """Makes a new id that begins with a prefix."""
    now: Callable[[], float]
    """Unix time in seconds."""

    async def converse(self, dialect: str, http: GatewayRequest) -> GatewayReply:
        """The reply to a request of a client of a dialect.

        Raises: what a call raises; as `read_exchange`.
        """
        exchange = await self.read_exchange(http, dialect)
        call = await make_call(exchange)
        if exchange.key is not None:
            await self.admission.admit(exchange, exchange.key, call)
            cap = None if exchange.reservation is None else exchange.reservation.cap
            if cap is not None and call.request.messages:  # else it goes out as it came, and is capped there
                request = call.request
                call = replace(
                    call, request=limited(request, cap) if request.extra else replace(request, max_tokens=cap)
                )
        if exchange.warms_up:
            return await _warm_up(exchange)
        try:
            if self.hooks:
                result = await _run_hooks(exchange, call)
                if isinstance(result, GatewayReply):
                    return result
                call = result
            return await (streamed(exchange, call) if exchange.head.stream else _whole(exchange, call))
        except CallRefused as refusal:
            raise refusal.error from None
        except BaseException as error:
            await exchange.settle_failed(error)
            raise

    async def read_exchange(self, http: GatewayRequest, dialect: str) -> ClientExchange:
        """The exchange of a client; earlier turns of a Responses client that are kept here are put into its request.

        Raises: as `read`; BadRequestError for an answer that is not kept.
        """
        body = await self.offload.body_of(http, dialect)
        if get_service(dialect).store is None:
            return self.read(http, dialect, body)
        owner, latest = self.ids.owner(http), http.latest
        if latest is None:
            prepared = await self.stored.prepare(owner, body)
        else:
            prepared = await latest.responses.prepare(owner, posted_body(body))
        if prepared.body is not body:
            http = replace(http, body=prepared.body.text, read=prepared.body)
        exchange = self.read(http, dialect, prepared.body)
        exchange.keeping = Keeping(
            self.stored,
            self.make_id("resp_"),
            owner,
            prepared,
            stores=body.get("store") is not False,
            notes=not self.ids.is_on,  # a signed id says itself who keeps it
            latest=latest,
        )
        exchange.warms_up = latest is not None and body.get("generate") is False
        return exchange

    def read(self, http: GatewayRequest, name: str, body: Body | None = None) -> ClientExchange:
        """The exchange of a client of the dialect `name`; `body` is that of the request, where it was read already.

        Raises: DecodeError with the place for a body that is no JSON object, is ambiguous, names no model, says
        nothing, or says twice what is decided here; PermissionDeniedError for a model that the key may not ask for.
        """
        head = read_head(http, name, body_of(http, name) if body is None else body)
        if http.entry is not None:
            http.entry.set_model(head.model, stream=head.stream)
        if not head.model:
            raise missing("model", "name the model, as `provider/model` or by an alias")
        key = self.guard.key_for(http, head.model)
        if head.service.overrides is not None:
            check_overrides(head.body, head.service)
        if not head.says_something and http.path not in head.service.silent_paths:
            raise nothing_said(name)
        exchange = ClientExchange(self, http, get_dialect(name), head, key)
        if self.guard.lists_models(key):
            # Members by which the key could reach models that it may not ask for go out of the request.
            may_use = partial(_may_use, self.guard, key, head.model)
            exchange.taken_out = other_models(head.body, rules_of(name), name, may_use)
            if exchange.taken_out:
                members = frozenset([change.path.rpartition("/")[2] for change in exchange.taken_out])
                rest = body_without(head.body, members)
                exchange.http = replace(http, body=rest.text, read=rest)
                exchange.head = replace(head, body=rest)
        return exchange


async def call_of(exchange: ClientExchange) -> Call:
    """The client's call, as `make_call`, with about how many tokens it has where a limit wants to know.

    Raises: as `make_call`.
    """
    return weighed(await make_call(exchange), partial(estimate_body, exchange.http.body))


async def _whole(exchange: ClientExchange, call: Call) -> GatewayReply:
    """The reply of a whole answer."""
    sending = Sending(exchange)
    try:
        response = await carried_out(sending.call(call))
    except UnsupportedError as error:
        raise with_way_out(error) from error
    last, target, sent = sending.served[-1]
    if exchange.reservation is not None:
        await exchange.settle(last, target)
    if exchange.hooking is not None:
        answer = await carried_out(exchange.hooking.after(response))
        sent = sent if exchange.hooking.is_same(response, answer) else None
        response = answer
    if sent is None:
        await exchange.remember(response)
        context = exchange.context(target.dialect.name)
        reply = translated_reply(exchange.dialect, exchange.shown(response, target), context)
        status, headers, body = reply.status, reply.headers, reply.body
    else:
        shown, make_context = exchange.shown(response, target), partial(exchange.context, target.dialect.name)
        sent, response = reply_as_sent(exchange.dialect, sent, shown, make_context, is_whole=shown is response)
        status, body = sent.status, sent.body
        headers = (("content-type", exchange.dialect.service.body_type), *kept_headers(sent.headers))
    if exchange.keeping is not None:
        await exchange.keep(response, target, body)
    changes = first_changes((*exchange.read_changes, *response.changes, *exchange.changes))
    if exchange.http.entry is not None:
        exchange.http.entry.answered(response, changes)
    sign = exchange.signing(target)
    if sign is not None:
        body = sign(body)
    trail = trail_headers(response.attempts, changes, response.cost_usd)
    if exchange.hooking is not None:
        trail += exchange.hook_headers
    return GatewayReply(status=status, headers=headers + trail, body=body)


# Hooks


_UNUSED: Response[None] = Response(usage=Usage(input_tokens=0, output_tokens=0), cost_usd=0.0)
"""The cost to its key of an answer that no target gave."""


async def _run_hooks(exchange: ClientExchange, call: Call) -> Call | GatewayReply:
    """The call with the request that the hooks make of it, or the reply of one that answers.

    Raises: what a hook raises.
    """
    from interlingua.client.hooks.run import Hooking, context_of  # who has no hooks pays nothing

    context = context_of(
        call, stream=exchange.head.stream, model=exchange.head.model, owner=exchange.owner, client=exchange.dialect.name
    )
    hooking = exchange.hooking = Hooking(exchange.conversations.hooks, context)
    result = await carried_out(hooking.before(call.request))
    if isinstance(result, Response):
        return await _reply_of_hook(exchange, await carried_out(hooking.after(replace(result, request=call.request))))
    exchange.hook_changes = hooking.take_changes()
    if exchange.hook_changes or (exchange.head.stream and hooking.reads_answers):
        exchange.relayed = ()
    cap = None if exchange.reservation is None else exchange.reservation.cap
    if cap is not None:
        result = limited(result, cap if result.max_tokens is None else min(result.max_tokens, cap))
    return replace(call, request=result, hooking=hooking)


async def _reply_of_hook(exchange: ClientExchange, response: Response[Any]) -> GatewayReply:
    """The reply of an answer that no target gave, whole or as a stream."""
    await exchange.settle(replace(_UNUSED, model=response.model))
    dialect, context, keeping = exchange.dialect, exchange.context(None), exchange.keeping
    if keeping is not None:
        response = replace(response, id=keeping.id)
        whole = replace(context, changes=None)
        await keeping.keep_here(keeping.id, lambda: dialect.encode_response(response, whole).body)
    await exchange.remember(response)
    if exchange.head.stream:
        encode_event = dialect.stream_encoder(context).encode
        body = b"".join([encode_event(event) for event in unfold(response)])
        kind = stream_type(dialect.name, json_array=exchange.head.json_array)
        status, headers = 200, (("content-type", kind), *STREAM_HEADERS)
    else:
        reply = dialect.encode_response(response, context)
        status, headers, body = reply.status, own_headers(reply.headers), reply.body
    changes = first_changes((*exchange.read_changes, *response.changes, *exchange.changes))
    if exchange.http.entry is not None:
        exchange.http.entry.answered(replace(response, usage=None), changes)  # nobody was asked, nothing was used
    trail = trail_headers(response.attempts, changes, response.cost_usd)
    return GatewayReply(status=status, headers=(*headers, *trail, *exchange.hook_headers), body=body)


# A turn of a WebSocket without a model
#
# `generate: false` prepares what the next turn goes on from. The request is read, its model looked up and its key asked
# for, as with any other; no target is called, and nothing is charged. The input is kept.


async def _warm_up(exchange: ClientExchange) -> GatewayReply:
    """The stream of an answer that says nothing, kept as any other answer of the gateway's own.

    Raises: BadRequestError where it would go on from an answer that a provider keeps: nobody here knows that.
    """
    await exchange.settle(None)
    keeping, dialect = exchange.keeping, exchange.dialect
    if keeping is None or exchange.head.body.get("previous_response_id") is not None:
        raise BadRequestError(
            "/generate: an answer that its provider keeps cannot be gone on from without a model; leave `generate` out",
            status=400,
        )
    response: Response[None] = Response(
        parts=(), finish_reason="stop", usage=Usage(input_tokens=0, output_tokens=0), id=keeping.id
    )
    whole = replace(exchange.context(None), changes=None)
    await keeping.keep_here(keeping.id, lambda: dialect.encode_response(response, whole).body)
    encode_event = dialect.stream_encoder(exchange.context(None)).encode
    body = b"".join(map(encode_event, unfold(response)))
    return GatewayReply(headers=(("content-type", stream_type(dialect.name, json_array=False)),), body=body)


def _may_use(guard: Guard, key: GatewayKey | None, model: str, other: str) -> bool:
    """Whether a key that asks for a model may ask for another one, under its own name or that of the same provider."""
    provider, slash, _ = model.partition("/")
    lets = guard.lets
    return "," not in other and (lets(key, other) or (bool(slash) and lets(key, f"{provider}/{other}")))
