"""Media types under other names in a body that could be passed on: it is written anew, and that is said."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from interlingua.gateway.calls.reading import spelling_of
from interlingua.testing.upstream import Upstream
from tests.support.gateway import MODELS, asking, gateway

WAV = base64.b64encode(b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00").decode()
PDF = f"data:application/x-pdf;base64,{base64.b64encode(b'%PDF-1.7').decode()}"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
JPG = (
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8M"
    "CgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k="
)


def chat(part: dict[str, Any]) -> dict[str, Any]:
    """A Chat body with one part."""
    return {"messages": [{"role": "user", "content": [part]}]}


CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("openai-chat", chat({"type": "file", "file": {"filename": "a", "file_data": PDF}}),
     "data:application/pdf;base64,", "application/x-pdf is application/pdf"),
    ("anthropic", chat({"type": "image", "source": {"type": "base64", "media_type": "image/jpg", "data": JPG}}),
     '"image/jpeg"', "image/jpg is image/jpeg"),
    ("google", {"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "audio/x-wav", "data": WAV}}]}]},
     '"audio/wav"', "audio/x-wav is audio/wav"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "body", "sent", "told"), CASES)
async def test_a_name_that_the_target_does_not_take_is_sent_as_the_one_it_takes(
    dialect: str, body: dict[str, Any], sent: str, told: str
) -> None:
    """The client's own dialect, judged by the strict upstream; an entry says what was changed."""
    with Upstream(dialect).standing() as upstream:
        reply = await gateway()(asking(dialect, MODELS[dialect], **body))
    assert reply.status == 200
    assert sent in upstream.requests[0].body.decode()
    assert told.partition(" ")[0] not in upstream.requests[0].body.decode()
    assert "media_type_corrected" in dict(reply.headers)["x-interlingua-changes"]


async def test_names_of_the_dialect_itself_are_passed_on() -> None:
    """The bytes go out as they came, and nothing is said."""
    body: dict[str, Any] = {
        "contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "audio/mp3", "data": WAV}}]}]
    }
    with Upstream("google").standing() as upstream:
        reply = await gateway()(asking("google", MODELS["google"], **body))
    assert json.loads(upstream.requests[0].body)["contents"] == body["contents"]
    assert "x-interlingua-changes" not in dict(reply.headers)


@pytest.mark.parametrize(
    ("node", "spelling"),
    [
        ({"data": "", "format": "mp3"}, None),
        ({"data": "", "format": "m4a"}, None),
        ({"data": "", "format": "x-wav"}, ("x-wav", "audio/wav")),
        ({"data": "", "format": "audio/wav"}, ("audio/wav", "audio/wav")),
        ({"format": "x-wav"}, None),
        ({"mimeType": "video/mov"}, None),
        ({"mimeType": "pdf"}, ("pdf", "application/pdf")),
        ({"mimeType": 7, "url": "https://a.example/jpg"}, None),
        ({"url": "data:image/jpg;base64,AAAA"}, ("image/jpg", "image/jpeg")),
        ({"url": "data:;base64,AAAA"}, None),
    ],
)
def test_where_a_name_stands(node: dict[str, Any], spelling: tuple[str, str] | None) -> None:
    """Types of sources and of bytes, formats of sounds, heads of data URLs."""
    assert spelling_of(node) == spelling
