"""What single Claude families refuse: forms of thinking, sampling, forced choice, structured output, lengths.

Source: Anthropic, "Thinking rules" and "Field facts"; vendor page "Models overview" for the longest answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from interlingua.testing.upstream.verdict import Asked, Finding, Rule
from interlingua.testing.wirefacts.values import members, objects

__all__ = ["ANTHROPIC_MODEL_RULES", "FAMILIES", "ClaudeFamily", "family_of"]


class ClaudeFamily(msgspec.Struct, frozen=True, kw_only=True):
    """What one family takes."""

    models: str
    """Regular expression of what follows `claude-`."""
    thinking: frozenset[str]
    """The forms of `thinking.type` that it takes."""
    forced_choice: bool = True
    """Whether it takes a forced tool choice."""
    sampling: bool = True
    """Whether it takes temperature, top_p and top_k."""
    sampling_pair: bool = True
    """Whether it takes temperature and top_p together."""
    output_schema: bool = True
    """Whether it takes `output_config.format`."""
    late_system: bool = True
    """Whether it takes system messages among the others."""
    xhigh: bool = True
    """Whether it takes the effort `xhigh`."""
    prefill: bool = False
    """Whether it finishes a turn that was begun for it."""
    max_tokens: int = 128_000
    """The longest answer."""


def _forms(*names: str) -> frozenset[str]:
    return frozenset(names)


def _manual(models: str, max_tokens: int, *, sampling_pair: bool = True, output_schema: bool = True) -> ClaudeFamily:
    """A family that thinks with a budget alone, and takes system text only in its place."""
    return ClaudeFamily(
        models=models,
        thinking=_forms("enabled", "disabled"),
        late_system=False,
        prefill=True,
        max_tokens=max_tokens,
        sampling_pair=sampling_pair,
        output_schema=output_schema,
    )


FAMILIES: tuple[ClaudeFamily, ...] = (
    ClaudeFamily(
        models=r"sonnet-5-5.*", thinking=_forms("adaptive", "between_tools"), forced_choice=False, sampling=False
    ),
    ClaudeFamily(models=r"(opus-5-5|fable-5-[12]).*", thinking=_forms("adaptive"), forced_choice=False, sampling=False),
    ClaudeFamily(models=r"fable-5.*", thinking=_forms("adaptive"), sampling=False),
    ClaudeFamily(models=r"(opus-5|haiku-5-5).*", thinking=_forms("adaptive", "disabled"), sampling=False),
    ClaudeFamily(
        models=r"(opus-4-[78]|sonnet-5).*", thinking=_forms("adaptive", "enabled", "disabled"), sampling=False
    ),
    ClaudeFamily(
        models=r"(opus|sonnet)-4-6.*",
        thinking=_forms("adaptive", "enabled", "disabled"),
        sampling_pair=False,
        late_system=False,
        xhigh=False,
    ),
    _manual(r"(opus|sonnet|haiku)-4-5.*", 64_000, sampling_pair=False),
    _manual(r"opus-4-1.*", 32_000, sampling_pair=False),
    _manual(r"opus-4(-0|-2025.*)?", 32_000, output_schema=False),
    _manual(r"(sonnet-4(-0|-2025.*)?|3-7-sonnet.*)", 64_000, output_schema=False),
    ClaudeFamily(
        models=r"3-5-.*",
        thinking=_forms("disabled"),
        output_schema=False,
        late_system=False,
        prefill=True,
        max_tokens=8_192,
    ),
    ClaudeFamily(
        models=r"3-(opus|sonnet|haiku).*",
        thinking=_forms("disabled"),
        output_schema=False,
        late_system=False,
        prefill=True,
        max_tokens=4_096,
    ),
)
"""The families, newest first; a model of none of them is taken to take everything."""


def family_of(model: str) -> ClaudeFamily | None:
    """The family of a model, or None."""
    name = model.removeprefix("claude-")
    if name == model:
        return None
    return next((family for family in FAMILIES if re.fullmatch(family.models, name)), None)


def _thinking(asked: Asked) -> Iterator[Finding]:
    family = family_of(asked.model)
    form = members(asked.body.get("thinking")).get("type")
    if family is not None and form is not None and form not in family.thinking:
        yield ("thinking", "type"), f"'{form}' thinking is not supported by {asked.model}"


def _sampling(asked: Asked) -> Iterator[Finding]:
    family = family_of(asked.model)
    if family is None:
        return
    given = [name for name in ("temperature", "top_p", "top_k") if asked.body.get(name) is not None]
    if not family.sampling:
        for name in given:
            yield (name,), f"`{name}` is not supported by {asked.model}"
    elif not family.sampling_pair and {"temperature", "top_p"} <= set(given):
        yield ("top_p",), f"`temperature` and `top_p` cannot both be specified for {asked.model}"


def _forced_choice(asked: Asked) -> Iterator[Finding]:
    family = family_of(asked.model)
    forced = members(asked.body.get("tool_choice")).get("type") in ("any", "tool")
    if family is not None and forced and not family.forced_choice:
        yield ("tool_choice", "type"), f"tool_choice forces tool use is not compatible with {asked.model}"


def _output_schema(asked: Asked) -> Iterator[Finding]:
    family = family_of(asked.model)
    form = members(asked.body.get("output_config")).get("format")
    if family is not None and form is not None and not family.output_schema:
        yield ("output_config", "format"), f"{asked.model} does not support output format"


def _late_system(asked: Asked) -> Iterator[Finding]:
    family = family_of(asked.model)
    if family is None or family.late_system:
        return
    for place, message in enumerate(objects(asked.body.get("messages"))):
        if message.get("role") == "system":
            yield ("messages", place, "role"), f"{asked.model} takes system text only in `system`"


def _prefill(asked: Asked) -> Iterator[Finding]:
    family, messages = family_of(asked.model), objects(asked.body.get("messages"))
    if family is None or family.prefill or not messages or messages[-1].get("role") != "assistant":
        return
    if not any("tool" in str(block.get("type")) for block in objects(messages[-1].get("content"))):
        sentence = (
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
        yield ("messages", len(messages) - 1), sentence


def _max_tokens(asked: Asked) -> Iterator[Finding]:
    family = family_of(asked.model)
    limit = asked.body.get("max_tokens")
    if family is not None and isinstance(limit, int) and limit > family.max_tokens:
        yield ("max_tokens",), f"{limit} > {family.max_tokens}, which is the maximum for {asked.model}"


def _effort(asked: Asked) -> Iterator[Finding]:
    family = family_of(asked.model)
    if family is not None and not family.xhigh and members(asked.body.get("output_config")).get("effort") == "xhigh":
        yield ("output_config", "effort"), "This model does not support effort level 'xhigh'."


def _disabled_effort(asked: Asked) -> Iterator[Finding]:
    effort = members(asked.body.get("output_config")).get("effort")
    off = members(asked.body.get("thinking")).get("type") == "disabled"
    if off and effort in ("xhigh", "max") and re.match(r"claude-(opus-5|haiku-5-5)", asked.model):
        yield ("thinking", "type"), "thinking may be disabled with an effort up to high"


ANTHROPIC_MODEL_RULES: tuple[Rule, ...] = (
    Rule("unsupported_by_model", _thinking, "Anthropic, Thinking rules"),
    Rule("unsupported_by_model", _sampling, "Anthropic, Thinking rules and Pitfalls"),
    Rule("unsupported_by_model", _forced_choice, "Anthropic, Thinking rules"),
    Rule("unsupported_by_model", _output_schema, "Anthropic, Field facts, native support"),
    Rule("unsupported_by_model", _late_system, "Anthropic, Field facts, system"),
    Rule("unsupported_by_model", _prefill, "Anthropic, Pitfalls; refusals told of every family from 4.6 on"),
    Rule("unsupported_by_model", _max_tokens, "PAR-07; vendor page Models overview"),
    Rule("unsupported_by_model", _effort, "a recorded refusal, anthropic 8e8a7eba498a"),
    Rule("unsupported_by_model", _disabled_effort, "Anthropic, Thinking rules"),
)
"""The rules of Messages that depend on the model."""
