"""An answer that is nearly the value that was asked for, repaired where what it means is beyond doubt.

Rules
- An answer that fits is never touched; a place that fits is never touched either.
- Every step is a `RepairStep` with a code of `types.change`; what is given fits, or there is an error.
- Nothing is invented: of an answer that was cut, only what came whole counts, and an object only when every property
  that was asked for is in it. So lists lose their unfinished last item, and whatever else is unfinished is an error.
- Text becomes a number or a truth value, an object or a list only where the schema takes no text there.

Not responsible for: arguments of tool calls, which are never repaired.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from interlingua.errors import DecodeError, Error, LimitExceededError
from interlingua.schema.answer import body_of, parse_answer
from interlingua.schema.reflect import WRAPPER, decode_output, read_output, reflect, schema_of
from interlingua.schema.validate import validate
from interlingua.schema.walk import follow
from interlingua.wire.arguments import parse_unique
from interlingua.wire.json import decode_any, pointer
from interlingua.wire.partial import JsonReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlingua.schema.fields import Kind
    from interlingua.schema.walk import Schema
    from interlingua.types._base import JsonValue
    from interlingua.wire.partial import Leniency

__all__ = ["RepairStep", "mend", "repair_output"]

T = TypeVar("T")

_BEGUN_FENCE = re.compile(r"\A[^\[{]*?```[\w+-]*[ \t]*\r?\n")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d*)")
_TRUTH = {"true": True, "false": False}


class RepairStep(NamedTuple):
    """One thing that was repaired."""

    code: str
    """A code of `types.change`."""
    path: str
    """RFC 6901 pointer into the answer's JSON."""
    detail: str
    """The change, in one clause."""


_LENIENCIES: dict[Leniency, RepairStep] = {
    "commas": RepairStep("output_commas", "", "left out a comma at the end of an object or a list"),
    "quotes": RepairStep("output_quotes", "", "read single quotes as double ones"),
    "literals": RepairStep("output_literals", "", "read True, False and None as true, false and null"),
    "controls": RepairStep("output_controls", "", "kept a raw line break or tab of a string"),
}


def repair_output(text: str, kind: type[T] | Kind) -> tuple[T, tuple[RepairStep, ...]]:
    """The value of type `kind` that an answer's text holds, and what had to be repaired for it.

    Raises: DecodeError for what cannot be repaired, with the problems of the answer as it is; LimitExceededError.
    """
    try:
        return decode_output(text, kind), ()
    except DecodeError as problem:
        for value, repairs, schema in _readings(text, kind):
            repaired, more = mend(value, schema)
            try:
                if repairs and repairs[-1].code == "output_cut" and validate(schema, repaired, naive_times=True):
                    continue
                return read_output(repaired, kind), (*repairs, *more)
            except DecodeError:
                continue
        raise problem from None


def _readings(text: str, kind: Kind) -> Iterator[tuple[JsonValue, tuple[RepairStep, ...], Schema]]:
    """The possible readings of the text, best first, with the schema of that form."""
    schema = schema_of(kind)
    try:
        value = parse_answer(text)
    except DecodeError:
        body = _BEGUN_FENCE.sub("", body_of(text), count=1)  # of a fence that was not closed, too
        for value, repairs in _lenient(body):
            yield value, repairs, _bare(value, kind, schema)
    else:
        yield value, (), _bare(value, kind, schema)


def _bare(value: JsonValue, kind: Kind, schema: Schema) -> Schema:
    """The schema of an answer that leaves out the object around what is no object."""
    wrapped = not isinstance(kind, dict) and reflect(kind).strict.get("type") != "object"
    return reflect(kind).strict if wrapped and not (isinstance(value, dict) and WRAPPER in value) else schema


def _lenient(body: str) -> Iterator[tuple[JsonValue, tuple[RepairStep, ...]]]:
    """The readings of a text that is not quite JSON; of a cut one, ever less."""
    reader = JsonReader(lenient=True)
    reader.feed(body)
    if reader.root is None or reader.broken:
        return
    repairs = tuple([repair for name, repair in _LENIENCIES.items() if name in reader.leniencies])
    if reader.complete:
        if not set("[{") & set(body[reader.consumed :]):
            yield reader.root, repairs
        return
    cut = RepairStep("output_cut", "", "closed what was cut after its last whole value")
    yield reader.root, (*repairs, cut)
    places = reader.path
    while len(places) > 1:
        places.pop()
        container = places[-1].container
        if isinstance(container, dict):
            del container[cast("str", places[-1].key)]
        else:
            container.pop()
        yield reader.root, (*repairs, cut)


# Values


def mend(value: JsonValue, schema: Schema) -> tuple[JsonValue, tuple[RepairStep, ...]]:
    """`value` made to fit its schema where that is beyond doubt, and what was done; nothing is changed in place."""
    mender = _Mender(schema)
    repaired = mender.repaired(value, schema, ())
    return repaired, tuple(mender.repairs)


