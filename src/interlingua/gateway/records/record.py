"""The record of one request when it is over: reported exactly once, whatever its end, to every observer.

Strategy: a request that somebody wants to know of carries an `Entry` from its first byte to its last; whoever learns
something writes it there. At the end it becomes a `Record`, which goes to every sink (`recorder`). While nobody
wants to know, no entry is made, and nothing else is done either.

Rules
- Every request ends with one record: answered, refused, failed, cut, left by its client, or begun and not readable.
- What was asked and answered is in `Record.content` alone, and only for sinks that ask for it. `message` may repeat
  words of a client or of an upstream: who writes without content leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from interlingua.errors import redact
from interlingua.gateway.http import Closing
from interlingua.gateway.keys.accounts import MAX_COUNT
from interlingua.gateway.keys.auth import key_of
from interlingua.types.response import Attempt
from interlingua.wire.cache import ByteCache

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Iterable

    from interlingua.errors import Error
    from interlingua.gateway.http import GatewayReply, GatewayRequest, Pieces
    from interlingua.gateway.records.recorder import Recorder
    from interlingua.gateway.records.traffic import Traffic
    from interlingua.types.change import Change
    from interlingua.types.response import Response
    from interlingua.types.usage import Usage

__all__ = ["LEFT_STATUS", "Content", "Entry", "Origin", "Passage", "Record", "Sink", "end_with_body", "origin_of"]

LEFT_STATUS = 499
"""The status of a request whose client left before there was one."""
MAX_CHANGED = 20
"""How many changes of a request are named."""
MAX_NAMES = 16
"""How many names are remembered for one head."""
LONGEST = 200
"""Characters of a name or a path that are kept; an error's sentence may be five times as long."""


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """One exchange with an upstream, as it went over the wire, without what is secret."""

    target: str
    """`provider/model`, or the host where it is not known."""
    dialect: str
    """How the target was spoken to; empty when unknown."""
    method: str
    """GET, POST, …"""
    url: str
    """Where it went, without secrets."""
    request_headers: tuple[tuple[str, str], ...] = ()
    """The headers of the request."""
    request_body: bytes = b""
    """The body of the request, within the bound."""
    status: int = 0
    """HTTP status; 0 where none came."""
    headers: tuple[tuple[str, str], ...] = ()
    """The headers of the reply."""
    body: bytes = b""
    """The body of the reply, within the bound."""
    is_whole: bool = True
    """Whether both bodies are whole: neither beyond the bound nor cut."""


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """The request and the answer, on both sides of the gateway, without what is secret."""

    method: str
    """GET, POST, …"""
    path: str
    """The path of the request."""
    query: str
    """The query, without a key."""
    headers: tuple[tuple[str, str], ...]
    """The client's headers."""
    body: bytes
    """The client's body, within the bound."""
    passages: tuple[Passage, ...] = ()
    """The exchanges with upstreams, in order."""
    reply_headers: tuple[tuple[str, str], ...] = ()
    """The headers that the client got."""
    reply_body: bytes = b""
    """The body that the client got, within the bound."""
    is_whole: bool = True
    """Whether both bodies are whole."""


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request, when it was over."""

    id: str
    """Its id: the client's own where it brought one."""
    at: float
    """When it began, in Unix seconds."""
    key: str = ""
    """The name of the key that it came with; empty for none."""
    team: str = ""
    """The team of that key."""
    client: str = ""
    """The dialect of the client."""
    method: str = "POST"
    """GET, POST, …"""
    path: str = ""
    """The path of the request, without a query."""
    route: str = ""
    """The pattern of the route; empty where nothing answers. There are as many as the gateway has routes."""
    model: str = ""
    """The model as the client named it."""
    target: str = ""
    """The target that answered, `provider/model`."""
    stream: bool = False
    """Whether a stream was asked for."""
    status: int = 0
    """HTTP status; 499 where the client left before there was one."""
    error: str = ""
    """Class of the error that it ended in; of a stream also one that came after the status."""
    message: str = ""
    """Content: the sentence of that error, without secrets."""
    attempts: tuple[Attempt, ...] = ()
    """Every try and every target that was passed over; their sentences are content."""
    changes: int = 0
    """How many things translation changed, there and back."""
    changed: tuple[str, ...] = ()
    """The first 20 of them, each as `action code path`."""
    input_tokens: int | None = None
    """Tokens read, cached ones included; None when unknown."""
    output_tokens: int | None = None
    """Tokens written; None when unknown."""
    cache_read_tokens: int | None = None
    """Of the input: read from the provider's prompt cache."""
    cost_usd: float | None = None
    """Price in US dollars; None when unknown."""
    first_s: float | None = None
    """Seconds until a stream's first content."""
    total_s: float = 0.0
    """Seconds from its head to its last byte."""
    aborted: bool = False
    """Whether the client left before the end."""
    peer: str = ""
    """The client's address."""
    content: Content | None = None
    """The request and the answer; None for observers that did not ask for it."""
    reason: str = ""
    """Why the server could not read the request, in its own words; empty for one that it could."""


