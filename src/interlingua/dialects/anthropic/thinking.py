"""How hard to think, how long the answer may be, and how to sample: knobs that depend on each other.

Rules
- `max_tokens` must be said. Where the caller does not, it is what the model can write at most, or `DEFAULT_MAX_TOKENS`.
- A budget for thinking is at least `MIN_BUDGET` and less than `max_tokens`. The caller's own `max_tokens` stands: it is
  the budget that gives way, unless the caller asked for interleaved thinking, whose budget is that of several answers.
- A model that does not have the form asked for gets its nearest one, with an entry: a budget becomes adaptive thinking,
  an effort becomes a budget, no thinking the least effort where it always thinks.
- While thinking has a budget no call can be forced, sampling is the service's own, and a turn that called tools must
  begin with its thinking: where that is lost, the request goes without thinking.
Source: our notes on the wire, "Thinking rules"; rows PAR-04 to PAR-07, THK-01 and THK-11 of the failure list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.dialects.anthropic.parts import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import Facts
    from interlingua.dialects.anthropic.wire import MessageWire, RequestWire
    from interlingua.types.capability import Effort
    from interlingua.types.change import Changes
    from interlingua.types.request import Request, ThinkingSummary

__all__ = [
    "DEFAULT_MAX_TOKENS",
    "MIN_BUDGET",
    "ThinkingAsked",
    "decode_thinking",
    "has_budget",
    "lost_thinking",
    "set_thinking",
]

DEFAULT_MAX_TOKENS = 8_192
"""How long an answer may be when neither the caller nor the model's facts say."""
INTERLEAVED = "interleaved-thinking-"
"""How the beta feature begins that lets a model think between its calls."""
MIN_BUDGET = 1_024
"""The smallest budget that the service takes."""
EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")
"""The wire's words, least first."""
BEYOND_HIGH = frozenset({"xhigh", "max"})
BY_WORD: dict[Any, Effort] = {word: word for word in ("none", "minimal", *EFFORTS)}
BUDGETS: dict[Effort, int] = {
    "minimal": 1_024,
    "low": 2_048,
    "medium": 8_192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 32_768,
}
"""The budget that stands for an effort, for models that know no effort."""
DISPLAYS: dict[Any, ThinkingSummary] = {"summarized": "auto", "omitted": "none"}


class ThinkingAsked(NamedTuple):
    """The thinking of a request."""

    effort: Effort | None = None
    """How hard to think."""
    enabled: bool | None = None
    """Whether to think at all."""
    summary: ThinkingSummary | None = None
    """Whether to show it."""
    budget: int | None = None
    """How many tokens it may take."""


_NOTHING = ThinkingAsked()

# Reading


def decode_thinking(wire: RequestWire, extra: dict[str, Any]) -> ThinkingAsked:
    """The thinking of a request; what has no field goes to `extra`."""
    if wire.output_config is wire.thinking is None:
        return _NOTHING
    config = dict(wire.output_config or {})
    effort = BY_WORD.get(str(config.get("effort")))
    rest = {name: value for name, value in config.items() if name != "format" and (name != "effort" or effort is None)}
    if rest:
        extra["output_config"] = rest
    settings, unread = _read(dict(wire.thinking or {}))
    if unread:
        extra["thinking"] = unread
    return settings._replace(effort=effort)


def _read(thinking: dict[str, Any]) -> tuple[ThinkingAsked, dict[str, Any]]:
    """The content of the member `thinking`, and the rest of it that has no field."""
    summary = DISPLAYS.get(str(thinking.get("display")))
    if summary is not None:
        del thinking["display"]
    match thinking:
        case {"type": "enabled", "budget_tokens": int(budget), **rest} if budget > 0 and type(budget) is int:
            return ThinkingAsked(budget=budget, summary=summary), rest
        case {"type": "adaptive", **rest}:
            return ThinkingAsked(enabled=True, summary=summary), rest
        case {"type": "disabled", **rest}:
            return ThinkingAsked(enabled=False, summary=summary), rest
        case rest:
            return ThinkingAsked(summary=summary), rest


# Writing


def set_thinking(wire: RequestWire, request: Request, facts: Facts, changes: Changes) -> None:
    """Write `max_tokens`, `thinking` and the effort."""
    writer = _Thinking(wire, request, facts, changes)
    if request.effort is request.thinking_budget is request.thinking is request.thinking_summary is None:
        writer.limit(0)
    else:
        writer.write()


