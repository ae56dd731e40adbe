from __future__ import annotations

import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import SchemaError
from interlingua.schema import validate as validate_module
from interlingua.schema.problem import Problem, brief, describe
from interlingua.schema.validate import (
    MAX_PROBLEMS,
    MAX_SCHEMA_DEPTH,
    MAX_SCHEMA_NODES,
    check_schema,
    check_schemas,
    validate,
)
from tests.support.cells import cells

if TYPE_CHECKING:
    from collections.abc import Iterator

WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
    "required": ["city"],
    "additionalProperties": False,
}


def test_valid_schemas_pass() -> None:
    """A valid schema is no error, whatever draft it names."""
    for schema in (
        WEATHER,
        {},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
        {"$schema": "urn:nobody-knows-this", "type": "object"},
    ):
        check_schema(schema, where="tool f, parameters")


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"type": "objekt"}, "no valid JSON Schema: at type: "),
        ({"properties": {"a": {"required": "x"}}}, 'no valid JSON Schema: at properties.a.required: "x" is not a list'),
        ({"items": [{"type": "string"}]}, "no valid JSON Schema: at items: "),
        ({"pattern": "("}, 'no valid JSON Schema: at pattern: "(" is not a valid regex'),
        ({"$ref": "#/$defs/nowhere"}, "no valid JSON Schema: "),
        ({"minimum": float("nan")}, "the number at /minimum is not finite, which JSON cannot say"),
        ({"default": object()}, "the value is not JSON: "),
    ],
)
def test_r30_a_bad_schema_names_its_place(schema: dict[str, Any], sentence: str) -> None:
    """What is not JSON Schema is a SchemaError that begins with where it was used and names the bad keyword."""
    with pytest.raises(SchemaError) as caught:
        check_schema(schema, where="tool f, parameters")
    assert caught.value.message.startswith(f"tool f, parameters: {sentence}")


def test_a_schema_may_nest_as_deep_as_the_bound() -> None:
    """Sixty-four levels pass, sixty-five do not."""

    def nested(levels: int) -> dict[str, Any]:
        schema: dict[str, Any] = {}
        for _ in range(levels - 1):
            schema = {"not": schema}
        return schema

    check_schema(nested(MAX_SCHEMA_DEPTH + 1), where="s")
    with pytest.raises(SchemaError, match="deeper than 64 levels"):
        check_schema(nested(MAX_SCHEMA_DEPTH + 2), where="s")


def test_a_schema_may_hold_as_many_values_as_the_bound() -> None:
    """Ten thousand values pass, one more does not."""
    check_schema({"enum": list(range(MAX_SCHEMA_NODES - 2))}, where="s")
    with pytest.raises(SchemaError, match="more than 10,000 values"):
        check_schema({"enum": list(range(MAX_SCHEMA_NODES - 1))}, where="s")


def test_a_schema_that_contains_itself_is_refused() -> None:
    """A Python object that holds itself hits the bound instead of the stack."""
    schema: dict[str, Any] = {}
    schema["not"] = schema
    with pytest.raises(SchemaError, match="deeper than 64 levels"):
        check_schema(schema, where="s")


def test_schemas_that_refer_to_themselves_end() -> None:
    """A reference in a circle is neither an endless loop nor a crash, when checked and when validated against."""
    for schema in (
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"allOf": [{"$ref": "#"}]},
        {"type": "object", "properties": {"next": {"$ref": "#"}}},
    ):
        check_schema(schema, where="s")
        assert validate(schema, {"next": {"next": {}}}) == []


