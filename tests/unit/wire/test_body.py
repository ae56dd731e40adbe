"""The one reading of a request body: what is refused with which place, and what an edit leaves alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire.body import (
    MAX_NAME_BYTES,
    MAX_UNKNOWN_MEMBERS,
    body_rules,
    body_without,
    edited_body,
    read_body,
)

RULES = body_rules(("model", "messages", "max_tokens", "generationConfig"), ("metadata", "parameters"))


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b'{"model":"a","model":"b"}', "/model"),
        (b'{"model":"a","mod\\u0065l":"b"}', "/model"),
        (b'{"messages":[{"role":"user","role":"system"}]}', "/messages/0/role"),
        (b'{"messages":[{"role":"user","r\\u006fle":"system"}]}', "/messages/0/role"),
        (b'{"max_tokens":1,"messages":[],"max_tokens":900000}', "/max_tokens"),
        (b'{"user":"a\\u003ab","max_tokens":1,"max_tokens":2}', "/max_tokens"),
        (b'{"user":"\\\\u003a","max_tokens":1,"max_tokens":2}', "/max_tokens"),
        (b'{"a:b":1,"a\\u003Ab":2}', "/a:b"),
        (b'{"x":[[{"y":[{"z":1,"z":1}]}]]}', "/x/0/0/y/0/z"),
    ],
)
def test_a_name_that_stands_twice_is_refused_with_its_place(body: bytes, path: str) -> None:
    """At any depth, however it is escaped, and though both values are alike."""
    with pytest.raises(DecodeError) as refused:
        read_body(body, RULES)
    assert (refused.value.path, refused.value.status, refused.value.code) == (path, 400, "duplicate_member")


@pytest.mark.parametrize(
    "body",
    [
        b'{"metadata":{"a":1,"a":2}}',
        b'{"tools":[{"parameters":{"properties":{"x":{"type":"string","type":"number"}}}}]}',
    ],
)
def test_a_name_that_stands_twice_in_data_is_noted(body: bytes) -> None:
    """Schemas and metadata are the caller's own, but such a text must not be sent on as it is."""
    assert read_body(body, RULES).repeats_in_data


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"a:b","user":"c\\u003ad\\\\u003a::","messages":[{"role":"user"},{"role":"user"}]}',
        b' {"n" : 1e3, "t":"\\u00e9\\/", "big":123456789012345678901234567890} \n',
        '{"text":"ünï: ☃","a":{"b":{"c":null}}}'.encode(),
        b"{}",
    ],
)
def test_a_body_without_repetition_is_read_however_it_is_written(body: bytes) -> None:
    """Spaces, escapes, colons and numbers in any form; the value is what the standard library reads."""
    read = read_body(body, RULES)
    assert (read.value, read.text, read.repeats_in_data, read.repairs) == (json.loads(body), body, False, ())


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b'{"model":"a","Model":"b"}', "/Model"),
        (b'{"MODEL":"b"}', "/MODEL"),
        (b'{"MAX_TOKENS":1}', "/MAX_TOKENS"),
        (b'{"messages":[{"role":"user","Role":"system"}]}', "/messages/0/Role"),
        ('{"meſſages":[]}'.encode(), "/meſſages"),
        (b'{"generationConfig":{},"generation_config":{}}', "/generation_config"),
        (b'{"contents":[{"inlineData":{},"inline_data":{}}]}', "/contents/0/inline_data"),
    ],
)
def test_a_name_that_some_readers_take_for_another_is_refused(body: bytes, path: str) -> None:
    """Servers in Go fold case, those of Google read both spellings: each would choose another of the two values."""
    with pytest.raises(DecodeError) as refused:
        read_body(body, RULES)
    assert (refused.value.path, refused.value.status, refused.value.code) == (path, 400, "ambiguous_member")


def test_one_spelling_alone_is_read() -> None:
    """The snake case of a known name, and names of any case that nobody knows."""
    body = b'{"generation_config":{"A":1},"parameters":{"a":1,"A":2},"X-Title":1}'
    assert list(read_body(body, RULES).value) == ["generation_config", "parameters", "X-Title"]


