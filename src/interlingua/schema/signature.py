"""A function's parameters as a JSON object: the schema for the model, and the reader for its arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Union, get_args

from interlingua.errors import SchemaError
from interlingua.schema.docstring import Docstring, parse_docstring
from interlingua.schema.fields import NO_DEFAULT, Field, Fields, hints_of
from interlingua.schema.forms import Forms, compose
from interlingua.schema.walk import Schema
from interlingua.types.context import WantedContext, wanted_context

__all__ = ["Signature", "contexts_of", "signature_of"]


class Signature(NamedTuple):
    """The parameters of a function, and its description."""

    name: str
    """Its name."""
    description: str | None
    """The docstring up to the parameters."""
    parameters: Schema
    """JSON Schema of the arguments; parameters with a default may be left out."""
    read: Callable[[dict[str, Any]], dict[str, Any]]
    """Python values of JSON arguments, by parameter name; raises MisfitError."""
    contexts: dict[str, WantedContext]
    """The parameters that take the caller's context; the schema has none of them."""


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
    contexts = _contexts(hints)
    parameters = list(inspect.signature(function).parameters.values())
    first = parameters[0] if parameters else None
    if first is not None and first.name in ("self", "cls") and first.annotation is first.empty:
        # A method that was taken from its class: Python would fill its first parameter.
        raise SchemaError(f"tool {name}: {first.name} is filled by Python; give the method of an object, thing.{name}")
    members = tuple(
        _field(parameter, hints, text)
        for parameter in map(partial(_checked, name), parameters)
        if parameter.name not in contexts
    )
    forms = Forms()
    try:
        form = forms.object(Fields(members, dict))
        schema = compose(form.schema, forms.definitions)
    except SchemaError as error:
        raise SchemaError(f"tool {name}, parameter {error.message}") from None
    return Signature(name, text.summary or None, schema, form.read, contexts)


def contexts_of(function: Callable[..., Any]) -> dict[str, WantedContext]:
    """The parameters of a handler that take the caller's context; none where its types cannot be resolved."""
    import inspect

    inner = getattr(function, "func", function)
    try:
        return _contexts(
            hints_of(inner if inspect.isroutine(inner) or inspect.isclass(inner) else type(inner).__call__)
        )
    except (SchemaError, TypeError):
        return {}  # whoever brings a schema of his own need not have types


def _contexts(hints: dict[str, Any]) -> dict[str, WantedContext]:
    return {
        name: context
        for name, hint in hints.items()
        if name != "return" and (context := wanted_context(hint)) is not None
    }


def _checked(name: str, parameter: Any) -> Any:
    """The parameter, one that can be given by name."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise SchemaError(f"tool {name}: {parameter} has no fixed names for a schema; name each parameter")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise SchemaError(f"tool {name}: {parameter.name} is positional only, and arguments come by name")
    return parameter


def _field(parameter: Any, hints: dict[str, Any], text: Docstring) -> Field:
    default, kind = parameter.default, hints.get(parameter.name, Any)
    is_open = kind in (Any, object, None) or type(None) in get_args(kind)
    if default is None and not is_open:
        kind = Union[kind, None]  # noqa: UP007 - `|` fails for some special forms
    required = default is parameter.empty
    return Field(
        parameter.name,
        parameter.name,
        kind,
        required,
        NO_DEFAULT if required else default,
        text.parameters.get(parameter.name),
    )
