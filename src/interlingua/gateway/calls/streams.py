"""A streamed answer on its way to a client: the bytes of its dialect, signs of life, and one end.

Rules
- A stream ends once: with the dialect's own end, or with its own error; nothing comes after either.
- Who sends it may put `keep_alive` between two pieces while nothing comes.
- It is not to be cached, buffered or compressed on its way.
- Left in the middle, it closes the upstream at once.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.client.aio.pump import AsyncPump
from interlingua.client.call.relay import PausingOutcome
from interlingua.dialects._reply_head import read_reply_head
from interlingua.dialects.table import stream_type
from interlingua.errors import APIConnectionError, Error, MalformedArgumentsError, UnsupportedError
from interlingua.gateway.calls.passing_stream import PassedStream, is_broken
from interlingua.gateway.calls.replies import (
    cut_off,
    kept_headers,
    limit_headers,
    own_fault,
    trail_headers,
    with_way_out,
    wording,
)
from interlingua.gateway.calls.sending import Sending
from interlingua.gateway.http import Closing, GatewayReply
from interlingua.providers.price import cost_usd
from interlingua.registry.prices import price_of
from interlingua.stream.build import stream_error
from interlingua.transport.override import answers_alone
from interlingua.types.change import first_changes
from interlingua.types.event import StreamEnd, StreamError
from interlingua.wire.sse import STREAM_HEADERS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from interlingua.client.call.live import Live
    from interlingua.client.call.values import Call
    from interlingua.dialects._contract import ServerContext, StreamEncoder
    from interlingua.gateway.calls.exchange import ClientExchange
    from interlingua.gateway.http import Sink
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["InFlightStream", "streamed"]


class InFlightStream:
    """One stream under way."""

    pump: AsyncPump[None]
    """The pump that drives it."""

    def __init__(self, exchange: ClientExchange) -> None:
        """A stream that has not begun."""
        self.exchange: ClientExchange = exchange
        """The exchange that it answers."""
        self.sending: Sending = Sending(exchange)
        """The call that it is the answer of."""
        self.outcome: PausingOutcome = PausingOutcome(exchange.dialect.name)
        """Its outcome."""
        self._sink: Sink | None = None

    @property
    def live(self) -> Live:
        """The upstream's side of it, once it has begun."""
        return self.sending.live

    def pour_into(self, sink: Sink) -> None:
        """Give what comes to a sink, where it arrives."""
        self._sink = sink

    @property
    def is_poured(self) -> bool:
        """Whether somebody is given what comes where it arrives."""
        return self._sink is not None

    def following(
        self, take: Callable[[Sink, list[Event]], list[Event] | None]
    ) -> Callable[[], Awaitable[list[Event] | None]]:
        """The function that gives the next events; with a sink those that `take` does not take."""
        sink = self._sink
        return self.pump.pull if sink is None else partial(self.pump.pour, partial(take, sink))

    def context(self) -> ServerContext:
        """How it is written in the client's dialect."""
        return self.exchange.context(self.live.target.dialect.name)

    def encoder(self) -> StreamEncoder:
        """The encoder in the client's dialect."""
        return self.exchange.dialect.stream_encoder(self.context())

    async def keep(self, response: Response[Any], *, is_translated: bool) -> None:
        """Settle the call, and keep what the client's next request may need."""
        await self.exchange.settle(self.outcome.last or response, self.live.target)
        if is_translated:
            await self.exchange.remember(response)
        await self.exchange.keep(response, self.live.target)

    async def close(self) -> None:
        """Close the upstream, and settle a call that was left before its end."""
        await self.pump.close()
        exchange = self.exchange
        if exchange.reservation is not None and exchange.reservation.counts:
            if self.sending.is_opening:
                await exchange.settle_failed(asyncio.CancelledError())
            last = self.outcome.last
            await exchange.settle(last or self.came, self.live.target, is_partial=last is None)

    async def finish(self) -> None:
        """Close the upstream, and write down what the stream came to."""
        try:
            await self.close()
        finally:
            exchange, entry = self.exchange, self.exchange.http.entry
            if entry is not None:
                came = self.came or self.outcome.before
                sent = () if self.outcome.response is not None else self.live.encoded.changes
                answer_changes = () if came is None else came.changes
                if isinstance(self.live, PassedStream) and not self.live.is_encoded:  # the client has what came
                    answer_changes = tuple([change for change in answer_changes if change.stage != "decode_response"])
                entry.answered(came, first_changes((*exchange.read_changes, *sent, *answer_changes, *exchange.changes)))
                entry.cost_usd = None if came is None else _cost(self, came)

    def went(self) -> None:
        """A piece went to the client: who leaves after the last one has the whole answer."""
        if self.outcome.response is not None and self.exchange.http.entry is not None:
            self.exchange.http.entry.sent()

    @cached_property
    def came(self) -> Response[Any] | None:
        """The response up to the end, the failure or the leaving of the stream; it is over once this was asked for."""
        came, decoder = self.outcome.response or self.outcome.partial, self.live.decoder
        if came is None and decoder is not None and not decoder.terminal:
            last = decoder.fail(APIConnectionError("left by the client"))[-1:]
            came = next((event.partial for event in last if isinstance(event, StreamError)), None)
        return came


