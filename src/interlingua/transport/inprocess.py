"""A transport that answers inside this process: it decodes what a client sends, asks a function, encodes its answer.

Strategy: whatever dialect a request speaks, its own server role reads it and writes the answer, whole or streamed as
the request wants it. So one function in canonical terms stands for a server of every dialect.

Rules
- An answer is a response, a stream of events, or an error; one that the provider would have sent (`UpstreamError`)
  becomes an error reply, any other is raised.
- A stream that ends without a terminal event, or in a transport error, is cut there: the client sees a broken stream.
- Nothing blocks and nothing sleeps, so that `AsyncAdapter` may run it on an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, TypeAlias

from interlingua.dialects._contract import DecodedRequest, DecodeOptions, Dialect, ServerContext
from interlingua.dialects.table import get_dialect, get_embedding, get_reranking, stream_type
from interlingua.errors import (
    BadRequestError,
    ConfigError,
    Error,
    HistoryError,
    IncompleteStreamError,
    UpstreamError,
    WireError,
)
from interlingua.providers.fake_vectors import fake_ranking, fake_vectors
from interlingua.stream.fold import fold
from interlingua.stream.unfold import unfold
from interlingua.transport.base import AsyncReply, Reply, Timeouts, Transport
from interlingua.types.event import Event, StreamEnd
from interlingua.types.response import Response
from interlingua.types.vectors import Embeddings, EmbedRequest, Ranking, RerankRequest
from interlingua.wire.http import Headers, HttpReply, HttpRequest

__all__ = ["Answer", "Answerer", "AsyncAdapter", "InProcessTransport", "WholeReply"]

Answer: TypeAlias = Response[Any] | Error | Iterable[Event]
"""The answers that a function may give."""
Answerer: TypeAlias = Callable[[DecodedRequest, HttpRequest], Answer]
"""Answers one request: what it asks in canonical terms, and as it came."""


class InProcessTransport:
    """Answers every request by a function, blocking."""

    def __init__(
        self,
        answer: Answerer,
        *,
        created: int = 0,
        embed: Callable[[EmbedRequest], Embeddings] = fake_vectors,
        rerank: Callable[[RerankRequest], Ranking] = fake_ranking,
    ) -> None:
        """A transport over `answer`; `created` is the Unix time that answers tell, 0 for none.

        `embed` and `rerank` make vectors and an order of documents.
        """
        self._answer, self._embed, self._rerank = answer, embed, rerank
        self._created = created
        self._numbers = count(1)

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:  # noqa: ARG002 - nothing here takes time
        """The reply that the function's answer makes in the request's own dialect.

        Raises: ConfigError for a request that names no dialect; any error of the answer that is no `UpstreamError`.
        """
        if request.dialect is None:
            raise ConfigError("a request that names no dialect cannot be answered inside the process")
        from urllib.parse import urlsplit  # 4 ms that only who answers inside the process pays for

        dialect, path = get_dialect(request.dialect), urlsplit(request.url).path
        if vectors := self._vectors(dialect, request, path):
            return vectors
        try:
            decoded = dialect.decode_request(request, DecodeOptions())
        except (HistoryError, WireError) as error:
            # To a server, a body that breaks the format is the client's fault, not an upstream's.
            refusal = BadRequestError(error.message, status=400)
            return WholeReply(dialect.encode_error(refusal, ServerContext()))
        context = ServerContext(
            model=decoded.model,
            created=self._created,
            make_id=lambda: f"answer-{next(self._numbers)}",
            json_array=decoded.json_array,
            enum_text=decoded.enum_text,
            path=path,
        )
        try:
            answer = self._answer(decoded, request)
        except (UpstreamError, IncompleteStreamError) as error:
            answer = error
        return _reply(dialect, answer, context, stream=decoded.stream)

    def _vectors(self, dialect: Dialect, request: HttpRequest, path: str) -> Reply | None:
        """The reply to a request for vectors or an order of documents, made up; None for any other one.

        Raises: any error of the function that is no `UpstreamError`.
        """
        embedding, reranking = get_embedding(dialect.name), get_reranking(dialect.name)
        context = ServerContext(path=path)
        try:
            if embedding is not None and path.endswith(embedding.ends):
                decoded = embedding.decode_request(request)
                context = ServerContext(model=decoded.model, path=path)
                return WholeReply(embedding.encode_response(self._embed(decoded.request), decoded, context))
            if reranking is not None and path.endswith(reranking.ends):
                ranking = reranking.decode_request(request)
                context = ServerContext(model=ranking.model, path=path)
                return WholeReply(reranking.encode_response(self._rerank(ranking.request), ranking, context))
        except WireError as error:
            return WholeReply(dialect.encode_error(BadRequestError(error.message, status=400), context))
        except UpstreamError as error:
            return WholeReply(dialect.encode_error(error, context))
        return None

    def close(self) -> None:
        """Nothing: there is nothing open."""


def _reply(dialect: Dialect, answer: Answer, context: ServerContext, *, stream: bool) -> Reply:
    if stream and isinstance(answer, IncompleteStreamError):
        partial = answer.partial  # what had come before the stream was cut
        answer = () if partial is None else [event for event in unfold(partial) if not isinstance(event, StreamEnd)]
    if isinstance(answer, Error):
        return _error_reply(dialect, answer, context)
    if stream:
        events = unfold(answer) if isinstance(answer, Response) else iter(answer)
        return _StreamReply(_pieces(dialect, events, context), stream_type(dialect.name, json_array=context.json_array))
    try:
        whole = answer if isinstance(answer, Response) else fold(answer)
    except UpstreamError as error:
        return _error_reply(dialect, error, context)
    return WholeReply(dialect.encode_response(whole, context))


def _error_reply(dialect: Dialect, error: Error, context: ServerContext) -> Reply:
    if not isinstance(error, UpstreamError):
        raise error
    return WholeReply(dialect.encode_error(error, context))


def _pieces(dialect: Dialect, events: Iterator[Event], context: ServerContext) -> Iterator[bytes]:
    encoder = dialect.stream_encoder(context)
    for event in events:
        if piece := encoder.encode(event):
            yield piece


class WholeReply:
    """A whole answer that was made in this process, read in one piece."""

    def __init__(self, reply: HttpReply) -> None:
        """A reply of which nothing was read."""
        self.status: int = reply.status
        """The HTTP status."""
        self.headers: Headers = reply.headers
        """Its headers."""
        self._body = reply.body

    def read(self) -> bytes:
        """The body; nothing the second time."""
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        """Nothing more is read."""
        self._body = b""


class _StreamReply:
    def __init__(self, pieces: Iterator[bytes], kind: str) -> None:
        self.status: int = 200
        self.headers: Headers = (("content-type", kind),)
        self._pieces = pieces

    def read(self) -> bytes:
        return next(self._pieces, b"")

    def close(self) -> None:
        self._pieces = iter(())


class AsyncAdapter:
    """Awaits a blocking transport that never blocks, such as one that answers inside the process."""

    def __init__(self, transport: Transport) -> None:
        """The awaited face of `transport`."""
        self._transport = transport

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        """The reply of the transport."""
        return _AsyncReply(self._transport.open(request, timeouts))

    async def close(self) -> None:
        """Close the transport."""
        self._transport.close()


class _AsyncReply:
    def __init__(self, reply: Reply) -> None:
        self.status: int = reply.status
        self.headers: Headers = reply.headers
        self._reply = reply

    async def read(self) -> bytes:
        return self._reply.read()

    async def close(self) -> None:
        self._reply.close()
