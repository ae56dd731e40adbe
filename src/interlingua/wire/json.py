"""JSON, read and written: the only module that does it (besides `schema/`).

msgspec does the work. By itself it keeps the last of duplicate keys, drops unknown members without a trace, writes NaN
as null, fails on deep input and bad UTF-8 with errors of others, and fails a whole body on one lone surrogate. Hence:

Rules
- Size and depth are bounded before anything is parsed.
- What the peer sent wrongly is a `DecodeError` with the place, or a `LimitExceededError`; nothing else is raised.
- What our caller cannot say in JSON is a `UsageError` with the place: non-finite floats, lone surrogates, other types.
- Wire structs forbid unknown members on the fast path. Only a body that has some is read a second time, as text along
  its types: unknown members move into `extra` of their object, and every `msgspec.Raw` keeps its exact text.

Not responsible for: repairing anything but lone surrogates, and knowing what the members mean.
"""

from __future__ import annotations

import re
from _thread import RLock  # where `threading` has it from, which takes a process 2 ms to load
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar, cast, overload

import msgspec

from interlingua.errors import DecodeError, LimitExceededError, UsageError
from interlingua.wire._depth import is_deeper
from interlingua.wire._kept import KeptTexts
from interlingua.wire._leaves import find_leaf, is_non_finite, is_not_utf8
from interlingua.wire._shape import EXTRA, Choice, Items, Members, Shape, Values, shape_of
from interlingua.wire._surrogates import mend_surrogates

__all__ = [
    "MAX_BODY_BYTES",
    "MAX_DEPTH",
    "MAX_EVENT_BYTES",
    "ExactStruct",
    "Extra",
    "JsonText",
    "JsonValue",
    "KeptTexts",
    "WireStruct",
    "decode",
    "decode_any",
    "decode_received",
    "decode_wire",
    "encode",
    "encode_exact",
    "encode_text",
    "encode_wire",
    "encode_wires",
    "exact_reader",
    "parse_object",
    "pointer",
    "pointer_steps",
    "raw",
    "raw_text",
    "shallow",
]

T = TypeVar("T")
W = TypeVar("W", bound=msgspec.Struct)

JsonValue: TypeAlias = Any
"""A plain JSON value: None, bool, exact int, finite float, str, list, or dict with str keys."""
JsonText: TypeAlias = bytes | bytearray | memoryview | str | msgspec.Raw
"""JSON as it comes: bytes in UTF-8, text, or a part of a body that was kept as text."""

MAX_BODY_BYTES = 64 * 1024 * 1024
"""The largest body that is parsed."""
MAX_EVENT_BYTES = 8 * 1024 * 1024
"""The longest line and the largest event of a stream."""
MAX_DEPTH = 128
"""How deep arrays and objects may nest."""

LONE_SURROGATE = "lone_surrogate"
"""The repair that replaces half of a surrogate pair by U+FFFD."""
WHOLE_NUMBER = "whole_number"
"""The repair that reads `12.0` and `"12"` where a whole number belongs."""

_BOM = b"\xef\xbb\xbf"
_EXTRA_NAME = EXTRA.encode()
_FOREIGN = (msgspec.DecodeError, RecursionError)
"""What the decoder raises; a text that does not fit its type raises a kind of the first."""
_NOT_EXACT = (ValueError, RecursionError)
"""The same, and what bytes or characters raise that are no UTF-8."""
_UNSAID = (*_NOT_EXACT, TypeError)
"""What the encoder raises for what JSON cannot say."""
_UNKNOWN_MEMBER = "Object contains unknown field"
_RESERVED = f"{EXTRA} is our own name"
_NOT_WHOLE = r"expected `(?:int\b|[^`]*\| int\b)[^`]*`, got `(?:float|str)`"
"""What we say of another number, or a text, in the place of a whole number."""
_PLAINER = {"input data was truncated": "it is empty, or ends in the middle"}
"""What msgspec says in words of its own."""
_PLACE = r" - at `(?:key` in `)?\$(?P<path>[^`]*)`$"
_STEP = r"\[(?P<index>\d+)\]|\.(?P<name>[^.\[]+)|\[\.\.\.\]"


class Extra(dict[str, object]):
    """The members of a wire object for which its struct has no field."""


