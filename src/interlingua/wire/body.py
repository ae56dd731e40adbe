r"""The body of a request, read once: one JSON object in which every member has one meaning, and edits of its text.

Strategy: the body is decoded to plain values and encoded again. A repeated name is dropped by that, and a colon with
it; nothing adds one but an escaped colon, which is counted apart. So equal counts of colons prove that no name repeats
at any depth, and the places are looked for only where the counts differ. Member names and their number are checked
along the objects, without a step into data.

Rules
- A name is compared as it reads, not as it is escaped: `mod\u0065l` is `model`.
- Refused with the place, by the status 400: what is no object, a name that stands twice in an object, a name that
  differs only in case (or only in underscores) from another one of the same object, a top-level name that differs only
  in case from a known one, names and objects beyond the bounds.
- The inside of data members (schemas, arguments, metadata) is free; a name that repeats there is noted, and a body with
  one must not be sent on as it is, since two readers may take two meanings from it.
- Halves of surrogate pairs are replaced by U+FFFD in the text itself, so that what is read is what may be sent on.
- An edit changes the text of the members it names and nothing else: every other byte stays.

**Units.** About 45 µs for 9 kB; at most about 120 ms for a MB, in the worst case of one-member objects side by side.
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

__all__ = [
    "ANY_BODY",
    "MAX_NAME_BYTES",
    "MAX_UNKNOWN_MEMBERS",
    "Body",
    "BodyRules",
    "body_rules",
    "edited_body",
    "read_body",
]

MAX_NAME_BYTES = 256
"""How long the name of a member may be, in UTF-8."""
MAX_UNKNOWN_MEMBERS = 1_000
"""How many members without a known name one object may have."""
_SHORT_NAME = MAX_NAME_BYTES // 4
"""A name of no more characters is within the bound, whatever they are."""
_LONE_SURROGATE = "lone_surrogate"
_NAME = re.compile(rb'[\s,]*("(?:[^"\\]|\\.)*+")\s*:\s*', re.DOTALL)
_OPEN = re.compile(rb"\s*\{")
_MEMBERS = decoder_of(dict[str, msgspec.Raw])


class BodyRules(msgspec.Struct, frozen=True):
    """What a reader has to know of the bodies of one kind."""

    known: frozenset[str] = frozenset()
    """The member names that the format defines."""
    data: frozenset[str] = frozenset()
    """The members whose inside is somebody else's: schemas, arguments, metadata."""
    folded: dict[str, str] = {}
    """The known names by what they are without case and underscores."""


def body_rules(known: Iterable[str] = (), data: Iterable[str] = ()) -> BodyRules:
    """The rules of a format that defines these member names and has these data members."""
    names = frozenset(known)
    return BodyRules(names, frozenset(data), {_folded(name): name for name in sorted(names)})


ANY_BODY = BodyRules()
"""The rules for a body of which nothing is known: no name is known, nothing is data."""


class Body:
    """One JSON object as it was read. Nobody may change what it holds."""

    __slots__ = ("repairs", "repeats_in_data", "text", "value")

    def __init__(
        self, text: bytes, value: dict[str, Any], repairs: tuple[str, ...] = (), *, repeats_in_data: bool = False
    ) -> None:
        """A body that `read_body` has read."""
        self.text: bytes = text
        """The whole text in UTF-8, as it came but for a byte order mark and halves of surrogate pairs."""
        self.value: dict[str, Any] = value
        """The plain values, top-level members in the order of the text."""
        self.repairs: tuple[str, ...] = repairs
        """What had to be mended in the text: `lone_surrogate`."""
        self.repeats_in_data: bool = repeats_in_data
        """Whether a name stands twice in an object inside data: such a text means two things to two readers."""

    def members(self) -> dict[str, msgspec.Raw]:
        """The text of each top-level member, in order, by its decoded name."""
        return _MEMBERS.decode(self.text)

    def __repr__(self) -> str:
        """The size alone: a body is its client's."""
        return f"<Body of {len(self.text)} bytes>"


def read_body(
    data: bytes, rules: BodyRules = ANY_BODY, *, max_bytes: int = MAX_BODY_BYTES, max_depth: int = MAX_DEPTH
) -> Body:
    """The object that the bytes of a request are.

    Raises: DecodeError with the status 400 and the place, for what is no object or has two meanings;
    LimitExceededError, with the status 400, beyond the bounds on names, members and depth, with 413 beyond `max_bytes`.
    """
    try:
        text = bounded(data, max_bytes, max_depth)
        value, text, repairs = _parsed(text)
    except DecodeError as error:
        error.status = 400
        raise
    except LimitExceededError as error:
        error.status = 413 if len(data) > max_bytes else 400
        raise
    if type(value) is not dict:
        raise DecodeError("the body is no JSON object", status=400)
    members = cast("dict[str, Any]", value)
    repeats = _repeats(text, members) and _repeats_in_data(text, rules)
    _check_names(members, rules)
    return Body(text, members, repairs, repeats_in_data=repeats)


