"""The assistant's turn, both ways: one mapping for a history, a whole reply, and what a stream adds up to.

Rules
- The wire has one place for each kind, so the order is: thinking, content, refusal, audio, images, calls.
- Reasoning is read under every known name and written back under the name that was read.
- What the wire says twice under two names is kept once as a part, and once as a member.
Loss: text after a call is told before it (`order_changed`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw

from interlingua.dialects._members import merge_members
from interlingua.dialects._seals import seal_fits
from interlingua.dialects.openai_chat.parts import NAME, decode_content, encode_content, thinking_chunk
from interlingua.dialects.openai_chat.wire import (
    AudioWire,
    CustomWire,
    FunctionCallWire,
    MessageWire,
    PartWire,
    ToolCallWire,
)
from interlingua.errors import DecodeError
from interlingua.stream.calls import is_empty_arguments, make_call
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.wire.json import decode, decode_any, encode, pointer
from interlingua.wire.media import audio_type, data_url, from_base64, to_base64

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from msgspec import UnsetType

    from interlingua.dialects._contract import Target, Undo
    from interlingua.stream.calls import CallIdSource
    from interlingua.types.change import Changes
    from interlingua.types.content import Part

__all__ = [
    "REASONING_FIELDS",
    "AssistantEncoder",
    "arguments_text",
    "call_members",
    "clean_name",
    "decode_assistant",
    "encode_call",
    "freeform_arguments",
    "freeform_input",
    "reasoning_text",
]

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where servers put readable reasoning."""


# Reading


def decode_assistant(
    message: MessageWire, ids: CallIdSource, target: Target, undo: Undo, changes: Changes, path: str, *, cut_off: bool
) -> list[Part]:
    """The parts of an assistant message; `cut_off` says that the length limit ended it."""
    parts: list[Part] = [*_thinking(message, target), *decode_content(message.content, f"{path}/content")]
    _annotate(parts, message)
    if isinstance(message.refusal, str) and message.refusal:
        parts.append(RefusalPart(message.refusal))
    parts.extend(_spoken(message, path))
    for image in message.images or ():
        parts.extend(decode_content([image], f"{path}/images"))
    calls = message.tool_calls or []
    if message.function_call is not None and message.function_call.name:
        changes.add("functions_deprecated", pointer("parts", len(parts)))
        calls = [*calls, ToolCallWire(type="function", function=message.function_call)]
    for place, call in enumerate(calls):
        last = place == len(calls) - 1
        where = pointer("parts", len(parts))
        parts.append(_call(call, ids, target, undo, changes, where, cut_off=cut_off and last))
    return parts


def _thinking(message: MessageWire, target: Target) -> list[Part]:
    texts = {name: text for name in REASONING_FIELDS if (text := getattr(message, name))}
    details = message.reasoning_details
    if not texts and not details:
        return []
    field = next(iter(texts), None)
    extra: dict[str, Any] = {"field": field} if field not in (None, REASONING_FIELDS[0]) else {}
    extra.update({name: text for name, text in texts.items() if name != field})
    sealed = (
        Sealed(NAME, {"reasoning_details": details}, target.provider or None, target.model or None) if details else None
    )
    text = texts[field] if field else reasoning_text(details or [])
    if details and field is None:
        extra["field"] = "reasoning_details"
    return [ThinkingPart(text, sealed, {NAME: extra} if extra else {})]


def reasoning_text(details: Sequence[Any]) -> str:
    """The readable text in `reasoning_details`."""
    texts = [detail.get("text") or detail.get("summary") for detail in details if isinstance(detail, dict)]
    return "".join([text for text in texts if isinstance(text, str)])


def _annotate(parts: list[Part], message: MessageWire) -> None:
    """Hang the annotations on the last text; without one they stay members of the message."""
    if not message.annotations:
        return
    for place in reversed(range(len(parts))):
        part = parts[place]
        if isinstance(part, TextPart):
            parts[place] = TextPart(part.text, tuple(message.annotations), part.cache, part.sealed, part.extra)
            message.annotations = None
            return


def _spoken(message: MessageWire, path: str) -> list[Part]:
    audio = message.audio
    if audio is None or not (audio.id or audio.data):
        return []
    if audio.data is None:
        return [OpaquePart(NAME, "media_ref", {"audio": {"id": audio.id, **(audio.extra or {})}})]
    data = from_base64(audio.data, f"{path}/audio/data")
    members = {"id": audio.id, "expires_at": audio.expires_at, **(audio.extra or {})}
    extra = {name: value for name, value in members.items() if value is not None}
    return [AudioPart(data, audio_type(data), audio.transcript, extra={NAME: extra} if extra else {})]


