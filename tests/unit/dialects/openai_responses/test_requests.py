"""Requests both ways: items and messages, tools, choices, results, state, and what cannot be said."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Facts, Target
from interlingua.dialects.openai_responses import DIALECT
from interlingua.errors import DecodeError, HistoryError, UnsupportedError, UsageError
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, assistant, system, user
from interlingua.types.request import Request, ServerState
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool
from tests.support.responses import (
    NAME,
    call_item,
    codes,
    decode,
    encode,
    message_item,
    quirky,
    request,
    seal,
    wire,
)

CALL = call_item("call_a", "look", '{"x":1}', "fc_a")
OUTPUT = {"type": "function_call_output", "call_id": "call_a", "output": "ok"}
PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG").decode()
PDF = "data:application/pdf;base64," + base64.b64encode(b"%PDF").decode()


def items(asked: Request, **options: Any) -> list[Any]:
    """The items on the wire."""
    return wire(asked, **options)["input"]


# Items and messages


def test_neighbouring_items_of_the_assistant_are_one_message() -> None:
    """Reasoning, text and two calls, then both results in one message; and back as they were."""
    reasoning: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"}
    second = call_item("call_b", "find", "{}", "fc_b")
    given = [
        {"role": "user", "content": "Hi"},
        reasoning,
        message_item("Looking.", phase="commentary"),
        CALL,
        second,
        OUTPUT,
        {**OUTPUT, "call_id": "call_b"},
    ]
    asked = request(given)
    assert asked.messages == (
        user("Hi"),
        Message(
            "assistant",
            (
                ThinkingPart("", seal(**reasoning)),
                TextPart("Looking.", sealed=seal(id="msg_1", phase="commentary")),
                ToolCall("call_a", "look", '{"x":1}', sealed=seal(id="fc_a")),
                ToolCall("call_b", "find", "{}", sealed=seal(id="fc_b")),
            ),
        ),
        Message("tool", (ToolResult("call_a", "look", "ok"), ToolResult("call_b", "find", "ok"))),
    )
    told = items(asked)
    assert told[1] == reasoning
    assert told[2] == message_item("Looking.", phase="commentary")
    assert [item.get("call_id") for item in told[3:]] == ["call_a", "call_b", "call_a", "call_b"]
    assert [item.get("id") for item in told] == [None, "rs_1", "msg_1", "fc_a", "fc_b", None, None]


def test_id_11_a_call_from_elsewhere_has_no_item_id() -> None:
    """Only `call_id` pairs; a made-up `id` would be refused."""
    asked = Request(
        messages=(
            user("Hi"),
            assistant(TextPart("Looking."), ToolCall("call_a", "look", '{"x":1}')),
            Message("tool", (ToolResult("call_a", "look", "ok"),)),
        )
    )
    assert items(asked)[1:] == [
        {"role": "assistant", "content": "Looking."},
        {"type": "function_call", "call_id": "call_a", "name": "look", "arguments": '{"x":1}'},
        OUTPUT,
    ]


def test_id_12_the_id_of_a_result_item_is_not_the_call() -> None:
    """`fco_…` stays with the item."""
    [*_, last] = request([CALL, {**OUTPUT, "id": "fco_1", "status": "completed"}]).messages
    assert last.parts == (ToolResult("call_a", "look", "ok", extra={NAME: {"id": "fco_1"}}),)


def test_seals_of_others_stay_at_home() -> None:
    """Reasoning of another provider is left out, with the ids of what came with it: an address alone is no loss."""
    foreign = Sealed(NAME, {"type": "reasoning", "id": "rs_1", "summary": []}, "other")
    said = Message(
        "assistant",
        (ThinkingPart("Hm.", foreign), TextPart("Hi", sealed=Sealed(NAME, {"id": "msg_1"}, "other"))),
    )
    told = encode(Request(messages=(user("Hi"), said)), quirky("openai"))
    assert codes(told.changes) == [
        "seal_foreign /messages/1/parts/0/sealed",
        "thinking_unsupported /messages/1/parts/0",
    ]
    assert items(Request(messages=(said,)), target=quirky("openai")) == [{"role": "assistant", "content": "Hi"}]


def test_system_messages_keep_their_place_and_their_role() -> None:
    """`instructions` first, a developer item where it stands."""
    asked = request(
        {
            "instructions": "Be brief.",
            "input": [{"role": "user", "content": "Hi"}, {"role": "developer", "content": "!"}],
        }
    )
    assert asked.system == (TextPart("Be brief."),)
    assert asked.messages[1] == Message("system", (TextPart("!"),), extra={NAME: {"role": "developer"}})
    assert wire(asked)["instructions"] == "Be brief."
    assert items(asked)[1] == {"role": "developer", "content": "!"}
    told = items(Request(messages=(system("S"),)), target=Target(facts=Facts(system_role="developer")))
    assert told == [{"role": "developer", "content": "S"}]


def test_several_system_texts_stay_apart() -> None:
    """They are the first message of the input, as parts."""
    told = wire(Request(system=(TextPart("A"), TextPart("B")), messages=(user("Hi"),)))
    assert "instructions" not in told
    assert told["input"][0] == {
        "role": "system",
        "content": [{"type": "input_text", "text": "A"}, {"type": "input_text", "text": "B"}],
    }


def test_the_easy_form_and_empty_texts_survive() -> None:
    """Strings stay strings, and an empty answer of the assistant stays an answer."""
    given = [
        {"role": "assistant", "content": "A"},
        {"role": "assistant", "content": "B"},
        {"role": "user", "content": ""},
    ]
    asked = request(given)
    assert asked.messages == (assistant("A", "B"), user())
    assert items(asked) == given
    empty = request([{"role": "assistant", "content": ""}])
    assert empty.messages[0].parts == (TextPart("", sealed=seal()),)
    assert request(items(empty)) == empty


def test_messages_without_ids_stay_apart() -> None:
    """Two list messages in a row are two again."""
    one = {"role": "assistant", "content": [{"type": "output_text", "text": "A"}, {"type": "output_text", "text": "B"}]}
    asked = request([one, one])
    assert [len(item["content"]) for item in items(asked)] == [2, 2]
    assert request(items(asked)) == asked


def test_media_become_bytes_and_references_stay_references() -> None:
    """Images, files and audio in a `data:` URL; a URL and a file id are opaque."""
    content = [
        {"type": "input_image", "image_url": PNG, "detail": "auto"},
        {"type": "input_image", "image_url": PNG, "detail": "low"},
        {"type": "input_file", "file_data": PDF, "filename": "a.pdf"},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        {"type": "input_image", "image_url": "https://a.test/x.png", "detail": "auto"},
        {"type": "input_file", "file_id": "file_1"},
    ]
    asked = request([{"role": "user", "content": content}])
    assert asked.messages[0].parts == (
        ImagePart(b"\x89PNG", "image/png"),
        ImagePart(b"\x89PNG", "image/png", "low"),
        DocumentPart(b"%PDF", "application/pdf", "a.pdf"),
        AudioPart(b"\x00\x00\x00", "audio/mpeg"),
        OpaquePart(NAME, "media_ref", content[4]),
        OpaquePart(NAME, "media_ref", content[5]),
    )
    assert items(asked)[0]["content"] == content


@pytest.mark.parametrize("kind", ["tool_use", "image_url", "tool_result"])
def test_parts_of_other_dialects_are_refused_by_name(kind: str) -> None:
    """Passing them on would lose them."""
    with pytest.raises(DecodeError, match=kind) as caught:
        request([{"role": "user", "content": [{"type": kind}]}])
    assert caught.value.path == "/input/0/content/0"
    assert caught.value.status == 400


def test_an_unknown_role_is_refused() -> None:
    """With its place."""
    with pytest.raises(DecodeError, match="'robot' is no role"):
        request([{"role": "robot", "content": "Hi"}])


# Results


def test_res_05_media_in_a_result_are_parts_of_its_output() -> None:
    """Text and picture, both ways."""
    output = [{"type": "input_text", "text": "Here:"}, {"type": "input_image", "image_url": PNG}]
    asked = request([CALL, {**OUTPUT, "output": output}])
    [result] = asked.messages[1].tool_results
    assert result.content == (TextPart("Here:"), ImagePart(b"\x89PNG", "image/png"))
    assert items(asked)[1]["output"] == output


def test_res_05_a_server_that_takes_text_alone_gets_the_picture_behind() -> None:
    """A note in the result, the picture in a message of the user, an entry."""
    result = ToolResult("call_a", "look", (ImagePart(b"\x89PNG", "image/png"),))
    asked = Request(messages=(assistant(ToolCall("call_a", "look", "{}")), Message("tool", (result,))))
    told = encode(asked, quirky(output_media=False))
    assert codes(told.changes) == ["result_media_moved /messages/1/parts/0/content"]
    _, output, after = items(asked, target=quirky(output_media=False))
    assert output["output"] == "[1 media part(s) of this result follow in the next user message]"
    assert [part["type"] for part in after["content"]] == ["input_text", "input_image"]


def test_res_16_the_error_flag_is_a_prefix_never_doubled() -> None:
    """Read and written; a plain result that looks like one is noted."""
    [_, message] = request([CALL, {**OUTPUT, "output": "ERROR: boom"}]).messages
    assert message.parts == (ToolResult("call_a", "look", "boom", is_error=True),)
    call = assistant(ToolCall("call_a", "look", "{}"))
    for content in ("boom", "ERROR: boom"):
        result = ToolResult("call_a", "look", content, is_error=True)
        assert items(Request(messages=(call, Message("tool", (result,)))))[1]["output"] == "ERROR: boom"
    plain = Request(messages=(call, Message("tool", (ToolResult("call_a", "look", "ERROR: x"),))))
    assert codes(encode(plain).changes) == ["error_prefix_ambiguous /messages/1/parts/0/is_error"]
    listed = [{"type": "input_text", "text": "ERROR: no"}, {"type": "input_image", "image_url": PNG}]
    [_, message] = request([CALL, {**OUTPUT, "output": listed}]).messages
    assert message.tool_results[0].is_error
    bare = ToolResult("call_a", "look", (ImagePart(b"\x89PNG", "image/png"),), is_error=True)
    assert items(Request(messages=(call, Message("tool", (bare,)))))[1]["output"][0]["text"] == "ERROR:"


def test_json_results_are_compact_text() -> None:
    """Alone and among parts; raw letters, no escapes (ARG-07)."""
    call = assistant(ToolCall("call_a", "look", "{}"))
    for content in (Json({"t": "ä"}), (Json({"t": "ä"}),)):
        [_, told] = items(Request(messages=(call, Message("tool", (ToolResult("call_a", "look", content),)))))
        assert told["output"] in ('{"t":"ä"}', [{"type": "input_text", "text": '{"t":"ä"}'}])


def test_res_06_and_07_and_08_pairs_are_required() -> None:
    """An orphan, a missing and a second result: refused, or repaired with an entry."""
    broken = {"result_orphan": [OUTPUT], "result_missing": [CALL], "result_duplicate": [CALL, OUTPUT, OUTPUT]}
    for code, given in broken.items():
        with pytest.raises(HistoryError, match="call_a"):
            request(given)
        repaired = decode(given, DecodeOptions(history="mend"))
        assert [change.code for change in repaired.changes] == [code]


@pytest.mark.parametrize("state", [{"previous_response_id": "resp_0"}, {"conversation": "conv_1"}])
def test_srv_12_kept_conversations_are_kept(state: dict[str, Any]) -> None:
    """Results may answer calls that only the provider knows; the state goes back verbatim."""
    asked = request({"input": [OUTPUT], **state})
    assert asked.continues == ServerState(NAME, state)
    told = wire(asked)
    assert told | state == told
    assert told["input"] == [OUTPUT]


def test_srv_12_a_conversation_kept_elsewhere_is_refused() -> None:
    """The place is named."""
    asked = Request(messages=(user("Hi"),), continues=ServerState("google", {"cachedContent": "x"}))
    with pytest.raises(UnsupportedError) as caught:
        encode(asked)
    assert codes(caught.value.changes) == ["server_state /continues"]


def test_srv_11_references_to_kept_items_stay_in_place() -> None:
    """With or without a type; and a result may answer what they stand for."""
    given = [{"role": "user", "content": "Hi"}, {"type": "item_reference", "id": "fc_a"}, OUTPUT]
    asked = request(given)
    assert asked.messages[1].parts == (OpaquePart(NAME, "item_reference", given[1]),)
    assert items(asked) == given
    assert request([{"id": "msg_9"}]).messages[0].parts == (OpaquePart(NAME, "item_reference", {"id": "msg_9"}),)


def test_hosted_items_stand_where_they_stood() -> None:
    """Between calls and between results."""
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    shell = {"type": "shell_call_output", "call_id": "call_s", "output": [{"stdout": "x"}]}
    given = [search, CALL, OUTPUT, shell, {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}]
    asked = request(given)
    assert [message.role for message in asked.messages] == ["assistant", "tool", "assistant"]
    told = items(asked)
    assert [item["type"] for item in told] == [item["type"] for item in given]
    assert (told[0], told[3], told[4]) == (search, shell, given[4])


def test_arg_15_broken_arguments_in_a_history() -> None:
    """Refused by name; repaired, they are sent as text."""
    given = [call_item("call_a", "look", "{oops"), OUTPUT]
    with pytest.raises(HistoryError, match=r"messages\[0\].*'call_a' \(tool look\) are broken: malformed"):
        request(given)
    repaired = decode(given, DecodeOptions(history="mend"))
    assert [change.code for change in repaired.changes] == ["arguments_broken"]
    assert repaired.request.messages == (assistant("look({oops)"), user("look: ok"))


def test_arg_01_and_02_loose_arguments_are_understood() -> None:
    """Nothing, null and an object."""
    for loose, code in (("", "arguments_empty"), (None, "arguments_empty"), ({"x": 1}, "arguments_object")):
        found = decode([{**CALL, "arguments": loose}, OUTPUT])
        assert codes(found.changes) == [f"{code} /messages/0/parts/0/arguments_json"]


def test_a_broken_call_is_told_as_text() -> None:
    """What cannot be replayed as a call."""
    said = Message("assistant", (BrokenToolCall("call_a", "look", "{oops", "malformed"),))
    asked = Request(messages=(user("Hi"), said, Message("tool", (ToolResult("call_a", "look", "bad", is_error=True),))))
    assert codes(encode(asked).changes) == ["broken_call_as_text /messages/1/parts/0"]
    assert items(asked)[1:] == [
        {"role": "assistant", "content": "look({oops)"},
        {"role": "user", "content": "look: bad"},
    ]


# Tools and choices


CLOSED: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
"""A schema that strict modes take as it is."""


def test_r18_strict_is_off_unless_asked_for() -> None:
    """`false` where nobody said anything, since silence means on; a client's own word survives, its silence too."""
    tools = tuple(Tool(name=name, parameters=CLOSED, strict=said) for name, said in (("a", None), ("b", True)))
    assert [tool["strict"] for tool in wire(Request(tools=tools))["tools"]] == [False, True]
    for member in ({}, {"strict": True}, {"strict": False}):
        given = {"type": "function", "name": "a", "parameters": CLOSED, **member}
        assert wire(request({"input": "Hi", "tools": [given]}))["tools"] == [given]


