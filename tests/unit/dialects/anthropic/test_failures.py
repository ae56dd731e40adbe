"""Rows of the failure list between this dialect and another: the bytes of one go in, those of the other come out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.codec import Bridge, bridge
from interlingua.dialects._contract import DecodeContext, Quirks, Target
from interlingua.dialects.anthropic import DIALECT
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.types.content import ServerToolPart, TextPart, ToolCall
from interlingua.types.event import StreamError
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply
from tests.support.messages import (
    NAME,
    START,
    block,
    codes,
    decode,
    encode,
    ended,
    event,
    failure,
    reply,
    request,
    streamed,
    wire,
)

TEXT = '{"type":"text","text":""}'
SAID = '{"type":"text_delta","text":"Checking."}'
HELLO = {"role": "user", "content": "Hi"}
TOOLS: list[Any] = [{"name": name, "input_schema": {"type": "object", "properties": {}}} for name in ("f", "g")]


def use(call_id: str, name: str = "f", members: str = "") -> str:
    """How a call opens."""
    return f'{{"type":"tool_use","id":"{call_id}","name":"{name}","input":{{}}{members}}}'


def grown(*pieces: str) -> tuple[str, ...]:
    """Deltas of a call's arguments."""
    return tuple(json.dumps({"type": "input_json_delta", "partial_json": piece}) for piece in pieces)


def clients(source: str, target: str = NAME, **body: Any) -> Bridge:
    """A bridge that has seen the request of a client of `source`."""
    found = bridge(source, target, model="claude-x" if target == NAME else "m")
    member = {"google": "contents", "openai-responses": "input"}.get(source, "messages")
    hello: Any = {"role": "user", "parts": [{"text": "Hi"}]} if source == "google" else HELLO
    found.request({"model": "m", member: [hello], "max_tokens": 9, **body} if source != "google" else {member: [hello]})
    return found


