"""Requests of our own format: every rule by its name, and what a caller's request becomes on the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.dialects.unified import DIALECT
from interlingua.errors import DecodeError, Error, HistoryError, LimitExceededError, UsageError
from interlingua.types.content import (
    BrokenToolCall,
    ImagePart,
    Json,
    OpaquePart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, user
from interlingua.types.request import Request, ServerState
from interlingua.types.tool import EMPTY_PARAMETERS, AllowedTools, NamedTool, OpaqueTool, Tool
from interlingua.wire.http import HttpReply, HttpRequest

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string", "description": "Its name."}}}
TOOL: dict[str, Any] = {"name": "get_weather", "description": "The weather.", "parameters": PARAMETERS}
CALL: dict[str, Any] = {"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Oslo"}}
RESULT: dict[str, Any] = {"type": "tool_result", "tool_call_id": "c1", "content": "4"}
BROKEN: dict[str, Any] = {
    "type": "broken_tool_call", "id": "c", "name": "f", "raw_arguments": '{"a', "reason": "cut_off"
}  # fmt: skip
ASK = {"role": "user", "content": "Weather?"}


def says(*parts: dict[str, Any]) -> dict[str, Any]:
    """An assistant message."""
    return {"role": "assistant", "parts": list(parts)}


def results(*parts: dict[str, Any]) -> dict[str, Any]:
    """A message with results."""
    return {"role": "tool", "parts": list(parts)}


def read(body: dict[str, Any] | bytes, **options: Any) -> Request:
    """The request that a body is; model and messages are added."""
    filled = {"model": "m", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}
    raw = body if isinstance(body, bytes) else json.dumps({**filled, **body}).encode()
    return DIALECT.decode_request(HttpRequest(url="http://test/", body=raw), DecodeOptions(**options)).request


def sent(request: Request, **options: Any) -> dict[str, Any]:
    """The parsed body of a request."""
    body = DIALECT.encode_request(request, EncodeOptions(target=Target(model="m"), **options)).body
    return json.loads(body)


def tool(**members: Any) -> dict[str, Any]:
    """A body with one tool that has these members in place of good ones."""
    return {"tools": [{name: value for name, value in {**TOOL, **members}.items() if value is not None}]}


def described(**properties: Any) -> dict[str, Any]:
    """A body with one tool of these parameters."""
    return tool(parameters={"type": "object", "properties": properties})


RULES: list[tuple[str, dict[str, Any], str, str]] = [
    ("unknown_member", {"warmth": 1}, "/warmth", "the format has no such member"),
    ("unknown_member", tool(input_schema={}), "/tools/0/input_schema", "the format has no such member"),
    ("unknown_member", {"messages": [{**ASK, "a/b": 1}]}, "/messages/0/a~1b", "the format has no such member"),
    (
        "tool_name_illegal",
        tool(name="get-weather"),
        "/tools/0/name",
        "the tool name 'get-weather' is not 1 to 64 of a-z, A-Z, 0-9 and _",
    ),
    (
        "tool_name_illegal",
        tool(name="x" * 65),
        "/tools/0/name",
        f"the tool name {'x' * 65!r} is not 1 to 64 of a-z, A-Z, 0-9 and _",
    ),
    (
        "tool_name_duplicate",
        {"tools": [TOOL, TOOL]},
        "/tools/1/name",
        "the tools 0 and 1 have the same name 'get_weather'",
    ),
    (
        "tool_description_missing",
        tool(description=None),
        "/tools/0/description",
        "the tool 'get_weather' has no description",
    ),
    (
        "tool_description_missing",
        tool(description="  "),
        "/tools/0/description",
        "the tool 'get_weather' has no description",
    ),
    (
        "parameter_description_missing",
        described(city={"type": "string"}),
        "/tools/0/parameters/properties/city/description",
        "the parameter 'city' of the tool 'get_weather' has no description",
    ),
    (
        "parameter_description_missing",
        described(city=True),
        "/tools/0/parameters/properties/city/description",
        "the parameter 'city' of the tool 'get_weather' has no description",
    ),
    (
        "schema_invalid",
        tool(parameters={"type": "object", "required": 7}),
        "/tools/0/parameters",
        "the parameters of the tool 'get_weather': no valid JSON Schema: at required: 7 is not a list",
    ),
    (
        "schema_invalid",
        tool(parameters={"type": "string"}),
        "/tools/0/parameters/type",
        "the parameters of the tool 'get_weather': the type of arguments is object",
    ),
    ("schema_invalid", {"output_schema": {"type": 7}}, "/output_schema", "no valid JSON Schema"),
    (
        "tool_choice_unknown",
        {**tool(), "tool_choice": {"type": "named_tool", "name": "f"}},
        "/tool_choice",
        "it names the tool 'f', which is not among the tools",
    ),
    (
        "tool_choice_unknown",
        {**tool(), "tool_choice": {"type": "allowed_tools", "names": ["get_weather", "g"]}},
        "/tool_choice",
        "it names the tool 'g', which is not among the tools",
    ),
    ("call_id_missing", {"messages": [says({**CALL, "id": " "})]}, "/messages/0/parts/0/id", "a call must have an id"),
]
"""Rule, a body that breaks it, the place, the beginning of the sentence."""


@pytest.mark.parametrize(
    ("rule", "body", "path", "sentence"), RULES, ids=[f"{row[0]}-{at}" for at, row in enumerate(RULES)]
)
def test_r47_a_rule_that_is_broken_is_named(rule: str, body: dict[str, Any], path: str, sentence: str) -> None:
    """R31, R47: a 400 with the rule's name, the place, and a sentence that says which tool or member it is."""
    with pytest.raises(DecodeError) as caught:
        read(body)
    assert (caught.value.code, caught.value.path) == (rule, path)
    assert caught.value.message.startswith(f"{path}: {sentence}")
    reply = DIALECT.encode_error(caught.value, ServerContext())
    told = json.loads(reply.body)["error"]
    assert (reply.status, told["status"], told["code"], told["path"]) == (400, 400, rule, path)
    again = DIALECT.decode_error(reply, DecodeContext())
    assert (type(again), again.message, again.code) == (DecodeError, caught.value.message, rule)


