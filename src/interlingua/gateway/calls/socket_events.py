"""Responses over a WebSocket as texts: the event of a client as the body of a POST, a reply as events.

Rules
- `response.create` is the body of `POST /v1/responses` with a `type`. What concerns HTTP alone (`stream`,
  `stream_options`) is replaced: the reply is a stream.
- Every event of the stream is one text; what no stream is, is one `error` event with the status and the headers that
  HTTP would have had.
- Other events, several conversations on one connection (`stream_id`) and answers in the background are refused by name.

Source: vendor page "WebSocket mode" (OpenAI), Open Responses specification of 2026-04-24, read 2026-11-23.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlingua.errors import BadRequestError
from interlingua.wire.body import body_with
from interlingua.wire.json import decode_any, encode
from interlingua.wire.sse import DONE

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayReply
    from interlingua.wire.body import Body
    from interlingua.wire.sse import SseEvent

__all__ = ["CREATE", "FAILED", "error_event", "posted", "texts_of"]

CREATE = "response.create"
"""The event that asks for a response."""
FAILED = frozenset({"error", "response.failed"})
"""The events of a response that failed."""
_EDITS: dict[str, bytes | None] = {"type": None, "generate": None, "stream": b"true", "stream_options": None}
_ONE_AFTER_THE_OTHER = "responses come one after the other here: open a connection for each conversation"
_ANY_NULLS = 1 << 20


def posted(event: Body) -> Body:
    """The body of a POST that asks what an event of a client asks.

    Raises: BadRequestError for any other event than `response.create`, and for what is not served over a WebSocket.
    """
    kind = event.get("type")
    if kind != CREATE:
        shown = f"{kind[:60]!r} is" if isinstance(kind, str) else "an event without a type is"
        raise BadRequestError(
            f"/type: {shown} not known here; `{CREATE}` asks for a response", status=400, code="unknown_event"
        )
    if event.get("stream_id") is not None:
        raise BadRequestError(f"/stream_id: {_ONE_AFTER_THE_OTHER}", status=400, code="unsupported_parameter")
    if event.get("background"):
        raise BadRequestError(
            "/background: an answer in the background is asked for by POST, not over a WebSocket",
            status=400,
            code="unsupported_parameter",
        )
    return body_with(event, _EDITS)


def texts_of(events: list[SseEvent]) -> list[bytes]:
    """The texts of events of a stream; its `[DONE]` is none."""
    return [event.data for event in events if event.data != DONE]


def error_event(reply: GatewayReply) -> bytes:
    """The event of a reply that is no stream: an error, with its status and its headers."""
    body = cast("dict[str, Any]", decode_any(reply.body if isinstance(reply.body, bytes) else b"{}"))
    event: dict[str, Any] = {
        "type": "error",
        "status": reply.status,
        "error": body.get("error"),
        "headers": {name: value for name, value in reply.headers if not name.startswith("content-")},
    }
    return encode(event, nulls=_ANY_NULLS)
