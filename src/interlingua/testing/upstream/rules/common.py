"""The shared rules of several services: media types, names of tools, words in texts."""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from interlingua.testing.upstream.verdict import Finding
from interlingua.testing.wirefacts.values import items, members, objects, word

__all__ = ["OPENAI_IMAGES", "data_url_fault", "has_word", "is_base64", "repeated", "texts", "tool_named"]

OPENAI_IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""The image types that OpenAI takes."""

_DATA_URL = re.compile(r"data:(?P<type>[^;,]*)(?P<more>(;[^;,]*)*),(?P<data>.*)", re.DOTALL)


def repeated(names: Iterable[tuple[tuple[str | int, ...], str]], what: str) -> Iterator[Finding]:
    """Every later place of a name that stands at several places."""
    counts: Counter[str] = Counter()
    for steps, name in names:
        counts[name] += 1
        if counts[name] > 1:
            yield steps, f"{what} {name!r} is repeated"


def is_base64(text: str) -> bool:
    """Whether `text` is padded base64 in the usual alphabet."""
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def data_url_fault(url: str, types: frozenset[str]) -> str | None:
    """The fault of a URL that must be http, https, or data of one of these types."""
    if url.startswith(("http://", "https://")):
        return None
    match = _DATA_URL.fullmatch(url)
    if match is None:
        return f"{url[:40]!r} is neither an http nor a data URL"
    if match["type"] not in types:
        return f"{match['type']!r} is none of {', '.join(sorted(types))}"
    if ";base64" not in match["more"] or not is_base64(match["data"]):
        return "its data is not base64"
    return None


def texts(value: Any) -> Iterator[str]:
    """Every text in a value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in members(value).values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in items(value):
            yield from texts(item)


def has_word(value: Any, needle: str) -> bool:
    """Whether a text in `value` has `needle`, in any case."""
    return any(needle in text.lower() for text in texts(value))


def tool_named(tools: Any, kind: str, name: str) -> bool:
    """Whether a tool of that kind has that name, in the flat or the nested form."""
    named = [word(members(tool.get(kind, tool)).get("name")) for tool in objects(tools) if tool.get("type") == kind]
    return name in named
