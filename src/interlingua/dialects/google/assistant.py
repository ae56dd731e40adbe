"""The model's turn on the wire: for a history and for an answer.

Rules
- Parts stay in order, each with its own signature; nothing is merged.
- The first call of a step whose signature is lost or another issuer's gets the documented filler, where one is needed.
- Ids that were only made to pair calls with results (`call_<n>`) are not sent, since the provider never gave one.
- Thinking goes as a thought, whoever thought it; a refusal in words is text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw

from interlingua.dialects._citations import own_values
from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._members import is_object, merge_members, object_in
from interlingua.dialects._seals import note_seal, seal_fits
from interlingua.dialects._steps import answer_thinking, at_home, history_text
from interlingua.dialects.google.citations import Grounding
from interlingua.dialects.google.parts import NAME, TRANSCRIPT, blob_wire
from interlingua.dialects.google.wire import CallWire, PartWire, PlainCallWire, PlainPartWire
from interlingua.stream.calls import is_made_id
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    Sealed,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlingua.dialects._contract import Target
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = ["FILLER", "AssistantEncoder", "opaque_wire"]

FILLER = "skip_thought_signature_validator"
"""The value that the provider takes in place of a signature that somebody else's call cannot have."""
JSON_FAULTS = frozenset({"duplicate_key", "not_object"})
"""Faults of arguments that are JSON all the same, so that they can go back as they came."""


def opaque_wire(part: OpaquePart) -> PartWire:
    """A part of this dialect that was not read, as it came."""
    wire = PartWire()
    merge_members(wire, part.raw if part.raw and is_object(part.raw) else {part.kind: part.raw})
    return wire


