"""Typed answers: a value of the type, or an error that says whose fault it was, with the response."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import pytest

import interlingua as il
from interlingua.wire.json import decode_any
from tests.support.client import AWAITED, BLOCKING, Face, chat, chunk, chunks, scripted, sse


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


@dataclasses.dataclass
class Part:
    """A thing of things."""

    name: str
    weight: float | None = None
    parts: list[Part] = dataclasses.field(default_factory=list["Part"])


def test_r36_a_recursive_type_is_asked_for_strictly_and_comes_back(face: Face) -> None:
    """Every property is required, none other allowed, optional ones are nullable; the answer is a value of the type."""
    text = '{"name":"bike","weight":null,"parts":[{"name":"wheel","weight":1.5,"parts":[]}]}'
    with scripted(chat(text)) as script:
        reply = face.generate(face.model("openai-chat/gpt-4.1"), output=Part)
    assert reply.output == Part("bike", None, [Part("wheel", 1.5)])
    schema = decode_any(script.requests[0].body)["response_format"]["json_schema"]["schema"]
    node = schema["$defs"]["Part"]
    assert schema["required"] == node["required"] == ["name", "weight", "parts"]
    assert schema["additionalProperties"] is node["additionalProperties"] is False
    assert node["properties"]["weight"] == {"anyOf": [{"type": "number"}, {"type": "null"}]}
    assert node["properties"]["parts"]["anyOf"][0]["items"] == {"$ref": "#/$defs/Part"}


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
    "text",
    [
        '<think>hm {x}</think>{"number": "A1", "total": 7}',
        '<thinking>hm {x}\n</thinking>\n\n```json\n{"number": "A1", "total": 7}\n```',
    ],
)
def test_tol_03_thinking_left_in_the_text_is_no_part_of_the_answer(text: str) -> None:
    """Braces in it are not taken for the value."""
    with scripted(chat(text)):
        reply = il.model("openai-chat/gpt-4.1").generate("Hi", output=Invoice)
    assert reply.output == Invoice("A1", 7)


@pytest.mark.parametrize(
    ("reply", "fault", "sentence"),
    [
        (chat("I cannot say."), "invalid", "gave no Invoice"),
        (chat('{"number": "A1", "total": "much"}'), "invalid", "total"),
        (chat(""), "invalid", "empty"),
        (chat('{"number": "A', finish="length"), "truncated", "raise max_tokens"),
        (chat('{"number": "A', finish="model_length"), "truncated", "context window; shorten the input"),
        (chat("No.", finish="content_filter"), "refused", "refused"),
    ],
    ids=["prose", "misfit", "empty", "cut", "window", "filtered"],
)
def test_r37_what_is_no_such_value_is_an_error(face: Face, reply: Any, fault: str, sentence: str) -> None:
    """R37: invalid, truncated or refused, with the response and its tries."""
    with scripted(reply), pytest.raises(il.OutputError, match=sentence) as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), output=Invoice)
    assert caught.value.fault == fault
    assert caught.value.response is not None
    assert caught.value.response.model == "openai-chat/gpt-4.1"
    assert len(caught.value.attempts) == 1


def test_r37_a_type_without_a_name_is_called_output(face: Face) -> None:
    """The model did answer: "no response" would say that it did not."""
    with scripted(chat('{"value": "x"}')), pytest.raises(il.OutputError) as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), output=int)
    assert caught.value.message == (
        'openai-chat/gpt-4.1 gave no output: the answer does not fit: field value: "x" is not an integer'
    )


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


# Repair


@dataclasses.dataclass
class Basket:
    """Things and how many."""

    kind: Literal["fruit", "other"]
    counts: list[int]


WHOLE = Basket("fruit", [1, 2])
NEARLY = "```json\n{'kind': 'Fruit', 'counts': ['1', 2],}\n```"
HEADS = [("output_commas", "/output"), ("output_quotes", "/output"), ("output_case", "/output/kind"),
         ("output_scalar_text", "/output/counts/0")]  # fmt: skip
MISFIT = '{"kind": "fruit", "counts": "none"}'


def entries(reply: il.Response[Any]) -> list[tuple[str, str]]:
    """Code and path of every change."""
    return [(change.code, change.path) for change in reply.changes]


def test_off_strips_fences_and_mends_nothing(face: Face) -> None:
    """The default: an answer that nearly fits is an error."""
    with scripted(chat(NEARLY)), pytest.raises(il.OutputError) as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), output=Basket)
    assert (caught.value.fault, len(caught.value.attempts)) == ("invalid", 1)


def test_safe_mends_and_says_so(face: Face) -> None:
    """Each step is an entry with its place in the value; nothing more is asked."""
    with scripted(chat(NEARLY)) as script:
        reply = face.generate(face.model("openai-chat/gpt-4.1"), output=Basket, repair="safe")
    assert (reply.output, entries(reply), len(script.requests)) == (WHOLE, HEADS, 1)
    assert {(change.action, change.stage) for change in reply.changes} == {("repaired", "repair")}
    assert reply.text == NEARLY


def test_safe_closes_an_answer_that_was_cut(face: Face) -> None:
    """The length limit cut the list in its third number."""
    cut = chat('{"kind": "fruit", "counts": [1, 2, 3', finish="length")
    with scripted(cut):
        reply = face.generate(face.model("openai-chat/gpt-4.1"), output=Basket, repair="safe")
    assert (reply.output, entries(reply), reply.finish_reason) == (WHOLE, [("output_cut", "/output")], "length")


def test_safe_gives_what_fits_or_an_error(face: Face) -> None:
    """Nothing is asked again, and the error speaks of the answer as it came."""
    with scripted(chat(MISFIT)) as script, pytest.raises(il.OutputError, match="counts") as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), output=Basket, repair="safe")
    assert (caught.value.fault, len(script.requests)) == ("invalid", 1)


def test_arg_12_arguments_of_tools_are_never_repaired(face: Face) -> None:
    """ARG-12: a call that was cut is no call, and a broken one an error, whatever `repair` says."""
    cut = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1'}}
    for repair in ("safe", "ask"):
        model = face.model("openai-chat/gpt-4.1", tools=[il.Tool(name="f")], repair=repair)
        with scripted(chat(None, calls=[cut], finish="length")), pytest.raises(il.OutputError) as caught:
            face.generate(model, output=Basket)
        assert (caught.value.fault, caught.value.response and caught.value.response.tool_calls) == ("truncated", ())
        with scripted(chat(None, calls=[cut], finish="tool_calls")), pytest.raises(il.MalformedArgumentsError):
            face.generate(model, output=Basket)


def test_r37_ask_sends_the_problems_back(face: Face) -> None:
    """R37: question, answer, problems; usage and tries are of both, and the conversation holds the last answer."""
    with scripted(chat(MISFIT), chat(NEARLY)) as script:
        reply = face.generate(face.model("openai-chat/gpt-4.1", system="Be brief."), output=Basket, repair="ask")
    assert reply.output == WHOLE
    assert entries(reply) == [("output_asked_again", "/output"), *HEADS]
    assert reply.usage == il.Usage(input_tokens=6, output_tokens=4)
    first, second = [decode_any(request.body) for request in script.requests]
    problem = 'The answer does not fit: field counts: "none" is not a list. '
    assert second["messages"] == [
        *first["messages"],
        {"role": "assistant", "content": MISFIT},
        {
            "role": "user",
            "content": f"{problem}Give the whole answer again, as JSON that fits the schema, and nothing else.",
        },
    ]
    assert second["response_format"] == first["response_format"]
    assert [(attempt.outcome, attempt.model) for attempt in reply.attempts] == [
        ("failed", "openai-chat/gpt-4.1"),
        ("served", "openai-chat/gpt-4.1"),
    ]
    assert (reply.attempts[0].error or "").startswith("OutputError: openai-chat/gpt-4.1 gave no Basket: ")
    assert [message.role for message in reply.messages] == ["system", "user", "assistant"]


@pytest.mark.parametrize("times", [0, 1, 2])
def test_r37_ask_is_bounded(face: Face, times: int) -> None:
    """R37: at most `max_repairs` times, then the error, with every try and the tokens of all."""
    model = face.model("openai-chat/gpt-4.1", repair="ask", max_repairs=times)
    with scripted(*[chat(MISFIT)] * 5) as script, pytest.raises(il.OutputError) as caught:
        face.generate(model, output=Basket)
    assert len(script.requests) == times + 1
    assert [attempt.outcome for attempt in caught.value.attempts] == ["failed"] * times + ["served"]
    assert caught.value.response is not None
    assert caught.value.response.usage == il.Usage(input_tokens=3 * (times + 1), output_tokens=2 * (times + 1))


def test_ask_says_that_an_answer_was_empty(face: Face) -> None:
    """There is no answer to send back."""
    with scripted(chat(""), chat('{"kind": "fruit", "counts": [1, 2]}')) as script:
        reply = face.generate(face.model("openai-chat/gpt-4.1"), output=Basket, repair="ask")
    roles = [message["role"] for message in decode_any(script.requests[1].body)["messages"]]
    assert (reply.output, roles) == (WHOLE, ["user", "user"])


@pytest.mark.parametrize(
    ("reply", "fault"),
    [(chat('{"kind": "fr', finish="length"), "truncated"), (chat("No.", finish="content_filter"), "refused")],
)
def test_what_would_end_the_same_way_is_not_asked_again(face: Face, reply: Any, fault: str) -> None:
    """A cut answer and a refusal."""
    with scripted(reply) as script, pytest.raises(il.OutputError) as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), output=Basket, repair="ask")
    assert (caught.value.fault, len(script.requests)) == (fault, 1)


def test_ask_stays_with_the_target_that_served(face: Face) -> None:
    """A chain does not begin anew; each of its targets has its own fallback."""
    call = {"id": "c", "type": "function", "function": {"name": "Basket", "arguments": '{"kind": "fruit"}'}}
    right = {
        "id": "c",
        "type": "function",
        "function": {"name": "Basket", "arguments": '{"kind":"fruit","counts":[1,2]}'},
    }
    answers = [
        il.APIConnectionError("no route"),
        chat(None, calls=[call], finish="tool_calls"),
        chat(None, calls=[right], finish="tool_calls"),
    ]
    model = face.model("openai-chat/gpt-4.1,deepseek/deepseek-v4-pro", repair="ask")
    with scripted(*answers) as script, pytest.warns(il.ChangeWarning):
        reply = face.generate(model, output=Basket)
    assert ["tools" in decode_any(request.body) for request in script.requests] == [False, True, True]
    assert [(attempt.model.partition("/")[0], attempt.outcome) for attempt in reply.attempts] == [
        ("openai-chat", "failed"),
        ("deepseek", "failed"),
        ("deepseek", "served"),
    ]
    assert (reply.output, entries(reply)) == (
        WHOLE,
        [("output_schema_forced_tool", "/output_schema"), ("output_asked_again", "/output")],
    )


def test_what_fails_while_asking_again_knows_every_try(face: Face) -> None:
    """The tries before are not lost with the error."""
    with scripted(chat(MISFIT), il.APIConnectionError("no route")), pytest.raises(il.APIConnectionError) as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), output=Basket, repair="ask")
    assert [attempt.outcome for attempt in caught.value.attempts] == ["failed", "failed"]


def test_calls_beside_words_are_calls(face: Face) -> None:
    """A model that says what it is about to do has not answered yet."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    with scripted(chat("Let me look.", calls=[call], finish="tool_calls")):
        reply = face.generate(face.model("openai-chat/gpt-4.1"), output=Basket, tools=[il.Tool(name="f")])
    assert (reply.output, len(reply.tool_calls)) == (None, 1)


