"""Dask: the answers to a column of a data frame, partition by partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from interlingua.client.cluster.frames import COLUMNS, Mapper, mapper

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Mapper", "map_partitions", "mapper"]

F = TypeVar("F")


def map_partitions(frame: F, function: Callable[[Any], Any]) -> F:
    """A Dask data frame with the columns that `mapper` adds; nothing is asked before it is computed.

    Dask carries a partition out again whose worker died: give `mapper` a journal, so that no answer is paid for twice.
    """
    table: Any = frame
    meta = table._meta.assign(**dict.fromkeys(COLUMNS, "")).astype(COLUMNS)  # noqa: SLF001 - the documented name of an empty frame
    return table.map_partitions(function, meta=meta)