Sink: TypeAlias = Callable[[Record], None]
"""A function that is called with every record, in the event loop: it must neither wait nor write there."""


class Origin(msgspec.Struct, frozen=True, gc=False):
    """The facts of the head of a request for its records; they are the same for all that have the same head."""

    method: str
    """GET, POST, …"""
    path: str
    """The path, without secrets, and cut to the bound of records."""
    route: str
    """The pattern of its route."""
    client: str
    """The dialect of its client."""
    client_id: str
    """The id that it brought; empty for none that is taken."""
    shown_id: str
    """The id in the form that answers and logs have."""
    secret: str
    """The key itself, so that it can be cut out of whatever is told."""
    names: dict[str, str] = {}
    """Names of models and targets in requests with this head, as they are told."""

    def clean_name(self, text: str) -> str:
        """A name as it is told, remembered from then on."""
        clean = _clean(text, LONGEST, self.secret)
        if len(text) <= LONGEST:
            if len(self.names) >= MAX_NAMES:
                self.names.clear()
            self.names[text] = clean
        return clean


def origin_of(request: GatewayRequest, *, route: str, client: str, client_id: str) -> Origin:
    """The facts of a head for its records."""
    secret = key_of(request) or ""
    path, shown_id = _clean(request.path, LONGEST, secret), _clean(client_id, LONGEST, secret)
    return Origin(request.method[:20], path, route, client, client_id, shown_id, secret)


