"""A function from a table to a table, over frames that know what a mapper asks of them."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import interlingua as il
from interlingua.client.cluster.frames import COLUMNS
from interlingua.dask import map_partitions
from interlingua.ray import mapper
from interlingua.spark import map_in_pandas
from interlingua.testing import FakeModel, use


@dataclass
class Count:
    """What every input becomes."""

    n: int


class Frame(dict[str, list[Any]]):
    """As much of a data frame as a mapper uses."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self)

    def assign(self, **columns: list[Any]) -> Frame:
        """A copy with more columns."""
        return Frame({**self, **columns})

    def astype(self, kinds: dict[str, str]) -> Frame:
        """The frame itself, once every column has a kind."""
        assert kinds == COLUMNS
        assert kinds.keys() <= self.keys()
        return self


def _length(request: il.Request) -> Any:
    text = request.messages[0].text
    return il.RateLimitError("slow down", status=429) if "fail" in text else json.dumps({"n": len(text)})


def test_r69_a_mapper_adds_answers_errors_and_costs(tmp_path: Path) -> None:
    """Beside the rows that it was given; it can be pickled, and asks nothing that its journal has."""
    function = pickle.loads(
        pickle.dumps(mapper("openai-chat/gpt-4.1", column="text", output=Count, journal=tmp_path, concurrency=1))
    )
    with use(FakeModel(_length)) as fake:
        table = function(Frame(text=["a", "bb fail"], id=[7, 8]))
        assert function(Frame(text=[], id=[])) == Frame(text=[], id=[], answer=[], error=[], cost_usd=[])
        again = mapper(il.model("openai-chat/gpt-4.1"), column="text", output=Count, journal=tmp_path)
        both = list(again.each([Frame(text=["bb fail"]), Frame(text=["new", "a"])]))
    assert (table["id"], table["answer"], table["error"]) == (
        [7, 8],
        ['{"n":1}', ""],
        ["", "RateLimitError: openai-chat/gpt-4.1: 429 slow down"],
    )
    assert all(math.isnan(cost) for cost in table["cost_usd"])
    assert [frame["answer"] for frame in both] == [[""], ['{"n":3}', '{"n":1}']]
    assert len(fake.requests) == 3


@pytest.mark.parametrize("empty", [None, math.nan, type("NAType", (), {})()])
def test_a_cell_without_a_value_is_not_asked_about(empty: object) -> None:
    """It is an error of its row; the others keep their places."""
    with use(FakeModel(["one", "two"])) as fake:
        table = mapper("openai-chat/gpt-4.1", column="text", concurrency=1)(Frame(text=["a", empty, "b"]))
    assert (table["answer"], table["error"]) == (
        ["one", "", "two"],
        ["", "UsageError: there is no text in the cell", ""],
    )
    assert len(fake.requests) == 2


def test_a_relative_journal_is_the_same_folder_in_each_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine gives each a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    function = mapper("openai-chat/gpt-4.1", column="text", journal="run")
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        with use(FakeModel("ok")):
            function(Frame(text=["a"]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "run", "second"]
    assert list((tmp_path / "first").iterdir()) == list((tmp_path / "second").iterdir()) == []


def test_a_frame_without_the_column() -> None:
    """The error names those that there are; what is no option is one before that."""
    with use(FakeModel("ok")), pytest.raises(il.UsageError, match="there is no column 'text' of inputs; there are id"):
        mapper("openai-chat/gpt-4.1", column="text")(Frame(id=[1]))


def test_r69_dask_is_told_the_columns() -> None:
    """The empty frame that says what comes has them, and nothing is asked."""
    frame: Any = SimpleNamespace(_meta=Frame(text=[]), map_partitions=lambda *values, **named: (values, named))  # pyright: ignore[reportUnknownLambdaType] # a stand-in
    function = mapper("openai-chat/gpt-4.1", column="text")
    empty: Any = {"text": [], "answer": "", "error": "", "cost_usd": ""}
    assert map_partitions(frame, function) == ((function,), {"meta": empty})


def test_r69_spark_is_told_the_columns() -> None:
    """The schema has those that there were and the three that come."""
    field = SimpleNamespace(name="the text", dataType=SimpleNamespace(simpleString=lambda: "string"))
    frame: Any = SimpleNamespace(
        schema=SimpleNamespace(fields=[field]),
        mapInPandas=lambda *values, **named: (values, named),  # pyright: ignore[reportUnknownLambdaType] # a stand-in
    )
    function = mapper("openai-chat/gpt-4.1", column="the text")
    columns = "`the text` string, answer string, error string, cost_usd double"
    assert map_in_pandas(frame, function) == ((function.each,), {"schema": columns})
