from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any, Literal, cast

import msgspec
import pytest

from fuzz.cost import steps_of
from interlingua.errors import DecodeError, LimitExceededError, UsageError
from interlingua.wire._shape import EXTRA
from interlingua.wire._surrogates import mend_surrogates
from interlingua.wire.body import read_body
from interlingua.wire.json import (
    MAX_BODY_BYTES,
    MAX_DEPTH,
    MAX_EVENT_BYTES,
    ExactStruct,
    Extra,
    TextSlots,
    WireStruct,
    decode,
    decode_any,
    decode_received,
    decode_wire,
    encode,
    encode_exact,
    encode_wire,
    encode_wires,
    exact_reader,
    pointer,
    pointer_steps,
    raw,
    shallow,
)


class FunctionWire(WireStruct):
    """A struct with free JSON in it."""

    name: str
    parameters: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class FunctionToolWire(WireStruct, tag="function", tag_field="type"):
    """One of two tagged structs."""

    function: FunctionWire


class SearchToolWire(WireStruct, tag="search", tag_field="type"):
    """The other one."""

    limit: int = 0


class PartWire(WireStruct):
    """A struct that nests in itself."""

    type: str
    text: str | None = None
    parts: list[PartWire] | None = None


class ReceivedWire(WireStruct):
    """A struct with a member that is read later."""

    model: str | None = None
    later: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    beside: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class UsualWire(ExactStruct):
    """A struct that takes what it knows and nothing else."""

    model: str
    count: int | None = None


class BodyWire(WireStruct):
    """A struct with every kind of place where structs can lie."""

    model: str
    content: str | list[PartWire] | PartWire | None = None
    tools: list[FunctionToolWire | SearchToolWire] = []
    named: dict[str, PartWire] = {}
    temperature: float | None = None
    free: dict[str, object] | None = None


def refusal(data: bytes | str, kind: Any = BodyWire, **options: Any) -> DecodeError:
    """The error with which `data` is refused."""
    with pytest.raises(DecodeError) as caught:
        decode_wire(data, kind, **options)
    return caught.value


# Traps of msgspec: each of these is why a rule of wire/json.py exists. When one fails, msgspec has changed: look there.


def test_trap_msgspec_keeps_the_last_of_duplicate_keys() -> None:
    """Why arguments are checked for duplicates by us."""
    assert msgspec.json.decode(b'{"a":1,"a":2}') == {"a": 2}


def test_trap_msgspec_drops_unknown_fields_without_a_trace() -> None:
    """Why wire structs forbid them."""

    class Loose(msgspec.Struct):
        a: int

    assert msgspec.json.encode(msgspec.json.decode(b'{"a":1,"b":2}', type=Loose)) == b'{"a":1}'


def test_trap_msgspec_writes_nan_as_null() -> None:
    """Why floats are checked before writing."""
    assert msgspec.json.encode([math.nan, math.inf]) == b"[null,null]"


def test_trap_msgspec_raises_recursion_error_on_deep_input() -> None:
    """Why depth is bounded first."""
    with pytest.raises(RecursionError):
        msgspec.json.decode(b"[" * 100_000)


def test_trap_msgspec_raises_unicode_error_and_lets_bad_utf8_through_in_raw() -> None:
    """Why UTF-8 is checked on the whole body."""
    with pytest.raises(UnicodeDecodeError):
        msgspec.json.decode(b'"\xff"')
    assert bytes(msgspec.json.decode(b'"\xff"', type=msgspec.Raw)) == b'"\xff"'


def test_trap_msgspec_fails_a_whole_body_on_one_lone_surrogate() -> None:
    """Why there is one retry."""
    with pytest.raises(msgspec.DecodeError, match="surrogate"):
        msgspec.json.decode(b'["\\ud800 and then more text"]')


