"""Nulls that were meant, and those that stand for what JSON cannot say."""

from __future__ import annotations

import pytest

from interlingua.wire._nulls import is_told_by


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [
        (b'{"a":1}', {"a": 1}, True),
        (b'{"a":null,"b":"null"}', {"a": None, "b": "null"}, True),
        (b'{"a":null}', {"a": float("nan")}, False),
        (b'{"a":[null,null]}', {"a": [None, float("inf")]}, False),
        (b'{"a":[null,null]}', {"a": [None, float("-inf")]}, False),
        (b'[null,"\xcb\xbf"]', [None, "\u02ff"], True),
        (b"[null,1000000000000000000000]", [None, 10**21], False),
    ],
)
def test_whether_a_text_tells_all_of_its_value(text: bytes, value: object, *, told: bool) -> None:
    """A null may stand for what JSON cannot say; beside integers of more than 64 bits nobody looks."""
    assert is_told_by(text, value) is told
