"""Steps of fitting a schema that have to do with objects, and with the root, which often must be one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlingua.schema._fit_structure import opened
from interlingua.schema._fit_work import annotated, any_value, kinds_of
from interlingua.schema.convert import Members, Pairs, Wrapped
from interlingua.schema.problem import brief
from interlingua.schema.strict import allows_null
from interlingua.schema.subset import NOT_AT_ROOT
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.schema._fit_work import Work
    from interlingua.schema.convert import Step
    from interlingua.schema.walk import Schema

__all__ = ["fold", "map_of", "objects", "wrap"]

MEMBER = "value"
"""The member of the object around a root that is none."""
COMBINATORS = ("allOf", "anyOf", "oneOf")


# Objects with free names


def map_of(work: Work) -> tuple[Schema, Step | None] | None:
    """An object with free names as the target can say it; None for any other schema, and where the target takes it."""
    node, subset = work.node, work.subset
    if subset.additional == "any" or "object" not in kinds_of(node) or node.get("properties"):
        return None
    free: object = node.get("additionalProperties")
    patterns = node.get("patternProperties")
    if isinstance(patterns, dict) and patterns and not isinstance(free, dict):
        forms = list(cast("Schema", patterns).values())
        free = forms[0] if len(forms) == 1 else {"anyOf": forms}
    if work.place.root or (free is False and subset.additional == "forbidden"):
        return None
    if not isinstance(free, dict) or not free:
        nullable = "null" in kinds_of(node)
        schema, step = any_value(work, "A JSON object, as JSON text.")
        return ({**schema, "type": [schema["type"], "null"]} if nullable else schema), step
    free = cast("Schema", free)
    work.rewrote("free names travel as a list of keys and values", "additionalProperties")
    value, step = work.below(free, "additionalProperties")
    for keyword in ("patternProperties", "propertyNames", "minProperties", "maxProperties"):
        if keyword in node and not (keyword == "patternProperties" and free is not node.get("additionalProperties")):
            work.tell(keyword, node[keyword])
        elif keyword in node:
            work.tell("names", list(cast("Schema", node[keyword])))
    pair: Schema = {
        "type": "object",
        "properties": {"key": {"type": "string"}, "value": value},
        "required": ["key", "value"],
    }
    if work.subset.additional == "forbidden":
        pair["additionalProperties"] = False
    annotations = {keyword: node[keyword] for keyword in ("title", "description") if keyword in node}
    kind: Any = ["array", "null"] if "null" in kinds_of(node) else "array"
    work.node = {"type": kind, "items": pair, **annotations}
    work.convert(Pairs(step))
    return annotated(work, "A list of names (key) and what belongs to each (value)."), work.step


# Objects with properties


def objects(work: Work) -> None:
    """Fit the properties, and say which are required and whether there are others."""
    node, subset = work.node, work.subset
    if "object" not in kinds_of(node) and "properties" not in node:
        _maps(work)
        return
    own = _described(work)
    fitted = {name: work.below(schema, "properties", name) for name, schema in own.items()}
    if "properties" in node:
        node["properties"] = {name: schema for name, (schema, _) in fitted.items()}
    steps = {name: step for name, (_, step) in fitted.items() if step is not None}
    rest = _others(work)
    optional = _require_all(work, own) if subset.all_required else frozenset[str]()
    if subset.additional == "forbidden":
        if node.get("additionalProperties") is not False:
            work.rewrote("an object says that it has no other properties", "additionalProperties")
        node.setdefault("properties", {})
        node["additionalProperties"] = False
    if steps or rest is not None or optional:
        work.convert(Members(steps, rest, optional))


def _described(work: Work) -> Schema:
    """The properties in the caller's words; what is required and not described may be anything."""
    members = work.node.get("properties")
    if not isinstance(members, dict):
        return {}
    own = dict(cast("Schema", members))
    required = work.node.get("required")
    if (work.subset.typed or work.subset.own_keywords) and isinstance(required, list):
        missing = [name for name in cast("list[str]", required) if name not in own]
        if missing:
            work.rewrote(f"what is required is described: {', '.join(missing)}", "required")
            own |= {name: {} for name in missing}
    return own


def _maps(work: Work) -> None:
    """Fit the schemas that stand under names, in a schema that may hold an object."""
    for keyword in ("patternProperties", "dependentSchemas"):
        members = work.node.get(keyword)
        if keyword in work.subset.keywords and isinstance(members, dict):
            named = cast("Schema", members)
            work.node[keyword] = {name: work.below(schema, keyword, name)[0] for name, schema in named.items()}