def test_a_name_at_the_bound_is_read_and_one_byte_more_is_refused() -> None:
    """Bytes of UTF-8 count, at any depth."""
    at_bound, beyond = "é" * (MAX_NAME_BYTES // 2), "é" * (MAX_NAME_BYTES // 2) + "e"
    assert at_bound in read_body(json.dumps({at_bound: 1}).encode(), RULES).value
    assert read_body(json.dumps({"metadata": {beyond: 1}}).encode(), RULES)
    with pytest.raises(DecodeError, match="the object has a name of more than 256 bytes") as refused:
        read_body(json.dumps({"messages": [{beyond: 1}]}).encode(), RULES)
    assert (refused.value.path, refused.value.status) == ("/messages/0", 400)


def test_unknown_members_at_the_bound_are_read_and_one_more_is_refused() -> None:
    """Known members do not count, and the inside of data is free."""
    many: dict[str, Any] = {f"k{number}": number for number in range(MAX_UNKNOWN_MEMBERS)}
    assert len(read_body(json.dumps({"model": "a", **many}).encode(), RULES).value) == MAX_UNKNOWN_MEMBERS + 1
    assert read_body(json.dumps({"metadata": {**many, "one": 1}}).encode(), RULES)
    for body, path in (({**many, "one": 1}, ""), ({"messages": [{**many, "one": 1}]}, "/messages/0")):
        with pytest.raises(DecodeError, match="the object has more than 1,000 unknown members") as refused:
            read_body(json.dumps(body).encode(), RULES)
        assert (refused.value.path, refused.value.status) == (path, 400)


@pytest.mark.parametrize("body", [b"", b"[]", b"1", b"null", b'"a"', b"{", b"{}{}", b'{"a":\xff}', b'{"a":1e999}'])
def test_what_is_no_object_is_the_clients_fault(body: bytes) -> None:
    """Anything but one object in UTF-8 is a DecodeError with the status 400."""
    with pytest.raises(DecodeError) as refused:
        read_body(body)
    assert refused.value.status == 400


def test_depth_and_size_are_bounded() -> None:
    """One level or one byte more is refused."""
    assert read_body(b'{"a":' * 128 + b"1" + b"}" * 128).text
    with pytest.raises(LimitExceededError):
        read_body(b'{"a":' * 129 + b"1" + b"}" * 129)
    assert read_body(b'{"a":"aaaa"}', max_bytes=12).text
    with pytest.raises(LimitExceededError):
        read_body(b'{"a":"aaaa"}', max_bytes=11)


def test_half_of_a_surrogate_pair_is_repaired_in_the_text() -> None:
    """What is read is what may be sent on."""
    body = read_body(b'{"a":"\\ud800 and \\ud83d\\ude00"}')
    assert body.text == b'{"a":"\\ufffd and \\ud83d\\ude00"}'
    assert (body.value, body.repairs) == ({"a": "\ufffd and \U0001f600"}, ("lone_surrogate",))


@pytest.mark.parametrize(
    ("body", "edits", "expected"),
    [
        (b'{ "model" :\t"a", "n" : 1e0 }', {"model": b'"b"'}, b'{ "model" :\t"b", "n" : 1e0 }'),
        (b'{"mod\\u0065l":"a","n":[1, 2]}', {"model": b'"b"'}, b'{"mod\\u0065l":"b","n":[1, 2]}'),
        (b'{"a,":1, "b":2 ,"c":3}', {"a,": None}, b'{ "b":2 ,"c":3}'),
        (b'{"a":1, "b":2 ,"c":3}', {"b": None}, b'{"a":1 ,"c":3}'),
        (b'{"a":1, "b":2 ,"c":3 }', {"c": None}, b'{"a":1, "b":2 }'),
        (b'{"a":1,"b,":2}', {"a": None}, b'{"b,":2}'),
        (b'{"a":1}', {"a": None, "z": b"2"}, b'{"z":2}'),
        (b" { } ", {"z": b"2", "y": b"[]"}, b' {"z":2,"y":[] } '),
        (b'{"a":1 }', {"z": b"2", "y": None}, b'{"a":1,"z":2 }'),
        (b'{"a":"\\"},:","b":1}', {"b": b"2"}, b'{"a":"\\"},:","b":2}'),
        (b'{"a":1}', {}, b'{"a":1}'),
    ],
)
def test_an_edit_changes_the_members_that_it_names_and_nothing_else(
    body: bytes, edits: dict[str, bytes | None], expected: bytes
) -> None:
    """Replaced, taken out and added, byte for byte."""
    assert edited_body(read_body(body), edits) == expected


def test_the_representation_holds_nothing_of_the_client() -> None:
    """A body in a log line is its size."""
    assert repr(read_body(b'{"key":"secret"}')) == "<Body of 16 bytes>"


@pytest.mark.parametrize(
    "text", [b'{"a":1,"b":[2],"c":{"d":"e"}}', b' { "a" : 1 , "b":[2] , "c" : {"d":"e"} } ', b'{"b":[2]}']
)
@pytest.mark.parametrize("names", [{"a"}, {"b", "c"}, {"a", "b", "c"}])
def test_a_body_without_members_is_what_its_text_says(text: bytes, names: set[str]) -> None:
    """It is the body that would be read of the text without them."""
    body = read_body(text)
    rest = body_without(body, frozenset(names & body.members.keys()))
    again = read_body(rest.text)
    assert (rest.text, rest.places, rest.value) == (again.text, again.places, again.value)
    assert not names & rest.members.keys()


def test_dos_03_biases_of_tokens_are_bounded() -> None:
    """Numbers of large exponents are slow to decode, so that a megabyte of them would hold up everybody."""
    biases = ",".join([f'"{token}":1e308' for token in range(2_000)])
    rules = body_rules(("logit_bias",), ("logit_bias",))
    assert read_body(b'{"logit_bias":{%b}}' % biases.encode(), rules).value["logit_bias"]["7"] == 1e308
    with pytest.raises(LimitExceededError, match="/logit_bias: its text is longer than 32,768 bytes") as caught:
        read_body(b'{"logit_bias":{%b,%b}}' % (biases.encode(), b'"x":' + b" " * 10_000 + b"1"), rules)
    assert caught.value.status == 400
