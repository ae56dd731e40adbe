"""The AI SDK's UI message stream: every part, in exact members."""

from __future__ import annotations

import json
from typing import Any

import pytest

import interlingua as il
from interlingua.client.web.ai_sdk import UiMessageEncoder
from interlingua.stream.build import stream_error
from interlingua.types.change import Change

URL = "https://example.org/oslo"


def _told(events: list[il.Event]) -> tuple[list[dict[str, Any]], list[Change]]:
    """The parts of some events, and what could not be said."""
    changes: list[Change] = []
    encoder = UiMessageEncoder(changes, il.WebChat(protocol="ai-sdk", id=""))
    told = b"".join([encoder.encode(event) for event in events])
    frames = [frame.removeprefix(b"data: ") for frame in told.split(b"\n\n") if frame]
    assert frames.pop() == b"[DONE]"
    return [json.loads(frame) for frame in frames], changes


def _answer(*parts: il.Part, **more: Any) -> tuple[list[dict[str, Any]], list[Change]]:
    """The parts of an answer between its first two and its last two, and what could not be said."""
    told, changes = _told(list(il.unfold(il.Response(parts=parts, finish_reason="stop", **more))))
    assert told[:2] == [{"type": "start"}, {"type": "start-step"}]
    assert told[-2:] == [{"type": "finish-step"}, {"type": "finish", "finishReason": "stop"}]
    return told[2:-2], changes


def test_thinking_and_text_are_blocks_of_their_own() -> None:
    """Each block opens with an id that no other has, grows and ends; a refusal is text."""
    told, changes = _answer(il.ThinkingPart("hm"), il.TextPart('Say "hi"\n'), il.RefusalPart("no"))
    assert told == [
        {"type": "reasoning-start", "id": "1"},
        {"type": "reasoning-delta", "id": "1", "delta": "hm"},
        {"type": "reasoning-end", "id": "1"},
        {"type": "text-start", "id": "2"},
        {"type": "text-delta", "id": "2", "delta": 'Say "hi"\n'},
        {"type": "text-end", "id": "2"},
        {"type": "text-start", "id": "3"},
        {"type": "text-delta", "id": "3", "delta": "no"},
        {"type": "text-end", "id": "3"},
    ]
    assert changes == []


def test_thinking_without_words_is_not_told() -> None:
    """A block that only holds sealed state has nothing to show; that it was there is an entry."""
    told, changes = _answer(il.ThinkingPart("", il.Sealed("anthropic", {"data": "x"}, provider="bedrock")))
    assert told == []
    assert [(change.code, change.path, change.detail) for change in changes] == [
        ("seal_foreign", "/parts/0", "sealed by bedrock")
    ]


def test_a_call_has_its_arguments_as_text_and_as_a_value() -> None:
    """First the text as it comes, then the whole value."""
    told, _ = _answer(il.ToolCall("call_1", "f", '{"n": 1}'))
    assert told == [
        {"type": "tool-input-start", "toolCallId": "call_1", "toolName": "f"},
        {"type": "tool-input-delta", "toolCallId": "call_1", "inputTextDelta": '{"n": 1}'},
        {"type": "tool-input-available", "toolCallId": "call_1", "toolName": "f", "input": {"n": 1}},
    ]


def test_a_freeform_call_is_its_text() -> None:
    """Its input is a text, and is sent as one."""
    told, _ = _answer(il.ToolCall("call_1", "sql", '{"input":"select 1"}', freeform=True))
    assert told == [
        {"type": "tool-input-start", "toolCallId": "call_1", "toolName": "sql", "inputEncoding": "text"},
        {"type": "tool-input-available", "toolCallId": "call_1", "toolName": "sql", "input": "select 1"},
    ]


def test_a_broken_call_is_an_error_of_its_input() -> None:
    """It is never offered to be run."""
    told, _ = _answer(il.BrokenToolCall("call_1", "f", '{"n":', "cut_off"))
    assert told[-1] == {
        "type": "tool-input-error",
        "toolCallId": "call_1",
        "toolName": "f",
        "input": '{"n":',
        "errorText": "the arguments are not one JSON object (cut_off)",
    }


