"""The settings of a request, read from the wire of each format: sampling, limits, thinking, classes of service.

Rules
- A setting that is not there has no entry; null is not there.
- The names are those of the contract (`max_tokens`, `effort`, `thinking_budget` …), the values the wire's own.
- To think with the effort `none` is not to think.
- An effort that is none of the contract's words is a member of the format, not a setting.

Source: wire/openai-chat.md §1, wire/openai-responses.md §1, wire/anthropic.md §1, wire/google.md §1 and §8,
wire/ollama.md §1, wire/cohere.md §1, docs/dialects/unified.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interlingua.testing.wirefacts.bedrock import as_messages, schema_of
from interlingua.testing.wirefacts.google import camel
from interlingua.testing.wirefacts.values import Facts, items, members, word

__all__ = ["SETTINGS", "defaults_of", "life_of", "settings_of"]

SETTINGS = (
    "max_tokens", "temperature", "top_p", "top_k", "min_p", "stop", "seed", "presence_penalty", "frequency_penalty",
    "logit_bias", "logprobs", "n", "effort", "thinking", "thinking_budget", "thinking_summary", "parallel_tool_calls",
    "verbosity", "service_tier", "user", "metadata", "store", "cache", "cache_key", "schema_name",
    "schema_description", "schema_strict",
)  # fmt: skip
"""The settings that are facts, by the contract's names."""
DEFAULTS: dict[str, Facts] = {
    "anthropic": {"schema_strict": True},
    "cohere": {"schema_strict": True},
    "bedrock": {"schema_strict": True, "parallel_tool_calls": True},
    "google": {"parallel_tool_calls": True},
    "ollama": {"parallel_tool_calls": True},
    "openai-chat": {"thinking_summary": "none"},
    "openai-responses": {"thinking_summary": "none"},
}
"""The meaning of a setting that is not said, by format, where they differ."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
SUMMARIES = ("auto", "concise", "detailed")


def settings_of(dialect: str, body: Any) -> Facts:
    """The settings of a request body, by name."""
    settings = READERS[dialect](members(body))
    if settings.get("effort") == "none":
        settings = {**settings, "effort": None, "thinking": False}
    return {name: settings[name] for name in SETTINGS if settings.get(name) not in (None, [], {})}


def defaults_of(dialect: str, tool_choice: Any = None) -> Facts:
    """The meaning of settings that are not said in a format; a call of a tool by name is one call."""
    named = isinstance(tool_choice, dict) and "name" in tool_choice
    return {"n": 1, "schema_strict": False, "parallel_tool_calls": not named, **DEFAULTS.get(dialect, {})}


def _same(body: dict[str, Any], *names: str) -> Facts:
    return {name: body.get(name) for name in names}


def _stop(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else items(value)


def _canonical(value: Any, words: tuple[str, ...] = EFFORTS) -> Any:
    return value if value in words else None


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


OPENAI = (
    "temperature", "top_p", "parallel_tool_calls", "service_tier", "user", "metadata", "store"
)  # fmt: skip


def _chat(body: dict[str, Any]) -> Facts:
    reasoning = members(body.get("reasoning"))
    effort = body.get("reasoning_effort")
    form = members(body.get("response_format"))
    schema = members(form.get("json_schema"))
    flat = form if form.get("type") == "json_schema" and not schema and "schema" in form else {}
    return {
        **_same(body, *OPENAI, "top_k", "min_p", "presence_penalty", "frequency_penalty", "logit_bias", "n"),
        "verbosity": body.get("verbosity"),
        "max_tokens": _first(body.get("max_completion_tokens"), body.get("max_tokens")),
        "stop": _stop(body.get("stop")),
        "seed": _first(body.get("seed"), body.get("random_seed")),
        "logprobs": (body.get("top_logprobs") or 0) if body.get("logprobs") else None,
        "effort": _canonical(reasoning.get("effort") if effort is None else effort),
        "thinking_budget": reasoning.get("max_tokens"),
        "thinking_summary": _canonical(reasoning.get("summary"), SUMMARIES),
        "cache_key": body.get("prompt_cache_key"),
        "schema_name": _first(schema.get("name"), flat.get("name")),
        "schema_description": schema.get("description"),
        "schema_strict": _first(schema.get("strict"), flat.get("strict")),
    }


def _responses(body: dict[str, Any]) -> Facts:
    reasoning, text = members(body.get("reasoning")), members(body.get("text"))
    form = members(text.get("format"))
    schema = form if form.get("type") == "json_schema" else {}
    has_logprobs = "message.output_text.logprobs" in items(body.get("include"))
    return {
        **_same(body, *OPENAI),
        "max_tokens": body.get("max_output_tokens"),
        "logprobs": (body.get("top_logprobs") or 0) if has_logprobs else None,
        "effort": _canonical(reasoning.get("effort")),
        "thinking_summary": _canonical(reasoning.get("summary"), SUMMARIES),
        "verbosity": text.get("verbosity"),
        "cache_key": body.get("prompt_cache_key"),
        "schema_name": schema.get("name"),
        "schema_description": schema.get("description"),
        "schema_strict": schema.get("strict"),
    }


def _anthropic(body: dict[str, Any]) -> Facts:
    thinking = members(body.get("thinking"))
    kind, budget = thinking.get("type"), thinking.get("budget_tokens")
    choice = members(body.get("tool_choice"))
    serial = choice.get("disable_parallel_tool_use", False if choice.get("type") == "tool" else None)
    return {
        **_same(body, "max_tokens", "temperature", "top_p", "top_k", "service_tier"),
        "stop": _stop(body.get("stop_sequences")),
        "effort": _canonical(members(body.get("output_config")).get("effort")),
        "thinking": {"adaptive": True, "disabled": False}.get(word(kind)),
        "thinking_budget": budget if kind == "enabled" else None,
        "thinking_summary": {"summarized": "auto", "omitted": "none"}.get(word(thinking.get("display"))),
        "parallel_tool_calls": None if serial is None else not serial,
        "user": _text(members(body.get("metadata")).get("user_id")),
        "cache": life_of(body.get("cache_control")),
    }


def _bedrock(body: dict[str, Any]) -> Facts:
    messages_body, schema = as_messages(body), schema_of(body)
    serial = members(messages_body.get("tool_choice")).get("disable_parallel_tool_use")
    return {
        **_anthropic(messages_body),
        "parallel_tool_calls": None if serial is None else not serial,
        "metadata": body.get("requestMetadata"),
        "schema_name": schema.get("name"),
        "schema_description": schema.get("description"),
    }


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def life_of(mark: Any) -> str | None:
    """How long a cache mark of Messages lasts; None for one that says more than that, or for none."""
    members_of_mark = members(mark)
    if members_of_mark.get("type") != "ephemeral" or not members_of_mark.keys() <= {"type", "ttl"}:
        return None
    return {None: "5m", "5m": "5m", "1h": "1h"}.get(members_of_mark.get("ttl"))


def _google(body: dict[str, Any]) -> Facts:
    body = camel(body)
    config = members(body.get("generationConfig"))
    thinking = members(config.get("thinkingConfig"))
    level, budget = _canonical(word(thinking.get("thinkingLevel")).lower()), thinking.get("thinkingBudget")
    switch = {0: False, -1: True}.get(budget) if level is None and budget is not None else None
    top_k = config.get("topK")
    return {
        **_same(config, "temperature", "seed"),
        "max_tokens": config.get("maxOutputTokens"),
        "top_p": config.get("topP"),
        "top_k": None if top_k is None else int(top_k),
        "stop": _stop(config.get("stopSequences")),
        "presence_penalty": config.get("presencePenalty"),
        "frequency_penalty": config.get("frequencyPenalty"),
        "logprobs": (config.get("logprobs") or 0) if config.get("responseLogprobs") else None,
        "n": config.get("candidateCount"),
        "effort": level,
        "thinking": switch,
        "thinking_budget": None if switch is not None else budget,
        "thinking_summary": {"True": "auto", "False": "none"}.get(str(thinking.get("includeThoughts"))),
        "metadata": body.get("labels"),
        "service_tier": {"standard": "default", "flex": "flex", "priority": "priority"}.get(
            word(body.get("serviceTier")).lower()
        ),
    }


def _ollama(body: dict[str, Any]) -> Facts:
    options = members(body.get("options"))
    think = body.get("think")
    return {
        **_same(options, "temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty"),
        "max_tokens": options.get("num_predict"),
        "stop": _stop(options.get("stop")),
        "logprobs": (body.get("top_logprobs") or 0) if body.get("logprobs") else None,
        "effort": _canonical(think, ("low", "medium", "high", "max")),
        "thinking": think if isinstance(think, bool) else None,
    }


def _cohere(body: dict[str, Any]) -> Facts:
    thinking = members(body.get("thinking"))
    knobs = ("max_tokens", "temperature", "seed", "presence_penalty", "frequency_penalty")
    return {
        **_same(body, *knobs),
        "top_p": body.get("p"),
        "top_k": body.get("k"),
        "stop": _stop(body.get("stop_sequences")),
        "logprobs": 0 if body.get("logprobs") else None,
        "thinking": {"enabled": True, "disabled": False}.get(word(thinking.get("type"))),
        "thinking_budget": thinking.get("token_budget"),
    }


def _unified(body: dict[str, Any]) -> Facts:
    return {**_same(body, *SETTINGS), "stop": _stop(body.get("stop"))}


READERS: dict[str, Callable[[dict[str, Any]], Facts]] = {
    "anthropic": _anthropic,
    "cohere": _cohere,
    "bedrock": _bedrock,
    "google": _google,
    "ollama": _ollama,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "unified": _unified,
}
"""The reader of each format."""
