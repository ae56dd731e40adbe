"""Chunks and answers in normal form: what the official SDK makes of them is what they mean.

Rules
- Calls of a choice are numbered from 0 without a gap. The first chunk of a call says its id, type and name, and no
  later one does, since SDKs put texts of one member together.
- The finish reason agrees with the calls. Legal words alone are finish reasons.
- Counts stand under their own names.
Source: the vendor's reference "Chat Completions", and what the official SDK does with chunks, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from interlingua.dialects._streams.frames import FrameCheck, NormalStruct, adds, event_in, normal_reader, opened
from interlingua.dialects.openai_chat.reasons import finish_word
from interlingua.wire.sse import DONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.event import Event

__all__ = ["Frames", "is_normal"]

_Finish: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter"]


class _Details(NormalStruct):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(NormalStruct):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None
    cached_tokens: int | None = None
    num_cached_tokens: int | None = None
    prompt_cache_hit_tokens: int | None = None

    @property
    def is_normal(self) -> bool:
        """Whether cached tokens are under their own name, where they are counted."""
        details = self.prompt_tokens_details
        if details is not None and details.cached_tokens is not None:
            return True
        return not (self.cached_tokens or self.num_cached_tokens or self.prompt_cache_hit_tokens)


class _Groq(NormalStruct):
    usage: dict[str, Any] | None = None


class _Function(NormalStruct):
    name: str | None = None
    arguments: str | None = None
    id: None = None


class _Custom(NormalStruct):
    name: str | None = None
    input: str | None = None


class _Call(NormalStruct, kw_only=True):
    index: int
    id: str | None = None
    type: Literal["function", "custom"] | None = None
    function: _Function | None = None
    custom: _Custom | None = None

    @property
    def name(self) -> str | None:
        """The tool's name, wherever it stands."""
        holder = self.function or self.custom
        return None if holder is None else holder.name


class _Delta(NormalStruct):
    role: Literal["assistant"] | None = None
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: None = None

    @property
    def has_arguments(self) -> bool:
        """Whether it says something of the arguments of a call."""
        functions = [call.function for call in self.tool_calls or ()]
        return any([function is not None and function.arguments for function in functions])


class _ChunkChoice(NormalStruct, kw_only=True):
    index: int
    delta: _Delta
    finish_reason: _Finish | None = None
    native_finish_reason: str | None = None
    message: None = None


class _Chunk(NormalStruct, kw_only=True):
    id: str
    object: str
    created: int
    model: str
    choices: list[_ChunkChoice]
    usage: _Usage | None = None
    x_groq: _Groq | None = None
    error: None = None


_read_chunk = normal_reader(_Chunk)


class Frames(FrameCheck):
    """Looks at the chunks of one stream."""

    def __init__(self) -> None:
        """No chunk came yet."""
        self._calls: dict[int, int] = {}
        self._open: set[int] = set()
        self._begun = 0
        self._starts = 0

    def is_normal(self, frame: bytes, events: Sequence[Event]) -> bool:
        """Whether the next chunk is in normal form."""
        event = event_in(frame)
        if event is None or event[0]:
            return False
        if events:
            self._starts += opened(events, "tool_call")
        if event[1].strip() == DONE:
            return self._starts == self._begun and not self._open
        chunk = _read_chunk(event[1])
        if chunk is None or not self._is_sound(chunk):
            return False
        are_told = self._starts == self._begun
        if not events and any([choice.delta.has_arguments for choice in chunk.choices]):
            return not are_told  # arguments of which nothing was read wait for more, or were said before
        return are_told or not adds(events)

    def _is_sound(self, chunk: _Chunk) -> bool:
        usage, groq = chunk.usage, chunk.x_groq
        if usage is None and groq is not None and groq.usage is not None:
            return False
        if chunk.object != "chat.completion.chunk" and (chunk.choices or usage is not None):
            return False  # the SDK's helper leaves such a chunk out
        return (usage is None or usage.is_normal) and all([self._is_sound_choice(choice) for choice in chunk.choices])

    def _is_sound_choice(self, choice: _ChunkChoice) -> bool:
        calls = choice.delta.tool_calls or ()
        if not all([self._is_sound_call(call, choice.index) for call in calls]):
            return False
        self._open.add(choice.index)
        if choice.finish_reason is not None:
            self._open.discard(choice.index)
        has_calls = self._calls.get(choice.index, 0) > 0
        if finish_word(None, choice.native_finish_reason):
            return False
        return choice.finish_reason != ("stop" if has_calls else "tool_calls")

    def _is_sound_call(self, call: _Call, choice: int) -> bool:
        count = self._calls.get(choice, 0)
        if call.index == count:
            self._calls[choice] = count + 1
            self._begun += 1
            return bool(call.id and call.name and call.type)
        return 0 <= call.index < count and not (call.id or call.name)


class _WholeFunction(NormalStruct):
    name: str
    arguments: str


class _WholeCustom(NormalStruct):
    name: str
    input: str


class _WholeCall(NormalStruct, kw_only=True):
    id: str
    type: Literal["function", "custom"]
    function: _WholeFunction | None = None
    custom: _WholeCustom | None = None


class _Message(NormalStruct, kw_only=True):
    role: Literal["assistant"]
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_WholeCall] | None = None
    function_call: None = None


class _Choice(NormalStruct, kw_only=True):
    index: int
    message: _Message
    finish_reason: _Finish
    delta: None = None


class _Answer(NormalStruct, kw_only=True):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[_Choice]
    usage: _Usage | None = None
    error: None = None


_read_answer = normal_reader(_Answer)


def is_normal(body: bytes) -> bool:
    """Whether a whole answer is in normal form; ids, arguments and the finish reason are judged where it is decoded."""
    answer = _read_answer(body)
    if answer is None or (answer.usage is not None and not answer.usage.is_normal):
        return False
    return [choice.index for choice in answer.choices] == list(range(len(answer.choices)))