def _call(
    call: ToolCallWire, ids: CallIdSource, target: Target, undo: Undo, changes: Changes, path: str, *, cut_off: bool
) -> Part:
    call_id, code = ids.assign(call.id or (call.function.id if call.function else None))
    if code is not None:
        changes.add(code, f"{path}/id")
    if call.custom is not None and call.custom.name:
        name, text, freeform = call.custom.name or "", freeform_arguments(call.custom.input or ""), True
    else:
        function = call.function or FunctionCallWire()
        name, text = function.name or "", arguments_text(function.arguments, changes, f"{path}/arguments_json")
        freeform = False
    if is_empty_arguments(text) and not cut_off:
        changes.add("arguments_empty", f"{path}/arguments_json")
    if not name:
        raise DecodeError(f"{path}/name: a tool call must have a name", path=f"{path}/name")
    sealed, extra = call_members(call, target)
    name = clean_name(name, undo, changes, f"{path}/name")
    return make_call(call_id, name, text, cut_off=cut_off, freeform=freeform, sealed=sealed, extra=extra)


def call_members(call: ToolCallWire, target: Target) -> tuple[Sealed | None, dict[str, dict[str, Any]]]:
    """The sealed state of a call and its members without a field."""
    sealed = None
    if call.extra_content:
        data = {"extra_content": call.extra_content}
        sealed = Sealed(NAME, data, target.provider or None, target.model or None)
    extra = dict(call.extra or {})
    if call.function is not None and call.function.extra:
        extra["function"] = dict(call.function.extra)
    return sealed, {NAME: extra} if extra else {}


def arguments_text(arguments: Raw | UnsetType, changes: Changes, path: str) -> str:
    """The text of the arguments, whether they came as a string or, wrongly, as an object."""
    if arguments is UNSET:
        return ""
    raw = bytes(arguments)  # type: ignore[arg-type] - UNSET is excluded above
    if raw[:1] == b'"':
        return decode(raw, str)
    if raw == b"null":
        return ""
    changes.add("arguments_object", path)
    return raw.decode()


def clean_name(name: str, undo: Undo, changes: Changes, path: str) -> str:
    """The caller's own name of a called tool; control tokens after a declared name are cut off."""
    own = undo.names.get(name)
    if own is not None:
        return own
    head, marker, _ = name.partition("<|")
    head = undo.names.get(head, head)
    if marker and head in undo.tool_names:
        changes.add("call_name_cleaned", path, f"{name!r} was called")
        return head
    return name


def freeform_arguments(text: str) -> str:
    """The arguments of a freeform call."""
    return encode({"input": text}).decode()


def freeform_input(arguments_json: str) -> str:
    """The text of a freeform call."""
    value = decode_any(arguments_json).get("input")
    return value if isinstance(value, str) else arguments_json


# Writing


