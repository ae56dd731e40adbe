"""Arguments and numbers: each test feeds the bytes that broke somebody, whole and streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeOptions
from interlingua.errors import HistoryError, UsageError
from interlingua.types.content import BrokenToolCall, Json, Part, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from tests.support.chat import answer, codes, decode, encode, encode_reply, reply, request, stream, streamed, wire


def both_ways(arguments: str, finish: str = "tool_calls") -> tuple[Part, ...]:
    """The parts of an answer with one call whose `arguments` member is this JSON text: the same whole and streamed."""
    call = f'{{"index":0,"id":"a","type":"function","function":{{"name":"f","arguments":{arguments}}}}}'
    whole = reply(f'{{"role":"assistant","content":null,"tool_calls":[{call}]}}', finish)
    pieces = streamed(stream(f'{{"tool_calls":[{call}]}}', finish=finish))
    assert pieces.parts == whole.parts
    assert codes(pieces.changes) == codes(whole.changes)
    return whole.parts


@pytest.mark.parametrize("empty", ['""', '"  "', '"\\n"', "null", '"null"'])
def test_arg_01_no_arguments_are_an_empty_object(empty: str) -> None:
    """Empty, blank and null, said so."""
    assert both_ways(empty) == (ToolCall("a", "f", "{}"),)


def test_arg_02_arguments_as_an_object_are_taken_and_sent_as_a_string() -> None:
    """Text kept as it came; the client of our own server gets a string."""
    (call,) = both_ways('{"x": [1, 2]}')
    assert call == ToolCall("a", "f", '{"x": [1, 2]}')
    sent = encode_reply(answer(call))["choices"][0]["message"]["tool_calls"][0]
    assert sent["function"]["arguments"] == '{"x": [1, 2]}'


def test_arg_04_arguments_are_serialised_once() -> None:
    """What came in quotes goes out in the same quotes, after any number of turns."""
    body = '[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"x\\":\\"y\\"}"}}]},{"role":"tool","tool_call_id":"a","content":"{\\"ok\\":true}"}]'  # noqa: E501 - one body
    sent = wire(request(body))
    assert sent["messages"] == json.loads(body)
    assert wire(request(json.dumps(sent["messages"])))["messages"] == json.loads(body)


def test_arg_06_results_are_json_not_python() -> None:
    """A value as a result: double quotes, `null`, `true`."""
    asked = Request(messages=(user("Hi"), assistant(ToolCall("a", "f", "{}")), _result(Json({"a": None, "b": [True]}))))
    assert wire(asked)["messages"][2]["content"] == '{"a":null,"b":[true]}'
    assert both_ways("\"{'x': 1}\"") == (BrokenToolCall("a", "f", "{'x': 1}", "malformed"),)


def _result(content: Any) -> Message:
    return Message("tool", (ToolResult("a", "f", content),))


def test_arg_07_text_goes_to_models_as_utf8() -> None:
    """Arguments and results hold no escapes of letters; escapes and surrogate pairs are understood."""
    (call,) = both_ways('"{\\"x\\":\\"日😀\\"}"')
    assert call == ToolCall("a", "f", '{"x":"日😀"}')
    asked = Request(messages=(user("é"), assistant(call), _result(Json({"ü": "😀"}))))
    body = encode(asked).body
    assert "日😀".encode() in body
    assert '{\\"ü\\":\\"😀\\"}'.encode() in body
    assert b"\\u" not in body
    (escaped,) = both_ways('"{\\"x\\":\\"\\\\ud83d\\\\ude00\\"}"')
    assert isinstance(escaped, ToolCall)
    assert escaped.arguments == {"x": "😀"}
    assert both_ways('"{\\"x\\":\\"\\ud83d\\ude00\\"}"') == (ToolCall("a", "f", '{"x":"😀"}'),)


def test_arg_08_integers_above_2_to_53_are_exact() -> None:
    """In arguments as text and as an object, and in results."""
    big = 2**63 + 12345678901234567890123
    for text in (f'"{{\\"id\\":{big}}}"', f'{{"id":{big}}}'):
        (call,) = both_ways(text)
        assert isinstance(call, ToolCall)
        assert call.arguments == {"id": big}
    asked = Request(messages=(user("x"), assistant(ToolCall("a", "f", "{}")), _result(Json({"id": big}))))
    assert wire(asked)["messages"][2]["content"] == f'{{"id":{big}}}'


def test_arg_09_duplicate_keys_are_broken_whole_and_streamed() -> None:
    """Neither the first nor the last wins."""
    assert both_ways('"{\\"path\\":\\"a\\",\\"path\\":\\"b\\"}"') == (
        BrokenToolCall("a", "f", '{"path":"a","path":"b"}', "duplicate_key"),
    )
    assert both_ways('"{\\"o\\":{\\"k\\":1,\\"k\\":2}}"') == (
        BrokenToolCall("a", "f", '{"o":{"k":1,"k":2}}', "duplicate_key"),
    )


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_arg_10_non_finite_numbers_are_broken(number: str) -> None:
    """Python would read them; nobody else does."""
    assert both_ways(f'"{{\\"x\\":{number}}}"') == (BrokenToolCall("a", "f", f'{{"x":{number}}}', "non_finite"),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"x":1', "malformed"),
        ("look", "malformed"),
        ('{"x":1}}', "malformed"),
        ('{"x":1}{"x":2}', "malformed"),
        ("[1]", "not_object"),
        ('"text"', "not_object"),
        ("1", "not_object"),
    ],
)
def test_arg_11_malformed_arguments_keep_their_text(text: str, reason: str) -> None:
    """Never `{}`: the raw text with its reason, and no call that could run."""
    call = BrokenToolCall("a", "f", text, reason)  # type: ignore[arg-type] - one of the closed set
    assert both_ways(json.dumps(text)) == (call,)


def test_arg_12_open_arguments_of_an_answer_that_was_cut_are_cut_off() -> None:
    """Finish `length` and open JSON; nothing is repaired, the finish stays `length`."""
    call = '{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\\"x\\":[1,2"}}'
    whole = reply(f'{{"content":null,"tool_calls":[{call}]}}', "length")
    pieces = streamed(stream(f'{{"tool_calls":[{call}]}}', finish="length"))
    for response in (whole, pieces):
        assert response.parts == (BrokenToolCall("a", "f", '{"x":[1,2', "cut_off"),)
        assert response.tool_calls == ()
        assert response.finish_reason == "length"


def test_arg_12_a_cut_call_without_any_argument_is_cut_off_too() -> None:
    """The length limit came right after the name: `{}` would be an invention."""
    assert both_ways('""', "length") == (BrokenToolCall("a", "f", "", "cut_off"),)


def test_arg_12_a_whole_call_before_the_cut_one_is_whole() -> None:
    """Only the last call can be the cut one."""
    calls = (
        '{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\\"x\\":1}"}},'
        '{"index":1,"id":"b","type":"function","function":{"name":"f","arguments":"{\\"x\\""}}'
    )
    expected = (ToolCall("a", "f", '{"x":1}'), BrokenToolCall("b", "f", '{"x"', "cut_off"))
    assert reply(f'{{"content":null,"tool_calls":[{calls}]}}', "length").parts == expected
    assert streamed(stream(f'{{"tool_calls":[{calls}]}}', finish="length")).parts == expected


def test_arg_13_a_broken_call_is_replayed_as_text_never_as_a_call() -> None:
    """The raw broken text does not go back as arguments; the pair is sent as words."""
    (broken,) = both_ways('"{\\"x\\":"')
    asked = Request(messages=(user("Hi"), assistant(broken), _result("not valid JSON")))
    assert wire(asked)["messages"][1:] == [
        {"role": "assistant", "content": 'f({"x":)'},
        {"role": "user", "content": "f: not valid JSON"},
    ]
    assert codes(encode(asked).changes) == ["broken_call_as_text /messages/1/parts/0"]


CORRUPT = (
    '[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",'
    '"function":{"name":"f","arguments":"{\\"x\\":"}}]},{"role":"tool","tool_call_id":"a","content":"ok"}]'
)


def test_arg_15_broken_arguments_in_a_history_are_a_history_error() -> None:
    """It names message, call and tool, and is our caller's fault."""
    with pytest.raises(
        HistoryError, match=r"^messages\[1\]: the arguments of call 'a' \(tool f\) are broken: malformed$"
    ):
        request(CORRUPT)


