"""A stream of one target: from its request to its first events, and what reads it from then on.

Rules
- A stream is handed over with its first events; until then a chain may go on, after that never.
- What says nothing yet is held back, so that an error behind it is still another target's chance; where nobody could be
  asked then, it goes out at once.

Not responsible for: what comes behind the first events (`core`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.client.call.attempt import (
    Sent,
    completed,
    context_of,
    deadlines,
    out_of_place,
    prepared,
    refusal,
    sent,
)
from interlingua.client.call.chain import has_one_try
from interlingua.client.call.effect import NEXT, Open, Read, Rest, Steps
from interlingua.client.call.encoding import encode
from interlingua.client.call.open_attempt import Lasting
from interlingua.client.call.transports import carrier_of
from interlingua.errors import (
    APIConnectionError,
    APITimeoutError,
    DecodeError,
    Error,
    IncompleteStreamError,
    WireError,
)
from interlingua.media.fit import has_media
from interlingua.stream.failure import fault
from interlingua.stream.fold import error_of
from interlingua.stream.unfold import unfold
from interlingua.types.event import Extra, StreamEnd, StreamError, StreamStart, UsageUpdate
from interlingua.wire.http import HttpReply, header
from interlingua.wire.sse import sniff

if TYPE_CHECKING:
    from interlingua.client.call.values import Call, CallTarget
    from interlingua.client.typed.fallbacks import Unwrapper
    from interlingua.dialects._contract import Encoded, StreamDecoder
    from interlingua.transport.base import AsyncReply, Reply
    from interlingua.types.event import Event
    from interlingua.types.response import Response
    from interlingua.wire.http import Headers

__all__ = ["Live", "begin", "opened"]

_BEFORE_CONTENT = frozenset({StreamStart, UsageUpdate, Extra})  # `isinstance` of a struct takes four times as long
"""Events that say nothing yet, so that an error after them may still be another target's chance."""
_ENDS = frozenset({StreamEnd, StreamError})
_REST = Rest()


class Live(Lasting):
    """A stream that has begun."""

    __slots__ = (
        "at_end",
        "broken_by",
        "call",
        "decoder",
        "drain_until",
        "encoded",
        "first",
        "headers",
        "target",
        "unwrapper",
    )

    def __init__(self, target: CallTarget, encoded: Encoded, headers: Headers, decoder: StreamDecoder | None) -> None:
        """A stream of which nothing was read; one without a decoder is a whole answer."""
        super().__init__()
        self.target: CallTarget = target
        """The target that gives it."""
        self.encoded: Encoded = encoded
        """The encoded request."""
        self.headers: Headers = headers
        """The headers of the reply."""
        self.decoder: StreamDecoder | None = decoder
        """The decoder that makes events of the body's pieces; None for a whole answer."""
        self.first: list[Event] = []
        """The first events."""
        self.at_end: bool = decoder is None
        """Whether the body has been read to its end."""
        self.broken_by: Error | None = None
        """The error that broke the body."""
        self.drain_until: float | None = None
        """The time at which the rest after the terminal signal is given up."""
        self.call: Call | None = None
        """The call that it answers; None where that is not known."""
        self.unwrapper: Unwrapper | None = None
        """Shows a hidden tool's call as text."""
        if encoded.undo.output_tool:
            from interlingua.client.typed.fallbacks import Unwrapper

            self.unwrapper = Unwrapper(encoded.undo.output_tool)

    @property
    def speaks(self) -> bool:
        """Whether the first events can go out, and have no end in them."""
        first = self.first
        if _BEFORE_CONTENT.issuperset(map(type, first)):
            return bool(first) and self.is_only
        return type(first[-1]) not in _ENDS

    @property
    def is_only(self) -> bool:
        """Whether nobody could be asked after it, so that its opening need not wait for content."""
        return self.call is not None and has_one_try(self.call)

    @staticmethod
    def is_opening(events: list[Event]) -> bool:
        """Whether events say nothing yet of what the answer holds."""
        return _BEFORE_CONTENT.issuperset(map(type, events))

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
        message = f"the stream of {self.target.endpoint.spec} broke off: {self.broken_by.message}"
        cut = IncompleteStreamError(message, partial=event.partial)
        cut.__cause__ = self.broken_by
        return cut


def begin(call: Call, target: CallTarget, kind: type[Live] | None = None) -> Steps[Live]:
    """The stream of one target, with its first events; `kind` reads what comes.

    Raises: every `Error` but those of chains.
    """
    if call.writer is not None or has_media(call.request.messages):
        encoded = yield from prepared(call, target, stream=True)
    else:
        encoded = encode(call, target, stream=True)
    return (yield from opened(call, target, encoded, kind))


def opened(call: Call, target: CallTarget, encoded: Encoded, kind: type[Live] | None = None) -> Steps[Live]:
    """The stream of one target that answers an encoded request, with its first events; `kind` reads what comes.

    Raises: as `begin`.
    """
    request = sent(call, target, encoded, stream=True)
    timeouts = call.settings.timeouts if call.answer_by_s is None else deadlines(call, stream=True)
    is_usual = call.settings.carrier is None and target.endpoint.carrier is None  # quicker to see
    carrier = None if is_usual else carrier_of(call, target)
    reply: Reply | AsyncReply = yield Open(request, timeouts, carrier)
    return (yield from _replied(Sent(call, target, encoded, reply), kind))


