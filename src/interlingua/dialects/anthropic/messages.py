"""The history, both ways.

Rules
- Neighbours of one role are one message, as the service takes them; in it the results of tools stand first.
- The results of a step are one canonical message of role tool; what stands beside them is a user message after it.
- System text before all messages is `Request.system`; later it stays where it is, as a message of role system where
  the model takes one, else as marked user text.
- A turn that says nothing is left out, since the service refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from msgspec import Raw

from interlingua.dialects._contract import Target, Undo
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._history import json_text, result_text
from interlingua.dialects._members import members_of, merge_members
from interlingua.dialects._serve import read_member
from interlingua.dialects._turns import Turns
from interlingua.dialects.anthropic.assistant import AssistantDecoder, AssistantEncoder
from interlingua.dialects.anthropic.marks import decode_mark
from interlingua.dialects.anthropic.parts import (
    NAME,
    BlockEncoder,
    decode_block,
    decode_content,
    decode_nested,
    is_bare,
)
from interlingua.dialects.anthropic.wire import BlockWire, MessagesWire, MessageWire
from interlingua.errors import DecodeError
from interlingua.stream.calls import CallIdSource
from interlingua.types.content import Json, TextPart, ToolResult
from interlingua.types.message import Message
from interlingua.wire.json import MAX_DEPTH, encode_wire, exact_reader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlingua.dialects.anthropic.marks import Marks
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = ["EMPTY_ERROR", "MessageEncoder", "decode_messages", "decode_system", "split_system"]

EMPTY_ERROR = "The tool failed and gave no reason."
"""The text of an error result without one: the service refuses an empty one."""

EMPTY_RESULT = "(no output)"
"""The text of a result without content, to servers that refuse one without it."""

Members: TypeAlias = dict[str, dict[str, Any]]
_NOBODY = Target()
_NOTHING = Undo()


# Reading


class _History:
    """Reads messages one by one, remembering the calls."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.system: tuple[TextPart, ...] = ()
        self.messages: Turns = Turns()
        self.turns = AssistantDecoder(CallIdSource(keeps_repeats=True), _NOBODY, _NOTHING, changes, self.messages)

    def read(self, wires: Sequence[MessageWire]) -> None:
        for place, wire in enumerate(wires):
            role, content = wire.role, wire.content
            try:
                if role == "user" and type(content) is str and content and wire.extra is None:
                    self.messages.add("user", (TextPart(content),), {})
                elif role == "user":
                    self.user(wire)
                elif role == "assistant":
                    self.assistant(wire)
                elif role == "system":
                    self.system_text(wire)
                else:
                    raise DecodeError(f"{role!r} is no role (there are user, assistant, system)", path="/role")
            except DecodeError as error:
                raise error.under(f"/messages/{place}") from None

    def assistant(self, wire: MessageWire) -> None:
        parts = self.turns.decode(wire.content)
        if parts:
            self.messages.add("assistant", parts, members_of(wire, NAME) if wire.extra else {})
        else:
            self.changes.add("empty_part", f"/messages/{len(self.messages)}", "a turn that says nothing")

    def system_text(self, wire: MessageWire) -> None:
        parts, extra = decode_content(wire.content), members_of(wire, NAME)
        texts = tuple([part for part in parts if isinstance(part, TextPart)])
        if self.messages or extra or len(texts) < len(parts):
            if parts or self.messages.last_role != "tool":
                self.messages.add("system", parts, extra)
        else:
            self.system += texts

    def user(self, wire: MessageWire) -> None:
        content = wire.content
        results: list[Part] = []
        others: list[Part] = [TextPart(content)] if content and isinstance(content, str) else []
        is_moved = False
        for place, block in enumerate(content if isinstance(content, list) else ()):
            kind = block.type
            try:
                if kind == "tool_result":
                    is_moved = is_moved or len(results) < place
                    results.append(self._result(block))
                elif kind == "text" and block.text and block.citations is block.cache_control is block.extra is None:
                    others.append(TextPart(block.text))
                elif (part := decode_block(block)) is not None:
                    others.append(part)
            except DecodeError as error:
                raise error.under(f"/content/{place}") from None
        extra = members_of(wire, NAME) if wire.extra else {}
        if results and not is_moved and self.messages.last_role == "assistant":
            self.messages.add("tool", results, extra)
            extra = {}
        elif results:
            self._results(results, extra, is_moved=is_moved)
            extra = {}
        if others:
            self.messages.add("user", others, extra)
        elif not results:
            self.changes.add("empty_part", f"/messages/{len(self.messages)}", "a turn that says nothing")

    def _results(self, results: Sequence[Part], extra: Members, *, is_moved: bool) -> None:
        """Results go before what was said already, in the same message (`is_moved`) or in one before."""
        if is_moved:
            self.changes.add("order_changed", f"/messages/{len(self.messages)}", "results of tools are told first")
        late = self.messages.pop() if self.messages.last_role == "user" else None
        if late is not None:
            self.changes.add("order_changed", f"/messages/{len(self.messages)}", "results of tools are told first")
        self.messages.add("tool", results, extra)
        if late is not None:
            self.messages.append(late)

    def _result(self, block: BlockWire) -> ToolResult:
        cache = None if block.cache_control is None else decode_mark(block)
        call_id = block.tool_use_id or ""
        name, extra = self.turns.called.get(call_id, ""), members_of(block, NAME) if block.extra else {}
        return ToolResult(call_id, name, decode_nested(block.content), bool(block.is_error), cache, extra)


