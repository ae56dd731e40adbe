"""Parts of messages and answers, both ways, for both roles.

Rules
- Most parts are written as they are: the contract and the wire have the same members. Only calls (arguments are an
  object), results (`tool_call_id`) and broken calls have a shape of their own.
- Members that we do not know are read in answers alone; they are kept under the dialect's own name and written back
  beside the others.
- A result's `content` is a text or any JSON value; parts stand in `parts`. A JSON text, which `content` would read as
  text, is the one part of its kind there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import Raw

from interlingua.dialects.unified.wire import (
    AudioWire,
    BrokenToolCallWire,
    CallWire,
    DocumentWire,
    ImageWire,
    JsonWire,
    OpaqueWire,
    RefusalWire,
    SealedWire,
    ServerToolWire,
    TextWire,
    ThinkingWire,
    ToolCallWire,
    ToolResultWire,
)
from interlingua.errors import DecodeError
from interlingua.stream.calls import make_call
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    RefusalPart,
    Sealed,
    ServerToolPart,
    Source,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.wire.arguments import are_sound
from interlingua.wire.json import decode, encode_wire, raw
from interlingua.wire.media import media_type_of, text_data

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from interlingua.dialects.unified.wire import PartWire, ResultPartWire
    from interlingua.types.content import Part
    from interlingua.wire.json import TextSlots

__all__ = [
    "NAME",
    "calls_view",
    "decode_part",
    "decode_seal",
    "encode_call",
    "encode_parts",
    "extra_of",
    "is_bare",
    "own_members",
    "split_extra",
    "with_members",
]  # fmt: skip

NAME = "unified"
_NO_MEMBERS: dict[str, Any] = {}


# Members without a field


def extra_of(members: dict[str, dict[str, Any]], unknown: Mapping[str, object] | None) -> dict[str, dict[str, Any]]:
    """Canonical `extra`: that of the wire, and the unknown members of the object itself under our own name.

    Raises: DecodeError for members that claim to be ours and stand where those of others belong.
    """
    if NAME in members:
        raise DecodeError(f"extra.{NAME}: members of this dialect stand beside the others, not under extra")
    return {**members, NAME: dict(unknown)} if unknown else members


def own_members(extra: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The members that stand beside the others."""
    return extra.get(NAME, _NO_MEMBERS)


