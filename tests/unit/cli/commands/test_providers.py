from __future__ import annotations

import json

import pytest

from interlingua.cli.main import main

Capture = pytest.CaptureFixture[str]


def test_every_provider_is_a_line(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name, dialect, key and address, and never the key itself."""
    monkeypatch.setenv("GROQ_API_KEY", "gsk_abcdefghijklmnop")
    assert main(["providers"]) == 0
    out, err = capsys.readouterr()
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert lines["provider"].split() == ["provider", "speaks", "key", "address", "from"]
    address = "https://api.groq.com/openai/v1"
    assert lines["groq"].split() == ["groq", "openai-chat", "set:", "GROQ_API_KEY", address, "built", "in"]
    assert lines["openai"].split()[2:4] == ["missing:", "OPENAI_API_KEY"]
    assert "gsk_abc" not in out + err


def test_only_those_asked_for(capsys: Capture) -> None:
    """Names narrow the table."""
    assert main(["providers", "groq", "fake"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["provider", "groq", "fake"]


def test_a_name_that_is_none(capsys: Capture) -> None:
    """An unknown name is one line, with what is near it."""
    assert main(["providers", "grok"]) == 2
    assert capsys.readouterr().err.startswith("il: no provider 'grok'; did you mean groq")


def test_a_configured_provider_comes_first(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """An LLM_<NAME> entry is a line; its token is not shown."""
    monkeypatch.setenv("LLM_WORK", "openai://tok-1234567890@gateway.example/v1")
    assert main(["providers", "work"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].split() == ["work", "openai-chat", "set", "https://gateway.example/v1", "LLM_WORK"]
    assert "tok-" not in out


def test_a_bad_entry_is_told(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad entry is a line of the table and a sentence on stderr."""
    monkeypatch.setenv("LLM_WORK", "openai://tok-1234567890@")
    assert main(["providers", "work"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].startswith("work")
    assert err.startswith("il: LLM_WORK: ")
    assert "tok-" not in out + err


def test_json_for_scripts(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """--json gives the same facts to programs."""
    monkeypatch.setenv("GROQ_API_KEY", "gsk_abcdefghijklmnop")
    assert main(["providers", "groq", "--json"]) == 0
    out = capsys.readouterr().out
    (row,) = json.loads(out)
    assert (row["name"], row["dialect"], row["key"], row["key_env"]) == (
        "groq", "openai-chat", "set", ["GROQ_API_KEY"],
    )  # fmt: skip
    assert "gsk_abc" not in out
