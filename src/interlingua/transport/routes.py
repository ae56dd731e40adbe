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
        if len(body) <= _JOIN_BYTES:
            return with_length(head, request.method, body, body), b""
        return with_length(head, request.method, body, b""), body

    def _head(self, request: HttpRequest) -> bytes:
        proxy = self.proxy
        if proxy is None or self.origin.secure:
            return encode_head(request, self._target)
        return encode_head(request, self._target, absolute=True, proxy_authorization=proxy.authorization)


class Routes:
    """The routes of one transport; what the environment says about an origin is remembered at its first use."""

    def __init__(self, environment: Environment) -> None:
        """No route yet; proxies are read from `environment`."""
        self._environment = environment
        self._proxies: dict[Origin, Proxy | None] = {}
        self._known: dict[str, Route] = {}

    def to(self, url: str) -> Route:
        """The route to `url`.

        Raises: ConfigError for a URL that is none.
        """
        return self._known.get(url) or self._found(url)

    def _found(self, url: str) -> Route:
        target = parse_url(url)
        if target.origin not in self._proxies:
            self._proxies[target.origin] = proxy_for(target.origin, self._environment)
        if len(self._known) >= _MAX_ROUTES:
            self._known.clear()
        route = self._known[url] = Route(target, self._proxies[target.origin])
        return route