def test_r17_structured_output_is_flat_and_not_strict() -> None:
    """`text.format`, both ways."""
    told = wire(Request(output_schema=CLOSED, verbosity="low"))
    given = {"type": "json_schema", "name": "response", "schema": CLOSED, "strict": False}
    assert told["text"] == {"format": given, "verbosity": "low"}
    full = {**given, "name": "trip", "description": "D", "strict": True}
    asked = request({"input": "Hi", "text": {"format": full}})
    assert (asked.output_schema, asked.schema_name, asked.schema_strict) == (CLOSED, "trip", True)
    assert asked.schema_description == "D"
    assert wire(asked)["text"] == {"format": full}
    silent: dict[str, Any] = {"format": {"type": "json_schema", "name": "n", "schema": {}}}
    folded: dict[str, Any] = {"type": "object", "properties": {}}
    assert wire(request({"input": "Hi", "text": silent}))["text"]["format"] == {**silent["format"], "schema": folded}
    assert request({"input": "Hi", "text": {"format": {"type": "json_object"}}}).json_mode
    assert wire(Request(json_mode=True))["text"] == {"format": {"type": "json_object"}}


CHOICES: list[tuple[Any, Any]] = [
    ("auto", "auto"),
    ("none", "none"),
    ("required", "required"),
    ({"type": "function", "name": "look"}, NamedTool("look")),
    ({"type": "custom", "name": "patch"}, NamedTool("patch")),
    (
        {
            "type": "allowed_tools",
            "mode": "required",
            "tools": [{"type": "function", "name": "look"}, {"type": "custom", "name": "patch"}],
        },
        AllowedTools(("look", "patch"), "required"),
    ),
]
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}, "strict": False},
    {"type": "custom", "name": "patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: /x/"}},
]