def _replied(exchange: Sent, kind: type[Live] | None = None) -> Steps[Live]:
    """A live stream from the head of the reply on.

    Raises: as `begin`.
    """
    call, target, encoded, reply = exchange
    if not 200 <= reply.status < 300:
        body: bytes = yield _REST
        whole = HttpReply(status=reply.status, headers=reply.headers, body=body)
        raise refusal(target, whole, context_of(call, target, encoded))
    piece: bytes = (yield NEXT) if call.answer_by_s is None else (yield from _first_piece(call, target))
    live = _begun(exchange, piece, kind)
    return live if live is not None and live.speaks else (yield from _unusual(exchange, piece, live))


def _begun(exchange: Sent, piece: bytes, kind: type[Live] | None = None) -> Live | None:
    """The stream that begins with a piece, with the events of that; None for what is no stream."""
    call, target, encoded, reply = exchange
    form = sniff(header(reply.headers, "content-type"), piece)
    # An object may be the first line of a stream of lines; one that is laid out over several lines is not.
    is_line = target.dialect.service.is_lines and not piece.lstrip().startswith((b"{\n", b"{\r\n"))
    if form == "html" or (form == "json" and not is_line):
        return None
    decoder = target.dialect.stream_decoder(context_of(call, target, encoded))
    if call.settings.raw:
        from interlingua.client.call.raw import FrameTap  # only who asks for it pays for it

        decoder = FrameTap(decoder, target.dialect.name, header(reply.headers, "content-type"))
    live = (kind or Live)(target, encoded, reply.headers, decoder)
    live.call = call
    live.first = _named(target, live.fed(piece))
    return live


def _unusual(exchange: Sent, piece: bytes, live: Live | None) -> Steps[Live]:
    """The answer that begins with a piece that is not content yet, or is of no stream.

    Raises: as `begin`.
    """
    call, target, encoded, reply = exchange
    if live is not None:
        yield from _first_events(call, live)
        return live
    # A whole answer where a stream was asked for: some servers cannot stream, some proxies answer with a page.
    body = piece + (yield _REST)
    whole = HttpReply(status=reply.status, headers=reply.headers, body=body)
    context = context_of(call, target, encoded)
    if error := out_of_place(target, whole):
        raise error
    live = Live(target, encoded, whole.headers, None)
    try:
        response = target.dialect.decode_response(whole, context)
    except WireError as error:
        from interlingua.client.call.misplaced import unreadable  # only who is sent such a thing needs it

        error = unreadable(target.endpoint.spec, whole, error)
        error.is_unreadable = True
        raise error from None
    if call.settings.raw:
        from interlingua.client.call.raw import with_raw_body  # as above

        response = with_raw_body(response, whole.body, target.dialect.name)
    if response.finish_reason == "error" and (error := _fault(call, live, response)):
        raise error
    live.first = _named(target, live.shown(list(unfold(response))))
    return live


def _first_piece(call: Call, target: CallTarget) -> Steps[bytes]:
    """The next piece before there are events.

    Raises: APITimeoutError when it does not come while it is this target's turn.
    """
    by_s = call.answer_by_s
    if by_s is None:
        return (yield NEXT)
    piece = yield Read(max(0.001, by_s - call.clock()))
    if not piece and call.clock() >= by_s:
        raise APITimeoutError(f"{target.endpoint.spec} had not begun to answer when its share of the time was over")
    return piece


def _first_events(call: Call, live: Live) -> Steps[None]:
    """Reads until something can go out; an error that comes before that is raised, and the chain goes on.

    What says nothing yet is held back until then: however the bytes are cut, one target speaks.
    """
    events = live.first
    while live.is_opening(events) and not (events and live.is_only):
        try:
            piece = yield from _first_piece(call, live.target)
        except Error as error:
            events = [*events, *live.failed(error)]
        else:
            events = [*events, *live.fed(piece)]
    last = events[-1]
    if type(last) in _ENDS and _BEFORE_CONTENT.issuperset(map(type, events[:-1])):
        error = _failure(call, live, last)
        if error is not None:
            raise error
    live.first = _named(live.target, events)


def _failure(call: Call, live: Live, last: Event) -> Error | None:
    """The error of a stream that ends before it says anything; None for one that ends well."""
    match last:
        case StreamEnd(response=response):
            return _fault(call, live, response) if response.finish_reason == "error" else None
        case StreamError():
            error = live.broken_by or error_of(last)
            error.is_unreadable = isinstance(error, DecodeError)
            return error
        case _:
            return None


def _fault(call: Call, live: Live, response: Response[Any]) -> Error | None:
    """The error of an answer that came to its end and failed, with what it used and cost."""
    return fault(completed(call, live.target, live.encoded, live.headers, response))


def _named(target: CallTarget, events: list[Event]) -> list[Event]:
    """The first events, saying which target speaks."""
    start = events[0] if events else None
    if type(start) is StreamStart:
        events[0] = msgspec.structs.replace(start, model=target.endpoint.spec)
    return events
