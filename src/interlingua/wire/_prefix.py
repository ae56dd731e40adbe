"""Whether a text is the beginning of a JSON object that was cut short.

Strategy: close what is open. The text is read token by token to learn which brackets and which string are open; then
the few ways in which a value can go on at the cut are tried, each closed with the brackets that are missing. The text
was cut when one of them is JSON. This runs only on arguments that are already known to be broken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["completions"]

_SIGN = r'"(?:[^"\\]|\\.)*+(?P<closed>"?)|[\[\]{}]'
_OPEN_ESCAPE = r"(?<!\\)(?:\\\\)*(?P<escape>(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?)$"
_CLOSERS = {"{": "}", "[": "]"}
_AFTER_STRING = ('"', '":null')
_AFTER_TOKEN = (
    *("", "0", "null", ":null", '"":null'),
    *("rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l"),
)
"""Characters that may stand between a cut outside strings and the closing brackets."""


def completions(text: str) -> Iterator[str]:
    """Candidates for the whole of which `text` is the beginning; none when its brackets cannot be closed."""
    closers: list[str] = []
    in_string = False
    for token in re.finditer(_SIGN, text, re.DOTALL):
        sign = token[0][0]
        if sign in _CLOSERS:
            closers.append(_CLOSERS[sign])
        elif sign == '"':
            in_string = not token["closed"]
        elif not closers or closers.pop() != sign:
            return
    if in_string and (cut := re.search(_OPEN_ESCAPE, text)):
        text = text[: cut.start("escape")]
    ending = "".join(reversed(closers))
    for middle in _AFTER_STRING if in_string else _AFTER_TOKEN:
        yield text + middle + ending
