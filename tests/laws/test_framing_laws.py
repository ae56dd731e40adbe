"""Laws of the framings: cuts never matter, arbitrary bytes raise only our errors, what is written is read back."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from interlingua.errors import Error
from interlingua.wire._shape import EXTRA
from interlingua.wire.arguments import check_arguments, parse_arguments
from interlingua.wire.json import (
    WireStruct,
    decode_any,
    decode_wire,
    encode,
    encode_wire,
)
from interlingua.wire.ndjson import JsonArrayDecoder, NdjsonDecoder, encode_line
from interlingua.wire.sse import DONE, SseDecoder, encode_comment, encode_event, sniff

Decoder: TypeAlias = SseDecoder | NdjsonDecoder | JsonArrayDecoder

MAKERS = [SseDecoder, NdjsonDecoder, JsonArrayDecoder]

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Arrays and objects of these."""
    return st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3)


values = st.recursive(scalars, nested, max_leaves=6)
objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(text, values, max_size=4)

SHARDS = [
    *(
        b"data: ",
        b"data:",
        b"event: x",
        b"id: 1",
        b": ping",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"[DONE]",
        b"\xef\xbb\xbf",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b"\\",
        b'{"a":"\xc3\xa9"}',
        b'"x',
        b"1",
        b"NaN",
        b" ",
        b"\xff",
        b"\xf0\x9f",
    ),
]
streams = st.lists(st.sampled_from(SHARDS) | st.binary(max_size=3), max_size=30).map(b"".join)


def outcome(decoder: Decoder, pieces: list[bytes]) -> tuple[list[object], bool, str | None]:
    """Everything that a decoder says about a stream: what came out, whether it was cut, and the fault."""
    seen: list[object] = []
    try:
        for piece in pieces:
            seen.extend(decoder.feed(piece))
        seen.extend(decoder.close())
    except Error as error:
        return seen, decoder.cut, f"{type(error).__name__}: {error}"
    return seen, decoder.cut, None


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    """The stream in pieces, cut at these places."""
    marks = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[begin:end] for begin, end in itertools.pairwise(marks)]


@pytest.mark.parametrize("make", MAKERS)
@given(stream=streams, places=st.lists(st.integers(0, 200), max_size=6), limit=st.sampled_from([9, 1_000]))
@example(stream=b"data: 1\r\n\r\ndata: 2\r\r", places=[8, 9, 10, 11], limit=1_000)
def test_any_cut_gives_the_same(make: Callable[..., Decoder], stream: bytes, places: list[int], limit: int) -> None:
    """Whole, at random places, and byte by byte: the same events, then the same fault."""
    whole = outcome(make(max_event_bytes=limit), [stream])
    assert outcome(make(max_event_bytes=limit), cut(stream, places)) == whole
    assert outcome(make(max_event_bytes=limit), cut(stream, list(range(len(stream))))) == whole


@given(texts=st.lists(text.filter(bool)), name=st.none() | st.just("n"), comment=text)
def test_events_are_read_back(texts: list[str], name: str | None, comment: str) -> None:
    """Whatever the data; only line breaks become LF. Comments between them change nothing."""
    stream = b"".join(encode_comment(comment) + encode_event(item.encode(), event=name) for item in texts)
    expected = [item.encode().replace(b"\r\n", b"\n").replace(b"\r", b"\n") for item in texts]
    seen, was_cut, fault = outcome(SseDecoder(), [stream])
    assert (was_cut, fault) == (False, None)
    assert [(event.data, event.event) for event in seen] == [(item, name) for item in expected]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] — they are events


@given(st.lists(objects, max_size=4))
def test_lines_and_arrays_are_read_back(items: list[Any]) -> None:
    """Each object comes out as it was written."""
    written = [encode(item) for item in items]
    assert outcome(NdjsonDecoder(), [encode_line(item) for item in written]) == (written, False, None)
    array = b"[" + b",\r\n".join(written) + b"]"
    assert outcome(JsonArrayDecoder(), [array]) == (written, False, None)


@given(values)
def test_json_is_read_back(value: Any) -> None:
    """Exact integers, exact floats, raw UTF-8; and the standard library reads the same."""
    written = encode(value)
    assert decode_any(written) == value
    assert json.loads(written) == value


