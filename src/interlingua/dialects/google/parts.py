"""Content parts, both ways: one mapping for histories, whole answers and what a stream brings.

Rules
- A part is what the member that it has says; one that only its own service understands is opaque.
- A signature stays on the part that it came with; a part that is a signature alone is an empty text.
- Bytes become images, audio or documents by their type; a reference to a file is an opaque `media_ref`.
- A result is its `output` or its `error` where that stands alone, else the whole object.
Loss: an empty text without a signature is no part at all; line ends between the tokens of arguments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from interlingua.dialects._members import is_object, merge_members, plain
from interlingua.dialects.google.spelling import MARK, bare_numbers
from interlingua.dialects.google.steps import read_step
from interlingua.dialects.google.wire import BlobWire, CallWire, PartWire
from interlingua.errors import DecodeError
from interlingua.stream.calls import is_empty_arguments, is_made_id, make_call
from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.wire.arguments import are_sound
from interlingua.wire.json import raw_text
from interlingua.wire.media import media_type_of, text_data, told_detail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Target, Undo
    from interlingua.dialects.google.wire import ResultWire
    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Changes
    from interlingua.types.content import Part, ToolResult

__all__ = [
    "NAME",
    "OWN_NAMES",
    "TRANSCRIPT",
    "PartDecoder",
    "arguments_text",
    "beside",
    "blob_wire",
    "call_extra",
    "decode_media",
    "in_call_order",
    "opaque",
    "part_list",
    "result_content",
    "text_arguments",
]

NAME = "google"
"""The dialect's name."""

DETAILS = {
    "MEDIA_RESOLUTION_LOW": "low",
    "MEDIA_RESOLUTION_MEDIUM": "medium",
    "MEDIA_RESOLUTION_HIGH": "high",
    "MEDIA_RESOLUTION_ULTRA_HIGH": "ultra_high",
}
"""How closely to look, as the wire says it."""
OWN_NAMES = {
    "audio/mpeg": "audio/mp3",
    "video/quicktime": "video/mov",
    "video/x-msvideo": "video/avi",
    "video/x-ms-wmv": "video/wmv",
}
"""The service's names of media types: vendor pages "Audio understanding", "Video understanding", November 2026."""
TRANSCRIPT = "audioTranscription"
"""Beside the bytes of a sound: what it says, in answers alone."""
RESOLUTIONS = {detail: level for level, detail in DETAILS.items()}
_BREAK = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t]*[\r\n]\s*')
"""A string, or the white space around a line end between two tokens."""


def in_call_order(results: Sequence[ToolResult], called: dict[str, str]) -> list[ToolResult]:
    """Results without an id on the wire: those of one tool in the order of their calls, since order is what pairs them.

    `called` has the names of the calls before, by id. Which tool comes when stays as it is.
    """
    places: dict[str, list[int]] = {}
    for place, result in enumerate(results):
        places.setdefault(called.get(result.call_id) or result.name, []).append(place)
    ordered = list(results)
    if len(places) < len(ordered):
        waiting = {result.call_id for result in results} & called.keys()
        numbers: dict[str, int] = {}
        for call_id in reversed(called):  # back from the latest, and no further than needed: history may be long
            if not waiting:
                break
            numbers[call_id] = -len(numbers)
            waiting.discard(call_id)
        for own in places.values():
            came = sorted(own, key=lambda place: numbers.get(results[place].call_id, 1))
            for place, one in zip(own, came, strict=True):
                ordered[place] = results[one]
    return ordered


def part_list(parts: list[PartWire] | PartWire | None) -> list[PartWire]:
    """The parts of a content; one alone may stand without a list."""
    if isinstance(parts, list):
        return parts
    return [] if parts is None else [parts]


# Reading


