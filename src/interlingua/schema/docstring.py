"""Docstrings, read: what a function or class is, and what each of its parameters or fields is.

Google, NumPy and Sphinx style are told apart by their section marks. The summary is everything before the first
section; what a function returns or raises is not for the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Docstring", "parse_docstring"]

_OF_PARAMETERS = r"(?:Other )?(?:Args|Arguments|Parameters|Params|Attributes|Fields|Key(?:word|words)? Arg(?:ument)?s)"
_OTHERS = r"Returns?|Yields?|Receives?|Raises|Warns|Examples?|See Also|References"
_SECTION = re.compile(rf"^(?:(?P<known>{_OF_PARAMETERS})|{_OTHERS})\s*:?\s*$")
_RULE = re.compile(r"^-{3,}\s*$")
_GOOGLE = re.compile(r"^(?P<names>\*{0,2}\w+)\s*(?:\([^)]*(?:\([^)]*\)[^)]*)*\))?\s*:(?:\s+(?P<text>.*))?$")
_NUMPY = re.compile(r"^(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)(?:\s*:.*)?$")
_SPHINX = re.compile(
    r"^[:@](?:(?:param|parameter|arg|argument|key|keyword|ivar|cvar|var)\s+(?:[^:]*\s)?(?P<name>\*{0,2}\w+)|[a-z]+[^:]*):"
    r"(?:\s+(?P<text>.*))?$"
)


class Docstring(NamedTuple):
    """A docstring's contents."""

    summary: str
    """Everything before the first section; empty when there is nothing."""
    parameters: dict[str, str]
    """The text of each parameter or field, on one line."""


def parse_docstring(text: str | None) -> Docstring:
    """The summary and the descriptions of parameters that a docstring holds."""
    first, *rest = (text or "").expandtabs().splitlines() or [""]
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    lines = [first.strip(), *(line[margin:].rstrip() for line in rest)]
    starts = [number for number in range(len(lines)) if _is_mark(lines, number)]
    summary = "\n".join(lines[: starts[0]] if starts else lines).strip()
    sections: dict[str, list[str]] = {}
    for start, end in pairwise([*starts, len(lines)]):
        for names, words in _entries(lines[start:end]):
            for name in names.replace("*", "").replace(" ", "").split(","):
                sections.setdefault(name, words)
    described = {name: " ".join(words).strip() for name, words in sections.items()}
    return Docstring(summary, {name: words for name, words in described.items() if words})


def _is_mark(lines: list[str], number: int) -> bool:
    """Whether a section begins here: a known heading with a colon or an underline, or a Sphinx field."""
    line = lines[number]
    if _SPHINX.match(line):
        return True
    underlined = number + 1 < len(lines) and _RULE.match(lines[number + 1])
    return bool(_SECTION.match(line)) and bool(underlined or line.endswith(":"))


def _entries(section: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The entries of one section: names and the words about them."""
    field = _SPHINX.match(section[0])
    if field:
        if field["name"]:
            below = section[1:]
            words = below[: below.index("")] if "" in below else below
            yield field["name"], [field["text"] or "", *(line.strip() for line in words)]
        return
    heading = _SECTION.match(section[0])
    if heading is None or heading["known"] is None:
        return
    if len(section) > 1 and _RULE.match(section[1]):
        yield from _split(section[2:], _NUMPY, "")
    else:
        body = section[1:]
        indent = next((line[: len(line) - len(line.lstrip())] for line in body if line), "")
        inside = next((number for number, line in enumerate(body) if line and not line.startswith(indent)), len(body))
        yield from _split(body[:inside], _GOOGLE, indent)


def _split(lines: list[str], entry: re.Pattern[str], indent: str) -> Iterator[tuple[str, list[str]]]:
    """Entries that begin at `indent` and go on below it."""
    words: list[str] | None = None
    for line in lines:
        inner = line.removeprefix(indent)
        start = entry.match(inner) if not inner.startswith(" ") else None
        if start:
            words = [start.groupdict().get("text") or ""]
            yield start["names"], words
        elif words is not None and inner.startswith(" "):
            words.append(inner.strip())
