"""Tools that were read before: what is remembered, for how long, and why it cannot go stale."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import DecodeOptions, Encoded, EncodeOptions, Quirks, Target
from interlingua.dialects._tool_cache import CachedTools, NewTools, ToolCache, equal_tools
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import UsageError
from interlingua.types.content import TextPart
from interlingua.types.dump import dump
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.shared import CHANGERS, read_only
from interlingua.types.tool import OpaqueTool, Tool
from interlingua.wire.http import HttpRequest
from tests.support.cells import cells

CHAT = get_dialect("openai-chat")
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "default": None}},
    "required": ["city"],
    "additionalProperties": False,
}


def wire_tools(name: str, **members: Any) -> list[dict[str, Any]]:
    """The `tools` of one function with the schema of this file."""
    return [{"type": "function", "function": {"name": name, "parameters": SCHEMA}, **members}]


def body_of(tools: list[dict[str, Any]]) -> bytes:
    """A request with these tools."""
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": tools}).encode()


def read(tools: list[dict[str, Any]], times: int = 3) -> Request:
    """The request with these tools, decoded so many times: the last one."""
    decoded = [CHAT.decode_request(HttpRequest(url="/", body=body_of(tools)), DecodeOptions()) for _ in range(times)]
    return decoded[-1].request


def written(request: Request, quirks: Quirks | None = None) -> list[dict[str, Any]]:
    """The tools that are sent."""
    target = Target(model="m", quirks=quirks or Quirks())
    return json.loads(CHAT.encode_request(request, EncodeOptions(target=target)).body)["tools"]


def test_the_third_time_the_tools_are_known_and_equal_to_the_first() -> None:
    """Known tools, and what is sent of them, equal those that were parsed."""
    first, third = read(wire_tools("equal"), 1), read(wire_tools("equal"))
    assert type(first.tools) is NewTools
    assert type(third.tools) is CachedTools
    assert third == first
    for _ in range(2):
        assert written(third) == written(first) == wire_tools("equal")


def test_a_schema_that_is_shared_cannot_be_changed() -> None:
    """No request can change the schema that another one holds, at any depth."""
    tool = read(wire_tools("shared")).tools[0]
    assert isinstance(tool, Tool)
    with pytest.raises(TypeError, match="change a copy"):
        tool.parameters["properties"]["city"]["type"] = "integer"
    with pytest.raises(TypeError, match="change a copy"):
        tool.parameters["required"].append("days")
    assert written(read(wire_tools("shared"))) == wire_tools("shared")


@cells(("kind", "name"), [(kind, name) for kind, names in CHANGERS.items() for name in names])
def test_every_method_that_changes_a_value_is_refused(kind: type, name: str) -> None:
    """All methods that plain dicts and lists have and frozen ones have not are refused."""
    with pytest.raises(TypeError, match="change a copy"):
        getattr(kind(), name)("a", "b")


def test_no_changing_method_was_forgotten() -> None:
    """Whatever a list or dict has in place of a read-only type is in the table of refused methods."""
    reading = {"__init__", "__new__", "__getattribute__", "__class_getitem__", "__init_subclass__", "__setattr__"}
    frozen = {*dir(tuple), *dir(frozenset), *reading}
    harmless = {"copy", "fromkeys", "get", "items", "keys", "values", "__reversed__", "__delattr__", "__getitem__"}
    for kind, names in CHANGERS.items():
        assert set(dir(kind.__base__)) - frozen - harmless - {"__or__", "__ror__"} <= set(names)


def test_a_copy_of_a_shared_schema_is_free() -> None:
    """Deep copies and pickles of shared values are plain ones, the tuple of tools included."""
    tools = read(wire_tools("copied")).tools
    for again in (copy.deepcopy(tools), pickle.loads(pickle.dumps(tools))):
        assert again == tools
        assert type(again) is tuple
        assert isinstance(again[0], Tool)
        assert type(again[0].parameters["properties"]["city"]) is dict
        again[0].parameters["required"].append("days")
    assert written(read(wire_tools("copied"))) == wire_tools("copied")


def test_members_given_to_a_known_tool_are_sent_and_stay_with_it() -> None:
    """Nobody can give members to a tool that requests share; one that is replaced is written for its request alone."""
    request = read(wire_tools("own"))
    assert written(request) == wire_tools("own")
    tool = request.tools[0]
    assert isinstance(tool, Tool)
    with pytest.raises(TypeError, match="make a new one"):
        tool.extra["openai-chat"] = {"priority": 1}
    with pytest.raises(TypeError, match="make a new one"):
        tool.metadata["seen"] = True
    own = msgspec.structs.replace(tool, extra={"openai-chat": {"priority": 1}}, metadata={"seen": True})
    assert written(msgspec.structs.replace(request, tools=(own,))) == wire_tools("own", priority=1)
    assert written(read(wire_tools("own"))) == wire_tools("own")


def test_known_tools_are_told_as_any_others() -> None:
    """What is empty in them is left out of canonical JSON, and of our own format."""
    first, third = read(wire_tools("told"), 1), read(wire_tools("told"))
    assert dump(third) == dump(first)
    bodies = [
        get_dialect("unified").encode_request(one, EncodeOptions(target=Target(model="m"))).body
        for one in (first, third)
    ]
    assert bodies[0] == bodies[1]


def test_a_tool_replaced_in_a_request_is_what_is_sent() -> None:
    """A request built of known tools and others is written anew."""
    request = read(wire_tools("before"))
    assert written(request) == wire_tools("before")
    tool = msgspec.structs.replace(request.tools[0], name="after")
    assert written(msgspec.structs.replace(request, tools=(tool,))) == wire_tools("after")


def test_what_a_server_does_not_know_is_left_out_for_it_alone() -> None:
    """The text that is kept for one kind of server is not sent to another."""
    tools = wire_tools("strict")
    tools[0]["function"]["strict"] = True
    request = read(tools)
    assert written(request) == tools
    for _ in range(2):
        assert written(request, Quirks(strict_schemas=False)) == wire_tools("strict")
    assert written(request) == tools


def test_changes_are_told_every_time() -> None:
    """Tools whose reading or writing changes something are never remembered."""
    flat = [{"type": "function", "name": "flat", "parameters": SCHEMA}]
    for _ in range(3):
        decoded = CHAT.decode_request(HttpRequest(url="/", body=body_of(flat)), DecodeOptions())
        assert [change.code for change in decoded.changes] == ["foreign_shape"]
    strict = wire_tools("told")
    strict[0]["function"]["strict"] = True
    request = read(strict)
    for _ in range(3):
        target = Target(model="m", quirks=Quirks(strict_schemas=False))
        changes = CHAT.encode_request(request, EncodeOptions(target=target)).changes
        assert [change.code for change in changes] == ["strict_unsupported"]


def test_a_repaired_text_is_repaired_every_time() -> None:
    """Half of a surrogate pair in a tool is told with every request."""
    body = body_of(wire_tools("torn")).replace(b'"torn"', b'"torn", "description": "\\ud800"')
    for _ in range(3):
        decoded = CHAT.decode_request(HttpRequest(url="/", body=body), DecodeOptions())
        assert [change.code for change in decoded.changes] == ["lone_surrogate"]
        assert decoded.request.tools[0] == Tool(name="torn", description="\ufffd", parameters=SCHEMA)


@pytest.mark.parametrize(
    "tools", [(), (OpaqueTool("openai-chat", "x", {}),), (Tool(name="a"), OpaqueTool("google", "x", {}))]
)
def test_unusual_lists_are_not_remembered(tools: tuple[Tool | OpaqueTool, ...]) -> None:
    """No tools and tools of one dialect are read anew each time."""
    memo = ToolCache()
    for _ in range(3):
        memo.keep(b"[]", tools)
        assert memo.get(b"[]") is None


@pytest.mark.parametrize(
    ("name", "tool", "extra"),
    [
        ("openai-responses", {"type": "function", "name": "a", "parameters": SCHEMA}, {"strict": None}),
        (
            "openai-responses",
            {
                "type": "custom",
                "name": "a",
                "format": {"type": "grammar", "syntax": "lark", "definition": "s: /x/"},
                "y": [1],
            },
            {"y": [1]},
        ),
        ("openai-chat", {"type": "function", "function": {"name": "a", "parameters": SCHEMA}, "x": {"y": [1]}}, None),
        ("anthropic", {"name": "a", "input_schema": SCHEMA, "defer_loading": True}, {"defer_loading": True}),
    ],
)
def test_tools_with_members_of_their_own_are_remembered_with_them(
    name: str, tool: dict[str, Any], extra: dict[str, Any] | None
) -> None:
    """As they came, so that nobody can change what others share; each dialect writes them as it wrote them first."""
    dialect, body = get_dialect(name), json.loads(body_of([tool]))
    if name == "openai-responses":
        body["input"] = body.pop("messages")
    http = HttpRequest(url="https://x.example/v1/messages", body=json.dumps({**body, "max_tokens": 9}).encode())
    read = [dialect.decode_request(http, DecodeOptions()).request for _ in range(4)]
    first, last = read[0], read[-1]
    assert type(last.tools) is CachedTools
    assert last.tools == first.tools
    assert extra is None or last.tools[0].extra == {name: extra}
    assert dump(last) == dump(first)
    with pytest.raises(TypeError, match="requests share this value"):
        last.tools[0].extra[name]["more"] = 1
    for other in DIALECTS:
        told = [
            get_dialect(other).encode_request(request, EncodeOptions(target=Target(model="m")))
            for request in (first, last, last)
        ]
        assert told[0].body == told[1].body == told[2].body
        assert told[0].changes == told[1].changes == told[2].changes


def test_memory_is_bounded_and_what_is_used_stays() -> None:
    """Two generations are all there is: a list in use outlives any number of others, one that is not is forgotten."""
    memo = ToolCache(max_generation_bytes=100)
    for _ in range(2):
        memo.keep(b"idle", (Tool(name="idle"),))
        memo.keep(b"busy", (Tool(name="busy"),))
    for number in range(100):
        memo.keep(f"tools number {number}".encode(), (Tool(name="other"),))
        assert memo.get(b"busy") == (Tool(name="busy"),)
    assert memo.get(b"idle") is None


def test_a_list_beyond_the_bound_is_not_remembered() -> None:
    """One huge list cannot push out all others."""
    memo = ToolCache(max_generation_bytes=10)
    for _ in range(2):
        memo.keep(b"eleven bytes", (Tool(name="a"),))
    assert memo.get(b"eleven bytes") is None


def test_read_only_values_are_written_as_any_other() -> None:
    """Both JSON writers say the same of a read-only value as of a plain one."""
    assert json.dumps(read_only(SCHEMA)) == json.dumps(SCHEMA)
    assert msgspec.json.encode(read_only(SCHEMA)) == msgspec.json.encode(SCHEMA)


# Tools of programs


def own_tool(name: str, schema: dict[str, Any] | None = None, **members: Any) -> Tool:
    """A tool of a program, with a handler and a schema of its own."""
    return Tool(name=name, parameters=copy.deepcopy(schema or SCHEMA), handler=lambda: None, **members)


def sent(tools: Sequence[Tool | OpaqueTool], dialect: str = "openai-chat", **options: Any) -> Encoded:
    """A request of a program with these tools, as it is sent."""
    request = Request(messages=(Message("user", (TextPart("Hi"),)),), tools=tuple(tools), max_tokens=9)
    target = options.pop("target", Target(model="m"))
    return get_dialect(dialect).encode_request(request, EncodeOptions(target=target, **options))


@pytest.mark.parametrize("name", DIALECTS)
def test_equal_tools_of_a_program_are_sent_alike_each_time(name: str) -> None:
    """The cached text of tools with equal members is what was written for the first of them, in each dialect."""
    told = [sent([own_tool(f"equal_{name}"), own_tool("second", strict=True)], name) for _ in range(5)]
    assert {encoded.body for encoded in told} == {told[0].body}
    assert {encoded.changes for encoded in told} == {told[0].changes}
    assert {encoded.undo.tool_names for encoded in told} == {told[0].undo.tool_names}


def test_a_schema_changed_in_place_is_sent_as_it_is_now() -> None:
    """A program may change its own schema between two calls, however often the tool was sent before."""
    tool = own_tool("changing")
    for days in range(6):
        for _ in range(3):
            assert json.loads(sent([tool]).body)["tools"][0]["function"]["parameters"] == tool.parameters
        tool.parameters["properties"][f"day_{days}"] = {"type": "integer"}
        tool.parameters["required"].append(f"day_{days}")


def test_the_cache_holds_no_handler_and_no_schema_of_a_program() -> None:
    """What is kept of tools of a program are copies without handlers and notes; the program's own stay as they are."""
    tools = (own_tool("kept apart", metadata={"owner": object()}),)
    cached = [equal_tools(tools) for _ in range(3)][-1][0]
    assert isinstance(cached, Tool)
    assert (cached.handler, cached.metadata) == (None, {})
    assert cached.parameters == tools[0].parameters
    assert cached.parameters is not tools[0].parameters
    tools[0].parameters["properties"]["city"]["type"] = "integer"
    assert equal_tools(tools) is tools