class AssistantEncoder:
    """Writes the parts of one turn; `reply` says that it is an answer, `own` that it came in this dialect."""

    def __init__(
        self,
        target: Target,
        changes: Changes,
        path: str,
        *,
        names: Mapping[str, str] | None = None,
        ids: Mapping[str, str] | None = None,
        reply: bool = False,
        own: bool = False,
    ) -> None:
        self.target = target
        self.changes = changes
        self.path = path
        self.names: Mapping[str, str] | dict[str, str] = names or {}
        self.ids: Mapping[str, str] | dict[str, str] = ids or {}
        self.reply = reply
        self.own = own
        self.grounding: Grounding | None = None
        """The citations of the texts, where there are any."""
        self._place = 0
        self._has_call = False
        self._sends_ids = target.quirks.call_ids_back
        self._sends_made = reply and not own

    def encode(self, parts: Sequence[Part]) -> list[PartWire]:
        """The parts on the wire, one by one."""
        wires: list[PartWire] = []
        for place, part in enumerate(parts):
            self._place = len(wires)
            wire = self.part(part, f"{self.path}/parts/{place}")
            if wire is not None:
                wires.append(wire)
        return wires

    def bare(self, parts: Sequence[Part]) -> list[PlainPartWire] | None:
        """Thinking, texts and calls with nothing beside them on the wire; None where there is anything to note."""
        if not self.reply and self.target.facts.call_seals:
            return None
        names = self.names
        wires: list[PlainPartWire] = []
        for part in parts:
            if type(part) is ToolCall and not (part.sealed or part.extra):
                wire = PlainCallWire(self.call_id(part.id), names.get(part.name, part.name), Raw(part.arguments_json))
                wires.append(PlainPartWire(None, None, None, wire))
            elif type(part) is TextPart and part.text:
                if part.cache or part.annotations or part.sealed or part.extra:
                    return None
                wires.append(PlainPartWire(part.text))
            elif type(part) is ThinkingPart and part.text and not (part.sealed or part.extra):
                wires.append(PlainPartWire(part.text, True))
            else:
                return None
        return wires

    def part(self, part: Part, path: str) -> PartWire | None:
        """One part on the wire; None where it has no place."""
        match part:
            case TextPart():
                return self._text(part, path)
            case ToolCall():
                signature = self.signature(part.sealed, path)
                if signature is None and not self._has_call and not self.reply:
                    seals = self.target.facts.call_seals
                    if seals or (seals is None and part.sealed is not None):
                        self.changes.add("seal_filler", f"{path}/sealed" if part.sealed is not None else path)
                        signature = FILLER
                self._has_call = True
                return self._call_part(part, part.arguments_json, signature, path)
            case ThinkingPart():
                return self._thinking(part, path)
            case ImagePart() | AudioPart() | DocumentPart():
                return self._media(part, path)
            case ServerToolPart() | OpaquePart():
                return self._step(part, path) if isinstance(part, ServerToolPart) else self._opaque(part, path)
            case RefusalPart(text=text):
                self.changes.add("refusal_as_text", path)
                return PartWire(text=text) if text else None
            case BrokenToolCall():
                return self._broken(part, path)
            case _:
                self.changes.add("opaque_part", path, f"a turn holds no {type(part).__name__}", action="dropped")
                return None

    def signature(self, sealed: Sealed | None, path: str) -> str | None:
        """The signature that goes back; an entry for one of another issuer."""
        if sealed is None:
            return None
        if seal_fits(sealed, NAME, self.target):
            return sealed.data.get("thoughtSignature")
        note_seal(self.changes, sealed, path, self.target)
        return None

    def _text(self, part: TextPart, path: str) -> PartWire | None:
        signature = self.signature(part.sealed, path) if part.sealed is not None else None
        if part.annotations and self.reply:
            self.grounding = self.grounding or Grounding()
            self.grounding.cite(part.annotations, part.text, self.changes, f"{path}/annotations", part=self._place)
        elif part.annotations:
            own_values(part.annotations, "", self.changes, f"{path}/annotations")
        if part.cache is not None:
            self.changes.add("cache_unsupported", f"{path}/cache")
        wire = PartWire(text=part.text, thoughtSignature=signature)
        if part.extra:
            self._extra(wire, part.extra, path)
        if part.text or signature or wire.extra:
            return wire
        if part.sealed is None:
            self.changes.add("empty_part", path)
        return None

    def _thinking(self, part: ThinkingPart, path: str) -> PartWire | None:
        signature = self.signature(part.sealed, path)
        wire = PartWire(text=part.text, thought=True, thoughtSignature=signature)
        self._extra(wire, part.extra, path)
        return wire if part.text or signature else None

    def _call_part(self, part: ToolCall | BrokenToolCall, text: str, signature: str | None, path: str) -> PartWire:
        call = CallWire(id=self.call_id(part.id), name=self.names.get(part.name, part.name), args=Raw(text))
        wire = PartWire(functionCall=call, thoughtSignature=signature)
        if part.extra:
            self._extra(wire, part.extra, path)
        return wire

    def call_id(self, call_id: str) -> str | None:
        """The id that a call or its result carries; None for one that the provider never gave."""
        if not (self._sends_ids and (self._sends_made or not is_made_id(call_id))):
            return None
        return self.ids.get(call_id, call_id)

    def _broken(self, part: BrokenToolCall, path: str) -> PartWire:
        """A broken call of an answer: as it came to its own dialect, else sent as text."""
        if self.own and part.reason in JSON_FAULTS:
            return self._call_part(part, part.raw_arguments, None, path)
        self.changes.add("broken_call_as_text", path, f"{part.name}: {part.reason}")
        return PartWire(text=f"{part.name}({part.raw_arguments})")

    def _media(self, part: ImagePart | AudioPart | DocumentPart, path: str) -> PartWire:
        wire = blob_wire(part)
        if isinstance(part, ImagePart):
            wire.thoughtSignature = self.signature(part.sealed, path)
        if isinstance(part, AudioPart) and part.transcript and self.reply:
            merge_members(wire, {TRANSCRIPT: {"text": part.transcript, **object_in(wire.extra or {}, TRANSCRIPT)}})
        if part.cache is not None:
            self.changes.add("cache_unsupported", f"{path}/cache")
        self._note(part.extra, path)
        return wire

    def _step(self, part: ServerToolPart, path: str) -> PartWire | None:
        if part.cache is not None:
            self.changes.add("cache_unsupported", f"{path}/cache")
        if at_home(part, NAME, self.target):
            wire = PartWire()
            merge_members(wire, part.raw)
            return wire
        if self.reply:
            return self._thinking(answer_thinking(part, self.changes, path), path)
        return PartWire(text=history_text(part, self.changes, path).text)

    def _opaque(self, part: OpaquePart, path: str) -> PartWire | None:
        if part.dialect == NAME:
            return opaque_wire(part)
        code = "media_refs" if part.kind == "media_ref" else "opaque_part"
        self.changes.add(code, path, f"{part.kind} of {part.dialect}", action="dropped" if self.reply else None)
        return None

    def _extra(self, wire: PartWire, extra: dict[str, dict[str, Any]], path: str) -> None:
        if NAME in extra:
            merge_members(wire, extra[NAME])
        self._note(extra, path)

    def _note(self, extra: dict[str, dict[str, Any]], path: str) -> None:
        if not self.reply:
            note_foreign(self.changes, extra, path)
