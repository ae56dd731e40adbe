"""What all dialects share: members without a field, seals, statuses, the table of dialects."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import Facts, Target
from interlingua.dialects._errors import class_of_status, request_id
from interlingua.dialects._members import foreign_extras, members_of, merge_members, plain
from interlingua.dialects._seals import seal_fits
from interlingua.dialects.openai_chat.wire import FunctionWire, MessageWire, RequestWire, ToolWire
from interlingua.dialects.table import get_dialect
from interlingua.errors import BadRequestError, Error, InternalServerError, OverloadedError
from interlingua.types.content import Sealed
from interlingua.wire.json import Extra


def test_members_go_out_of_a_wire_object_and_back() -> None:
    """Unknown ones alone; known ones are written over deeply."""
    wire = ToolWire(type="function", function=FunctionWire(name="f", parameters={"a": {"b": 1}}), extra=Extra(x=1))
    assert members_of(wire, "d") == {"d": {"x": 1}}
    assert members_of(ToolWire(), "d") == {}
    merge_members(wire, {"x": 2, "y": 3, "function": {"name": "g", "parameters": {"a": {"c": 2}, "d": 4}, "z": 5}})
    assert plain(wire) == {
        "type": "function",
        "function": {"name": "g", "parameters": {"a": {"b": 1, "c": 2}, "d": 4}, "z": 5},
        "x": 2,
        "y": 3,
    }


def test_a_member_replaces_what_is_no_object() -> None:
    """A text, a list, nothing."""
    wire = RequestWire(model="m", messages=[MessageWire(role="user")])
    merge_members(wire, {"reasoning": {"effort": "low"}, "model": "n"})
    assert plain(wire) == {"model": "n", "messages": [{"role": "user"}], "reasoning": {"effort": "low"}}


def test_foreign_extras_are_those_of_other_dialects() -> None:
    """In their order; an empty one says nothing."""
    assert foreign_extras({"b": {"x": 1}, "a": {"x": 1}, "c": {"x": 1}, "d": {}}, "a") == ["b", "c"]


SEAL = Sealed("openai-chat", {}, "p", "m")


@pytest.mark.parametrize(
    ("sealed", "target", "fits"),
    [
        (SEAL, Target(model="m", provider="p"), True),
        (SEAL, Target(), True),
        (SEAL, Target(provider="p"), True),
        (Sealed("openai-chat", {}), Target(model="m", provider="p"), True),
        (SEAL, Target(model="m", provider="q"), False),
        (SEAL, Target(model="n", provider="p"), False),
        (SEAL, Target(model="n", provider="p", facts=Facts(seals_carry_over=True)), True),
        (SEAL, Target(model="n", provider="p", facts=Facts(seals_carry_over=False)), False),
        (Sealed("anthropic", {}), Target(model="m", provider="p"), False),
    ],
)
def test_r22_a_seal_goes_back_to_its_issuer_alone(sealed: Sealed, target: Target, fits: bool) -> None:
    """Dialect and provider match; the model is the same, unknown, or seals carry over."""
    assert seal_fits(sealed, "openai-chat", target) is fits


@pytest.mark.parametrize(
    ("status", "kind"),
    [(451, BadRequestError), (529, OverloadedError), (520, InternalServerError), (302, InternalServerError)],
)
def test_a_status_without_a_row_is_somebodys_fault(status: int, kind: type[Error]) -> None:
    """The request's below 500, the server's elsewhere."""
    assert class_of_status(status) is kind


def test_the_id_of_a_request_has_several_names() -> None:
    """The first known one that is not empty."""
    assert request_id((("cf-ray", "c"), ("x-request-id", ""), ("request-id", "b"))) == "b"
    assert request_id(()) is None


def test_the_table_knows_the_dialect_by_its_name() -> None:
    """And by no other."""
    assert get_dialect("openai-chat").name == "openai-chat"
