"""A stream of the client's own dialect: passed on as it came, and from its first odd frame on as it is understood.

Strategy: every frame is read by the dialect's decoder, whose events are what the call comes to. While frames are in the
dialect's normal form (`FrameCheck`) their bytes go out. The first one that is not, and every one behind it, goes out as
its events, written by the dialect's stream encoder, which goes on from what was passed: the encoder is made then, and
is shown the events of all frames that went out. So a client gets what one of another dialect would get.

Rules
- A frame is passed on whole or not at all. Comments are not passed: the gateway has signs of life of its own.
- A frame that adds nothing to the answer is held back until one that does, or until the end: so broken arguments, of
  which only the end knows, have an error in the place of the finish.
- An error, a broken call and an end that the dialect does not know so are odd frames. Nothing goes out behind an end.
- What was passed is remembered as few events: pieces of one text as one piece.

Not responsible for: who reads the stream, and the end that the client is told (`streams`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from interlingua.client.call.live import Live
from interlingua.dialects._streams.frames import adds
from interlingua.errors import LimitExceededError
from interlingua.stream.failure import fault
from interlingua.types.content import BrokenToolCall
from interlingua.types.event import (
    BlockEnd,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageUpdate,
)
from interlingua.wire.json import MAX_EVENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.client.call.values import CallTarget
    from interlingua.dialects._contract import Encoded, ResumableEncoder, ServerContext, StreamDecoder
    from interlingua.errors import Error
    from interlingua.types.event import Event
    from interlingua.wire.http import Headers

__all__ = ["CountedStream", "FrameCutter", "PassedStream", "is_broken", "joined"]

_ENDINGS = (b"\n\n", b"\r\n\r\n", b"\r\r")
"""The ends of a server-sent event."""
_LONGEST_ENDING = max(map(len, _ENDINGS))
_LONG_BYTES = 65_536
"""A frame is long of which so much has come without its end."""
_ENDS = frozenset({StreamEnd, StreamError})
_MOST_EVENTS = 1_024
"""So many events that were passed are remembered before pieces of one text are joined."""


class PassedStream(Live):
    """A stream that is passed on as it comes while it is in normal form, and read beside that."""

    __slots__ = (
        "_check", "_cutter", "_encoder", "_finished", "_held_bytes", "_joined", "_last_frame", "_odd", "_passed",
        "_pending", "_sent",
    )  # fmt: skip

    hides_usage: ClassVar[bool] = False
    """Whether frames with nothing but counts of tokens are not passed on."""

    def __init__(self, target: CallTarget, encoded: Encoded, headers: Headers, decoder: StreamDecoder | None) -> None:
        """A stream of which nothing has come."""
        super().__init__(target, encoded, headers, decoder)
        self._cutter = FrameCutter(target.endpoint.spec, b"\n" if target.dialect.service.is_lines else b"")
        self._check = target.dialect.frame_check()
        self._passed: list[bytes] = []
        self._last_frame = b""
        self._sent: list[Event] = []
        self._joined = 0
        self._pending: list[tuple[bytes, list[Event]]] = []
        self._held_bytes = 0
        self._finished = False
        self._odd: list[Event] | None = None
        self._encoder: ResumableEncoder | None = None

    @property
    def is_encoded(self) -> bool:
        """Whether something odd has come, so that the rest is written by the dialect's encoder."""
        return self._odd is not None

    def take_bytes(self, context: Callable[[], ServerContext]) -> bytes:
        """The bytes since the last time that may go out; `context` tells how the rest of the answer is written."""
        data = b"".join(self._passed)
        self._passed.clear()
        if self._odd:
            encode = self.encoder(context).encode
            data += b"".join([encode(event) for event in self._odd])
            self._odd.clear()
        return data

    def encoder(self, context: Callable[[], ServerContext]) -> ResumableEncoder:
        """The encoder of the rest of the answer, behind everything that was passed."""
        if self._encoder is None:
            facts = context()
            encoder = self._encoder = self.target.dialect.stream_encoder(
                replace(facts, model=self._model or facts.model)
            )
            if self._last_frame:
                encoder.resume(joined(self._sent), self._last_frame)
            self._sent.clear()
        return self._encoder

    @property
    def _model(self) -> str | None:
        """The name of the model in the frames that were passed."""
        events = self._sent or self._odd or ()
        return next((event.wire_model for event in events if type(event) is StreamStart), None)

    # What comes

    def fed(self, piece: bytes) -> list[Event]:
        """The events of the frames that a piece completes, or those of the end."""
        if not piece:
            before = self._rest()
            return [*before, *self._ended(b"", super().fed(b""))]
        decoder = self.decoder
        assert decoder is not None, "a whole answer is not fed"  # noqa: S101 - an invariant
        if self._odd is not None:
            return self._pass_to_encoder(decoder.feed(self._cutter.rest() + piece))
        events: list[Event] = []
        sent = self._sent
        for frame in self._cutter.frames(piece):
            decoded = decoder.feed(frame)
            events += decoded
            if len(decoded) == 1 and decoder.compared is frame and self._odd is None and not self._pending:
                self._passed.append(frame)
                self._last_frame = frame
                sent += decoded
                continue
            self._frame(frame, decoded, decoder)
            if decoded and type(decoded[-1]) in _ENDS:  # nothing is read behind the end, and nothing is passed
                break
        if len(sent) - self._joined > _MOST_EVENTS:
            sent[self._joined :] = joined(sent[self._joined :])
            self._joined = len(sent)
        return events

    def failed(self, error: Error) -> list[Event]:
        """The events of a body that broke."""
        before = self._rest()
        return [*before, *self._ended(b"", super().failed(error))]

    def _rest(self) -> list[Event]:
        """The events of a last frame that nothing ended."""
        tail, decoder = self._cutter.rest(), self.decoder
        if not tail or decoder is None or decoder.ended:
            return []
        events = decoder.feed(tail)
        self._frame(tail + self._cutter.separator, events, decoder)
        return events

    def _ended(self, frame: bytes, events: list[Event]) -> list[Event]:
        decoder = self.decoder
        if self._odd is not None:
            return self._pass_to_encoder(events)
        if events and decoder is not None:
            is_end = type(events[-1]) is StreamEnd and self._check.ends_with_body
            self._settle(frame, events, decoder, is_normal=is_end)
        return events

    def _pass_to_encoder(self, events: list[Event]) -> list[Event]:
        """Have events written by the encoder; how they end is told by whoever reads the stream."""
        odd = self._odd = [] if self._odd is None else self._odd
        fails = bool(events) and _fails(events[-1])
        odd += [event for event in events if type(event) not in _ENDS and not (fails and is_broken(event))]
        return events

    # Frames

    def _frame(self, frame: bytes, events: list[Event], decoder: StreamDecoder) -> None:
        if self._odd is not None:
            self._pass_to_encoder(events)
        elif self.hides_usage and events and all([type(event) is UsageUpdate for event in events]):
            return
        elif events or not self._check.is_silent(frame):
            self._settle(frame, events, decoder, is_normal=self._check.is_normal(frame, events))

    def _settle(self, frame: bytes, events: list[Event], decoder: StreamDecoder, *, is_normal: bool) -> None:
        """Pass a frame on, hold it back, or have this and all that follows written by the encoder."""
        last = events[-1] if events else None
        has_more = adds(events)
        opens = bool(events) and type(events[0]) is StreamStart
        goes_out = has_more or (opens and self.is_only)  # an opening need not wait for content then
        if (
            not is_normal
            or self._is_odd(last, decoder)
            or (self._finished and has_more and type(last) is not StreamEnd)
        ):
            self._turn(events)
        elif type(last) is StreamEnd or (goes_out and not decoder.terminal):
            for before, events_before in self._pending:
                self._pass(before, events_before)
            self._pending.clear()
            self._held_bytes = 0
            self._pass(frame, events)
        else:
            self._finished = self._finished or decoder.terminal
            self._pending.append((frame, events))
            self._held_bytes += len(frame)
            if self._held_bytes > MAX_EVENT_BYTES:
                self._turn([])

    def _is_odd(self, last: Event | None, decoder: StreamDecoder) -> bool:
        """Whether the last event, or a change that reading made, forbids that the client gets the frame as it came."""
        if last is not None and _fails(last):
            return True
        entries = decoder.changes.entries
        return bool(entries) and not self._check.harmless.issuperset([entry.code for entry in entries])

    def _turn(self, events: list[Event]) -> None:
        """From here on events are written: those of the frames that were held back first."""
        pending, self._pending = self._pending, []
        self._pass_to_encoder([event for _, before in pending for event in before])
        self._pass_to_encoder(events)

    def _pass(self, frame: bytes, events: list[Event]) -> None:
        self._passed.append(frame)
        self._last_frame = frame or self._last_frame
        self._sent += events


