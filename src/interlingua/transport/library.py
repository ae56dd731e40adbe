"""An HTTP library (httpx) behind the transport seam: HTTP/2, SOCKS and TLS proxies, unusual networks.

It costs some twenty times the processor time of our own transport, so nothing uses it unless it is handed in:
`LibraryTransport()` for `Transport`, `AsyncLibraryTransport()` for `AsyncTransport`, either with a client of one's own.
Needs the extra: `pip install 'interlingua[http]'`.

Rules
- Of a client of one's own the connections, proxies, certificates, hooks and plain headers count; its redirects,
  time-outs, cookies and base URL do not. One that has a credential is refused: it would send that to every host.
- Redirects are those of our own transport: 307 and 308 within the origin, three at most.
- The library reads proxies from the environment of the process by itself.
- The library does not tell how TLS ended, so a body without a length that was cut off looks whole;
  with our own transport it is an error.
- The library has no time-out for the whole, so the whole is checked between two pieces; its read time-out serves for
  the first byte and for idle times, whichever is longer.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from interlingua.errors import APIConnectionError, ConfigError, UsageError
from interlingua.transport.body import Body, begin_body
from interlingua.transport.http1 import encode_request
from interlingua.transport.options import MAX_REDIRECTS, HttpOptions
from interlingua.transport.problems import Deadlines, connecting_failed
from interlingua.transport.url import parse_url, redirected
from interlingua.wire.http import header

try:
    import httpx
except ImportError as _error:
    raise ConfigError("the library transport needs the [http] extra: pip install 'interlingua[http]'") from _error

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, Iterator

    from interlingua.errors import Phase
    from interlingua.transport.base import AsyncReply, Reply, Timeouts
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["AsyncLibraryTransport", "LibraryTransport"]

_FLAWED = (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError)


class _Exchange:
    """The shared half of the blocking and the awaited face: one reply of the library, and the end of its time."""

    def __init__(self, reply: httpx.Response, deadlines: Deadlines, peer: str, options: HttpOptions) -> None:
        self._reply = reply
        self._deadlines = deadlines
        self._peer = peer
        self._closed = False
        raw: Headers = tuple(
            (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in reply.headers.raw
        )
        # The library looks up its patience when a body begins: until then it was that for the first byte.
        reply.request.extensions["timeout"] = {**_patience(deadlines.timeouts), "read": deadlines.timeouts.idle_s}
        self.status: int = reply.status_code
        self._body: Body
        self.headers: Headers
        self._body, self.headers = begin_body(raw, peer, options.max_body_bytes)
        if reply.request.method == "HEAD" or self.status in (204, 304):
            self._body, self.headers = Body(peer), raw

    def _check_time(self) -> None:
        now = time.monotonic()
        at, phase = self._deadlines.by("total", now)
        if at <= now:
            raise self._deadlines.passed(phase)

    def _take(self) -> bytes:
        if self._closed and not self._body.finished:
            raise APIConnectionError("this reply was closed before its end", retryable=False)
        return self._body.take()

    def _feed(self, piece: bytes | None) -> None:
        if piece is None:
            self._body.end()
        else:
            self._body.feed(piece)


class _Reply(_Exchange):
    def __init__(self, reply: httpx.Response, deadlines: Deadlines, peer: str, options: HttpOptions) -> None:
        super().__init__(reply, deadlines, peer, options)
        self._pieces: Iterator[bytes] = reply.iter_raw()

    def read(self) -> bytes:
        try:
            data = self._take()
            while not data and not self._body.finished:
                self._check_time()
                self._feed(next(self._pieces, None))
                data = self._take()
        except _FLAWED as error:
            self.close()
            raise _translated(error, self._deadlines, self._peer, "idle") from error
        except BaseException:
            self.close()
            raise
        return data

    def close(self) -> None:
        self._closed = True
        self._reply.close()


class _AsyncReply(_Exchange):
    def __init__(self, reply: httpx.Response, deadlines: Deadlines, peer: str, options: HttpOptions) -> None:
        super().__init__(reply, deadlines, peer, options)
        self._pieces = cast("AsyncGenerator[bytes]", reply.aiter_raw())

    async def read(self) -> bytes:
        try:
            data = self._take()
            while not data and not self._body.finished:
                self._check_time()
                self._feed(await anext(self._pieces, None))
                data = self._take()
        except _FLAWED as error:
            await self.close()
            raise _translated(error, self._deadlines, self._peer, "idle") from error
        except BaseException:
            await self.close()
            raise
        return data

    async def close(self) -> None:
        self._closed = True
        await self._pieces.aclose()  # else the loop would do it in a task of its own
        await self._reply.aclose()


def _translated(error: Exception, deadlines: Deadlines, peer: str, phase: Phase) -> Exception:
    """Our error for one of the library."""
    match error:
        case httpx.ConnectTimeout():
            return deadlines.passed("connect")
        case httpx.PoolTimeout():
            return deadlines.passed("pool")
        case httpx.TimeoutException():
            return deadlines.passed(phase)
        case httpx.ConnectError():
            # What the operating system or TLS said, the library keeps as the cause of the cause.
            system_error: OSError | None = None
            cause: BaseException | None = error
            while cause is not None:
                system_error = cause if isinstance(cause, OSError) else system_error
                cause = cause.__cause__ or cause.__context__
            return connecting_failed(system_error or OSError("check its address and the network"), peer)
        case httpx.ProxyError():
            return APIConnectionError(f"the proxy refused to lead to {peer}: check its address and credential")
        case httpx.InvalidURL() | httpx.LocalProtocolError() | httpx.UnsupportedProtocol():
            return ConfigError(f"the request to {peer} cannot be sent as HTTP: check its method and headers")
        case _:
            return APIConnectionError(
                f"{peer} broke the connection before the reply was whole ({type(error).__name__})"
            )


def _limits(options: HttpOptions) -> httpx.Limits:
    return httpx.Limits(max_connections=options.max_connections, keepalive_expiry=options.keep_alive_s)


def _verify(options: HttpOptions) -> ssl.SSLContext:
    from interlingua.transport.tls import tls_context

    context = tls_context(options)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


_OF_THE_CONNECTION = frozenset({"accept-encoding", "connection", "host", "content-length", "transfer-encoding"})
_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key", "x-goog-api-key"})


def _plain_headers(client: httpx.Client | httpx.AsyncClient) -> Headers:
    """The headers of a client of the caller's own, for requests that do not say the same.

    Raises: UsageError for a credential.
    """
    raw = [(name.lower().decode("latin-1"), value.decode("latin-1")) for name, value in client.headers.raw]
    credentials = [name for name, _ in raw if name in _CREDENTIALS]
    if client.auth is not None or credentials:
        raise UsageError(
            f"the httpx client sends a credential of its own ({', '.join(credentials) or 'auth'}), to every host: keys "
            "belong to providers, as in il.register_provider(…, key=…), or to headers={…} of a model"
        )
    return tuple([(name, value) for name, value in raw if name not in _OF_THE_CONNECTION])


def _patience(timeouts: Timeouts) -> dict[str, float | None]:
    """The library's waits until the first byte."""
    return httpx.Timeout(timeouts.first_byte_s, connect=timeouts.connect_s, pool=timeouts.pool_s).as_dict()


