"""Reports of a call: its tries, the targets that were passed over, and changes as Python warnings.

Rules
- `ChangeWarning` speaks only of what the caller set, at the caller's own line; Python shows it once per line and text.
- What translation has to do anyway (names, ids, order) is in `Response.changes` and nowhere else.
"""

from __future__ import annotations

import sys
import warnings
from itertools import groupby
from typing import TYPE_CHECKING

from interlingua.types.response import Attempt

if TYPE_CHECKING:
    from types import FrameType

    from interlingua.errors import Error
    from interlingua.routing.health import CircuitState, Reason
    from interlingua.types.change import Change

__all__ = [
    "WARNED",
    "ChangeWarning",
    "circuit_text",
    "failed",
    "outrun",
    "passed_over",
    "served",
    "summary",
    "warn",
    "warn_line",
]

WARNED = frozenset({
    "cache_unsupported",
    "detail_adjusted",
    "detail_unsupported",
    "name_unsupported",
    "output_schema_forced_tool",
    "output_schema_loosened",
    "output_schema_prompted",
    "parameter_adjusted",
    "parameter_unsupported",
    "strict_unsupported",
    "tool_choice_approximated",
    "tools_withheld",
    "vectors_pooled",
})  # fmt: skip
"""Codes of changes to what a caller set, and of what falls short of what was asked for."""


class ChangeWarning(UserWarning):
    """A target did not take something that was set: it was dropped or approximated."""


def served(spec: str, duration_s: float, delay_s: float | None = None) -> Attempt:
    """The try that gave the answer."""
    return Attempt(model=spec, outcome="served", duration_s=duration_s, delay_s=delay_s)


def failed(
    spec: str, error: Error, duration_s: float, delay_s: float | None = None, *, skipped: bool = False
) -> Attempt:
    """A try that gave none; one that sent nothing was skipped."""
    return Attempt(
        model=spec,
        outcome="skipped" if skipped else "failed",
        error=f"{type(error).__name__}: {error.message}",
        status=error.status,
        duration_s=duration_s,
        delay_s=delay_s,
    )


def outrun(spec: str, duration_s: float, delay_s: float | None) -> Attempt:
    """A try that was given up because another target answered first."""
    return Attempt(
        model=spec, outcome="failed", error="outrun: another target answered first", duration_s=duration_s,
        delay_s=delay_s,
    )  # fmt: skip


def passed_over(spec: str, reason: str) -> Attempt:
    """A target that was not asked."""
    return Attempt(model=spec, outcome="skipped", error=reason)


_REASONS: dict[Reason | None, str] = {
    "auth": "its key was refused",
    "billing": "its account has no credit",
    "failures": "it failed several times in a row",
    "retry_after": "it requested a pause (Retry-After)",
}


def circuit_text(circuit: CircuitState) -> str:
    """Why a target is not asked, and for how long."""
    wait = "" if circuit.wait_s is None else f" for another {max(circuit.wait_s, 0.0):.3g} s"
    last = f", last {circuit.error}" if circuit.error else ""
    if circuit.reason == "suspended":
        return f"suspended by hand{wait}{last}"
    return f"circuit breaker open{wait}: {_REASONS.get(circuit.reason, 'another call is testing it')}{last}"


def summary(attempts: tuple[Attempt, ...]) -> str:
    """Every try in one line; what a target said several times in a row is there once, with how often."""
    runs = groupby(f"{attempt.model}: {attempt.error or attempt.outcome}" for attempt in attempts)
    counted = [(text, sum(1 for _ in same)) for text, same in runs]
    return "; ".join(f"{text} ({times} times)" if times > 1 else text for text, times in counted)


def warn(spec: str, changes: tuple[Change, ...]) -> None:
    """Warn at the caller's line of every change to something that the caller set."""
    warned = [change for change in changes if change.code in WARNED]
    if not warned:
        return
    for change in warned:
        warn_line(f"{spec}: {change}", ChangeWarning)


def warn_line(text: str, kind: type[Warning] = UserWarning) -> None:
    """Warn at the caller's line."""
    # The innermost frame outside this package; a coroutine that a task runs has no caller but the event loop's.
    frame = sys._getframe()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as `warnings` finds a caller
    while frame.f_back is not None and _is_passed_over(frame):
        frame = frame.f_back
    warnings.warn_explicit(
        text,
        kind,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__", "<unknown>"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _is_passed_over(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in ("interlingua", "asyncio")
