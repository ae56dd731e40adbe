"""The public law checker: what every stream of events must hold to, whoever made it.

```
L1  the first event is StreamStart, or the stream fails before it
L2  exactly one terminal event, and nothing after it
L3  a block opens before it grows, closes once, and does not grow after that
L4  the indexes of a choice are 0, 1, 2, … in the order in which the blocks open
L5  deltas fit the kind of their block and are not empty
L6  the deltas of a block add up to its part
L7  ToolCallReady follows the BlockEnd of a whole call, and of nothing else
L8  fold(events) == response, for a stream with a proper end
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from interlingua.stream.fold import Folder
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    RefusalPart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    DataDelta,
    RefusalDelta,
    Seal,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.content import Part
    from interlingua.types.event import BlockKind, Delta, Event

__all__ = ["Checker", "check"]

FITTING: dict[type, tuple[BlockKind, ...]] = {
    TextDelta: ("text",),
    ThinkingDelta: ("thinking",),
    RefusalDelta: ("refusal",),
    ToolCallDelta: ("tool_call",),
    DataDelta: ("audio", "image", "document"),
    Annotation: ("text",),
    Seal: ("text", "thinking", "tool_call", "image"),
}
"""Which blocks each delta may grow."""


def check(events: Sequence[Event]) -> tuple[str, ...]:
    """The laws that `events` break, one sentence each; empty for a lawful stream."""
    checker = Checker()
    for place, event in enumerate(events):
        checker.feed(place, event)
    checker.close(events)
    return tuple(checker.broken)


class Checker:
    """Checks a stream event by event; what is wrong so far is in `broken`."""

    def __init__(self) -> None:
        """Nothing has come yet."""
        self.broken: list[str] = []
        """The laws that are broken, one sentence each."""
        self.blocks: dict[tuple[int, int], BlockStart] = {}
        """The blocks that have opened, by choice and index."""
        self.closed: set[tuple[int, int]] = set()
        """Those that have closed."""
        self._opened: dict[int, int] = {}
        self._grown: dict[tuple[int, int], list[Delta]] = {}
        self._terminal = False
        self._expected_ready: ToolCall | None = None

    def grown(self, choice: int, index: int) -> list[Delta]:
        """The deltas of an open block: another one that is like the last may be put there without being checked."""
        return self._grown[choice, index]

    def _say(self, law: str, place: int, what: str) -> None:
        self.broken.append(f"{law} at event {place}: {what}")

    def feed(self, place: int, event: Event) -> None:
        """Check the event that stands at `place`."""
        if self._terminal:
            self._say("L2", place, f"{type(event).__name__} after the terminal event")
        if place == 0 and type(event) is not StreamStart and type(event) is not StreamError:
            self._say("L1", place, f"the stream begins with {type(event).__name__}")
        if self._expected_ready is not None or type(event) is ToolCallReady:
            self._ready(place, event)
        if type(event) in FITTING:
            self._delta(place, cast("Delta", event))
        elif type(event) is BlockStart:
            self._start(place, event)
        elif type(event) is BlockEnd:
            self._end(place, event)
        elif type(event) is StreamEnd or type(event) is StreamError:
            self._terminal = True
        elif type(event) is StreamStart and place:
            self._say("L1", place, "a second StreamStart")

    def _ready(self, place: int, event: Event) -> None:
        expected, self._expected_ready = self._expected_ready, None
        if isinstance(event, ToolCallReady):
            if event.call != expected:
                self._say("L7", place, "ToolCallReady without the end of its call before it")
        elif expected is not None:
            self._say("L7", place, "no ToolCallReady after the end of a whole call")

    def _start(self, place: int, event: BlockStart) -> None:
        key = (event.choice, event.index)
        expected = self._opened.get(event.choice, 0)
        if key not in self.blocks:
            self._opened[event.choice] = expected + 1
        if event.index != expected:
            self._say("L4", place, f"block {event.index} of choice {event.choice} opens, {expected} was next")
        self.blocks[key] = event
        self._grown[key] = []

    def _delta(self, place: int, event: Delta) -> None:
        key = (event.choice, event.index)
        start = self.blocks.get(key)
        if start is None or key in self.closed:
            self._say("L3", place, f"{type(event).__name__} for a block that is not open")
            return
        if start.block not in FITTING[type(event)]:
            self._say("L5", place, f"{type(event).__name__} in a {start.block} block")
        if _is_empty(event):
            self._say("L5", place, f"an empty {type(event).__name__}")
        self._grown[key].append(event)

    def _end(self, place: int, event: BlockEnd) -> None:
        key = (event.choice, event.index)
        if key not in self.blocks or key in self.closed:
            self._say("L3", place, "the end of a block that is not open")
            return
        self.closed.add(key)
        if not _adds_up(self._grown.pop(key), event.part):
            self._say("L6", place, f"the deltas of block {event.index} do not add up to its part")
        if isinstance(event.part, ToolCall):
            self._expected_ready = event.part

    def close(self, events: Sequence[Event]) -> None:
        """Check what only the whole stream shows."""
        last = events[-1] if events else None
        if not self._terminal:
            self.broken.append("L2: no terminal event")
        if not isinstance(last, StreamEnd):
            return
        for choice, index in self.blocks.keys() - self.closed:
            self.broken.append(f"L3: block {index} of choice {choice} never closes")
        if self.broken:  # only a lawful stream can be folded
            return
        folder = Folder()
        for event in events:
            folder.feed(event)
        if folder.response() != last.response:
            self.broken.append("L8: the events do not fold to the response of the end")


def _is_empty(event: Delta) -> bool:
    match event:
        case TextDelta(text=text) | ThinkingDelta(text=text) | RefusalDelta(text=text) | ToolCallDelta(arguments=text):
            return not text
        case DataDelta(data=data, transcript=transcript):
            return not data and not transcript
        case _:
            return False


def _adds_up(deltas: Sequence[Delta], part: Part) -> bool:
    text = "".join([delta.text if type(delta) is TextDelta else _text(delta) for delta in deltas])
    match part:
        case TextPart(text=whole) | ThinkingPart(text=whole) | RefusalPart(text=whole):
            return text == whole
        case ToolCall(arguments_json=whole):
            return text == whole or (whole == "{}" and text.strip() in ("", "null"))
        case BrokenToolCall(raw_arguments=whole):
            return text == whole
        case AudioPart(data=whole, transcript=transcript):
            return _data(deltas) == whole and text == (transcript or "")
        case ImagePart(data=whole) | DocumentPart(data=whole):
            return _data(deltas) == whole
        case _:
            return not deltas


def _data(deltas: Sequence[Delta]) -> bytes:
    return b"".join([delta.data for delta in deltas if isinstance(delta, DataDelta)])


def _text(delta: Delta) -> str:
    match delta:
        case TextDelta(text=text) | ThinkingDelta(text=text) | RefusalDelta(text=text) | ToolCallDelta(arguments=text):
            return text
        case DataDelta(transcript=transcript):
            return transcript
        case _:
            return ""
