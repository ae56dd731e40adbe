"""Members of an unexpected JSON type in a paid answer: read for their words, whole and streamed, and recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError
from interlingua.types.content import Part, TextPart, ThinkingPart, ToolCall
from interlingua.types.event import StreamEnd
from interlingua.types.response import Response
from interlingua.types.usage import MAX_COUNT, Usage
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import decode_any
from tests.support.cells import cells

JsonObject = dict[str, Any]
DETAIL = "unexpected_type"


def chat(message: JsonObject, **members: Any) -> JsonObject:
    """A whole answer of Chat."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **members}


def chat_stream(delta: JsonObject, **members: Any) -> bytes:
    """The same, streamed."""
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks: list[JsonObject] = [
        {**base, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **members},
    ]
    return "".join([f"data: {json.dumps(one)}\n\n" for one in chunks]).encode() + b"data: [DONE]\n\n"


def messages(content: Any, **members: Any) -> JsonObject:
    """A whole answer of Anthropic."""
    base = {"id": "a", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    return {**base, "content": content, "usage": {"input_tokens": 3, "output_tokens": 2}, **members}


def candidate(content: Any, **members: Any) -> JsonObject:
    """A whole answer of Google."""
    return {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "modelVersion": "m", **members}


def line(message: Any, **members: Any) -> JsonObject:
    """A whole answer of Ollama."""
    return {"model": "m", "message": message, "done": True, "done_reason": "stop", **members}


def reply(content: Any, **members: Any) -> JsonObject:
    """A whole answer of Cohere."""
    message = {"role": "assistant", "content": content, **members.pop("message", {})}
    return {"id": "r", "message": message, "finish_reason": "COMPLETE", **members}


def response(content: Any) -> JsonObject:
    """A whole answer of Responses."""
    item = {"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": content}
    return {"id": "r", "object": "response", "model": "m", "status": "completed", "output": [item]}


def whole(dialect: str, body: object) -> Response[Any]:
    """What a whole answer is read as."""
    return get_dialect(dialect).decode_response(HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext())


def streamed(dialect: str, data: bytes) -> Response[Any]:
    """What a stream is read as."""
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    end = [*decoder.feed(data), *decoder.close()][-1]
    assert isinstance(end, StreamEnd), end
    return end.response


def codes(answer: Response[Any]) -> list[str]:
    """What reading an answer changed."""
    return [change.code for change in answer.changes]


WHOLE: list[tuple[str, JsonObject, str, str]] = [
    ("openai-chat", chat({"content": {"answer": 4}}), '{"answer": 4}', "/choices/0/message/content"),
    ("openai-chat", chat({"content": 42}), "42", "/choices/0/message/content"),
    ("openai-chat", chat({"content": {"type": "text", "text": "Hi"}}), "Hi", "/choices/0/message/content"),
    ("openai-chat", chat({"content": ["Hi"]}), "Hi", "/choices/0/message/content/0"),
    ("openai-chat", chat({"content": "Hi", "tool_calls": ""}), "Hi", "/choices/0/message/tool_calls"),
    ("openai-chat", chat({"content": "Hi", "tool_calls": {}}), "Hi", "/choices/0/message/tool_calls"),
    ("openai-chat", chat({"content": "Hi"}, id=17), "Hi", "/id"),
    ("openai-chat", {**chat({}), "choices": [{"message": "Hi", "finish_reason": "stop"}]}, "Hi", "/choices/0/message"),
    ("anthropic", messages("Hi"), "Hi", "/content"),
    ("anthropic", messages(["Hi"]), "Hi", "/content/0"),
    ("anthropic", messages({"type": "text", "text": "Hi"}), "Hi", "/content"),
    ("anthropic", messages([{"type": "text", "text": {"answer": 4}}]), '{"answer": 4}', "/content/0/text"),
    ("google", candidate("Hi"), "Hi", "/candidates/0/content"),
    ("google", candidate({"parts": "Hi"}), "Hi", "/candidates/0/content/parts"),
    ("google", candidate({"parts": [{"text": 42}]}), "42", "/candidates/0/content/parts/0/text"),
    ("ollama", line({"content": {"answer": 4}}), '{"answer": 4}', "/message/content"),
    ("ollama", line({"content": [{"type": "text", "text": "Hi"}]}), "Hi", "/message/content"),
    ("ollama", line("Hi"), "Hi", "/message"),
    ("cohere", reply([{"type": "text", "text": {"answer": 4}}]), '{"answer": 4}', "/message/content/0/text"),
    ("cohere", reply({"type": "text", "text": "Hi"}), "Hi", "/message/content"),
    ("cohere", reply(["Hi"]), "Hi", "/message/content/0"),
    ("openai-responses", response({"answer": 4}), '{"answer": 4}', "/output/0/content"),
    ("openai-responses", response([{"type": "output_text", "text": 42}]), "42", "/output/0/content/0/text"),
    ("openai-responses", {**response(""), "output": "Hi"}, "Hi", "/output"),
]


@cells(("dialect", "body", "text", "place"), WHOLE)
def test_tol_02_a_member_of_another_type_is_read_for_its_words(
    dialect: str, body: JsonObject, text: str, place: str
) -> None:
    """The answer is kept, with one entry that names the first place."""
    answer = whole(dialect, body)
    assert (answer.text, answer.finish_reason) == (text, "stop")
    assert [(one.action, one.code, one.detail) for one in answer.changes] == [("repaired", DETAIL, place)]


@pytest.mark.parametrize(
    ("delta", "parts"),
    [
        ({"content": {"answer": 4}}, (TextPart('{"answer": 4}'),)),
        ({"content": 42}, (TextPart("42"),)),
        ({"content": ["Hi"]}, (TextPart("Hi"),)),
        ({"content": "Hi", "reasoning_content": {"a": 1}}, (ThinkingPart('{"a": 1}'), TextPart("Hi"))),
        ({"content": "Hi", "tool_calls": ""}, (TextPart("Hi"),)),
        (
            {"tool_calls": {"id": 5, "type": "function", "function": {"name": "f", "arguments": "{}"}}},
            (ToolCall("5", "f", "{}"),),
        ),
    ],
)
def test_tol_02_a_stream_is_read_as_the_whole_answer(delta: JsonObject, parts: tuple[Part, ...]) -> None:
    """The same parts and the same entry, from one chunk."""
    streams, answer = streamed("openai-chat", chat_stream(delta)), whole("openai-chat", chat(delta))
    assert streams.parts == answer.parts == parts
    assert codes(streams)[0] == codes(answer)[0] == DETAIL


@cells("arguments", ["[]", [], "", None, "null", " "])
@cells("dialect", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere"])
def test_tol_02_a_call_without_arguments_has_none(dialect: str, arguments: object) -> None:
    """However a server writes that, PHP's empty list among them."""
    call = {"id": "call_9", "type": "function", "function": {"name": "f", "arguments": arguments}}
    item = {"type": "function_call", "call_id": "call_9", "name": "f", "arguments": arguments}
    bodies: dict[str, JsonObject] = {
        "openai-chat": chat({"content": None, "tool_calls": [call]}),
        "openai-responses": {**response(""), "output": [item]},
        "anthropic": messages(
            [{"type": "tool_use", "id": "call_9", "name": "f", "input": arguments}], stop_reason="tool_use"
        ),
        "google": candidate({"parts": [{"functionCall": {"id": "call_9", "name": "f", "args": arguments}}]}),
        "ollama": line({"content": "", "tool_calls": [call]}),
        "cohere": reply(None, message={"tool_calls": [call]}),
    }
    answer = whole(dialect, bodies[dialect])
    assert [(call.id, call.name, call.arguments_json) for call in answer.tool_calls] == [("call_9", "f", "{}")]
    assert answer.finish_reason == "tool_calls"


@pytest.mark.parametrize("text", ["[]", "null", ""])
def test_tol_02_streamed_arguments_of_none_are_none(text: str) -> None:
    """Pieces of arguments that add up to an empty list."""
    pieces = [*text] or [""]
    calls = [{"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": pieces[0]}}]
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    deltas: list[JsonObject] = [{"role": "assistant", "tool_calls": calls}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces[1:]]
    chunks: list[JsonObject] = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    data = "".join([f"data: {json.dumps(one)}\n\n" for one in chunks]).encode() + b"data: [DONE]\n\n"
    assert streamed("openai-chat", data).parts == (ToolCall("c", "f", "{}"),)


COUNTS: list[tuple[object, object, Usage | None, list[str]]] = [
    (-3, 2, Usage(output_tokens=2), ["count_clamped"]),
    (3, 10**20, Usage(input_tokens=3, output_tokens=MAX_COUNT), ["count_clamped"]),
    ("3", "2", Usage(input_tokens=3, output_tokens=2), ["whole_number"]),
    ({"a": 1}, 2, Usage(output_tokens=2), [DETAIL]),
    ("many", 2, Usage(output_tokens=2), [DETAIL]),
    (True, 2, Usage(output_tokens=2), [DETAIL]),
]


@pytest.mark.parametrize(("read", "written", "usage", "expected"), COUNTS)
def test_a_count_that_cannot_be_true_is_absent_or_clamped(
    read: object, written: object, usage: Usage, expected: list[str]
) -> None:
    """Whole and streamed: what is below 0 or no number says nothing, what is absurd is the most that can be said."""
    counts = {"prompt_tokens": read, "completion_tokens": written}
    answer = whole("openai-chat", chat({"content": "Hi"}, usage=counts))
    streams = streamed("openai-chat", chat_stream({"content": "Hi"}, usage=counts))
    assert (answer.text, answer.usage, codes(answer)) == ("Hi", usage, expected)
    assert (streams.text, streams.usage, codes(streams)) == ("Hi", usage, expected)


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("anthropic", messages([{"type": "text", "text": "Hi"}], usage={"input_tokens": -1, "output_tokens": 10**20})),
        ("google", candidate({"parts": [{"text": "Hi"}]}, usageMetadata={"promptTokenCount": -1,
                                                                        "candidatesTokenCount": 10**20})),
        ("ollama", line({"content": "Hi"}, prompt_eval_count=-1, eval_count=10**20)),
        ("cohere", reply("Hi", usage={"tokens": {"input_tokens": -1, "output_tokens": 10**20}})),
        ("openai-responses", {**response("Hi"), "usage": {"input_tokens": -1, "output_tokens": 10**20}}),
        ("unified", {"id": "u", "model": "m", "wire_model": "m", "parts": [{"type": "text", "text": "Hi"}],
                     "finish_reason": "stop", "usage": {"input_tokens": -1, "output_tokens": 10**20}}),
    ],
)  # fmt: skip
def test_counts_are_clamped_in_every_dialect(dialect: str, body: JsonObject) -> None:
    """A count below 0 is absent; one beyond all bounds is the most that can be said."""
    answer = whole(dialect, body)
    assert (answer.text, answer.usage) == ("Hi", Usage(output_tokens=MAX_COUNT))
    assert set(codes(answer)) == {"count_clamped"}


