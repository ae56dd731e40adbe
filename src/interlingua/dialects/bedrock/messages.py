"""The history, both ways.

Rules
- Neighbours of one role are one message, as the service takes them; in it the results of tools stand first.
- The results of a step are one canonical message of role tool; what stands beside them is a user message after it.
- System text before all messages is `Request.system`; later it stays where it is, as marked user text.
- A turn that says nothing is left out, since the service refuses it; a document without a text beside it gets one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from msgspec.structs import replace

from interlingua.dialects._contract import Target, Undo
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._history import json_text
from interlingua.dialects._members import is_object, members_of, merge_members, says_more
from interlingua.dialects._serve import read_member
from interlingua.dialects._turns import Turns
from interlingua.dialects.bedrock.assistant import AssistantDecoder, AssistantEncoder, plain_turn
from interlingua.dialects.bedrock.parts import (
    MEDIA_CODES,
    NAME,
    BlockEncoder,
    add_block,
    cache_of,
    decode_content,
    decode_result,
)
from interlingua.dialects.bedrock.wire import (
    BlockWire,
    MessagesWire,
    MessageWire,
    PlainBlockWire,
    PlainMessageWire,
    PlainResultWire,
    PlainTextWire,
    ResultWire,
    ToolResultWire,
    check_union,
)
from interlingua.errors import DecodeError
from interlingua.stream.calls import PLACEHOLDER_IDS, CallIdSource
from interlingua.types.content import AudioPart, BrokenToolCall, Json, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.wire.arguments import are_sound
from interlingua.wire.json import MAX_DEPTH, exact_reader, raw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from interlingua.dialects.bedrock.marks import Marks
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = ["MessageEncoder", "decode_messages", "decode_system", "split_system"]

Members: TypeAlias = dict[str, dict[str, Any]]
ATTACHED = "See attached document(s)."
"""The text beside a document without one, as recorded clients have it."""


# Reading


class _History:
    """Reads messages one by one, remembering the calls."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.system: tuple[TextPart, ...] = ()
        self.messages: Turns = Turns()
        self.names: dict[str, str] = {}
        self.turns = AssistantDecoder(CallIdSource(keeps_repeats=True), Target(), Undo(), changes)

    def read(self, wires: Sequence[MessageWire | PlainMessageWire]) -> None:
        for place, wire in enumerate(wires):
            role = wire.role or ""
            if type(wire) is PlainMessageWire and _PLAIN_ROLES[role](self, wire):
                continue
            try:
                reader = _ROLES.get(role)
                if reader is None:
                    raise DecodeError(f"{wire.role!r} is no role (there are {', '.join(_ROLES)})", path="/role")
                reader(self, wire)
            except DecodeError as error:
                raise error.under(f"/messages/{place}") from None

    def plain_turn(self, wire: PlainMessageWire) -> bool:
        """Whether a turn of texts and sound calls was read; one in which something has to be looked at is not."""
        parts: list[Part] = []
        calls: list[ToolCall] = []
        if self.messages.last_role == "assistant":
            return False
        for block in wire.content:
            text, use = block.text, block.toolUse
            if block.toolResult is not None:
                return False
            if use is None:
                if not text:
                    return False
                parts.append(TextPart(text))
                continue
            arguments = str(use.input, "utf-8")
            if text is not None or not use.name or use.toolUseId.strip() in PLACEHOLDER_IDS or not are_sound(arguments):
                return False
            call = ToolCall(use.toolUseId, use.name, arguments)
            parts.append(call)
            calls.append(call)
        for call in calls:
            self.turns.ids.assign(call.id)
            self.names[call.id] = call.name
        if parts:
            self.messages.append(Message("assistant", tuple(parts)))
        return bool(parts)

    def plain_prompt(self, wire: PlainMessageWire) -> bool:
        """Whether a prompt of results, then texts, was read; one in which something has to be looked at is not."""
        parts: list[Part] = []
        results: list[ToolResult] = []
        if self.messages.last_role == "user":
            return False
        for block in wire.content:
            text, result = block.text, block.toolResult
            if block.toolUse is not None:
                return False
            if result is None:
                if not text:
                    return False
                parts.append(TextPart(text))
            elif parts or text is not None:
                return False
            else:
                call_id, is_error = result.toolUseId, result.status == "error"
                results.append(ToolResult(call_id, self.names.get(call_id, ""), result.content[0].text, is_error))
        if results:
            if self.messages.last_role == "tool":
                return False
            self.messages.append(Message("tool", tuple(results)))
        if parts:
            self.messages.append(Message("user", tuple(parts)))
        return bool(parts or results)

    def assistant(self, wire: MessageWire) -> None:
        here = self.turns.prefix = f"/messages/{len(self.messages)}"
        parts = self.turns.decode(wire.content)
        for part in parts:
            if isinstance(part, ToolCall | BrokenToolCall):
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
        results: list[ToolResult] = []
        rest: list[BlockWire] = []
        places: list[int] = []
        late = False
        for place, block in enumerate(wire.content or ()):
            cache = None if block.cachePoint is None else cache_of(block.cachePoint)
            if block.toolResult is not None:
                late = late or bool(rest)
                results.append(self._result(block.toolResult, block, place))
            elif cache is not None and results and not rest and results[-1].cache is None:
                results[-1] = replace(results[-1], cache=cache)
            else:
                rest.append(block)
                places.append(place)
        if late:
            self.changes.add("order_changed", f"/messages/{len(self.messages)}", "results of tools are told first")
        parts = decode_content(rest, places)
        if results:
            # Results go before what the same message has said already.
            extra = members_of(wire, NAME)
            earlier = self.messages.pop() if self.messages.last_role == "user" else None
            if earlier is not None:
                self.changes.add("order_changed", f"/messages/{len(self.messages)}", "results of tools are told first")
            self._add("tool", results, extra)
            if earlier is not None:
                self.messages.append(earlier)
        if parts:
            self._add("user", parts, {} if results else members_of(wire, NAME))
        elif not results:
            self.changes.add("empty_part", f"/messages/{len(self.messages)}", "a turn that says nothing")

    def _result(self, wire: ToolResultWire, block: BlockWire, place: int) -> ToolResult:
        call_id = wire.toolUseId or ""
        try:
            check_union(block)
        except DecodeError as error:
            raise error.under(f"/content/{place}") from None
        try:
            content = decode_result(wire.content)
        except DecodeError as error:
            raise error.under(f"/content/{place}/toolResult") from None
        rest: dict[str, Any] = dict(wire.extra or {}) | ({} if wire.type is None else {"type": wire.type})
        if wire.status not in (None, "success", "error"):
            rest["status"] = wire.status
        members = {**(block.extra or {}), **({"toolResult": rest} if rest else {})}
        extra: Members = {NAME: members} if members else {}
        return ToolResult(call_id, self.names.get(call_id, ""), content, wire.status == "error", None, extra)

    def _add(self, role: Any, parts: Sequence[Part], extra: Members) -> None:
        """A message, or more of the last one where that has the same role."""
        if self.messages.last_role == role:
            self.messages.extend(parts, extra)
        else:
            self.messages.append(Message(role, tuple(parts), None, extra))


