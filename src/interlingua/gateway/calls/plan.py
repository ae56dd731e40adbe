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
from interlingua.gateway.calls.relay import minded_by
from interlingua.gateway.calls.targets import MAX_REMEMBERED
from interlingua.types.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.client.call.job import Lane
    from interlingua.gateway.calls.relay import Minded
    from interlingua.gateway.calls.targets import Found
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.settings import GatewaySettings

__all__ = ["UNREAD", "Plan", "Plans", "is_same"]

UNREAD = Request()
"""Stands for a request that goes out as it came, so that nobody has to read it."""


def is_same(lane: Lane, dialect: str) -> bool:
    """Whether a target speaks the client's own dialect; the unified one has ids of ours always."""
    return lane.dialect.name == dialect != "unified"


class Plan:
    """Whom the requests of one name, dialect and kind ask, and how."""

    def __init__(self, gateway: Gateway, found: Found, model: str, dialect: str) -> None:
        """What holds for clients of `dialect` that name `model`, which stands for what was `found`."""
        settings, lanes = gateway.settings, found.lanes
        self.holds: Callable[[], bool] = found.holds
        """Says whether the name stands for the same targets now."""
        self.settings: GatewaySettings = settings
        """The settings of the gateway that it was made by."""
        self.lanes: tuple[Lane, ...] = lanes
        """The targets, in the order in which they are named."""
        own = [lane for lane in lanes if is_same(lane, dialect)]
        self.own: list[tuple[Lane, Minded]] = [(lane, minded_by(lane.endpoint.target.quirks)) for lane in own]
        """Those that speak the client's dialect, and what each wants in other words."""
        self.job: Job = Job(
            UNREAD,
            Settings(
                timeouts=settings.timeouts,
                strict=settings.strict,
                allow=settings.allow,
                call_ids="own",
                history_policy="refuse" if dialect == "unified" else "mend",
                warns=False,
            ),
            lanes,
            gateway.clock,
            make_id=None if len(own) == len(lanes) else gateway.make_id,
            tool_deltas=True,
            ranking=gateway.registry.ranking(model) if len(lanes) > 1 else None,
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
        self._known: dict[tuple[str, str, bool], Plan] = {}

    def plan(self, model: str, dialect: str, *, tools: bool) -> Plan:
        """The plan for clients of `dialect` that name `model`; `tools` says that they offer some.

        Raises: as `Targets.lanes`.
        """
        gateway, asked = self._gateway, (model, dialect, tools)
        known = self._known.get(asked)
        if known is not None and known.settings is gateway.settings and known.holds():
            return known
        found = gateway.targets.found(model, dialect, tools=tools)
        if known is not None and known.settings is gateway.settings and known.lanes is found.lanes:
            known.holds = found.holds
            return known
        if len(self._known) >= MAX_REMEMBERED:
            self._known = {}
        known = self._known[asked] = Plan(gateway, found, model, dialect)
        return known
