"""Sharing of a gateway with others, where the process has its state in Redis or Postgres.

Rules
- Processes of one machine share what keys have used by the database of keys. What they would have to share, and have no
  place for, is refused, not multiplied.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from interlingua.client.state import shared_link
from interlingua.errors import ConfigError
from interlingua.gateway.state.signing import kept_secret, named_secret, place_of
from interlingua.registry.home import state_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from interlingua.gateway.core import Gateway
    from interlingua.gateway.settings import GatewaySettings

__all__ = ["check_workers", "share"]


def share(gateway: Gateway) -> bool:
    """Have the gateway keep reasoning, stored responses, keys, their use and the secret of ids where state is kept.

    Whether that is a place which others can have, too; in memory and in a file nothing changes.

    Raises: ConfigError for what is no place, and without the extra of its kind.
    """
    link = shared_link()
    if link is None:
        if gateway.ids.is_on:
            _ = gateway.ids.signer  # a secret that cannot be read is told now, and not to the first client
        return False
    from interlingua.gateway.keys.holders import holder_here
    from interlingua.gateway.keys.shared_keys import KeyWatch, SharedKeyDatabase
    from interlingua.gateway.keys.shared_secret import SharedSecret
    from interlingua.gateway.state.presence import Presence
    from interlingua.gateway.state.shared import SharedAccounts, shared_reasoning_store, shared_responses

    gateway.reasoning_store = shared_reasoning_store(link, gateway.clock)
    gateway.stored = shared_responses(link, gateway.clock)
    presence = Presence(link, holder_here(), clock=gateway.clock)
    gateway.admission.move(SharedAccounts(link, gone=lambda: presence.gone), presence.holder)
    keys, key_file = SharedKeyDatabase(link, now=gateway.now), gateway.settings.key_file
    folder = Path(key_file).expanduser().parent if key_file else state_directory()
    beside: list[Callable[[], object]] = [presence.beat]
    if named_secret(gateway.settings, gateway.registry.environment()) is None:
        beside.append(SharedSecret(link, folder, take=gateway.ids.use).look)
    gateway.take_keys(KeyWatch(keys, folder=folder, beside=lambda: [look() for look in beside]))
    return True


def check_workers(gateway: Gateway, settings: GatewaySettings, limited: Collection[str]) -> None:
    """Nothing, where several processes can keep the limits of `settings`, and of the `limited` targets, together.

    Raises: ConfigError where each of them would let as much through by itself, or would have a secret of ids by itself.
    """
    if shared_link() is not None:
        return
    if gateway.ids.is_on and named_secret(gateway.settings, gateway.registry.environment()) is None:
        kept_secret(place_of(gateway.settings))  # each with its own would refuse what the others gave out
    if limited:
        named = ", ".join(sorted(limited)[:3])
        raise ConfigError(
            f"[limits] of {named} would hold for each worker by itself, so that several let several times as much "
            "through; share them with --state redis://… or postgresql://…, or serve with one worker"
        )
    if settings.key_file and not gateway.settings.key_file:
        raise ConfigError(
            "keys with limits need a database from the start, which the workers share: start again, or without limits"
        )
