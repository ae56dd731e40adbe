"""Typed answers: a value of the type, or an error that says whose fault it was, with the response."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import pytest

import interlingua as il
from interlingua.wire.json import decode_any
from tests.support.client import AWAITED, BLOCKING, Face, chat, scripted


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@dataclasses.dataclass
class Invoice:
    """What is to be paid."""

    number: str
    total: float


TEXT = '{"number": "A1", "total": 9.5}'


def test_a_type_is_an_answer(face: Face) -> None:
    """The schema of the type is asked for, and the answer is a value of it."""
    with scripted(chat(TEXT)) as script:
        reply = face.generate(face.model("openai-chat/gpt-4.1"), output=Invoice)
    assert reply.output == Invoice("A1", 9.5)
    sent = decode_any(script.requests[0].body)["response_format"]["json_schema"]
    assert sent["name"] == "Invoice"
    assert sent["schema"]["required"] == ["number", "total"]


@pytest.mark.parametrize(
    ("output", "text", "value"),
    [
        (int, '{"value": 7}', 7),
        (Literal["a", "b"], '{"value": "b"}', "b"),
        (list[Invoice], f'{{"value": [{TEXT}]}}', [Invoice("A1", 9.5)]),
        (Invoice, f"```json\n{TEXT}\n```", Invoice("A1", 9.5)),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
    ],
)
def test_what_is_no_class_is_an_answer_too(output: Any, text: str, value: Any) -> None:
    """Literals, lists, schemas and fenced answers work the same."""
    with scripted(chat(text)):
        assert il.model("openai-chat/gpt-4.1").generate("Hi", output=output).output == value


@pytest.mark.parametrize(
    ("reply", "fault", "sentence"),
    [
        (chat("I cannot say."), "invalid", "gave no Invoice"),
        (chat('{"number": "A1", "total": "much"}'), "invalid", "total"),
        (chat(""), "invalid", "empty"),
        (chat('{"number": "A', finish="length"), "truncated", "raise max_tokens"),
        (chat("No.", finish="content_filter"), "refused", "refused"),
    ],
    ids=["prose", "misfit", "empty", "cut", "filtered"],
)
def test_r37_what_is_no_such_value_is_an_error(face: Face, reply: Any, fault: str, sentence: str) -> None:
    """R37: invalid, truncated or refused, with the response and its tries."""
    with scripted(reply), pytest.raises(il.OutputError, match=sentence) as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), output=Invoice)
    assert caught.value.fault == fault
    assert caught.value.response is not None
    assert caught.value.response.model == "openai-chat/gpt-4.1"
    assert len(caught.value.attempts) == 1


def test_a_refusal_is_an_error(face: Face) -> None:
    """The model's own refusal is told apart from a bad answer."""
    message = {"role": "assistant", "content": None, "refusal": "I will not."}
    body = chat(choices=[{"index": 0, "message": message, "finish_reason": "stop"}])
    with scripted(body), pytest.raises(il.OutputError) as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), output=Invoice)
    assert caught.value.fault == "refused"


def test_calls_come_before_the_answer(face: Face) -> None:
    """While the model calls tools there is no answer yet, and that is no error."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    with scripted(chat(None, calls=[call], finish="tool_calls")):
        reply = face.generate(face.model("openai-chat/gpt-4.1"), output=Invoice, tools=[il.Tool(name="f")])
    assert reply.output is None
    assert reply.tool_calls[0].name == "f"


def test_a_schema_name_may_be_given() -> None:
    """`schema_name` wins over the type's own name."""
    with scripted(chat(TEXT)) as script:
        il.model("openai-chat/gpt-4.1").generate("Hi", output=Invoice, schema_name="bill")
    assert decode_any(script.requests[0].body)["response_format"]["json_schema"]["name"] == "bill"


def test_a_type_without_json_is_refused_before_anything_is_sent() -> None:
    """A type that JSON has no place for is the caller's fault."""
    with scripted(chat(TEXT)) as script, pytest.raises(il.SchemaError):
        il.model("openai-chat/gpt-4.1").generate("Hi", output=complex)
    assert script.requests == []
