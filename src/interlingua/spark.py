"""Spark: the answers to a column of a data frame, by `mapInPandas`."""

from __future__ import annotations

from typing import Any, TypeVar

from interlingua.client.cluster.frames import Mapper, mapper

__all__ = ["Mapper", "map_in_pandas", "mapper"]

F = TypeVar("F")

_COLUMNS = "answer string, error string, cost_usd double"


def map_in_pandas(frame: F, function: Mapper) -> F:
    """A Spark data frame with the columns that `mapper` adds; nothing is asked before an action.

    Spark carries a task out again that failed: give `mapper` a journal, so that no answer is paid for twice.
    """
    table: Any = frame
    columns = ", ".join([f"`{field.name}` {field.dataType.simpleString()}" for field in table.schema.fields])
    return table.mapInPandas(function.each, schema=f"{columns}, {_COLUMNS}")
