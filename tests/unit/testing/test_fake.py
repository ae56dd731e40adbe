"""The scripted fake: every kind of answer, both faces, whole and streamed."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.errors import APITimeoutError, ConfigError, RateLimitError
from interlingua.stream.unfold import unfold
from interlingua.testing import FakeModel, tool_call
from interlingua.testing.fake import in_pieces
from interlingua.transport.override import overridden, overridden_async, overriding
from interlingua.types.content import TextPart, ThinkingPart, ToolResult
from interlingua.types.event import TextDelta, ToolCallDelta
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from tests.support.asking import ask, ask_async


def _ask(fake: FakeModel, request: Request | str = "Hi", *, stream: bool = False) -> Response[Any]:
    with overriding(fake.override()):
        return ask(overridden(_nothing()), request, stream=stream)


def _nothing() -> Any:
    return None


@pytest.mark.parametrize("stream", [False, True])
def test_a_script_is_used_up(stream: bool) -> None:
    """Each call takes the next answer; one more is a ConfigError that says what was asked."""
    fake = FakeModel(["One.", "Two."]).add("Three.")
    assert [_ask(fake, stream=stream).text for _ in range(3)] == ["One.", "Two.", "Three."]
    assert fake.left == 0
    with pytest.raises(ConfigError, match=r"no answer for call 4 \('Hi'\)"):
        _ask(fake, stream=stream)


def test_a_single_answer_answers_for_ever() -> None:
    """An answer that is no list is given every time."""
    fake = FakeModel("Yes.")
    assert [_ask(fake).text for _ in range(3)] == ["Yes."] * 3


@pytest.mark.parametrize("stream", [False, True])
def test_calls_are_numbered_through_the_conversation(stream: bool) -> None:
    """A call without id counts on from the history; one with an id keeps it."""
    first = tool_call("get_weather", city="Oslo")
    history = Request(
        messages=(
            user("?"),
            assistant(tool_call("get_time", call_id="x")),
            Message("tool", (ToolResult("x", "get_time", "12:00"),)),
        )
    )
    fake = FakeModel([first, [first, tool_call("get_time", call_id="own"), "Both."]])
    [call] = _ask(fake, stream=stream).tool_calls
    assert (call.id, call.name, call.arguments_json) == ("call_0", "get_weather", '{"city":"Oslo"}')
    reply = _ask(fake, history, stream=stream)
    assert [call.id for call in reply.tool_calls] == ["call_1", "own"]
    assert (reply.text, reply.finish_reason) == ("Both.", "tool_calls")


def test_an_argument_may_be_called_name() -> None:
    """The tool's name is positional, so that arguments may have any name."""
    assert tool_call("greet", name="Ada").arguments == {"name": "Ada"}


def test_responses_errors_events_and_functions() -> None:
    """Whole responses, provider errors, transport errors, events and functions of the request are answers."""
    response = Response[Any](parts=(TextPart("Made."),), finish_reason="length", model="m")
    fake = FakeModel(
        [
            response,
            RateLimitError("Slow down.", status=429),
            APITimeoutError("too late"),
            tuple(unfold(response)),
            lambda request: request.messages[-1].text.upper(),
        ]
    )
    assert _ask(fake).finish_reason == "length"
    with pytest.raises(RateLimitError):
        _ask(fake)
    with pytest.raises(APITimeoutError):
        _ask(fake)
    assert _ask(fake, stream=True).text == "Made."
    assert _ask(fake, "shout").text == "SHOUT"


@pytest.mark.parametrize("answer", [object(), [object()]])
def test_what_is_no_answer_is_said(answer: Any) -> None:
    """A script with something else in it is a ConfigError that names its type."""
    with pytest.raises(ConfigError, match="object"):
        _ask(FakeModel([answer]))


def test_it_remembers_what_it_was_asked() -> None:
    """Requests are kept in canonical form, with the target that was named."""
    fake = FakeModel("Yes.")
    with pytest.raises(ConfigError, match="not asked"):
        _ = fake.last_request
    _ask(fake, Request(messages=(user("Hi"),), temperature=0.5))
    assert fake.last_request.messages == (user("Hi"),)
    assert (fake.last_request.temperature, fake.models) == (0.5, ["openai/gpt-4o"])


async def test_the_awaited_face_answers() -> None:
    """The same fake answers awaited calls."""
    fake = FakeModel(["One.", "Two."])
    with overriding(fake.override()):
        assert (await ask_async(overridden_async(_nothing()), "Hi")).text == "One."
        assert (await ask_async(overridden_async(_nothing()), "Hi", stream=True)).text == "Two."


def test_usage_is_there() -> None:
    """Answers have token counts, so that code which adds them up can be tested."""
    usage = _ask(FakeModel("Yes.")).usage
    assert usage is not None
    assert usage.input_tokens is not None
    assert usage.output_tokens is not None


def test_streams_come_in_words() -> None:
    """Text, thinking and arguments are cut at spaces, and add up."""
    response = Response[Any](parts=(ThinkingPart("a b"), TextPart("Hello big world "), tool_call("t", x="y z")))
    deltas = [event for event in in_pieces(unfold(response)) if isinstance(event, TextDelta | ToolCallDelta)]
    texts = [event.text if isinstance(event, TextDelta) else event.arguments for event in deltas]
    assert texts == ["Hello ", "big ", "world ", '{"x":"y ', 'z"}']
