"""The parts of a gateway: what answers each kind of request, each with what it needs and no more.

Rules
- A part is made once for a set-up: where settings, hooks or stores change, all parts are made anew, and a request that
  has begun goes on with those that it began with.
- State lasts: the guard, the targets and plans, the admission, the owners of ids, the recorder and the feed are the
  gateway's, and are set up anew in their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interlingua.gateway.calls.exchange import Conversations
from interlingua.gateway.console.health import ConsoleTargets
from interlingua.gateway.console.live import LiveRequests
from interlingua.gateway.console.page import ConsoleFiles
from interlingua.gateway.console.side_by_side import SideBySide
from interlingua.gateway.console.usage import ConsoleKeys
from interlingua.gateway.records.metrics import MetricsPage
from interlingua.gateway.surfaces.counting import TokenCounts
from interlingua.gateway.surfaces.explaining import Explaining
from interlingua.gateway.surfaces.health import Health
from interlingua.gateway.surfaces.hosted import Hosted
from interlingua.gateway.surfaces.loading import Loading
from interlingua.gateway.surfaces.models import ModelLists
from interlingua.gateway.surfaces.passing import Passing
from interlingua.gateway.surfaces.responses import ResponseRequests
from interlingua.gateway.surfaces.vectors import Vectors

if TYPE_CHECKING:
    from interlingua.gateway.core import Gateway

__all__ = ["Console", "Parts", "parts_of"]


class Console(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the console."""

    files: ConsoleFiles
    """The page and its files."""
    requests: LiveRequests
    """The stream of requests."""
    targets: ConsoleTargets
    """Targets."""
    keys: ConsoleKeys
    """Keys."""
    side_by_side: SideBySide
    """Requests in every dialect."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of one gateway, as it is set up."""

    conversations: Conversations
    """Conversations with clients of every dialect."""
    passing: Passing
    """Requests that only a provider can answer."""
    models: ModelLists
    """Lists of models."""
    loading: Loading
    """Requests that ask a model or load one."""
    counts: TokenCounts
    """Counts of tokens."""
    responses: ResponseRequests
    """Requests on stored answers."""
    vectors: Vectors
    """Embeddings and reranks."""
    hosted: Hosted
    """Messages under paths of clouds."""
    explaining: Explaining
    """Plans of requests."""
    health: Health
    """Signs of life, and targets."""
    metrics: MetricsPage
    """The page of metrics."""
    console: Console
    """The console."""


def parts_of(gateway: Gateway) -> Parts:
    """The parts of a gateway, as it is set up now."""
    settings, hooks, guard = gateway.settings, gateway.hooks, gateway.guard
    access, registry, targets = gateway.access, gateway.registry, gateway.targets
    unread_hooks = () if settings.hooks.unread == "pass" else hooks
    conversations = Conversations(
        guard=guard,
        admission=gateway.admission,
        plans=gateway.plans,
        ids=gateway.ids,
        stored=gateway.stored,
        reasoning_store=gateway.reasoning_store,
        offload=gateway.offload,
        hooks=hooks,
        lifecycle=gateway.lifecycle,
        fetch=gateway.fetch if settings.allow_fetch else None,
        make_id=gateway.make_id,
        now=gateway.now,
    )
    passing = Passing(
        guard=guard,
        targets=targets,
        admission=gateway.admission,
        ids=gateway.ids,
        offload=gateway.offload,
        hooks=unread_hooks,
        providers=settings.providers,
        timeouts=settings.timeouts,
    )
    models = ModelLists(guard, registry)
    return Parts(
        conversations=conversations,
        passing=passing,
        models=models,
        loading=Loading(conversations=conversations, passing=passing, models=models, targets=targets, now=gateway.now),
        counts=TokenCounts(conversations=conversations, passing=passing, targets=targets),
        responses=ResponseRequests(conversations=conversations, passing=passing, targets=targets),
        vectors=Vectors(
            guard=guard,
            admission=gateway.admission,
            plans=gateway.plans,
            offload=gateway.offload,
            hooks=hooks,
            token_hooks=unread_hooks,
            make_id=gateway.make_id,
            now=gateway.now,
        ),
        hosted=Hosted(offload=gateway.offload, ids=gateway.ids),
        explaining=Explaining(conversations=conversations, access=access),
        health=Health(guard=guard, access=access, registry=registry, lifecycle=gateway.lifecycle),
        metrics=MetricsPage(
            metrics=gateway.metrics,
            is_open=settings.observing.metrics == "open",
            guard=guard,
            access=access,
            peers=gateway.peers,
        ),
        console=_console_of(gateway, models),
    )


def _console_of(gateway: Gateway, models: ModelLists) -> Console:
    access, guard, feed, peers = gateway.access, gateway.guard, gateway.feed, gateway.peers
    return Console(
        files=ConsoleFiles(access),
        requests=LiveRequests(guard=guard, access=access, feed=feed, peers=peers, lifecycle=gateway.lifecycle),
        targets=ConsoleTargets(
            guard=guard,
            access=access,
            registry=gateway.registry,
            models=models,
            targets=gateway.targets,
            peers=peers,
        ),
        keys=ConsoleKeys(
            access=access,
            ring=guard.keys,
            teams=gateway.settings.teams,
            admission=gateway.admission,
            peers=peers,
            began_s=feed.began_s,
            now=gateway.now,
        ),
        side_by_side=SideBySide(access=access, feed=feed, peers=peers),
    )
