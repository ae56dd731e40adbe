"""The gateway: one async callable over plain values; any client dialect in, any provider out.

Rules
- Every request is screened first: who asks, from where, with which key. Nothing else is done for who may not ask.
- Whatever goes wrong is told in the dialect of the client's route, with a status that its SDK understands.
- Clock, wall clock and random source are injected; state lives in the gateway alone, so one process may have several.
"""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from interlingua.dialects.table import DEFAULT_DIALECT, DIALECTS, services
from interlingua.errors import BadRequestError, Error, NotFoundError
from interlingua.gateway.calls.plan import Plans, Targets
from interlingua.gateway.calls.reading import CHEAP_BYTES
from interlingua.gateway.calls.replies import cut_off, error_reply, names_provider, own_fault
from interlingua.gateway.chance import random_name
from interlingua.gateway.console.access import Access
from interlingua.gateway.console.feed import Feed
from interlingua.gateway.hooks import made_hooks
from interlingua.gateway.http import GatewayReply, dialect_by_headers
from interlingua.gateway.keys.admission import admission_of
from interlingua.gateway.keys.auth import Guard
from interlingua.gateway.keys.keyring import KeyRing, open_database
from interlingua.gateway.lifecycle import Lifecycle
from interlingua.gateway.offload.pool import Offload
from interlingua.gateway.parts import parts_of
from interlingua.gateway.records.observing import observers_of
from interlingua.gateway.records.record import end_with_body, origin_of
from interlingua.gateway.records.recorder import Recorder
from interlingua.gateway.routes import find_route, meant_path, methods_of, packaged_dialect
from interlingua.gateway.serving.bodies import too_large
from interlingua.gateway.serving.receiving import Receiving
from interlingua.gateway.settings import GatewaySettings
from interlingua.gateway.state.latest import latest_responses
from interlingua.gateway.state.ownership import Ownership
from interlingua.gateway.state.reasoning_store import ReasoningStore, memory_reasoning_store
from interlingua.gateway.state.stored import StoredResponses, memory_responses
from interlingua.registry.resolve import default_registry
from interlingua.transport.override import tapped

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from interlingua import Hook
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.admission import Admission
    from interlingua.gateway.keys.shared_keys import KeyWatch
    from interlingua.gateway.parts import Parts
    from interlingua.gateway.records.metrics import Metrics
    from interlingua.gateway.records.record import Origin
    from interlingua.gateway.records.spans import Spans
    from interlingua.gateway.serving.peers import Peers
    from interlingua.gateway.settings import GatewayKey
    from interlingua.gateway.state.store import MemoryStore
    from interlingua.gateway.state.stored import Held
    from interlingua.media.fetch import Fetched
    from interlingua.registry.resolve import Registry

__all__ = ["Gateway", "Switch", "dialect_of"]

_ID = re.compile(r"[\w.:/+=-]{1,128}", re.ASCII)
_PREFIXES = sorted(
    [(prefix, name) for name, service in services().items() for prefix in service.prefixes],
    key=lambda pair: -len(pair[0]),
)
"""The dialect that is told an error, by the beginning of a path that nothing answers; the longest counts."""


class Switch(NamedTuple):
    """The change to other settings, made but not yet in force."""

    wants_key: bool
    """Whether a client needs a key under them."""
    take: Callable[[], None]
    """Puts them in force."""
    drop: Callable[[], None]
    """Lets go of what was made for them."""