@pytest.mark.parametrize(("said", "meant"), CHOICES)
def test_cho_03_choices_both_ways(said: Any, meant: Any) -> None:
    """Words are strings, names are flat objects, a subset is flat, too."""
    asked = request({"input": "Hi", "tools": TOOLS, "tool_choice": said})
    assert asked.tool_choice == meant
    assert wire(asked)["tool_choice"] == said


@pytest.mark.parametrize(
    "said",
    [
        {"type": "web_search"},
        {"type": "mcp", "server_label": "x"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp", "server_label": "x"}]},
    ],
)
def test_choices_of_hosted_tools_pass(said: Any) -> None:
    """They have no canonical form and come back as they were."""
    asked = request({"input": "Hi", "tools": [{"type": "web_search"}], "tool_choice": said})
    assert asked.tool_choice is None
    assert asked.tools == (OpaqueTool(NAME, "web_search", {"type": "web_search"}),)
    assert wire(asked)["tool_choice"] == said


def test_system_text_alone_is_the_input() -> None:
    """Instructions without an input are refused: "One of 'input', 'previous_response_id', … must be provided"."""
    told = wire(Request(system=(TextPart("Write a poem."),)))
    assert told["input"] == [{"role": "system", "content": "Write a poem."}]
    assert "instructions" not in told
    going_on = wire(request({"instructions": "S", "previous_response_id": "resp_1"}))
    assert (going_on["instructions"], "input" in going_on) == ("S", False)


def test_cho_19_the_nested_shape_of_chat_is_understood() -> None:
    """A tool and a choice."""
    found = decode(
        {
            "input": "Hi",
            "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
            "tool_choice": {"type": "function", "function": {"name": "look"}},
        }
    )
    assert codes(found.changes) == ["foreign_shape /tools/0"]
    assert [tool.name for tool in found.request.tools if isinstance(tool, Tool)] == ["look"]
    assert found.request.tool_choice == NamedTool("look")


def test_cho_17_a_choice_of_an_unknown_tool_is_our_callers_fault() -> None:
    """Before anything is sent."""
    with pytest.raises(UsageError, match="'find'"):
        encode(Request(tools=(Tool(name="look"),), tool_choice=NamedTool("find")))


def test_a_tool_without_a_name_is_refused() -> None:
    """R25: never a tool called unknown."""
    with pytest.raises(DecodeError, match="/tools/0/name"):
        request({"input": "Hi", "tools": [{"type": "function", "parameters": {}}]})


def test_srv_01_freeform_tools_and_their_calls_both_ways() -> None:
    """Grammar, call and result keep their kind; the arguments are one string."""
    call = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_a", "name": "patch", "input": "*** x"}
    output = {"type": "custom_tool_call_output", "call_id": "call_a", "output": "done"}
    asked = request({"input": [call, output], "tools": TOOLS[1:]})
    [tool] = asked.tools
    assert isinstance(tool, Tool)
    assert tool.freeform == Freeform("lark", "start: /x/")
    assert tool.parameters["required"] == ["input"]
    assert asked.messages[0].tool_calls == (
        ToolCall("call_a", "patch", '{"input":"*** x"}', freeform=True, sealed=seal(id="ctc_1")),
    )
    told = wire(asked)
    assert told["tools"] == TOOLS[1:]
    assert told["input"] == [call, output]
    plain = {"type": "custom", "name": "say", "format": {"type": "text"}}
    assert wire(request({"input": "Hi", "tools": [plain]}))["tools"] == [{"type": "custom", "name": "say"}]


def test_srv_01_the_kind_of_a_result_survives_its_call() -> None:
    """Where only the provider knows the call."""
    output = {"type": "custom_tool_call_output", "call_id": "call_a", "output": "done"}
    assert items(request({"input": [output], "previous_response_id": "resp_0"})) == [output]


def test_srv_10_hosted_tools_of_others_are_refused() -> None:
    """By name, all of them."""
    asked = Request(
        messages=(Message("assistant", (OpaquePart("anthropic", "server_tool_use", {}),)), user("Hi")),
        tools=(OpaqueTool("anthropic", "web_search_20250305", {}),),
    )
    with pytest.raises(UnsupportedError) as caught:
        encode(asked)
    assert codes(caught.value.changes) == ["opaque_part /messages/0/parts/0", "server_tools /tools/0"]
    told = encode(asked, allow=frozenset({"server_tools"}))
    assert [change.action for change in told.changes] == ["dropped", "dropped"]


def test_id_15_names_are_mapped_and_undone() -> None:
    """Tools, calls and choices by one map."""
    asked = Request(
        messages=(assistant(ToolCall("call_a", "a.b", "{}")), Message("tool", (ToolResult("call_a", "a.b", "x"),))),
        tools=(Tool(name="a.b"),),
        tool_choice=NamedTool("a.b"),
    )
    told = encode(asked, quirky(name_rule="openai", call_id_rule="max40"))
    body = wire(asked, quirky(name_rule="openai", call_id_rule="max40"))
    name = body["tools"][0]["name"]
    assert name != "a.b"
    assert body["input"][0]["name"] == body["tool_choice"]["name"] == name
    assert told.undo.names == {name: "a.b"}
    assert codes(told.changes) == ["name_mapped /tools/0/name"]


def test_id_01_long_ids_are_shortened_on_both_sides() -> None:
    """One map for call and result."""
    long = "c" * 51
    asked = Request(messages=(assistant(ToolCall(long, "a", "{}")), Message("tool", (ToolResult(long, "a", "x"),))))
    call, output = items(asked, target=quirky(call_id_rule="max40"))
    assert call["call_id"] == output["call_id"]
    assert len(call["call_id"]) <= 40


# Knobs


def test_knobs_both_ways() -> None:
    """Everything with a member of its own."""
    given = {
        "input": "Hi",
        "max_output_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.5,
        "top_logprobs": 3,
        "include": ["message.output_text.logprobs", "reasoning.encrypted_content"],
        "reasoning": {"effort": "high", "summary": "auto", "context": "all_turns"},
        "text": {"verbosity": "low"},
        "service_tier": "flex",
        "user": "u",
        "metadata": {"a": "b"},
        "prompt_cache_key": "k",
        "store": False,
        "parallel_tool_calls": False,
        "truncation": "auto",
        "background": True,
        "stream": True,
    }
    found = decode(given)
    asked = found.request
    assert found.stream
    assert (asked.max_tokens, asked.logprobs, asked.effort, asked.thinking_summary) == (9, 3, "high", "auto")
    assert (asked.cache_key, asked.store, asked.parallel_tool_calls, asked.verbosity) == ("k", False, False, "low")
    assert asked.extra == {
        NAME: {
            "include": given["include"],
            "reasoning": {"context": "all_turns"},
            "truncation": "auto",
            "background": True,
        }
    }
    told = wire(asked, stream=True)
    assert told == {**given, "model": "m", "input": [{"role": "user", "content": "Hi"}]}


def test_log_probabilities_are_asked_for_in_include() -> None:
    """Once, beside what the caller includes."""
    told = wire(Request(logprobs=2, extra={NAME: {"include": ["reasoning.encrypted_content"]}}))
    assert told["top_logprobs"] == 2
    assert told["include"] == ["reasoning.encrypted_content", "message.output_text.logprobs"]
    assert request({"input": "Hi", "top_logprobs": 2}).logprobs is None


def test_what_has_no_member_is_an_entry() -> None:
    """Dropped knobs, each by name; more than one choice is refused."""
    asked = Request(
        messages=(Message("user", (TextPart("Hi", cache="5m"),), name="ann"),),
        top_k=1, min_p=0.1, seed=1, presence_penalty=0.1, frequency_penalty=0.1, logit_bias={"1": 1.0},
        thinking_budget=9, thinking=True, stop=("x",), cache="1h", extra={"google": {"a": 1}},
    )  # fmt: skip
    assert codes(encode(asked).changes) == [
        "cache_unsupported /messages/0/parts/0/cache",
        "name_unsupported /messages/0/name",
        *(
            f"parameter_unsupported /{name}"
            for name in (
                "top_k",
                "min_p",
                "seed",
                "presence_penalty",
                "frequency_penalty",
                "logit_bias",
                "thinking",
                "stop",
                "thinking_budget",
            )
        ),
        "cache_unsupported /cache",
        "extra_foreign /extra/google",
    ]
    with pytest.raises(UnsupportedError, match="/n"):
        encode(Request(n=2))


def test_models_without_sampling_get_none() -> None:
    """Known facts of the family."""
    told = encode(Request(temperature=0.1, top_p=0.1, logprobs=1), Target(model="m", facts=Facts(sampling=False)))
    assert codes(told.changes) == [f"parameter_unsupported /{name}" for name in ("temperature", "top_p", "logprobs")]


def test_untaken_media_and_tools_are_refused_together() -> None:
    """All that is found, not the first."""
    asked = Request(messages=(user(ImagePart(b"x", "image/png")),), tools=(Tool(name="a"),))
    with pytest.raises(UnsupportedError) as caught:
        encode(asked, Target(model="m", facts=Facts(images=False, tools=False)))
    assert codes(caught.value.changes) == ["images /messages/0/parts/0", "tools /tools/0"]


def test_pictures_of_the_assistant() -> None:
    """Our own go back as their item; another provider's have no place."""
    item = {"type": "image_generation_call", "id": "ig_1", "result": "iVBORw=="}
    asked = request([item])
    assert asked.messages[0].parts == (
        ImagePart(b"\x89PNG", "image/png", sealed=seal(type="image_generation_call", id="ig_1")),
    )
    assert items(asked) == [item]
    with pytest.raises(UnsupportedError, match="ImagePart"):
        encode(Request(messages=(assistant(ImagePart(b"x", "image/png")),)))


def test_refusals_and_citations_in_a_history() -> None:
    """Ours go back; citations of others are dropped with an entry."""
    refused = {**message_item(""), "content": [{"type": "refusal", "refusal": "No."}]}
    assert items(request([refused])) == [refused]
    cited = TextPart("Hi", (Citation("anthropic", {"type": "x"}),))
    assert codes(encode(Request(messages=(assistant(cited),))).changes) == [
        "annotation_unsupported /messages/0/parts/0/annotations/0"
    ]
    told = items(Request(messages=(assistant(RefusalPart("No.")),)))
    assert told == [{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}]


def test_unknown_members_survive() -> None:
    """Of the request, of items, of parts and of tools."""
    given: dict[str, Any] = {
        "x_top": 1,
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Hi", "x_part": 1}], "x_item": 2},
            {**CALL, "namespace": "n"},
            {**OUTPUT, "x_out": 3},
        ],
        "tools": [{**TOOLS[0], "defer_loading": True}],
    }
    told = wire(request(given))
    assert told["x_top"] == 1
    assert told["input"][0] == given["input"][0]
    assert told["input"][1]["namespace"] == "n"
    assert told["input"][2]["x_out"] == 3
    assert told["tools"] == given["tools"]


