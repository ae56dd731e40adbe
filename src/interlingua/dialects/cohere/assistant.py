"""The assistant's turn, both ways: one mapping for a history, a whole answer, and what a stream adds up to.

Rules
- The wire has one place for each kind: blocks of content (thinking and text), the plan, the calls; parts stand in this
  order. The plan is the text before the calls of a turn, and marked as such, so that it goes back to its place.
- In a history the text of a turn with calls is its plan, since the service does not take both; text that a client of
  this dialect sent as content beside calls stays there.
- In an answer to a client text is content: a stream cannot know whether calls follow.
Loss: text or thinking that follows something else is told before it (`order_changed`); a refusal is text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw
from msgspec.structs import replace

from interlingua.dialects._citations import own_values
from interlingua.dialects._members import merge_members, says_more
from interlingua.dialects._openai.calls import arguments_text, clean_name, repaired_arguments
from interlingua.dialects._steps import answer_thinking, history_text
from interlingua.dialects._transcripts import transcript_text
from interlingua.dialects.cohere.citations import is_of_plan, is_of_thinking, read_citation, write_citations
from interlingua.dialects.cohere.parts import (
    NAME,
    PLAN,
    PartNotes,
    beside,
    decode_content,
    encode_block,
    is_bare,
    is_text,
)
from interlingua.dialects.cohere.wire import (
    BlockWire,
    FunctionCallWire,
    MessageWire,
    PlainAnswerWire,
    PlainBlockWire,
    PlainCallWire,
    PlainFunctionWire,
    ToolCallWire,
)
from interlingua.errors import DecodeError
from interlingua.stream.calls import make_call
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.wire.json import encode_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlingua.dialects._contract import Undo
    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Changes
    from interlingua.types.content import Citation, Part

__all__ = [
    "MEDIA_CODES",
    "AssistantEncoder",
    "CallReader",
    "Turn",
    "decode_turn",
    "encode_call",
    "keep_content",
    "plain_parts",
    "plain_reply",
]

MEDIA_CODES: dict[type, str] = {ImagePart: "images", AudioPart: "audio", DocumentPart: "documents"}
"""Kind of part -> the code of its refusal."""
_FUNCTION = (None, "", "function")
"""Types of a call that is like all others."""
_NO_FUNCTION = FunctionCallWire()


# Reading


class CallReader:
    """Reads what calls say on the wire: name, text of the arguments, members without a field."""

    def __init__(self, undo: Undo, changes: Changes) -> None:
        """`undo` tells the caller's own names and which tools are freeform."""
        self.undo = undo
        self.changes = changes

    def name(self, wire: ToolCallWire, path: str) -> str:
        """The caller's own name of the tool; `path` points to the part that the call becomes.

        Raises: DecodeError for a call without one.
        """
        name = wire.function.name if wire.function is not None else None
        if not name:
            raise DecodeError("a tool call must have a name", path="/function/name")
        return clean_name(name, self.undo, self.changes, f"{path}/name")

    def freeform(self, name: str) -> bool:
        """Whether the tool takes plain text."""
        return name in self.undo.freeform

    def arguments(self, wire: ToolCallWire, path: str) -> str:
        """The text of the arguments, as far as it came."""
        text, was_object = arguments_text((wire.function or _NO_FUNCTION).arguments)
        if was_object:
            self.changes.add("arguments_object", f"{path}/arguments_json")
        return text

    def members(self, wire: ToolCallWire) -> dict[str, dict[str, Any]]:
        """The members without a field."""
        within = wire.function.extra if wire.function is not None else None
        members: dict[str, Any] = dict(wire.extra) if wire.extra else {}
        if wire.type not in _FUNCTION:
            members["type"] = wire.type
        if within:
            members["function"] = dict(within)
        return {NAME: members} if members else {}

    def call(self, wire: ToolCallWire, ids: CallIdSource, path: str, *, cut_off: bool) -> Part:
        """A whole call.

        Raises: DecodeError for a call without a name.
        """
        name = self.name(wire, path)
        call_id, code = ids.assign(wire.id)
        if code is not None:
            self.changes.add(code, f"{path}/id")
        text = self.arguments(wire, path)
        if text[:1] != "{":
            text = repaired_arguments(text, self.changes, f"{path}/arguments_json", cut_off=cut_off)
        freeform = self.freeform(name)
        return make_call(call_id, name, text, cut_off=cut_off, freeform=freeform, extra=self.members(wire))


