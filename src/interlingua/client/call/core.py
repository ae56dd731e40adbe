"""One call, without I/O: what is asked of the transport and what is done with its answers, written once.

Strategy: a call is a generator that yields effects (`effect`) and is sent their results, so that the errors and the end
of a stream are decided here and nowhere else; which target is asked, and how often, is decided in `chain`.

Rules
- A stream is handed over with its first events; until then a chain may go on, after that never.
- After the wire's terminal signal at most the drain time is waited for what still belongs to the answer.
- A driver closes what it opened, also when it is left in the middle; the generator needs no cleaning up.

Not responsible for: which target is tried, and how often (`chain`).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from interlingua.client.call.chain import routed
from interlingua.client.call.effect import Fetch, Open, Read, Rest, Steps, Work
from interlingua.client.call.encoding import encode
from interlingua.client.call.job import Job, Lane
from interlingua.client.call.reply_head import told_by
from interlingua.client.call.report import warn
from interlingua.client.call.secrets import hide_secrets
from interlingua.client.call.visit import Lasting
from interlingua.client.meter import count
from interlingua.client.observe import is_observed
from interlingua.client.price import cost_of
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import STREAM_TYPES
from interlingua.errors import (
    APIConnectionError,
    APITimeoutError,
    DecodeError,
    Error,
    IncompleteStreamError,
    MalformedArgumentsError,
    UsageError,
)
from interlingua.media.fit import has_media, plan_media
from interlingua.stream.fold import error_of
from interlingua.stream.unfold import unfold
from interlingua.types.content import BrokenToolCall
from interlingua.types.event import Extra, StreamEnd, StreamError, StreamStart, ToolCallDelta, UsageUpdate
from interlingua.wire.http import HttpReply, header
from interlingua.wire.sse import sniff

if TYPE_CHECKING:
    from interlingua.client.typed.ladder import Unwrapper
    from interlingua.dialects._contract import Encoded, StreamDecoder
    from interlingua.transport.base import AsyncReply, Reply, Timeouts
    from interlingua.types.event import Event
    from interlingua.types.response import Attempt, Response
    from interlingua.wire.http import Headers, HttpRequest

__all__ = [
    "DRAIN_S",
    "GRACE_S",
    "Live",
    "Outcome",
    "Sent",
    "answered",
    "begin",
    "begun",
    "call",
    "closed_early",
    "completed",
    "fault",
    "fetching",
    "follow",
    "opened",
    "prepared",
    "replied",
    "sent",
    "stream",
    "unusual",
    "whole",
]

DRAIN_S = 2.0
"""Seconds that are waited for the rest of a stream after its terminal signal."""
GRACE_S = 0.05
"""Seconds that are waited for the end of a body whose answer is complete, so that its connection can be used again."""
_BEFORE_CONTENT = frozenset({StreamStart, UsageUpdate, Extra})  # `isinstance` of a struct takes four times as long
"""Events that say nothing yet, so that an error after them may still be another target's chance."""
_ENDS = frozenset({StreamEnd, StreamError})
_READ = Read()
_REST = Rest()
_LAST_READ = Read(GRACE_S, needed=False)


class Outcome:
    """What a stream came to; filled in while it runs."""

    __slots__ = ("given_up", "partial", "response")

    def __init__(self) -> None:
        """Nothing has come yet."""
        self.given_up: bool = False
        """Whether the reader closed the stream before it came to an end."""
        self.response: Response[Any] | None = None
        """The whole response, once the stream came to its end."""
        self.partial: Response[Any] | None = None
        """What had come when the stream failed."""

    def whole(self, *, ended: bool) -> Response[Any]:
        """The whole response.

        Raises: UsageError where there is none, with the reason.
        """
        if self.response is not None:
            return self.response
        if self.given_up:
            raise closed_early()
        if ended:
            raise UsageError("this stream failed, so there is no whole response; .partial holds what came")
        raise UsageError("this stream has not come to its end; read it to the end, or call finish()")


def closed_early() -> UsageError:
    """What reading a stream comes to that its reader has closed: half an answer must not look like a whole one."""
    return UsageError(
        "this stream was closed before its end: nothing more can be read; call finish() before it is closed"
    )