HISTORIES: list[tuple[str, list[dict[str, Any]], str]] = [
    (
        "result_orphan",
        [ASK, says(CALL), results({**RESULT, "tool_call_id": "c2"})],
        "messages[2]: a tool result names the call 'c2', which is not in the messages before it",
    ),
    (
        "result_duplicate",
        [ASK, says(CALL), results(RESULT, RESULT)],
        "messages[2]: a second result for the call 'c1' (tool get_weather)",
    ),
    (
        "result_missing",
        [ASK, says(CALL), ASK],
        "messages[2]: the call 'c1' of messages[1] (tool get_weather) has no result",
    ),
    (
        "call_id_duplicate",
        [ASK, says(CALL, CALL), results(RESULT)],
        "messages[1]: two calls have the id 'c1' (tool get_weather)",
    ),
]
"""Rule, a history that breaks it, the sentence."""


@pytest.mark.parametrize("policy", ["refuse", "mend"])
@pytest.mark.parametrize(("rule", "messages", "sentence"), HISTORIES, ids=[row[0] for row in HISTORIES])
def test_r32_what_does_not_pair_is_refused(
    rule: str, messages: list[dict[str, Any]], sentence: str, policy: str
) -> None:
    """R32, R47: each by its own named rule, a 400; nothing is repaired, whatever the policy for foreign clients is."""
    with pytest.raises(HistoryError) as caught:
        read({"messages": messages}, history=policy)
    assert caught.value.code == rule
    assert caught.value.message.startswith(sentence)
    assert DIALECT.encode_error(caught.value, ServerContext()).status == 400