def test_the_encoding_of_a_prefix_is_a_prefix() -> None:
    """Adding a turn changes no byte before it."""
    turns = (
        user("Hi"),
        assistant("A", ToolCall("call_a", "look", "{}")),
        Message("tool", (ToolResult("call_a", "look", "x"),)),
    )
    short = items(Request(messages=turns))
    assert items(Request(messages=(*turns, assistant("B"), user("C"))))[: len(short)] == short


def test_a_stored_prompt_brings_its_own_model() -> None:
    """So a request may name none, and names none again."""
    decoded = decode({"model": None, "prompt": {"id": "pmpt_1"}, "input": "Hi"})
    assert decoded.model == ""
    body = json.loads(DIALECT.encode_request(decoded.request, EncodeOptions()).body)
    assert "model" not in body
    assert body["prompt"] == {"id": "pmpt_1"}


def test_instructions_that_are_no_text_are_refused() -> None:
    """By their place."""
    with pytest.raises(DecodeError, match="/instructions"):
        decode({"instructions": [1], "input": "Hi"})


# Servers that take less


def test_choices_where_they_are_ignored_or_only_words() -> None:
    """None withholds the tools; a name or a subset leaves the others out; each with an entry."""
    tools = (Tool(name="a"), Tool(name="b"))
    kept: dict[tuple[str, Any], tuple[list[str], Any, list[str]]] = {
        ("ignored", "none"): ([], None, ["tools_withheld /tool_choice"]),
        ("ignored", "required"): (["a", "b"], None, ["tool_choice_approximated /tool_choice"]),
        ("ignored", "auto"): (["a", "b"], None, []),
        ("strings", NamedTool("a")): (["a"], "required", ["tool_choice_approximated /tool_choice"]),
        ("strings", AllowedTools(("b",))): (["b"], "auto", ["tool_choice_approximated /tool_choice"]),
    }
    for (mode, choice), (names, word, entries) in kept.items():
        target = quirky(tool_choice=mode)
        asked = Request(tools=tools, tool_choice=choice)
        body = wire(asked, target)
        assert [tool["name"] for tool in body.get("tools", [])] == names
        assert body.get("tool_choice") == word
        assert codes(encode(asked, target).changes) == entries


