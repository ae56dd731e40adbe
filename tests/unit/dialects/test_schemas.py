"""Schemas on their way to each dialect: every test feeds what broke somebody, or turns values there and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, Encoded, EncodeOptions, Quirks, Target
from interlingua.dialects._members import is_list, is_object
from interlingua.dialects.table import get_dialect
from interlingua.errors import UnsupportedError, UsageError
from interlingua.stream.check import check
from interlingua.stream.fold import fold
from interlingua.types.content import TextPart, ToolCall, ToolResult
from interlingua.types.event import StreamEnd, StreamError
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.cells import cells

OPENAPI = Quirks(schema_form="openapi")
USUAL = Quirks()
GOOGLE = "google"


def encoded(
    schema: dict[str, Any], dialect: str, quirks: Quirks = USUAL, *, strict: bool | None = None, **fields: Any
) -> Encoded:
    """A request with one tool of this schema."""
    tool = Tool(name="f", parameters=schema, strict=strict)
    request = Request(messages=fields.pop("messages", (user("?"),)), tools=(tool,), max_tokens=9, **fields)
    return get_dialect(dialect).encode_request(request, EncodeOptions(target=Target(model="m", quirks=quirks)))


def sent(schema: str, dialect: str, quirks: Quirks = USUAL, *, strict: bool | None = None) -> Any:
    """The schema of the tool on the wire; None where there is none."""
    tool = json.loads(encoded(json.loads(schema), dialect, quirks, strict=strict).body)["tools"][0]
    declared: dict[str, Any] = tool["functionDeclarations"][0] if dialect == GOOGLE else tool.get("function", tool)
    places = ("parametersJsonSchema", "parameters", "input_schema")
    return next((declared[place] for place in places if place in declared), None)


def paths(schema: str, dialect: str, quirks: Quirks = USUAL, *, strict: bool | None = None) -> list[str]:
    """The places that were rewritten."""
    changes = encoded(json.loads(schema), dialect, quirks, strict=strict).changes
    assert {change.code for change in changes} <= {"schema_rewritten"}
    return [change.path.removeprefix("/tools/0/parameters") for change in changes]


def keywords(schema: Any) -> set[str]:
    """Every member name of the objects in a schema."""
    if is_object(schema):
        return set(schema) | {name for value in schema.values() for name in keywords(value)}
    return {name for item in schema for name in keywords(item)} if is_list(schema) else set()


SIBLING = (
    '{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"Which."}},"$defs":{"A":{"type":"string"}}}'
)


def test_sch_01_what_stands_beside_a_reference_is_merged_with_what_it_leads_to() -> None:
    """The reference is written out; the word beside it wins."""
    assert sent(SIBLING, GOOGLE)["properties"] == {"a": {"type": "string", "description": "Which."}}
    assert "$ref" not in keywords(sent(SIBLING, GOOGLE))
    assert sent(SIBLING, GOOGLE, OPENAPI) == {
        "type": "OBJECT",
        "properties": {"a": {"type": "STRING", "description": "Which."}},
    }
    assert paths(SIBLING, GOOGLE) == ["/properties/a"]
    bare = SIBLING.replace(',"description":"Which."', "")
    assert sent(bare, GOOGLE) == json.loads(bare)


POINTERS = (
    '{"type":"object","properties":{"ids":{"type":"array","items":{"$ref":"#/properties/id"}},"id":{"type":"integer"},'
    '"old":{"$ref":"#/definitions/Old"}},"definitions":{"Old":{"type":"boolean"}}}'
)


def test_sch_02_any_local_pointer_is_resolved() -> None:
    """Also one into the properties, and one into the definitions of older drafts."""
    assert sent(POINTERS, GOOGLE, OPENAPI) == {
        "type": "OBJECT",
        "properties": {
            "ids": {"type": "ARRAY", "items": {"type": "INTEGER"}},
            "id": {"type": "INTEGER"},
            "old": {"type": "BOOLEAN"},
        },
    }
    told = sent(POINTERS, GOOGLE)
    assert told["properties"]["ids"] == {"type": "array", "items": {"$ref": "#/$defs/id"}}
    assert told["$defs"] == {"id": {"type": "integer"}, "Old": {"type": "boolean"}}
    assert sent(POINTERS, "ollama")["properties"]["old"] == {"type": "boolean"}
    assert sent(POINTERS, "anthropic") == json.loads(POINTERS)


def test_sch_02_a_reference_that_leads_nowhere_is_any_object_and_said() -> None:
    """Never an untyped parameter, never silence."""
    dangling = '{"type":"object","properties":{"a":{"$ref":"#/$defs/Gone"}}}'
    assert sent(dangling, GOOGLE)["properties"] == {"a": {"type": "object"}}
    assert sent(dangling, "ollama")["properties"] == {"a": {"type": "object"}}
    told = [change.detail for change in encoded(json.loads(dangling), GOOGLE).changes]
    assert "leads nowhere" in told[0]


RECURSIVE = (
    '{"type":"object","properties":{"root":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"type":"object","properties":'
    '{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Node"}}}}}}'
)


def test_sch_03_a_schema_that_refers_to_itself_ends_in_a_plain_object() -> None:
    """Where the target takes no recursion; elsewhere it goes as it is."""
    node = {"name": {"type": "string"}, "children": {"type": "array", "items": {"type": "object"}}}
    assert sent(RECURSIVE, "ollama")["properties"]["root"] == {"type": "object", "properties": node}
    for dialect in ("openai-chat", "openai-responses", "anthropic", GOOGLE):
        assert sent(RECURSIVE, dialect) == json.loads(RECURSIVE)
    itself = '{"type":"object","properties":{"next":{"$ref":"#"}}}'
    assert sent(itself, "ollama") == {
        "type": "object",
        "properties": {"next": {"type": "object", "properties": {"next": {"type": "object"}}}},
    }
    circle = '{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}'
    assert sent(circle, GOOGLE)["properties"]["a"] == {"type": "object"}


def test_sch_03_a_strict_mode_without_recursion_gets_the_rest_as_json_text() -> None:
    """Anthropic's strict mode has no free objects either; the arguments come back whole."""
    told = sent(RECURSIVE, "anthropic", strict=True)
    below = told["properties"]["root"]["properties"]["children"]["items"]
    assert below == {"type": "string", "description": "A JSON object, as JSON text."}
    wire = '{"root":{"name":"a","children":["{\\"name\\":\\"b\\"}"]}}'
    assert _called(RECURSIVE, "anthropic", wire, strict=True) == {"root": {"name": "a", "children": [{"name": "b"}]}}


