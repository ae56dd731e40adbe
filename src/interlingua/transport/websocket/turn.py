"""One request of HTTP as a turn of a WebSocket, and its events as the reply of HTTP; without I/O.

Strategy: the body of `POST /responses` becomes a `response.create`. Where a connection's latest response, with what it
answered, is how the conversation begins, the turn names it and sends the new items alone; else it sends everything.

Rules
- A conversation is compared by what it says: ids, states and annotations of items that come back do not count, and
  reasoning neither, which the server still has. Anything that is not plainly the same is sent whole.
- Of a conversation digests are kept, 16 bytes for each item.
- The first event that is an error is a reply with its status; a later one is an event of the stream.
- A whole answer is the response of the event that ends the turn.

Source: vendor page "WebSocket mode" (OpenAI), read 2026-11-23.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from interlingua.errors import DecodeError, Error
from interlingua.wire.http import HttpReply
from interlingua.wire.json import decode_any, encode
from interlingua.wire.sse import encode_event

if TYPE_CHECKING:
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["Latest", "Turn", "turn_of"]

Members: TypeAlias = dict[str, Any]

LOST = frozenset({"previous_response_not_found"})
"""The codes that say that a response cannot be gone on from."""
TOO_OLD = "websocket_connection_limit_reached"
"""The code that asks for a new connection."""
_STREAM = (("content-type", "text/event-stream"),)
_JSON = (("content-type", "application/json"),)
_OVER = frozenset({"response.completed", "response.incomplete", "response.failed", "error"})
_KEPT = frozenset({"response.completed", "response.incomplete"})
_HTTP_ALONE = frozenset({"stream", "stream_options", "background"})
_CONTINUES = frozenset({"previous_response_id", "conversation"})
_LOOSE = frozenset({"id", "status"})
_ANY_NULLS = 1 << 20


class Latest(msgspec.Struct, frozen=True):
    """The response that a connection can go on from."""

    response_id: str
    """The id of its latest response."""
    model: str
    """The model that gave it."""
    digests: tuple[bytes, ...]
    """Digests of everything that was said up to it, it included."""


class Turn:
    """One request, and what came for it."""

    def __init__(self, members: Members, *, is_stream: bool) -> None:
        """A turn that has not begun; `members` are those of the body."""
        self._members = members
        self._is_stream = is_stream
        items = members.get("input")
        message: Members = {"role": "user", "content": items}
        self._items: list[object] = cast("list[object]", items) if isinstance(items, list) else [message]
        self._places = [
            (place, digest) for place, item in enumerate(self._items) if (digest := _digest(item)) is not None
        ]
        self._error: Members = {}
        self._response: Members | None = None
        self._kind = ""
        self.is_continued: bool = False
        """Whether the turn was sent as the continuation of a response."""
        self.is_over: bool = False
        """Whether the event that ends it has come."""

    def fits(self, latest: Latest | None) -> int:
        """How many digests of the latest response this conversation begins with; 0 where it does not go on from it."""
        if latest is None or latest.model != self._members.get("model") or not _CONTINUES.isdisjoint(self._members):
            return 0
        count = len(latest.digests)
        begins = tuple([digest for _, digest in self._places[:count]])
        return count if begins == latest.digests and len(self._places) > count else 0

    def event(self, latest: Latest | None) -> bytes:
        """The event that is sent on a connection with that latest response."""
        count = self.fits(latest)
        self.is_continued, self._error = count > 0, {}
        body = {name: value for name, value in self._members.items() if name not in _HTTP_ALONE}
        if latest is not None and count:
            begin = self._places[count - 1][0] + 1
            body |= {"previous_response_id": latest.response_id, "input": self._items[begin:]}
        return encode({"type": "response.create", **body}, nulls=_ANY_NULLS)

    def take(self, text: bytes) -> bytes:
        """The piece of a stream that an event is.

        Raises: DecodeError for what is no event.
        """
        event = decode_any(text)
        kind = cast("Members", event).get("type") if isinstance(event, dict) else None
        if not isinstance(kind, str) or "\n" in kind or "\r" in kind:
            raise DecodeError("an event of a WebSocket without a type", status=502)
        self._kind = kind
        if kind in _OVER:
            self.is_over = True
            fields = cast("Members", event)
            response = fields.get("response")
            self._response = cast("Members", response) if isinstance(response, dict) else None
            self._error = fields if kind == "error" else {}
        return encode_event(text, event=kind)

    @property
    def error_code(self) -> str:
        """The code of the error that the turn ended in; empty for none."""
        error = self._error.get("error")
        code = cast("Members", error).get("code") if isinstance(error, dict) else None
        return code if isinstance(code, str) else ""

    @property
    def refusal(self) -> HttpReply | None:
        """The reply of HTTP that the error of a turn stands for; None where there is no error with a status."""
        status, members = self._error.get("status"), self._error.get("headers")
        if not isinstance(status, int) or not 400 <= status <= 599:
            return None
        headers: Headers = ()
        if isinstance(members, dict):
            pairs = cast("Members", members).items()
            headers = tuple([(name.lower(), value) for name, value in pairs if isinstance(value, str)])
        body = encode({"error": self._error.get("error")}, nulls=_ANY_NULLS)
        return HttpReply(status=status, headers=headers + _JSON, body=body)

    def reply(self) -> HttpReply:
        """The whole reply to a turn that is over.

        Raises: DecodeError where it ended in an event without a response.
        """
        refusal = self.refusal
        if refusal is not None:
            return refusal
        if self._response is None:
            raise DecodeError(f"the event {self._kind[:60]!r} ended a turn without a response", status=502)
        return HttpReply(status=200, headers=_JSON, body=encode(self._response, nulls=_ANY_NULLS))

    @property
    def latest(self) -> Latest | None:
        """The response that its connection can go on from now; None after a turn that failed."""
        response = self._response
        if self._kind not in _KEPT or response is None or not _CONTINUES.isdisjoint(self._members):
            return None
        output, response_id = response.get("output"), response.get("id")
        if not isinstance(output, list) or not isinstance(response_id, str):
            return None
        answered = [digest for item in cast("list[object]", output) if (digest := _digest(item)) is not None]
        digests = (*[digest for _, digest in self._places], *answered)
        return Latest(response_id, str(self._members.get("model")), digests)

    @property
    def headers(self) -> Headers:
        """The headers of its reply, as a stream."""
        return _STREAM

    @property
    def is_stream(self) -> bool:
        """Whether the request asks for a stream."""
        return self._is_stream


def turn_of(request: HttpRequest) -> Turn | None:
    """The turn that a request can be; None for any other request, which HTTP carries."""
    path = request.url.partition("?")[0]
    if request.method != "POST" or request.dialect != "openai-responses" or not path.endswith("/responses"):
        return None
    try:
        members = decode_any(request.body)
    except Error:
        return None
    if not isinstance(members, dict) or cast("Members", members).get("background"):
        return None
    body = cast("Members", members)
    return Turn(body, is_stream=body.get("stream") is True)


# What is compared


def _digest(item: object) -> bytes | None:
    """The digest of what an item says; None for reasoning, which is not compared."""
    if not isinstance(item, dict):
        return _hashed(item)
    members = cast("Members", item)
    kind = members.get("type") or "message"
    if kind == "reasoning":
        return None
    hashable = {name: value for name, value in members.items() if name not in _LOOSE}
    hashable["type"] = kind
    if kind == "message":
        content = members.get("content")
        parts = cast("list[object]", content) if isinstance(content, list) else [{"type": "text", "text": content}]
        hashable["content"] = [_part(part) for part in parts]
    return _hashed(hashable)


def _part(part: object) -> object:
    if not isinstance(part, dict):
        return part
    members = cast("Members", part)
    if members.get("type") in ("text", "input_text", "output_text"):
        return members.get("text")
    return members


def _hashed(value: object) -> bytes:
    return blake2b(encode(value, sort_keys=True, nulls=_ANY_NULLS), digest_size=16).digest()
