"""Tool choice, structured output, refusals, freeform tools and knobs: each test feeds what broke somebody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, Facts, Target
from interlingua.dialects._freeform import freeform_parameters
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, UnsupportedError, UsageError
from interlingua.types.content import RefusalPart, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, Tool
from interlingua.wire.http import HttpRequest
from tests.support.cells import cells
from tests.support.chat import (
    DONE,
    answer,
    chunk,
    codes,
    decode,
    encode,
    encode_reply,
    encode_stream,
    events,
    parts,
    quirky,
    reply,
    stream,
    streamed,
    wire,
)

HI = (user("Hi"),)
TOOLS = (Tool(name="f"), Tool(name="g"))
F: dict[str, Any] = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
G: dict[str, Any] = {"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {}}}}


def asked(body: str) -> Request:
    """A request with these members (JSON text)."""
    return decode(b'{"model":"m","messages":[{"role":"user","content":"Hi"}],%b}' % body.encode()).request


def test_cho_02_none_is_never_auto() -> None:
    """Sent as none; where the server ignores choices, the tools stay at home."""
    request = Request(messages=HI, tools=TOOLS, tool_choice="none")
    assert wire(request)["tool_choice"] == "none"
    assert wire(request, quirky(tool_choice="strings"))["tool_choice"] == "none"
    deaf = quirky(tool_choice="ignored")
    assert "tools" not in wire(request, deaf)
    assert "tool_choice" not in wire(request, deaf)
    assert codes(encode(request, deaf).changes) == ["tools_withheld /tool_choice"]


def test_cho_04_the_parallel_flag_alone_is_no_choice() -> None:
    """Nothing is forced; the flag goes both ways."""
    for flag in (True, False):
        body = wire(Request(messages=HI, tools=TOOLS, parallel_tool_calls=flag))
        assert body["parallel_tool_calls"] is flag
        assert "tool_choice" not in body
    assert asked('"parallel_tool_calls":false').parallel_tool_calls is False
    assert asked('"parallel_tool_calls":false').tool_choice is None


def test_cho_06_any_is_required() -> None:
    """As a word and as an object; sent as `required`."""
    assert asked('"tool_choice":"any"').tool_choice == "required"
    assert asked('"tool_choice":{"type":"any"}').tool_choice == "required"
    assert wire(Request(messages=HI, tools=TOOLS, tool_choice="required"))["tool_choice"] == "required"


REFUSED = '{"role":"assistant","content":null,"refusal":"I cannot."}'


def test_cho_10_a_refusal_is_an_outcome() -> None:
    """A part of its own, a finish reason of its own, and the same words to a client."""
    response = reply(REFUSED)
    assert response.parts == (RefusalPart("I cannot."),)
    assert (response.finish_reason, response.text) == ("refusal", "")
    choice = encode_reply(response)["choices"][0]
    assert choice == {
        "index": 0,
        "message": {"role": "assistant", "content": None, "refusal": "I cannot.", "annotations": []},
        "finish_reason": "stop",
        "logprobs": None,
    }


def test_cho_11_a_streamed_refusal_is_the_same() -> None:
    """Its deltas add up, there and back."""
    raw = (
        chunk('{"role":"assistant","content":null,"refusal":""}')
        + chunk('{"refusal":"I can"}')
        + chunk('{"refusal":"not."}')
        + chunk("{}", "stop")
        + DONE
    )
    response = streamed(raw)
    assert (response.parts, response.finish_reason) == ((RefusalPart("I cannot."),), "refusal")
    assert [data["choices"][0]["delta"] for data in encode_stream(events(raw))[:-1]] == [
        {"role": "assistant", "content": ""},
        {"refusal": "I can"},
        {"refusal": "not."},
        {},
    ]


def test_cho_12_a_refusal_without_words_is_content_filter() -> None:
    """As another dialect's refusal comes out here."""
    assert encode_reply(answer(finish="refusal"))["choices"][0]["finish_reason"] == "content_filter"


def test_cho_15_a_call_under_a_named_choice_ends_with_tool_calls() -> None:
    """The server says `stop`."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}',
        finish="stop",
    )
    assert streamed(raw).finish_reason == "tool_calls"
    assert encode_stream(events(raw))[-2]["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("choice", "read"),
    [
        ('"auto"', "auto"),
        ('"none"', "none"),
        ('"required"', "required"),
        ('{"type":"auto"}', "auto"),
        ('{"type":"none"}', "none"),
        ('{"type":"function","function":{"name":"f"}}', NamedTool("f")),
        ('{"type":"function","name":"f"}', NamedTool("f")),
        ('{"function":{"name":"f"}}', NamedTool("f")),
        ('{"type":"tool","name":"f"}', NamedTool("f")),
        ('{"type":"custom","custom":{"name":"f"}}', NamedTool("f")),
        (
            '{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}',
            AllowedTools(("f",), "required"),
        ),
        ('{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}', AllowedTools(("f",))),
    ],
)
def test_cho_16_a_choice_in_any_dialects_shape_is_understood(choice: str, read: object) -> None:
    """String, this dialect's object, and those of the others."""
    assert (
        asked(f'"tools":[{{"type":"function","function":{{"name":"f"}}}}],"tool_choice":{choice}').tool_choice == read
    )


