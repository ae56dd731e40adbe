"""Arguments that arrive in pieces: values at JSON paths, gathered until the call is whole.

Rules
- A path is `$`, then `.name`, `[place]` or `['name']`; text at a path that already holds text is added to it.
- A path that ends in `[]` and has no value ends a list, and is the only sign of an empty one.
- Places are dense: one beyond the next is bounded by `MAX_ITEMS`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, TypeAlias, cast

from interlingua.dialects._members import is_list, is_object
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire.json import encode

__all__ = ["MAX_ITEMS", "PartialArguments"]

MAX_ITEMS = 100_000
"""The most items of a list that arrives in pieces."""
MAX_STEPS = 128
"""The longest path."""
_PATH = re.compile(r"\$(?P<steps>(?:\.[^.\[\]]+|\[\d+\]|\['[^']*'\])*)(?P<ends>\[\])?")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]")
VALUES = ("stringValue", "numberValue", "boolValue")

Step: TypeAlias = str | int


class PartialArguments:
    """The arguments of one call, as far as they came."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        """No arguments yet."""
        self.value: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """The arguments as JSON."""
        return encode(self.value).decode()

    def add(self, piece: dict[str, Any]) -> None:
        """Put the value of one piece at its path.

        Raises: DecodeError for a path that cannot be read, or that contradicts what came before; LimitExceededError.
        """
        path = str(piece.get("jsonPath"))
        match = _PATH.fullmatch(path)
        pieces = _STEP.finditer(match["steps"]) if match is not None else ()
        steps: list[Step] = [int(piece[2]) if piece[2] else piece[1] or piece[3] for piece in pieces]
        if match is None or not steps:
            raise DecodeError(f"{path!r} is no path of an argument", path="/functionCall/partialArgs")
        if len(steps) > MAX_STEPS:
            raise LimitExceededError(f"a path of an argument has more than {MAX_STEPS} steps")
        value: Any = next((piece[name] for name in VALUES if name in piece), None)
        try:
            value = [] if value is None and match["ends"] else value
            holder: Any = self.value
            for step, following in pairwise(steps):
                inner = _value_at(holder, step)
                if inner is None:
                    fresh: list[Any] | dict[str, Any] = [] if isinstance(following, int) else {}
                    _set(holder, step, fresh)
                    inner = fresh
                holder = inner
            last = steps[-1]
            old = _value_at(holder, last)
            if isinstance(old, str) and isinstance(value, str):
                value = old + value
            elif is_list(old) and value == []:
                value = old
            _set(holder, last, value)
        except (TypeError, AttributeError):
            raise DecodeError(f"{path!r} contradicts what came before", path="/functionCall/partialArgs") from None


def _value_at(holder: Any, step: Step) -> Any:
    if isinstance(step, int):
        if not is_list(holder):
            raise TypeError(step)
        return holder[step] if step < len(holder) else None
    if not is_object(holder):
        raise TypeError(step)
    return holder.get(step)


def _set(holder: Any, step: Step, value: Any) -> None:
    if not isinstance(step, int):
        holder[step] = value
        return
    items = cast("list[Any]", holder)
    if step >= MAX_ITEMS:
        raise LimitExceededError(f"a list among the arguments has more than {MAX_ITEMS:,} items")
    while len(items) <= step:
        items.append(None)
    items[step] = value
