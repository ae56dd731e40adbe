"""The model families and their abilities, with the evidence: one table for the product and for the strict upstream.

Rules
- None means that nobody said, which is taken. A refusal stands here only with a source.
- The first row that fits a model counts: the newest family first.
- A recorded exchange counts for more than a page; `tests/corpus/test_model_table.py` holds the table against them.
- Where servers of one family differ (Vertex takes penalties that Gemini's own API refuses), the row is about the
  vendor's own, and a quirk of the other server's row says so.
- No family of the table was seen to refuse images, so that there is no column for that; `media` holds what was taken.

This module is not responsible for what follows from a row, nor for what a dialect or a server takes of every model.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

__all__ = ["MODEL_TABLE", "OPENAI_STRICT_BOUNDS", "ModelRow", "StrictBounds", "model_row", "model_rows"]


CacheLife = Literal["prompt_cache_retention", "prompt_cache_options"]


class ModelRow(msgspec.Struct, frozen=True):
    """The abilities of one family, and their sources."""

    vendor: str
    """The vendor of the family: `openai`, `anthropic`, `google` or `cohere`."""
    models: str
    """A regular expression of the whole model id."""
    source: str
    """The source: our notes on a vendor's page, and the ids of recorded exchanges."""
    sampling: bool | None = None
    """Whether temperature, top_p, penalties and log probabilities are taken."""
    sampling_efforts: frozenset[str] = frozenset()
    """The efforts at which a family without `sampling` takes those knobs all the same."""
    sampling_pair: bool | None = None
    """Whether temperature and top_p are taken together."""
    efforts: frozenset[str] | None = None
    """The reasoning efforts that it takes; empty: it knows none."""
    thinking: frozenset[str] | None = None
    """The forms in which thinking can be asked for; empty: it does not think."""
    forced_choice: bool | None = None
    """Whether a forced tool choice is taken."""
    prefill: bool | None = None
    """Whether a turn of the model that ends the conversation is taken, to be finished."""
    system_messages: bool | None = None
    """Whether system messages are taken after the conversation has begun."""
    output_schema: bool | None = None
    """Whether an answer can be bound to a schema."""
    max_output_tokens: int | None = None
    """The most tokens that one answer can have."""
    tools_on_chat: bool | None = None
    """Whether tools are taken on Chat, where the model reasons."""
    stop: bool | None = None
    """Whether stop sequences are taken."""
    audio: bool | None = None
    """Whether sound is taken."""
    cache_life: CacheLife | None = None
    """How a model that caches prompts by itself is asked to keep them for longer."""
    budgets: tuple[int, int] | None = None
    """The least and the most tokens of a budget for thinking; 0 is another form, `disabled`."""
    penalties: bool | None = None
    """Whether presence and frequency penalties are taken, where `sampling` does not say it."""
    call_seals: bool | None = None
    """Whether the first call of each step in a history must carry its signature, or the filler for it."""
    output_schema_with_tools: bool | None = None
    """Whether an answer can be bound to a schema while tools are offered, with a free choice."""
    result_media: bool | None = None
    """Whether a tool's result may hold media."""
    mixed_tools: bool | None = None
    """Whether tools that the provider runs go together with the caller's own."""
    media: frozenset[str] = frozenset()
    """Kinds of media that a recorded exchange shows to be taken: `images`, `audio`, `documents`."""

    def with_media(self, media: frozenset[str]) -> ModelRow:
        """The row with the kinds of media that a recorded exchange shows to be taken."""
        return msgspec.structs.replace(self, media=media)


class StrictBounds(msgspec.Struct, frozen=True):
    """How large a schema can be that binds what a model writes."""

    levels: int
    """The most levels of objects and lists."""
    properties: int
    """The most properties in all."""
    enum_values: int
    """The most values of enumerations in all."""
    long_enum_chars: int
    """The most characters of one enumeration with more than 250 values."""
    name_chars: int
    """The most characters of names, values and descriptions in all."""


