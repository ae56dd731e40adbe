"""The normal form: a test for each rule, bodies that mean the same and bodies that do not."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects.openai_chat.normal import RULES, normal_form
from interlingua.types.tool import EMPTY_PARAMETERS
from tests.support.cells import cells

MARK = {"type": "ephemeral"}


def asked(**members: Any) -> dict[str, Any]:
    """A request body."""
    return {"model": "m", **members}


def said(*content: Any, **members: Any) -> dict[str, Any]:
    """A request with one message."""
    return asked(messages=[{"role": "user", **({"content": content[0]} if content else {}), **members}])


def answered(**members: Any) -> dict[str, Any]:
    """An answer body with one choice."""
    return {"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", **members}}]}


CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
FUNCTION = {"name": "f", "parameters": {"type": "object"}}
DATA = "data:image/png;base64,"

SAME: list[tuple[str, str, Any, Any]] = [
    ("absent_members", "request", asked(top_p=None), asked()),
    (
        "defaults",
        "request",
        asked(stream=False, logprobs=False, top_logprobs=0, tools=[], functions=[], stop=[]),
        asked(),
    ),
    ("defaults", "request", asked(response_format={"type": "text"}), asked()),
    ("defaults", "response", {**answered(), "object": "chat.completion"}, answered()),
    ("defaults", "chunk", {"id": "", "object": "chat.completion.chunk"}, {}),
    ("spellings", "request", asked(max_completion_tokens=5), asked(max_tokens=5)),
    ("spellings", "request", asked(random_seed=5), asked(seed=5)),
    ("spellings", "request", asked(stop="x"), asked(stop=["x"])),
    ("functions", "request", asked(functions=[FUNCTION]), asked(tools=[{"type": "function", "function": FUNCTION}])),
    ("functions", "request", asked(function_call="auto"), asked(tool_choice="auto")),
    (
        "tools",
        "request",
        asked(tools=[{"function": FUNCTION}]),
        asked(tools=[{"type": "function", "function": FUNCTION}]),
    ),
    (
        "tools",
        "request",
        asked(tools=[{"function": {"name": "f"}}]),
        asked(tools=[{"function": {"name": "f", "parameters": EMPTY_PARAMETERS}}]),
    ),
    ("tools", "request", asked(tools=[{"type": "web_search"}]), asked(tools=[{"type": "web_search"}])),
    ("tool_choice", "request", asked(tool_choice="any"), asked(tool_choice="required")),
    (
        "tool_choice",
        "request",
        asked(tool_choice={"name": "f"}),
        asked(tool_choice={"type": "function", "function": {"name": "f"}}),
    ),
    (
        "schema_name",
        "request",
        asked(response_format={"type": "json_schema", "json_schema": {"schema": {}}}),
        asked(response_format={"type": "json_schema", "json_schema": {"name": "response", "schema": {}}}),
    ),
    ("messages", "request", said("x"), said([{"type": "text", "text": "x"}])),
    ("messages", "request", said(""), said(None)),
    ("messages", "request", said([{"type": "text", "text": ""}]), said()),
    ("messages", "request", said("x", refusal="", tool_calls=[], annotations=[], images=[]), said("x")),
    ("messages", "request", said("x", function_call={"name": "", "arguments": None}), said("x")),
    ("messages", "request", said("x", reasoning="y"), said("x", reasoning_content="y")),
    (
        "messages",
        "request",
        said("x", reasoning="y"),
        said([{"type": "thinking", "thinking": [{"type": "text", "text": "y"}]}, {"type": "text", "text": "x"}]),
    ),
    ("messages", "request", said([{"type": "thinking", "thinking": "y"}]), said("", reasoning="y")),
    ("messages", "request", said(tool_calls=[{**CALL, "index": 0}]), said(tool_calls=[CALL])),
    ("messages", "request", said(tool_calls=[{**CALL, "custom": {}}]), said(tool_calls=[CALL])),
    (
        "messages",
        "request",
        said(function_call={"name": "f", "arguments": "{}"}),
        said(tool_calls=[{**CALL, "id": "call_0"}]),
    ),
    (
        "messages",
        "request",
        said([{"type": "image_url", "image_url": DATA + "AAAA"}]),
        said([{"type": "image_url", "image_url": {"url": DATA + "AA AA"}}]),
    ),
    (
        "messages",
        "request",
        said([{"type": "document_url", "document_url": "data:application/pdf;base64,AA==", "document_name": "a"}]),
        said([{"type": "file", "file": {"filename": "a", "file_data": "data:application/pdf;base64,AA"}}]),
    ),
    (
        "messages",
        "request",
        said([{"type": "input_audio", "input_audio": {"data": "AA-_", "format": "wav"}}]),
        said([{"type": "input_audio", "input_audio": {"data": "AA+/", "format": "wav"}}]),
    ),
    (
        "messages",
        "request",
        said([{"type": "text", "text": "x", "cache_control": {**MARK, "ttl": "5m"}}]),
        said([{"type": "text", "text": "x", "cache_control": MARK}]),
    ),
    ("choices", "response", {"choices": [{"delta": {"content": "x"}}]}, {"choices": [{"message": {"content": "x"}}]}),
    ("choices", "response", {"choices": [{"index": 7, "message": {}}]}, {"choices": [{"index": 0}]}),
    ("choices", "response", answered(audio={"data": "AA=="}), answered(audio={"data": "AA"})),
    ("usage", "response", {"usage": {"prompt_tokens": 0, "completion_tokens": 2}}, {"usage": {"completion_tokens": 2}}),
    (
        "usage",
        "chunk",
        {"usage": {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {}}},
        {"usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}},
    ),
]


@cells(("rule", "kind", "one", "other"), SAME)
def test_bodies_that_mean_the_same_have_one_normal_form(rule: str, kind: str, one: Any, other: Any) -> None:
    """By the rule that the case names; the bodies themselves are left alone."""
    before = repr(one)
    assert normal_form(kind, one) == normal_form(kind, other)
    assert repr(one) == before


def test_every_rule_has_a_case() -> None:
    """The list of rules and the list of cases are one."""
    named = {rule.__name__ for rules in RULES.values() for rule in rules} | {"absent_members"}
    assert {rule for rule, *_ in SAME} == named


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (said("x"), said("y")),
        (said("x"), said([{"type": "text", "text": "x", "new": 1}])),
        (said(tool_calls=[CALL]), said(tool_calls=[{**CALL, "id": "b"}])),
        (said("x", reasoning="y"), said("x", reasoning="y", reasoning_content="z")),
        (
            said([{"type": "image_url", "image_url": "https://h/a"}]),
            said([{"type": "image_url", "image_url": "https://h/b"}]),
        ),
        (
            said([{"type": "image_url", "image_url": "data:;base64,!"}]),
            said([{"type": "image_url", "image_url": None}]),
        ),
        (
            said([{"type": "input_audio", "input_audio": {"data": "!"}}]),
            said([{"type": "input_audio", "input_audio": {}}]),
        ),
        (said([{"type": "file", "file": {"file_id": "a"}}]), said([{"type": "file", "file": {"file_id": "b"}}])),
        (said(["a"]), said(["b"])),
        (asked(temperature=0), asked()),
        (asked(metadata={"a": None}), asked(metadata={})),
    ],
)
def test_bodies_that_differ_stay_different(one: Any, other: Any) -> None:
    """Nothing that anybody could mean is taken away."""
    assert normal_form("request", one) != normal_form("request", other)


def test_what_is_no_object_is_its_own_normal_form() -> None:
    """A list or a text in place of a body."""
    assert normal_form("response", [1]) == [1]
    assert normal_form("response", {"choices": None, "usage": 1}) == {"usage": 1}
