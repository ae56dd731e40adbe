"""Usual histories: what is one, what is left to the general way, and what is told of it."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import Target
from interlingua.dialects._usual.histories import UnusualError, UsualHistory, marked_text, plain_messages
from interlingua.dialects.unified import history_usual as unified
from interlingua.types.change import Change
from interlingua.types.content import Sealed, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message, user

CALL = ("call_1", "look", '{"at":1}')
STEP = (
    Message("assistant", (TextPart("Hm."), ToolCall(*CALL))),
    Message("tool", (ToolResult("call_1", "look", "seen"),)),
)


def test_a_history_is_told_message_by_message() -> None:
    """System text, a text, a call with its result."""
    history = UsualHistory()
    history.instruct("Be brief.")
    history.say("user", "Look.")
    history.turn("Hm.", [CALL])
    history.answer("call_1", "seen")
    done = history.done()
    assert (done.system, done.messages) == ((TextPart("Be brief."),), [user("Look."), *STEP])
    assert (done.calls, done.entries) == ({"call_1": "look"}, [])


def test_an_error_is_marked_in_its_text() -> None:
    """The mark goes into the flag, and back; a text that has it by itself is left to others."""
    history = UsualHistory()
    history.turn(None, [CALL])
    history.answer_marked("call_1", "ERROR: no")
    result = history.done().messages[1].parts[0]
    assert result == ToolResult("call_1", "look", "no", is_error=True)
    assert marked_text(ToolResult("c", "n", "no", is_error=True)) == "ERROR: no"
    assert marked_text(ToolResult("c", "n", "ERROR: no", is_error=True)) == "ERROR: no"
    assert marked_text(ToolResult("c", "n", "ERROR: no")) is None


@pytest.mark.parametrize(
    "calls",
    [[CALL, CALL], [("", "look", "{}")], [("call_1", "", "{}")], [("call_1", "look", "[]")], [("null", "look", "{}")]],
    ids=["repeated", "no id", "no name", "no object", "placeholder"],
)
def test_a_call_that_has_to_be_looked_at_is_unusual(calls: list[tuple[str, str, str]]) -> None:
    """Its id, its name and its arguments are its own and sound."""
    with pytest.raises(UnusualError):
        UsualHistory().turn("Hm.", calls)


def test_nobody_speaks_before_every_call_has_its_result() -> None:
    """Neither the user nor the model, and there is no end either; a result has a call."""
    history = UsualHistory()
    with pytest.raises(UnusualError):
        history.answer("call_1", "seen")
    history.turn(None, [CALL])
    for told in (lambda: history.say("user", "So?"), lambda: history.turn("So.", ()), history.done):
        with pytest.raises(UnusualError):
            told()


def test_an_id_that_is_made_says_where() -> None:
    """It counts the calls before, and the results that stand before it."""
    history = UsualHistory()
    history.say("user", "Look.")
    history.turn("Hm.", [CALL])
    history.answer("call_1", "seen")
    assert [history.made_id(0, 0, "google"), history.made_id(1, 1, "google")] == ["call_1", "call_2"]
    path = "/messages/3/parts/%d/id"
    assert history.entries == [
        Change("repaired", "call_id_made", path % at, "google", "decode_request") for at in (0, 1)
    ]


@pytest.mark.parametrize(
    "message",
    [
        Message("system", (TextPart("Be brief."),)),
        Message("user", (TextPart("Hi."),), "Ann"),
        Message("user", (TextPart("Hi."), TextPart("Ho."))),
        Message("user", (TextPart("Hi.", cache="auto"),)),
        Message("assistant", (ToolCall(*CALL), TextPart("Hm."))),
        Message("assistant", (ToolCall(*CALL, sealed=Sealed("google", {})),)),
        Message("tool", (ToolResult("call_1", "look", (TextPart("seen"),)),)),
        Message("assistant"),
    ],
)
def test_a_message_with_anything_else_is_not_plain(message: Message) -> None:
    """Whatever a dialect may have to be told of makes the general writer write all."""
    assert plain_messages((user("Look."), message), "openai-chat") is None


def test_our_own_format_says_how_a_result_named_its_call() -> None:
    """Texts under the names of other dialects stand as they are; any other value is left to the general writer."""
    result = ToolResult("call_1", "look", "seen", False, None, {"ollama": {"field": "tool_name"}})
    assert unified.write_usual_history((STEP[0], Message("tool", (result,))), Target()) == (
        b'{"role":"assistant","parts":[{"type":"text","text":"Hm."},'
        b'{"type":"tool_call","id":"call_1","name":"look","arguments":{"at":1}}]},'
        b'{"role":"tool","parts":[{"type":"tool_result","tool_call_id":"call_1","content":"seen",'
        b'"extra":{"ollama":{"field":"tool_name"}}}]}'
    )
    named = ToolResult("call_1", "look", "seen", False, None, {"google": {"functionResponse": {"id": "call_1"}}})
    assert unified.write_usual_history((STEP[0], Message("tool", (named,))), Target()) is None