def call(job: Job) -> Steps[Response[Any]]:
    """The steps of a call that is answered as a whole.

    Raises: every `Error` but those of streams.
    """
    if job.watch is None and is_observed():
        from interlingua.client.call.watch import watched_call  # who is not observed pays nothing

        return (yield from watched_call(job, call))
    answer, attempts = yield from routed(job, whole)
    return msgspec.structs.replace(answer, attempts=attempts)


def stream(job: Job, outcome: Outcome) -> Steps[None]:
    """The steps of a call that is answered piece by piece.

    Raises: every `Error`.
    """
    if job.watch is None and is_observed():
        from interlingua.client.call.watch import watched_stream  # who is not observed pays nothing

        yield from watched_stream(job, outcome, stream)
        return
    live, attempts = yield from routed(job, begin)
    yield from follow(job, live, attempts, outcome)


def follow(job: Job, live: Live, attempts: tuple[Attempt, ...], outcome: Outcome) -> Steps[None]:
    """The steps of a stream that has begun, to its end; `attempts` are the tries that it took.

    Raises: what broke the stream, with `attempts`.
    """
    events = live.first
    visit = live.visit
    read = _read_by(job, live)
    if job.watch is not None and visit is not None:
        job.watch.first_content(live.lane, visit.number)
    try:
        while True:
            last = events[-1] if events else None
            if type(last) in _ENDS:
                break
            if not job.tool_deltas:
                events = [event for event in events if type(event) is not ToolCallDelta]
            if events:
                yield events
            try:
                piece = yield _next_read(job, live, read)
            except Error as error:
                events = live.failed(error)
            else:
                events = live.fed(piece) if type(piece) is bytes else piece
        yield from _finish(job, live, events, attempts, outcome)
    except BaseException as problem:
        if visit is not None:
            visit.abandon(problem)
        raise


# One try


class Sent(NamedTuple):
    """A request that was sent to one target, and the head of its reply."""

    job: Job
    """What is asked."""
    lane: Lane
    """Of whom."""
    encoded: Encoded
    """What was sent."""
    reply: Reply | AsyncReply
    """What came; its body is still to be read."""


def prepared(job: Job, lane: Lane, *, stream: bool) -> Steps[Encoded]:
    """The request on the wire of one target, with media that it takes.

    Raises: as `encode`; UsageError for media that are broken or too large for anybody.
    """
    plan = plan_media(job.request, lane.endpoint, job.settings.allow)
    if plan is None:
        return encode(job, lane, stream=stream)
    request, changes = (yield Work(plan.run)) if plan.heavy else plan.run()
    return encode(msgspec.structs.replace(job, request=request), lane, stream=stream, fitted=changes)


def _context(job: Job, lane: Lane, encoded: Encoded) -> DecodeContext:
    return DecodeContext(
        target=lane.endpoint.target, undo=encoded.undo, make_id=job.make_id, provider_ids=job.provider_ids
    )


def sent(job: Job, lane: Lane, encoded: Encoded, *, stream: bool) -> HttpRequest:
    """An encoded request as it goes out; whoever is to be told of it was told."""
    if encoded.changes and job.settings.warns:
        warn(lane.endpoint.spec, encoded.changes)
    request = lane.endpoint.http_request(
        encoded, stream=stream, with_credential=job.with_credential, headers=job.settings.headers
    )
    if job.watch is not None:
        job.watch.sends(request)
    return request


def _deadlines(job: Job, *, stream: bool) -> Timeouts:
    """The deadlines of one try: an answer has to begin in time, and a whole one has to be there."""
    timeouts = job.settings.timeouts
    if job.answer_by_s is None:  # the usual case
        return timeouts
    left_s = max(0.001, job.answer_by_s - job.clock())
    phases = ("connect_s", "pool_s", "first_byte_s") if stream else ("total_s",)
    return msgspec.structs.replace(timeouts, **{name: _sooner(getattr(timeouts, name), left_s) for name in phases})


def _sooner(seconds: float | None, left_s: float) -> float:
    return left_s if seconds is None else min(seconds, left_s)


def whole(job: Job, lane: Lane) -> Steps[Response[Any]]:
    """The answer of one target, as a whole.

    Raises: every `Error` but those of streams and chains.
    """
    if has_media(job.request.messages):
        encoded = yield from prepared(job, lane, stream=False)
    else:
        encoded = encode(job, lane, stream=False)
    reply = yield fetching(job, lane, encoded)
    return answered(job, lane, encoded, reply)


