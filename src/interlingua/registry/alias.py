"""Aliases: names that stand for specs, expanded in place, however deep, without going in circles.

Rules
- An alias may stand anywhere in a chain, also at its end, and may name further aliases.
- A chain keeps the first of equal targets.
- A circle is an error that names it; nesting deeper than 64 is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from interlingua.errors import ConfigError, UnknownModelError
from interlingua.registry.spec import Element, parse_spec

__all__ = ["expand", "longest_prefix", "settled"]

MAX_ALIAS_DEPTH = 64


def expand(spec: str, meaning: Callable[[Element], str | None]) -> tuple[Element, ...]:
    """The targets that a spec stands for, in order, each once.

    `meaning` gives the spec that an element stands for, or None for a target; it raises for what it does not know.

    Raises: ConfigError for a circle and for nesting beyond the bound; UnknownModelError for a malformed spec.
    """
    return tuple(dict.fromkeys(_targets(spec, meaning, (), set())))


def _targets(
    spec: str, meaning: Callable[[Element], str | None], trail: tuple[str, ...], done: set[str]
) -> Iterator[Element]:
    """Targets depth first; what was expanded before adds nothing new and is left out, so that work stays linear."""
    for element in parse_spec(spec):
        text = element.text
        if text in trail:
            raise ConfigError(f"aliases go in a circle: {' -> '.join((*trail[trail.index(text) :], text))}")
        if text in done:
            continue
        stands_for = meaning(element)
        if stands_for is None:
            yield element
        elif len(trail) >= MAX_ALIAS_DEPTH:
            raise ConfigError(f"the alias {trail[0]} nests deeper than {MAX_ALIAS_DEPTH}")
        else:
            yield from _targets(stands_for, meaning, (*trail, text), done)
        done.add(text)


def longest_prefix(name: str, aliases: Mapping[str, str]) -> str | None:
    """The spec of the longest alias `prefix*` that `name` begins with, or None."""
    fitting = [key for key in list(aliases) if key.endswith("*") and name.startswith(key[:-1])]
    return aliases[max(fitting, key=len)] if fitting else None


def settled(
    start: str, value_of: Callable[[str], str | None], is_known: Callable[[Element], bool]
) -> dict[str, tuple[Element, ...]]:
    """The aliases, from `start` on, among values that may be anything at all.

    A value is an alias when each of its elements is known or names another alias; aliases that only lead to each other
    are aliases too, so that the circle can be named when they are used.
    """
    reachable: dict[str, tuple[Element, ...]] = {}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        elements = _elements(value_of(name)) if name not in reachable else ()
        if elements:
            reachable[name] = elements
            waiting += [element.name for element in elements if element.provider is None and not is_known(element)]
    while strays := [
        name
        for name, elements in reachable.items()
        if not all(is_known(element) or (element.text in reachable and element.text != name) for element in elements)
    ]:
        for name in strays:
            del reachable[name]
    return reachable


def _elements(value: str | None) -> tuple[Element, ...]:
    try:
        return parse_spec(value) if value else ()
    except UnknownModelError:
        return ()
