"""A bridge: whole exchanges between a client of one dialect and a service of another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast, get_args
from urllib.parse import quote

import msgspec

from interlingua.codec.service import body_of, service_of
from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import UsageError, check_text, kind_of
from interlingua.stream.build import stream_error
from interlingua.stream.failure import malformed_call
from interlingua.types.capability import CallIds, Capability, HistoryPolicy
from interlingua.types.content import BrokenToolCall, ToolCall, ToolResult
from interlingua.types.event import BlockEnd, StreamEnd
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from interlingua.dialects._contract import Dialect, StreamDecoder, StreamEncoder
    from interlingua.providers.row import Provider
    from interlingua.types._base import JsonObject
    from interlingua.types.change import Change
    from interlingua.types.content import Part
    from interlingua.types.event import Event
    from interlingua.types.message import Message
    from interlingua.types.request import Request
    from interlingua.wire.http import Headers

__all__ = ["Bridge", "bridge"]

_CALL_PARTS = (ToolCall, BrokenToolCall)


class Bridge:
    """A translator for one client and one service, one exchange after the other: request, then response or stream."""

    def __init__(
        self,
        source: Dialect,
        target: str | None,
        *,
        provider: str | Provider | None,
        model: str | None,
        allow: frozenset[Capability],
        history: HistoryPolicy,
        call_ids: CallIds,
        make_id: Callable[[], str] | None,
    ) -> None:
        """A bridge that has seen nothing yet; `bridge` makes one by the names of the dialects."""
        self._source = source
        self._names = target, provider
        self._service = service_of(target, provider, model or "")
        self._target = self._service.dialect
        self._model = model
        self._allow = allow
        self._history: HistoryPolicy = history
        self._make_id = make_id
        self._make_call_id = _OwnIds() if call_ids == "own" else None
        self._provider_ids: dict[str, str] = {}
        self._context = DecodeContext()
        self._changes: list[Change] = []
        self._server = ServerContext(source=self._target.name, make_id=make_id, changes=self._changes)
        self._path = ""
        self._headers: Headers = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of translation in the exchange at hand, there and back; a stream's are complete at its end."""
        return tuple(self._changes)

    @property
    def path(self) -> str:
        """The path behind the service's base URL for the last request, such as `/messages`; empty before the first."""
        return self._path

    @property
    def headers(self) -> Headers:
        """The headers that dialect and provider want for the last request, aside from the credential; lower case."""
        return self._headers

    def request(self, body: JsonObject, *, path: str = "") -> JsonObject:
        """The body for the service that a client's body stands for.

        `path` is what the client asked for; only Google's and Ollama's say something there that the body does not: the
        model, whether to stream, the older form. Without it the model of a Google body is the bridge's, not streamed.

        Raises: DecodeError, with the first bad place; HistoryError; UnsupportedError.
        """
        service, place = self._source.service, path
        if not path and service.model_in_path:
            place = service.asked_at.format(model=quote(self._model or "unknown", safe="/@-._~"))
        url = f"https://localhost{place}"
        decoded = self._source.decode_request(
            HttpRequest(url=url, body=encode(body)), DecodeOptions(history=self._history)
        )
        options: object = body.get("stream_options")
        with_usage = not service.usage_if_asked or (
            isinstance(options, dict) and cast("JsonObject", options).get("include_usage") is True
        )
        target_service = self._service if self._model else service_of(*self._names, decoded.model)
        encode_options = EncodeOptions(
            target=target_service.target,
            stream=decoded.stream,
            stream_usage=with_usage or (target_service.row is not None and decoded.stream),
            allow=self._allow,
            history=self._history,
        )
        encoded = target_service.encode(_renamed(decoded.request, self._provider_ids), encode_options)
        self._changes = [*decoded.changes, *encoded.changes]
        self._context = DecodeContext(
            target=target_service.target, undo=encoded.undo, make_id=self._make_call_id, provider_ids=self._provider_ids
        )
        self._path = encoded.path
        self._headers = (*encoded.headers, *(() if target_service.row is None else target_service.row.headers))
        self._server = ServerContext(
            model=decoded.model,
            make_id=self._make_id,
            stream_usage=with_usage,
            source=self._target.name,
            json_array=decoded.json_array,
            enum_text=decoded.enum_text,
            path=path,
            changes=self._changes,
        )
        return body_of(encoded)

    def response(self, body: JsonObject) -> JsonObject:
        """The body for the client that the service's answer to the last request stands for.

        Raises: DecodeError, with the first bad place; UpstreamError, for an error in a body that came with status 200.
        """
        response = self._target.decode_response(HttpReply(status=200, body=encode(body)), self._context)
        self._changes += response.changes
        reply = self._source.encode_response(response, self._server)
        return cast("JsonObject", decode_any(reply.body))

    def stream(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The bytes for the client that the service's stream stands for, as they come and however they are cut.

        A stream that breaks off ends with an error in the client's dialect, and so does one with a call whose arguments
        are not one JSON object: its client had pieces of it, and would run what it makes of them. What `chunks` itself
        raises goes through.
        """
        decoder, encoder = self._target.stream_decoder(self._context), self._source.stream_encoder(self._server)
        keeps_broken = self._source.service.keeps_broken
        return _encode_events(_events(decoder, chunks), encoder, self._changes, keeps_broken=keeps_broken)


class _OwnIds:
    """Makes ids of our own: `call_` and 24 letters and digits, the same ones for every bridge."""

    def __init__(self) -> None:
        self._made = 0

    def __call__(self) -> str:
        """The next id."""
        from hashlib import sha256  # 4 ms: only who wants own ids pays for it

        self._made += 1
        return f"call_{sha256(b'%d' % self._made).hexdigest()[:24]}"


def _renamed(request: Request, ids: Mapping[str, str]) -> Request:
    """The request with the provider's ids of calls and results in place of ours, each at most once.

    A provider that began its ids anew with every turn gets the later ones as ours: they are different.
    """
    if not ids:
        return request
    call_ids = {part.id for message in request.messages for part in message.parts if isinstance(part, _CALL_PARTS)}
    names: dict[str, str] = {}
    for own in [own for own in ids if own in call_ids]:
        if ids[own] not in names.values():
            names[own] = ids[own]
    messages = tuple([_with_ids(message, names) for message in request.messages])
    return msgspec.structs.replace(request, messages=messages)


def _with_ids(message: Message, names: Mapping[str, str]) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        match part:
            case ToolCall(id=own) | BrokenToolCall(id=own) if own in names:
                parts.append(msgspec.structs.replace(part, id=names[own]))
            case ToolResult(call_id=own) if own in names:
                parts.append(msgspec.structs.replace(part, call_id=names[own]))
            case _:
                parts.append(part)
    return msgspec.structs.replace(message, parts=tuple(parts))


def _encode_events(
    events: Iterable[Event], encoder: StreamEncoder, changes: list[Change], *, keeps_broken: bool
) -> Iterator[bytes]:
    """The bytes of a stream; a call that cannot be run does not end, and an error stands in the finish's place."""
    for event in events:
        if isinstance(event, BlockEnd) and isinstance(event.part, BrokenToolCall) and event.part.reason != "cut_off":
            continue
        sent = event
        if isinstance(event, StreamEnd):
            changes += event.response.changes
            if (error := malformed_call(event.response)) is not None:
                sent = stream_error(error, event.response if keeps_broken else None)
        if data := encoder.encode(sent):
            yield data


def _events(decoder: StreamDecoder, chunks: Iterable[bytes]) -> Iterator[Event]:
    for chunk in chunks:
        if not isinstance(chunk, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]  # as above
            raise UsageError(f"a stream comes in pieces of bytes, and this one is {kind_of(chunk)}")
        yield from decoder.feed(chunk)
        if decoder.ended:
            return
    yield from decoder.close()


def bridge(
    source: str,
    target: str | None = None,
    *,
    provider: str | Provider | None = None,
    model: str | None = None,
    allow: Iterable[Capability] = (),
    history: HistoryPolicy = "refuse",
    call_ids: CallIds = "keep",
    make_id: Callable[[], str] | None = None,
) -> Bridge:
    """A bridge between a client that speaks the dialect `source` and a service that speaks `target`.

    With `provider`, a name or an `il.Provider`, the service is that provider's, and is sent what a model of the library
    sends it; `target` then only chooses among the dialects that it speaks. `model` is the service's own model id;
    without it the client's name of the model goes on. `allow` names what may be let go instead of refused, `history`
    says what becomes of calls and results that do not pair, and `make_id` gives an id to an answer whose service gave
    none: without it such an answer has no id. A bridge reads no clock, so an answer has a time only where its service
    said it in the client's own dialect. With `call_ids="own"` the client gets ids of ours, of one form whatever the
    service's look like; the bridge remembers which stands for which, and the service gets its own back.

    Raises: ConfigError, for a name that is no dialect or provider, and for a dialect that the provider does not speak;
    UsageError, for another word that is not known.
    """
    check_text(source, "a dialect is named by a text, such as 'anthropic'")
    if not isinstance(allow, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
        raise UsageError(f"allow takes {', '.join(get_args(Capability))}, not {kind_of(allow)}")
    allowed = frozenset((allow,) if isinstance(allow, str) else allow)
    _expect_words("allow", allowed, Capability)
    _expect_words("history", (history,), HistoryPolicy)
    _expect_words("call_ids", (call_ids,), CallIds)
    return Bridge(
        get_dialect("openai-chat" if source == "openai" else source),
        target,
        provider=provider,
        model=model,
        allow=cast("frozenset[Capability]", allowed),
        history=history,
        call_ids=call_ids,
        make_id=make_id,
    )


def _expect_words(option: str, words: Iterable[str], kind: Any) -> None:
    choices = get_args(kind)
    for word in words:
        if word not in choices:
            raise UsageError(f"{option} takes {', '.join(choices)}, not {word!r}")
