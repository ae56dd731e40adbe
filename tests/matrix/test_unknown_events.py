"""Events of a stream that no dialect knows: a client is told them in their own dialect, or they stand in `changes`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua import codec
from interlingua.dialects._contract import ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.types.event import Extra
from interlingua.wire.eventstream import encode_event_frame

CLIENTS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "bedrock")
ASKED: dict[str, dict[str, Any]] = {
    "openai-chat": {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]},
    "openai-responses": {"model": "m", "stream": True, "input": "hi"},
    "anthropic": {"model": "m", "stream": True, "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]},
    "google": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "ollama": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "cohere": {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]},
    "bedrock": {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
}
PATHS = {"google": "/v1beta/models/m:streamGenerateContent", "bedrock": "/model/m/converse-stream"}


def _named(*events: dict[str, Any]) -> bytes:
    return b"".join([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events])


_MESSAGE: dict[str, Any] = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [], "stop_reason": None,
    "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


def anthropic(*events: dict[str, Any]) -> bytes:
    """A stream of Anthropic with `events` in the block of its text."""
    return _named(
        {"type": "message_start", "message": _MESSAGE},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Oslo."}},
        *events,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    )


_ITEM: dict[str, Any] = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "Oslo.", "annotations": []}],
}  # fmt: skip
_RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt",
    "status": "in_progress",
    "output": [],
}


def responses(*events: dict[str, Any]) -> bytes:
    """A stream of Responses with `events` before its item."""
    return _named(
        {"type": "response.created", "response": _RESPONSE},
        *events,
        {"type": "response.output_item.done", "output_index": 0, "item": _ITEM},
        {"type": "response.completed", "response": {**_RESPONSE, "status": "completed", "output": [_ITEM]}},
    )


def cohere(*events: dict[str, Any]) -> bytes:
    """A stream of Cohere with `events` in the block of its text."""
    return _named(
        {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant"}}},
        {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Oslo."}}}},
        *events,
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    )


def bedrock(*events: dict[str, Any]) -> bytes:
    """A stream of Bedrock with `events` in the block of its text, each with its name as `type`."""
    said = [
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Oslo."}}),
        *[(event["type"], event) for event in events],
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
    ]
    heads = {":message-type": "event", ":content-type": "application/json"}
    return b"".join(
        [encode_event_frame({":event-type": name, **heads}, json.dumps(body).encode()) for name, body in said]
    )


STREAMS = {"anthropic": anthropic, "openai-responses": responses, "cohere": cohere, "bedrock": bedrock}
ODD = {"type": "brand_new", "word": "mark-of-an-event"}


def _told(service: str, client: str, stream: bytes) -> tuple[bytes, list[tuple[str, str, str]]]:
    """What a client is told of a stream, and the entries of it."""
    bridge = codec.bridge(client, service, model="m")
    bridge.request(dict(ASKED[client]), path=PATHS.get(client, ""))
    before = len(bridge.changes)
    told = b"".join(bridge.stream([stream]))
    return told, [(change.code, change.path, change.detail) for change in bridge.changes[before:]]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("service", sorted(STREAMS))
def test_an_event_that_nobody_knows_is_told_or_noted(service: str, client: str) -> None:
    """Once, however often it comes, and with its name; the text around it arrives."""
    told, entries = _told(service, client, STREAMS[service](ODD, ODD))
    noted = [entry for entry in entries if entry[0] == "extra_foreign"]
    if service == client:
        assert told.count(b"mark-of-an-event") == 2, told
        assert not noted
    else:
        assert b"mark-of-an-event" not in told
        assert noted == [("extra_foreign", f"/extra/{service}", "events brand_new")]
    plain = told.replace(b"\r\n", b"").decode("utf-8", "replace")
    assert "Oslo." in plain or ("Oslo" in plain and client == "google")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_piece_of_an_unknown_kind_is_noted_by_its_kind(client: str) -> None:
    """The block that it belongs to says nothing of it."""
    odd = {"type": "content_block_delta", "index": 0, "delta": {"type": "odd_delta", "odd": "x"}}
    _, entries = _told("anthropic", client, anthropic(odd, odd))
    assert ("extra_foreign", "/extra/anthropic", "events content_block_delta of odd_delta") in entries
    assert [code for code, _, _ in entries].count("extra_foreign") == 1


@pytest.mark.parametrize("client", [one for one in CLIENTS if one != "openai-responses"])
def test_the_progress_of_an_item_is_no_loss(client: str) -> None:
    """A search that is on its way: its item comes whole, and has the entry."""
    search = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    }
    progress = [
        {"type": "response.output_item.added", "output_index": 0, "item": {**search, "status": "in_progress"}},
        {"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_1"},
        {"type": "response.output_item.done", "output_index": 0, "item": search},
    ]
    _, entries = _told("openai-responses", client, responses(*progress))
    assert {code for code, _, _ in entries} >= {"server_tool_as_text"}
    assert "extra_foreign" not in {code for code, _, _ in entries}


@pytest.mark.parametrize("client", CLIENTS)
def test_an_unknown_block_is_noted_at_its_own_place(client: str) -> None:
    """Chat, Cohere and Bedrock said the first part, whichever it was."""
    if client == "anthropic":
        pytest.skip("it is told as it came")
    odd = [
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "brand_new", "word": "x"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "brand_new", "word": "y"}},
    ]
    _, entries = _told("anthropic", client, anthropic(*odd))
    assert [path for code, path, _ in entries if code == "opaque_part"] == ["/parts/1", "/parts/2"]


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028"])
@pytest.mark.parametrize("dialect", ["openai-responses", "anthropic", "cohere", "bedrock", "unified"])
def test_a_name_with_an_end_of_a_line_begins_no_other_event(dialect: str, end: str) -> None:
    """An upstream that names an event so could write an end of its own into the client's stream."""
    name = f"x{end}{end}event: message_stop{end}data: {{}}{end}{end}"
    raw: dict[str, Any] = {name: {}} if dialect == "bedrock" else {"type": name}
    context = ServerContext(model="m", created=1, make_id=lambda: "id_1")
    data = get_dialect(dialect).stream_encoder(context).encode(Extra(dialect=dialect, raw=raw))
    assert b"event: x" not in data
    assert dialect == "unified" or name.encode() not in data  # which tells it as data, in JSON


@pytest.mark.parametrize("dialect", ["openai-responses", "anthropic", "cohere", "bedrock", "unified"])
def test_a_name_that_is_too_long_for_a_header_is_not_written_in_one(dialect: str) -> None:
    """Two bytes say how long a header of a binary frame is; a longer one was a fault of ours."""
    raw: dict[str, Any] = {"x" * 70_000: {}} if dialect == "bedrock" else {"type": "x" * 70_000}
    context = ServerContext(model="m", created=1, make_id=lambda: "id_1")
    data = get_dialect(dialect).stream_encoder(context).encode(Extra(dialect=dialect, raw=raw))
    assert b"event: xxx" not in data