def _wrapped(request: HttpRequest, url: str, timeouts: Timeouts, further: Headers) -> httpx.Request:
    """The request as the library wants it, with those `further` headers that it does not have itself.

    Raises: ConfigError for what our own transport refuses, too.
    """
    encode_request(request, parse_url(url))
    merged = {**dict(further), **dict(request.headers)} if further else dict(request.headers)
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in merged.items()]
    return httpx.Request(
        request.method, url, headers=headers, content=request.body, extensions={"timeout": _patience(timeouts)}
    )


def _beyond(url: str, reply: _Reply | _AsyncReply) -> str | None:
    return redirected(url, reply.status, header(reply.headers, "location")) if reply.status >= 300 else None


class LibraryTransport:
    """Opens exchanges through the library, blocking."""

    def __init__(
        self, options: HttpOptions | None = None, *, http2: bool = True, client: httpx.Client | None = None
    ) -> None:
        """A transport with `options`, over HTTP/2 where the server offers it; or over a `client` of the caller's own.

        Raises: UsageError for a client that sends a credential of its own.
        """
        self._options = options or HttpOptions()
        self._own = client is None
        self._headers = () if client is None else _plain_headers(client)
        self._client = client or httpx.Client(http2=http2, verify=_verify(self._options), limits=_limits(self._options))

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        """The reply to `request`, its headers read and its body not yet.

        Raises: ConfigError, APIConnectionError, APITimeoutError, LimitExceededError.
        """
        url = request.url
        peer = parse_url(url).origin.peer
        deadlines = Deadlines(timeouts, peer, time.monotonic())
        reply = self._ask(request, url, timeouts, deadlines)
        for _ in range(MAX_REDIRECTS):
            there = _beyond(url, reply)
            if there is None:
                break
            reply.close()
            url = there
            reply = self._ask(request, url, timeouts, deadlines)
        return reply

    def _ask(self, request: HttpRequest, url: str, timeouts: Timeouts, deadlines: Deadlines) -> _Reply:
        peer = parse_url(url).origin.peer
        wrapped = _wrapped(request, url, timeouts, self._headers)
        try:
            reply = self._client.send(wrapped, stream=True, auth=None, follow_redirects=False)
        except _FLAWED as error:
            raise _translated(error, deadlines, peer, "first_byte") from error
        except RuntimeError as error:
            raise UsageError(f"the httpx client cannot send to {peer}: {error}") from error
        try:
            return _Reply(reply, deadlines, peer, self._options)
        except BaseException:
            reply.close()
            raise

    def close(self) -> None:
        """Close every connection, unless the client is the caller's; the transport cannot be used again."""
        if self._own:
            self._client.close()


