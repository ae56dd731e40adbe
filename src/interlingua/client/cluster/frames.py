"""One function from a table to a table, for engines that have their own: Ray Data, Dask, Spark.

Strategy: a part of a table is a shard; its texts are the inputs, and the answers are columns beside them. So whoever
lives in `Dataset.map_batches`, `map_partitions` or `mapInPandas` stays there, with the journal, the limits and the
errors of `map`.

Rules
- Columns are plain: `answer` is the text, or the typed answer as JSON; `error` is empty where there is none; `cost_usd`
  is NaN where the price is unknown, null in Spark. Every part has the same columns, also an empty one.
- A cell without a value is not asked about, and is an error of its row.
- Limits that are not in Redis hold in each process by itself, since nobody knows how many there are.
- What other parts have finished is read once in each process, when it gets its first part of a mapper.
"""

from __future__ import annotations

import math
from functools import lru_cache
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from interlingua.client.cluster.segments import place_of
from interlingua.client.cluster.shard import answered, question_of
from interlingua.client.map import Terms, entry_of
from interlingua.client.model import Model
from interlingua.client.options import CONCURRENCY
from interlingua.errors import UsageError
from interlingua.wire.json import encode

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator
    from typing import Unpack

    from interlingua.client.cluster.index import Index
    from interlingua.client.item import Item
    from interlingua.client.keywords import Options

__all__ = ["COLUMNS", "Mapper", "mapper"]

F = TypeVar("F")

COLUMNS = {"answer": "str", "error": "str", "cost_usd": "float64"}
"""The columns that a mapper adds, and their types."""
_NO_TEXT = "", "UsageError: there is no text in the cell", math.nan
"""The columns beside a cell without a value."""


class Mapper:
    """A function from a part of a table, a data frame of pandas, to that part with its answers; it can be pickled."""

    def __init__(self, column: str, question: Any) -> None:
        """The question of `question_of` about each text of a column."""
        self._column = column
        self._question = question
        self._run = token_hex(8)

    def __call__(self, frame: F) -> F:
        """A copy of the frame with the columns `answer`, `error` and `cost_usd`.

        Raises: UsageError for a frame without the column, and as `map`.
        """
        table: Any = frame
        if self._column not in table.columns:
            raise UsageError(
                f"there is no column {self._column!r} of inputs; there are {', '.join(map(str, table.columns))}"
            )
        cells = list(table[self._column])
        texts = [str(cell) for cell in cells if not _is_empty(cell)]
        answers = iter(answered(self._question, texts, 0, _index_of(self._question.terms.journal, self._run), _row))
        rows = [_NO_TEXT if _is_empty(cell) else next(answers) for cell in cells]
        columns = {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}
        return table.assign(**columns).astype(COLUMNS)

    def each(self, frames: Iterable[F]) -> Iterator[F]:
        """The frames of an iterator, one after the other, as `mapInPandas` gives and takes them.

        Raises: as a call.
        """
        return map(self, frames)


def mapper(
    model: str | Model,
    *,
    column: str,
    output: object = None,
    concurrency: int = CONCURRENCY,
    journal: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    **options: Unpack[Options],
) -> Mapper:
    """A function for `Dataset.map_batches(…, batch_format="pandas")` that asks about each text of `column`.

    It adds the columns `answer` (the text, or the typed answer as JSON), `error` and `cost_usd`. `concurrency`,
    `journal`, a folder or an address such as `s3://…`, `retry_failed` and the options are those of `map`.

    Raises: UsageError and its kinds, for what would fail every input alike.
    """
    face = Model(model) if isinstance(model, str) else model
    journal = None if journal is None else str(journal)
    terms = Terms(output, concurrency, journal, True, False, None, retry_failed, options)
    return Mapper(column, question_of(face, terms))


def _is_empty(cell: object) -> bool:
    """Whether a cell has no value: None, NaN, and the signs of pandas for that."""
    return (
        cell is None or (isinstance(cell, float) and math.isnan(cell)) or type(cell).__name__ in ("NAType", "NaTType")
    )


def _row(item: Item[Any]) -> tuple[str, str, float]:
    """The columns of an item."""
    answer = item.text if item.output is None else encode(entry_of(item, "").output).decode()
    error = "" if item.error is None else f"{type(item.error).__name__}: {item.error}"
    return answer if item.error is None else "", error, math.nan if item.cost_usd is None else item.cost_usd


@lru_cache(maxsize=1)
def _index_of(journal: str | None, run: str) -> Index | None:
    """Where every input was that had been finished when this process began with a run."""
    del run
    return None if journal is None else place_of(journal).read_index()