def test_trap_msgspec_takes_a_thousand_times_as_long_for_some_numbers() -> None:
    """Why floats go to `float`, which says the same of each: 65 kB of `1e308` blocked for seconds.

    The yardstick is C, too, so that what watches lines of Python (coverage, a debugger) does not move it.
    """

    def took_s(decode: Callable[[bytes], object], number: bytes) -> float:
        text = b"[%b]" % b",".join([number] * 300)
        tries = list[float]()
        for _ in range(7):
            began_s = time.process_time()
            for _ in range(3):
                decode(text)
            tries.append(time.process_time() - began_s)
        return min(tries)

    blocked_s = took_s(msgspec.json.decode, b"1e308")
    assert blocked_s > 20 * took_s(json.loads, b"1e308")
    assert blocked_s > took_s(decode_any, b"1e308")
    for text in (
        b"1e308",
        b"5e-324",
        b"2.2250738585072011e-308",
        b"0.1",
        b"-0.0",
        b"1e23",
        b"1e-400",
        b"123456789012.5",
    ):
        assert math.copysign(decode_any(text), decode_any(text)).hex() == msgspec.json.decode(text).hex()


def test_escapes_of_a_text_that_breaks_off_are_looked_at_in_one_step() -> None:
    """Looking for halves of surrogate pairs took two seconds of a megabyte of them."""
    for escape in (rb"\"", rb"\\", rb"\n", rb"\ud83d\ude00"):
        text = b'{"a":"' + 10_000 * escape
        assert steps_of(read_body, text) < 200
        assert mend_surrogates(text) is None
        assert mend_surrogates(text + rb"\ud83d\u0041") == text + rb"\ufffd\u0041"
        assert mend_surrogates(text + rb"\udbff\ud83d\ude00\udbff") == text + rb"\ufffd\ud83d\ude00\ufffd"


def test_trap_msgspec_refuses_raw_in_a_union_with_none() -> None:
    """Why free members are typed `Raw | UnsetType`."""

    class Optional(msgspec.Struct):
        a: msgspec.Raw | None = None

    with pytest.raises(msgspec.ValidationError, match="Expected `null`"):
        msgspec.json.decode(b'{"a":{}}', type=Optional)


# Reading


@pytest.mark.parametrize("data", [b'{"a":1}', '{"a":1}', bytearray(b'{"a":1}'), memoryview(b'{"a":1}'), raw({"a": 1})])
def test_every_kind_of_source_is_read(data: Any) -> None:
    """Bytes, buffers, text and kept text are the same."""
    assert decode_any(data) == {"a": 1}


@pytest.mark.parametrize("data", [b'\xef\xbb\xbf{"a":1}', '\ufeff{"a":1}'])
def test_a_byte_order_mark_is_skipped(data: Any) -> None:
    """Windows tools put one in front."""
    assert decode_any(data) == {"a": 1}


def test_typed_decoding_gives_the_type() -> None:
    """`decode` takes whatever msgspec takes."""
    assert decode(b"[1,2]", list[int]) == [1, 2]
    assert decode(b'"a"', Literal["a", "b"]) == "a"


def test_arg_08_integers_are_exact() -> None:
    """No float hop, whatever the size."""
    number = 2**70 + 1
    assert decode_any(f"[{number},-{number},{2**53 + 1}]") == [number, -number, 2**53 + 1]
    assert encode([number, -number]) == f"[{number},-{number}]".encode()


def test_arg_07_text_stays_utf8() -> None:
    """No escapes towards models; escapes and surrogate pairs are read."""
    assert encode("é€😀") == '"é€😀"'.encode()
    assert decode_any(rb'"\u00e9\u20ac\ud83d\ude00"') == "é€😀"