def told(found: Bridge, *raw: bytes) -> list[Any]:
    """The parsed events that the client gets of a service's stream."""
    data = b"".join(found.stream(raw)).decode()
    lines = [line.removeprefix("data: ") for line in data.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def calls_of(chunks: list[Any]) -> list[Any]:
    """The pieces of calls in Chat chunks."""
    return [call for one in chunks for choice in one["choices"] for call in choice["delta"].get("tool_calls", [])]


def openings(found: list[Any]) -> list[Any]:
    """The blocks that a stream of this dialect opens."""
    return [body["content_block"] for body in found if body["type"] == "content_block_start"]


def pieces_of(found: list[Any], index: int) -> str:
    """The arguments of one block."""
    deltas = [body["delta"] for body in found if body["type"] == "content_block_delta" and body["index"] == index]
    assert deltas
    assert {delta["type"] for delta in deltas} == {"input_json_delta"}
    return "".join([delta["partial_json"] for delta in deltas])


# Streams


def test_str_09_the_first_call_after_a_text_block_is_call_0() -> None:
    """STR-09: block 1 of the wire is the call with the ordinal 0 of Chat."""
    raw = START + block(0, TEXT, SAID) + block(1, use("a"), *grown("", '{"x": 1}')) + ended("tool_use")
    pieces = calls_of(told(clients("openai-chat"), raw))
    assert {piece["index"] for piece in pieces} == {0}
    assert (pieces[0]["id"], pieces[0]["function"]["name"]) == ("a", "f")
    assert "".join(piece["function"]["arguments"] for piece in pieces) == '{"x": 1}'


def test_str_10_parallel_calls_count_up_and_equal_the_whole_ones() -> None:
    """STR-10: two blocks are calls 0 and 1, in the stream as in the whole answer (OUT-12)."""
    raw = (
        START
        + block(0, TEXT, SAID)
        + block(1, use("a"), *grown('{"x": 1}'))
        + block(2, use("b", "g"), *grown('{"y"', ": 2}"))
        + ended("tool_use")
    )
    chunks = told(clients("openai-chat"), raw)
    found: dict[int, list[str]] = {}
    for piece in calls_of(chunks):
        known = found.setdefault(piece["index"], ["", "", ""])
        known[0] += piece.get("id", "")
        known[1] += piece["function"].get("name", "")
        known[2] += piece["function"].get("arguments", "")
    assert found == {0: ["a", "f", '{"x": 1}'], 1: ["b", "g", '{"y": 2}']}
    finishes = [choice["finish_reason"] for one in chunks for choice in one["choices"] if choice.get("finish_reason")]
    assert finishes == ["tool_calls"]
    whole = clients("openai-chat").response(
        {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "tool_use",
            "content": [
                {"type": "text", "text": "Checking."},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
                {"type": "tool_use", "id": "b", "name": "g", "input": {"y": 2}},
            ],
            "usage": {"input_tokens": 5, "output_tokens": 7},
        }
    )  # fmt: skip
    shown = [(call["id"], call["function"]["name"]) for call in whole["choices"][0]["message"]["tool_calls"]]
    assert shown == [("a", "f"), ("b", "g")]
    assert whole["choices"][0]["finish_reason"] == "tool_calls"


def test_out_12_interleaved_blocks_keep_their_own_arguments_elsewhere() -> None:
    """OUT-12: arguments go by the block's index upstream, and by the ordinal of the call to the client."""

    def part(kind: str, index: int, rest: str) -> bytes:
        return event(f'{{"type":"content_block_{kind}","index":{index}{rest}}}')

    raw = (
        START
        + part("start", 3, f',"content_block":{use("a")}')
        + part("start", 5, f',"content_block":{use("b", "g")}')
        + part("delta", 5, f',"delta":{grown(chr(123))[0]}')
        + part("delta", 3, f',"delta":{grown(chr(123) + chr(34) + "x" + chr(34) + ":1" + chr(125))[0]}')
        + part("delta", 5, f',"delta":{grown(chr(125))[0]}')
        + part("stop", 5, "")
        + part("stop", 3, "")
        + ended("tool_use")
    )
    found: dict[int, str] = {}
    for piece in calls_of(told(clients("openai-chat"), raw)):
        found[piece["index"]] = found.get(piece["index"], "") + piece["function"].get("arguments", "")
    assert found == {0: '{"x":1}', 1: "{}"}


def test_str_21_the_arguments_of_the_opening_delta_are_told() -> None:
    """STR-21: a Chat call that comes whole in one delta opens with `input: {}` and grows by all of its arguments."""
    chunk = (
        b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
        b'{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":'
        b'{"name":"f","arguments":"{\\"city\\": \\"Oslo\\"}"}}]},"finish_reason":null}]}\n\n'
    )
    end = b'data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
    found = told(clients(NAME, "openai-chat", tools=TOOLS), chunk, end)
    assert openings(found) == [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]
    assert pieces_of(found, 0) == '{"city": "Oslo"}'


def test_str_40_a_call_of_gemini_is_told_whole_in_a_delta() -> None:
    """STR-40: its arguments stand in an `input_json_delta`, not nowhere; the stream equals the whole answer."""
    body: Any = {
        "candidates": [
            {
                "index": 0,
                "finishReason": "STOP",
                "content": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"city": "Oslo"}}}]},
            }
        ]
    }
    found = told(clients(NAME, "google", tools=TOOLS), b"data: " + json.dumps(body).encode() + b"\r\n\r\n")
    assert openings(found) == [{"type": "tool_use", "id": "call_0", "name": "f", "input": {}}]
    assert json.loads(pieces_of(found, 0)) == {"city": "Oslo"}
    whole = clients(NAME, "google", tools=TOOLS).response(body)
    assert whole["content"] == [{"type": "tool_use", "id": "call_0", "name": "f", "input": {"city": "Oslo"}}]
    assert whole["stop_reason"] == "tool_use"