def test_arg_15_under_mend_broken_arguments_become_text() -> None:
    """The same form as our own broken calls, recorded as a repair."""
    repaired = decode(CORRUPT, DecodeOptions(history="mend"))
    assert repaired.request.messages == (
        user("Hi"),
        assistant(TextPart('f({"x":)')),
        user("f: ok"),
    )
    assert [(change.action, change.code) for change in repaired.changes] == [("repaired", "arguments_broken")]


@pytest.mark.parametrize("sign", ["\\n", "\\t", "\\u0001"])
def test_arg_17_raw_control_characters_in_strings_are_malformed(sign: str) -> None:
    """A literal newline or tab inside an argument string; the text is kept for whoever wants to repair it."""
    raw = json.loads(f'"{{\\"x\\":\\"a{sign}b\\"}}"')
    assert both_ways(f'"{{\\"x\\":\\"a{sign}b\\"}}"') == (BrokenToolCall("a", "f", raw, "malformed"),)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_arg_19_a_result_that_json_cannot_say_is_an_error(value: float) -> None:
    """Not a bare NaN, not a silent null."""
    asked = Request(messages=(user("Hi"), assistant(ToolCall("a", "f", "{}")), _result(Json({"x": value}))))
    with pytest.raises(UsageError, match="not finite"):
        encode(asked)
