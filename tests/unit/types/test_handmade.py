"""Messages made by hand: what is not of its type is told before anything is sent."""

from __future__ import annotations

from typing import Any, cast

import pytest

import interlingua as il
from interlingua import codec
from interlingua.types.handmade import check_messages

CALL = il.ToolCall("c1", "f", "{}")


def result(content: Any) -> il.Message:
    """A tool message with one result."""
    return il.Message("tool", (il.ToolResult("c1", "f", content),))


def called(arguments: Any) -> il.Message:
    """An assistant message with one call."""
    return il.assistant(il.ToolCall("c1", "f", arguments))


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (il.Message(cast("Any", "operator"), ()), "messages[1]: 'operator' is no role; there are system, user, "),
        (il.Message("user", cast("Any", "Hi")), "messages[1] holds a str, which is no part; il.user(…) and "),
        (il.Message("user", (cast("Any", 5),)), "messages[1] holds an int, which is no part"),
        (il.user(il.TextPart(cast("Any", None))), "messages[1]: the text of a part is None, not str"),
        (il.user(il.ImagePart(cast("Any", "iVBORw0"), "image/png")), "the data of an ImagePart is a str, not bytes"),
        (called({"a": 1}), "messages[1]: the arguments_json of the call 'c1' (tool f) is a dict, not str"),
        (called('{"a":'), "the call 'c1' (tool f) is not one JSON object (malformed); il.BrokenToolCall holds what "),
        (called(""), "is not one JSON object (malformed)"),
        (called("[1]"), "is not one JSON object (not_object)"),
        (called('{"a":1},"b":{}'), "is not one JSON object (malformed)"),
        (called('{"a":1,"a":2}'), "is not one JSON object (duplicate_key)"),
        (result({"a": 1}), "messages[1]: the result of f is a dict; it takes a text, parts in a tuple, or il.Json("),
        (result(None), "messages[1]: the result of f is None; "),
        (result(("text",)), "messages[1]: the result of f is a tuple; "),
    ],
    ids=repr,
)
def test_what_is_of_another_type_is_told(message: il.Message, sentence: str) -> None:
    """With the place, and before anything is asked, in a history as in a prompt."""
    model = il.model("openai/gpt-4.1")
    with pytest.raises(il.UsageError) as caught:
        model.generate([il.user("Hi"), message])
    assert sentence in caught.value.message
    with pytest.raises(il.UsageError) as caught:
        model.explain("Go on.", history=[il.user("Hi"), message])
    assert sentence in caught.value.message


def test_broken_arguments_are_a_fault_of_the_history() -> None:
    """As they are in a client's body."""
    with pytest.raises(il.HistoryError) as caught:
        check_messages([called("{")])
    assert caught.value.code == "arguments_broken"


def test_what_types_allow_is_taken() -> None:
    """Every kind of part, content in every form, an enumeration that is text, arguments more often than remembered."""
    parts = (il.TextPart("x"), il.Json([1]))
    check_messages([il.user("Hi", il.ImagePart(b"x", "image/png")), il.assistant(CALL), result("x"), result(parts)])
    check_messages([result(il.Json(None)), il.assistant(il.BrokenToolCall("c", "f", "{", "malformed"))])
    for place in range(2_048):
        check_messages([called(f'{{"a":{place}}}')])


def test_results_for_the_codec() -> None:
    """Its results are made by hand, too."""
    with pytest.raises(il.UsageError, match=r"results\[0\]: the result of f is a dict"):
        codec.encode_result(il.ToolResult("c1", "f", cast("Any", {"a": 1})), "google")


@pytest.mark.parametrize("arguments", ["", "[1]", '{"a":1},"b":{}', '{"a":1,"a":2}'])
@pytest.mark.parametrize("dumped", ["messages", "response", "events"])
def test_calls_in_stored_text_are_looked_at(arguments: str, dumped: str) -> None:
    """Text that somebody changed must not become members of a request's body."""
    call = il.ToolCall("c1", "f", arguments)
    values: dict[str, tuple[Any, str]] = {
        "messages": ((il.user("Hi"), il.assistant(call)), "/messages/1/parts/0/arguments_json"),
        "response": (il.Response(parts=(call,), finish_reason="tool_calls"), "/parts/0/arguments_json"),
        "events": ([il.ToolCallReady(0, call)], "/events/0/call/arguments_json"),
    }
    value, path = values[dumped]
    with pytest.raises(il.DecodeError, match="the arguments of a call are one JSON object") as caught:
        il.load(il.dump(value))
    assert caught.value.path == path


def test_a_choice_among_no_tools_at_all() -> None:
    """It would be any tool for one service and none for another."""
    tools = [il.Tool(name="f", parameters={"type": "object"})]
    for spec in ("openai/gpt-4.1", "google/gemini-3-pro", "ollama/qwen3"):
        plan = il.model(spec).explain("Hi", tools=tools, tool_choice=il.AllowedTools(()))
        assert "tool_choice allows no tool at all, which 'none' says" in str(plan)
