"""URLs as a transport needs them: who to connect to, what to ask for, and whether a redirect stays at home.

Rules
- A URL holds no credential, no control character and no fragment on the wire.
- A redirect is followed on the same scheme, host and port only, so a credential never travels elsewhere.
- Errors name the host, never the path or the query.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, urljoin

from interlingua.errors import ConfigError
from interlingua.wire.cache import ByteCache

__all__ = ["Origin", "Target", "parse_url", "redirected"]

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#\\]*)(?P<path>[^#]*)(?:#.*)?")
_AUTHORITY = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?)(?::(?P<port>[0-9]{0,5}))?", re.ASCII
)
_UNSAFE = re.compile(r"[\x00-\x1f\x7f]")
_PORTS = {"http": 80, "https": 443}
_KEPT = "!$%&'()*+,/:;=?@~[]|-._"


class Origin(NamedTuple):
    """Scheme, host and port: what a connection belongs to."""

    scheme: str
    """http or https."""
    host: str
    """Lower case, without brackets."""
    port: int
    """TCP port."""

    @property
    def secure(self) -> bool:
        """Whether TLS is spoken."""
        return self.scheme == "https"

    @property
    def peer(self) -> str:
        """`host:port`, as errors name it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Target(NamedTuple):
    """One parsed URL."""

    origin: Origin
    """The origin to connect to."""
    authority: str
    """The `host` header: the port only where it is not the scheme's own."""
    path: str
    """Path and query in origin form, percent-encoded."""


def parse_url(url: str) -> Target:
    """The parts of an absolute http or https URL.

    Raises: ConfigError for any other URL, and for one that holds a credential or a control character.
    """
    return _parsed[url]


def _parse(url: str) -> Target:
    if _UNSAFE.search(url):
        raise ConfigError("a URL holds a control character: refused, since it would break the request apart")
    parts = _URL.fullmatch(url)
    scheme = parts["scheme"].lower() if parts else ""
    if parts is None or scheme not in _PORTS:
        raise ConfigError(f"a transport takes http:// and https:// URLs, not {scheme or 'one without a scheme'}")
    if "@" in parts["authority"]:
        raise ConfigError("a URL holds a credential before the @: send it in a header instead")
    authority = parts["authority"]
    try:
        ascii_authority = authority if authority.isascii() else authority.encode("idna").decode("ascii")
    except UnicodeError:
        raise ConfigError(f"the host of a URL is not a valid name: {authority}") from None
    place = _AUTHORITY.fullmatch(ascii_authority)
    port = int(place["port"] or _PORTS[scheme]) if place else 0
    if place is None or not 0 < port < 65_536:
        raise ConfigError(f"the host of a URL is not a valid name or port: {authority or '(empty)'}")
    host = place["host"].lower()
    origin = Origin(scheme, host.strip("[]"), port)
    authority = host if port == _PORTS[scheme] else f"{host}:{port}"
    path = quote(parts["path"], safe=_KEPT)
    return Target(origin, authority, path if path.startswith("/") else f"/{path}")


_parsed = ByteCache(1_000_000, _parse)


def redirected(url: str, status: int, location: str | None) -> str | None:
    """The URL that a 307 or 308 leads to when that is on the same origin, else None.

    Any other redirect is the caller's to see: the reply is given back as it is, and nothing was sent elsewhere.
    """
    if status not in (307, 308) or location is None:
        return None
    try:
        there = urljoin(url, location)
        return there if parse_url(there).origin == parse_url(url).origin else None
    except (ConfigError, ValueError):
        return None