def test_out_01_text_after_a_call_opens_a_block_of_its_own() -> None:
    """OUT-01: Chat text that follows a call never grows the call's block; each block stops before the next starts."""
    deltas = [
        '{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}',
        '{"content":"Wait."}',
    ]
    raw = [f'data: {{"id":"c","choices":[{{"index":0,"delta":{delta}}}]}}\n\n'.encode() for delta in deltas]
    raw.append(b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n')
    found = told(clients(NAME, "openai-chat", tools=TOOLS), *raw)
    blocks = [(body["type"], body["index"]) for body in found if body["type"].startswith("content_block")]
    assert blocks == [(f"content_block_{step}", index) for index in (0, 1) for step in ("start", "delta", "stop")]
    assert [block["type"] for block in openings(found)] == ["tool_use", "text"]


def test_out_03_a_call_opens_with_an_empty_input() -> None:
    """OUT-03: `input: {}` stands in the start, also for a tool without arguments."""
    raw = (
        b'data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function",'
        b'"function":{"name":"f","arguments":""}}]}}]}\n\n'
        b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
    )
    found = told(clients(NAME, "openai-chat", tools=TOOLS), raw)
    assert openings(found) == [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]
    assert pieces_of(found, 0) == "{}"


def test_out_04_a_late_name_or_id_opens_one_block_and_nothing_follows_the_stop() -> None:
    """OUT-04: the block starts once, when its name is known; an id that comes after it changes nothing."""
    calls: Any = [
        '{"index":0,"function":{"arguments":"{\\"x\\""}}',
        '{"index":0,"function":{"name":"f","arguments":":1}"}}',
        '{"index":0,"id":"late","function":{"arguments":""}}',
    ]
    raw = [
        f'data: {{"id":"c","choices":[{{"index":0,"delta":{{"tool_calls":[{call}]}}}}]}}\n\n'.encode() for call in calls
    ]
    raw.append(b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n')
    found = told(clients(NAME, "openai-chat", tools=TOOLS), *raw)
    assert [block["name"] for block in openings(found)] == ["f"]
    assert openings(found)[0]["id"]
    assert pieces_of(found, 0) == '{"x":1}'
    assert [body["type"] for body in found][-1] == "message_stop"


def test_out_11_tool_calls_and_their_finish_come_together() -> None:
    """OUT-11: `tool_use` without a call is `stop`; with one, the calls are there and so is `tool_calls`."""
    body: Any = {
        "id": "m", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "tool_use",
        "content": [{"type": "text", "text": "a"}], "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    [choice] = clients("openai-chat").response(body)["choices"]
    assert (choice["finish_reason"], choice["message"].get("tool_calls")) == ("stop", None)
    body["content"].append({"type": "tool_use", "id": "a", "name": "f", "input": {}})
    [choice] = clients("openai-chat").response(body)["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert [call["id"] for call in choice["message"]["tool_calls"]] == ["a"]


@pytest.mark.parametrize("dialect", sorted(set(DIALECTS) - {"unified"}))
def test_sse_28_a_binary_frame_is_an_error_and_no_short_answer(dialect: str) -> None:
    """SSE-28: an exception frame of Bedrock, alone or after text, never looks like a whole answer."""
    headers = b"\x0f:exception-type\x07\x00\x13throttlingException\r:content-type\x07\x00\x10application/json"
    payload = b'{"message":"Too many tokens, please wait before trying again."}'
    size = len(headers) + len(payload) + 16
    frame = size.to_bytes(4, "big") + len(headers).to_bytes(4, "big") + b"\0\0\0\0" + headers + payload + b"\0\0\0\0"
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    found = [*decoder.feed(frame), *decoder.close()]
    assert isinstance(found[-1], StreamError)
    assert found[-1].error in ("DecodeError", "IncompleteStreamError")
    if dialect == NAME:
        assert failure(START + block(0, TEXT, SAID) + frame).partial is not None


# Arguments and counts


def test_arg_05_nested_values_survive_a_trip_through_chat() -> None:
    """ARG-05: an array inside an object is an array again, never text: this dialect, Chat, and back."""
    turn: dict[str, Any] = {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "a", "name": "f", "input": {"items": [{"n": 1}, "[2]"], "deep": {"x": []}}}
        ],
    }
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]}
    asked: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [HELLO, turn, result], "tools": TOOLS}
    chat = bridge(NAME, "openai-chat", model="m").request(asked)
    text = chat["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(text) == turn["content"][0]["input"]
    back = bridge("openai-chat", NAME, model="claude-x").request(chat)
    assert back["messages"][1]["content"] == turn["content"]


def test_use_02_both_halves_of_the_counts_reach_another_client() -> None:
    """USE-02: input and cache of the start, output of the end, each once."""
    start = START.replace(
        b'{"input_tokens":5,"output_tokens":1}',
        b'{"input_tokens":5,"cache_read_input_tokens":10,"cache_creation_input_tokens":3,"output_tokens":1}',
    )
    raw = start + block(0, TEXT, SAID) + ended(usage='{"output_tokens":7}')
    found = clients("openai-chat", stream_options={"include_usage": True}, stream=True)
    [usage] = [one["usage"] for one in told(found, raw) if one.get("usage")]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (18, 7, 25)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 10


def test_use_05_streamed_and_whole_counts_are_the_same() -> None:
    """USE-05: cache reads are not lost by streaming."""
    counts = '{"input_tokens":5,"cache_read_input_tokens":10,"cache_creation_input_tokens":3,"output_tokens":7}'
    start = START.replace(b'{"input_tokens":5,"output_tokens":1}', counts.replace(":7}", ":1}").encode())
    spoken = streamed(start + block(0, TEXT, SAID) + ended(usage='{"output_tokens":7}')).usage
    body = f'{{"content":[{{"type":"text","text":"Checking."}}],"stop_reason":"end_turn","usage":{counts}}}'
    whole = DIALECT.decode_response(HttpReply(status=200, body=body.encode()), DecodeContext()).usage
    assert spoken == whole == Usage(input_tokens=18, output_tokens=7, cache_read_tokens=10, cache_write_tokens=3)


# Refusals and choices


def test_cho_12_a_refusal_is_a_content_filter_on_chat() -> None:
    """CHO-12: an empty refusal is no empty success, in a stream too."""
    body: Any = {
        "id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": [], "stop_reason": "refusal",
        "stop_details": {"type": "refusal", "category": "cyber"}, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    [choice] = clients("openai-chat").response(body)["choices"]
    assert choice["finish_reason"] == "content_filter"
    chunks = told(clients("openai-chat"), START + ended("refusal"))
    assert [choice["finish_reason"] for one in chunks for choice in one["choices"] if choice["finish_reason"]] == [
        "content_filter"
    ]


@pytest.mark.parametrize(
    ("choice", "chat"),
    [
        ({"type": "none"}, "none"),
        ({"type": "auto"}, "auto"),
        ({"type": "any"}, "required"),
        ({"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_cho_01_each_choice_has_its_word_on_chat(choice: Any, chat: Any) -> None:
    """CHO-01, CHO-06: `none` is no error and never auto; `any` is `required`."""
    asked: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [HELLO], "tools": TOOLS, "tool_choice": choice}
    assert bridge(NAME, "openai-chat", model="m").request(asked)["tool_choice"] == chat


def test_cho_07_parallel_calls_off_is_said_in_both_directions() -> None:
    """CHO-07: the boolean is inverted there and back."""
    asked: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [HELLO], "tools": TOOLS,
             "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}  # fmt: skip
    chat = bridge(NAME, "openai-chat", model="m").request(asked)
    assert chat["parallel_tool_calls"] is False
    again = bridge("openai-chat", NAME, model="claude-x").request(chat)
    assert again["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    chat["parallel_tool_calls"] = True
    assert bridge("openai-chat", NAME, model="claude-x").request(chat)["tool_choice"] == {
        "type": "auto", "disable_parallel_tool_use": False,
    }  # fmt: skip


# Results


def test_res_02_text_before_a_result_does_not_part_call_and_result_on_chat() -> None:
    """RES-02, RES-03: tool messages come right after the calls; text and picture are a user message behind them."""
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    turn: dict[str, Any] = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
    answer = {
        "role": "user",
        "content": [
            {"type": "text", "text": "Look."}, picture, {"type": "tool_result", "tool_use_id": "a", "content": "4"},
        ],
    }  # fmt: skip
    asked: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [HELLO, turn, answer], "tools": TOOLS}
    said = bridge(NAME, "openai-chat", model="m").request(asked)["messages"]
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "user"]
    assert (said[2]["tool_call_id"], said[2]["content"]) == ("a", "4")
    assert [part["type"] for part in said[3]["content"]] == ["text", "image_url"]


def test_res_28_a_reference_to_a_tool_is_one_result_elsewhere() -> None:
    """RES-28: a result of `tool_reference` blocks alone is one result, which says the names of the tools."""
    turn: dict[str, Any] = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
    nested = [{"type": "tool_reference", "tool_name": "g"}]
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": nested}]}
    asked: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [HELLO, turn, answer], "tools": TOOLS}
    assert bridge(NAME, "openai-chat", model="m").request(asked)["messages"][-1] == {
        "role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "g"}],
    }  # fmt: skip
    assert bridge(NAME, "openai-responses", model="m").request(asked)["input"][-1]["output"] == [
        {"type": "input_text", "text": "g"}
    ]
    [result] = bridge(NAME, "google", model="m").request(asked)["contents"][-1]["parts"]
    assert result["functionResponse"]["response"] == {"output": "g"}
    assert bridge(NAME, "ollama", model="m").request(asked)["messages"][-1]["content"] == "g"
    assert bridge(NAME, NAME, model="claude-x").request(asked)["messages"][2] == answer


def test_res_34_an_image_in_a_tool_message_of_chat_stands_in_the_result() -> None:
    """RES-34: the picture of a Chat tool message is a block inside of `tool_result`."""
    calls: Any = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    content = [
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    ]
    asked: dict[str, Any] = {
        "model": "m",
        "messages": [
            HELLO,
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "a", "content": content},
        ],
    }
    [result] = bridge("openai-chat", NAME, model="claude-x").request(asked)["messages"][2]["content"]
    assert result == {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [
            {"type": "text", "text": "See"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        ],
    }


def test_res_17_an_empty_text_beside_a_call_is_not_sent_back() -> None:
    """RES-17: the service gives such a block, and refuses it when it comes back; one of spaces was seen to pass."""
    called: Any = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    said = reply(json.dumps([{"type": "text", "text": ""}, called]), "tool_use")
    assert said.parts == (ToolCall("a", "f", "{}"),)
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "4"}]}
    turn: dict[str, Any] = {"role": "assistant", "content": [{"type": "text", "text": ""}, called]}
    assert wire(request(HELLO, turn, answer))["messages"][1]["content"] == [called]
    spaced: Any = {"role": "assistant", "content": [{"type": "text", "text": " "}, called]}
    assert wire(request(HELLO, spaced, answer))["messages"][1] == spaced


