"""Freeform tools on servers that know functions alone, and calls that a model wrapped into one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, Dialect, EncodeOptions, Quirks, ServerContext, Target, Undo
from interlingua.dialects._freeform import freeform_parameters
from interlingua.dialects.openai_chat import DIALECT as CHAT
from interlingua.dialects.openai_responses import DIALECT as RESPONSES
from interlingua.stream.check import check
from interlingua.types.content import BrokenToolCall, ToolCall, ToolResult
from interlingua.types.event import Event, StreamEnd
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, Tool
from interlingua.wire.http import HttpReply
from tests.support.chat import chunk, codes, stream

PATCH = '*** Begin Patch\n+a "b"\n*** End Patch'
TOOL = Tool(name="apply_patch", description="Edit files.", freeform=Freeform("lark", 'start: "*** Begin Patch"'))
LOOK = Tool(name="look")
CALL = ToolCall("call_1", "apply_patch", json.dumps({"input": PATCH}), freeform=True)
FUNCTIONS_ALONE = Target(model="m", quirks=Quirks(freeform_tools=False))
FUNCTION = {
    "name": "apply_patch",
    "description": 'Edit files.\nThe input follows this lark grammar:\nstart: "*** Begin Patch"',
    "parameters": freeform_parameters(),
}


def body_of(dialect: Dialect, request: Request) -> Any:
    """The parsed body for a server that knows functions alone."""
    return json.loads(dialect.encode_request(request, EncodeOptions(target=FUNCTIONS_ALONE)).body)


def undo_of(dialect: Dialect, *tools: Tool) -> DecodeContext:
    """What encoding a request with these tools has to have undone."""
    encoded = dialect.encode_request(Request(messages=(user("?"),), tools=tools), EncodeOptions(target=FUNCTIONS_ALONE))
    return DecodeContext(target=FUNCTIONS_ALONE, undo=encoded.undo)


def folded(dialect: Dialect, raw: bytes, context: DecodeContext) -> Response[Any]:
    """The response of a stream, the same however it is cut."""
    found: list[list[Event]] = []
    for size in (1, 7, len(raw)):
        decoder = dialect.stream_decoder(context)
        pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
        found.append([event for piece in pieces for event in decoder.feed(piece)] + decoder.close())
    assert found[0] == found[1] == found[2]
    assert check(found[0]) == ()
    last = found[0][-1]
    assert isinstance(last, StreamEnd), last
    return last.response


def whole(dialect: Dialect, body: dict[str, Any], context: DecodeContext) -> Response[Any]:
    """The response of a whole answer."""
    return dialect.decode_response(HttpReply(status=200, body=json.dumps(body).encode()), context)


def chat_answer(*calls: dict[str, Any], finish: str = "tool_calls") -> dict[str, Any]:
    """A whole answer of Chat with these calls."""
    message = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def function(name: str, arguments: str, call_id: str = "call_1") -> dict[str, Any]:
    """A call of a function on Chat."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def responses_answer(*items: dict[str, Any]) -> dict[str, Any]:
    """A whole answer of Responses with these items."""
    return {"id": "r1", "object": "response", "status": "completed", "model": "m", "output": list(items)}


def item(name: str, arguments: str, call_id: str = "call_1") -> dict[str, Any]:
    """A call of a function on Responses."""
    return {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": arguments}


def responses_stream(*items: dict[str, Any]) -> bytes:
    """The stream of an answer with these calls, their arguments in two pieces."""
    told: list[dict[str, Any]] = [{"type": "response.created", "response": {**responses_answer(), "output": []}}]
    for place, one in enumerate(items):
        place_of: dict[str, Any] = {"output_index": place, "item_id": one["id"]}
        kind, text = "response.function_call_arguments.delta", one["arguments"]
        told += [
            {"type": "response.output_item.added", "output_index": place, "item": {**one, "arguments": ""}},
            {"type": kind, **place_of, "delta": text[:9]},
            {"type": kind, **place_of, "delta": text[9:]},
            {"type": "response.output_item.done", "output_index": place, "item": one},
        ]
    told.append({"type": "response.completed", "response": responses_answer(*items)})
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in told)


