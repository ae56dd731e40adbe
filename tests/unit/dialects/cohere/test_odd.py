"""Unusual forms of Cohere's servers and clients: nothing of them is lost, or they are errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.codec import bridge
from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError
from interlingua.providers.limits import facts_for
from interlingua.types.content import Citation, OpaquePart, TextPart
from interlingua.types.event import Annotation, BlockEnd, StreamEnd, StreamError
from interlingua.types.message import user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpReply, HttpRequest

COHERE = get_dialect("cohere")
HI = [{"role": "user", "content": "Hi"}]
USAGE = {"tokens": {"input_tokens": 9, "output_tokens": 4}}
OVER = {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": USAGE}}
CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"x":1}'}}
SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}


def started(**message: Any) -> dict[str, Any]:
    """The first event of a stream, with members of its message."""
    return {"type": "message-start", "id": "r", "delta": {"message": {"role": "assistant", **message}}}


def event(kind: str, index: int, **message: Any) -> dict[str, Any]:
    """An event that adds to the message."""
    return {"type": kind, "index": index, "delta": {"message": message}}


def streamed(*events: dict[str, Any]) -> Response[Any]:
    """The response that a stream of these events ends with."""
    decoder = COHERE.stream_decoder(DecodeContext())
    raw = b"".join([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events])
    last = [*decoder.feed(raw), *decoder.close()][-1]
    assert isinstance(last, StreamEnd)
    return last.response


def decoded(**body: Any) -> Request:
    """The request that a client's body is."""
    http = HttpRequest(url="http://h/v2/chat", body=json.dumps({"model": "m", "messages": HI, **body}).encode())
    return COHERE.decode_request(http, DecodeOptions()).request


@pytest.mark.parametrize("citations", [[None], [5], ["x"], [[]], "x", 5, {}])
def test_citations_that_are_no_objects_are_none(citations: Any) -> None:
    """Neither in the message's beginning nor in an event of their own; the text around them is kept."""
    text = event("content-start", 0, content={"type": "text", "text": "Hi"})
    answer = streamed(started(citations=citations), text, event("citation-start", 0, citations=citations), OVER)
    assert answer.text == "Hi"


def test_lists_in_deltas_are_taken_piece_by_piece() -> None:
    """Content as a list of blocks or as a text, and calls as a list, say what single objects say."""
    answer = streamed(
        started(),
        event("content-start", 0, content=[{"type": "thinking", "thinking": "Hm"}]),
        event("content-delta", 0, content=[{"thinking": "."}]),
        event("content-end", 0),
        event("content-start", 1, content={"type": "text", "text": ""}),
        event("content-delta", 1, content=[{"type": "text", "text": "Half"}, {"text": " and"}]),
        event("content-delta", 1, content=" half"),
        event("content-end", 1),
        event("tool-call-start", 0, tool_calls=[CALL, {**CALL, "id": "b"}]),
        event("tool-call-end", 0),
        event("tool-call-end", 1),
        {**OVER, "delta": {"finish_reason": "TOOL_CALL", "usage": USAGE}},
    )
    assert (answer.thinking, answer.text) == ("Hm.", "Half and half")
    assert [(call.id, call.name, call.arguments_json) for call in answer.tool_calls] == [
        ("a", "look", '{"x":1}'), ("b", "look", '{"x":1}'),
    ]  # fmt: skip


def test_a_message_that_begins_with_content_is_read() -> None:
    """Content in the message of `message-start` is part of the answer, whatever follows."""
    answer = streamed(
        started(content=[{"type": "text", "text": "Hel"}], tool_plan="I look.", tool_calls=[CALL], citations=[]),
        OVER,
    )
    assert [type(part).__name__ for part in answer.parts] == ["TextPart", "TextPart", "ToolCall"]
    assert (answer.text, answer.tool_calls[0].arguments) == ("HelI look.", {"x": 1})
    grown = streamed(started(content=[{"type": "text", "text": "Hel"}]), event("content-delta", 0, content="lo"), OVER)
    assert (grown.text, len(grown.parts)) == ("Hello", 1)


def test_a_block_of_an_unknown_kind_in_a_delta_stays() -> None:
    """It is opaque, wherever it comes."""
    block = {"type": "chart", "points": [1]}
    answer = streamed(started(), event("content-delta", 0, content=block), OVER)
    assert answer.parts == (OpaquePart("cohere", "chart", block),)


def test_an_end_without_a_reason_is_not_a_stop() -> None:
    """Nobody said that the answer is whole: `other` with content, whole and streamed, and a failure without."""
    said = event("content-start", 0, content={"type": "text", "text": "Half"})
    over = {"type": "message-end", "delta": {"usage": USAGE}}
    message = {"role": "assistant", "content": [{"type": "text", "text": "Half"}]}
    whole = COHERE.decode_response(
        HttpReply(status=200, body=json.dumps({"id": "r", "message": message}).encode()), DecodeContext()
    )
    for answer in (streamed(started(), said, over), whole):
        assert (answer.text, answer.finish_reason, answer.finish_reason_raw) == ("Half", "other", None)
    assert streamed(started(), over).finish_reason == "error"


