"""The verdict of the strict upstream on a request: every problem, and the refusal that the real service answers.

Rules
- A problem names its rule, its place as a JSON pointer, and where the rule is known from.
- The first problem decides the status and the body of the refusal, as the real services stop at the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec

from interlingua.wire.http import Headers, HttpReply, header
from interlingua.wire.json import pointer

__all__ = ["Asked", "Finding", "Issued", "Problem", "Rule", "Verdict"]

Finding: TypeAlias = "tuple[tuple[str | int, ...], str]"
"""A place, as member names and positions, and what is wrong there."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One reason for which the service refuses a request."""

    rule: str
    """Name of the rule."""
    steps: tuple[str | int, ...] = ()
    """Where in the body, as member names and positions; empty for the request as a whole."""
    sentence: str
    """The problem, in one sentence."""
    source: str = ""
    """Where the rule is known from."""
    status: int = 400
    """The HTTP status of the refusal."""

    @property
    def pointer(self) -> str:
        """Where in the body, as a JSON pointer."""
        return pointer(*self.steps)

    def __str__(self) -> str:
        """Rule, place and sentence in one line."""
        return f"{self.rule} at {self.pointer or 'the request'}: {self.sentence}"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of the service on a request."""

    problems: tuple[Problem, ...] = ()
    """Everything that is wrong, the first found first."""
    reply: HttpReply | None = None
    """The refusal, as the real service words it; None when it takes the request."""

    @property
    def ok(self) -> bool:
        """Whether the service takes the request."""
        return not self.problems

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the broken rules, each once."""
        return tuple(dict.fromkeys(problem.rule for problem in self.problems))

    def __str__(self) -> str:
        """A line for each problem."""
        return "\n".join(map(str, self.problems)) or "taken"


class Issued(msgspec.Struct, kw_only=True):
    """Ids and signatures that the service gave out itself and will know again."""

    seals: dict[str, str] = {}
    """Sealed state -> the thought it stands for."""
    items: set[str] = msgspec.field(default_factory=set[str])
    """Ids of stored items and responses."""
    reasons: dict[str, str] = {}
    """Id of an item -> id of the reasoning item that it came after."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request, as the rules see it."""

    body: dict[str, Any]
    """The parsed body; for Google with every member in camel case."""
    model: str
    """The model that it names."""
    headers: Headers = ()
    """The headers, lower case."""
    url: str = ""
    """The address."""
    issued: Issued | None = None
    """Ids and signatures that the service gave out before; None for a service that cannot know."""

    def says(self, name: str) -> str | None:
        """The first value of a header."""
        return header(self.headers, name)


class Rule(msgspec.Struct, frozen=True):
    """One rule of a service."""

    name: str
    """Its name."""
    check: Callable[[Asked], Iterator[Finding]]
    """Gives every place where a request breaks it."""
    source: str
    """Where it is known from."""
    status: int = 400
    """The HTTP status of the refusal."""

    def problems(self, request: Asked) -> Iterator[Problem]:
        """Every place where `asked` breaks the rule."""
        for steps, sentence in self.check(request):
            yield Problem(rule=self.name, steps=steps, sentence=sentence, source=self.source, status=self.status)