class Entry(msgspec.Struct, eq=False):
    """The facts so far of one request that is under way."""

    recorder: Recorder
    """The recorder that tells its end."""
    origin: Origin
    """The facts of its head."""
    id: str
    """Its id."""
    at: float
    """When it began, in Unix seconds."""
    started_s: float
    """When it began, by the gateway's clock."""
    peer: str = ""
    """The client's address."""
    key: str = ""
    """The name of its key."""
    team: str = ""
    """The team of that key."""
    model: str = ""
    """The model as the client names it."""
    stream: bool = False
    """Whether it wants a stream."""
    status: int = 0
    """The status that it was answered with."""
    target: str = ""
    """The target that answered."""
    error: str = ""
    """Class of the error that it ended in."""
    message: str = ""
    """The sentence of that error."""
    attempts: tuple[Attempt, ...] = ()
    """The tries that it took."""
    changes: int = 0
    """How many things were changed."""
    changed: tuple[str, ...] = ()
    """The first of them, each as `action code path`."""
    usage: Usage | None = None
    """Token counts, as far as they were told."""
    cost_usd: float | None = None
    """The cost."""
    first_s: float | None = None
    """Seconds until a stream's first content."""
    reason: str = ""
    """Why it could not be read."""
    traffic: Traffic | None = None
    """The request and the answer, where an observer wants them."""
    ending: Callable[[Record], None] | None = None
    """Is told its record before every sink."""
    is_sent: bool = False
    """Whether its last byte went to the client."""
    is_done: bool = False
    """Whether it is over."""
    total_s: float = 0.0
    """Seconds from its head to its last byte, once it is over."""

    def set_model(self, model: str, *, stream: bool) -> None:
        """The client names a model."""
        self.model, self.stream = model, stream

    def first(self) -> None:
        """The first content of a stream is there."""
        if self.first_s is None:
            self.first_s = self.recorder.clock() - self.started_s

    def tried(self, attempts: tuple[Attempt, ...]) -> None:
        """Targets were tried; the one that served is who answers."""
        self.attempts = attempts
        if attempts and attempts[-1].outcome == "served":  # whoever has served is the last one
            self.target = attempts[-1].model

    def answered(self, response: Response[Any] | None, changes: Iterable[Change] = ()) -> None:
        """An answer is there, or as much of it as came."""
        entries = tuple(changes)
        if entries or self.changes:
            self.changes = len(entries)
            self.changed = tuple([f"{one.action} {one.code} {one.path}"[:LONGEST] for one in entries[:MAX_CHANGED]])
        if response is None:
            return
        self.usage, self.cost_usd, tries = response.usage, response.cost_usd, response.attempts
        if tries:
            self.attempts = tries
            if tries[-1].outcome == "served":
                self.target = tries[-1].model

    def failed(self, error: Error) -> None:
        """It ends in an error, before its status or in the middle of a stream."""
        self.error, self.message = type(error).__name__, error.message
        if error.attempts:
            self.tried(error.attempts)

    def replied(self, reply: GatewayReply) -> GatewayReply:
        """The reply that is about to be sent, listened to where somebody wants its content."""
        self.status = reply.status
        if not self.target:
            self.target = next((text for name, text in reply.headers if name == "x-interlingua-target"), "")
        return reply if self.traffic is None else self.traffic.replied(reply)

    def sent(self) -> None:
        """Its last byte went to the client."""
        if not self.is_done:
            self.is_sent = True

    def done(self) -> None:
        """It is over: whoever wants to know is told, the first time."""
        if not self.is_done:
            self.is_done, self.total_s = True, self.recorder.clock() - self.started_s
            self.recorder.finish(self)

    def record(self, *, content: bool = False) -> Record:
        """The record as it is now, in the form of its end; request and answer only on demand."""
        origin, usage, attempts = self.origin, self.usage, self.attempts
        names, secret = origin.names, origin.secret
        model, target = names.get(self.model), names.get(self.target)
        if model is None:
            model = origin.clean_name(self.model)
        if target is None:
            target = origin.clean_name(self.target)
        if len(attempts) != 1 or attempts[0].error or attempts[0].model != target:
            attempts = tuple([_clean_attempt(attempt, secret) for attempt in attempts])
        return Record(  # in the order of its members: by their names it takes seven times as long
            origin.shown_id or self.id,
            self.at,
            self.key,
            self.team,
            origin.client,
            origin.method,
            origin.path,
            origin.route,
            model,
            target,
            self.stream,
            self.status or LEFT_STATUS,
            self.error,
            _clean(self.message, 5 * LONGEST, secret) if self.message else "",
            attempts,
            self.changes,
            self.changed,
            None if usage is None else _bounded(usage.input_tokens),
            None if usage is None else _bounded(usage.output_tokens),
            None if usage is None else _bounded(usage.cache_read_tokens),
            self.cost_usd,
            self.first_s,
            self.total_s if self.is_done else self.recorder.clock() - self.started_s,
            not self.is_sent,
            self.peer,
            None if self.traffic is None or not content else self.traffic.content(secret),
            self.reason,
        )


def _clean_attempt(attempt: Attempt, secret: str) -> Attempt:
    model = _clean(attempt.model, LONGEST, secret)
    if not attempt.error and model == attempt.model:
        return attempt
    sentence = _clean(attempt.error, 5 * LONGEST, secret) if attempt.error else attempt.error
    return msgspec.structs.replace(attempt, model=model, error=sentence)


def _clean(text: str, longest: int, secret: str) -> str:
    """A text without secrets, not longer than that."""
    if secret and secret in text:
        return redact(text, secret)[:longest]
    return _cleaned[text] if len(text) <= longest == LONGEST else redact(text)[:longest]


_cleaned = ByteCache[str, str](500_000, redact)
"""Names and paths without secrets: they come again and again, and none with a client's key in it gets here."""


async def end_with_body(request: GatewayRequest, answering: Awaitable[GatewayReply]) -> GatewayReply:
    """The reply to a request whose end nobody else tells: it is told with the last byte of the body."""
    entry = request.entry
    if entry is None:
        return await answering
    try:
        reply = await answering
    except BaseException:
        entry.done()
        raise
    if isinstance(reply.body, bytes):
        entry.sent()
        entry.done()
        return reply
    pieces = reply.body

    async def close() -> None:
        await pieces.aclose()
        entry.done()

    return msgspec.structs.replace(reply, body=Closing(_to_the_end(entry, pieces), close))


async def _to_the_end(entry: Entry, pieces: Pieces) -> AsyncGenerator[bytes]:
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
        entry.sent()
    finally:
        entry.done()


def _bounded(count: int | None) -> int | None:
    """A count as a database takes it; one below 0 says nothing."""
    return None if count is None or count < 0 else min(count, MAX_COUNT)
