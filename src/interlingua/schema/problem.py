"""The problems of a value: the fault and its place, in plain words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from interlingua.wire.json import encode, pointer, pointer_steps

__all__ = ["MisfitError", "Problem", "brief", "describe", "together"]

LONGEST_VALUE = 60
"""Characters of a value that a sentence shows."""


class Problem(NamedTuple):
    """One bad place of a value."""

    path: str
    """RFC 6901 pointer to it, empty for the whole value."""
    message: str
    """The fault, as the rest of a sentence that begins with the place."""

    @property
    def place(self) -> str:
        """The path as people write it: `items[0].name`."""
        text = "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in pointer_steps(self.path))
        return text.removeprefix(".")


class MisfitError(ValueError):
    """A value that is not of the type, and where; there may be more such places."""

    def __init__(self, message: str, *steps: str | int, others: tuple[MisfitError, ...] = ()) -> None:
        """`steps` lead to the bad place."""
        super().__init__(message)
        self.others: tuple[MisfitError, ...] = others
        """The other faults of the same value."""
        self.message = message
        """The fault."""
        self.steps: tuple[str | int, ...] = steps
        """Member names and indices that lead there."""

    @property
    def path(self) -> str:
        """RFC 6901 pointer to the bad place."""
        return pointer(*self.steps)

    @property
    def problems(self) -> list[Problem]:
        """Every bad place, this one first."""
        return [Problem(self.path, self.message), *[problem for other in self.others for problem in other.problems]]

    def below(self, step: str | int) -> MisfitError:
        """These problems, with `step` before each path."""
        return MisfitError(self.message, step, *self.steps, others=tuple(other.below(step) for other in self.others))


def together(misfits: list[MisfitError]) -> MisfitError:
    """Several faults of one value as one."""
    first, *others = misfits
    return MisfitError(first.message, *first.steps, others=(*first.others, *others))


def describe(problems: Iterable[Problem], noun: str = "field") -> str:
    """All problems as one sentence: `argument days: 9 is more than 7; argument city: is missing`."""
    return "; ".join(
        f"{noun} {problem.place}: {problem.message}" if problem.path else problem.message for problem in problems
    )


def brief(value: object) -> str:
    """A value as JSON, cut where it gets long."""
    try:
        text = encode(value).decode()
    except Exception:  # noqa: BLE001 - a sentence about a bad value must not fail because of that value
        text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
