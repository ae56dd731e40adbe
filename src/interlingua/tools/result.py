"""The value of a handler, as the content of a tool result.

Text stays text, parts stay parts, and a `Json` is what it holds; anything else is JSON: dataclasses, structs and
pydantic models as objects, dates, UUIDs and decimals as text. Bytes say nothing by themselves: `ImagePart` and its
sisters say what they are.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias, cast

import msgspec

from interlingua.errors import UsageError, kind_of
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, Json, OpaquePart, TextPart
from interlingua.wire.json import decode_any, encode

__all__ = ["ResultContent", "content_of"]

ResultPart: TypeAlias = TextPart | ImagePart | AudioPart | DocumentPart | OpaquePart | Json
"""The parts of a tool result beside text."""
ResultContent: TypeAlias = str | Json | tuple[ResultPart, ...]
"""The content of a tool result."""

_PARTS = (TextPart, ImagePart, AudioPart, DocumentPart, OpaquePart)


def content_of(value: object) -> ResultContent:
    """The value of a handler as the content of its result.

    Raises: UsageError, for what is neither text, nor parts, nor JSON.
    """
    if isinstance(value, str):
        encode(value)
        return str(value)
    if isinstance(value, _PARTS):
        return (value,)
    items: list[object] = list(cast("list[object]", value)) if isinstance(value, list | tuple) else []
    if any(isinstance(item, (*_PARTS, Json)) for item in items):
        return tuple(map(_part, items))
    return _json(cast("object", value))


def _json(value: object) -> Json:
    """`value` as JSON; bytes are refused here, since JSON would show them as base64 that no model can read."""
    own: object = value.value if isinstance(value, Json) else value
    try:
        plain = msgspec.to_builtins(own, str_keys=True, builtin_types=(bytes, bytearray, memoryview), enc_hook=_model)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{kind_of(own)} is not JSON: {error}") from None
    if _holds_bytes(plain):
        raise UsageError("bytes are not JSON; give them as an ImagePart, AudioPart or DocumentPart")
    return Json(decode_any(encode(plain)))


def _part(item: object) -> ResultPart:
    if isinstance(item, _PARTS):
        return item
    if isinstance(item, Json):
        return _json(item)
    if isinstance(item, str):
        return TextPart(item)
    raise UsageError(f"a list of parts holds {kind_of(item)}; give texts and parts, or JSON alone")


def _holds_bytes(plain: object) -> bool:
    if isinstance(plain, dict):
        return any(map(_holds_bytes, cast("dict[str, object]", plain).values()))
    if isinstance(plain, list | tuple | set | frozenset):
        return any(map(_holds_bytes, cast("list[object]", plain)))
    return isinstance(plain, bytes | bytearray | memoryview)


def _model(value: object) -> Any:
    """A pydantic model's own JSON; whoever has one has imported pydantic."""
    base = getattr(sys.modules.get("pydantic"), "BaseModel", None)
    if base is None or not isinstance(value, base):
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return cast("Any", value).model_dump(mode="json", by_alias=True)
