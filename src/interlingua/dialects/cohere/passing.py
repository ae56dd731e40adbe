"""Events and answers in normal form: what the official SDK makes of them is what they mean.

Rules
- An event has the name that is its type. `message-start` comes first and once.
- Blocks of content, and calls, are numbered from 0 without a gap; one is open at a time, and begins empty.
- Citations stand inside their text. The finish reason agrees with the calls, and no answer in normal form failed.
Source: cohere-python 7.3.1, `v2/raw_client.py` and `cohere/types`, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from interlingua.dialects._streams.frames import FrameCheck, NormalStruct, adds, event_in, normal_reader, opened
from interlingua.wire.sse import DONE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.types.event import Event

__all__ = ["Frames", "is_normal"]

_WORDS = frozenset({"COMPLETE", "STOP_SEQUENCE", "MAX_TOKENS", "TOOL_CALL"})


class _Function(NormalStruct):
    name: str | None = None
    arguments: str | None = None


class _Call(NormalStruct):
    id: str | None = None
    type: str | None = None
    function: _Function | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it has its id, its type, its name and the text of its arguments."""
        function = self.function
        named = function is not None and function.name and function.arguments is not None
        return bool(named and self.id and self.type == "function")


class _Block(NormalStruct):
    type: Literal["text", "thinking"] | None = None
    text: str | None = None
    thinking: str | None = None


class _DeltaMessage(NormalStruct):
    role: Literal["assistant"] | None = None
    content: _Block | tuple[()] | None = None
    tool_plan: str | None = None
    tool_calls: _Call | tuple[()] | None = None
    citations: dict[str, Any] | tuple[()] | None = None


class _Tokens(NormalStruct):
    input_tokens: int
    output_tokens: int


class _Usage(NormalStruct):
    tokens: _Tokens
    cached_tokens: int | None = None


class _Delta(NormalStruct):
    message: _DeltaMessage | None = None
    finish_reason: str | None = None
    usage: _Usage | None = None
    error: None = None


class _Event(NormalStruct, kw_only=True):
    type: str
    id: str | None = None
    index: int = -1
    delta: _Delta | None = None

    @property
    def message_delta(self) -> _DeltaMessage:
        """The members that it adds to the message."""
        message = None if self.delta is None else self.delta.message
        return _DeltaMessage() if message is None else message


_read_event = normal_reader(_Event)


class Frames(FrameCheck):
    """Looks at the events of one stream."""

    harmless: frozenset[str] = frozenset({"arguments_empty"})
    """A call without arguments needs no delta."""

    def __init__(self) -> None:
        """Nothing came yet."""
        self._began = self._ended = self._plans = False
        self._blocks = self._calls = 0
        self._open: str | None = None
        self._starts = 0
        self._begun = 0

    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Whether the next event is in normal form."""
        named = event_in(frame)
        if named is None:
            return False
        if named[1].strip() == DONE:
            return self._ended and not named[0]
        event = _read_event(named[1])
        if event is None or named[0] != event.type.encode():
            return False
        judge = self._judges.get(event.type)
        if judge is not None and not judge(self, event):
            return False
        self._starts += opened(events)
        return not adds(events) or self._starts == self._begun

    def _start(self, event: _Event) -> bool:
        is_first, self._began = not self._began, True
        return (
            is_first
            and bool(event.id)
            and event.message_delta.role == "assistant"
            and not event.message_delta.tool_plan
        )

    def _content_start(self, event: _Event) -> bool:
        block = event.message_delta.content
        if not isinstance(block, _Block) or self._open is not None or event.index != self._blocks or not self._began:
            return False
        self._blocks += 1
        self._plans = False
        self._open = block.type
        return block.type is not None and not (block.text or block.thinking)

    def _content_delta(self, event: _Event) -> bool:
        block, kind = event.message_delta.content, self._open
        if not isinstance(block, _Block) or kind not in ("text", "thinking") or event.index != self._blocks - 1:
            return False
        own, other = (block.text, block.thinking) if kind == "text" else (block.thinking, block.text)
        if not own or other is not None:
            return False
        latest = f"{kind} {event.index}"
        if latest != self._latest:  # its first words: the decoder opens the block with them
            self._latest = latest
            self._begun += 1
        return True

    def _content_end(self, event: _Event) -> bool:
        kind, self._open = self._open, None
        return kind in ("text", "thinking") and event.index == self._blocks - 1

    def _plan_delta(self, event: _Event) -> bool:
        if self._open is not None or not event.message_delta.tool_plan or not self._began:
            return False
        self._begun += not self._plans
        self._plans = True
        return True

    def _call_start(self, event: _Event) -> bool:
        call = event.message_delta.tool_calls
        if not isinstance(call, _Call) or self._open is not None or event.index != self._calls or not self._began:
            return False
        self._calls += 1
        self._begun += 1
        self._plans = False
        self._open = "call"
        return call.is_whole and call.function is not None and not call.function.arguments

    def _call_delta(self, event: _Event) -> bool:
        call = event.message_delta.tool_calls
        if not isinstance(call, _Call) or self._open != "call" or event.index != self._calls - 1:
            return False
        return call.function is not None and call.function.arguments is not None and not call.function.name

    def _call_end(self, event: _Event) -> bool:
        kind, self._open = self._open, None
        return kind == "call" and event.index == self._calls - 1

    def _citation(self, event: _Event) -> bool:
        return isinstance(event.message_delta.citations, dict) and self._open == "text"

    def _end(self, event: _Event) -> bool:
        delta, self._ended = event.delta, True
        if delta is None or delta.finish_reason not in _WORDS or self._open is not None or not self._began:
            return False
        return delta.usage is not None and _agrees(delta.finish_reason, calls=self._calls > 0)

    _latest: str = ""
    _judges: ClassVar[dict[str, Callable[[Frames, _Event], bool]]] = {
        "message-start": _start,
        "content-start": _content_start,
        "content-delta": _content_delta,
        "content-end": _content_end,
        "tool-plan-delta": _plan_delta,
        "tool-call-start": _call_start,
        "tool-call-delta": _call_delta,
        "tool-call-end": _call_end,
        "citation-start": _citation,
        "message-end": _end,
    }


def _agrees(word: str | None, *, calls: bool) -> bool:
    """Whether a finish reason says that there are calls where there are some, and only there."""
    return word not in ("COMPLETE", "STOP_SEQUENCE") if calls else word != "TOOL_CALL"


class _WholeBlock(NormalStruct, kw_only=True):
    type: Literal["text", "thinking"]
    text: str | None = None
    thinking: str | None = None


class _Message(NormalStruct, kw_only=True):
    role: Literal["assistant"]
    content: list[_WholeBlock] | None = None
    tool_plan: str | None = None
    tool_calls: list[_Call] | None = None
    citations: list[dict[str, Any]] | None = None


class _Answer(NormalStruct, kw_only=True):
    id: str
    finish_reason: Literal["COMPLETE", "STOP_SEQUENCE", "MAX_TOKENS", "TOOL_CALL"]
    message: _Message
    usage: _Usage


_read_answer = normal_reader(_Answer)


def is_normal(body: bytes) -> bool:
    """Whether a whole answer is in normal form; ids and arguments are judged where it is decoded."""
    answer = _read_answer(body)
    if answer is None:
        return False
    calls = answer.message.tool_calls or []
    texts = [block.text if block.type == "text" else block.thinking for block in answer.message.content or ()]
    return (
        None not in texts
        and all([call.is_whole for call in calls])
        and _agrees(answer.finish_reason, calls=bool(calls))
    )
