"""Rows of the failure list about Responses towards other dialects: the very bytes in, the exact outcome out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.codec import Bridge, bridge
from interlingua.dialects._members import is_list, is_object
from interlingua.errors import UnsupportedError
from interlingua.types.content import OpaquePart, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from tests.support.responses import NAME, added, call_item, completed, done, encode, event, message_item, seal, wire

WEATHER = call_item("call_b1", "get_weather", '{"city":"Oslo"}', "fc_05")
CLOCK = call_item("call_b2", "get_time", '{"tz":"Europe/Oslo"}', "fc_06")
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
CLAUDE: dict[str, Any] = {**ASKED, "max_tokens": 100}
PATCH_TOOL = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edit files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "*** Begin Patch"'},
}
PATCH = '*** Begin Patch\n+a "b"\n*** End Patch'


def opened(item: dict[str, Any]) -> dict[str, Any]:
    """A call as it opens."""
    return {**item, "arguments": "", "status": "in_progress"}


def asking(source: str, target: str, body: dict[str, Any]) -> tuple[Bridge, dict[str, Any]]:
    """A bridge that has translated a request, and the body it made."""
    road = bridge(source, target, model="m", make_id=lambda: "made_1")
    return road, road.request(body)


def data_of(raw: bytes) -> list[Any]:
    """The parsed data of an event stream, without its last word."""
    lines = [line.removeprefix(b"data: ") for line in raw.split(b"\n") if line.startswith(b"data: ")]
    return [json.loads(line) for line in lines if line != b"[DONE]"]


def test_str_11_parallel_calls_have_indexes_of_their_own_on_chat() -> None:
    """Two calls of one answer, interleaved: index 0 and index 1, each with its own fragments."""
    road, _ = asking("openai-chat", NAME, {**ASKED, "stream": True})
    raw = [
        added(opened(WEATHER), 2),
        added(opened(CLOCK), 3),
        event("function_call_arguments.delta", output_index=3, item_id="fc_06", delta='{"tz":'),
        event("function_call_arguments.delta", output_index=2, item_id="fc_05", delta='{"city":"Oslo"}'),
        event("function_call_arguments.delta", output_index=3, item_id="fc_06", delta='"Europe/Oslo"}'),
        done(WEATHER, 2),
        done(CLOCK, 3),
        completed(WEATHER, CLOCK),
    ]
    told = data_of(b"".join(road.stream(raw)))
    calls = [call for chunk in told for choice in chunk["choices"] for call in choice["delta"].get("tool_calls", ())]
    assert [(call["index"], call.get("id")) for call in calls if "id" in call] == [(0, "call_b1"), (1, "call_b2")]
    said = {place: "".join(c["function"]["arguments"] for c in calls if c["index"] == place) for place in (0, 1)}
    assert said == {0: '{"city":"Oslo"}', 1: '{"tz":"Europe/Oslo"}'}
    assert told[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_id_11_a_call_of_chat_has_no_item_id() -> None:
    """`call_…` is the `call_id` of call and result, and nobody's item `id`."""
    body = {
        **ASKED,
        "messages": [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "call_a1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "call_a1", "content": "4"},
        ],
    }
    _, told = asking("openai-chat", NAME, body)
    assert told["input"][1:] == [
        {"type": "function_call", "call_id": "call_a1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_a1", "output": "4"},
    ]


def test_id_12_the_id_of_a_result_item_never_pairs() -> None:
    """`fco_…` is dropped on the way to another dialect, where the result still answers its call."""
    given = [
        {"role": "user", "content": "Hi"},
        call_item("call_a1", "f", "{}", "fc_1"),
        {"type": "function_call_output", "id": "fco_1", "call_id": "call_a1", "output": "4"},
    ]
    _, told = asking(NAME, "anthropic", {"model": "m", "input": given, "max_output_tokens": 10})
    assert told["messages"][1]["content"][0]["id"] == "call_a1"
    assert told["messages"][2]["content"][0]["tool_use_id"] == "call_a1"