@pytest.mark.parametrize("odd", ["call:1", "call.1", "call/1", "call|fc_1", "call@1", "call 1", "é"])
def test_id_04_any_id_of_another_vendor_is_made_legal(odd: str) -> None:
    """ID-04: characters that the service refuses, on call and result alike."""
    calls: Any = [{"id": odd, "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    asked: dict[str, Any] = {
        "model": "m",
        "messages": [
            HELLO, {"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": odd, "content": "4"},
        ],
    }  # fmt: skip
    body = bridge("openai-chat", NAME, model="claude-x").request(asked)["messages"]
    call_id = body[1]["content"][0]["id"]
    assert call_id
    assert set(call_id) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
    assert body[2]["content"][0]["tool_use_id"] == call_id


def test_id_19_ids_of_provider_run_tools_never_reach_another_dialect() -> None:
    """ID-19: `srvtoolu_` ids are no call ids: kept here, elsewhere the step is told without them."""
    ran = {"type": "server_tool_use", "id": "srvtoolu_01", "name": "web_search", "input": {"q": "a"}}
    found: dict[str, Any] = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_01", "content": []}
    asked: dict[str, Any] = {
        "model": "m", "max_tokens": 9,
        "messages": [HELLO, {"role": "assistant", "content": [ran, found, {"type": "text", "text": "b"}]}, HELLO],
    }  # fmt: skip
    assert bridge(NAME, NAME, model="claude-x").request(asked)["messages"][1]["content"][:2] == [ran, found]
    for target in ("openai-chat", "google", "openai-responses", "ollama", "cohere"):
        other = bridge(NAME, target, model="m")
        sent = json.dumps(other.request(asked))
        assert "srvtoolu" not in sent
        assert r"\n[web_search {\"q\":\"a\"}]\n" in sent
        named = [change.path for change in other.changes if change.code == "server_tool_as_text"]
        assert named == ["/messages/1/parts/0", "/messages/1/parts/1"]


def test_id_08_where_an_id_of_gemini_stood_is_no_loss_elsewhere() -> None:
    """ID-08: the call has its id in every dialect; nothing is said to be dropped."""
    turn: dict[str, Any] = {"role": "model", "parts": [{"functionCall": {"id": "call_0", "name": "f", "args": {}}}]}
    answer = {
        "role": "user",
        "parts": [{"functionResponse": {"id": "call_0", "name": "f", "response": {"output": "4"}}}],
    }
    asked = bridge("google", NAME, model="claude-x")
    body = asked.request({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}, turn, answer]})
    assert body["messages"][1]["content"] == [{"type": "tool_use", "id": "call_0", "name": "f", "input": {}}]
    assert codes(asked.changes) == ["approximated parameter_added /max_tokens"]