@pytest.mark.parametrize("first", [None, float("nan")])
def test_a_number_that_is_not_finite_is_refused_although_null_was_sent_before(first: float | None) -> None:
    """Both are null in the text by which a tool is cached: a null is sent, and the other refused, in any order."""
    schema: dict[str, Any] = {"type": "object", "properties": {"city": {"default": None}}, "title": f"after {first}"}
    broken = copy.deepcopy(schema)
    broken["properties"]["city"]["default"] = float("nan")
    for value in (first, None, float("nan")) * 4:
        if value is None:
            assert b'"default":null' in sent([own_tool("null", schema)]).body
        else:
            with pytest.raises(UsageError, match="not finite"):
                sent([own_tool("null", broken)])


def test_what_json_cannot_say_is_refused_each_time() -> None:
    """A value that is not JSON is an error with every request, not only until a cache has the tool."""
    for _ in range(4):
        with pytest.raises(UsageError, match="not JSON"):
            sent([own_tool("odd", {"type": "object", "properties": {"a": {"default": object()}}})])


def test_rewritten_schemas_are_told_with_every_request() -> None:
    """The text of tools whose schemas a target takes in other words is cached with the entries and the conversion."""
    told = [sent([own_tool("rewritten", {"type": "array"}), own_tool("taken")]) for _ in range(5)]
    assert [(change.code, change.path) for change in told[0].changes] == [("schema_rewritten", "/tools/0/parameters")]
    assert json.loads(told[0].body)["tools"][0]["function"]["parameters"]["type"] == "object"
    assert {encoded.body for encoded in told} == {told[0].body}
    assert {encoded.changes for encoded in told} == {told[0].changes}
    assert [encoded.undo.arguments for encoded in told] == [told[0].undo.arguments] * 5


