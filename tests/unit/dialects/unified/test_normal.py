"""The normal form of our own format: each rule by bodies that mean the same, and by some that do not."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects.unified import DIALECT

CALL: dict[str, Any] = {"type": "tool_call", "id": "c", "name": "f", "arguments": {"a": None}}
RESULT: dict[str, Any] = {"type": "tool_result", "tool_call_id": "c", "content": None}


def turn(*parts: dict[str, Any]) -> dict[str, Any]:
    """A body with these parts in one message."""
    return {"messages": [{"role": "assistant", "parts": list(parts)}]}


SAME: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "request",
        {"messages": [{"role": "user", "content": "a"}]},
        {"messages": [{"role": "user", "parts": [{"type": "text", "text": "a"}]}]},
    ),
    ("request", {"messages": [{"role": "user", "content": ""}]}, {"messages": [{"role": "user", "parts": []}]}),
    ("request", {"system": "a"}, {"system": [{"type": "text", "text": "a"}]}),
    ("request", {"system": ""}, {"system": []}),
    ("request", turn(CALL, RESULT), turn(CALL, {**RESULT, "name": "f", "is_error": False})),
    ("request", {"stream": False, "tools": [], "stop": [], "temperature": None, "json_mode": False}, {}),
    (
        "request",
        {"tools": [{"type": "tool", "name": "f", "freeform": {"syntax": "text"}}]},
        {"tools": [{"name": "f", "freeform": {}}]},
    ),
    (
        "request",
        {"tool_choice": {"type": "allowed_tools", "names": ["f"], "mode": "auto"}},
        {"tool_choice": {"type": "allowed_tools", "names": ["f"]}},
    ),
    ("response", {"text": "a", "tool_calls": [], "parts": [], "finish_reason": "stop"}, {"finish_reason": "stop"}),
    (
        "chunk",
        {"type": "text_delta", "index": 0, "text": "a", "choice": 0},
        {"type": "text_delta", "index": 0, "text": "a"},
    ),
    (
        "chunk",
        {"type": "stream_end", "response": {"text": "a", "finish_reason": "stop"}},
        {"type": "stream_end", "response": {"finish_reason": "stop"}},
    ),
]
"""Kind of body, and two bodies that mean the same."""

OTHER: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("request", turn(CALL), turn({**CALL, "arguments": {}})),
    ("request", turn(CALL, RESULT), turn(CALL, {**RESULT, "name": "g"})),
    ("request", turn(RESULT), turn({**RESULT, "content": ""})),
    ("request", {"store": False}, {}),
    ("request", {"thinking": False}, {}),
    ("request", {"metadata": {"a": None}}, {"metadata": {}}),
    ("request", {"metadata": {}}, {}),
    ("request", {"n": 1}, {}),
    ("request", {"output_schema": {}}, {}),
    ("request", {"tools": [{"name": "f", "freeform": {}}]}, {"tools": [{"name": "f"}]}),
    ("response", {"parts": [{"type": "text", "text": ""}], "finish_reason": "stop"}, {"finish_reason": "stop"}),
    ("chunk", {"type": "text_delta", "index": 0, "text": "a"}, {"type": "text_delta", "index": 1, "text": "a"}),
]
"""Kind of body, and two bodies that do not mean the same."""


@pytest.mark.parametrize(("kind", "one", "other"), SAME)
def test_bodies_that_mean_the_same(kind: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    """One normal form."""
    assert DIALECT.normal_form(kind, one) == DIALECT.normal_form(kind, {**other})


@pytest.mark.parametrize(("kind", "one", "other"), OTHER)
def test_bodies_that_do_not(kind: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    """Two normal forms."""
    assert DIALECT.normal_form(kind, one) != DIALECT.normal_form(kind, other)


@pytest.mark.parametrize(
    "body", [None, 1, "a", [1, None], {"messages": 7}, {"messages": [7, {"parts": 1}, {"parts": [1]}]}]
)
def test_any_value_has_a_normal_form(body: object) -> None:
    """Also what is no body at all."""
    for kind in ("request", "response", "chunk"):
        DIALECT.normal_form(kind, body)
