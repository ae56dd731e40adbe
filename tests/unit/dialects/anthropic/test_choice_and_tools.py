"""Tools, tool choice, names and schemas: each test feeds what broke somebody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, Quirks, Target
from interlingua.errors import DecodeError, UnsupportedError, UsageError
from interlingua.types.content import ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool
from tests.support.messages import NAME, codes, decode, encode, known, reply, wire

TOOL = Tool(name="f", description="Does.")
OTHER = Tool(name="g", description="Does too.")
HI = (user("Hi"),)


def chosen(choice: Any, **rest: Any) -> Any:
    """The tool choice on the wire."""
    return wire(Request(messages=HI, tools=(TOOL, OTHER), tool_choice=choice, **rest)).get("tool_choice")


def read(choice: Any) -> Any:
    """The canonical choice of a client's, and whether several calls are allowed."""
    asked = decode({"tools": [{"name": "f", "input_schema": {"type": "object"}}], "tool_choice": choice}).request
    return asked.tool_choice, asked.parallel_tool_calls


def test_res_30_a_tool_without_a_type_is_the_callers_own() -> None:
    """Missing, empty and `custom` are the same tool."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    given = [{"name": "f", "input_schema": schema}, {"type": "", "name": "g"}, {"type": "custom", "name": "h"}]
    tools = decode({"tools": given}).request.tools
    assert [tool.name for tool in tools if isinstance(tool, Tool)] == ["f", "g", "h"]
    assert isinstance(tools[0], Tool)
    assert tools[0].parameters == schema


def test_r12_a_definition_is_flat() -> None:
    """Name, description and schema stand beside each other; extras come back."""
    given: dict[str, Any] = {"name": "f", "description": "Does.", "strict": True,
             "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
             "eager_input_streaming": True, "input_examples": [{"a": 1}], "new_member": 1}  # fmt: skip
    asked = decode({"tools": [given]}).request
    assert wire(asked)["tools"] == [given]


@pytest.mark.parametrize(("strict", "changed"), [(True, ["dropped strict_unsupported /tools/0/strict"]), (False, [])])
def test_r18_a_server_without_strictness_loses_only_the_wish_for_it(strict: bool, changed: list[str]) -> None:
    """What is not to be strict is not strict there anyway."""
    target = Target(model="m", quirks=Quirks(strict_schemas=False))
    encoded = encode(Request(messages=HI, tools=(Tool(name="f", strict=strict),), max_tokens=1), target)
    assert b"strict" not in encoded.body
    assert codes(encoded.changes) == changed


def test_r25_no_tools_is_no_member() -> None:
    """An empty list of tools is left out."""
    assert "tools" not in wire(Request(messages=HI))


def test_r25_a_tool_without_a_name_is_an_error() -> None:
    """A malformed entry is never a tool called unknown."""
    with pytest.raises(DecodeError, match="/tools/0/name") as caught:
        decode({"tools": [{"description": "x"}]})
    assert caught.value.status == 400


def test_cho_19_the_nested_shape_of_another_dialect_is_understood() -> None:
    """A Chat tool on this door is the same tool, with an entry."""
    found = decode({"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]})
    assert found.request.tools == (Tool(name="f", parameters={"type": "object"}),)
    assert codes(found.changes) == ["repaired foreign_shape /tools/0"]


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        (NamedTool("f"), {"type": "tool", "name": "f", "disable_parallel_tool_use": True}),
    ],
)
def test_r16_each_choice_has_its_word(choice: Any, said: Any) -> None:
    """Required is `any`; a named tool is asked for once."""
    assert chosen(choice) == said


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"type": "auto"}, ("auto", None)),
        ({"type": "none"}, ("none", None)),
        ({"type": "any"}, ("required", None)),
        ({"type": "tool", "name": "f"}, (NamedTool("f"), True)),
        ({"type": "tool", "name": "f", "disable_parallel_tool_use": True}, (NamedTool("f"), False)),
        ({"type": "auto", "disable_parallel_tool_use": False}, ("auto", True)),
    ],
)
def test_cho_01_each_word_is_read(given: Any, found: Any) -> None:
    """`none` and the others are read, with the inverted flag."""
    assert read(given) == found


@pytest.mark.parametrize(
    "given",
    ["required", "any", {"type": {"type": "any"}}, {"type": "required"}],
)
def test_cho_16_a_choice_in_another_shape_is_understood(given: Any) -> None:
    """A word, and a choice that was wrapped twice, are the same choice."""
    assert read(given)[0] == "required"


def test_cho_16_a_named_choice_of_chat_is_understood() -> None:
    """`{"type":"function","function":{"name":…}}` names the tool."""
    assert read({"type": "function", "function": {"name": "f"}})[0] == NamedTool("f")


@pytest.mark.parametrize("given", [{"type": "sometimes"}, {"type": "tool"}, 5, []])
def test_cho_16_any_other_choice_is_refused(given: Any) -> None:
    """What is no choice is named."""
    with pytest.raises(DecodeError, match="/tool_choice"):
        read(given)


def test_cho_02_none_is_never_auto() -> None:
    """Calls that are forbidden stay forbidden."""
    assert chosen("none", parallel_tool_calls=None) == {"type": "none"}


def test_cho_04_only_parallel_calls_off_rides_on_auto() -> None:
    """The flag alone forces no call."""
    assert chosen(None, parallel_tool_calls=False) == {"type": "auto", "disable_parallel_tool_use": True}
    assert chosen(None, parallel_tool_calls=True) is None


def test_cho_05_none_has_no_parallel_flag() -> None:
    """The service refuses the flag there; leaving it out is said."""
    asked = Request(messages=HI, tools=(TOOL,), tool_choice="none", parallel_tool_calls=False)
    assert wire(asked)["tool_choice"] == {"type": "none"}
    assert "dropped parameter_unsupported /parallel_tool_calls" in codes(encode(asked).changes)


@pytest.mark.parametrize(("choice", "kind"), [("auto", "auto"), ("required", "any")])
def test_cho_07_the_flag_is_inverted(choice: Any, kind: str) -> None:
    """Parallel calls off is `disable_parallel_tool_use`, on says so too."""
    assert chosen(choice, parallel_tool_calls=False) == {"type": kind, "disable_parallel_tool_use": True}
    assert chosen(choice, parallel_tool_calls=True) == {"type": kind, "disable_parallel_tool_use": False}


def test_cho_18_a_named_tool_is_called_once_unless_more_is_allowed() -> None:
    """Somebody who forces one tool expects one call."""
    assert chosen(NamedTool("f"))["disable_parallel_tool_use"] is True
    assert chosen(NamedTool("f"), parallel_tool_calls=True) == {"type": "tool", "name": "f"}


def test_cho_17_a_choice_goes_through_the_name_map_and_must_be_there() -> None:
    """A renamed tool is chosen under its wire name; an unknown one is our caller's error."""
    dotted = Tool(name="files.read", description="Reads.")
    body = wire(Request(messages=HI, tools=(dotted,), tool_choice=NamedTool("files.read")))
    assert body["tool_choice"]["name"] == body["tools"][0]["name"] != "files.read"
    with pytest.raises(UsageError, match="'nope'"):
        wire(Request(messages=HI, tools=(TOOL,), tool_choice=NamedTool("nope")))


