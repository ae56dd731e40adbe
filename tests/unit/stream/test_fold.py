"""What a stream adds up to, also one that was cut, and the errors that streams end with."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua import errors
from interlingua.errors import IncompleteStreamError, MalformedArgumentsError, RateLimitError, UpstreamError
from interlingua.stream.fold import Folder, error_of, fold
from interlingua.types.content import AudioPart, BrokenToolCall, Citation, RefusalPart, Sealed, TextPart, ThinkingPart
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    DataDelta,
    Event,
    Extra,
    RefusalDelta,
    Seal,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageUpdate,
)
from interlingua.types.response import Alternative, Response
from interlingua.types.usage import Usage

START = StreamStart("m", "w", "i")
SEALED = Sealed("google", {"a": 1})
CITED = Citation("google", {"b": 1})


def partial(*events: Event) -> Response[Any]:
    """What came so far."""
    folder = Folder()
    for event in (START, *events):
        folder.feed(event)
    return folder.partial()


@pytest.mark.parametrize(
    ("events", "part"),
    [
        ((BlockStart(0, "text"), TextDelta(0, "a"), TextDelta(0, "b")), TextPart("ab")),
        (
            (BlockStart(0, "text"), TextDelta(0, "a"), Annotation(0, CITED), Seal(0, SEALED)),
            TextPart("a", (CITED,), sealed=SEALED),
        ),
        ((BlockStart(0, "thinking"), ThinkingDelta(0, "a"), Seal(0, SEALED)), ThinkingPart("a", SEALED)),
        ((BlockStart(0, "refusal"), RefusalDelta(0, "a")), RefusalPart("a")),
        (
            (BlockStart(0, "tool_call", "c", "f"), ToolCallDelta(0, '{"a"')),
            BrokenToolCall("c", "f", '{"a"', "cut_off"),
        ),
        ((BlockStart(0, "tool_call"),), BrokenToolCall("", "", "", "cut_off")),
        (
            (BlockStart(0, "audio"), DataDelta(0, b"a", "x"), DataDelta(0, b"b", "y")),
            AudioPart(b"ab", "application/octet-stream", "xy"),
        ),
        ((BlockStart(0, "audio"), DataDelta(0, b"a")), AudioPart(b"a", "application/octet-stream")),
    ],
)
def test_an_open_block_as_far_as_it_came(events: tuple[Event, ...], part: object) -> None:
    """An open call is broken: nobody knows whether it is whole."""
    assert partial(*events) == Response[Any](
        parts=(part,),  # pyright: ignore[reportArgumentType]  # any part
        finish_reason="error",
        model="m",
        wire_model="w",
        id="i",
    )


@pytest.mark.parametrize("kind", ["image", "document", "opaque"])
def test_a_block_of_which_nothing_can_be_shown(kind: Any) -> None:
    """Media without a type are no part."""
    assert partial(BlockStart(0, kind)).parts == ()


def test_blocks_are_put_in_their_places() -> None:
    """In the order of their index, closed or open, each in its choice; a choice without a word is there, too."""
    found = partial(
        BlockStart(1, "text"),
        TextDelta(1, "b"),
        BlockStart(0, "text"),
        BlockEnd(0, TextPart("a")),
        BlockStart(0, "text", choice=2),
        TextDelta(0, "c", 2),
        UsageUpdate(Usage(input_tokens=1)),
        UsageUpdate(Usage(output_tokens=2)),
        Extra("google", {}),
    )
    assert found.parts == (TextPart("a"), TextPart("b"))
    assert found.alternatives == (
        Alternative(finish_reason="error"),
        Alternative(parts=(TextPart("c"),), finish_reason="error"),
    )
    assert found.usage == Usage(input_tokens=1, output_tokens=2)


def test_the_end_brings_reasons_and_members() -> None:
    """Names and counts are those of the events."""
    end: Response[Any] = Response(
        finish_reason="stop",
        finish_reason_raw="STOP",
        extra={"google": {"x": 1}},
        alternatives=(Alternative(finish_reason="length"),),
        model="other",
    )
    assert fold([START, BlockStart(0, "text"), BlockEnd(0, TextPart("a")), StreamEnd(end)]) == Response(
        parts=(TextPart("a"),),
        finish_reason="stop",
        finish_reason_raw="STOP",
        extra={"google": {"x": 1}},
        alternatives=(Alternative(finish_reason="length"),),
        model="m",
        wire_model="w",
        id="i",
    )


def test_a_stream_without_an_end() -> None:
    """The error holds what came."""
    with pytest.raises(IncompleteStreamError, match="ended before its end event") as caught:
        fold([START, BlockStart(0, "text"), TextDelta(0, "a")])
    assert caught.value.partial is not None
    assert caught.value.partial.parts == (TextPart("a"),)


def test_a_stream_that_ends_in_an_error() -> None:
    """It is raised with all its facts."""
    with pytest.raises(RateLimitError) as caught:
        fold([START, StreamError("RateLimitError", "slow", 429, "x", 7.0, "r")])
    error = caught.value
    facts = (error.message, error.status, error.code, error.retry_after_s, error.request_id)
    assert facts == ("slow", 429, "x", 7.0, "r")


@pytest.mark.parametrize("name", ["NoSuchError", "redact", "Attempt"])
def test_an_error_that_nobody_knows(name: str) -> None:
    """It is an upstream's."""
    assert type(error_of(StreamError(name, "x"))) is UpstreamError


def test_what_came_rides_along() -> None:
    """With the errors that have a place for it."""
    came: Response[Any] = Response(parts=(TextPart("a"), BrokenToolCall("c", "f", "{", "malformed")))
    cut = error_of(StreamError("IncompleteStreamError", "x", partial=came))
    assert isinstance(cut, IncompleteStreamError)
    assert cut.partial == came
    broken = error_of(StreamError("MalformedArgumentsError", "x", partial=came))
    assert isinstance(broken, MalformedArgumentsError)
    assert (broken.response, broken.call) == (came, came.parts[1])
    alone = error_of(StreamError("MalformedArgumentsError", "x"))
    assert isinstance(alone, MalformedArgumentsError)
    assert (alone.response, alone.call) == (None, None)
    assert errors.Error in type(alone).__mro__