@pytest.mark.parametrize(
    ("arguments", "reason"), [('{"a":1,"a":2}', "duplicate_key"), ("[1]", "not_object"), ('"{}"', "not_object")]
)
def test_r47_arguments_are_one_object(arguments: str, reason: str) -> None:
    """Anything else is refused with the name of the call."""
    call = b'{"type":"tool_call","id":"c","name":"f","arguments":%b}' % arguments.encode()
    with pytest.raises(HistoryError, match=rf"the call 'c' \(tool f\) has broken arguments: {reason}") as caught:
        read(b'{"model":"m","messages":[{"role":"assistant","parts":[%b]}]}' % call)
    assert caught.value.code == "arguments_broken"


SHAPES: list[tuple[dict[str, Any], str]] = [
    ({"model": ""}, "/model"),
    ({"messages": [{"role": "user", "content": "a", "parts": []}]}, "/messages/0/content"),
    ({"messages": [{"role": "user", "parts": [{"type": "picture"}]}]}, "/messages/0/parts/0/type"),
    ({"messages": [says(CALL), results({**RESULT, "parts": []})]}, "/messages/1/parts/0/content"),
    (
        {"messages": [says({**BROKEN, "reason": "tired"})]},
        "/messages/0/parts/0/reason",
    ),
    ({"tools": [{"description": "d", "parameters": {}}]}, "/tools/0/name"),
    ({"tools": [{"name": "f", "description": "d"}]}, "/tools/0/parameters"),
    ({"tools": [{**TOOL, "dialect": "anthropic"}]}, "/tools/0/dialect"),
    ({"tools": [{"type": "opaque_tool", "dialect": "anthropic", "kind": "k"}]}, "/tools/0/raw"),
    ({"tools": [{"name": "f", "parameters": {}, "raw": None}]}, "/tools/0/raw"),
    ({"tools": [{"type": "opaque_tool", "name": "f", "dialect": "d", "kind": "k", "raw": 1}]}, "/tools/0/type"),
    ({"temperature": "hot"}, "/temperature"),
    ({"effort": "enormous"}, "/effort"),
]
"""Bodies that are not of the format, and the place."""


@pytest.mark.parametrize(("body", "path"), SHAPES)
def test_a_wrong_shape_is_a_400_with_its_place(body: dict[str, Any], path: str) -> None:
    """Members of a wrong type, two of which only one may be, one that is missing."""
    with pytest.raises(DecodeError) as caught:
        read(body)
    assert (caught.value.path, caught.value.status) == (path, 400)


def test_members_of_ours_have_no_place_under_extra() -> None:
    """`extra` is for other dialects; a body beyond the bounds is refused too."""
    with pytest.raises(DecodeError, match=r"extra\.unified: members of this dialect stand beside the others"):
        read({"extra": {"unified": {"a": 1}}})
    with pytest.raises(LimitExceededError):
        read(b"[" * 200 + b"]" * 200)


@pytest.mark.parametrize(
    ("members", "content"),
    [
        ({"content": "4 °C"}, "4 °C"),
        ({}, ""),
        ({"content": {"celsius": 4}}, Json({"celsius": 4})),
        ({"content": [1, "a", None]}, Json([1, "a", None])),
        ({"content": None}, Json(None)),
        ({"content": [{"type": "text", "text": "x"}]}, Json([{"type": "text", "text": "x"}])),
        ({"content": 12345678901234567890123}, Json(12345678901234567890123)),
        ({"parts": [{"type": "json", "value": "a text"}]}, Json("a text")),
        ({"parts": [{"type": "json", "value": 1}]}, (Json(1),)),
        (
            {"parts": [{"type": "text", "text": "See"}, {"type": "image", "data": "AAAA", "media_type": "image/png"}]},
            (TextPart("See"), ImagePart(b"\0\0\0", "image/png")),
        ),
    ],
)
def test_r47_results_are_text_json_or_parts(members: dict[str, Any], content: Any) -> None:
    """R47: `{tool_call_id, content, is_error}`; what is written is what was read, and the name is that of the call."""
    told = {"type": "tool_result", "tool_call_id": "c1", **members, "is_error": True}
    request = read({"messages": [says(CALL), results(told)]})
    [result] = request.messages[1].tool_results
    assert (result.call_id, result.name, result.content, result.is_error) == ("c1", "get_weather", content, True)
    written = sent(request)["messages"][1]["parts"][0]
    assert written == (told if members else {**told, "content": ""})


