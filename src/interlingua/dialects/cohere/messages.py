"""The history, both ways.

Rules
- The first system message is `Request.system`, unless it carries more than text; later ones stay where they are.
- Neighbouring tool messages are one canonical message with all results of the step; on the wire it is one each.
- A result's error flag is one leading `ERROR: `, never doubled.
- A document in a result is its text, and a document again in this dialect.
- `documents` of the request stand first in its first message of the user. A document elsewhere is told there too, with
  an entry where it stood behind something. A message of nothing but documents is their text, since it has to say
  something.
- Media of a result go into the message of the user after it: a result holds text and documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlingua.dialects._contract import Undo
from interlingua.dialects._error_prefix import prefixed
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._history import ERROR_PREFIX, json_text, result_text
from interlingua.dialects._members import merge_members, says_more
from interlingua.dialects._roles import MessagesReader
from interlingua.dialects._serve import read_member
from interlingua.dialects.cohere.assistant import (
    MEDIA_CODES,
    AssistantEncoder,
    CallReader,
    decode_turn,
    keep_content,
    plain_parts,
)
from interlingua.dialects.cohere.documents import document_text, encode_document
from interlingua.dialects.cohere.parts import NAME, PLAN, PartNotes, decode_content, encode_block, is_bare, is_text
from interlingua.dialects.cohere.wire import (
    BlockWire,
    MessagesWire,
    MessageWire,
    PlainCallWire,
    PlainMessageWire,
    PlainResultWire,
    PlainSystemWire,
    PlainTurnWire,
    PlainUserWire,
)
from interlingua.stream.calls import PLACEHOLDER_IDS, CallIdSource
from interlingua.types.content import (
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
from interlingua.wire.arguments import are_sound
from interlingua.wire.json import MAX_DEPTH, exact_reader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = ["DOCUMENTS", "MessageEncoder", "decode_messages", "with_documents"]

DOCUMENTS = "documents"
"""The spelling of a message that holds nothing but the request's documents."""
_NOTHING = Undo()


# Reading


class _History(MessagesReader[MessageWire]):
    """Reads messages one by one, remembering the names of the calls."""

    def __init__(self, wires: Sequence[MessageWire], changes: Changes) -> None:
        super().__init__()
        wire_ids = [call.id for wire in wires if wire.tool_calls for call in wire.tool_calls if call.id]
        self.ids = CallIdSource(used_ids=wire_ids, keeps_repeats=True)
        self.reader = CallReader(_NOTHING, changes)
        self.names: dict[str, str] = {}

    def plain(self, wire: MessageWire) -> bool:
        """Whether a plain message was read; one in which something has to be looked at is left to its role."""
        plain = cast("MessageWire | PlainMessageWire", wire)
        if type(plain) is PlainResultWire and not plain.content.startswith(ERROR_PREFIX):
            call_id = plain.tool_call_id
            self.results.append(ToolResult(call_id, self.names.get(call_id, ""), plain.content))
        elif type(plain) is PlainTurnWire and _are_sound(calls := plain.tool_calls or ()):
            content, plan = plain.content, plain.tool_plan
            parts: list[Part] = []
            if content:
                parts.append(TextPart(content, extra={NAME: {"field": "content"}} if calls or plan else {}))
            if plan:
                parts.append(TextPart(plan, extra={NAME: {"field": PLAN}}))
            for call in calls:
                call_id, name = call.id, call.function.name
                self.ids.assign(call_id)
                self.names[call_id] = name
                parts.append(ToolCall(call_id, name, call.function.arguments))
            self.messages.append(Message("assistant", tuple(parts)))
        elif type(plain) is PlainUserWire and plain.content:
            self.messages.append(Message("user", (TextPart(plain.content),)))
        else:
            return False
        return True

    def assistant(self, wire: MessageWire) -> None:
        """A turn of the model."""
        turn = decode_turn(wire, self.ids, self.reader, self.here)
        parts = keep_content(turn.parts) if wire.tool_calls or wire.tool_plan else turn.parts
        self.names |= {part.id: part.name for part in parts if isinstance(part, ToolCall | BrokenToolCall)}
        if wire.citations:
            wire.citations = turn.citations or None
        self.messages.append(Message("assistant", tuple(parts), None, _members(wire, ("tool_call_id", "citations"))))

    def user(self, wire: MessageWire) -> None:
        """A message of the user."""
        self.messages.append(Message("user", tuple(decode_content(wire.content)), None, _members(wire)))

    def system_text(self, wire: MessageWire) -> None:
        """A system message."""
        parts, extra = tuple(decode_content(wire.content)), _members(wire)
        texts = tuple([part for part in parts if type(part) is TextPart and not part.extra])
        if not self.messages and not self.system and texts and len(texts) == len(parts) and not extra:
            self.system = texts
        else:
            self.messages.append(Message("system", parts, None, extra))

    def tool(self, wire: MessageWire) -> None:
        """A tool's result."""
        call_id = wire.tool_call_id or ""
        content, is_error = _result_content(decode_content(wire.content))
        members = {NAME: dict(wire.extra)} if wire.extra else {}
        self.results.append(ToolResult(call_id, self.names.get(call_id, ""), content, is_error, None, members))


