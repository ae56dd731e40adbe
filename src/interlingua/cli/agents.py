"""Coding agents: how each is told where its models are, for one run and without touching a file.

Rules
- What an agent is told stands in variables of its own process, and in flags where it has no variable for it. Keys are
  never flags: whoever lists the processes of a machine can read those.
- Variables that would lead it elsewhere are taken out of its environment.
- What it reads from files alone stands in a file of the run, which is gone afterwards; the user's are not touched.
- An agent's own names of models keep working: what nothing else defines stands for the model of the run.

Source: the packages of the versions named at each, read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from interlingua.wire.json import encode

__all__ = ["AGENTS", "CodingAgent", "Place", "environment", "flags", "shell_lines", "written"]

KEY_VARIABLE = "INTERLINGUA_LAUNCH_KEY"
"""The variable that holds the key, for agents that are told its name."""
_HERE = "127.0.0.1,localhost,::1"


class Place(NamedTuple):
    """Where an agent's models are."""

    url: str
    """The gateway's address."""
    key: str
    """The key that it takes."""
    model: str
    """The model for the work."""
    small: str
    """The model for what is asked on the side: titles, summaries."""


def _no_flags(_: Place) -> list[str]:
    return []


class CodingAgent(NamedTuple):
    """One program."""

    title: str
    """Its name for people."""
    package: str
    """The npm package that it comes in."""
    variables: Callable[[Place], dict[str, str]]
    """The variables of its environment."""
    flags: Callable[[Place], list[str]] = _no_flags
    """The arguments before the user's own."""
    papers: Mapping[str, Callable[[Place], str]] = {}
    """Variables and flags that name a file, and what stands in it."""
    forgets: tuple[str, ...] = ()
    """Variables that would lead it elsewhere."""
    small_names: tuple[str, ...] = ()
    """Its own names of models for what is small."""


def _claude(place: Place) -> dict[str, str]:
    """2.1.330. `opus`, `sonnet` and the like are what it asks for by itself; `haiku` is for what is small."""
    large = ("OPUS", "SONNET", "FABLE")
    return {
        "ANTHROPIC_BASE_URL": place.url,
        "ANTHROPIC_AUTH_TOKEN": place.key,
        "ANTHROPIC_MODEL": place.model,
        **{f"ANTHROPIC_DEFAULT_{name}_MODEL": place.model for name in large},
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": place.small,
    }


def _claude_settings(place: Place) -> str:
    """The variables as Claude Code's settings: they go before the user's own, and those before the environment."""
    return encode({"env": _claude(place)}).decode()


def _codex(place: Place) -> dict[str, str]:
    """0.169.0. It has a variable for the key alone, and that under a name that it is told."""
    return {KEY_VARIABLE: place.key}


def _codex_flags(place: Place) -> list[str]:
    """A provider of its own, which speaks Responses; values are TOML."""
    provider = {
        "name": "interlingua",
        "base_url": f"{place.url}/v1",
        "env_key": KEY_VARIABLE,
        "wire_api": "responses",
        "supports_websockets": False,
    }
    settings = {
        "model_provider": "interlingua",
        "model": place.model,
        **{f"model_providers.interlingua.{name}": value for name, value in provider.items()},
    }
    return [word for name, value in settings.items() for word in ("-c", f"{name}={encode(value).decode()}")]


def _gemini(place: Place) -> dict[str, str]:
    """0.61.0. An address alone makes it ask for a kind of login that it then refuses, so it is told one in a file."""
    return {"GOOGLE_GEMINI_BASE_URL": place.url, "GEMINI_API_KEY": place.key, "GEMINI_MODEL": place.model}


def _gemini_settings(_: Place) -> str:
    return '{"security":{"auth":{"selectedType":"gemini-api-key"}}}'


def _qwen(place: Place) -> dict[str, str]:
    """0.24.4, which speaks Chat Completions."""
    return {"OPENAI_BASE_URL": f"{place.url}/v1", "OPENAI_API_KEY": place.key, "OPENAI_MODEL": place.model}


def _qwen_flags(place: Place) -> list[str]:
    return ["--auth-type", "openai", "--model", place.model]