def shared(levels: int) -> dict[str, Any]:
    """A schema without circles in which each definition refers four times to the next."""
    definitions = {
        f"D{level}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/$defs/D{level + 1}"} for name in "abcd"},
        }
        for level in range(levels)
    }
    return {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/D0"}},
        "$defs": {**definitions, f"D{levels}": {"type": "string"}},
    }


def test_sch_05_shared_references_never_explode() -> None:
    """Written out they are counted; beyond 10,000 this one tool is refused by name, at once."""
    big = shared(12)
    with pytest.raises(UnsupportedError, match=r"f, parameters at .*10,000 schemas") as caught:
        encoded(big, "ollama")
    assert [(change.code, change.path) for change in caught.value.changes] == [("tools", "/tools/0")]
    assert encoded(big, GOOGLE).changes == ()
    assert encoded(shared(4), "ollama").changes[0].code == "schema_rewritten"


def test_sch_05_the_other_tools_still_go() -> None:
    """One bad tool may be let go; it is named, and the others are sent."""
    tools = (Tool(name="bad", parameters=shared(12)), Tool(name="good"))
    options = EncodeOptions(target=Target(model="m"), allow=frozenset({"tools"}))
    done = get_dialect("ollama").encode_request(Request(messages=(user("?"),), tools=tools), options)
    assert [tool["function"]["name"] for tool in json.loads(done.body)["tools"]] == ["good"]
    assert [(change.action, change.code, change.path) for change in done.changes] == [("dropped", "tools", "/tools/0")]
    assert "bad, parameters at" in done.changes[0].detail


CLOSED = '{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}'
MAP = '{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"integer"}}}}'


