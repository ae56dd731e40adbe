"""Members of a web page's body, read with their places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlingua.errors import DecodeError, UsageError
from interlingua.media.parts import file
from interlingua.types.content import AudioPart, DocumentPart, ImagePart
from interlingua.wire.media import from_base64, parse_data_url

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TWO_CALLS", "bad", "file_of_base64", "file_of_url", "list_of", "object_of", "text_of"]


TWO_CALLS = "two calls of one turn have that id, so an approval says nothing"
"""Why an approval is refused: it would run both, and the signature is one's."""


def bad(path: str, text: str) -> DecodeError:
    """The error of one place."""
    return DecodeError(f"{path}: {text}", path=path)


def text_of(members: Mapping[str, Any], name: str, path: str, default: str | None = None) -> str:
    """A member that is a text.

    Raises: DecodeError for anything else.
    """
    value = members.get(name, default)
    if not isinstance(value, str):
        raise bad(f"{path}/{name}", "a text")
    return value


def list_of(members: Mapping[str, Any], name: str, path: str) -> list[Mapping[str, Any]]:
    """A member that is a list of objects; empty where it is missing or null.

    Raises: DecodeError for anything else.
    """
    value = members.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise bad(f"{path}/{name}", "a list")
    return [object_of(item, f"{path}/{name}/{place}") for place, item in enumerate(cast("list[object]", value))]


def object_of(value: object, path: str) -> Mapping[str, Any]:
    """An object.

    Raises: DecodeError for anything else.
    """
    if not isinstance(value, dict):
        raise bad(path, "an object")
    return cast("dict[str, Any]", value)


def file_of_url(url: str, path: str) -> ImagePart | AudioPart | DocumentPart:
    """The part of a file that a page sends as a data: URL.

    Raises: DecodeError for another URL, and for a file that is no image, audio, PDF or text.
    """
    parsed = parse_data_url(url, path)
    if parsed is None:
        raise bad(path, "a data: URL; nothing is fetched unasked, and il.fetch(url) fetches a file, guarded")
    return _file(from_base64(cast("str", parsed[1])), path)


def file_of_base64(text: str, path: str) -> ImagePart | AudioPart | DocumentPart:
    """The part of a file that a page sends in Base64.

    Raises: DecodeError for what is no Base64, and for a file that is no image, audio, PDF or text.
    """
    return _file(from_base64(text, path), path)


def _file(data: bytes, path: str) -> ImagePart | AudioPart | DocumentPart:
    try:
        return file(data)
    except UsageError as error:
        raise bad(path, error.message) from None
