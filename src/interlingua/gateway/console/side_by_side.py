"""One request in every dialect, side by side; and the answer to it, where its content was kept. Nothing is sent.

Shape: `{"dialect": …, "request": …}`, `model` beside it where the dialect names that in the path; or `{"id": …}` of a
request that the console shows, where content is kept. The answer holds `dialect`, `model`, `request` and, where there
is one, `answer`: a list with `dialect`, `path`, `body`, `changes` and `error` of each dialect.

Rules
- It is the translation itself, as it is for a target of which nothing is known but its dialect; `/explain` tells what a
  certain target gets.
- In its own dialect it is shown as it came, and says so (`as_it_came`); an answer too, unless it was streamed.
- A dialect that cannot say it is shown with its refusal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import DIALECTS, get_dialect, get_service
from interlingua.errors import Error, NotFoundError, UnsupportedError
from interlingua.gateway.calls.reading import read_object
from interlingua.gateway.console.health import JSON
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.serving.registration import found_by_all
from interlingua.gateway.surfaces.explaining import ANY_NULLS, path_of, request_in
from interlingua.types.event import StreamEnd
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodedRequest
    from interlingua.gateway.console.access import Access
    from interlingua.gateway.console.feed import Feed
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.records.record import Content
    from interlingua.gateway.serving.peers import Peers
    from interlingua.types.change import Change
    from interlingua.types.response import Response

__all__ = ["SideBySide"]


class SideBySide(msgspec.Struct, frozen=True, kw_only=True):
    """Requests in every dialect, for the page."""

    access: Access
    """The rights of those who look."""
    feed: Feed
    """The last requests."""
    peers: Peers | None
    """The other workers."""

    async def answer(self, request: GatewayRequest) -> GatewayReply:
        """The request in every dialect.

        Raises: DecodeError, HistoryError for what is no request of its dialect; NotFoundError for an id of which no
        content is kept.
        """
        viewer = self.access.viewer_of(request)
        members = read_object(request.body)
        name = members.get("id")
        if name is not None:
            record = await found_by_all(self.feed, self.peers, str(name), viewer)
            if record is None or record.content is None or not self.feed.has_content:
                raise NotFoundError("the content of this request is not kept, or not any more", status=404)
            content = record.content
            url = f"{content.path}?{content.query}" if content.query else content.path
            return _both_sides(record.client, url, content.body, content)
        dialect, body = request_in(members)
        return _both_sides(dialect, path_of(dialect, str(members.get("model") or "model")), body, None)


def _both_sides(dialect: str, url: str, body: bytes, content: Content | None) -> GatewayReply:
    options = DecodeOptions(history=get_service(dialect).history)
    decoded = get_dialect(dialect).decode_request(HttpRequest(url=url, body=body), options)
    response = None if content is None else _answer_of(dialect, content)
    members: dict[str, Any] = {
        "dialect": dialect,
        "model": decoded.model,
        "changes": decoded.changes,
        "request": [
            _as_it_came(name, body) if name == dialect else _side(name, _as_request(name, decoded)) for name in DIALECTS
        ],
    }
    if content is not None and response is not None:
        own = dialect if _is_whole_json(content) else ""
        members["answer"] = [
            _as_it_came(name, content.reply_body) if name == own else _side(name, _as_answer(name, decoded, response))
            for name in DIALECTS
        ]
    return GatewayReply(headers=JSON, body=encode(members, nulls=ANY_NULLS))


def _as_it_came(name: str, body: bytes) -> dict[str, Any]:
    return {"dialect": name, "body": msgspec.Raw(body), "changes": (), "as_it_came": True}


def _is_whole_json(content: Content) -> bool:
    return dict(content.reply_headers).get("content-type", "").startswith("application/json")


def _side(name: str, translate: Callable[[], tuple[bytes, tuple[Change, ...]]]) -> dict[str, Any]:
    """The dialect's version of it, or the reason of its refusal."""
    try:
        body, changes = translate()
    except Error as error:
        refused = error.changes if isinstance(error, UnsupportedError) else ()
        return {"dialect": name, "error": error.message, "changes": refused}
    return {"dialect": name, "body": msgspec.Raw(body), "changes": changes}


def _as_request(name: str, decoded: DecodedRequest) -> Callable[[], tuple[bytes, tuple[Change, ...]]]:
    def encode_form() -> tuple[bytes, tuple[Change, ...]]:
        target = Target(model=decoded.model)
        options = EncodeOptions(target=target, stream=decoded.stream, stream_usage=decoded.stream, history="mend")
        encoded = get_dialect(name).encode_request(decoded.request, options)
        return encoded.body, encoded.changes

    return encode_form


def _as_answer(
    name: str, decoded: DecodedRequest, response: Response[Any]
) -> Callable[[], tuple[bytes, tuple[Change, ...]]]:
    def encode_form() -> tuple[bytes, tuple[Change, ...]]:
        changes: list[Change] = []
        context = ServerContext(
            model=decoded.model,
            request=decoded.request,
            enum_text=decoded.enum_text,
            path=get_service(name).asked_at,
            changes=changes,
        )
        return get_dialect(name).encode_response(response, context).body, tuple(changes)

    return encode_form


def _answer_of(dialect: str, content: Content) -> Response[Any] | None:
    """The answer, read back from what the client got; None where it was an error, or is not whole."""
    try:
        if _is_whole_json(content):
            reply = HttpReply(status=200, headers=content.reply_headers, body=content.reply_body)
            return get_dialect(dialect).decode_response(reply, DecodeContext())
        decoder = get_dialect(dialect).stream_decoder(DecodeContext())
        events = [*decoder.feed(content.reply_body), *decoder.close()]
    except Error:
        return None
    return next((event.response for event in events if isinstance(event, StreamEnd)), None)