@pytest.mark.parametrize(
    ("data", "path", "words"),
    [
        (b'{"model":1}', "/model", "expected `str`, got `int`, at /model"),
        (b"{}", "", "object missing required field `model`, at the top"),
        (b"[]", "", "expected `object`, got `array`, at the top"),
        (b'{"model":"x","content":[{"type":"a"},{"type":2}]}', "/content/1/type", "at /content/1/type"),
        (b'{"model":"x","named":{"a":{"type":2}}}', "/named", "at /named"),
        (b'{"model":"x","tools":[{"type":"zip"}]}', "/tools/0/type", "invalid value 'zip'"),
        (b'{"model":"x","free":{"a":1e999}}', "/free/a", "number out of range, at /free/a"),
        (b'{"model":"x","a/b":{"c":[0,{"d":-1e999}],"e":1e999}}', "/a~1b/c/1/d", "number out of range, at /a~1b/c/1/d"),
        (b'{"model":"x","surprise":[1e999]}', "/surprise/0", "number out of range, at /surprise/0"),
        (b'{"surprise":1,"model":2}', "/model", "at /model"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(data: bytes, path: str, words: str) -> None:
    """The path is an RFC 6901 pointer, as far as the place is known."""
    error = refusal(data)
    assert error.path == path
    assert words in error.message


def test_the_place_of_a_number_is_looked_for_in_short_texts_alone() -> None:
    """Whoever sends megabytes does not choose how long somebody looks for a place in them."""
    assert refusal(b'{"model":"x","surprise":[%b1e999]}' % (b"[0]," * 100)).path == "/surprise/100"
    assert refusal(b'{"model":"x","surprise":[%b1e999]}' % (b"[0]," * 20_000)).path == ""


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the text is not JSON: it is empty, or ends in the middle"),
        (b'{"model":"x"', "the text is not JSON: it is empty, or ends in the middle"),
        (rb'{"model":"\ud800"}', "the text is not JSON: half of a surrogate pair (byte 10)"),
        (rb'"\udbff"', "the text is not JSON: half of a surrogate pair (byte 1)"),
        (rb'{"model":"\\ud800\udbff"}', "the text is not JSON: half of a surrogate pair (byte 17)"),
        (rb'{"model":"\ud83d"', "the text is not JSON: it is empty, or ends in the middle"),
        (rb'{"model":"\ud83d\ude0', "the text is not JSON: it is empty, or ends in the middle"),
        (rb'{"model":"\ud83d', "the text is not JSON: it is empty, or ends in the middle"),
        (rb'{"model":"\\ud83d', "the text is not JSON: it is empty, or ends in the middle"),
        (b'{"model":NaN}', "the text is not JSON: invalid character (byte 9)"),
        (b'{"model":"x"} x', "trailing characters"),
        (b'{"model":"\xff"}', "not UTF-8 at byte 10"),
        (
            b'{"model":"x","tools":[{"type":"function","function":{"name":"f","parameters":"\xff"}}]}',
            "not UTF-8 at byte",
        ),
        ('{"model":"\ud800"}', "half of a surrogate pair at character 10"),
    ],
)
def test_what_is_not_json_is_a_decode_error(data: bytes | str, words: str) -> None:
    """Nothing foreign is raised, and the byte is named where it is known."""
    assert words in refusal(data).message


def test_a_body_at_the_size_limit_is_read_and_one_byte_more_is_not() -> None:
    """The bound is the last size that passes."""
    assert decode_any(b'"1234567"', max_bytes=9) == "1234567"
    with pytest.raises(LimitExceededError, match="larger than 9 bytes"):
        decode_any(b'"12345678"', max_bytes=9)
    with pytest.raises(LimitExceededError):
        decode_any('"éééé"', max_bytes=9)
    for text in ('"12345678"', bytearray(b'"12345678"'), msgspec.Raw(b'"12345678"')):
        with pytest.raises(LimitExceededError, match="larger than 9 bytes"):
            decode_any(text, max_bytes=9)


def test_the_bounds_are_those_of_the_design() -> None:
    """64 MiB a body, 8 MiB an event, 128 levels."""
    assert (MAX_BODY_BYTES, MAX_EVENT_BYTES, MAX_DEPTH) == (64 * 2**20, 8 * 2**20, 128)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"]]}}\\"":', b"}]")])
def test_json_at_the_depth_limit_is_read_and_one_level_more_is_not(opening: bytes, closing: bytes) -> None:
    """Brackets in strings do not count, on either side."""
    times = 128 // (opening.count(b"[") + opening.startswith(b"{") + (opening.startswith(b"[{")))
    decode_any(opening * times + b"1" + closing * times)
    with pytest.raises(LimitExceededError, match="deeper than 128 levels"):
        decode_any(opening * times + b"[1]" + closing * times)


