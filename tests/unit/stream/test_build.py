"""The builder that every stream decoder uses: its events, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.errors import APIConnectionError, IncompleteStreamError
from interlingua.stream.build import StreamBuilder
from interlingua.stream.calls import CallIdSource
from interlingua.types.change import Changes
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    DataDelta,
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
from interlingua.types.response import Alternative, Response
from interlingua.types.usage import Usage


def builder() -> StreamBuilder:
    """A builder, with changes of its own."""
    return StreamBuilder(Changes("google", "decode_response"), CallIdSource())


def test_prose_goes_on_until_another_kind_comes() -> None:
    """Text, thinking and refusals are blocks of their own; empty pieces open them and say nothing."""
    made = builder()
    made.text("a")
    made.text("")
    made.text("b")
    made.thinking("c", extra={"google": {"x": 1}})
    made.refusal("")
    made.refusal("d")
    made.close_prose()
    made.close_prose()
    assert made.take() == [
        StreamStart(),
        BlockStart(0, "text"),
        TextDelta(0, "a"),
        TextDelta(0, "b"),
        BlockEnd(0, TextPart("ab")),
        BlockStart(1, "thinking", extra={"google": {"x": 1}}),
        ThinkingDelta(1, "c"),
        BlockEnd(1, ThinkingPart("c", extra={"google": {"x": 1}})),
        BlockStart(2, "refusal"),
        RefusalDelta(2, "d"),
        BlockEnd(2, RefusalPart("d")),
    ]
    assert made.take() == []


def test_audio_is_told_by_its_bytes() -> None:
    """Pieces of sound and of words belong to one block."""
    made = builder()
    made.audio(b"RIFF", "")
    made.audio(b"", "")
    made.audio(b"x", "Hi")
    made.close_prose()
    assert made.take()[1:] == [
        BlockStart(0, "audio"),
        DataDelta(0, b"RIFF"),
        DataDelta(0, b"x", "Hi"),
        BlockEnd(0, AudioPart(b"RIFFx", "audio/wav", "Hi")),
    ]


def test_the_start_is_told_once_with_the_counts_that_came_before() -> None:
    """Later names change nothing; counts that say nothing new are not told."""
    made = builder()
    made.update_usage(Usage(input_tokens=3))
    assert made.take() == []
    made.start(model="m", wire_model="w", id="i", extra={"google": {"x": 1}})
    made.start(model="other")
    made.update_usage(Usage(input_tokens=3))
    made.update_usage(Usage(output_tokens=2))
    assert made.take() == [
        StreamStart("m", "w", "i", {"google": {"x": 1}}),
        UsageUpdate(Usage(input_tokens=3)),
        UsageUpdate(Usage(output_tokens=2)),
    ]
    assert made.usage == Usage(input_tokens=3, output_tokens=2)


def test_seals_and_citations_stay_with_their_block() -> None:
    """The last seal counts; unknown events pass through."""
    made = builder()
    block = made.text("a")
    made.seal(block, Sealed("google", {"a": 1}))
    made.seal(block, Sealed("google", {"a": 2}))
    made.annotate(block, Citation("google", {"b": 1}))
    made.extra_event("google", {"c": 1})
    made.close_prose()
    assert made.take()[3:] == [
        Seal(0, Sealed("google", {"a": 1})),
        Seal(0, Sealed("google", {"a": 2})),
        Annotation(0, Citation("google", {"b": 1})),
        Extra("google", {"c": 1}),
        BlockEnd(0, TextPart("a", (Citation("google", {"b": 1}),), sealed=Sealed("google", {"a": 2}))),
    ]


def test_blocks_beside_each_other() -> None:
    """They stay open beside others, and close what was going on."""
    made = builder()
    made.text("a")
    one = made.open_beside("text", extra={"google": {"x": 1}})
    other = made.open_beside("thinking")
    made.grow(one, "b")
    made.grow(other, "")
    made.grow(other, "c")
    made.close_beside(one)
    made.close_beside(one)
    made.close_beside(other)
    assert made.take()[3:] == [
        BlockEnd(0, TextPart("a")),
        BlockStart(1, "text", extra={"google": {"x": 1}}),
        BlockStart(2, "thinking"),
        TextDelta(1, "b"),
        ThinkingDelta(2, "c"),
        BlockEnd(1, TextPart("b", extra={"google": {"x": 1}})),
        BlockEnd(2, ThinkingPart("c")),
    ]


def test_a_call() -> None:
    """It closes the prose, grows by pieces, and is ready when it is whole; a second end changes nothing."""
    made = builder()
    made.text("a")
    assert made.next_path() == "/parts/1"
    block = made.open_call("c", "f", freeform=True, extra={"google": {"x": 1}})
    made.call_arguments(block, "{")
    made.call_arguments(block, "")
    made.call_arguments(block, "}")
    made.close_call(block)
    made.close_call(block)
    call = ToolCall("c", "f", "{}", True, extra={"google": {"x": 1}})
    assert made.take()[3:] == [
        BlockEnd(0, TextPart("a")),
        BlockStart(1, "tool_call", "c", "f", freeform=True, extra={"google": {"x": 1}}),
        ToolCallDelta(1, "{"),
        ToolCallDelta(1, "}"),
        BlockEnd(1, call),
        ToolCallReady(1, call),
    ]


def test_a_call_without_id_and_arguments() -> None:
    """Both repairs are recorded at its place; the empty object is sent as a piece, when the finish reason is known."""
    made = builder()
    block = made.open_call(None, "f", choice=1)
    made.close_call(block)
    assert made.take()[1:] == [BlockStart(0, "tool_call", "call_0", "f", 1)]
    made.open_call("call_1", "g", choice=1)
    call = ToolCall("call_0", "f", "{}")
    assert made.take() == [
        ToolCallDelta(0, "{}", 1),
        BlockEnd(0, call, 1),
        ToolCallReady(0, call, 1),
        BlockStart(1, "tool_call", "call_1", "g", 1),
    ]
    assert [(change.code, change.path) for change in made.changes.entries] == [
        ("call_id_made", "/alternatives/0/parts/0/id"),
        ("arguments_empty", "/alternatives/0/parts/0/arguments_json"),
    ]


@pytest.mark.parametrize("pieces", [["null"], ["nu", "ll"], ["[", "]"], ["[]"], [" "], ["\n", "null"]])
def test_arguments_that_come_to_nothing_are_told_as_none(pieces: list[str]) -> None:
    """The pieces wait until it is known, so that they add up to what the call says."""
    made = builder()
    block = made.open_call("c", "f")
    for piece in pieces:
        made.call_arguments(block, piece)
    made.open_call("d", "f")
    made.close_call(block)
    told = [event for event in made.take() if getattr(event, "index", -1) == 0]
    assert told[1:] == [
        ToolCallDelta(0, "{}"),
        BlockEnd(0, ToolCall("c", "f", "{}")),
        ToolCallReady(0, ToolCall("c", "f", "{}")),
    ]


@pytest.mark.parametrize("pieces", [["nu", "mber"], ["[", "1]"], [" ", '{"a":1}'], ["[", "]", "x"]])
def test_arguments_that_only_begin_like_none_are_told_as_they_are(pieces: list[str]) -> None:
    """As soon as they are something else."""
    made = builder()
    block = made.open_call("c", "f")
    for piece in pieces:
        made.call_arguments(block, piece)
    deltas = [event.arguments for event in made.take() if isinstance(event, ToolCallDelta)]
    assert deltas == ["".join(pieces)]


def test_arguments_that_wait_are_told_when_the_stream_breaks() -> None:
    """The call is cut off, with what came of it."""
    made = builder()
    made.call_arguments(made.open_call("c", "f"), "[")
    made.fail(APIConnectionError("reset"))
    events = made.take()
    assert ToolCallDelta(0, "[") in events
    assert BlockEnd(0, BrokenToolCall("c", "f", "[", "cut_off")) in events


def test_a_broken_call_waits_for_the_finish_reason() -> None:
    """The length limit makes the last one cut off, and no other."""
    made = builder()
    first, last = made.open_call("a", "f"), made.open_call("b", "g")
    for block in (first, last):
        made.call_arguments(block, "{")
        made.close_call(block)
    made.take()
    made.finish("length", "MAX_TOKENS")
    made.end()
    broken = (BrokenToolCall("a", "f", "{", "malformed"), BrokenToolCall("b", "g", "{", "cut_off"))
    assert made.take() == [
        BlockEnd(0, broken[0]),
        BlockEnd(1, broken[1]),
        StreamEnd(Response(parts=broken, finish_reason="length", finish_reason_raw="MAX_TOKENS")),
    ]
    assert made.ended


def test_parts_in_one_piece() -> None:
    """Media bring their bytes, opaque parts nothing."""
    made = builder()
    parts = [
        ImagePart(b"i", "image/png"),
        AudioPart(b"a", "audio/wav", "Hi"),
        DocumentPart(b"d", "application/pdf"),
        ImagePart(b"", "image/png"),
        OpaquePart("google", "x", {}),
    ]
    kinds: list[Any] = ["image", "audio", "document", "image", "opaque"]
    made.text("t")
    for part, kind in zip(parts, kinds, strict=True):
        made.whole(part, kind)
    assert made.take()[3:] == [
        BlockEnd(0, TextPart("t")),
        BlockStart(1, "image"),
        DataDelta(1, b"i"),
        BlockEnd(1, parts[0]),
        BlockStart(2, "audio"),
        DataDelta(2, b"a", "Hi"),
        BlockEnd(2, parts[1]),
        BlockStart(3, "document"),
        DataDelta(3, b"d"),
        BlockEnd(3, parts[2]),
        BlockStart(4, "image"),
        BlockEnd(4, parts[3]),
        BlockStart(5, "opaque"),
        BlockEnd(5, parts[4]),
    ]


def test_the_end_of_several_choices() -> None:
    """One that said nothing is there too; members of the answer stand over those of its first choice."""
    made = builder()
    made.start(model="m", wire_model="w", id="i")
    made.text("a")
    made.text("c", 2)
    made.finish("stop", "STOP")
    assert not made.finished
    made.finish("stop", "STOP", 2)
    assert made.finished
    made.choice_extra(0, "google")["candidate"] = {"x": 1}
    made.choice_extra(2, "google")["candidate"] = {"y": 1}
    made.extra = {"google": {"createTime": "t"}, "anthropic": {"z": 1}}
    made.end()
    made.end()
    end = made.take()[-1]
    assert end == StreamEnd(
        Response(
            parts=(TextPart("a"),),
            finish_reason="stop",
            finish_reason_raw="STOP",
            model="m",
            wire_model="w",
            id="i",
            alternatives=(
                Alternative(finish_reason="other"),
                Alternative(
                    parts=(TextPart("c"),),
                    finish_reason="stop",
                    finish_reason_raw="STOP",
                    extra={"google": {"candidate": {"y": 1}}},
                ),
            ),
            extra={"google": {"candidate": {"x": 1}, "createTime": "t"}, "anthropic": {"z": 1}},
        )
    )
    assert made.take() == []


def test_a_derived_reason_is_recorded_at_its_choice() -> None:
    """A call after `stop`."""
    made = builder()
    made.text("a")
    made.close_call(made.open_call("c", "f", 1))
    made.finish("stop", "STOP", 1)
    made.end()
    assert [(change.code, change.path) for change in made.changes.entries] == [
        ("arguments_empty", "/alternatives/0/parts/0/arguments_json"),
        ("finish_reason_derived", "/alternatives/0/finish_reason"),
    ]


def test_the_end_by_an_error() -> None:
    """What was open is closed, an open call is broken though it is whole, and nothing follows."""
    made = builder()
    made.text("a")
    block = made.open_call("c", "f", extra={"google": {"x": 1}}, freeform=True)
    made.call_arguments(block, "{}")
    made.take()
    made.fail(IncompleteStreamError("cut", status=502, code="x", retry_after_s=1.0, request_id="r"))
    made.fail(IncompleteStreamError("again"))
    made.end()
    call = BrokenToolCall("c", "f", "{}", "cut_off", True, {"google": {"x": 1}})
    partial = Response[Any](parts=(TextPart("a"), call), finish_reason="error")
    assert made.take() == [
        BlockEnd(1, call),
        StreamError("IncompleteStreamError", "cut", 502, "x", 1.0, "r", partial),
    ]
