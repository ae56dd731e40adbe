"""The JSON that an answer's text holds: bare, in a fence, or with words around it.

Rules
- Text that is JSON is taken as it is.
- Thinking that a server left at the beginning, in `<think>…</think>`, is no part of the answer.
- What stands in the first fence counts, unless the text begins like JSON.
- Of an answer with words around, the one object or array counts; of several none is chosen.
- Nor is one chosen of two values under one key.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interlingua.errors import DecodeError
from interlingua.wire.arguments import parse_unique
from interlingua.wire.json import decode_any
from interlingua.wire.partial import JsonReader
from interlingua.wire.thoughts import split_thought

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.wire.json import JsonValue

__all__ = ["body_of", "parse_answer"]

_FENCED = re.compile(r"```[\w+-]*[ \t]*\r?\n(?P<inside>.*?)\r?\n?[ \t]*```", re.DOTALL)


def parse_answer(text: str, read: Callable[[str], JsonValue] = decode_any) -> JsonValue:
    """The JSON value of an answer, as `read` reads it.

    Raises: DecodeError, LimitExceededError.
    """
    body = body_of(text)
    try:
        return parse_unique(body, read)
    except DecodeError:
        reader = JsonReader()
        reader.feed(body)
        end = reader.consumed
        if not reader.complete or "{" in body[end:] or "[" in body[end:]:
            raise
    # Words stand around the only object or array.
    start = min(place for place in (body.find("{"), body.find("[")) if place >= 0)
    return parse_unique(body[start:end], read)


def body_of(text: str) -> str:
    """An answer without its fence.

    Raises: DecodeError for one that is empty.
    """
    body = split_thought(text.strip())[1]
    if not body:
        raise DecodeError("the answer is empty")
    fenced = None if body[0] in '{["' else _FENCED.search(body)
    return fenced["inside"] if fenced else body