def test_depth_is_bounded_inside_members_that_are_kept_as_text() -> None:
    """`Raw` does not hide depth."""
    body = b'{"model":"x","tools":[{"type":"function","function":{"name":"f","parameters":%b}}]}'
    decode_wire(body % (b"[" * 124 + b"]" * 124), BodyWire)
    with pytest.raises(LimitExceededError):
        decode_wire(body % (b"[" * 125 + b"]" * 125), BodyWire)


def test_depth_is_bounded_later_in_members_that_are_read_later() -> None:
    """Text that is left for later may be deep, what stands beside it may not."""
    body = b'{"model":"x","later":%b,"beside":%b}'
    deep, flat = b"[" * 128 + b"]" * 128, b"[]"
    assert decode_received(body % (deep, flat), ReceivedWire, ("later",)).later == msgspec.Raw(deep)
    with pytest.raises(LimitExceededError, match="deeper than 128 levels"):
        decode_received(body % (flat, deep), ReceivedWire, ("later",))
    with pytest.raises(LimitExceededError, match="deeper than 128 levels"):
        decode_received(b'{"new":1,"later":%b}' % deep, ReceivedWire, ("later",))
    with pytest.raises(DecodeError):
        decode_received(b'{"later":[}', ReceivedWire, ("later",))
    assert decode_received(b'{"new":1}', ReceivedWire, ("later",)).extra == {"new": 1}


def test_a_flat_body_with_many_brackets_is_not_deep() -> None:
    """The exact measure is taken where the quick one cannot tell."""
    for count in (150, 2_000):
        value = [{"a": [1], "b]": '[{\\"'} for _ in range(count)]
        assert decode_any(encode(value)) == value
    flat: list[list[int]] = [[]] * 200
    assert decode_any(encode(flat)) == flat


def test_recursion_beyond_the_interpreter_is_a_limit_too() -> None:
    """A caller that lifts the bound still sees none of Python's errors."""
    with pytest.raises(LimitExceededError, match="interpreter"):
        decode_any(b"[" * 100_000 + b"]" * 100_000, max_depth=1_000_000)


def test_a_lone_surrogate_is_repaired_once_and_said() -> None:
    """Only for who asks; pairs and escaped backslashes stay."""
    data = rb'{"model":"a\ud800b\udc00 \ud83d\ude00 \\ud800"}'
    repairs: list[str] = []
    assert decode_wire(data, BodyWire, repairs=repairs).model == "a\ufffdb\ufffd 😀 \\ud800"
    assert repairs == ["lone_surrogate"]
    assert "surrogate" in refusal(data).message


def test_a_lone_surrogate_before_an_unknown_member_is_repaired() -> None:
    """What is found after the repair is put aside as ever; another fault is named."""
    repairs: list[str] = []
    value = decode_wire(rb'{"model":"\ud800","new":1}', BodyWire, repairs=repairs)
    assert (value.model, value.extra, repairs) == ("\ufffd", {"new": 1}, ["lone_surrogate"])
    with pytest.raises(DecodeError):
        decode_wire(rb'{"model":"\ud800","tools":1}', BodyWire, repairs=repairs)


def test_a_lone_surrogate_in_an_unknown_member_is_repaired() -> None:
    """The slow path repairs as the fast one does."""
    repairs: list[str] = []
    value = decode_wire(rb'{"model":"x","new":"\ud800"}', BodyWire, repairs=repairs)
    assert value.extra == {"new": "\ufffd"}
    assert repairs == ["lone_surrogate"]


def test_repairs_do_not_hide_other_faults() -> None:
    """A body without lone surrogates is not tried again."""
    repairs: list[str] = []
    assert "ends in the middle" in refusal(rb'{"model":"\u0041"', repairs=repairs).message
    assert repairs == []


# Unknown members