def test_id_18_both_ids_of_an_item_are_kept_apart() -> None:
    """The item's id is Responses' own; elsewhere only the call's id is said, and no `call_a1|fc_1` anywhere."""
    call = ToolCall("call_a1", "f", "{}", sealed=seal(id="fc_1"))
    asked = Request(messages=(user("Hi"), assistant(call), Message("tool", (ToolResult("call_a1", "f", "4"),))))
    assert wire(asked)["input"][1] == {"type": "function_call", "id": "fc_1", "call_id": "call_a1", "name": "f",
                                       "arguments": "{}"}  # fmt: skip
    given = wire(asked)
    _, told = asking(NAME, "openai-chat", given)
    assert told["messages"][1]["tool_calls"][0]["id"] == told["messages"][2]["tool_call_id"] == "call_a1"
    assert "fc_1" not in json.dumps(told)


def test_res_25_a_reasoning_item_goes_back_as_it_came() -> None:
    """With its id and its empty `summary`; without an id where it had none."""
    whole: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
    for item in (whole, {name: value for name, value in whole.items() if name != "id"}):
        given = [{"role": "user", "content": "Hi"}, item, {"role": "assistant", "content": "Yes."}]
        _, told = asking(NAME, NAME, {"model": "m", "input": given})
        assert told["input"][1] == item


def test_res_25_an_incomplete_reasoning_item_is_completed_or_left_out() -> None:
    """Without `summary` it gets an empty one; one that holds nothing of the provider's is left out, with an entry."""
    bare = {"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAA"}
    _, told = asking(NAME, NAME, {"model": "m", "input": [bare, {"role": "assistant", "content": "Yes."}]})
    assert told["input"][0] == {**bare, "summary": []}
    hollow = Message("assistant", (ThinkingPart("Hm.", seal(type="reasoning", summary=[])), TextPart("Yes.")))
    encoded = encode(Request(messages=(hollow,)))
    assert json.loads(encoded.body)["input"] == [{"role": "assistant", "content": "Yes."}]
    assert [(change.code, change.path) for change in encoded.changes] == [
        ("thinking_unsupported", "/messages/0/parts/0")
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"type": "auto"}, "auto"),
        ({"type": "any"}, "required"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "f"}, {"type": "function", "name": "f"}),
    ],
)
def test_cho_03_choices_of_anthropic_are_words(said: dict[str, Any], told: object) -> None:
    """Objects there, strings here; an object only for a named tool."""
    tools: list[dict[str, Any]] = [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]
    _, body = asking("anthropic", NAME, {**CLAUDE, "tools": tools, "tool_choice": said})
    assert body["tool_choice"] == told


def test_cho_19_both_shapes_of_a_tool_on_both_doors() -> None:
    """Flat at the door of Chat, nested at the door of Responses: the same tool goes on."""
    flat = {"type": "function", "name": "f", "description": "D", "parameters": {"type": "object"}}
    nested = {"type": "function", "function": {name: value for name, value in flat.items() if name != "type"}}
    expected = [{"name": "f", "description": "D", "input_schema": {"type": "object"}}]
    for source, tool in (("openai-chat", flat), (NAME, nested)):
        question = {"messages": ASKED["messages"]} if source == "openai-chat" else {"input": "Hi"}
        road, told = asking(source, "anthropic", {"model": "m", **question, "tools": [tool]})
        assert told["tools"] == expected
        assert [(change.code, change.path) for change in road.changes[:1]] == [("foreign_shape", "/tools/0")]


def test_use_06_cached_tokens_reach_anthropic() -> None:
    """`input_tokens_details.cached_tokens` become `cache_read_input_tokens`, and `input_tokens` is without them."""
    road, _ = asking("anthropic", NAME, CLAUDE)
    usage = {
        "input_tokens": 320,
        "input_tokens_details": {"cached_tokens": 256, "cache_write_tokens": 0},
        "output_tokens": 88,
        "output_tokens_details": {"reasoning_tokens": 40},
        "total_tokens": 408,
    }
    whole = {"id": "resp_1", "object": "response", "status": "completed", "model": "m",
             "output": [message_item("Hi")], "usage": usage}  # fmt: skip
    told = road.response(whole)["usage"]
    assert (told["input_tokens"], told["cache_read_input_tokens"], told["output_tokens"]) == (64, 256, 88)


