"""A body against a canonical value: what an entry excuses at its place, and everything else that differs."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.testing.excuses import Excuses
from interlingua.testing.facts import whole_answer, whole_request
from interlingua.testing.judging.matching import answer_differences, request_differences
from interlingua.testing.judging.placed import placed_answer, placed_request
from interlingua.types.change import Change
from interlingua.types.content import RefusalPart, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, system, user
from interlingua.types.request import Request
from interlingua.types.response import Alternative, Response
from interlingua.types.tool import NamedTool, Tool
from interlingua.types.usage import Usage

CHAT = "openai-chat"
HISTORY = (
    system("Be terse."),
    user("Hi"),
    assistant("Look."),
    system("Be kind."),
    user("Go."),
)
TOLD: list[dict[str, Any]] = [
    {"role": "system", "content": "Be terse."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Look."},
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Go."},
]


def _change(code: str, path: str, detail: str = "") -> Change:
    return Change("approximated", code, path, detail=detail)


def _request(request: Request, body: dict[str, Any], *changes: Change) -> list[str]:
    facts = whole_request(CHAT, {"model": "m", **body})
    return [str(one) for one in request_differences(placed_request(request, "m"), facts, Excuses(changes))]


def _answer(response: Response, message: dict[str, Any], *changes: Change, reason: str = "stop") -> list[str]:
    body = {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    facts = whole_answer(CHAT, body)
    return [str(one) for one in answer_differences(placed_answer(response), facts, Excuses(changes))]


# Texts


def test_texts_stand_in_their_order_and_role() -> None:
    """The history as it is, then with two texts swapped, then with one of another role."""
    request = Request(messages=HISTORY)
    assert _request(request, {"messages": TOLD}) == []
    swapped = [*TOLD[:1], {"role": "user", "content": "Go."}, *TOLD[2:4], {"role": "user", "content": "Hi"}]
    assert (
        _request(request, {"messages": swapped})[0] == "/messages/messages/1/parts/0: ('user', 'Hi') != ('user', 'Go.')"
    )
    assert _request(request, {"messages": [*TOLD[:4], {"role": "assistant", "content": "Go."}]}) == [
        "/messages/messages/4/parts/0: ('user', 'Go.') != ('assistant', 'Go.')"
    ]


def test_a_system_text_may_move_where_an_entry_says_so() -> None:
    """It is still somewhere; a lost one is a fault whatever the entry says, and so is another one that moved."""
    request = Request(messages=HISTORY)
    moved = [*TOLD[:3], {"role": "user", "content": "Be kind.\n\nGo."}]
    entry = _change("system_moved", "/messages/3")
    assert _request(request, {"messages": moved}, entry) == []
    assert _request(request, {"messages": moved}) != []
    assert _request(request, {"messages": moved}, _change("system_moved", "/messages/0")) != []
    assert _request(request, {"messages": [*TOLD[:3], TOLD[4]]}, entry) == [
        "/messages/messages/3/parts/0: ('system', 'Be kind.') != '(missing)'"
    ]


def test_a_note_may_stand_for_a_call_at_its_place_alone() -> None:
    """A call sent as text excuses a text there, and no other."""
    messages = (user("Hi"), Message("assistant", (TextPart("a"), ToolCall("c", "f", "{}"), TextPart("b"))), user("Go."))
    request = Request(messages=messages)
    entry = _change("broken_call_as_text", "/messages/1/parts/1")
    told = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "a[call f]b"}, TOLD[4]]
    assert _request(request, {"messages": told}, entry) == []
    late = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "ab"}, {**TOLD[4], "content": "Go.[x]"}]
    assert _request(request, {"messages": late}, entry) == ["/messages: '(nothing)' != '[x]'"]


def test_a_blank_text_may_go_and_no_other() -> None:
    """`empty_part` excuses white space."""
    blank = Request(messages=(user(" "), user("Hi")))
    entry = _change("empty_part", "/messages/0")
    assert _request(blank, {"messages": [TOLD[1]]}, entry) == []
    full = Request(messages=(user("Psst."), user("Hi")))
    assert _request(full, {"messages": [TOLD[1]]}, entry) != []


# Calls, results, thinking


def test_names_and_ids_follow_the_entries() -> None:
    """A name or an id that is another one on the wire is that one everywhere: in tools, choice, calls."""
    call = ToolCall("an id that is long", "get weather", "{}")
    request = Request(
        messages=(
            user("Hi"),
            assistant(call),
            Message("tool", (ToolResult("an id that is long", "get weather", "4"),)),
        ),
        tools=(Tool(name="get weather"),),
        tool_choice=NamedTool("get weather"),
    )

    def body(name: str, call_id: str) -> dict[str, Any]:
        function = {"name": name, "arguments": "{}"}
        return {
            "messages": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "tool_calls": [{"id": call_id, "type": "function", "function": function}]},
                {"role": "tool", "tool_call_id": call_id, "content": "4"},
            ],
            "tools": [{"type": "function", "function": {"name": name}}],
            "tool_choice": {"type": "function", "function": {"name": name}},
        }

    entries = (
        _change("name_mapped", "/tools/0/name", "'get weather' is 'get_weather' on the wire"),
        _change("id_mapped", "/messages", "'an id that is long' is 'abc' on the wire"),
    )
    assert _request(request, body("get_weather", "abc"), *entries) == []
    assert _request(request, body("get_weather", "abx"), *entries) != []
    assert _request(request, body("getweather", "abc"), *entries) != []


def test_results_keep_their_calls_in_any_order_that_is_said() -> None:
    """Two results in another order are excused by an entry; swapped contents are not."""
    calls = (ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}"))
    results = (ToolResult("a", "f", "1"), ToolResult("b", "f", "2"))
    request = Request(messages=(user("Hi"), assistant(*calls), Message("tool", results)))
    function = {"name": "f", "arguments": "{}"}
    head = [TOLD[1], {"role": "assistant", "tool_calls": [{"id": name, "function": function} for name in ("a", "b")]}]

    def told(*pairs: tuple[str, str]) -> dict[str, Any]:
        return {"messages": [*head, *({"role": "tool", "tool_call_id": one, "content": two} for one, two in pairs)]}

    entry = _change("order_changed", "/messages/2")
    assert _request(request, told(("b", "2"), ("a", "1"))) != []
    assert _request(request, told(("b", "2"), ("a", "1")), entry) == []
    assert _request(request, told(("a", "2"), ("b", "1")), entry) != []


def test_a_thought_is_excused_alone() -> None:
    """Of two thoughts the one that an entry names may be missing."""
    thoughts = (ThinkingPart("first"), ThinkingPart("second"), TextPart("Hello."))
    response = Response(parts=thoughts, finish_reason="stop", model="m")
    entry = _change("thinking_unsupported", "/parts/0")
    told = {"content": "Hello.", "reasoning_content": "second"}
    assert _answer(response, told, entry) == []
    assert _answer(response, {"content": "Hello."}, entry) == ["/thinking/parts/1: ('', 'second') != '(nothing)'"]


# Tools and settings


@pytest.mark.parametrize(
    ("schema", "lost"),
    [
        ({"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}}, "required": ["a"]}, ""),
        ({"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}}}, "required a"),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, "choice x"),
        ({"type": "object", "properties": {"a": {"enum": ["x"]}, "b": {}}, "required": ["a"]}, ""),
    ],
)
def test_a_schema_that_was_rewritten_says_all_it_said(schema: dict[str, Any], lost: str) -> None:
    """An entry excuses another form; a property, a required name or a choice that is gone is a fault."""
    own = {"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}}, "required": ["a"], "title": "T"}
    request = Request(messages=(user("Hi"),), tools=(Tool(name="f", parameters=own),))
    body = {"messages": [TOLD[1]], "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]}
    found = _request(request, body, _change("schema_rewritten", "/tools/0/parameters/title"))
    assert found == [f"/tools/tools/0/schema: '{lost}' != '(missing)'"] * bool(lost)
    assert _request(request, body) != []


def test_a_limit_that_was_added_excuses_none_that_was_said() -> None:
    """And an effort may say that thinking is wanted, but not the other way round."""
    entry = _change("parameter_added", "/max_tokens")
    plain = {"messages": [TOLD[1]]}
    assert _request(Request(messages=(user("Hi"),)), {**plain, "max_tokens": 8}, entry) == []
    assert _request(Request(messages=(user("Hi"),), max_tokens=9), {**plain, "max_tokens": 8}, entry) == [
        "/max_tokens: 9 != 8"
    ]
    assert (
        _request(Request(messages=(user("Hi"),), effort="low", thinking=True), {**plain, "reasoning_effort": "low"})
        == []
    )
    assert _request(Request(messages=(user("Hi"),), effort="low"), plain) == ["/effort: 'low' != None"]


# Ends and counts


@pytest.mark.parametrize(
    ("reason", "word", "entry", "fine"),
    [
        ("pause", "stop", True, True),
        ("pause", "stop", False, False),
        ("length", "stop", True, False),
        ("error", "stop", True, False),
        ("length", "length", False, True),
    ],
)
def test_ends(reason: Any, word: str, *, entry: bool, fine: bool) -> None:
    """An end is approximated only where the format lacks it, and an error never ends well."""
    response = Response(parts=(TextPart("a"),), finish_reason=reason, model="m")
    changes = [_change("finish_reason_approximated", "/finish_reason")] * entry
    assert (_answer(response, {"content": "a"}, *changes, reason=word) == []) is fine


def test_further_choices_refusals_and_counts() -> None:
    """A lost choice, a refusal sent as text, and counts that nobody made: each by its entry alone."""
    two = Response(parts=(TextPart("a"),), alternatives=(Alternative(parts=(TextPart("b"),)),), finish_reason="stop")
    assert _answer(two, {"content": "a"}) == ["/choices/1: '(a choice)' != '(missing)'"]
    assert _answer(two, {"content": "a"}, _change("alternatives_unsupported", "/alternatives/0")) == []
    refusal = Response(parts=(RefusalPart("No."),), finish_reason="refusal")
    assert _answer(refusal, {"content": "No."}, _change("refusal_as_text", "/parts/0")) == []
    assert _answer(refusal, {"content": "No."}) != []
    counted = Response(parts=(TextPart("a"),), finish_reason="stop", usage=Usage(input_tokens=3, output_tokens=2))
    body = {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}
    facts = whole_answer(CHAT, {**body, "usage": usage})
    assert [str(one) for one in answer_differences(placed_answer(counted), facts, Excuses(()))] == [
        "/usage/cache_read: None != 0"
    ]
    filler = Excuses([_change("parameter_added", "/usage")])
    assert answer_differences(placed_answer(counted), facts, filler) == []
