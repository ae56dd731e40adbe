"""How hard to think, how long the answer may be, and how to sample: knobs that depend on each other.

Rules
- `max_tokens` must be said. Where the caller does not, it is what the model can write at most, or `DEFAULT_MAX_TOKENS`.
- A budget for thinking is at least `MIN_BUDGET` and less than `max_tokens`. The caller's own `max_tokens` stands: it is
  the budget that gives way.
- A model that does not have the form asked for gets its nearest one, with an entry: a budget becomes adaptive thinking,
  an effort becomes a budget, no thinking the least effort.
- While thinking has a budget no call can be forced, sampling is the service's own, and a turn that called tools must
  begin with its thinking: where that is lost, the request goes without thinking.
Source: our notes on the wire, "Thinking rules"; rows PAR-04 to PAR-07, THK-01 and THK-11 of the failure list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects.anthropic.parts import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Facts
    from interlingua.dialects.anthropic.wire import MessageWire, RequestWire
    from interlingua.types.change import Changes
    from interlingua.types.request import Request

__all__ = ["DEFAULT_MAX_TOKENS", "MIN_BUDGET", "decode_thinking", "has_budget", "lost_thinking", "set_thinking"]

DEFAULT_MAX_TOKENS = 8_192
"""How long an answer may be when neither the caller nor the model's facts say."""
MIN_BUDGET = 1_024
"""The smallest budget that the service takes."""
EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""The wire's words, least first."""
CANONICAL_EFFORTS = frozenset({"none", "minimal", *EFFORTS})
BUDGETS = {"minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 32_768}
"""The budget that stands for an effort, for models that know no effort."""


# Reading


def decode_thinking(wire: RequestWire, extra: dict[str, Any]) -> tuple[str | None, int | None]:
    """The effort and the budget that a request asks for; what has no field goes to `extra`."""
    config = dict(wire.output_config or {})
    effort = config.pop("effort", None)
    if effort is not None and effort not in CANONICAL_EFFORTS:
        config["effort"], effort = effort, None
    config.pop("format", None)
    if config:
        extra["output_config"] = config
    thinking = dict(wire.thinking or {})
    budget = thinking.get("budget_tokens")
    if thinking == {"type": "disabled"} and effort is None:
        return "none", None
    if thinking.get("type") == "enabled" and type(budget) is int and budget > 0:
        rest = {name: value for name, value in thinking.items() if name not in ("type", "budget_tokens")}
        if rest:
            extra["thinking"] = rest
        return effort, budget
    if thinking:
        extra["thinking"] = thinking
    return effort, None


# Writing


def set_thinking(wire: RequestWire, request: Request, facts: Facts, changes: Changes) -> None:
    """Write `max_tokens`, `thinking` and the effort."""
    _Thinking(wire, request, facts, changes).write()


class _Thinking:
    def __init__(self, wire: RequestWire, request: Request, facts: Facts, changes: Changes) -> None:
        self.wire = wire
        self.request = request
        self.facts = facts
        self.changes = changes
        self.said = "type" in (request.extra.get(NAME, {}).get("thinking") or {})

    def write(self) -> None:
        budget, effort = self.request.thinking_budget, self.request.effort
        if budget is None and effort not in (None, "none") and self._is_without_effort():
            budget = self._budget_of(str(effort))
        elif effort not in (None, "none"):
            self._effort(str(effort))
        self._max_tokens(budget or 0)
        if budget is not None and budget > 0:
            self._budget(budget)
        elif budget is not None and budget < 0:
            self._adaptive("/thinking_budget", "the model is to find its budget by itself")
        elif budget == 0 or effort == "none":
            self._disable("/effort" if effort == "none" else "/thinking_budget")
        elif effort is not None and not self.said and "adaptive" in (self.facts.thinking or ()):
            self.wire.thinking = {"type": "adaptive"}

    def _max_tokens(self, budget: int) -> None:
        asked, most = self.request.max_tokens, self.facts.max_output_tokens
        if asked is None:
            asked = most or DEFAULT_MAX_TOKENS + budget
            self.changes.add("parameter_added", "/max_tokens", f"the service insists on it: {asked}")
        elif most is not None and asked > most:
            self.changes.add("parameter_adjusted", "/max_tokens", f"the model writes {most} at most")
            asked = most
        self.wire.max_tokens = asked

    # Effort

    def _is_without_effort(self) -> bool:
        """Whether the model is known to have no effort, only budgets."""
        return self.facts.efforts is not None and not self.facts.efforts

    def _budget_of(self, effort: str) -> int | None:
        if "enabled" not in (self.facts.thinking or ()):
            self.changes.add("parameter_unsupported", "/effort", "the model does not think")
            return None
        budget = BUDGETS[effort]
        self.changes.add("parameter_adjusted", "/effort", f"told as a budget of {budget} tokens")
        return budget

    def _effort(self, effort: str) -> None:
        known = self.facts.efforts
        taken = [word for word in EFFORTS if known is None or word in known]
        nearest = effort if effort in taken else _nearest(effort, taken)
        if nearest is None:
            self.changes.add("parameter_unsupported", "/effort", "the model takes no effort")
            return
        if nearest != effort:
            self.changes.add("parameter_adjusted", "/effort", f"{effort} is told as {nearest}")
        self.wire.output_config = {**(self.wire.output_config or {}), "effort": nearest}

    # Forms of thinking

    def _has(self, form: str) -> bool:
        return self.facts.thinking is None or form in self.facts.thinking

    def _budget(self, budget: int) -> None:
        if not self._has("enabled"):
            self._adaptive("/thinking_budget", "the model finds its budget by itself")
            return
        room = (self.wire.max_tokens or 0) - 1
        if room < MIN_BUDGET:
            why = f"max_tokens leaves no room for {MIN_BUDGET} tokens of thinking"
            self.changes.add("parameter_unsupported", "/thinking_budget", why)
            return
        fitted = max(MIN_BUDGET, min(budget, room))
        if fitted != budget and self.request.thinking_budget is not None:
            self.changes.add("parameter_adjusted", "/thinking_budget", f"{budget} is told as {fitted}")
        self.wire.thinking = {"type": "enabled", "budget_tokens": fitted}

    def _adaptive(self, path: str, why: str) -> None:
        if not self._has("adaptive"):
            self.changes.add("parameter_unsupported", path, "the model does not think")
            return
        self.changes.add("parameter_adjusted", path, why)
        self.wire.thinking = {"type": "adaptive"}

    def _disable(self, path: str) -> None:
        if self._has("disabled"):
            self.wire.thinking = {"type": "disabled"}
            return
        self.changes.add("parameter_adjusted", path, "the model always thinks; told as the effort low")
        self.wire.output_config = {**(self.wire.output_config or {}), "effort": EFFORTS[0]}


def _nearest(effort: str, taken: Sequence[str]) -> str | None:
    """The next lower effort there is, else the lowest one."""
    place = EFFORTS.index(effort) if effort in EFFORTS else 0
    lower = [word for word in taken if EFFORTS.index(word) <= place]
    return (lower or taken or [None])[-1 if lower else 0]


def has_budget(wire: RequestWire) -> bool:
    """Whether thinking is asked for with a budget."""
    return wire.thinking is not None and wire.thinking.get("type") == "enabled"


def lost_thinking(messages: Sequence[MessageWire]) -> bool:
    """Whether results answer a turn that does not begin with its thinking, as a service that thinks insists on."""
    if len(messages) < 2 or messages[-1].role != "user" or messages[-2].role != "assistant":
        return False
    answers, turn = messages[-1].content, messages[-2].content
    if not isinstance(answers, list) or not isinstance(turn, list) or not answers or not turn:
        return False
    is_loop = answers[0].type == "tool_result"
    return is_loop and turn[0].type not in ("thinking", "redacted_thinking")
