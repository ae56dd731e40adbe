"""Rows of the failure list that concern Ollama's own API: each test feeds what broke somebody."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, ServerContext, Undo
from interlingua.errors import HistoryError
from interlingua.stream.unfold import unfold
from interlingua.types.content import (
    BrokenToolCall,
    ImagePart,
    Json,
    TextPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from tests.support.ollama import (
    CALLS,
    answer,
    codes,
    decode,
    encode,
    encode_reply,
    encode_stream,
    line,
    quirky,
    streamed,
    wire,
)

LOOK: dict[str, Any] = {"function": {"name": "look", "arguments": {"x": 1}}}
OWN = ServerContext(source="ollama")


def results(*contents: Any, is_error: bool = False) -> Message:
    """Results of the calls `a` and `b`."""
    return Message(
        "tool",
        tuple([ToolResult("ab"[place], "look", said, is_error) for place, said in enumerate(contents)]),
    )


def turn(*ids: str) -> tuple[Message, ...]:
    """A question and calls with these ids."""
    return (user("Hi"), Message("assistant", tuple([ToolCall(call_id, "look", "{}") for call_id in ids])))


def test_str_44_a_call_of_a_line_that_is_not_the_last_counts() -> None:
    """The last line has no calls and says `stop`; the answer ends with tool calls."""
    raw = line(message={"tool_calls": [LOOK]}) + line(done=True, done_reason="stop", eval_count=3)
    response = streamed(raw)
    assert response.parts == (ToolCall("call_0", "look", '{"x":1}'),)
    assert (response.finish_reason, response.finish_reason_raw) == ("tool_calls", "stop")
    assert codes(response.changes) == ["call_id_made /parts/0/id"]


def test_str_44_calls_of_several_lines_are_all_kept() -> None:
    """One in each of two lines, and one in the last."""
    more: Any = {"id": "call_b", "function": {"index": 1, "name": "time", "arguments": {}}}
    last = line(message={"tool_calls": [{"function": {"name": "go", "arguments": {}}}]}, done=True, done_reason="stop")
    response = streamed(line(message={"tool_calls": [LOOK]}) + line(message={"tool_calls": [more]}) + last)
    assert response.parts == (
        ToolCall("call_0", "look", '{"x":1}'),
        ToolCall("call_b", "time", "{}"),
        ToolCall("call_2", "go", "{}"),
    )


def test_str_44_the_server_role_tells_calls_whole_and_stop() -> None:
    """As the real server does: one line a call, then a line with the reason."""
    response = Response[Any](
        parts=(ToolCall("a", "look", '{"x": 1}'), ToolCall("b", "go", "{}")), finish_reason="tool_calls", model="m"
    )
    assert encode_stream(unfold(response)) == [
        {
            "model": "m",
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "a", "function": {"index": 0, "name": "look", "arguments": {"x": 1}}}],
            },
            "done": False,
        },
        {
            "model": "m",
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "b", "function": {"index": 1, "name": "go", "arguments": {}}}],
            },
            "done": False,
        },
        {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
    ]


def test_id_20_calls_without_ids_get_their_own() -> None:
    """They count on from the calls of the history."""
    body: Any = {
        "model": "m",
        "message": {"role": "assistant", "tool_calls": [LOOK, LOOK]},
        "done": True,
        "done_reason": "stop",
    }
    first = answer(body)
    assert [call.id for call in first.tool_calls] == ["call_0", "call_1"]
    later = answer(body, DecodeContext(undo=Undo(first_index=2, history_ids=frozenset({"call_0", "call_1"}))))
    assert [call.id for call in later.tool_calls] == ["call_2", "call_3"]


@pytest.mark.parametrize(
    "naming",
    [{}, {"tool_name": "look"}, {"name": "look"}, {"tool_name": "look", "tool_call_id": "unknown"}],
)
def test_id_20_results_without_ids_pair_by_name_then_order(naming: dict[str, str]) -> None:
    """Whatever names there are, and the message comes back with just these."""
    body: Any = {"messages": [*CALLS, {"role": "tool", "content": "done", **naming}]}
    request = decode(body).request
    (result,) = request.messages[-1].tool_results
    assert (result.call_id, result.name, result.content) == ("call_0", "look", "done")
    sent = wire(request)["messages"][-1]
    expected = {name: "call_0" if name == "tool_call_id" else value for name, value in naming.items()}
    assert sent == {"role": "tool", "content": "done", **expected}


def test_id_20_several_results_of_one_name_pair_in_order() -> None:
    """And a result of another name is not in their way."""
    calls: Any = [LOOK, {"function": {"name": "go", "arguments": {}}}, LOOK]
    told = [("go", "A"), ("look", "B"), ("look", "C")]
    messages: Any = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        *[{"role": "tool", "tool_name": name, "content": content} for name, content in told],
    ]
    found = decode({"messages": messages}).request.messages[-1].tool_results
    assert [(result.call_id, result.content) for result in found] == [("call_1", "A"), ("call_0", "B"), ("call_2", "C")]


def test_id_20_results_from_elsewhere_go_in_the_order_of_their_calls() -> None:
    """With name and id, since templates go by order; recorded where it changed."""
    told = Message("tool", (ToolResult("b", "look", "B"), ToolResult("a", "look", "A")))
    asked = Request(messages=(*turn("a", "b"), told))
    assert wire(asked)["messages"][2:] == [
        {"role": "tool", "content": "A", "tool_name": "look", "tool_call_id": "a"},
        {"role": "tool", "content": "B", "tool_name": "look", "tool_call_id": "b"},
    ]
    assert codes(encode(asked).changes) == ["order_changed /messages/2"]


def test_id_20_an_id_that_names_no_call_is_refused() -> None:
    """Where the calls have ids, a wrong one is not guessed at; `mend` tells it as text."""
    calls: Any = [{"id": "a", **LOOK}]
    messages: Any = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_name": "look", "tool_call_id": "z", "content": "A"},
    ]
    with pytest.raises(HistoryError, match="'z'"):
        decode({"messages": messages})
    repaired = decode({"messages": messages}, options=DecodeOptions(history="mend"))
    assert codes(repaired.changes) == ["result_orphan /messages/2", "result_missing /messages/2"]


def test_id_ids_and_names_come_back_as_they_were() -> None:
    """A call with id and index, a result with both names."""
    messages: Any = [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call_ab12cd34", "function": {"index": 0, "name": "look", "arguments": {"x": 1}}}],
        },
        {"role": "tool", "content": "A", "tool_name": "look", "tool_call_id": "call_ab12cd34"},
    ]
    decoded = decode({"messages": messages})
    assert decoded.changes == ()
    assert wire(decoded.request)["messages"] == messages


def test_res_16_an_error_is_a_prefix_that_is_never_doubled() -> None:
    """There and back; a plain result that reads like an error is recorded."""
    for said, sent in (("no", "ERROR: no"), ("ERROR: no", "ERROR: no")):
        asked = Request(messages=(*turn("a"), results(said, is_error=True)))
        assert wire(asked)["messages"][-1]["content"] == sent
    body: Any = {"messages": [*CALLS, {"role": "tool", "content": "ERROR: no"}]}
    (result,) = decode(body).request.messages[-1].tool_results
    assert (result.content, result.is_error) == ("no", True)
    plain = encode(Request(messages=(*turn("a"), results("ERROR: no"))))
    assert codes(plain.changes) == ["error_prefix_ambiguous /messages/2/parts/0/is_error"]


def test_res_18_a_message_that_only_calls_has_empty_text() -> None:
    """Null breaks the server; absent and null are read as empty."""
    asked = Request(messages=(*turn("a"), results("A")))
    assert wire(asked)["messages"][1]["content"] == ""
    for content in ({}, {"content": None}, {"content": ""}):
        called = {"role": "assistant", "tool_calls": [LOOK], **content}
        request = decode({"messages": [called, {"role": "tool", "content": "A"}]}).request
        assert request.messages[0].parts == (ToolCall("call_0", "look", '{"x": 1}'),)


def test_res_json_and_parts_are_text() -> None:
    """JSON is compact; texts are joined."""
    asked = Request(messages=(*turn("a", "b"), results(Json({"t": 4}), (TextPart("A"), Json([1])))))
    assert [message["content"] for message in wire(asked)["messages"][2:]] == ['{"t":4}', "A[1]"]


def test_res_images_of_results_stay_or_follow() -> None:
    """In the tool message, or in the user message after it where the server shows none there."""
    image = ImagePart(b"\x89PNG", "image/png")
    asked = Request(messages=(*turn("a"), results((TextPart("A"), image))))
    assert wire(asked)["messages"][2:] == [
        {"role": "tool", "content": "A", "images": ["iVBORw=="], "tool_name": "look", "tool_call_id": "a"}
    ]
    assert decode(encode(asked).body.decode()).request.messages[2].tool_results[0].content == (TextPart("A"), image)
    assert wire(asked, quirky(result_media=False))["messages"][2:] == [
        {"role": "tool", "content": "A", "tool_name": "look", "tool_call_id": "a"},
        {"role": "user", "content": "Images of the result of look:", "images": ["iVBORw=="]},
    ]
    moved = encode(asked, quirky(result_media=False))
    assert codes(moved.changes) == ["result_media_moved /messages/2/parts/0/content"]


def test_res_what_stands_beside_a_result() -> None:
    """A mark and another dialect's members are recorded, a wrong name comes back, other parts follow as the user's."""
    result = ToolResult("a", "look", "A", cache="5m", extra={"ollama": {"field": "x tool_name"}, "google": {"y": 1}})
    told = Message("tool", (result, TextPart("Go on.")), extra={"anthropic": {"z": 1}})
    encoded = encode(Request(messages=(*turn("a"), told)))
    assert codes(encoded.changes) == [
        "cache_unsupported /messages/2/parts/0/cache",
        "extra_foreign /messages/2/parts/0/extra/google",
        "extra_foreign /messages/2/extra/anthropic",
    ]
    assert decode(encoded.body.decode()).request.messages[3] == user("Go on.")
    messages: Any = [
        *CALLS[:1],
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a", **LOOK}]},
        {"role": "tool", "content": "A", "tool_name": "view", "tool_call_id": "a"},
    ]
    request = decode({"messages": messages}).request
    assert request.messages[2].tool_results[0].name == "look"
    assert wire(request)["messages"][2] == messages[2]


def test_arg_14_arguments_go_as_an_object_with_their_exact_text() -> None:
    """Never as a string; numbers and spaces stay as the model wrote them."""
    text = '{"big": 12345678901234567890123, "x": 1.10}'
    call = Message("assistant", (ToolCall("a", "look", text),))
    body = encode(Request(messages=(user("Hi"), call, results("A")))).body
    assert f'"arguments":{text}'.encode() in body
    again = decode(body.decode()).request.messages[1].tool_calls[0]
    assert again.arguments_json == text


def test_arg_14_line_breaks_in_arguments_do_not_break_the_line() -> None:
    """They are white space: a stream has spaces instead, a whole answer has them as they came."""
    text = '{\n  "x": "a\\nb",\r\n  "y": []\n}'
    response = Response[Any](parts=(ToolCall("a", "look", text),), finish_reason="tool_calls", model="m")
    lines = encode_stream(unfold(response))
    assert len(lines) == 2
    assert lines[0]["message"]["tool_calls"][0]["function"]["arguments"] == {"x": "a\nb", "y": []}
    body = encode(Request(messages=(user("Hi"), response.message, results("A")))).body
    assert text.encode() in body


def test_arg_14_a_string_from_another_history_is_understood() -> None:
    """The server itself would refuse it."""
    called: Any = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "look", "arguments": '{"x":1}'}}],
    }
    decoded = decode({"messages": [called, {"role": "tool", "content": "A"}]})
    assert decoded.request.messages[0].tool_calls == (ToolCall("call_0", "look", '{"x":1}'),)
    assert codes(decoded.changes) == [
        "call_id_made /messages/0/parts/0/id",
        "foreign_shape /messages/0/parts/0/arguments_json",
    ]


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_arg_no_arguments_are_an_empty_object(arguments: dict[str, Any]) -> None:
    """Missing and null with an entry."""
    body: Any = {"message": {"tool_calls": [{"id": "a", "function": {"name": "go", **arguments}}]}, "done": True}
    response = answer({**body, "done_reason": "stop"})
    assert response.parts == (ToolCall("a", "go", "{}"),)
    assert codes(response.changes) == (
        [] if arguments.get("arguments") == {} else ["arguments_empty /parts/0/arguments_json"]
    )


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [('{"x":1,"x":2}', "duplicate_key"), ("[1]", "not_object"), ("7", "not_object"), ('"{x"', "malformed")],
)
def test_arg_broken_arguments_are_a_broken_call(arguments: str, reason: Any) -> None:
    """Kept as they came, never run; in a history they are the client's fault."""
    call = f'{{"id":"a","function":{{"name":"go","arguments":{arguments}}}}}'
    text = f'{{"model":"m","message":{{"tool_calls":[{call}]}},"done":true,"done_reason":"stop"}}'
    raw = "{x" if reason == "malformed" else arguments
    response = answer(text)
    assert response.parts == (BrokenToolCall("a", "go", raw, reason),)
    assert streamed(text.encode()) == response
    body = f'{{"model":"m","messages":[{{"role":"assistant","tool_calls":[{call}]}},{{"role":"tool","content":"A"}}]}}'
    with pytest.raises(HistoryError, match=f"broken: {reason}"):
        decode(body)
    repaired = decode(body, options=DecodeOptions(history="mend")).request
    assert repaired.messages[0] == assistant(TextPart(f"go({raw})"))