class AssistantEncoder:
    """Writes one assistant turn into one message."""

    def __init__(
        self,
        target: Target,
        changes: Changes,
        path: str,
        names: dict[str, str] | None = None,
        ids: dict[str, str] | None = None,
    ) -> None:
        """`names` and `ids` map the caller's own names and ids to those of the wire."""
        self.target = target
        self.names = names or {}
        self.ids = ids or {}
        self.changes = changes
        self.path = path
        self.message = MessageWire(role="assistant")
        self.content: list[Part] = []
        self.chunks: list[PartWire] = []
        self.thinking: list[str] = []
        self.reasoning_field = REASONING_FIELDS[0]

    def encode(self, parts: Sequence[Part], *, reply: bool) -> MessageWire:
        """The message; a `reply` has plain text content, a history may have a list of parts."""
        for place, part in enumerate(parts):
            self._part(part, f"{self.path}/parts/{place}")
        self._finish_thinking()
        self._finish_content(reply=reply)
        return self.message

    def _part(self, part: Part, path: str) -> None:
        match part:
            case TextPart():
                self._text(part, path)
            case RefusalPart(text=text):
                said = self.message.refusal
                self.message.refusal = f"{said}{text}" if isinstance(said, str) else text
            case ThinkingPart():
                self._thinking(part, path)
            case ToolCall() | BrokenToolCall():
                self._call(part, encode_call(part, self.names, self.ids), path)
            case AudioPart():
                self.message.audio = _audio_wire(part)
            case ImagePart(data=data, media_type=media_type):
                image = PartWire(type="image_url", image_url={"url": data_url(data, media_type)})
                self.message.images = [*(self.message.images or []), image]
            case OpaquePart():
                self._opaque(part, path)
            case DocumentPart() | ToolResult():
                self.changes.add(
                    "opaque_part", path, f"an assistant message holds no {type(part).__name__}", action="dropped"
                )

    def _text(self, part: TextPart, path: str) -> None:
        if self.message.tool_calls:
            self.changes.add("order_changed", path, "text after a call is told before it")
        if part.sealed is not None:
            self.changes.add("seal_foreign", f"{path}/sealed")
        self.content.append(part)
        if part.annotations:
            self.message.annotations = [*(self.message.annotations or []), *part.annotations]

    def _thinking(self, part: ThinkingPart, path: str) -> None:
        members = part.extra.get(NAME, {})
        sealed = part.sealed
        if sealed is not None:
            if seal_fits(sealed, NAME, self.target):
                merge_members(self.message, self._joined(sealed.data))
            else:
                self.changes.add("seal_foreign", f"{path}/sealed")
        quirk = self.target.quirks.reasoning_field
        field = members.get("field", REASONING_FIELDS[0]) if quirk == "as_read" else quirk
        if self.target.quirks.reasoning_echo == "never" or field == "none":
            if part.text and sealed is None:
                self.changes.add("thinking_unsupported", path)
        elif field == "thinking_chunks":
            self.chunks.append(thinking_chunk(part))
        elif field in REASONING_FIELDS:
            self.thinking.append(part.text)
            merge_members(self.message, {name: text for name, text in members.items() if name in REASONING_FIELDS})
            self.reasoning_field = field

    def _joined(self, data: dict[str, Any]) -> dict[str, Any]:
        details = [*(self.message.reasoning_details or []), *data.get("reasoning_details", [])]
        return {**data, "reasoning_details": details} if details else data

    def _finish_thinking(self) -> None:
        text = "\n\n".join([text for text in self.thinking if text])
        if text:
            setattr(self.message, self.reasoning_field, text)
        elif self.target.quirks.reasoning_echo == "always" and self.target.quirks.reasoning_field in REASONING_FIELDS:
            setattr(self.message, self.target.quirks.reasoning_field, "")

    def _finish_content(self, *, reply: bool) -> None:
        message = self.message
        if self.chunks:
            texts = encode_content(self.content, self.target.quirks)
            listed = [PartWire(type="text", text=texts)] if isinstance(texts, str) and texts else texts or []
            message.content = [*self.chunks, *listed]  # type: ignore[list-item] - a non-empty string was wrapped above
        elif self.content:
            whole = "".join([part.text for part in self.content if isinstance(part, TextPart)])
            message.content = whole if reply else encode_content(self.content, self.target.quirks)
        elif message.tool_calls and not reply:
            message.content = _EMPTY[self.target.quirks.tool_only_content]
        else:
            message.content = None if reply or isinstance(message.refusal, str) or message.audio else ""

    def _call(self, part: ToolCall | BrokenToolCall, wire: ToolCallWire, path: str) -> None:
        sealed = part.sealed if isinstance(part, ToolCall) else None
        if sealed is not None:
            if seal_fits(sealed, NAME, self.target):
                merge_members(wire, sealed.data)
            else:
                self.changes.add("seal_foreign", f"{path}/sealed")
        self.message.tool_calls = [*(self.message.tool_calls or []), wire]

    def _opaque(self, part: OpaquePart, path: str) -> None:
        if part.dialect == NAME and isinstance(part.raw, dict) and "audio" in part.raw:
            self.message.audio = AudioWire(id=part.raw["audio"].get("id"))
        elif part.dialect == NAME:
            self.content.append(part)
        else:
            self.changes.add("opaque_part", path, f"{part.kind} of {part.dialect}", action="dropped")


_EMPTY: dict[str, Any] = {"null": None, "empty": "", "omit": UNSET}


def encode_call(part: ToolCall | BrokenToolCall, names: dict[str, str], ids: dict[str, str]) -> ToolCallWire:
    """A call on the wire, its arguments a JSON string."""
    text = part.arguments_json if isinstance(part, ToolCall) else part.raw_arguments
    name = names.get(part.name, part.name)
    call_id = ids.get(part.id, part.id)
    if part.freeform and isinstance(part, ToolCall):
        return ToolCallWire(id=call_id, type="custom", custom=CustomWire(name=name, input=freeform_input(text)))
    function = FunctionCallWire(name=name, arguments=Raw(encode(text)))
    wire = ToolCallWire(id=call_id, type="function", function=function)
    extra = part.extra.get(NAME)
    if extra:
        merge_members(wire, extra)
    return wire


def _audio_wire(part: AudioPart) -> AudioWire:
    wire = AudioWire(data=to_base64(part.data), transcript=part.transcript)
    merge_members(wire, part.extra.get(NAME, {}))
    return wire
