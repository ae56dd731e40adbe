"""jsonschema-rs errors, retold in plain words: one line of the table for each keyword.

Of a failed `anyOf` or `oneOf` the branch is told that comes nearest to the value; where no branch even has the right
type, the types are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from interlingua.schema.problem import Problem, brief
from interlingua.wire.json import pointer

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = ["FORMS", "problems_of"]

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
FORMS = {
    "date": "a date such as 2026-01-31",
    "date-time": "a date and time such as 2026-01-31T12:00:00Z",
    "duration": "a duration such as PT1H30M",
    "time": "a time such as 12:00:00Z",
    "uuid": "a UUID",
}


def _types(value: object, facts: Mapping[str, Any]) -> str:
    types: list[str] = sorted(facts["types"], key=lambda name: name == "null")
    return f"{brief(value)} is not {_or([_TYPES.get(name, name) for name in types])}"


def _or(names: list[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _enum(value: object, facts: Mapping[str, Any]) -> str:
    options = [brief(option) for option in facts["options"]]
    among = f"not {_or(options)}" if len(options) < 3 else f"none of {_list(options)}"
    return f"{brief(value)} is {among}"


def _list(options: list[str], most: int = 20) -> str:
    return ", ".join([*options[:most], f"… ({len(options)})"] if len(options) > most else options)


def _form(value: object, facts: Mapping[str, Any]) -> str:
    return f"{brief(value)} is not {FORMS.get(facts['format'], 'a valid ' + facts['format'])}"


def _size(unit: str, relation: str) -> Callable[[Any, Mapping[str, Any]], str]:
    return lambda value, facts: f"{len(value)} {unit}{'' if len(value) == 1 else 's'}, {relation} {facts['limit']}"


_WORDS: dict[str, Callable[[Any, Mapping[str, Any]], str]] = {
    "const": lambda value, facts: f"{brief(value)} is not {brief(facts['expected_value'])}",
    "contains": lambda _, __: "no item is of the form that the list must contain",
    "enum": _enum,
    "exclusiveMaximum": lambda value, facts: f"{brief(value)} is not less than {facts['limit']}",
    "exclusiveMinimum": lambda value, facts: f"{brief(value)} is not more than {facts['limit']}",
    "falseSchema": lambda _, __: "nothing may stand here",
    "format": _form,
    "maxItems": _size("item", "more than"),
    "maxLength": _size("character", "more than"),
    "maxProperties": _size("field", "more than"),
    "maximum": lambda value, facts: f"{brief(value)} is more than {facts['limit']}",
    "minItems": _size("item", "fewer than"),
    "minLength": _size("character", "fewer than"),
    "minProperties": _size("field", "fewer than"),
    "minimum": lambda value, facts: f"{brief(value)} is less than {facts['limit']}",
    "multipleOf": lambda value, facts: f"{brief(value)} is no multiple of {facts['multiple_of']}",
    "not": lambda value, _: f"{brief(value)} is of the form that is excluded",
    "pattern": lambda value, facts: f"{brief(value)} does not match {facts['pattern']}",
    "type": _types,
    "uniqueItems": lambda _, __: "the same item stands in it twice",
}


def problems_of(error: ValidationError, schema: object) -> Iterator[Problem]:
    """The problems that one error stands for; `schema` is the one that was validated against."""
    name, facts = error.kind.name, error.kind.as_dict()
    if name == "required":
        yield Problem(pointer(*error.instance_path, facts["property"]), "is missing")
    elif "unexpected" in facts:
        listing = _field_names(error, schema)
        for field in facts["unexpected"]:
            yield Problem(pointer(*error.instance_path, field), f"is not known{listing}")
    elif name == "propertyNames":
        for problem in problems_of(facts["error"], schema):
            yield Problem(pointer(*error.instance_path), f"the name {problem.message}")
    elif facts.get("context"):
        yield from _nearest(error, facts["context"], schema)
    else:
        words = _WORDS.get(name)
        yield Problem(pointer(*error.instance_path), words(error.instance, facts) if words else error.message)


def _field_names(error: ValidationError, schema: object) -> str:
    """The fields that there are, for whoever misspelled one."""
    try:
        for step in error.schema_path[:-1]:
            schema = schema[step]  # pyright: ignore[reportIndexIssue, reportUnknownVariableType]  # a path of the schema itself
        names = [str(name) for name in schema["properties"]]  # pyright: ignore[reportIndexIssue, reportUnknownArgumentType, reportUnknownVariableType]  # the same
    except (KeyError, IndexError, TypeError):
        return ""
    return f"; there are: {_list(names)}" if names else ""


def _wrong_tag(branches: list[list[ValidationError]]) -> Problem | None:
    """The one problem of a value whose tag is none of those that tell the branches apart."""
    words = [
        {tuple(fault.instance_path): fault for fault in branch if fault.kind.name in ("enum", "const")}
        for branch in branches
    ]
    places = set(words[0]).intersection(*words) if len(words) > 1 else set[tuple[str | int, ...]]()
    if not places:
        return None
    place = min(places, key=len)
    facts = [branch[place].kind.as_dict() for branch in words]
    options = [option for fact in facts for option in fact.get("options", [fact.get("expected_value")])]
    return Problem(pointer(*place), _enum(words[0][place].instance, {"options": options}))


def _nearest(error: ValidationError, branches: list[list[ValidationError]], schema: object) -> Iterator[Problem]:
    """The problems of the branch that fits best, or of all together where each wants another type."""
    here = len(error.instance_path)

    def is_other_type(branch: list[ValidationError]) -> bool:
        return any(fault.kind.name == "type" and len(fault.instance_path) == here for fault in branch)

    near = [branch for branch in branches if not is_other_type(branch)]
    wrong_tag = _wrong_tag(near)
    if wrong_tag is not None:
        yield wrong_tag
        return
    if near:
        for fault in min(near, key=len):
            yield from problems_of(fault, schema)
        return
    types = [name for branch in branches for fault in branch for name in fault.kind.as_dict().get("types", ())]
    yield Problem(pointer(*error.instance_path), _types(error.instance, {"types": list(dict.fromkeys(types))}))