def _opencode(place: Place) -> dict[str, str]:
    """1.18.33. Its configuration may stand in a variable, laid over that of its files."""
    options = {"baseURL": f"{place.url}/v1", "apiKey": f"{{env:{KEY_VARIABLE}}}"}
    models = {name: {"name": name} for name in dict.fromkeys((place.model, place.small))}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "interlingua", "options": options, "models": models}
    content = {
        "model": f"interlingua/{place.model}",
        "small_model": f"interlingua/{place.small}",
        "provider": {"interlingua": provider},
    }
    return {KEY_VARIABLE: place.key, "OPENCODE_CONFIG_CONTENT": encode(content).decode()}


AGENTS: dict[str, CodingAgent] = {
    "claude": CodingAgent(
        title="Claude Code",
        package="@anthropic-ai/claude-code",
        variables=_claude,
        papers={"--settings": _claude_settings},
        forgets=(
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_SMALL_FAST_MODEL",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_SUBAGENT_MODEL",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_FOUNDRY",
            "CLAUDE_CODE_USE_VERTEX",
        ),
        small_names=("claude-haiku-*", "claude-3-5-haiku-*"),
    ),
    "codex": CodingAgent(title="Codex", package="@openai/codex", variables=_codex, flags=_codex_flags),
    "gemini": CodingAgent(
        title="Gemini CLI",
        package="@google/gemini-cli",
        variables=_gemini,
        papers={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": _gemini_settings},
        forgets=("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI"),
        small_names=("gemini-2.5-flash*", "gemini-3-flash*", "gemini-3.1-flash*"),
    ),
    "qwen": CodingAgent(
        title="Qwen Code",
        package="@qwen-code/qwen-code",
        variables=_qwen,
        flags=_qwen_flags,
        forgets=("QWEN_DEFAULT_AUTH_TYPE", "QWEN_MODEL"),
    ),
    "opencode": CodingAgent(title="opencode", package="opencode-ai", variables=_opencode, forgets=("OPENCODE_CONFIG",)),
}
"""Every agent that `il launch` knows, by the name of its program."""


def environment(
    agent: CodingAgent, place: Place, around: Mapping[str, str], papers: Mapping[str, str]
) -> dict[str, str]:
    """The environment of an agent's process: what is around, without what would lead it elsewhere, and its own."""
    inherited = {name: value for name, value in around.items() if name not in agent.forgets}
    named = {name: path for name, path in papers.items() if not name.startswith("-")}
    # An agent is not to ask this machine by way of a proxy.
    proxies = [name for name in ("NO_PROXY", "no_proxy") if name in around] or ["NO_PROXY"]
    past_proxies = {name: ",".join(filter(None, (around.get(name), _HERE))) for name in proxies}
    return {**inherited, **agent.variables(place), **named, **past_proxies}


def flags(agent: CodingAgent, place: Place, papers: Mapping[str, str]) -> list[str]:
    """The arguments before the user's own."""
    named = [word for name, path in papers.items() if name.startswith("-") for word in (name, path)]
    return [*agent.flags(place), *named]


def shell_lines(agent: CodingAgent, program: str, place: Place, arguments: list[str]) -> list[str]:
    """The lines for a shell that begin the same by hand."""
    from shlex import join, quote

    exports = [f"export {name}={quote(value)}" for name, value in agent.variables(place).items()]
    texts = {name: quote(text(place)) for name, text in agent.papers.items() if not name.startswith("-")}
    papers = [f'export {name}="$(mktemp)"; echo {text} > "${name}"' for name, text in texts.items()]
    forgets = [f"unset {' '.join(agent.forgets)}"] if agent.forgets else []
    return [*forgets, *exports, *papers, join([program, *agent.flags(place), *arguments])]


@contextmanager
def written(agent: CodingAgent, place: Place) -> Generator[dict[str, str]]:
    """An agent's files, which are there for as long as the block runs: what names each, and its path."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from interlingua.registry.home import state_directory

    if not agent.papers:
        yield {}
        return
    home = state_directory()  # in a folder for everybody's files Gemini CLI reads none
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with TemporaryDirectory(prefix="launch-", dir=home) as folder:
        paths = {name: Path(folder) / f"{name.strip('-').lower()}.json" for name in agent.papers}
        for name, path in paths.items():
            path.write_text(agent.papers[name](place), encoding="utf-8")
        yield {name: str(path) for name, path in paths.items()}
