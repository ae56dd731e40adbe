"""What stands around a known conversation: when it is taken again, and what makes everything be written anew."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import pytest
from msgspec.structs import replace

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Quirks, Target
from interlingua.dialects._known import frames
from interlingua.dialects._known.frames import MAX_FRAMES, asked_beside
from interlingua.dialects._known.histories import KnownHistory, KnownMessages
from interlingua.dialects._known.tools import known_tools
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import UnsupportedError, UsageError
from interlingua.providers.limits import facts_for
from interlingua.types.content import Part, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpRequest

TOOL = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}})
STEP = (
    Message("assistant", (ThinkingPart("Hm."), ToolCall("call_1", "look", '{"at":1}'))),
    Message("tool", (ToolResult("call_1", "look", "seen"),)),
)


def conversation(*messages: Message, before: KnownHistory | None = None) -> KnownHistory:
    """A known conversation."""
    head = before.messages if before is not None else ()
    return KnownHistory(b"", (), [*head, *messages], (), before)


def asked(known: KnownHistory, **members: Any) -> Request:
    """A request with it."""
    return Request(messages=known.messages, **members)


def written(request: Request, dialect: str = "openai-chat", **options: Any) -> Any:
    """Everything that comes of writing a request."""
    options = {"target": Target(model="m"), **options}
    return get_dialect(dialect).encode_request(request, EncodeOptions(**options))


def anew(request: Request, dialect: str = "openai-chat", **options: Any) -> Any:
    """The same, of messages that nobody knows."""
    return written(replace(request, messages=tuple(request.messages), tools=tuple(request.tools)), dialect, **options)


def is_framed(request: Request, dialect: str = "openai-chat", **options: Any) -> bool:
    """Whether a request is written without looking at more than its messages; it is right in any case."""
    filled = mock.Mock(side_effect=vars(frames)["_filled"])
    with mock.patch.object(frames, "_filled", filled):
        assert written(request, dialect, **options) == anew(request, dialect, **options)
    return bool(filled.called)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_turn_more_is_written_into_the_same_frame(dialect: str) -> None:
    """From the second time on the messages alone are written, in every dialect, and the same is undone."""
    tools = known_tools([TOOL])
    known = conversation(user("Look."))
    members: dict[str, Any] = {"tools": tools, "tool_choice": "auto", "system": (TextPart("Be brief."),), "seed": 3}
    assert [is_framed(asked(known, **members), dialect) for _ in range(3)] == [False, True, True]
    further = conversation(*STEP, before=known)
    assert is_framed(asked(further, **members), dialect)
    assert is_framed(asked(conversation(assistant("Done."), user("Thanks."), before=further), **members), dialect)


OTHER: dict[str, dict[str, Any]] = {
    "knob": {"temperature": 0.5},
    "whole number": {"temperature": 1},
    "system": {"system": (TextPart("Be long."),)},
    "choice": {"tool_choice": "none"},
    "extra": {"extra": {"openai-chat": {"odd": 1}}},
    "schema": {"output_schema": {"type": "object"}},
    "cache": {"cache": "5m"},
    "members": {"extra": {"anthropic": {"odd": 1}, "openai-chat": {"reasoning": {"effort": "odd"}}}},
    "no tools": {"tools": ()},
    "other tools": {"tools": known_tools([replace(TOOL, name="peek")])},
    "plain tools": {"tools": (TOOL,)},
}


@pytest.mark.parametrize("name", OTHER)
def test_who_asks_something_else_gets_something_else(name: str) -> None:
    """Whatever differs besides the messages makes the request be written anew, and right."""
    members: dict[str, Any] = {"tools": known_tools([TOOL]), "temperature": 1.0}
    known = conversation(user("Look."), *STEP)
    assert [is_framed(asked(known, **members)) for _ in range(2)] == [False, True]
    assert not is_framed(asked(known, **{**members, **OTHER[name]}))
    assert is_framed(asked(known, **members))


@pytest.mark.parametrize(
    "options",
    [
        {"target": Target(model="n")},
        {"target": Target(model="m", quirks=Quirks(max_tokens_field="max_tokens"))},
        {"stream": True},
        {"stream": True, "stream_usage": True},
        {"allow": frozenset({"images"})},
    ],
    ids=["model", "quirks", "stream", "usage", "allow"],
)
def test_another_target_has_another_frame(options: dict[str, Any]) -> None:
    """Target and options are compared."""
    known = conversation(user("Look."))
    is_framed(asked(known))
    assert not is_framed(asked(known), **options)
    assert is_framed(asked(known), **options)
    assert is_framed(asked(known))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_unknown_members_stay_in_the_frame(dialect: str) -> None:
    """Members for this dialect alone stand in every turn, though they are moved after the messages were put in."""
    known = conversation(user("Look."))
    members: dict[str, Any] = {"extra": {dialect: {"odd": {"a": [1]}}}, "tools": known_tools([TOOL])}
    assert [is_framed(asked(known, **members), dialect) for _ in range(2)] == [False, True]
    assert is_framed(asked(conversation(*STEP, before=known), **members), dialect)
    assert json.loads(written(asked(known, **members), dialect).body)["odd"] == {"a": [1]}


def test_members_given_to_a_known_tool_are_sent() -> None:
    """Whoever gives a tool members of its own gets them written."""
    tools = known_tools([TOOL])
    known = conversation(user("Look."))
    assert [is_framed(asked(known, tools=tools)) for _ in range(2)] == [False, True]
    tools[0].extra["openai-chat"] = {"priority": 1}
    assert not is_framed(asked(known, tools=tools))
    assert json.loads(written(asked(known, tools=tools)).body)["tools"][0]["priority"] == 1


def test_values_that_are_changed_in_place_are_seen() -> None:
    """A dict of the caller's is compared by what it says now."""
    metadata = {"a": "b"}
    known = conversation(user("Look."))
    assert [is_framed(asked(known, metadata=metadata)) for _ in range(2)] == [False, True]
    metadata["a"] = "c"
    assert not is_framed(asked(known, metadata=metadata))