def test_r16_an_allowed_subset_leaves_the_other_tools_out() -> None:
    """The wire has no subset: the other tools are not offered, and that is said."""
    asked = Request(messages=HI, tools=(TOOL, OTHER), tool_choice=AllowedTools(("g",), "required"))
    body = wire(asked)
    assert [tool["name"] for tool in body["tools"]] == ["g"]
    assert body["tool_choice"] == {"type": "any"}
    assert "approximated tool_choice_approximated /tool_choice" in codes(encode(asked).changes)
    assert "approximated tool_choice_approximated /tools" in codes(encode(asked).changes)


def test_thk_11_a_forced_choice_gives_way_to_thinking_with_a_budget() -> None:
    """The service refuses both together; the model may choose, and that is said."""
    asked = Request(messages=HI, tools=(TOOL,), tool_choice="required", thinking_budget=2048, max_tokens=4096)
    assert wire(asked)["tool_choice"] == {"type": "auto"}
    assert codes(encode(asked).changes) == ["approximated tool_choice_approximated /tool_choice"]


def test_thk_11_a_model_without_forced_choice_may_choose() -> None:
    """What the facts of the family say counts."""
    asked = Request(messages=HI, tools=(TOOL,), tool_choice=NamedTool("f"), max_tokens=10)
    assert wire(asked, known(forced_choice=False))["tool_choice"]["type"] == "auto"


def test_id_15_a_dotted_name_is_mapped_and_back() -> None:
    """The wire's name is legal and unique; the caller sees its own."""
    tools = (Tool(name="a.b", description="x"), Tool(name="a:b", description="y"), Tool(name="a_b", description="z"))
    encoded = encode(Request(messages=HI, tools=tools, max_tokens=1))
    names = [tool["name"] for tool in json.loads(encoded.body)["tools"]]
    assert len(set(names)) == 3
    assert names[2] == "a_b"
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") for name in names)
    assert codes(encoded.changes) == [
        "approximated name_mapped /tools/0/name",
        "approximated name_mapped /tools/1/name",
    ]
    context = DecodeContext(undo=encoded.undo)
    answer = reply(f'[{{"type":"tool_use","id":"t","name":"{names[0]}","input":{{}}}}]', "tool_use", context=context)
    assert answer.parts == (ToolCall("t", "a.b", "{}"),)


