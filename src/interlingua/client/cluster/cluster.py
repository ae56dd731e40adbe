"""How a map goes to a cluster, and whether it can."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interlingua.errors import UsageError, kind_of

if TYPE_CHECKING:
    from interlingua.client.map import Terms

__all__ = ["Cluster", "cluster_of", "shard_size"]

ADDRESS = "ray://"
SHARD_ROUNDS = 16
"""How many calls each line of a worker makes in one shard, where nothing says how many inputs a shard has."""


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """How the inputs of a map are spread over a Ray cluster."""

    address: str | None = None
    """The address of the cluster, `ray://host:10001`; None for the one that `ray.init` was called for, the one that
    `RAY_ADDRESS` names, or a new one on this machine."""
    workers: int | None = None
    """How many shards are carried out at once; None for one on each processor that the cluster has."""
    inputs_per_shard: int | None = None
    """How many inputs a worker takes at once; None for 16 times `concurrency`."""
    retries: int = 3
    """How often a shard is carried out again whose worker or machine died."""
    processors: float = 1.0
    """How much of a processor a worker reserves."""


def cluster_of(engine: object, terms: Terms) -> Cluster:
    """The cluster that `engine` names: `"ray"`, an address `"ray://host:10001"`, or a `Cluster`.

    Raises: UsageError for anything else, and for terms that do not fit a cluster.
    """
    if isinstance(engine, str):
        if engine != "ray" and not engine.startswith(ADDRESS):
            raise UsageError(f"engine is 'ray', an address 'ray://host:10001' or an il.Cluster, not {engine!r:.60}")
        cluster = Cluster(address=None if engine in ("ray", ADDRESS) else engine)
    elif isinstance(engine, Cluster):
        cluster = engine
    else:
        raise UsageError(f"engine is 'ray', an address 'ray://host:10001' or an il.Cluster, not {kind_of(engine)}")
    for name, least in (("workers", 1), ("inputs_per_shard", 1), ("retries", 0)):
        value = getattr(cluster, name)
        if (value is not None or name == "retries") and (type(value) is not int or value < least):
            raise UsageError(f"{name} takes a number from {least} on, not {value!r:.60}")
    if isinstance(cluster.processors, bool) or not 0 < cluster.processors <= 64:
        raise UsageError(f"processors takes a number above 0, at most 64, not {cluster.processors!r:.60}")
    if terms.batch:
        raise UsageError("batch=True takes no engine: a provider's batches need no cluster")
    return cluster


def shard_size(cluster: Cluster, terms: Terms) -> int:
    """How many inputs a shard has."""
    return cluster.inputs_per_shard or SHARD_ROUNDS * terms.concurrency
