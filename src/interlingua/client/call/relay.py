"""A call of somebody else's, whose targets may get a body as it came: the seam of the client for a gateway.

Strategy: the chain, the retries and the health are those of any call. For each target a `Relay` says whether that gets
a request of the caller's own (`own_request`); for any other one the target's dialect writes it and reads the answer.
Both are tries of one chain.

Anthropic ends a long turn of its own tools in `pause_turn`, to be sent back as it is. Only clients of the dialects that
have such an end do so. For any other client the paused turn goes back to the target that wrote it, and the client gets
the answers joined to one.

Rules
- A stream has one start and one end: the blocks of a continuation are numbered on, its counts are those so far.
- A turn is gone on with `MAX_CONTINUATIONS` times at most; one that still pauses ends as cut off (`length`).
- The container in which tools of the provider have run is named again (`container`), so that they find their files.
- Usage and costs are sums; a sum with an unknown part is unknown.
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
from interlingua.client.call.live import Live, begin, opened
from interlingua.client.call.needs import has_need, shortfall
from interlingua.client.call.values import Call, CallRefused, later
from interlingua.client.observe import is_observed
from interlingua.client.state import limiter
from interlingua.dialects.table import get_service
from interlingua.errors import DecodeError, Error, HistoryError
from interlingua.types.content import BrokenToolCall, OpaquePart, ServerToolPart, ToolCall
from interlingua.types.event import Extra, StreamEnd, StreamError, StreamStart, UsageUpdate
from interlingua.types.usage import add_usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import CallTarget
    from interlingua.dialects._contract import Encoded, StreamDecoder
    from interlingua.types.event import Event
    from interlingua.types.request import Request
    from interlingua.types.response import Attempt, Response
    from interlingua.wire.http import Headers, HttpReply

__all__ = ["MAX_CONTINUATIONS", "PausingOutcome", "Relay", "Served", "weighed"]

Served: TypeAlias = "tuple[Response[Any], CallTarget, HttpReply | None]"
"""The answer of one target, and its reply where that answers a request of the caller's own."""