def fetching(job: Job, lane: Lane, encoded: Encoded) -> Fetch:
    """The effect that sends an encoded request and brings the whole reply.

    Raises: ConfigError for a missing or unreadable key.
    """
    timeouts = job.settings.timeouts if job.answer_by_s is None else _deadlines(job, stream=False)
    return Fetch(sent(job, lane, encoded, stream=False), timeouts)


def answered(job: Job, lane: Lane, encoded: Encoded, reply: HttpReply) -> Response[Any]:
    """The answer that a whole reply holds.

    Raises: the error that the reply tells of; DecodeError; MalformedArgumentsError.
    """
    context = _context(job, lane, encoded)
    if not 200 <= reply.status < 300:
        raise _refusal(lane, reply, context)
    try:
        decoded = lane.dialect.decode_response(reply, context)
    except DecodeError as error:
        raise (_misplaced(lane, reply) or error) from None
    response = completed(job, lane, encoded, reply.headers, decoded)
    if error := fault(response):
        raise error
    return response


def _refusal(lane: Lane, reply: HttpReply, context: DecodeContext) -> Error:
    """The error that a reply tells of; a redirect tells of none, and is followed by nobody."""
    told = _misplaced(lane, reply) if reply.status < 400 else None
    return told or lane.dialect.decode_error(reply, context)


def _misplaced(lane: Lane, reply: HttpReply) -> Error | None:
    """The error of a reply that cannot be an answer, such as a proxy's page."""
    from interlingua.client.call.misplaced import misplaced  # only who is sent such a thing needs it

    return misplaced(lane.endpoint.spec, reply)


def completed(job: Job, lane: Lane, encoded: Encoded, headers: Headers, response: Response[Any]) -> Response[Any]:
    """A decoded response with what the call knows of it: target, request, changes, limits, price; meters count it."""
    if encoded.undo.output_tool:
        from interlingua.client.typed.ladder import unwrapped

        response = unwrapped(response, encoded.undo.output_tool)
    request_id, limits = told_by(headers)
    filled = msgspec.structs.replace(
        response,
        model=lane.endpoint.spec,
        request_id=request_id,
        rate_limits=limits,
        changes=encoded.changes + response.changes,
        request=job.request,
        cost_usd=cost_of(job, lane, response),
    )
    count(filled)
    return filled


def fault(response: Response[Any]) -> Error | None:
    """The error of a call that is broken by anything but the length limit."""
    parts = response.parts
    if response.alternatives:
        parts = [part for choice in (response, *response.alternatives) for part in choice.parts]
    if BrokenToolCall not in map(type, parts):  # the usual case, and quicker to see
        return None
    for part in parts:
        if type(part) is BrokenToolCall and part.reason != "cut_off":
            error = MalformedArgumentsError(
                f"{response.model} called {part.name} ({part.id}) with arguments that are not one JSON object "
                f"({part.reason}); ask again",
                call=part,
                response=response,
            )
            error.add_note("What came is in .call.raw_arguments.")  # a gateway's client has no such name
            return error
    return None


# Streams