def edited_body(body: Body, edits: Mapping[str, bytes | None]) -> bytes:
    """The text of a body with other JSON texts for some top-level members; None takes a member out.

    A member that the body does not have is put behind its last one. All other bytes stay as they came.
    """
    if not edits:
        return body.text
    text = body.text
    end = _end_of(_OPEN, text, 0)
    pieces: list[bytes] = [text[:end]]
    is_empty = True
    for place, (name, raw) in enumerate(body.members().items()):
        begin = _end_of(_NAME, text, end)
        label, end = text[end:begin], begin + len(memoryview(raw))
        edit = edits.get(name, raw)
        if edit is not None:
            if is_empty and place:  # those before it were taken out: no comma is due
                label = label.replace(b",", b"", 1)
            pieces += (label, bytes(edit))
            is_empty = False
    for name, edit in edits.items():
        if edit is not None and name not in body.value:
            pieces += (b"" if is_empty else b",", ENCODER.encode(name), b":", edit)
            is_empty = False
    pieces.append(text[end:])
    return b"".join(pieces)


def _end_of(pattern: re.Pattern[bytes], text: bytes, place: int) -> int:
    """Where what a pattern finds at a place ends; the text was parsed, so that it is there."""
    found = pattern.match(text, place)
    return place if found is None else found.end()


# Reading


def _parsed(text: bytes) -> tuple[object, bytes, tuple[str, ...]]:
    """The value of a text, and the text with halves of surrogate pairs mended.

    Raises: DecodeError, LimitExceededError.
    """
    try:
        return ANYTHING.decode(text), text, ()
    except FOREIGN as error:
        if isinstance(error, RecursionError):
            raise LimitExceededError("the JSON text nests deeper than the interpreter allows") from None
        mended = None if isinstance(error, msgspec.ValidationError) else mend_surrogates(text)
        if mended is None:
            raise decode_error(error) from None
        try:
            return ANYTHING.decode(mended), mended, (_LONE_SURROGATE,)
        except FOREIGN:
            told = error if isinstance(error, RecursionError) else unmasked(error, text, ANYTHING.decode)
            raise decode_error(cast("msgspec.DecodeError", told)) from None


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


class _Pairs(list[tuple[str, object]]):
    """The members of an object, repeated ones too."""


def _repeats_in_data(text: bytes, rules: BodyRules) -> bool:
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


def _check_names(value: dict[str, Any], rules: BodyRules) -> None:
    """Raises: DecodeError, LimitExceededError, with the place of a name or an object that is refused."""
    nodes: list[dict[str, Any]] = []
    _gather(value, rules.data, nodes)
    names = frozenset[str]().union(*nodes)
    if max(map(len, nodes)) > MAX_UNKNOWN_MEMBERS:
        _check_numbers(value, rules)
    if max(map(len, names), default=0) > _SHORT_NAME:
        for name in names:
            if len(name.encode()) > MAX_NAME_BYTES:
                raise _name_too_long(value, rules, name)
    all_names = "\n".join(names)
    if all_names.casefold() != all_names:
        _check_twins(value, rules)
    unknown = value.keys() - rules.known
    for name in unknown:
        meant = rules.folded.get(_folded(name))
        if meant is not None and (meant in value or meant.casefold() == name.casefold()):
            raise _refusal((name,), f"the member differs only in spelling from {meant!r}", "ambiguous_member")


def _gather(node: dict[str, object], data: frozenset[str], nodes: list[dict[str, Any]]) -> None:
    """Put an object and all below it into `nodes`, the inside of data aside."""
    nodes.append(node)
    for name, child in node.items():
        kind = type(child)
        if kind is dict:
            if name not in data:
                _gather(cast("Any", child), data, nodes)
        elif kind is list and name not in data:
            _gather_items(cast("Any", child), data, nodes)


def _gather_items(items: list[object], data: frozenset[str], nodes: list[dict[str, Any]]) -> None:
    for item in items:
        kind = type(item)
        if kind is dict:
            _gather(cast("Any", item), data, nodes)
        elif kind is list:
            _gather_items(cast("Any", item), data, nodes)


def _folded(name: str) -> str:
    """What a reader that looks at neither case nor underscores takes a name for."""
    return name.casefold().replace("_", "")


def _check_twins(value: dict[str, Any], rules: BodyRules) -> None:
    """Raises: DecodeError for two names of one object that some readers take for the same."""
    for steps, node in _objects(value, rules.data):
        names: dict[str, str] = {}
        for name in node:
            other = names.setdefault(_folded(name), name)
            if other != name:
                raise _refusal(
                    (*steps, name), f"the member differs only in spelling from {other!r}", "ambiguous_member"
                )


def _check_numbers(value: dict[str, Any], rules: BodyRules) -> None:
    """Raises: LimitExceededError for an object with too many members that are not known."""
    for steps, node in _objects(value, rules.data):
        if len(node) > MAX_UNKNOWN_MEMBERS and len(node.keys() - rules.known) > MAX_UNKNOWN_MEMBERS:
            place = pointer(*steps) or "the top"
            raise LimitExceededError(
                f"the object at {place} has more than {MAX_UNKNOWN_MEMBERS:,} unknown members", status=400
            )


def _name_too_long(value: dict[str, Any], rules: BodyRules, name: str) -> LimitExceededError:
    """The error of a name beyond the bound, with the place of its object."""
    steps = next(steps for steps, node in _objects(value, rules.data) if name in node)
    place = pointer(*steps) or "the top"
    return LimitExceededError(f"the object at {place} has a name of more than {MAX_NAME_BYTES} bytes", status=400)


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
    return DecodeError(f"{path}: {problem}", path=path, status=400, code=code)
