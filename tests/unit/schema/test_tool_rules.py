"""The strict rules of tools, one by one, and tools made to keep to them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from interlingua.schema.tool_rules import describes_all, filled, tool_faults, undescribed
from interlingua.types.tool import Freeform, Tool

DEEP: dict[str, Any] = {"type": "object", "properties": {"a": {"description": "A.", "properties": {"b": {}}}}}


def made(**members: Any) -> Tool:
    """A good tool, with these members in place of its own."""
    return msgspec.structs.replace(Tool(name="f", description="A tool."), **members)


def rules(*tools: Tool | None) -> list[tuple[str, str]]:
    """The rules that the tools break, with their places."""
    return [(fault.rule, fault.place) for fault in tool_faults(tools)]


@pytest.mark.parametrize("name", ["f", "_", "9", "A_b_9", "x" * 64])
def test_r31_names_that_are_taken(name: str) -> None:
    """1 to 64 of letters, digits and underscores."""
    assert rules(made(name=name)) == []


@pytest.mark.parametrize("name", ["", "a-b", "a.b", "a b", "é", "f\n", "x" * 65])
def test_r31_names_that_are_not(name: str) -> None:
    """Anything else."""
    assert rules(made(name=name)) == [("tool_name_illegal", "/0/name")]


def test_r33_two_tools_of_one_name() -> None:
    """The later ones are named; what stands between keeps its place."""
    assert rules(made(), None, made(), made()) == [
        ("tool_name_duplicate", "/2/name"),
        ("tool_name_duplicate", "/3/name"),
    ]


def test_every_fault_is_found() -> None:
    """Not only the first one of a tool, nor only the first tool."""
    bad = made(name="a b", description=None, parameters={"type": "object", "properties": {"x/y": {}, "z": False}})
    assert rules(bad, made(parameters={"type": 7})) == [
        ("tool_name_illegal", "/0/name"),
        ("tool_description_missing", "/0/description"),
        ("parameter_description_missing", "/0/parameters/properties/x~1y/description"),
        ("schema_invalid", "/1/parameters/type"),
    ]


def test_r30_a_schema_that_is_none() -> None:
    """Its place is the schema; what is inside of it is not looked at."""
    [fault] = tool_faults([made(parameters={"properties": {"a": {"type": "nothing"}}})])
    assert (fault.rule, fault.place) == ("schema_invalid", "/0/parameters")
    assert fault.sentence.startswith("the parameters of the tool 'f': no valid JSON Schema: at properties.a.type")


@pytest.mark.parametrize(
    ("properties", "missing"),
    [
        ({"a": {"description": "A."}}, []),
        ({"a": {"description": ""}, "b": {"description": 7}, "c": {}, "d": True}, ["a", "b", "c", "d"]),
        ({"a": False}, []),
        ({"a": {"$ref": "#/$defs/said"}, "b": {"$ref": "#/$defs/not"}, "c": {"$ref": "#/$defs/no"}}, ["b", "c"]),
    ],
)
def test_which_parameters_are_described(properties: dict[str, Any], missing: list[str]) -> None:
    """By themselves, or by the definition that they refer to."""
    schema = {"properties": properties, "$defs": {"said": {"description": "Yes."}, "not": {"type": "string"}}}
    assert undescribed(schema) == missing


BEHIND: tuple[tuple[dict[str, Any], str], ...] = (
    ({"$ref": "#/$defs/Args"}, "/$defs/Args"),
    ({"allOf": [{"$ref": "#/$defs/Args"}]}, "/$defs/Args"),
    ({"anyOf": [{"type": "object"}, {"$ref": "#/$defs/Args"}]}, "/$defs/Args"),
    ({"type": "object", "oneOf": [{"$ref": "#/$defs/Far"}]}, "/$defs/Args"),
    ({"allOf": [{"properties": {"city": {"type": "string"}}}]}, "/allOf/0"),
    ({"$ref": "#/$defs/Round", "properties": {"city": {}}}, ""),
)


@pytest.mark.parametrize(("root", "place"), BEHIND)
def test_parameters_behind_the_root_are_described(root: dict[str, Any], place: str) -> None:
    """A root that only leads to the properties is held to the rule, and filled where they stand."""
    args: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
    defs = {"Args": args, "Far": {"$ref": "#/$defs/Args"}, "Round": {"$ref": "#"}}
    bare = made(parameters={**root, "$defs": defs})
    assert rules(bare) == [("parameter_description_missing", f"/0/parameters{place}/properties/city/description")]
    for _ in range(2):
        assert not describes_all(json.dumps(bare.parameters).encode())
    whole = filled(bare)
    assert (rules(whole), undescribed(whole.parameters)) == ([], [])
    assert args["properties"] == {"city": {"type": "string"}}


def test_a_parameter_is_described_once_wherever_it_stands() -> None:
    """At the root or in one branch; by all that it consists of, and not by one of its alternatives."""
    told, cut = {"properties": {"a": {"description": "A."}}}, {"properties": {"a": {"const": 1}}}
    for root in ({**told, "anyOf": [cut]}, {**cut, "allOf": [told]}, {"anyOf": [cut, told, cut]}):
        assert undescribed(root) == []
    said = {"description": "Yes."}
    defs = {"said": said}
    assert undescribed({"properties": {"a": {"allOf": [{"$ref": "#/$defs/said"}]}}, "$defs": defs}) == []
    assert undescribed({"properties": {"a": {"anyOf": [said, {"type": "null"}]}}}) == ["a"]


def test_arguments_behind_the_root_are_an_object() -> None:
    """A branch of another type is a fault with its place; so is one behind a reference."""
    branch = made(parameters={"anyOf": [{"type": "object"}, {"type": "array"}]})
    behind = made(name="g", parameters={"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}})
    assert rules(branch, behind) == [
        ("schema_invalid", "/0/parameters/anyOf/1/type"),
        ("schema_invalid", "/1/parameters/$defs/a/type"),
    ]


def test_what_lies_deeper_needs_no_description() -> None:
    """Nor do schemas without properties, or with properties that are no object."""
    schemas: list[dict[str, Any]] = [DEEP, {}, {"properties": []}]
    assert [undescribed(schema) for schema in schemas] == [[], [], []]


def test_a_freeform_tool_has_no_parameters_to_describe() -> None:
    """Its schema is not looked at, and not filled."""
    tool = made(freeform=Freeform(), parameters={"properties": {"a": {}}})
    assert rules(tool) == []
    assert filled(tool) is tool


def test_a_tool_that_keeps_to_the_rules_is_left_alone() -> None:
    """It is the same object; a filled one breaks no rule."""
    tool = made(parameters=DEEP)
    assert filled(tool) is tool
    bare = Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "string"}, "b": True}})
    whole = filled(bare)
    assert (whole.description, rules(whole)) == ("f", [])
    assert whole.parameters["properties"] == {"a": {"type": "string", "description": "a"}, "b": {"description": "b"}}
    assert bare.parameters["properties"]["a"] == {"type": "string"}


def test_what_is_known_of_a_text() -> None:
    """A text is sent as the schema is, the second time as the first, and however deep or long it is."""
    bare = b'{"type":"object","properties":{"a":{}}}'
    whole = b'{"type":"object","properties":{"a":{"description":"A."}}}'
    deep = b'{"properties":{"a":{"description":"A.","items":%b}}}' % (b"[" * 200 + b"]" * 200)
    long = b'{"properties":{"a":{"description":"%b"}}}' % (b"x" * 20_000)
    for _ in range(2):
        assert [describes_all(text) for text in (bare, whole, deep, long)] == [False, True, False, True]


def test_a_number_that_is_not_finite_is_not_known() -> None:
    """It reads as null where it is written, and is a fault although the same text with null is none."""
    for value, faults in ((None, []), (float("nan"), ["schema_invalid"]), (None, [])):
        for kind in ({}, {"type": "number"}, {"anyOf": [{"type": "number"}, {"type": "null"}]}):
            parameters = {"type": "object", "properties": {"a": {"description": "A.", "default": value, **kind}}}
            assert [fault.rule for fault in tool_faults([made(parameters=parameters)])] == faults
