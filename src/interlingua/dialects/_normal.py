"""The normal form of bodies, as far as the dialects say it alike: what is absent, and what is only spelt otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from interlingua.dialects._members import is_list, is_object
from interlingua.errors import DecodeError
from interlingua.wire.media import media_type_of, parse_data_url, text_data

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

__all__ = [
    "JsonObject",
    "Rule",
    "Rules",
    "absent_members",
    "normalised",
    "same_bytes",
    "same_sound",
    "same_url",
    "without",
    "without_dull",
]

JsonObject: TypeAlias = dict[str, Any]
Rule: TypeAlias = "Callable[[JsonObject], JsonObject]"
Rules: TypeAlias = "dict[str, tuple[Rule, ...]]"
"""The rules by kind of body (request, response or chunk), in order."""


_HOLDERS: tuple[type, ...] = (dict, list)
"""Types of values that have others in them."""


def normalised(body: object, rules: Iterable[Rule], verbatim: Collection[str]) -> object:
    """A parsed body by these rules; absent members are left out before them and after."""
    result = absent_members(body, verbatim)
    if not is_object(result):
        return result
    for rule in rules:
        result = rule(result)
    return absent_members(result, verbatim)


def absent_members(body: object, verbatim: Collection[str]) -> object:
    """Null is absent, except inside the members that are somebody else's (`verbatim`)."""
    if is_list(body):
        return [absent_members(item, verbatim) for item in body]
    if not is_object(body):
        return body
    return {
        name: absent_members(value, verbatim) if isinstance(value, _HOLDERS) and name not in verbatim else value
        for name, value in body.items()
        if value is not None
    }


def without(members: JsonObject, names: Collection[str]) -> JsonObject:
    """An object less the members of those names."""
    return {name: value for name, value in members.items() if name not in names}


def without_dull(members: JsonObject, dull: JsonObject) -> JsonObject:
    """An object less the members that say what `dull` does: what silence says, too."""
    return {name: value for name, value in members.items() if name not in dull or value != dull[name]}


def same_bytes(text: object) -> object:
    """Base64 is its bytes."""
    try:
        return text_data(text) if isinstance(text, str) else text
    except DecodeError:
        return text


def same_url(url: object) -> object:
    """A data URL is its type, under its one name, and its bytes."""
    if not isinstance(url, str):
        return url
    try:
        parsed = parse_data_url(url)
    except DecodeError:
        return url
    return [media_type_of(parsed[0] or "image/png"), parsed[1]] if parsed else url


def same_sound(audio: JsonObject) -> JsonObject:
    """A sound of OpenAI's formats is its bytes, and its format under its one name."""
    form = audio.get("format")
    named = {"format": media_type_of(form if "/" in form else f"audio/{form}")} if isinstance(form, str) else {}
    return {**audio, **named, "data": same_bytes(audio.get("data"))}
