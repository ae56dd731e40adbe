"""Recorded answers of real providers, told anew by the server role, are what the official SDK's types say."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="the official SDK is not installed")

from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import ValidationError

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import Error
from interlingua.stream.unfold import unfold
from interlingua.testing.corpus import read_exchanges
from interlingua.testing.exchange import Exchange
from interlingua.types.event import Event, StreamEnd
from interlingua.wire.http import HttpReply

CHAT = get_dialect("openai-chat")
RECORDINGS = Path(os.environ.get("INTERLINGUA_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")
"""Where the recordings are; they are too large to be kept here."""
FILES = ("openai-chat", "groq", "mistral", "deepseek", "openrouter", "other")
OWN_WORDS = frozenset({"service_tier", "annotations"})
"""Members that pass through in the words of the provider that answered."""


def _context() -> ServerContext:
    return ServerContext(model="any-model", created=1, make_id=lambda: "chatcmpl-1")


def _events(exchange: Exchange) -> list[Event]:
    """The events of an answer that came to its end; of a failure there are none."""
    if exchange.stream is not None:
        decoder = CHAT.stream_decoder(DecodeContext())
        events = [*decoder.feed(exchange.stream_text.encode()), *decoder.close()]
        return events if isinstance(events[-1], StreamEnd) else []
    if exchange.response is None or (exchange.status or 200) >= 400:
        return []
    try:
        reply = HttpReply(status=200, body=json.dumps(exchange.response).encode())
        return list(unfold(CHAT.decode_response(reply, DecodeContext())))
    except Error:
        return []


def _told(events: list[Event]) -> Iterator[tuple[type[ChatCompletion | ChatCompletionChunk], Any]]:
    """What a client gets of an answer: the whole body, and every chunk."""
    end = events[-1]
    assert isinstance(end, StreamEnd)
    yield ChatCompletion, json.loads(CHAT.encode_response(end.response, _context()).body)
    encoder = CHAT.stream_encoder(_context())
    for line in b"".join([encoder.encode(event) for event in events]).splitlines():
        if line.startswith(b"data: {"):
            yield ChatCompletionChunk, json.loads(line.removeprefix(b"data: "))


def _faults(kind: type[ChatCompletion | ChatCompletionChunk], body: Any) -> list[Any]:
    try:
        kind.model_validate(body, strict=True)
    except ValidationError as error:
        return [found for found in error.errors() if OWN_WORDS.isdisjoint(found["loc"])]
    return []


@pytest.mark.parametrize("name", FILES)
def test_recorded_answers_satisfy_strict_clients(name: str) -> None:
    """Every recorded answer of the file, as a whole body and as a stream, validates strictly."""
    path = RECORDINGS / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no recordings at {path}; INTERLINGUA_CORPUS names their folder")
    answers = [_events(exchange) for exchange in read_exchanges(path) if "chat" in exchange.api]
    judged = [(kind, body) for events in answers if events for kind, body in _told(events)]
    assert len(judged) > 50
    assert [fault for kind, body in judged for fault in _faults(kind, body)] == []
