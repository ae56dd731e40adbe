from __future__ import annotations

import platform
from pathlib import Path

import pytest

import interlingua as il
from interlingua.cli import checkup
from interlingua.cli.main import main
from interlingua.testing import use

Capture = pytest.CaptureFixture[str]


def _lines(capsys: Capture) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_a_bare_machine_is_well(capsys: Capture) -> None:
    """Nothing configured is nothing broken: exit 0, every chapter there, what is missing with the way to it."""
    assert main(["doctor"]) == 0
    lines = _lines(capsys)
    chapters = [line for line in lines if not line.startswith(" ")]
    assert chapters == [
        "versions", "extras", "model", "keys", "logins", "addresses", "LLM_* entries", "aliases", "state",
        "local weights",
    ]  # fmt: skip
    assert f"  ok  Python {platform.python_version()} on linux" in [line.replace("darwin", "linux") for line in lines]
    assert any(line.startswith("  ok  msgspec ") for line in lines)
    assert "  --  local/tiny (98 MB): il models pull tiny" in lines


def test_every_extra_is_told() -> None:
    """Those of one platform alone, too."""
    told = {finding.text.partition(":")[0] for finding in checkup.extras()}
    assert told == {
        "aws", "azure", "gateway", "google", "http", "local", "mcp", "media", "numpy", "otel", "postgres", "prices",
        "ray", "redis", "websocket", "yaml",
    }  # fmt: skip


