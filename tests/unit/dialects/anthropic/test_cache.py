"""Prompt caching: where marks stand, how many, in which order, and that they never move."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import Quirks, Target
from interlingua.types.content import TextPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import OpaqueTool, Tool
from tests.support.messages import NAME, codes, decode, encode, wire

MARK: dict[str, Any] = {"type": "ephemeral"}
HOUR: dict[str, Any] = {"type": "ephemeral", "ttl": "1h"}
TOOL = Tool(name="f", description="Does.")
HI = (user("Hi"),)


def marked(*texts: str, cache: Any = "5m") -> Message:
    """A message of marked texts."""
    return Message("user", tuple([TextPart(text, cache=cache) for text in texts]))


@pytest.mark.parametrize(("cache", "mark"), [("5m", MARK), ("1h", HOUR)])
def test_a_life_time_for_the_whole_request_stands_at_the_top(cache: Any, mark: Any) -> None:
    """The service itself moves it to the last block; nothing else is marked."""
    body = wire(Request(messages=HI, system=(TextPart("s"),), tools=(TOOL,), cache=cache))
    assert body["cache_control"] == mark
    assert json.dumps(body).count("cache_control") == 1


def test_auto_marks_the_end_and_what_stands_before_the_conversation() -> None:
    """One mark at the top, one on the system text; without system text on the last tool."""
    body = wire(Request(messages=HI, system=(TextPart("s"),), tools=(TOOL,), cache="auto"))
    assert body["cache_control"] == MARK
    assert body["system"] == [{"type": "text", "text": "s", "cache_control": MARK}]
    assert json.dumps(body).count("cache_control") == 2
    blocks = (TextPart("s"), TextPart("t"))
    assert wire(Request(messages=HI, system=blocks, cache="auto"))["system"] == [
        {"type": "text", "text": "s"},
        {"type": "text", "text": "t", "cache_control": MARK},
    ]
    search = OpaqueTool(NAME, "web_search_20250305", {"type": "web_search_20250305", "name": "web_search"})
    tools = wire(Request(messages=HI, tools=(TOOL, search), cache="auto"))["tools"]
    assert [tool.get("cache_control") for tool in tools] == [None, MARK]
    assert wire(Request(messages=HI, cache="auto"))["cache_control"] == MARK


def test_auto_leaves_the_callers_own_marks_alone() -> None:
    """What the caller marked before the conversation is enough; nothing is added there."""
    body = wire(Request(messages=HI, system=(TextPart("s"),), tools=(Tool(name="f", cache="5m"),), cache="auto"))
    assert body["tools"][0]["cache_control"] == MARK
    assert body["system"] == "s"
    assert body["cache_control"] == MARK


@pytest.mark.parametrize(("own", "counts"), [(2, (1, 1, 2)), (3, (1, 0, 3)), (4, (0, 0, 4))])
def test_res_27_auto_takes_what_the_caller_leaves(own: int, counts: Any) -> None:
    """RES-27: the caller's marks come first; then the one at the top, then the one before the conversation."""
    encoded = encode(Request(messages=(marked(*"abcd"[:own]),), system=(TextPart("s"),), cache="auto", max_tokens=1))
    body = json.loads(encoded.body)
    content = body["messages"][0]["content"]
    found = ("cache_control" in body, "cache_control" in json.dumps(body["system"]))
    assert (*found, sum("cache_control" in block for block in content)) == counts
    assert codes(encoded.changes) == ([] if counts[0] else ["dropped cache_unsupported /cache"])


def test_five_marks_and_one_at_the_top_are_told_one_by_one() -> None:
    """Each that has no place has an entry."""
    encoded = encode(Request(messages=(marked(*"abcde"),), cache="1h", max_tokens=1))
    assert encoded.body.count(b"cache_control") == 4
    assert codes(encoded.changes) == [
        "dropped cache_unsupported /messages/0/parts/3/cache",
        "dropped cache_unsupported /messages/0/parts/4/cache",
        "approximated parameter_adjusted /cache",
    ]


def test_an_hour_never_stands_after_five_minutes() -> None:
    """The service refuses the order; what comes too late is sent as five minutes, and that is said."""
    given = {
        "tools": [{"name": "f", "input_schema": {"type": "object"}, "cache_control": MARK}],
        "system": [{"type": "text", "text": "s", "cache_control": HOUR}],
        "messages": [{"role": "user", "content": "Hi"}],
    }
    encoded = encode(decode(given).request)
    assert json.loads(encoded.body)["system"] == [{"type": "text", "text": "s", "cache_control": MARK}]
    assert codes(encoded.changes) == ["approximated parameter_adjusted /system/0/cache"]
    legal = {**given, "tools": [{**given["tools"][0], "cache_control": HOUR}]}
    assert wire(decode(legal).request)["system"] == given["system"]


def test_auto_before_an_hour_is_an_hour() -> None:
    """A mark of ours never makes a caller's mark illegal."""
    body = wire(Request(messages=(marked("a", cache="1h"),), system=(TextPart("s"),), cache="auto"))
    assert body["system"][0]["cache_control"] == HOUR
    assert body["messages"][0]["content"][0]["cache_control"] == HOUR
    assert body["cache_control"] == MARK


@pytest.mark.parametrize("cache", ["auto", "5m", "1h"])
def test_a_server_without_marks_gets_none(cache: Any) -> None:
    """By its row, with an entry."""
    target = Target(model="m", quirks=Quirks(cache_marks="none"))
    encoded = encode(Request(messages=HI, system=(TextPart("s"),), cache=cache, max_tokens=1), target)
    assert b"cache_control" not in encoded.body
    assert codes(encoded.changes) == ["dropped cache_unsupported /cache"]


def test_marks_on_results_and_calls_stay_where_they_are() -> None:
    """On every kind of block, there and back."""
    turns = (
        user("Hi"),
        assistant(ToolCall("a", "f", "{}")),
        Message("tool", (ToolResult("a", "f", "4", cache="1h"),)),
        marked("Go on."),
    )
    body = wire(Request(messages=turns))
    assert body["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "4", "cache_control": HOUR},
        {"type": "text", "text": "Go on.", "cache_control": MARK},
    ]
    assert decode(body).request.messages == turns
