"""Whether what a server says is in its dialect's normal form, so that a client of the dialect may get the very bytes.

Strategy: a frame in normal form means to the dialect's own clients what the decoder makes of it. The shapes that say so
are strict where the decoder is lenient: types are exact, and members are there that clients insist on. Members that
they do not name are anybody's own and change nothing.

Rules
- A frame is judged together with the events that the decoder made of it. What opens on the wire opens in the events:
  where the decoder still holds something back that a frame said, that frame is not in normal form.
- A server-sent event in normal form is one line of data, and perhaps a name before it.
- A frame without data says nothing to anybody.
- A name that stands twice in one object is in no normal form: two readers could take two meanings from it.

Not responsible for: what a decoder repaired, which it says itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

import msgspec

from interlingua.types.event import BlockStart, Seal, StreamStart, UsageUpdate
from interlingua.wire.body import repeats_a_name
from interlingua.wire.json import exact_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from interlingua.types.event import BlockKind, Event

__all__ = ["FrameCheck", "NormalStruct", "ResumingEncoder", "adds", "event_in", "normal_reader", "opened"]

T = TypeVar("T")


_BESIDE = frozenset({StreamStart, UsageUpdate, Seal})


class NormalStruct(msgspec.Struct, gc=False):
    """The base of wire objects in normal form; unknown members are skipped."""


def normal_reader(type: type[T]) -> Callable[[bytes], T | None]:
    """Reads JSON that is of a type and names each member once, and gives None for any other."""
    read = exact_reader(type)

    def read_normal(body: bytes) -> T | None:
        value = read(body)
        return None if value is None or repeats_a_name(body) else value

    return read_normal


class FrameCheck(ABC):
    """Looks at the frames of one stream, one after the other."""

    ends_with_body: bool = False
    """Whether the end of the bytes is the dialect's own sign of the end."""
    harmless: frozenset[str] = frozenset()
    """Codes of changes that reading makes of frames in normal form, too."""

    def is_silent(self, frame: bytes) -> bool:
        """Whether a frame holds nothing but comments, names and blank lines."""
        return b"data" not in frame and b"{" not in frame

    @abstractmethod
    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Whether the next frame, of which `events` were read, is in normal form.

        A frame that differs from the one before it in its text alone need not be shown.
        """


class ResumingEncoder(ABC):
    """Writes a stream, also one of which the client has the beginning in somebody else's bytes."""

    @abstractmethod
    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds."""

    def opening(self) -> bytes:
        """The frames before the first content, where that is still to come and the dialect has such a thing."""
        return b""

    def resume(self, events: Iterable[Event], last_frame: bytes) -> None:
        """Go on behind `events`, which the client has already; `last_frame` is the last frame that it got."""
        del last_frame
        for event in events:
            self.encode(event)


def event_in(frame: bytes) -> tuple[bytes, bytes] | None:
    """The name, which may be empty, and the data of the one plain event that a frame is; None for any other frame."""
    body = frame.removeprefix(b"data: ")
    data = body.removesuffix(b"\n\n")
    if data is not body is not frame and b"\n" not in data and b"\r" not in data:  # as most frames are written
        return b"", data
    text = frame.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in frame else frame
    line, _, rest = text.rstrip(b"\n").partition(b"\n")
    name = b""
    if line.startswith(b"event:"):
        name = line[6:].removeprefix(b" ")
        line, _, rest = rest.partition(b"\n")
    if rest or not line.startswith(b"data:"):
        return None
    return name, line[5:].removeprefix(b" ")


def adds(events: Sequence[Event]) -> bool:
    """Whether events say more of the answer than its name, its counts, and what a block is sealed with."""
    return not _BESIDE.issuperset(map(type, events))


def opened(events: Sequence[Event], kind: BlockKind | None = None) -> int:
    """How many blocks, or blocks of one kind, begin in events."""
    return sum([type(event) is BlockStart and (kind is None or event.block == kind) for event in events])
