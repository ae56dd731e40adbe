"""Typed answers where a target cannot be held to a schema: a hidden tool, else words; each with an entry."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

import interlingua as il
from interlingua.stream.check import check
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_any
from tests.support.client import AWAITED, BLOCKING, Face, chat, chunk, scripted, sse
from tests.support.tiny import PNG

pytestmark = pytest.mark.filterwarnings("ignore::interlingua.ChangeWarning")


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@dataclasses.dataclass
class Invoice:
    """What is to be paid."""

    number: str
    total: float


TEXT = '{"number":"A1","total":9.5}'
LOOK = il.Tool(name="look", description="Look.", parameters={"type": "object", "properties": {}})


def called(name: str, arguments: str, call_id: str = "call_1") -> dict[str, Any]:
    """A call on the wire."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def entries(reply: il.Response[Any]) -> list[tuple[str, str]]:
    """Code and path of every change."""
    return [(change.code, change.path) for change in reply.changes]


def test_cho_09_a_hidden_tool_asks_for_the_answer(face: Face) -> None:
    """DeepSeek knows no schemas: the tool is forced, and its call comes back as the answer, never as a call."""
    with scripted(chat(None, calls=[called("Invoice", TEXT)], finish="tool_calls")) as script:
        reply = face.generate(face.model("deepseek/deepseek-v4-pro"), output=Invoice)
    sent = decode_any(script.requests[0].body)
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["Invoice"]
    assert sent["tools"][0]["function"]["parameters"]["required"] == ["number", "total"]
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "Invoice"}}
    assert "response_format" not in sent
    assert (reply.output, reply.text, reply.tool_calls) == (Invoice("A1", 9.5), TEXT, ())
    assert (reply.finish_reason, reply.finish_reason_raw) == ("stop", "tool_calls")
    assert entries(reply) == [("output_schema_forced_tool", "/output_schema")]


def test_cho_09_the_callers_tools_stay_callable(face: Face) -> None:
    """Groq takes no schema beside tools: all of them may be called, one must be; a call of the caller's is a call."""
    model = face.model("groq/openai/gpt-oss-120b", tools=[LOOK])
    answers = [
        chat(None, calls=[called("look", "{}")], finish="tool_calls"),
        chat(None, calls=[called("Invoice", TEXT, "call_2")], finish="tool_calls"),
    ]
    with scripted(*answers) as script:
        first = face.generate(model, output=Invoice)
        assert [call.name for call in first.tool_calls] == ["look"]
        assert (first.output, first.finish_reason) == (None, "tool_calls")
        results = [il.ToolResult("call_1", "look", "4")]
        second = face.generate(model, results, history=first, output=Invoice)
    sent = decode_any(script.requests[1].body)
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["look", "Invoice"]
    assert sent["tool_choice"] == "required"
    assert (second.output, second.tool_calls, second.finish_reason) == (Invoice("A1", 9.5), (), "stop")
    assert second.message.parts == (il.TextPart(TEXT),)


def test_cho_09_a_name_that_is_taken_is_not_taken_again() -> None:
    """A tool of the caller's with the type's name keeps it."""
    mine = il.Tool(name="Invoice", parameters={"type": "object", "properties": {}})
    with scripted(chat(None, calls=[called("Invoice_output", TEXT)], finish="tool_calls")) as script:
        reply = il.model("groq/m").generate("Hi", tools=[mine], output=Invoice)
    names = [tool["function"]["name"] for tool in decode_any(script.requests[0].body)["tools"]]
    assert names == ["Invoice", "Invoice_output"]
    assert reply.output == Invoice("A1", 9.5)


def test_cho_09_in_a_stream_the_call_is_text(face: Face) -> None:
    """Its arguments stream as the text of the answer; no event shows a call."""
    pieces = [
        chunk({"role": "assistant", "content": "", "tool_calls": [{"index": 0, **called("Invoice", TEXT[:9])}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": TEXT[9:]}}]}),
        chunk({}, "tool_calls"),
        b"data: [DONE]\n\n",
    ]
    with scripted(sse(*pieces)):
        stream = face.model("deepseek/deepseek-v4-pro").stream("Hi", output=Invoice)
        events = face.events(stream)
    assert check(events) == ()
    assert [event.text for event in events if isinstance(event, il.TextDelta)] == [TEXT[:9], TEXT[9:]]
    assert not [event for event in events if isinstance(event, il.ToolCallReady | il.ToolCallDelta)]
    last = events[-1]
    assert isinstance(last, il.StreamEnd)
    assert (last.response.text, last.response.finish_reason) == (TEXT, "stop")


def test_an_answer_that_was_cut_is_truncated_text(face: Face) -> None:
    """Half the arguments of the hidden call are half an answer."""
    cut = chat(None, calls=[called("Invoice", TEXT[:9])], finish="length")
    with scripted(cut), pytest.raises(il.OutputError, match="it reached the length limit; raise max_tokens") as caught:
        face.generate(face.model("deepseek/deepseek-v4-pro"), output=Invoice)
    assert caught.value.response is not None
    assert caught.value.response.text == TEXT[:9]


def test_where_no_call_can_be_forced_the_schema_is_told_in_words() -> None:
    """Ollama has no tool choices: the caller's tools go as they are, the schema into the system text."""
    body = {"model": "m", "done": True, "done_reason": "stop", "message": {"role": "assistant", "content": TEXT}}
    answer = HttpReply(status=200, headers=(("content-type", "application/json"),), body=json.dumps(body).encode())
    with scripted(answer) as script:
        reply = il.model("ollama/qwen3").generate("Hi", tools=[LOOK], output=Invoice, system="Be brief.")
    sent = decode_any(script.requests[0].body)
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["look"]
    assert "format" not in sent
    assert "Be brief." in sent["messages"][0]["content"]
    assert '"required":["number","total"]' in "".join(message["content"] for message in sent["messages"])
    assert reply.output == Invoice("A1", 9.5)
    assert entries(reply) == [("output_schema_prompted", "/output_schema")]


def test_under_strict_there_is_no_fallback() -> None:
    """What cannot be said as it is is refused."""
    with scripted(), pytest.raises(il.UnsupportedError, match="only JSON mode"):
        il.model("deepseek/m", strict=True).generate("Hi", output=Invoice)


def test_a_schema_that_nobody_typed_stays_where_it_is() -> None:
    """Only `output=` climbs down."""
    with scripted(), pytest.raises(il.UnsupportedError, match="only JSON mode"):
        il.model("deepseek/m").generate("Hi", output_schema={"type": "object"})


def test_what_is_refused_for_another_reason_stays_refused() -> None:
    """An image that the model cannot take is no matter of schemas."""
    image = il.ImagePart(PNG, "image/png")
    reference = il.OpaquePart("google", "media_ref", {"fileUri": "x"})
    with scripted(), pytest.raises(il.UnsupportedError, match="media_ref"):
        il.model("deepseek/m").generate([il.user(image, reference)], output=Invoice)


def test_explain_shows_the_form() -> None:
    """Nothing is sent, and the request that would be is the one of the fallback."""
    plan = il.model("deepseek/m").explain("Hi", output=Invoice)
    assert ("output_schema_forced_tool", "/output_schema") in [(change.code, change.path) for change in plan.changes]