class PartDecoder:
    """Reads the parts of a model's turn; `prefix` points to where they will stand in the canonical value."""

    __slots__ = ("changes", "ids", "issuer", "prefix", "undo")

    def __init__(self, ids: CallIdSource, target: Target, undo: Undo, changes: Changes, prefix: str = "") -> None:
        """`ids` gives the calls their ids, `target` is who said it, `undo` what the request had mapped."""
        self.ids: CallIdSource = ids
        self.issuer: tuple[str | None, str | None] = (target.provider or None, target.model or None)
        self.undo: Undo = undo
        self.changes: Changes = changes
        self.prefix: str = prefix

    def decode(self, wires: Sequence[PartWire], before: int = 0) -> list[Part]:
        """The parts of a turn, of which `before` are known already.

        Raises: DecodeError, with a path inside the content.
        """
        parts: list[Part] = []
        for place, wire in enumerate(wires):
            try:
                part = self.part(wire, before + len(parts))
            except DecodeError as error:
                raise error.under(f"/parts/{place}") from None
            if part is not None:
                parts.append(part)
        return parts

    def part(self, wire: PartWire, place: int) -> Part | None:
        """One part at its place; None for an empty text."""
        if (
            wire.is_plain
            and wire.thoughtSignature is wire.thought is wire.functionResponse is None
            and (wire.functionCall is None or wire.text is not None)
        ):
            return TextPart(wire.text) if wire.text else None
        is_bare = (
            wire.thoughtSignature is wire.thought is wire.functionCall is wire.functionResponse is None
            and wire.inlineData is wire.fileData is wire.mediaResolution is wire.extra is None
            and wire.executableCode is wire.codeExecutionResult is wire.toolCall is wire.toolResponse is None
        )
        if wire.text and is_bare:
            return TextPart(wire.text)
        if wire.text is not None and not _is_opaque(wire):
            return self._text(wire)
        if wire.functionCall is not None:
            return self.call(wire, wire.functionCall, f"{self.prefix}/parts/{place}")
        if wire.inlineData is not None:
            return decode_media(wire, wire.inlineData, self.sealed(wire))
        if _is_opaque(wire):
            part = opaque(wire)
            return read_step(part, self.issuer[0]) or part
        if wire.functionResponse is not None or wire.fileData is not None or wire.extra:
            return opaque(wire)
        return self._text(wire)

    def sealed(self, wire: PartWire) -> Sealed | None:
        """The signature of a part, with its issuer."""
        if not wire.thoughtSignature:
            return None
        return Sealed(NAME, {"thoughtSignature": wire.thoughtSignature}, *self.issuer)

    def _text(self, wire: PartWire) -> Part | None:
        sealed, extra = self.sealed(wire), beside(wire)
        if not wire.text and sealed is None and not extra:
            return None
        if wire.thought:
            return ThinkingPart(wire.text or "", sealed, extra)
        return TextPart(wire.text or "", sealed=sealed, extra=extra)

    def call(self, wire: PartWire, call: CallWire, path: str) -> Part:
        """A call: whole, or broken with its reason.

        Raises: DecodeError for a call without a name.
        """
        call_id, name = self.opening(call, path)
        text, freeform = arguments_text(call), name in self.undo.freeform
        sealed, extra = self.sealed(wire) if wire.thoughtSignature else None, call_extra(wire, call)
        if are_sound(text):
            return ToolCall(call_id, name, text, freeform, sealed, extra)
        if text[:1] == '"':
            text = text_arguments(text, self.changes, path)
        if is_empty_arguments(text):
            self.changes.add("arguments_empty", f"{path}/arguments_json")
        return make_call(call_id, name, text, freeform=freeform, sealed=sealed, extra=extra)

    def opening(self, call: CallWire, path: str) -> tuple[str, str]:
        """The id and the caller's own name of a call.

        Raises: DecodeError for a call without a name.
        """
        if not call.name:
            raise DecodeError("a function call must have a name", path="/functionCall/name")
        call_id, code = self.ids.assign(call.id)
        if code is not None:
            self.changes.add(code, f"{path}/id")
        return call_id, self.undo.names.get(call.name, call.name)


def _is_opaque(wire: PartWire) -> bool:
    return not (wire.executableCode is wire.codeExecutionResult is wire.toolCall is wire.toolResponse is None)


def opaque(wire: PartWire) -> OpaquePart:
    """A part that goes back as it came, its signature inside."""
    raw = plain(wire)
    if wire.fileData is not None:
        return OpaquePart(NAME, "media_ref", raw)
    return OpaquePart(NAME, next((name for name in raw if name not in ("thoughtSignature", "thought")), "part"), raw)


def beside(wire: PartWire) -> dict[str, dict[str, Any]]:
    """The members of a part without a field."""
    extra: dict[str, Any] = dict(wire.extra) if wire.extra else {}
    if wire.mediaResolution is not None:
        extra["mediaResolution"] = wire.mediaResolution
    return {NAME: extra} if extra else {}


def call_extra(wire: PartWire, call: CallWire) -> dict[str, dict[str, Any]]:
    """The members of a call without a field, those of the part around it among them."""
    if call.id is wire.extra is call.extra is None and not wire.thought:
        return {}
    is_made = call.id is not None and is_made_id(call.id)
    extra: dict[str, Any] = dict(wire.extra) if wire.extra else {}
    if wire.thought:
        extra["thought"] = True
    if call.extra:
        extra["functionCall"] = dict(call.extra)
    if is_made:
        extra.setdefault("functionCall", {})["id"] = call.id
    return {NAME: extra} if extra else {}