@pytest.mark.parametrize(
    ("reason", "chat", "claude"),
    [("max_output_tokens", "length", "max_tokens"), ("content_filter", "content_filter", "refusal")],
)
def test_use_14_an_incomplete_answer_keeps_what_came(reason: str, chat: str, claude: str) -> None:
    """Whole and streamed: the text is there, and the ending is the client's own word for it."""
    cut = message_item("Half an ans", status="incomplete")
    details: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    whole = {"id": "resp_1", "object": "response", "model": "m", "output": [cut], **details}
    road, _ = asking("openai-chat", NAME, ASKED)
    [choice] = road.response(whole)["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Half an ans", chat)
    raw = [
        added(message_item("", content=[])),
        event("output_text.delta", output_index=0, item_id="msg_1", content_index=0, delta="Half an ans"),
        done(cut),
        completed(cut, **details),
    ]
    told = data_of(b"".join(road.stream(raw)))
    assert "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in told) == "Half an ans"
    assert told[-1]["choices"][0]["finish_reason"] == chat
    road, _ = asking("anthropic", NAME, CLAUDE)
    assert road.response(whole)["stop_reason"] == claude


CHAT_TEXT = (
    b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    b'{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\n'
)
CHAT_CALLS = (
    b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    b'{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},'
    b'"finish_reason":null}]}\n\n'
)
CHAT_END = (
    b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},'
    b'"finish_reason":"%b"}]}\n\ndata: [DONE]\n\n'
)


def test_out_06_text_of_chat_has_the_whole_life_of_an_item() -> None:
    """Codex: 'delta without active item'; the item opens, its part opens, and both are done before the end."""
    road, _ = asking(NAME, "openai-chat", {"model": "m", "input": "Hi", "stream": True})
    told = data_of(b"".join(road.stream([CHAT_TEXT, CHAT_END % b"stop"])))
    assert [body["type"].removeprefix("response.") for body in told] == [
        "created", "in_progress", "output_item.added", "content_part.added", "output_text.delta",
        "output_text.done", "content_part.done", "output_item.done", "completed",
    ]  # fmt: skip
    assert told[4]["item_id"] == told[2]["item"]["id"] == told[7]["item"]["id"]


def test_out_07_events_are_numbered_from_0() -> None:
    """Each `sequence_number` is one more than the last."""
    road, _ = asking(NAME, "openai-chat", {"model": "m", "input": "Hi", "stream": True})
    told = data_of(b"".join(road.stream([CHAT_TEXT, CHAT_CALLS, CHAT_END % b"tool_calls"])))
    assert [body["sequence_number"] for body in told] == list(range(len(told)))


def test_out_08_and_09_every_envelope_is_typed_and_the_last_holds_the_answer() -> None:
    """`{type, response}` around created and completed; completed has id, object, model and the whole output."""
    road, _ = asking(NAME, "openai-chat", {"model": "m", "input": "Hi", "stream": True})
    told = data_of(b"".join(road.stream([CHAT_TEXT, CHAT_CALLS, CHAT_END % b"tool_calls"])))
    first, last = told[0], told[-1]
    assert (first["type"], last["type"]) == ("response.created", "response.completed")
    assert (first["response"]["id"], first["response"]["object"]) == ("c1", "response")
    assert {name: last["response"][name] for name in ("id", "object", "model", "status")} == {
        "id": "c1", "object": "response", "model": "m", "status": "completed",
    }  # fmt: skip
    assert [(item["type"], item.get("call_id")) for item in last["response"]["output"]] == [
        ("message", None), ("function_call", "call_1"),
    ]  # fmt: skip
    whole = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{
        "index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Hi", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}]}  # fmt: skip
    assert last["response"] == road.response(whole)


def test_out_10_a_call_of_chat_is_a_function_call() -> None:
    """Whole an item, streamed with the events of functions and of nothing else."""
    road, _ = asking(NAME, "openai-chat", {"model": "m", "input": "Hi"})
    told = data_of(b"".join(road.stream([CHAT_CALLS, CHAT_END % b"tool_calls"])))
    kinds = [body["type"].removeprefix("response.") for body in told[2:-1]]
    assert kinds == [
        "output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
    ]  # fmt: skip
    [item] = told[-1]["response"]["output"]
    assert (item["type"], item["call_id"], item["name"], item["arguments"]) == ("function_call", "call_1", "f", "{}")