# Tools that the provider runs


RAN = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Oslo"}}
FAILED = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
}


def test_srv_06_a_provider_run_call_is_never_a_call_of_ours() -> None:
    """SRV-06: it is kept apart, and no Chat client is asked to run it."""
    content = json.dumps([{"type": "text", "text": "a"}, RAN, FAILED, {"type": "text", "text": "b"}])
    said = reply(content)
    assert said.tool_calls == ()
    assert said.finish_reason == "stop"
    body: Any = {
        "id": "m", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn",
        "content": json.loads(content), "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    found = clients("openai-chat")
    [choice] = found.response(body)["choices"]
    assert choice["message"].get("tool_calls") is None
    assert choice["finish_reason"] == "stop"
    assert [change.path for change in found.changes if change.code == "server_tool_as_text"] == ["/parts/1", "/parts/2"]
    assert choice["message"]["content"] == "ab"


def test_srv_07_results_of_both_kinds_keep_their_places() -> None:
    """SRV-07: the provider's result stays in the assistant's turn, the client's goes into the user's after it."""
    client_call: Any = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    turn: dict[str, Any] = {
        "role": "assistant",
        "content": [RAN, FAILED, {"type": "text", "text": "And:"}, client_call],
    }
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "4"}]}
    asked = request(HELLO, turn, answer)
    assert [type(part) for part in asked.messages[1].parts] == [ServerToolPart, ServerToolPart, TextPart, ToolCall]
    assert wire(asked)["messages"][1:] == [turn, answer]


