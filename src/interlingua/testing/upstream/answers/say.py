"""The answers that the upstream is set to give, in no provider's words.

Rules
- Ids, seals and times are counted, never drawn: the same script gives the same bytes.
- What a dialect cannot say (a seal at Ollama, a refusal at Google) it leaves out, or says as its text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Literal, TypeAlias

import msgspec

from interlingua.wire.json import encode

__all__ = ["CREATED", "Answer", "Call", "Cut", "Fail", "Finish", "Ids", "Say", "halves", "words"]

CREATED = 1_795_000_000
"""The moment of every answer, in Unix seconds."""

Finish: TypeAlias = Literal["", "length", "content_filter"]
"""Why an answer ends; empty for what its content says."""


class Call(msgspec.Struct, frozen=True):
    """One tool call."""

    name: str
    """Name of the tool."""
    arguments: dict[str, Any] = {}
    """Its arguments."""
    text: str | None = None
    """The arguments as text, where they are to be broken ones."""

    @property
    def json(self) -> str:
        """The arguments as JSON text."""
        return encode(self.arguments).decode() if self.text is None else self.text


class Say(msgspec.Struct, frozen=True, kw_only=True):
    """One answer."""

    text: str = ""
    """Its text; structured output is JSON in it."""
    thinking: str = ""
    """The thought before it, sealed where the service seals."""
    calls: tuple[Call, ...] = ()
    """Its calls, all at once."""
    refusal: str = ""
    """The words of a refusal."""
    finish: Finish = ""
    """Why it ends."""
    input_tokens: int = 20
    """Tokens of the request, cached ones included."""
    cached_tokens: int = 0
    """Tokens of the request that came from the cache."""
    reasoning_tokens: int = 0
    """Tokens of the thought."""
    output_tokens: int = 10
    """Tokens of the answer, the thought included."""


class Fail(msgspec.Struct, frozen=True):
    """A refusal whatever was asked."""

    status: int
    """The HTTP status."""
    message: str | None = None
    """Its words; None for the service's own."""
    late: bool = False
    """Whether a streamed answer has begun with 200 when it comes."""


class Cut(msgspec.Struct, frozen=True):
    """An answer whose stream breaks off."""

    say: Say
    """The answer."""
    after: int
    """How many frames are sent; a negative number counts from the end."""


Answer: TypeAlias = Say | Fail | Cut
"""The content of a script."""


class Ids:
    """Counted ids of one service."""

    def __init__(self) -> None:
        """Ids from 1 on."""
        self._numbers: Iterator[int] = count(1)

    def next(self, prefix: str) -> str:
        """The next id with that prefix."""
        return f"{prefix}{next(self._numbers):08d}"


def words(text: str) -> list[str]:
    """The pieces in which a text is streamed: its words, each with the space before it."""
    first, *rest = text.split(" ")
    return [piece for piece in (first, *[f" {word}" for word in rest]) if piece]


def halves(text: str) -> list[str]:
    """The pieces in which arguments are streamed: a first one in the middle of a word."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]