# Hosted tools and state


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "google", "ollama", "cohere"])
@pytest.mark.parametrize("kind", ["web_search", "tool_search"])
def test_srv_10_a_hosted_tool_is_named_in_the_refusal(kind: str, target: str) -> None:
    """Never removed in silence; dropped with an entry where that is allowed."""
    body = {"model": "m", "input": "Hi", "tools": [{"type": kind}]}
    with pytest.raises(UnsupportedError, match=rf"/tools/0 \({kind} of openai-responses\)") as caught:
        bridge(NAME, target, model="m").request(body)
    assert [(change.code, change.path) for change in caught.value.changes] == [("server_tools", "/tools/0")]
    road = bridge(NAME, target, model="m", allow={"server_tools"})
    assert "tools" not in road.request(body)
    assert ("dropped", "server_tools") in [(change.action, change.code) for change in road.changes]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "google", "ollama", "cohere"])
def test_srv_11_a_reference_is_refused_by_name_and_nothing_is_promised(target: str) -> None:
    """Where nobody keeps the item the refusal names it, and the answer says `store: false`."""
    given = [{"role": "user", "content": "Hi"}, {"type": "item_reference", "id": "rs_1"}]
    with pytest.raises(UnsupportedError, match=r"/messages/1/parts/0 \(item_reference of openai-responses\)"):
        bridge(NAME, target, model="m").request({"model": "m", "input": given})
    road, _ = asking(NAME, "openai-chat", {"model": "m", "input": "Hi", "store": True})
    whole = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}],
    }
    assert road.response(whole)["store"] is False
    told = data_of(b"".join(road.stream([CHAT_TEXT, CHAT_END % b"stop"])))
    assert [told[0]["response"]["store"], told[-1]["response"]["store"]] == [False, False]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "google", "ollama", "cohere"])
@pytest.mark.parametrize("state", [{"previous_response_id": "resp_0"}, {"conversation": "conv_1"}])
def test_srv_12_state_that_nobody_keeps_is_refused_by_name(state: dict[str, Any], target: str) -> None:
    """The model would see the last turn alone; the refusal says which member asked for it."""
    [name] = state
    with pytest.raises(
        UnsupportedError, match=rf"/continues \({name}: a conversation kept by openai-responses\)"
    ) as caught:
        bridge(NAME, target, model="m").request({"model": "m", "input": "Go on.", **state})
    assert [(change.code, change.path) for change in caught.value.changes] == [("server_state", "/continues")]


def test_srv_13_the_state_has_one_owner() -> None:
    """With `previous_response_id` exactly the new items go on, and no history beside it."""
    output = {"type": "function_call_output", "call_id": "call_a1", "output": "4"}
    body = {"model": "m", "input": [output], "previous_response_id": "resp_0"}
    _, told = asking(NAME, NAME, body)
    assert told == body


# Freeform tools where there are none


@pytest.mark.parametrize("target", ["anthropic", "google", "ollama", "cohere"])
def test_srv_01_a_freeform_tool_is_offered_as_a_function_elsewhere(target: str) -> None:
    """It is never dropped: one required string `input`, the grammar in words, an entry (SRV-02)."""
    road, told = asking(NAME, target, {"model": "m", "input": "Fix it.", "tools": [PATCH_TOOL]})
    text = json.dumps(told["tools"])
    assert "apply_patch" in text
    assert "*** Begin Patch" in text
    [schema] = _schemas(told["tools"][0])
    assert schema["required"] == ["input"]
    assert schema["properties"]["input"]["type"] == "string"
    assert "freeform_as_function" in [change.code for change in road.changes]


def _schemas(value: object) -> list[dict[str, Any]]:
    """The parameter schemas inside an offered tool."""
    if is_list(value):
        return [found for entry in value for found in _schemas(entry)]
    if not is_object(value):
        return []
    return [value] if "properties" in value else [found for entry in value.values() for found in _schemas(entry)]


