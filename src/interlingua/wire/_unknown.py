"""Members that a wire struct has no field for: moved into `extra` of their object, and written back beside the others.

Strategy: a text is taken apart along the shape of its type (`_shape`), as far as one has to move, and put together
again. Only a text that the decoder of its type refused for such a member is read in this way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, ClassVar, TypeVar, cast

import msgspec

from interlingua.wire._parser import ANYTHING, FOREIGN, Decoder, new_decoder, parse, read_again, refuse
from interlingua.wire._shape import EXTRA, Choice, Items, Members, Shape, Values, shape_of

__all__ = ["EXTRA_NAME", "Extra", "WireStruct", "parse_wire", "spread", "strict_decoder"]

W = TypeVar("W", bound=msgspec.Struct)

EXTRA_NAME = EXTRA.encode()
"""A name that stands in a text that was written while unknown members are still in the `extra` of their object."""
_UNKNOWN_MEMBER = "Object contains unknown field"
_RESERVED = f"{EXTRA} is our own name"
_MEMBERS: Decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS: Decoder = msgspec.json.Decoder(list[msgspec.Raw])


class Extra(dict[str, object]):
    """The members of a wire object for which its struct has no field."""


class WireStruct(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, kw_only=True, gc=False):
    """The base of typed wire objects: no member is lost.

    A member that holds free JSON is typed `msgspec.Raw | msgspec.UnsetType = msgspec.UNSET` (`Raw | None` does not
    work: msgspec refuses everything but null there), and its text survives exactly.
    """

    plain_text: ClassVar[dict[str, str]] = {}
    """The members for which a text in the place of this object stands in an answer, the text in the empty one."""
    extra: Extra | None = msgspec.field(default=None, name=EXTRA)
    """Members without a field, written back beside the others; a field of the same name wins."""


def parse_wire(decoder: Decoder, body: bytes, type: type[W], repairs: list[str] | None) -> W:
    """The wire struct that a text is, read by a strict decoder of its type.

    Raises: as `parse`.
    """
    try:
        return decoder.decode(body)
    except FOREIGN as error:
        return cast("W", read_again(error, decoder, body, repairs, partial(_collected, type, decoder)))


def _collected(
    type: type, decoder: Decoder, error: msgspec.ValidationError, body: bytes, repairs: list[str] | None
) -> object:
    """The wire struct of a text that was refused for an unknown member, with all of those put aside."""
    if not str(error).startswith((_UNKNOWN_MEMBER, _RESERVED)):
        refuse(error, body, repairs)
    tree = _along(body.strip(), shape_of(type), _COLLECT, repairs)
    return parse(_open_decoder(type, strict=decoder.strict), msgspec.json.encode(tree), repairs)


def spread(body: bytes, type: type) -> object:
    """The value to write for a wire struct that was written as `body`: its unknown members beside the others."""
    return _along(body, shape_of(type), _SPREAD, None)


def _refuse_reserved(type: type, value: object) -> object:
    del type, value
    raise ValueError(_RESERVED)


def _accept_extra(type: type, value: object) -> object:
    del type
    return Extra(cast("dict[str, object]", value))


@lru_cache(maxsize=512)
def strict_decoder(type: object, *, strict: bool = True) -> Decoder:
    """Refuses unknown members, and the name under which we keep them: nobody outside may fill `extra` directly."""
    return new_decoder(type, _refuse_reserved, strict=strict)


@lru_cache(maxsize=512)
def _open_decoder(type: object, *, strict: bool) -> Decoder:
    """Takes what we put under that name ourselves."""
    return new_decoder(type, _accept_extra, strict=strict)


class _Turn(msgspec.Struct, frozen=True, eq=False):
    """One direction of moving unknown members."""

    is_settled: Callable[[bytes, object], bool]
    """Whether nothing has to move in a text of this type."""
    move: Callable[[dict[str, object], frozenset[str]], None]
    """Move the unknown members of one object whose struct knows these names."""


def _along(text: bytes, shape: Shape | None, turn: _Turn, repairs: list[str] | None) -> object:
    """`text` as a tree of dicts and lists down to where nothing has to move, its unknown members moved."""
    opener = text[:1]
    if isinstance(shape, Choice):
        shape = _chosen(text, opener, shape, repairs)
    if opener == b"[" and isinstance(shape, Items):
        items = parse(_ITEMS, text, repairs)
        return [_along(bytes(item), shape.item, turn, repairs) for item in items]
    if opener == b"{" and isinstance(shape, Values):
        members = cast("dict[str, msgspec.Raw]", parse(_MEMBERS, text, repairs))
        return {name: _along(bytes(member), shape.value, turn, repairs) for name, member in members.items()}
    if opener != b"{" or not isinstance(shape, Members) or turn.is_settled(text, shape.kind):
        return msgspec.Raw(text)
    members = cast("dict[str, Any]", parse(_MEMBERS, text, repairs))
    for name in shape.children.keys() & members.keys():
        child, kind = shape.children[name]
        below = bytes(members[name])
        if not turn.is_settled(below, kind):
            members[name] = _along(below, child, turn, repairs)
    if shape.keeps_extra:
        turn.move(members, shape.fields)
    return members


def _chosen(text: bytes, opener: bytes, choice: Choice, repairs: list[str] | None) -> Shape | None:
    if opener == b"[":
        return choice.array
    if opener != b"{" or choice.tag_field is None:
        return choice.object
    tag = parse(_MEMBERS, text, repairs).get(choice.tag_field)
    if tag is None:
        return None
    value = parse(ANYTHING, bytes(tag), repairs)
    return choice.tagged.get(value) if isinstance(value, str | int) else None


def _decodes(text: bytes, kind: object) -> bool:
    """Whether a text of this type has no unknown member (nor any other fault, which the last decoding will name)."""
    try:
        strict_decoder(kind).decode(text)
    except FOREIGN:
        return False
    return True


def _collect(members: dict[str, object], declared: frozenset[str]) -> None:
    """Move members without a field into `extra`."""
    unknown = {name: members.pop(name) for name in list(members) if name not in declared}
    if unknown:
        members[EXTRA] = unknown


def _is_spread(text: bytes, kind: object) -> bool:
    """Whether no `extra` lies in the text."""
    del kind
    return EXTRA_NAME not in text


def _spread(members: dict[str, object], declared: frozenset[str]) -> None:
    """Move the members of `extra` beside the others."""
    del declared
    extra = members.pop(EXTRA, None)
    if extra is None:
        return
    for name, member in parse(_MEMBERS, bytes(cast("msgspec.Raw", extra)), None).items():
        members.setdefault(name, member)


_COLLECT = _Turn(_decodes, _collect)
_SPREAD = _Turn(_is_spread, _spread)
