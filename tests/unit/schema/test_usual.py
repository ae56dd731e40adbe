"""Which schemas are usual; that they are faultless is held by `tests/laws/test_usual_schema_laws.py`."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.schema.usual import MAX_USUAL_BYTES, bare_parameters, is_usual
from interlingua.wire.json import encode
from tests.support.cells import cells

USUAL = (
    b'{"type":"object"}',
    b'{"type":"object","properties":{}}',
    b'{"type":"object","properties":{"city":{"type":"string","description":"City name."}},"required":["city"]}',
    b'{"properties":{"days":{"maximum":7,"minimum":1,"type":"integer"}},"type":"object","additionalProperties":false}',
    b'{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"x":{"type":"boolean"}}}',
    b'{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{}}}}}',
    b'{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"object"},"c":{"type":"integer","enum":[1,2]}}}',
    b'{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}',
    b'{"type":"object","properties":{"a":{"type":"string","default":null}}}',
    b'{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}}}',
    b'{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"}]},"b":{"type":"array"}},"required":["b"]}',
    b'{"type":"object","properties":{"a":{}}}',
    b'{"type":"object","properties":{"a":{"type":"string","minimum":1}}}',
    b'{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}',
    b'{"type":"object","properties":{},"additionalProperties":{}}',
    b'{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{}]}}}',
    b'{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}],"type":"string"}}}',
    b'{"type":"object","properties":{"a":{"oneOf":[{"const":1},{"allOf":[{"$ref":"#/$defs/A"}]}]}},"$defs":{"A":{}}}',
    '{"type":"object","properties":{"a":{"default":{"$ref":"1234567é"}}}}'.encode(),  # data, and no reference
    b'{"type":"object","properties":{"a":{"enum":["\\"$ref\\":\\"#/$defs/A\\""]}}}',
    b'{"type":"object","properties":{"a":{"\\u0024ref":"#/$defs/A"}},"$defs":{"A":{}}}',
    b'{"type":"object","properties":{"a":{"$ref" : "#/$defs/A"}},"$defs":{"A":{}}}',
)
UNUSUAL = (
    b"",
    b"[]",
    b"{}",
    b'{"type":"string"}',
    b'{"properties":{}}',
    b'{"type":"","properties":{}}',
    b'{"type":"object","properties":{"a":{"type":["string","null"]}}}',
    b'{"type":"object","properties":{"a":{"type":"string","description":null}}}',
    b'{"type":"object","properties":{"a":{"type":"string","enum":[]}}}',
    b'{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}',
    b'{"type":"object","properties":{"a":{"type":"string","minLength":-1}}}',
    b'{"type":"object","properties":{"a":{"$ref":"#"}}}',
    b'{"type":"object","properties":{"a":{"type":"string"}},"required":["a","a"]}',
    b'{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}',
    b'{"type":"object","properties":{"a":{"anyOf":[]}}}',
    b'{"type":"object","properties":{"a":{"anyOf":[{"type":"string","pattern":"("}]},"b":{"type":"string"}}}',
    b'{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]},"b":{"type":"string","pattern":"("}}}',
    b'{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}},"additionalProperties":{"type":"strin"}}',
    b'{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}',
    b'{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}',
    b'{"type":"object","properties":{"a":{"\\u0024ref":"#/$defs/A"}}}',
    b'{"type":"object","properties":{"a":{"$ref" : "#/$defs/A"}}}',
    b'{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}',
)


@pytest.mark.parametrize("text", USUAL)
def test_usual(text: bytes) -> None:
    """Objects of plain values, arrays and objects."""
    assert is_usual(text)


@cells("text", UNUSUAL)
def test_unusual(text: bytes) -> None:
    """Whatever says something else, says it wrongly, or is no object."""
    assert not is_usual(text)


def test_long_ones_are_unusual() -> None:
    """A text up to the bound is usual, and one byte more is not."""
    whole = b'{"type":"object","properties":{},"title":"%b"}'
    room = MAX_USUAL_BYTES - len(whole % b"")
    assert is_usual(whole % (b"x" * room))
    assert not is_usual(whole % (b"x" * (room + 1)))


def test_deep_ones_are_unusual() -> None:
    """Up to the bound of schemas, and no level more."""
    text = b'{"type":"string"}'
    told: list[bool] = []
    for _ in range(33):
        text = b'{"type":"object","properties":{"a":%b}}' % text
        told.append(is_usual(text))
    assert told == [*[True] * 31, False, False]


def test_bare_parameters_beside_a_union() -> None:
    """A union describes itself, not in one of its forms."""
    text = (
        b'{"type":"object","properties":{"a":{"anyOf":[{"type":"string","description":"A."},{"type":"null"}]},'
        b'"b":{"anyOf":[{"type":"string"}],"description":"B."},"c":{"type":"string"}}}'
    )
    assert bare_parameters(text) == ["a", "c"]


def test_bare_parameters() -> None:
    """Those of the schema itself without a description, or with one that says nothing; none are told of others."""
    text = (
        b'{"type":"object","properties":{"a":{"type":"string","description":"A."},"b":{"type":"string"},'
        b'"c":{"type":"object","description":" ","properties":{"d":{"type":"string"}}}}}'
    )
    assert bare_parameters(text) == ["b", "c"]
    assert bare_parameters(USUAL[2]) == []
    assert bare_parameters(b'{"type":"object","properties":{"a":{"type":["string","null"]}}}') is None
    assert bare_parameters(text.replace(b"A.", b"A" * MAX_USUAL_BYTES)) is None


@pytest.mark.parametrize("end", [{"type": "string"}, {"$ref": "#/$defs/A0"}])
def test_a_long_chain_of_definitions(end: dict[str, str]) -> None:
    """One that ends is usual, and so is one that comes back to its beginning: values end it."""
    last = 200
    definitions: dict[str, Any] = {
        f"A{number}": {"type": "object", "properties": {"a": {"$ref": f"#/$defs/A{number + 1}"}}}
        for number in range(last)
    }
    definitions[f"A{last}"] = {"type": "object", "properties": {"a": end}}
    text = encode({"$defs": definitions, "type": "object", "properties": {"x": {"$ref": "#/$defs/A0"}}})
    assert is_usual(text)
