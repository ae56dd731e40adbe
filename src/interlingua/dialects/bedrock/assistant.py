"""The assistant's turn, both ways, in histories and in answers.

Rules
- Blocks keep their order: reasoning, text and calls interleave.
- Reasoning with its signature, and redacted reasoning, are sealed, byte-exact, and go back only to their issuer.
  Unsigned reasoning is not sent to a service, which would tell it as text; an answer may hold it.
- The `input` of a call keeps its exact text, so that a cached prefix stays the same bytes.
- Calls of tools that the service runs, and their results, stay where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._members import is_list, is_object, merge_members, object_in, plain, says_more
from interlingua.dialects._seals import note_seal, seal_fits
from interlingua.dialects._steps import answer_thinking, at_home, history_text, joined, string_in
from interlingua.dialects._transcripts import transcript_text
from interlingua.dialects.bedrock.parts import MEDIA_CODES, NAME, add_block
from interlingua.dialects.bedrock.wire import (
    BlockWire,
    PlainBlockWire,
    PlainUseWire,
    ReasoningTextWire,
    ReasoningWire,
    ToolUseWire,
    check_union,
)
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.stream.calls import is_empty_arguments, make_call
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    Sealed,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.wire.json import decode_any, encode, raw_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from interlingua.dialects._contract import Target, Undo
    from interlingua.dialects.bedrock.parts import BlockEncoder
    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = [
    "OWN_CALLS", "REDACTED", "SIGNATURE", "AssistantDecoder", "AssistantEncoder", "call_extra", "is_redacted",
    "plain_turn", "read_step", "sealed_by",
]  # fmt: skip

OWN_CALLS = (None, "tool_use")
"""Types of calls that the caller is to run."""
SIGNATURE, REDACTED = "signature", "redactedContent"
"""The member that seals reasoning, and the one that redacted reasoning is."""


# Reading


def sealed_by(name: str, value: str, target: Target) -> Sealed:
    """The seal that a member of reasoning is."""
    return Sealed(NAME, {name: value}, target.provider or None, target.model or None)


def call_extra(wire: ToolUseWire) -> dict[str, dict[str, Any]]:
    """The members of a call without a field."""
    members: dict[str, Any] = dict(wire.extra or {}) | ({} if wire.type is None else {"type": wire.type})
    return {NAME: {"toolUse": members}} if members else {}


def read_step(raw: dict[str, Any], provider: str | None) -> ServerToolPart:
    """A step of a tool that the service ran: a call, or what came of it."""
    if "toolUse" in raw:
        use = object_in(raw, "toolUse")
        name, call_id = use.get("name"), use.get("toolUseId")
        kind, output, value = str(use.get("type")), None, use.get("input")
    else:
        use = object_in(raw, "toolResult")
        name, call_id, value = "", use.get("toolUseId"), None
        content = use.get("content")
        blocks = [block for block in (content if is_list(content) else ()) if is_object(block)]
        texts = [
            string_in(block, "text") or (None if block.get("json") is None else encode(block["json"]).decode())
            for block in blocks
        ]
        output = joined(texts) or None
        kind = str(use.get("type") or "toolResult")
    return ServerToolPart(
        NAME,
        kind,
        raw,
        str(name or ""),
        call_id if isinstance(call_id, str) else None,
        value,
        output,
        status="failed" if use.get("status") == "error" else "completed",
        provider=provider,
    )


class AssistantDecoder:
    """Reads assistant turns; `prefix` points to where their parts will stand in the canonical value."""

    def __init__(self, ids: CallIdSource, target: Target, undo: Undo, changes: Changes, prefix: str = "") -> None:
        """`ids` gives the calls their ids, `target` is who said it, `undo` what the request had mapped."""
        self.ids: CallIdSource = ids
        self.target: Target = target
        self.undo: Undo = undo
        self.changes: Changes = changes
        self.prefix: str = prefix

    def decode(self, content: Sequence[BlockWire] | None, *, cut_off: bool = False) -> list[Part]:
        """The parts of a turn; `cut_off` says that the length limit ended it.

        Raises: DecodeError, with a path inside the message.
        """
        parts: list[Part] = []
        blocks = content or ()
        for place, wire in enumerate(blocks):
            try:
                check_union(wire)
                if wire.toolResult is not None or (wire.toolUse is not None and wire.toolUse.type not in OWN_CALLS):
                    parts.append(read_step(plain(wire), self.target.provider or None))
                elif wire.toolUse is not None:
                    is_cut = cut_off and place == len(blocks) - 1
                    parts.append(self._call(wire.toolUse, f"{self.prefix}/parts/{len(parts)}", cut_off=is_cut))
                elif wire.reasoningContent is not None:
                    parts.append(self._thinking(wire))
                else:
                    add_block(parts, wire)
            except DecodeError as error:
                raise error.under(f"/content/{place}") from None
        return parts

    def _thinking(self, wire: BlockWire) -> ThinkingPart:
        reasoning = wire.reasoningContent or ReasoningWire()
        try:
            check_union(reasoning)
        except DecodeError as error:
            raise error.under("/reasoningContent") from None
        text, sealed = reasoning.reasoningText or ReasoningTextWire(), None
        if reasoning.redactedContent:
            sealed = sealed_by(REDACTED, reasoning.redactedContent, self.target)
        elif text.signature:
            sealed = sealed_by(SIGNATURE, text.signature, self.target)
        inner: dict[str, Any] = dict(reasoning.extra or {}) | (
            {"reasoningText": dict(text.extra)} if text.extra else {}
        )
        members: dict[str, Any] = dict(wire.extra or {}) | ({"reasoningContent": inner} if inner else {})
        return ThinkingPart(text.text or "", sealed, {NAME: members} if members else {})

    def _call(self, wire: ToolUseWire, path: str, *, cut_off: bool) -> Part:
        if not wire.name:
            raise DecodeError("a tool call must have a name", path="/toolUse/name")
        call_id, code = self.ids.assign(wire.toolUseId)
        if code is not None:
            self.changes.add(code, f"{path}/id")
        text = bytes(wire.input).decode() if isinstance(wire.input, Raw) else ""
        if text.startswith('"'):
            self.changes.add("foreign_shape", f"{path}/arguments_json", "the input is text")
            text = raw_text(text.encode())
        if cut_off and text.strip() == "{}":  # nobody knows whether arguments were to come
            text = ""
        if text[:1] != "{" and not cut_off and is_empty_arguments(text):
            self.changes.add("arguments_empty", f"{path}/arguments_json")
        name = self.undo.names.get(wire.name, wire.name)
        freeform = name in self.undo.freeform
        return make_call(call_id, name, text, cut_off=cut_off, freeform=freeform, extra=call_extra(wire))


# Writing


def is_redacted(part: ThinkingPart) -> bool:
    """Whether a part came as reasoning that nobody may read."""
    sealed = part.sealed
    return sealed is not None and sealed.dialect == NAME and REDACTED in sealed.data


def plain_turn(parts: Sequence[Part], names: Mapping[str, str], ids: Mapping[str, str]) -> list[PlainBlockWire] | None:
    """The blocks of a turn of texts and calls with nothing to note; None for any other."""
    wires: list[PlainBlockWire] = []
    for part in parts:
        if type(part) is TextPart:
            text = part.text
            if part.cache or part.annotations or part.sealed or not text or text.isspace():
                return None
            if part.extra and says_more(part.extra, NAME):
                return None
            wires.append(PlainBlockWire(text))
        elif type(part) is not ToolCall or part.sealed or (part.extra and says_more(part.extra, NAME)):
            return None
        else:
            name, call_id = names.get(part.name, part.name), ids.get(part.id, part.id)
            wires.append(PlainBlockWire(None, PlainUseWire(call_id, name, Raw(part.arguments_json))))
    return wires or None


class AssistantEncoder:
    """Writes assistant turns, of a history or, as a `reply`, of an answer to a client."""

    def __init__(
        self,
        blocks: BlockEncoder,
        target: Target,
        changes: Changes,
        names: Mapping[str, str] | None = None,
        ids: Mapping[str, str] | None = None,
        *,
        own: bool = False,
    ) -> None:
        """`names` and `ids` map the caller's own names and ids to those of the wire; an `own` reply came so."""
        self.blocks = blocks
        self.target = target
        self.changes = changes
        self.names: Mapping[str, str] | dict[str, str] = names or {}
        self.ids: Mapping[str, str] | dict[str, str] = ids or {}
        self.reply: bool = blocks.reply
        self.own = own

    def encode(self, parts: Sequence[Part], path: str) -> list[BlockWire]:
        """The blocks of one turn, in order."""
        return [wire for place, part in enumerate(parts) for wire in self.part(part, f"{path}/parts/{place}")]

    def part(self, part: Part, path: str) -> list[BlockWire]:
        """The blocks of one part; none when it has no place."""
        writer = _WRITERS.get(type(part))
        return writer(self, part, path) if writer is not None else self.blocks.encode(part, path)

    def call(self, part: ToolCall, path: str) -> list[BlockWire]:
        """A call; its input is the very text of its arguments."""
        if part.sealed is not None:
            note_seal(self.changes, part.sealed, path)
        return [self._call(part, part.arguments_json, path)]

    def broken(self, part: BrokenToolCall, path: str) -> list[BlockWire]:
        """A broken call: as it is where that is JSON and came so, else sent as text, so that nobody runs it."""
        if not part.raw_arguments and (self.own or (self.reply and part.reason == "cut_off")):
            return [self._call(part, "{}", path)]
        if self.own and part.reason in ("not_object", "duplicate_key") and _is_json(part.raw_arguments):
            return [self._call(part, part.raw_arguments, path)]
        self.changes.add("broken_call_as_text", path, f"{part.name}: {part.reason}")
        return [BlockWire(text=f"{part.name}({part.raw_arguments})")]

    def _call(self, part: ToolCall | BrokenToolCall, text: str, path: str) -> BlockWire:
        call_id, name = self.ids.get(part.id, part.id), self.names.get(part.name, part.name)
        wire = BlockWire(toolUse=ToolUseWire(toolUseId=call_id, name=name, input=Raw(text)))
        if part.extra:
            note_foreign(self.changes, part.extra, path)
            merge_members(wire, part.extra.get(NAME, {}))
        return wire

    def thinking(self, part: ThinkingPart, path: str) -> list[BlockWire]:
        """Reasoning that its issuer, or a client, may have."""
        sealed = part.sealed
        is_own = sealed is not None and (sealed.dialect == NAME if self.reply else seal_fits(sealed, NAME, self.target))
        if sealed is not None and not is_own:
            note_seal(self.changes, sealed, path, self.target)
        if not is_own and not self.reply and self.target.quirks.reasoning_echo != "always":
            if part.text:
                self.changes.add("thinking_unsupported", path, "reasoning without a signature is sent as text")
            return []
        note_foreign(self.changes, part.extra, path)
        if not is_own and not part.text:
            return []
        data: Mapping[str, Any] = sealed.data if sealed is not None and is_own else {}
        if REDACTED in data:
            reasoning = ReasoningWire(redactedContent=data[REDACTED])
        else:
            reasoning = ReasoningWire(reasoningText=ReasoningTextWire(text=part.text, signature=data.get(SIGNATURE)))
        wire = BlockWire(reasoningContent=reasoning)
        merge_members(wire, part.extra.get(NAME, {}))
        return [wire]

    def media(self, part: ImagePart | AudioPart | DocumentPart, path: str) -> list[BlockWire]:
        """Media of an assistant: an answer may hold them, a history not; the words of a sound are told."""
        if self.reply:
            return self.blocks.encode(part, path)
        transcript = transcript_text(part, self.changes, path)
        if transcript is not None:
            return self.blocks.encode(transcript, path)
        self.changes.add(MEDIA_CODES[type(part)], path, "an assistant's message holds no media")
        return []

    def step(self, part: ServerToolPart, path: str) -> list[BlockWire]:
        """A step of a tool that the service ran, as it came; one of another provider in words."""
        if at_home(part, NAME, self.target):
            wire = BlockWire()
            merge_members(wire, part.raw)
            return [wire]
        if self.reply:
            return self.thinking(answer_thinking(part, self.changes, path), path)
        return self.blocks.encode(history_text(part, self.changes, path), path)


def _is_json(text: str) -> bool:
    try:
        decode_any(text)
    except (DecodeError, LimitExceededError):
        return False
    return True


_WRITERS: dict[type, Callable[[AssistantEncoder, Any, str], list[BlockWire]]] = {
    ToolCall: AssistantEncoder.call,
    BrokenToolCall: AssistantEncoder.broken,
    ThinkingPart: AssistantEncoder.thinking,
    ImagePart: AssistantEncoder.media,
    AudioPart: AssistantEncoder.media,
    DocumentPart: AssistantEncoder.media,
    ServerToolPart: AssistantEncoder.step,
}