def test_media_are_files() -> None:
    """An image and a sound go out as data URLs."""
    told, _ = _answer(il.ImagePart(b"\x00\x01", "image/png"), il.AudioPart(b"\x02", "audio/wav"))
    assert told == [
        {"type": "file", "url": "data:image/png;base64,AAE=", "mediaType": "image/png"},
        {"type": "file", "url": "data:audio/wav;base64,Ag==", "mediaType": "audio/wav"},
    ]


@pytest.mark.parametrize(("title", "member"), [("Oslo", {"title": "Oslo"}), (None, {})])
def test_citations_with_an_address_are_sources(title: str | None, member: dict[str, str]) -> None:
    """Address and title, whatever the dialect calls them."""
    parts, changes = _answer(il.TextPart("Oslo", (il.Citation("google", {"web": {}}, URL, title),)))
    assert {"type": "source-url", "sourceId": "source-2", "url": URL, **member} in parts
    assert changes == []


def test_r63_steps_of_provider_run_tools_are_tools_that_were_run() -> None:
    """R63: a call with its result, in one part or in two; a call without a result waits for it."""
    pages = (il.Source(URL, "Oslo"),)
    parts, changes = _answer(
        il.ServerToolPart("anthropic", "server_tool_use", {}, "web_search", "s_1", {"query": "Oslo"}),
        il.ServerToolPart("anthropic", "web_search_tool_result", {}, "web_search", "s_1", None, "", pages),
        il.ServerToolPart("openai-responses", "mcp_call", {}, "s/f", None, {}, "4"),
        il.ServerToolPart("anthropic", "web_search_tool_result", {}, "web_search", "s_9", None, "unknown"),
    )
    ran = {"providerExecuted": True, "dynamic": True}
    found = {"text": "", "sources": [{"url": URL, "title": "Oslo"}]}
    searching = {"toolCallId": "s_1", "toolName": "web_search", "input": {"query": "Oslo"}}
    assert parts == [
        {"type": "tool-input-available", **searching, **ran},
        {"type": "tool-output-available", "toolCallId": "s_1", "output": found, **ran},
        {"type": "tool-input-available", "toolCallId": "step-2", "toolName": "s/f", "input": {}, **ran},
        {"type": "tool-output-available", "toolCallId": "step-2", "output": {"text": "4", "sources": []}, **ran},
    ]
    assert changes == []


def test_what_has_no_place_is_said() -> None:
    """A citation without an address, a part of one provider alone, a second choice: an entry each."""
    other = il.Alternative(parts=(il.TextPart("B"),), finish_reason="stop")
    parts = (
        il.TextPart("A", (il.Citation("anthropic", {"type": "page", "page": 1}),)),
        il.OpaquePart("google", "x", {}),
    )
    told, changes = _answer(*parts, alternatives=(other,))
    assert [part["type"] for part in told] == ["text-start", "text-delta", "text-end"]
    assert [(change.action, change.code, change.path) for change in changes] == [
        ("dropped", "annotation_unsupported", "/parts/0/annotations"),
        ("dropped", "opaque_part", "/parts/1"),
        ("dropped", "alternatives_unsupported", "/alternatives"),
    ]


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool-calls"),
        ("content_filter", "content-filter"),
        ("refusal", "content-filter"),
        ("pause", "other"),
        ("error", "error"),
        ("other", "other"),
    ],
)
def test_finish_reasons(reason: Any, word: str) -> None:
    """Each in the AI SDK's own words."""
    told, _ = _told(list(il.unfold(il.Response(finish_reason=reason))))
    assert told[-1] == {"type": "finish", "finishReason": word}


def test_an_error_is_the_last_part() -> None:
    """A stream that failed has an error part and no finish."""
    failed = stream_error(il.OverloadedError("no capacity"), None)
    told, _ = _told([il.StreamStart(), failed])
    assert told == [{"type": "start"}, {"type": "start-step"}, {"type": "error", "errorText": "no capacity"}]