def test_cho_13_a_call_of_a_tool_that_nobody_gave_is_no_answer(face: Face) -> None:
    """Neither an output of None nor a call to run: the model is told, where it may be."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    lost = chat("Let me look.", calls=[call], finish="tool_calls")
    with scripted(lost), pytest.raises(il.OutputError, match="it called f, and there are no tools") as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), output=Basket)
    assert caught.value.fault == "invalid"
    with scripted(lost, chat('{"kind": "fruit", "counts": [1, 2]}')) as script:
        assert face.generate(face.model("openai-chat/gpt-4.1"), output=Basket, repair="ask").output == WHOLE
    assert decode_any(script.requests[1].body)["messages"][1] == {"role": "assistant", "content": "Let me look."}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"repair": "always"}, "repair takes one of off, safe, ask"),
        ({"max_repairs": 11}, "max_repairs takes a number of times, 0 to 10"),
        ({"max_repairs": -1}, "max_repairs takes a number of times, 0 to 10"),
    ],
)
def test_options_of_repair_are_checked(options: dict[str, Any], sentence: str) -> None:
    """At once, when the model is made."""
    with pytest.raises(il.UsageError, match=sentence):
        il.model("openai-chat/gpt-4.1", **options)


# Streams


def test_partials_of_a_stream(face: Face) -> None:
    """The answer as it grows, then its value."""
    with scripted(sse(*chunks('{"kind": "fr', 'uit", "cou', 'nts": [1, ', "2]}"))):
        stream = face.model("openai-chat/gpt-4.1").stream("Hi", output=Basket)
        assert face.partials(stream) == [
            {"kind": "fr"},
            {"kind": "fruit"},
            {"kind": "fruit", "counts": [1]},
            {"kind": "fruit", "counts": [1, 2]},
        ]
        assert face.finish(stream).output == WHOLE


@pytest.mark.filterwarnings("ignore::interlingua.ChangeWarning")
def test_partials_of_a_hidden_tool(face: Face) -> None:
    """The fallbacks look the same."""
    call = {
        "index": 0,
        "id": "c",
        "type": "function",
        "function": {"name": "Basket", "arguments": '{"kind": "fruit", '},
    }
    pieces = [
        chunk({"role": "assistant", "tool_calls": [call]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"counts": [1, 2]}'}}]}),
        chunk({}, "tool_calls"),
        b"data: [DONE]\n\n",
    ]
    with scripted(sse(*pieces)):
        stream = face.model("deepseek/deepseek-v4-pro").stream("Hi", output=Basket)
        assert face.partials(stream) == [{"kind": "fruit"}, {"kind": "fruit", "counts": [1, 2]}]
        assert face.finish(stream).output == WHOLE


def test_partials_need_a_type(face: Face) -> None:
    """A text has pieces, no partials."""
    with pytest.raises(il.UsageError, match="output="):
        _ = face.model("openai-chat/gpt-4.1").stream("Hi").partials


def test_partials_go_on_where_they_were_left() -> None:
    """Asked for twice they are the same; once something else was read they would lack it, so that is an error."""
    with scripted(sse(*chunks('{"kind": "fruit", "cou', 'nts": [1, ', "2]}"))):
        stream = il.model("openai-chat/gpt-4.1").stream("Hi", output=Basket)
        assert next(stream.partials) == {"kind": "fruit"}
        assert list(stream.partials)[-1] == {"kind": "fruit", "counts": [1, 2]}
    with scripted(sse(*chunks('{"kind": "fruit"'))):
        stream = il.model("openai-chat/gpt-4.1").stream("Hi", output=Basket)
        next(stream.text_stream)
        with pytest.raises(il.UsageError, match="from its beginning"):
            _ = stream.partials


def test_finish_mends_and_asks_as_generate_does(face: Face) -> None:
    """The stream's answer is repaired; where that is not enough, the next one comes as a whole, once."""
    with scripted(sse(*chunks(MISFIT)), chat(NEARLY)) as script:
        stream = face.model("openai-chat/gpt-4.1").stream("Hi", output=Basket, repair="ask")
        reply = face.finish(stream)
        assert face.finish(stream) is reply
    assert (reply.output, entries(reply)) == (WHOLE, [("output_asked_again", "/output"), *HEADS])
    assert reply.usage == il.Usage(input_tokens=6, output_tokens=3)
    assert len(script.requests) == 2
    with scripted(sse(*chunks(NEARLY))):
        assert face.finish(face.model("openai-chat/x").stream("Hi", output=Basket, repair="safe")).output == WHOLE
