"""What is settled once for all requests that name the same model in the same dialect: whom they ask, and how.

Rules
- A plan holds for as long as the registry gives the same targets and the gateway has the same settings.
- Nothing of a request is in it: its job is that of a request that goes out as it came to every target.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from interlingua.client.call.job import Job
from interlingua.client.options import Settings
from interlingua.dialects.table import get_service
from interlingua.gateway.calls.outgoing import needs_of
from interlingua.gateway.calls.targets import MAX_REMEMBERED_BYTES
from interlingua.gateway.policy import renamed
from interlingua.types.request import Request
from interlingua.wire.cache import ByteCache, weight_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.client.call.job import Lane
    from interlingua.gateway.calls.outgoing import Needs
    from interlingua.gateway.calls.targets import Found
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.settings import GatewaySettings

__all__ = ["UNREAD", "Plan", "Plans", "is_same"]

PLAN_BYTES, TARGET_BYTES = 2_000, 400
"""About what a plan takes in memory, and each of its targets."""
UNREAD = Request()
"""Stands for a request that goes out as it came, so that nobody has to read it."""


def is_same(lane: Lane, dialect: str) -> bool:
    """Whether a target speaks the client's own dialect, and can get a request of it as it came."""
    return lane.dialect.name == dialect and lane.dialect.service.passes


class Plan:
    """Whom the requests of one name, dialect and kind ask, and how."""

    def __init__(self, gateway: Gateway, found: Found, model: str, dialect: str) -> None:
        """What holds for clients of `dialect` that name `model`, which stands for what was `found`."""
        settings, lanes = gateway.settings, found.lanes
        spec = renamed(settings.hooks.policy.rewrite, model)
        self.holds: Callable[[], bool] = found.holds
        """Says whether the name stands for the same targets now."""
        self.settings: GatewaySettings = settings
        """The settings of the gateway that it was made by."""
        self.lanes: tuple[Lane, ...] = lanes
        """The targets, in the order in which they are named."""
        own = [lane for lane in lanes if is_same(lane, dialect)]
        self.own: list[tuple[Lane, Needs]] = [(lane, needs_of(lane)) for lane in own]
        """Those that speak the client's dialect, and what each wants in other words."""
        self.job: Job = Job(
            UNREAD,
            Settings(
                timeouts=settings.timeouts,
                strict=settings.strict,
                allow=settings.allow,
                call_ids="own",
                history_policy=get_service(dialect).history,
                warns=False,
            ),
            lanes,
            gateway.clock,
            make_id=None if len(own) == len(lanes) else gateway.make_id,
            tool_deltas=True,
            ranking=gateway.registry.ranking(spec),
        )
        """The job of a request that goes out as it came."""

    @cached_property
    def strict(self) -> Settings:
        """How the job is done where the client wants nothing dropped."""
        return msgspec.structs.replace(self.job.settings, strict=True)


class Plans:
    """The plans of one gateway, with a memory."""

    def __init__(self, gateway: Gateway) -> None:
        """A memory that is empty."""
        self._gateway = gateway
        self._known: ByteCache[tuple[str, str, bool], Plan] = ByteCache(MAX_REMEMBERED_BYTES, weigh=_weight)

    def plan(self, model: str, dialect: str, *, tools: bool) -> Plan:
        """The plan for clients of `dialect` that name `model`; `tools` says that they offer some.

        Raises: as `Targets.lanes`.
        """
        gateway, name = self._gateway, (model, dialect, tools)
        plan = self._known.get(name)
        if plan is not None and plan.settings is gateway.settings and plan.holds():
            return plan
        found = gateway.targets.found(model, dialect, tools=tools)
        if plan is not None and plan.settings is gateway.settings and plan.lanes is found.lanes:
            plan.holds = found.holds
            return plan
        plan = Plan(gateway, found, model, dialect)
        self._known.put(name, plan)
        return plan


def _weight(name: tuple[str, str, bool], plan: Plan) -> int:
    """The bytes that a plan takes; its targets are those of the registry."""
    return PLAN_BYTES + weight_of(name[0]) + TARGET_BYTES * len(plan.lanes)
