"""Steps of fitting a schema that have to do with arrays, strings and numbers."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, cast

from interlingua.schema._fit_work import kinds_of
from interlingua.schema.convert import Items

if TYPE_CHECKING:
    from interlingua.schema._fit_work import Work
    from interlingua.schema.convert import Step

__all__ = ["arrays", "numbers", "strings"]

_LOOKING_AROUND = re.compile(r"\(\?<?[=!]")
_BOUNDS = (("exclusiveMinimum", "minimum", 1, "more than"), ("exclusiveMaximum", "maximum", -1, "less than"))
"""The open bound, the closed one, the way from the one to the other for integers, and what the open one says."""


# Arrays


def arrays(work: Work) -> None:
    """Fit the items, and how many there are."""
    node, subset = work.node, work.subset
    if isinstance(node.get("items"), list):
        work.rewrote("items in order stand in prefixItems", "items")
        node["prefixItems"] = node.pop("items")
        if "additionalItems" in node:
            node["items"] = node.pop("additionalItems")
    first = _first_items(work)
    rest: Step | None = None
    if subset.typed and "array" in kinds_of(node) and not isinstance(node.get("items"), dict):
        if "items" not in node:
            work.rewrote("an array says what its items are", "items")
        node["items"] = {}
    items: object = node.get("items")
    if isinstance(items, dict):
        node["items"], rest = work.below(cast("object", items), "items")
    if isinstance(node.get("contains"), dict) and "contains" in subset.keywords:
        node["contains"], _ = work.below(node["contains"], "contains")
    if any(first) or rest is not None:
        work.convert(Items(first, rest))
    least = node.get("minItems")
    if subset.least_items is not None and isinstance(least, int) and least > subset.least_items:
        work.rewrote(f"minItems is at most {subset.least_items}", "minItems")
        work.tell("minItems", least)
        node["minItems"] = subset.least_items


def _first_items(work: Work) -> tuple[Step | None, ...]:
    """Fit the items that are described one by one; where the target has no such thing, each may be any of them."""
    node, subset = work.node, work.subset
    prefix = node.get("prefixItems")
    if not isinstance(prefix, list):
        return ()
    places = cast("list[Any]", prefix)
    if "prefixItems" in subset.keywords:
        fitted = [work.below(schema, "prefixItems", place) for place, schema in enumerate(places)]
        node["prefixItems"] = [schema for schema, _ in fitted]
        return tuple([step for _, step in fitted])
    work.rewrote("the items in order are told in the description", "prefixItems")
    work.tell("items in order", node.pop("prefixItems"))
    after: object = node.get("items")
    forms: list[object] = [*places, *([cast("object", after)] if isinstance(after, dict) and after else [])]
    distinct: list[object] = [form for number, form in enumerate(forms) if form not in forms[:number]]
    node["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    if after is False:
        node["maxItems"] = min(len(places), node.get("maxItems", len(places)))
    return ()


# Strings


def strings(work: Work) -> None:
    """Fit format and pattern."""
    node, subset = work.node, work.subset
    form = node.get("format")
    if subset.formats is not None and isinstance(form, str) and form not in subset.formats:
        work.rewrote(f"the format {form} is not taken", "format")
        work.tell("format", node.pop("format"))
    pattern = node.get("pattern")
    if not subset.look_around and isinstance(pattern, str) and _LOOKING_AROUND.search(pattern):
        work.rewrote("a pattern cannot look around", "pattern")
        work.tell("pattern", node.pop("pattern"))


# Numbers


def numbers(work: Work) -> None:
    """Say open bounds as closed ones."""
    node, subset = work.node, work.subset
    for open_bound, closed, way, words in _BOUNDS:
        if open_bound not in node or {open_bound, closed} & subset.keywords != {closed}:
            continue
        bound: Any = node.pop(open_bound)
        work.rewrote(f"{open_bound} is told by {closed}", open_bound)
        if isinstance(bound, bool):  # draft 4: a flag beside the closed bound
            if not bound or closed not in node:
                continue
            bound = node[closed]
        value = bound
        if kinds_of(node) == ["integer"]:
            value = math.floor(bound) + 1 if way > 0 else math.ceil(bound) - 1
        else:
            work.notes.append(f"{words} {bound}")
        tighter = max if way > 0 else min
        node[closed] = tighter(node[closed], value) if closed in node else value
