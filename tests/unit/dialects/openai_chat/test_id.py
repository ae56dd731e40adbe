"""Call ids and tool names, there and back: each test feeds what broke somebody."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, Undo
from interlingua.errors import HistoryError
from interlingua.schema.names import map_call_ids, map_names
from interlingua.types.content import Sealed, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import NamedTool, Tool
from tests.support.chat import codes, decode, encode, parts, quirky, reply, request, stream, streamed, wire


def turn(*ids: str, name: str = "look") -> tuple[Message, ...]:
    """A conversation with these calls and their results."""
    calls = [ToolCall(call_id, name, "{}") for call_id in ids]
    results = [ToolResult(call_id, name, call_id) for call_id in ids]
    return (user("Hi"), Message("assistant", tuple(calls)), Message("tool", tuple(results)))


@pytest.mark.parametrize("length", [41, 44, 51, 83])
def test_id_01_an_id_of_more_than_40_characters_is_shortened_on_both_sides(length: int) -> None:
    """Call and result say the same id, which fits; one of 40 goes as it is."""
    long, fits = "x" * length, "y" * 40
    body = wire(Request(messages=turn(long, fits)), quirky(call_id_rule="max40"))
    called = [call["id"] for call in body["messages"][1]["tool_calls"]]
    answered = [message["tool_call_id"] for message in body["messages"][2:]]
    assert called == answered == [map_call_ids([long], "max40")[long], fits]
    assert [len(call_id) for call_id in called] == [40, 40]


def test_id_02_ids_for_mistral_are_nine_letters_and_digits() -> None:
    """Injective within the conversation, recorded, and one that fits stays."""
    asked = Request(messages=turn("call_1", "call_2", "abcDEF123"))
    encoded = encode(asked, quirky(call_id_rule="alnum9"))
    body = wire(asked, quirky(call_id_rule="alnum9"))
    called = [call["id"] for call in body["messages"][1]["tool_calls"]]
    assert called == [message["tool_call_id"] for message in body["messages"][2:]]
    assert len(set(called)) == 3
    assert called[2] == "abcDEF123"
    assert all(len(call_id) == 9 and call_id.isalnum() for call_id in called)
    assert codes(encoded.changes) == ["id_mapped /messages", "id_mapped /messages"]
    assert encoded.undo.history_ids == {"call_1", "call_2", "abcDEF123"}


def test_id_03_chunks_without_id_on_index_0_are_one_call() -> None:
    """An id is made once a call, also for index 0."""
    raw = stream(
        '{"tool_calls":[{"index":0,"function":{"name":"look","arguments":"{\\"x\\":"}}]}',
        '{"tool_calls":[{"index":0,"id":"","function":{"arguments":"[1,"}}]}',
        '{"tool_calls":[{"index":0,"id":"null","function":{"arguments":"2]}"}}]}',
    )
    assert parts(raw) == (ToolCall("call_0", "look", '{"x":[1,2]}'),)


def test_id_07_two_calls_of_one_tool_without_ids_are_two() -> None:
    """The name is no identity, streamed or whole."""
    calls = (
        '{"index":0,"type":"function","function":{"name":"look","arguments":"{}"}},'
        '{"index":1,"type":"function","function":{"name":"look","arguments":"{}"}}'
    )
    made = (ToolCall("call_0", "look", "{}"), ToolCall("call_1", "look", "{}"))
    assert parts(stream(f'{{"tool_calls":[{calls}]}}')) == made
    assert reply(f'{{"content":null,"tool_calls":[{calls}]}}', "tool_calls").parts == made


RESTARTED = """[
  {"role":"user","content":"a"},
  {"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function",
   "function":{"name":"look","arguments":"{}"}}]},
  {"role":"tool","tool_call_id":"call_0","content":"first"},
  {"role":"user","content":"b"},
  {"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function",
   "function":{"name":"find","arguments":"{}"}}]},
  {"role":"tool","tool_call_id":"call_0","content":"second"}
]"""


def test_id_09_ids_that_restart_every_turn_are_renamed_with_their_results() -> None:
    """Under `mend` the first one stays, for the prompt cache; under `refuse` it is an error."""
    options = DecodeOptions(history="mend")
    asked = request(RESTARTED.replace('"look"', '"look"'), options)
    assert [part.id for message in asked.messages for part in message.tool_calls] == ["call_0", "call_1"]
    assert [(part.call_id, part.content) for message in asked.messages for part in message.tool_results] == [
        ("call_0", "first"),
        ("call_1", "second"),
    ]
    assert codes(decode(RESTARTED, options).changes) == ["call_id_duplicate /messages/4"]
    with pytest.raises(HistoryError, match=r"messages\[4\]: two calls have the id 'call_0' \(tool find\)"):
        request(RESTARTED)


def test_id_09_an_answer_that_restarts_its_ids_gets_new_ones() -> None:
    """The decoder knows the ids of the history."""
    context = DecodeContext(undo=Undo(first_index=1, history_ids=frozenset({"call_0"})))
    call = '{"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"look","arguments":"{}"}}]}'
    response = streamed(stream(call), context)
    assert response.parts == (ToolCall("call_1", "look", "{}"),)
    assert codes(response.changes) == ["call_id_duplicate /parts/0/id"]
    assert reply(call, "tool_calls", context=context).parts == response.parts


def test_id_10_two_calls_of_one_answer_with_one_id_are_two() -> None:
    """The second one is re-keyed where it is read, and said so."""
    calls = (
        '{"index":0,"id":"c","type":"function","function":{"name":"look","arguments":"{}"}},'
        '{"index":1,"id":"c","type":"function","function":{"name":"find","arguments":"{}"}}'
    )
    made = (ToolCall("c", "look", "{}"), ToolCall("call_1", "find", "{}"))
    streamed_answer = streamed(stream(f'{{"tool_calls":[{calls}]}}'))
    whole = reply(f'{{"content":null,"tool_calls":[{calls}]}}', "tool_calls")
    assert streamed_answer.parts == whole.parts == made
    assert codes(streamed_answer.changes) == codes(whole.changes) == ["call_id_duplicate /parts/1/id"]


def test_id_13_a_long_id_is_opaque() -> None:
    """Ninety characters come and go whole where no rule says otherwise."""
    long = "call|" + "z" * 80 + "/=+:"
    call = (
        f'{{"tool_calls":[{{"index":0,"id":"{long}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}}'
    )
    assert parts(stream(call)) == (ToolCall(long, "f", "{}"),)
    body = wire(Request(messages=turn(long)))
    assert body["messages"][1]["tool_calls"][0]["id"] == body["messages"][2]["tool_call_id"] == long


def test_id_14_a_result_knows_the_name_of_its_call() -> None:
    """The wire says the id alone; the name is in the history, and goes out where a server wants it."""
    asked = request(
        RESTARTED.replace('call_0","content":"second', 'call_9","content":"second').replace(
            '"call_0","type":"function",\n   "function":{"name":"find"',
            '"call_9","type":"function",\n   "function":{"name":"find"',
        )
    )
    results = [part for message in asked.messages for part in message.tool_results]
    assert [(result.call_id, result.name) for result in results] == [("call_0", "look"), ("call_9", "find")]
    body = wire(asked, quirky(result_name=True))
    assert [message.get("name") for message in body["messages"] if message["role"] == "tool"] == ["look", "find"]


@pytest.mark.parametrize("name", ["fs.read", "read file", "lésen", "a/b", "9lives!"])
def test_id_15_a_name_that_the_target_refuses_is_mapped_and_undone(name: str) -> None:
    """In the tool, in the choice, in the history, and back in the called name."""
    asked = Request(messages=turn("c1", name=name), tools=(Tool(name=name),), tool_choice=NamedTool(name))
    encoded = encode(asked, quirky(name_rule="openai"))
    body = wire(asked, quirky(name_rule="openai"))
    sent = map_names([name], "openai")[name]
    assert sent != name
    assert body["tools"][0]["function"]["name"] == sent
    assert body["tool_choice"]["function"]["name"] == sent
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == sent
    assert codes(encoded.changes) == ["name_mapped /tools/0/name"]
    function = f'{{"name":"{sent}","arguments":"{{}}"}}'
    call = f'{{"tool_calls":[{{"index":0,"id":"c2","type":"function","function":{function}}}]}}'
    context = DecodeContext(undo=encoded.undo)
    assert parts(stream(call), context) == (ToolCall("c2", name, "{}"),)
    assert reply(call, "tool_calls", context=context).parts == (ToolCall("c2", name, "{}"),)


def test_id_16_a_name_of_71_characters_is_shortened_and_undone() -> None:
    """Two long names with one beginning stay two."""
    names = ("n" * 70 + "1", "n" * 70 + "2")
    asked = Request(messages=(user("Hi"),), tools=tuple(Tool(name=name) for name in names))
    sent = [tool["function"]["name"] for tool in wire(asked, quirky(name_rule="openai"))["tools"]]
    assert [len(name) for name in sent] == [64, 64]
    assert len(set(sent)) == 2
    assert encode(asked, quirky(name_rule="openai")).undo.names == dict(zip(sent, names, strict=True))


def test_id_18_another_providers_item_id_stays_at_home() -> None:
    """Members and seals of another dialect do not go out with a call; that is said where it is more than an address."""
    call = ToolCall("c1", "look", "{}", sealed=Sealed("openai-responses", {"id": "fc_1"}))
    asked = Request(messages=(user("Hi"), assistant(call), Message("tool", (ToolResult("c1", "look", "x"),))))
    assert wire(asked)["messages"][1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    }
    assert encode(asked).changes == ()
    signed = ToolCall("c1", "look", "{}", sealed=Sealed("google", {"thoughtSignature": "c2ln"}))
    asked = Request(messages=(user("Hi"), assistant(signed), Message("tool", (ToolResult("c1", "look", "x"),))))
    assert codes(encode(asked).changes) == ["seal_foreign /messages/1/parts/0/sealed"]