def test_sch_06_other_properties_are_not_said_in_the_openapi_form() -> None:
    """Kept everywhere else; a map travels as pairs and comes back as a map."""
    assert sent(CLOSED, GOOGLE, OPENAPI) == {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}
    for dialect in ("openai-chat", "openai-responses", "anthropic", GOOGLE, "ollama"):
        assert sent(CLOSED, dialect) == json.loads(CLOSED)
        assert sent(MAP, dialect) == json.loads(MAP)
    told = sent(MAP, GOOGLE, OPENAPI)["properties"]["m"]
    assert told["type"] == "ARRAY"
    assert told["items"]["properties"] == {"key": {"type": "STRING"}, "value": {"type": "INTEGER"}}
    assert "key" in told["description"]
    assert _called(MAP, GOOGLE, '{"m":[{"key":"x","value":1}]}', OPENAPI) == {"m": {"x": 1}}
    both = (
        '{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"type":"string"}},'
        '"additionalProperties":{"type":"integer"}}}}'
    )
    assert "additionalProperties" in sent(both, GOOGLE, OPENAPI)["properties"]["o"]["description"]


def test_sch_07_a_type_or_null_is_nullable_in_the_openapi_form() -> None:
    """A list of types never reaches it; several types are a union."""
    given = '{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["string","integer"]}}}'
    assert sent(given, GOOGLE, OPENAPI)["properties"] == {
        "a": {"type": "STRING", "nullable": True},
        "b": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
    }
    assert sent(given, GOOGLE) == json.loads(given)


def test_sch_08_items_move_into_the_array_of_a_union() -> None:
    """Nothing stands beside `anyOf`."""
    given = (
        '{"type":"object","properties":{"a":{"anyOf":[{"type":"array"},{"type":"null"}],"items":{"type":"string"},'
        '"description":"D"}}}'
    )
    told = sent(given, GOOGLE)["properties"]["a"]
    assert told == {
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
        "description": "D",
    }
    opened = sent(given, GOOGLE, OPENAPI)["properties"]["a"]
    assert opened["anyOf"] == [{"items": {"type": "STRING"}, "type": "ARRAY"}]
    assert opened["nullable"] is True


def test_sch_09_open_bounds_become_closed_ones() -> None:
    """An integer's is the next integer; a number's gets a word."""
    given = (
        '{"type":"object","properties":{"n":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10},'
        '"x":{"type":"number","exclusiveMinimum":0}}}'
    )
    told = sent(given, GOOGLE)["properties"]
    assert told["n"] == {"type": "integer", "minimum": 1, "maximum": 9}
    assert told["x"] == {"type": "number", "minimum": 0, "description": "Constraints: more than 0."}
    assert sent(given, "anthropic") == json.loads(given)
    assert sent(given, "openai-chat") == json.loads(given)


def test_sch_10_a_constant_is_an_enumeration_of_one() -> None:
    """A string's as it is, a number's as a string in the OpenAPI form, turned back."""
    given = '{"type":"object","properties":{"k":{"const":"a"},"n":{"type":"integer","const":5}}}'
    assert sent(given, GOOGLE)["properties"] == {
        "k": {"enum": ["a"], "type": "string"},
        "n": {"type": "integer", "enum": [5]},
    }
    assert sent(given, GOOGLE, OPENAPI)["properties"] == {
        "k": {"enum": ["a"], "type": "STRING"},
        "n": {"type": "STRING", "enum": ["5"]},
    }
    assert _called(given, GOOGLE, '{"k":"a","n":"5"}', OPENAPI) == {"k": "a", "n": 5}


def test_sch_11_enumerated_numbers_travel_as_strings_and_come_back_as_numbers() -> None:
    """Only in the OpenAPI form, which enumerates nothing else."""
    given = '{"type":"object","properties":{"n":{"type":"integer","enum":[1,2]},"b":{"type":"boolean","enum":[true]}}}'
    assert sent(given, GOOGLE, OPENAPI)["properties"] == {
        "n": {"type": "STRING", "enum": ["1", "2"]},
        "b": {"type": "STRING", "enum": ["true"]},
    }
    assert _called(given, GOOGLE, '{"n":"2","b":"true"}', OPENAPI) == {"n": 2, "b": True}
    assert sent(given, GOOGLE) == json.loads(given)


