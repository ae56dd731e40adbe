"""Rows of a table as inputs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import interlingua as il
from interlingua.testing import FakeModel, use


def test_r69_rows_of_json_lines(tmp_path: Path) -> None:
    """Called by their number or by a column; a row without a text is an error of that one input."""
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id":"x","text":"a"}\n\n{"id":"y","text":"b"}\n{"id":3,"text":null}\n')
    with use(FakeModel(lambda request: request.messages[0].text.upper())):
        items = list(il.model("openai-chat/gpt-4.1").map(il.rows(file, "text", key="id")))
    assert [(item.key, item.text) for item in items] == [("x", "A"), ("y", "B"), ("3", "")]
    assert str(items[2].error) == "the row 3 has no text but None"
    assert [row.key for row in il.rows(str(file), "text")] == ["0", "1", "2"]


def test_rows_of_a_dataset() -> None:
    """Whatever gives rows by `iter_rows`, as a dataset of Ray Data."""
    dataset = SimpleNamespace(iter_rows=lambda: iter([{"text": "a"}, {"text": "b"}]))
    assert [row.text for row in il.rows(dataset, "text")] == ["a", "b"]


def test_r69_rows_of_parquet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only the columns that are asked for are read; without pyarrow the extra is named."""

    class ParquetFile:
        def __init__(self, path: str) -> None:
            if not Path(path).exists():
                raise FileNotFoundError(path)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None: ...

        def iter_batches(self, *, columns: list[str]) -> Any:
            return [SimpleNamespace(to_pylist=lambda: [dict.fromkeys(columns, "a")])]

    module = SimpleNamespace(ParquetFile=ParquetFile)
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(parquet=module, __path__=[]))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", module)
    file = tmp_path / "rows.parquet"
    file.write_bytes(b"")
    assert [(row.key, row.text) for row in il.rows(file, "text", key="id")] == [("a", "a")]
    with pytest.raises(il.UsageError, match=r"the file no\.parquet cannot be read"):
        list(il.rows("no.parquet", "text"))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(il.ConfigError, match=r"pip install 'interlingua\[ray\]'"):
        list(il.rows(file, "text"))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"text":"a"}\n{"other":"b"}\n', "row 1 has no column 'text'; it has other"),
        ('{"text":"a"}\n[1]\n', "line 2 is no JSON object"),
        ('{"text":"a"}\n{"text"\n', "line 2 is no JSON object"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_bad_rows(tmp_path: Path, content: str | None, why: str) -> None:
    """The line or the row is named."""
    file = tmp_path / "rows.jsonl"
    if content is not None:
        file.write_text(content)
    with pytest.raises(il.UsageError, match=why):
        list(il.rows(file, "text"))


def test_what_is_no_table() -> None:
    """Another kind of file, and what is no file."""
    for source in ("rows.csv", 3):
        with pytest.raises(il.UsageError, match=r"takes a \.jsonl or \.parquet file or a dataset with iter_rows"):
            il.rows(source, "text")
