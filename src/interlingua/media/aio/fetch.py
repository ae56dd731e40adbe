"""Media from the web, awaited: the driver of `media.fetch` on asyncio."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from interlingua.errors import Error
from interlingua.media.fetch import MAX_FETCHED_BYTES, TIMEOUT_S, Fetched, Head, Terms, Way, steps, timeouts

if TYPE_CHECKING:
    from collections.abc import Collection

    from interlingua.media.fetch import Steps
    from interlingua.transport.base import AsyncReply
    from interlingua.types.content import Cache

__all__ = ["carry_out", "fetch"]


async def fetch(
    url: str,
    *,
    allow_http: bool = False,
    allow_private: bool = False,
    allow_ports: Collection[int] = (),
    max_bytes: int = MAX_FETCHED_BYTES,
    timeout_s: float = TIMEOUT_S,
    detail: str | None = None,
    cache: Cache | None = None,
) -> Fetched:
    """The part that the content of a URL makes: an image, audio or a document.

    It must be `https`, lead to public addresses on port 443 or 80, and hold no credential, at every redirect anew;
    `allow_http`, `allow_private` (your own network, loopback included) and `allow_ports` say otherwise. At most
    `max_bytes` are taken, inflated, in at most `timeout_s` seconds.

    Raises: UsageError for a URL that may not be fetched, an answer without what was asked for, and content of no known
    kind; LimitExceededError, APITimeoutError, APIConnectionError, and UpstreamError for a server that fails.
    """
    terms = Terms(allow_http, allow_private, frozenset(allow_ports), max_bytes, timeout_s, detail, cache)
    return await carry_out(steps(url, terms), terms, Way())


async def carry_out(steps: Steps, terms: Terms, way: Way) -> Fetched:
    """The result of the steps."""
    from interlingua.transport.aio import HttpTransport

    options, network = way.transport_terms(terms)
    transport = HttpTransport(options, network=network)
    loop = asyncio.get_running_loop()
    at = loop.time() + terms.timeout_s
    reply: AsyncReply | None = None
    try:
        effect = next(steps)
        while True:
            try:
                if effect is None:
                    result: object = await reply.read() if reply is not None else b""
                else:
                    if reply is not None:
                        await reply.close()
                    reply = await transport.open(effect, timeouts(at - loop.time()))
                    result = Head(reply.status, reply.headers)
            except Error as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as done:
        return done.value
    finally:
        if reply is not None:
            await reply.close()
        await transport.close()