class AsyncLibraryTransport:
    """Opens exchanges through the library, awaited; it belongs to the event loop of its first call."""

    def __init__(
        self, options: HttpOptions | None = None, *, http2: bool = True, client: httpx.AsyncClient | None = None
    ) -> None:
        """A transport with `options`, over HTTP/2 where the server offers it; or over a `client` of the caller's own.

        Raises: UsageError for a client that sends a credential of its own.
        """
        self._options = options or HttpOptions()
        self._own = client is None
        self._headers = () if client is None else _plain_headers(client)
        self._client = client or httpx.AsyncClient(
            http2=http2, verify=_verify(self._options), limits=_limits(self._options)
        )

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        """The reply to `request`, its headers read and its body not yet.

        Raises: ConfigError, APIConnectionError, APITimeoutError, LimitExceededError.
        """
        url = request.url
        peer = parse_url(url).origin.peer
        deadlines = Deadlines(timeouts, peer, time.monotonic())
        reply = await self._ask(request, url, timeouts, deadlines)
        for _ in range(MAX_REDIRECTS):
            there = _beyond(url, reply)
            if there is None:
                break
            await reply.close()
            url = there
            reply = await self._ask(request, url, timeouts, deadlines)
        return reply

    async def _ask(self, request: HttpRequest, url: str, timeouts: Timeouts, deadlines: Deadlines) -> _AsyncReply:
        peer = parse_url(url).origin.peer
        wrapped = _wrapped(request, url, timeouts, self._headers)
        try:
            reply = await self._client.send(wrapped, stream=True, auth=None, follow_redirects=False)
        except _FLAWED as error:
            raise _translated(error, deadlines, peer, "first_byte") from error
        except RuntimeError as error:
            raise UsageError(f"the httpx client cannot send to {peer}: {error}") from error
        try:
            return _AsyncReply(reply, deadlines, peer, self._options)
        except BaseException:
            await reply.aclose()
            raise

    async def close(self) -> None:
        """Close every connection, unless the client is the caller's; the transport cannot be used again."""
        if self._own:
            await self._client.aclose()
