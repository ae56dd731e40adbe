"""A map on a cluster, with a Ray that carries everything out in this process."""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import interlingua as il
from interlingua import aio
from interlingua.client.cluster.shard import shard_name
from interlingua.client.journal import Entry, Journal
from interlingua.testing import FakeModel, use
from tests.support.ray_in_place import RayInPlace


@dataclass
class Count:
    """What every input becomes."""

    n: int


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> RayInPlace:
    """A Ray in this process."""
    return _installed(monkeypatch, RayInPlace(1))


def _installed(monkeypatch: pytest.MonkeyPatch, ray: RayInPlace) -> RayInPlace:
    monkeypatch.setitem(sys.modules, "ray", ray)
    return ray


def _length(request: il.Request) -> Any:
    """The length of the text; what says fail fails."""
    text = request.messages[0].text
    return il.RateLimitError("slow down", status=429) if "fail" in text else json.dumps({"n": len(text)})


def _all_done(references: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
    assert len(references) == num_returns
    return references, []


TEXTS = ["a", "bb fail", "ccc", "dddd", "eeeee"]
SMALL = il.Cluster(inputs_per_shard=2, workers=1)


def _keys(folder: Path) -> Counter[str]:
    lines = [line for file in folder.glob("*.jsonl") for line in file.read_text().splitlines()]
    return Counter([json.loads(line)["key"] for line in lines])


def test_r69_items_are_those_of_one_process(ray: RayInPlace) -> None:
    """In the order of their inputs, typed, each failure its own item's; the shards have two inputs each."""
    with use(FakeModel(_length)):
        items = list(il.model("openai-chat/gpt-4.1").map(iter(TEXTS), output=Count, engine=SMALL))
    assert [item.key for item in items] == TEXTS
    assert [item.output for item in items] == [Count(1), None, Count(3), Count(4), Count(5)]
    assert items[0].text == '{"n": 1}'
    error = items[1].error
    assert isinstance(error, il.RateLimitError)
    assert (error.message, error.status, error.retryable) == ("slow down", 429, True)
    assert ray.positions == [0, 2, 4]
    assert ray.options[0] == {"num_cpus": 1.0, "max_retries": 3, "retry_exceptions": False}
    assert ray.started == [{"include_dashboard": False, "log_to_driver": False}]


def test_r69_a_rerun_goes_on_whatever_its_shards_are(ray: RayInPlace, tmp_path: Path) -> None:
    """Cut in another way, with an input more: what is in any journal of the folder is not asked again."""
    model = il.model("openai-chat/gpt-4.1")
    with use(FakeModel(_length)) as fake:
        list(model.map(TEXTS, output=Count, engine=SMALL, journal=tmp_path / "run"))
        again = list(model.map(["new", *TEXTS], output=Count, engine="ray", journal=tmp_path / "run"))
        assert len(fake.requests) == 6
        retried = list(model.map(TEXTS, output=Count, engine=SMALL, journal=tmp_path / "run", retry_failed=True))
    assert [item.recorded for item in again] == [False, True, True, True, True, True]
    assert [item.output for item in again] == [Count(3), Count(1), None, Count(3), Count(4), Count(5)]
    assert [item.recorded for item in retried] == [True, False, True, True, True]
    assert set(_keys(tmp_path / "run")) == {"new", *TEXTS}
    assert max(_keys(tmp_path / "run").values()) == 2  # of the failure: its first line and its second


def test_r69_an_answer_counts_before_a_failure(ray: RayInPlace, tmp_path: Path) -> None:
    """Whichever journal of the folder has it."""
    model = il.model("openai-chat/gpt-4.1")
    answers = iter([il.RateLimitError("slow down", status=429), "one", "two"])
    with use(FakeModel(lambda _: next(answers))):
        list(model.map(["a"], engine="ray", journal=tmp_path))
        list(model.map(["a", "b"], engine="ray", journal=tmp_path, retry_failed=True))
        items = [list(model.map(texts, engine="ray", journal=tmp_path)) for texts in (["a"], ["b", "a"])]
    assert [[item.text for item in each] for each in items] == [["one"], ["two", "one"]]
    assert ray.cancelled == 0


def test_r69_a_worker_that_dies_each_time_is_an_error_of_its_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other shards have their answers; an input that the key function cannot name has its number."""
    _installed(monkeypatch, RayInPlace(dies=(2,)))

    def name(text: str) -> str:
        if text == "ccc":
            raise ZeroDivisionError
        return text.upper()

    with use(FakeModel("ok")):
        items = list(il.model("openai-chat/gpt-4.1").map(TEXTS, engine=SMALL, key=name))
    assert [item.key for item in items] == ["A", "BB FAIL", "input 2", "DDDD", "EEEEE"]
    assert [item.text for item in items] == ["ok", "ok", "", "", "ok"]
    assert str(items[3].error) == "its worker died each time: WorkerCrashedError"


def test_items_as_they_are_finished(ray: RayInPlace) -> None:
    """With `ordered=False` the shard that is finished first comes first; two are out for each worker."""
    with use(FakeModel("ok")):
        items = list(il.model("openai-chat/gpt-4.1").map(TEXTS, engine=SMALL, ordered=False))
    assert sorted(item.key for item in items) == TEXTS
    assert items[0].key in TEXTS[2:4]
    assert ray.positions == [0, 2, 4]


def test_leaving_early_stops_the_workers(ray: RayInPlace) -> None:
    """The shard that is out is cancelled and waited for; inputs beyond it are not taken."""
    taken: list[int] = []

    def inputs() -> Any:
        for number in range(100):
            taken.append(number)
            yield str(number)

    with use(FakeModel("ok")):
        items = il.model("openai-chat/gpt-4.1").map(inputs(), engine=SMALL)
        assert next(items).key == "0"
        items.close()
    assert ray.cancelled == 1
    assert len(taken) == 4


def test_r69_leaving_early_waits_for_what_is_still_written(
    ray: RayInPlace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ray calls a cancelled task done while its worker still ends the calls under way: the journal tells."""
    with use(FakeModel("ok")):
        items = il.model("openai-chat/gpt-4.1").map(map(str, range(100)), engine=SMALL, journal=tmp_path)
        next(items)
        monkeypatch.setattr(ray, "wait", _all_done)
        path = tmp_path / f"{shard_name(pickle.dumps(['2', '3'], 5), 2)}.jsonl"
        worker = Journal(path)

        def end() -> None:
            time.sleep(0.5)
            worker.add(Entry(journal=1, id="2", key="2"))
            worker.__exit__(None, None, None)

        ending = threading.Thread(target=end)
        ending.start()
        items.close()
        assert path.read_bytes().count(b"\n") == 1
    ending.join()


def test_no_more_shards_are_out_than_workers_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster with more processors would carry out the next one of each worker, too."""
    ray = _installed(monkeypatch, RayInPlace(16))
    with use(FakeModel("ok")):
        items = il.model("openai-chat/gpt-4.1").map(TEXTS, engine=il.Cluster(inputs_per_shard=1, workers=2))
        next(items)
        assert ray.positions == [0, 1]
        items.close()


def test_shards_of_equal_inputs_have_journals_of_their_own(ray: RayInPlace, tmp_path: Path) -> None:
    """They may be carried out at once, and a journal has one writer."""
    with use(FakeModel("ok")):
        list(il.model("openai-chat/gpt-4.1").map(["a", "a"], engine=il.Cluster(inputs_per_shard=1), journal=tmp_path))
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


class _Slow(RayInPlace):
    """A Ray whose tasks never end by themselves."""

    def wait(
        self, references: list[Any], num_returns: int, timeout: float | None = None
    ) -> tuple[list[Any], list[Any]]:
        """Nothing, unless what was cancelled is waited for."""
        if timeout is None:
            return references, []
        time.sleep(timeout)
        return [], references


async def test_leaving_an_awaited_map_early_stops_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception of the caller comes through, and nothing goes on behind it."""
    ray = _installed(monkeypatch, _Slow(1))

    async def run() -> list[str]:
        return [item.key async for item in aio.model("openai-chat/gpt-4.1").map(TEXTS, engine=SMALL)]

    with use(FakeModel("ok")), pytest.raises(TimeoutError):
        await asyncio.wait_for(run(), 0.3)
    assert ray.cancelled == 2


async def test_awaited(ray: RayInPlace) -> None:
    """The awaited face gives the items of the blocking one."""

    async def run() -> list[str]:
        with use(FakeModel("ok")):
            return [item.key async for item in aio.model("openai-chat/gpt-4.1").map(TEXTS, engine="ray")]

    assert await run() == TEXTS
    assert len(ray.positions) == 1
    await asyncio.sleep(0)


async def test_asynchronous_inputs_are_refused() -> None:
    """The driver takes inputs in a thread."""

    async def inputs() -> AsyncIterator[str]:
        yield "a"

    with pytest.raises(il.UsageError, match="no asynchronous iterable"):
        aio.model("openai-chat/gpt-4.1").map(inputs(), engine="ray")


class _Unpicklable:
    """What no other process gets."""

    def __reduce__(self) -> Any:
        raise TypeError("it stays here")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"engine": "spark"}, "engine is 'ray', an address 'ray://host:10001' or an il.Cluster, not 'spark'"),
        ({"engine": 3}, "engine is 'ray', an address 'ray://host:10001' or an il.Cluster, not an int"),
        ({"engine": il.Cluster(workers=0)}, "workers takes a number from 1 on, not 0"),
        ({"engine": il.Cluster(retries=-1)}, "retries takes a number from 0 on, not -1"),
        ({"engine": il.Cluster(processors=0)}, "processors takes a number above 0, at most 64, not 0"),
        (
            {"engine": "ray", "batch": True, "journal": "j"},
            "batch=True takes no engine: a provider's batches need no cluster",
        ),
        ({"engine": "ray", "temprature": 1}, "no option 'temprature'; did you mean 'temperature'?"),
        ({"engine": "ray://nowhere:1"}, "the cluster ray://nowhere:1 cannot be reached: nobody is there"),
        ({"engine": "ray", "key": _Unpicklable()}, "engine: this map cannot go to another process: it stays here"),
    ],
)
@pytest.mark.usefixtures("ray")
def test_what_would_fail_all_inputs_is_raised(options: dict[str, Any], why: str) -> None:
    """Before anything is asked, with a sentence that says the way out."""
    with use(FakeModel("ok")), pytest.raises(il.Error) as caught:
        list(il.model("openai-chat/gpt-4.1").map(["a"], **options))
    assert str(caught.value) == why


