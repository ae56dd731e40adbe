"""The first look at a schema that is to be fitted: most are told by their types and keywords alone.

Rules
- What is told here is what the whole walk (`fit`) tells; laws hold it to that. Where only
  that walk can tell, it is None.
- A schema that is sent as it is, is given back itself, never a copy.
- A definition to which nobody refers any more is not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlingua.errors import SchemaError
from interlingua.schema._fit_work import Rewrite
from interlingua.schema.merge import merged
from interlingua.schema.subset import Subset, untouched_keywords
from interlingua.schema.validate import MAX_SCHEMA_DEPTH, MAX_SCHEMA_NODES
from interlingua.schema.walk import Schema, follow, resolve
from interlingua.wire.json import pointer

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

__all__ = ["Glance", "target_of", "told_of", "written_out"]

_NOTHING: Schema = {}
_NONE: list[str] = []
_LEADS_ON = frozenset({"$defs", "$ref", "definitions"})
"""The keywords of a definition that is not the whole of what a reference leads to, or more than that."""


def target_of(reference: str, root: Schema) -> Schema:
    """The schema that a reference names, without its definitions.

    Raises: SchemaError, for a reference that leads nowhere, outside, or in a circle.
    """
    target = resolve(reference, root)
    if _LEADS_ON.isdisjoint(target):
        return target
    target = follow({"$ref": reference}, root)
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

    __slots__ = ("_definitions", "_holders", "_leaves", "_root", "_subset", "_used", "nodes", "rewrites")

    def __init__(self, root: Schema, subset: Subset) -> None:
        """A look at what stands in `root`."""
        self._root = root
        self._subset = subset
        self._leaves, self._holders = untouched_keywords(subset)
        self._definitions: Schema = _NOTHING
        """The definitions to which references may lead that are sent as such."""
        self._used: set[str] = set()
        """Those to which some lead."""
        self.rewrites: list[Rewrite] = []
        """The rewrites so far, also by the whole walk."""
        self.nodes: int = 0
        """How many schemas were looked at, references written out."""

    def whole(self) -> Schema | None:
        """The whole schema as it is sent; None where the whole walk has to tell."""
        root, subset = self._root, self._subset
        is_object = root.get("type") == "object" and "$ref" not in root
        if subset.root != "any" and (not is_object or subset.any_inside):
            return None
        if subset.references == "any" or "$defs" not in root:
            return self.sent(root, 0, "", ())
        named: Schema = root["$defs"]
        if type(named) is not dict:
            return None
        if subset.references == "bare":
            for definition in named.values():
                if not isinstance(definition, dict) or "$ref" in definition:
                    return None
            if subset.recursive:
                self._definitions = named
        own = root.copy()
        del own["$defs"]
        sent = self.sent(own, 0, "", ())
        sent = None if sent is None else self._with_definitions(sent, named)
        self._definitions = _NOTHING
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

    def sent(self, form: Any, depth: int, at: str, refs: tuple[str, ...]) -> Schema | None:
        """A schema as it is sent, whose values stay as they are; None where the whole walk has to tell.

        It stands at `at`, so deep, inside what `refs` led to.
        """
        nodes, rewrites = self.nodes, len(self.rewrites)
        self.nodes += 1
        schema = self._sent(form, depth, at, refs)
        if schema is None or self.nodes > MAX_SCHEMA_NODES:
            self.nodes = nodes
            del self.rewrites[rewrites:]
            return None
        return schema

    def _sent(self, schema: Schema, depth: int, at: str, refs: tuple[str, ...]) -> Schema | None:
        """One schema, which is counted already, or whatever else stands in its place."""
        if type(schema) is not dict or depth > MAX_SCHEMA_DEPTH:
            return None
        if "$ref" in schema:
            return self._reference(schema, depth, at, refs)
        kind: Any = schema.get("type")
        if kind is not None and not isinstance(kind, str):
            return None
        keywords = self._leaves.get(kind) if kind else None
        if keywords is not None:
            return schema if schema.keys() <= keywords else None
        keywords = self._holders.get(kind)
        if keywords is None or not schema.keys() <= keywords:
            return None
        if kind == "object":
            return self._members(schema, depth + 1, at, refs)
        return self._items(schema, depth + 1, at, refs) if kind else self._forms(schema, depth + 1, at, refs)

    def _members(self, schema: Schema, depth: int, at: str, refs: tuple[str, ...]) -> Schema | None:
        members: Schema = schema.get("properties", _NOTHING)
        required: list[str] = schema.get("required", _NONE)
        if type(members) is not dict or type(required) is not list:
            return None
        if self._subset.own_keywords and not members.keys() >= set(required):
            return None
        changed = self._all(members.items(), depth, f"{at}/properties", refs)
        if changed is None:
            return None
        if changed:
            schema = {**schema, "properties": {**members, **changed}}
        free = schema.get("additionalProperties")
        if not isinstance(free, dict):
            return schema
        self.nodes += 1
        others = self._sent(cast("Schema", free), depth, f"{at}/additionalProperties", refs)
        if others is None or others is free:
            return None if others is None else schema
        return {**schema, "additionalProperties": others}

    def _items(self, schema: Schema, depth: int, at: str, refs: tuple[str, ...]) -> Schema | None:
        if "items" not in schema:
            return None if self._subset.typed else schema
        self.nodes += 1
        items = self._sent(schema["items"], depth, f"{at}/items", refs)
        if items is None or items is schema["items"]:
            return None if items is None else schema
        return {**schema, "items": items}

    def _forms(self, schema: Schema, depth: int, at: str, refs: tuple[str, ...]) -> Schema | None:
        if "anyOf" not in schema:
            return None if self._subset.typed else schema
        forms: list[Any] = schema["anyOf"]
        if type(forms) is not list or not forms:
            return None
        changed = self._all(enumerate(forms), depth, f"{at}/anyOf", refs)
        if not changed:
            return None if changed is None else schema
        return {**schema, "anyOf": [changed.get(place, form) for place, form in enumerate(forms)]}

    def _all(
        self, forms: Iterable[tuple[Any, Schema]], depth: int, at: str, refs: tuple[str, ...]
    ) -> dict[Any, Schema] | None:
        """The schemas that are sent in the place of others; None where the whole walk has to tell."""
        changed: dict[Any, Schema] = {}
        leaves = self._leaves if depth <= MAX_SCHEMA_DEPTH else _NOTHING
        for name, form in forms:
            self.nodes += 1
            kind: Any = form.get("type") if type(form) is dict else None
            if type(kind) is str and kind in leaves and form.keys() <= leaves[kind]:
                continue
            path = f"{at}/{name}" if type(name) is int or name.isidentifier() else f"{at}{pointer(name)}"
            sent = self._sent(form, depth, path, refs)
            if sent is None:
                return None
            if sent is not form:
                changed[name] = sent
        return changed

    def _reference(self, schema: Schema, depth: int, at: str, refs: tuple[str, ...]) -> Schema | None:
        subset = self._subset
        if subset.references == "any":
            return schema if depth and "definitions" in subset.keywords else None
        reference = schema["$ref"]
        if type(reference) is not str or reference in refs or self.nodes > MAX_SCHEMA_NODES:
            return None
        beside = schema.copy()
        del beside["$ref"]
        is_bare = subset.references == "bare"
        for keyword in beside if is_bare else ():
            if keyword[:1] != "$":
                is_bare = False
                break
        if is_bare:
            name = reference.removeprefix("#/$defs/")
            if beside or name == reference or name not in self._definitions or "/" in name or "~" in name:
                return None
            self._used.add(name)
            return schema
        try:
            target = target_of(reference, self._root)
        except SchemaError:
            return None
        self.rewrites.append(Rewrite(at, f"what {reference} leads to is written out"))
        return self._sent(written_out(target, beside), depth, at, (*refs, reference))