class Relay:
    """One call of somebody else's; a subclass says what its targets get, and is told what becomes of each try."""

    live: Live
    """The stream of the target that answers, once that has begun."""
    attempts: tuple[Attempt, ...]
    """The tries that it took."""

    def __init__(self, dialect: str) -> None:
        """A call of a client of `dialect` that has not begun."""
        self.dialect: str = dialect
        """The dialect of the client, who takes a paused answer or does not."""
        self.served: list[Served] = []
        """The whole answers of targets, the last one last."""
        self.is_opening: bool = False
        """Whether a paused answer is being gone on with, and nothing of that has come yet."""

    # What a subclass says

    def request(self) -> Request:
        """The whole request, which the call of one that goes out as it came does not have.

        Raises: DecodeError, HistoryError for one that cannot be read.
        """
        raise NotImplementedError

    def input_tokens(self) -> int:
        """About how many tokens a request has that nobody read."""
        raise NotImplementedError

    def prepared(self, call: Call, target: CallTarget) -> Steps[Call]:
        """The call of one try at a target, which is about to be made.

        Raises: CallRefused where it may not be made.
        """
        raise NotImplementedError

    def own_request(self, call: Call, target: CallTarget) -> Encoded | None:
        """The request for a target in the caller's own bytes; None where its dialect writes it.

        Raises: UnsupportedError where nothing may be left out of it, and something would be.
        """
        raise NotImplementedError

    def stream_class(self, target: CallTarget) -> type[Live]:
        """The class of a stream that answers a request of the caller's own."""
        raise NotImplementedError

    def failed(self, error: Error, target: CallTarget) -> None:
        """A try has failed."""

    def paused(self, response: Response[Any], target: CallTarget) -> None:
        """A target has paused, and is asked to go on."""

    # A whole answer

    def call(self, call: Call) -> Steps[Response[Any]]:
        """The steps of a call that is answered as a whole; each answer of a target is in `served`.

        Raises: every `Error` but those of streams.
        """
        if call.watch is None and is_observed():
            from interlingua.client.call.watch import watched_call  # who is not observed pays nothing

            return (yield from watched_call(call, self.call))
        call = weighed(call, self.input_tokens)
        answer, attempts = yield from routed(call, self._answer)
        self.served.append(answer)
        response, target, _ = answer
        if response.finish_reason == "pause" and _is_paused(response, self.dialect, target.dialect.name):
            return (yield from self._continued(call, attempts))
        return replace(response, attempts=attempts)

    def _continued(self, call: Call, attempts: tuple[Attempt, ...]) -> Steps[Response[Any]]:
        """One answer of a paused one, the last of `served`, and its continuations."""
        response, target, _ = self.served[-1]
        for _ in range(MAX_CONTINUATIONS):
            self.paused(self.served[-1][0], target)
            try:
                answer, tries = yield from routed(_continuation(call, target, response, attempts), self._answer)
            except Error as error:
                error.attempts = attempts + error.attempts
                raise
            self.served.append(answer)
            attempts += tries
            response = _joined(response, answer[0], target.dialect.name)
            if not _is_paused(answer[0], self.dialect, target.dialect.name):
                break
        else:
            response = replace(response, finish_reason="length")
        return replace(response, attempts=attempts)

    def _answer(self, call: Call, target: CallTarget) -> Steps[Served]:
        """One try at a whole answer."""
        target = self._able(call, target)
        call, encoded = (yield from self.prepared(call, target)), None
        try:
            encoded = self.own_request(call, target)
            if encoded is None:
                return (yield from whole(call, target)), target, None
            reply = yield fetching(call, target, encoded)
            response = answered(call, target, encoded, reply)
        except Error as error:
            self._note_failure(call, target, error, is_own=encoded is not None)
            raise
        return response, target, reply

    # A stream

    def stream(self, call: Call, outcome: PausingOutcome) -> Steps[None]:
        """The steps of a call that is answered piece by piece, with its continuations; `live` is its upstream's side.

        Raises: every `Error`.
        """
        if call.watch is None and is_observed():
            from interlingua.client.call.watch import watched_stream  # who is not observed pays nothing

            yield from watched_stream(call, outcome, lambda watched, _: self.stream(watched, outcome))
            return
        call = weighed(call, self.input_tokens)
        self.live, self.attempts = yield from routed(call, self._begin)
        outcome.target = self.live.target.dialect.name
        yield from follow(call, self.live, self.attempts, outcome)
        if outcome.response is None:
            yield from self._streamed_on(call, outcome)

    def _streamed_on(self, call: Call, outcome: PausingOutcome) -> Steps[None]:
        """The continuations of a stream that paused, as further events of it."""
        target = self.live.target
        while outcome.response is None and outcome.before is not None and outcome.last is not None:
            before, last, outcome.last = outcome.before, outcome.last, None
            self.paused(last, target)
            further = _continuation(call, target, before, self.attempts)
            self.is_opening = True
            try:
                live, tries = yield from routed(further, partial(self._begin, kind=_ContinuedStream))
            except CallRefused as refusal:
                self.is_opening = False
                raise refusal.error from None
            except Error as error:
                self.is_opening = False
                error.attempts = self.attempts + error.attempts
                raise
            self.is_opening = False
            self.live, self.attempts = live, self.attempts + tries
            if isinstance(live, _ContinuedStream):
                live.goes_on(before)
            else:  # a whole answer, where a stream was asked for
                live.first = _behind(before, live.first)
            yield from follow(further, live, self.attempts, outcome)

    def _begin(self, call: Call, target: CallTarget, kind: type[Live] | None = None) -> Steps[Live]:
        """One try at a stream; `kind` reads what comes of one that is translated."""
        target = self._able(call, target)
        call, encoded = (yield from self.prepared(call, target)), None
        try:
            encoded = self.own_request(call, target)
            if encoded is None:
                return (yield from begin(call, target, kind))
            return (yield from opened(call, target, encoded, self.stream_class(target)))
        except Error as error:
            self._note_failure(call, target, error, is_own=encoded is not None)
            raise

    # One try

    def _able(self, call: Call, target: CallTarget) -> CallTarget:
        """The target of one try.

        Raises: UnsupportedError for a request that has what its target lacks.
        """
        if not target.refused_features:
            return target
        # What goes out as it came may go although its target has said that it lacks something, unless it has just that.
        with suppress(DecodeError, HistoryError):  # what we cannot read, its provider may
            error = shortfall(replace(call, request=self.request()), target, target.refused_features)
            if error is not None:
                raise error
        return replace(target, refused_features=frozenset())

    def _note_failure(self, call: Call, target: CallTarget, error: Error, *, is_own: bool) -> None:
        """Tell of a failed try; and believe a target that it lacks something only where the request has that."""
        if is_own:
            error.has_bound_thinking = False  # the client's own body: it has the thinking, and acts on the error itself
        if error.lacking is not None and not call.request.messages:
            try:
                has_it = has_need(self.request(), error.lacking)
            except Error:
                has_it = False
            if not has_it:
                error.lacking = None
        self.failed(error, target)


def weighed(call: Call, input_tokens: Callable[[], int]) -> Call:
    """The call with about how many tokens a request has that nobody read, where a limit wants to know."""
    covers = limiter().covers
    if call.request.messages or not any([covers(target.endpoint.spec) for target in call.targets]):
        return call
    return replace(call, input_tokens=input_tokens())


# Answers that pause


MAX_CONTINUATIONS = 8
"""How often one answer is gone on with."""
_STEPS = frozenset({ServerToolPart, OpaquePart})
_CALLS = frozenset({ToolCall, BrokenToolCall})


def _is_paused(response: Response[Any], dialect: str, target: str) -> bool:
    """Whether the answer of a target is to be gone on with for a client, each with the name of its dialect."""
    if response.finish_reason != "pause":
        return False
    if get_service(dialect).pauses is not None or get_service(target).pauses is None:
        return False  # who knows pauses goes on by itself, and only a target that knows them takes the turn back;
        # so a body that goes out as it came, which nobody can add a turn to, is never gone on with
    kinds = frozenset(map(type, response.parts))
    return bool(kinds & _STEPS) and not kinds & _CALLS


def _continuation(call: Call, target: CallTarget, response: Response[Any], attempts: tuple[Attempt, ...]) -> Call:
    """The call that goes on with a paused answer: its turn at the end, for its own target, in what time is left."""
    passed_s = sum([(attempt.duration_s or 0.0) + (attempt.delay_s or 0.0) for attempt in attempts])
    request = replace(call.request, messages=(*call.request.messages, response.message))
    pauses = target.dialect.service.pauses
    request = request if pauses is None else pauses.resumed(request, response)
    return later(replace(call, targets=(target,), ranking=None, request=request), passed_s)


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

    def __init__(self, target: CallTarget, encoded: Encoded, headers: Headers, decoder: StreamDecoder | None) -> None:
        """A stream of which nothing was read."""
        super().__init__(target, encoded, headers, decoder)
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
