"""What is known of model families: one table, first match counts, unknown stays unknown.

Rules
- A fact is here when a source says so; `None` in a field means that nobody said.
- A family is known by the provider's row, the dialect and the start of the model's name. Names that users choose
  (deployments, local models) match only when they begin like the family.

Source: our notes on OpenAI Chat, section Pitfalls, on Google, sections 1 and 8, and on Anthropic, "Thinking rules"; the
vendor pages "Models overview" and "Gemini thinking"; recorded answers that name what a model takes. Read 2026-11-22.
"""

from __future__ import annotations

import re

import msgspec

from interlingua.dialects._contract import Facts
from interlingua.wire.cache import ByteCache, weight_of

__all__ = ["FAMILIES", "Family", "facts_for"]

OPENAI_ROWS = frozenset({"openai", "openai-chat", "openai-responses", "azure"})
CHAT = frozenset({"openai-chat"})
RESPONSES = frozenset({"openai-responses"})
GOOGLE = frozenset({"google"})
ANTHROPIC = frozenset({"anthropic"})


class Family(msgspec.Struct, frozen=True, eq=False):
    """One line of the table."""

    providers: frozenset[str]
    """Names of the rows where the family is served under its own name."""
    dialects: frozenset[str]
    """The dialects that the facts hold for."""
    models: str
    """A regular expression of the whole model id; compiled when a model of these providers is asked for."""
    facts: Facts
    """What is known."""


REASONING = Facts(sampling=False, system_role="developer", audio=False)
"""Reasoning models refuse sampling knobs and want developer messages."""
UNREASONED = msgspec.structs.replace(REASONING, sampling_efforts=frozenset({"none"}))
"""From 5.1 on they take those knobs at the effort `none`: recorded exchange 937a5b448aab, gpt-5.6-sol with temperature
0.5. Without an effort they may reason: a knob that is dropped is said, while a refused request would be lost."""

CHAT_EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh"})
"""What Chat takes; `max` is for Responses alone."""
OPENAI_REASONING: tuple[tuple[str, Facts], ...] = (
    (r"gpt-6(-.*)?", msgspec.structs.replace(REASONING, cache_life="prompt_cache_options")),
    (r"gpt-5\.([6-9]|\d\d)(-.*)?", msgspec.structs.replace(UNREASONED, cache_life="prompt_cache_options")),
    (r"gpt-5\.\d+(-.*)?", msgspec.structs.replace(UNREASONED, cache_life="prompt_cache_retention")),
    (r"gpt-5(-.*)?", msgspec.structs.replace(REASONING, cache_life="prompt_cache_retention")),
    (r"o[134](-.*)?", msgspec.structs.replace(REASONING, efforts=frozenset({"low", "medium", "high"}))),
)
"""The reasoning models of OpenAI, newest first."""


def _on_chat(facts: Facts) -> Facts:
    return facts if facts.efforts is not None else msgspec.structs.replace(facts, efforts=CHAT_EFFORTS)


def _on_responses(facts: Facts) -> Facts:
    """Parts of Responses hold no sound, and an answer has room for 16 tokens at least."""
    return msgspec.structs.replace(facts, audio=False, min_output_tokens=16)


ADAPTIVE, MANUAL, OFF = "adaptive", "enabled", "disabled"
EFFORTS = frozenset({"low", "medium", "high", "max"})
ADAPTIVE_ONLY = Facts(
    sampling=False, prefill=False, thinking=frozenset({ADAPTIVE}), output_schema=True, max_output_tokens=128_000
)
"""Claude that always thinks, as much as it finds right."""
EVERY_FORM = Facts(
    sampling=False,
    prefill=False,
    thinking=frozenset({ADAPTIVE, MANUAL, OFF}),
    output_schema=True,
    max_output_tokens=128_000,
)
"""Claude that takes thinking in every form."""


def _manual(most: int, *, schema: bool) -> Facts:
    """Claude that thinks with a budget alone, knows no effort, and takes system messages only at the beginning."""
    return Facts(
        sampling_pair=False, thinking=frozenset({MANUAL, OFF}), efforts=frozenset(), system_messages=False,
        output_schema=schema, max_output_tokens=most,
    )  # fmt: skip


def _thoughtless(most: int) -> Facts:
    """Claude that does not think."""
    return Facts(
        thinking=frozenset(), efforts=frozenset(), system_messages=False, output_schema=False, max_output_tokens=most
    )