def test_srv_08_a_failed_provider_run_tool_keeps_its_flag() -> None:
    """SRV-08: the error of its result comes and goes as it is, whole and streamed."""
    result = json.dumps(FAILED)
    whole = reply(f"[{json.dumps(RAN)},{result}]").parts
    called = ServerToolPart(NAME, "server_tool_use", RAN, "web_search", "srvtoolu_1", {"query": "Oslo"})
    failed = ServerToolPart(
        NAME, "web_search_tool_result", FAILED, "web_search", "srvtoolu_1", None, "max_uses_exceeded", (), "failed"
    )
    assert whole == (called, failed)
    started = json.dumps({**RAN, "input": {}})
    spoken = streamed(START + block(0, started, *grown('{"query": ', '"Oslo"}')) + block(1, result) + ended()).parts
    assert spoken == whole


# Requests that another service would refuse


def test_par_01_vendor_members_of_claude_code_stay_at_home() -> None:
    """PAR-01, PAR-02, PAR-10: `context_management` and its beta header reach no other dialect, and that is said."""
    found = decode(
        {"messages": [HELLO], "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
        headers=(("anthropic-beta", "context-management-2025-06-27"),),
    )
    again = encode(found.request)
    assert json.loads(again.body)["context_management"] == {"edits": [{"type": "clear_tool_uses_20250919"}]}
    assert dict(again.headers)["anthropic-beta"] == "context-management-2025-06-27"
    chat = bridge(NAME, "openai-chat", model="m")
    body = chat.request({"model": "m", "max_tokens": 9, "messages": [HELLO], "context_management": {"edits": []}})
    assert body.keys() <= {"model", "messages", "max_completion_tokens"}
    assert codes(chat.changes) == ["dropped extra_foreign /extra/anthropic"]


def test_par_08_marks_of_one_message_are_not_copied_to_its_results() -> None:
    """PAR-08: with marks on system, tools and three parallel results four are left, and every turn is the same."""
    mark = {"cache_control": {"type": "ephemeral"}}
    turn: dict[str, Any] = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": name, "name": "f", "input": {}} for name in "abc"],
    }
    results = [{"type": "tool_result", "tool_use_id": name, "content": "x", **mark} for name in "abc"]
    body: Any = {
        "system": [{"type": "text", "text": "s", **mark}],
        "tools": [{**TOOLS[0], **mark}],
        "messages": [HELLO, turn, {"role": "user", "content": results}],
    }
    encoded = encode(decode(body).request)
    assert encoded.body.count(b"cache_control") == 4
    assert codes(encoded.changes) == ["dropped cache_unsupported /messages/2/parts/2/cache"]


