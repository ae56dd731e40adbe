"""The configuration file: providers, aliases, and errors with the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlingua.errors import ConfigError
from interlingua.registry.allowance import Allowance
from interlingua.registry.config import MAX_FILE_BYTES, read_config
from interlingua.registry.resolve import Registry

FILE = """\
[providers.work]
dsn = "openai://tok-1234@gateway.example/v1"

[providers.lab]
dsn_env = "LAB_DSN"

[aliases]
smart = { targets = ["work/x", "lab/y"], policy = "ordered" }
fast = "lab/y"
both = ["smart", "groq/z"]
"claude-haiku-*" = "fast"
"claude-*" = "smart"

[keys.team-a]
hash = "sha256:00"

[limits."openai/*"]
rpm = 60

[server]
port = 8080
"""


def written(folder: Path, text: str) -> Path:
    """A file of that content."""
    path = folder / "gateway.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    """The error that the file gives."""
    with pytest.raises(ConfigError) as caught:
        read_config(written(folder, text))
    return str(caught.value)


def test_a_whole_file(tmp_path: Path) -> None:
    """Providers and aliases are used like those of the environment; the gateway's sections are left alone."""
    registry = Registry({"LAB_DSN": "vllm://lab.example"})
    loaded = registry.load_config(written(tmp_path, FILE))
    assert loaded.providers == ("work", "lab")
    assert loaded.aliases == ("smart", "fast", "both")
    assert loaded.problems == ()
    assert [endpoint.spec for endpoint in registry.resolve("both")] == ["work/x", "lab/y", "groq/z"]
    assert registry.resolve("claude-haiku-5")[0].spec == "lab/y"
    assert registry.resolve("claude-opus-5")[0].base_url == "https://gateway.example/v1"


def test_the_file_stands_between_code_and_environment(tmp_path: Path) -> None:
    """It wins over a variable of the same name, and code wins over it."""
    registry = Registry({"LLM_FAST": "groq/from-environment", "LAB_DSN": "vllm://lab.example"})
    registry.load_config(written(tmp_path, FILE))
    assert registry.resolve("fast")[0].spec == "lab/y"
    registry.register_alias("fast", "groq/from-code")
    assert registry.resolve("fast")[0].spec == "groq/from-code"


def test_a_second_file_takes_the_place_of_the_first(tmp_path: Path) -> None:
    """What is no longer in the file is forgotten."""
    registry = Registry({})
    registry.load_config(written(tmp_path, '[aliases]\na = "groq/1"\n'))
    registry.load_config(written(tmp_path, '[aliases]\nb = "groq/2"\n'))
    assert registry.aliases() == {"b": "groq/2"}


