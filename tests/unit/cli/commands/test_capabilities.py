"""`il capabilities`: what a model takes, told to people and scripts."""

from __future__ import annotations

import json

import pytest

from interlingua.cli.main import main
from interlingua.client.state import health_store
from interlingua.routing.health import Learned
from tests.support.identities import identity_of
from tests.support.server import Answer, reply, serving

Capture = pytest.CaptureFixture[str]


def test_what_is_known_is_a_table(capsys: Capture) -> None:
    """A line for each feature of which something is known, with who says so."""
    assert main(["capabilities", "local/tiny"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "feature                   says",
        "text                 yes  the row of local",
        "images               no   the row of local",
        "audio                no   the row of local",
        "documents            no   the row of local",
        "tools                yes  the row of local",
        "parallel_tool_calls  no   openai-chat as it is spoken to local",
        "thinking             no   openai-chat as it is spoken to local",
        "n                    no   openai-chat as it is spoken to local",
        "logprobs             no   openai-chat as it is spoken to local",
    ]


def test_scripts_get_json(capsys: Capture) -> None:
    """The same, with limits and types of media as they are."""
    assert main(["capabilities", "anthropic/claude-opus-4-5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["model"], told["max_output_tokens"], told["audio"]) == ("anthropic/claude-opus-4-5", 64_000, False)
    assert told["image_types"] == ["image/gif", "image/jpeg", "image/png", "image/webp"]
    assert told["origins"]["max_output_tokens"] == "the table of models"


def test_a_server_is_asked_on_demand(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--ask` sends one request, and shows whose word counts."""
    card = reply(b'{"capabilities": ["completion"]}', headers="content-type: application/json\r\n")
    with serving(Answer((card,))) as server:
        monkeypatch.setenv("LLM_SMALL", f"ollama://127.0.0.1:{server.port}")
        assert main(["capabilities", "small/m"]) == 0
        assert server.seen == []
        assert main(["capabilities", "small/m", "--ask", "--json"]) == 0
        assert [seen.line for seen in server.seen] == ["POST /api/show HTTP/1.1"]
    out = capsys.readouterr().out
    told = json.loads(out[out.index("{") :])
    assert (told["tools"], told["origins"]["tools"]) == (False, "the server's own answer")


def test_several_targets_and_a_server_without_cards_are_refused(capsys: Capture) -> None:
    """Each with the way out."""
    assert main(["capabilities", "openai/a,groq/b"]) == 2
    assert "is a chain, and its targets have different capabilities; name one of openai/a, groq/b" in (
        capsys.readouterr().err
    )
    assert main(["capabilities", "groq/b", "--ask"]) == 2
    assert "groq/b: its server does not list capabilities" in capsys.readouterr().err


def test_health_says_what_a_target_has_refused(capsys: Capture) -> None:
    """In the column that says why, where nothing else is held against it."""
    health_store().apply([("ollama/m", Learned(frozenset({"tools"}), identity=identity_of("ollama/m")))])
    assert main(["health"]) == 0
    assert "ollama/m  closed   -    takes no tools  0         -" in capsys.readouterr().out
