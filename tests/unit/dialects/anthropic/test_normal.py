"""The rules of the normal form, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects.anthropic import DIALECT


def normal(kind: str, body: Any) -> Any:
    """The normal form of a body."""
    return DIALECT.normal_form(kind, body)


def said(*blocks: Any, role: str = "user") -> Any:
    """A request with one message."""
    return {"messages": [{"role": role, "content": list(blocks)}]}


EMPTY: list[Any] = []
TEXT: dict[str, Any] = {"type": "text", "text": "a"}
THINKING: dict[str, Any] = {"type": "thinking", "thinking": "a", "signature": "s"}
MARK: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
RESULT: dict[str, Any] = {"type": "tool_result", "tool_use_id": "t", "content": [TEXT]}


SAME_REQUESTS: list[Any] = [
    pytest.param({"top_k": None}, {}, id="absent_members"),
    pytest.param({"stream": False, "tools": EMPTY, "stop_sequences": EMPTY, "system": ""}, {}, id="defaults"),
    pytest.param(
        {"output_format": {"type": "json_schema"}},
        {"output_config": {"format": {"type": "json_schema"}}},
        id="output_format",
    ),
    pytest.param(
        {"tools": [{"type": "custom", "name": "f", "cache_control": {"type": "ephemeral", "ttl": "5m"}}]},
        {"tools": [{"name": "f", "input_schema": {"type": "object", "properties": dict[str, Any]()}, **MARK}]},
        id="tools",
    ),
    pytest.param(
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": False}},
        {"tool_choice": {"type": "auto"}},
        id="tool_choice",
    ),
    pytest.param({"cache_control": {"type": "ephemeral", "ttl": "5m"}}, MARK, id="cache"),
    pytest.param(
        {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": [RESULT]}]},
        said(RESULT, TEXT),
        id="roles: neighbours, results first",
    ),
    pytest.param(
        {"messages": [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]},
        {"system": "a", "messages": [{"role": "user", "content": "b"}]},
        id="roles: leading system text",
    ),
    pytest.param(
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": EMPTY}]},
        said(TEXT),
        id="roles: a turn that says nothing",
    ),
    pytest.param(said({"type": "text", "text": ""}, TEXT), said(TEXT), id="empty text"),
    pytest.param(said({**RESULT, "is_error": False, "content": "a"}), said(RESULT), id="results"),
    pytest.param(said({**THINKING, **MARK}, role="assistant"), said(THINKING, role="assistant"), id="thinking"),
    pytest.param(
        said({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "_-8"}}),
        said({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "/+8="}}),
        id="base64",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME_REQUESTS)
def test_two_requests_that_mean_the_same(one: Any, other: Any) -> None:
    """Each rule makes two spellings one."""
    assert normal("request", one) == normal("request", other)


USED = {"input_tokens": 1}
SAME_ANSWERS: list[Any] = [
    pytest.param({"type": "message", "role": "assistant", "content": EMPTY}, {"content": EMPTY}, id="defaults"),
    pytest.param({"content": [{**TEXT, "citations": EMPTY}]}, {"content": [TEXT]}, id="answer"),
    pytest.param(
        {"content": EMPTY, "usage": {**USED, "output_tokens": 0}}, {"content": EMPTY, "usage": USED}, id="usage"
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME_ANSWERS)
def test_two_answers_that_mean_the_same(one: Any, other: Any) -> None:
    """Each rule makes two spellings one."""
    assert normal("response", one) == normal("response", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (said(TEXT), said({**TEXT, "text": "b"})),
        (said(TEXT), said(TEXT, role="system")),
        (said({"type": "tool_use", "input": {"a": None}}), said({"type": "tool_use", "input": {}})),
        (said({**RESULT, "is_error": True}), said(RESULT)),
        ({"tool_choice": {"type": "any"}}, {"tool_choice": {"type": "auto"}}),
    ],
)
def test_what_differs_stays_different(one: Any, other: Any) -> None:
    """Words, roles, nulls inside an input, flags, choices."""
    assert normal("request", one) != normal("request", other)