class WireStruct(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """The base of typed wire objects: no member is lost.

    A member that holds free JSON is typed `msgspec.Raw | msgspec.UnsetType = msgspec.UNSET` (`Raw | None` does not
    work: msgspec refuses everything but null there), and its text survives exactly.
    """

    extra: Extra | None = msgspec.field(default=None, name=EXTRA)
    """Members without a field, written back beside the others; a field of the same name wins."""


class ExactStruct(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The base of wire objects of which every member is known, and nothing else is taken (`exact_reader`)."""


@overload
def decode(
    data: JsonText,
    type: type[T],
    *,
    max_bytes: int = ...,
    max_depth: int = ...,
    repairs: list[str] | None = ...,
) -> T: ...


@overload
def decode(
    data: JsonText,
    type: object,
    *,
    max_bytes: int = ...,
    max_depth: int = ...,
    repairs: list[str] | None = ...,
) -> JsonValue: ...


def decode(
    data: JsonText,
    type: object,
    *,
    max_bytes: int = MAX_BODY_BYTES,
    max_depth: int = MAX_DEPTH,
    repairs: list[str] | None = None,
) -> object:
    """The value of type `type` that the JSON in `data` holds.

    `repairs` takes the names of repairs made (`lone_surrogate`); without it nothing is repaired.
    Raises: DecodeError, with the first bad place; LimitExceededError, beyond `max_bytes` or `max_depth`.
    """
    return _parse(_decoder(type), _bounded(data, max_bytes, max_depth), repairs)


def decode_any(
    data: JsonText,
    *,
    max_bytes: int = MAX_BODY_BYTES,
    max_depth: int = MAX_DEPTH,
    repairs: list[str] | None = None,
) -> JsonValue:
    """The plain value that the JSON in `data` holds: None, bool, exact int, finite float, str, list, dict.

    Raises: as `decode`.
    """
    body = _bounded(data, max_bytes, max_depth)
    try:
        return _ANYTHING.decode(body)
    except _FOREIGN as error:
        return _read_again(error, _ANYTHING, body, repairs)


def decode_wire(
    data: JsonText,
    type: type[W],
    *,
    max_bytes: int = MAX_BODY_BYTES,
    max_depth: int = MAX_DEPTH,
    repairs: list[str] | None = None,
    lenient: bool = False,
) -> W:
    """The wire struct that the JSON object in `data` is; members without a field are in `extra` of their object.

    `lenient` repairs whole numbers that were written as others, too, as servers in Lua and Go write counts.
    Raises: as `decode`.
    """
    body = _bounded(data, max_bytes, max_depth)
    try:
        return cast("W", _parse(_strict_decoder(type), body, repairs, type))
    except DecodeError as error:
        if repairs is None or not lenient or not re.match(_NOT_WHOLE, error.message):
            raise
    value = cast("W", _parse(_strict_decoder(type, strict=False), body, repairs, type))
    repairs.append(WHOLE_NUMBER)
    return value


def shallow(levels: int) -> object:
    """The type of free JSON in which arrays and objects nest no deeper than so; it doubles with each level."""
    kind: Any = str | int | float | bool | None
    for _ in range(levels):
        kind = str | int | float | bool | None | list[kind] | dict[str, kind]
    return kind


def exact_reader(type: type[T]) -> Callable[[bytes], T | None]:
    """Reads JSON that is exactly of a type, and gives None for any other, whatever its fault.

    A type that has free JSON in it says how deep that is (`shallow`): no other bound is kept.
    """
    decode: Callable[[bytes], T] | None = None

    def read(body: bytes) -> T | None:
        nonlocal decode
        if len(body) > MAX_BODY_BYTES:
            return None
        decode = decode or _decoder(type).decode
        try:
            return decode(body)
        except _NOT_EXACT:
            return None

    return read


def decode_received(data: JsonText, type: type[W], later: Sequence[str], *, repairs: list[str] | None = None) -> W:
    """The wire struct that the JSON object in `data` is, with the members `later` as text, whose depth is not bounded.

    Whoever reads that text bounds it; most bodies hold nothing else that could be deep.
    Raises: as `decode`.
    """
    body = _bounded(data, MAX_BODY_BYTES, MAX_BODY_BYTES)
    try:
        wire = _strict_decoder(type).decode(body)
    except _FOREIGN:
        return decode_wire(body, type, repairs=repairs)
    rest = len(body)
    for name in later:
        text = getattr(wire, name)
        if text is not msgspec.UNSET:
            rest -= len(memoryview(text))
    if rest > 2 * MAX_DEPTH and is_deeper(body, MAX_DEPTH):
        raise _too_deep(MAX_DEPTH)
    return wire


def encode(value: object, *, sort_keys: bool = False, nulls: int = 0) -> bytes:
    """`value` as compact JSON in UTF-8: exact integers, `msgspec.Raw` verbatim, members in their own order.

    msgspec writes a non-finite number as null, so they are looked for where there are more nulls than `nulls`, the
    count of those that the caller knows to be meant.
    Raises: UsageError, with the place, for what JSON cannot say.
    """
    body = _dump(value, _SORTED if sort_keys else _ENCODER)
    if _holds_more_nulls(body, nulls):
        _refuse_non_finite(value)
    return body


def encode_exact(value: object) -> bytes | None:
    """`value`, which holds no floats, as compact JSON; None where `encode` would refuse it."""
    try:
        return _ENCODER.encode(value)
    except _UNSAID:
        return None


def encode_wire(value: msgspec.Struct, *, nulls: int = 0, kept: KeptTexts | None = None) -> bytes:
    """The JSON object that a wire struct is, with the members in `extra` back in their places; `nulls` as in `encode`.

    Raises: as `encode`.
    """
    body = _dump(value, _ENCODER)
    if _holds_more_nulls(body, nulls):
        _refuse_non_finite(value)
    has_extra = _EXTRA_NAME in body
    if kept is not None:
        body = kept.fill(body, is_final=not has_extra)
    if not has_extra:
        return body
    return _dump(_along(body, shape_of(type(value)), _SPREAD, None), _ENCODER)


def encode_wires(values: Sequence[W], nulls: Callable[[W], int] = lambda _: 0) -> bytes:
    """Wire structs as the elements of an array, without its brackets; `nulls` says how many of one are meant.

    Raises: as `encode`.
    """
    try:
        body = _ENCODER.encode(values)
    except (UnicodeEncodeError, TypeError, RecursionError):
        body = _EXTRA_NAME  # one by one, the place in the error is right
    if _EXTRA_NAME in body or b"null" in body:
        return b",".join([encode_wire(value, nulls=nulls(value)) for value in values])
    return body[1:-1]


def raw(value: object) -> msgspec.Raw:
    """`value` as JSON text that is written as it is.

    Raises: as `encode`.
    """
    return msgspec.Raw(encode(value))


def encode_text(text: str) -> bytes:
    """`text` as a JSON string: what `encode` gives, without its checks for other values.

    Raises: UsageError for half of a surrogate pair.
    """
    try:
        return _ENCODER.encode(text)
    except UnicodeEncodeError:
        return _dump(text, _ENCODER)


def raw_text(raw: msgspec.Raw | bytes) -> str:
    """The string that a part of a parsed body, or other text without doubtful bytes, is.

    Raises: DecodeError when it is something else.
    """
    try:
        return read_text(raw)
    except msgspec.DecodeError as error:
        raise _decode_error(error) from None


def pointer(*steps: str | int) -> str:
    """The RFC 6901 pointer that leads down these member names and indices."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def pointer_steps(pointer: str) -> list[str]:
    """The member names and indices that a pointer, or a local reference (`#/…`), leads down."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.removeprefix("#").split("/")[1:]]


# Reading


def _bounded(data: JsonText, max_bytes: int, max_depth: int) -> bytes:
    """`data` as bytes of UTF-8 within the bounds, without a byte order mark."""
    body = data if type(data) is bytes else _as_bytes(data, max_bytes)
    size = len(body)
    if size > max_bytes:
        raise _too_large(max_bytes)
    if not body.isascii():
        body = body.removeprefix(_BOM)
        _check_utf8(body)
    if size > 2 * max_depth and is_deeper(body, max_depth):
        raise _too_deep(max_depth)
    return body


def _too_deep(max_depth: int) -> LimitExceededError:
    return LimitExceededError(f"the JSON text nests deeper than {max_depth} levels")


def _as_bytes(data: JsonText, max_bytes: int) -> bytes:
    """The bytes of another kind of text; one that is too large is not copied first."""
    if isinstance(data, str):
        if len(data) > max_bytes:
            raise _too_large(max_bytes)
        return _utf8(data)
    if len(memoryview(data) if isinstance(data, msgspec.Raw) else data) > max_bytes:
        raise _too_large(max_bytes)
    return bytes(data)


def _too_large(max_bytes: int) -> LimitExceededError:
    return LimitExceededError(f"the JSON text is larger than {max_bytes:,} bytes")


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DecodeError(f"the JSON text holds half of a surrogate pair at character {error.start}") from None


def _check_utf8(body: bytes) -> None:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(f"the JSON text is not UTF-8 at byte {error.start}") from None


def _parse(
    decoder: msgspec.json.Decoder[Any], body: bytes, repairs: list[str] | None, unknown_in: type | None = None
) -> JsonValue:
    """The decoder's value, with every foreign exception mapped and lone surrogates mended where that is asked for."""
    try:
        return decoder.decode(body)
    except _FOREIGN as error:
        return _read_again(error, decoder, body, repairs, unknown_in)


def _read_again(
    error: msgspec.DecodeError | RecursionError,
    decoder: msgspec.json.Decoder[Any],
    body: bytes,
    repairs: list[str] | None,
    unknown_in: type | None = None,
) -> JsonValue:
    """The value of a text that failed so: lone surrogates mended, the members that are unknown in a type put aside."""
    if isinstance(error, RecursionError):
        raise LimitExceededError("the JSON text nests deeper than the interpreter allows") from None
    if isinstance(error, msgspec.ValidationError):
        if unknown_in is None or not str(error).startswith((_UNKNOWN_MEMBER, _RESERVED)):
            raise _decode_error(error) from None
        tree = _along(body.strip(), shape_of(unknown_in), _COLLECT, repairs)
        return _parse(
            _strict_decoder(unknown_in, _accept_extra, strict=decoder.strict), msgspec.json.encode(tree), repairs
        )
    mended = None if repairs is None else mend_surrogates(body)
    if repairs is None or mended is None:
        raise _decode_error(error) from None
    repairs.append(LONE_SURROGATE)
    try:
        return decoder.decode(mended)
    except _FOREIGN as second:
        return _read_again(second, decoder, mended, None, unknown_in)


def _decode_error(error: msgspec.DecodeError) -> DecodeError:
    """Our error for one of msgspec's, its path turned into a pointer as far as it is known."""
    sentence = str(error)
    if not isinstance(error, msgspec.ValidationError):
        told = sentence.removeprefix("JSON is malformed: ").lower()
        return DecodeError(f"the text is not JSON: {_PLAINER.get(told, told)}")
    place = re.search(_PLACE, sentence)
    steps: list[str] = []
    for step in re.finditer(_STEP, place["path"] if place else ""):
        name = step["index"] or step["name"]
        if name is None or name == EXTRA:
            break
        steps.append(name)
    path = pointer(*steps)
    problem = sentence[: place.start()] if place else sentence
    return DecodeError(f"{problem[:1].lower()}{problem[1:]}, at {path or 'the top'}", path=path)


def _refuse_reserved(type: type, value: object) -> object:
    del type, value
    raise ValueError(_RESERVED)


def _accept_extra(type: type, value: object) -> object:
    del type
    return Extra(cast("dict[str, object]", value))


_one_at_a_time = RLock()
"""Held while a decoder is made: of a struct that another thread is still taking in, msgspec 0.22 sees half, and to use
that half ends the process."""


@lru_cache(maxsize=512)
def _decoder(type: object) -> msgspec.json.Decoder[Any]:
    with _one_at_a_time:
        return msgspec.json.Decoder(cast("Any", type))


@lru_cache(maxsize=512)
def _strict_decoder(
    type: object, hook: Callable[[type, object], object] = _refuse_reserved, *, strict: bool = True
) -> msgspec.json.Decoder[Any]:
    """Refuses unknown members, and the name under which we keep them: nobody outside may fill `extra` directly."""
    with _one_at_a_time:
        return msgspec.json.Decoder(cast("Any", type), dec_hook=hook, strict=strict)


_ANYTHING = msgspec.json.Decoder()
parse_object: Callable[[str], dict[str, Any]] = msgspec.json.Decoder(dict[str, Any]).decode
"""The parser itself, for texts that are bounded already; raises ValueError and RecursionError for what is no object."""
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])