UNKNOWN = (
    b'{"model":"m","content":[{"type":"a","cache":{"ttl":"5m"},"parts":[{"type":"b","deep":1}]}],'
    b'"tools":[{"type":"function","function":{"name":"f","parameters":{"z": 1.0,  "a":1e5, "n":123456789012345678901},'
    b'"strict":null},"beta":true},{"type":"search","where":["eu"]}],"named":{"k":{"type":"c","x":[]}},"top":[1,"2"]}'
)


def test_unknown_members_are_kept_in_extra_of_their_object() -> None:
    """Lists, unions, tagged unions, free names and nesting are all reached."""
    value = decode_wire(UNKNOWN, BodyWire)
    assert value.extra == {"top": [1, "2"]}
    assert isinstance(value.content, list)
    assert value.content[0].extra == {"cache": {"ttl": "5m"}}
    assert value.content[0].parts is not None
    assert value.content[0].parts[0].extra == {"deep": 1}
    function, search = value.tools
    assert isinstance(function, FunctionToolWire)
    assert function.extra == {"beta": True}
    assert function.function.extra == {"strict": None}
    assert isinstance(search, SearchToolWire)
    assert search.extra == {"where": ["eu"]}
    assert value.named["k"].extra == {"x": []}


def test_raw_members_keep_their_exact_text_on_the_slow_path() -> None:
    """White space, float spelling and big integers survive both ways."""
    value = decode_wire(UNKNOWN, BodyWire)
    tool = value.tools[0]
    assert isinstance(tool, FunctionToolWire)
    assert bytes(tool.function.parameters) == b'{"z": 1.0,  "a":1e5, "n":123456789012345678901}'  # pyright: ignore[reportArgumentType] — Raw is a buffer
    assert b'{"z": 1.0,  "a":1e5, "n":123456789012345678901}' in encode_wire(value)


def test_unknown_members_are_written_back_where_they_were() -> None:
    """The same members as before, in another order."""
    assert decode_any(encode_wire(decode_wire(UNKNOWN, BodyWire))) == decode_any(UNKNOWN)


def test_members_that_are_null_are_kept() -> None:
    """Null is not absent to who sent it."""
    value = decode_wire(b'{"model":"m","new":null,"named":{"k":{"type":"t"}}}', BodyWire)
    assert value.extra == {"new": None}
    assert encode_wire(value) == b'{"model":"m","named":{"k":{"type":"t"}},"new":null}'


def test_recursion_on_the_slow_path_is_a_limit_too() -> None:
    """Also for a caller that lifts the bound."""
    body = b'{"model":"m","new":1,"free":{"a":%b}}' % (b"[" * 100_000 + b"]" * 100_000)
    with pytest.raises(LimitExceededError, match="interpreter"):
        decode_wire(body, BodyWire, max_depth=1_000_000)


def test_a_single_struct_in_a_union_is_reached() -> None:
    """An object where others send an array."""
    value = decode_wire(b'{"model":"m","content":{"type":"a","new":1}}', BodyWire)
    assert isinstance(value.content, PartWire)
    assert value.content.extra == {"new": 1}
    assert encode_wire(value) == b'{"model":"m","content":{"type":"a","new":1}}'


@pytest.mark.parametrize(
    "data", [b'{"model":"m","new":1,"tools":[{"limit":3}]}', b'{"model":"m","new":1,"tools":[{"type":"zip"}]}']
)
def test_a_tag_that_names_no_struct_is_a_decode_error(data: bytes) -> None:
    """Unknown members elsewhere do not change that."""
    assert refusal(data).path.startswith("/tools/0")


def test_nobody_outside_can_fill_extra_directly() -> None:
    """Our own name in a body is an unknown member like any other, however it is spelled."""
    for name in (EXTRA, EXTRA.replace("§", r"\u00a7", 1)):
        body = f'{{"model":"m","{name}":{{"temperature":2,"model":"other"}}}}'
        value = decode_wire(body, BodyWire)
        assert value.extra == {EXTRA: {"temperature": 2, "model": "other"}}
        assert decode_any(encode_wire(value)) == decode_any(body)