def test_what_json_cannot_tell_apart_has_no_frame() -> None:
    """A number that is not finite looks like null: it is still refused."""
    known = conversation(user("Look."))
    assert [is_framed(asked(known, metadata={"a": None})) for _ in range(2)] == [False, False]
    for request in (asked(known, metadata={"a": float("nan")}), asked(known, metadata={"a": {1, 2, known}})):
        assert asked_beside(request) is None
        with pytest.raises(UsageError):
            written(request)


def test_a_new_name_that_is_mapped_makes_all_be_written() -> None:
    """A call of a tool that nobody declared may have to be renamed, wherever it stands."""
    known = conversation(user("Look."))
    tools = known_tools([TOOL])
    is_framed(asked(known, tools=tools), "anthropic")
    call = ToolCall("call_2", "a tool", "{}")
    step = (Message("assistant", (call,)), Message("tool", (ToolResult("call_2", "a tool", "x"),)))
    further = asked(conversation(*step, before=known), tools=tools)
    assert not is_framed(further, "anthropic")
    assert written(further, "anthropic").undo.names != {}


def test_a_new_id_that_is_mapped_makes_all_be_written() -> None:
    """An id that the wire does not take is mapped, and told."""
    known = conversation(user("Look."))
    is_framed(asked(known), "anthropic")
    step = (
        Message("assistant", (ToolCall("call 3", "look", "{}"),)),
        Message("tool", (ToolResult("call 3", "look", "x"),)),
    )
    further = asked(conversation(*step, before=known))
    assert written(further, "anthropic") == anew(further, "anthropic")
    assert [change.code for change in written(further, "anthropic").changes] == ["id_mapped", "parameter_added"]


def test_marks_in_the_rest_are_counted_with_those_around_it() -> None:
    """Marks for the prompt cache are counted over the whole request: those of its beginning stand in the frame."""
    system = (TextPart("Be brief.", cache="5m"), TextPart("Be kind.", cache="5m"), TextPart("Be true.", cache="5m"))
    known = conversation(user("Look."))
    is_framed(asked(known, system=system), "anthropic")
    marked = Message("user", (TextPart("And now?", cache="5m"), TextPart("Or then?", cache="1h")))
    further = asked(conversation(assistant("Seen."), marked, before=known), system=system)
    assert is_framed(further, "anthropic")
    blocks = json.loads(written(further, "anthropic").body)["messages"][2]["content"]
    assert [block.get("cache_control") for block in blocks] == [{"type": "ephemeral"}, None]
    assert [change.code for change in written(further, "anthropic").changes] == ["cache_unsupported", "parameter_added"]


def test_what_goes_on_behind_marks_is_written_as_a_whole() -> None:
    """Nothing is kept of messages with marks as they were written, so nothing can be written behind them."""
    known = conversation(user("Look."))
    is_framed(asked(known), "anthropic")
    marked = conversation(assistant("Seen."), Message("user", (TextPart("And now?", cache="5m"),)), before=known)
    further = asked(conversation(assistant("Done."), user("Thanks."), before=marked))
    assert [written(further, "anthropic") == anew(further, "anthropic") for _ in range(2)] == [True, True]


def test_what_writing_changed_is_told_in_its_place() -> None:
    """Entries before, of and after the messages stand in the order in which they were made."""
    known = conversation(user("Look."), *STEP)
    request = asked(known, seed=1, top_k=3, schema_strict=True)
    expected = anew(request, "anthropic").changes
    assert [written(request, "anthropic").changes for _ in range(3)] == [expected] * 3
    assert len(expected) > 1


