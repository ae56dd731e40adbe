"""Tools that were read before: what is remembered, for how long, and why it cannot go stale."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Quirks, Target
from interlingua.dialects._tool_cache import CachedTools, ToolCache
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.types.dump import dump
from interlingua.types.request import Request
from interlingua.types.shared import CHANGERS, read_only
from interlingua.types.tool import OpaqueTool, Tool
from interlingua.wire.http import HttpRequest

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
    assert type(first.tools) is tuple
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


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in CHANGERS.items() for name in names])
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
