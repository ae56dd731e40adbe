"""Views and sums of the canonical types: messages, responses, usage, changes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from interlingua.errors import UsageError
from interlingua.types.change import CODES, Change, Changes
from interlingua.types.content import BrokenToolCall, ImagePart, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, system, user
from interlingua.types.request import Request
from interlingua.types.response import Attempt, RawReply, Response
from interlingua.types.usage import Usage, add_usage, merge_usage

CALL = ToolCall("a", "f", '{"id": 9007199254740993}')
BROKEN = BrokenToolCall("b", "f", "{", "malformed")


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (None, None),
        ("RateLimitError: slow down: 60 s", "RateLimitError"),
        ("circuit breaker open: it requested a pause (Retry-After)", None),
        ("outrun: another target answered first", None),
        ("its input is too long: 9 tokens", None),
        ("skipped", None),
    ],
)
def test_a_try_says_the_class_of_its_error(error: str | None, name: str | None) -> None:
    """Why a target was passed over has no class."""
    assert Attempt(model="openai/x", outcome="failed", error=error).error_class == name


def test_builders_leave_empty_texts_out() -> None:
    """Texts become parts, parts stay."""
    image = ImagePart(b"x", "image/png")
    assert user("a", "", image) == Message("user", (TextPart("a"), image))
    assert system("s") == Message("system", (TextPart("s"),))
    assert assistant() == Message("assistant", ())


@pytest.mark.parametrize("build", [user, system, assistant])
@pytest.mark.parametrize("given", [None, {"type": "text"}, ["a"], b"x"])
def test_builders_take_texts_and_parts_alone(build: Any, given: Any) -> None:
    """A list in place of its items, a wire object, nothing: an error at once, not when it is sent."""
    with pytest.raises(UsageError, match="a message is made of texts and parts, one after the other, not of "):
        build("a", given)


def test_r02_a_message_shows_its_parts() -> None:
    """Text joined, thinking parted by a blank line, whole calls, results."""
    message = assistant(ThinkingPart("x"), "a", ThinkingPart(), CALL, "b", ThinkingPart("y"), BROKEN)
    assert (message.text, message.thinking, message.tool_calls) == ("ab", "x\n\ny", (CALL,))
    result = ToolResult("a", "f", "4")
    assert Message("tool", (result,)).tool_results == (result,)


def test_r10_arguments_are_exact() -> None:
    """Beyond what a float can hold."""
    assert CALL.arguments == {"id": 9007199254740993}


def test_a_response_shows_its_parts_and_its_conversation() -> None:
    """With and without the request it answered."""
    response = Response(parts=(ThinkingPart("x"), TextPart("a"), CALL, BROKEN))
    assert (response.text, response.thinking, response.tool_calls) == ("a", "x", (CALL,))
    assert response.messages == (response.message,)
    asked = msgspec.structs.replace(response, request=Request(messages=(user("Hi"),), system=(TextPart("s"),)))
    assert asked.messages == (system("s"), user("Hi"), response.message)
    assert asked._repr_markdown_() == 'a\n\n`f({"id": 9007199254740993})`'


def test_what_was_answered_makes_responses_equal() -> None:
    """Changes, tries, the raw body, the request and the typed answer take no part; a hash there is none."""
    one = Response(parts=(TextPart("a"),))
    other = msgspec.structs.replace(
        one, changes=(Change("dropped", "cache_unsupported", ""),), raw_reply=RawReply.of({}), output=1
    )
    assert one == other
    assert not one != other  # noqa: SIM202 - the operator itself
    assert one != Response(parts=(TextPart("b"),))
    assert one != "a"
    with pytest.raises(TypeError, match="not hashable"):
        hash(one)


def test_counts_of_one_answer_are_cumulative() -> None:
    """Field by field, the later known one counts."""
    first = Usage(input_tokens=5, cache_read_tokens=2, extra={"d": {"a": 1}})
    assert merge_usage(None, first) is first
    assert merge_usage(first, Usage(output_tokens=3, cache_read_tokens=4, extra={"e": {}})) == Usage(
        input_tokens=5, output_tokens=3, cache_read_tokens=4, extra={"d": {"a": 1}, "e": {}}
    )


def test_counts_of_several_answers_are_added() -> None:
    """What neither knows stays unknown."""
    one = Usage(input_tokens=5, output_tokens=1)
    assert add_usage(None, None) is None
    assert add_usage(one, None) is one
    assert add_usage(None, one) is one
    assert add_usage(one, Usage(input_tokens=2, reasoning_tokens=7)) == Usage(
        input_tokens=7, output_tokens=1, reasoning_tokens=7
    )
    assert (one.total_tokens, Usage(input_tokens=5).total_tokens) == (6, None)


def test_changes_come_from_the_closed_table() -> None:
    """With the code's own action, unless the caller allowed or said another."""
    changes = Changes("d", "encode_request", frozenset({"images"}))
    changes.add("images", "/a")
    changes.add("audio", "/b")
    changes.add("opaque_part", "/c", "why", action="dropped")
    assert [(change.action, change.code) for change in changes.done()] == [
        ("dropped", "images"),
        ("refused", "audio"),
        ("dropped", "opaque_part"),
    ]
    assert [change.code for change in changes.refused()] == ["audio"]
    assert [str(change) for change in changes.done()[1:]] == [
        f"refused /b: {CODES['audio'].meaning}",
        "dropped /c: why",
    ]
    with pytest.raises(KeyError):
        changes.add("invented", "/d")