_OTHER = ("tool_plan", "tool_call_id", "citations")


def _members(wire: MessageWire, names: Sequence[str] = _OTHER) -> dict[str, dict[str, Any]]:
    """Members that no part of a message can hold."""
    own: dict[str, Any] = {name: value for name in names if (value := getattr(wire, name))}
    members = {**own, **(wire.extra or {})}
    return {NAME: members} if members else {}


def _result_content(parts: list[Part]) -> tuple[Any, bool]:
    """The content of a result, and whether it says that the tool failed."""
    first = parts[0] if parts else None
    if len(parts) > 1 or type(first) is not TextPart or first.extra:
        return tuple(parts) if parts else "", False
    is_error = first.text.startswith(ERROR_PREFIX)
    return first.text.removeprefix(ERROR_PREFIX) if is_error else first.text, is_error


def decode_messages(text: bytes, changes: Changes) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text and the messages of a request, whose `messages` are this text.

    Raises: DecodeError for an unknown role, for calls of anyone but the model, and for blocks that cannot be read;
    LimitExceededError.
    """
    wires = cast("list[MessageWire] | None", _read_plain(text)) or _read_known(text)  # plain ones have its members
    if wires is None:
        wires = read_member(b"messages", text, MessagesWire).messages or []
    return _History(wires, changes).read(wires)


_read_plain = exact_reader(list[PlainMessageWire], max_depth=MAX_DEPTH - 1)  # they stand in an object
_read_known = exact_reader(list[MessageWire], max_depth=MAX_DEPTH - 1)
"""Reads messages of which every member is known."""


def _are_sound(calls: Sequence[PlainCallWire]) -> bool:
    """Whether each call has a name, an id of its own and sound arguments."""
    for call in calls:
        function = call.function
        if not function.name or call.id.strip() in PLACEHOLDER_IDS or not are_sound(function.arguments):
            return False
    return True


def with_documents(messages: tuple[Message, ...], documents: Sequence[DocumentPart]) -> tuple[Message, ...]:
    """The messages with the request's documents before the first words of the user."""
    if not documents:
        return messages
    for place, message in enumerate(messages):
        if message.role == "user":
            first = Message("user", (*documents, *message.parts), message.name, message.extra)
            return (*messages[:place], first, *messages[place + 1 :])
    return (Message("user", tuple(documents), None, {NAME: {"field": DOCUMENTS}}), *messages)


# Writing


