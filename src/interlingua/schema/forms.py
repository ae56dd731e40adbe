"""Python types as JSON: each type's schema, and how a JSON value of it becomes a Python value.

Rules
- Schemas are loose here: what has a default may be left out. `strict` turns them into what strict modes take.
- A class is defined once under `$defs` and referred to, so that recursive types work; `compose` puts those that are
  used only once where they are used.
- A union takes the first member that fits, plain text and numbers last; of several objects, the one that knows most of
  the members given.
- Titles are left out: they cost tokens and say what the name has said.

Not responsible for: telling every problem of a value (`validate` does); a reader stops at the first.
"""

from __future__ import annotations

import enum
import re
import sys
import types
import typing
from collections import Counter, abc
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from itertools import chain, count
from typing import Any, Literal, TypeAlias, TypeVar, cast

import msgspec

from interlingua.errors import SchemaError, UsageError
from interlingua.schema._bounds import (
    bounds_told,
    check_bounds,
    check_constraints,
    check_predicates,
    constraint_keywords,
    constraints_of,
    predicates_of,
    text_bounds,
)
from interlingua.schema._leaves import LEAVES, Form, leaf_of
from interlingua.schema.docstring import parse_docstring
from interlingua.schema.fields import NO_DEFAULT, Field, Fields, Kind, fields_of
from interlingua.schema.problem import MisfitError, brief, together
from interlingua.schema.walk import Schema, map_children, parts_of_schema
from interlingua.types._base import JsonValue
from interlingua.wire.json import decode_any, encode

__all__ = ["Forms", "compose"]

Reader: TypeAlias = Callable[[JsonValue], Any]

_REFERENCE = "#/$defs/"
_SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_LISTS: dict[Any, type] = {
    list: list,
    set: set,
    frozenset: frozenset,
    abc.Collection: list,
    abc.Iterable: list,
    abc.MutableSequence: list,
    abc.MutableSet: set,
    abc.Sequence: list,
    abc.Set: set,
}
_RANKS = {id(LEAVES[float]): 1, id(LEAVES[str]): 1, id(LEAVES[Any]): 2, id(LEAVES[object]): 2}
"""Members of a union that are tried late: 1 is a number too, and a date is text too."""
_MAPS = frozenset({dict, abc.Mapping, abc.MutableMapping})


