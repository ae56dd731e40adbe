"""How a request says how hard to think, and the knobs that only a model knows: both ways.

Rules
- The effort has a member of its own. Thinking is asked for in the model's own words, in
  `additionalModelRequestFields`, as Claude has them: other models know efforts or nothing, and refuse or pass over
  what they do not know.
- A model that does not have the form asked for gets its nearest one, with an entry.
- A budget is at least `MIN_BUDGET` and less than the limit of tokens, which stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

from interlingua.dialects._members import is_object
from interlingua.types.capability import Effort

if TYPE_CHECKING:
    from interlingua.dialects._contract import Facts
    from interlingua.types.change import Changes
    from interlingua.types.request import Request

__all__ = ["ThinkingAsked", "decode_effort", "decode_thinking", "encode_thinking"]

MIN_BUDGET = 1_024
"""The smallest budget that a model takes."""
DEFAULT_BUDGET = 8_192
"""The budget of a model that needs one, where nobody named one."""
BUDGETS: dict[str, int] = {
    "minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 32_768,
}  # fmt: skip
"""The budget that stands for an effort, for models that know no effort."""
_EFFORTS = frozenset(get_args(Effort))


class ThinkingAsked(NamedTuple):
    """The thinking of a request."""

    enabled: bool | None = None
    """Whether to think at all."""
    budget: int | None = None
    """How many tokens it may take."""


# Reading


def decode_effort(word: object) -> Effort | None:
    """The effort that a word is; None for any other."""
    return cast("Effort", word) if isinstance(word, str) and word in _EFFORTS else None


def decode_thinking(fields: dict[str, Any]) -> ThinkingAsked:
    """The thinking in the fields of the model, from which it is taken out."""
    thinking = fields.get("thinking")
    if not is_object(thinking):
        return ThinkingAsked()
    match thinking:
        case {"type": "enabled", "budget_tokens": int(budget)} if type(budget) is int and budget > 0:
            settings, read = ThinkingAsked(budget=budget), {"type", "budget_tokens"}
        case {"type": "adaptive" | "disabled" as kind}:
            settings, read = ThinkingAsked(kind == "adaptive"), {"type"}
        case _:
            return ThinkingAsked()
    rest = {name: value for name, value in thinking.items() if name not in read}
    if rest:
        fields["thinking"] = rest
    else:
        del fields["thinking"]
    return settings


# Writing


def encode_thinking(request: Request, facts: Facts, changes: Changes) -> dict[str, Any] | None:
    """The member `thinking` of the model's fields; None where nothing has to be said."""
    budget, effort, forms = request.thinking_budget, request.effort, facts.thinking
    efforts = facts.efforts
    if budget is None and effort not in (None, "none") and efforts is not None and not efforts:
        # a model that thinks by budget alone, or not at all
        if "enabled" in (forms or ()):
            budget = BUDGETS[str(effort)]
            changes.add("parameter_adjusted", "/effort", f"sent as a budget of {budget} tokens")
        else:
            changes.add("parameter_unsupported", "/effort", "the model does not think")
    thinks = request.thinking
    if effort == "none" or budget == 0:
        thinks, budget = False, None
    if budget is None and thinks is None:
        return None
    if forms is not None and not forms:
        if thinks is not False:
            path = "/thinking_budget" if request.thinking_budget else "/thinking"
            changes.add("parameter_unsupported", path, "the model does not think")
        return None
    if thinks is False and (forms is None or "disabled" in forms):
        return {"type": "disabled"}
    if thinks is False:
        path = "/thinking" if request.thinking is False else "/effort"
        changes.add("parameter_unsupported", path, "the model always thinks")
        return None
    return _enabled(request, budget, forms, changes)


def _enabled(
    request: Request, budget: int | None, forms: frozenset[str] | None, changes: Changes
) -> dict[str, Any] | None:
    if budget is None and (forms is None or "adaptive" in forms):
        return {"type": "adaptive"}
    if budget is None:
        changes.add("parameter_adjusted", "/thinking", "the model needs a budget")
        budget = DEFAULT_BUDGET
    elif forms is not None and "enabled" not in forms:
        changes.add("parameter_adjusted", "/thinking_budget", "the model finds its budget by itself")
        return {"type": "adaptive"}
    room = budget if request.max_tokens is None else request.max_tokens - 1
    if room < MIN_BUDGET:
        why = f"the limit leaves no room for {MIN_BUDGET} tokens of thinking"
        changes.add("parameter_unsupported", "/thinking_budget", why)
        return None
    fitted = max(MIN_BUDGET, min(budget, room))
    if fitted != budget:
        changes.add("parameter_adjusted", "/thinking_budget", f"{budget} is sent as {fitted}")
    return {"type": "enabled", "budget_tokens": fitted}