class MessageEncoder:
    """Writes a history."""

    def __init__(self, names: Mapping[str, str], changes: Changes) -> None:
        """`names` are those of the tools on the wire; losses go into `changes`."""
        self.names = names
        self.changes = changes
        self.notes: PartNotes = PartNotes(changes)
        self.wires: list[MessageWire | PlainMessageWire] = []
        self.documents: list[Any] = []
        """The documents that the request brings beside its messages."""
        self.is_bare: bool = True
        """Whether there is nothing in the messages but texts, calls and results that are texts."""
        self._users = 0

    def encode(
        self, system: tuple[TextPart, ...], messages: tuple[Message, ...]
    ) -> list[MessageWire | PlainMessageWire]:
        """The messages on the wire, the system text first."""
        if system:
            self._prompt(Message("system", system), "", "/system")
        for place, message in enumerate(messages):
            if not message.extra and message.name is None and self._plain(message.role, message.parts):
                continue
            path = f"/messages/{place}"
            if message.role == "assistant":
                wire = AssistantEncoder(self.changes, path, names=self.names).encode(message.parts)
                self.is_bare = self.is_bare and all(map(is_bare, message.parts))
                self.wires.append(wire)
                self._members(message, wire, path)
            elif message.role == "tool" or any([type(part) is ToolResult for part in message.parts]):
                self._results(message, path)
            else:
                self._prompt(message, path, "/parts")
        return self.wires

    def _plain(self, role: str, parts: Sequence[Part]) -> bool:
        """Whether a message of one text, of results, or of texts and calls was written; not if anything is noted."""
        if role == "assistant":
            return self._plain_turn(parts)
        if role == "tool":
            results: list[PlainResultWire] = []
            for part in parts:
                if type(part) is not ToolResult or part.is_error or part.cache:
                    return False
                if part.extra and says_more(part.extra, NAME):
                    return False
                content = part.content
                if type(content) is not str or content.startswith(ERROR_PREFIX):
                    return False
                results.append(PlainResultWire(content, part.call_id))
            self.wires += results
            return True
        part = parts[0] if len(parts) == 1 else None
        if type(part) is not TextPart or part.cache or part.annotations or part.sealed or part.extra:
            return False
        if role == "user":
            self._users += 1
            self.wires.append(PlainUserWire(part.text))
        else:
            self.wires.append(PlainSystemWire(part.text))
        return True

    def _plain_turn(self, parts: Sequence[Part]) -> bool:
        plain = plain_parts(parts, self.names)
        if plain is None:
            return False
        texts, calls = plain
        if calls:
            self.wires.append(PlainTurnWire(None, "".join(texts) or None, calls))
        elif len(texts) == 1:
            self.wires.append(PlainTurnWire(texts[0]))
        else:
            return False
        return True

    def _members(self, message: Message, wire: MessageWire, path: str) -> None:
        if message.name is not None:
            self.changes.add("name_unsupported", f"{path}/name")
        if message.extra:
            self.is_bare = False
            note_foreign(self.changes, message.extra, path)
            members = {name: value for name, value in message.extra.get(NAME, {}).items() if name != "field"}
            if members.get("citations") and wire.citations:
                members["citations"] = [*wire.citations, *members["citations"]]
            merge_members(wire, members)

    def _prompt(self, message: Message, path: str, within: str) -> None:
        """A message of the user or of the system; its parts stand `within` what `path` points to."""
        self._users += message.role == "user"
        before = len(self.documents)
        blocks = self._blocks(message.parts, path + within)
        if not blocks and len(self.documents) > before:
            if message.extra.get(NAME, {}).get("field") == DOCUMENTS:
                return  # it stands for what a client of this dialect brought beside its messages
            for place in [place for place, part in enumerate(message.parts) if isinstance(part, DocumentPart)]:
                detail = "a message has to say something beside documents"
                self.changes.add("media_as_text", f"{path}{within}/{place}", detail)
            blocks = [BlockWire(type="text", text=document_text(document)) for document in self.documents[before:]]
            self.documents = self.documents[:before]
        wire = MessageWire(role=message.role, content=_content(blocks))
        self.wires.append(wire)
        self._members(message, wire, path)

    def _blocks(self, parts: Sequence[Part | Json], path: str, *, beside: bool = True) -> list[BlockWire]:
        """The blocks of a message, whose documents go `beside` the messages; else those of a result, without images.

        What has no place is refused.
        """
        blocks: list[BlockWire] = []
        for place, part in enumerate(parts):
            if isinstance(part, Json):
                blocks.append(BlockWire(type="text", text=json_text(part)))
                continue
            here = f"{path}/{place}"
            if not is_bare(part):
                self.is_bare = False
                self.notes.lost(part, here)
            if type(part) is TextPart:
                if part.annotations:
                    self.changes.add("annotation_unsupported", f"{here}/annotations")
                if part.text or part.extra or part.sealed is None:
                    blocks.append(encode_block(part))
            elif isinstance(part, ImagePart):
                blocks.extend([encode_block(part)] if beside else [])
            elif isinstance(part, OpaquePart) and part.dialect == NAME:
                blocks.append(encode_block(part))
            elif isinstance(part, DocumentPart):
                self._document(part, blocks, here, beside=beside)
            else:
                self._refuse(part, here)
        return blocks

    def _document(self, part: DocumentPart, blocks: list[BlockWire], path: str, *, beside: bool) -> None:
        document = encode_document(part, self.changes, path)
        if document is None:
            return
        if not beside:
            self.changes.add("media_as_text", path, "the text of a document in a result")
            blocks.append(BlockWire(type="document", document=document))
            return
        if blocks or self._users > 1:
            self.changes.add("order_changed", path, "documents are told beside the messages")
        self.documents.append(document)

    def _refuse(self, part: Part, path: str) -> None:
        if isinstance(part, OpaquePart):
            code = "media_refs" if part.kind == "media_ref" else "opaque_part"
            self.changes.add(code, path, f"{part.kind} of {part.dialect}")
        else:
            self.changes.add(MEDIA_CODES.get(type(part), "opaque_part"), path, f"no place for {type(part).__name__}")

    def _results(self, message: Message, path: str) -> None:
        moved: list[Part] = [part for part in message.parts if type(part) is not ToolResult]
        for place, result in enumerate(message.parts):
            if type(result) is not ToolResult:
                continue
            here = f"{path}/parts/{place}"
            content = self._result_content(result, moved, here)
            wire = MessageWire(role="tool", tool_call_id=result.call_id, content=content)
            if result.cache is not None:
                self.changes.add("cache_unsupported", f"{here}/cache")
            if result.extra:
                self.is_bare = False
                note_foreign(self.changes, result.extra, here)
                merge_members(wire, result.extra.get(NAME, {}))
            self.wires.append(wire)
        if message.extra:
            self.is_bare = False
            note_foreign(self.changes, message.extra, path)
        if moved:
            self._prompt(Message("user", tuple(moved)), path, "/parts")

    def _result_content(self, result: ToolResult, moved: list[Part], path: str) -> str | list[BlockWire]:
        content = result.content
        if isinstance(content, str | Json):
            return prefixed(result_text(result), result, self.changes, path)
        self.is_bare = False
        images = [part for part in content if isinstance(part, ImagePart)]
        blocks = self._blocks(content, f"{path}/content", beside=False)
        if images:
            self.changes.add("result_media_moved", f"{path}/content")
            moved.extend([TextPart(f"Images of the result of {result.name or result.call_id}:"), *images])
            if not blocks:
                note = f"[{len(images)} image(s) follow in the next user message]"
                blocks.append(BlockWire(type="text", text=note))
        text = prefixed(result_text(result), result, self.changes, path)
        if not result.is_error or text == result_text(result):
            return _content(blocks)
        if blocks and blocks[0].type == "text" and blocks[0].extra is None:
            blocks[0].text = f"{ERROR_PREFIX}{blocks[0].text}"
        else:
            blocks.insert(0, BlockWire(type="text", text=ERROR_PREFIX))
        return _content(blocks)


def _content(blocks: list[BlockWire]) -> str | list[BlockWire]:
    """Content: a string where text alone is said."""
    if not blocks:
        return ""
    first = blocks[0]
    if len(blocks) == 1 and is_text(first):
        return first.text or ""
    return blocks
