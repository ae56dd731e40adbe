"""The gateway on a port: uvicorn with httptools and uvloop, until a signal ends it.

Rules
- Without a key it listens on the loopback alone; another address without one is refused.
- The first signal drains: nothing new is taken, what is under way is finished within the drain time. A second one ends.
- What a proxy says of the client's address is not believed: it decides who is served without a key.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from interlingua.errors import ConfigError, UsageError
from interlingua.gateway.asgi import GatewayApp

if TYPE_CHECKING:
    import uvicorn

    from interlingua.gateway.core import Gateway

__all__ = ["DEFAULT_PORT", "DRAIN_S", "check_address", "server_of"]

DEFAULT_PORT = 8787
"""Where `il serve` listens unless it is told otherwise."""
DRAIN_S = 30
"""Seconds that requests under way have when the server ends."""


def check_address(host: str, *, has_keys: bool) -> None:
    """Nothing, if a gateway may listen there.

    Raises: UsageError for an address that others can reach, without a key.
    """
    if not has_keys and not is_loopback(host):
        raise UsageError(
            f"listening on {host} without a key would serve whoever can reach it: add --key-env NAME (or --key), "
            "or leave --host out"
        )


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def server_of(gateway: Gateway, *, host: str = "127.0.0.1", port: int = DEFAULT_PORT) -> uvicorn.Server:
    """A server of the gateway that was not started yet.

    Raises: ConfigError without the [gateway] extra.
    """
    try:
        import uvicorn
    except ImportError:
        raise ConfigError("serving needs the [gateway] extra: pip install 'interlingua[gateway]'") from None
    config = uvicorn.Config(
        GatewayApp(gateway),
        host=host,
        port=port,
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=DRAIN_S,
    )
    return uvicorn.Server(config)