def test_a_whole_request_is_read_as_it_is_said() -> None:
    """Knobs, choice, system, state and members of other dialects."""
    request = read(
        {
            **tool(strict=True, cache="1h"),
            "system": "Be brief.",
            "messages": [ASK],
            "tool_choice": {"type": "allowed_tools", "names": ["get_weather"]},
            "effort": "high",
            "stop": ["END"],
            "continues": {"dialect": "openai-responses", "raw": {"previous_response_id": "r1"}},
            "extra": {"anthropic": {"container": "c"}},
        }
    )
    assert request == Request(
        messages=(user("Weather?"),),
        system=(TextPart("Be brief."),),
        tools=(Tool(name="get_weather", description="The weather.", parameters=PARAMETERS, strict=True, cache="1h"),),
        tool_choice=AllowedTools(("get_weather",)),
        effort="high",
        stop=("END",),
        continues=ServerState("openai-responses", {"previous_response_id": "r1"}),
        extra={"anthropic": {"container": "c"}},
    )


def test_a_stream_is_asked_for_in_the_body() -> None:
    """`stream: true`, and the model as the client named it; both ways."""
    encoded = DIALECT.encode_request(
        Request(messages=(user("Hi"),)), EncodeOptions(target=Target(model="a,b"), stream=True)
    )
    assert (encoded.path, json.loads(encoded.body)) == (
        "/unified/v1/generate",
        {"model": "a,b", "stream": True, "messages": [{"role": "user", "content": "Hi"}]},
    )  # fmt: skip
    decoded = DIALECT.decode_request(HttpRequest(url="http://test/", body=encoded.body), DecodeOptions())
    assert (decoded.model, decoded.stream, decoded.changes) == ("a,b", True, ())


# The client's role


def test_r31_names_that_the_rule_refuses_are_mapped_and_undone() -> None:
    """In tools, choices, calls and results; the answer's call has the caller's own name again."""
    history = (
        Message("assistant", (ToolCall("c1", "get-weather", "{}"),)),
        Message("tool", (ToolResult("c1", "get-weather", "4"),)),
    )
    tools = (Tool(name="get-weather", description="The weather.", parameters=dict(EMPTY_PARAMETERS)),)
    request = Request(messages=history, tools=tools, tool_choice=NamedTool("get-weather"))
    encoded = DIALECT.encode_request(request, EncodeOptions())
    body = json.loads(encoded.body)
    name = body["tools"][0]["name"]
    assert name.startswith("get_weather_")
    assert body["tool_choice"] == {"type": "named_tool", "name": name}
    assert body["messages"][0]["parts"][0]["name"] == name
    assert "name" not in body["messages"][1]["parts"][0]
    assert [(change.code, change.path) for change in encoded.changes] == [("name_mapped", "/tools/0/name")]
    answer = {"model": "m", "parts": [{**CALL, "id": "c9", "name": name}], "finish_reason": "tool_calls"}
    reply = HttpReply(status=200, body=json.dumps(answer).encode())
    [call] = DIALECT.decode_response(reply, DecodeContext(undo=encoded.undo)).tool_calls
    assert (call.name, call.id) == ("get-weather", "c9")


