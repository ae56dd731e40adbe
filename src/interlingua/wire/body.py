r"""The body of a request, read once: one JSON object in which every member has one meaning, and edits of its text.

Strategy: the top level is read as names and texts, and walked through to learn where each stands. The value of a member
is decoded and encoded again: a repeated name is dropped by that, and a colon with it; nothing adds one but an escaped
colon, which is counted apart. So equal counts of colons prove that no name repeats at any depth, and the places are
looked for only where the counts differ. A member that has a shape (the usual form of a history, or of tools) is decoded
as that, which has known names alone; where it does not fit, as plain values, of whose objects each name is looked at.

Rules
- A name is compared as it reads, not as it is escaped: `mod\u0065l` is `model`.
- Refused with the place, by the status 400: what is no object, a name that stands twice in an object, a name that
  differs only in case (or only in underscores) from another one of the same object, a top-level name that differs only
  in case from a known one, names and objects beyond the bounds.
- The inside of data members (schemas, arguments, metadata) is free; a name that repeats there is noted, and a body with
  one must not be sent on as it is, since two readers may take two meanings from it.
- Halves of surrogate pairs are replaced by U+FFFD in the text itself, so that what is read is what may be sent on.
- An edit changes the text of the members it names and nothing else: every other byte stays.

**Units.** 9 kB in the usual shapes take about 60 µs, in another form 110 µs; a MB takes at most about 300 ms, in the
worst case, which is many empty objects or lists.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire._bounds import MAX_BODY_BYTES, MAX_DEPTH, bounded
from interlingua.wire._parser import ANYTHING, FOREIGN, decode_error, decoder_of
from interlingua.wire._pointer import pointer
from interlingua.wire._surrogates import mend_surrogates, unmasked
from interlingua.wire._writer import ENCODER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

    from interlingua.wire._parser import Decoder
    from interlingua.wire.json import JsonValue

__all__ = [
    "ANY_BODY",
    "MAX_BIAS_BYTES",
    "MAX_NAME_BYTES",
    "MAX_UNKNOWN_MEMBERS",
    "Body",
    "BodyRules",
    "body_rules",
    "body_with",
    "body_without",
    "edited_body",
    "folded",
    "objects_in",
    "read_body",
    "repeats_a_name",
]

MAX_NAME_BYTES = 256
"""How long the name of a member may be, in UTF-8."""
MAX_UNKNOWN_MEMBERS = 1_000
"""How many members without a known name one object may have."""
MAX_BIAS_BYTES = 32_768
"""How long the text of `logit_bias` may be: some 2,000 tokens. A number such as `1e308` takes 50 µs to be decoded."""
_SHORT_NAME = MAX_NAME_BYTES // 4
"""A name of no more characters is within the bound, whatever they are."""
_LONE_SURROGATE = "lone_surrogate"
_OPEN = re.compile(rb"\s*\{")
_NAME = re.compile(rb'[\s,]*("(?:[^"\\]|\\.)*+")\s*:\s*', re.DOTALL)
_MEMBERS: Decoder = decoder_of(dict[str, msgspec.Raw])
_SCALARS = frozenset({str, int, float, bool, type(None)})


class BodyRules(msgspec.Struct, frozen=True):
    """The rules by which a reader understands bodies of one kind."""

    members: frozenset[str] = frozenset()
    """The member names that the format defines at the top level."""
    data: frozenset[str] = frozenset()
    """The members whose inside is somebody else's: schemas, arguments, metadata."""
    folded: dict[str, str] = {}
    """The known names by what they are without case and underscores."""
    shapes: dict[str, Decoder] = {}
    """Decoders of the usual form of a top-level member: structs of which each member is known, and says if it is
    absent (`UNSET`)."""


def body_rules(
    members: Iterable[str] = (), data: Iterable[str] = (), shapes: Mapping[str, object] | None = None
) -> BodyRules:
    """The rules of a format that defines these names, has these data members, and usual types for some members."""
    names = frozenset(members)
    by_reading = {folded(name): name for name in sorted(names)}
    decoders = {name: decoder_of(shape) for name, shape in (shapes or {}).items()}
    return BodyRules(names, frozenset(data), by_reading, decoders)


ANY_BODY = BodyRules()
"""The rules for a body of which nothing is known: no name is known, nothing is data."""