@pytest.fixture
def listener() -> Iterator[tuple[str, list[bytes]]]:
    """An address that serves a schema to whoever asks, and what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    asked.append(connection.recv(1024))
                    connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 18\r\n\r\n{"type":"integer"}')

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/schema.json", asked
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_nothing_is_fetched(listener: tuple[str, list[bytes]]) -> None:
    """No reference, meta-schema or identifier makes a request; jsonschema-rs alone makes one for the first of them."""
    address, asked = listener
    for schema in (
        {"$ref": address},
        {"properties": {"a": {"$ref": f"{address}#/properties/b"}}},
        {"$dynamicRef": address},
        {"$id": address, "properties": {"a": {"$ref": "other.json"}}},
    ):
        with pytest.raises(SchemaError, match="nothing is fetched"):
            check_schema(schema, where="tool f, parameters")
        with pytest.raises(SchemaError, match="nothing is fetched"):
            validate(schema, {})
    for schema in ({"$schema": address}, {"$id": address}, {"const": {"$ref": address}}):
        check_schema(schema, where="tool f, parameters")
    assert asked == []

    import jsonschema_rs

    jsonschema_rs.Draft202012Validator({"$ref": address})
    assert len(asked) == 1


def test_no_file_is_read(tmp_path: Any) -> None:
    """A `file:` reference is refused, although the file is there and is a schema."""
    path = tmp_path / "schema.json"
    path.write_text("{}")
    with pytest.raises(SchemaError, match=r"it refers to file:.*schema\.json, and nothing is fetched"):
        check_schema({"$ref": path.as_uri()}, where="s")


def test_r35_every_bad_field_is_named() -> None:
    """All problems are told at once, each with its place."""
    assert validate(WEATHER, {"days": 9, "citty": "Oslo"}) == [
        Problem("/days", "9 is more than 7"),
        Problem("/citty", "is not known; there are: city, days"),
        Problem("/city", "is missing"),
    ]
    assert validate(WEATHER, {"city": "Oslo", "days": 7}) == []


@cells(
    ("schema", "value", "message"),
    [
        ({"type": "integer"}, "x", '"x" is not an integer'),
        ({"type": ["array", "null"]}, 1, "1 is not a list or null"),
        ({"type": "string"}, None, "null is not a string"),
        ({"enum": ["a", "b"]}, "c", '"c" is not "a" or "b"'),
        ({"enum": [1, 2, 3]}, 4, "4 is none of 1, 2, 3"),
        ({"const": "a"}, "b", '"b" is not "a"'),
        ({"minimum": 1}, 0, "0 is less than 1"),
        ({"exclusiveMinimum": 1}, 1, "1 is not more than 1"),
        ({"exclusiveMaximum": 1}, 1, "1 is not less than 1"),
        ({"multipleOf": 5}, 7, "7 is no multiple of 5"),
        ({"minLength": 2}, "a", "1 character, fewer than 2"),
        ({"maxLength": 2}, "abc", "3 characters, more than 2"),
        ({"minItems": 1}, [], "0 items, fewer than 1"),
        ({"maxItems": 1}, [1, 2], "2 items, more than 1"),
        ({"uniqueItems": True}, [1, 1], "the same item stands in it twice"),
        ({"minProperties": 1}, {}, "0 fields, fewer than 1"),
        ({"pattern": "^a"}, "b", '"b" does not match ^a'),
        ({"format": "date"}, "soon", '"soon" is not a date such as 2026-01-31'),
        ({"format": "email"}, "me", '"me" is not a valid email'),
        ({"not": {"type": "string"}}, "a", '"a" is of the form that is excluded'),
        ({"contains": {"type": "string"}}, [1], "no item is of the form that the list must contain"),
        ({"propertyNames": {"enum": ["a", "b"]}}, {"c": 1}, 'the name "c" is not "a" or "b"'),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", '"x" is not an integer or null'),
        ({"type": "string"}, ["x" * 99], f'["{"x" * 57}… is not a string'),
    ],
)
def test_problems_are_plain_words(schema: dict[str, Any], value: object, message: str) -> None:
    """Each keyword has its own words, and long values are cut."""
    assert validate(schema, value) == [Problem("", message)]


def test_false_schemas_have_words() -> None:
    """What a false schema forbids is told at its place."""
    assert validate({"properties": {"a": False}}, {"a": 1}) == [Problem("/a", "nothing may stand here")]


def test_a_union_tells_of_its_nearest_member() -> None:
    """Of several object forms, the problems of the one that fits best are told."""
    schema = {
        "anyOf": [
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"b": {"type": "integer"}},
                "required": ["b"],
                "additionalProperties": False,
            },
            {"type": "null"},
        ]
    }
    assert validate(schema, {"b": "x"}) == [Problem("/b", '"x" is not an integer')]


def test_a_union_with_a_wrong_tag_tells_the_tags() -> None:
    """A tag that no member has is told with all there are, whether as constants or as choices."""
    members = [{"properties": {"kind": form}, "required": ["kind"]} for form in ({"const": "a"}, {"enum": ["b"]})]
    assert validate({"anyOf": members}, {"kind": "c"}) == [Problem("/kind", '"c" is not "a" or "b"')]
    assert validate({"oneOf": members}, {}) == [Problem("/kind", "is missing")]


def test_places_read_like_code() -> None:
    """Pointers become paths that people read, and all problems one sentence."""
    problems = [Problem("/items/0/na~1me", "is missing"), Problem("", "1 is not an object")]
    assert [problem.place for problem in problems] == ["items[0].na/me", ""]
    assert describe(problems, "argument") == "argument items[0].na/me: is missing; 1 is not an object"


def test_any_value_can_be_told() -> None:
    """A sentence about a bad value never fails because of that value."""
    assert brief(float("nan")) == "nan"
    assert brief({1: {2}}) == '{"1":[2]}'
    assert brief("x" * 99) == f'"{"x" * 58}…'


def test_times_without_an_offset() -> None:
    """RFC 3339 wants an offset; types that can do without one say so."""
    schema = {"format": "date-time"}
    assert validate(schema, "2026-01-31T12:00:00Z") == []
    assert validate(schema, "2026-01-31T12:00:00") != []
    for text in ("2026-01-31T12:00:00", "2026-01-31T12:00:00.5+01:00", "2026-01-31t12:00:00z"):
        assert validate(schema, text, naive_times=True) == []
    assert validate(schema, "noon", naive_times=True) != []
    assert validate({"format": "time"}, "12:30:00", naive_times=True) == []


def test_big_integers_are_exact() -> None:
    """An integer beyond 64 bits is an integer, and is compared as one (ARG-08)."""
    assert validate({"type": "integer", "minimum": 10**30}, 10**30) == []
    assert validate({"type": "integer", "minimum": 10**30}, 10**30 - 1) != []


def test_the_problems_told_are_bounded() -> None:
    """A value with a thousand faults brings fifty of them."""
    assert len(validate({"items": {"type": "integer"}}, ["x"] * 1000)) == MAX_PROBLEMS


def test_a_pattern_cannot_burn_time() -> None:
    """A pattern that backtracks without end in other engines is decided at once."""
    assert len(validate({"pattern": "^(a+)+$"}, "a" * 5_000 + "!")) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
WORDS = st.sampled_from(
    ["type", "properties", "items", "anyOf", "required", "$ref", "$defs", "enum", "minimum", "pattern", "format", "not"]
)


@given(st.dictionaries(WORDS, JSON, max_size=5), JSON)
def test_any_schema_is_valid_or_a_schema_error(schema: dict[str, Any], value: object) -> None:
    """Whatever a caller hands in, the answer is a list of problems or a SchemaError, and it stays the same."""
    try:
        found = validate(schema, value)
    except SchemaError:
        with pytest.raises(SchemaError):
            check_schema(schema, where="s")
    else:
        check_schema(schema, where="s")
        assert validate(schema, value) == found


def test_the_validator_is_imported_when_it_is_needed() -> None:
    """Importing the schema layer and the tools loads nothing heavy."""
    code = (
        "import sys, interlingua.schema.validate, interlingua.schema.reflect, interlingua.schema.names,"
        " interlingua.tools.toolbox; "
        "print([name for name in ('jsonschema_rs', 'pydantic', 'asyncio', 'logging')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_schema_that_was_found_right_is_not_checked_again() -> None:
    """The same text is looked at once; one that is wrong is told each time, with its own place."""
    schema = {"type": "object", "description": "Only here.", "maxProperties": 3}
    with mock.patch.object(validate_module, "check_bounds", side_effect=validate_module.check_bounds) as bounds:
        for _ in range(3):
            check_schema(schema, where="/a")
    assert bounds.call_count == 1
    for where in ("/a", "/b"):
        with pytest.raises(SchemaError, match=f"^{where}: "):
            check_schema({"type": "no such type"}, where=where)


def test_schemas_are_checked_together() -> None:
    """The bad one among several is named by its place, the first time and the second; sound ones are let by."""
    good: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer", "minimum": 1}}}
    bad: dict[str, Any] = {"type": "nonsense"}
    deep: dict[str, Any] = good
    for _ in range(MAX_SCHEMA_DEPTH):
        deep = {"type": "array", "items": deep}
    check_schemas([good, good], where=str)
    for _ in range(2):
        with pytest.raises(SchemaError, match=r"^tool 1: "):
            check_schemas([good, bad, good], where=lambda place: f"tool {place}")
        with pytest.raises(SchemaError, match=r"^tool 2: .*64"):
            check_schemas([good, good, deep], where=lambda place: f"tool {place}")
        with pytest.raises(SchemaError, match=r"^tool 0: "):
            check_schemas([{"default": float("nan")}], where=lambda place: f"tool {place}")