class Forms:
    """The forms of one type and of all types in it, which share their definitions."""

    def __init__(self) -> None:
        """Without definitions."""
        self.definitions: dict[str, Schema] = {}
        """Schemas of classes, by name."""
        self._forms: dict[Any, Form] = {}
        self._readers: dict[Any, Reader] = {}
        self._open: set[Any] = set()

    def form(self, kind: Kind) -> Form:
        """The form of any type.

        Raises: SchemaError, for a type that JSON has no place for.
        """
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            return self._annotated(arguments[0], arguments[1:])
        leaf = leaf_of(kind)
        if leaf is not None:
            return leaf
        if origin in (typing.Union, types.UnionType):
            forms = [self.form(option) for option in arguments]
            by_rank = sorted(forms, key=lambda form: _RANKS.get(id(form), 0))
            return Form({"anyOf": [form.schema for form in forms]}, partial(_read_union, forms=by_rank))
        if origin is Literal:
            return _choices(
                [(option.value if isinstance(option, enum.Enum) else option, option) for option in arguments]
            )
        if not isinstance(kind, Hashable):
            raise _formless(kind)
        return self._collection(kind, origin or kind, arguments) or self._named(kind)

    def _collection(self, kind: Kind, origin: Any, arguments: tuple[Any, ...]) -> Form | None:
        if origin in _LISTS:
            return self._list(_LISTS[origin], arguments[0] if arguments else Any)
        if origin is tuple:
            return self._tuple(arguments, bare=kind is tuple)
        if origin in _MAPS:
            return self._map(*(arguments or (str, Any)))
        return None

    def _named(self, kind: Kind) -> Form:
        """The form of a type that has a name of its own."""
        alias = getattr(kind, "__supertype__", None) or getattr(kind, "__value__", None)
        if alias is not None:
            # An alias has no definition that it could refer to.
            if kind in self._open:
                raise SchemaError(f"{kind} holds itself; put a class in between")
            self._open.add(kind)
            form = self.form(alias)
            self._open.remove(kind)
            return form
        if isinstance(kind, TypeVar):
            return self.form(kind.__bound__ or Any)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return _choices([(member.value, member) for member in kind])
        if kind in self._forms:
            return self._forms[kind]
        model = getattr(sys.modules.get("pydantic"), "BaseModel", None)  # whoever has a model has imported pydantic
        if model is not None and isinstance(kind, type) and issubclass(kind, model):
            return self._pydantic(kind)
        fields = fields_of(kind)
        if fields is None:
            raise _formless(kind)
        return self._defined(kind, fields)

    def _defined(self, kind: Kind, fields: Fields) -> Form:
        """The form of a class: a reference, so that the class may hold itself."""
        base = _name_of(kind)
        numbered = (f"{base}_{number}" for number in count(2))
        name = next(name for name in chain([base], numbered) if name not in self.definitions)
        names = frozenset(field.key for field in fields.members)

        def read(value: JsonValue) -> object:
            return self._readers[kind](value)  # known by the time that a value comes

        form = Form({"$ref": f"{_REFERENCE}{name}"}, read, names)
        self._forms[kind], self.definitions[name] = form, {}
        whole = self.object(fields)
        self.definitions[name], self._readers[kind] = whole.schema, whole.read
        return form

    def object(self, fields: Fields) -> Form:
        """The form of an object with fixed members."""
        forms: dict[str, Form] = {}
        for field in fields.members:
            try:
                forms[field.key] = self.form(field.kind)
            except SchemaError as error:
                raise SchemaError(f"{field.name}: {error.message}") from None
        properties = {field.key: _property(field, forms[field.key].schema) for field in fields.members}
        required = [field.key for field in fields.members if field.required]
        if fields.tag is not None:
            properties = {fields.tag[0]: {"type": "string", "enum": [fields.tag[1]]}, **properties}
            required = [fields.tag[0], *required]
        schema: Schema = {"type": "object"}
        if fields.description:
            schema["description"] = fields.description
        schema["properties"] = properties
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False
        readers = {key: form.read for key, form in forms.items()}
        return Form(schema, partial(_read_object, fields=fields, readers=readers), frozenset(properties))

    def _annotated(self, kind: Kind, metadata: tuple[Any, ...]) -> Form:
        form, predicates = self.form(kind), predicates_of(metadata)
        schema, constraints = dict(form.schema), dict[str, Any]()
        for item in metadata:
            text = item if isinstance(item, str) else getattr(item, "description", getattr(item, "documentation", None))
            if isinstance(text, str):
                schema["description"] = text
            constraints |= constraints_of(item)
            schema |= getattr(item, "extra_json_schema", None) or {}
        schema |= constraint_keywords(constraints, schema)
        bounds = text_bounds(constraints, schema)
        if bounds:
            words, own = bounds_told(bounds), schema.get("description")
            whole = f"{words[0].upper()}{words[1:]}." if own is None else f"{own.removesuffix('.')}; {words}."
            schema["description"] = whole

        def read(value: JsonValue) -> object:
            check_constraints(constraints, value)
            made = form.read(value)
            check_bounds(bounds, made)
            check_predicates(predicates, made, value)
            return made

        return form._replace(schema=schema, read=read)

    def _list(self, build: Callable[[Iterable[Any]], Any], kind: Kind) -> Form:
        item = self.form(kind)
        schema: Schema = {"type": "array", "items": item.schema}

        def read(value: JsonValue) -> object:
            items = [_read_below(item.read, step, index) for index, step in enumerate(_items(value))]
            try:
                return build(items)
            except TypeError as error:
                raise MisfitError(str(error)) from None

        return Form(schema, read)

    def _tuple(self, kinds: tuple[Kind, ...], *, bare: bool) -> Form:
        if bare or kinds[1:] == (...,):
            return self._list(tuple, kinds[0] if kinds else Any)
        forms = [self.form(kind) for kind in kinds]
        size = len(forms)
        schema: Schema = {"type": "array", "prefixItems": [form.schema for form in forms], "items": False}
        schema |= {"minItems": size, "maxItems": size}

        def read(value: JsonValue) -> object:
            items = _items(value)
            if len(items) != size:
                raise MisfitError(f"{len(items)} items, not {size}")
            return tuple(
                _read_below(form.read, item, n) for n, (form, item) in enumerate(zip(forms, items, strict=True))
            )

        return Form(schema, read)

    def _map(self, key_kind: Kind, kind: Kind) -> Form:
        member = self.form(kind)
        schema: Schema = {"type": "object", "additionalProperties": member.schema or True}
        names = self.form(key_kind).schema
        if "enum" in names:
            schema["propertyNames"] = {"enum": names["enum"]}

        def read(value: JsonValue) -> object:
            return {
                _read_below(partial(_read_key, kind=key_kind), name, name): _read_below(member.read, item, name)
                for name, item in _members(value).items()
            }

        return Form(schema, read)

    def _pydantic(self, model: Any) -> Form:
        schema = _tidied(model.model_json_schema(ref_template=f"{_REFERENCE}{{model}}"))
        names = frozenset[str](schema.get("properties", ()))
        for name, definition in schema.pop("$defs", {}).items():
            self._define(name, definition)
        if "$ref" not in schema:
            name = _name_of(model)
            self._define(name, schema)
            schema = {"$ref": f"{_REFERENCE}{name}"}
        form = self._forms[model] = Form(schema, partial(_read_model, model=model), names)
        return form

    def _define(self, name: str, schema: Schema) -> None:
        if self.definitions.setdefault(name, schema) != schema:
            raise SchemaError(f"two types are named {name}; rename one of them")


