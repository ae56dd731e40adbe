"""Which proxy leads to an origin, read from an environment that is given.

Rules
- `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`; the lower-case spelling wins. `HTTP_PROXY` in capitals is
  ignored in a CGI process (`REQUEST_METHOD` is set), where a client's header could set it.
- Loopback is always reached directly: local models are not behind a proxy.
- `NO_PROXY` holds names (and what is under them), addresses, networks (`10.0.0.0/8`), `name:port`, or `*`.
- The proxy's credential is sent to the proxy alone, and never shown.
"""

from __future__ import annotations

import base64
import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import unquote

import msgspec

from interlingua.errors import APIConnectionError, ConfigError
from interlingua.transport.url import parse_url

if TYPE_CHECKING:
    from interlingua.transport.http1 import ResponseReader
    from interlingua.transport.options import Environment
    from interlingua.transport.url import Origin

__all__ = ["Proxy", "check_tunnel", "is_loopback", "proxy_for"]


class Proxy(msgspec.Struct, frozen=True):
    """One HTTP proxy."""

    origin: Origin
    """Where it listens."""
    authorization: str | None = None
    """The value of `proxy-authorization`, or None."""

    def __repr__(self) -> str:
        """The proxy without its credential."""
        return f"Proxy({self.origin.peer})"


def proxy_for(origin: Origin, environment: Environment) -> Proxy | None:
    """The proxy that leads to `origin`, or None for the direct way.

    Raises: ConfigError for a proxy URL that is not `http://[user:password@]host[:port]`.
    """
    if is_loopback(origin.host):
        return None
    exceptions = _variable(environment, "NO_PROXY").lower().replace(",", " ").split()
    if any(_matches(origin, entry) for entry in exceptions):
        return None
    names = ["ALL_PROXY"]
    if origin.secure:
        names.insert(0, "HTTPS_PROXY")
    elif "http_proxy" in environment or "REQUEST_METHOD" not in environment:
        names.insert(0, "HTTP_PROXY")
    for name in names:
        value = _variable(environment, name)
        if value:
            return _parse(name, value)
    return None


def check_tunnel(reader: ResponseReader, origin: Origin, proxy: Proxy) -> None:
    """Nothing, when the proxy has opened the tunnel.

    Raises: APIConnectionError when it has not, or when it talked before TLS began.
    """
    if 200 <= reader.status < 300 and not reader.trailing:
        return
    way_out = "check the user and password in HTTPS_PROXY" if reader.status == 407 else "may it go there?"
    refused = APIConnectionError(
        f"the proxy {proxy.origin.peer} refused a tunnel to {origin.peer} with status {reader.status}: {way_out}",
        retryable=reader.status >= 500,
    )
    refused.reached = False
    raise refused


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine by name or address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def _variable(environment: Environment, name: str) -> str:
    return (environment.get(name.lower()) or environment.get(name) or "").strip()


def _parse(name: str, value: str) -> Proxy:
    scheme, separator, rest = value.partition("://")
    if not separator:
        scheme, rest = "http", value
    if scheme.lower() != "http":
        way_out = "il.model(…, transport=httpx.Client(proxy=…)) does, with the extra: pip install 'interlingua[http]'"
        raise ConfigError(f"{name}: {scheme[:20]}:// proxies are not spoken here, only http://; {way_out}")
    credential, at, place = rest.rpartition("@")
    try:
        origin = parse_url(f"http://{place}").origin
    except ConfigError:
        raise ConfigError(f"{name}: expected http://[user:password@]host[:port]") from None
    if not at:
        return Proxy(origin, None)
    user, _, password = credential.partition(":")
    pair = f"{unquote(user)}:{unquote(password)}"
    return Proxy(origin, f"Basic {base64.b64encode(pair.encode()).decode('ascii')}")


def _matches(origin: Origin, entry: str) -> bool:
    if entry == "*":
        return True
    address = _address(origin.host)
    if address is not None:
        try:
            return address in ipaddress.ip_network(entry.strip("[]"), strict=False)
        except ValueError:
            return entry == origin.peer
    name, _, port = entry.partition(":")
    name = name.removeprefix("*").removeprefix(".")
    if port and port != str(origin.port):
        return False
    return bool(name) and (origin.host == name or origin.host.endswith(f".{name}"))


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