class Live(Lasting):
    """A stream that has begun."""

    __slots__ = ("at_end", "broken_by", "decoder", "drain_until", "encoded", "first", "headers", "lane", "unwrapper")

    def __init__(self, lane: Lane, encoded: Encoded, headers: Headers, decoder: StreamDecoder | None) -> None:
        """A stream of which nothing was read; one without a decoder is a whole answer."""
        super().__init__()
        self.lane: Lane = lane
        """Who gives it."""
        self.encoded: Encoded = encoded
        """What was sent."""
        self.headers: Headers = headers
        """The headers of the reply."""
        self.decoder: StreamDecoder | None = decoder
        """What makes events of the body's pieces; None for a whole answer."""
        self.first: list[Event] = []
        """The first events."""
        self.at_end: bool = decoder is None
        """Whether the body has been read to its end."""
        self.broken_by: Error | None = None
        """What broke the body."""
        self.drain_until: float | None = None
        """The time at which the rest after the terminal signal is given up."""
        self.unwrapper: Unwrapper | None = None
        """Shows a hidden tool's call as text."""
        if encoded.undo.output_tool:
            from interlingua.client.typed.ladder import Unwrapper

            self.unwrapper = Unwrapper(encoded.undo.output_tool)

    @property
    def speaks(self) -> bool:
        """Whether the first events have content, and no error in it."""
        first = self.first
        return not _BEFORE_CONTENT.issuperset(map(type, first)) and type(first[-1]) is not StreamError

    def shown(self, events: list[Event]) -> list[Event]:
        """The events as the caller sees them: a hidden tool is text."""
        return events if self.unwrapper is None else self.unwrapper.events(events)

    def fed(self, piece: bytes) -> list[Event]:
        """The events that a piece completes, or those of the end."""
        assert self.decoder is not None, "a whole answer is not fed"  # noqa: S101 - an invariant
        if piece:
            events = self.decoder.feed(piece)
            return events if self.unwrapper is None else self.unwrapper.events(events)
        self.at_end = True
        return self.shown(self.decoder.close())

    def failed(self, error: Error) -> list[Event]:
        """The events of a body that broke; after the terminal signal that is an end like any other."""
        assert self.decoder is not None, "a whole answer does not break"  # noqa: S101 - an invariant
        self.at_end = True
        if self.decoder.terminal:
            return self.shown(self.decoder.close())
        self.broken_by = error
        return self.shown(self.decoder.fail(error))

    def error(self, event: StreamError) -> Error:
        """The error that ended the stream."""
        if not isinstance(self.broken_by, APIConnectionError):
            return self.broken_by or error_of(event)
        message = f"the stream of {self.lane.endpoint.spec} broke off: {self.broken_by.message}"
        cut = IncompleteStreamError(message, partial=event.partial)
        cut.__cause__ = self.broken_by
        return cut


def begin(job: Job, lane: Lane) -> Steps[Live]:
    """The stream of one target, with its first events.

    Raises: every `Error` but those of chains.
    """
    if has_media(job.request.messages):
        encoded = yield from prepared(job, lane, stream=True)
    else:
        encoded = encode(job, lane, stream=True)
    return (yield from opened(job, lane, encoded))


def opened(job: Job, lane: Lane, encoded: Encoded, kind: type[Live] | None = None) -> Steps[Live]:
    """The stream of one target that answers an encoded request, with its first events; `kind` reads what comes.

    Raises: as `begin`.
    """
    request = sent(job, lane, encoded, stream=True)
    timeouts = job.settings.timeouts if job.answer_by_s is None else _deadlines(job, stream=True)
    reply: Reply | AsyncReply = yield Open(request, timeouts)
    return (yield from replied(Sent(job, lane, encoded, reply), kind))


def replied(exchange: Sent, kind: type[Live] | None = None) -> Steps[Live]:
    """The same from the head of the reply on.

    Raises: as `begin`.
    """
    job, lane, encoded, reply = exchange
    if not 200 <= reply.status < 300:
        body: bytes = yield _REST
        told = HttpReply(status=reply.status, headers=reply.headers, body=body)
        raise _refusal(lane, told, _context(job, lane, encoded))
    piece: bytes = (yield _READ) if job.answer_by_s is None else (yield from _first_piece(job, lane))
    live = begun(exchange, piece, kind)
    return live if live is not None and live.speaks else (yield from unusual(exchange, piece, live))


def begun(exchange: Sent, piece: bytes, kind: type[Live] | None = None) -> Live | None:
    """The stream that begins with a piece, with the events of that; None for what is no stream."""
    job, lane, encoded, reply = exchange
    form = sniff(header(reply.headers, "content-type"), piece)
    if form == "html" or (form == "json" and not _is_line(lane, piece)):
        return None
    decoder = lane.dialect.stream_decoder(_context(job, lane, encoded))
    live = (kind or Live)(lane, encoded, reply.headers, decoder)
    live.first = _named(lane, live.fed(piece))
    return live


def unusual(exchange: Sent, piece: bytes, live: Live | None) -> Steps[Live]:
    """What begins with a piece that is not content yet, or is of no stream.

    Raises: as `begin`.
    """
    job, lane, encoded, reply = exchange
    if live is None:
        body = piece + (yield _REST)
        told = HttpReply(status=reply.status, headers=reply.headers, body=body)
        return _unstreamed(lane, encoded, _context(job, lane, encoded), told)
    yield from _first_events(job, live)
    return live