def test_par_03_a_server_gets_the_beta_features_that_it_knows() -> None:
    """PAR-03, PAR-02: an unknown value of `anthropic-beta` stays at home, and the member that needs it with it."""
    betas = "context-management-2025-06-27,interleaved-thinking-2025-05-14,brand-new-2026-11-01"
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    found = decode({"messages": [HELLO], "context_management": edits}, headers=(("anthropic-beta", betas),))
    vertex = Target(model="claude-x", quirks=Quirks(betas=frozenset({"interleaved-thinking-2025-05-14"})))
    encoded = encode(found.request, vertex)
    assert dict(encoded.headers)["anthropic-beta"] == "interleaved-thinking-2025-05-14"
    assert "context_management" not in json.loads(encoded.body)
    assert [(change.action, change.path) for change in encoded.changes] == [
        ("dropped", "/extra/anthropic/betas"),
        ("dropped", "/extra/anthropic/context_management"),
        ("dropped", "/extra/anthropic/betas"),
    ]
    bare = encode(found.request, Target(model="claude-x", quirks=Quirks(betas=frozenset())))
    assert "anthropic-beta" not in dict(bare.headers)
    assert dict(encode(found.request).headers)["anthropic-beta"] == betas


def test_par_03_the_wish_for_dropped_thinking_travels_with_its_beta_feature() -> None:
    """PAR-03: `thinking.block_binding` goes to Messages as it came; to a server without the feature neither goes."""
    thinking = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    beta = "thinking-binding-controls-2026-08-01"
    found = decode({"messages": [HELLO], "thinking": thinking}, headers=(("anthropic-beta", beta),))
    encoded = encode(found.request)
    assert json.loads(encoded.body)["thinking"] == thinking
    assert dict(encoded.headers)["anthropic-beta"] == beta
    assert encoded.changes == ()
    bare = encode(found.request, Target(model="claude-x", quirks=Quirks(betas=frozenset())))
    assert json.loads(bare.body)["thinking"] == {"type": "adaptive"}
    assert codes(bare.changes) == [
        "dropped parameter_unsupported /extra/anthropic/betas",
        "dropped parameter_unsupported /extra/anthropic/thinking/block_binding",
    ]