def compose(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """One whole schema: definitions that are used once stand where they are used, the others under `$defs`."""
    root = _resolved(schema, definitions)
    live: dict[str, Schema] = {}
    uses = Counter[str]()
    pending = [root]
    while pending:
        for part in parts_of_schema(pending.pop()):
            name = _reference(part)
            if name is None:
                continue
            uses[name] += 1
            if name not in live:
                live[name] = definitions[name]
                pending.append(definitions[name])

    def placed(part: Schema) -> Schema:
        name = _reference(part)
        if name is not None and uses[name] == 1:
            part = _resolved(part, definitions)
        return map_children(part, placed)

    shared = {name: map_children(live[name], placed) for name in live if uses[name] > 1}
    whole = map_children(root, placed)
    return {**whole, "$defs": shared} if shared else whole


def _resolved(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """`schema` with its own reference replaced by what it leads to; what stands beside the reference wins."""
    name = _reference(schema)
    return schema if name is None else {**definitions[name], **{key: schema[key] for key in schema if key != "$ref"}}


def _reference(schema: Schema) -> str | None:
    reference = schema.get("$ref")
    return reference.removeprefix(_REFERENCE) if isinstance(reference, str) else None


def _formless(kind: Kind) -> SchemaError:
    """The error for what JSON has no place for."""
    is_type = isinstance(kind, type) or typing.get_origin(kind) is not None
    what = f"{kind!r} has" if is_type else f"{kind!r:.80} is no type, and has"
    return SchemaError(
        f"{what} no JSON form; there is one for dataclasses, TypedDicts, NamedTuples, msgspec structs, pydantic models,"
        " enums, literals, unions, collections, dates and plain values"
    )


def _name_of(kind: Kind) -> str:
    parts = [
        getattr(kind, "__name__", "Type"),
        *(getattr(part, "__name__", str(part)) for part in typing.get_args(kind)),
    ]
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", "_".join(parts))


def _property(field: Field, schema: Schema) -> Schema:
    """A member's schema, with what the docstring says of it and with its default."""
    if field.description and "description" not in schema:
        schema = {**schema, "description": field.description}
    if field.required or field.default is NO_DEFAULT:
        return schema
    try:
        default = decode_any(encode(field.default))
    except UsageError:
        return schema  # a default that JSON cannot say is Python's alone
    return {**schema, "default": default}


def _choices(options: list[tuple[Any, Any]]) -> Form:
    """The form of a closed set: JSON values, and what each stands for."""
    values = [value for value, _ in options]
    if not all(type(value) in _SCALARS or value is None for value in values):
        raise SchemaError(f"{brief([str(value) for value in values])}: choices must be text, numbers, booleans or None")
    meaning: dict[Any, Any] = {(type(value), value): option for value, option in options}
    names = list(dict.fromkeys(_SCALARS.get(type(value), "null") for value in values))
    schema: Schema = {"type": names[0]} if len(names) == 1 else {}

    def read(value: JsonValue) -> object:
        try:
            return meaning[type(value), value]
        except (KeyError, TypeError):
            raise MisfitError(f"{brief(value)} is none of {', '.join(map(brief, values))}") from None

    return Form({**schema, "enum": values}, read)


def _items(value: JsonValue) -> list[Any]:
    if type(value) is not list:
        raise MisfitError(f"{brief(value)} is not a list")
    return cast("list[Any]", value)


def _members(value: JsonValue) -> dict[str, Any]:
    if type(value) is not dict:
        raise MisfitError(f"{brief(value)} is not an object")
    return cast("dict[str, Any]", value)


def _read_below(read: Reader, value: JsonValue, step: str | int) -> Any:
    try:
        return read(value)
    except MisfitError as misfit:
        raise misfit.below(step) from None


def _read_key(text: str, *, kind: Kind) -> Any:
    try:
        return msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as error:
        raise MisfitError(f"the name {brief(text)} does not fit: {error}") from None


def _read_object(value: JsonValue, *, fields: Fields, readers: dict[str, Reader]) -> Any:
    members, values = _members(value), dict[str, Any]()
    if fields.tag is not None and members.get(fields.tag[0]) != fields.tag[1]:
        raise MisfitError(f"{brief(members.get(fields.tag[0]))} is not {brief(fields.tag[1])}", fields.tag[0])
    misfits: list[MisfitError] = []
    for field in fields.members:
        if field.key in members:
            try:
                values[field.name] = _read_below(readers[field.key], members[field.key], field.key)
            except MisfitError as misfit:
                misfits.append(misfit)
        elif field.required:
            misfits.append(MisfitError("is missing", field.key))
    if misfits:
        raise together(misfits)
    try:
        return fields.build(**values)
    except (ValueError, TypeError, AssertionError) as error:
        raise MisfitError(str(error) or "is not valid") from None


def _read_union(value: object, *, forms: list[Form]) -> Any:
    misfits: list[MisfitError] = []
    if isinstance(value, dict):
        # The forms of objects that know most of the members come first.
        names = set(cast("dict[str, Any]", value))
        forms = sorted(forms, key=lambda form: len(names - (form.names or frozenset())))
    for form in forms:
        try:
            return form.read(value)
        except MisfitError as misfit:
            misfits.append(misfit)
    deepest = max(misfits, key=lambda misfit: len(misfit.steps))
    if deepest.steps or len(misfits) == 1:
        raise deepest
    raise MisfitError(f"{brief(cast('object', value))} is of none of the {len(misfits)} forms")


def _read_model(value: JsonValue, *, model: Any) -> Any:
    try:
        return model.model_validate_json(encode(value))
    except ValueError as error:
        problems = cast("Any", error).errors(include_url=False, include_context=False)
        raise together([MisfitError(one["msg"], *one["loc"]) for one in problems]) from None


def _tidied(schema: Schema) -> Schema:
    """Pydantic's schema without titles, and with what a docstring says of the fields at the fields."""
    plain = {key: value for key, value in schema.items() if key != "title" or not isinstance(value, str)}
    text, properties = plain.get("description"), plain.get("properties")
    parsed = parse_docstring(text) if isinstance(text, str) and isinstance(properties, dict) else None
    # A docstring that speaks of what is no property stays as it is.
    if parsed is not None and parsed.parameters and parsed.parameters.keys() <= cast("Schema", properties).keys():
        fields = {**cast("dict[str, Schema]", properties)}
        for name, words in parsed.parameters.items():
            fields[name] = {"description": words, **fields[name]}
        rest = {key: value for key, value in plain.items() if key != "description"}
        plain = {**({"description": parsed.summary} if parsed.summary else {}), **rest, "properties": fields}
    return map_children(plain, _tidied)