def test_sch_12_an_enumeration_says_its_type() -> None:
    """As its values have it."""
    given = '{"type":"object","properties":{"a":{"enum":["x","y"]},"n":{"enum":[1,2,null]}}}'
    assert sent(given, GOOGLE)["properties"] == {
        "a": {"enum": ["x", "y"], "type": "string"},
        "n": {"enum": [1, 2, None], "type": ["integer", "null"]},
    }
    assert sent(given, GOOGLE, OPENAPI)["properties"] == {
        "a": {"enum": ["x", "y"], "type": "STRING"},
        "n": {"enum": ["1", "2"], "type": "STRING", "nullable": True},
    }
    assert sent(given, "openai-chat") == json.loads(given)


def test_sch_13_keywords_about_arrays_stay_with_arrays() -> None:
    """What says nothing about the type is left out, and the other tools are not lost with it."""
    given = '{"type":"object","properties":{"a":{"type":"string","items":{"type":"string"},"minItems":1}}}'
    assert sent(given, GOOGLE)["properties"] == {"a": {"type": "string"}}
    assert sent(given, GOOGLE, OPENAPI)["properties"] == {"a": {"type": "STRING"}}
    assert paths(given, GOOGLE) == ["/properties/a/items", "/properties/a/minItems"]


UNTAKEN = (
    '{"type":"object","properties":{"if":{"type":"string"},"default":{"type":"integer","multipleOf":5,"default":5},'
    '"list":{"type":"array","items":{"type":"string"},"contains":{"const":"a"},"uniqueItems":true},'
    '"map":{"type":"object","properties":{"not":{"type":"string"}},"patternProperties":{"^x":{"type":"string"}},'
    '"propertyNames":{"pattern":"^[a-z]"}}},"if":{"required":["if"]},"then":{"required":["default"]},'
    '"else":{"required":["list"]}}'
)


@pytest.mark.parametrize("quirks", [USUAL, OPENAPI])
def test_sch_14_only_listed_keywords_are_sent_and_properties_are_never_taken_for_keywords(quirks: Quirks) -> None:
    """What is left out is told; a property may be called `if` or `default`."""
    told = sent(UNTAKEN, GOOGLE, quirks)
    assert list(told["properties"]) == ["if", "default", "list", "map"]
    assert list(told["properties"]["map"]["properties"]) == ["not"]
    plain = [told["properties"][name] for name in ("default", "list", "map")]
    assert keywords(plain).isdisjoint({"multipleOf", "contains", "patternProperties", "propertyNames"})
    assert told.keys().isdisjoint({"if", "then", "else"})
    assert "multipleOf 5" in told["properties"]["default"]["description"]
    assert 'propertyNames {"pattern":"^[a-z]"}' in told["properties"]["map"]["description"]
    assert 'if {"required":["if"]}' in told["description"]
    assert sent(UNTAKEN, "openai-chat") == json.loads(UNTAKEN)


def test_sch_15_no_parameters_are_no_member_for_google_and_an_empty_object_elsewhere() -> None:
    """Also in the OpenAPI form, and where only `type` is said."""
    for given in ('{"type":"object","properties":{}}', '{"type":"object"}'):
        assert sent(given, GOOGLE, OPENAPI) is None
    assert sent('{"type":"object","properties":{}}', GOOGLE) is None
    assert sent("{}", GOOGLE) is None
    for dialect in ("anthropic", "ollama", "cohere", "openai-chat", "openai-responses"):
        assert sent("{}", dialect) == {"type": "object", "properties": {}}
        assert paths("{}", dialect) == [""]


EVERYWHERE = ("openai-chat", "openai-responses", "anthropic", GOOGLE, "ollama")


