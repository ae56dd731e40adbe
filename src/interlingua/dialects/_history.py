"""Calls and results of a conversation: every call has exactly one result, in the messages right after it.

Rules
- `refuse`: the first fault is a `HistoryError` that names the message, the id and the tool.
- `mend`: an orphan result becomes user text, a missing one an error result, of two the first wins, a repeated call id
  is renamed together with its result; each is a `repaired` entry.
- A broken call and its result are a legal pair; before encoding both become text, with an `approximated` entry, and
  where a client sent them, with a `repaired` one.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import msgspec

from interlingua.errors import HistoryError
from interlingua.types.content import BrokenToolCall, Json, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.capability import HistoryPolicy
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = ["ERROR_PREFIX", "call_names", "json_text", "paired_calls", "prepare_history", "result_text"]

ERROR_PREFIX = "ERROR: "
"""The mark of a failed tool's text, where the wire has no flag."""
NO_RESULT = "This call has no result: it was cancelled or its result was lost."
"""The error result that stands in for a missing one."""


class _Fault(msgspec.Struct, frozen=True, eq=False):
    code: str
    message: int
    text: str


def paired_calls(messages: Sequence[Message]) -> dict[str, str] | None:
    """Id and tool of every call, in order, where each has its one result; None where something has to be repaired."""
    calls: dict[str, str] = {}
    waiting: set[str] = set()
    for message in messages:
        is_answered = not waiting
        for part in message.parts:
            kind = type(part)
            if kind is TextPart:
                continue
            if type(part) is ToolCall and message.role == "assistant":
                if part.id in calls:
                    return None
                calls[part.id] = part.name
                waiting.add(part.id)
            elif type(part) is ToolResult and message.role != "assistant":
                if part.call_id not in waiting:
                    return None
                waiting.discard(part.call_id)
                is_answered = True
            elif kind is BrokenToolCall:
                return None
        if not is_answered:
            return None
    return None if waiting else calls


def call_names(messages: Sequence[Message]) -> dict[str, str]:
    """The tool of each call by the call's id, however calls and results pair, unreadable calls included."""
    calls: dict[str, str] = {}
    for message in messages:
        for part in message.parts if message.role == "assistant" else ():
            if type(part) is ToolCall or type(part) is BrokenToolCall:
                calls[part.id] = part.name
    return calls


def result_text(result: ToolResult) -> str:
    """The text of a result: JSON compact, parts joined."""
    match result.content:
        case str(text):
            return text
        case Json() as value:
            return json_text(value)
        case parts:
            return "".join([_part_text(part) for part in parts])


def json_text(value: Json) -> str:
    """A JSON value as compact text."""
    return encode(value.value).decode()


def _part_text(part: object) -> str:
    if isinstance(part, Json):
        return json_text(part)
    return part.text if isinstance(part, TextPart) else ""


def prepare_history(
    messages: tuple[Message, ...],
    policy: HistoryPolicy,
    changes: Changes,
    *,
    continues: bool = False,
    keep_broken: bool = False,
) -> tuple[Message, ...]:
    """The messages with every call and result paired, and broken calls sent as text, unless they have to stay.

    A request that `continues` a conversation at the provider may answer calls that it does not contain. A call that was
    cut off never ran: it may have a result, and needs none.

    Raises: HistoryError under `refuse`.
    """
    walk = _Walk()
    for place, message in enumerate(messages):
        if message.role == "assistant":
            walk.assistant(place, message)
        elif message.role == "tool" or walk.open or ToolResult in {type(part) for part in message.parts}:
            walk.other(place, message)
    if walk.open:
        walk.expect_nothing(len(messages))
    faults = [fault for fault in walk.faults if fault.code != "result_orphan"] if continues else walk.faults
    if faults:
        if policy == "refuse":
            more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            raise HistoryError(f"messages[{faults[0].message}]: {faults[0].text}{more}", code=faults[0].code)
        messages = _Mender(changes, continues=continues).mend(messages)
    if keep_broken or not walk.broken:
        return messages
    broken = {part.id for message in messages for part in message.parts if isinstance(part, BrokenToolCall)}
    rewritten: list[Message] = []
    for place, message in enumerate(messages):
        rewritten.extend(_calls_as_text(message, broken, changes, place))
    return tuple(rewritten)


class _Walk:
    """One pass over a conversation that notes what does not pair."""

    __slots__ = ("broken", "cut_off", "faults", "names", "open")

    def __init__(self) -> None:
        self.faults: list[_Fault] = []
        self.names: dict[str, str] = {}
        self.open: dict[str, int] = {}
        """Calls that wait for their result -> the message that asked."""
        self.cut_off: set[str] = set()
        """Those of them that need none."""
        self.broken = False

    def assistant(self, place: int, message: Message) -> None:
        if self.open:
            self.expect_nothing(place)
        for part in message.parts:
            if type(part) is BrokenToolCall:
                self.broken = True
                if part.reason == "cut_off":
                    self.cut_off.add(part.id)
            elif type(part) is not ToolCall:
                continue
            if part.id in self.names:
                self.fault("call_id_duplicate", place, f"two calls have the id {part.id!r} (tool {part.name})")
            self.names[part.id] = part.name
            self.open[part.id] = place

    def other(self, place: int, message: Message) -> None:
        has_result = False
        for part in message.parts:
            if type(part) is ToolResult:
                has_result = True
                if self.open.pop(part.call_id, None) is None:
                    self.stray(place, part)
        if self.open and not has_result:
            self.expect_nothing(place)

    def stray(self, place: int, part: ToolResult) -> None:
        if part.call_id in self.names:
            text = f"a second result for the call {part.call_id!r} (tool {self.names[part.call_id]})"
            self.fault("result_duplicate", place, text)
        else:
            text = f"a tool result names the call {part.call_id!r}, which is not in the messages before it"
            self.fault("result_orphan", place, text)

    def expect_nothing(self, place: int) -> None:
        for call_id, call_place in self.open.items():
            if call_id in self.cut_off:
                continue
            text = f"the call {call_id!r} of messages[{call_place}] (tool {self.names[call_id]}) has no result"
            self.fault("result_missing", min(place, call_place + 1), text)
        self.open.clear()

    def fault(self, code: str, place: int, text: str) -> None:
        self.faults.append(_Fault(code, place, text))


