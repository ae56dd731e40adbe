"""What type checkers must know about errors, HTTP values and deadlines. Read by pyright and mypy, never run."""

from __future__ import annotations

from typing import assert_type

from interlingua.errors import (
    APITimeoutError,
    DecodeError,
    Error,
    IncompleteStreamError,
    OutputError,
    RateLimitError,
    redact,
)
from interlingua.transport.base import AsyncTransport, Reply, Timeouts, Transport
from interlingua.wire.http import HttpReply, HttpRequest, header


def facts_of_every_error(error: Error) -> None:
    """Each fact has one type, and what may be unknown is optional."""
    assert_type(error.retryable, bool)
    assert_type(error.retry_after_s, float | None)
    assert_type(error.status, int | None)
    assert_type(error.request_id, str | None)
    assert_type(error.message, str)


def facts_of_some_errors(error: Exception) -> str:
    """Catching a class gives its own facts."""
    match error:
        case RateLimitError():
            assert_type(error.retry_after_s, float | None)
        case DecodeError():
            assert_type(error.path, str)
        case APITimeoutError(phase="connect" | "idle" as phase):
            return phase
        case OutputError():
            return error.fault
        case IncompleteStreamError(partial=None):
            return "nothing came"
        case _:
            pass
    return redact(str(error), "secret")


def one_exchange(transport: Transport) -> HttpReply:
    """A transport opens an exchange whose body is read piece by piece."""
    request = HttpRequest(url="http://localhost/", headers=(("accept", "text/plain"),))
    reply = transport.open(request, Timeouts(connect_s=None, total_s=5.0))
    assert_type(reply, Reply)
    assert_type(reply.read(), bytes)
    assert_type(header(reply.headers, "content-type"), str | None)
    return HttpReply(status=reply.status, headers=reply.headers)


async def one_awaited_exchange(transport: AsyncTransport) -> bytes:
    """The same, awaited."""
    reply = await transport.open(HttpRequest(url="http://localhost/"), Timeouts())
    try:
        return await reply.read()
    finally:
        await reply.close()