# Unknown members: a text is taken apart along the shape of its type, as far as needed, and put together again


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
        items = _parse(_ITEMS, text, repairs)
        return [_along(bytes(item), shape.item, turn, repairs) for item in items]
    if opener == b"{" and isinstance(shape, Values):
        members = cast("dict[str, msgspec.Raw]", _parse(_MEMBERS, text, repairs))
        return {name: _along(bytes(member), shape.value, turn, repairs) for name, member in members.items()}
    if opener == b"{" and isinstance(shape, Members) and not turn.is_settled(text, shape.kind):
        return _along_members(text, shape, turn, repairs)
    return msgspec.Raw(text)


def _along_members(text: bytes, shape: Members, turn: _Turn, repairs: list[str] | None) -> dict[str, object]:
    members = cast("dict[str, Any]", _parse(_MEMBERS, text, repairs))
    for name in shape.children.keys() & members.keys():
        child, kind = shape.children[name]
        below = bytes(members[name])
        if not turn.is_settled(below, kind):
            members[name] = _along(below, child, turn, repairs)
    if shape.keeps_extra:
        turn.move(members, shape.known)
    return members


def _chosen(text: bytes, opener: bytes, choice: Choice, repairs: list[str] | None) -> Shape | None:
    if opener == b"[":
        return choice.array
    if opener != b"{" or choice.tag_field is None:
        return choice.object
    tag = _parse(_MEMBERS, text, repairs).get(choice.tag_field)
    if tag is None:
        return None
    value = _parse(_ANYTHING, bytes(tag), repairs)
    return choice.tagged.get(value) if isinstance(value, str | int) else None


