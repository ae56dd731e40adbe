"""One call, without I/O: what is asked of the transport and what is done with its answers, written once.

Strategy: a call is a generator that yields effects (`effect`) and is sent their results, so that the errors and the end
of a stream are decided here and nowhere else; which target is asked, and how often, is decided in `chain`.

Rules
- After the wire's terminal signal at most the drain time is waited for what still belongs to the answer.
- A driver closes what it opened, also when it is left in the middle; the generator needs no cleaning up.

Not responsible for: which target is tried, and how often (`chain`); one try of it (`attempt`), and a stream until its
first events (`live`).
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.client.call.attempt import completed, whole
from interlingua.client.call.chain import routed
from interlingua.client.call.effect import NEXT, Read, Steps
from interlingua.client.call.live import Live, begin
from interlingua.client.call.secrets import attribute
from interlingua.client.call.values import Call, CallTarget
from interlingua.client.meter import count
from interlingua.client.observe import is_observed
from interlingua.client.price import cost_of
from interlingua.errors import Error, UpstreamError, UsageError
from interlingua.stream.failure import fault
from interlingua.types.event import StreamEnd, StreamError, ToolCallDelta
from interlingua.types.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.types.event import Event
    from interlingua.types.response import Attempt, Response

__all__ = [
    "DRAIN_S",
    "GRACE_S",
    "Outcome",
    "call_steps",
    "closed_early",
    "follow",
    "stream_steps",
]

DRAIN_S = 2.0
"""Seconds that are waited for the rest of a stream after its terminal signal."""
GRACE_S = 0.05
"""Seconds that are waited for the end of a body whose answer is complete, so that its connection can be used again."""
_NO_COUNTS = Usage()
_ENDS = frozenset({StreamEnd, StreamError})
_LAST_READ = Read(GRACE_S, needed=False)


class Outcome:
    """The outcome of a stream; filled in while it runs."""

    __slots__ = ("given_up", "partial", "response")

    def __init__(self) -> None:
        """Nothing has come yet."""
        self.given_up: bool = False
        """Whether the reader closed the stream before it came to an end."""
        self.response: Response[Any] | None = None
        """The whole response, once the stream came to its end."""
        self.partial: Response[Any] | None = None
        """The response up to the failure of the stream."""

    def ended(self, response: Response[Any]) -> None:
        """Take the response of a stream that came to its end; who goes on with it leaves `response` None."""
        self.response = response

    def whole(self, *, ended: bool) -> Response[Any]:
        """The whole response.

        Raises: UsageError where there is none, with the reason.
        """
        response = self.response
        if response is not None:
            return response if response.usage is not None else _counted(response)
        if self.given_up:
            raise closed_early()
        if ended:
            raise UsageError("this stream failed, so there is no whole response; .partial has the content so far")
        raise UsageError("this stream has not come to its end; read it to the end, or call finish()")


def _counted(response: Response[Any]) -> Response[Any]:
    """A response without counts with counts that are all None, so that nobody has to ask whether there are any."""
    return msgspec.structs.replace(response, usage=_NO_COUNTS)


def closed_early() -> UsageError:
    """The error of a reader of a stream that it has closed: half an answer must not look like a whole one."""
    return UsageError(
        "this stream was closed before its end: nothing more can be read; call finish() before it is closed"
    )


def call_steps(call: Call, attempt: Callable[[Call, CallTarget], Steps[Response[Any]]] = whole) -> Steps[Response[Any]]:
    """The steps of a call that is answered as a whole; `attempt` is one try of a target.

    Raises: every `Error` but those of streams.
    """
    if call.watch is None and is_observed():
        from interlingua.client.call.watch import watched_call  # who is not observed pays nothing

        return (yield from watched_call(call, partial(call_steps, attempt=attempt)))
    if call.settings.hooks and call.hooking is None:
        from interlingua.client.hooks.run import hooked_call  # who has no hooks pays nothing

        return (yield from hooked_call(call, partial(call_steps, attempt=attempt)))
    answer, attempts = yield from routed(call, attempt)
    response = msgspec.structs.replace(answer, attempts=attempts)
    return response if response.usage is not None else _counted(response)


def stream_steps(call: Call, outcome: Outcome) -> Steps[None]:
    """The steps of a call that is answered piece by piece.

    Raises: every `Error`.
    """
    if call.watch is None and is_observed():
        from interlingua.client.call.watch import watched_stream  # who is not observed pays nothing

        yield from watched_stream(call, outcome, stream_steps)
        return
    if call.settings.hooks and call.hooking is None:
        from interlingua.client.hooks.run import hooked_stream  # who has no hooks pays nothing

        yield from hooked_stream(call, outcome, stream_steps)
        return
    live, attempts = yield from routed(call, begin)
    yield from follow(call, live, attempts, outcome)


def follow(call: Call, live: Live, attempts: tuple[Attempt, ...], outcome: Outcome) -> Steps[None]:
    """The steps of a stream that has begun, to its end; `attempts` are the tries that it took.

    Raises: what broke the stream, with `attempts`.
    """
    events = live.first
    attempt = live.attempt
    read = _read_by(call, live)
    awaited = call.watch if attempt is not None else None
    try:
        while True:
            if awaited is not None and attempt is not None and not live.is_opening(events):
                awaited.first_content(live.target, attempt.number)
                awaited = None
            last = events[-1] if events else None
            if type(last) in _ENDS:
                break
            if not call.tool_deltas:
                events = [event for event in events if type(event) is not ToolCallDelta]
            if events:
                yield events
            try:
                piece = yield _next_read(call, live, read)
            except Error as error:
                events = live.failed(error)
            else:
                events = live.fed(piece) if type(piece) is bytes else piece
        yield from _finish(call, live, events, attempts, outcome)
    except BaseException as problem:
        if attempt is not None:
            attempt.abandon(problem)
        raise


def _read_by(call: Call, live: Live) -> Read:
    """Reads the next piece of a stream, with its decoder where nobody is between that and the reader."""
    is_watched = call.watch is not None or call.hooking is not None
    is_between = is_watched or not call.tool_deltas or live.unwrapper is not None or type(live) is not Live
    return NEXT if is_between else Read(decoder=live.decoder)


def _next_read(call: Call, live: Live, read: Read) -> Read:
    """The effect that reads the next piece, or the rest behind the terminal signal while that is waited for."""
    if live.decoder is None or not live.decoder.terminal:
        return read
    if live.drain_until is None:
        live.drain_until = call.clock() + DRAIN_S
    return Read(max(0.0, live.drain_until - call.clock()))


def _finish(
    call: Call, live: Live, events: list[Event], attempts: tuple[Attempt, ...], outcome: Outcome
) -> Steps[None]:
    """The last events, and what the stream came to."""
    *before, last = events
    shown = [event for event in before if call.tool_deltas or type(event) is not ToolCallDelta]
    error: Error | None = None
    if isinstance(last, StreamEnd):
        response = completed(call, live.target, live.encoded, live.headers, last.response)
        response = msgspec.structs.replace(response, attempts=attempts)
        error = yield from _settled(call, live, response, outcome)
        shown += [] if error or outcome.response is None else [StreamEnd(outcome.response)]
    elif isinstance(last, StreamError):
        outcome.partial = last.partial
        if last.partial is not None:
            count(msgspec.structs.replace(last.partial, cost_usd=cost_of(call, live.target, last.partial)))
        error = live.error(last)
        attribute(error, live.target.endpoint, call.settings.headers)
        if live.attempt is not None:
            yield from live.attempt.broke(error, call.watch)
    if shown:
        yield shown
    if error is not None:
        error.attempts = attempts
        raise error
    if not live.at_end:
        with suppress(Error):  # the answer is whole: what breaks behind it is not its reader's concern
            yield _LAST_READ


def _settled(call: Call, live: Live, response: Response[Any], outcome: Outcome) -> Steps[Error | None]:
    """The error of an answer that came to its end, if it is one; the outcome and the target's health are told."""
    error = fault(response)
    if isinstance(error, UpstreamError):  # the provider itself broke its answer off
        outcome.partial = response
        if live.attempt is not None:
            yield from live.attempt.broke(error, call.watch)
        return error
    outcome.ended(response)
    if live.attempt is not None:
        yield from live.attempt.ended(response)
    return error