class CountedStream(PassedStream):
    """A stream whose counts of tokens the gateway asked for, and its client did not."""

    __slots__ = ()

    hides_usage: ClassVar[bool] = True
    """Frames with nothing but counts are not passed on."""


class FrameCutter:
    """Cuts what comes into frames: server-sent events, or lines where `separator` says so."""

    __slots__ = ("_long", "_name", "_tail", "separator")

    def __init__(self, name: str, separator: bytes) -> None:
        """`name` is whose frames they are; an empty separator is found in what comes."""
        self._name = name
        self._tail = b""
        self._long = bytearray()
        self.separator: bytes = separator
        """The end of a frame; empty while none has ended."""

    def frames(self, piece: bytes) -> list[bytes]:
        """The whole frames that a piece completes.

        Raises: LimitExceededError for one that is too large.
        """
        if len(self._tail) >= _LONG_BYTES and not (piece := self._grown(piece)):
            return []
        data = self._tail + piece if self._tail else piece
        separator = self.separator = self.separator or _separator_in(data)
        if not separator:
            self._tail = data
            frames: list[bytes] = []
        elif data.endswith(separator) and data.find(separator) == len(data) - len(separator):  # as nearly all pieces
            self._tail = b""
            frames = [data]
        else:
            *parts, self._tail = data.split(separator)
            frames = [part + separator for part in parts]
        if len(self._tail) > MAX_EVENT_BYTES:
            raise LimitExceededError(f"{self._name} sent an event of more than {MAX_EVENT_BYTES} bytes")
        return frames

    def rest(self) -> bytes:
        """The bytes of a frame without its end, which is forgotten here."""
        rest = bytes(self._long) or self._tail
        self._tail, self._long = b"", bytearray()
        return rest

    def _grown(self, piece: bytes) -> bytes:
        """All of a long frame, once it has ended: a picture comes in hundreds of pieces, and is copied once."""
        long = self._long
        long += piece if long else self._tail + piece
        recent = bytes(long[-len(piece) - _LONGEST_ENDING :])
        ends = self.separator in recent if self.separator else bool(_separator_in(recent))
        if not ends and len(long) <= MAX_EVENT_BYTES:
            return b""
        self._tail, self._long = b"", bytearray()
        return bytes(long)