async def streamed(exchange: ClientExchange, call: Call) -> GatewayReply:
    """The reply of a stream, as soon as there are first events.

    Raises: what a call raises before them.
    """
    stream = InFlightStream(exchange)
    steps = stream.sending.stream(call, stream.outcome)
    stream.pump = AsyncPump(steps if exchange.hooking is None else exchange.hooking.through(stream.outcome, steps))
    try:
        events = await stream.pump.pull()
    except UnsupportedError as error:
        raise with_way_out(error) from error
    try:
        return _reply(stream, events or [])
    except BaseException:
        await stream.pump.close()
        raise


def _reply(stream: InFlightStream, events: list[Event]) -> GatewayReply:
    """The reply of a stream that has begun with `events`."""
    exchange, live = stream.exchange, stream.live
    name = exchange.dialect.name
    if isinstance(live, PassedStream):
        body = _relayed(stream, live)
        limits = kept_headers(live.headers)
    else:
        body = _translated(stream, events)
        rate_limits = read_reply_head(live.headers)[1]
        limits = limit_headers(name, rate_limits) if rate_limits else ()
    headers = (
        ("content-type", stream_type(name, json_array=exchange.head.json_array)),
        *STREAM_HEADERS,
        *limits,
        *trail_headers(stream.sending.attempts, (*exchange.read_changes, *live.encoded.changes)),
        *(() if exchange.hooking is None else exchange.hook_headers),
    )
    if exchange.http.entry is not None:
        exchange.http.entry.first()
        exchange.http.entry.tried(stream.sending.attempts)
    pieces = _signed(stream, body)
    return GatewayReply(
        headers=headers,
        body=pieces,
        keep_alive=exchange.dialect.service.keep_alive(exchange.http.path, exchange.head.model),
    )


def _signed(stream: InFlightStream, body: AsyncGenerator[bytes]) -> Closing:
    """A body of whole frames, its ids signed where they are."""
    sign = stream.exchange.signing(stream.live.target)
    if sign is None:
        return Closing(body, stream.close, stream.pour_into)

    async def pieces() -> AsyncGenerator[bytes]:
        async with aclosing(body):
            async for piece in body:
                yield sign(piece)

    return Closing(pieces(), stream.close, lambda sink: stream.pour_into(lambda data: sink(sign(data))))


async def _translated(stream: InFlightStream, events: list[Event]) -> AsyncGenerator[bytes]:
    encoder, outcome = stream.encoder(), stream.outcome
    encode_event = encoder.encode
    batch: list[Event] | None = stream.exchange.shown_events(events, stream.live.target)
    opens = stream.live.is_opening(events)
    shows_all = stream.exchange.changes_calls
    following = stream.pump.pull if shows_all else stream.following(partial(_written, outcome, encode_event))
    begins = stream.is_poured  # then the first piece is waited for, though it may be empty
    try:
        while batch is not None:
            if outcome.response is not None:  # before its last bytes: the next request may come with them
                await stream.keep(outcome.response, is_translated=True)
            if outcome.response is not None or shows_all:
                batch = stream.exchange.shown_events(batch, stream.live.target)
            if outcome.response is not None or outcome.partial is not None:
                batch = _last(batch)
            data = b"".join([encode_event(event) for event in batch])
            if opens:
                data, opens = data + encoder.opening(), False
            if data or not batch or begins:  # a sink that takes no more is waited for here
                yield data
                stream.went()
                begins = False
            batch = await following()
    except Error as error:
        yield encode_event(_failure(stream, error))
    except asyncio.CancelledError as cancelled:
        yield encode_event(
            _failure(stream, cut_off(cancelled, is_ending=stream.exchange.conversations.lifecycle.is_ending))
        )
    except Exception as error:  # noqa: BLE001 - a fault of ours must end the stream as an error of its dialect
        yield _own_failure(stream, error)
    finally:
        await stream.finish()