class Turn:
    """The content of an assistant message."""

    __slots__ = ("citations", "parts")

    def __init__(self, parts: list[Part], citations: list[dict[str, Any]]) -> None:
        """The parts in their order, and the citations that no text of them has."""
        self.parts: list[Part] = parts
        self.citations: list[dict[str, Any]] = citations


def decode_turn(
    message: MessageWire, ids: CallIdSource, reader: CallReader, prefix: str, *, cut_off: bool = False
) -> Turn:
    """The content of an assistant message.

    `prefix` points to the message in the canonical value; `cut_off` says that the length limit ended it.
    Raises: DecodeError, with a path inside the message.
    """
    parts = decode_content(message.content)
    blocks = len(parts)
    if message.tool_plan:
        parts.append(TextPart(message.tool_plan, extra={NAME: {"field": PLAN}}))
    rest = _cite(parts, blocks, message) if message.citations else []
    calls = message.tool_calls or ()
    for place, wire in enumerate(calls, 1):
        try:
            path = f"{prefix}/parts/{len(parts)}"
            parts.append(reader.call(wire, ids, path, cut_off=cut_off and place == len(calls)))
        except DecodeError as error:
            raise error.under(f"/tool_calls/{place - 1}") from None
    return Turn(parts, rest)


def _cite(parts: list[Part], blocks: int, message: MessageWire) -> list[dict[str, Any]]:
    """Hang each citation on its text, of which the first `blocks` are content; those that have none are left."""
    texts = [place for place, part in enumerate(parts) if type(part) is TextPart]
    places = {index: place for index, place in _block_places(parts, message).items() if place in texts}
    cited: dict[int, list[Citation]] = {}
    rest: list[dict[str, Any]] = []
    for raw in message.citations or ():
        first = next((place for place in texts if place < blocks), None)
        plan = next((place for place in texts if place >= blocks), None)
        index = raw.get("content_index")
        place = plan if is_of_plan(raw) else places.get(index) if type(index) is int else first
        if place is None or is_of_thinking(raw):
            rest.append(raw)
        else:
            cited.setdefault(place, []).extend(read_citation(raw))
    for place, citations in cited.items():
        part = parts[place]
        parts[place] = replace(part, annotations=tuple(citations)) if type(part) is TextPart else part
    return rest


def _block_places(parts: Sequence[Part], message: MessageWire) -> dict[int, int]:
    """The place of each block of content among the parts: a block that says nothing is no part."""
    if not isinstance(message.content, list):
        return {0: 0} if parts and message.content else {}
    places: dict[int, int] = {}
    for index, block in enumerate(message.content):
        if block.type not in (None, "text") or block.text or beside(block, "text"):
            places[index] = len(places)
    return places


def keep_content(parts: Sequence[Part]) -> list[Part]:
    """The parts of a client's own turn with calls or a plan: text of its content is marked to stay there."""
    return [
        replace(part, extra={NAME: {"field": "content", **part.extra.get(NAME, {})}})
        if type(part) is TextPart and part.extra.get(NAME, {}).get("field") != PLAN
        else part
        for part in parts
    ]


# Writing


def plain_parts(parts: Sequence[Part], names: Mapping[str, str]) -> tuple[list[str], list[PlainCallWire]] | None:
    """The texts and the calls of a turn that has texts, then calls, with nothing to note; None for any other."""
    texts: list[str] = []
    calls: list[PlainCallWire] = []
    for part in parts:
        if type(part) is ToolCall:
            if part.sealed or (part.extra and says_more(part.extra, NAME)):
                return None
            function = PlainFunctionWire(names.get(part.name, part.name), part.arguments_json)
            calls.append(PlainCallWire(part.id, "function", function))
            continue
        if type(part) is not TextPart or calls or not part.text:
            return None
        if part.cache or part.annotations or part.sealed or (part.extra and says_more(part.extra, NAME)):
            return None
        texts.append(part.text)
    return texts, calls


def plain_reply(parts: Sequence[Part]) -> PlainAnswerWire | None:
    """The message of an answer of texts, then calls, with nothing to note; None for any other."""
    plain = plain_parts(parts, {})
    if plain is None:
        return None
    texts, calls = plain
    return PlainAnswerWire("assistant", [PlainBlockWire(text) for text in texts] or None, None, calls or None)


