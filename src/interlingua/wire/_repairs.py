"""Values of an unexpected JSON type in an answer: read for their words, or left out where they have none.

Strategy: the decoder of a type names the first place that does not fit. The text is taken apart along the path to that
place alone, the value there is replaced, and the decoder has another try. Texts beside the path stay as they are.

Rules
- Where a string belongs, anything else is its JSON text; a list of texts, or of objects with one, is those together.
- Where an array belongs, an object is its one item; so is a text, where the items can be plain texts.
- Where an object belongs, a text is the member of it that its struct names (`WireStruct.plain_text`).
- A number above its bound is the bound; one below it says nothing.
- What is empty, and whatever else does not fit, is left out: an unknown count is absent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.wire._parser import ANYTHING, parse
from interlingua.wire._pointer import pointer_steps
from interlingua.wire._shape import Choice, Items, Members, Shape, Values, shape_of

if TYPE_CHECKING:
    from interlingua.errors import DecodeError

__all__ = ["MAX_REPAIRED", "repaired_at"]

UNEXPECTED_TYPE, COUNT_CLAMPED = "unexpected_type", "count_clamped"
"""The repairs that replace a value of another type, and a number that is out of its bounds."""

MAX_REPAIRED = 16
"""How many values of one text are replaced; each costs one more reading of it."""
_MISFIT = re.compile(r"expected `(?P<expected>[^`]*)`(?:, got | (?P<bound>[<>]=) (?P<number>\d+))")
_EMPTY = frozenset({b"{}", b"[]", b'""', b"false"})
_TRUTHS = {b'"true"': b"true", b'"True"': b"true", b"1": b"true"}
_MEMBERS: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(cast("Any", dict[str, msgspec.Raw]))
_ITEMS: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(cast("Any", list[msgspec.Raw]))


def repaired_at(body: bytes, error: DecodeError, type: type) -> tuple[bytes, str] | None:
    """`body` with the value replaced that `error` names, and the repair; None where that helps nobody.

    Raises: DecodeError, for a text that is no JSON.
    """
    misfit = _MISFIT.match(error.message)
    if misfit is None or not error.path:
        return None
    is_bound = misfit["bound"] is not None
    expected = frozenset({misfit["bound"] + misfit["number"]} if is_bound else misfit["expected"].split(" | "))
    try:
        tree = _replaced(body.strip(), pointer_steps(error.path), shape_of(type), expected)
    except (KeyError, IndexError, ValueError):  # the path ends before the place, as in an object with free names
        return None
    return msgspec.json.encode(tree), COUNT_CLAMPED if is_bound else UNEXPECTED_TYPE


def _replaced(text: bytes, steps: list[str], shape: Shape | None, expected: frozenset[str]) -> object:
    """`text` with the value at the end of `steps` replaced; None where it is left out."""
    if not steps:
        return None if text in _EMPTY else _read(text, shape, expected)
    step, *rest = steps
    if text[:1] == b"[":
        items, place = parse(_ITEMS, text, None), int(step)
        value = _replaced(bytes(items[place]), rest, _below(shape, step), expected)
        items[place : place + 1] = [] if value is None else [value]
        return items
    members = parse(_MEMBERS, text, None)
    value = _replaced(bytes(members[step]), rest, _below(shape, step), expected)
    if value is None:
        del members[step]
    else:
        members[step] = value
    return members


def _below(shape: Shape | None, step: str) -> Shape | None:
    """The shape of a member or an item."""
    match shape:
        case Members(children=children):
            return children[step][0] if step in children else None
        case Items(item=item):
            return item
        case Values(value=value):
            return value
        case Choice(array=array, object=other):
            return _below(array if step.isdecimal() else other, step)
        case None:
            return None


def _read(text: bytes, shape: Shape | None, expected: frozenset[str]) -> object:
    """The value for which a value that is not empty stands; None where it says nothing."""
    most = next((one for one in expected if one.startswith("<=")), None)
    if most is not None:
        return msgspec.Raw(most[2:].encode())
    array = shape.array if isinstance(shape, Choice) else shape
    item = _plain_text(array.item) if isinstance(array, Items) else None
    is_object = text[:1] == b"{"
    if "array" in expected and is_object and ("str" not in expected or _has_text(text, item)):
        return [msgspec.Raw(text)]
    if "str" in expected:
        # The texts that a list has, else JSON text.
        items: list[Any] = parse(ANYTHING, text, None) if text[:1] == b"[" else []
        texts: list[Any] = [
            cast("dict[str, Any]", item).get("text") if isinstance(item, dict) else item for item in items
        ]
        if texts and all([isinstance(one, str) for one in texts]):
            return "".join(texts)
        return text.decode()
    if "array" in expected and item and not is_object:
        return [msgspec.Raw(text)]
    if "object" in expected and (form := _plain_text(shape)) and not is_object:
        return {name: value or msgspec.Raw(text) for name, value in form.items()}
    truth = _TRUTHS.get(text) if "bool" in expected else None
    return None if truth is None else msgspec.Raw(truth)


def _plain_text(shape: Shape | None) -> dict[str, str] | None:
    """The members of a struct that a plain text in its place stands for."""
    if isinstance(shape, Choice):
        shape = shape.object
    form: Any = getattr(shape.kind, "plain_text", None) if isinstance(shape, Members) else None
    return form or None


def _has_text(text: bytes, form: dict[str, str] | None) -> bool:
    """Whether an object has the member that holds the text of a struct."""
    name = next((name for name, value in form.items() if not value), None) if form else None
    return name is not None and name in parse(_MEMBERS, text, None)
