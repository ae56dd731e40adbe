"""What is known of model families, and that nothing is made up for the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import EncodeOptions, Facts, Target
from interlingua.dialects.table import get_dialect
from interlingua.providers.limits import FAMILIES, facts_for
from interlingua.providers.rows import ROWS
from interlingua.types.capability import Effort
from interlingua.types.content import TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request


def test_gpt_5_6_takes_no_tools_on_chat() -> None:
    """The family refuses tools on Chat, and on Chat only."""
    facts = facts_for("openai", "openai-chat", "gpt-5.6")
    assert (facts.sampling, facts.system_role, facts.tools) == (False, "developer", False)
    assert facts_for("openai", "openai-chat", "gpt-5.6-mini").tools is False
    assert facts_for("openai", "openai-responses", "gpt-5.6").tools is None


def test_the_greatest_effort_is_for_responses() -> None:
    """Chat takes every effort but `max`."""
    chat = facts_for("openai-chat", "openai-chat", "gpt-5.2").efforts
    assert chat == {"none", "minimal", "low", "medium", "high", "xhigh"}
    assert facts_for("openai", "openai-responses", "gpt-5.2").efforts is None


@pytest.mark.parametrize(
    ("model", "life"),
    [
        ("gpt-6-astra", "prompt_cache_options"),
        ("gpt-5.6-mini", "prompt_cache_options"),
        ("gpt-5.10", "prompt_cache_options"),
        ("gpt-5.5", "prompt_cache_retention"),
        ("gpt-5", "prompt_cache_retention"),
        ("o3", None),
    ],
)
def test_cached_prompts_live_longer_in_the_words_of_the_generation(model: str, life: str | None) -> None:
    """The older member is refused by the newer models."""
    assert facts_for("openai", "openai-responses", model).cache_life == life


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize(
    ("model", "effort", "temperature"),
    [("gpt-5.6-sol", "none", 0.5), ("gpt-5.1", "none", 0.5), ("gpt-5.6-sol", "low", None), ("gpt-5.6-sol", None, None),
     ("gpt-5", "none", None), ("gpt-6", "none", None)],
)  # fmt: skip
def test_sampling_depends_on_the_effort(dialect: str, model: str, effort: Effort | None, temperature: Any) -> None:
    """From 5.1 on a model that is told not to reason takes a temperature; recorded exchange 937a5b448aab."""
    request = Request(messages=(Message("user", (TextPart("q"),)),), temperature=0.5, effort=effort)
    target = Target(model=model, provider="openai", facts=facts_for("openai", dialect, model))
    encoded = get_dialect(dialect).encode_request(request, EncodeOptions(target=target))
    assert json.loads(encoded.body).get("temperature") == temperature
    dropped = [change.path for change in encoded.changes if change.code == "parameter_unsupported"]
    assert dropped == ([] if temperature else ["/temperature"])


@pytest.mark.parametrize(
    ("model", "stop"), [("o3-mini", ["x"]), ("o1", ["x"]), ("o4-mini", None), ("gpt-5-mini", None), ("gpt-4o", ["x"])]
)
def test_stop_sequences_go_to_the_families_that_took_them(model: str, stop: list[str] | None) -> None:
    """Recorded: o3-mini took one (8bc45a8b013b), gpt-5-mini refused one (ef691167bd9f)."""
    request = Request(messages=(Message("user", (TextPart("q"),)),), stop=("x",))
    target = Target(model=model, provider="openai", facts=facts_for("openai", "openai-chat", model))
    encoded = get_dialect("openai-chat").encode_request(request, EncodeOptions(target=target))
    assert json.loads(encoded.body).get("stop") == stop
    assert [change.path for change in encoded.changes] == ([] if stop else ["/stop"])


@pytest.mark.parametrize(("provider", "sent"), [("google", None), ("vertex", 0.5)])
def test_penalties_are_the_servers_matter(provider: str, sent: float | None) -> None:
    """Gemini 2.5 takes penalties at Vertex (f002507b199a), and refuses them at its own API."""
    row = ROWS[provider]
    facts = facts_for(row.family or provider, "google", "gemini-2.5-pro")
    target = Target(model="gemini-2.5-pro", provider=provider, quirks=row.quirks, facts=facts)
    request = Request(messages=(Message("user", (TextPart("q"),)),), presence_penalty=0.5)
    encoded = get_dialect("google").encode_request(request, EncodeOptions(target=target))
    assert json.loads(encoded.body).get("generationConfig", {}).get("presencePenalty") == sent
    assert [change.path for change in encoded.changes] == ([] if sent else ["/presence_penalty"])


@pytest.mark.parametrize("model", ["o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5-nano", "gpt-5.2", "gpt-6-astra"])
def test_reasoning_models_take_no_sampling_knobs(model: str) -> None:
    """Reasoning families refuse temperature and friends, and want developer messages."""
    facts = facts_for("openai-chat", "openai-chat", model)
    assert (facts.sampling, facts.system_role) == (False, "developer")


@pytest.mark.parametrize("model", ["o", "omni", "my-gpt-5", ""])
def test_unknown_stays_unknown(model: str) -> None:
    """Nothing is said of a model that no family fits."""
    assert facts_for("openai", "openai-chat", model) == Facts()


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1-mini", "gpt-5-chat-latest", "gpt-3.5-turbo"])
def test_models_that_do_not_reason_take_no_effort(model: str) -> None:
    """And nothing else is said of them on Chat."""
    assert facts_for("openai", "openai-chat", model) == Facts(efforts=frozenset())


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-6-astra", "whatever-comes"])
def test_responses_has_no_sound_and_a_least_limit(model: str) -> None:
    """For every model of OpenAI."""
    facts = facts_for("openai", "openai-responses", model)
    assert (facts.audio, facts.min_output_tokens) == (False, 16)


def test_a_family_is_known_by_its_provider() -> None:
    """A model of the same name at another provider is another model."""
    assert facts_for("vllm", "openai-chat", "gpt-6-astra") == Facts()


def test_families_name_rows_that_exist() -> None:
    """Every provider in the table is a row."""
    assert {name for family in FAMILIES for name in family.providers} <= set(ROWS)


@pytest.mark.parametrize(
    ("model", "thinking", "sampling", "forced", "schema"),
    [
        ("claude-opus-5-5", {"adaptive"}, False, False, True),
        ("claude-fable-5", {"adaptive"}, False, None, True),
        ("claude-opus-5", {"adaptive", "disabled"}, False, None, True),
        ("claude-opus-4-8", {"adaptive", "enabled", "disabled"}, False, None, True),
        ("claude-sonnet-4-6", {"adaptive", "enabled", "disabled"}, True, None, True),
        ("claude-haiku-4-5-20251001", {"enabled", "disabled"}, None, None, True),
        ("claude-opus-4-20250514", {"enabled", "disabled"}, None, None, False),
        ("claude-3-haiku-20240307", set[str](), None, None, False),
    ],
)
def test_claude_thinks_in_the_forms_of_its_generation(
    model: str, thinking: set[str], sampling: bool | None, forced: bool | None, schema: bool
) -> None:
    """And takes sampling, forced calls and output schemas as that generation does."""
    facts = facts_for("anthropic", "anthropic", model)
    assert facts.thinking == thinking
    assert (facts.sampling, facts.forced_choice, facts.output_schema) == (sampling, forced, schema)
    assert facts_for("anthropic", "anthropic", "claude-x") == Facts()


@pytest.mark.parametrize(
    ("model", "thinking", "efforts", "seals", "with_tools", "media"),
    [
        ("gemini-2.0-flash", set[str](), set[str](), False, False, False),
        ("gemini-1.5-pro", set[str](), set[str](), False, False, False),
        ("gemini-2.5-flash", {"adaptive", "enabled", "disabled"}, set[str](), False, False, False),
    ],
)
def test_older_gemini_seals_no_calls(
    model: str, thinking: set[str], efforts: set[str], seals: bool | None, with_tools: bool | None, media: bool | None
) -> None:
    """Nor does it take a schema beside tools, or media inside of results."""
    facts = facts_for("google", "google", model)
    assert (facts.thinking, facts.efforts, facts.call_seals) == (thinking, efforts, seals)
    assert (facts.output_schema_with_tools, facts.result_media) == (with_tools, media)
