"""The one reading of a body agrees with an independent reader, and edits with what was meant, over arbitrary bodies."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from interlingua.errors import DecodeError
from interlingua.wire.body import body_rules, edited_body, read_body

NAMES = st.sampled_from(("a", "b", "a:", ":", "d", "é", 'a"', "\\", "u003a")) | st.text(max_size=3)
LEAVES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.sampled_from((1.5, -0.0, 1e300)) | NAMES
RULES = body_rules((), ("d",))


class Pairs(list[tuple[str, Any]]):
    """An object in which a name may repeat."""


VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(NAMES, inner), max_size=4).map(Pairs),
    max_leaves=12,
)
OBJECTS = st.lists(st.tuples(NAMES, VALUES), max_size=5).map(Pairs)
SPACES = st.sampled_from(("", " ", "\n\t"))


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """One of the texts that a value has: spaces and escapes are free."""
    before, after = draw(SPACES), draw(SPACES)
    if isinstance(value, Pairs):
        told = ",".join([draw(written(name)) + ":" + draw(written(child)) for name, child in value])
        return f"{before}{{{told}}}{after}"
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return f"{before}[{','.join([draw(written(item)) for item in items])}]{after}"
    if isinstance(value, str) and draw(st.booleans()):
        units = value.encode("utf-16-be", "surrogatepass").hex()
        escapes = "".join([f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4)])
        return f'{before}"{escapes if draw(st.booleans()) else escapes.upper().replace("U", "u")}"{after}'
    return before + json.dumps(value, ensure_ascii=draw(st.booleans())) + after


def repeats(value: Any, *, in_data: bool) -> bool:
    """Whether a name stands twice in an object: one outside of the member `d`, or with `in_data` anywhere."""
    if isinstance(value, Pairs):
        names = [name for name, _ in value]
        below = [child for name, child in value if in_data or name != "d"]
        return len(set(names)) != len(names) or any(repeats(child, in_data=in_data) for child in below)
    items = cast("list[Any]", value if isinstance(value, list) else [])
    return any(repeats(item, in_data=in_data) for item in items)


@given(st.data(), OBJECTS)
def test_repeated_names_are_found_exactly(data: st.DataObject, pairs: Pairs) -> None:
    """Refused outside data, noted inside it, and never where no name repeats."""
    text = data.draw(written(pairs)).encode()
    if repeats(pairs, in_data=False):
        with pytest.raises(DecodeError):
            read_body(text, RULES)
        return
    try:
        body = read_body(text, RULES)
    except DecodeError as error:
        event(f"refused: {error.code}")
        assume(error.code != "ambiguous_member")
        raise
    assert not repeats(pairs, in_data=False)
    assert body.repeats_in_data == repeats(pairs, in_data=True)
    assert body.value == json.loads(text)


@given(st.data(), OBJECTS, st.dictionaries(NAMES, st.none() | st.integers().map(lambda number: b"%d" % number)))
def test_an_edited_body_is_the_object_with_those_members(
    data: st.DataObject, pairs: Pairs, edits: dict[str, bytes | None]
) -> None:
    """Every other member keeps its text and its place."""
    try:
        body = read_body(data.draw(written(pairs)).encode(), RULES)
    except DecodeError:
        return
    expected = {name: bytes(raw) for name, raw in body.members.items()}
    for name, edit in edits.items():
        if edit is None:
            expected.pop(name, None)
        else:
            expected[name] = edit
    edited = read_body(edited_body(body, edits)) if not body.repeats_in_data else None
    if edited is not None:
        assert [(name, bytes(raw)) for name, raw in edited.members.items()] == list(expected.items())


@given(st.binary(max_size=60) | st.text(max_size=40).map(str.encode))
def test_arbitrary_bytes_raise_only_errors_of_ours(body: bytes) -> None:
    """With the status of a client's fault."""
    try:
        read_body(body)
        status = 400
    except DecodeError as error:
        status = error.status
    assert status == 400