def _decodes(text: bytes, kind: object) -> bool:
    """Whether a text of this type has no unknown member (nor any other fault, which the last decoding will name)."""
    try:
        _strict_decoder(kind).decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _collect(members: dict[str, object], known: frozenset[str]) -> None:
    """Move members without a field into `extra`."""
    unknown = {name: members.pop(name) for name in list(members) if name not in known}
    if unknown:
        members[EXTRA] = unknown


def _is_spread(text: bytes, kind: object) -> bool:
    """Whether no `extra` lies in the text."""
    del kind
    return _EXTRA_NAME not in text


def _spread(members: dict[str, object], known: frozenset[str]) -> None:
    """Move the members of `extra` beside the others."""
    del known
    extra = members.pop(EXTRA, None)
    if extra is None:
        return
    for name, member in _parse(_MEMBERS, bytes(cast("msgspec.Raw", extra)), None).items():
        members.setdefault(name, member)


_COLLECT = _Turn(_decodes, _collect)
_SPREAD = _Turn(_is_spread, _spread)


read_text: Callable[[bytes | str], str] = msgspec.json.Decoder(str).decode
"""The string that a text without doubtful bytes is; msgspec's own error for anything else."""

# Writing

_NULLS = re.compile(b"null").findall
_ENCODER = msgspec.json.Encoder()
write_text: Callable[[object], bytes] = _ENCODER.encode
"""`encode_text` for who knows what to do about half of a surrogate pair, a UnicodeEncodeError."""
_SORTED = msgspec.json.Encoder(order="sorted")


def _dump(value: object, encoder: msgspec.json.Encoder) -> bytes:
    try:
        return encoder.encode(value)
    except UnicodeEncodeError:
        place = pointer(*(find_leaf(value, is_not_utf8) or ())) or "the top"
        raise UsageError(f"the text at {place} holds half of a surrogate pair, which UTF-8 cannot say") from None
    except TypeError as error:
        raise UsageError(f"the value is not JSON: {error}") from None
    except RecursionError:
        raise LimitExceededError("the value nests deeper than the interpreter allows, or contains itself") from None


def _holds_more_nulls(body: bytes, nulls: int) -> bool:
    """Whether more nulls than these are in a text; in one of 6.5 kB this finds them in 2.0 µs, `bytes.count` in 3.7."""
    return len(body) > 4 * nulls and len(_NULLS(body)) > nulls


def _refuse_non_finite(value: object) -> None:
    place = find_leaf(value, is_non_finite)
    if place is not None:
        raise UsageError(f"the number at {pointer(*place) or 'the top'} is not finite, which JSON cannot say")
