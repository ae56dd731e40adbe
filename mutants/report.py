"""What a run has shown, for people: a table of the rooms, one of the faults, and every survivor."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mutants.engine import Outcome
from mutants.operators import Mutant

__all__ = ["show", "tell"]


def tell(outcome: Outcome, files: dict[str, str]) -> None:
    """Print a mutant that nobody noticed."""
    if not _noticed(outcome):
        mutant = outcome.mutant
        where = f"{files[mutant.module]}:{mutant.line}"
        print(f"{outcome.verdict}  {where}  {mutant.where}: {mutant.operator}: {mutant.text}", flush=True)


def show(outcomes: list[Outcome], equivalent: list[Mutant]) -> float:
    """The share of the mutants that were noticed; prints the tables."""
    for mutant in equivalent:
        print(f"equivalent  {mutant.name}")
    _table("room", outcomes, lambda outcome: ".".join(outcome.mutant.module.split(".")[1:3]))
    _table("fault", outcomes, lambda outcome: outcome.mutant.operator)
    noticed = sum(_noticed(outcome) for outcome in outcomes)
    share = noticed / len(outcomes) if outcomes else 1.0
    print(f"killed {noticed} of {len(outcomes)}: {share:.1%}; {len(equivalent)} equivalent ones not counted")
    return share


def _noticed(outcome: Outcome) -> bool:
    return outcome.verdict in ("killed", "timeout")


def _table(title: str, outcomes: list[Outcome], key: Callable[[Outcome], str]) -> None:
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(key(outcome), []).append(outcome)
    print(f"\n{title:28} mutants  killed  timeout  survived  unreached")
    for name, group in sorted(groups.items()):
        print(f"{name:28} {len(group):7}  {_counts(group)}")
    print(f"{'in all':28} {len(outcomes):7}  {_counts(outcomes)}")


def _counts(group: Iterable[Outcome]) -> str:
    verdicts = [outcome.verdict for outcome in group]
    return (
        f"{verdicts.count('killed'):6}  {verdicts.count('timeout'):7}  "
        f"{verdicts.count('survived'):8}  {verdicts.count('unreached'):9}"
    )
