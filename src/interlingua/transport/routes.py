"""Where the requests for a URL go, found once: its origin, the proxy in between, and the head of the latest request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.transport.http1 import encode_head, with_length
from interlingua.transport.proxies import proxy_for
from interlingua.transport.url import parse_url
from interlingua.wire.cache import ByteCache

if TYPE_CHECKING:
    from interlingua.transport.options import Environment
    from interlingua.transport.proxies import Proxy
    from interlingua.transport.url import Origin, Target
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["Route", "Routes"]

_JOIN_BYTES = 262_144
_MAX_ROUTES_BYTES = 4_000_000
_ROUTE_BYTES = 2_000


class Route:
    """The way to one URL."""

    __slots__ = ("_latest", "_target", "origin", "peer", "proxy")

    def __init__(self, target: Target, proxy: Proxy | None) -> None:
        """The way to `target`, through `proxy`."""
        self._target = target
        self._latest: tuple[Headers | None, str, bytes] = (None, "", b"")
        self.origin: Origin = target.origin
        """The origin to connect to."""
        self.peer: str = target.origin.peer
        """Its name in errors."""
        self.proxy: Proxy | None = proxy
        """The proxy in between."""

    def written(self, request: HttpRequest) -> tuple[bytes, bytes]:
        """The bytes to send: the head with the body, and a body that is too large to be joined.

        Raises: ConfigError for a method, name or value that does not fit into a head.
        """
        headers, method, head = self._latest
        if headers is not request.headers or method != request.method:
            proxy = self.proxy
            if proxy is None or self.origin.secure:
                head = encode_head(request, self._target)
            else:
                head = encode_head(request, self._target, absolute=True, proxy_authorization=proxy.authorization)
            self._latest = (request.headers, request.method, head)
        body = request.body
        if 0 < len(body) <= _JOIN_BYTES:
            return b"%bcontent-length: %d\r\n\r\n%b" % (head, len(body), body), b""
        return with_length(head, request.method, body), body


class Routes(ByteCache[str, Route]):
    """The routes of one transport by URL; what the environment says about an origin is remembered with them.

    Raises: ConfigError for what is asked for and is no URL.
    """

    def __init__(self, environment: Environment) -> None:
        """No route yet; proxies are read from `environment`."""
        super().__init__(_MAX_ROUTES_BYTES, self._find, weigh=_weight)
        self._environment = environment

    def _find(self, url: str) -> Route:
        target = parse_url(url)
        return Route(target, proxy_for(target.origin, self._environment))


def _weight(url: str, route: Route) -> int:  # noqa: ARG001 - it holds the URL, its parts and the latest head
    return _ROUTE_BYTES + 4 * len(url)
