"""The history, both ways.

Rules
- Neighbours of one role are one message, as the service takes them; in it the results of tools stand first.
- The results of a step are one canonical message of role tool; what stands beside them is a user message after it.
- System text before all messages is `Request.system`; later it stays where it is, as a message of role system where
  the model takes one, else as marked user text.
- A turn that says nothing is left out, since the service refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from interlingua.dialects._contract import Target, Undo
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._history import json_text, result_text
from interlingua.dialects._members import members_of, merge_members
from interlingua.dialects._turns import Turns
from interlingua.dialects.anthropic.assistant import AssistantDecoder, AssistantEncoder
from interlingua.dialects.anthropic.marks import decode_mark
from interlingua.dialects.anthropic.parts import NAME, BlockEncoder, decode_content, decode_nested
from interlingua.dialects.anthropic.wire import BlockWire, MessageWire
from interlingua.errors import DecodeError
from interlingua.stream.calls import CallIdSource
from interlingua.types.content import BrokenToolCall, Json, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.wire.json import encode_text, encode_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from interlingua.dialects.anthropic.marks import Marks
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = ["EMPTY_ERROR", "MessageEncoder", "decode_messages", "split_system"]

EMPTY_ERROR = "The tool failed and gave no reason."
"""What an error result says that says nothing: the service refuses an empty one."""

EMPTY_RESULT = "(no output)"
"""What a result says that says nothing, to servers that refuse one without content."""

Members: TypeAlias = dict[str, dict[str, Any]]


# Reading


class _History:
    """Reads messages one by one, remembering the calls."""

    def __init__(self, system: tuple[TextPart, ...], changes: Changes) -> None:
        self.changes = changes
        self.system = system
        self.messages: Turns = Turns()
        self.names: dict[str, str] = {}
        ids = CallIdSource(keeps_repeats=True)
        self.turns = AssistantDecoder(ids, Target(), Undo(), changes)

    def read(self, wire: MessageWire) -> None:
        reader = _ROLES.get(wire.role or "")
        if reader is None:
            raise DecodeError(f"{wire.role!r} is no role (there are {', '.join(_ROLES)})", path="/role")
        reader(self, wire)

    def assistant(self, wire: MessageWire) -> None:
        here = self.turns.prefix = f"/messages/{len(self.messages)}"
        parts = self.turns.decode(wire.content)
        for part in parts:
            if type(part) is ToolCall or type(part) is BrokenToolCall:
                self.names[part.id] = part.name
        if parts:
            self._add("assistant", parts, members_of(wire, NAME))
        else:
            self.changes.add("empty_part", here, "a turn that says nothing")

    def system_text(self, wire: MessageWire) -> None:
        parts, extra = decode_content(wire.content), members_of(wire, NAME)
        texts = tuple([part for part in parts if isinstance(part, TextPart)])
        if self.messages or extra or len(texts) < len(parts):
            self._add("system", parts, extra)
        else:
            self.system += texts

    def user(self, wire: MessageWire) -> None:
        content = wire.content
        blocks: list[BlockWire] = content if isinstance(content, list) else []
        if "tool_result" not in [block.type for block in blocks]:
            parts = decode_content(content)
            if parts:
                self._add("user", parts, members_of(wire, NAME))
            else:
                self.changes.add("empty_part", f"/messages/{len(self.messages)}", "a turn that says nothing")
            return
        results = [self._result(block, place) for place, block in enumerate(blocks) if block.type == "tool_result"]
        rest = decode_content([block for block in blocks if block.type != "tool_result"])
        if any(block.type != "tool_result" for block in blocks[: len(results)]):
            self.changes.add("order_changed", f"/messages/{len(self.messages)}", "results of tools are told first")
        self._results(results, members_of(wire, NAME))
        if rest:
            self._add("user", rest, {})

    def _result(self, block: BlockWire, place: int) -> ToolResult:
        cache = decode_mark(block)
        call_id = block.tool_use_id or ""
        try:
            content = decode_nested(block.content)
        except DecodeError as error:
            raise error.under(f"/content/{place}") from None
        name, extra = self.names.get(call_id, ""), members_of(block, NAME)
        return ToolResult(call_id, name, content, bool(block.is_error), cache, extra)

    def _results(self, results: Sequence[Part], extra: Members) -> None:
        """Results go before what the same message has said already."""
        late = self.messages.pop() if self.messages.last_role == "user" else None
        if late is not None:
            self.changes.add("order_changed", f"/messages/{len(self.messages)}", "results of tools are told first")
        self._add("tool", results, extra)
        if late is not None:
            self.messages.append(late)

    def _add(self, role: Any, parts: Sequence[Part], extra: Members) -> None:
        """A message, or more of the last one where that has the same role."""
        if self.messages.last_role == role:
            self.messages.extend(parts, extra)
        elif parts or self.messages.last_role != "tool":
            self.messages.append(Message(role, tuple(parts), None, extra))


_ROLES: dict[str, Callable[[_History, MessageWire], None]] = {
    "user": _History.user,
    "assistant": _History.assistant,
    "system": _History.system_text,
}


def decode_messages(
    system: str | Sequence[BlockWire] | None, wires: Sequence[MessageWire], changes: Changes
) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text and the messages of a request.

    Raises: DecodeError for an unknown role and for blocks that cannot be read.
    """
    history = _History(_system(system), changes)
    for place, wire in enumerate(wires):
        try:
            history.read(wire)
        except DecodeError as error:
            raise error.under(f"/messages/{place}") from None
    return history.system, history.messages.done()


