"""A recorded request again, without a network: its upstreams answer what they answered.

Strategy: a gateway of its own gets the request as it came, or told in another dialect. An upstream that is asked in
the dialect of the recording gives the recorded bytes; in another one, what they mean is told in that dialect.

Rules
- Upstreams answer in the order of the recording, each target its own answers; one that is asked more often than it
  was recorded fails, as it would if nobody were there.
- A recording that was cut ends there again.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import DEFAULT_DIALECT, get_dialect, get_service
from interlingua.errors import APIConnectionError, ConfigError, Error, IncompleteStreamError
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayRequest
from interlingua.gateway.settings import GatewaySettings
from interlingua.providers.rows import ROWS
from interlingua.registry.resolve import Registry
from interlingua.stream.fold import error_of
from interlingua.transport.inprocess import AsyncAdapter, InProcessTransport
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from interlingua.types.capability import Capability
from interlingua.types.event import StreamEnd, StreamError
from interlingua.wire.http import HttpReply, HttpRequest, header

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodedRequest
    from interlingua.gateway.records.cassettes import Played
    from interlingua.gateway.records.record import Passage
    from interlingua.transport.base import AsyncReply, Timeouts
    from interlingua.transport.inprocess import Answer
    from interlingua.types.response import Response
    from interlingua.wire.http import Headers

__all__ = ["Replayed", "meaning_of", "replayed", "request_in"]

_ALL: frozenset[Capability] = frozenset(get_args(Capability))
_FAILED = 400


class Replayed(NamedTuple):
    """The result of a recorded request, this time."""

    status: int
    """The status that the client would have got."""
    headers: Headers
    """The headers."""
    body: bytes
    """The whole body."""
    requests: tuple[HttpRequest, ...]
    """The requests to upstreams, in order."""


async def replayed(played: Played, dialect: str) -> Replayed:
    """The result of a recorded request in a dialect, from the recorded upstreams.

    Raises: ConfigError for a recording that holds no whole request; DecodeError for a body that the client's dialect
    cannot read, which only matters when it is to be told in another one.
    """
    request = request_in(played, dialect)
    upstreams = _Upstreams(played.content.passages)
    override = Override(lambda _: ReplayTransport(), lambda _: upstreams, answers=True)
    with overriding(override):
        # Names stand as they did: the model for the targets that were asked, each with a provider of its dialect.
        passages = played.content.passages
        environ: dict[str, str] = {}
        for passage in passages:
            provider = passage.target.partition("/")[0]
            if provider and provider not in ROWS:
                name = passage.dialect or DEFAULT_DIALECT
                scheme = get_service(name).scheme or name
                environ[f"LLM_{provider.replace('-', '_').upper()}"] = f"{scheme}://replay@replay.invalid"
        registry = Registry(environ)
        targets = [spec for spec in dict.fromkeys(passage.target for passage in passages) if spec]
        if targets and targets != [played.model] and "," not in played.model:
            with suppress(ConfigError):  # a name that is a spec already stands for itself
                registry.register_alias(played.model, ", ".join(targets))
        gateway = Gateway(GatewaySettings(), registry=registry)
        reply = await gateway(request)
        pieces = [reply.body] if isinstance(reply.body, bytes) else [piece async for piece in reply.body]
        await gateway.close()
    return Replayed(reply.status, reply.headers, b"".join(pieces), tuple(upstreams.requests))


def request_in(played: Played, dialect: str) -> GatewayRequest:
    """A recorded request as a client of a dialect would send it.

    Raises: as `replayed`.
    """
    content = played.content
    if dialect == played.client:
        own = tuple([pair for pair in content.headers if pair[0] not in _NOT_AGAIN])
        return GatewayRequest(
            method=content.method,
            path=content.path,
            query=content.query,
            headers=own,
            body=content.body,
            peer="127.0.0.1",
        )
    url = f"{content.path}?{content.query}" if content.query else content.path
    came = HttpRequest(method=content.method, url=url, headers=content.headers, body=content.body)
    decoded = get_dialect(played.client).decode_request(came, DecodeOptions(history="mend"))
    options = EncodeOptions(
        target=Target(model=played.model),
        stream=played.stream,
        stream_usage=True,
        allow=_ALL,
        history="mend",
    )
    encoded = get_dialect(dialect).encode_request(decoded.request, options)
    path, _, query = f"{get_service(dialect).base_path}{encoded.path}".partition("?")
    headers = (("content-type", "application/json"), *encoded.headers)
    return GatewayRequest(path=path, query=query, headers=headers, body=encoded.body, peer="127.0.0.1")


_NOT_AGAIN = frozenset({"host", "origin", "content-length", "content-encoding", "transfer-encoding", "traceparent"})
"""Headers that belong to the way the request came, or to how its body was packed."""


class _Upstreams:
    """Answers what was recorded."""

    def __init__(self, passages: tuple[Passage, ...]) -> None:
        self._left = list(passages)
        self.requests: list[HttpRequest] = []

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        self.requests.append(request)
        passage = next((one for one in self._left if one.target == request.target), None)
        if passage is None:
            passage = self._left[0] if self._left else None
        if passage is None:
            raise APIConnectionError(f"{request.target} was not asked again when this was recorded", retryable=False)
        self._left.remove(passage)
        if passage.status == 0:
            raise APIConnectionError(f"{passage.target} gave no reply when this was recorded", retryable=False)
        if passage.dialect in {request.dialect, ""}:
            cut = APIConnectionError("the recording ends here", retryable=False)
            pieces, ending = (passage.body,) if passage.body else (), None if passage.is_whole else cut
            line = Line(status=passage.status, headers=passage.headers, pieces=pieces, ending=ending)
            return await AsyncReplayTransport(line).open(request, timeouts)
        return await AsyncAdapter(InProcessTransport(partial(_meant, passage))).open(request, timeouts)

    async def close(self) -> None:
        pass


def _meant(passage: Passage, decoded: DecodedRequest, request: HttpRequest) -> Answer:  # noqa: ARG001 - the form of one who answers
    return meaning_of(passage.dialect, passage.status, passage.headers, passage.body)


def meaning_of(dialect: str, status: int, headers: Headers, body: bytes) -> Response[Any] | Error:
    """The meaning of a recorded reply, as a response or as an error."""
    codec, context = get_dialect(dialect), DecodeContext()
    reply = HttpReply(status=status, headers=headers, body=body)
    if status >= _FAILED:
        return codec.decode_error(reply, context)
    kind = (header(headers, "content-type") or "").partition(";")[0].strip()
    if kind != codec.service.stream_type:
        return codec.decode_response(reply, context)
    decoder = codec.stream_decoder(context)
    events = [*decoder.feed(body), *decoder.close()]
    match events[-1] if events else None:
        case StreamEnd(response=response):
            return response
        case StreamError() as error:
            return error_of(error)
        case _:
            return IncompleteStreamError("the recording ends before its end")
