"""Every other name of a media type, from every dialect to every dialect, as the strict upstreams take it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeOptions, Encoded, EncodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.errors import UnsupportedError
from interlingua.media.fit import plan_media
from interlingua.registry.endpoint import Endpoint
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import judge_body
from interlingua.types.content import AudioPart, DocumentPart, ImagePart
from interlingua.types.request import Request
from interlingua.wire.http import HttpRequest
from interlingua.wire.media import ALIASES, media_type_of
from tests.support.cells import cells

REGISTRY = Registry(environ={})
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FILES: dict[str, bytes] = {
    "audio/wav": b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00",
    "audio/mpeg": b"ID3\x04\x00\x00\x00\x00\x00\x00",
    "audio/mp4": b"\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00M4A mp42",
    "audio/flac": b"fLaC\x00\x00\x00\x22",
    "video/mp4": b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom",
    "video/quicktime": b"\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  ",
    "application/pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "text/plain": b"One line.",
    "text/markdown": b"# One",
    "application/json": b'{"a": 1}',
    DOCX: b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00",
    "image/png": base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    ),
}
"""A file of each type."""
NAMES: dict[str, tuple[str, ...]] = {
    "audio/wav": ("audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave", "AUDIO/WAV", "wav"),
    "audio/mpeg": ("audio/mpeg", "audio/mp3", "audio/x-mp3", "audio/mpga", "mp3"),
    "audio/mp4": ("audio/mp4", "audio/m4a", "audio/x-m4a", "m4a"),
    "audio/flac": ("audio/flac", "audio/x-flac", "flac"),
    "video/mp4": ("video/mp4", "video/x-m4v"),
    "video/quicktime": ("video/quicktime", "video/mov", "mov"),
    "application/pdf": ("application/pdf", "application/x-pdf", "text/pdf", "pdf"),
    "text/plain": ("text/plain", "text", "txt"),
    "text/markdown": ("text/markdown", "text/x-markdown", "md"),
    "application/json": ("application/json", "json"),
    DOCX: (DOCX, "docx"),
    "image/png": ("image/png", "image/x-png", "png"),
}
"""How clients call each type."""
TARGETS = {
    "openai-chat": ("openai-chat/gpt-4o-audio-preview", "/v1"),
    "openai-responses": ("openai-responses/gpt-4.1", "/v1"),
    "anthropic": ("anthropic/claude-opus-5", "/v1"),
    "google": ("google/gemini-3-pro-preview", "/v1beta"),
    "ollama": ("ollama/llava", ""),
    "cohere": ("cohere/command-a-vision-07-2025", "/v2"),
}
"""Dialect -> a target that speaks it, and the path of its API."""
TAKEN: dict[str, frozenset[str]] = {
    "openai-chat": frozenset({
        "audio/wav", "audio/mpeg", "application/pdf", "text/plain", "text/markdown", "application/json", DOCX,
        "image/png",
    }),
    "openai-responses": frozenset({
        "application/pdf", "text/plain", "text/markdown", "application/json", DOCX, "image/png",
    }),
    "anthropic": frozenset({"application/pdf", "text/plain", "text/markdown", "application/json", "image/png"}),
    "google": frozenset(FILES) - {DOCX},
    "ollama": frozenset({"image/png"}),
    "cohere": frozenset({"text/plain", "text/markdown", "application/json", "image/png"}),
}  # fmt: skip
"""What each target gets; the rest is refused by name before anything is sent."""


def openai(name: str, data: str, kind: str, *, chat: bool) -> dict[str, Any] | None:
    """A part of Chat or Responses."""
    url = f"data:{name};base64,{data}"
    if kind.startswith("audio/"):
        return {"type": "input_audio", "input_audio": {"data": data, "format": name.removeprefix("audio/")}}
    if "/" not in name:
        return None  # a data URL has no bare word
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}} if chat else {"type": "input_image", "image_url": url}
    file = {"filename": "f", "file_data": url}
    return {"type": "file", "file": file} if chat else {"type": "input_file", **file}


def chat(name: str, data: str, kind: str) -> tuple[str, dict[str, Any]] | None:
    """A request to Chat."""
    part = openai(name, data, kind, chat=True)
    body = {"model": "m", "messages": [{"role": "user", "content": [part]}]}
    return None if part is None else ("/v1/chat/completions", body)


def responses(name: str, data: str, kind: str) -> tuple[str, dict[str, Any]] | None:
    """A request to Responses."""
    part = openai(name, data, kind, chat=False)
    body = {"model": "m", "input": [{"role": "user", "content": [part]}]}
    return None if part is None else ("/v1/responses", body)


def anthropic(name: str, data: str, kind: str) -> tuple[str, dict[str, Any]] | None:
    """A request to Messages, which has pictures and documents."""
    if kind.startswith(("audio/", "video/")):
        return None
    block = "image" if kind.startswith("image/") else "document"
    part = {"type": block, "source": {"type": "base64", "media_type": name, "data": data}}
    return "/v1/messages", {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [part]}]}


def google(name: str, data: str, kind: str) -> tuple[str, dict[str, Any]]:
    """A request to generateContent."""
    del kind
    part = {"inlineData": {"mimeType": name, "data": data}}
    return "/v1beta/models/m:generateContent", {"contents": [{"role": "user", "parts": [part]}]}


def unified(name: str, data: str, kind: str) -> tuple[str, dict[str, Any]]:
    """A request in our own format."""
    head = kind.partition("/")[0]
    part = {"type": head if head in ("audio", "image") else "document", "data": data, "media_type": name}
    return "/unified/v1/generate", {"model": "m", "messages": [{"role": "user", "parts": [part]}]}


SOURCES = {
    "openai-chat": chat, "openai-responses": responses, "anthropic": anthropic, "google": google, "unified": unified,
}  # fmt: skip
CASES = [
    (kind, name, source)
    for kind, names in NAMES.items()
    for name in names
    for source, write in SOURCES.items()
    if write(name, "", kind) is not None
]
"""Each type under each name, in each dialect that can say it."""
READ = {"audio": AudioPart, "image": ImagePart}


@pytest.mark.parametrize("target", TARGETS)
@cells(("kind", "name", "source"), CASES)
def test_a_media_type_under_any_name_reaches_who_takes_it(kind: str, name: str, source: str, target: str) -> None:
    """It is read under its one name, and goes under the target's, or is refused with who, what and where."""
    asked = SOURCES[source](name, base64.b64encode(FILES[kind]).decode(), kind)
    assert asked is not None
    url, body = asked
    http = HttpRequest(method="POST", url=url, body=json.dumps(body).encode())
    request = get_dialect(source).decode_request(http, DecodeOptions()).request
    [part] = request.messages[0].parts
    assert isinstance(part, READ.get(kind.partition("/")[0], DocumentPart))
    assert (part.media_type, part.data) == (kind, FILES[kind])
    spec, base = TARGETS[target]
    endpoint = REGISTRY.resolve(spec)[0]
    if kind not in TAKEN[target]:
        with pytest.raises(UnsupportedError, match=rf"{spec} cannot take /messages/0/parts/0 \(.+\)"):
            _sent(request, endpoint)
        return
    encoded = _sent(request, endpoint)
    headers = (("anthropic-version", "2023-06-01"), *encoded.headers)
    verdict = judge_body(target, encoded.body, model=endpoint.model, path=base + encoded.path, headers=headers)
    assert list(map(str, verdict.problems)) == []
    told = encoded.body.decode()
    assert base64.b64encode(FILES[kind]).decode() in told or json.dumps(FILES[kind].decode()) in told


def _sent(request: Request, endpoint: Endpoint) -> Encoded:
    plan = plan_media(request, endpoint)
    fitted = request if plan is None else plan.run()[0]
    return get_dialect(endpoint.dialect).encode_request(fitted, EncodeOptions(target=endpoint.target))


def test_no_name_leads_to_another_name() -> None:
    """The table is one step deep, in small letters, and says each name once."""
    assert [name for name, kind in ALIASES.items() if kind in ALIASES or name != name.lower()] == []
    for name, kind in ALIASES.items():
        assert media_type_of(name.upper()) == media_type_of(f"{name};codecs=1") == media_type_of(name) == kind


def test_parameters_and_unknown_names_stay() -> None:
    """What is no other name of anything goes as it came: the rate of samples stands in a parameter."""
    for name in ("audio/L16;rate=24000", "text/plain; charset=utf-8", "model/gltf+json", "Whatever"):
        assert media_type_of(name) == name
