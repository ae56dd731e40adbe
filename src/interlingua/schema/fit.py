"""A JSON Schema rewritten into what a target takes, with what that changes of its values.

Strategy: one walk over the schema from its root. Each step looks at one kind of keyword and rewrites it where the
subset does not take it; what cannot be said is told in the description, where the model can read it. A schema in which
nothing had to be rewritten is not copied: the caller's own is sent.

Rules
- Everything is bounded: depth 64, 10,000 schemas, those behind references counted each time they are written out.
- A reference that leads nowhere allows anything; one that leads back to itself ends in a plain object where the target
  takes no recursion.
- What changes the values gets a `Conversion`; nothing else does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from interlingua.errors import SchemaError
from interlingua.schema._fit_glance import Glance, target_of, told_of, written_out
from interlingua.schema._fit_kinds import arrays, numbers, strings
from interlingua.schema._fit_objects import fold, map_of, objects, wrap
from interlingua.schema._fit_structure import all_of, constants, enumerations, kinds, lone, unions
from interlingua.schema._fit_work import Place, Rewrite, Work, annotated, any_value
from interlingua.schema.convert import Conversion, Reference
from interlingua.schema.subset import ANNOTATIONS, Subset, have_plain_roots, types_of_keyword
from interlingua.schema.validate import MAX_SCHEMA_DEPTH, MAX_SCHEMA_NODES
from interlingua.schema.walk import Schema, follow, parts_of_schema
from interlingua.wire.json import pointer, pointer_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.schema.convert import Step

__all__ = ["Fitted", "Rewrite", "fit", "glance"]

SILENT = frozenset({
    "$anchor", "$comment", "$defs", "$id", "$schema", "additionalItems", "additionalProperties", "definitions",
    "deprecated", "propertyOrdering", "readOnly", "title", "unevaluatedItems", "unevaluatedProperties", "writeOnly",
})  # fmt: skip
"""Keywords that a model need not hear of when they are left out."""


class Fitted(NamedTuple):
    """A schema as a target takes it."""

    schema: Schema
    """The schema to send."""
    rewrites: Sequence[Rewrite]
    """The rewrites, with their reasons."""
    conversion: Conversion | None
    """The conversion of the values; None where they look the same."""


def fit(schema: Schema, subset: Subset) -> Fitted | None:
    """The schema as `subset` takes it; None where it takes the caller's own.

    Raises: SchemaError, which begins with the place, for a schema that cannot be said within the subset or the bounds.
    """
    fitted = glance(schema, subset)
    if fitted is None:
        fitter = _Fitter(schema, subset)
        try:
            fitted = fitter.whole()
            _check_limits(fitted.schema if fitted.rewrites else schema, subset)
        except (AttributeError, KeyError, TypeError, ValueError):
            return None  # no JSON Schema: `check_schema` says so to whoever asks, and the server to whoever does not
    return fitted if fitted.rewrites else None


def glance(schema: Schema, subset: Subset) -> Fitted | None:
    """The schema as `subset` takes it, at a first look; None where only the whole walk of `fit` can tell.

    A schema that is taken as it is, is given back itself, without rewrites. Nothing bounds the values that it holds.
    """
    if subset.max_levels is not None or subset.max_properties is not None:
        return None  # they are counted
    look = Glance(schema, subset)
    try:
        sent = look.whole()
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # no JSON Schema
    return None if sent is None else Fitted(sent, look.rewrites, None)


class _Fitter:
    """Walks one schema."""

    def __init__(self, root: Schema, subset: Subset) -> None:
        """The walker of `root`."""
        self.root: Schema = root
        """The caller's schema."""
        self.subset: Subset = subset
        """The subset that the target takes."""
        self._glance = Glance(root, subset)
        self.rewrites: list[Rewrite] = self._glance.rewrites
        """The rewrites so far."""
        self.converts: bool = False
        """Whether any value looks different on the wire."""
        self.definitions: dict[str, Schema] = {}
        """The definitions that references lead to, as they are sent."""
        self.steps: dict[str, Step | None] = {}
        """The conversion of the values of each."""
        self._names: dict[str, str] = {}
        self._waiting: list[str] = []
        self._refers = False
        self._free = "definitions" in subset.keywords
        self._stays = subset.root == "any" or _is_plain(root, subset)
        self._cyclic: frozenset[str] | None = None

    def whole(self) -> Fitted:
        """The whole schema, and what becomes of its values."""
        if not self._free and self.subset.references != "none":
            definitions = self.root.get("$defs")
            for name in cast("Schema", definitions) if isinstance(definitions, dict) else ():
                reference = f"#{pointer('$defs', name)}"
                if self._leads_somewhere(reference) and not self._leads_back(reference):
                    self._name(reference)
                else:
                    self.rewrites.append(Rewrite(reference[1:], "a circle stands where it is needed, not in $defs"))
        schema, step = self.node(self.root, Place(root=True))
        whole, rewrites = len(self.rewrites), dict[str, list[Rewrite]]()
        while self._waiting:
            reference = self._waiting.pop(0)
            name = self._names[reference]
            self.definitions[name], self.steps[name] = self.below(
                target_of(reference, self.root), Place(reference[1:], (reference,))
            )
            rewrites[name] = self.rewrites[whole:]
            del self.rewrites[whole:]
        if self._stays:
            self.steps["#"] = step
        # The definitions that are still referred to stay.
        used: set[str] = set()
        waiting = _references(schema) if self._refers else []
        while waiting:
            name = _last_step(waiting.pop())
            if name in self.definitions and name not in used:
                used.add(name)
                waiting += _references(self.definitions[name])
        self.rewrites += told_of(rewrites, used, is_rewritten=bool(whole))
        if used:
            schema["$defs"] = {name: self.definitions[name] for name in self._names.values() if name in used}
        conversion = Conversion(step, self.steps) if step is not None and self.converts else None
        return Fitted(schema, self.rewrites, conversion)

    @property
    def sent_root(self) -> Schema:
        """A schema in which the references that are sent lead to what the caller's do."""
        return {
            "type": "object",
            "$defs": {name: target_of(reference, self.root) for reference, name in self._names.items()},
        }

    # One schema

    def below(self, form: object, place: Place, *steps: str | int) -> tuple[Schema, Step | None]:
        """A schema that stands `steps` below a place as it is sent, and what becomes of its values.

        Raises: SchemaError beyond the bounds.
        """
        if steps:
            place = place.below(*steps)
        sent = self._glance.sent(form, place.depth, place.path, place.refs)
        return self.node(form, place) if sent is None else (sent, None)

    def node(self, form: object, place: Place) -> tuple[Schema, Step | None]:
        """One schema as it is sent, and what becomes of its values.

        Raises: SchemaError beyond the bounds.
        """
        self._glance.nodes += 1
        if self._glance.nodes > MAX_SCHEMA_NODES:
            raise SchemaError(f"{place.path or '/'}: more than {MAX_SCHEMA_NODES:,} schemas, references written out")
        if place.depth > MAX_SCHEMA_DEPTH:
            raise SchemaError(f"{place.path}: nested deeper than {MAX_SCHEMA_DEPTH} levels")
        work = Work(self, self._opened(form, place), place)
        if not self._follow(work):
            return self._reference(work)
        if not self._free and self.subset.references != "none":
            work.node.pop("$defs", None)  # those that are needed are gathered at the root
        for keywords, step in _BEFORE_THE_ROOT:
            if keywords is None or not work.node.keys().isdisjoint(keywords):
                step(work)
        if work.place.root and (rooted := self._root(work)) is not None:
            return rooted
        self._own_keywords(work)
        if self.subset.typed and not work.node.keys() & {"type", "anyOf", "oneOf", "$ref"}:
            return any_value(work, "Any JSON value, as JSON text.")
        if (mapped := map_of(work)) is not None:
            return mapped
        return self._finished(work)

    def _finished(self, work: Work) -> tuple[Schema, Step | None]:
        for keywords, step in _AFTER_THE_ROOT:
            if keywords is None or not work.node.keys().isdisjoint(keywords):
                step(work)
        subset = self.subset
        for keyword in list(work.node):
            if keyword in subset.keywords:
                continue
            is_standard = keyword in ANNOTATIONS or types_of_keyword(keyword) or keyword in _LOGIC
            if subset.unknown and not is_standard:
                continue
            value = work.node.pop(keyword)
            work.rewrote(f"{keyword} is not taken", keyword)
            if is_standard and keyword not in SILENT:
                work.tell(keyword, value)
        return annotated(work), work.step

    def _opened(self, form: object, place: Place) -> Schema:
        if isinstance(form, dict):
            return dict(cast("Schema", form))
        if self.subset.typed and isinstance(form, bool):
            self.rewrites.append(Rewrite(place.path, "a schema is an object"))
        return {} if form is True else {"not": {}}

    def _own_keywords(self, work: Work) -> None:
        """Leave out keywords about types that the schema does not have."""
        types = work.node.get("type")
        if not self.subset.own_keywords or types is None:
            return
        own: set[str] = {types} if isinstance(types, str) else set(types)
        for keyword in list(work.node):
            about = types_of_keyword(keyword)
            if about and not about & own:
                del work.node[keyword]
                work.rewrote(f"{keyword} says nothing about {' or '.join(sorted(own))}", keyword)

    # The root

    def _root(self, work: Work) -> tuple[Schema, Step | None] | None:
        """The root where it must become another one; None where it may stay."""
        subset, node = self.subset, work.node
        if subset.root == "any":
            return None
        if _is_plain(node, subset):
            return None
        is_union = not node.keys().isdisjoint(_UNIONS)
        is_object = node.get("type") == "object" or ("type" not in node and not is_union)
        if subset.root == "wrap" and (is_union or not is_object or _is_map(node, subset)):
            return wrap(work)
        fold(work)
        return None

    # References

    def _follow(self, work: Work) -> bool:
        """Write out what the schema refers to, where it must be; False for a reference that is sent as one."""
        while "$ref" in work.node:
            node, reference = work.node, str(work.node["$ref"])
            beside = {keyword: value for keyword, value in node.items() if keyword != "$ref"}
            siblings = {keyword for keyword in beside if not keyword.startswith("$") and keyword != "definitions"}
            if self._is_sent(work, reference, has_siblings=bool(siblings)):
                return False
            if reference in work.place.refs:
                if self.subset.references != "none" and self.subset.recursive:
                    work.rewrote("nothing may stand beside a reference")
                    work.node = {"$ref": reference}
                    return False
                work.rewrote(f"{reference} leads back to itself")
                target = _plain(self._schema_at(reference, work))
            else:
                work.rewrote(f"what {reference} leads to is written out")
                target = self._schema_at(reference, work)
            work.place = work.place._replace(refs=(*work.place.refs, reference))
            work.node = written_out(target, beside)
        return True

    def _is_sent(self, work: Work, reference: str, *, has_siblings: bool) -> bool:
        subset = self.subset
        if subset.references == "none" or (has_siblings and subset.references == "bare"):
            return False
        if work.place.root and subset.root != "any":
            return False
        if self._free:
            return True
        return not self._leads_back(reference) and self._leads_somewhere(reference)

    def _leads_somewhere(self, reference: str) -> bool:
        try:
            follow({"$ref": reference}, self.root)
        except SchemaError:
            return False
        return True

    def _leads_back(self, reference: str) -> bool:
        """Whether a reference is part of a circle that the target does not take."""
        if self.subset.recursive:
            return False
        if self._cyclic is not None:
            return reference in self._cyclic
        graph: dict[str, list[str]] = {}
        waiting = _references(self.root)
        while waiting:
            place = waiting.pop()
            if place in graph:
                continue
            try:
                graph[place] = _references(follow({"$ref": place}, self.root))
            except SchemaError:
                graph[place] = []
            waiting += graph[place]
        self._cyclic = frozenset([place for place in graph if _reaches(place, graph)])
        return reference in self._cyclic

    def _reference(self, work: Work) -> tuple[Schema, Step | None]:
        """A reference that is sent as one, with what may stand beside it."""
        self._refers = True
        if self._free:
            return work.node, None
        reference = str(work.node["$ref"])
        work.node.pop("$defs", None)
        if reference == "#" and self._stays:
            return work.node, Reference("#")
        name = self._name(reference)
        sent = f"#{pointer('$defs', name)}"
        if sent != reference:
            work.rewrote(f"what {reference} leads to stands in $defs")
        return {**work.node, "$ref": sent}, Reference(name)

    def _name(self, reference: str) -> str:
        if reference not in self._names:
            stem = _last_step(reference) or "root"
            names, name, number = set(self._names.values()), stem, 1
            while name in names:
                number += 1
                name = f"{stem}{number}"
            self._names[reference] = name
            self._waiting.append(reference)
        return self._names[reference]

    def _schema_at(self, reference: str, work: Work) -> Schema:
        """The schema that a reference names; a schema that allows anything where it leads nowhere."""
        try:
            return target_of(reference, self.root)
        except SchemaError as error:
            work.rewrote(error.message)
            return {"type": "object"}