class Body:
    """One JSON object as it was read. Nobody may change what it holds."""

    __slots__ = (
        "_plain", "is_costly", "members", "objects", "places", "repairs", "repeats_in_data", "rules", "shaped", "text",
    )  # fmt: skip

    def __init__(
        self,
        text: bytes,
        members: dict[str, msgspec.Raw],
        places: list[tuple[int, int]],
        repairs: tuple[str, ...],
    ) -> None:
        """A body whose top level was read."""
        self.text: bytes = text
        """The whole text in UTF-8, as it came but for a byte order mark and halves of surrogate pairs."""
        self.members: dict[str, msgspec.Raw] = members
        """The text of each top-level member, in order, by its decoded name."""
        self.places: list[tuple[int, int]] = places
        """Where the text of each begins and ends."""
        self.repairs: tuple[str, ...] = repairs
        """Repairs of the text: `lone_surrogate`."""
        self.repeats_in_data: bool = False
        """Whether a name stands twice in an object inside data: such a text means two things to two readers."""
        self.shaped: dict[str, Any] = {}
        """The members that have their usual shape, as its structs."""
        self.objects: dict[str, list[dict[str, Any]]] = {}
        """The objects in members without their usual shape, the inside of data by `rules` aside."""
        self.rules: BodyRules | None = None
        """The rules that it was read by; None for a costly body, whose objects are gathered where somebody asks."""
        self.is_costly: bool = False
        """Whether it was read in another process, since that takes long."""
        self._plain: dict[str, Any] = {}

    def __contains__(self, name: str) -> bool:
        """Whether there is a member of that name."""
        return name in self.members

    def get(self, name: str) -> JsonValue:
        """The plain value of a member; None where there is none."""
        plain = self._plain
        if name not in plain:
            raw = self.members.get(name)
            if raw is None:
                return None
            plain[name] = ANYTHING.decode(raw)
        return plain[name]

    @property
    def value(self) -> dict[str, Any]:
        """The plain values of all members, in the order of the text."""
        return {name: self.get(name) for name in self.members}

    def facts(self) -> tuple[object, ...]:
        """Everything but texts; `of` makes this body of them and its text, wherever it was read."""
        return list(self.members), self.places, self.repairs, self.repeats_in_data, self.shaped, self._plain

    @classmethod
    def of(cls, text: bytes, facts: tuple[Any, ...]) -> Self:
        """The costly body whose text and facts these are."""
        names, places, repairs, repeats, shaped, plain = facts
        view = memoryview(text)
        members = {name: msgspec.Raw(view[begin:end]) for name, (begin, end) in zip(names, places, strict=True)}
        body = cls(text, members, places, repairs)
        body.repeats_in_data, body.shaped, body._plain, body.is_costly = repeats, shaped, plain, True
        return body

    def __repr__(self) -> str:
        """The size alone: a body is its client's."""
        return f"<Body of {len(self.text)} bytes>"


def read_body(
    data: bytes, rules: BodyRules = ANY_BODY, *, max_bytes: int = MAX_BODY_BYTES, max_depth: int = MAX_DEPTH
) -> Body:
    """The object that the bytes of a request are.

    Raises: DecodeError with the status 400 and the place, for what is no object, has two meanings, or has names or
    objects beyond the bounds; LimitExceededError beyond `max_bytes` and `max_depth`.
    """
    try:
        text = bounded(data, max_bytes, max_depth)
        try:
            return _read(text, rules, ())
        except FOREIGN as error:
            return _read_repaired(text, rules, error)
    except DecodeError as error:
        error.status = 400
        raise


def edited_body(body: Body, edits: Mapping[str, bytes | None]) -> bytes:
    """The text of a body with other JSON texts for some top-level members; None takes a member out.

    A member that the body does not have is put behind its last one. All other bytes stay as they came.
    """
    if not edits:
        return body.text
    text, view = body.text, memoryview(body.text)
    opening = _OPEN.match(text)
    end = 0 if opening is None else opening.end()
    pieces: list[bytes | memoryview] = [text[:end]]
    is_empty = True
    for place, (name, (begin, ends)) in enumerate(zip(body.members, body.places, strict=True)):
        label, end = text[end:begin], ends
        edit = edits[name] if name in edits else view[begin:ends]
        if edit is not None:
            if is_empty and place:  # those before it were taken out: no comma is due
                label = label.replace(b",", b"", 1)
            pieces += (label, edit)
            is_empty = False
    for name, edit in edits.items():
        if edit is not None and name not in body.members:
            pieces += (b"" if is_empty else b",", ENCODER.encode(name), b":", edit)
            is_empty = False
    pieces.append(view[end:])
    return b"".join(pieces)


def body_without(body: Body, names: frozenset[str]) -> Body:
    """A body without some of its top-level members; nothing of the others is read again."""
    return body_with(body, dict.fromkeys(names))


