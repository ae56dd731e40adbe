"""Targets and how they are, for the page; an operator takes one out, and puts it back."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import msgspec

from interlingua.client.state import health_store
from interlingua.dialects.table import DEFAULT_DIALECT
from interlingua.errors import APIConnectionError, DecodeError, NotFoundError, UsageError
from interlingua.gateway.calls.reading import read_object
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.serving.registration import Change, health_of_all, tell_all
from interlingua.gateway.surfaces.health import policy_of, served_names
from interlingua.registry.spec import parse_spec
from interlingua.routing.health import Resume, Suspend, TargetHealth
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.gateway.calls.plan import Targets
    from interlingua.gateway.console.access import Access
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.auth import Guard
    from interlingua.gateway.serving.peers import Peers
    from interlingua.gateway.surfaces.models import ModelLists
    from interlingua.registry.resolve import Registry
    from interlingua.routing.health import Operation

__all__ = ["JSON", "ConsoleTargets"]

JSON = (("content-type", "application/json"), ("cache-control", "no-store"))
"""The headers of what the page asks."""
MAX_FOR_S = 31 * 86_400.0
"""For how long a target may be taken out; longer is until it is put back."""
_WELL = TargetHealth("open")


class ConsoleTargets(msgspec.Struct, frozen=True, kw_only=True):
    """Targets, for the page."""

    guard: Guard
    """The guard that checks keys."""
    access: Access
    """The rights of those who look."""
    registry: Registry
    """Where names come from."""
    models: ModelLists
    """The models that a key may ask for."""
    targets: Targets
    """The targets of names."""
    peers: Peers | None
    """The other workers."""

    async def listing(self, request: GatewayRequest) -> GatewayReply:
        """Providers, the names that clients may use, and the targets with their health."""
        viewer = self.access.viewer_of(request)
        healths = await health_of_all(self.peers)
        models = self.models.listed(request)
        specs = dict.fromkeys(endpoint.spec for model in models for endpoint in model.endpoints)
        others = [
            spec for spec in healths if spec not in specs and (viewer.sees_all or self.guard.may_use(request, spec))
        ]
        shown_targets: list[dict[str, Any]] = []
        for spec in (*specs, *others):
            health = healths.get(spec) or _WELL
            members = cast("dict[str, Any]", msgspec.to_builtins(health))
            error = health.error.partition(":")[0]
            shown_targets.append({"spec": spec, "circuit": health.circuit, **members, "error": error})
        specs_of = self.registry.aliases()
        aliases = [model for model in models if model.id in specs_of]
        # Clients may use the common beginnings of names that their key may ask for: no list of models holds them.
        for name in sorted(specs_of):
            if name.endswith("*"):
                with suppress(NotFoundError):
                    aliases.append(self.models.find(request, name))
        content: dict[str, Any] = {
            "providers": served_names(self.registry) if viewer.sees_all else [],
            "aliases": [
                {
                    "name": one.id,
                    "elements": [element.text for element in parse_spec(specs_of[one.id])],
                    "targets": [endpoint.spec for endpoint in one.endpoints],
                    **policy_of(self.registry, one.id),
                }
                for one in aliases
            ],
            "targets": shown_targets,
            "problem": health_store().problem,
        }
        return GatewayReply(headers=JSON, body=encode(content, nulls=10))

    async def suspend(self, request: GatewayRequest) -> GatewayReply:
        """The targets that are taken out, for `for_s` seconds or until they are put back.

        Raises: PermissionDeniedError for who is no operator; DecodeError; UnknownModelError for what leads nowhere;
        APIConnectionError when the place where state is shared could not be told.
        """
        self.access.check_operator(request)
        members = read_object(request.body)
        for_s = members.get("for_s")
        if for_s is not None and (not isinstance(for_s, int | float) or not 0 < for_s <= MAX_FOR_S):
            raise DecodeError(f"/for_s: seconds up to {MAX_FOR_S:.0f}, or null", path="/for_s", status=400)
        return await self._applied(members, Suspend(for_s))

    async def resume(self, request: GatewayRequest) -> GatewayReply:
        """The targets that are put back.

        Raises: as `suspend`.
        """
        self.access.check_operator(request)
        return await self._applied(read_object(request.body), Resume())

    async def _applied(self, members: dict[str, Any], operation: Operation) -> GatewayReply:
        name = members.get("target")
        if not isinstance(name, str) or not name:
            raise DecodeError("/target: it is missing; name the target", path="/target", status=400)
        try:
            specs = [target.endpoint.spec for target in self.targets.of(name, DEFAULT_DIALECT, tools=False)]
        except UsageError:
            if name not in await health_of_all(self.peers):
                raise
            specs = [name]  # only another gateway knows it, and shares its health
        store = health_store()
        await store.apply_async([(spec, operation) for spec in specs])
        await tell_all(self.peers, Change(specs, isinstance(operation, Resume), getattr(operation, "for_s", None)))
        if store.problem:
            raise APIConnectionError(f"only this gateway was changed: {store.problem}")
        return GatewayReply(headers=JSON, body=encode({"targets": specs}))
