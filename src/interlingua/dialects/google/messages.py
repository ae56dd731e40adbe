"""The history, both ways.

Rules
- A content with results is a message of role `tool`. Neighbouring ones are one message, and one content on the wire;
  neighbouring contents of the model are one message too, since results answer the calls of all of them.
- Results pair with the calls before them by id, without one by name, then by order; a name is found by its call.
- The system text is `systemInstruction`; a system message after the conversation has begun is told in its place, as
  the user's, so that what was sent before stays as it was.
- Neighbouring messages of the assistant are one content, because no call may follow a turn of the model.
- A result that is no object is sent as `output`; an error as `error`. Results of one tool that carry no id stand in the
  order of their calls: the service has nothing else to pair them by.
- An object that holds a `$ref` is sent as text, because the service takes it for a reference to a part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._contract import Target, Undo
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._history import json_text, result_text
from interlingua.dialects._members import is_list, is_object, members_of, merge_members
from interlingua.dialects._system import note_system
from interlingua.dialects._turns import Turns
from interlingua.dialects.google.assistant import AssistantEncoder
from interlingua.dialects.google.parts import (
    NAME,
    PartDecoder,
    decode_media,
    in_call_order,
    opaque,
    part_list,
    result_content,
)
from interlingua.dialects.google.wire import (
    ContentWire,
    PartWire,
    PlainContentWire,
    PlainPartWire,
    PlainResultWire,
    ResultWire,
)
from interlingua.errors import DecodeError
from interlingua.stream.calls import CallIdSource, is_made_id
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    TextPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlingua.types.change import Changes
    from interlingua.types.content import Part
    from interlingua.types.message import Role

__all__ = ["MessageEncoder", "decode_contents", "decode_system"]

MEDIA = (ImagePart, AudioPart, DocumentPart)
JOINED = frozenset({"tool", "assistant"})
"""Roles whose neighbours are one content: results must stand together, and a call follows no turn of the model."""
NOTHING = object()
"""Stands for what a result does not say, since null is something that it may say."""
OLD_ROLES = frozenset({"user", "function", "tool"})
"""Roles that say no more than that it is not the model who speaks."""
_NOBODY = Target()
_NOTHING = Undo()


# Reading


class _Pending:
    """The calls that wait for their results."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.open: list[tuple[str, str, bool]] = []

    def remember(self, parts: Sequence[Part], wires: Sequence[PartWire]) -> None:
        wire_ids = {wire.functionCall.id for wire in wires if wire.functionCall is not None}
        for part in parts if wire_ids else ():
            if type(part) is ToolCall or type(part) is BrokenToolCall:
                self.ids[part.id] = part.name
                self.open.append((part.id, part.name, part.id in wire_ids))

    def answer(self, wire: ResultWire) -> tuple[str, str]:
        """Id and name of the call that a result answers."""
        name = wire.name or ""
        if self.open:
            call_id, call_name, _ = self.open[0]
            if call_id == wire.id if wire.id else call_name == name:
                del self.open[0]  # it is no longer open
                return call_id, call_name
        same_id = [entry for entry in self.open if wire.id and entry[0] == wire.id]
        same_name = [entry for entry in self.open if entry[1] == name and not (wire.id and entry[2])]
        call = next(iter([*same_id, *same_name]), None)
        if call is None:
            return wire.id or name, name or self.ids.get(wire.id or "", "")
        self.open.remove(call)
        return call[0], call[1]


