"""The first look at a schema that is to be fitted: most are told by their types and keywords alone.

Rules
- What is told here is what the whole walk (`fit`) tells; laws hold it to that. Where only
  that walk can tell, it is None.
- A schema that is sent as it is, is given back itself, never a copy.
- A definition to which nobody refers any more is not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from interlingua.errors import SchemaError
from interlingua.schema._fit_work import Rewrite
from interlingua.schema.merge import merged
from interlingua.schema.subset import Subset, untouched_keywords
from interlingua.schema.validate import MAX_SCHEMA_DEPTH, MAX_SCHEMA_NODES
from interlingua.schema.walk import Schema, follow
from interlingua.wire.json import pointer

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

__all__ = ["Glance", "target_of", "told_of", "written_out"]

_At: TypeAlias = "str | tuple[_At, *tuple[str | int, ...]]"
"""A place: a pointer, or the steps that lead on from one."""
_NOTHING: Mapping[str, Any] = {}
_NO_KEYWORDS: Mapping[str | None, frozenset[str]] = {}
_HOLDERS = frozenset({"array", "object"})
"""The types whose values hold others."""


def target_of(reference: str, root: Schema) -> Schema:
    """The schema that a reference names, without its definitions.

    Raises: SchemaError, for a reference that leads nowhere, outside, or in a circle.
    """
    target = follow({"$ref": reference}, root)
    if "$defs" not in target and "definitions" not in target:
        return target
    return {name: value for name, value in target.items() if name not in ("$defs", "definitions")}


def written_out(target: Schema, beside: Schema) -> Schema:
    """The schema that a reference names, with the keywords beside the reference."""
    if target.keys().isdisjoint(beside):
        return {**target, **beside}
    both = {name: target[name] for name in target if name in beside}
    whole = {**target, **{name: value for name, value in beside.items() if name not in target}}
    return whole | merged(both, {name: beside[name] for name in both})


def told_of(rewrites: Mapping[str, list[Rewrite]], used: Container[str], *, is_rewritten: bool) -> list[Rewrite]:
    """The rewrites of the definitions: of those that nobody refers to any more only where there is nothing else."""
    of_used = [one for name, some in rewrites.items() if name in used for one in some]
    return of_used if of_used or is_rewritten else [one for some in rewrites.values() for one in some]


class Glance:
    """Looks at the schemas of one root."""

    __slots__ = ("_keywords", "_names", "_root", "_subset", "_used", "_writes_out", "nodes", "rewrites")

    def __init__(self, root: Schema, subset: Subset) -> None:
        """A look at what stands in `root`."""
        self._root = root
        self._subset = subset
        self._keywords = untouched_keywords(subset)
        self._writes_out = subset.references != "any"
        self._names: frozenset[str] = frozenset()
        """The definitions to which references may lead that are sent as such."""
        self._used: set[str] = set()
        """Those to which some lead."""
        self.rewrites: list[Rewrite] = []
        """The rewrites so far, also by the whole walk."""
        self.nodes: int = 0
        """How many schemas were looked at, references written out."""

    def whole(self) -> Schema | None:
        """The whole schema as it is sent; None where the whole walk has to tell."""
        root, definitions = self._root, self._root.get("$defs")
        if not self._writes_out or "$defs" not in root:
            return self.sent(root, 0, "", ())
        if not isinstance(definitions, dict):
            return None
        named = cast("Schema", definitions)
        if self._subset.references == "bare" and any(map(_is_no_end, named.values())):
            return None
        own = {keyword: value for keyword, value in root.items() if keyword != "$defs"}
        if self._subset.references == "bare" and self._subset.recursive:
            self._names = frozenset([name for name in named if "/" not in name and "~" not in name])
        sent = self.sent(own, 0, "", ())
        sent = None if sent is None else self._with_definitions(sent, named)
        self._names = frozenset()
        if sent is None:
            self.nodes = 0
            self.rewrites.clear()
        return sent

    def _with_definitions(self, sent: Schema, named: Schema) -> Schema | None:
        """The root with the definitions to which it leads, as they are sent."""
        if self._subset.references == "none":
            self.rewrites.append(Rewrite("/$defs", "$defs is not taken"))
            return sent
        used = self._used
        if not used and self.rewrites:
            return sent
        needed: dict[str, Schema] = {}
        led_by: dict[str, set[str]] = {}
        rewrites: dict[str, list[Rewrite]] = {}
        whole = len(self.rewrites)
        for name, schema in named.items():
            self._used = led_by[name] = set()
            path = pointer("$defs", name)
            one = self.sent(schema, 0, path, (f"#{path}",))
            if one is None:
                return None
            needed[name], rewrites[name] = one, self.rewrites[whole:]
            del self.rewrites[whole:]
        waiting = list(used)
        while waiting:
            below = led_by[waiting.pop()] - used
            used |= below
            waiting += below
        self.rewrites += told_of(rewrites, used, is_rewritten=bool(whole))
        return {**sent, "$defs": {name: schema for name, schema in needed.items() if name in used}} if used else sent

    def sent(self, form: object, depth: int, at: _At, refs: tuple[str, ...]) -> Schema | None:
        """A schema as it is sent, whose values stay as they are; None where the whole walk has to tell.

        It stands at `at`, so deep, inside what `refs` led to.
        """
        nodes, rewrites = self.nodes, len(self.rewrites)
        schema = self._sent(form, depth, at, refs)
        if schema is None or self.nodes > MAX_SCHEMA_NODES:
            self.nodes = nodes
            del self.rewrites[rewrites:]
            return None
        return schema

    def _sent(self, form: object, depth: int, at: _At, refs: tuple[str, ...]) -> Schema | None:
        if type(form) is not dict or depth > MAX_SCHEMA_DEPTH:
            return None
        self.nodes += 1
        schema = cast("Schema", form)
        if "$ref" in schema:
            return self._reference(schema, depth, at, refs)
        kind: object = schema.get("type")
        keywords = self._keywords.get(kind) if isinstance(kind, str | None) else None
        if keywords is None or not schema.keys() <= keywords:
            return None
        if kind == "object":
            return self._members(schema, depth + 1, at, refs)
        if kind == "array":
            return self._items(schema, depth + 1, at, refs)
        return self._forms(schema, depth + 1, at, refs) if kind is None else schema

    def _members(self, schema: Schema, depth: int, at: _At, refs: tuple[str, ...]) -> Schema | None:
        properties, required = schema.get("properties", _NOTHING), schema.get("required", ())
        if not isinstance(properties, dict) and properties is not _NOTHING:
            return None
        if not isinstance(required, list) and required != ():
            return None
        members = cast("Schema", properties)
        if self._subset.own_keywords and not members.keys() >= set(cast("list[str]", required)):
            return None
        changed = self._all(members.items(), depth, (at, "properties"), refs)
        free = schema.get("additionalProperties")
        others = free
        if isinstance(free, dict):
            others = self._sent(cast("object", free), depth, (at, "additionalProperties"), refs)
        if changed is None or (others is None and free is not None):
            return None
        if changed:
            schema = {**schema, "properties": {**members, **changed}}
        return schema if others is free else {**schema, "additionalProperties": others}

    def _items(self, schema: Schema, depth: int, at: _At, refs: tuple[str, ...]) -> Schema | None:
        if "items" not in schema:
            return None if self._subset.typed else schema
        items = self._sent(schema["items"], depth, (at, "items"), refs)
        if items is None:
            return None
        return schema if items is schema["items"] else {**schema, "items": items}

    def _forms(self, schema: Schema, depth: int, at: _At, refs: tuple[str, ...]) -> Schema | None:
        if "anyOf" not in schema:
            return None if self._subset.typed else schema
        forms = schema["anyOf"]
        if not isinstance(forms, list) or not forms:
            return None
        branches = cast("list[Any]", forms)
        changed = self._all(enumerate(branches), depth, (at, "anyOf"), refs)
        if not changed:
            return None if changed is None else schema
        return {**schema, "anyOf": [changed.get(place, form) for place, form in enumerate(branches)]}

    def _all(
        self, forms: Iterable[tuple[Any, Any]], depth: int, at: _At, refs: tuple[str, ...]
    ) -> dict[Any, Schema] | None:
        """The schemas that are sent in the place of others; None where the whole walk has to tell."""
        changed: dict[Any, Schema] = {}
        keywords = self._keywords if depth <= MAX_SCHEMA_DEPTH else _NO_KEYWORDS
        for name, form in forms:
            schema = cast("Schema", form)
            kind: object = schema.get("type") if type(form) is dict else None
            if type(kind) is str and kind in keywords and kind not in _HOLDERS and schema.keys() <= keywords[kind]:
                self.nodes += 1
                continue
            sent = self._sent(schema, depth, (at, name), refs)
            if sent is None:
                return None
            if sent is not schema:
                changed[name] = sent
        return changed

    def _reference(self, schema: Schema, depth: int, at: _At, refs: tuple[str, ...]) -> Schema | None:
        if not self._writes_out:
            return schema if depth and "definitions" in self._subset.keywords else None
        reference = schema["$ref"]
        if type(reference) is not str or reference in refs or self.nodes > MAX_SCHEMA_NODES:
            return None
        beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        if self._subset.references == "bare" and not any([keyword[:1] != "$" for keyword in beside]):
            name = reference.removeprefix("#/$defs/")
            if beside or name not in self._names or reference == name:
                return None
            self._used.add(name)
            return schema
        try:
            target = target_of(reference, self._root)
        except SchemaError:
            return None
        self.rewrites.append(Rewrite(_pointer(at), f"what {reference} leads to is written out"))
        return self._sent(written_out(target, beside), depth, at, (*refs, reference))


def _is_no_end(definition: object) -> bool:
    """Whether a definition is a reference itself, or no object."""
    return not isinstance(definition, dict) or "$ref" in definition


def _pointer(at: _At) -> str:
    """The RFC 6901 pointer of a place."""
    return at if isinstance(at, str) else f"{_pointer(at[0])}{pointer(*at[1:])}"
