"""A run of text: pieces of a stream that are one event each and differ in their text alone.

Strategy: where a template was learned, and the block is open whose text it holds, a piece that begins, goes on and ends
like it is one more delta of that block. All of that is told by comparing bytes in one step, without the framing, the
parser and the builder; the builder's block grows as if it had said the delta itself. Anything else is read as ever, and
whoever reads something else ends the run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import DecodeError

from interlingua.errors import Error
from interlingua.stream.build import DELTAS
from interlingua.wire.json import read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._streams.templates import Template
    from interlingua.stream.build import Block, StreamBuilder
    from interlingua.types.change import Changes
    from interlingua.types.event import Event, RefusalDelta, TextDelta, ThinkingDelta, ToolCallDelta

__all__ = ["DATA", "MOST_BYTES", "Between", "BuildingDecoder", "Frame", "Run", "RunDecoder", "run_of"]

MOST_BYTES = 65_536
"""A larger piece is cut into events first, which are bounded."""

Frame: TypeAlias = tuple[bytes, bytes]
"""The bytes around the data of an event."""
DATA: Frame = (b"data: ", b"\n\n")
"""That of an event without a name."""


class Between(Protocol):
    """Cuts a stream into events."""

    is_between: bool
    """Whether nothing of an event is waiting for its rest."""


Run: TypeAlias = """tuple[
    bytes, bytes, Callable[[bytes], bytes] | None, Between,
    type[TextDelta | ThinkingDelta | RefusalDelta | ToolCallDelta], int, int, Callable[[str], None],
]"""
"""The begin and end of a piece, the finder of its text where more than that is there, the cutter of the stream, and how
the block grows. A plain tuple, since one is taken apart for each piece."""


def run_of(template: Template, frame: Frame, framing: Between, block: Block) -> Run:
    """A run for `block`, which is open, in a stream that `framing` cuts."""
    head, tail = frame[0] + template.head, template.tail + frame[1]
    inside = None if template.inside is None else template.inside.text
    return head, tail, inside, framing, DELTAS[block.kind], block.index, block.choice, block.pieces.append


class RunDecoder(ABC):
    """Reads the pieces of a run; a dialect reads everything else."""

    def __init__(self) -> None:
        """No run has begun."""
        self._run: Run | None = None
        self.compared: bytes = b""
        """The last piece of a run."""

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` completes."""
        run = self._run
        if run is not None:
            head, tail, inside, framing, delta, index, choice, grow = run
            rest = data.removeprefix(head)
            raw = rest.removesuffix(tail)
            if raw is not rest is not data and framing.is_between:  # what is not there is not taken off
                if inside is not None:
                    raw = inside(raw)
                try:
                    text = read_text(raw)
                except (DecodeError, UnicodeDecodeError):  # bytes that are no text are named where events are parsed
                    text = ""
                if text and raw.strip() is raw and len(data) <= MOST_BYTES:  # a line break would end the event
                    grow(text)
                    self.compared = data
                    return [delta(index, text, choice)]
        return self._read(data)

    @abstractmethod
    def _read(self, data: bytes) -> list[Event]:
        """The events that any other piece completes."""


class BuildingDecoder(RunDecoder):
    """Reads a stream into a builder; a dialect reads its pieces, its end, and what is left where it breaks off."""

    builder: StreamBuilder

    @property
    def ended(self) -> bool:
        """Whether the terminal event was given out."""
        return self.builder.ended

    @property
    def terminal(self) -> bool:
        """Whether the wire's own sign of the end came; as a rule the terminal event is given out with it."""
        return self.builder.ended

    @property
    def changes(self) -> Changes:
        """The changes of reading so far."""
        return self.builder.changes

    def _read(self, data: bytes) -> list[Event]:
        try:
            self._feed(data)
        except Error as error:
            self._abort(error)
        return self.builder.take()

    def close(self) -> list[Event]:
        """The events that the end of the bytes completes."""
        try:
            self._close()
        except Error as error:
            self._abort(error)
        return self.builder.take()

    def fail(self, error: Error) -> list[Event]:
        """The end of a stream that the transport broke; after its own end that is no failure."""
        if self.terminal:
            return self.close()
        self._abort(error)
        return self.builder.take()

    @abstractmethod
    def _feed(self, data: bytes) -> None:
        """Read what a piece that belongs to no run completes."""

    @abstractmethod
    def _close(self) -> None:
        """Read what the end of the bytes completes.

        Raises: IncompleteStreamError where the wire's own sign of the end is missing.
        """

    @abstractmethod
    def _abort(self, error: Error) -> None:
        """End by an error, with what came before it."""