@pytest.mark.parametrize("choice", ['{"type":{"type":"auto"}}', '"sometimes"', '{"type":"function"}', "{}"])
def test_cho_16_anything_else_is_an_error_with_the_place(choice: str) -> None:
    """A choice wrapped twice, an unknown word, a name that is missing."""
    with pytest.raises(DecodeError) as found:
        asked(f'"tool_choice":{choice}')
    assert found.value.path == "/tool_choice"


def test_cho_17_a_choice_of_a_tool_that_is_not_there_is_our_callers_error() -> None:
    """Found before anything is sent."""
    for choice in (NamedTool("h"), AllowedTools(("f", "h"))):
        with pytest.raises(UsageError, match="'h'"):
            encode(Request(messages=HI, tools=TOOLS, tool_choice=choice))


def test_cho_17_a_choice_names_the_tool_as_the_wire_does() -> None:
    """The same map as for the tools."""
    request = Request(messages=HI, tools=(Tool(name="a.b"),), tool_choice=AllowedTools(("a.b",), "required"))
    body = wire(request, quirky(name_rule="openai"))
    sent = body["tools"][0]["function"]["name"]
    assert sent != "a.b"
    assert body["tool_choice"]["allowed_tools"]["tools"] == [{"type": "function", "function": {"name": sent}}]


@pytest.mark.parametrize(
    ("quirks", "choice", "tools", "sent"),
    [
        ({"tool_choice": "strings"}, NamedTool("g"), [G], "required"),
        ({"tool_choice": "strings"}, AllowedTools(("f",)), [F], "auto"),
        ({"allowed_tools": False}, AllowedTools(("f",), "required"), [F], "required"),
        ({"allowed_tools": False}, NamedTool("g"), [F, G], {"type": "function", "function": {"name": "g"}}),
    ],
)
def test_a_choice_that_the_server_cannot_say_leaves_tools_out(
    quirks: dict[str, Any], choice: Any, tools: list[Any], sent: Any
) -> None:
    """The nearest choice, with an entry."""
    body = wire(Request(messages=HI, tools=TOOLS, tool_choice=choice), quirky(**quirks))
    assert (body["tools"], body["tool_choice"]) == (tools, sent)


def test_cho_19_a_flat_tool_is_taken_and_said() -> None:
    """The shape of another dialect; one without a name is an error."""
    decoded = decode(
        b'{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true}]}'
    )
    assert decoded.request.tools == (Tool(name="f", description="d", parameters={"type": "object"}, strict=True),)
    assert codes(decoded.changes) == ["foreign_shape /tools/0"]
    for broken in ('{"type":"function"}', '{"type":"function","function":{"name":""}}'):
        with pytest.raises(DecodeError, match="/tools/0"):
            asked(f'"tools":[{broken}]')


def test_sch_15_a_tool_without_parameters_takes_an_empty_object() -> None:
    """Missing and null alike, and sent as one."""
    for given in ("", ',"parameters":null'):
        request = asked(f'"tools":[{{"type":"function","function":{{"name":"f"{given}}}}}]')
        assert wire(request)["tools"] == [F]


@pytest.mark.parametrize("strict", [None, True, False])
def test_sch_18_strict_is_said_only_when_asked_for(strict: bool | None) -> None:
    """For a tool and for an answer; the caller's value goes as it is, and the schema unless it cannot be strict."""
    said = {} if strict is None else {"strict": strict}
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    request = Request(messages=HI, tools=(Tool(name="f", strict=strict),), output_schema=schema, schema_strict=strict)
    body = wire(request)
    none: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    told = {**none, "properties": {"x": {"type": ["integer", "null"]}}, "required": ["x"]}
    parameters = none if strict else F["function"]["parameters"]
    assert body["tools"][0]["function"] == {**F["function"], "parameters": parameters, **said}
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "response", "schema": told if strict else schema, **said},
    }
    weak = quirky(strict_schemas=False)
    assert "strict" not in str(wire(request, weak))
    lost = ["strict_unsupported /tools/0/strict", "strict_unsupported /schema_strict"]
    assert codes(encode(request, weak).changes) == (lost if strict else [])


PATCH = Tool(
    name="patch",
    description="Apply a patch.",
    parameters=freeform_parameters(),
    freeform=Freeform("lark", "start: /.+/"),
)