def test_a_field_wins_over_a_member_of_extra() -> None:
    """What a struct says is what is sent; a field that is not said may come from `extra`."""
    value = BodyWire(model="m", extra=Extra(model="other", temperature=1, new=[1]))
    assert encode_wire(value) == b'{"model":"m","temperature":1,"new":[1]}'


def test_extra_takes_raw_values() -> None:
    """Text in `extra` is written as it is."""
    assert encode_wire(BodyWire(model="m", extra=Extra(n=msgspec.Raw(b"1e5")))) == b'{"model":"m","n":1e5}'


def test_kept_texts_stand_in_their_places_and_are_not_looked_into() -> None:
    """In any order, several times, beside members of `extra`, with nulls and our own name in them."""
    kept = TextSlots()
    first, second = kept.place(b'["null",null]'), kept.place(b'{"%b":1}' % EXTRA.encode())
    value = ReceivedWire(model="\0", later=second, beside=first)
    assert (
        encode_wire(value, slots=kept)
        == b'{"model":"\\u0000","later":{"%b":1},"beside":["null",null]}' % EXTRA.encode()
    )
    assert kept.text(first) == b'["null",null]'
    plain = TextSlots()
    value = ReceivedWire(later=plain.place(b"[1]"), extra=Extra(new=1))
    assert encode_wire(value, slots=plain) == b'{"later":[1],"new":1}'


def test_our_own_name_in_a_text_changes_nothing() -> None:
    """The quick test for `extra` may be wrong in one direction only."""
    value = BodyWire(model=f'"{EXTRA}":', content=[PartWire(type=EXTRA)])
    assert encode_wire(value) == msgspec.json.encode(value)


def test_structs_without_the_field_refuse_unknown_members() -> None:
    """Nothing is lost in silence there either."""

    class Closed(msgspec.Struct, forbid_unknown_fields=True):
        a: int

    assert "unknown field `b`" in refusal(b'{"a":1,"b":2}', Closed).message


# Writing


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (math.nan, "the top"),
        ([1, {"a/b~": (math.inf,)}], "/1/a~1b~0/0"),
        ({"a": None, "b": -math.inf}, "/b"),
    ],
)
def test_arg_10_and_19_non_finite_numbers_are_refused_with_their_place(value: Any, path: str) -> None:
    """Neither bare NaN nor a silent null."""
    with pytest.raises(UsageError, match="is not finite") as caught:
        encode(value)
    assert f"at {path} " in caught.value.message


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (BodyWire(model="m", temperature=math.nan), "/temperature"),
        (BodyWire(model="m", free={"a": [math.inf]}), "/free/a/0"),
        (BodyWire(model="m", extra=Extra(a={"b": math.nan})), "/a/b"),
        (BodyWire(model="m", content=[PartWire(type="t", extra=Extra(a=math.nan))]), "/content/0/a"),
    ],
)
def test_non_finite_numbers_in_wire_structs_are_refused_with_their_place(value: BodyWire, path: str) -> None:
    """Members of `extra` are named where they will stand."""
    with pytest.raises(UsageError, match=f"at {path} is not finite"):
        encode_wire(value)


def test_null_is_written_where_it_is_meant() -> None:
    """The check for NaN lets honest nulls through."""
    assert encode({"a": None, "b": 1.5}) == b'{"a":null,"b":1.5}'


@pytest.mark.parametrize("value", [["x", "\ud800"], {"a": "é", "b": {"c": "\udfff"}}])
def test_a_lone_surrogate_cannot_be_written(value: Any) -> None:
    """The place is named, not Python's codec."""
    with pytest.raises(UsageError, match=r"the text at /(1|b/c) holds half of a surrogate pair"):
        encode(value)
    with pytest.raises(UsageError, match="/content/0/text"):
        encode_wire(BodyWire(model="m", content=[PartWire(type="t", text="\ud800")]))


