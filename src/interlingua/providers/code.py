"""Providers in code: objects that answer requests as values, in this process.

Shape: `generate` takes an `il.Request` and an `il.ProviderCall` and gives an `il.Response`; `stream` takes the same and
gives the events of a stream, from `StreamStart` to `StreamEnd`. Either may be `async def`, or an (async) generator. One
of the two is enough: a whole answer is streamed as its events, and a stream is read to its end.

Not responsible for: how it is asked (`transport.code`), and under which name (`registry`).
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Iterable
from typing import Any, Protocol, TypeAlias

import msgspec

from interlingua.types.event import Event
from interlingua.types.request import Request
from interlingua.types.response import Response

__all__ = ["CodeProvider", "GeneratingProvider", "ProviderCall", "StreamingProvider"]


class ProviderCall(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a call, beside the request, for a provider in code."""

    model: str
    """The name of the model: what stands behind the first slash of a spec."""
    provider: str
    """The name of the provider: what stands before it."""
    timeout_s: float | None = None
    """Seconds that are left for the whole answer; None for no bound."""


class GeneratingProvider(Protocol):
    """A provider in code that gives whole answers."""

    def generate(self, request: Request, call: ProviderCall, /) -> Response[Any] | Awaitable[Response[Any]]:
        """The whole answer to a request."""
        ...


class StreamingProvider(Protocol):
    """A provider in code that gives the events of answers."""

    def stream(
        self, request: Request, call: ProviderCall, /
    ) -> Iterable[Event] | AsyncIterable[Event] | Awaitable[AsyncIterable[Event]]:
        """The answer to a request as the events of a stream."""
        ...


CodeProvider: TypeAlias = GeneratingProvider | StreamingProvider
"""A provider in code."""