CLAUDE: tuple[tuple[str, Facts], ...] = (
    (r"(opus-5-5|sonnet-5-5|fable-5-[12]).*", msgspec.structs.replace(ADAPTIVE_ONLY, forced_choice=False)),
    (r"fable-5.*", ADAPTIVE_ONLY),
    (r"opus-5.*", msgspec.structs.replace(ADAPTIVE_ONLY, thinking=frozenset({ADAPTIVE, OFF}))),
    (r"haiku-5-5.*", Facts(sampling=False, prefill=False, thinking=frozenset({ADAPTIVE, OFF}), output_schema=True)),
    (r"(opus-4-[78]|sonnet-5).*", EVERY_FORM),
    (
        r"(opus|sonnet)-4-6.*",
        msgspec.structs.replace(EVERY_FORM, sampling=True, sampling_pair=False, efforts=EFFORTS, system_messages=False),
    ),
    (r"(opus|sonnet|haiku)-4-5.*", _manual(64_000, schema=True)),
    (r"opus-4-1.*", _manual(32_000, schema=True)),
    (r"opus-4(-0|-2025.*)?", _manual(32_000, schema=False)),
    (r"(sonnet-4(-0|-2025.*)?|3-7-sonnet.*)", _manual(64_000, schema=False)),
    (r"3-5-(sonnet|haiku).*", _thoughtless(8_192)),
    (r"3-(opus|sonnet|haiku).*", _thoughtless(4_096)),
)
"""Claude by the name after `claude-`, newest first."""

# Gemini 3 refuses a history in which the first call of a step has no thought signature; it thinks by level, always.
LEVELS = Facts(
    call_seals=True,
    thinking=frozenset({ADAPTIVE, MANUAL}),
    output_schema_with_tools=True,
    result_media=True,
    mixed_tools=True,
)
LOW_TO_HIGH = frozenset({"low", "medium", "high"})


def _before_3(least: int, most: int, *forms: str) -> Facts:
    """Gemini 2.5: it thinks by budget, knows schemas or tools, and no media inside of results."""
    return Facts(
        thinking=frozenset({ADAPTIVE, MANUAL, *forms}), budgets=(least, most), efforts=frozenset(), call_seals=False,
        penalties=False, output_schema_with_tools=False, result_media=False, mixed_tools=False,
    )  # fmt: skip


GEMINI: tuple[tuple[str, Facts], ...] = (
    (r"3-pro.*", msgspec.structs.replace(LEVELS, efforts=frozenset({"low", "high"}))),
    (r"3(\.\d+)?-flash.*", msgspec.structs.replace(LEVELS, efforts=LOW_TO_HIGH | {"minimal"})),
    (r"[3-9].*", LEVELS),
    (r"2\.5-pro.*", _before_3(128, 32_768)),
    (r"2\.5-flash-lite.*", _before_3(512, 24_576, OFF)),
    (r"2\.5-flash.*", _before_3(1, 24_576, OFF)),
    (
        r"(1\.5|2\.0)-(pro|flash)(?!.*thinking).*",
        Facts(
            thinking=frozenset(), efforts=frozenset(), call_seals=False, output_schema_with_tools=False,
            result_media=False, mixed_tools=False,
        ),
    ),
)  # fmt: skip
"""Gemini by the name after `gemini-`, newest first."""

FAMILIES: tuple[Family, ...] = (
    *[Family(ANTHROPIC, ANTHROPIC, f"claude-{name}", facts) for name, facts in CLAUDE],
    # Tools are refused together with reasoning, which is on even when no effort was asked for.
    Family(
        OPENAI_ROWS,
        CHAT,
        r"gpt-5\.6(-.*)?",
        msgspec.structs.replace(UNREASONED, tools=False, efforts=CHAT_EFFORTS, cache_life="prompt_cache_options"),
    ),
    # Named like the reasoning family, and not of it.
    Family(OPENAI_ROWS, CHAT, r"gpt-5-chat.*", Facts(efforts=frozenset())),
    Family(OPENAI_ROWS, RESPONSES, r"gpt-5-chat.*", _on_responses(Facts(efforts=frozenset()))),
    *[Family(OPENAI_ROWS, CHAT, models, _on_chat(facts)) for models, facts in OPENAI_REASONING],
    *[Family(OPENAI_ROWS, RESPONSES, models, _on_responses(facts)) for models, facts in OPENAI_REASONING],
    # They do not reason.
    Family(OPENAI_ROWS, CHAT, r"(gpt-[34]|chatgpt-4o).*", Facts(efforts=frozenset())),
    Family(OPENAI_ROWS, RESPONSES, r"(gpt-[34]|chatgpt-4o).*", _on_responses(Facts(efforts=frozenset()))),
    Family(OPENAI_ROWS, RESPONSES, r".*", _on_responses(Facts())),
    *[Family(GOOGLE, GOOGLE, f"gemini-{name}", facts) for name, facts in GEMINI],
)
"""Every family there is something to say of."""


def facts_for(provider: str, dialect: str, model: str) -> Facts:
    """What is known of `model` at the row `provider`, spoken to in `dialect`; nothing, when no family fits."""
    return _facts[provider, dialect, model]


def _look_up(key: tuple[str, str, str]) -> Facts:
    provider, dialect, model = key
    for family in FAMILIES:
        if provider in family.providers and dialect in family.dialects and re.fullmatch(family.models, model):
            return family.facts
    return Facts()


def _weight(key: tuple[str, str, str], facts: Facts) -> int:  # noqa: ARG001 - those of a family are shared
    return weight_of(key)


_facts = ByteCache(500_000, _look_up, weigh=_weight)