def test_id_16_a_name_over_128_characters_is_shortened() -> None:
    """64 is Chat's limit; here it is 128."""
    long = Tool(name="n" * 128, description="x")
    longer = Tool(name="n" * 129, description="x")
    names = [tool["name"] for tool in wire(Request(messages=HI, tools=(long, longer)))["tools"]]
    assert names[0] == "n" * 128
    assert len(names[1]) <= 128
    assert names[0] != names[1]


def test_sch_15_a_tool_without_parameters_takes_an_empty_object() -> None:
    """An empty schema, and none at all, become the object schema that the service insists on."""
    empty = Tool(name="f", description="x", parameters={})
    assert wire(Request(messages=HI, tools=(empty,)))["tools"][0]["input_schema"] == {
        "type": "object",
        "properties": {},
    }


def test_sch_17_a_combinator_at_the_root_is_folded() -> None:
    """The branches' properties are offered, what they demand stands in the description."""
    one = {"properties": {"a": {"type": "string"}}, "required": ["a"]}
    two = {"properties": {"b": {"type": "integer"}}, "required": ["b"]}
    tool = Tool(name="f", description="x", parameters={"type": "object", "anyOf": [one, two]})
    encoded = encode(Request(messages=HI, tools=(tool,), max_tokens=1))
    schema = json.loads(encoded.body)["tools"][0]["input_schema"]
    assert schema["type"] == "object"
    assert schema["properties"] == {"a": {"type": "string"}, "b": {"type": "integer"}}
    assert schema.keys().isdisjoint({"anyOf", "oneOf", "allOf"})
    assert '"required":["a"]' in schema["description"]
    assert codes(encoded.changes) == ["approximated schema_rewritten /tools/0/parameters"]


def test_srv_10_a_tool_that_the_provider_runs_passes_or_is_refused_by_name() -> None:
    """Verbatim here; one of another dialect is an error that names it."""
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
    server = {"type": "url", "url": "https://tools.example/sse", "name": "tools"}
    asked = decode({"tools": [search], "mcp_servers": [server]}).request
    assert asked.tools == (
        OpaqueTool(NAME, "web_search_20250305", search),
        OpaqueTool(NAME, "mcp_server", server),
    )
    body = wire(asked)
    assert (body["tools"], body["mcp_servers"]) == ([search], [server])
    foreign = OpaqueTool("openai-responses", "file_search", {"type": "file_search"})
    with pytest.raises(UnsupportedError, match="file_search of openai-responses"):
        wire(Request(messages=HI, tools=(foreign,)))
    allowed = encode(Request(messages=HI, tools=(foreign,), max_tokens=1), allow=frozenset({"server_tools"}))
    assert codes(allowed.changes) == ["dropped server_tools /tools/0"]


def test_srv_01_a_freeform_tool_is_a_function_with_one_string() -> None:
    """It keeps its kind for the answer, and its grammar is told in the description."""
    patch = Tool(name="patch", description="Edits.", freeform=Freeform("lark", "start: X"))
    encoded = encode(Request(messages=HI, tools=(patch,), max_tokens=1))
    offered = json.loads(encoded.body)["tools"][0]
    assert offered["input_schema"]["required"] == ["input"]
    assert "start: X" in offered["description"]
    assert codes(encoded.changes) == ["approximated freeform_as_function /tools/0"]
    context = DecodeContext(undo=encoded.undo)
    body = '[{"type":"tool_use","id":"t","name":"patch","input":{"input":"*** a"}}]'
    assert reply(body, "tool_use", context=context).parts == (
        ToolCall("t", "patch", '{"input":"*** a"}', freeform=True),
    )


def test_id_04_a_foreign_id_is_made_legal_on_call_and_result_alike() -> None:
    """`:`, `.` and `|` are refused by the service; two ids never become one (ID-05)."""
    calls = (ToolCall("call:1.a", "f", "{}"), ToolCall("call.1:a", "f", "{}"), ToolCall("toolu_01-x", "f", "{}"))
    results = Message("tool", tuple(ToolResult(call.id, "f", "ok") for call in calls))
    encoded = encode(Request(messages=(user("Hi"), assistant(*calls), results), max_tokens=1))
    said = json.loads(encoded.body)["messages"]
    ids = [block["id"] for block in said[1]["content"]]
    assert ids == [block["tool_use_id"] for block in said[2]["content"]]
    assert len(set(ids)) == 3
    assert ids[2] == "toolu_01-x"
    assert codes(encoded.changes) == ["approximated id_mapped /messages"] * 2


def test_id_19_ids_of_provider_run_tools_are_never_touched() -> None:
    """Their blocks go back verbatim, whatever their ids look like."""
    ran = {"type": "server_tool_use", "id": "srvtoolu_01.x", "name": "web_search", "input": {"q": "a"}}
    found: Any = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_01.x", "content": []}
    asked = decode({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [ran, found]}]})
    assert wire(asked.request)["messages"][1]["content"] == [ran, found]
