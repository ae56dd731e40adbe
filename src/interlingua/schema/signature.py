"""A function's parameters as a JSON object: the schema for the model, and the reader for its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Union, get_args

from interlingua.errors import SchemaError
from interlingua.schema.docstring import Docstring, parse_docstring
from interlingua.schema.fields import NO_DEFAULT, Field, Fields, hints_of
from interlingua.schema.forms import Forms, compose
from interlingua.schema.walk import Schema

__all__ = ["Signature", "signature_of"]


class Signature(NamedTuple):
    """What a function takes, and what it says of itself."""

    name: str
    """Its name."""
    description: str | None
    """The docstring up to the parameters."""
    parameters: Schema
    """JSON Schema of the arguments; parameters with a default may be left out."""
    read: Callable[[dict[str, Any]], dict[str, Any]]
    """Python values of JSON arguments, by parameter name; raises MisfitError."""


def signature_of(function: Callable[..., Any]) -> Signature:
    """The signature of a function, a method, a partial or an object that can be called.

    Raises: SchemaError, for a parameter that JSON arguments cannot fill.
    """
    import inspect

    inner = getattr(function, "func", function)  # a partial's own function has the types and the docstring
    target = inner if inspect.isroutine(inner) else type(inner).__call__
    name = str(getattr(inner, "__name__", type(inner).__name__))
    text = parse_docstring(inner.__doc__ if target is inner else (target.__doc__ or type(inner).__doc__))
    hints = hints_of(target)
    members = tuple(
        _field(parameter, hints, text, name) for parameter in inspect.signature(function).parameters.values()
    )
    forms = Forms()
    try:
        form = forms.object(Fields(members, dict))
        parameters = compose(form.schema, forms.definitions)
    except SchemaError as error:
        raise SchemaError(f"tool {name}, parameter {error.message}") from None
    return Signature(name, text.summary or None, parameters, form.read)


def _field(parameter: Any, hints: dict[str, Any], text: Docstring, name: str) -> Field:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise SchemaError(f"tool {name}: {parameter} has no fixed names for a schema; name each parameter")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise SchemaError(f"tool {name}: {parameter.name} is positional only, and arguments come by name")
    required = parameter.default is parameter.empty
    return Field(
        parameter.name,
        parameter.name,
        _kind(hints.get(parameter.name, Any), parameter.default),
        required,
        NO_DEFAULT if required else parameter.default,
        text.parameters.get(parameter.name),
    )


def _kind(kind: Any, default: object) -> Any:
    """The type, with None in it where None is the default."""
    is_open = kind in (Any, object, None) or type(None) in get_args(kind)
    return Union[kind, None] if default is None and not is_open else kind  # noqa: UP007 - `|` fails for some special forms
