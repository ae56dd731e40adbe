"""The transcript of an answer's sound reaches every client, whole and streamed, from every dialect that has one."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.stream.fold import fold
from interlingua.stream.unfold import unfold
from interlingua.types.change import Change
from interlingua.types.content import AudioPart, TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply
from tests.support.cells import cells

SOUND, WORDS = b"RIFF\x24\x00\x00\x00WAVEfmt ", "Good morning, Ada."
DATA = base64.b64encode(SOUND).decode()
CHAT: dict[str, Any] = {
    "id": "c", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": None,
        "audio": {"id": "a", "data": DATA, "transcript": WORDS, "expires_at": 9},
    }}],
}  # fmt: skip
SPOKEN = {"type": "output_audio", "data": DATA, "transcript": WORDS}
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [SPOKEN]}
RESPONSES: dict[str, Any] = {
    "id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [MESSAGE],
}  # fmt: skip
GOOGLE: dict[str, Any] = {
    "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
        {"inlineData": {"mimeType": "audio/wav", "data": DATA},
         "audioTranscription": {"text": WORDS, "finished": True}},
    ]}}],
    "modelVersion": "m",
}  # fmt: skip
ANSWERS = {"openai-chat": CHAT, "openai-responses": RESPONSES, "google": GOOGLE}
"""What each dialect that has sound says."""


def sse(*frames: dict[str, Any]) -> bytes:
    """Server-sent events; one with a type has it as its name."""
    head = [f"event: {frame['type']}\n" if "type" in frame else "" for frame in frames]
    return "".join([f"{name}data: {json.dumps(frame)}\n\n" for name, frame in zip(head, frames, strict=True)]).encode()


def chunk(**delta: Any) -> dict[str, Any]:
    """A chunk of Chat."""
    choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


STREAMS = {
    "openai-chat": sse(
        chunk(audio={"id": "a", "transcript": WORDS[:6]}), chunk(audio={"data": DATA}),
        chunk(audio={"transcript": WORDS[6:]}), chunk(audio={"expires_at": 9}), chunk(),
    ) + b"data: [DONE]\n\n",
    "openai-responses": sse(
        {"type": "response.created", "response": {**RESPONSES, "output": [], "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**MESSAGE, "content": []}},
        {"type": "response.content_part.done", "output_index": 0, "item_id": "msg_1", "content_index": 0,
         "part": SPOKEN},
        {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE},
        {"type": "response.completed", "response": RESPONSES},
    ),
    "google": sse(GOOGLE),
}  # fmt: skip


def whole(dialect: str) -> Response[Any]:
    """The answer, read whole."""
    return get_dialect(dialect).decode_response(
        HttpReply(status=200, body=json.dumps(ANSWERS[dialect]).encode()), DecodeContext()
    )


def streamed(dialect: str) -> Response[Any]:
    """The answer, read from its stream."""
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    return fold([*decoder.feed(STREAMS[dialect]), *decoder.close()])


@pytest.mark.parametrize("dialect", ANSWERS)
def test_a_transcript_is_read_whole_and_streamed(dialect: str) -> None:
    """The sound with what it says; both ways are equal."""
    for response in (whole(dialect), streamed(dialect)):
        [part] = response.parts
        assert isinstance(part, AudioPart)
        assert (part.data, part.media_type, part.transcript) == (SOUND, "audio/wav", WORDS)


def told(dialect: str, response: Response[Any]) -> list[tuple[str, list[Change]]]:
    """What a client reads, whole and streamed: its transcript or its text, and the changes."""
    target, found = get_dialect(dialect), list[tuple[str, list[Change]]]()
    changes: list[Change] = []
    reply = target.encode_response(response, ServerContext(model="m", changes=changes))
    again = target.decode_response(HttpReply(status=200, headers=reply.headers, body=reply.body), DecodeContext())
    found.append((_words(again), changes))
    changes = []
    encoder = target.stream_encoder(ServerContext(model="m", changes=changes))
    decoder = target.stream_decoder(DecodeContext())
    raw = b"".join([encoder.encode(event) for event in unfold(response)])
    found.append((_words(fold([*decoder.feed(raw), *decoder.close()])), changes))
    return found


def _words(response: Response[Any]) -> str:
    spoken = [part.transcript or "" for part in response.parts if isinstance(part, AudioPart)]
    return "".join(spoken) or response.text


@cells("client", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified"])
@cells("dialect", ANSWERS)
def test_a_transcript_reaches_every_client(dialect: str, client: str) -> None:
    """As a transcript where there is one; else as text, with one entry that says so."""
    has_sound = client in ("openai-chat", "google", "unified", dialect)
    for words, changes in told(client, whole(dialect)):
        assert words == WORDS
        codes = [change.code for change in changes if change.path == "/parts/0"]
        assert codes == ([] if has_sound else ["media_as_text"])


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "ollama", "cohere"])
def test_a_history_tells_what_was_said(target: str) -> None:
    """A conversation with a spoken answer goes on at a model that has no sound: its words are text."""
    spoken = Message("assistant", (AudioPart(SOUND, "audio/wav", WORDS),))
    asked = Request(messages=(Message("user", (TextPart("Hi"),)), spoken, Message("user", (TextPart("Go on"),))))
    encoded = get_dialect(target).encode_request(asked, EncodeOptions(target=Target(model="m")))
    assert WORDS in encoded.body.decode()
    assert DATA not in encoded.body.decode()
    assert "media_as_text" in [change.code for change in encoded.changes]


def test_a_sound_without_a_transcript_goes_as_it_did() -> None:
    """Nothing is said for it: a note to a Messages client, an entry elsewhere."""
    mute = Response[Any](parts=(TextPart("Hi"), AudioPart(SOUND, "audio/wav")), finish_reason="stop", model="m")
    assert [words for words, _ in told("anthropic", mute)] == ["Hi[audio/wav, 16 bytes]"] * 2
    assert [[change.code for change in changes] for _, changes in told("ollama", mute)] == [["audio"]] * 2