def split_extra(extra: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The values under `extra` on the wire."""
    return {name: members for name, members in extra.items() if name != NAME} if NAME in extra else extra


def with_members(value: msgspec.Struct, members: Mapping[str, Any], slots: TextSlots | None = None) -> dict[str, Raw]:
    """A wire object as its members, with further ones beside them; those that it has itself stay."""
    own = decode(encode_wire(value, slots=slots), dict[str, Raw])
    return {**own, **{name: raw(member) for name, member in members.items() if name not in own}}


# Reading


def decode_seal(wire: SealedWire | None) -> Sealed | None:
    """Sealed state."""
    return None if wire is None else Sealed(wire.dialect, wire.data, wire.provider, wire.model)


def decode_part(wire: PartWire) -> Part:
    """The part, a call with the id and the name that it has on the wire."""
    return _DECODERS[type(wire)](wire)


def _text(wire: TextWire) -> TextPart:
    if not (wire.annotations or wire.sealed or wire.members or wire.extra):
        return TextPart(wire.text, (), wire.cache)
    citations = [
        Citation(one.dialect, one.raw, one.url, one.title, one.file, one.quote, one.start, one.end)
        for one in wire.annotations
    ]
    return TextPart(
        wire.text, tuple(citations), wire.cache, decode_seal(wire.sealed), extra_of(wire.members, wire.extra)
    )


def _image(wire: ImageWire) -> ImagePart:
    extra = extra_of(wire.members, wire.extra)
    return ImagePart(
        text_data(wire.data, "/data"),
        media_type_of(wire.media_type),
        wire.detail,
        wire.cache,
        decode_seal(wire.sealed),
        extra,
    )


def _audio(wire: AudioWire) -> AudioPart:
    return AudioPart(
        text_data(wire.data, "/data"),
        media_type_of(wire.media_type),
        wire.transcript,
        wire.cache,
        extra_of(wire.members, wire.extra),
    )


def _document(wire: DocumentWire) -> DocumentPart:
    return DocumentPart(
        text_data(wire.data, "/data"),
        media_type_of(wire.media_type),
        wire.name,
        wire.cache,
        extra_of(wire.members, wire.extra),
    )


def _thinking(wire: ThinkingWire) -> ThinkingPart:
    return ThinkingPart(wire.text, decode_seal(wire.sealed), extra_of(wire.members, wire.extra))


def _refusal(wire: RefusalWire) -> RefusalPart:
    return RefusalPart(wire.text, extra_of(wire.members, wire.extra))


def _call(wire: ToolCallWire) -> ToolCall | BrokenToolCall:
    text, sealed, extra = str(wire.arguments, "utf-8"), decode_seal(wire.sealed), extra_of(wire.members, wire.extra)
    if are_sound(text):
        return ToolCall(wire.id, wire.name, text, wire.freeform, sealed, extra)
    return make_call(wire.id, wire.name, text, freeform=wire.freeform, sealed=sealed, extra=extra)


def _broken(wire: BrokenToolCallWire) -> BrokenToolCall:
    extra = extra_of(wire.members, wire.extra)
    return BrokenToolCall(wire.id, wire.name, wire.raw_arguments, wire.reason, wire.freeform, extra)


def _server_tool(wire: ServerToolWire) -> ServerToolPart:
    return ServerToolPart(
        wire.dialect,
        wire.kind,
        wire.raw,
        wire.name,
        wire.call_id,
        wire.input,
        wire.output,
        tuple([Source(one.url, one.title, one.file) for one in wire.sources]),
        wire.status,
        wire.provider,
        wire.cache,
    )


def _opaque(wire: OpaqueWire) -> OpaquePart:
    return OpaquePart(wire.dialect, wire.kind, wire.raw, wire.cache)


def _result(wire: ToolResultWire) -> ToolResult:
    extra = extra_of(wire.members, wire.extra)
    return ToolResult(wire.tool_call_id, wire.name or "", _content(wire), wire.is_error, wire.cache, extra)


def _content(wire: ToolResultWire) -> str | Json | tuple[Any, ...]:
    if wire.parts is None:
        content: object = wire.content
        return "" if content is msgspec.UNSET else content if isinstance(content, str) else Json(content)
    if wire.content is not msgspec.UNSET:
        raise DecodeError("a result has content or parts, not both", path="/content")
    match wire.parts:
        case [JsonWire(value=str(text))]:
            return Json(text)
        case parts:
            inner: list[Any] = []
            for place, part in enumerate(parts):
                try:
                    inner.append(Json(part.value) if isinstance(part, JsonWire) else decode_part(part))
                except DecodeError as error:
                    raise error.under(f"/parts/{place}") from None
            return tuple(inner)


_DECODERS: dict[type, Callable[[Any], Part]] = {
    TextWire: _text,
    ImageWire: _image,
    AudioWire: _audio,
    DocumentWire: _document,
    ThinkingWire: _thinking,
    RefusalWire: _refusal,
    ToolCallWire: _call,
    BrokenToolCallWire: _broken,
    ToolResultWire: _result,
    ServerToolWire: _server_tool,
    OpaqueWire: _opaque,
}


# Writing


def encode_parts(parts: Sequence[Part], names: Mapping[str, str], called: Mapping[str, str]) -> list[PartWire]:
    """The parts as they are written; `names` maps tool names, `called` is what is known of the calls so far."""
    return [cast("PartWire", _encoded(part, names, called)) for part in parts]


def _encoded(part: Part, names: Mapping[str, str], called: Mapping[str, str]) -> object:
    """A wire object, or a canonical part that is written as it is."""
    if type(part) is ToolCall:
        return encode_call(part, names)
    if type(part) is ToolResult:
        wire = ToolResultWire(part.call_id, is_error=part.is_error, cache=part.cache)
        if part.name and called.get(part.call_id) != part.name:
            wire.name = names.get(part.name, part.name)
        match part.content:
            case str(text):
                wire.content = text
            case Json(value=str()) as value:
                wire.parts = _result_parts((value,))
            case Json(value=value):
                wire.content = value
            case parts:
                wire.parts = _result_parts(parts)
        if not part.extra:
            return wire
        wire.members = split_extra(part.extra)
        return with_members(wire, part.extra[NAME]) if NAME in part.extra else wire
    if isinstance(part, ServerToolPart | OpaquePart) or NAME not in part.extra:
        return part
    return with_members(msgspec.structs.replace(part, extra=split_extra(part.extra)), part.extra[NAME])


def is_bare(part: Part) -> bool:
    """Whether a part is a text, a call or a result that is a text, and there is nothing beside it."""
    if type(part) is TextPart:
        return not (part.annotations or part.sealed or part.extra)
    if type(part) is ToolCall:
        return part.sealed is None and not part.extra
    return type(part) is ToolResult and type(part.content) is str and not part.extra


def encode_call(call: ToolCall, names: Mapping[str, str] = _NO_MEMBERS) -> ToolCallWire:
    """A call; members of our own are put beside the others."""
    wire = ToolCallWire(call.id, names.get(call.name, call.name), Raw(call.arguments_json), call.freeform)
    wire.sealed = cast("SealedWire | None", call.sealed)  # the same members
    if call.extra:
        wire.members = split_extra(call.extra)
        if NAME in call.extra:
            return cast("ToolCallWire", with_members(wire, call.extra[NAME]))
    return wire


def _result_parts(parts: Sequence[Any]) -> list[ResultPartWire]:
    encoded = [part if isinstance(part, Json) else _encoded(part, _NO_MEMBERS, _NO_MEMBERS) for part in parts]
    return cast("list[ResultPartWire]", encoded)


def calls_view(parts: Sequence[Part]) -> list[CallWire]:
    """The whole calls among the parts."""
    return [CallWire(part.id, part.name, Raw(part.arguments_json)) for part in parts if type(part) is ToolCall]
