"""The table of our own format says what its published JSON Schema says, and refuses by the names of its page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from interlingua.testing.upstream import judge_body
from interlingua.testing.upstream.judge import law_of
from interlingua.testing.upstream.shapes import Named
from interlingua.wire.json import decode_any
from tests.contract.source import ROOT
from tests.support.sdk_shapes import differences, schema_shapes

PAGE: Path = ROOT / "docs" / "dialects" / "unified.md"
SCHEMA: Path = ROOT / "docs" / "dialects" / "unified.schema.json"
TOOL = {
    "name": "weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "A city."}}},
}
CALL = {"type": "tool_call", "id": "call_1", "name": "weather", "arguments": {"city": "Oslo"}}
RESULT = {"type": "tool_result", "tool_call_id": "call_1", "content": {"celsius": 4}}


def _body(*parts: Any, results: tuple[Any, ...] = (), tools: tuple[Any, ...] = (TOOL,), **more: Any) -> dict[str, Any]:
    messages: list[Any] = [{"role": "user", "content": "Weather?"}]
    if parts:
        messages.append({"role": "assistant", "parts": list(parts)})
    if results:
        messages.append({"role": "tool", "parts": list(results)})
    return {"model": "smart", "messages": messages, "tools": list(tools), **more}


def test_the_table_is_the_schema() -> None:
    """Every member, word and requirement of the published schema is in the table, and nothing else."""
    theirs = schema_shapes(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert differences((theirs, Named("Request")), (law_of("unified").reading.grammar, Named("Request"))) == []


@pytest.mark.parametrize("body", re.findall(r"```json request\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
def test_the_examples_of_the_page_are_taken(body: str) -> None:
    """What the page shows breaks no rule."""
    verdict = judge_body("unified", body.encode())
    assert verdict.ok, str(verdict)


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("unknown_member", _body(warmth=1)),
        ("tool_name_duplicate", _body(tools=(TOOL, TOOL))),
        ("tool_description_missing", _body(tools=({**TOOL, "description": " "},))),
        (
            "parameter_description_missing",
            _body(tools=({**TOOL, "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},)),
        ),
        ("schema_invalid", _body(tools=({**TOOL, "parameters": {"type": "dict"}},))),
        ("tool_choice_unknown", _body(tool_choice={"type": "named_tool", "name": "time"})),
        ("tool_choice_unknown", _body(tool_choice={"type": "allowed_tools", "names": ["time"]})),
        ("call_id_missing", _body({**CALL, "id": ""}, results=({**RESULT, "tool_call_id": ""},))),
        ("call_id_duplicate", _body(CALL, CALL, results=(RESULT,))),
        ("result_orphan", _body(CALL, results=(RESULT, {**RESULT, "tool_call_id": "call_2"}))),
        ("result_duplicate", _body(CALL, results=(RESULT, RESULT))),
        ("result_missing", _body(CALL)),
    ],
)
def test_every_rule_of_the_page_refuses(code: str, body: dict[str, Any]) -> None:
    """The refusal is a 400 with the rule as its code and the place."""
    assert f"`{code}`" in PAGE.read_text(encoding="utf-8")
    verdict = judge_body("unified", body)
    assert verdict.rules == (code,)
    assert verdict.reply is not None
    error = decode_any(verdict.reply.body)["error"]
    assert (verdict.reply.status, error["code"], error["path"]) == (400, code, verdict.problems[0].pointer)


def test_an_illegal_name_is_refused() -> None:
    """The pattern of names stands in the table."""
    verdict = judge_body("unified", _body(tools=({**TOOL, "name": "a.b"},)))
    assert verdict.rules == ("bad_pattern",)
    assert verdict.reply is not None
    assert decode_any(verdict.reply.body)["error"]["code"] == "tool_name_illegal"