@pytest.mark.usefixtures("ray")
def test_an_input_that_cannot_travel_is_raised() -> None:
    """Such as a value of the caller's own kind."""
    unfit: Any = [_Unpicklable()]
    with (
        use(FakeModel("ok")),
        pytest.raises(il.UsageError, match="an input cannot go to another process: it stays here"),
    ):
        list(il.model("openai-chat/gpt-4.1").map(unfit, engine="ray"))


@pytest.mark.usefixtures("ray")
def test_a_journal_that_is_a_file_is_refused(tmp_path: Path) -> None:
    """It says that the file goes into a folder, and there its lines count."""
    model, file = il.model("openai-chat/gpt-4.1"), tmp_path / "run.jsonl"
    with use(FakeModel("ok")) as fake:
        list(model.map(["a"], journal=file))
        with pytest.raises(il.UsageError, match=r"run\.jsonl is a file; move the file into a folder"):
            list(model.map(["a"], journal=file, engine="ray"))
        folder = tmp_path / "run"
        folder.mkdir()
        file.rename(folder / file.name)
        [item] = model.map(["a"], journal=folder, engine="ray")
    assert item.recorded
    assert len(fake.requests) == 1


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with use(FakeModel("ok")), pytest.raises(il.ConfigError) as caught:
        list(il.model("openai-chat/gpt-4.1").map(["a"], engine="ray"))
    assert str(caught.value) == "engine='ray' needs the [ray] extra: pip install 'interlingua[ray]'"