def test_a_turn_of_which_nothing_is_left_adds_nothing() -> None:
    """Thinking that a dialect does not take, and nothing else: the messages stay as they were, and JSON."""
    known = conversation(user("Look."))
    is_framed(asked(known), "anthropic")
    silent = conversation(Message("assistant", (ThinkingPart("Hm."),)), before=known)
    for _ in range(2):
        assert is_framed(asked(silent), "anthropic")
    assert len(json.loads(written(asked(silent), "anthropic").body)["messages"]) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_cannot_be_written_behind_known_bytes_is_written_right(dialect: str) -> None:
    """What the user goes on with may be one message with what came before; of another conversation nothing is known."""
    first = conversation(assistant("Hi."), user("Look."))
    for _ in range(2):
        is_framed(asked(first), dialect)
    assert is_framed(asked(conversation(user("And there."), before=first)), dialect) is (dialect != "google")
    other = conversation(assistant("Hi."), user("Look."))
    other.frames.extend(first.frames)
    assert is_framed(asked(other), dialect) is (dialect != "google")


def test_what_was_written_behind_known_bytes_is_known() -> None:
    """The next turn is written behind it, and it itself is not written again."""
    first = conversation(user("Look."))
    for _ in range(2):
        written(asked(first))
    further = conversation(assistant("Seen."), user("And there?"), before=first)
    body = written(asked(further)).body
    told = further.written(further.frames[0].ways)
    assert told is not None
    assert told.text == body[body.index(b"[") : body.rindex(b"]") + 1]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("part", [ThinkingPart("Hm."), TextPart("")])
def test_a_conversation_of_which_nothing_is_left_is_written_as_ever(dialect: str, part: Part) -> None:
    """However often it is asked: each dialect says in its own way that there is no message."""
    known = conversation(Message("assistant", (part,)))
    for _ in range(3):
        assert written(asked(known), dialect) == anew(asked(known), dialect)


def test_what_is_refused_is_refused_each_time() -> None:
    """A request that cannot be sent leaves nothing behind."""
    known = conversation(user("Look."))
    for _ in range(3):
        with pytest.raises(UnsupportedError):
            written(asked(known, n=2), "anthropic")
    assert known.frames == []


def test_there_are_few_frames_and_none_is_large() -> None:
    """The oldest goes when there are too many; a long one is never kept."""
    known = conversation(user("Look."))
    for seed in range(2 * MAX_FRAMES):
        written(asked(known, seed=seed))
    assert [b'"seed":%d' % seed in known.frames[place].asked for place, seed in enumerate(range(6, 12))] == [True] * 6
    other = conversation(user("Look again."))
    with mock.patch.object(frames, "MAX_FRAME_BYTES", 100):
        written(asked(other, user="u" * 60))
        assert other.frames == []
        written(asked(other))
        assert len(other.frames) == 1


def test_a_conversation_that_is_not_known_has_none() -> None:
    """Plain messages are written as ever."""
    assert not is_framed(Request(messages=(user("Look."),)))
    assert type(conversation(user("x")).messages) is KnownMessages


def test_a_budget_of_thinking_is_given_up_where_the_turn_before_has_lost_its_own() -> None:
    """What Claude's service refuses is not taken again from the turn before, however well that is known."""
    facts = facts_for("anthropic", "anthropic", "claude-opus-4-5")
    target = Target(model="claude-opus-4-5", provider="anthropic", facts=facts)
    known = conversation(user("Hi"))
    budgets: list[bool] = []
    frames: list[int] = []
    for length in (0, 0, 1, 2):
        calls = ToolCall(f"call_{length}", "look", "{}"), ToolResult(f"call_{length}", "look", "seen")
        step = (Message("assistant", calls[:1]), Message("tool", calls[1:]))
        known = conversation(*step, before=known) if length else known
        request = asked(known, effort="high", max_tokens=64_000)
        assert written(request, "anthropic", target=target) == anew(request, "anthropic", target=target)
        frames.append(len(known.frames))
        budgets.append(b'"budget_tokens"' in written(request, "anthropic", target=target).body)
    assert budgets == [True, True, False, False]
    assert frames == [1, 1, 2, 2]


def read(url: str, body: bytes) -> Request:
    """What a Chat client asks, of which the body came before."""
    decode, http = get_dialect("openai-chat").decode_request, HttpRequest(url=url, body=body)
    return [decode(http, DecodeOptions()).request for _ in range(3)][-1]


def test_what_was_read_is_asked_as_it_was_read_and_changed_since() -> None:
    """Bodies with the same messages keep their own settings, and a member that is put into a request is written."""
    url = "http://test/v1/chat/completions"
    said = ", ".join(
        json.dumps({"role": role, "content": "A long text. " * 9}) for role in ("user", "assistant", "user")
    )
    cool = read(url, b'{"messages":[%b],"temperature":0.5}' % said.encode())
    warm = read(url, b'{"messages":[%b],"temperature":0.75}' % said.encode())
    assert cool.messages.known is warm.messages.known  # type: ignore[attr-defined]
    for request, number in ((cool, 0.5), (warm, 0.75), (cool, 0.5), (warm, 0.75)):
        assert json.loads(written(request).body)["temperature"] == number
    again = read(url, b'{"messages":[%b],"temperature":0.5}' % said.encode())
    again.extra["openai-chat"] = {"top_a": 1}
    assert json.loads(written(again).body)["top_a"] == 1