def test_structured_output_where_there_is_less() -> None:
    """Refused, or plain JSON mode where that is allowed; never together with tools where they exclude each other."""
    asked = Request(output_schema={"type": "object"}, schema_strict=True)
    with pytest.raises(UnsupportedError, match="only JSON mode"):
        encode(asked, quirky(output_schema="json_object"))
    loose = encode(asked, quirky(output_schema="json_object"), allow=frozenset({"output_schema"}))
    assert codes(loose.changes) == ["output_schema_loosened /output_schema"]
    assert b'"format":{"type":"json_object"}' in loose.body
    with pytest.raises(UnsupportedError, match="together with tools"):
        encode(Request(output_schema={}, tools=(Tool(name="a"),)), quirky(output_schema_with_tools=False))


def test_strict_where_there_is_no_flag() -> None:
    """Left out, and said so where it was wanted."""
    asked = Request(
        tools=(Tool(name="a", strict=True), Tool(name="b")), output_schema={"type": "object"}, schema_strict=True
    )
    told = encode(asked, quirky(strict_schemas=False))
    assert codes(told.changes) == ["strict_unsupported /tools/0/strict", "strict_unsupported /schema_strict"]
    assert b"strict" not in told.body


def test_quirks_of_reasoning_and_knobs() -> None:
    """No effort, no echo, knobs that are refused."""
    said = Message("assistant", (ThinkingPart("Hm.", seal(type="reasoning", id="rs_1", summary=[])),))
    asked = Request(messages=(said, user("Go on")), effort="high", verbosity="low", tools=(Tool(name="a", cache="5m"),))
    target = quirky(effort_field="none", reasoning_echo="never", unsupported=frozenset({"verbosity"}))
    assert codes(encode(asked, target).changes) == [
        "thinking_unsupported /messages/0/parts/0",
        "cache_unsupported /tools/0/cache",
        "parameter_unsupported /verbosity",
        "parameter_unsupported /effort",
    ]


