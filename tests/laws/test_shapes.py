"""A member in its usual form says as structs what it says as plain values: its form decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from interlingua.dialects._shapes import SHAPES
from interlingua.dialects.table import get_service
from interlingua.errors import Error
from interlingua.gateway.calls.plan import _TRIGGERS
from interlingua.gateway.calls.reading import Head, rules_of
from interlingua.wire.body import Body, BodyRules, read_body
from interlingua.wire.json import encode
from tests.support.full_bodies import HISTORY, alone, changed_at, places_in

OWN = "call_il" + "a" * 22
OTHERS: tuple[object, ...] = ("", "x", None, OWN, [], {"role": "x"}, {"type": "text", "text": "x"})
WORDS = frozenset[str]().union(*[trigger.words for trigger in _TRIGGERS])
"""The words that anything is decided by."""


def bodies(dialect: str) -> Iterator[bytes]:
    """Bodies of every kind, with other values in each place, and each also with a name that stands twice."""
    for body in alone(dialect):
        yield encode(body)
        yield encode(body).replace(b'"role":', b'"role":"x","role":', 1)
        yield encode(body).replace(b'"type":', b'"type":"x","typ\\u0065":', 1)
        for steps in places_in(body):
            for other in OTHERS:
                yield encode(changed_at(body, steps, other), nulls=100)


def told(text: bytes, rules: BodyRules) -> tuple[Body | None, object]:
    """A body that was read, or why it was refused."""
    try:
        return read_body(text, rules), None
    except Error as error:
        return None, (type(error), error.message)


def decided(dialect: str, body: Body) -> dict[str, Any]:
    """Everything that is decided from a body."""
    head = Head(dialect, get_service(dialect), "m", stream=False, json_array=False, body=body)
    history = HISTORY.get(dialect, "messages")
    return {
        "ours": head.is_ours,
        "committed": head.is_committed,
        "normal": head.is_normal,
        "tools": head.has_tools,
        "said": head.says_something,
        "words": WORDS & head.words(history),
        "words of tools": WORDS & head.words("tools"),
        "repeats": body.repeats_in_data,
        "value": body.value,
    }


@pytest.mark.parametrize("dialect", SHAPES)
def test_a_usual_form_decides_nothing(dialect: str) -> None:
    """The same refusal, or the same answer to every question."""
    rules = rules_of(dialect)
    plain = msgspec.structs.replace(rules, shapes={})
    shaped = refused = 0
    for text in bodies(dialect):
        (one, problem), (other, other_problem) = told(text, rules), told(text, plain)
        assert problem == other_problem, text
        if one is None or other is None:
            refused += 1
            continue
        shaped += bool(one.shaped)
        assert decided(dialect, one) == decided(dialect, other), text
    assert (shaped > 200, refused > 20) == (True, True), (shaped, refused)