class _Thinking:
    def __init__(self, wire: RequestWire, request: Request, facts: Facts, changes: Changes) -> None:
        self.wire = wire
        self.request = request
        self.facts = facts
        self.changes = changes

    def write(self) -> None:
        request = self.request
        effort, budget = request.effort, request.thinking_budget
        has_only_budgets = self.facts.efforts is not None and not self.facts.efforts
        if budget is None and effort not in (None, "none") and has_only_budgets:
            if "enabled" in (self.facts.thinking or ()):
                budget = BUDGETS[effort]
                self.changes.add("parameter_adjusted", "/effort", f"sent as a budget of {budget} tokens")
            else:
                self.changes.add("parameter_unsupported", "/effort", "the model does not think")
        elif effort not in (None, "none"):
            self._effort(effort)
        self.limit(budget or 0)
        if budget is not None and budget > 0:
            self._budget(budget)
        elif effort == "none" or budget == 0 or request.thinking is False:
            self._disable()
        elif budget is not None:
            self._adaptive("/thinking_budget", "the model is to find its budget by itself")
        elif request.thinking:
            self._think()
        elif effort is not None and "adaptive" in (self.facts.thinking or ()):
            self.wire.thinking = {"type": "adaptive"}
        self._summary()

    def limit(self, budget: int) -> None:
        """Write `max_tokens`, with room for a budget of thinking where the request has no limit itself."""
        limit, most = self.request.max_tokens, self.facts.max_output_tokens
        if limit is not None and limit < 0:
            self.changes.add("parameter_unsupported", "/max_tokens", f"{limit} stands for no limit")
            limit = None
        if limit is None:
            limit = most or DEFAULT_MAX_TOKENS + max(0, budget)
            self.changes.add("parameter_added", "/max_tokens", f"the service insists on it: {limit}")
        elif most is not None and limit > most:
            self.changes.add("parameter_adjusted", "/max_tokens", f"the model writes {most} at most")
            limit = most
        self.wire.max_tokens = limit

    # Effort

    def _effort(self, effort: Effort) -> None:
        accepted = self.facts.efforts
        efforts = [word for word in EFFORTS if accepted is None or word in accepted]
        place = EFFORTS.index(effort) if effort in EFFORTS else 0
        lower = [word for word in efforts if EFFORTS.index(word) <= place]
        # the effort itself, else the next lower one there is, else the lowest
        nearest = lower[-1] if lower else next(iter(efforts), None)
        if nearest is None:
            self.changes.add("parameter_unsupported", "/effort", "the model takes no effort")
            return
        if nearest != effort:
            self.changes.add("parameter_adjusted", "/effort", f"{effort} is sent as {nearest}")
        self.wire.output_config = {"effort": nearest}

    # Forms of thinking

    def _has(self, form: str) -> bool:
        return self.facts.thinking is None or form in self.facts.thinking

    def _budget(self, budget: int) -> None:
        if not self._has("enabled"):
            self._adaptive("/thinking_budget", "the model finds its budget by itself")
            return
        room = budget if self._interleaves() else (self.wire.max_tokens or 0) - 1
        if room < MIN_BUDGET and not self._interleaves():
            why = f"max_tokens leaves no room for {MIN_BUDGET} tokens of thinking"
            self.changes.add("parameter_unsupported", "/thinking_budget", why)
            return
        fitted = max(MIN_BUDGET, min(budget, room))
        if fitted != budget:
            self.changes.add("parameter_adjusted", "/thinking_budget", f"{budget} is sent as {fitted}")
        self.wire.thinking = {"type": "enabled", "budget_tokens": fitted}

    def _interleaves(self) -> bool:
        """Whether the caller asked for thinking between calls, whose budget is that of the whole turn."""
        betas = self.request.extra.get(NAME, {}).get("betas", ())
        return any(str(beta).startswith(INTERLEAVED) for beta in betas)

    def _adaptive(self, path: str, why: str) -> None:
        if not self._has("adaptive"):
            self.changes.add("parameter_unsupported", path, "the model does not think")
            return
        self.changes.add("parameter_adjusted", path, why)
        self.wire.thinking = {"type": "adaptive"}

    def _think(self) -> None:
        """Thinking without a word of how much."""
        if self._has("adaptive"):
            self.wire.thinking = {"type": "adaptive"}
        elif self._has("enabled"):
            self.changes.add("parameter_adjusted", "/thinking", "the model needs a budget")
            self._budget(BUDGETS["medium"])
        else:
            self.changes.add("parameter_unsupported", "/thinking", "the model does not think")

    def _disable(self) -> None:
        if self._has("disabled"):
            self.wire.thinking = {"type": "disabled"}
            config = self.wire.output_config
            # models that take no budgets, and can do without thinking, do so up to the effort `high` alone
            if config is not None and not self._has("enabled") and config["effort"] in BEYOND_HIGH:
                why = f"{config['effort']} is sent as high, since nothing is thought"
                self.changes.add("parameter_adjusted", "/effort", why)
                self.wire.output_config = {"effort": "high"}
            return
        if not self._has("adaptive"):
            return  # it thinks where it is asked to, and not otherwise
        path = "/effort" if self.request.effort == "none" else "/thinking"
        self.changes.add("parameter_adjusted", path, "the model always thinks; sent as the effort low")
        self.wire.output_config = {"effort": EFFORTS[0]}

    def _summary(self) -> None:
        """Whether to show the thinking, where there is any."""
        summary, thinking = self.request.thinking_summary, self.wire.thinking
        if summary is None or (summary == "none" and not thinking):
            return
        if thinking is None or thinking["type"] == "disabled":
            self.changes.add("parameter_unsupported", "/thinking_summary", "no thinking is asked for")
            return
        if summary in ("concise", "detailed"):
            self.changes.add("parameter_adjusted", "/thinking_summary", f"{summary} is sent as summarized")
        self.wire.thinking = {**thinking, "display": "omitted" if summary == "none" else "summarized"}


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