OPENAI_STRICT_BOUNDS = StrictBounds(10, 5_000, 1_000, 15_000, 120_000)
"""Of every model of OpenAI. Source: our notes on OpenAI Chat, section Strict JSON Schema subset; nothing larger was
recorded, neither taken nor refused."""


def _words(*names: str) -> frozenset[str]:
    return frozenset(names)


_IMAGES_AND_DOCUMENTS, _ALL_MEDIA = _words("images", "documents"), _words("images", "audio", "documents")

OPENAI_NOTES = "our notes on OpenAI Chat, section Pitfalls"
GEMINI_NOTES = "our notes on Google, sections 1 and 8; vendor pages 'Gemini thinking', 'OpenAI compatibility'"
CLAUDE_NOTES = "our notes on Anthropic, 'Thinking rules'; vendor page 'Models overview'"
COHERE_NOTES = "our notes on Cohere, Field facts, reasoning in; vendor pages 'Reasoning Capabilities', 'Image Inputs'"


def _openai(models: str, source: str, life: CacheLife, *unless: str, tools_on_chat: bool | None = None) -> ModelRow:
    """A model that reasons: it takes no knobs of sampling, unless it is asked for one of some efforts."""
    return ModelRow(
        "openai", models, source, sampling=False, sampling_efforts=frozenset(unless), cache_life=life,
        tools_on_chat=tools_on_chat, stop=False, audio=False,
    )  # fmt: skip


def _claude_5(
    models: str, source: str, *thinking: str, most: int | None = 128_000, forced: bool | None = None
) -> ModelRow:
    """Claude from 4.7 on: no knobs of sampling, and nothing begun for it."""
    return ModelRow(
        "anthropic", f"claude-{models}", source, sampling=False, prefill=False, thinking=frozenset(thinking),
        forced_choice=forced, output_schema=True, max_output_tokens=most,
    )  # fmt: skip


def _claude_4(models: str, source: str, most: int, *, schema: bool, pair: bool | None) -> ModelRow:
    """Claude that thinks with a budget alone, knows no effort, and takes system messages only at the beginning."""
    return ModelRow(
        "anthropic", f"claude-{models}", source, sampling_pair=pair, thinking=_words("enabled", "disabled"),
        efforts=frozenset(), system_messages=False, output_schema=schema, max_output_tokens=most,
    )  # fmt: skip


def _claude_3(models: str, source: str, most: int) -> ModelRow:
    """Claude that does not think."""
    return ModelRow(
        "anthropic", f"claude-{models}", source, thinking=frozenset(), efforts=frozenset(), system_messages=False,
        output_schema=False, max_output_tokens=most,
    )  # fmt: skip


def _gemini_3(models: str, source: str, efforts: frozenset[str] | None) -> ModelRow:
    """Gemini that always thinks, by level, and refuses a history whose first call of a step has no signature."""
    return ModelRow(
        "google", f"gemini-{models}", source, thinking=_words("adaptive", "enabled"), efforts=efforts, call_seals=True,
        output_schema_with_tools=True, result_media=True, mixed_tools=True,
    )  # fmt: skip


def _gemini_2(models: str, source: str, least: int, most: int, *forms: str) -> ModelRow:
    """Gemini 2.5: it thinks by budget, takes a schema or tools, and no media inside of results."""
    return ModelRow(
        "google", f"gemini-{models}", source, thinking=_words("adaptive", "enabled", *forms), budgets=(least, most),
        efforts=frozenset(), penalties=False, call_seals=False, output_schema_with_tools=False, result_media=False,
        mixed_tools=False,
    )  # fmt: skip