def test_bad_dsns_are_reported_with_their_table(tmp_path: Path) -> None:
    """A bad entry is a sentence now and an error when its name is used; the others work."""
    text = '[providers.a]\ndsn = "openai://"\n[providers.b]\ndsn_env = "NOT_SET"\n[providers.c]\ndsn = "what://h"\n'
    registry = Registry({})
    loaded = registry.load_config(written(tmp_path, f'{text}[aliases]\nx = "a/m"\ny = "groq/m"\n'))
    assert loaded.providers == ()
    assert loaded.aliases == ("y",)
    no_host = "gateway.toml [providers.a]: no host in the DSN (expected scheme://[token@]host[/path])"
    assert loaded.problems[:2] == (no_host, "gateway.toml [providers.b]: NOT_SET is empty or not set")
    told = "gateway.toml [providers.c]: unknown scheme in the DSN"
    assert loaded.problems[2] == f"{told}; `il providers` lists those that are known"
    assert loaded.problems[3] == f"alias x: {no_host}"
    with pytest.raises(ConfigError, match="NOT_SET is empty or not set"):
        registry.resolve("b/m")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[aliases]\n\n[suppliers.a]\ndsn = "x"\n',
            (
                "line 3: unknown section 'suppliers'; known: providers, aliases, capabilities, keys, limits, server, "
                "teams, policy, hooks, webhooks, cache"
            ),
        ),
        ('[providers.a]\nurl = "x"\n', "line 2: unknown key 'url' in [providers.a]; known: dsn, dsn_env, login"),
        ("[providers.a]\ndsn = 5\n", "line 2: dsn in [providers.a] is not a string"),
        ('[providers.a]\ndsn = "x"\ndsn_env = "Y"\n', "line 1: [providers.a] needs one of dsn and dsn_env"),
        ("[providers.a]\n", "line 1: [providers.a] needs one of dsn and dsn_env"),
        ("[providers]\na = 1\n", "line 2: a is not a table"),
        ('providers = { a = { url = "x" } }\n', "unknown key 'url' in [providers.a]; known: dsn, dsn_env, login"),
        ("providers = 1\n", "line 1: providers is not a table"),
        ("aliases = 1\n", "line 1: aliases is not a table"),
        ("[aliases]\na = 1\n", "line 2: the alias 'a' is not a spec, a list of specs or a table"),
        ("[aliases]\na = [1]\n", "line 2: the alias 'a' is not a spec, a list of specs or a table"),
        ('[aliases]\nb = "x/y"\na = "x/"\n', "line 3: the alias 'a': no model in 'x/' (expected provider/model)"),
        (
            '[aliases]\na = { target = "x/y" }\n',
            "line 2: unknown key 'target' in the alias 'a'; known: targets, policy, weights, require",
        ),
        (
            '[aliases]\n"c-*" = { targets = ["x/y"], policy = "random" }\n',
            "line 2: the alias 'c-*': policy takes ordered, weighted, least-busy, fastest, prefix, not 'random'",
        ),
        (
            '[aliases]\na = { targets = ["x/y", "x/z"], policy = "weighted", weights = [3] }\n',
            "line 2: the alias 'a': 1 weights for 2 targets; each has one",
        ),
        (
            '[aliases]\na = { targets = ["x/y"], policy = "weighted", weights = 3 }\n',
            "line 2: the alias 'a': weights takes a list of numbers",
        ),
        (
            '[aliases]\n"a/b" = "openai/x"\n',
            "line 2: 'a/b' cannot name an alias (no slash, no comma, a * at the end only)",
        ),
        (
            '[providers."a/b"]\ndsn = "openai://h"\n',
            "line 1: 'a/b' cannot name a provider (no slash, no comma, no space at its ends)",
        ),
    ],
)
def test_what_is_not_understood_is_an_error_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    """File, line, and what is known."""
    assert refusal(tmp_path, text) == f"gateway.toml{' ' if message.startswith('line') else ': '}{message}"


def test_limits_are_read_by_pattern(tmp_path: Path) -> None:
    """What is not said is not limited; a file without the section allows everything."""
    registry = Registry({})
    registry.load_config(written(tmp_path, '[limits."openai/*"]\nrpm = 60\ntpm = 100_000\n[limits]\n"a/b".rpm = 1\n'))
    assert registry.limits == {"openai/*": Allowance(rpm=60, tpm=100_000), "a/b": Allowance(rpm=1)}
    registry.load_config(written(tmp_path, "[aliases]\n"))
    assert registry.limits == {}


def test_limits_hold_for_a_provider_by_its_other_spelling(tmp_path: Path) -> None:
    """`gemini/…` is asked as `google/…`, and limited as that; what somebody defines as `gemini` is his own."""
    text = (
        '[limits."gemini/*"]\nrpm = 1\n[limits."gemini/gemini-3-pro"]\nrpm = 2\n[limits."gemini-compat/*"]\nrpm = 3\n'
    )
    registry = Registry({})
    registry.load_config(written(tmp_path, text))
    expected = {"google/*": 1, "google/gemini-3-pro": 2, "gemini-compat/*": 3}
    assert {pattern: allowed.rpm for pattern, allowed in registry.limits.items()} == expected
    own = '[providers.gemini]\ndsn = "openai://lab.example"\n[limits."gemini/*"]\nrpm = 1\n'
    registry.load_config(written(tmp_path, own))
    assert registry.limits == {"gemini/*": Allowance(rpm=1)}
    of_environment = Registry({"LLM_GEMINI": "openai://lab.example"})
    of_environment.load_config(written(tmp_path, '[limits."gemini/*"]\nrpm = 1\n'))
    assert of_environment.limits == {"gemini/*": Allowance(rpm=1)}