def test_the_text_of_arguments_stays_while_a_member_beside_it_is_read() -> None:
    """A key written twice is still seen: only the misfit is replaced."""
    arguments = '{"a":1,"a":2.50}'
    call = {"id": 7, "type": "function", "function": {"name": "f", "arguments": arguments}}
    (part,) = whole("openai-chat", chat({"content": None, "tool_calls": [call]})).parts
    assert getattr(part, "raw_arguments", "") == arguments


def test_more_misfits_than_can_be_replaced_are_an_error() -> None:
    """Sixteen are read, seventeen are none of this dialect."""
    calls = [{"id": n, "type": "function", "function": {"name": "f", "arguments": "{}"}} for n in range(17)]
    assert len(whole("openai-chat", chat({"content": "Hi", "tool_calls": calls[:16]})).tool_calls) == 16
    with pytest.raises(DecodeError, match="/choices/0/message/tool_calls/16/id"):
        whole("openai-chat", chat({"content": "Hi", "tool_calls": calls}))


def test_a_request_is_not_read_so() -> None:
    """A client's own mistake is told to it."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": {"a": 1}}]}).encode()
    with pytest.raises(DecodeError, match="/messages/0/content"):
        get_dialect("openai-chat").decode_request(
            HttpRequest(url="http://x/chat/completions", body=body), DecodeOptions()
        )


def test_the_gateway_passes_no_such_frame_on() -> None:
    """An answer with a misfit is not in normal form, whole and streamed."""
    dialect, body = get_dialect("openai-chat"), chat({"content": {"answer": 4}})
    assert not dialect.is_normal(json.dumps(body).encode())
    check, decoder = dialect.frame_check(), dialect.stream_decoder(DecodeContext())
    frame = chat_stream({"content": {"answer": 4}}).partition(b"\n\n")[0] + b"\n\n"
    assert not check.is_normal(frame, decoder.feed(frame))
    assert decode_any(frame.removeprefix(b"data: "))["choices"][0]["delta"]["content"] == {"answer": 4}
