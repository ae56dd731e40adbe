"""Events and answers in normal form: what the official SDK makes of them is what they mean.

Rules
- `response.created` comes first.
- Items are numbered from 0 without a gap, have ids, and are named by number and id in every event that is about one;
  content parts are numbered in the same way.
- What is done says what its pieces said, and the last event holds the very items that came.
Source: the vendor's reference "Streaming events", and what the official SDK does with events, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from interlingua.dialects._streams.frames import FrameCheck, NormalStruct, event_in, normal_reader
from interlingua.types.content import BrokenToolCall, ToolCall
from interlingua.types.event import RefusalDelta, StreamEnd, TextDelta, ThinkingDelta, ToolCallDelta

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["Frames", "is_normal"]

_PIECES = frozenset({TextDelta, ThinkingDelta, RefusalDelta, ToolCallDelta})
_DONE = (".done", ".completed", ".incomplete")
"""How the types of events end that bring nothing new."""


class _Details(NormalStruct):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(NormalStruct):
    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: _Details | None = None
    output_tokens_details: _Details | None = None


class _Part(NormalStruct):
    type: str
    text: str | None = None
    refusal: str | None = None


class _Item(NormalStruct, kw_only=True):
    type: str
    id: str | None = None
    role: str | None = None
    content: list[_Part] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Any = None
    input: str | None = None
    summary: list[_Part] | None = None

    @property
    def is_normal(self) -> bool:
        """Whether it has what an item of its type has to have."""
        match self.type:
            case "message":
                return self.role == "assistant" and self.content is not None
            case "function_call":
                return bool(self.call_id and self.name) and isinstance(self.arguments, str)
            case "custom_tool_call":
                return bool(self.call_id and self.name) and self.input is not None
            case "reasoning":
                return self.summary is not None
            case _:
                return True


class _Answer(NormalStruct, kw_only=True):
    id: str
    object: Literal["response"]
    model: str
    status: Literal["completed", "incomplete", "in_progress", "queued"]
    output: list[_Item]
    usage: _Usage | None = None
    error: None = None

    @property
    def is_normal(self) -> bool:
        """Whether every item has an id, and what it has to have."""
        return all([item.id and item.is_normal for item in self.output])


class _Event(NormalStruct, kw_only=True):
    type: str
    sequence_number: int | None = None
    output_index: int = -1
    content_index: int = -1
    item_id: str | None = None
    item: _Item | None = None
    part: _Part | None = None
    response: _Answer | None = None
    delta: Any = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None


_read_event = normal_reader(_Event)


class Frames(FrameCheck):
    """Looks at the events of one stream."""

    def __init__(self) -> None:
        """Nothing came yet."""
        self._is_created = False
        self._items: list[_Item] = []
        self._parts: list[int] = []

    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Whether the next event is in normal form."""
        named = event_in(frame)
        event = None if named is None else _read_event(named[1])
        if named is None or event is None or named[0] not in (b"", event.type.encode()):
            return False
        judge = self._judges.get(event.type)
        self._is_created = self._is_created or event.type == "response.created"
        if judge is not None and not (self._is_created and judge(self, event)):
            return False
        is_freeform = event.item is not None and event.item.type == "custom_tool_call"  # its input is closed by that
        repeats = event.type.endswith(_DONE) and not is_freeform
        if repeats and not _PIECES.isdisjoint(map(type, events)):  # it says something new all the same
            return False
        last = events[-1] if events else None
        return type(last) is not StreamEnd or self._says_the_same(event.response, last.response)

    def _says_the_same(self, answer: _Answer | None, response: Response[Any]) -> bool:
        """Whether the last event holds the items that came, and what came in them."""
        if answer is None or [item.id for item in answer.output] != [item.id for item in self._items]:
            return False
        messages = [item.content or () for item in answer.output if item.type == "message"]
        text = "".join([part.text or "" for parts in messages for part in parts if part.type == "output_text"])
        calls = [(item.call_id, item.name, item.arguments) for item in answer.output if item.type == "function_call"]
        own_calls = [
            (part.id, part.name, part.arguments_json if isinstance(part, ToolCall) else part.raw_arguments)
            for part in response.parts
            if isinstance(part, ToolCall | BrokenToolCall) and not part.freeform
        ]
        return text == response.text and calls == own_calls

    def _began(self, event: _Event) -> bool:
        return event.response is not None and not self._items

    def _ended(self, event: _Event) -> bool:
        return event.response is not None and event.response.is_normal

    def _added(self, event: _Event) -> bool:
        item = event.item
        if item is None or not item.id or event.output_index != len(self._items) or not item.is_normal:
            return False
        self._items.append(item)
        self._parts.append(0)
        return True

    def _done(self, event: _Event) -> bool:
        item, opened = event.item, self._item(event.output_index)
        return item is not None and opened is not None and (item.id, item.type) == (opened.id, opened.type)

    def _item(self, index: int) -> _Item | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def _about_item(self, event: _Event) -> bool:
        """Whether an event names an item that came."""
        opened = self._item(event.output_index)
        return opened is not None and opened.id == event.item_id

    def _about_part(self, event: _Event) -> bool:
        """Whether it names the newest content part of such an item."""
        return self._about_item(event) and event.content_index == self._parts[event.output_index] - 1

    def _part_added(self, event: _Event) -> bool:
        part = event.part
        if part is None or not self._about_item(event) or event.content_index != self._parts[event.output_index]:
            return False
        self._parts[event.output_index] += 1
        return part.type != "output_text" or part.text is not None

    def _grown(self, event: _Event) -> bool:
        return isinstance(event.delta, str) and self._about_item(event)

    def _part_grown(self, event: _Event) -> bool:
        return isinstance(event.delta, str) and self._about_part(event)

    _judges: ClassVar[dict[str, Callable[[Frames, _Event], bool]]] = {
        "response.created": _began,
        "response.in_progress": _began,
        "response.queued": _began,
        "response.completed": _ended,
        "response.incomplete": _ended,
        "response.output_item.added": _added,
        "response.output_item.done": _done,
        "response.content_part.added": _part_added,
        "response.content_part.done": _about_part,
        "response.output_text.delta": _part_grown,
        "response.output_text.done": _about_part,
        "response.output_text.annotation.added": _about_part,
        "response.refusal.delta": _part_grown,
        "response.refusal.done": _about_part,
        "response.function_call_arguments.delta": _grown,
        "response.function_call_arguments.done": _about_item,
        "response.custom_tool_call_input.delta": _grown,
        "response.custom_tool_call_input.done": _about_item,
        "response.reasoning_summary_text.delta": _grown,
        "response.reasoning_summary_text.done": _about_item,
        "response.reasoning_text.delta": _grown,
        "response.reasoning_text.done": _about_item,
    }


_read_answer = normal_reader(_Answer)


def is_normal(body: bytes) -> bool:
    """Whether a whole answer is in normal form; ids, arguments and statuses are judged where it is decoded."""
    answer = _read_answer(body)
    return answer is not None and answer.is_normal
