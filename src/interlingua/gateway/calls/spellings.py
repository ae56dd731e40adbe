"""Names of media types that a provider of the client's dialect does not take: its body is not passed on as it came.

Rules
- A name is looked at where it stands: the type of a source or of bytes, the format of a sound, the head of a data URL.
- What a dialect itself calls a type is no other name of it (`mp3` in Chat, `audio/mp3` at Google).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects.table import services
from interlingua.types.change import Changes
from interlingua.wire.media import media_type_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.types.change import Change

__all__ = ["respelled", "spelling_of"]

MAX_TOLD = 8
"""How many names are told of one request."""
_TYPES = ("media_type", "mimeType", "mime_type")
_URLS = ("url", "image_url", "file_data", "document_url")
_LONGEST_HEAD = 128
_OWN = frozenset[str]().union(*[service.media_names for service in services().values()])


def spelling_of(node: dict[str, Any]) -> tuple[str, str] | None:
    """The other name of a media type that an object has, and the one that is taken; None where it has none."""
    for name in _TYPES:
        word = node.get(name)
        if type(word) is str and (taken := media_type_of(word)) != word and word not in _OWN:
            return word, taken
    word = node.get("format")
    if type(word) is str and "data" in node and word not in _OWN:
        plain = word if "/" in word else f"audio/{word}"
        taken = media_type_of(plain)
        return (word, taken) if taken != plain or "/" in word else None
    for name in _URLS:
        url = node.get(name)
        if type(url) is str and url.startswith("data:"):
            word = url[5:_LONGEST_HEAD].partition(",")[0].partition(";")[0]
            if (taken := media_type_of(word)) != word:
                return word, taken
    return None


def respelled(nodes: Iterable[dict[str, Any]], dialect: str, path: str) -> tuple[Change, ...]:
    """An entry for each other name that the objects of a history have."""
    changes = Changes(dialect, "decode_request")
    found = dict.fromkeys([spelling for node in nodes if (spelling := spelling_of(node)) is not None])
    for word, taken in list(found)[:MAX_TOLD]:
        changes.add("media_type_corrected", path, f"{word[:_LONGEST_HEAD]} is {taken}")
    return changes.done()
