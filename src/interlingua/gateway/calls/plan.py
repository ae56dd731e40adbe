"""Plans: the targets and the treatment of all requests that name the same model in the same dialect, settled once.

Rules
- A plan holds for as long as the registry gives the same targets and the gateway has the same settings.
- Nothing of a request is in it: its job is that of a request that goes out as it came to every target.
- A name is whatever the registry takes: an exact alias, the longest `prefix*`, `provider/model`, a chain with commas.
- A name has neither control characters nor steps (`..`): it goes into paths, headers and logs. It is no longer than
  `MAX_MODEL_CHARACTERS`, and what is refused is not remembered.
- The client's own dialect is spoken to a provider that speaks it and takes the request in it, else its first one.
- Where something answers in the place of every model (tests), a name that nothing defines is taken as it is.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from interlingua.client.call.job import Job, Lane
from interlingua.client.options import Settings
from interlingua.dialects.table import get_dialect, get_service
from interlingua.errors import DecodeError, UsageError
from interlingua.gateway.calls.head import checked_model
from interlingua.gateway.calls.outgoing import needs_of
from interlingua.gateway.policy import renamed
from interlingua.registry.resolve import placeholder
from interlingua.transport.override import answers_alone
from interlingua.types.request import Request
from interlingua.wire.cache import ByteCache, weight_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.calls.outgoing import Needs
    from interlingua.gateway.settings import GatewaySettings
    from interlingua.registry.endpoint import Endpoint
    from interlingua.registry.ranking import Ranking
    from interlingua.registry.resolve import Registry, Resolved

__all__ = ["UNREAD", "Found", "Plan", "Plans", "Targets", "is_same"]

PLAN_BYTES, TARGET_BYTES = 2_000, 400
"""About what a plan takes in memory, and each of its targets."""
UNREAD = Request()
"""Stands for a request that goes out as it came, so that nobody has to read it."""


def is_same(lane: Lane, dialect: str) -> bool:
    """Whether a target speaks the client's own dialect, and can get a request of it as it came."""
    return lane.dialect.name == dialect and lane.dialect.service.passes


class Plan:
    """The targets of the requests of one name, dialect and kind, and the way of asking them."""

    def __init__(self, targets: Found, settings: GatewaySettings, dialect: str, job: Job) -> None:
        """The plan for clients of `dialect` that name `targets`, and the `job` of passing a request on."""
        self.holds: Callable[[], bool] = targets.holds
        """Says whether the name stands for the same targets now."""
        self.settings: GatewaySettings = settings
        """The settings of the gateway that it was made by."""
        self.lanes: tuple[Lane, ...] = targets.lanes
        """The targets, in the order in which they are named."""
        own = [lane for lane in targets.lanes if is_same(lane, dialect)]
        self.own: list[tuple[Lane, Needs]] = [(lane, needs_of(lane)) for lane in own]
        """Those that speak the client's dialect, and what each wants in other words."""
        self.job: Job = job
        """The job of a request that goes out as it came."""

    @cached_property
    def strict(self) -> Settings:
        """How the job is done where the client wants nothing dropped."""
        return msgspec.structs.replace(self.job.settings, strict=True)


class Plans:
    """The plans of one gateway, with a memory."""

    def __init__(
        self,
        targets: Targets,
        settings: GatewaySettings,
        *,
        clock: Callable[[], float],
        make_id: Callable[[], str],
    ) -> None:
        """An empty cache; `clock` times the calls, and `make_id` makes ids of tool calls."""
        self.set_up(targets, settings)
        self._clock, self._make_id = clock, make_id
        self._plans: ByteCache[tuple[str, str, bool], Plan] = ByteCache(MAX_REMEMBERED_BYTES, weigh=_plan_bytes)

    def set_up(self, targets: Targets, settings: GatewaySettings) -> None:
        """Make plans of these from now on; a plan of others holds no more."""
        self._targets, self._settings = targets, settings

    def plan(self, model: str, dialect: str, *, tools: bool) -> Plan:
        """The plan for clients of `dialect` that name `model`; `tools` says that they offer some.

        Raises: as `Targets.lanes`.
        """
        settings, name = self._settings, (model, dialect, tools)
        plan = self._plans.get(name)
        if plan is not None and plan.settings is settings and plan.holds():
            return plan
        targets = self._targets.found(model, dialect, tools=tools)
        if plan is not None and plan.settings is settings and plan.lanes is targets.lanes:
            plan.holds = targets.holds
            return plan
        plan = self._made(targets, settings, model, dialect)
        self._plans.put(name, plan)
        return plan

    def _made(self, targets: Found, settings: GatewaySettings, model: str, dialect: str) -> Plan:
        lanes = targets.lanes
        passes_all = all([is_same(lane, dialect) for lane in lanes])
        job = Job(
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
            self._clock,
            make_id=None if passes_all else self._make_id,
            tool_deltas=True,
            ranking=self._targets.ranking(model),
        )
        return Plan(targets, settings, dialect, job)