def test_a_lone_surrogate_as_a_key_cannot_be_written() -> None:
    """Keys count, too."""
    with pytest.raises(UsageError, match="half of a surrogate pair"):
        encode({"\ud800": 1})


def test_what_is_no_json_cannot_be_written() -> None:
    """Objects of other types and endless ones are our caller's fault."""
    with pytest.raises(UsageError, match="object is unsupported"):
        encode(object())
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(LimitExceededError, match="contains itself"):
        encode(endless)


def test_members_are_written_in_their_own_order_or_sorted() -> None:
    """A prefix of a request stays a prefix of the next one."""
    value = {"b": 1, "a": {"d": 1, "c": 2}}
    assert encode(value) == b'{"b":1,"a":{"d":1,"c":2}}'
    assert encode(value, sort_keys=True) == b'{"a":{"c":2,"d":1},"b":1}'


def test_raw_text_is_written_as_it_is() -> None:
    """A value that was encoded once is not encoded again."""
    assert encode({"a": raw({"b": 1}), "c": msgspec.Raw(b"1.50")}) == b'{"a":{"b":1},"c":1.50}'


def test_a_pointer_escapes_its_steps() -> None:
    """As RFC 6901 says."""
    assert pointer() == ""
    assert pointer("a/b", 0, "c~d") == "/a~1b/0/c~0d"
    assert pointer_steps("/a~1b/0/c~0d") == pointer_steps("#/a~1b/0/c~0d") == ["a/b", "0", "c~d"]
    assert pointer_steps("") == pointer_steps("#") == []


def test_what_is_exactly_of_a_type_is_read_at_once() -> None:
    """Anything else is None: another member or type, no JSON, bytes that are no UTF-8, a mark in front."""
    read = exact_reader(UsualWire)
    assert read(b' {"model":"m","count":2}\n') == UsualWire("m", 2)
    others = [
        b"",
        b"[]",
        b'{"count":2}',
        b'{"model":"m","x":1}',
        b'{"model":1}',
        b'{"model":"\xff"}',
        b'{"model":"m"} x',
    ]
    others += [b'\xef\xbb\xbf{"model":"m"}', rb'{"model":"\ud800"}', b" " * MAX_BODY_BYTES + b'{"model":"m"}']
    assert [read(body) for body in others] == [None] * len(others)


def test_free_json_is_of_a_type_that_says_how_deep_it_is() -> None:
    """Any value so deep is read as it is without a type, and anything deeper is none of it."""
    read = exact_reader(cast("type[object]", shallow(2)))
    values = ["null", "true", "12345678901234567890123", "-1.5", '"x"', "[]", '{"a":[1,null]}', '[{"a":"b"},[2.5]]']
    assert [read(value.encode()) for value in values] == [decode_any(value) for value in values]
    assert [read(value) for value in (b"[[[]]]", b'{"a":{"b":{}}}', b"1e999")] == [None] * 3
    assert exact_reader(cast("type[object]", shallow(0)))(b"[]") is None


def test_what_holds_no_floats_is_written_at_once() -> None:
    """None where half of a surrogate pair is in it."""
    assert encode_exact(UsualWire("m", 2)) == b'{"model":"m","count":2}'
    assert encode_exact(UsualWire("\ud800")) is None


def test_several_wire_structs_are_the_elements_of_an_array() -> None:
    """They are said as each by itself, with members of `extra` and nulls that are meant, and refused as each is."""
    plain, own = BodyWire(model="m"), BodyWire(model="n", extra=Extra(new=[1, None]))
    assert encode_wires([plain, plain]) == b'{"model":"m"},{"model":"m"}'
    assert encode_wires([plain, own], lambda wire: wire is own) == b'{"model":"m"},{"model":"n","new":[1,null]}'
    assert encode_wires(list[BodyWire]()) == b""
    with pytest.raises(UsageError, match="the number at /new is not finite"):
        encode_wires([plain, BodyWire(model="m", extra=Extra(new=float("nan")))])
    with pytest.raises(UsageError, match="the text at /model holds half of a surrogate pair"):
        encode_wires([plain, BodyWire(model="\ud800")])