def test_a_wish_for_dropped_thinking_alone_is_told() -> None:
    """Without any thinking asked for the member has no place, since it needs a type beside it."""
    binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    encoded = encode(Request(messages=(user("Hi"),), max_tokens=9, extra={"anthropic": {"thinking": binding}}))
    assert "thinking" not in json.loads(encoded.body)
    assert codes(encoded.changes) == ["dropped parameter_unsupported /extra/anthropic/thinking"]


@pytest.mark.parametrize("content", ["", [], None])
def test_res_14_an_empty_result_is_marked_for_routes_that_refuse_it(content: Any) -> None:
    """RES-14: '', null, [] and a missing content are accepted; a row may ask for a marker, which is said."""
    turn: dict[str, Any] = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
    result = {"type": "tool_result", "tool_use_id": "a", **({} if content is None else {"content": content})}
    asked = request(HELLO, turn, {"role": "user", "content": [result]})
    assert wire(asked)["messages"][2]["content"] == [{"type": "tool_result", "tool_use_id": "a"}]
    encoded = encode(asked, Target(model="m", quirks=Quirks(empty_result="marker")))
    assert json.loads(encoded.body)["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "(no output)"}
    ]
    assert codes(encoded.changes) == ["approximated parameter_added /messages/2/parts/0/content"]


def test_res_22_tools_of_the_history_are_declared_where_a_server_insists() -> None:
    """RES-22: a row may ask for it; the tools are bare, none of them may be called, and it is said."""
    turn: dict[str, Any] = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "4"}]}
    asked = request(HELLO, turn, answer)
    assert wire(asked).keys().isdisjoint({"tools", "tool_choice"})
    insisting = Target(model="m", quirks=Quirks(history_tools=True))
    encoded = encode(asked, insisting)
    body = json.loads(encoded.body)
    assert body["tools"] == [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]
    assert body["tool_choice"] == {"type": "none"}
    assert codes(encoded.changes) == ["approximated parameter_added /tools"]
    assert "tools" not in wire(request(HELLO), insisting)
    assert [tool["name"] for tool in wire(request(HELLO, turn, answer, tools=TOOLS), insisting)["tools"]] == ["f", "g"]


@pytest.mark.parametrize(("choice", "said"), [("auto", ["/tool_choice"]), ("none", []), ("required", ["/tool_choice"])])
def test_a_choice_without_tools_is_not_sent(choice: Any, said: list[str]) -> None:
    """The service refuses it, and that is said, but for what no tools mean anyway."""
    encoded = encode(Request(messages=(user("Hi"),), tool_choice=choice, parallel_tool_calls=False, max_tokens=1))
    assert "tool_choice" not in json.loads(encoded.body)
    assert [change.path for change in encoded.changes] == [*said, "/parallel_tool_calls"]


@pytest.mark.parametrize("content", ["", [], [{"type": "text", "text": ""}]])
def test_a_turn_that_says_nothing_is_left_out(content: Any) -> None:
    """The service refuses messages without content, whoever says nothing."""
    empty = {"role": "user", "content": content}
    found = decode({"messages": [HELLO, {"role": "assistant", "content": "Yes?"}, empty, HELLO]})
    assert [message.role for message in found.request.messages] == ["user", "assistant", "user"]
    assert codes(found.changes) == ["dropped empty_part /messages/2"]
    encoded = encode(Request(messages=(user("Hi"), Message("user", ())), max_tokens=1))
    assert len(json.loads(encoded.body)["messages"]) == 1
    assert codes(encoded.changes) == ["dropped empty_part /messages/1"]


def test_system_text_alone_is_told_as_the_users() -> None:
    """Somebody must begin: the service refuses a request without messages."""
    encoded = encode(Request(system=(TextPart("Say hi."),), max_tokens=1))
    body = json.loads(encoded.body)
    assert "system" not in body
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Say hi."}]}]
    assert codes(encoded.changes) == ["approximated system_moved /system"]
