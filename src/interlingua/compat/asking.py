"""One call from a body in the caller's dialect to an answer in it; written once for both faces.

Strategy: the dialect's server role reads the body and writes the answer, the client's call lies between them.

Rules
- A body may hold the objects that earlier answers gave, and pydantic models; a member that is None is not said.
- Members that are not known travel to targets of the same dialect, and are an entry in `changes` for any other.
- The answer shows the provider's own model id and its own id of the answer; where it gives none, one is made.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import msgspec

from interlingua.client.web.sse import answer_ids, source_of
from interlingua.compat.body import Body
from interlingua.dialects._contract import DecodeOptions, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import UsageError
from interlingua.types.event import StreamEnd, StreamStart
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode
from interlingua.wire.sse import SseDecoder

if TYPE_CHECKING:
    from interlingua.client.call.values import Call
    from interlingua.compat.account import Account
    from interlingua.dialects._contract import Dialect, StreamEncoder
    from interlingua.types.change import Change
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["BodyWriter", "PreparedCall", "ask", "body_of", "plain", "whole"]

Members: TypeAlias = dict[str, Any]


class PreparedCall(NamedTuple):
    """One call, read."""

    call: Call
    """The call of the client."""
    dialect: Dialect
    """The caller's dialect."""
    context: ServerContext
    """How the answer is to be written."""
    changes: tuple[Change, ...]
    """The changes of reading the body."""


def ask(name: str, members: Mapping[str, object], account: Account, output: object = None) -> PreparedCall:
    """The call that a body in the dialect `name` asks for, as a value of the type `output` where that is given.

    Raises: DecodeError with the place for a bad body; UsageError and its kinds.
    """
    dialect = get_dialect(name)
    http = HttpRequest(url="https://localhost/", body=body_of(members))
    decoded = dialect.decode_request(http, DecodeOptions())
    options = members.get("stream_options")
    wants_usage = isinstance(options, Mapping) and cast("Mapping[str, object]", options).get("include_usage") is True
    with_usage = name != "openai-chat" or wants_usage
    context = ServerContext(created=int(time.time()), make_id=answer_ids(name), stream_usage=with_usage)
    return PreparedCall(account.call(name, decoded.model, decoded.request, output), dialect, context, decoded.changes)


def body_of(members: Mapping[str, object]) -> bytes:
    """The JSON text of a body, without members that say nothing.

    Raises: UsageError for what is no JSON, with its place.
    """
    body = {key: plain(value, key) for key, value in members.items() if not _is_unsaid(value)}
    return encode(body, nulls=len(body))


def whole(prepared: PreparedCall, response: Response[Any]) -> tuple[Members, tuple[Change, ...]]:
    """The body of a whole answer, and every change on the way there and back."""
    changes: list[Change] = []
    context = msgspec.structs.replace(
        prepared.context, source=source_of(prepared.call.targets, response.model), changes=changes
    )
    body = prepared.dialect.encode_response(response, context).body
    return cast("Members", decode_any(body)), (*prepared.changes, *response.changes, *changes)


class BodyWriter:
    """Turns the events of one answer into the bodies of a stream in the caller's dialect."""

    def __init__(self, prepared: PreparedCall) -> None:
        """A writer that has written nothing."""
        self._call = prepared
        self._encoder: StreamEncoder | None = None
        self._frames = SseDecoder()
        self._changes: list[Change] = []
        self.response: Response[Any] | None = None
        """The canonical answer, once it is whole."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of translation so far; complete at the end."""
        answered = self.response.changes if self.response else ()
        return (*self._call.changes, *answered, *self._changes)

    def tell(self, event: Event) -> list[Members]:
        """The bodies that an event adds."""
        if isinstance(event, StreamEnd):
            self.response = event.response
        if self._encoder is None:
            source = source_of(self._call.call.targets, event.model if isinstance(event, StreamStart) else "")
            context = msgspec.structs.replace(self._call.context, source=source, changes=self._changes)
            self._encoder = self._call.dialect.stream_encoder(context)
        frames = self._frames.feed(self._encoder.encode(event))
        return [cast("Members", decode_any(frame.data)) for frame in frames if frame.data != b"[DONE]"]


def _is_unsaid(value: object) -> bool:
    """Whether a member says nothing; the SDK has values of its own for that."""
    return value is None or type(value).__name__ in {"NotGiven", "Omit"}


def plain(value: object, where: str) -> object:
    """`value` as JSON: dicts, lists, texts and numbers as they are, objects of answers as the members they have.

    Raises: UsageError for what is none of these, with its place.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Body):
        return value.to_dict()
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value).items()
        return {
            name: plain(member, f"{where}.{name}")
            for name, member in members
            if member is None or not _is_unsaid(member)
        }
    if not isinstance(value, type) and hasattr(value, "model_dump"):
        return cast("Any", value).model_dump(mode="json", exclude_unset=True, by_alias=True)
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | type):
        items = cast("Iterable[object]", value)
        return [plain(item, f"{where}[{place}]") for place, item in enumerate(items)]
    hint = "; a type belongs in parse(…)" if isinstance(value, type) else ""
    raise UsageError(f"{where}: {value!r:.60} is no JSON{hint}")
