"""A LiteLLM configuration, converted and served: the official SDK goes on asking by the old names."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import openai
import pytest

from interlingua.cli.litellm.convert import convert
from interlingua.cli.main import main
from interlingua.errors import ConfigError
from interlingua.gateway.config import read_server_config
from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import Fail, Upstream
from tests.support.gateway import serving

KEY = "sk-the-master-key-of-old"
CONFIG = """
model_list:
  - model_name: gpt-4o
    litellm_params: {{model: openai/gpt-4.1, api_base: "{chat}", api_key: os.environ/CHAT_KEY, rpm: 1000}}
  - model_name: claude
    litellm_params: {{model: anthropic/claude-sonnet-4-5, api_base: "{claude}", api_key: sk-planted-in-the-file}}
  - model_name: team/gpt
    litellm_params: {{model: openai/gpt-4.1, api_base: "{chat}", api_key: os.environ/CHAT_KEY}}
  - model_name: lab/*
    litellm_params: {{model: openai/*, api_base: "{chat}", api_key: os.environ/CHAT_KEY}}
router_settings: {{fallbacks: [{{gpt-4o: [claude]}}, {{claude: [gpt-4o]}}]}}
litellm_settings: {{drop_params: true, request_timeout: 30}}
general_settings: {{master_key: os.environ/MASTER}}
"""


@contextmanager
def _between(chat: Upstream, claude: Upstream, folder: Path) -> Generator[openai.OpenAI]:
    """The client of a gateway between these two."""
    with (
        chat.serving() as chat_url,
        claude.serving() as claude_url,
        _served(CONFIG.format(chat=chat_url, claude=claude_url), folder) as client,
    ):
        yield client


@contextmanager
def _served(text: str, folder: Path) -> Generator[openai.OpenAI]:
    """The official client of a gateway that serves the converted file, with the variables that its report lists."""
    made, path = convert(text), folder / "gateway.toml"
    path.write_text(made.toml, encoding="utf-8")
    registry = Registry(dict.fromkeys(made.variables, "upstream-key"))
    assert registry.load_config(path).problems == ()
    read = read_server_config(path).settings
    settings = GatewaySettings(keys=(GatewayKey(name="master", hash=hash_key(KEY)),), timeouts=read.timeouts)
    with (
        serving(Gateway(settings, registry=registry)) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client,
    ):
        yield client


def _ask(client: openai.OpenAI, model: str) -> tuple[str | None, str | None]:
    """What was answered, and by whom."""
    reply = client.chat.completions.with_raw_response.create(model=model, messages=[{"role": "user", "content": "Hi"}])
    return reply.parse().choices[0].message.content, reply.headers.get("x-interlingua-target")


def test_clients_ask_by_the_names_they_know(tmp_path: Path) -> None:
    """A name, one with a slash that had to be spelled otherwise, one under a wildcard, and the list of models."""
    chat, claude = Upstream("openai-chat", "One.", "Two.", "Three."), Upstream("anthropic", "Four.")
    with _between(chat, claude, tmp_path) as client:
        assert _ask(client, "gpt-4o") == ("One.", "lab/gpt-4.1")
        assert _ask(client, "team-gpt") == ("Two.", "lab/gpt-4.1")
        assert _ask(client, "lab/some-model") == ("Three.", "lab/some-model")
        assert _ask(client, "claude") == ("Four.", "anthropic-127-0-0-1/claude-sonnet-4-5")
        assert {"gpt-4o", "claude", "team-gpt"} <= {model.id for model in client.models.list()}
    assert [verdict.ok for verdict in (*chat.verdicts, *claude.verdicts)] == [True] * 4


def test_a_fallback_answers_where_the_name_itself_fails(tmp_path: Path) -> None:
    """In both directions, whole and streamed, in the client's own dialect."""
    down = [Fail(500)] * 40
    chat, claude = Upstream("openai-chat", *down), Upstream("anthropic", "From Claude.", "Once more.")
    with _between(chat, claude, tmp_path) as client:
        assert _ask(client, "gpt-4o") == ("From Claude.", "anthropic-127-0-0-1/claude-sonnet-4-5")
        stream = client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        told = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
        assert "".join(told) == "Once more."
    assert all(verdict.ok for verdict in claude.verdicts)


CLOUDS = """
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: azure/my-deployment
      api_base: "{azure}"
      api_key: os.environ/AZURE_API_KEY
      api_version: "2024-10-21"
  - model_name: command
    litellm_params: {{model: cohere_chat/command-a-03-2025, api_base: "{cohere}/v2", api_key: os.environ/CO_KEY}}
"""


def test_clouds_are_asked_as_litellm_asked_them(tmp_path: Path) -> None:
    """A deployment of Azure by its dated path, and Cohere in its own format, by clients that ask the old names."""
    azure, command = Upstream("openai-chat", "Of Azure."), Upstream("cohere", "Of Cohere.")
    with azure.serving() as azure_url, command.serving() as cohere_url:
        text = CLOUDS.format(azure=azure_url, cohere=cohere_url)
        with _served(text, tmp_path) as client:
            assert [_ask(client, name) for name in ("gpt-4o", "command")] == [
                ("Of Azure.", "azure-127-0-0-1/my-deployment"), ("Of Cohere.", "cohere-127-0-0-1/command-a-03-2025"),
            ]  # fmt: skip
    (asked,) = azure.requests
    assert asked.url.partition("/openai/")[2] == "deployments/my-deployment/chat/completions?api-version=2024-10-21"
    assert dict(asked.headers)["api-key"] == "upstream-key"


def test_the_old_master_key_is_asked_for(tmp_path: Path) -> None:
    """Whoever has another one is refused."""
    text = CONFIG.format(chat="http://127.0.0.1:9/v1", claude="http://127.0.0.1:9")
    with _served(text, tmp_path) as client, pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="sk-another").models.list()


def test_the_command_writes_the_file_and_tells_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `-o` the report is on stdout, without it on stderr; a file that is there is left alone."""
    monkeypatch.chdir(tmp_path)
    text = CONFIG.format(chat="https://chat.example/v1", claude="https://claude.example")
    Path("config.yaml").write_text(text, encoding="utf-8")
    made = convert(text)
    report = "".join(f"{line}\n" for line in made.report)
    assert main(["migrate", "litellm", "config.yaml", "-o", "gateway.toml"]) == 0
    assert capsys.readouterr() == (report, "")
    assert Path("gateway.toml").read_text(encoding="utf-8") == made.toml
    assert main(["migrate", "litellm", "config.yaml"]) == 0
    assert capsys.readouterr() == (made.toml, report)
    assert main(["migrate", "litellm", "config.yaml", "-o", "gateway.toml"]) == 2
    assert capsys.readouterr() == ("", "il: gateway.toml is there already; --force replaces it\n")
    assert main(["migrate", "litellm", "config.yaml", "-o", "gateway.toml", "--force"]) == 0
    assert capsys.readouterr() == (report, "")
    assert main(["migrate", "litellm", "nothing.yaml"]) == 2
    assert capsys.readouterr() == ("", "il: nothing.yaml cannot be read: No such file or directory\n")
    assert main(["migrate", "litellm", "config.yaml", "-o", "nowhere/gateway.toml"]) == 2
    assert capsys.readouterr() == ("", "il: gateway.toml cannot be written: No such file or directory\n")


def test_without_the_extra_it_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, with the line that brings it."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ConfigError) as caught:
        convert("model_list: []")
    assert str(caught.value) == "reading YAML needs the [yaml] extra: pip install 'interlingua[yaml]'"
