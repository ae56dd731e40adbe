from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

import interlingua as il
from interlingua.cli.main import main

Capture = pytest.CaptureFixture[str]


def test_a_plan_is_told(capsys: Capture) -> None:
    """Targets, the request as it would be sent, and that nothing changes."""
    assert main(["explain", "-m", "fake/echo", "Hello"]) == 0
    assert capsys.readouterr() == (
        """\
-> fake/echo (openai-chat): first target

POST fake:///chat/completions
{
  "model": "echo",
  "messages": [
    {
      "role": "user",
      "content": "Hello"
    }
  ]
}

no changes
""",
        "",
    )


def test_changes_and_missing_keys_are_told(capsys: Capture) -> None:
    """What would be dropped is told, and what the target lacks; no key is needed to explain."""
    assert main(["explain", "-m", "openai-chat/o3,groq/llama", "Hello", "--temperature", "0.5"]) == 0
    out = capsys.readouterr().out
    first, second = out.splitlines()[:2]
    assert first.startswith("-> openai-chat/o3 (openai-chat): openai-chat: no key; set OPENAI_API_KEY")
    assert second.startswith("   groq/llama (openai-chat): groq: no key; set GROQ_API_KEY")
    assert "changes\n  dropped /temperature: " in out


def test_a_target_without_a_key_is_passed_over(capsys: Capture) -> None:
    """As a call would do it: the next one is asked, and the reason stands there."""
    assert main(["explain", "-m", "openai-chat/o3,fake/echo", "Hello"]) == 0
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert first.startswith("   openai-chat/o3 (openai-chat): openai-chat: no key; set OPENAI_API_KEY")
    assert second == "-> fake/echo (openai-chat): first target"


def test_curl_names_the_variable(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line has the key as a variable, never its value."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghijklmnop")
    assert main(["explain", "-m", "openai-chat/gpt-4o", "--curl", "Hello"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("curl https://api.openai.com/v1/chat/completions \\\n")
    assert '-H "authorization: Bearer $OPENAI_API_KEY"' in out
    assert "sk-abc" not in out


def test_what_no_target_takes(capsys: Capture, tmp_path: Path) -> None:
    """Where every target refuses, the plan says why, and the exit code is 2; --curl has nothing to show."""
    (tmp_path / "t.py").write_text("def f() -> int:\n    return 1\n", encoding="utf-8")
    arguments = ["explain", "-m", "openai-chat/gpt-5.6", "Hello", "--tool", "t.py:f"]
    assert main(arguments) == 2
    out = capsys.readouterr().out
    assert out.startswith("   openai-chat/gpt-5.6 (openai-chat): ")
    assert "POST" not in out
    assert main([*arguments, "--curl"]) == 2
    assert capsys.readouterr().err.startswith("il: there is nothing to send: ")


def test_tools_and_types_stand_in_the_request(capsys: Capture, tmp_path: Path) -> None:
    """Everything that ask takes, explain takes."""
    (tmp_path / "t.py").write_text("def f() -> int:\n    return 1\n", encoding="utf-8")
    (tmp_path / "s.json").write_text('{"type": "object", "title": "Thing"}', encoding="utf-8")
    assert main(["explain", "-m", "fake/echo", "Hello", "--tool", "t.py:f", "--schema", "s.json"]) == 0
    out = capsys.readouterr().out
    assert '"name": "f"' in out
    assert '"name": "Thing"' in out


def _body(out: str) -> dict[str, object]:
    return json.JSONDecoder().raw_decode(out[out.index("\n{") + 1 :])[0]


@pytest.mark.parametrize(
    "dumped",
    [
        lambda: il.dump(il.Request(messages=(il.user("Hello"),), system=(il.TextPart("Be terse."),), max_tokens=5)),
        lambda: (
            '{"model":"m","max_tokens":5,"messages":[{"role":"system","content":"Be terse."},'
            '{"role":"user","content":"Hello"}]}'
        ),
    ],
    ids=["canonical", "chat"],
)
def test_a_request_of_a_file(capsys: Capture, tmp_path: Path, dumped: Callable[[], str]) -> None:
    """A canonical request and a Chat body are explained as they stand; options of the command line come on top."""
    (tmp_path / "request.json").write_text(dumped(), encoding="utf-8")
    assert main(["explain", "-m", "fake/echo", "--request", "request.json", "--temperature", "1"]) == 0
    body = _body(capsys.readouterr().out)
    assert body["model"] == "echo"
    assert body["temperature"] == 1
    assert body["messages"] == [{"role": "system", "content": "Be terse."}, {"role": "user", "content": "Hello"}]
    assert 5 in body.values()


def test_messages_of_a_file(capsys: Capture, tmp_path: Path) -> None:
    """Stored messages are explained, too."""
    (tmp_path / "m.json").write_text(il.dump([il.user("Hello")]), encoding="utf-8")
    assert main(["explain", "-m", "fake/echo", "--request", "m.json"]) == 0
    assert _body(capsys.readouterr().out)["messages"] == [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("[", "expected `object`"),
        ('{"interlingua": 2, "kind": "x"}', "upgrade"),
    ],
)
def test_a_bad_request_file(capsys: Capture, tmp_path: Path, content: str | None, said: str) -> None:
    """A file that is not there or is no request is one line and exit 2."""
    if content is not None:
        (tmp_path / "r.json").write_text(content, encoding="utf-8")
    assert main(["explain", "-m", "fake/echo", "--request", "r.json"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("il: --request r.json: ")
    assert said in err


def test_a_conversation_that_would_go_on(capsys: Capture) -> None:
    """-c explains the next turn of the last conversation, to its model."""
    assert main(["ask", "-m", "fake/echo", "One"]) == 0
    capsys.readouterr()
    assert main(["explain", "-c", "Two"]) == 0
    messages = _body(capsys.readouterr().out)["messages"]
    assert isinstance(messages, list)
    assert len(cast("list[object]", messages)) == 3


def test_base64_is_cut(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """An image fills no screen; `--curl` has it whole."""
    (tmp_path / "large.txt").write_text(f"{'A' * 500} {'b' * 300}", encoding="utf-8")
    data = (tmp_path / "large.txt").read_text(encoding="utf-8")
    assert main(["explain", "-m", "openai/gpt-5.6", data]) == 0
    out = capsys.readouterr().out
    assert f"{'A' * 60}… (500 characters) {'b' * 300}" in out
    assert main(["explain", "-m", "openai/gpt-5.6", "--curl", data]) == 0
    assert "A" * 500 in capsys.readouterr().out
