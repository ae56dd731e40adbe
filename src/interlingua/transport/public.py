"""Whether an address is one of the public internet: global unicast, told by tables of our own.

Strategy: IPv4 is public unless a special-purpose block holds it; IPv6 is public only inside 2000::/3, and there unless
a special-purpose block holds it. An address that carries an IPv4 one (mapped, NAT64) is what that one is.

Rules
- What is no address is not public. Zone ids are looked past.
- 6to4 and Teredo are never public: nobody needs them any more, and they lead wherever their IPv4 part says.

Source: the IANA registries of special-purpose addresses for IPv4 and IPv6 (RFC 6890 and its successors), RFC 6052
(NAT64), RFC 3056 (6to4), RFC 4380 (Teredo).
"""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address

__all__ = ["is_public"]

_NOT_PUBLIC_V4 = (
    "0.0.0.0/8",  # this network, 0.0.0.0 among it
    "10.0.0.0/8",
    "100.64.0.0/10",  # shared by carriers
    "127.0.0.0/8",
    "169.254.0.0/16",  # link-local, where clouds keep their metadata
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, broadcast among it
)
_NOT_PUBLIC_V6 = (
    "2001::/23",  # protocols: Teredo, ORCHID, benchmarks
    "2001:db8::/32",
    "2002::/16",  # 6to4
    "3fff::/20",
)
_UNICAST_V6 = "2000::/3"
_NAT64 = "64:ff9b::/96"


@cache
def _tables() -> tuple[tuple[IPv4Network, ...], tuple[IPv6Network, ...], IPv6Network, IPv6Network]:
    return (
        tuple([IPv4Network(block) for block in _NOT_PUBLIC_V4]),
        tuple([IPv6Network(block) for block in _NOT_PUBLIC_V6]),
        IPv6Network(_UNICAST_V6),
        IPv6Network(_NAT64),
    )


def is_public(address: str) -> bool:
    """Whether a connection to `address` leads to the public internet."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return _is_public_v4(parsed)
    _, special, unicast, nat64 = _tables()
    if parsed.ipv4_mapped is not None:
        return _is_public_v4(parsed.ipv4_mapped)
    if parsed in nat64:
        return _is_public_v4(IPv4Address(int(parsed) & 0xFFFFFFFF))
    return parsed in unicast and not any(parsed in block for block in special)


def _is_public_v4(address: IPv4Address) -> bool:
    return not any(address in block for block in _tables()[0])
