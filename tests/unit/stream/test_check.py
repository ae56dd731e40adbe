"""The law checker finds what it is there for, and folding says what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.errors import IncompleteStreamError, RateLimitError, UpstreamError
from interlingua.stream.build import StreamBuilder
from interlingua.stream.calls import CallIdSource
from interlingua.stream.check import check
from interlingua.stream.fold import Folder, error_of, fold
from interlingua.stream.unfold import unfold
from interlingua.types.change import Changes
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    ImagePart,
    OpaquePart,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.event import (
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
    ToolCallReady,
    UsageUpdate,
)
from interlingua.types.response import Response
from interlingua.types.usage import Usage

START, OPEN = StreamStart("m"), BlockStart(0, "text")
END = StreamEnd(Response(model="m"))
CALL = ToolCall("a", "f", "{}")


@pytest.mark.parametrize(
    ("events", "law"),
    [
        ([OPEN, END], "L1"),
        ([START, START, END], "L1"),
        ([START], "L2"),
        ([], "L2"),
        ([START, END, END], "L2"),
        ([START, TextDelta(0, "x"), END], "L3"),
        ([START, BlockEnd(0, TextPart("x")), END], "L3"),
        ([START, OPEN, END], "L3"),
        ([START, BlockStart(1, "text"), BlockEnd(1, TextPart("")), END], "L4"),
        ([START, OPEN, ThinkingDelta(0, "x"), BlockEnd(0, TextPart("x")), END], "L5"),
        ([START, OPEN, TextDelta(0, ""), BlockEnd(0, TextPart("")), END], "L5"),
        ([START, BlockStart(0, "audio"), DataDelta(0), BlockEnd(0, AudioPart(b"", "audio/wav")), END], "L5"),
        ([START, OPEN, TextDelta(0, "x"), BlockEnd(0, TextPart("y")), END], "L6"),
        ([START, BlockStart(0, "opaque"), TextDelta(0, "x"), BlockEnd(0, OpaquePart("d", "k", 1)), END], "L6"),
        ([START, BlockStart(0, "image"), BlockEnd(0, ImagePart(b"x", "image/png")), END], "L6"),
        ([START, ToolCallReady(0, CALL), END], "L7"),
        ([START, BlockStart(0, "tool_call", "a", "f"), ToolCallDelta(0, "{}"), BlockEnd(0, CALL), END], "L7"),
        ([START, StreamEnd(Response(model="n"))], "L8"),
    ],
)
def test_a_broken_law_is_named(events: list[Event], law: str) -> None:
    """One sentence each, with the law first."""
    assert any(sentence.startswith(law) for sentence in check(events))


def test_an_error_before_the_start_is_lawful() -> None:
    """So is an event without canonical form."""
    assert check([StreamError("RateLimitError", "x")]) == ()
    assert check([START, Extra("d", 1), END]) == ()


def test_folding_without_an_end_is_incomplete() -> None:
    """What came is there, open calls as broken ones."""
    found: list[Event] = [
        START,
        OPEN,
        TextDelta(0, "x"),
        BlockStart(1, "thinking"),
        ThinkingDelta(1, "y"),
        Seal(1, Sealed("d", {})),
        BlockStart(2, "refusal"),
        RefusalDelta(2, "z"),
        BlockStart(3, "tool_call", "a", "f"),
        ToolCallDelta(3, "{"),
        BlockStart(4, "audio"),
        DataDelta(4, b"b", "t"),
        BlockStart(5, "opaque"),
        UsageUpdate(Usage(input_tokens=1)),
    ]
    with pytest.raises(IncompleteStreamError) as caught:
        fold(found)
    partial: Any = caught.value.partial
    assert partial.parts == (
        TextPart("x"),
        ThinkingPart("y", Sealed("d", {})),
        RefusalPart("z"),
        BrokenToolCall("a", "f", "{", "cut_off"),
        AudioPart(b"b", "application/octet-stream", "t"),
    )
    assert (partial.finish_reason, partial.usage, partial.model) == ("error", Usage(input_tokens=1), "m")


def test_folding_an_error_raises_it() -> None:
    """With its facts; a class that is not ours is an UpstreamError."""
    with pytest.raises(RateLimitError) as caught:
        fold([StreamError("RateLimitError", "x", 429, "c", 2.0, "r")])
    error = caught.value
    assert (error.status, error.code, error.retry_after_s, error.request_id) == (429, "c", 2.0, "r")
    assert type(error_of(StreamError("Exception", "x"))) is UpstreamError
    partial = Response(finish_reason="error")
    cut = error_of(StreamError("IncompleteStreamError", "x", partial=partial))
    assert isinstance(cut, IncompleteStreamError)
    assert cut.partial is partial


def test_a_delta_only_grows_its_block() -> None:
    """Anything else is a mistake of the caller's."""
    folder = Folder()
    folder.feed(BlockStart(0, "text"))
    with pytest.raises(KeyError):
        folder.feed(TextDelta(1, "x"))


def test_unfolding_keeps_every_kind() -> None:
    """Media, opaque parts, empty ones; lawful and folded back."""
    response = Response(
        parts=(ImagePart(b"", "image/png"), ImagePart(b"x", "image/png"), OpaquePart("d", "k", 1), TextPart(""), CALL),
        finish_reason="tool_calls",
    )
    made = list(unfold(response))
    assert check(made) == ()
    assert fold(made) == response


def builder() -> StreamBuilder:
    """A builder without a history."""
    return StreamBuilder(Changes("d", "decode_response"), CallIdSource())


def test_counts_before_content_wait_for_the_start() -> None:
    """And are said once."""
    made = builder()
    made.update_usage(Usage(input_tokens=1))
    made.update_usage(Usage(output_tokens=2))
    assert made.take() == []
    made.text("x")
    assert made.take()[:2] == [StreamStart(), UsageUpdate(Usage(input_tokens=1, output_tokens=2))]
    made.update_usage(Usage(output_tokens=2))
    assert made.take() == []


def test_a_call_that_the_wire_closes_is_ready_at_once() -> None:
    """A broken one waits for the finish reason."""
    made = builder()
    whole = made.open_call("a", "f")
    made.call_arguments(whole, "{}")
    made.close_call(whole)
    made.close_call(whole)
    broken = made.open_call("b", "f")
    made.call_arguments(broken, "{")
    made.close_call(broken)
    made.finish("length", "length")
    made.end()
    made.end()
    made.fail(UpstreamError("late"))
    found = made.take()
    assert check(found) == ()
    end = found[-1]
    assert isinstance(end, StreamEnd)
    assert end.response.parts == (CALL, BrokenToolCall("b", "f", "{", "cut_off"))


def test_own_ids_are_made_for_every_call() -> None:
    """Whatever the wire says."""
    ids = CallIdSource(make=iter(["x", "y"]).__next__)
    assert [ids.assign("a"), ids.assign(None)] == [("x", None), ("y", None)]


def test_an_extra_event_passes() -> None:
    """It opens nothing by itself."""
    made = builder()
    made.extra_event("d", {"a": 1})
    assert made.take() == [Extra("d", {"a": 1})]


def test_very_many_blocks_are_checked_in_one_pass() -> None:
    """A stream of two choices with a block for each few bytes; what counts all of them for each takes minutes."""
    events: list[Event] = [StreamStart()]
    for index in range(50_000):
        for choice in (0, 1):
            events.append(BlockStart(index=index, block="text", choice=choice))
            events.append(BlockEnd(index=index, part=TextPart(""), choice=choice))
    assert check(events) == ("L2: no terminal event",)
