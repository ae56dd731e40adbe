"""Chunks that are like the one before them are read without a parser, whole, in pieces, and several at a time."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.types.event import TextDelta, ThinkingDelta

CHAT = 'data: {{"id":"c","model":"m","choices":[{{"index":0,"delta":{{"content":"{}"}},"finish_reason":null}}]}}\n\n'
MESSAGES = (
    "event: content_block_delta\n"
    'data: {{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{}"}}}}\n\n'
)
THINKING = (
    "event: content_block_delta\n"
    'data: {{"type":"content_block_delta","index":0,"delta":{{"type":"thinking_delta","thinking":"{}"}}}}\n\n'
)
RESPONSES = (
    "event: response.output_text.delta\n"
    'data: {{"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,"delta":"{}",'
    '"sequence_number":3}}\n\n'
)
OLLAMA = (
    '{{"model":"m","created_at":"2026-11-22T00:00:00Z","message":{{"role":"assistant","content":"{}"}},"done":false}}\n'
)
GOOGLE = (
    'data: {{"candidates":[{{"content":{{"parts":[{{"text":"{}"}}],"role":"model"}},"index":0}}],"modelVersion":"m"}}'
    "\r\n\r\n"
)
UNIFIED = 'event: text_delta\ndata: {{"type":"text_delta","index":0,"text":"{}"}}\n\n'
OPEN_UNIFIED = 'data: {"type":"stream_start","model":"m"}\n\ndata: {"type":"block_start","index":0,"block":"text"}\n\n'
OPEN_MESSAGES = (
    'data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],'
    '"usage":{}}}\n\n'
    'data: {"type":"content_block_start","index":0,"content_block":{"type":"%s","%s":""}}\n\n'
)
OPEN_RESPONSES = (
    'data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"i","role":"assistant",'
    '"content":[]}}\n\n'
)
OPEN_COHERE = 'event: content-start\ndata: {"type":"content-start","index":0,"delta":{"message":{"content":{}}}}\n\n'
COHERE = (
    "event: content-delta\n"
    'data: {{"type":"content-delta","index":0,"delta":{{"message":{{"content":{{"text":"{}"}}}}}}}}\n\n'
)
STREAMS = [
    ("openai-chat", "openai_chat", "", CHAT),
    ("anthropic", "anthropic", OPEN_MESSAGES % ("text", "text"), MESSAGES),
    ("anthropic", "anthropic", OPEN_MESSAGES % ("thinking", "thinking"), THINKING),
    ("openai-responses", "openai_responses", OPEN_RESPONSES, RESPONSES),
    ("google", "google", "", GOOGLE),
    ("ollama", "ollama", "", OLLAMA),
    ("cohere", "cohere", OPEN_COHERE, COHERE),
    ("unified", "unified", OPEN_UNIFIED, UNIFIED),
]


def without_a_parser(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """From here on nothing is parsed."""
    module = importlib.import_module(f"interlingua.dialects.{package}.client_stream")

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(module, "read_answer" if package == "google" else "decode_wire", refuse)


@pytest.mark.parametrize(("name", "package", "opening", "chunk"), STREAMS)
def test_the_second_chunk_is_not_parsed(
    name: str, package: str, opening: str, chunk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One to a piece, several to a piece, or cut anywhere; the texts are what they are."""
    decoder = get_dialect(name).stream_decoder(DecodeContext())
    decoder.feed((opening + chunk.format("a")).encode())
    without_a_parser(monkeypatch, package)
    events = decoder.feed(chunk.format("b\\n\\u00e9").encode())
    events += decoder.feed((chunk.format("c") + chunk.format('d\\"')).encode())
    late = chunk.format("e").encode()
    for at in range(0, len(late), 7):
        events += decoder.feed(late[at : at + 7])
    assert [event.text for event in events if isinstance(event, TextDelta | ThinkingDelta)] == ["b\né", "c", 'd"', "e"]
    assert len(events) == 4


@pytest.mark.parametrize(("name", "package", "opening", "chunk"), STREAMS)
def test_a_chunk_that_differs_elsewhere_is_parsed(
    name: str, package: str, opening: str, chunk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another member makes it another chunk."""
    decoder = get_dialect(name).stream_decoder(DecodeContext())
    decoder.feed((opening + chunk.format("a")).encode())
    without_a_parser(monkeypatch, package)
    with pytest.raises(AssertionError, match="it was parsed"):
        decoder.feed(chunk.format('b","new":"c').encode())


@pytest.mark.parametrize(
    "frame",
    [
        GOOGLE.replace('"index":0', '"index":0,"tokenCount":3'),
        GOOGLE.replace('"index":0', '"index":0,"finishReason":"STOP"'),
        GOOGLE.replace('"modelVersion":"m"', '"usageMetadata":{{"promptTokenCount":3}}'),
        GOOGLE.replace('"role":"model"', '"role":"model","new":1'),
        GOOGLE.replace('}}],"role"', '}},{{"text":"more"}}],"role"'),
    ],
)
def test_a_frame_of_google_that_says_more_than_a_text_is_parsed_each_time(
    frame: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts, members and reasons are taken from every frame that has them."""
    decoder = get_dialect("google").stream_decoder(DecodeContext())
    decoder.feed(frame.format("a").encode())
    without_a_parser(monkeypatch, "google")
    with pytest.raises(AssertionError, match="it was parsed"):
        decoder.feed(frame.format("b").encode())


def test_a_text_of_google_after_a_finish_reason_is_parsed_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a server's reasons are not to be believed, which each text must be seen for."""
    decoder = get_dialect("google").stream_decoder(DecodeContext())
    decoder.feed(GOOGLE.replace('"index":0', '"index":0,"finishReason":"STOP"').format("a").encode())
    assert decoder.terminal
    decoder.feed(GOOGLE.format("b").encode())
    assert not decoder.terminal
    without_a_parser(monkeypatch, "google")
    with pytest.raises(AssertionError, match="it was parsed"):
        decoder.feed(GOOGLE.format("c").encode())