_STEPS: TypeAlias = "tuple[tuple[frozenset[str] | None, Callable[[Work], None]], ...]"
_BEFORE_THE_ROOT: _STEPS = (
    (frozenset({"allOf"}), all_of),
    (frozenset({"const"}), constants),
    (None, kinds),
    (frozenset({"enum"}), enumerations),
    (frozenset({"anyOf", "oneOf"}), lone),
)
_AFTER_THE_ROOT: _STEPS = (
    (frozenset({"anyOf", "oneOf"}), unions),
    (None, objects),
    (frozenset({"contains", "items", "minItems", "prefixItems", "type"}), arrays),
    (frozenset({"format", "pattern"}), strings),
    (frozenset({"exclusiveMaximum", "exclusiveMinimum"}), numbers),
)
"""Steps of the fitting, in order, with the keywords without which there is nothing to do; None for every schema."""
_LOGIC = frozenset({"$ref", "allOf", "anyOf", "const", "definitions", "$defs", "else", "enum", "if", "not", "nullable",
                    "oneOf", "then", "type"})  # fmt: skip
"""The other keywords that JSON Schema and OpenAPI have."""


def _plain(target: Schema) -> Schema:
    """The stand-in for a schema inside itself."""
    types = target.get("type")
    if isinstance(types, str):
        return {"type": types}
    return {"type": "object"} if "properties" in target else {}