def _system(given: str | Sequence[BlockWire] | None) -> tuple[TextPart, ...]:
    texts: list[TextPart] = []
    for place, part in enumerate(decode_content(given)):
        if not isinstance(part, TextPart):
            raise DecodeError(f"/system/{place}: the system text holds text alone", path=f"/system/{place}")
        texts.append(part)
    return tuple(texts)


# Writing


def split_system(system: tuple[TextPart, ...], messages: tuple[Message, ...]) -> tuple[list[tuple[TextPart, str]], int]:
    """The system texts with their paths, and how many messages they take up: those of plain text before all others."""
    texts = [(part, f"/system/{place}") for place, part in enumerate(system)]
    for taken, message in enumerate(messages):
        if message.role != "system" or NAME in message.extra:
            return texts, taken
        leading = [(part, f"/messages/{taken}/parts/{place}") for place, part in enumerate(message.parts)]
        own = [(part, path) for part, path in leading if isinstance(part, TextPart)]
        if len(own) < len(leading):
            return texts, taken
        texts.extend(own)
    return texts, len(messages)


class MessageEncoder:
    """Writes a history; `names` and `ids` map the caller's own names and ids to those of the wire."""

    def __init__(
        self, target: Target, names: Mapping[str, str], ids: Mapping[str, str], marks: Marks, changes: Changes
    ) -> None:
        self.target = target
        self.ids = ids
        self.changes = changes
        self.marks = marks
        self.blocks: BlockEncoder = BlockEncoder(target.facts, marks, changes)
        self.turns: AssistantEncoder = AssistantEncoder(self.blocks, target, changes, names, ids, reply=False)
        self.wires: list[MessageWire] = []
        self._last_role = ""

    def system(self, texts: Sequence[tuple[TextPart, str]]) -> str | list[BlockWire] | None:
        """The system text: a string where it is one plain text."""
        wires = [wire for part, path in texts if (wire := self.blocks.encode(part, path)) is not None]
        if len(wires) == 1 and wires[0] == BlockWire(type="text", text=wires[0].text):
            return wires[0].text
        return wires or None

    def encode(self, messages: Sequence[Message], first: int) -> list[MessageWire]:
        """The messages on the wire; `first` is the place of the first of them in the request."""
        for place, message in enumerate(messages, first):
            self._message(message, f"/messages/{place}")
        return self.wires

    def _message(self, message: Message, path: str) -> None:
        role = "user" if message.role == "tool" else message.role
        self.blocks.message, self.blocks.is_first = message, not self.wires
        if message.role == "assistant":
            wires = self.turns.encode(message.parts, path)
        elif message.role == "system" and self.target.facts.system_messages is False:
            role, wires = "user", self._told_system(message, path)
        else:
            wires = self._prompt(message, path)
        if message.name is not None:
            self.changes.add("name_unsupported", f"{path}/name")
        if wires:
            self._add(role, message, wires, path)
        elif not message.parts:
            self.changes.add("empty_part", path, "a turn that says nothing")

    def _add(self, role: str, message: Message, wires: list[BlockWire], path: str) -> None:
        last = self.wires[-1] if self.wires else None
        if last is not None and last.role == role and isinstance(last.content, list):
            if self._last_role == message.role:
                self.changes.add("messages_merged", path)
            last.content.extend(wires)
            wire = last
        else:
            wire = MessageWire(role=role, content=wires)
            self.wires.append(wire)
        self._last_role = message.role
        if message.extra:
            note_foreign(self.changes, message.extra, path)
            merge_members(wire, message.extra.get(NAME, {}))

    def _prompt(self, message: Message, path: str) -> list[BlockWire]:
        results: list[BlockWire] = []
        others: list[BlockWire] = []
        for place, part in enumerate(message.parts):
            where = f"{path}/parts/{place}"
            if isinstance(part, ToolResult):
                results.append(self._result(part, where))
            elif (wire := self.blocks.encode(part, where)) is not None:
                others.append(wire)
        return [*results, *others] if results else others

    def _told_system(self, message: Message, path: str) -> list[BlockWire]:
        """System text that the model does not take in this place, told as marked user text in the same place."""
        self.changes.add("system_moved", path, "told as user text, since the model takes no later system message")
        wires = self._prompt(message, path)
        for wire in wires:
            if wire.text is not None:
                wire.text = f"<system>\n{wire.text}\n</system>"
        return wires

    def _result(self, result: ToolResult, path: str) -> BlockWire:
        wire = BlockWire(type="tool_result", tool_use_id=self.ids.get(result.call_id, result.call_id))
        self._fill(wire, result, path)
        if result.is_error:
            wire.is_error = True
        if result.cache is not None or result.extra:
            self.blocks.finish(wire, result, path)
        return wire

    def _fill(self, wire: BlockWire, result: ToolResult, path: str) -> None:
        """Give a result its content; one that says nothing has none, unless it is an error."""
        content = result.content
        if isinstance(content, str | Json):
            text = result_text(result)
            blocks: list[BlockWire] = []
        else:
            text = ""
            told = [TextPart(json_text(part)) if isinstance(part, Json) else part for part in content]
            found = [self.blocks.encode(part, f"{path}/content/{place}") for place, part in enumerate(told)]
            blocks = [block for block in found if block is not None]
        if not text and not blocks and (result.is_error or self.target.quirks.empty_result == "marker"):
            self.changes.add("parameter_added", f"{path}/content", "the service refuses a result that says nothing")
            text = EMPTY_ERROR if result.is_error else EMPTY_RESULT
        if blocks:
            wire.content = msgspec.Raw(b"[%b]" % b",".join([encode_wire(block) for block in blocks]))
        elif text:
            wire.content = msgspec.Raw(encode_text(text))