MODEL_TABLE: tuple[ModelRow, ...] = (
    # Named like the reasoning family, and not of it.
    ModelRow("openai", r"gpt-5-chat.*", OPENAI_NOTES, efforts=frozenset()),
    _openai(r"gpt-6(-.*)?", OPENAI_NOTES, "prompt_cache_options"),
    # Without an effort they may reason: a knob that is dropped is reported, while a refused request would be lost.
    _openai(
        r"gpt-5\.6(-.*)?", OPENAI_NOTES + "; at the effort none 937a5b448aab", "prompt_cache_options", "none",
        tools_on_chat=False,
    ),
    _openai(r"gpt-5\.([7-9]|\d\d)(-.*)?", OPENAI_NOTES + "; assumed like gpt-5.6", "prompt_cache_options", "none"),
    _openai(r"gpt-5\.\d+(-.*)?", OPENAI_NOTES + "; assumed like gpt-5.6", "prompt_cache_retention", "none"),
    _openai(
        r"gpt-5(-.*)?", OPENAI_NOTES + "; stop refused ef691167bd9f, sound refused 73a8c403eeee; images 76ed6a03edbc, "
        "documents 5d0ff2bc78d9",
        "prompt_cache_retention",
    ).with_media(_IMAGES_AND_DOCUMENTS),
    ModelRow(
        "openai", r"o(1|3-mini)(-.*)?", OPENAI_NOTES + "; stop 8bc45a8b013b; efforts 9b122a6c4188", sampling=False,
        efforts=_words("low", "medium", "high"), audio=False,
    ),
    ModelRow(
        "openai", r"o[34](-.*)?", OPENAI_NOTES + "; refused 792f341b0fae; stop assumed as of gpt-5", sampling=False,
        efforts=_words("low", "medium", "high"), stop=False, audio=False,
    ),
    ModelRow("openai", r"(gpt-[34]|chatgpt-4o).*", OPENAI_NOTES, efforts=frozenset()),
    _claude_5(r"sonnet-5-5.*", CLAUDE_NOTES, "adaptive", "between_tools", forced=False),
    _claude_5(r"(opus-5-5|fable-5-[12]).*", CLAUDE_NOTES, "adaptive", forced=False),
    _claude_5(r"fable-5.*", CLAUDE_NOTES, "adaptive"),
    _claude_5(r"opus-5.*", CLAUDE_NOTES + "; b4b92fe496d2", "adaptive", "disabled"),
    _claude_5(r"haiku-5-5.*", CLAUDE_NOTES, "adaptive", "disabled", most=None),
    _claude_5(
        r"(opus-4-[78]|sonnet-5).*", CLAUDE_NOTES + "; 6f21afb0cd13, 6169c0dbecbd", "adaptive", "enabled", "disabled"
    ),
    ModelRow(
        "anthropic", r"claude-(opus|sonnet)-4-6.*", CLAUDE_NOTES + "; 6049ca35bfea, 3088b4545813; refused 8e8a7eba498a",
        sampling=True, sampling_pair=False, efforts=_words("low", "medium", "high", "max"), prefill=False,
        thinking=_words("adaptive", "enabled", "disabled"), system_messages=False, output_schema=True,
        max_output_tokens=128_000,
    ),
    _claude_4(
        r"(opus|sonnet|haiku)-4-5.*", CLAUDE_NOTES + "; c972dee1e181, a9aa1bbcfadd; images 56a7a5a5ed42, documents "
        "5465d47fe228", 64_000, schema=True, pair=False,
    ).with_media(_IMAGES_AND_DOCUMENTS),
    _claude_4(r"opus-4-1.*", CLAUDE_NOTES + "; 22ccdf918632", 32_000, schema=True, pair=False),
    _claude_4(r"opus-4(-0|-2025.*)?", CLAUDE_NOTES, 32_000, schema=False, pair=None),
    _claude_4(
        r"(sonnet-4(-0|-2025.*)?|3-7-sonnet.*)", CLAUDE_NOTES + "; temperature with top_p 733e04480735; e987def8a821; "
        "images 2ae43499b37f, documents 5281ce83e961",
        64_000, schema=False, pair=None,
    ).with_media(_IMAGES_AND_DOCUMENTS),
    _claude_3(
        r"3-5-(sonnet|haiku).*", CLAUDE_NOTES + "; 5368ee829d59; images 42574412be08, documents 4f6a3e793444", 8_192
    ).with_media(_IMAGES_AND_DOCUMENTS),
    _claude_3(
        r"3-(opus|sonnet|haiku).*", CLAUDE_NOTES + "; e13b13024356; images 4b3cde961b8b", 4_096
    ).with_media(_words("images")),
    _gemini_3(
        r"3-pro.*", GEMINI_NOTES + "; level ad1e1dc59c70, MEDIUM refused 2025-12-19, budget 6820750c7e1f, schema with "
        "tools a4f79e1867d5",
        _words("low", "high"),
    ),
    _gemini_3(r"3\.1-pro.*", GEMINI_NOTES + "; 55b1db84a66c", _words("low", "medium", "high")),
    _gemini_3(r"3\.[78]-flash.*", GEMINI_NOTES, _words("low", "medium", "high")),
    _gemini_3(
        r"3(\.\d+)?-flash.*", GEMINI_NOTES + "; levels 14569b68e096, 7cbd639411d8, budget 520040c5e386, tools of both "
        "kinds 21d6d38d7c1a, schema with tools 07f0efcd972d, media in results 06de294ae27e; images 878650aafd1d, "
        "sound f41ff7d86d3a, documents 06de294ae27e",
        _words("minimal", "low", "medium", "high"),
    ).with_media(_ALL_MEDIA),
    _gemini_3(r"[3-9].*", GEMINI_NOTES, None),
    _gemini_2(r"2\.5-pro.*", GEMINI_NOTES + "; a call without a signature 34c697313906", 128, 32_768),
    _gemini_2(r"2\.5-flash-lite.*", GEMINI_NOTES + "; budget 92a345013ddc", 512, 24_576, "disabled"),
    _gemini_2(
        r"2\.5-flash.*", GEMINI_NOTES + "; budgets b12a472f615e, 8e0b579d97aa, none 289ad601fadf, log probabilities "
        "5cb817fa340d, a call without a signature e11e6661a4a5; images af8c4d44bc98, sound 1a0ac5051ad2, documents "
        "0ef6f8766aa7", 1, 24_576, "disabled",
    ).with_media(_ALL_MEDIA),
    ModelRow(
        "google", r"gemini-(1\.5|2\.0)-(pro|flash)(?!.*thinking).*", GEMINI_NOTES + "; calls without signatures "
        "83db21139ae0; images 3ba7ebf080ec, sound 1ced270781a2, documents 63f67e5387d8", media=_ALL_MEDIA,
        thinking=frozenset(), efforts=frozenset(), call_seals=False, output_schema_with_tools=False,
        result_media=False, mixed_tools=False,
    ),
    ModelRow(
        "cohere", r"command-a-reasoning.*", COHERE_NOTES + "; 42a79fbd5a91", thinking=_words("enabled", "disabled")
    ),
    # The older ones know no tool_choice, which came with Command R7B [cohere-python 7.3.1, v2/client.py].
    ModelRow(
        "cohere", r"command(-light|-r(-plus)?(-0[348]-2024)?)?", COHERE_NOTES + "; cohere-python, tool_choice",
        thinking=frozenset(), forced_choice=False,
    ),
    ModelRow(
        "cohere", r"command-(a-(03-2025|vision.*|translate.*)|r7b.*)", COHERE_NOTES + "; forced choice 6ed1ae10db64",
        thinking=frozenset(),
    ),
)  # fmt: skip
"""Every family there is something to say of."""


def model_rows(vendor: str) -> tuple[ModelRow, ...]:
    """The families of one vendor, in the order in which they count."""
    return tuple(row for row in MODEL_TABLE if row.vendor == vendor)


def model_row(vendor: str, model: str) -> ModelRow | None:
    """The family of a vendor's model; None when nothing is known of it."""
    return next((row for row in MODEL_TABLE if row.vendor == vendor and re.fullmatch(row.models, model)), None)