def test_srv_01_a_freeform_tool_is_one_here() -> None:
    """With its grammar, there and back."""
    body = wire(Request(messages=HI, tools=(PATCH,)))
    assert body["tools"] == [
        {
            "type": "custom",
            "custom": {
                "name": "patch",
                "description": "Apply a patch.",
                "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/"}},
            },
        }
    ]
    assert asked(f'"tools":{json.dumps(body["tools"])}').tools == (PATCH,)


def test_srv_02_a_freeform_tool_has_the_schema_of_one_required_string() -> None:
    """What another dialect offers in its place."""
    (tool,) = asked('"tools":[{"type":"custom","custom":{"name":"patch"}}]').tools
    assert isinstance(tool, Tool)
    assert tool.freeform == Freeform()
    assert tool.parameters == freeform_parameters()


def test_srv_03_a_freeform_call_carries_its_raw_text() -> None:
    """Whole and streamed, read and written, and in a history."""
    call = '{"index":0,"id":"a","type":"custom","custom":{"name":"patch","input":"*** Begin\\n+x"}}'
    made = ToolCall("a", "patch", '{"input":"*** Begin\\n+x"}', freeform=True)
    whole = reply(f'{{"content":null,"tool_calls":[{call}]}}', "tool_calls")
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"patch","input":""}}]}',
        '{"tool_calls":[{"index":0,"custom":{"input":"*** Begin"}}]}',
        '{"tool_calls":[{"index":0,"custom":{"input":"\\n+x"}}]}',
    )
    assert whole.parts == parts(raw) == (made,)
    sent = {"id": "a", "type": "custom", "custom": {"name": "patch", "input": "*** Begin\n+x"}}
    assert encode_reply(whole)["choices"][0]["message"]["tool_calls"] == [sent]
    streamed_calls = [data["choices"][0]["delta"].get("tool_calls") for data in encode_stream(events(raw))[:-1]]
    assert [calls for calls in streamed_calls if calls] == [[{"index": 0, **sent}]]
    request = Request(messages=(user("Hi"), assistant(made), Message("tool", (ToolResult("a", "patch", "ok"),))))
    assert wire(request)["messages"][1]["tool_calls"] == [sent]


def test_par_01_members_of_another_dialect_stay_at_home() -> None:
    """With an entry each; this dialect's own go out."""
    request = Request(
        messages=HI, extra={"anthropic": {"context_management": {}}, "openai-chat": {"prediction": {"type": "content"}}}
    )
    body = wire(request)
    assert "context_management" not in body
    assert body["prediction"] == {"type": "content"}
    assert codes(encode(request).changes) == ["extra_foreign /extra/anthropic"]