class Gateway:
    """One gateway: its settings, its targets, its state."""

    peers: Peers | None = None
    """The other workers of the same gateway, where there are several."""
    clock: Callable[[], float]
    """Seconds that only grow."""
    now: Callable[[], float]
    """Unix time in seconds."""
    metrics: Metrics | None
    """The counters of requests, where metrics are on."""
    spans: Spans | None
    """The maker of OpenTelemetry spans, where they are wanted."""
    own_hooks: tuple[Hook, ...]
    """The hooks that code brought along, which are that code's to close."""
    hooks: tuple[Hook, ...]
    """Hooks that run around conversations, in this order."""
    receiving: Receiving
    """The bodies that are not whole yet."""
    latest: MemoryStore[Held]
    """The latest answers of WebSockets, which are kept nowhere else."""

    _shared_keys: KeyWatch | None = None
    _replaced_hooks: tuple[Hook, ...] = ()

    def __init__(
        self,
        settings: GatewaySettings | None = None,
        *,
        registry: Registry | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        random: Callable[[], str] = random_name,
        fetch: Callable[[str], Awaitable[Fetched]] | None = None,
        hooks: Sequence[Hook] = (),
    ) -> None:
        """A gateway over the targets of `registry`, the process's own by default, with `hooks` around conversations."""
        self.settings: GatewaySettings = settings or GatewaySettings()
        """How it is set up."""
        self.registry: Registry = registry or default_registry()
        """Where names come from."""
        self.own_hooks = tuple(hooks)
        self.hooks = made_hooks(self.settings.hooks, self.own_hooks)
        self.targets: Targets = Targets(self.registry, self.settings.hooks.policy.rewrite)
        """The targets of names."""
        self.plans: Plans = Plans(self.targets, self.settings, clock=clock, make_id=self.make_id)
        """The plans of requests, settled once for all that name the same model."""
        self._database = open_database(self.settings, now)
        ring = KeyRing(self.settings.keys, self._database, clock=clock)
        self.guard: Guard = Guard(self.settings, ring, now=now, targets_of=self.registry.targets_of)
        """The guard that checks keys, addresses and names."""
        self.clock, self.now, self._random = clock, now, random
        self.fetch: Callable[[str], Awaitable[Fetched]] = fetch or _guarded
        """Gets what an address names, where that is allowed."""
        self.lifecycle: Lifecycle = Lifecycle()
        """Whether it is about to end."""
        self.reasoning_store: ReasoningStore = memory_reasoning_store(clock)
        """The reasoning store: state that clients' dialects have no room for."""
        self.stored: StoredResponses = memory_responses(clock)
        """Answers that clients go on from by their ids."""
        self.offload: Offload = Offload(self.guard.name_of)
        """Where costly bodies are read, decoded and encoded."""
        self.ids: Ownership = Ownership(self.settings, self.guard, self.registry, self.offload, clock=clock)
        """The owners of state that providers keep."""
        self.access: Access = Access(self.settings, self.guard)
        """The rights of those who look at it."""
        self.recorder: Recorder = Recorder(clock=clock, now=now)
        """The recorder that reports finished requests."""
        observers = observers_of(self.settings.observing, self.recorder, self.registry, now)
        self.metrics, self.spans, self._end_observers = observers
        self.feed: Feed = Feed(self.recorder, now, has_content=self.settings.console_content)
        """The requests that the console shows."""
        self.receiving, self.latest = Receiving(), latest_responses(clock)
        self.admission: Admission = admission_of(self.settings, now, self.make_id)
        """The admission of calls by the limits of keys."""
        self.compose()

    async def __call__(self, request: GatewayRequest) -> GatewayReply:
        """The reply to a request; it never raises but for cancellation."""
        request = msgspec.structs.replace(request)  # the caller may ask with the same one again
        refusal = self.begin(request)
        return await end_with_body(request, self._reply(request, refusal))

    async def _reply(self, request: GatewayRequest, refusal: GatewayReply | None) -> GatewayReply:
        return refusal or await self.answer(request)

    def begin(self, request: GatewayRequest) -> GatewayReply | None:
        """Take a request by its head: its route, and an entry where somebody wants to know what becomes of it.

        The refusal of who may not ask; None for who may. Who serves it tells the entry its end.
        """
        memo, recorder = request.facts, self.recorder
        welcome = request.welcome = self.guard.welcome(request)
        if memo.route is None:
            route = memo.route = find_route(request.method, request.path)
            memo.names_provider = route is not None and names_provider(request, route.dialect)
        if recorder.late_sinks or recorder.sinks or recorder.content_sinks:
            origin = memo.origin or self._origin_of(request)
            key = self.guard.key(request) if welcome is None else welcome.key
            request.entry = recorder.begin(request, origin, origin.client_id or self.make_id("req_"), key)
        if welcome is None:
            return self.screen(request)
        key = welcome.key
        return None if key is None or key.terms.max_body_bytes is None else self._weigh(request, key)

    def _weigh(self, request: GatewayRequest, key: GatewayKey) -> GatewayReply | None:
        """The refusal of a body that came along with its head and is larger than its key may send; None for others."""
        most = key.terms.max_body_bytes
        if most is None or len(request.body) <= most:
            return None
        return self.refuse(request, too_large(*self.body_limit(request)))

    def body_limit(self, request: GatewayRequest) -> tuple[int, str]:
        """How large the body of a request may be that may be asked, and whose bound that is, for people."""
        most, key = self.settings.max_body_bytes, self.guard.key(request)
        own = None if key is None else key.terms.max_body_bytes
        return (
            (most, "") if key is None or own is None or own >= most else (own, f"max_body_bytes of the key {key.name}")
        )

    def begin_unread(self, request: GatewayRequest) -> None:
        """Take what came of a request that cannot be read to its end: an entry where somebody wants to know of it."""
        if self.recorder.is_wanted:
            origin, key = self._origin_of(request), self.guard.key(request)
            request.entry = self.recorder.begin(request, origin, origin.client_id or self.make_id("req_"), key)

    def _origin_of(self, request: GatewayRequest) -> Origin:
        route = request.facts.route
        pattern, client = ("", dialect_of(request)) if route is None else (route.pattern, route.dialect)
        origin = request.facts.origin = origin_of(
            request,
            route=pattern,
            client=client or dialect_by_headers(request),
            client_id=_client_id(request),
        )
        return origin

    def screen(self, request: GatewayRequest) -> GatewayReply | None:
        """The refusal of who may not ask, from the head of a request alone; None for who may."""
        route = request.facts.route
        try:
            self.guard.check(request, is_open=route is not None and route.is_open)
        except Error as error:
            return self.refuse(request, error)
        key = self.guard.key(request) if request.body else None
        return None if key is None else self._weigh(request, key)

    async def answer(self, request: GatewayRequest) -> GatewayReply:
        """The reply to a request that has begun."""
        route, entry = request.facts.route, request.entry
        try:
            if route is None:
                raise _unknown(request)
            if len(request.body) > CHEAP_BYTES:
                await self.offload.turns.wait()
                await self.ids.read_costly(request)
            request = self.ids.opened(request)
            if entry is None or (entry.traffic is None and self.spans is None):
                reply = await route.answer(self.parts, request)
            else:
                # Somebody wants the content of this request, or a span.
                with ExitStack() as stack:
                    if entry.traffic is not None:
                        entry.traffic.set_request(request)
                        stack.enter_context(tapped(entry.traffic.tap))
                    if self.spans is not None:
                        stack.enter_context(self.spans.around(request, entry))
                    reply = await route.answer(self.parts, request)
        except Error as error:
            return self.refuse(request, error)
        except asyncio.CancelledError as cancelled:
            return self.refuse(request, cut_off(cancelled, is_ending=self.lifecycle.is_ending))
        except Exception as error:  # noqa: BLE001 - a fault of ours must reach the client as an error of its dialect
            return self.refuse(request, own_fault(error))
        return self._named(request, reply)

    def make_id(self, prefix: str = "call_") -> str:
        """A new id: `prefix`, then 24 of `[a-z0-9]` that begin with `il`, so that ours can be told from others."""
        return f"{prefix}il{self._random()}"

    def set_up(self, settings: GatewaySettings) -> None:
        """Go on with other settings: keys, terms and bounds count from the next request on.

        The database of keys, and what the keys have used, stay those that it began with.

        Raises: ConfigError, UsageError for settings that cannot be taken; those before them stay.
        """
        self.switch_to(settings).take()

    def switch_to(self, settings: GatewaySettings) -> Switch:
        """The switch to other settings, made as far as they may be refused; nothing changes before it is taken.

        Raises: ConfigError, UsageError.
        """
        ring = KeyRing(settings.keys, self._database, self._shared_keys, clock=self.clock)
        hooks = None if settings.hooks == self.settings.hooks else made_hooks(settings.hooks, self.own_hooks)
        return Switch(
            wants_key=bool(ring) and not settings.is_open,
            take=partial(self._take, settings, ring, hooks),
            drop=partial(self._close_hooks, hooks or ()),
        )

    def _take(self, settings: GatewaySettings, ring: KeyRing, hooks: tuple[Hook, ...] | None) -> None:
        if hooks is not None:
            self._close_hooks(self._replaced_hooks)
            self._replaced_hooks, self.hooks = self.hooks, hooks  # requests under way go on with those before
            self.targets.set_up(settings.hooks.policy.rewrite)
        self.settings = settings
        self.plans.set_up(settings)
        self.guard.set_up(settings, ring)
        self.access.set_up(settings)
        self.admission.teams = settings.teams
        self.ids.set_up(settings)
        self.feed.has_content = settings.console_content
        self.compose()

    def compose(self) -> None:
        """Make the parts anew, for requests from now on: settings, stores or other workers have changed."""
        self.parts: Parts = parts_of(self)
        """The parts that answer each kind of request."""

    def _close_hooks(self, hooks: tuple[Hook, ...]) -> None:
        """Close those that the gateway made; hooks that code brought along are that code's to close."""
        for hook in hooks:
            if hook not in self.own_hooks:
                hook.close()

    def take_keys(self, shared: KeyWatch) -> None:
        """Take the keys in a shared store, too, from the next request on."""
        self._shared_keys = shared
        self.set_up(self.settings)

    async def close(self) -> None:
        """Write what keys have used, and let go of what is open; nothing is to be asked after that."""
        self.offload.close()
        await self.admission.close()
        for end in self._end_observers:
            end()
        self._close_hooks((*self._replaced_hooks, *self.hooks))
        if self._shared_keys is not None:
            self._shared_keys.close()
        if self._database is not None:
            self._database.close()

    def refuse(self, request: GatewayRequest, error: Error) -> GatewayReply:
        """The reply that tells an error in the dialect of whoever asked."""
        route = request.facts.route
        dialect = dialect_of(request) if route is None else route.dialect or dialect_by_headers(request)
        if request.entry is not None:
            request.entry.failed(error)
        if request.signed_ids:
            error.args = (self.ids.sign_text(error.message, request), *error.args[1:])
        cause: BaseException | None = error
        while cause is not None and cause.__traceback__ is not None:
            cause.__traceback__ = None  # its frames hold the body, and some of them the error
            cause = cause.__context__
        reply = error_reply(dialect, error, path=request.path)
        if error.status == 405:
            allowed = ("allow", ", ".join(methods_of(request.path)))
            reply = msgspec.structs.replace(reply, status=405, headers=(*reply.headers, allowed))
        return self._named(request, reply)

    def _named(self, request: GatewayRequest, reply: GatewayReply) -> GatewayReply:
        """The reply with the id of the request: the client's own where it brought one."""
        entry = request.entry
        if entry is None:
            own_id = request.facts.client_id
            name = (_client_id(request) if own_id is None else own_id) or f"req_il{self._random()}"
        else:
            name = entry.id
        headers = reply.headers + (("x-request-id", name), ("request-id", name))  # noqa: RUF005 - in half the time
        named = GatewayReply(status=reply.status, headers=headers, body=reply.body, keep_alive=reply.keep_alive)
        return named if entry is None else entry.replied(named)


