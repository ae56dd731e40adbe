"""One call on its way to its targets: each try, passed on or translated, and the continuations of a paused answer.

Strategy: a job of the client carries the call, with its chain, its retries and its health. A target of the client's own
dialect gets the body as it came (`outgoing`); for any other one the dialect's server role reads the request and writes
the answer. Both are tries of one chain.

Anthropic ends a long turn of its own tools in `pause_turn`, to be sent back as it is. Only clients of the dialects that
have such an end do so. For any other client the paused turn goes back to the target that wrote it, and the client gets
the answers joined to one.

Rules
- Call ids are our own where the upstream speaks another dialect, and the provider's where it speaks the client's.
- Of a body that goes out the model's name is changed, the cap of a limited key is put in (`keys/cap`), and members are
  taken out that a target is known not to take, each with an entry; what the caller wrote as text stays that text. Of
  the headers only those that belong to the body's dialect go along, and never a credential of the client's.
- A stream has one start and one end: the blocks of a continuation are numbered on, its counts are those so far.
- A turn is gone on with `MAX_CONTINUATIONS` times at most; one that still pauses ends as cut off (`length`).
- The container in which tools of the provider have run is named again (`container`), so that they find their files.
- Usage and costs are sums; a sum with an unknown part is unknown. Each continuation is reserved and settled by itself.
- A turn without a step of the provider's, or with calls for the client, is not gone on with: no target would take it.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from interlingua.client.call.attempt import answered, fetching, whole
from interlingua.client.call.chain import routed
from interlingua.client.call.core import Outcome, follow
from interlingua.client.call.job import later
from interlingua.client.call.live import Live, begin, opened
from interlingua.client.call.needs import has_need, shortfall
from interlingua.client.observe import is_observed
from interlingua.client.state import limiter
from interlingua.dialects._contract import Encoded, Undo
from interlingua.dialects._members import is_object
from interlingua.dialects.table import get_service
from interlingua.errors import DecodeError, Error, HistoryError, UnsupportedError
from interlingua.gateway.calls.passing_stream import CountedStream, PassedStream
from interlingua.gateway.calls.plan import is_same
from interlingua.gateway.keys.cap import cap_edits
from interlingua.gateway.keys.grant import Unreserved
from interlingua.routing.estimate import estimate_body
from interlingua.types.change import Changes
from interlingua.types.content import BrokenToolCall, OpaquePart, ServerToolPart, ToolCall
from interlingua.types.event import Extra, StreamEnd, StreamError, StreamStart, UsageUpdate
from interlingua.types.usage import add_usage
from interlingua.wire.body import edited_body
from interlingua.wire.json import encode, encode_text

if TYPE_CHECKING:
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.job import Job, Lane
    from interlingua.dialects._contract import StreamDecoder
    from interlingua.dialects._service import Service
    from interlingua.gateway.calls.exchange import ClientExchange
    from interlingua.gateway.calls.streams import Course
    from interlingua.types.event import Event
    from interlingua.types.response import Attempt, Response
    from interlingua.wire.http import Headers, HttpReply

__all__ = ["MAX_CONTINUATIONS", "PausingOutcome", "Served", "outgoing", "stream_steps", "weighed", "whole_answer"]

Served: TypeAlias = "tuple[Response[Any], Lane, HttpReply | None]"
"""The answer of one target, and its reply where that goes out as it came; each answer makes one."""


def weighed(exchange: ClientExchange, job: Job) -> Job:
    """The job with about how many tokens a request has that nobody read, where a limit wants to know."""
    covers = limiter().covers
    if job.request.messages or not any([covers(lane.endpoint.spec) for lane in job.lanes]):
        return job
    return replace(job, input_tokens=estimate_body(exchange.http.body))


def whole_answer(exchange: ClientExchange, job: Job, served: list[Served]) -> Steps[Response[Any]]:
    """The answer, with every try; `served` gets each one that a target gave, the last one last."""
    if job.watch is None and is_observed():
        from interlingua.client.call.watch import watched_call  # who is not observed pays nothing

        return (yield from watched_call(job, lambda watched: whole_answer(exchange, watched, served)))
    answer, attempts = yield from routed(job, partial(_answer, exchange))
    served.append(answer)
    response, lane, _ = answer
    if response.finish_reason == "pause" and _is_paused(response, exchange.dialect.name, lane.dialect.name):
        return (yield from _continued(exchange, job, served, attempts))
    return replace(response, attempts=attempts)


def _continued(
    exchange: ClientExchange, job: Job, served: list[Served], attempts: tuple[Attempt, ...]
) -> Steps[Response[Any]]:
    """One answer of a paused one, the last of `served`, and its continuations."""
    response, lane, _ = served[-1]
    for _ in range(MAX_CONTINUATIONS):
        if exchange.grant is not None:
            exchange.grant.paused(served[-1][0], lane)
        try:
            answer, tries = yield from routed(_continuation(job, lane, response, attempts), partial(_answer, exchange))
        except Error as error:
            error.attempts = attempts + error.attempts
            raise
        served.append(answer)
        attempts += tries
        response = _joined(response, answer[0], lane.dialect.name)
        if not _is_paused(answer[0], exchange.dialect.name, lane.dialect.name):
            break
    else:
        response = replace(response, finish_reason="length")
    return replace(response, attempts=attempts)


def _answer(exchange: ClientExchange, job: Job, lane: Lane) -> Steps[Served]:
    """One try at a whole answer."""
    job, lane = yield from _prepared(exchange, job, lane)
    try:
        if lane not in exchange.relayed:
            return (yield from whole(_with_thoughts(exchange, job, lane), lane)), lane, None
        encoded = outgoing(exchange, lane, strict=job.settings.strict)
        reply = yield fetching(job, lane, encoded)
        response = answered(job, lane, encoded, reply)
    except Error as error:
        _note_failure(exchange, job, lane, error)
        raise
    return response, lane, reply


# Streams


def stream_steps(exchange: ClientExchange, job: Job, outcome: Outcome, course: Course) -> Steps[None]:
    """The steps of a stream with its continuations: its events go to `outcome`, its targets and tries to `course`."""
    if job.watch is None and is_observed():
        from interlingua.client.call.watch import watched_stream  # who is not observed pays nothing

        yield from watched_stream(job, outcome, lambda watched, result: stream_steps(exchange, watched, result, course))
        return
    live, attempts = yield from routed(job, partial(_begin, exchange))
    course.live, course.attempts, course.outcome.target = live, attempts, live.lane.dialect.name
    yield from follow(job, live, attempts, outcome)
    if outcome.response is None:
        yield from _streamed_on(exchange, job, course)


def _streamed_on(exchange: ClientExchange, job: Job, course: Course) -> Steps[None]:
    """The continuations of a stream that paused, as further events of it."""
    outcome, lane = course.outcome, course.live.lane
    while outcome.response is None and outcome.before is not None and outcome.last is not None:
        before, paused, outcome.last = outcome.before, outcome.last, None
        if exchange.grant is not None:
            exchange.grant.paused(paused, lane)
        further = _continuation(job, lane, before, course.attempts)
        course.is_opening = True
        try:
            live, tries = yield from routed(further, partial(_begin, exchange, kind=_ContinuedStream))
        except Unreserved as refusal:
            course.is_opening = False
            raise refusal.error from None
        except Error as error:
            course.is_opening = False
            error.attempts = course.attempts + error.attempts
            raise
        course.is_opening = False
        course.live, course.attempts = live, course.attempts + tries
        if isinstance(live, _ContinuedStream):
            live.goes_on(before)
        else:  # a whole answer, where a stream was asked for
            live.first = _behind(before, live.first)
        yield from follow(further, live, course.attempts, outcome)


def _begin(exchange: ClientExchange, job: Job, lane: Lane, kind: type[Live] | None = None) -> Steps[Live]:
    """One try at a stream; `kind` reads what comes of one that is translated."""
    job, lane = yield from _prepared(exchange, job, lane)
    try:
        if lane not in exchange.relayed:
            return (yield from begin(_with_thoughts(exchange, job, lane), lane, kind))
        kind = CountedStream if _asks_usage(exchange, lane) else PassedStream
        return (yield from opened(job, lane, outgoing(exchange, lane, strict=job.settings.strict), kind))
    except Error as error:
        _note_failure(exchange, job, lane, error)
        raise


# One try


def _prepared(exchange: ClientExchange, job: Job, lane: Lane) -> Steps[tuple[Job, Lane]]:
    """The job and the target of one try, which is reserved; a target of the client's own dialect keeps its ids.

    Raises: UnsupportedError for a request that has what its target lacks; Unreserved where it does not fit any more.
    """
    if lane.refused_features:
        # What goes out as it came may go although its target has said that it lacks something, unless it has just that.
        with suppress(DecodeError, HistoryError):  # what we cannot read, its provider may
            error = shortfall(replace(job, request=exchange.decoded.request), lane, lane.refused_features)
            if error is not None:
                raise error
        lane = replace(lane, refused_features=frozenset())
    if job.make_id is not None:
        request, is_own = exchange.request_for(job.request, lane), is_same(lane, exchange.dialect.name)
        job = replace(job, request=request, make_id=None) if is_own else replace(job, request=request)
    if exchange.grant is not None:
        yield from exchange.grant.again(lane)
    return job, lane


def _with_thoughts(exchange: ClientExchange, job: Job, lane: Lane) -> Job:
    """The job with thoughts shown, where thinking is asked for and the client has no word for showing it."""
    if lane.dialect.service.thoughts != "if_asked" or exchange.dialect.service.thoughts != "unasked":
        return job
    request = job.request
    is_thinking = request.thinking or request.thinking_budget or request.effort not in (None, "none")
    if request.thinking_summary is not None or not is_thinking:
        return job
    return replace(job, request=replace(request, thinking_summary="auto"))


def _note_failure(exchange: ClientExchange, job: Job, lane: Lane, error: Error) -> None:
    """Note a failed try for the grant; and believe a target that it lacks something only where the request has that."""
    if error.lacking is not None and not job.request.messages:
        try:
            has_it = has_need(exchange.decoded.request, error.lacking)
        except Error:
            has_it = False
        if not has_it:
            error.lacking = None
    if exchange.grant is not None:
        exchange.grant.failed(error, lane)


# The request that goes out to a target of the client's own dialect


_MADE = b'"call_'
"""How ids begin that are made for calls without one; in a history each stands twice, and counting goes on behind it."""


def outgoing(exchange: ClientExchange, lane: Lane, *, strict: bool) -> Encoded:
    """The request for one target, in the client's own words.

    Raises: UnsupportedError under `strict` for a member that the target does not take.
    """
    name, service, endpoint, body = exchange.dialect.name, exchange.dialect.service, lane.endpoint, exchange.head.body
    changes = Changes(name, "encode_request")
    betas = service.beta_members
    left_out = () if not betas or "*" in endpoint.target.quirks.betas else betas.intersection(body.members)
    for member in left_out:
        changes.add("parameter_unsupported", f"/extra/{name}/{member}", f"{endpoint.spec} does not take it")
    if strict and left_out:
        listing = "; ".join([str(change) for change in changes.entries])
        raise UnsupportedError(
            f"{endpoint.spec} cannot take the request as it is (strict): {listing}", changes=changes.done()
        )
    changes.repaired(body.repairs)
    edits: dict[str, bytes | None] = dict.fromkeys(left_out)
    if service.read_path is None and "model" in body:
        edits["model"] = encode_text(endpoint.model)
    if (grant := exchange.grant) is not None and grant.cap is not None:
        edits |= cap_edits(exchange, lane, grant.cap, is_own=not grant.changes)
    if _asks_usage(exchange, lane):
        options = body.get("stream_options")
        edits["stream_options"] = encode({**(options if is_object(options) else {}), "include_usage": True})
    http = exchange.http
    carried = http.facts.carried
    if carried is None:
        own = [pair for pair in http.headers if pair[0] in service.headers]
        carried = http.facts.carried = (*service.default_headers, *own)
    if left_out:  # a feature and its member travel together or not at all
        carried = tuple([pair for pair in carried if pair[0] != service.beta_header])
    return Encoded(
        path=service.path if service.path and not http.query else _path(exchange, service, endpoint.model),
        body=edited_body(body, edits),
        headers=carried,
        changes=changes.done(),
        undo=Undo(first_index=body.text.count(_MADE)),
    )


def _asks_usage(exchange: ClientExchange, lane: Lane) -> bool:
    """Whether a stream is asked for its counts of tokens, which its client does not want and its key is charged by."""
    is_counted = exchange.grant is not None and exchange.grant.cap is not None
    return is_counted and exchange.head.stream and not exchange.wants_usage and lane.endpoint.target.quirks.stream_usage


def _path(exchange: ClientExchange, service: Service, model: str) -> str:
    http = exchange.http
    if service.path_of is not None:
        return service.path_of(http.path, model, exchange.head.stream)
    return f"{service.path}?beta=true" if http.query and "beta=true" in http.query.split("&") else service.path


# Answers that pause


MAX_CONTINUATIONS = 8
"""How often the gateway goes on with one answer."""
_STEPS = frozenset({ServerToolPart, OpaquePart})
_CALLS = frozenset({ToolCall, BrokenToolCall})


def _is_paused(response: Response[Any], dialect: str, target: str) -> bool:
    """Whether the gateway has to go on with an answer of a target for a client, each with the name of its dialect."""
    if response.finish_reason != "pause":
        return False
    if get_service(dialect).pauses is not None or get_service(target).pauses is None:
        return False  # who knows pauses goes on by itself, and only a target that knows them takes the turn back;
        # so a body that goes out as it came, which nobody can add a turn to, is never gone on with
    kinds = frozenset(map(type, response.parts))
    return bool(kinds & _STEPS) and not kinds & _CALLS


def _continuation(job: Job, lane: Lane, response: Response[Any], attempts: tuple[Attempt, ...]) -> Job:
    """The job that goes on with a paused answer: its turn at the end, for its own target, in what time is left."""
    passed_s = sum([(attempt.duration_s or 0.0) + (attempt.delay_s or 0.0) for attempt in attempts])
    request = replace(job.request, messages=(*job.request.messages, response.message))
    pauses = lane.dialect.service.pauses
    request = request if pauses is None else pauses.resumed(request, response)
    return later(replace(job, lanes=(lane,), ranking=None, request=request), passed_s)


def _joined(first: Response[Any], second: Response[Any], target: str) -> Response[Any]:
    """One answer of a paused one and its continuation: it has the id and the request of the first."""
    costs = (first.cost_usd, second.cost_usd)
    pauses = get_service(target).pauses
    second = second if pauses is None else pauses.joined(first, second)
    return replace(
        second,
        parts=first.parts + second.parts,
        usage=add_usage(first.usage, second.usage),
        cost_usd=None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
        changes=first.changes + second.changes,
        id=first.id,
        request=first.request,
    )


class PausingOutcome(Outcome):
    """The outcome of a stream that is gone on with where it pauses."""

    __slots__ = ("_dialect", "_left", "before", "last", "target")

    def __init__(self, dialect: str) -> None:
        """Nothing has come yet for a client of `dialect`."""
        super().__init__()
        self._dialect = dialect
        self._left = MAX_CONTINUATIONS
        self.target: str = ""
        """The dialect of the target that answers."""
        self.before: Response[Any] | None = None
        """The answers that paused, joined."""
        self.last: Response[Any] | None = None
        """The answer of a stream that came to its end and is still to be settled."""

    def ended(self, response: Response[Any]) -> None:
        """Take the response of a stream; the whole one is there once that did not pause, or may not be gone on with."""
        self.last = response
        whole = response if self.before is None else _joined(self.before, response, self.target)
        done: Response[Any] | None = None
        if not _is_paused(response, self._dialect, self.target):
            done = whole
        elif self._left:
            self.before, self._left = whole, self._left - 1
        else:
            done = replace(whole, finish_reason="length")
        if done is not None:
            super().ended(done)


class _ContinuedStream(Live):
    """The stream that goes on with a paused answer: its events are those behind the events of that."""

    __slots__ = ("_before",)

    def __init__(self, lane: Lane, encoded: Encoded, headers: Headers, decoder: StreamDecoder | None) -> None:
        """A stream of which nothing was read."""
        super().__init__(lane, encoded, headers, decoder)
        self._before: Response[Any] | None = None

    def goes_on(self, before: Response[Any]) -> None:
        """Number the events from now on, and the first ones, behind those of a paused answer."""
        self._before = before
        self.first[:] = _behind(before, self.first)

    def fed(self, piece: bytes) -> list[Event]:
        """The events that a piece completes, or those of the end."""
        events = super().fed(piece)
        return events if self._before is None else _behind(self._before, events)

    def failed(self, error: Error) -> list[Event]:
        """The events of a body that broke."""
        events = super().failed(error)
        return events if self._before is None else _behind(self._before, events)


def _behind(before: Response[Any], events: list[Event]) -> list[Event]:
    """Events of a continuation behind those of a paused answer: no second start, further blocks, counts so far."""
    moved: list[Event] = []
    for event in events:
        match event:
            case StreamStart():
                pass
            case UsageUpdate(usage=usage):
                moved.append(UsageUpdate(add_usage(before.usage, usage) or usage))
            case Extra() | StreamEnd() | StreamError():
                moved.append(event)
            case _:
                moved.append(replace(event, index=event.index + len(before.parts)))
    return moved