def test_a_missing_extra_comes_with_its_line(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """An extra that is not there is told with the command that brings it, and is nothing broken."""
    monkeypatch.setattr(checkup, "_requirements", lambda: {"": ["msgspec"], "space": ["no-such-distribution"]})
    assert main(["doctor"]) == 0
    assert "  --  space: pip install 'interlingua[space]'" in _lines(capsys)


def test_a_missing_dependency_is_broken(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the plain install needs and is not there makes exit 1."""
    monkeypatch.setattr(checkup, "_requirements", lambda: {"": ["no-such-distribution"]})
    assert main(["doctor"]) == 1
    assert "  !!  no-such-distribution is missing: pip install interlingua" in _lines(capsys)


def test_logins_say_who_uses_them_and_what_chooses_them(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A login is told with its library, its providers and the variables; a missing library is broken."""
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_PROFILE", "team")
    monkeypatch.setenv("LLM_WORK", "azure://h.example?login=azure")
    installed = {"botocore": "1.2.3", "msgspec": "1", "httptools": "1", "jsonschema-rs": "1"}
    monkeypatch.setattr(checkup, "_version", installed.get)
    assert main(["doctor"]) == 1
    lines = [line for line in _lines(capsys) if line.startswith(("  ok  aws ", "  !!  azure "))]
    assert lines[0].startswith("  !!  azure (pip install 'interlingua[azure]'): work; no variable chooses a credential")
    assert lines[1].startswith("  ok  aws (botocore 1.2.3): ")
    assert "bedrock-anthropic" in lines[1]
    assert lines[1].endswith("; from AWS_PROFILE")


def test_keys_are_named_not_shown(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable that holds a key, whose it is, and where it is sent."""
    monkeypatch.setenv("GROQ_API_KEY", "gsk_abcdefghijklmnop")
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "  ok  GROQ_API_KEY: groq at https://api.groq.com/openai/v1\n" in out
    assert "gsk_abc" not in out


def test_a_key_that_another_one_comes_before_is_told(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Google's SDK takes GOOGLE_API_KEY where both are set, and so do we; equal ones are no news."""
    monkeypatch.setenv("GOOGLE_API_KEY", "first-key-of-google")
    for second, is_told in (("another-key-of-google", True), ("first-key-of-google", False)):
        monkeypatch.setenv("GEMINI_API_KEY", second)
        main(["doctor"])
        out = capsys.readouterr().out
        assert ("GEMINI_API_KEY: set, but GOOGLE_API_KEY comes before it" in out) is is_told
        assert second not in out


def test_what_is_configured_is_told(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers, aliases and the model of the environment."""
    monkeypatch.setenv("LLM_WORK", "openai://tok-1234567890@gateway.example/v1")
    monkeypatch.setenv("LLM_SMART", "work/large,fake/echo")
    monkeypatch.setenv("INTERLINGUA_MODEL", "smart")
    assert main(["doctor"]) == 0
    lines = _lines(capsys)
    assert "  ok  provider work" in lines
    assert "  ok  smart = work/large,fake/echo" in lines
    assert "  ok  INTERLINGUA_MODEL=smart" in lines
    assert not any("tok-" in line for line in lines)


def test_a_bad_entry_is_broken(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad LLM_* entry makes exit 1, with its sentence and without its token."""
    monkeypatch.setenv("LLM_WORK", "openai://tok-1234567890@")
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "  !!  LLM_WORK: " in out
    assert "tok-" not in out


def test_a_model_without_its_key_is_broken(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """INTERLINGUA_MODEL has to lead to a target with a key."""
    monkeypatch.setenv("INTERLINGUA_MODEL", "openai/gpt-4o")
    assert main(["doctor"]) == 1
    assert any(
        line.startswith("  !!  INTERLINGUA_MODEL=openai/gpt-4o: openai: no key; set OPENAI_API_KEY")
        for line in _lines(capsys)
    )


def test_probes_ask_each_target_once(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every target of the model and of the aliases is asked for one token, once."""
    monkeypatch.setenv("LLM_SMART", "fake/a,fake/b")
    monkeypatch.setenv("INTERLINGUA_MODEL", "fake/a")
    with use(["x", "y"]) as fake:
        assert main(["doctor", "--probe"]) == 0
    assert fake.models == ["fake/a", "fake/b"]
    assert {request.max_tokens for request in fake.requests} == {1}
    assert [line[:24] for line in _lines(capsys) if "answered" in line] == [
        "  ok  fake/a answered in", "  ok  fake/b answered in",
    ]  # fmt: skip


def test_a_probe_that_fails_is_broken(capsys: Capture) -> None:
    """A target that does not answer makes exit 1."""
    with use([il.AuthenticationError("the key was refused")]):
        assert main(["doctor", "-m", "fake/a"]) == 1
    assert any(line.startswith("  !!  fake/a: AuthenticationError: ") for line in _lines(capsys))


def test_nothing_to_probe(capsys: Capture) -> None:
    """Without any target, that is said."""
    assert main(["doctor", "--probe"]) == 0
    assert "  --  no target is configured; -m names one" in _lines(capsys)


def test_a_spec_that_leads_nowhere_is_broken(capsys: Capture) -> None:
    """A probe of a name that nothing defines is told, not raised."""
    assert main(["doctor", "-m", "nobody/x"]) == 1
    assert any(line.startswith("  !!  nobody/x: no provider 'nobody'") for line in _lines(capsys))


def test_the_state_that_is_shared(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where it is shared, what is not asked now is named; a place that cannot be used is broken."""
    monkeypatch.setenv("INTERLINGUA_STATE", f"file:{tmp_path / 'state'}")
    il.use_state(f"file:{tmp_path / 'state'}")
    il.health.suspend("openai/a")
    assert main(["doctor"]) == 0
    assert "  ok  INTERLINGUA_STATE is shared; not asked now: openai/a" in _lines(capsys)
    il.use_state(f"file:{tmp_path / 'state' / 'deeper'}")
    assert main(["doctor"]) == 1
    assert any(line.startswith(f"  !!  INTERLINGUA_STATE: {tmp_path}") for line in _lines(capsys))


def test_a_place_for_state_that_is_none(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error in the variable is told with what would do."""
    monkeypatch.setenv("INTERLINGUA_STATE", "disk")
    assert main(["doctor"]) == 1
    assert any("INTERLINGUA_STATE: state is kept in memory, file" in line for line in _lines(capsys))
