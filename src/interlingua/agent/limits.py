"""The bounds of a run: steps, tokens, time, money, calls, errors and empty answers.

Rules
- A bound never raises: the run ends with `stop_reason`, and what there is stays readable and can be gone on with.
- Steps, tokens and money are looked at before the model is asked again, so that an answer that came is never thrown
  away and its tools have run; time and calls also in the middle of a step.
- A bound on what nobody counts cannot hold, so it ends the run after one answer: unknown is not nothing.
- Bounds hold for a run in all, the resumed part included.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.errors import UsageError

if TYPE_CHECKING:
    from interlingua.types.run import RunRecord, StopReason

__all__ = ["Limits", "limits_of", "reached"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds; None is none."""

    max_steps: int | None = 10
    """Answers of the model."""
    max_tokens: int | None = None
    """Tokens of all answers together, read and written."""
    max_time_s: float | None = None
    """Seconds, those in which tools run included."""
    max_cost_usd: float | None = None
    """Price of all answers together, in US dollars."""
    max_tool_calls: int | None = None
    """Calls that run, of all tools together."""
    tool_limits: dict[str, int] = {}
    """Calls that run, by tool; a call beyond it gets an error result, and the run goes on."""
    max_repeated_errors: int | None = 3
    """Steps in a row in which a tool gives the same error."""
    max_blank_answers: int = 2
    """Empty answers in a row that are asked for again."""


def limits_of(options: Mapping[str, Any]) -> Limits:
    """The bounds among the options.

    Raises: UsageError for a value that is no bound.
    """
    chosen = {name: options[name] for name in Limits.__struct_fields__ if name in options}
    for name, value in chosen.items():
        _check(name, value)
    return Limits(**chosen)


def _check(name: str, value: object) -> None:
    if name == "tool_limits":
        if not isinstance(value, Mapping):
            raise UsageError(f'tool_limits takes a dict, as in {{"search": 3}}, not {value!r:.60}')
        for tool, most in cast("Mapping[str, object]", value).items():
            _check(f"tool_limits[{tool!r}]", most)
        return
    whole = name not in ("max_time_s", "max_cost_usd")
    if value is None and name != "max_blank_answers":
        return
    kinds = int if whole else int | float
    if isinstance(value, bool) or not isinstance(value, kinds) or value < 0:
        raise UsageError(f"{name} takes a {'whole ' if whole else ''}number from 0 on, not {value!r:.60}")


def reached(limits: Limits, record: RunRecord) -> StopReason | None:
    """The bound that keeps the model from being asked again; None while none does."""
    if _at(len(record.steps), limits.max_steps):
        return "max_steps"
    if _at(record.elapsed_s, limits.max_time_s):
        return "max_time_s"
    if not record.steps:
        return None
    tokens = record.usage.total_tokens if record.usage else None
    if (limits.max_tokens is not None and tokens is None) or (
        limits.max_cost_usd is not None and record.cost_usd is None
    ):
        return "uncounted"
    if _at(tokens, limits.max_tokens):
        return "max_tokens"
    return "max_cost_usd" if _at(record.cost_usd, limits.max_cost_usd) else None


def _at(used: float | None, most: float | None) -> bool:
    return used is not None and most is not None and used >= most