_UNIONS = frozenset({"anyOf", "oneOf", "allOf"})


def _is_plain(root: Schema, subset: Subset) -> bool:
    """Whether a root is an object as targets want it that insist on one."""
    if subset.any_inside:
        return have_plain_roots([root])
    is_object = root.get("type") == "object" and _UNIONS.isdisjoint(root)
    return is_object and "$ref" not in root and not _is_map(root, subset)


def _is_map(node: Schema, subset: Subset) -> bool:
    free = node.get("additionalProperties")
    return subset.additional != "any" and not node.get("properties") and free is not None and free is not False


def _last_step(reference: str) -> str:
    """The name of what a reference leads to; none for the root."""
    return (pointer_steps(reference) or [""])[-1]


def _references(schema: Schema) -> list[str]:
    return [str(part["$ref"]) for part in parts_of_schema(schema) if "$ref" in part]


def _reaches(start: str, graph: dict[str, list[str]]) -> bool:
    visited: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        reference = waiting.pop()
        if reference == start:
            return True
        if reference not in visited:
            visited.add(reference)
            waiting += graph[reference]
    return False


# Limits


def _check_limits(schema: Schema, subset: Subset) -> None:
    """Nothing, when the schema is within the target's limits.

    Raises: SchemaError, which names the limit.
    """
    if subset.max_levels is None and subset.max_properties is None:
        return
    parts = list(parts_of_schema(schema))
    enums = [cast("list[Any]", part["enum"]) for part in parts if isinstance(part.get("enum"), list)]
    names = [name for part in parts for name in (*part.get("properties", ()), *part.get("$defs", ()))]
    texts = [text for values in enums for text in values if isinstance(text, str)]
    texts += [part["const"] for part in parts if isinstance(part.get("const"), str)]
    long = [sum(len(str(value)) for value in values) for values in enums if len(values) > 250]
    counted = (
        ("levels", _levels(schema), subset.max_levels),
        ("properties", sum(len(part.get("properties", ())) for part in parts), subset.max_properties),
        ("enumerated values", sum(map(len, enums)), subset.max_enum_values),
        ("characters in one long enumeration", max(long, default=0), subset.max_long_enum_chars),
        ("characters in names and enumerations", sum(map(len, [*names, *texts])), subset.max_name_chars),
    )
    for noun, number, most in counted:
        if most is not None and number > most:
            raise SchemaError(f"/: {number:,} {noun}, and {subset.name} takes {most:,}")


def _levels(schema: Schema) -> int:
    """How deep objects and arrays nest; references are not followed."""
    named = [part for keyword in ("properties", "$defs") for part in schema.get(keyword, {}).values()]
    forms = [part for keyword in ("anyOf", "allOf", "oneOf") for part in schema.get(keyword, ())]
    below = max(map(_levels_of, [*named, schema.get("items")]))
    beside = max(map(_levels_of, forms), default=0)
    is_container = schema.get("type") in ("object", "array") or bool(schema.keys() & {"properties", "items"})
    return max(below + is_container, beside)


def _levels_of(schema: object) -> int:
    return _levels(cast("Schema", schema)) if isinstance(schema, dict) else 0
