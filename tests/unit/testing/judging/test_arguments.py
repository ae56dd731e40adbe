"""Arguments in the form of a rewritten schema: another form is excused at its place, a loss never."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.testing.judging.arguments import as_told, places_of


@pytest.mark.parametrize(
    ("pointer", "place"),
    [
        ("", ()),
        ("/required", ()),
        ("/properties/metadata/additionalProperties", ("metadata",)),
        ("/properties/metadata/additionalProperties/properties/x", ("metadata", "*", "x")),
        ("/properties/tree/properties/children/items", ("tree", "children", "*")),
        ("/properties/a~1b/anyOf/1/items/pattern", ("a/b", "*")),
        ("/$defs/Node/properties/children", ("**", "children")),
        ("/properties/pair/prefixItems", ("pair",)),
        ("/properties/pair/prefixItems/1", ("pair", "*")),
    ],
)
def test_a_place_of_a_schema_is_one_of_the_arguments(pointer: str, place: tuple[str, ...]) -> None:
    """Keywords lead into the value, and a last keyword is about the value itself."""
    assert places_of([pointer]) == {place}


@pytest.mark.parametrize(
    ("pointer", "own", "wire"),
    [
        ("/properties/m/additionalProperties", {"m": {"k": 1}}, {"m": [{"key": "k", "value": 1}]}),
        ("/properties/m/additionalProperties", {"m": {}}, {"m": []}),
        ("/properties/m", {"m": {"k": [1]}}, {"m": '{"k":[1]}'}),
        ("/properties/m/items", {"m": [{"k": 1}, 2]}, {"m": ['{"k":1}', "2"]}),
        ("/$defs/N/properties/m/enum", {"a": {"b": [{"m": 1}]}}, {"a": {"b": [{"m": "1"}]}}),
        ("/properties/m", {"m": 1}, {"m": {"value": 1}}),
        ("/required", {"m": 1}, {"m": 1, "n": None}),
    ],
)
def test_another_form_is_taken_at_its_place_alone(pointer: str, own: Any, wire: Any) -> None:
    """With an entry at the place the arguments are the same; with one elsewhere, or with none, they are not."""
    assert as_told(own, wire, places_of([pointer])) == wire
    assert as_told(own, wire, places_of(["/properties/other/items"])) != wire
    assert as_told(own, wire, places_of([])) == own


@pytest.mark.parametrize(
    ("own", "wire"),
    [
        ({"m": {"k": 1, "l": 2}}, {"m": [{"key": "k", "value": 1}]}),
        ({"m": {"k": 1}}, {"m": [{"key": "k", "value": 1}, {"key": "k", "value": 1}]}),
        ({"m": {"k": 1}}, {"m": [{"key": "k", "value": 2}]}),
        ({"m": {"k": 1}}, {"m": [{"key": "l", "value": 1}]}),
        ({"m": {"k": 1}}, {"m": '{"k":2}'}),
        ({"m": {"k": 1}}, {"m": "{}"}),
        ({"m": 1}, {"m": {"value": 2}}),
        ({"m": 1}, {}),
        ({"m": 1}, {"m": None}),
    ],
)
def test_what_is_lost_in_another_form_is_noticed(own: Any, wire: Any) -> None:
    """A form that says less, more or something else is no form of the value."""
    assert as_told(own, wire, places_of(["/properties/m"])) != wire