_PLAIN_ROLES: dict[str, Callable[[_History, PlainMessageWire], bool]] = {
    "user": _History.plain_prompt,
    "assistant": _History.plain_turn,
}
_ROLES: dict[str, Callable[[_History, Any], None]] = {
    "user": _History.user,
    "assistant": _History.assistant,
    "system": _History.system_text,
}


def decode_system(blocks: Sequence[BlockWire] | None) -> tuple[TextPart, ...]:
    """The system text of a request.

    Raises: DecodeError for what is no text.
    """
    parts: list[Part] = []
    for place, wire in enumerate(blocks or ()):
        try:
            check_union(wire)
            add_block(parts, wire)
            if parts and not isinstance(parts[-1], TextPart):
                raise DecodeError("the system text holds text alone")
        except DecodeError as error:
            raise error.under(f"/system/{place}") from None
    return tuple([part for part in parts if isinstance(part, TextPart)])


def decode_messages(text: bytes, changes: Changes) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text among the messages of a request, whose `messages` are this text, and the messages.

    Raises: DecodeError for an unknown role and for blocks that cannot be read; LimitExceededError.
    """
    history = _History(changes)
    wires = _read_plain(text)
    history.read(read_member(b"messages", text, MessagesWire).messages or () if wires is None else wires)
    return history.system, history.messages.done()


_read_plain = exact_reader(list[PlainMessageWire], max_depth=MAX_DEPTH - 1)  # they stand in an object


# Writing


def split_system(system: tuple[TextPart, ...], messages: tuple[Message, ...]) -> tuple[list[tuple[TextPart, str]], int]:
    """The system texts with their paths, and how many messages they take up: those of plain text before all others."""
    texts = [(part, f"/system/{place}") for place, part in enumerate(system)]
    for count, message in enumerate(messages):
        own = [part for part in message.parts if isinstance(part, TextPart)]
        if message.role != "system" or NAME in message.extra or len(own) < len(message.parts):
            return texts, count
        texts.extend([(part, f"/messages/{count}/parts/{place}") for place, part in enumerate(own)])
    return texts, len(messages)


class MessageEncoder:
    """Writes a history; `names` and `ids` map the caller's own names and ids to those of the wire."""

    def __init__(
        self, target: Target, names: Mapping[str, str], ids: Mapping[str, str], marks: Marks, changes: Changes
    ) -> None:
        self.target = target
        self.ids = ids
        self.changes = changes
        self.blocks: BlockEncoder = BlockEncoder(marks, changes)
        self.turns: AssistantEncoder = AssistantEncoder(self.blocks, target, changes, names, ids)
        self.names = names
        self.wires: list[MessageWire] = []
        self.is_bare: bool = True
        """Whether all of them are texts, calls and results of one text, and nothing else."""
        self._last_role = ""

    def system(self, texts: Sequence[tuple[TextPart, str]]) -> list[BlockWire]:
        """The system text."""
        return [wire for part, path in texts for wire in self.blocks.encode(part, path)]

    def encode(self, messages: Sequence[Message], first: int) -> list[MessageWire]:
        """The messages on the wire; `first` is the place of the first of them in the request."""
        for place, message in enumerate(messages, first):
            role = "assistant" if message.role == "assistant" else "user"
            wires = self._plain(message)
            if wires is None:
                self.is_bare = False
                self._message(message, role, f"/messages/{place}")
            elif self.wires and self.wires[-1].role == role:
                self._add(role, message, wires, f"/messages/{place}")
            else:
                self.wires.append(MessageWire(role=role, content=cast("list[BlockWire]", wires)))
                self._last_role = message.role
        return self.wires

    def _plain(self, message: Message) -> list[PlainBlockWire] | None:
        """The blocks of a message of results, texts and calls with nothing to note; None for any other."""
        if message.extra or message.name is not None or message.role == "system":
            return None
        if message.role == "assistant":
            return plain_turn(message.parts, self.names, self.ids)
        wires: list[PlainBlockWire] = []
        has_text = False
        for part in message.parts:
            if type(part) is TextPart:
                text, has_text = part.text, True
                if part.cache or part.annotations or part.sealed or not text or text.isspace():
                    return None
                if part.extra and says_more(part.extra, NAME):
                    return None
                wires.append(PlainBlockWire(text))
            elif type(part) is not ToolResult or has_text or part.cache:  # results are told first
                return None
            else:
                text, call_id = part.content, self.ids.get(part.call_id, part.call_id)
                if type(text) is not str or not text or text.isspace():
                    return None
                if part.extra and says_more(part.extra, NAME):
                    return None
                status = "error" if part.is_error else None
                wires.append(PlainBlockWire(None, None, PlainResultWire(call_id, (PlainTextWire(text),), status)))
        return wires or None

    def _message(self, message: Message, role: str, path: str) -> None:
        is_turn = role == "assistant"
        wires = self.turns.encode(message.parts, path) if is_turn else self._prompt(message, path)
        if message.role == "system" and wires:
            self.changes.add("system_moved", path, "sent as user text, since the service takes no later system text")
            for wire in wires:
                if wire.text is not None:
                    wire.text = f"<system>\n{wire.text}\n</system>"
        has_text = any([wire.text or wire.guardContent for wire in wires])
        if not is_turn and not has_text and any([wire.document is not None for wire in wires]):
            self.changes.add("parameter_added", path, f"the service insists on a text beside a document: {ATTACHED}")
            wires.append(BlockWire(text=ATTACHED))
        if message.name is not None:
            self.changes.add("name_unsupported", f"{path}/name")
        if wires:
            self._add(role, message, wires, path)
        elif not message.parts:
            self.changes.add("empty_part", path, "a turn that says nothing")

    def _add(self, role: str, message: Message, wires: list[Any], path: str) -> None:
        last = self.wires[-1] if self.wires else None
        if last is not None and last.role == role and last.content is not None:
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
                results.extend(self._result(part, where))
            else:
                others.extend(self.blocks.encode(part, where))
        return [*results, *others]

    def _result(self, result: ToolResult, path: str) -> list[BlockWire]:
        call_id = self.ids.get(result.call_id, result.call_id)
        answer = ToolResultWire(toolUseId=call_id, content=self._content(result, path))
        if result.is_error:
            answer.status = "error"
        wire = BlockWire(toolResult=answer)
        if result.extra:
            note_foreign(self.changes, result.extra, path)
            merge_members(wire, result.extra.get(NAME, {}))
        return [wire] if result.cache is None else [wire, *self.blocks.marks.block(result.cache, path)]

    def _content(self, result: ToolResult, path: str) -> list[ResultWire]:
        content = result.content
        if isinstance(content, str):
            return [ResultWire(text=content)] if content.strip() else []
        parts = (content,) if isinstance(content, Json) else content
        wires: list[ResultWire] = []
        for place, part in enumerate(parts):
            where = f"{path}/content" if isinstance(content, Json) else f"{path}/content/{place}"
            if not isinstance(part, Json):
                wires.extend(self._nested(part, where))
            elif is_object(part.value):
                wires.append(ResultWire(json=raw(part.value)))
            else:  # models want an object, and get any other value as text
                self.changes.add("result_as_text", where, "the service takes objects alone")
                wires.append(ResultWire(text=json_text(part)))
        return wires

    def _nested(self, part: Part, path: str) -> list[ResultWire]:
        """A part of a result; a sound has no place in one."""
        if isinstance(part, AudioPart):
            self.changes.add(MEDIA_CODES[AudioPart], path, "a result holds no sound")
            return []
        contents: list[ResultWire] = []
        for block in self.blocks.encode(part, path):
            if block.cachePoint is not None:
                self.blocks.marks.left += 1
                self.changes.add("cache_unsupported", f"{path}/cache", "a result is marked as a whole")
            elif block.guardContent is not None or block.citationsContent is not None:
                contents.append(ResultWire(text=part.text if isinstance(part, TextPart) else ""))
            else:
                contents.append(
                    ResultWire(
                        text=block.text,
                        image=block.image,
                        document=block.document,
                        video=block.video,
                        extra=block.extra,
                    )
                )
        return contents
