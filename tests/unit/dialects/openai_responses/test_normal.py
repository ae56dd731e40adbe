"""The normal form: a test for each rule, bodies that mean the same and bodies that do not."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects.openai_responses.normal import RULES, normal_form
from interlingua.types.tool import EMPTY_PARAMETERS


def asked(**members: Any) -> dict[str, Any]:
    """A request body."""
    return {"model": "m", **members}


def said(*items: Any) -> dict[str, Any]:
    """A request with these items."""
    return asked(input=list(items))


def user(*content: Any) -> dict[str, Any]:
    """A request with one message of the user."""
    return said({"role": "user", "content": list(content)})


URL = "data:image/png;base64,"
MESSAGE = {"type": "message", "role": "user", "content": "Hi"}

SAME: list[tuple[str, str, Any, Any]] = [
    ("absent_members", "request", asked(top_p=None, text={"verbosity": None}), asked(text={})),
    (
        "defaults",
        "request",
        asked(
            stream=False, tools=[], include=[], metadata={}, input=[], parallel_tool_calls=True, truncation="disabled",
            instructions="", reasoning={}, text={"format": {"type": "text"}},
        ),
        asked(),
    ),
    (
        "tools",
        "request",
        asked(tools=[{"name": "f"}]),
        asked(tools=[{"type": "function", "name": "f", "parameters": EMPTY_PARAMETERS}]),
    ),
    (
        "tools",
        "request",
        asked(tools=[{"type": "custom", "name": "f", "format": {"type": "text"}}]),
        asked(tools=[{"type": "custom", "name": "f"}]),
    ),
    (
        "tools",
        "request",
        asked(text={"format": {"type": "json_schema"}}),
        asked(text={"format": {"type": "json_schema", "name": "response", "schema": {}}}),
    ),
    ("input_items", "request", asked(input="Hi"), said({"role": "user", "content": "Hi"})),
    ("items", "request", said({"role": "user", "content": "Hi"}), said({**MESSAGE, "status": "completed"})),
    ("items", "request", said({"type": "reasoning"}), said({"type": "reasoning", "summary": []})),
    ("items", "request", said({"role": "user", "content": "Hi"}), user({"type": "input_text", "text": "Hi"})),
    (
        "items",
        "request",
        user({"text": "Hi", "annotations": [], "logprobs": []}),
        user({"type": "input_text", "text": "Hi"}),
    ),
    (
        "items",
        "request",
        said({"role": "assistant", "content": "Hi"}),
        said({"role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}),
    ),
    (
        "items",
        "request",
        user({"type": "input_image", "image_url": f"{URL}iVBORw==", "detail": "auto"}),
        user({"type": "input_image", "image_url": f"{URL}iVBORw"}),
    ),
    (
        "items",
        "request",
        user({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}),
        user({"type": "input_audio", "input_audio": {"data": "AA AA", "format": "mp3"}}),
    ),
    (
        "items",
        "response",
        {"output": [{"type": "image_generation_call", "result": "iVBORw=="}]},
        {"output": [{"type": "image_generation_call", "result": "iVBORw"}]},
    ),
    (
        "items",
        "request",
        said({"type": "function_call_output", "output": [{"type": "input_image", "image_url": f"{URL}iVBORw=="}]}),
        said({"type": "function_call_output", "output": [{"type": "input_image", "image_url": f"{URL}iVBORw"}]}),
    ),
    ("repeated", "response", {"id": "r", "output": []}, {"id": "r"}),
    ("repeated", "response", {"id": "r", "object": "response", "tool_choice": "auto"}, {"id": "r"}),
    (
        "usage",
        "response",
        {"usage": {"input_tokens": 0, "output_tokens": 2, "input_tokens_details": {}}},
        {"usage": {"output_tokens": 2, "total_tokens": 2}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kind", "one", "other"), SAME, ids=[f"{row[0]}{at}" for at, row in enumerate(SAME)])
def test_bodies_that_mean_the_same(rule: str, kind: str, one: Any, other: Any) -> None:
    """Each rule makes two spellings one."""
    assert rule
    assert normal_form(kind, one) == normal_form(kind, other)


def test_every_rule_has_a_case() -> None:
    """No rule without bodies that show it."""
    rules = {rule.__name__ for chain in RULES.values() for rule in chain} | {"absent_members"}
    assert {row[0] for row in SAME} == rules


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (asked(store=True), asked()),
        (asked(tools=[{"name": "f", "strict": False}]), asked(tools=[{"name": "f"}])),
        (said({"role": "user", "content": "Hi"}), said({"role": "developer", "content": "Hi"})),
        (said({"type": "function_call", "arguments": "{}"}), said({"type": "function_call", "arguments": "{ }"})),
        (said(MESSAGE, MESSAGE), said({**MESSAGE, "content": "HiHi"})),
        (
            user({"type": "input_image", "image_url": f"{URL}AAAA"}),
            user({"type": "input_image", "image_url": f"{URL}AAAB"}),
        ),
        (asked(tools=[{"name": "f", "parameters": {"x": None}}]), asked(tools=[{"name": "f", "parameters": {}}])),
    ],
)
def test_bodies_that_do_not_mean_the_same(one: Any, other: Any) -> None:
    """What would hide a loss stays different."""
    assert normal_form("request", one) != normal_form("request", other)


@pytest.mark.parametrize("body", [None, [], "x", 1])
def test_what_is_no_object_stays_what_it_is(body: object) -> None:
    """Nothing is read into it."""
    assert normal_form("request", body) == body


def test_broken_media_are_compared_as_text() -> None:
    """Base64 that is none."""
    broken = user(
        {"type": "input_image", "image_url": f"{URL}!"}, {"type": "input_audio", "input_audio": {"data": "!"}}
    )
    assert normal_form("request", broken) == normal_form("request", broken)
    assert normal_form("chunk", {"a": None}) == {}