async def _guarded(address: str) -> Fetched:
    from interlingua.media.aio.fetch import fetch  # only who is allowed to fetch needs it

    return await fetch(address)


def _client_id(request: GatewayRequest) -> str:
    """The id that a client brought for its request; empty for none that is taken."""
    header = request.header("x-request-id")
    checked = request.facts.client_id = header if header is not None and _ID.fullmatch(header) else ""
    return checked


def dialect_of(request: GatewayRequest) -> str:
    """The dialect of a client that asks for what nothing answers."""
    by_header = dialect_by_headers(request, "")
    if by_header:
        return by_header
    by_path = next((dialect for prefix, dialect in _PREFIXES if request.path.startswith(prefix)), None)
    return by_path or DEFAULT_DIALECT


def _unknown(request: GatewayRequest) -> Error:
    path = request.path[:200]
    allowed = methods_of(request.path)
    if allowed:
        methods = f"{' and '.join(allowed)} {'is' if len(allowed) == 1 else 'are'}"
        return BadRequestError(f"{request.method[:20]} is not answered at {path}; {methods}", status=405)
    if packaged := packaged_dialect(request.method, request.path):
        methods = f"{packaged} is spoken to providers alone; clients of this gateway speak {', '.join(DIALECTS)}"
        return NotFoundError(f"nothing is answered at {path}: {methods}", status=404, code="unknown_url")
    meant = meant_path(request.method, request.path)
    way = f"{meant} is: look at the base URL of your client" if meant else "GET /openapi.json lists the routes"
    return NotFoundError(f"nothing is answered at {path}; {way}", status=404, code="unknown_url")