class LeafWire(WireStruct):
    """The inner struct of the law below."""

    kind: str = ""
    free: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class TreeWire(WireStruct):
    """A struct that holds others in every way."""

    name: str = ""
    leaf: LeafWire | None = None
    leaves: list[LeafWire] = []
    named: dict[str, LeafWire] = {}
    mixed: str | list[LeafWire] | LeafWire | None = None


FIELDS = TreeWire.__struct_fields__ + LeafWire.__struct_fields__
extras: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    text.filter(lambda name: name not in FIELDS), values, max_size=3
)


def leaf(free: object, extra: dict[str, Any]) -> dict[str, Any]:
    """The body of a leaf."""
    return {"kind": "k", "free": free, **extra}


def tree(extra: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """The body of a tree."""
    return {**extra, "name": "n", **known}


leaves = st.builds(leaf, values, extras)
branches: dict[Any, st.SearchStrategy[Any]] = {
    "leaf": leaves,
    "leaves": st.lists(leaves, min_size=1, max_size=3),
    "named": st.dictionaries(text, leaves, min_size=1, max_size=2),
    "mixed": st.just("text") | st.lists(leaves, max_size=2) | leaves,
}
trees = st.builds(tree, extras, st.fixed_dictionaries({}, optional=branches))


@given(trees)
@example({EXTRA: {"name": "x"}, "name": "n"})
def test_unknown_members_survive(body: dict[str, Any]) -> None:
    """Decoded and encoded again, a body is the same value; twice, it is the same bytes."""
    once = encode_wire(decode_wire(encode(body), TreeWire))
    assert decode_any(once) == body
    assert encode_wire(decode_wire(once, TreeWire)) == once


@given(streams | st.binary())
def test_arbitrary_bytes_raise_only_our_errors(data: bytes) -> None:
    """For every reader of JSON."""
    with suppress(Error):
        decode_any(data)
    with suppress(Error):
        decode_wire(data, TreeWire, repairs=[])
    with suppress(Error):
        parse_arguments(data)
    check_arguments(data, ended_early=True)
    sniff(None, data)


@given(objects)
def test_checked_arguments_are_what_the_standard_library_reads(value: dict[str, Any]) -> None:
    """An object that JSON can say is never refused, whatever its keys and texts."""
    written = json.dumps(value)
    assert check_arguments(written) is None
    assert parse_arguments(written) == value


tokens = st.sampled_from(["1", "-0.5e3", '"x:y"', '""', "null", "NaN", "-Infinity", "1e999", "{}", "[]", "tru"])
names = st.sampled_from(['"a"', r'"\u0061"', '"b:"', '"c"'])


def doubtfully_nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """The texts of arrays and objects of these; names may repeat."""
    items = st.lists(inner, max_size=3).map(lambda some: f"[{', '.join(some)}]")
    pairs = st.lists(st.builds("{}: {}".format, names, inner), max_size=3)
    return items | pairs.map(lambda some: f"{{{', '.join(some)}}}")


doubtful = st.recursive(tokens, doubtfully_nested, max_leaves=6)


def plain_verdict(written: str) -> str | None:
    """What a slow and plain reader says about arguments."""
    found: set[str] = set()

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) != len(pairs):
            found.add("duplicate_key")
        return dict(pairs)

    def number(digits: str) -> float:
        if math.isinf(float(digits)):
            found.add("non_finite")
        return 0.0

    try:
        value = json.loads(
            written, object_pairs_hook=unique, parse_constant=lambda _: found.add("non_finite"), parse_float=number
        )
    except ValueError:
        return "malformed"
    if not isinstance(value, dict):
        return "malformed" if "non_finite" in found else "not_object"
    return "non_finite" if "non_finite" in found else next(iter(found), None)


@given(doubtful)
def test_arguments_are_judged_as_by_a_plain_reader(written: str) -> None:
    """Duplicate keys in any spelling, numbers that are none, colons in texts: the quick way is never wrong."""
    assert check_arguments(written) == check_arguments(written.encode()) == plain_verdict(written)


@given(objects.filter(bool), st.integers(1))
def test_every_proper_beginning_of_arguments_is_cut_off(value: dict[str, Any], place: int) -> None:
    """Never whole, never merely malformed."""
    written = encode(value).decode()
    assert check_arguments(written[: 1 + place % (len(written) - 1)], ended_early=True) == "cut_off"


def test_done_is_data() -> None:
    """The framing passes it on; the dialects know what it means."""
    assert outcome(SseDecoder(), [encode_event(DONE)])[0] != []