@pytest.mark.parametrize("dialect", ["cohere", "ollama"])
@pytest.mark.parametrize("role", ["user", "system", "tool"])
def test_calls_of_anyone_but_the_model_are_refused(dialect: str, role: str) -> None:
    """Another provider could not be told of them, so that they are an error at their place."""
    message: dict[str, Any] = {
        "role": role,
        "content": "Hi",
        "tool_calls": [{"function": {"name": "f", "arguments": {}}}],
    }
    with pytest.raises(DecodeError) as caught:
        bridge(dialect, "openai-chat").request({"model": "m", "messages": [message]})
    assert caught.value.path == "/messages/0/tool_calls"
    assert f"a message of the role {role} calls no tools" in str(caught.value)


def test_two_schemas_that_differ_are_an_error() -> None:
    """`schema` is the older name of `json_schema`: equal ones are one, others contradict each other."""
    form = {"type": "json_object", "json_schema": SCHEMA, "schema": SCHEMA}
    assert decoded(response_format=form).output_schema == SCHEMA
    with pytest.raises(DecodeError) as caught:
        decoded(response_format={**form, "schema": {"type": "object"}})
    assert caught.value.path == "/response_format/schema"


def test_an_unknown_member_of_the_format_costs_no_schema() -> None:
    """The schema holds for every provider; the member goes back to this one alone."""
    form = {"type": "json_object", "json_schema": SCHEMA, "new": 1}
    request = decoded(response_format=form)
    assert (request.output_schema, request.extra) == (SCHEMA, {"cohere": {"response_format": {"new": 1}}})
    again = bridge("cohere", "cohere").request({"model": "m", "messages": HI, "response_format": form})
    assert again["response_format"] == form


def sent(model: str, **fields: Any) -> tuple[dict[str, Any], list[str]]:
    """The body of a request to a model of Cohere's, and the paths of its changes."""
    target = Target(model=model, facts=facts_for("cohere", "cohere", model))
    tool = Tool(name="look", description="Look.", parameters=SCHEMA)
    request = Request(messages=(user("Hi"),), tools=(tool,), **fields)
    encoded = COHERE.encode_request(request, EncodeOptions(target=target))
    return json.loads(encoded.body), [f"{change.code} {change.path}" for change in encoded.changes]


def test_older_models_take_no_choice() -> None:
    """Command R knows no `tool_choice`: a call is not required, and no call is no tools; R7B takes both."""
    body, changes = sent("command-r-08-2024", tool_choice="required")
    assert ("tool_choice" in body, len(body["tools"])) == (False, 1)
    assert changes == ["tool_choice_approximated /tool_choice"]
    body, changes = sent("command-r-plus", tool_choice="none")
    assert ("tool_choice" in body, "tools" in body) == (False, False)
    assert changes == ["tool_choice_approximated /tool_choice"]
    body, changes = sent("command-r7b-12-2024", tool_choice="required")
    assert (body["tool_choice"], changes) == ("REQUIRED", [])


def test_only_a_model_that_thinks_is_asked_to() -> None:
    """An effort is left out with an entry where the family does not think, and switches one that does."""
    body, changes = sent("command-a-03-2025", effort="low")
    assert ("thinking" in body, changes) == (False, ["parameter_unsupported /effort"])
    body, changes = sent("command-a-reasoning-08-2025", effort="low")
    assert (body["thinking"], changes) == ({"type": "enabled"}, ["parameter_adjusted /effort"])
    body, changes = sent("command-a-reasoning-08-2025", thinking=False, thinking_budget=500)
    assert (body["thinking"], changes) == ({"type": "disabled"}, ["parameter_unsupported /thinking_budget"])
    body, changes = sent("command-a-reasoning-08-2025", thinking=True, thinking_budget=500)
    assert (body["thinking"], changes) == ({"type": "enabled", "token_budget": 500}, [])


def test_citations_behind_a_stream_that_was_passed_on_are_numbered_on() -> None:
    """The open text has one already: it is not told again, and the next one is the second."""
    first: dict[str, Any] = {"start": 0, "end": 1, "text": "a", "sources": []}
    second: dict[str, Any] = {"start": 1, "end": 2, "text": "b", "sources": []}
    frames = [
        started(),
        event("content-start", 0, content={"type": "text", "text": ""}),
        event("content-delta", 0, content={"text": "ab"}),
        event("citation-start", 0, citations=first),
    ]
    raw = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in frames]
    events = COHERE.stream_decoder(DecodeContext()).feed(b"".join(raw))
    encoder = COHERE.stream_encoder(ServerContext(source="cohere"))
    encoder.resume(events, raw[-1])
    cited = [Citation("cohere", one, start=one["start"], end=one["end"]) for one in (first, second)]
    told = encoder.encode(Annotation(0, cited[1])) + encoder.encode(BlockEnd(0, TextPart("ab", tuple(cited))))
    assert [json.loads(line[6:]) for line in told.decode().splitlines() if line.startswith("data: ")] == [
        {"type": "citation-start", "index": 1, "delta": {"message": {"citations": second}}},
        {"type": "citation-end", "index": 1},
        {"type": "content-end", "index": 0},
    ]


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        ("gone", "gone", None),
        ({"message": "gone", "code": "x"}, "gone", "x"),
        ({"error": {"message": "gone", "code": "x"}}, "gone", "x"),
    ],
)
def test_an_error_at_the_end_of_a_stream_has_its_reason(error: Any, message: str, code: str | None) -> None:
    """As a text, as an object, and as one around it."""
    over = {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": error}}
    raw = b"".join([b"data: " + json.dumps(one).encode() + b"\n\n" for one in (started(), over)])
    last = COHERE.stream_decoder(DecodeContext()).feed(raw)[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.message, last.code) == ("InternalServerError", message, code)
