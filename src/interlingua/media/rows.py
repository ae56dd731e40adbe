"""Rows of a table as inputs: JSON lines, Parquet, or a dataset that gives rows.

Rules
- Rows are read as they are needed; of a Parquet file the two columns alone.
- A row whose text is none is an error of that one input; a line that is no JSON object ends the inputs.
"""

from __future__ import annotations

import os
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from interlingua.errors import ConfigError, DecodeError, UsageError, kind_of
from interlingua.media.files import InputFile
from interlingua.types.content import TextPart
from interlingua.wire.json import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["InputRow", "Rows", "rows"]

Rows: TypeAlias = "str | os.PathLike[str] | object"
"""A path that ends in .jsonl or .parquet, or a dataset with `iter_rows`, as those of Ray Data."""


class InputRow(InputFile, frozen=True):
    """One row, called by its key where it has one, in the place of a path."""

    text: object
    """The value of its column."""

    def parts(self) -> tuple[TextPart]:
        """The text of the row.

        Raises: UsageError for a row whose column holds no text.
        """
        if not isinstance(self.text, str) or not self.text:
            raise UsageError(f"the row {self.path} has no text but {kind_of(self.text)}")
        return (TextPart(self.text),)


def rows(source: Rows, column: str, *, key: str | None = None) -> Iterator[InputRow]:
    """The rows of a table as inputs of `map`: the texts of `column`, called by `key`, a column, else by their number.

    `source` is the path of a file of JSON lines or Parquet, or a dataset of Ray Data.

    Raises: UsageError for what is no table, and for a row without the column; ConfigError for Parquet without pyarrow.
    """
    read = getattr(source, "iter_rows", None)
    if read is not None:
        return _inputs(read(), column, key)
    if isinstance(source, str | os.PathLike):
        path = str(cast("str | os.PathLike[str]", source))
        if path.endswith(".jsonl"):
            return _inputs(_lines(path), column, key)
        if path.endswith(".parquet"):
            return _inputs(_parquet(path, [column] if key is None else [column, key]), column, key)
    raise UsageError(f"il.rows(…) takes a .jsonl or .parquet file or a dataset with iter_rows, not {source!r:.60}")


def _inputs(table: Iterable[dict[str, Any]], column: str, key: str | None) -> Iterator[InputRow]:
    for number, row in enumerate(table):
        try:
            yield InputRow(str(number if key is None else row[key]), row[column])
        except KeyError as error:
            raise UsageError(f"row {number} has no column {error}; it has {', '.join(row)}") from None


def _lines(path: str) -> Iterator[dict[str, Any]]:
    try:
        with Path(path).open("rb") as opened:
            for number, line in enumerate(opened, 1):
                if line.strip():
                    yield _object(line, f"{path}, line {number}")
    except OSError as error:
        raise UsageError(f"the file {path} cannot be read: {error.strerror}") from None


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        return decode(line, dict[str, Any])
    except DecodeError as error:
        raise UsageError(f"{place} is no JSON object: {error.message}") from None


def _parquet(path: str, columns: list[str]) -> Iterator[dict[str, Any]]:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise ConfigError("Parquet needs the [ray] extra: pip install 'interlingua[ray]'") from None
    try:
        with parquet.ParquetFile(path) as opened:
            parts = opened.iter_batches(columns=columns)
            yield from chain.from_iterable(part.to_pylist() for part in parts)
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise UsageError(f"the file {path} cannot be read: {error}") from None