class _Mender:
    """Walks a value along its schema."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.repairs: list[RepairStep] = []

    def repaired(self, value: JsonValue, schema: Schema, steps: tuple[str | int, ...]) -> JsonValue:
        schema = self._led(schema)
        forms: list[Schema] | None = schema.get("anyOf", schema.get("oneOf"))
        if forms is not None:
            return self._of_forms(value, forms, steps)
        if isinstance(value, str):
            value = self._of_text(value, schema, steps)
        if isinstance(value, dict):
            properties: dict[str, Any] = schema.get("properties", {})
            others = schema.get("additionalProperties")
            return {
                name: self._below(member, properties.get(name, others), (*steps, name))
                for name, member in cast("dict[str, Any]", value).items()
            }
        if isinstance(value, list):
            first: list[Any] = schema.get("prefixItems", [])
            rest = schema.get("items")
            return [
                self._below(item, first[index] if index < len(first) else rest, (*steps, index))
                for index, item in enumerate(cast("list[Any]", value))
            ]
        return value

    def _of_forms(self, value: JsonValue, forms: list[Schema], steps: tuple[str | int, ...]) -> JsonValue:
        """A value of a union, where all the forms that it can be repaired for make the same of it."""
        if any(self._fits(value, form) for form in forms):
            return value
        before, readings = self.repairs, list[tuple[Any, list[RepairStep]]]()
        for form in forms:
            self.repairs = []
            repaired = self.repaired(value, form, steps)
            if self._fits(repaired, form):
                readings.append((repaired, self.repairs))
        self.repairs = before
        if not readings or any(repr(repaired) != repr(readings[0][0]) for repaired, _ in readings):
            return value
        self.repairs += readings[0][1]
        return readings[0][0]

    def _below(self, value: JsonValue, schema: object, steps: tuple[str | int, ...]) -> JsonValue:
        return self.repaired(value, cast("Schema", schema), steps) if isinstance(schema, dict) else value

    def _of_text(self, text: str, schema: Schema, steps: tuple[str | int, ...]) -> JsonValue:
        """A text as what the schema takes in its place; itself where it takes a text or nothing is sure."""
        choices: list[Any] | None = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if choices is not None:
            if text in choices:
                return text
            bare = text.strip().casefold()
            near = [choice for choice in choices if isinstance(choice, str) and choice.strip().casefold() == bare]
            if len(near) == 1:
                self._note("output_case", steps, f"read {text} as {near[0]}")
                return near[0]
            meant = _scalar(text, {"number", "boolean"})
            if (
                not near
                and meant is not None
                and any(choice == meant and type(choice) is type(meant) for choice in choices)
            ):
                self._note("output_scalar_text", steps, f"read the text {text} as what it says")
                return meant
            return text
        kind: str | list[str] = schema.get("type", [])
        kinds = {kind} if isinstance(kind, str) else set(kind)
        if not kinds or "string" in kinds:
            return text
        if kinds & {"object", "array"} and (meant := _container(text, kinds)) is not None:
            self._note("output_json_text", steps, "took JSON out of a text")
            return meant
        meant = _scalar(text, kinds)
        if meant is None:
            return text
        self._note("output_scalar_text", steps, f"read the text {text} as what it says")
        return meant

    def _note(self, code: str, steps: tuple[str | int, ...], detail: str) -> None:
        self.repairs.append(RepairStep(code, pointer(*steps), detail if len(detail) <= 80 else f"{detail[:79]}…"))

    def _fits(self, value: JsonValue, form: Schema) -> bool:
        definitions = {name: self.root[name] for name in ("$defs", "definitions") if name in self.root}
        try:
            return not validate({**definitions, **form}, value, naive_times=True)
        except Error:  # a form that refers to another place of the whole schema
            return False

    def _led(self, schema: Schema) -> Schema:
        try:
            return follow(schema, self.root)
        except Error:  # a reference that leads nowhere allows everything
            return {}


def _container(text: str, kinds: set[str]) -> dict[str, Any] | list[Any] | None:
    """The object or the list that a text holds, where that is what is wanted."""
    try:
        value: object = parse_unique(text)
    except (DecodeError, LimitExceededError):
        return None
    fits = (isinstance(value, dict) and "object" in kinds) or (isinstance(value, list) and "array" in kinds)
    return cast("dict[str, Any] | list[Any]", value) if fits else None


def _scalar(text: str, kinds: set[str]) -> int | float | bool | None:
    """The number or the truth value that a text is, to the letter."""
    if "boolean" in kinds and text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    number = _NUMBER if "number" in kinds else _INTEGER if "integer" in kinds else None
    if number is None or number.fullmatch(text) is None:
        return None
    try:
        value = decode_any(text)
    except DecodeError:  # beyond a float
        return None
    return value if type(value) is int or _INTEGER.fullmatch(text) is None else None