def decode_system(content: ContentWire | str, changes: Changes) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text; as a message where it is more than text.

    Raises: DecodeError for parts that cannot be read.
    """
    if isinstance(content, str):
        return ((TextPart(content),) if content else ()), ()
    try:
        parts = _decoder(CallIdSource(), changes, "/system").decode(part_list(content.parts))
    except DecodeError as error:
        raise error.under("/systemInstruction") from None
    texts = tuple([part for part in parts if isinstance(part, TextPart)])
    if len(texts) == len(parts) and not content.extra:
        return texts, ()
    return (), (Message("system", tuple(parts), extra=members_of(content, NAME)),)


def _decoder(ids: CallIdSource, changes: Changes, prefix: str) -> PartDecoder:
    return PartDecoder(ids, _NOBODY, _NOTHING, changes, prefix)


def decode_contents(
    wires: Sequence[ContentWire] | ContentWire, first: tuple[Message, ...], changes: Changes
) -> tuple[Message, ...]:
    """The messages of a request, after those of the system instruction.

    Raises: DecodeError for parts that cannot be read.
    """
    history = _History(list(first), changes, CallIdSource(keeps_repeats=True))
    for place, wire in enumerate([wires] if isinstance(wires, ContentWire) else wires):
        try:
            history.content(wire)
        except DecodeError as error:
            raise error.under(f"/contents/{place}") from None
    return history.messages.done()


class _History:
    """Reads contents one by one, remembering the calls."""

    def __init__(self, messages: Sequence[Message], changes: Changes, ids: CallIdSource) -> None:
        self.messages: Turns = Turns(messages)
        self.changes = changes
        self.pending = _Pending()
        self.decoder = _decoder(ids, changes, "")

    def content(self, wire: ContentWire) -> None:
        messages = self.messages
        parts = part_list(wire.parts)
        role: Role = "assistant" if wire.role == "model" else "user"
        if wire.is_plain and len(parts) == 1 and (role == "user" or messages.last_role != role):
            part = parts[0]
            is_text = part.functionCall is part.functionResponse is part.thoughtSignature is part.thought is None
            if is_text and part.text:
                messages.append(Message(role, (TextPart(part.text),)))
                return
        for part in parts:
            if part.functionResponse is not None:
                role = "tool"
                break
        extra = {} if wire.is_plain else _beside(wire)
        joins = role != "user" and messages.last_role == role and messages.last_extra == extra
        decoder = self.decoder
        decoder.prefix = f"/messages/{len(messages) - joins}"
        if role == "tool":
            decoded: list[Part] = []
            for part in parts:
                result = part.functionResponse
                read = decoder.part(part, 0) if result is None else self._result(part, result)
                if read is not None:
                    decoded.append(read)
        else:
            decoded = decoder.decode(parts, messages.last_size if joins else 0)
        if role == "assistant":
            self.pending.remember(decoded, parts)
        if joins:
            messages.extend(decoded)
        else:
            messages.append(Message(role, tuple(decoded), None, extra))

    def _result(self, wire: PartWire, result: ResultWire) -> ToolResult:
        call_id, name = self.pending.answer(result)
        content, is_error = result_content(result)
        if result.id is result.parts is result.extra is wire.thoughtSignature is wire.extra is None:
            return ToolResult(call_id, name, content, is_error)
        if result.parts:
            head = () if not result.response else (TextPart(content) if isinstance(content, str) else content,)
            media: list[Any] = [
                opaque(part) if part.inlineData is None else decode_media(part, part.inlineData, None)
                for part in result.parts
            ]
            content = (*head, *media)
        members: dict[str, Any] = dict(wire.extra) if wire.extra else {}
        if wire.thoughtSignature:
            members["thoughtSignature"] = wire.thoughtSignature
        if result.extra:
            members["functionResponse"] = dict(result.extra)
        if result.id and is_made_id(result.id):
            members.setdefault("functionResponse", {})["id"] = result.id
        return ToolResult(call_id, name, content, is_error, extra={NAME: members} if members else {})


def _beside(wire: ContentWire) -> dict[str, dict[str, Any]]:
    """The members of a content without a field; a role that nobody knows is one."""
    is_odd = wire.role and wire.role != "model" and wire.role not in OLD_ROLES
    if not (wire.extra or is_odd):
        return {}
    return {NAME: {**(wire.extra or {}), **({"role": wire.role} if is_odd else {})}}


# Writing


class MessageEncoder:
    """Writes a history; `names` and `ids` map the caller's own names and ids to those of the wire."""

    def __init__(self, target: Target, names: Mapping[str, str], ids: Mapping[str, str], changes: Changes) -> None:
        self.target = target
        self.names = names
        self.ids = ids
        self.changes = changes
        self.called: dict[str, str] = {}
        self.contents: list[Any] = []
        self._last_role = ""
        self.is_bare: bool = True
        """Whether there is nothing in the messages but texts, calls and results that are texts."""
        self._turns = AssistantEncoder(target, changes, "", names=names, ids=ids)
        self._unpaired: list[tuple[ToolResult, Any]] = []
        self._latest = 0

    def encode(
        self, system: tuple[TextPart, ...], messages: tuple[Message, ...], begin: int = 0
    ) -> tuple[ContentWire | None, list[ContentWire]]:
        """`systemInstruction` and `contents`; `begin` is the place of the first message in the request."""
        first: list[Any] = self._turns.bare(system) or []
        if not first:
            encoder = self._turn("")
            wires = [encoder.part(part, f"/system/{place}") for place, part in enumerate(system)]
            first = [wire for wire in wires if wire is not None]
        extra: dict[str, Any] = {}
        place = 0
        while place < len(messages) and messages[place].role == "system":
            first.extend(self._turn(f"/messages/{place}").encode(messages[place].parts))
            extra.update(messages[place].extra.get(NAME, {}))
            place += 1
        if place:
            note_system(self.changes, messages[:place])
        for number, message in enumerate(messages[place:], begin + place):
            self._message(message, number)
        if self._unpaired:
            self._pair()
        if not first:
            return None, self.contents
        instruction = ContentWire(parts=first)
        merge_members(instruction, extra)
        return instruction, self.contents

    def _turn(self, path: str) -> AssistantEncoder:
        return AssistantEncoder(self.target, self.changes, path, names=self.names, ids=self.ids)

    def _message(self, message: Message, number: int) -> None:
        role, parts = message.role, message.parts
        if message.name is not None:
            self.changes.add("name_unsupported", f"/messages/{number}/name")
        if role == "system":
            detail = "sent as the user's, after the conversation has begun"
            self.changes.add("system_moved", f"/messages/{number}", detail)
        for part in parts:
            if type(part) is ToolCall:
                self.called[part.id] = part.name
        if self._unpaired and (role != "tool" or message.extra):
            self._pair()
        wires: list[Any] | None = self._bare_results(parts) if role == "tool" else self._turns.bare(parts)
        if wires is None:
            self.is_bare = False
            path = f"/messages/{number}"
            wires = self._results(parts, path) if role == "tool" else self._turn(path).encode(parts)
        if role == self._last_role and role in JOINED and not message.extra:
            self._join(wires, role, f"/messages/{number}")
        elif message.extra or not parts:
            self._odd_content(message, wires if parts else [PartWire(text="")], f"/messages/{number}")
        elif wires:
            self.contents.append(PlainContentWire(wires, "model" if role == "assistant" else "user"))
            self._last_role = role
        self._latest = number

    def _join(self, parts: list[Any], role: Role, path: str) -> None:
        if role == "assistant":
            self.changes.add("messages_merged", path, "the model's turn goes on")
        last = self.contents[-1]
        last.parts = [*part_list(last.parts), *parts]

    def _odd_content(self, message: Message, parts: list[PartWire], path: str) -> None:
        """Write a message that has members of its own, or no parts."""
        wire = ContentWire(role="model" if message.role == "assistant" else "user", parts=parts)
        if message.extra:
            self.is_bare = False
            merge_members(wire, message.extra.get(NAME, {}))
        if parts or wire.extra:
            self.contents.append(wire)
            self._last_role = message.role
        if message.extra:
            note_foreign(self.changes, message.extra, path)

    # Results

    def _bare_results(self, parts: Sequence[Part]) -> list[PlainPartWire] | None:
        """Results that are texts, with nothing beside them; None where there is anything else."""
        names, called = self.names, self.called
        unpaired: list[tuple[ToolResult, PlainPartWire]] = []
        wires: list[PlainPartWire] = []
        for part in parts:
            if type(part) is not ToolResult or type(part.content) is not str or part.cache or part.extra:
                return None
            name, call_id = called.get(part.call_id) or part.name or part.call_id, self._turns.call_id(part.call_id)
            response = {"error" if part.is_error else "output": part.content}
            wire = PlainPartWire(None, None, None, None, PlainResultWire(call_id, names.get(name, name), response))
            wires.append(wire)
            if call_id is None:
                unpaired.append((part, wire))
        self._unpaired += unpaired
        return wires

    def _results(self, parts: Sequence[Part], path: str) -> list[PartWire]:
        wires: list[PartWire] = []
        moved: list[PartWire] = []
        for place, part in enumerate(parts):
            if isinstance(part, ToolResult):
                wires.append(self._result(part, moved, f"{path}/parts/{place}"))
                continue
            wire = self._turn(path).part(part, f"{path}/parts/{place}")
            if wire is not None:
                wires.append(wire)
        return [*wires, *moved]

    def _pair(self) -> None:
        """Put the results of the latest content that pair by their order in that of their calls, when all are there."""
        unpaired, self._unpaired = self._unpaired, []
        if len(unpaired) < 2:
            return
        results = [result for result, _ in unpaired]
        if len({self.called.get(result.call_id) or result.name for result in results}) == len(results):
            return  # each is the only one of its tool
        ordered = in_call_order(results, self.called)
        if ordered == results:
            return
        latest = f"/messages/{self._latest}"
        self.changes.add("order_changed", latest, "results of one tool are told in the order of their calls")
        content = self.contents[-1]
        parts: list[Any] = [*part_list(content.parts)]
        wires = {result.call_id: wire for result, wire in unpaired}
        own = {id(wire) for _, wire in unpaired}
        places = [place for place, part in enumerate(parts) if id(part) in own]
        for place, result in zip(places, ordered, strict=True):
            parts[place] = wires[result.call_id]
        content.parts = parts

    def _result(self, result: ToolResult, moved: list[PartWire], path: str) -> PartWire:
        name = self.called.get(result.call_id) or result.name or result.call_id
        wire = ResultWire(id=self._turns.call_id(result.call_id), name=self.names.get(name, name))
        part = PartWire(functionResponse=wire)
        parts = result.content if isinstance(result.content, tuple) else ()
        media = [self._media(part, f"{path}/content/{place}") for place, part in enumerate(parts)]
        shown = [part for part in media if part is not None]
        inside = self.target.quirks.result_media and self.target.facts.result_media is not False
        wire.response = self._response(result, path, has_parts=bool(shown) and inside)
        if shown and not inside:
            self.changes.add("result_media_moved", f"{path}/content")
            moved.extend(shown)
        elif shown:
            wire.parts = shown
        if result.cache is not None:
            self.changes.add("cache_unsupported", f"{path}/cache")
        note_foreign(self.changes, result.extra, path)
        merge_members(part, result.extra.get(NAME, {}))
        if wire.id is None:
            self._unpaired.append((result, part))
        return part

    def _media(self, part: object, path: str) -> PartWire | None:
        """The media of a result's content."""
        if isinstance(part, OpaquePart | ImagePart | AudioPart | DocumentPart):
            return self._turn(path).part(part, path)
        if isinstance(part, TextPart):
            if part.cache is not None:
                self.changes.add("cache_unsupported", f"{path}/cache")
            note_foreign(self.changes, part.extra, path)
        return None

    def _response(self, result: ToolResult, path: str, *, has_parts: bool) -> dict[str, Any]:
        value = _value(result, self.changes, f"{path}/content")
        if value is NOTHING and has_parts:
            return {}
        if not has_parts and _has_reference(value):
            self.changes.add("result_as_text", f"{path}/content", "a `$ref` in it would be taken for a part")
            value = json_text(Json(value))
        if value is NOTHING:
            value = ""
        # The wire insists on an object: a value as it is where it is one, else under a fixed key.
        if is_object(value):
            failed = value.get("error") is not None and "output" not in value
            alone = value.keys() == {"output"} or (failed and len(value) == 1)
            if not alone and failed == result.is_error:
                return value
        return {"error" if result.is_error else "output": value}


def _value(result: ToolResult, changes: Changes, path: str) -> Any:
    """The value of a result beside its media; `NOTHING` where it is media alone."""
    match result.content:
        case str(text):
            return text
        case Json(value=value):
            return value
        case parts:
            texts = [part for part in parts if isinstance(part, TextPart | Json)]
    if len(texts) == 1 and isinstance(texts[0], Json):
        return texts[0].value
    if any(isinstance(part, Json) for part in texts):
        changes.add("result_as_text", path, "values and texts sent as one text")
    return result_text(result) if texts else NOTHING


def _has_reference(value: Any) -> bool:
    """Whether a JSON value holds a `$ref`."""
    if is_object(value):
        return "$ref" in value or any(_has_reference(item) for item in value.values())
    return is_list(value) and any(_has_reference(item) for item in value)
