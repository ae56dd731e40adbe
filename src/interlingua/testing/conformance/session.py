"""One server under judgement: requests over HTTP, from the standard library alone."""

from __future__ import annotations

import http.client
import ssl
from urllib.parse import urlsplit

import msgspec

from interlingua.testing.conformance.answers import shape_faults
from interlingua.testing.conformance.anthropic import ANTHROPIC_TONGUE
from interlingua.testing.conformance.bedrock import BEDROCK_TONGUE
from interlingua.testing.conformance.chat import CHAT_TONGUE
from interlingua.testing.conformance.cohere import COHERE_TONGUE
from interlingua.testing.conformance.google import GOOGLE_TONGUE
from interlingua.testing.conformance.ollama import OLLAMA_TONGUE
from interlingua.testing.conformance.question import Question, Tongue
from interlingua.testing.conformance.responses import RESPONSES_TONGUE
from interlingua.testing.conformance.seen import Seen, parsed
from interlingua.testing.conformance.unified import UNIFIED_TONGUE
from interlingua.testing.wirefacts.values import items, members
from interlingua.wire.eventstream import AMAZON_STREAM
from interlingua.wire.http import Headers
from interlingua.wire.json import encode

__all__ = ["TONGUES", "Got", "Session"]

TONGUES: dict[str, Tongue] = {
    "openai-chat": CHAT_TONGUE,
    "openai-responses": RESPONSES_TONGUE,
    "anthropic": ANTHROPIC_TONGUE,
    "google": GOOGLE_TONGUE,
    "ollama": OLLAMA_TONGUE,
    "cohere": COHERE_TONGUE,
    "bedrock": BEDROCK_TONGUE,
    "unified": UNIFIED_TONGUE,
}
"""How every dialect is spoken."""
HELLO = Question()
"""The simplest question."""
STREAM_TYPES = {"ollama": "application/x-ndjson", "bedrock": AMAZON_STREAM}


class Got(msgspec.Struct, frozen=True):
    """The answer of the server."""

    status: int
    """HTTP status; 0 when the connection broke."""
    content_type: str
    """Its content type, without parameters."""
    body: bytes
    """The body, as far as it came."""
    broke: str = ""
    """How the connection broke; empty when it did not."""


class Session:
    """A server: its address, dialect, model and key."""

    def __init__(
        self, url: str, dialect: str, model: str, key: str = "", *, headers: Headers = (), timeout_s: float = 120.0
    ) -> None:
        """The server at the base URL, which holds everything before the operation; `headers` go with each request."""
        self.dialect: str = dialect
        """The dialect it is asked in."""
        self.model: str = model
        """The model it is asked for."""
        self.key: str = key
        """The credential."""
        self.tongue: Tongue = TONGUES[dialect]
        """How it is spoken to."""
        self._headers = headers
        self._url = urlsplit(url.rstrip("/"))
        self._timeout_s = timeout_s

    def ask(self, question: Question) -> tuple[Got, Seen]:
        """The answer to a question, and what it said; faults of status and content type among the others."""
        body = self.tongue.body(question, self.model)
        got = self.post(encode(body, nulls=40), question)
        faults = [f"the connection broke: {got.broke}"] if got.broke else []
        if got.status != 200:
            return got, Seen(faults=[*faults, f"status {got.status}: {got.body[:300].decode(errors='replace')}"])
        expected = STREAM_TYPES.get(self.dialect, "text/event-stream") if question.stream else "application/json"
        if got.content_type != expected:
            faults.append(f"content type {got.content_type!r} is not {expected}")
        return got, self.tongue.streamed(got.body, faults) if question.stream else self._whole(got, faults)

    def _whole(self, got: Got, faults: list[str]) -> Seen:
        body = members(parsed(got.body, "the body", faults))
        if not shape_faults(self.dialect, "Error", body) and "error" in body:
            faults.append(f"an error under status 200: {body['error']}")
        faults += shape_faults(self.dialect, "Whole", body)
        return self.tongue.whole(body, faults)

    def post(self, body: bytes, question: Question = HELLO, *, model: str | None = None, key: str | None = None) -> Got:
        """The answer to a body as it is, sent where `question` would go."""
        place = self.tongue.path
        path = self._url.path + (place if isinstance(place, str) else place(question, model or self.model))
        headers: Headers = (
            ("content-type", "application/json"),
            *self.tongue.headers(self.key if key is None else key),
            *self._headers,
        )
        connection = self._connection()
        try:
            connection.request("POST", path, body, dict(headers))
            reply = connection.getresponse()
            kind = (reply.getheader("content-type") or "").partition(";")[0].strip()
            return _read(reply, kind)
        except (OSError, http.client.HTTPException) as error:
            return Got(0, "", b"", f"{type(error).__name__}: {error}")
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        address = self._url.netloc
        if self._url.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(address, timeout=self._timeout_s, context=context)
        return http.client.HTTPConnection(address, timeout=self._timeout_s)

    def error_faults(self, got: Got) -> list[str]:
        """The faults of an answer that should be an error of the dialect."""
        faults: list[str] = []
        body: object = parsed(got.body, "the body", faults)
        if len(items(body)) == 1:
            [body] = items(body)
        return faults or shape_faults(self.dialect, "Error", body)


def _read(reply: http.client.HTTPResponse, kind: str) -> Got:
    pieces: list[bytes] = []
    try:
        while piece := reply.read1(65536):
            pieces.append(piece)
    except (OSError, http.client.HTTPException) as error:
        return Got(reply.status, kind, b"".join(pieces), f"{type(error).__name__}")
    return Got(reply.status, kind, b"".join(pieces))
