from __future__ import annotations

from pathlib import Path

import pytest

from interlingua.cli.main import main
from tests.support.gateway import provider
from tests.support.server import Answer, reply, serving

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("arguments", [["models"], ["models", "list"]])
def test_models_are_listed(arguments: list[str], capsys: Capture) -> None:
    """Listing is the default."""
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("local/tiny    not pulled")


@pytest.mark.parametrize("name", ["tiny", "local/tiny"])
def test_a_path_needs_the_weights(name: str, capsys: Capture) -> None:
    """Weights that are not here are one line with the way out, and exit 2."""
    assert main(["models", "path", name]) == 2
    assert capsys.readouterr().err == "il: local/tiny: the weights are not here yet: il models pull tiny\n"


def test_pull_needs_a_name(capsys: Capture) -> None:
    """Which one, is asked."""
    assert main(["models", "pull"]) == 2
    assert capsys.readouterr().err == "il: models pull: which one? `il models` lists them\n"


def test_pull_pulls(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull ends with the path on stdout."""

    def pull(name: str, *, progress: object) -> Path:
        return Path(f"{name}.gguf")

    monkeypatch.setattr("interlingua.local.commands.pull", pull)
    assert main(["models", "pull", "local/tiny"]) == 0
    assert capsys.readouterr().out == "tiny.gguf\n"


def test_an_unknown_model(capsys: Capture) -> None:
    """A model that there is not is one line and exit 2."""
    assert main(["models", "pull", "huge"]) == 2
    assert capsys.readouterr().err.startswith("il: local/huge: there is no such model; known are tiny")


BODIES = {
    "openai-chat": ("/v1/models", b'{"object":"list","data":[{"id":"b"},{"id":"a"},{"id":"b"}]}'),
    "anthropic": ("/v1/models?limit=1000", b'{"data":[{"id":"b","type":"model"},{"id":"a"},{}],"has_more":false}'),
    "google": ("/v1beta/models?pageSize=1000", b'{"models":[{"name":"models/b"},{"name":"models/a"},7]}'),
    "ollama": ("/api/tags", b'{"models":[{"name":"b","model":"b"},{"name":"a"}]}'),
    "cohere": ("/v1/models?page_size=1000", b'{"models":[{"name":"b","endpoints":["chat"]},{"name":"a"}]}'),
}


@pytest.mark.parametrize("dialect", BODIES)
def test_a_providers_models_are_asked_of_its_server(
    dialect: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each kind of server lists in its own form; the names are specs that `-m` takes."""
    path, body = BODIES[dialect]
    with serving(Answer((reply(body),))) as server:
        monkeypatch.setenv("LLM_UP", provider(dialect, f"http://127.0.0.1:{server.port}{_ROOTS.get(dialect, '/v1')}"))
        assert main(["models", "list", "up"]) == 0
    assert capsys.readouterr() == ("up/a\nup/b\n", "")
    assert [request.line for request in server.seen] == [f"GET {path} HTTP/1.1"]


_ROOTS = {"google": "/v1beta", "ollama": "", "cohere": "/v2"}


def test_a_server_that_lists_nothing_is_said(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal and a body of another kind are one line each, with exit 1."""
    refused = reply(b'{"error":{"message":"no such key"}}', status="401 Unauthorized")
    with serving([Answer((refused,)), Answer((reply(b"{}"),))]) as server:
        monkeypatch.setenv("LLM_UP", provider("openai-chat", f"http://127.0.0.1:{server.port}/v1"))
        assert main(["models", "list", "up"]) == 1
        assert main(["models", "list", "up"]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert "401" in first
    assert "no such key" in first
    assert second == "il: a list of models has a member data"
    assert main(["models", "list", "nobody"]) == 2


def test_a_provider_in_this_process_lists_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """It is a sentence, and no answer of a fake."""
    assert main(["models", "list", "fake"]) == 2
    assert capsys.readouterr().err == "il: fake runs in this process, and has no list of models\n"