def _last(batch: list[Event]) -> list[Event]:
    """The last events of an answer; where an error follows them, without the calls that are broken."""
    if batch and isinstance(batch[-1], StreamEnd):
        return batch
    return [event for event in batch if not is_broken(event)]


def _written(
    outcome: PausingOutcome, encode_event: Callable[[Event], bytes], sink: Sink, batch: list[Event]
) -> list[Event] | None:
    """Events that a sink did not take: those of the end, before which is awaited; an empty list when it is full."""
    if outcome.response is not None or outcome.partial is not None:
        return batch
    data = encode_event(batch[0]) if len(batch) == 1 else b"".join([encode_event(event) for event in batch])
    return None if not data or sink(data) else []


def _cost(stream: InFlightStream, came: Response[Any]) -> float | None:
    """The cost of an answer, also of one that was left before its end."""
    if came.cost_usd is not None or came.usage is None:
        return came.cost_usd
    endpoint = stream.live.target.endpoint
    price = price_of(endpoint, (came.wire_model, endpoint.model), None, is_asked=not answers_alone())
    return None if price is None else cost_usd(price, came.usage)


async def _relayed(stream: InFlightStream, live: PassedStream) -> AsyncGenerator[bytes]:
    following = stream.following(partial(_passed_on, stream, live))
    batch: list[Event] | None = []
    try:
        while batch is not None:
            data = live.take_bytes(stream.context)
            if data or not batch:  # as above
                yield data
                stream.went()
            batch = await following()
        response = stream.outcome.response
        rest = live.take_bytes(stream.context)
        if response is not None:
            await stream.keep(response, is_translated=False)
            if live.is_encoded:
                rest += live.encoder(stream.context).encode(StreamEnd(response))
        if rest:
            yield rest
            stream.went()
    except Error as error:
        yield _break_off(stream, live, error)
    except asyncio.CancelledError as cancelled:
        yield _break_off(stream, live, cut_off(cancelled, is_ending=stream.exchange.conversations.lifecycle.is_ending))
    except Exception as error:  # noqa: BLE001 - as above
        yield _own_failure(stream, error)
    finally:
        await stream.finish()


def _passed_on(stream: InFlightStream, live: PassedStream, sink: Sink, batch: list[Event]) -> list[Event] | None:
    """As `_written`, of the frames that were read."""
    if stream.outcome.response is not None:
        return batch
    data = live.take_bytes(stream.context)
    return None if not data or sink(data) else []


def _break_off(stream: InFlightStream, live: PassedStream, error: Error) -> bytes:
    """The rest of a stream that was passed on, and the dialect's error behind it."""
    rest = live.take_bytes(stream.context)
    return rest + live.encoder(stream.context).encode(_failure(stream, error))


def _own_failure(stream: InFlightStream, error: Exception) -> bytes:
    """The dialect's error for a fault of ours."""
    return stream.encoder().encode(_failure(stream, own_fault(error), beside=False))


def _failure(stream: InFlightStream, error: Error, *, beside: bool = True) -> StreamError:
    """The event of an error that ends a stream; what came is beside it, unless that would be sent as a finish."""
    if stream.exchange.http.entry is not None:
        stream.exchange.http.entry.failed(error)
    came = stream.outcome.response or stream.outcome.partial
    hides = isinstance(error, MalformedArgumentsError) and not stream.exchange.dialect.service.keeps_broken
    event = stream_error(error, came if beside and not hides else None)
    return replace(event, message=wording(stream.exchange.dialect.name, error))
