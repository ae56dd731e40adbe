"""`il lint`: what each dialect rewrites or refuses, and what a model would miss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlingua.cli.main import main

Capture = pytest.CaptureFixture[str]

WEATHER: dict[str, Any] = {
    "name": "get weather",
    "parameters": {"type": "object", "properties": {"days": {"type": "integer", "exclusiveMinimum": 0}}},
}
FIND: dict[str, Any] = {
    "name": "find",
    "description": "Finds.",
    "input_schema": {"type": "object", "properties": {"q": {"type": "string", "description": "What."}}},
}
MODULE = '''
def add(a: int, b: int) -> int:
    """The sum of two numbers.

    Args:
        a: One.
        b: Another.
    """
    return a + b
'''


def _lint(tmp_path: Path, capsys: Capture, definitions: Any, *arguments: str) -> tuple[int, str, str]:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(definitions))
    code = main(["lint", str(file), *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_r31_findings_and_rewrites_are_told(tmp_path: Path, capsys: Capture) -> None:
    """Per tool and target, with the place and the reason; exit code 0, since everything can be said."""
    code, out, err = _lint(tmp_path, capsys, [WEATHER, FIND])
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "get weather"
    assert "  finding /description: the tool has no description" in lines
    assert "  finding /parameters/properties/days: the parameter days has no description" in lines
    assert (
        "  google: rewritten /parameters/properties/days/exclusiveMinimum: exclusiveMinimum is told by minimum" in lines
    )
    assert any(line.startswith("  openai-chat: rewritten /name: 'get weather' is 'get_weather_") for line in lines)
    assert lines[-1] == "find: every target takes it as it is"


def test_one_target_and_json(tmp_path: Path, capsys: Capture) -> None:
    """An array of objects; only the named target is looked at."""
    code, out, _ = _lint(tmp_path, capsys, {"tools": [FIND]}, "--target", "openai/gpt-5.6", "--strict", "--json")
    assert code == 0
    assert json.loads(out) == [
        {
            "tool": "find", "target": "openai/gpt-5.6", "kind": "rewritten", "path": path, "detail": detail,
        }
        for path, detail in [
            ("/parameters/required", "every property is required; null stands for one that is left out"),
            ("/parameters/additionalProperties", "an object says that it has no other properties"),
        ]
    ]  # fmt: skip


def test_a_refused_tool_is_exit_code_1(tmp_path: Path, capsys: Capture) -> None:
    """By the name of the tool; the others are looked at all the same."""
    node: dict[str, Any] = {f"D{n}": {"type": "object", "properties": {
        name: {"$ref": f"#/$defs/D{n + 1}"} for name in "abcd"}} for n in range(9)}  # fmt: skip
    shared: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/D0"}},
        "$defs": {**node, "D9": {}},
    }
    bad = {"name": "bad", "parameters": shared, "description": "Bad."}
    code, out, _ = _lint(tmp_path, capsys, [bad, FIND], "--target", "ollama")
    assert code == 1
    assert "  ollama: refused the tool: bad, parameters at " in out
    assert "find: every target takes it as it is" in out


def test_what_is_no_tool_is_told(tmp_path: Path, capsys: Capture) -> None:
    """An invalid schema is a refusal of that definition; no JSON and no file are misuse."""
    code, out, _ = _lint(tmp_path, capsys, [{"name": "x", "parameters": {"type": "dict"}}, FIND])
    assert code == 1
    assert 'refused the tool: (tool x): no valid JSON Schema: at type: "dict"' in out
    for text, why in (("{", "tools.json: "), ('"x"', "a list of definitions is expected"), ("[]", "it holds no tool")):
        (tmp_path / "tools.json").write_text(text)
        assert main(["lint", str(tmp_path / "tools.json")]) == 2
        assert why in capsys.readouterr().err
    assert main(["lint", str(tmp_path / "gone.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    (tmp_path / "tools.json").write_text(json.dumps(FIND))
    assert main(["lint", str(tmp_path / "tools.json"), "--target", "nowhere"]) == 2
    assert "no dialect" in capsys.readouterr().err


def test_functions_of_a_module(tmp_path: Path, capsys: Capture) -> None:
    """Every public function, or one."""
    (tmp_path / "mytools.py").write_text(MODULE)
    for named in ("mytools.py", "mytools.py:add"):
        assert main(["lint", str(tmp_path / named)]) == 0
        assert capsys.readouterr().out == "add: every target takes it as it is\n"


def test_a_module_that_is_not_there_is_named_as_it_was_given(capsys: Capture) -> None:
    """There is no option before it."""
    assert main(["lint", "nomod"]) == 2
    assert capsys.readouterr().err == "il: lint: nomod: there is no module nomod, in this folder or installed\n"
