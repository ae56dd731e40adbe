"""Where the requests for a URL go, found once: its origin, the proxy in between, and the head of the latest request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.transport.http1 import encode_head, with_length
from interlingua.transport.proxies import proxy_for
from interlingua.transport.url import parse_url

if TYPE_CHECKING:
    from interlingua.transport.options import Environment
    from interlingua.transport.proxies import Proxy
    from interlingua.transport.url import Origin, Target
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["Route", "Routes"]

_JOIN_BYTES = 262_144
_MAX_ROUTES = 512


class Route:
    """The way to one URL."""

    __slots__ = ("_latest", "_target", "origin", "peer", "proxy")

    def __init__(self, target: Target, proxy: Proxy | None) -> None:
        """The way to `target`, through `proxy`."""
        self._target = target
        self._latest: tuple[Headers | None, str, bytes] = (None, "", b"")
        self.origin: Origin = target.origin
        """Who to connect to."""
        self.peer: str = target.origin.peer
        """Its name in errors."""
        self.proxy: Proxy | None = proxy
        """What stands in between."""

    def written(self, request: HttpRequest) -> tuple[bytes, bytes]:
        """What is sent: the head with the body, and a body that is too large to be joined.

        Raises: ConfigError for a method, name or value that does not fit into a head.
        """
        headers, method, head = self._latest
        if headers is not request.headers or method != request.method:
            head = self._head(request)
            self._latest = (request.headers, request.method, head)
        body = request.body
        if 0 < len(body) <= _JOIN_BYTES:
            return b"%bcontent-length: %d\r\n\r\n%b" % (head, len(body), body), b""
        return with_length(head, request.method, body), body

    def _head(self, request: HttpRequest) -> bytes:
        proxy = self.proxy
        if proxy is None or self.origin.secure:
            return encode_head(request, self._target)
        return encode_head(request, self._target, absolute=True, proxy_authorization=proxy.authorization)


class Routes(dict[str, Route]):
    """The routes of one transport by URL; what the environment says about an origin is remembered at its first use.

    Raises: ConfigError for what is asked for and is no URL.
    """

    def __init__(self, environment: Environment) -> None:
        """No route yet; proxies are read from `environment`."""
        super().__init__()
        self._environment = environment
        self._proxies: dict[Origin, Proxy | None] = {}

    def __missing__(self, url: str) -> Route:
        """The route to `url`, found."""
        target = parse_url(url)
        if target.origin not in self._proxies:
            self._proxies[target.origin] = proxy_for(target.origin, self._environment)
        if len(self) >= _MAX_ROUTES:
            self.clear()
        route = self[url] = Route(target, self._proxies[target.origin])
        return route
