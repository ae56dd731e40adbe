"""Checks of a service before the body: method, path, credential, headers, size.

Source: the first lines and the section "Errors" of our notes on each service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from interlingua.testing.upstream.verdict import Problem
from interlingua.wire.http import HttpRequest, header

__all__ = ["DOORS", "Door", "is_streamed", "named_model", "wants_events"]


class Door(msgspec.Struct, frozen=True, kw_only=True):
    """How one service is reached."""

    path: str
    """Regular expression of the whole path; its group `model`, where it has one, is the model."""
    credentials: tuple[tuple[str, str], ...] = ()
    """Headers that may hold the credential, each with a regular expression of its value."""
    credential_status: int = 401
    """The status for a missing credential."""
    headers: tuple[tuple[str, str], ...] = (("content-type", r"application/json(;.*)?"),)
    """Headers that must be there, each with a regular expression of its value."""
    max_body_bytes: int = 64 * 1024 * 1024
    """The greatest body."""

    def problems(self, request: HttpRequest) -> Iterator[Problem]:
        """The problems of a request before its body is read."""
        path = urlsplit(request.url).path
        if re.fullmatch(self.path, path) is None:
            yield Problem(rule="unknown_path", sentence=f"there is nothing at {path}", source="first lines", status=404)
        elif request.method != "POST":
            yield Problem(rule="bad_method", sentence=f"{request.method} is not POST", source="first lines", status=405)
        yield from self._credential(request)
        for name, pattern in self.headers:
            value = header(request.headers, name)
            if value is None or re.fullmatch(pattern, value) is None:
                yield Problem(rule="bad_header", sentence=f"{name}: {value} is not {pattern}", source="first lines")
        if len(request.body) > self.max_body_bytes:
            sentence = f"the body has {len(request.body)} bytes; {self.max_body_bytes} is the most"
            yield Problem(rule="too_large", sentence=sentence, source="Errors, 413", status=413)

    def _credential(self, request: HttpRequest) -> Iterator[Problem]:
        credentials = [
            name
            for name, pattern in self.credentials
            if re.fullmatch(pattern, header(request.headers, name) or "", re.DOTALL)
        ]
        if self.credentials and not credentials:
            names = " or ".join(name for name, _ in self.credentials)
            status = self.credential_status
            yield Problem(rule="no_credential", sentence=f"no {names} header", source="first lines", status=status)


_BEARER = ("authorization", r"Bearer \S+")
DOORS: dict[str, Door] = {
    "openai-chat": Door(path=r".*/chat/completions", credentials=(_BEARER, ("api-key", r"\S+"))),
    "openai-responses": Door(path=r".*/responses(/compact)?", credentials=(_BEARER, ("api-key", r"\S+"))),
    "anthropic": Door(
        path=r".*/v1/messages",
        credentials=(("x-api-key", r"\S+"), _BEARER),
        headers=(("content-type", r"application/json(;.*)?"), ("anthropic-version", r"2023-0[16]-01|2026-10-21")),
        max_body_bytes=32 * 1024 * 1024,
    ),
    "google": Door(
        path=r".*/models/(?P<model>[^/:]+):(generateContent|streamGenerateContent)",
        credentials=(("x-goog-api-key", r"\S+"), _BEARER),
        credential_status=403,
    ),
    "ollama": Door(path=r".*/api/(chat|generate)", headers=()),
    "cohere": Door(path=r".*/v2/chat", credentials=(_BEARER,)),
    "bedrock": Door(
        path=r".*/model/(?P<model>[^/]+)/converse(-stream)?",
        credentials=(_BEARER, ("authorization", r"AWS4-HMAC-SHA256 .+")),
        max_body_bytes=25 * 1024 * 1024,
    ),
    "unified": Door(path=r".*/unified/v1/generate"),
}
"""The door of every service."""


def named_model(dialect: str, request: HttpRequest, named: object) -> str:
    """The model that a request names: in its path, or in its body."""
    match = re.fullmatch(DOORS[dialect].path, urlsplit(request.url).path)
    if match is not None and "model" in match.groupdict():
        return unquote(match["model"])
    return named if isinstance(named, str) else ""


_STREAM_PATHS = {"google": ":streamGenerateContent", "bedrock": "/converse-stream"}
"""How the paths of streamed answers end, where the body does not say it."""


def is_streamed(dialect: str, request: HttpRequest, body: dict[str, object]) -> bool:
    """Whether a request wants its answer streamed."""
    if dialect in _STREAM_PATHS:
        return urlsplit(request.url).path.endswith(_STREAM_PATHS[dialect])
    return bool(body.get("stream", dialect == "ollama"))


def wants_events(request: HttpRequest) -> bool:
    """Whether Google is asked for server-sent events, not for one array."""
    return parse_qs(urlsplit(request.url).query).get("alt") == ["sse"]
