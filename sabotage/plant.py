"""A loss, planted in one function of a dialect: the dialect that is returned loses something there, and only there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from msgspec.structs import replace

from interlingua.dialects._contract import Dialect, StreamDecoder, StreamEncoder
from interlingua.errors import Error, UnsupportedError
from interlingua.types.change import Change
from interlingua.types.event import Event, StreamEnd, StreamError
from sabotage.requests import Spoil

__all__ = ["FUNCTIONS", "planted"]


def planted(dialect: Dialect, function: str, spoil: Spoil) -> Dialect:
    """`dialect`, except that what passes through `function` loses something."""
    wrap = FUNCTIONS[function]
    return replace(dialect, **{function: wrap(getattr(dialect, function), spoil)})


def _read_request(real: Callable[..., Any], spoil: Spoil) -> Callable[..., Any]:
    def decode(request: Any, options: Any) -> Any:
        decoded = real(request, options)
        return replace(decoded, request=spoil(decoded.request))

    return decode


def _first(real: Callable[..., Any], spoil: Spoil) -> Callable[..., Any]:
    """A function whose first argument is spoiled."""
    return lambda value, context: real(spoil(value), context)


def _after(real: Callable[..., Any], spoil: Spoil) -> Callable[..., Any]:
    """A function whose result is spoiled, and the error that it raises, if it is one of ours."""
    return lambda value, context: spoil(real(value, context))


class _Decoder:
    """Gives the spoiled events when the stream has ended."""

    def __init__(self, inner: StreamDecoder, spoil: Spoil) -> None:
        self.inner = inner
        self.spoil = spoil
        self.events: list[Event] = []

    @property
    def terminal(self) -> bool:
        return self.inner.terminal

    @property
    def ended(self) -> bool:
        return self.inner.ended

    def feed(self, data: bytes) -> list[Event]:
        self.events += self.inner.feed(data)
        return []

    def close(self) -> list[Event]:
        return list(self.spoil([*self.events, *self.inner.close()]))

    def fail(self, error: Error) -> list[Event]:
        return list(self.spoil([*self.events, *self.inner.fail(error)]))


class _Encoder:
    """Writes the spoiled events when the last one came."""

    def __init__(self, inner: StreamEncoder, spoil: Spoil) -> None:
        self.inner = inner
        self.spoil = spoil
        self.events: list[Event] = []

    def encode(self, event: Event) -> bytes:
        self.events.append(event)
        if not isinstance(event, StreamEnd | StreamError):
            return b""
        return b"".join([self.inner.encode(one) for one in self.spoil(self.events)])


def _stream_decoder(real: Callable[..., Any], spoil: Spoil) -> Callable[..., Any]:
    return lambda context: cast("StreamDecoder", _Decoder(real(context), spoil))


def _stream_encoder(real: Callable[..., Any], spoil: Spoil) -> Callable[..., Any]:
    return lambda context: _Encoder(real(context), spoil)


FUNCTIONS: dict[str, Callable[[Callable[..., Any], Spoil], Callable[..., Any]]] = {
    "decode_request": _read_request,
    "encode_request": _first,
    "decode_response": _after,
    "encode_response": _first,
    "stream_decoder": _stream_decoder,
    "stream_encoder": _stream_encoder,
    "decode_error": _after,
    "encode_error": _first,
}
"""How each function of a dialect is spoiled."""


def refusing(code: str, path: str) -> Spoil:
    """A loss of everything: what would be sent is refused, with a reason that sounds right."""

    def spoil(_: Any) -> Any:
        raise UnsupportedError("refused", changes=(Change("refused", code, path),))

    return spoil