def _separator_in(data: bytes) -> bytes:
    """The end of the first frame; empty while none has ended."""
    endings = [(place, ending) for ending in _ENDINGS if (place := data.find(ending)) >= 0]
    return min(endings)[1] if endings else b""


def _fails(last: Event) -> bool:
    """Whether an answer ends with an error in the place of its end."""
    return isinstance(last, StreamError) or (isinstance(last, StreamEnd) and fault(last.response) is not None)


def is_broken(event: Event) -> bool:
    """Whether a broken call ends, which some dialects would tell as a text: an error stands in its place."""
    return isinstance(event, BlockEnd) and isinstance(event.part, BrokenToolCall)


def joined(events: Iterable[Event]) -> list[Event]:
    """Events with neighbouring pieces of one block as one piece; a blank one stays, since it may part two thoughts."""
    result: list[Event] = []
    pieces: list[str] = []
    for event in events:
        last = result[-1] if result else None
        if last is not None and _is_beside(event, last):
            pieces.append(_text(event))
        else:
            _join(result, pieces)
            result.append(event)
    _join(result, pieces)
    return result


def _text(event: Event) -> str:
    """The text in a piece of a text, a thought or arguments; nothing for any other event."""
    match event:
        case TextDelta(text=text) | ThinkingDelta(text=text) | ToolCallDelta(arguments=text):
            return text
        case _:
            return ""


def _is_beside(event: Event, last: Event) -> bool:
    """Whether a piece goes on with the last one, and neither is blank."""
    match event, last:
        case (
            (TextDelta() | ThinkingDelta() | ToolCallDelta()) as piece,
            (TextDelta() | ThinkingDelta() | ToolCallDelta()) as before,
        ) if type(piece) is type(before):
            is_same = (piece.choice, piece.index) == (before.choice, before.index)
            return is_same and not (_text(piece).isspace() or _text(before).isspace())
        case _:
            return False


def _join(result: list[Event], pieces: list[str]) -> None:
    """Put pieces behind the text of the last event."""
    last = result[-1] if pieces else None
    if isinstance(last, TextDelta | ThinkingDelta):
        result[-1] = replace(last, text="".join([last.text, *pieces]))
    elif isinstance(last, ToolCallDelta):
        result[-1] = replace(last, arguments="".join([last.arguments, *pieces]))
    pieces.clear()
