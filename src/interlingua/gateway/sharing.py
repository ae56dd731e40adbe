"""What a gateway shares with others, where the process has its state in Redis; else each has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.client.state import shared_link

if TYPE_CHECKING:
    from interlingua.gateway.core import Gateway

__all__ = ["share"]


def share(gateway: Gateway) -> bool:
    """Have the gateway keep vault, stored responses and accounts where the process keeps its state.

    Whether that is a place which others can have, too; in memory and in a file nothing changes.

    Raises: ConfigError for what is no place, and without the [redis] extra.
    """
    link = shared_link()
    if link is None:
        return False
    from interlingua.gateway.redis import RedisAccounts, redis_responses, redis_vault

    gateway.vault = redis_vault(link, gateway.clock)
    gateway.stored = redis_responses(link, gateway.clock)
    gateway.admission.accounts = RedisAccounts(link, gateway.admission.accounts)
    return True