def test_arg_broken_calls_of_an_answer_go_back_as_they_came_or_as_text() -> None:
    """JSON that came in this dialect is written verbatim; anything else cannot be an object."""
    doubled = BrokenToolCall("a", "go", '{"x":1,"x":2}', "duplicate_key")
    cut = BrokenToolCall("b", "go", '{"x":', "cut_off")
    response = Response[Any](parts=(doubled, cut), finish_reason="length", finish_reason_raw="length", model="m")
    body, entries = encode_reply(response, OWN)
    assert body["message"]["content"] == 'go({"x":)'
    assert body["message"]["tool_calls"][0]["id"] == "a"
    assert entries == ["broken_call_as_text /parts/1", "order_changed /parts/1"]
    told, entries = encode_reply(response)
    assert told["message"] == {"role": "assistant", "content": 'go({"x":1,"x":2})go({"x":)'}
    assert entries == ["broken_call_as_text /parts/0", "broken_call_as_text /parts/1"]


def test_use_20_an_empty_reason_before_the_end_says_nothing() -> None:
    """Only the line that says `done` ends the answer."""
    raw = line("Hel", done_reason="") + line("lo", done_reason="") + line(done=True, done_reason="stop")
    response = streamed(raw)
    assert (response.text, response.finish_reason) == ("Hello", "stop")