def test_a_tool_that_is_let_go_is_let_go_each_time() -> None:
    """Where a schema cannot be said, and tools may be let go, the others are sent, as often as they come."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(70):
        deep = {"type": "array", "items": deep}
    deep = {"type": "object", "properties": {"a": deep}}
    for _ in range(5):
        encoded = sent([own_tool("deep", deep), own_tool("sound")], "google", allow=frozenset({"tools"}))
        declared = json.loads(encoded.body)["tools"][0]["functionDeclarations"]
        assert [tool["name"] for tool in declared] == ["sound"]
        assert [(change.code, change.path) for change in encoded.changes] == [("tools", "/tools/0")]
        assert encoded.undo.tool_names == {"sound"}


def test_tools_that_never_come_again_are_written_each_time() -> None:
    """Hundreds of lists of tools, each sent once, are sent as they are."""
    for number in range(300):
        name = f"never_{number}"
        assert [tool["function"]["name"] for tool in json.loads(sent([own_tool(name)]).body)["tools"]] == [name]


def test_threads_send_their_own_tools() -> None:
    """Threads that send a few lists of tools in turn each send the list that they gave."""
    lists = [[own_tool(f"thread_{number}_{place}") for place in range(3)] for number in range(4)]
    bodies = [sent(tools).body for tools in lists]

    def turn(number: int) -> bool:
        return sent(lists[number % 4]).body == bodies[number % 4]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(turn, range(400)))
