"""Which bodies are cheap, and how many values a body may hold."""

from __future__ import annotations

import json

import pytest

from interlingua.errors import LimitExceededError
from interlingua.gateway.calls.reading import CHEAP_BYTES, MAX_CONTAINERS, MAX_VALUES, check_values, is_cheap

MANY = b'{"a":[%b]}' % b",".join([b"{}"] * 30_000)


def test_a_small_body_is_cheap_whatever_it_holds() -> None:
    """At the bound it is; one byte more, it is looked at."""
    assert is_cheap(b"{" * CHEAP_BYTES)
    assert not is_cheap(b"{" * (CHEAP_BYTES + 1))


@pytest.mark.parametrize(
    ("body", "cheap"),
    [
        (b'{"a":"%b"}' % (b"a" * 2_000_000), True),
        (b'{"a":"%b"}' % (b"a" * 2_097_152), False),
        (json.dumps({"a": "{[,]}" * 100_000}).encode(), True),  # program text
        (json.dumps({"a": 'print("{}, {}")\n' * 50_000}).encode(), True),
        (MANY, False),
        (b'{"a":[%b]}' % b",".join([b"1"] * 100_002), False),
        (b'{"a":[%b]}' % b",".join([b'"{"'] * 60_000), False),
        (b'{"a":"%b"}' % (b"\\ud800" * 20_000), False),
        (b'{"a":"%b' % (b"{" * 100_000), True),  # a string that does not end
        (b'{"a":"%b' % (b'\\"{' * 100_000), True),
        (b'{"a":"%b\\' % (b"{" * 100_000), True),
    ],
    ids=("text", "larger", "brackets", "program", "objects", "numbers", "strings", "halves", "cut", "cut 2", "cut 3"),
)
def test_what_is_cheap(body: bytes, *, cheap: bool) -> None:
    """By the number of values, and what stands in strings does not count."""
    assert is_cheap(body) is cheap


def test_dos_03_the_values_of_a_body_are_bounded() -> None:
    """At the bounds they pass, one more is refused; in strings there may be as many as there is room for."""
    empty = b",".join([b"{}"] * (MAX_CONTAINERS - 2))
    check_values(b'{"a":[%b]}' % empty)
    with pytest.raises(LimitExceededError, match="more than 50,000 objects and arrays, or 400,000 values"):
        check_values(b'{"a":[%b,[]]}' % empty)
    numbers = b",".join([b"1"] * (MAX_VALUES + 1))
    check_values(b'{"a":[%b]}' % numbers)
    with pytest.raises(LimitExceededError):
        check_values(b'{"a":[%b,1]}' % numbers)
    check_values(json.dumps({"a": "{[,]}" * 1_000_000}).encode())