def arguments_text(call: CallWire) -> str:
    """The text of the arguments, on one line, as a frame of a stream needs it; a call without any takes none."""
    if isinstance(call.args, UnsetType):
        return "{}"
    text = str(call.args, "utf-8")
    if "\n" in text or "\r" in text:
        text = _on_one_line(text)
    return "{}" if text == "null" else bare_numbers(text) if MARK in text else text


def text_arguments(text: str, changes: Changes, path: str) -> str:
    """The text of arguments that are a JSON string, as other dialects have them."""
    changes.add("foreign_shape", f"{path}/arguments_json", "arguments as a string where an object belongs")
    return _on_one_line(raw_text(text.encode()))


def _on_one_line(text: str) -> str:
    """A JSON text without line ends between its tokens."""
    return _BREAK.sub(_unbroken, text)


def _unbroken(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else ""


def decode_media(wire: PartWire, blob: BlobWire, sealed: Sealed | None) -> Part:
    """Bytes as the part that their type makes them.

    Raises: DecodeError for broken base64.
    """
    media_type = media_type_of((blob.mimeType or "application/octet-stream").lower())
    data = text_data(blob.data, "/inlineData/data")
    members: dict[str, Any] = dict(wire.extra) if wire.extra else {}
    named = {"displayName": blob.displayName} if blob.displayName else {}
    rest = {**(blob.extra or {}), **({"mimeType": None} if blob.mimeType is None else {})}
    if wire.thought:
        members["thought"] = True
    if media_type.startswith("image/"):
        level = (wire.mediaResolution or {}).get("level")
        detail = DETAILS.get(level) if isinstance(level, str) else None
        return ImagePart(data, media_type, detail, None, sealed, _extra(members, wire, {**rest, **named}, detail))
    if sealed is not None:
        members["thoughtSignature"] = wire.thoughtSignature
    if media_type.startswith("audio/"):
        words = _transcript_in(members)
        return AudioPart(data, media_type, words, extra=_extra(members, wire, {**rest, **named}))
    return DocumentPart(data, media_type, blob.displayName, extra=_extra(members, wire, rest))


def _transcript_in(members: dict[str, Any]) -> str | None:
    """The transcript among the members of a part, taken out of them; what else is said of it stays."""
    transcript: object = members.get(TRANSCRIPT)
    if not is_object(transcript) or not isinstance(transcript.get("text"), str):
        return None
    rest = {name: value for name, value in transcript.items() if name != "text"}
    del members[TRANSCRIPT]
    if rest:
        members[TRANSCRIPT] = rest
    return transcript["text"] or None


def _extra(
    members: dict[str, Any], wire: PartWire, blob: dict[str, Any], detail: str | None = None
) -> dict[str, dict[str, Any]]:
    if blob:
        members["inlineData"] = blob
    if wire.mediaResolution is not None and (detail is None or len(wire.mediaResolution) > 1):
        members["mediaResolution"] = wire.mediaResolution
    return {NAME: members} if members else {}


def result_content(wire: ResultWire) -> tuple[Any, bool]:
    """The value of a result, without its media, and whether it is an error."""
    response = wire.response
    if not is_object(response):
        return ("" if response is None else _text_or_json(response)), False
    if len(response) == 1 and "output" in response:
        output = response["output"]
        return output if type(output) is str else Json(output), False
    failed = response.get("error") is not None and "output" not in response
    return _text_or_json(response["error"] if failed and len(response) == 1 else response), failed


def _text_or_json(value: Any) -> Any:
    return value if isinstance(value, str) else Json(value)


# Writing


def blob_wire(part: ImagePart | AudioPart | DocumentPart) -> PartWire:
    """A part with bytes on the wire."""
    media_type = media_type_of(part.media_type)
    blob = BlobWire(mimeType=OWN_NAMES.get(media_type, media_type), data=part.base64)
    wire = PartWire(inlineData=blob)
    if isinstance(part, DocumentPart):
        blob.displayName = part.name
    level = RESOLUTIONS.get(told_detail(part.detail) or "") if isinstance(part, ImagePart) else None
    if level is not None:
        wire.mediaResolution = {"level": level}
    extra = part.extra.get(NAME)
    if extra:
        merge_members(wire, extra)
    return wire