@cells("dialect", EVERYWHERE)
@cells("kind", ["", '"type":["object","null"],', '"type":["object"],', '"type":null,'])
def test_a_root_says_in_one_word_that_it_is_an_object(dialect: str, kind: str) -> None:
    """OpenAI: "got 'type: None'"; Anthropic: "input_schema.type: Field required"; Gemini: "should be OBJECT"."""
    given = f'{{{kind}"properties":{{"a":{{"type":"string"}}}},"required":["a"]}}'
    told = sent(given, dialect)
    told.pop("description", None)  # Ollama's says that it may be null
    assert told == {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert len(paths(given, dialect)) == 1


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize(
    "given",
    [
        '{"type":"object"}',
        '{"type":"object","properties":null}',
        '{"type":"object","properties":[]}',
        '{"type":"object","properties":{},"required":null}',
    ],
)
def test_a_root_says_which_properties_it_has(dialect: str, given: str) -> None:
    """OpenAI: "schema missing properties", "None is not of type 'array'": so Go and PHP write what is empty."""
    told = sent(given, dialect)
    assert told.pop("required", []) == []
    assert told == {"type": "object", "properties": {}}
    assert len(paths(given, dialect)) == 1


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses"])
def test_whatever_stands_inside_goes_to_openai_as_it_is(dialect: str) -> None:
    """Only the root has to be plain: nothing below it is looked at, nor refused, however deep."""
    inside = '{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/no"}],"nullable":true}}}'
    assert sent(inside, dialect) == json.loads(inside)
    assert paths(inside, dialect) == []
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(40):
        deep = {"type": "object", "properties": {"a": deep}, "additionalProperties": False, "required": ["a"]}
    assert encoded(deep, dialect).changes == ()


@pytest.mark.parametrize("dialect", EVERYWHERE)
def test_what_must_be_there_of_two_is_told(dialect: str) -> None:
    """Both properties can be given; the choice is told in the root's own words."""
    given = (
        '{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},'
        '"anyOf":[{"required":["a"]},{"required":["b"]}]}'
    )
    assert sent(given, dialect) == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "description": 'anyOf: [{"required":["a"]},{"required":["b"]}]',
    }
    assert paths(given, dialect) == [""]


def test_sch_16_emptiness_is_judged_after_references_are_resolved() -> None:
    """A root that is a reference, or a map, is not without parameters."""
    reference = '{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}}}}}'
    assert sent(reference, GOOGLE, OPENAPI) == {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}
    for dialect in EVERYWHERE:
        told = sent(reference, dialect)
        assert (told["type"], told["properties"]) == ("object", {"a": {"type": "string"}})
    free = '{"type":"object","additionalProperties":{"type":"integer"}}'
    told = sent(free, GOOGLE, OPENAPI)
    assert list(told["properties"]) == ["value"]
    assert _called(free, GOOGLE, '{"value":[{"key":"a","value":1}]}', OPENAPI) == {"a": 1}
    assert sent(free, GOOGLE) == json.loads(free)


UNION = (
    '{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},'
    '{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}]}'
)


@pytest.mark.parametrize("dialect", EVERYWHERE)
def test_sch_17_a_union_at_the_root_is_folded_into_an_object(dialect: str) -> None:
    """Its properties together; what is required of them in the description."""
    told = sent(UNION, dialect)
    assert told["type"] == "object"
    assert told["properties"] == {"a": {"type": "string"}, "b": {"type": "integer"}}
    assert told.keys() == {"type", "properties", "description"}
    assert '"required":["a"]' in told["description"]
    both = (
        '{"type":"object","allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},'
        '{"required":["b"],"properties":{"b":{}}}]}'
    )
    assert sent(both, dialect)["required"] == ["a", "b"]
    common = UNION.replace('"required":["b"]', '"required":["a","b"]')
    assert sent(common, dialect)["required"] == ["a"]


OPTIONAL = (
    '{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","default":1},'
    '"labels":{"type":"object","additionalProperties":{"type":"string"}},"more":{}},"required":["city"]}'
)


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses"])
def test_sch_18_a_strict_schema_is_made_strict_as_a_whole_and_its_values_come_back(dialect: str) -> None:
    """Required, closed and nullable together; open maps as pairs; nothing of it where strict was not asked for."""
    told = sent(OPTIONAL, dialect, strict=True)
    assert told["required"] == ["city", "days", "labels", "more"]
    assert told["additionalProperties"] is False
    assert told["properties"]["days"] == {
        "type": ["integer", "null"],
        "default": 1,
        "description": "Null means 1.",
    }
    pairs = told["properties"]["labels"]["anyOf"][0]
    assert pairs["items"]["required"] == ["key", "value"]
    assert told["properties"]["more"]["type"] == ["string", "null"]
    arguments = '{"city":"Oslo","days":null,"labels":[{"key":"k","value":"v"}],"more":"[1]"}'
    assert _called(OPTIONAL, dialect, arguments, strict=True) == {"city": "Oslo", "labels": {"k": "v"}, "more": [1]}
    for strict in (None, False):
        assert sent(OPTIONAL, dialect, strict=strict) == json.loads(OPTIONAL)


