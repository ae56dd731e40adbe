"""What every SDK can be asked, and what came, in plain values."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypedDict, Unpack

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "City name."}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = ("get_weather", "Weather forecast for a city.", PARAMETERS)
"""Name, description and schema of the one tool."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "celsius": {"type": "integer"}},
    "required": ["city", "celsius"],
    "additionalProperties": False,
}
"""What a typed answer is to be."""


class Call(NamedTuple):
    """One call."""

    id: str
    """Its id, empty where the SDK has none."""
    name: str
    """The tool."""
    arguments: dict[str, Any]
    """Its arguments."""


class How(TypedDict, total=False):
    """How something is asked."""

    stream: bool
    """Piece by piece."""
    tools: bool
    """With the tool."""
    schema: bool
    """For a typed answer."""
    image: bytes
    """With a PNG."""
    thinking: bool
    """With thinking on."""
    limit: int
    """For at most so many tokens, 400 unless said."""


class Answer(NamedTuple):
    """One answer."""

    text: str
    """Its text."""
    calls: list[Call]
    """Its calls, in order."""
    finish: str
    """Why it ended, in the SDK's word."""
    tokens: tuple[int, int]
    """Tokens in and out."""
    thinking: str = ""
    """Its thought, where one was shown."""


class SdkError(Exception):
    """An error of an SDK, as plain values."""

    def __init__(self, kind: str, status: int | None, message: str) -> None:
        """The SDK's own class, its status and its text."""
        super().__init__(message)
        self.kind = kind
        """Name of the SDK's class."""
        self.status = status
        """HTTP status."""


class Sdk(Protocol):
    """A conversation through one SDK; each turn goes on with the one before."""

    def ask(self, model: str, text: str, **how: Unpack[How]) -> Answer:
        """What comes of a text. Raises: SdkError."""
        ...

    def answer(self, model: str, results: list[str], *, stream: bool = False) -> Answer:
        """What comes of results for the calls of the last answer, in order. Raises: SdkError."""
        ...

    def close(self) -> None:
        """Close its connections."""
        ...