def test_marks_and_words_that_are_read_over() -> None:
    """A mark on the system text, a result with one, an answer of the wrong kind in a prompt, extras of others."""
    call = assistant(ToolCall("call_a", "look", "{}"))
    asked = Request(
        system=(TextPart("S", cache="5m"),),
        messages=(call, Message("tool", (ToolResult("call_a", "look", "x", cache="5m"), TextPart("more"))), user("Hi")),
        tools=(Tool(name="a", extra={"google": {"x": 1}}),),
    )
    assert codes(encode(asked).changes) == [
        "cache_unsupported /system/0/cache",
        "cache_unsupported /messages/1/parts/0/cache",
        "extra_foreign /tools/0/extra/google",
    ]
    with pytest.raises(UnsupportedError, match="ThinkingPart"):
        encode(Request(messages=(user(ThinkingPart("x")),)))
    with pytest.raises(UnsupportedError, match="media_ref of anthropic"):
        encode(Request(messages=(user(OpaquePart("anthropic", "media_ref", {})),)))


@pytest.mark.parametrize("output", [{"a": 1}, 7])
def test_an_output_of_another_kind_is_refused(output: object) -> None:
    """It must be text or a list of parts; null is nothing."""
    with pytest.raises(DecodeError, match="an output must be"):
        request([CALL, {**OUTPUT, "output": output}])
    assert request([CALL, {**OUTPUT, "output": None}]).messages[1].tool_results[0].content == ""


@pytest.mark.parametrize(("budget", "effort"), [(1024, "low"), (4096, "low"), (4097, "medium"), (16385, "high")])
def test_a_budget_is_told_as_an_effort_to_a_model_that_reasons(budget: int, effort: str) -> None:
    """A budget of thinking has no place on this wire; a model that reasons gets the effort that it stands for."""
    target = Target(model="gpt-5.6", facts=Facts(sampling=False))
    encoded = encode(Request(messages=(user("Hi"),), thinking_budget=budget), target)
    assert json.loads(encoded.body)["reasoning"] == {"effort": effort}
    assert [(entry.action, entry.path, entry.detail) for entry in encoded.changes] == [
        ("approximated", "/thinking_budget", f"{budget} tokens are sent as the effort {effort}")
    ]
    both = encode(Request(messages=(user("Hi"),), thinking_budget=budget, effort="high"), target)
    assert [entry.code for entry in both.changes] == ["parameter_unsupported"]
    assert json.loads(both.body)["reasoning"] == {"effort": "high"}