def test_a_limit_of_a_provider_that_nobody_has_is_told(tmp_path: Path) -> None:
    """It would hold for nothing; what a resolver may still define is not judged."""
    path = written(tmp_path, '[limits."opena/*"]\nrpm = 1\n[limits."openai/a"]\nrpm = 1\n[limits."gro*"]\nrpm = 1\n')
    registry = Registry({})
    told = "limits.\"opena/*\": no provider 'opena', so that it holds for nothing; did you mean openai"
    assert [problem[: len(told)] for problem in registry.load_config(path).problems] == [told]
    registry.register_resolver(lambda _: None)
    assert registry.load_config(path).problems == ()


@pytest.mark.parametrize("names", [("gemini", "google"), ("google", "gemini")])
def test_one_provider_limited_by_both_spellings_is_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    """Which of two limits holds is not guessed; nothing of such a file counts."""
    registry = Registry({})
    text = "".join([f'[limits."{name}/*"]\nrpm = {number}\n' for number, name in enumerate(names, 1)])
    with pytest.raises(ConfigError) as caught:
        registry.load_config(written(tmp_path, "[aliases]\nfast = 'groq/a'\n" + text))
    told = "[limits] names the same targets twice: gemini/* is another spelling of google/*"
    assert str(caught.value) == told
    assert (registry.limits, registry.aliases()) == ({}, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("limits = 1\n", "line 1: limits is not a table"),
        ('[limits]\n"openai/*" = 4\n', "line 2: openai/* is not a table"),
        (
            '[limits."openai/*"]\nrpm = 5\nrps = 1\n',
            "line 3: [limits.\"openai/*\"]: unknown limit 'rps'; known: concurrency, rpm, tpm",
        ),
        (
            '[limits."openai/*"]\nrpm = "60"\n',
            "line 2: [limits.\"openai/*\"]: rpm is a whole number from 1 on, not '60'",
        ),
        (
            "[limits.openai]\nrpm = 5\n",
            "line 1: 'openai' names no target; a limit is for provider/model, provider/* or *",
        ),
    ],
)
def test_a_limit_that_is_not_understood_is_an_error_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    """A limit that would not hold is worse than none."""
    assert refusal(tmp_path, text) == f"gateway.toml {message}"


def test_broken_toml_is_an_error_of_ours(tmp_path: Path) -> None:
    """The parser's own place is kept."""
    assert refusal(tmp_path, "[aliases\n").startswith("gateway.toml: not TOML: ")


def test_deep_toml_is_an_error_of_ours(tmp_path: Path) -> None:
    """Nesting beyond what the parser can take does not crash."""
    assert refusal(tmp_path, f"a = {'[' * 100_000}").startswith("gateway.toml: ")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The error names the file and the reason."""
    with pytest.raises(ConfigError, match=r"nothing\.toml cannot be read: No such file or directory"):
        read_config(tmp_path / "nothing.toml")


def test_a_binary_or_giant_file_is_refused(tmp_path: Path) -> None:
    """What is not UTF-8, or larger than the bound, is no configuration."""
    path = tmp_path / "gateway.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"gateway\.toml: not UTF-8"):
        read_config(path)
    path.write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    with pytest.raises(ConfigError, match=f"larger than {MAX_FILE_BYTES} bytes"):
        read_config(path)


def test_a_file_at_the_bound_is_read(tmp_path: Path) -> None:
    """The bound itself is allowed."""
    assert read_config(written(tmp_path, "#" * MAX_FILE_BYTES)).aliases == {}