def _plan_bytes(name: tuple[str, str, bool], plan: Plan) -> int:
    """The bytes that a plan takes; its targets are those of the registry."""
    return PLAN_BYTES + weight_of(name[0]) + TARGET_BYTES * len(plan.lanes)


# The targets of a name


MAX_REMEMBERED_BYTES = 2_000_000
"""How much is remembered of what names stand for; a client chooses them."""
FOUND_BYTES, FOUND_TARGET_BYTES = 1_000, 600
"""About what an entry takes in memory, and each of its targets."""
_STEP = re.compile(r"(?:^|[/\\,])\s*\.{1,2}\s*(?:[/\\,]|$)")
"""A step in a path: some providers have the model in theirs, and a key is not for all that is beside it."""


class Found(NamedTuple):
    """The targets of a name."""

    endpoints: tuple[Endpoint, ...]
    """The targets."""
    lanes: tuple[Lane, ...]
    """The targets, with the dialect that is spoken to each."""
    holds: Callable[[], bool]
    """Says whether the name stands for them now."""


class Targets:
    """The names of one registry, with a memory."""

    def __init__(self, registry: Registry, rewrite: dict[str, str] | None = None) -> None:
        """A memory that is empty; `rewrite` are the names that the policy puts others under."""
        self._registry = registry
        self._rewrite = rewrite or {}
        self._found: ByteCache[tuple[str, str, bool], Found] = ByteCache(MAX_REMEMBERED_BYTES, weigh=_found_bytes)

    def lanes(self, model: str, client: str, *, tools: bool) -> tuple[Lane, ...]:
        """The targets of a name, in order, for a client of the dialect `client`.

        Raises: UnknownModelError for a name that nothing defines; DecodeError for what can be no name; ConfigError for
        a bad entry.
        """
        return self.found(model, client, tools=tools).lanes

    def ranking(self, model: str) -> Ranking | None:
        """The order of the targets of a name; None for the order in which they are named."""
        return self._registry.ranking(renamed(self._rewrite, model))

    def found(self, model: str, client: str, *, tools: bool) -> Found:
        """The targets of a name, with a check whether that answer still holds.

        Raises: as `lanes`.
        """
        name = (model, client, tools)
        targets = self._found.get(name)
        if targets is not None and targets.holds():
            return targets
        if not checked_model(model).isprintable() or _STEP.search(model):
            raise DecodeError(f"/model: {model[:100]!r} is no name of a model", path="/model", status=400)
        model = renamed(self._rewrite, model)
        resolved: Resolved | None = None
        try:
            resolved = self._registry.resolved(model, client, tools=tools)
            endpoints = resolved.endpoints
        except UsageError:
            if not answers_alone():
                raise
            endpoints = tuple([placeholder(element.strip()) for element in model.split(",")])
        if targets is not None and targets.endpoints is endpoints:
            lanes = targets.lanes
        else:
            lanes = tuple([Lane(endpoint, get_dialect(endpoint.dialect)) for endpoint in endpoints])
        targets = Found(endpoints, lanes, _never if resolved is None else resolved.holds)
        self._found.put(name, targets)
        return targets


def _found_bytes(name: tuple[str, str, bool], targets: Found) -> int:
    """The bytes that an entry takes; its targets are those of the registry."""
    return FOUND_BYTES + weight_of(name[0]) + FOUND_TARGET_BYTES * len(targets.lanes)


def _never() -> bool:
    """Nothing that is made up for a test holds longer than its request."""
    return False
