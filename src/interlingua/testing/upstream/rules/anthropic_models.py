"""Rules of single Claude families: forms of thinking, sampling, forced choice, structured output, lengths.

What a family takes is in `wire.model_table`, with its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from interlingua.testing.upstream.verdict import Asked, Finding, Rule
from interlingua.testing.wirefacts.values import members, objects
from interlingua.wire.model_table import ModelRow, model_row

__all__ = ["ANTHROPIC_MODEL_RULES", "family_of"]


def family_of(model: str) -> ModelRow | None:
    """The family of a model, or None: a model of none takes everything."""
    return model_row("anthropic", model)


def _thinking(request: Asked) -> Iterator[Finding]:
    family = family_of(request.model)
    form = members(request.body.get("thinking")).get("type")
    if family is None or family.thinking is None or form is None:
        return
    if form not in (family.thinking or ("disabled",)):
        yield ("thinking", "type"), f"'{form}' thinking is not supported by {request.model}"


def _sampling(request: Asked) -> Iterator[Finding]:
    family = family_of(request.model)
    if family is None:
        return
    knobs = [name for name in ("temperature", "top_p", "top_k") if request.body.get(name) is not None]
    if family.sampling is False:
        for name in knobs:
            yield (name,), f"`{name}` is not supported by {request.model}"
    elif family.sampling_pair is False and {"temperature", "top_p"} <= set(knobs):
        yield ("top_p",), f"`temperature` and `top_p` cannot both be specified for {request.model}"


def _forced_choice(request: Asked) -> Iterator[Finding]:
    family = family_of(request.model)
    forced = members(request.body.get("tool_choice")).get("type") in ("any", "tool")
    if family is not None and forced and family.forced_choice is False:
        yield ("tool_choice", "type"), f"tool_choice forces tool use is not compatible with {request.model}"


def _output_schema(request: Asked) -> Iterator[Finding]:
    family = family_of(request.model)
    form = members(request.body.get("output_config")).get("format")
    if family is not None and form is not None and family.output_schema is False:
        yield ("output_config", "format"), f"{request.model} does not support output format"


def _late_system(request: Asked) -> Iterator[Finding]:
    family = family_of(request.model)
    if family is None or family.system_messages is not False:
        return
    for place, message in enumerate(objects(request.body.get("messages"))):
        if message.get("role") == "system":
            yield ("messages", place, "role"), f"{request.model} takes system text only in `system`"


def _prefill(request: Asked) -> Iterator[Finding]:
    family, messages = family_of(request.model), objects(request.body.get("messages"))
    if family is None or family.prefill is not False or not messages or messages[-1].get("role") != "assistant":
        return
    if not any("tool" in str(block.get("type")) for block in objects(messages[-1].get("content"))):
        sentence = (
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
        yield ("messages", len(messages) - 1), sentence


def _max_tokens(request: Asked) -> Iterator[Finding]:
    family = family_of(request.model)
    limit, most = request.body.get("max_tokens"), family.max_output_tokens if family is not None else None
    if most is not None and isinstance(limit, int) and limit > most:
        yield ("max_tokens",), f"{limit} > {most}, which is the maximum for {request.model}"


def _effort(request: Asked) -> Iterator[Finding]:
    family = family_of(request.model)
    effort = members(request.body.get("output_config")).get("effort")
    # What the families without efforts do with one is not recorded.
    if family is not None and family.efforts and effort is not None and effort not in family.efforts:
        yield ("output_config", "effort"), f"This model does not support effort level '{effort}'."


def _disabled_effort(request: Asked) -> Iterator[Finding]:
    effort = members(request.body.get("output_config")).get("effort")
    off = members(request.body.get("thinking")).get("type") == "disabled"
    if off and effort in ("xhigh", "max") and re.match(r"claude-(opus-5|haiku-5-5)", request.model):
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
