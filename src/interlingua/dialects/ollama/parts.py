"""Images, and what of a part an Ollama message has no place for.

Rules
- An image is bare base64 of its bytes; its type is what its first bytes say.
- A `data:` URL, which the server itself would refuse, is understood with an entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from interlingua.dialects._foreign import note_foreign
from interlingua.dialects._seals import note_seal
from interlingua.errors import DecodeError
from interlingua.types.content import ImagePart, Part, TextPart, ToolCall, stored_data
from interlingua.wire.media import image_type, parse_data_url, text_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.change import Changes

__all__ = ["NAME", "PartNotes", "decode_images"]

NAME = "ollama"
"""The dialect's name."""


def decode_images(images: Sequence[str], changes: Changes, path: str) -> list[Part]:
    """The parts that `images` are; `path` points to the message that will hold them.

    Raises: DecodeError, with the place inside the message.
    """
    parts: list[Part] = []
    for place, text in enumerate(images):
        within = f"/images/{place}"
        if text.startswith(("http:", "https:")):
            raise DecodeError("an image is base64; this dialect takes no URL", path=within)
        parsed = parse_data_url(text, within) if text.startswith("data:") else None
        if parsed is not None:
            changes.add("foreign_shape", path, "an image in a data: URL")
        data = parsed[1] if parsed is not None else text_data(text, within)
        parts.append(ImagePart(data, image_type(data)))
    return parts


class PartNotes:
    """Entries for what a part says and an Ollama message has no place for."""

    def __init__(self, changes: Changes) -> None:
        """Notes that go into `changes`."""
        self.changes = changes

    def lost(self, part: Part, path: str) -> None:
        """Note the ornaments of one part: cache mark, citations, seal, detail, members of other dialects."""
        for member, code in _ORNAMENTS_OF[type(part)]:
            if getattr(part, member) not in _NOTHING_LOST:
                self.changes.add(code, f"{path}/{member}")
        sealed = getattr(part, "sealed", None)
        if sealed is not None:
            note_seal(self.changes, sealed, path)
        if isinstance(part, ImagePart) and part.media_type != image_type(stored_data(part)):
            self.changes.add("media_type_unsaid", f"{path}/media_type", f"the bytes are not known as {part.media_type}")
        note_foreign(self.changes, getattr(part, "extra", {}), path)

    def plain(self, part: Part) -> bool:
        """Whether a part is nothing but text or a call, so that there is nothing to note."""
        if type(part) is TextPart:
            return not (part.cache or part.annotations or part.sealed or part.extra)
        return type(part) is ToolCall and not (part.sealed or part.extra)


_ORNAMENTS = (
    ("cache", "cache_unsupported"),
    ("annotations", "annotation_unsupported"),
    ("detail", "detail_unsupported"),
)
"""Member -> the code of its loss."""
_ORNAMENTS_OF: dict[type, list[tuple[str, str]]] = {
    kind: [ornament for ornament in _ORNAMENTS if ornament[0] in kind.__struct_fields__] for kind in get_args(Part)
}
"""Kind of part -> those that it can have."""
_NOTHING_LOST = (None, (), "full")
"""Values that are not missed: none, and the wish for the full image, which is what is sent."""
