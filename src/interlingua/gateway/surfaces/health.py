"""How the gateway is: alive, ready to serve, and what it knows of its targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.gateway.http import GatewayReply
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.gateway.console.access import Access
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.auth import Guard
    from interlingua.gateway.lifecycle import Lifecycle
    from interlingua.registry.resolve import Registry

__all__ = ["Health", "live", "policy_of", "served_names"]

_JSON = (("content-type", "application/json"), ("cache-control", "no-store"))


def _json_reply(value: dict[str, Any], status: int = 200) -> GatewayReply:
    return GatewayReply(status=status, headers=_JSON, body=encode(value))


async def live() -> GatewayReply:
    """That the process answers."""
    return _json_reply({"status": "ok"})


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """How a gateway is, and what it knows of its targets."""

    guard: Guard
    """The guard that knows the keys."""
    access: Access
    """The rights of operators."""
    registry: Registry
    """Where names come from."""
    lifecycle: Lifecycle
    """Whether the gateway drains."""

    async def ready(self) -> GatewayReply:
        """Whether new requests are welcome: not any more once the gateway drains."""
        return _json_reply({"status": "draining"}, 503) if self.lifecycle.is_draining else _json_reply({"status": "ok"})

    async def targets(self, request: GatewayRequest) -> GatewayReply:
        """Every provider that has what it takes to be called, and every alias, with any policy but `ordered`.

        A key with a list of models sees those alone that it may ask for, unless it is an operator's.
        """
        registry, key = self.registry, self.guard.key(request)
        providers, aliases = served_names(registry), registry.aliases()
        if key is not None and key.models and not self.access.sees_all(key.name):
            lets, models = self.guard.lets, key.models
            providers = [
                name
                for name in providers
                if lets(key, f"{name}/*") or any([model.startswith(f"{name}/") for model in models])
            ]
            aliases = {name: elements for name, elements in aliases.items() if lets(key, name)}
        policies = {name: policy_of(registry, name) for name in aliases}
        others = {name: policy for name, policy in policies.items() if policy["policy"] != "ordered"}
        return _json_reply({"providers": providers, "aliases": aliases, "policies": others})


def policy_of(registry: Registry, alias: str) -> dict[str, Any]:
    """How the elements of an alias are put in order: `policy`, and of a weighted one `weights`, one for each."""
    rule = registry.rule_of(alias)
    return {"policy": rule.policy, "weights": rule.weights} if rule.weights else {"policy": rule.policy}


def served_names(registry: Registry) -> list[str]:
    """The providers that somebody configured, or that have a key."""
    usable = [status for status in registry.providers() if not status.problem]
    return [status.name for status in usable if status.key in ("set", "function") or status.origin != "built in"]