def body_with(body: Body, edits: Mapping[str, bytes | None]) -> Body:
    """A body with other JSON texts for some top-level members, as `edited_body` has them; it is not read again."""
    text = edited_body(body, edits)
    members = {name: raw for name, raw in body.members.items() if edits.get(name, raw) is not None}
    members |= {name: msgspec.Raw(edit) for name, edit in edits.items() if edit is not None}
    rest = Body(text, members, _places(text, members) or [], body.repairs)
    rest.shaped = {name: value for name, value in body.shaped.items() if name not in edits}
    rest.rules = body.rules
    rest.objects = {name: objects for name, objects in body.objects.items() if name not in edits}
    rest.repeats_in_data, rest.is_costly = body.repeats_in_data, body.is_costly
    return rest


# Reading


def _read(text: bytes, rules: BodyRules, repairs: tuple[str, ...]) -> Body:
    """The body that a text is.

    Raises: DecodeError, LimitExceededError; what a decoder raises for what is no JSON.
    """
    try:
        members: dict[str, msgspec.Raw] = _MEMBERS.decode(text)
    except msgspec.ValidationError:
        raise DecodeError("the body is not a JSON object") from None
    if len(members) > MAX_UNKNOWN_MEMBERS + len(rules.members):
        raise _too_many(())
    places = _places(text, members)
    if places is None:
        _find_repeated(text, rules)
        raise DecodeError("a member stands twice in the body", code="duplicate_member")
    if "logit_bias" in members and len(memoryview(members["logit_bias"])) > MAX_BIAS_BYTES:
        raise LimitExceededError(f"/logit_bias: its text is longer than {MAX_BIAS_BYTES:,} bytes", status=400)
    body = Body(text, members, places, repairs)
    body.rules = rules
    repeats = False
    for name, raw in members.items():
        shape = rules.shapes.get(name)
        if shape is not None and (shaped := _shaped(shape, raw)) is not None:
            body.shaped[name] = shaped
            repeats = repeats or _repeats(bytes(raw), shaped)
            continue
        value = body.get(name)
        if type(value) not in _SCALARS:
            repeats = repeats or _repeats(bytes(raw), value)
            if name not in rules.data:
                body.objects[name] = objects_in(value, rules.data)
    if repeats:
        body.repeats_in_data = _find_repeated(text, rules)
    _check_names(body, rules)
    return body


def _read_repaired(text: bytes, rules: BodyRules, error: Exception) -> Body:
    """The body of a text that is no JSON, unless for halves of surrogate pairs alone.

    Raises: as `read_body`.
    """
    if isinstance(error, RecursionError):
        raise LimitExceededError("the JSON text nests deeper than the interpreter allows") from None
    failed = cast("msgspec.DecodeError", error)
    repaired = None if isinstance(error, msgspec.ValidationError) else mend_surrogates(text)
    if repaired is not None:
        try:
            return _read(repaired, rules, (_LONE_SURROGATE,))
        except FOREIGN:
            failed = unmasked(failed, text, ANYTHING.decode)
    raise decode_error(failed, text) from None


def _places(text: bytes, members: dict[str, msgspec.Raw]) -> list[tuple[int, int]] | None:
    """Where the values of the members stand; None where a name stands twice.

    Of two members with one name the decoder keeps the place of the first and the value of the last. So either a value
    is not found where it should be, or something is left behind the last one.
    """
    places: list[tuple[int, int]] = []
    opening = _OPEN.match(text)
    end = 0 if opening is None else opening.end()
    for name, raw in members.items():
        label = _NAME.match(text, end)
        if label is None or _name_in(label[1]) != name:
            return None
        begin = label.end()
        value = bytes(raw)
        end = begin + len(value)
        if not text.startswith(value, begin):
            return None
        places.append((begin, end))
    return places if text[end:].strip() == b"}" else None


def _name_in(label: bytes) -> str:
    return str(label[1:-1], "utf-8") if b"\\" not in label else ANYTHING.decode(label)


def _shaped(shape: Decoder, raw: msgspec.Raw) -> Any:
    """A member as its usual structs; None where it does not fit."""
    try:
        return shape.decode(raw)
    except msgspec.ValidationError:
        return None


def _repeats(text: bytes, value: object) -> bool:
    """Whether a name stands twice in an object of a text that was read as `value`."""
    written = ENCODER.encode(value)
    if written == text:
        return False
    colons = text.count(b":")
    if b"\\u003" in text:  # `\u003a` is a colon that is written as one; a backslash may be escaped itself
        escapes = text.replace(b"\\\\", b"")
        colons += escapes.count(b"\\u003a") + escapes.count(b"\\u003A")
    return colons != written.count(b":")


def repeats_a_name(text: bytes) -> bool:
    """Whether a name stands twice in an object of a JSON text, or may do so since it cannot be read."""
    try:
        return _repeats(text, ANYTHING.decode(text))
    except (*FOREIGN, OverflowError):
        return True


class _Pairs(list[tuple[str, object]]):
    """The members of an object, repeated ones too."""