def _others(work: Work) -> Step | None:
    """Fit what is said of other properties."""
    node, subset = work.node, work.subset
    free = node.get("additionalProperties")
    if subset.additional == "any":
        step = None
        if isinstance(free, dict) and "additionalProperties" in subset.keywords:
            node["additionalProperties"], step = work.below(cast("Schema", free), "additionalProperties")
        _maps(work)
        return step
    if free is not None and free is not False:
        work.tell("additionalProperties", free)
    return None


def _require_all(work: Work, own: Schema) -> frozenset[str]:
    """Require every property, with null for those that could be left out; their names."""
    node = work.node
    properties: dict[str, Schema] = node.setdefault("properties", {})
    required = cast("list[str]", node.get("required") or [])
    optional: set[str] = set()
    for name in properties.keys() - set(required):
        if not allows_null(properties[name], work.walker.sent_root):
            optional.add(name)
            default: object = own[name].get("default") if isinstance(own[name], dict) else None
            properties[name] = _nullable(properties[name], default)
    if set(required) != set(properties) or "required" not in node:
        work.rewrote("every property is required; null stands for one that is left out", "required")
    node["required"] = [*required, *[name for name in properties if name not in required]]
    return frozenset(optional)


def _nullable(schema: Schema, default: object) -> Schema:
    """The schema that takes null too, with a word about what null means where there is a default."""
    description = schema.get("description")
    aside = {name: schema[name] for name in ("title", "description") if name in schema}
    form = {name: value for name, value in schema.items() if name not in aside}
    if default is not None:
        means = f"Null means {brief(default)}."
        aside["description"] = f"{description}\n{means}" if description else means
    kind = form.get("type")
    if isinstance(kind, str) and "enum" not in form and "const" not in form and kind not in ("object", "array"):
        return {**form, "type": [kind, "null"], **aside} if kind != "null" else schema
    forms: list[Schema] = form["anyOf"] if set(form) == {"anyOf"} else [form]
    has_null = any(one.get("type") == "null" for one in forms)
    return {**aside, "anyOf": forms if has_null else [*forms, {"type": "null"}]}


# The root


def wrap(work: Work) -> tuple[Schema, Step | None]:
    """An object around a root that must not be what it is."""
    work.rewrote(f"the root is an object: it stands under {MEMBER!r}")
    inner = {name: value for name, value in work.node.items() if name not in ("$defs", "definitions", "$schema", "$id")}
    work.place = work.place._replace(root=False)
    schema, step = work.walker.node(inner, work.place._replace(depth=work.place.depth + 1))
    whole: Schema = {"type": "object", "properties": {MEMBER: schema}, "required": [MEMBER]}
    if work.subset.additional == "forbidden":
        whole["additionalProperties"] = False
    work.node = whole
    work.convert(Wrapped(MEMBER, step))
    return whole, work.step


def fold(work: Work) -> None:
    """A plain object in the place of any other root, which tells in its description what it cannot say."""
    work.rewrote("the root of a schema is a plain object")
    node = work.node
    combined = [name for name in COMBINATORS if isinstance(node.get(name), list)]
    barred = [name for name in NOT_AT_ROOT if name in node and work.subset.any_inside]
    if not combined and not barred:
        work.node = {"type": "object", "properties": {}, **{key: node[key] for key in node if key != "type"}}
        return
    branches = [node, *[opened(branch, work) for name in combined for branch in node[name]]]
    properties: Schema = {}
    for branch in branches:
        members: object = branch.get("properties")
        for name, schema in cast("Schema", members).items() if isinstance(members, dict) else ():
            earlier = properties.get(name)
            properties[name] = schema if earlier is None or earlier == schema else _either(earlier, schema)
    unsaid = [f"{name}: {encode(node[name]).decode()}" for name in (*combined, *barred)]
    texts = [node.get("description"), *unsaid]
    others = {name: value for name, value in node.items() if name not in (*COMBINATORS, *barred, "type", "properties")}
    work.node = {"type": "object", "properties": properties, **others}
    work.node["description"] = "\n".join([text for text in texts if isinstance(text, str)])
    # Required is what the object itself, every part of an `allOf` and all forms of a union require.
    required = list(cast("list[str]", node.get("required") or []))
    for keyword in combined:
        lists = [cast("list[str]", opened(branch, work).get("required") or []) for branch in node[keyword]]
        every = keyword == "allOf"
        required += [name for one in lists for name in one if every or all(name in other for other in lists)]
    if required:
        work.node["required"] = list(dict.fromkeys(required))


def _either(first: object, second: object) -> Schema:
    union = cast("Schema", first)
    is_union = isinstance(first, dict) and set(union) == {"anyOf"}
    forms: list[object] = union["anyOf"] if is_union else [first]
    return {"anyOf": forms if second in forms else [*forms, second]}