def test_sch_18_what_cannot_be_strict_goes_without() -> None:
    """Twelve levels are too many for strict mode, and fine without it."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(12):
        deep = {"type": "object", "properties": {"a": deep}}
    done = encoded(deep, "openai-chat", strict=True)
    function = json.loads(done.body)["tools"][0]["function"]
    assert function == {"name": "f", "parameters": deep}
    assert [(change.code, change.path) for change in done.changes] == [("strict_unsupported", "/tools/0/strict")]
    assert "12 levels" in done.changes[0].detail


def test_sch_19_ollama_gets_single_types_and_an_object_of_properties() -> None:
    """Lists of types and `properties: []` break its parser."""
    given = (
        '{"type":["object","null"],"properties":{"a":{"type":["string","null"]},"b":{"type":["string","array"],'
        '"items":{"type":"string"}},"c":{"type":"object","properties":[]}}}'
    )
    told = sent(given, "ollama")
    assert told["type"] == "object"
    assert told["properties"] == {
        "a": {"type": "string", "description": "Constraints: may be null."},
        "b": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "c": {"type": "object", "properties": {}},
    }


# There and back


def _context(done: Encoded) -> DecodeContext:
    return DecodeContext(undo=done.undo)


def _body(dialect: str, arguments: str) -> dict[str, Any]:
    """A whole answer that calls `f`."""
    parsed = json.loads(arguments)
    bodies: dict[str, dict[str, Any]] = {
        "openai-chat": {
            "choices": [{
                "finish_reason": "tool_calls",
                "message": {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": arguments}}]},
            }]
        },
        "openai-responses": {
            "status": "completed",
            "output": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments}],
        },
        "anthropic": {
            "type": "message",
            "content": [{"type": "tool_use", "id": "c", "name": "f", "input": parsed}],
            "stop_reason": "tool_use",
        },
        GOOGLE: {
            "candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": parsed}}]},
                            "finishReason": "STOP"}]
        },
    }  # fmt: skip
    return bodies[dialect]


def _called(
    schema: str, dialect: str, arguments: str, quirks: Quirks = USUAL, *, strict: bool | None = None
) -> dict[str, Any]:
    """The arguments of a call in the caller's own form, which also goes back as the model said it."""
    given = json.loads(schema)
    done = encoded(given, dialect, quirks, strict=strict)
    reply = HttpReply(status=200, body=json.dumps(_body(dialect, arguments)).encode())
    call = get_dialect(dialect).decode_response(reply, _context(done)).parts[0]
    assert isinstance(call, ToolCall)
    history = (user("?"), Message("assistant", (call,)), Message("tool", (ToolResult(call.id, "f", "ok"),)))
    again = encoded(given, dialect, quirks, strict=strict, messages=history).body
    assert json.loads(arguments) in [*_objects(json.loads(again)), *map(json.loads, _texts(json.loads(again)))]
    return call.arguments


def _objects(value: Any) -> list[Any]:
    below: list[Any] = list(value.values()) if is_object(value) else value if is_list(value) else []
    return [value, *[found for item in below for found in _objects(item)]]


def _texts(value: Any) -> list[str]:
    return [text for text in _objects(value) if isinstance(text, str) and text.startswith("{")]


STREAM = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":'
    b'{"name":"f","arguments":""}}]}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":'
    b'"{\\"m\\":[{\\"key\\":"}}]}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":'
    b'"\\"x\\",\\"value\\":1}]}"}}]}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'
    b"data: [DONE]\n\n"
)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_stream_gives_the_callers_own_form(size: int) -> None:
    """The arguments of a converted call come in one piece; the stream laws hold."""
    done = encoded(json.loads(MAP), "openai-chat", strict=True)
    decoder = get_dialect("openai-chat").stream_decoder(_context(done))
    pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    events = [event for piece in pieces for event in decoder.feed(piece)]
    events += decoder.close()
    check(events)
    assert decoder.terminal
    assert decoder.ended
    end = events[-1]
    assert isinstance(end, StreamEnd)
    assert fold(events) == end.response
    assert end.response.tool_calls[0].arguments_json == '{"m":{"x":1}}'