def test_par_10_a_body_holds_what_was_asked_and_nothing_else() -> None:
    """The smallest request has two members."""
    assert wire(Request(messages=HI)) == {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def test_out_11_finish_and_calls_agree() -> None:
    """No `tool_calls` in the finish without a call, and the other way round."""
    said = reply('{"content":"Hi"}', "tool_calls")
    assert encode_reply(said)["choices"][0]["finish_reason"] == "stop"
    called = answer(ToolCall("a", "f", "{}"))
    choice = encode_reply(called)["choices"][0]
    assert (choice["finish_reason"], len(choice["message"]["tool_calls"])) == ("tool_calls", 1)


def test_out_14_the_first_delta_has_role_and_content_and_calls_have_an_index() -> None:
    """As the reference server sends them."""
    sent = encode_stream(events(stream('{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}')))
    deltas = [data["choices"][0]["delta"] for data in sent[:-1]]
    assert deltas == [
        {"role": "assistant", "content": ""},
        {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
        {},
    ]


def test_structured_output_that_a_server_lacks() -> None:
    """Refused; JSON mode with an entry where that is allowed; nothing where there is no mode at all."""
    schema = {"type": "object"}
    request = Request(messages=HI, output_schema=schema)
    for flags in ({"output_schema": "json_object"}, {"output_schema": "none"}):
        with pytest.raises(UnsupportedError) as found:
            encode(request, quirky(**flags))
        assert codes(found.value.changes) == ["output_schema /output_schema"]
    allowed = frozenset({"output_schema"})
    assert wire(request, quirky(output_schema="json_object"), allow=allowed)["response_format"] == {
        "type": "json_object"
    }
    assert "response_format" not in wire(request, quirky(output_schema="none"), allow=allowed)


def test_knobs_that_a_model_or_server_does_not_take_are_entries() -> None:
    """By the family's facts, by the row's quirks, and by the dialect itself."""
    request = Request(
        messages=HI,
        temperature=0.0,
        top_p=0.5,
        logprobs=2,
        seed=1,
        stop=("x",),
        effort="low",
        thinking_budget=9,
        cache="1h",
    )
    target = Target(
        model="m",
        facts=Facts(sampling=False),
        quirks=quirky(unsupported=frozenset({"seed", "stop"}), effort_field="none").quirks,
    )
    assert wire(request, target) == {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    assert sorted(codes(encode(request, target).changes)) == [
        "cache_unsupported /cache",
        "parameter_unsupported /effort",
        "parameter_unsupported /logprobs",
        "parameter_unsupported /seed",
        "parameter_unsupported /stop",
        "parameter_unsupported /temperature",
        "parameter_unsupported /thinking_budget",
        "parameter_unsupported /top_p",
    ]
    sent = wire(request)
    assert (sent["logprobs"], sent["top_logprobs"], sent["stop"], sent["temperature"]) == (True, 2, ["x"], 0.0)


def test_everything_refused_is_told_at_once() -> None:
    """Tools and an output schema, both named."""
    target = Target(
        model="m", provider="p", facts=Facts(tools=False), quirks=quirky(output_schema="json_object").quirks
    )
    with pytest.raises(UnsupportedError, match=r"^p/m cannot take /tools/0 .*; /tools/1 .*; /output_schema") as found:
        encode(Request(messages=HI, tools=TOOLS, output_schema={}), target)
    assert len(found.value.changes) == 3


def test_an_answer_without_parts_is_empty() -> None:
    """No text is no part."""
    assert reply('{"content":""}').parts == ()
    assert reply('{"content":"x"}', context=DecodeContext()).parts == (TextPart("x"),)


@pytest.mark.parametrize(
    "tool",
    [
        '{"type":"custom","custom":{"name":"p"},"cache_control":{"type":"ephemeral"}}',
        '{"type":"custom","custom":{"name":"p","format":{"type":"grammar","grammar":"x"}}}',
        '{"type":"custom","custom":{"name":"p","format":{"type":"peg","rules":[1]},"new":2},"more":3}',
    ],
)
def test_members_of_a_freeform_tool_survive(tool: str) -> None:
    """A cache mark, a format that we cannot say, and what is new."""
    request = asked(f'"tools":[{tool}]')
    assert wire(request)["tools"] == [json.loads(tool)]


def test_a_freeform_tool_takes_no_strictness_and_must_have_a_name() -> None:
    """The wish is an entry, the missing name an error."""
    request = Request(messages=HI, tools=(Tool(name="p", freeform=Freeform(), strict=True),))
    assert wire(request)["tools"] == [{"type": "custom", "custom": {"name": "p"}}]
    assert codes(encode(request).changes) == ["strict_unsupported /tools/0/strict"]
    with pytest.raises(DecodeError, match="/tools/0/custom/name"):
        asked('"tools":[{"type":"custom","custom":{}}]')


@cells(
    "said",
    [f'{{"type":"allowed_tools","tools":{tools}}}' for tools in ('["f"]', "null", '"f"', "7", "[null]", "{}")]
    + [f'{{"type":"allowed_tools","allowed_tools":{allowed}}}' for allowed in ('"f"', "[1]", '{"tools":7}')]
    + ['{"function":"f"}', '{"type":"function"}', '{"type":null,"custom":{"name":7}}'],
)
@cells("path", ["chat/completions", "responses"])
def test_choices_that_are_none_are_the_clients_fault(said: str, path: str) -> None:
    """Whatever stands where names of tools belong, the client is told the place, and nothing else is raised."""
    dialect = get_dialect("openai-chat" if path.startswith("chat") else "openai-responses")
    member = '"messages":[{"role":"user","content":"Hi"}]' if path.startswith("chat") else '"input":"Hi"'
    http = HttpRequest(url=f"http://test/v1/{path}", body=f'{{"model":"m",{member},"tool_choice":{said}}}'.encode())
    with pytest.raises(DecodeError) as caught:
        dialect.decode_request(http, DecodeOptions())
    assert caught.value.path == "/tool_choice"


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("openai-chat", '"reasoning":{"effort":{"a":1},"summary":[1],"max_tokens":{}}'),
        ("openai-responses", '"reasoning":{"effort":{"a":1},"summary":[1]}'),
        ("anthropic", '"output_config":{"effort":{"a":1}},"thinking":{"type":"enabled","display":[1]}'),
    ],
)
def test_words_that_are_none_pass_through(name: str, member: str) -> None:
    """Where a word for effort or summary is expected and anything else stands, it is a member like any other."""
    said = '"input":"Hi"' if name == "openai-responses" else '"messages":[{"role":"user","content":"Hi"}]'
    http = HttpRequest(url="http://test/v1/x", body=f'{{"model":"m",{said},{member}}}'.encode())
    request = get_dialect(name).decode_request(http, DecodeOptions()).request
    assert (request.effort, request.thinking_summary) == (None, None)
    assert '{"a": 1}' in json.dumps(request.extra[name])
