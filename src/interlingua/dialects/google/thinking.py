"""How hard to think: `thinkingConfig`, both ways.

Rules
- A level or a budget, never both: generations from 3 on have levels, the one before them budgets alone, and a
  family whose efforts have no level here counts as one of those.
- What a family lacks is said in its nearest form, with an entry: the nearest level, of two equally near ones the
  higher, a budget within its bounds, and, where thinking cannot be switched off, the least of it. Who does not think is
  not asked to.
Source: our notes on the wire, sections 1 and 8; vendor page "Gemini thinking", November 2026; vendor page "OpenAI
compatibility", section Thinking: where the levels are low and high, the effort minimal is low and medium is high.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.dialects.google.wire import ThinkingWire

if TYPE_CHECKING:
    from interlingua.dialects._contract import Facts
    from interlingua.types.capability import Effort
    from interlingua.types.change import Changes
    from interlingua.types.request import Request, ThinkingSummary

__all__ = ["ThinkingAsked", "decode_thinking", "encode_thinking"]

EFFORTS: dict[str, Effort] = {
    "MINIMAL": "minimal", "LOW": "low", "MEDIUM": "medium", "HIGH": "high", "XHIGH": "xhigh",
}  # fmt: skip
"""How hard to think, as the wire says it, least first."""
LEVELS: dict[str, str] = {effort: level for level, effort in EFFORTS.items()}
ORDER = (*LEVELS, "max")
BUDGETS: dict[str, int] = {
    "minimal": 512, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 32768, "max": 32768,
}  # fmt: skip
"""Tokens for each effort, for models that think by budget."""
SHOWN: dict[bool | None, ThinkingSummary | None] = {True: "auto", False: "none", None: None}


class ThinkingAsked(NamedTuple):
    """The thinking of a request."""

    effort: Effort | None = None
    """How hard to think."""
    enabled: bool | None = None
    """Whether to think at all."""
    budget: int | None = None
    """How many tokens it may take."""
    summary: ThinkingSummary | None = None
    """Whether to show it."""


def decode_thinking(wire: ThinkingWire) -> tuple[ThinkingAsked, dict[str, Any]]:
    """The thinking of a request, and the members that are left over."""
    rest: dict[str, Any] = dict(wire.extra or {})
    effort = EFFORTS.get(str(wire.thinkingLevel or "").upper())
    if wire.thinkingLevel is not None and effort is None:
        rest["thinkingLevel"] = wire.thinkingLevel
    budget = wire.thinkingBudget
    switch = {0: False, -1: True}.get(budget) if budget is not None and effort is None else None
    return ThinkingAsked(effort, switch, None if switch is not None else budget, SHOWN[wire.includeThoughts]), rest


def encode_thinking(request: Request, facts: Facts, changes: Changes) -> ThinkingWire | None:
    """`thinkingConfig`; None where nothing is said."""
    if request.effort is request.thinking is request.thinking_budget is request.thinking_summary is None:
        return None
    wire = ThinkingWire()
    if facts.thinking is not None and not facts.thinking:  # not to think is what it does anyway
        wishes = {
            "effort": request.effort not in (None, "none"),
            "thinking": bool(request.thinking),
            "thinking_budget": bool(request.thinking_budget),
            "thinking_summary": request.thinking_summary not in (None, "none"),
        }
        for name in [name for name, is_asked in wishes.items() if is_asked]:
            changes.add("parameter_unsupported", f"/{name}", "the model does not think")
        return None
    if request.effort is not None:
        _Asked(wire, facts, changes).effort(request.effort, request.thinking_budget)
    elif request.thinking_budget is not None:
        _Asked(wire, facts, changes).budget(request.thinking_budget)
    elif request.thinking is not None:
        _Asked(wire, facts, changes).switch(on=request.thinking)
    if request.thinking_summary is not None:
        wire.includeThoughts = request.thinking_summary != "none"
        if request.thinking_summary in ("concise", "detailed"):
            changes.add("parameter_adjusted", "/thinking_summary", "thoughts are shown or not")
    settings = (wire.thinkingLevel, wire.thinkingBudget, wire.includeThoughts)
    return None if settings == (None, None, None) else wire


class _Asked:
    """Writes one wish in the form that the family has."""

    def __init__(self, wire: ThinkingWire, facts: Facts, changes: Changes) -> None:
        self.wire = wire
        self.facts = facts
        self.changes = changes
        efforts = facts.efforts
        self.levels: list[str] = [word for word in LEVELS if efforts is None or word in efforts]
        """The efforts of the family that are a level here, least first; without any it thinks by budget."""

    def effort(self, effort: Effort, budget: int | None) -> None:
        """An effort; a budget beside it stands where the family has budgets alone."""
        by_budget = not self.levels
        if effort == "none":
            self._off("/effort")
        elif not by_budget:
            place = ORDER.index(effort)
            nearest = min(reversed(self.levels), key=lambda word: abs(ORDER.index(word) - place))  # of two the higher
            self.wire.thinkingLevel = LEVELS[nearest]
            if nearest != effort:
                self.changes.add("parameter_adjusted", "/effort", f"{effort} is {self.wire.thinkingLevel}")
        elif budget is not None:
            self.budget(budget)
        else:
            self.wire.thinkingBudget = self._fitted(BUDGETS[effort])
            detail = f"{effort} is a budget of {self.wire.thinkingBudget} tokens"
            self.changes.add("parameter_adjusted", "/effort", detail)
        if budget is not None:
            lost = "/effort" if by_budget and effort != "none" else "/thinking_budget"
            self.changes.add("parameter_unsupported", lost, "a level or a budget")

    def budget(self, budget: int) -> None:
        """A budget; 0 is no thinking, -1 as much as the model likes."""
        if budget == 0:
            self._off("/thinking_budget")
            return
        fitted = budget if budget < 0 else self._fitted(budget)
        if fitted != budget:
            self.changes.add("parameter_adjusted", "/thinking_budget", f"{budget} is sent as {fitted}")
        self.wire.thinkingBudget = fitted

    def switch(self, *, on: bool) -> None:
        """Thinking on or off, without a word of how much."""
        if on:
            self.wire.thinkingBudget = -1
        else:
            self._off("/thinking")

    def _fitted(self, budget: int) -> int:
        least, most = self.facts.budgets or (budget, budget)
        return min(max(budget, least), most)

    def _off(self, path: str) -> None:
        """No thinking, or the least of it."""
        if self.facts.thinking is None or "disabled" in self.facts.thinking:
            self.wire.thinkingBudget = 0
            return
        if self.facts.efforts is None:
            self.wire.thinkingLevel = LEVELS["low"]  # not every family has one below it
        elif self.levels:
            self.wire.thinkingLevel = LEVELS[self.levels[0]]
        else:
            self.wire.thinkingBudget = self._fitted(0)
        self.changes.add("parameter_adjusted", path, "the model always thinks; sent as the least of it")