_read_messages = exact_reader(list[MessageWire], max_depth=MAX_DEPTH - 1)  # the body is one level more


def decode_messages(text: bytes, changes: Changes) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text and the messages of a request, whose `messages` are this text.

    Raises: DecodeError for an unknown role and for blocks that cannot be read; LimitExceededError.
    """
    history = _History(changes)
    wires = _read_messages(text)
    history.read(read_member(b"messages", text, MessagesWire).messages if wires is None else wires)
    return history.system, history.messages.done()


def decode_system(system: str | Sequence[BlockWire] | None) -> tuple[TextPart, ...]:
    """The system text beside the messages.

    Raises: DecodeError for what is no text.
    """
    if isinstance(system, str):
        return (TextPart(system),) if system else ()
    texts: list[TextPart] = []
    for place, part in enumerate(decode_content(system)):
        if not isinstance(part, TextPart):
            raise DecodeError(f"/system/{place}: the system text holds text alone", path=f"/system/{place}")
        texts.append(part)
    return tuple(texts)


# Writing


def split_system(system: tuple[TextPart, ...], messages: tuple[Message, ...]) -> tuple[list[tuple[TextPart, str]], int]:
    """The system texts with their paths, and how many messages they take up: those of plain text before all others."""
    texts = [(part, f"/system/{place}") for place, part in enumerate(system)]
    for count, message in enumerate(messages):
        if message.role != "system" or NAME in message.extra:
            return texts, count
        leading = [(part, f"/messages/{count}/parts/{place}") for place, part in enumerate(message.parts)]
        own = [(part, path) for part, path in leading if isinstance(part, TextPart)]
        if len(own) < len(leading):
            return texts, count
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
        self.is_bare: bool = True
        """Whether there is nothing in the messages but texts, and results that are texts; of turns those say it."""
        self._last_role = self._wire_role = ""

    def system(self, texts: Sequence[tuple[TextPart, str]]) -> str | list[BlockWire] | None:
        """The system text: a string where it is one plain text."""
        wires = [wire for part, path in texts if (wire := self.blocks.encode(part, path)) is not None]
        if len(wires) == 1 and wires[0] == BlockWire(type="text", text=wires[0].text):
            return wires[0].text
        return wires or None

    def encode(self, messages: Sequence[Message], first: int) -> list[MessageWire]:
        """The messages on the wire; `first` is the place of the first of them in the request."""
        blocks = self.blocks
        for place, message in enumerate(messages, first):
            role, path = message.role, f"/messages/{place}"
            blocks.message, blocks.is_first = message, not self.wires
            if role == "assistant":
                wires = self.turns.encode(message.parts, path)
            elif role == "system":
                role, wires = self._told_system(message, path)
            else:
                role, wires = "user", self._prompt(message, path)
            if message.name is not None:
                self.changes.add("name_unsupported", f"{path}/name")
            if wires:
                wire = self.wires[-1] if self._wire_role == role else None
                if wire is None:
                    wire = MessageWire(role=role, content=wires)
                    self.wires.append(wire)
                    self._wire_role = role
                else:
                    if self._last_role == message.role:
                        self.changes.add("messages_merged", path)
                    cast("list[BlockWire]", wire.content).extend(wires)
                self._last_role = message.role
                if message.extra:
                    self.is_bare = False
                    note_foreign(self.changes, message.extra, path)
                    merge_members(wire, message.extra.get(NAME, {}))
                    self._wire_role = wire.role if isinstance(wire.content, list) else ""
            elif not message.parts:
                self.changes.add("empty_part", path, "a turn that says nothing")
        return self.wires

    def _prompt(self, message: Message, path: str) -> list[BlockWire]:
        results: list[BlockWire] = []
        others: list[BlockWire] = []
        for place, part in enumerate(message.parts):
            if type(part) is ToolResult:
                content = part.content
                if type(content) is str and content and not (part.is_error or part.cache or part.extra):
                    call_id = self.ids.get(part.call_id, part.call_id)
                    text = cast("Raw", content)  # a text is written as one
                    results.append(BlockWire(type="tool_result", tool_use_id=call_id, content=text))
                else:
                    results.append(self._result(part, f"{path}/parts/{place}"))
            elif type(part) is TextPart and is_bare(part):
                others.append(BlockWire(type="text", text=part.text))
            else:
                self.is_bare = False
                wire = self.blocks.encode(part, f"{path}/parts/{place}")
                if wire is not None:
                    others.append(wire)
        return [*results, *others] if results else others

    def _told_system(self, message: Message, path: str) -> tuple[str, list[BlockWire]]:
        """System text and its role: marked user text in the same place where the model does not take it there."""
        if self.target.facts.system_messages is not False:
            return "system", self._prompt(message, path)
        self.changes.add("system_moved", path, "sent as user text, since the model takes no later system message")
        wires = self._prompt(message, path)
        for wire in wires:
            if wire.text is not None:
                wire.text = f"<system>\n{wire.text}\n</system>"
        return "user", wires

    def _result(self, result: ToolResult, path: str) -> BlockWire:
        wire = BlockWire(type="tool_result", tool_use_id=self.ids.get(result.call_id, result.call_id))
        content = result.content
        if type(content) is not str or not content:
            content = self._content(result, path)
        if content is not None:
            wire.content = cast("Raw", content)  # a text is written as one
        if result.is_error:
            wire.is_error = True
        if result.cache is not None or result.extra:
            self.is_bare = False
            self.blocks.finish(wire, result, path)
        return wire

    def _content(self, result: ToolResult, path: str) -> str | Raw | None:
        """The content of a result; one that says nothing has no content, unless it is an error."""
        content = result.content
        if isinstance(content, str | Json):
            text = result_text(result)
            if text:
                return text
        else:
            self.is_bare = False
            texts = [TextPart(json_text(part)) if isinstance(part, Json) else part for part in content]
            wires = [self.blocks.encode(part, f"{path}/content/{place}") for place, part in enumerate(texts)]
            blocks = [encode_wire(wire) for wire in wires if wire is not None]
            if blocks:
                return Raw(b"[%b]" % b",".join(blocks))
        if not result.is_error and self.target.quirks.empty_result != "marker":
            return None
        self.changes.add("parameter_added", f"{path}/content", "the service refuses a result that says nothing")
        return EMPTY_ERROR if result.is_error else EMPTY_RESULT