def test_srv_01_and_02_a_freeform_tool_is_a_function_with_one_required_string() -> None:
    """On Chat and on Responses, with its grammar in words and an entry; choices name the function."""
    asked = Request(messages=(user("Fix it."),), tools=(TOOL, LOOK), tool_choice=NamedTool("apply_patch"))
    chat, flat = body_of(CHAT, asked), body_of(RESPONSES, asked)
    assert chat["tools"][0] == {"type": "function", "function": FUNCTION}
    assert chat["tool_choice"] == {"type": "function", "function": {"name": "apply_patch"}}
    assert flat["tools"][0] == {"type": "function", **FUNCTION, "strict": False}
    assert flat["tool_choice"] == {"type": "function", "name": "apply_patch"}
    subset = Request(messages=(user("?"),), tools=(TOOL, LOOK), tool_choice=AllowedTools(("apply_patch",)))
    assert body_of(CHAT, subset)["tool_choice"]["allowed_tools"]["tools"][0]["type"] == "function"
    for dialect in (CHAT, RESPONSES):
        encoded = dialect.encode_request(asked, EncodeOptions(target=FUNCTIONS_ALONE))
        assert codes(encoded.changes) == ["freeform_as_function /tools/0"]


def test_srv_03_its_calls_go_back_as_calls_of_the_function() -> None:
    """The history of such a server holds functions alone, and results of functions."""
    history = (user("?"), assistant(CALL), Message("tool", (ToolResult("call_1", "apply_patch", "Done."),)))
    chat = body_of(CHAT, Request(messages=history, tools=(TOOL,)))["messages"]
    assert chat[1]["tool_calls"] == [function("apply_patch", CALL.arguments_json)]
    flat = body_of(RESPONSES, Request(messages=history, tools=(TOOL,)))["input"]
    assert [entry.get("type") for entry in flat[1:]] == ["function_call", "function_call_output"]
    assert flat[1]["arguments"] == CALL.arguments_json


def test_srv_03_a_call_of_the_function_is_freeform_again() -> None:
    """Whole and streamed, from Chat and from Responses."""
    text = CALL.arguments_json
    context = undo_of(CHAT, TOOL)
    assert whole(CHAT, chat_answer(function("apply_patch", text)), context).parts == (CALL,)
    pieces = [json.dumps({"tool_calls": [{"index": 0, **function("apply_patch", text[:9])}]}),
              json.dumps({"tool_calls": [{"index": 0, "function": {"arguments": text[9:]}}]})]  # fmt: skip
    assert folded(CHAT, stream(*pieces), context).parts == (CALL,)
    context = undo_of(RESPONSES, TOOL)
    one = item("apply_patch", text)
    for found in (whole(RESPONSES, responses_answer(one), context), folded(RESPONSES, responses_stream(one), context)):
        [call] = found.tool_calls
        assert (call.freeform, call.arguments_json, call.id) == (True, text, "call_1")


def test_srv_03_a_client_of_chat_gets_its_own_kind_of_call() -> None:
    """`custom` with the raw text, whatever the provider was told."""
    told = json.loads(CHAT.encode_response(Response(parts=(CALL,), finish_reason="tool_calls"), ServerContext()).body)
    [call] = told["choices"][0]["message"]["tool_calls"]
    assert call == {"id": "call_1", "type": "custom", "custom": {"name": "apply_patch", "input": PATCH}}


# Calls inside a call

USES = (
    '{"tool_uses":[{"recipient_name":"functions.look","parameters":{"n":9007199254740993}},'
    '{"recipient_name":"functions.find","parameters":{"q":"a"}}]}'
)
LOOK_CALL, FIND_CALL = ToolCall("call_1", "look", '{"n":9007199254740993}'), ToolCall("call_7", "find", '{"q":"a"}')
KNOWN = DecodeContext(undo=Undo(tool_names=frozenset({"look", "find"}), first_index=6))


