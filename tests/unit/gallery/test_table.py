"""The table of clients, the drivers and what is expected of them fit together."""

from __future__ import annotations

import tomllib

import pytest

from gallery.cells import EXPECTED, SCENARIOS, Cell, reason_of
from gallery.environments import DRIVERS, ROOT, command, folder
from gallery.page import page, with_run
from gallery.stage import SCRIPTS, UPSTREAMS, models_of
from interlingua.cli.clients import clients


@pytest.mark.parametrize("name", [name for name, client in clients().items() if client.in_gallery])
def test_every_client_has_a_driver(name: str) -> None:
    """It is started by its name, in the client's own environment."""
    client = clients()[name]
    end = "mjs" if client.language == "js" else "py"
    assert (DRIVERS / f"drive_{name.replace('-', '_')}.{end}").is_file()
    if client.language != "js":
        assert command(name, client)[0] == str(folder(name) / "bin" / "python")


def test_what_is_expected_names_what_there_is() -> None:
    """Clients, their dialects, scenarios and upstreams; for each client its exceptions for every kind of error."""
    expected = tomllib.loads(EXPECTED.read_text(encoding="utf-8"))
    for name, facts in expected.items():
        surfaces = clients()[name].surfaces
        own = {key: value for key, value in facts.items() if key not in ("errors", "reasons")}
        assert set(own) <= set(surfaces), name
        for part in (facts, *own.values()):
            assert set(part.get("errors", {})) <= {"key", "model", "rate", "context"}
            for place in part.get("reasons", {}):
                scenario, _, upstream = place.rpartition(" ") if place.split()[-1] in UPSTREAMS else (place, "", "")
                assert scenario in SCENARIOS, (name, place)
                assert upstream in ("", *UPSTREAMS)


def test_a_reason_for_one_upstream_goes_before_one_for_all() -> None:
    """What lies with a client is looked up by scenario and upstream; what does not has none."""
    assert "budget in tokens" in reason_of("pydantic-ai", "anthropic", "thinking", "llama")
    assert reason_of("pydantic-ai", "anthropic", "thinking", "claude") == ""
    assert reason_of("llm", "openai-responses", "broken", "chat").startswith("llm reads no")


def test_the_official_sdks_are_those_of_the_tests() -> None:
    """What the gallery does not run is installed for the tests, in the version that the table names."""
    pins = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8").splitlines()
    named = [package for client in clients().values() if not client.in_gallery for package in client.packages]
    assert named
    assert [package for package in named if package not in pins] == []


def test_models_name_what_they_do() -> None:
    """Every scripted model is one of its upstream; a server that is not ours has one model for all."""
    assert set(models_of("claude")) == {"talk", "think", "model", *SCRIPTS}
    assert models_of("claude")["steps"] == "claude/claude-opus-4-5-steps"
    assert set(models_of("llmock").values()) == {"llmock/gpt-4.1"}
    assert "think" not in models_of("chat")


def test_a_run_is_stored_and_told(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page counts what passed of what was tried, and says why the rest did not."""
    from pathlib import Path

    results = Path(str(tmp_path)) / "results.json"
    monkeypatch.setattr("gallery.page.RESULTS", results)
    cells = [
        Cell("llm", "openai-chat", "claude", "text", "ok", ""),
        Cell("llm", "openai-chat", "chat", "text", "failed", "'' is not 'Hello'"),
        Cell("llm", "openai-chat", "chat", "thinking", "absent", ""),
    ]
    with_run("llm", clients()["llm"], cells, "28 November 2026")
    text = page()
    assert "| [llm](#llm) | openai-chat | 1/2 |" in text
    assert "- text (chat) over `openai-chat`: '' is not 'Hello'" in text
    assert "`il connect llm`; tried with `llm==0.36`, run on 28 November 2026." in text