def test_r31_descriptions_that_are_missing_are_the_names() -> None:
    """With an entry for each tool and for its parameters; the caller's own schema stays as it is."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": True,
            "c": False,
            "d": {"$ref": "#/$defs/d"},
            "e": {"$ref": "#/$defs/e"},
        },
        "$defs": {"d": {"description": "A d."}, "e": {}},
    }
    kept = json.loads(json.dumps(schema))
    encoded = DIALECT.encode_request(Request(tools=(Tool(name="f", parameters=schema),)), EncodeOptions())
    [written] = json.loads(encoded.body)["tools"]
    assert written["description"] == "f"
    assert written["parameters"]["properties"] == {
        "a": {"type": "integer", "description": "a"},
        "b": {"description": "b"},
        "c": False,
        "d": {"$ref": "#/$defs/d"},
        "e": {"$ref": "#/$defs/e", "description": "e"},
    }
    assert schema == kept
    assert [(change.action, change.code, change.path) for change in encoded.changes] == [
        ("approximated", "description_added", "/tools/0/description"),
        ("approximated", "description_added", "/tools/0/parameters"),
    ]
    assert len(read({"tools": [written]}).tools) == 1


def test_everything_opaque_goes_along() -> None:
    """Seals of any issuer, opaque parts and tools: nothing is refused or dropped on the way."""
    sealed = Sealed("anthropic", {"signature": "x"}, "anthropic", "claude")
    request = Request(
        messages=(
            Message("user", (OpaquePart("google", "media_ref", {"fileData": {"fileUri": "u"}}), TextPart("Look."))),
            Message("assistant", (ThinkingPart("Hm.", sealed), TextPart("So."))),
        ),
        tools=(OpaqueTool("anthropic", "web_search", {"type": "web_search", "name": "w"}),),
        n=3,
    )
    encoded = DIALECT.encode_request(request, EncodeOptions(target=Target(model="m")))
    assert encoded.changes == ()
    assert read(encoded.body) == request


def test_a_broken_call_stays_one() -> None:
    """With its result; one that was cut off needs none. Every other dialect gets it as text, with an entry."""
    result = {"type": "tool_result", "tool_call_id": "c", "content": "no", "is_error": True}
    for answer in ({"role": "tool", "parts": [result]}, {"role": "user", "content": "Go on."}):
        body = {"model": "m", "messages": [{"role": "assistant", "parts": [BROKEN]}, answer]}
        request = read(body)
        assert request.messages[0].parts == (BrokenToolCall("c", "f", '{"a', "cut_off"),)
        encoded = DIALECT.encode_request(request, EncodeOptions(target=Target(model="m")))
        assert (json.loads(encoded.body)["messages"], encoded.changes) == (body["messages"], ())
        chat = get_dialect("openai-chat").encode_request(request, EncodeOptions(target=Target(model="m")))
        assert json.loads(chat.body)["messages"][0] == {"role": "assistant", "content": 'f({"a)'}
        assert [change.code for change in chat.changes] == ["broken_call_as_text"]


def test_a_broken_call_that_ran_into_an_error_wants_its_result() -> None:
    """Only one that was cut off is left alone, since nobody ever saw it whole."""
    with pytest.raises(HistoryError) as caught:
        read({"model": "m", "messages": [{"role": "assistant", "parts": [{**BROKEN, "reason": "malformed"}]}]})
    assert caught.value.code == "result_missing"


def test_members_of_ours_stand_beside_the_others() -> None:
    """What a caller gives for this dialect alone is written at the top; a knob of the same name stays."""
    body = sent(Request(messages=(user("Hi"),), temperature=0.5, extra={"unified": {"later": 1, "temperature": 2}}))
    assert (body["later"], body["temperature"]) == (1, 0.5)


def test_our_caller_is_told_of_faults_before_anything_is_sent() -> None:
    """Calls and results that do not pair, and a choice of a tool that is not there."""
    with pytest.raises(HistoryError):
        sent(Request(messages=(Message("tool", (ToolResult("c", "f", "x"),)),)))
    with pytest.raises(UsageError, match="tool_choice names 'f'"):
        sent(Request(tool_choice=NamedTool("f")))


def test_a_request_that_continues_a_conversation_may_answer_its_calls() -> None:
    """The calls are in the state that the provider keeps."""
    body = {"messages": [results(RESULT)], "continues": {"dialect": "openai-responses", "raw": {"a": 1}}}
    assert read(body).messages[0].tool_results[0].name == ""
    with pytest.raises(Error):
        read({"messages": [results(RESULT)]})