def test_a_stream_that_is_cut_holds_what_came() -> None:
    """The broken call keeps the wire's text: nobody can turn half a value back."""
    done = encoded(json.loads(MAP), "openai-chat", strict=True)
    decoder = get_dialect("openai-chat").stream_decoder(_context(done))
    events = [*decoder.feed(STREAM[:310]), *decoder.close()]
    check(events)
    assert events[-1].partial.parts[0].raw_arguments.startswith('{"m"')  # type: ignore[union-attr]


def test_output_that_is_no_object_is_wrapped_and_unwrapped_in_strict_mode() -> None:
    """A list stands under `value` on the wire; the answer's text is the list again, whole and streamed."""
    schema = {"type": "array", "items": {"type": "integer"}}
    request = Request(messages=(user("?"),), output_schema=schema, schema_strict=True)
    done = get_dialect("openai-chat").encode_request(request, EncodeOptions(target=Target(model="m")))
    told = json.loads(done.body)["response_format"]["json_schema"]["schema"]
    assert told == {
        "type": "object", "properties": {"value": schema}, "required": ["value"], "additionalProperties": False,
    }  # fmt: skip
    said = {"choices": [{"finish_reason": "stop", "message": {"content": '{"value":[1,2]}'}}]}
    reply = HttpReply(status=200, body=json.dumps(said).encode())
    assert get_dialect("openai-chat").decode_response(reply, _context(done)).parts == (TextPart("[1,2]"),)
    decoder = get_dialect("openai-chat").stream_decoder(_context(done))
    stream = (
        b'data: {"choices":[{"delta":{"content":"{\\"value\\":"}}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"[1,2]}"},"finish_reason":"stop"}]}\n\n'
    )
    events = [*decoder.feed(stream), *decoder.feed(b"data: [DONE]\n\n"), *decoder.close()]
    check(events)
    assert fold(events).text == "[1,2]"


def test_output_of_a_stream_that_is_cut_is_unwrapped_too() -> None:
    """What came before the cut stands in the caller's own form, if it came whole."""
    schema = {"type": "array", "items": {"type": "integer"}}
    request = Request(messages=(user("?"),), output_schema=schema, schema_strict=True)
    done = get_dialect("openai-chat").encode_request(request, EncodeOptions(target=Target(model="m")))
    decoder = get_dialect("openai-chat").stream_decoder(_context(done))
    stream = b'data: {"choices":[{"delta":{"content":"{\\"value\\":[1,2]}"}}]}\n\n'
    end = [*decoder.feed(stream), *decoder.close()][-1]
    assert isinstance(end, StreamError)
    assert end.partial is not None
    assert (end.error, end.partial.parts) == ("IncompleteStreamError", (TextPart("[1,2]"),))


def test_output_that_cannot_be_said_is_refused_or_loosened() -> None:
    """Anthropic always binds; what is beyond the bounds is refused, unless JSON in words is allowed."""
    request = Request(messages=(user("?"),), output_schema=shared(12) | {"type": "object"}, max_tokens=9)
    quirks = Quirks(schema_form="openapi")
    with pytest.raises(UnsupportedError) as caught:
        get_dialect(GOOGLE).encode_request(request, EncodeOptions(target=Target(model="m", quirks=quirks)))
    assert [change.code for change in caught.value.changes] == ["output_schema"]
    options = EncodeOptions(target=Target(model="m", quirks=quirks), allow=frozenset({"output_schema"}))
    done = get_dialect(GOOGLE).encode_request(request, options)
    assert [change.code for change in done.changes] == ["output_schema_loosened"]
    assert json.loads(done.body)["generationConfig"] == {
        "maxOutputTokens": 9,
        "responseMimeType": "application/json",
    }