def _find_repeated(text: bytes, rules: BodyRules) -> bool:
    """That names repeat inside data alone.

    Raises: DecodeError with the place of a name that repeats elsewhere.
    """
    import json  # only who sends a name twice pays for it

    whole = json.loads(text, strict=False, object_pairs_hook=_Pairs, parse_int=len, parse_float=len)
    nodes: list[tuple[tuple[str | int, ...], object]] = [((), whole)]
    while nodes:
        steps, node = nodes.pop()
        if isinstance(node, _Pairs):
            names: set[str] = set()
            for name, child in node:
                if name in names:
                    raise _refusal((*steps, name), "the member stands twice in one object", "duplicate_member")
                names.add(name)
                if name not in rules.data:
                    nodes.append(((*steps, name), child))
        elif isinstance(node, list):
            items = cast("list[object]", node)
            nodes += [((*steps, place), child) for place, child in enumerate(items)]
    return True


# Names


def _check_names(body: Body, rules: BodyRules) -> None:
    """Raises: DecodeError, with the place of a name or an object that is refused."""
    nodes: list[Mapping[str, Any]] = [body.members]
    for objects in body.objects.values():
        nodes += objects
    names = frozenset[str]().union(*nodes)
    if max(map(len, nodes)) > MAX_UNKNOWN_MEMBERS:
        _check_numbers(body.value, rules)
    if max(map(len, names), default=0) > _SHORT_NAME:
        for name in names:
            if len(name.encode()) > MAX_NAME_BYTES:
                steps = next(steps for steps, node in _objects(body.value, rules.data) if name in node)
                raise _refusal(steps, f"the object has a name of more than {MAX_NAME_BYTES} bytes", "name_too_long")
    all_names = "\n".join(names)
    if all_names.casefold() != all_names:
        _check_twins(body.value, rules)
    for name in body.members.keys() - rules.members:
        meant = rules.folded.get(folded(name))
        if meant is not None and (meant in body.members or meant.casefold() == name.casefold()):
            raise _refusal((name,), f"the member differs only in spelling from {meant!r}", "ambiguous_member")


def objects_in(value: object, data: frozenset[str]) -> list[dict[str, Any]]:
    """A value, where it is an object, and every object below it, in the order of the text, the inside of data aside."""
    objects: list[Any] = []
    _gather([value], data, objects)
    return objects


def _gather(values: Iterable[Any], data: frozenset[str], objects: list[Any]) -> None:
    for value in values:
        if type(value) is dict:
            node = cast("dict[str, object]", value)
            objects.append(node)
            for name, child in node.items():
                kind = type(child)
                if (kind is dict or kind is list) and name not in data:
                    _gather((child,), data, objects)
        elif type(value) is list:
            _gather(cast("list[Any]", value), data, objects)


def folded(name: str) -> str:
    """The name that a reader sees who looks at neither case nor underscores."""
    return name.casefold().replace("_", "")


def _check_twins(value: dict[str, Any], rules: BodyRules) -> None:
    """Raises: DecodeError for two names of one object that some readers take for the same."""
    for steps, node in _objects(value, rules.data):
        names: dict[str, str] = {}
        for name in node:
            other = names.setdefault(folded(name), name)
            if other != name:
                raise _refusal(
                    (*steps, name), f"the member differs only in spelling from {other!r}", "ambiguous_member"
                )


def _check_numbers(value: dict[str, Any], rules: BodyRules) -> None:
    """Raises: DecodeError for an object with too many members that are not known."""
    for steps, node in _objects(value, rules.data):
        if len(node) > MAX_UNKNOWN_MEMBERS and len(node.keys() - rules.members) > MAX_UNKNOWN_MEMBERS:
            raise _too_many(steps)


def _too_many(steps: tuple[str | int, ...]) -> DecodeError:
    """The error of an object with too many members that are not known."""
    return _refusal(steps, f"the object has more than {MAX_UNKNOWN_MEMBERS:,} unknown members", "too_many_members")


def _objects(value: object, data: frozenset[str]) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Every object outside data, with the steps that lead to it."""
    nodes: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while nodes:
        steps, node = nodes.pop()
        if isinstance(node, dict):
            members = cast("dict[str, Any]", node)
            yield steps, members
            nodes += [((*steps, name), child) for name, child in members.items() if name not in data]
        elif isinstance(node, list):
            items = cast("list[object]", node)
            nodes += [((*steps, place), child) for place, child in enumerate(items)]


def _refusal(steps: tuple[str | int, ...], problem: str, code: str) -> DecodeError:
    """The refusal of a member, with its place in a length that may be shown."""
    path = pointer(*steps)[:MAX_NAME_BYTES]
    return DecodeError(f"{path or 'the body'}: {problem}", path=path, status=400, code=code)