class AssistantEncoder:
    """Writes one assistant turn into one message: of a history, or of a `reply`."""

    def __init__(
        self, changes: Changes, path: str, *, names: Mapping[str, str] | None = None, reply: bool = False
    ) -> None:
        """Losses go into `changes`, with paths under `path`; `names` are those of the tools on the wire."""
        self.changes = changes
        self.notes: PartNotes = PartNotes(changes)
        self.path = path
        self.names: Mapping[str, str] = names or {}
        self.reply = reply
        self.blocks: list[BlockWire] = []
        self.plan: list[str] = []
        self.calls: list[ToolCallWire] = []
        self.citations: list[dict[str, Any]] = []
        self._plans = False
        self._behind = False

    def encode(self, parts: Sequence[Part]) -> MessageWire:
        """The message."""
        # The text of a turn is its plan where it calls tools, and no other text of it is marked as that.
        has_calls = any([type(part) is ToolCall for part in parts])
        fields = [part.extra.get(NAME, {}).get("field") for part in parts if type(part) is TextPart]
        self._plans = not self.reply and has_calls and PLAN not in fields
        for place, part in enumerate(parts):
            self.add(part, place)
        return self.message()

    def add(self, part: Part, place: int) -> None:
        """Take one part, the one at `place`."""
        path = f"{self.path}/parts/{place}"
        if not is_bare(part):
            self.notes.lost(part, path)
        match part:
            case TextPart():
                self._text(part, path)
            case ToolCall(arguments_json=text):
                self._call(part, text)
            case BrokenToolCall(raw_arguments=text):
                self._call(part, text)
            case ThinkingPart():
                self._thinking(part, path)
            case RefusalPart(text=text):
                self.changes.add("refusal_as_text", path)
                self._text(TextPart(text), path)
            case ServerToolPart():
                # a step that a provider ran, in words; it is on the way to the answer, where it is thinking
                if self.reply:
                    self._thinking(answer_thinking(part, self.changes, path), path)
                else:
                    self._text(history_text(part, self.changes, path), path)
            case ImagePart() | AudioPart() | DocumentPart() | ToolResult() | OpaquePart():
                self._other(part, path)

    def message(self) -> MessageWire:
        """The message of the parts so far."""
        content: str | list[BlockWire] | None = self.blocks or None
        if not self.reply and (not self.blocks or (len(self.blocks) == 1 and is_text(self.blocks[0]))):
            content = self.blocks[0].text if self.blocks else None if self.calls or self.plan else ""
        return MessageWire(
            role="assistant",
            content=content,
            tool_plan="".join(self.plan) or None,
            tool_calls=self.calls or None,
            citations=self.citations or None,
        )

    def _text(self, part: TextPart, path: str) -> None:
        field = part.extra.get(NAME, {}).get("field")
        is_plan = field == PLAN or (self._plans and field != "content")
        if self.calls or (self._behind and not is_plan):
            self.changes.add("order_changed", path, "text is told before what it follows")
        if is_plan:
            self._behind = True
            self.plan.append(part.text)
        elif part.text or part.extra:
            self.blocks.append(encode_block(part))
        if not part.annotations:
            return
        if self.reply:
            index = None if is_plan else len(self.blocks) - 1
            self.citations += write_citations(
                part.annotations, part.text, self.changes, f"{path}/annotations", index=index
            )
        else:
            self.citations += own_values(part.annotations, NAME, self.changes, f"{path}/annotations")

    def _thinking(self, part: ThinkingPart, path: str) -> None:
        if not part.text:
            return  # what is sealed is noted
        if self.calls or self._behind:
            self.changes.add("order_changed", path, "thinking is told before the plan and the calls")
        self.blocks.append(encode_block(part))

    def _call(self, part: ToolCall | BrokenToolCall, arguments: str) -> None:
        self.calls.append(encode_call(part, arguments, self.names.get(part.name, part.name)))

    def _other(self, part: Part, path: str) -> None:
        """Refuse a part that an assistant message cannot hold, but write a transcript; a reply drops the part."""
        spoken = transcript_text(part, self.changes, path)
        if spoken is not None:
            self._text(spoken, path)
            return
        if isinstance(part, OpaquePart) and part.dialect == NAME:
            self.blocks.append(encode_block(part))
            return
        code = MEDIA_CODES.get(type(part), "opaque_part")
        detail = type(part).__name__
        if isinstance(part, OpaquePart):
            code = "media_refs" if part.kind == "media_ref" else "opaque_part"
            detail = f"{part.kind} of {part.dialect}"
        self.changes.add(code, path, detail, action="dropped" if self.reply else None)


def encode_call(part: ToolCall | BrokenToolCall, arguments: str, name: str) -> ToolCallWire:
    """A call on the wire; its arguments go out as the text that they are."""
    function = FunctionCallWire(name=name, arguments=Raw(encode_text(arguments)))
    wire = ToolCallWire(id=part.id, type="function", function=function)
    if NAME in part.extra:
        merge_members(wire, part.extra[NAME])
    return wire