CALLED = json.dumps({"input": PATCH})
CLAUDE_EVENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("message_start", {"message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}}),
    ("content_block_start", {"index": 0, "content_block": {
        "type": "tool_use", "id": "toolu_1", "name": "apply_patch", "input": {}}}),
    ("content_block_delta", {"index": 0, "delta": {"type": "input_json_delta", "partial_json": CALLED[:20]}}),
    ("content_block_delta", {"index": 0, "delta": {"type": "input_json_delta", "partial_json": CALLED[20:]}}),
    ("content_block_stop", {"index": 0}),
    ("message_delta", {"delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 1}}),
    ("message_stop", {}),
)  # fmt: skip
ANSWERS: dict[str, tuple[dict[str, Any], bytes]] = {
    "anthropic": (
        {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
            "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "apply_patch", "input": {"input": PATCH}}],
        },
        b"".join(
            [b"data: " + json.dumps({"type": kind, **rest}).encode() + b"\n\n" for kind, rest in CLAUDE_EVENTS]
        ),
    ),
    "google": (
        {
            "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
                {"functionCall": {"id": "toolu_1", "name": "apply_patch", "args": {"input": PATCH}}}]}}],
            "modelVersion": "m", "responseId": "msg_1",
        },
        b"",
    ),
    "ollama": (
        {
            "model": "m", "created_at": "2026-11-21T10:00:00Z", "done": True, "done_reason": "stop", "message": {
                "role": "assistant", "content": "", "tool_calls": [
                    {"id": "toolu_1", "function": {"index": 0, "name": "apply_patch", "arguments": {"input": PATCH}}}]},
        },
        b"",
    ),
}  # fmt: skip
"""The function called, whole and streamed, as each dialect says it."""


def stream_of(target: str) -> bytes:
    """The streamed form of an answer; Google's and Ollama's calls come whole."""
    whole, raw = ANSWERS[target]
    told = json.dumps(whole).encode()
    return raw or (told + b"\n" if target == "ollama" else b"data: " + told + b"\n\n")


@pytest.mark.parametrize("target", ANSWERS)
def test_srv_03_the_call_comes_back_as_freeform(target: str) -> None:
    """Whole and streamed: `custom_tool_call` with the raw text, its own events, and the same in the last event."""
    road, _ = asking(NAME, target, {"model": "m", "input": "Fix it.", "tools": [PATCH_TOOL]})
    [item] = road.response(ANSWERS[target][0])["output"]
    assert (item["type"], item["call_id"], item["name"]) == ("custom_tool_call", "toolu_1", "apply_patch")
    assert item["input"] == PATCH
    assert "arguments" not in item
    told = data_of(b"".join(road.stream([stream_of(target)])))
    kinds = [body["type"].removeprefix("response.") for body in told[2:-1]]
    assert kinds == [
        "output_item.added", "custom_tool_call_input.delta", "custom_tool_call_input.done", "output_item.done",
    ]  # fmt: skip
    assert told[3]["delta"] == told[4]["input"] == PATCH
    [last] = told[-1]["response"]["output"]
    assert {**last, "id": item["id"]} == item


@pytest.mark.parametrize("target", ["anthropic", "google", "ollama", "cohere"])
def test_srv_03_a_freeform_call_in_the_history_goes_as_the_function(target: str) -> None:
    """The next turn: its text is `input` of the function, and its result answers it."""
    history = [
        {"role": "user", "content": "Fix it."},
        {"type": "custom_tool_call", "call_id": "call_a1", "name": "apply_patch", "input": PATCH},
        {"type": "custom_tool_call_output", "call_id": "call_a1", "output": "Done."},
    ]
    _, told = asking(NAME, target, {"model": "m", "input": history, "tools": [PATCH_TOOL]})
    arguments = json.dumps({"input": PATCH})
    if target == "cohere":  # whose arguments are text
        arguments = json.dumps(arguments.replace(": ", ":", 1))
    assert arguments in json.dumps(told)
    assert "Done." in json.dumps(told)


def test_a_reference_stays_opaque() -> None:
    """The same history is no refusal where the provider keeps the item."""
    given = [{"role": "user", "content": "Hi"}, {"type": "item_reference", "id": "rs_1"}]
    _, told = asking(NAME, NAME, {"model": "m", "input": given})
    assert told["input"] == given
    assert OpaquePart(NAME, "item_reference", given[1]).kind == "item_reference"
