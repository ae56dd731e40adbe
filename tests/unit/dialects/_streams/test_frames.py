"""Frames in normal form: how one is written, and which are, by dialect."""

from __future__ import annotations

from typing import Any

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects._streams.frames import adds, event_in, opened
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.wire.json import encode
from tests.support.wrong_answers import STREAMS, WHOLES

TEXT = il.TextDelta(0, "a")


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        (b"data: {}\n\n", (b"", b"{}")),
        (b"data:{}\n\n", (b"", b"{}")),
        (b"data: {}\r\n\r\n", (b"", b"{}")),
        (b"data: {}\r\r", (b"", b"{}")),
        (b"event: ping\ndata: {}\n\n", (b"ping", b"{}")),
        (b"event:ping\r\ndata:{}\r\n\r\n", (b"ping", b"{}")),
        (b"data: {}\ndata: {}\n\n", None),
        (b"data: {\r\ndata: }\r\n\r\n", None),
        (b": comment\ndata: {}\n\n", None),
        (b"id: 1\ndata: {}\n\n", None),
        (b"data: {}\nevent: ping\n\n", None),
        (b"event: ping\n\n", None),
        (b"\xef\xbb\xbfdata: {}\n\n", None),
        (b"\n\n", None),
    ],
)
def test_a_plain_event_is_a_name_and_one_line_of_data(frame: bytes, event: tuple[bytes, bytes] | None) -> None:
    """Whatever ends its lines; every other frame is written anew."""
    assert event_in(frame) == event


def test_names_counts_and_seals_add_nothing() -> None:
    """They wait for what they are about."""
    sealed = il.Sealed("anthropic", {})
    assert not adds([il.StreamStart(), il.UsageUpdate(il.Usage()), il.Seal(0, sealed)])
    assert adds([il.StreamStart(), TEXT])


def test_blocks_are_counted_by_kind() -> None:
    """All of them, or those of one kind."""
    events = [il.BlockStart(0, "text"), TEXT, il.BlockStart(1, "tool_call")]
    assert (opened(events), opened(events, "tool_call")) == (2, 1)


@pytest.mark.parametrize("dialect", STREAMS)
def test_what_is_called_normal_is(dialect: str) -> None:
    """Every frame of the streams, and every answer, that stands among the wrong ones under the name `normal`."""
    spoken = get_dialect(dialect)
    for name, frames in STREAMS[dialect].items():
        check, decoder = spoken.frame_check(), spoken.stream_decoder(DecodeContext())
        if name.startswith("normal"):
            assert [check.is_normal(frame, decoder.feed(frame)) for frame in frames] == [True] * len(frames), name
    normal = [body for name, body in WHOLES[dialect].items() if name.startswith("normal")]
    assert [spoken.is_normal(body) for body in normal] == [True] * len(normal)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_no_json_is_not_normal(dialect: str) -> None:
    """Nor is an answer of another dialect."""
    spoken = get_dialect(dialect)
    others = [body for other, bodies in WHOLES.items() if other != dialect for body in bodies.values()]
    found = [body for body in others if spoken.is_normal(body) and b'"error"' not in body]
    assert not spoken.is_normal(b"{")
    assert not spoken.frame_check().is_normal(b"data: {\n\n", [])
    assert [body for body in found if dialect != "google"] == []  # of whose members none has to be there


BODIES: list[tuple[str, dict[str, Any], bool]] = [
    ("anthropic", {"type": "thinking", "thinking": "Hm.", "signature": "s"}, True),
    ("anthropic", {"type": "thinking", "signature": "s"}, False),
    ("anthropic", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}, True),
    ("anthropic", {"type": "text"}, False),
    ("openai-responses", {"id": "msg_1", "type": "message", "role": "assistant", "content": []}, True),
    ("openai-responses", {"id": "msg_1", "type": "message", "role": "assistant"}, False),
    ("openai-responses", {"id": "msg_1", "type": "message", "role": "user", "content": []}, False),
    ("openai-responses", {"id": "rs_1", "type": "reasoning", "summary": []}, True),
    ("openai-responses", {"id": "rs_1", "type": "reasoning"}, False),
    ("openai-responses", {"id": "ctc_1", "type": "custom_tool_call", "call_id": "c", "name": "f", "input": ""}, True),
    ("openai-responses", {"id": "ctc_1", "type": "custom_tool_call", "call_id": "c", "name": "f"}, False),
    ("openai-responses", {"id": "ws_1", "type": "web_search_call", "status": "completed"}, True),
    ("openai-responses", {"type": "web_search_call", "status": "completed"}, False),
]
"""Blocks and items, and whether an answer that holds one is in normal form."""


@pytest.mark.parametrize(("dialect", "content", "is_normal"), BODIES)
def test_each_kind_of_content_has_its_members(dialect: str, content: dict[str, Any], is_normal: bool) -> None:
    """Those that the official SDK reads; an item of Responses has an id."""
    head = {"id": "x", "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
    if dialect == "anthropic":
        body = {**head, "type": "message", "role": "assistant", "content": [content], "stop_reason": "end_turn"}
    else:
        body = {**head, "object": "response", "status": "completed", "output": [content]}
    assert get_dialect(dialect).is_normal(encode(body)) is is_normal


def test_a_blank_line_of_ollama_says_nothing() -> None:
    """It is left out, and what follows it goes out as it came."""
    check = get_dialect("ollama").frame_check()
    assert [check.is_silent(line) for line in (b"\n", b" \r\n", b"{}\n")] == [True, True, False]


@pytest.mark.parametrize(
    ("citations", "is_normal"),
    [({"start": 0, "end": 1, "text": "a", "sources": []}, True), ([], False)],
)
def test_a_citation_of_cohere_stands_in_an_open_text(citations: object, is_normal: bool) -> None:
    """It is one object, as the official SDK reads it; before the text and behind it there is nothing to cite."""
    spoken = get_dialect("cohere")
    check, decoder = spoken.frame_check(), spoken.stream_decoder(DecodeContext())
    cited: dict[str, Any] = {"type": "citation-start", "index": 0, "delta": {"message": {"citations": citations}}}
    opening: dict[str, Any] = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    content = {"type": "text", "text": ""}
    found: list[bool] = []
    events: tuple[dict[str, Any], ...] = (
        {"type": "message-start", "id": "r", "delta": {"message": opening}},
        {"type": "content-start", "index": 0, "delta": {"message": {"content": content}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "a"}}}},
        cited,
        {"type": "content-end", "index": 0},
        {**cited, "index": 1},
    )
    for event in events:
        frame = b"event: %b\ndata: %b\n\n" % (event["type"].encode(), encode(event))
        found.append(check.is_normal(frame, decoder.feed(frame)))
    assert found == [True, True, True, is_normal, True, False]


def test_our_own_dialect_is_never_passed_on() -> None:
    """The ids of its calls are ours."""
    spoken = get_dialect("unified")
    assert not spoken.is_normal(b"{}")
    assert not spoken.frame_check().is_normal(b"data: {}\n\n", [])