@pytest.mark.parametrize("name", ["multi_tool_use.parallel", "parallel"])
def test_calls_inside_a_call_are_calls(name: str) -> None:
    """Whole and streamed, on Chat and on Responses: the same calls, in their order, their arguments to the letter."""
    text = json.dumps({"tool_calls": [{"index": 0, **function(name, USES[:20])}]})
    rest = json.dumps({"tool_calls": [{"index": 0, "function": {"arguments": USES[20:]}}]})
    one = item(name, USES)
    found = [
        whole(CHAT, chat_answer(function(name, USES)), KNOWN),
        folded(CHAT, stream(text, rest), KNOWN),
        whole(RESPONSES, responses_answer(one), KNOWN),
        folded(RESPONSES, responses_stream(one), KNOWN),
    ]
    for response in found:
        assert response.parts == (LOOK_CALL, FIND_CALL)
        assert response.finish_reason == "tool_calls"
        assert codes(response.changes) == ["calls_expanded /parts/0", "call_id_made /parts/1/id"]


def test_what_follows_such_a_call_stays_behind_it() -> None:
    """A further call that streams after the wrapper comes after its calls."""
    further = function("look", "{}", "call_9")
    calls = [{"index": 0, **function("parallel", USES)}, {"index": 1, **further}]
    streamed = folded(CHAT, stream(*[json.dumps({"tool_calls": [call]}) for call in calls]), KNOWN)
    plain = whole(CHAT, chat_answer(function("parallel", USES), further), KNOWN)
    assert streamed.parts == plain.parts == (LOOK_CALL, FIND_CALL, ToolCall("call_9", "look", "{}"))


@pytest.mark.parametrize(
    ("arguments", "undo"),
    [
        (USES, Undo(tool_names=frozenset({"look"}))),
        (USES, Undo(tool_names=frozenset({"look", "find", "parallel"}))),
        (USES, Undo()),
        ('{"tool_uses":[]}', KNOWN.undo),
        ('{"tool_uses":"look"}', KNOWN.undo),
        ('{"queries":[1]}', KNOWN.undo),
    ],
)
def test_any_other_call_of_that_name_stays_one(arguments: str, undo: Undo) -> None:
    """An undeclared recipient, a tool that is really called so, unknown tools, no calls inside."""
    context = DecodeContext(undo=undo)
    text = json.dumps({"tool_calls": [{"index": 0, **function("parallel", arguments)}]})
    expected = (ToolCall("call_1", "parallel", arguments),)
    assert whole(CHAT, chat_answer(function("parallel", arguments)), context).parts == expected
    assert folded(CHAT, stream(text), context).parts == expected
    one = item("parallel", arguments)
    for found in (whole(RESPONSES, responses_answer(one), context), folded(RESPONSES, responses_stream(one), context)):
        assert [(call.id, call.name, call.arguments_json) for call in found.tool_calls] == [
            ("call_1", "parallel", arguments)
        ]


def test_one_that_was_cut_off_is_one_broken_call() -> None:
    """Nothing inside is whole for sure, so nothing is run."""
    cut = USES[:60]
    expected = (BrokenToolCall("call_1", "parallel", cut, "cut_off"),)
    assert whole(CHAT, chat_answer(function("parallel", cut), finish="length"), KNOWN).parts == expected
    raw = chunk(json.dumps({"tool_calls": [{"index": 0, **function("parallel", cut)}]})) + chunk("{}", "length")
    assert folded(CHAT, raw, KNOWN).parts == expected


def test_inner_calls_of_mapped_and_freeform_tools_are_their_own() -> None:
    """The wire's name is turned back, and a freeform tool's call is freeform."""
    uses = json.dumps({"tool_uses": [{"recipient_name": "functions.a_b", "parameters": {"input": "x"}}]})
    undo = Undo(names={"a_b": "a.b"}, tool_names=frozenset({"a.b"}), freeform=frozenset({"a.b"}))
    [call] = whole(CHAT, chat_answer(function("parallel", uses)), DecodeContext(undo=undo)).tool_calls
    assert (call.name, call.freeform, call.arguments) == ("a.b", True, {"input": "x"})