def _is_line(lane: Lane, piece: bytes) -> bool:
    """Whether an object may be the first line of a stream of lines; one that is laid out over several lines is not."""
    return lane.dialect.name in STREAM_TYPES and not piece.lstrip().startswith((b"{\n", b"{\r\n"))


def _unstreamed(lane: Lane, encoded: Encoded, context: DecodeContext, reply: HttpReply) -> Live:
    """A whole answer where a stream was asked for: some servers cannot stream, some proxies answer with a page."""
    if error := _misplaced(lane, reply):
        raise error
    live = Live(lane, encoded, reply.headers, None)
    live.first = _named(lane, live.shown(list(unfold(lane.dialect.decode_response(reply, context)))))
    return live


def _first_piece(job: Job, lane: Lane) -> Steps[bytes]:
    """The next piece before there are events.

    Raises: APITimeoutError when it does not come while it is this target's turn.
    """
    by_s = job.answer_by_s
    if by_s is None:
        return (yield _READ)
    piece = yield Read(max(0.001, by_s - job.clock()))
    if not piece and job.clock() >= by_s:
        raise APITimeoutError(f"{lane.endpoint.spec} had not begun to answer when its share of the time was over")
    return piece


def _first_events(job: Job, live: Live) -> Steps[None]:
    """Reads until there is content; an error that comes before any is raised, and the chain goes on.

    What says nothing yet is held back until then: however the bytes are cut, one target speaks.
    """
    events = live.first
    while _BEFORE_CONTENT.issuperset(map(type, events)):
        try:
            piece = yield from _first_piece(job, live.lane)
        except Error as error:
            events = [*events, *live.failed(error)]
        else:
            events = [*events, *live.fed(piece)]
    last = events[-1]
    if type(last) is StreamError and _BEFORE_CONTENT.issuperset(map(type, events[:-1])):
        raise live.broken_by or error_of(last)
    live.first = _named(live.lane, events)


def _named(lane: Lane, events: list[Event]) -> list[Event]:
    """The first events, saying which target speaks."""
    start = events[0] if events else None
    if type(start) is StreamStart:
        events[0] = msgspec.structs.replace(start, model=lane.endpoint.spec)
    return events


def _read_by(job: Job, live: Live) -> Read:
    """What asks for the next piece of a stream; its decoder goes along where nobody is between that and the reader."""
    is_between = job.watch is not None or not job.tool_deltas or live.unwrapper is not None or type(live) is not Live
    return _READ if is_between else Read(decoder=live.decoder)


def _next_read(job: Job, live: Live, read: Read) -> Read:
    """What asks for the next piece, or for the rest behind the terminal signal while that is waited for."""
    if live.decoder is None or not live.decoder.terminal:
        return read
    if live.drain_until is None:
        live.drain_until = job.clock() + DRAIN_S
    return Read(max(0.0, live.drain_until - job.clock()))


def _finish(job: Job, live: Live, events: list[Event], attempts: tuple[Attempt, ...], outcome: Outcome) -> Steps[None]:
    """The last events, and what the stream came to."""
    *before, last = events
    shown = [event for event in before if job.tool_deltas or type(event) is not ToolCallDelta]
    error: Error | None = None
    if isinstance(last, StreamEnd):
        response = completed(job, live.lane, live.encoded, live.headers, last.response)
        outcome.response = msgspec.structs.replace(response, attempts=attempts)
        error = fault(outcome.response)
        shown += [] if error else [StreamEnd(outcome.response)]
        if live.visit is not None:
            yield from live.visit.ended(outcome.response)
    elif isinstance(last, StreamError):
        outcome.partial = last.partial
        if last.partial is not None:
            count(msgspec.structs.replace(last.partial, cost_usd=cost_of(job, live.lane, last.partial)))
        error = live.error(last)
        hide_secrets(error, live.lane.endpoint, job.settings.headers)
        if live.visit is not None:
            yield from live.visit.broke(error, job.watch)
    if shown:
        yield shown
    if error is not None:
        error.attempts = attempts
        raise error
    if not live.at_end:
        with suppress(Error):  # the answer is whole: what breaks behind it is not its reader's concern
            yield _LAST_READ