def test_calls_whose_values_look_the_same_keep_their_exact_text() -> None:
    """Nothing is parsed and written anew where nothing was rewritten."""
    done = encoded(json.loads(CLOSED), "openai-chat", strict=True)
    text = '{ "a" : "x" }'
    reply = HttpReply(status=200, body=json.dumps(_body("openai-chat", text)).encode())
    call = get_dialect("openai-chat").decode_response(reply, _context(done)).parts[0]
    assert isinstance(call, ToolCall)
    assert call.arguments_json == text


def test_tools_that_came_before_are_rewritten_alike_each_time() -> None:
    """The verdict rides along with known tools; what was rewritten is told every time."""
    schema = {"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": [tool]}).encode()
    seen: set[tuple[bytes, tuple[str, ...]]] = set()
    for _ in range(4):
        asked = get_dialect("openai-chat").decode_request(HttpRequest(url="/", body=body), DecodeOptions()).request
        done = get_dialect(GOOGLE).encode_request(asked, EncodeOptions(target=Target(model="m")))
        seen.add((done.body, tuple([change.path for change in done.changes])))
        kept = get_dialect("openai-responses").encode_request(asked, EncodeOptions(target=Target(model="m")))
        assert kept.changes == ()
    assert [paths for _, paths in seen] == [("/tools/0/parameters/properties/n/exclusiveMinimum",)]


def test_an_answer_in_words_is_left_alone() -> None:
    """Only JSON is turned back; a refusal or a sentence stays what it is, in every choice."""
    request = Request(messages=(user("?"),), output_schema={"type": "array", "items": {}}, schema_strict=True)
    done = get_dialect("openai-chat").encode_request(request, EncodeOptions(target=Target(model="m")))
    choices = [{"finish_reason": "stop", "message": {"content": text}} for text in ("No.", '{"value":["1"]}')]
    reply = HttpReply(status=200, body=json.dumps({"choices": choices}).encode())
    response = get_dialect("openai-chat").decode_response(reply, _context(done))
    assert response.text == "No."
    assert response.alternatives[0].parts == (TextPart("[1]"),)


@pytest.mark.parametrize("dialect", ["anthropic", "ollama"])
def test_a_root_that_does_not_say_its_type_becomes_an_object(dialect: str) -> None:
    """Also where everything else about it is usual: the service insists on the type."""
    given = '{"properties":{"only_here":{"type":"string","description":"City."}}}'
    assert sent(given, dialect) == {**json.loads(given), "type": "object"}
    assert paths(given, dialect) == [""]


@pytest.mark.parametrize(
    "dialect", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified"]
)
def test_a_null_that_is_none_is_refused(dialect: str) -> None:
    """A parameter that may be left out is null by default; a number that is not finite is not written as one."""
    schema: dict[str, Any] = {
        "anyOf": [{"type": "number"}, {"type": "null"}],
        "description": "Or null.",
        "default": None,
    }
    told = {"type": "object", "properties": {"a": schema}}
    tool = Tool(name="f", description="F.", parameters=told)
    options = EncodeOptions(target=Target(model="m"))
    request = Request(messages=(user("?"),), tools=(tool,), max_tokens=9)
    done = get_dialect(dialect).encode_request(request, options)
    assert json.dumps(told, separators=(",", ":")).encode() in done.body
    schema["default"] = float("nan")
    with pytest.raises(UsageError, match="not finite"):
        get_dialect(dialect).encode_request(request, options)


def test_verdicts_about_schemas_stay_as_they_were() -> None:
    """A caller who changes a schema that was rewritten changes no later request, and a refusal is told each time."""
    definitions: dict[str, Any] = {"A": {"type": "string", "enum": ["x"]}}
    told = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A", "default": "x"}}, "$defs": definitions}
    text = json.dumps(told)
    bodies: list[bytes] = []
    for _ in range(3):
        given = json.loads(text)
        tool = Tool(name="f", description="F.", parameters=given)
        request = Request(messages=(user("?"),), tools=(tool,), max_tokens=9)
        bodies.append(get_dialect("ollama").encode_request(request, EncodeOptions(target=Target(model="m"))).body)
        given["$defs"]["A"]["enum"].append("y")
    assert len(set(bodies)) == 1
    for _ in range(3):
        with pytest.raises(UnsupportedError, match="10,000 schemas"):
            encoded(shared(12), "ollama")