class _Mender:
    """Rebuilds a conversation so that every call has its one result."""

    def __init__(self, changes: Changes, *, continues: bool) -> None:
        self.changes = changes
        self.continues = continues
        self.used_ids: set[str] = set()
        self.pending: dict[str, deque[tuple[str, str]]] = {}
        self.cut_off: set[str] = set()
        self.answered: set[str] = set()
        self.messages: list[Message] = []

    def mend(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        for message in messages:
            if message.role == "assistant":
                self.close_turn()
                self.messages.append(self.assistant(message))
            else:
                self.other(message)
        self.close_turn()
        return tuple(self.messages)

    def record(self, code: str, detail: str) -> None:
        self.changes.add(code, f"/messages/{len(self.messages)}", detail)

    def assistant(self, message: Message) -> Message:
        return msgspec.structs.replace(message, parts=tuple([self.call(part) for part in message.parts]))

    def call(self, part: Part) -> Part:
        if not isinstance(part, ToolCall | BrokenToolCall):
            return part
        own = part.id
        if own in self.used_ids:
            own = self.free_id()
            self.record("call_id_duplicate", f"the second call {part.id!r} is now {own!r}")
        self.used_ids.add(own)
        if isinstance(part, BrokenToolCall) and part.reason == "cut_off":
            self.cut_off.add(own)
        self.pending.setdefault(part.id, deque()).append((own, part.name))
        return msgspec.structs.replace(part, id=own) if own != part.id else part

    def free_id(self) -> str:
        number = len(self.used_ids)
        while f"call_{number}" in self.used_ids:
            number += 1
        return f"call_{number}"

    def other(self, message: Message) -> None:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        rest = tuple([part for part in message.parts if not isinstance(part, ToolResult)])
        texts: list[Part] = []
        paired: list[Part] = []
        for result in results:
            self.result(result, paired, texts)
        if paired:
            self.messages.append(msgspec.structs.replace(message, role="tool", parts=tuple(paired)))
        if texts or rest or not results:
            self.close_turn()
            role = "user" if message.role == "tool" else message.role
            self.messages.append(msgspec.structs.replace(message, role=role, parts=(*texts, *rest)))

    def result(self, result: ToolResult, paired: list[Part], texts: list[Part]) -> None:
        waiting = self.pending.get(result.call_id)
        if waiting:
            own, name = waiting.popleft()
            self.answered.add(result.call_id)
            paired.append(msgspec.structs.replace(result, call_id=own, name=name))
        elif self.continues and result.call_id not in self.answered:
            paired.append(result)
        elif result.call_id in self.answered:
            self.record("result_duplicate", f"a second result for {result.call_id!r} is left out")
        else:
            self.record("result_orphan", f"the result for {result.call_id!r} is sent as text")
            texts.append(TextPart(f"Result of the tool {result.name or result.call_id}: {result_text(result)}"))

    def close_turn(self) -> None:
        missing = [waiting for queue in self.pending.values() for waiting in queue if waiting[0] not in self.cut_off]
        self.pending = {}
        if not missing:
            return
        results: list[Part] = []
        for own, name in missing:
            self.record("result_missing", f"the call {own!r} (tool {name}) got an error result")
            results.append(ToolResult(own, name, NO_RESULT, is_error=True))
        last = self.messages[-1]
        if last.role == "tool":
            self.messages[-1] = msgspec.structs.replace(last, parts=(*last.parts, *results))
        else:
            self.messages.append(Message("tool", tuple(results)))


def _calls_as_text(message: Message, broken: set[str], changes: Changes, place: int) -> list[Message]:
    if message.role == "assistant":
        code = "arguments_broken" if changes.stage == "decode_request" else "broken_call_as_text"
        for number, part in enumerate(message.parts):
            if isinstance(part, BrokenToolCall):
                changes.add(code, f"/messages/{place}/parts/{number}", f"{part.name}: {part.reason}")
        spoken: list[Part] = [
            TextPart(f"{part.name}({part.raw_arguments})") if isinstance(part, BrokenToolCall) else part
            for part in message.parts
        ]
        return [msgspec.structs.replace(message, parts=tuple(spoken))]
    parts = tuple([part for part in message.parts if not (isinstance(part, ToolResult) and part.call_id in broken)])
    if len(parts) == len(message.parts):
        return [message]
    texts = [part for part in message.parts if isinstance(part, ToolResult) and part.call_id in broken]
    as_text = Message("user", tuple([TextPart(f"{part.name}: {result_text(part)}") for part in texts]))
    return [msgspec.structs.replace(message, parts=parts), as_text] if parts else [as_text]
