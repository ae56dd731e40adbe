from __future__ import annotations

import pytest

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire.arguments import are_sound, check_arguments, parse_arguments, parse_unique
from tests.support.cells import cells


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        ' {"a":1}\n',
        '{"url":"http://a:1/","t":"12:30"}',
        '{"a":{"b":1},"c":{"b":1}}',
        '{"a":[{"b":1},{"b":2}]}',
        '{"a:b":{}}',
    ],
)
def test_one_object_with_unique_keys_is_whole(text: str) -> None:
    """Colons in strings and equal keys of different objects are fine."""
    assert check_arguments(text) is None
    assert check_arguments(text.encode()) is None
    assert are_sound(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        "null",
        "{",
        "\ufeff{}",
        "\ud800",
        '{"a":1,"a":2}',
        '{"a":1,"a":"\\u003a"}',
        '{"a":NaN}',
        '{"a":1e999}',
    ],
)
def test_what_is_no_such_object_is_never_sound(text: str) -> None:
    """Not even where an escaped colon stands for the one that a dropped key brought."""
    assert not are_sound(text)


def test_a_text_that_may_be_too_deep_for_its_body_is_left_to_others() -> None:
    """Bodies may nest 128 levels deep, and arguments stand some levels down."""
    nested = {depth: "[" * depth + "]" * depth for depth in (111, 112)}
    assert [are_sound(f'{{"a":{text}}}') for text in nested.values()] == [True, False]
    assert [check_arguments(f'{{"a":{text}}}') for text in nested.values()] == [None, None]


@cells(
    ("text", "reason"),
    [
        ("", "malformed"),
        ("   ", "malformed"),
        ("{'a': 1}", "malformed"),
        ('{"a": 1}}', "malformed"),
        ('{"a": 1,}', "malformed"),
        ('{"a": 1} {"b": 2}', "malformed"),
        ('\ufeff{"a": 1}', "malformed"),
        (r'{"a": "\ud800"}', "malformed"),
        ('{"a": "\ud800"}', "malformed"),
        ("null", "not_object"),
        ("[1]", "not_object"),
        ('"{\\"a\\":1}"', "not_object"),
        ('{"a":1,"a":2}', "duplicate_key"),
        ('{"a":1,"\\u0061":1}', "duplicate_key"),
        ('{"x":{"a":1,"a":1}}', "duplicate_key"),
        ('{"x":[[{"a":1,"b":"c:d","a":1}]]}', "duplicate_key"),
        ('{"a":NaN}', "non_finite"),
        ('{"a":[Infinity]}', "non_finite"),
        ('{"a":-Infinity}', "non_finite"),
        ('{"a":1e999}', "non_finite"),
        ('{"a":-1.5E+999}', "non_finite"),
        ("NaN", "malformed"),
        ('{"a":NaN', "malformed"),
        ('{"a":' + "9" * 5_000 + "}", "malformed"),
    ],
)
def test_arg_09_to_11_what_is_not_one_object_has_a_reason(text: str, reason: str) -> None:
    """Nothing is repaired, nothing becomes `{}`."""
    assert check_arguments(text) == reason
    assert check_arguments(text.encode(errors="surrogatepass")) == reason


def test_arg_17_control_characters_in_strings_are_malformed() -> None:
    """A raw line break in a string is not JSON."""
    assert check_arguments('{"a":"x\ny"}') == "malformed"


def test_arg_06_python_is_not_json() -> None:
    """`str(dict)` is malformed."""
    assert check_arguments(str({"city": "Oslo", "ok": True})) == "malformed"


def test_arg_18_infinity_is_a_fault_of_that_call_alone() -> None:
    """It has a reason of its own, so that the reply can be kept."""
    assert check_arguments('{"limit": Infinity}') == "non_finite"


WHOLE = r' {"a": [1, -2.5e+3, {"b\"": "x\u00e9\\"}, true, false, null], "c": {}, "d": "\ud83d\ude00 {[", "": [[]]}'


@cells("end", range(2, len(WHOLE)))
def test_arg_12_every_beginning_of_an_object_is_cut_off(end: int) -> None:
    """But only when the answer ended by its length; otherwise it is malformed."""
    assert check_arguments(WHOLE[:end], ended_early=True) == "cut_off"
    assert check_arguments(WHOLE[:end]) == "malformed"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (WHOLE, None),
        ("", "malformed"),
        ("[1, 2", "malformed"),
        ('{"a": 1} {"b"', "malformed"),
        ('{"a": [1}', "malformed"),
        ('{"a": 1]', "malformed"),
        ("{a: 1", "malformed"),
        ('{"a": tru_', "malformed"),
        ('{"a" 1', "malformed"),
        ('{"a": "x\ny', "malformed"),
        ('{"a":1,"a":2}', "duplicate_key"),
        ('{"a":NaN}', "non_finite"),
    ],
)
def test_what_no_end_could_make_whole_is_not_cut_off(text: str, reason: str | None) -> None:
    """A proper prefix of an object, and nothing else."""
    assert check_arguments(text, ended_early=True) == reason


def test_arguments_are_bounded_in_depth() -> None:
    """128 levels pass, one more does not; neither does a million."""
    text = '{"a":' * 128 + "1" + "}" * 128
    assert check_arguments(text) is None
    for deeper in ('{"a":' + text + "}", '{"a":' * 1_000_000):
        with pytest.raises(LimitExceededError):
            check_arguments(deeper)


def test_arg_08_parsed_arguments_have_exact_integers() -> None:
    """An id above 2**53 stays that id."""
    assert parse_arguments('{"id": 9007199254740993, "big": 123456789012345678901234567890}') == {
        "id": 9007199254740993,
        "big": 123456789012345678901234567890,
    }


def test_broken_arguments_cannot_be_parsed() -> None:
    """The reason is the error's code."""
    with pytest.raises(DecodeError, match="duplicate_key") as caught:
        parse_arguments('{"a":1,"a":2}')
    assert caught.value.code == "duplicate_key"


def test_long_bad_bytes_are_malformed() -> None:
    """Text beyond the quick path is checked for UTF-8, too."""
    assert check_arguments(b'{"a":"' + b"x" * 300 + b'\xff"}') == "malformed"
    assert check_arguments('{"a":"' + "x" * 300 + '\ud800"}') == "malformed"


def test_a_repeated_key_among_very_many_is_found_in_one_pass() -> None:
    """Hostile arguments with a key for each few bytes take no time that grows with the square of their number."""
    keys = ",".join([f'"{number}":1' for number in range(300_000)])
    assert check_arguments(f'{{{keys},"299999":2}}') == "duplicate_key"
    with pytest.raises(DecodeError, match='the key "299999" stands twice'):
        parse_unique(f'{{{keys},"299999":2}}')


@pytest.mark.parametrize("text", ['{"a":"\\u003a"}', '{"\\u003a":1,"b":"12:30"}'])
def test_a_byte_order_mark_before_unique_keys_is_passed_over(text: str) -> None:
    """What is read without its mark is looked through without it, too."""
    assert parse_unique("\ufeff" + text) == parse_unique(text)


def test_a_byte_order_mark_does_not_hide_a_repeated_key() -> None:
    """The fault is the key."""
    with pytest.raises(DecodeError, match='the key "a" stands twice'):
        parse_unique('\ufeff{"a":1,"a":2}')
