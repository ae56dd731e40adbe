"""What somebody says that a model takes: in a DSN, in a file, in code; and what it comes to for the dialect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.providers.rows import ROWS
from interlingua.registry.resolve import Registry
from interlingua.types.capabilities import Capabilities


def _one(registry: Registry, spec: str) -> Any:
    (endpoint,) = registry.resolve(spec)
    return endpoint


def _file(folder: Path, text: str) -> Path:
    path = folder / "gateway.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_dsn_says_what_its_models_take() -> None:
    """Switches and numbers; each with its place as the origin, and as facts and quirks of the target."""
    options = "images=0&tools=0&n=0&thinking=0&parallel_tool_calls=0&forced_choice=0&context_tokens=8192"
    endpoint = _one(Registry({"LLM_WORK": f"openai://h/v1?{options}&max_output_tokens=1024"}), "work/m")
    said = endpoint.capabilities
    assert (said.images, said.tools, said.n, said.thinking, said.audio) == (False, False, False, False, None)
    assert (said.context_tokens, said.max_output_tokens) == (8_192, 1_024)
    assert set(said.origins.values()) == {"LLM_WORK"}
    facts, quirks = endpoint.target.facts, endpoint.target.quirks
    assert (facts.images, facts.tools, facts.thinking, facts.forced_choice) == (False, False, frozenset(), False)
    assert (facts.max_output_tokens, quirks.parallel_calls, "n" in quirks.unsupported) == (1_024, False, True)


def test_what_is_said_wins_over_the_row_and_the_file_over_both(tmp_path: Path) -> None:
    """An exact pattern wins over a beginning; what it does not say is left to the DSN, then to the row."""
    registry = Registry({"LLM_WORK": "groq://h/v1?n=1&images=0"})
    text = '[capabilities."work/*"]\nimages = true\n[capabilities."work/blind"]\nimages = false\n'
    assert registry.load_config(_file(tmp_path, text)).problems == ()
    seeing, blind = _one(registry, "work/m"), _one(registry, "work/blind")
    assert (seeing.capabilities.images, blind.capabilities.images, seeing.capabilities.n) == (True, False, True)
    assert blind.capabilities.origins == {
        "images": 'gateway.toml [capabilities."work/blind"]', "n": "LLM_WORK",
    }  # fmt: skip
    assert "n" not in seeing.target.quirks.unsupported
    assert "n" in _one(registry, "groq/m").target.quirks.unsupported


def test_a_pattern_may_name_a_provider_by_its_other_spelling(tmp_path: Path) -> None:
    """`gemini/…` is `google/…`, as in limits."""
    registry = Registry({})
    registry.load_config(_file(tmp_path, '[capabilities."gemini/*"]\naudio = false\n'))
    assert _one(registry, "google/gemini-3-pro").target.facts.audio is False


def test_a_row_in_code_says_it_as_well() -> None:
    """`Provider.capabilities` holds for all its models, and a codec with that row keeps to it."""
    registry = Registry({})
    row = replace(ROWS["groq"], name="mine", capabilities=Capabilities(images=False))
    registry.register_provider(row)
    assert _one(registry, "mine/m").target.facts.images is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("images=maybe", "LLM_WORK: images takes 0 or 1"),
        ("context_tokens=0", "LLM_WORK: context_tokens takes a whole number from 1 on"),
        ("context_tokens=99999999999999999999", "LLM_WORK: context_tokens takes a whole number from 1 on"),
        ("max_output_tokens=٣", "LLM_WORK: max_output_tokens takes a whole number from 1 on"),
        ("images=0&images=1", "LLM_WORK: the option images is given twice"),
    ],
)
def test_a_dsn_that_is_not_understood_names_the_option(options: str, message: str) -> None:
    """Never with the value, which may be a token in the wrong place."""
    with pytest.raises(il.ConfigError) as caught:
        Registry({"LLM_WORK": f"openai://h/v1?{options}"}).resolve("work/m")
    assert caught.value.message == message


KNOWN = "images, audio, documents, tools, parallel_tool_calls, forced_choice, output_schema, thinking, n, logprobs"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[capabilities."a/b"]\nvision = true\n',
            f"[capabilities.\"a/b\"]: unknown capability 'vision'; known: {KNOWN}, context_tokens, max_output_tokens",
        ),
        (
            '[capabilities."a/b"]\nimages = "no"\n',
            "[capabilities.\"a/b\"]: images is true or false, not 'no'",
        ),
        (
            '[capabilities."a/b"]\ncontext_tokens = true\n',
            "[capabilities.\"a/b\"]: context_tokens is a whole number from 1 on, not 'True'",
        ),
        (
            "[aliases]\na = { targets = ['x/y'], require = 'images' }\n",
            "the alias 'a': require takes a list of features",
        ),
        (
            "[aliases]\na = { targets = ['x/y'], require = ['vision'] }\n",
            f"the alias 'a': require takes features among text, {KNOWN}, not 'vision'",
        ),
    ],
)
def test_a_file_that_is_not_understood_names_the_line(tmp_path: Path, text: str, message: str) -> None:
    """File, line, and what is known."""
    with pytest.raises(il.ConfigError) as caught:
        Registry({}).load_config(_file(tmp_path, text))
    assert caught.value.message == f"gateway.toml line 2: {message}"


def test_a_pattern_that_names_no_target_is_an_error_with_the_line(tmp_path: Path) -> None:
    """As for limits."""
    with pytest.raises(il.ConfigError, match=r"gateway\.toml line 1: 'nothing' names no target"):
        Registry({}).load_config(_file(tmp_path, "[capabilities.nothing]\nimages = false\n"))


def test_aliases_add_up_what_they_require() -> None:
    """A target must take what each alias around it requires; of a plain alias there is nothing to look at."""
    registry = Registry({})
    registry.register_alias("seeing", "groq/a,mistral/b", require=["images"])
    registry.register_alias("both", "seeing,groq/c", require=["tools"])
    ranking = registry.ranking("both,groq/d")
    assert ranking is not None
    assert ranking.required() == {
        "groq/a": {"images", "tools"}, "mistral/b": {"images", "tools"}, "groq/c": {"tools"}, "groq/d": frozenset(),
    }  # fmt: skip
    registry.register_alias("alone", "groq/a", require=["images"])
    assert registry.ranking("alone") is not None
    registry.register_alias("fast", "groq/a", policy="fastest")
    assert registry.ranking("fast") is None
