r"""Arguments of calls whose tool has a rewritten schema: where its entries say so they may have another form.

```
an object with free names     {"city": "NYC"}     [{"key": "city", "value": "NYC"}]
a value that has no schema    {"a": []}           "{\"a\":[]}"
a choice that is no string    1                   "1"
a value that is no object     [1]                 {"value": [1]}
a member that is left out     {}                  {"retries": null}
```

Rules
- An entry at a place of a schema is about the arguments that this place describes, and about no others.
- The other form says everything that the first one says: nothing is excused that is missing in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, cast

from interlingua.testing.facts import first_difference
from interlingua.testing.wirefacts.values import items, members

__all__ = ["Places", "as_told", "places_of"]

Places: TypeAlias = "frozenset[tuple[str, ...]]"
"""Places of arguments, step by step: `*` is any member or item, `**` at the front any way to what follows."""

_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Keywords behind which a name stands that is a member of the value."""
_DEFINED = frozenset({"$defs", "definitions", "defs"})
_BRANCHES = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_WITHIN = frozenset({"items", "additionalProperties"})


def places_of(pointers: Iterable[str]) -> Places:
    """The places of arguments that these places of a schema describe, as pointers from the root of the schema."""
    return frozenset([tuple(_steps([_plain(one) for one in pointer.split("/")[1:]])) for pointer in pointers])


def _plain(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _steps(keywords: list[str]) -> Iterator[str]:
    """Steps into a value, for keywords and names on the way into its schema; a last keyword is about the value."""
    at = 0
    while at < len(keywords):
        keyword, rest = keywords[at], keywords[at + 1 :]
        if keyword in _DEFINED and rest:
            yield "**"
        elif keyword in _NAMED and rest:
            yield rest[0]
        elif keyword == "items" or (keyword in _WITHIN and rest) or (keyword == "prefixItems" and rest):
            yield "*"
        at += 2 if keyword in _NAMED | _DEFINED | _BRANCHES else 1


def as_told(expected: Any, actual: Any, places: Places, at: tuple[str, ...] = ()) -> Any:
    """The expected arguments, in the form of the actual ones where these have another one at one of `places`."""
    if first_difference(expected, actual) is None:
        return actual
    is_excused = any(_fits(at, place) for place in places)
    if is_excused and _says(expected, actual, places, at):
        return actual
    if isinstance(expected, dict) and isinstance(actual, dict):
        own, translated = members(expected), members(actual)
        absent = [name for name, one in translated.items() if one is None and name not in own] if is_excused else []
        retold: dict[str, Any] = {
            name: as_told(one, translated.get(name), places, (*at, name)) for name, one in own.items()
        }
        return retold | dict.fromkeys(absent)
    if isinstance(expected, list) and isinstance(actual, list) and len(items(expected)) == len(items(actual)):
        pairs = zip(items(expected), items(actual), strict=True)
        return [as_told(one, other, places, (*at, "*")) for one, other in pairs]
    return cast("Any", expected)


def _fits(at: tuple[str, ...], place: tuple[str, ...]) -> bool:
    """Whether a place of the arguments is one of those that a pattern names."""
    if place[:1] == ("**",):
        place = place[place.index("**") + 1 :]
        at = at[len(at) - len(place) :] if len(place) <= len(at) else at
    return len(at) == len(place) and all(step in (name, "*") for name, step in zip(at, place, strict=True))


def _says(expected: Any, actual: Any, places: Places, at: tuple[str, ...]) -> bool:
    """Whether `actual` is `expected` in one of the other forms, with nothing missing."""

    def equal(one: Any, other: Any, *steps: str) -> bool:
        return first_difference(as_told(one, other, places, (*at, *steps)), other) is None

    if isinstance(actual, str) and not isinstance(expected, str):
        return first_difference(expected, _parsed(actual)) is None
    if isinstance(expected, dict) and isinstance(actual, list):
        pairs = [members(one) for one in items(actual)]
        named = {str(one.get("key")): one.get("value") for one in pairs}
        own = members(expected)
        same = len(named) == len(pairs) and list(named) == list(own)
        return same and all(equal(own[name], named[name], name) for name in own)
    if isinstance(actual, dict) and not isinstance(expected, dict) and len(members(actual)) == 1:
        [inner] = members(actual).values()
        return equal(expected, inner)
    return False


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
