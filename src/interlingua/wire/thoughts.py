"""Thinking that stands at the beginning of a text, between `<think>` and `</think>`.

Servers without a parser of reasoning leave it there, and clients put it there to show it, and send it back so.
"""

from __future__ import annotations

import re

__all__ = ["split_thought"]

_THOUGHT = re.compile(r"\s*<think(?P<more>ing)?>(?P<thought>.*?)</think(?(more)ing)>\s*", re.DOTALL)
_OPEN = re.compile(r"\s*<think(ing)?>(?P<thought>.*)", re.DOTALL)


def split_thought(text: str, *, may_be_cut: bool = False) -> tuple[str, str]:
    """The thinking at the beginning of a text, blocks parted by a blank line, and what follows it.

    `may_be_cut`: a block without an end is thinking that was cut off, up to the end of the text.
    """
    thoughts: list[str] = []
    begin = 0
    while match := _THOUGHT.match(text, begin):
        thoughts.append(match["thought"].strip())
        begin = match.end()
    if may_be_cut and (match := _OPEN.match(text, begin)):
        thoughts.append(match["thought"].strip())
        begin = len(text)
    return "\n\n".join(filter(None, thoughts)), text[begin:]
