"""Steps of fitting a schema that have to do with what a value is: unions, constants, enumerations, types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlingua.errors import SchemaError
from interlingua.schema._fit_work import any_value, kinds_of
from interlingua.schema.convert import Branch, Choice, Members, Reference, Union
from interlingua.schema.merge import merged
from interlingua.schema.subset import ANNOTATIONS, BY_TYPE, types_of_keyword
from interlingua.schema.walk import follow
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.schema._fit_work import Work
    from interlingua.schema.convert import Step
    from interlingua.schema.walk import Schema

__all__ = ["all_of", "constants", "enumerations", "kinds", "lone", "opened", "unions"]

_JSON_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
    (type(None), "null"),
)
"""Python type -> JSON type, the narrower one first."""
MAX_NESTED = 64
"""How often `allOf` may stand in `allOf`."""


def opened(form: object, work: Work, followed: tuple[str, ...] = ()) -> Schema:
    """A schema with what it refers to in the place of the reference; an empty one for a circle or a dead end."""
    schema = cast("Schema", form) if isinstance(form, dict) else {}
    reference = schema.get("$ref")
    if reference is None:
        return schema
    if reference in (*followed, *work.place.refs):
        return {}
    try:
        target: object = follow({"$ref": reference}, work.walker.root)
    except SchemaError:
        target = {}
    beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    return merged(opened(target, work, (*followed, str(reference))), beside)


def all_of(work: Work) -> None:
    """Say as one what several schemas demand."""
    parts = work.node.get("allOf")
    if "allOf" in work.subset.keywords and not (work.place.root and work.subset.root != "any"):
        if isinstance(parts, list):
            pairs = [work.below(part, "allOf", place) for place, part in enumerate(cast("list[object]", parts))]
            work.node["allOf"] = [schema for schema, _ in pairs]
        return
    if not isinstance(parts, list) or (work.place.root and work.subset.root == "fold"):
        return
    work.rewrote("allOf is sent as one schema", "allOf")
    whole = {keyword: value for keyword, value in work.node.items() if keyword != "allOf"}
    refs = work.place.refs
    for part in cast("list[object]", parts):
        branch = cast("Schema", part) if isinstance(part, dict) else {}
        if "$ref" in branch:
            refs = (*refs, str(branch["$ref"]))
        whole = merged(opened(branch, work), whole)
    work.node = whole
    work.place = work.place._replace(refs=refs)
    if "allOf" in whole and work.place.depth < MAX_NESTED:
        work.place = work.place._replace(depth=work.place.depth + 1)
        all_of(work)


def constants(work: Work) -> None:
    """Say a constant as an enumeration of one, where the target has none; and its type, where it wants that."""
    node = work.node
    if "const" not in node:
        return
    if "const" not in work.subset.keywords:
        work.rewrote("a constant is an enumeration of one", "const")
        node["enum"] = [node.pop("const")]
    elif work.subset.typed and "type" not in node:
        work.rewrote("the type of a constant is said", "const")
        node["type"] = _type_of(node["const"])


# Types


def kinds(work: Work) -> None:
    """Say types as the target wants them."""
    node, subset = work.node, work.subset
    if node.get("nullable") is True and "nullable" not in subset.keywords and not subset.unknown:
        del node["nullable"]
        work.rewrote("null is a type", "nullable")
        if "type" in node:
            node["type"] = [*kinds_of(node), "null"]
        elif isinstance(node.get("anyOf"), list):
            node["anyOf"] = [*node["anyOf"], {"type": "null"}]
    # Languages whose empty maps and lists are null, or whose empty maps are lists, write such members.
    if isinstance(node.get("properties", {}), list | None):
        work.rewrote("properties are an object", "properties")
        node["properties"] = {}
    if node.get("required", []) is None:
        work.rewrote("what is required is a list", "required")
        node["required"] = []
    if subset.typed and "type" not in node and node.keys().isdisjoint({"anyOf", "oneOf", "enum"}):
        # The type is the one that the keywords are about.
        implied = [kind for kind, keywords in BY_TYPE.items() if not node.keys().isdisjoint(keywords - {"format"})]
        if implied:
            node["type"] = implied[0]
            work.rewrote(f"the type is said: {implied[0]}")
    types = node.get("type")
    if isinstance(types, list):
        _listed(work, list(dict.fromkeys(cast("list[str]", types))))


def _listed(work: Work, types: list[str]) -> None:
    some = [kind for kind in types if kind != "null"]
    nullable = len(some) < len(types)
    lists = work.subset.type_lists
    if len(types) == 1 and lists != "any":
        work.node["type"] = types[0]
        work.rewrote("one type is no list", "type")
    elif lists == "any" or len(types) < 2 or (lists == "nullable" and nullable and len(some) == 1):
        return
    elif lists == "none" and nullable and len(some) == 1:
        work.node["type"] = some[0]
        work.notes.append("may be null")
        work.rewrote("a type is one word", "type")
    elif "anyOf" in work.node or "oneOf" in work.node:
        work.node["type"] = some[0]
        work.rewrote("a type is one word", "type")
    else:
        # Several types are a union of one form for each, which takes the keywords about its type along.
        node = work.node
        work.rewrote("several types are a union", "type")
        values = cast("list[Any]", node.pop("enum", []))
        del node["type"]
        branches: list[Schema] = []
        for kind in types:
            own = {keyword: value for keyword, value in node.items() if kind in types_of_keyword(keyword)}
            chosen = [value for value in values if _type_of(value) == kind]
            if not values or chosen:
                branches.append({"type": kind, **own, **({"enum": chosen} if chosen else {})})
        node["anyOf"] = branches
        for keyword in list(node):
            if types_of_keyword(keyword):
                del node[keyword]


def _type_of(value: object) -> str:
    return next(name for kind, name in _JSON_TYPES if isinstance(value, kind))


# Enumerations


def enumerations(work: Work) -> None:
    """Say the type of an enumeration, and its values as strings, where the target wants it."""
    values = work.node.get("enum")
    if not isinstance(values, list) or not values:
        return
    listed = cast("list[Any]", values)
    subset = work.subset
    if (subset.typed_enums or subset.typed) and "type" not in work.node:
        if subset.string_enums:
            _as_strings(work, listed)
        else:
            types = list(dict.fromkeys([_type_of(value) for value in listed]))
            if "number" in types and "integer" in types:
                types.remove("integer")
            work.rewrote("the type of an enumeration is said", "enum")
            work.node["type"] = types[0] if len(types) == 1 else types
            if len(types) > 1:
                _listed(work, types)
    if subset.string_enums and "enum" in work.node and not all(isinstance(value, str) for value in listed):
        _as_strings(work, listed)


def _as_strings(work: Work, values: list[Any]) -> None:
    """Strings in the place of the values, each turned back into its own."""
    spellings: dict[str, Any] = {value: value for value in values if isinstance(value, str)}
    others = [value for value in values if not isinstance(value, str) and value is not None]
    for value in others:
        text = encode(value).decode()
        spellings[f"{text} ({_type_of(value)})" if text in spellings else text] = value
    nullable = None in values or "null" in kinds_of(work.node)
    work.rewrote("enumerated values are strings, and their type is said", "enum")
    work.node["type"] = ["string", "null"] if nullable else "string"
    work.node["enum"] = list(spellings)
    if others:
        for keyword in [name for name in work.node if types_of_keyword(name)]:
            del work.node[keyword]
        work.convert(Choice(tuple([(text, value) for text, value in spellings.items() if not isinstance(value, str)])))


# Unions


def lone(work: Work) -> None:
    """Move what stands beside a union into its forms."""
    node = work.node
    name = "anyOf" if "anyOf" in node else "oneOf"
    forms = node.get(name)
    folded = work.place.root and work.subset.root == "fold"
    if not work.subset.lone_unions or not isinstance(forms, list) or folded:
        return
    beside = {key: value for key, value in node.items() if key not in ANNOTATIONS and key not in (name, "$defs")}
    beside.pop("definitions", None)
    if not beside:
        return
    work.rewrote(f"nothing but annotations stands beside {name}", name)
    work.node = {key: value for key, value in node.items() if key not in beside}
    branches = cast("list[Schema]", forms)
    work.node[name] = [_with(beside, opened(form, work)) for form in branches]
    refs = [str(form["$ref"]) for form in branches if "$ref" in form]
    work.place = work.place._replace(refs=(*work.place.refs, *refs))


def _with(beside: Schema, form: Schema) -> Schema:
    """One form of a union, with those of the keywords beside the union that are about its type."""
    types = set(kinds_of(form))
    if "integer" in types:
        types.add("number")
    about = {key: types_of_keyword(key) for key in beside}
    own = {key: value for key, value in beside.items() if not types or not about[key] or about[key] & types}
    if types and "type" in own and not types & set(kinds_of(own)) and "number" not in types:
        return form
    return merged(own, form)


def unions(work: Work) -> None:
    """Fit each form of a union; values are turned as the form says that they fit."""
    subset = work.subset
    for combinator in ("oneOf", "anyOf"):
        forms = work.node.get(combinator)
        if not isinstance(forms, list) or not {combinator, "anyOf"} & subset.keywords:
            continue
        name = combinator
        if combinator not in subset.keywords and "anyOf" not in work.node:
            name = "anyOf"
            work.rewrote("oneOf is sent as anyOf", combinator)
            work.node = {name if keyword == combinator else keyword: value for keyword, value in work.node.items()}
        elif combinator not in subset.keywords:
            continue
        owns = cast("list[object]", forms)
        fitted = [work.below(form, combinator, place) for place, form in enumerate(owns)]
        if _is_confusing(fitted):
            any_value(work, "Any of these values, as JSON text.")
            return
        work.node[name] = [schema for schema, _ in fitted]
        if any(step is not None for _, step in fitted):
            root = work.walker.root
            whole = {keyword: root[keyword] for keyword in ("$defs", "definitions") if keyword in root}
            branches: list[Branch] = []
            for own, (schema, step) in zip(owns, fitted, strict=True):
                # A form of a union can be judged by itself.
                form = cast("Schema", own) if isinstance(own, dict) else {}
                branches.append(Branch({**whole, **form}, {**schema, "$defs": work.walker.definitions}, step))
            work.convert(Union(tuple(branches)))


def _is_confusing(fitted: list[tuple[Schema, Step | None]]) -> bool:
    """Whether a value on the wire could be of a form that is turned back, and of another one."""
    for place, (schema, step) in enumerate(fitted):
        if step is None or isinstance(step, Members | Reference):
            continue  # objects are told apart by their members
        own = set(kinds_of(schema)) - {"null"}
        others = [other for number, (other, _) in enumerate(fitted) if number != place]
        if any(not kinds_of(other) or own & set(kinds_of(other)) for other in others):
            return True
    return False
