"""Calls of a type that only their server knows, such as the searches that GLM tells of: kept, each in its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError
from interlingua.stream.fold import fold
from interlingua.stream.unfold import unfold
from interlingua.types.change import Change
from interlingua.types.content import ServerToolPart, TextPart, ToolCall
from interlingua.types.event import Event
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest

CHAT = get_dialect("openai-chat")
SEARCH: dict[str, Any] = {
    "id": "call_1", "type": "web_search", "web_search": {"search_query": "q", "search_result": [{"link": "l"}]},
}  # fmt: skip
CALL: dict[str, Any] = {"id": "call_2", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CHUNK: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "glm"}
PARTS = (
    TextPart("Hi"),
    ServerToolPart("openai-chat", "web_search", {"tool_calls": [SEARCH]}, "web_search", "call_1", SEARCH["web_search"]),
    ToolCall("call_2", "f", "{}"),
)


def whole(*calls: dict[str, Any]) -> Response[Any]:
    """An answer with these calls."""
    message = {"role": "assistant", "content": "Hi", "tool_calls": calls}
    body = {**CHUNK, "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    return CHAT.decode_response(HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext())


def events(data: bytes) -> list[Event]:
    """What a stream is read as."""
    decoder = CHAT.stream_decoder(DecodeContext())
    return [*decoder.feed(data), *decoder.close()]


def stream(*calls: dict[str, Any]) -> Response[Any]:
    """The same in pieces."""
    deltas: list[Any] = [{"content": "Hi"}, *[{"tool_calls": [{"index": n, **call}]} for n, call in enumerate(calls)]]
    said: list[Any] = [{**CHUNK, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    said.append({**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return fold(events("".join([f"data: {json.dumps(one)}\n\n" for one in said]).encode()))


def test_it_is_a_step_whole_and_streamed() -> None:
    """In its order among the calls, without its index."""
    assert whole(SEARCH, CALL).parts == PARTS
    assert stream(SEARCH, CALL).parts == PARTS
    assert stream(CALL, SEARCH).parts == (PARTS[0], PARTS[2], PARTS[1])
    assert stream({**CALL, "function": {"name": "f"}}, SEARCH).parts == (PARTS[0], PARTS[2], PARTS[1])


def test_it_alone_is_nothing_to_answer() -> None:
    """The finish reason says calls where there is none for the client."""
    for response in (whole(SEARCH), stream(SEARCH)):
        assert (response.finish_reason, response.tool_calls) == ("stop", ())
        assert [change.code for change in response.changes] == ["finish_reason_derived"]


def test_it_goes_back_in_its_own_dialect() -> None:
    """In an answer, in a stream, and in the next request."""
    response = whole(SEARCH, CALL)
    told = json.loads(CHAT.encode_response(response, ServerContext()).body)
    assert told["choices"][0]["message"]["tool_calls"] == [SEARCH, CALL]
    encoder = CHAT.stream_encoder(ServerContext())
    data = b"".join([encoder.encode(event) for event in unfold(response)])
    assert b'"tool_calls":[{"id":"call_1","type":"web_search",' in data
    assert fold(events(data)).parts == PARTS
    results = [{"role": "tool", "tool_call_id": "call_2", "content": "1"}]
    turn = {"role": "assistant", "content": "Hi", "tool_calls": [SEARCH, CALL]}
    body = {"model": "glm", "messages": [{"role": "user", "content": "?"}, turn, *results]}
    sent = HttpRequest(url="/v1/chat/completions", body=json.dumps(body).encode())
    request: Request = CHAT.decode_request(sent, DecodeOptions()).request
    assert request.messages[1].parts == PARTS
    again = json.loads(CHAT.encode_request(request, EncodeOptions(target=Target(model="glm"))).body)
    assert again["messages"][1]["tool_calls"] == [SEARCH, CALL]
    other = get_dialect("anthropic").encode_request(request, EncodeOptions(target=Target(model="m")))
    assert json.loads(other.body)["messages"][1]["content"][1] == {
        "type": "text",
        "text": '\n[web_search {"search_query":"q","search_result":[{"link":"l"}]}]',
    }


def test_others_are_told_of_it_in_words() -> None:
    """An answer in another dialect has it as thinking."""
    changes: list[Change] = []
    get_dialect("anthropic").encode_response(whole(SEARCH, CALL), ServerContext(changes=changes))
    assert [f"{one.action} {one.code} {one.path}" for one in changes][:1] == [
        "approximated server_tool_as_text /parts/1"
    ]


@pytest.mark.parametrize("kind", [None, "", "function", "custom"])
def test_a_call_of_our_own_types_must_have_a_name(kind: str | None) -> None:
    """As before, with the place."""
    with pytest.raises(DecodeError) as caught:
        whole({"id": "x", "type": kind})
    assert caught.value.path == "/choices/0/message/tool_calls/0/function/name"
