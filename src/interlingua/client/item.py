"""One input among many, and its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast

import msgspec

from interlingua.media.files import InputFile
from interlingua.types.response import Response

if TYPE_CHECKING:
    from interlingua.client.prompt import Prompt
    from interlingua.types.usage import Usage

__all__ = ["Input", "Item"]

T = TypeVar("T")

Input: TypeAlias = "Prompt | InputFile"
"""One input: whatever can be a prompt, or a file of `il.files`."""


class Item(msgspec.Struct, Generic[T], frozen=True, kw_only=True, eq=False):
    """One input and its answer, or what went wrong with it."""

    key: str
    """The name of the input: a file's path, a text itself (its beginning, when it is long), else its position."""
    output: T = cast("T", None)
    """The typed answer, where `output=` asked for one; None where it failed."""
    response: Response[Any] | None = None
    """The answer; None where none came. From a journal it comes without the request."""
    error: Exception | None = None
    """The error; None where there was none."""
    cost_usd: float | None = None
    """Price in US dollars; None when unknown."""
    recorded: bool = False
    """Whether it was read from the journal, so that nothing was asked now."""

    @property
    def text(self) -> str:
        """The text of the answer; empty where none came."""
        return "" if self.response is None else self.response.text

    @property
    def usage(self) -> Usage | None:
        """Token counts of the answer; None when there are none."""
        return None if self.response is None else self.response.usage
