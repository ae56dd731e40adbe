"""A map by batches, over the imitated services: every input once, at half the price, whatever breaks on the way."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

import interlingua as il
from interlingua import aio
from interlingua.client.batch import run
from interlingua.client.batch.batch import batches_at, providers_with_batches
from interlingua.client.batch.service import BatchService, Pauses
from interlingua.client.journal import Journal
from interlingua.dialects._batches import BatchCall, Batches, BatchInfo
from interlingua.testing import FakeModel, use
from interlingua.testing.upstream import BatchPlan
from interlingua.wire.http import HttpReply
from tests.support.batches import SERVICES, live_calls, serving

MODELS = {"anthropic": "claude-sonnet-5", "google": "gemini-3-pro"}
INPUTS = [f"square of {number}" for number in range(7)]
OTHERS = f"{', '.join(providers_with_batches()[:-1])} and {providers_with_batches()[-1]}"
STRANGE: dict[str, Any] = {"metadata": {"interlingua": "another"}, "displayName": "another"}
QUICK = il.Batch(poll_s=0.01)


@dataclass
class Square:
    """What every input becomes."""

    of: int
    is_: int


class Face:
    """Either face's `map` by batches, as a list."""

    def __init__(self, *, awaited: bool) -> None:
        """One of the two."""
        self.awaited = awaited

    def map(self, spec: str, journal: Path, inputs: Any = INPUTS, **options: Any) -> list[il.Item[Any]]:
        """Every item."""
        options = {"batch": QUICK, "output": Square, "journal": journal, **options}
        if not self.awaited:
            return list(il.model(spec).map(inputs, **options))

        async def listed() -> list[il.Item[Any]]:
            return [item async for item in aio.model(spec).map(inputs, **options)]

        return asyncio.run(listed())


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces."""
    return Face(awaited=request.param)


@pytest.fixture(params=list(SERVICES))
def service(request: pytest.FixtureRequest) -> str:
    """Every service."""
    return request.param


@pytest.fixture
def point(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Gives a service a name; what it gives back is the spec of its model."""

    def pointed(name: str, dsn: str) -> str:
        monkeypatch.setenv("LLM_WORK", dsn)
        return f"work/{MODELS.get(name, 'gpt-4.1')}"

    return pointed


def _right(items: list[il.Item[Any]], inputs: list[str] = INPUTS) -> None:
    """Every item has the answer to its own input."""
    assert [item.error for item in items] == [None] * len(inputs)
    assert [item.key for item in items] == inputs
    numbers = [int(text.split()[-1]) for text in inputs]
    assert [item.output for item in items] == [Square(number, number * number) for number in numbers]


def test_r68_every_input_by_one_batch(
    face: Face, service: str, point: Callable[[str, str], str], tmp_path: Path
) -> None:
    """In the order of the inputs, at half the price, without a live call; a rerun asks nobody."""
    with serving(service, BatchPlan(looks=2)) as (upstream, dsn, desk):
        spec = point(service, dsn)
        with il.meter() as meter:
            items = face.map(spec, tmp_path / "run.jsonl")
        _right(items)
        assert all(verdict.ok for verdict in upstream.verdicts)
        assert [len(batch.requests) for batch in desk.batches.values()] == [7]
        assert set(desk.run.values()) == {1}
        assert live_calls(upstream) == []
        usage = items[0].usage
        assert usage is not None
        full = ((usage.input_tokens or 0) * 2 + (usage.output_tokens or 0) * 8) / 1_000_000
        assert [item.cost_usd for item in items] == [full / 2] * 7
        assert meter.calls == 7
        count = len(upstream.requests)
        again = face.map(spec, tmp_path / "run.jsonl")
        _right(again)
        assert all(item.recorded for item in again)
        assert len(upstream.requests) == count


def test_r68_results_in_any_order(face: Face, service: str, point: Callable[[str, str], str], tmp_path: Path) -> None:
    """Results that come backwards, twice, and for nobody's request: each item has its own answer, once."""

    def spoil(lines: list[bytes]) -> list[bytes]:
        strange = lines[0].replace(b"-0", b"-999").replace(b'"custom_id":"', b'"custom_id":"x')
        return [strange.replace(b'"key":"', b'"key":"x'), *lines[::-1], *lines]

    with serving(service, BatchPlan(spoil=spoil)) as (_, dsn, desk):
        _right(face.map(point(service, dsn), tmp_path / "run.jsonl"))
    assert desk.run.total() == 7


def test_r68_what_was_not_run_is_asked_live(
    face: Face, service: str, point: Callable[[str, str], str], tmp_path: Path
) -> None:
    """Requests that expired are asked live, at the full price, and alone."""
    plan = BatchPlan(ending="expired", never_run=lambda name: name.endswith(("-2", "-5")))
    live = [json.dumps({"of": number, "is_": number * number}) for number in (2, 5)]
    with serving(service, plan, *live) as (upstream, dsn, _):
        items = face.map(point(service, dsn), tmp_path / "run.jsonl", concurrency=1)
        _right(items)
        assert len(live_calls(upstream)) == 2
        costs = [item.cost_usd or 0.0 for item in items]
        assert costs[2] == costs[5] == 2 * costs[0]


def test_r68_a_cancelled_batch(service: str, point: Callable[[str, str], str], tmp_path: Path) -> None:
    """What a batch left undone that was cancelled is its items' error, where no live call is wanted."""
    plan = BatchPlan(ending="cancelled", never_run=lambda name: name.endswith("-1"))
    how = il.Batch(poll_s=0.01, live=False)
    with serving(service, plan) as (upstream, dsn, _):
        items = Face(awaited=False).map(point(service, dsn), tmp_path / "run.jsonl", batch=how)
        assert live_calls(upstream) == []
    assert isinstance(items[1].error, il.InternalServerError)
    assert items[1].error.retryable
    _right([item for item in items if item.error is None], [*INPUTS[:1], *INPUTS[2:]])


def test_r68_a_request_that_fails_is_its_own_items_error(
    face: Face, service: str, point: Callable[[str, str], str], tmp_path: Path
) -> None:
    """With the class that a live call would have raised; `retry_failed` asks for it in another batch."""
    plan = BatchPlan(fails=lambda name: 429 if name.endswith("-3") else None)
    with serving(service, plan) as (_, dsn, desk):
        spec = point(service, dsn)
        items = face.map(spec, tmp_path / "run.jsonl")
        assert isinstance(items[3].error, il.RateLimitError)
        assert items[3].error.target == spec
        assert [item.error is None for item in items] == [True, True, True, False, True, True, True]
        plan.fails = lambda _: None
        assert face.map(spec, tmp_path / "run.jsonl")[3].recorded
        again = face.map(spec, tmp_path / "run.jsonl", retry_failed=True)
        _right(again)
        assert [len(batch.requests) for batch in desk.batches.values()] == [7, 1]
    assert desk.run.total() == 7


def test_r68_a_batch_that_fails(face: Face, service: str, point: Callable[[str, str], str], tmp_path: Path) -> None:
    """Nothing of it was run: every item has its error, and a rerun may try again. Anthropic knows no such end."""
    if service == "anthropic":
        return
    plan = BatchPlan(ending="failed")
    with serving(service, plan) as (_, dsn, desk):
        spec = point(service, dsn)
        items = face.map(spec, tmp_path / "run.jsonl")
        assert {type(item.error) for item in items} == {il.UpstreamError}
        plan.ending = ""
        _right(face.map(spec, tmp_path / "run.jsonl", retry_failed=True))
    assert desk.run.total() == 7


@pytest.mark.parametrize("error", [il.NotFoundError("gone"), il.LimitExceededError("too large")])
def test_results_that_nobody_can_read_are_their_items_errors(
    face: Face, point: Callable[[str, str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: il.Error
) -> None:
    """Results that are gone or too large end no map: other batches have theirs, nothing is asked live, a rerun may."""
    results, broken_calls = BatchService.results, list[BatchCall]()

    def gone(service: BatchService, call: BatchCall) -> Any:
        if not broken_calls:
            broken_calls.append(call)
            raise error
        return (yield from results(service, call))

    how = il.Batch(poll_s=0.01, max_requests=4)
    with serving("anthropic", BatchPlan()) as (upstream, dsn, _):
        spec, journal = point("anthropic", dsn), tmp_path / "run.jsonl"
        with monkeypatch.context() as broken:
            broken.setattr(BatchService, "results", gone)
            items = face.map(spec, journal, batch=how)
        assert live_calls(upstream) == []
        assert [item.error is None for item in items] == [False] * 4 + [True] * 3
        assert f"has no answer to it; its results cannot be read: {error.message}" in str(items[0].error)
        _right(face.map(spec, journal, batch=how, retry_failed=True))


def test_a_failed_batch_repeats_no_key(
    face: Face, point: Callable[[str, str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that says the key in the reason of a failure: neither the error nor the journal has it."""

    def telling(endpoint: Any) -> Batches:
        batches = batches_at(endpoint)
        assert batches is not None
        read = batches.read
        text = f"no quota for {endpoint.credential.reveal()}"

        def repeating(reply: HttpReply) -> BatchInfo:
            return msgspec.structs.replace(read(reply), message=text)

        return msgspec.structs.replace(batches, read=repeating)

    monkeypatch.setattr(run, "batches_at", telling)
    with serving("openai-chat", BatchPlan(ending="failed")) as (_, dsn, _desk):
        items = face.map(point("openai-chat", dsn), tmp_path / "run.jsonl")
    assert {str(item.error) for item in items} == {"work/gpt-4.1: the batch batch_1 failed: no quota for ***"}
    assert "tok-12345678" not in (tmp_path / "run.jsonl").read_text()


def test_r68_a_batch_beyond_a_quota(face: Face, point: Callable[[str, str], str], tmp_path: Path) -> None:
    """Is every item's RateLimitError, with the way out."""
    plan = BatchPlan(ending="failed", reason="token_limit_exceeded")
    with serving("openai-chat", plan) as (_, dsn, _desk):
        items = face.map(point("openai-chat", dsn), tmp_path / "run.jsonl")
    way_out = "il.Batch(max_requests=…) makes smaller ones, retry_failed=True hands over what failed"
    assert {str(item.error) for item in items} == {f"work/gpt-4.1: the batch batch_1 failed: it failed; {way_out}"}
    assert all(isinstance(item.error, il.RateLimitError) for item in items)


def test_r68_batches_are_cut(
    face: Face, service: str, point: Callable[[str, str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into as many as the most requests of one make; what the answers may come to cuts as well."""
    how = il.Batch(poll_s=0.01, max_requests=3)
    with serving(service, BatchPlan()) as (_, dsn, desk):
        _right(face.map(point(service, dsn), tmp_path / "run.jsonl", batch=how))
        assert [len(batch.requests) for batch in desk.batches.values()] == [3, 3, 1]
        monkeypatch.setattr(run, "MAX_ANSWER_BYTES", 3 * (4 * 1_000 + 1_024))
        face.map(point(service, dsn), tmp_path / "long.jsonl", max_tokens=1_000)
        assert [len(batch.requests) for batch in desk.batches.values()][3:] == [3, 3, 1]


def test_r68_batches_are_cut_by_their_bytes(
    face: Face, point: Callable[[str, str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch has no more bytes than its service takes; what is larger than that alone is asked live."""
    most = 2_000

    def small(endpoint: Any) -> Batches:
        batches = batches_at(endpoint)
        assert batches is not None
        return msgspec.structs.replace(batches, max_bytes=most)

    def ending(text: str) -> str:
        return text[-11:]

    monkeypatch.setattr(run, "_BYTES_AROUND", 0)
    monkeypatch.setattr(run, "batches_at", small)
    large = f"{'x' * most} square of 7"
    with serving("openai-chat", BatchPlan(), '{"of": 7, "is_": 49}') as (upstream, dsn, desk):
        items = face.map(point("openai-chat", dsn), tmp_path / "run.jsonl", [*INPUTS, large], key=ending)
        _right(items, [*INPUTS, "square of 7"])
        assert len(live_calls(upstream)) == 1
        sizes = [len(text) for text in desk.files.values()]
        assert sum(len(batch.requests) for batch in desk.batches.values()) == 7
    assert len(sizes) > 1
    assert most / 2 < max(sizes) <= most


def test_pauses_grow_up_to_a_bound() -> None:
    """From two seconds by half, up to the longest one; a short bound is the first pause."""
    pauses = Pauses(10.0)
    assert [pauses.next().seconds for _ in range(6)] == [2.0, 3.0, 4.5, 6.75, 10.0, 10.0]
    assert Pauses(0.5).next().seconds == 0.5


def test_a_service_that_fails_for_long(
    face: Face, point: Callable[[str, str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ends the map after so many failures in a row, with the error of the last one; a rerun finds the batch."""
    monkeypatch.setattr("interlingua.client.batch.service.MAX_FAILURES", 3)
    with serving("google", BatchPlan(refused=3)) as (_, dsn, desk):
        spec = point("google", dsn)
        with pytest.raises(il.OverloadedError):
            face.map(spec, tmp_path / "run.jsonl")
        _right(face.map(spec, tmp_path / "run.jsonl"))
        assert len(desk.batches) == 1


def test_r68_a_lost_reply(face: Face, service: str, point: Callable[[str, str], str], tmp_path: Path) -> None:
    """A batch whose reply was lost is looked for, and not handed over again; one that was refused is."""
    plan = BatchPlan(lost=1, refused=1)
    with serving(service, plan) as (_, dsn, desk):
        _right(face.map(point(service, dsn), tmp_path / "run.jsonl"))
        assert len(desk.batches) == 1
    assert set(desk.run.values()) == {1}


def test_r68_results_that_were_cut(face: Face, point: Callable[[str, str], str], tmp_path: Path) -> None:
    """A file of results that ends in the middle of a line is fetched again."""
    for service in ("openai-chat", "anthropic"):
        with serving(service, BatchPlan(cut=2)) as (_, dsn, desk):
            _right(face.map(point(service, dsn), tmp_path / f"{service}.jsonl"))
        assert set(desk.run.values()) == {1}


def test_r68_what_has_no_result(point: Callable[[str, str], str], tmp_path: Path) -> None:
    """A request that a finished batch says nothing of is its item's error: it may have been paid for."""
    with serving("openai-chat", BatchPlan(spoil=lambda lines: lines[1:])) as (upstream, dsn, _):
        items = Face(awaited=False).map(point("openai-chat", dsn), tmp_path / "run.jsonl")
        assert live_calls(upstream) == []
    assert [item.error is None for item in items] == [False] + [True] * 6
    assert str(items[0].error) == "work/gpt-4.1: the batch batch_1 (completed) has no answer to it"


def test_r68_an_answer_is_repaired_live(face: Face, point: Callable[[str, str], str], tmp_path: Path) -> None:
    """An answer of the wrong form goes back to the model by a live call; the cost is that of both."""
    plan = BatchPlan(answer=lambda _: "no json")
    with serving("openai-chat", plan, '{"of": 1, "is_": 1}') as (upstream, dsn, _):
        [item] = face.map(point("openai-chat", dsn), tmp_path / "run.jsonl", ["square of 1"], repair="ask")
        assert item.output == Square(1, 1)
        assert len(live_calls(upstream)) == 1
    assert item.cost_usd is not None
    assert item.response is not None
    assert [change.code for change in item.response.changes] == ["output_asked_again"]


def test_r68_a_batch_that_another_run_left(face: Face, point: Callable[[str, str], str], tmp_path: Path) -> None:
    """A run that is left leaves its batch; a rerun with some inputs takes theirs, one with all of them the rest."""
    plan = BatchPlan(looks=1_000_000)
    journal = tmp_path / "run.jsonl"
    with serving("openai-chat", plan) as (_, dsn, desk):
        spec = point("openai-chat", dsn)
        with pytest.raises(il.APITimeoutError, match="a rerun with the same journal waits for them"):
            face.map(spec, journal, batch=il.Batch(poll_s=0.01, wait_s=0.05))
        plan.looks = 0
        _right(face.map(spec, journal, INPUTS[:2]), INPUTS[:2])
        with Journal(journal) as opened:
            assert [len(record.ids) for record in opened.batches()] == [7]
        _right(face.map(spec, journal))
        with Journal(journal) as opened:
            assert opened.batches() == []
        assert len(desk.batches) == 1
    assert set(desk.run.values()) == {1}


@pytest.mark.parametrize("moment", ["submitted", "shown", "results"])
def test_r68_an_interrupt_at_every_step(
    moment: str, service: str, point: Callable[[str, str], str], tmp_path: Path
) -> None:
    """Ctrl-C before the reply to a batch is read, while it is waited for, at its results: the rerun finds the batch."""

    def on(now: str) -> None:
        if now == moment:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with serving(service, BatchPlan(on=on)) as (upstream, dsn, desk):
        spec = point(service, dsn)
        with pytest.raises(KeyboardInterrupt):
            Face(awaited=False).map(spec, tmp_path / "run.jsonl")
        desk.plan.on = lambda _: None
        _right(Face(awaited=False).map(spec, tmp_path / "run.jsonl"))
        assert (len(desk.batches), live_calls(upstream)) == (1, [])
    assert set(desk.run.values()) == {1}


def test_r68_a_batch_that_is_not_there_any_more(
    face: Face, service: str, point: Callable[[str, str], str], tmp_path: Path
) -> None:
    """Is an error with a way out: nobody knows whether the key is another account's; `retry_failed` gives it up."""
    with serving(service, BatchPlan(looks=1_000_000)) as (_, dsn, desk):
        spec = point(service, dsn)
        with pytest.raises(il.APITimeoutError):
            face.map(spec, tmp_path / "run.jsonl", batch=il.Batch(poll_s=0.01, wait_s=0.01))
        desk.batches.clear()
        desk.plan.looks = 0
        with pytest.raises(il.NotFoundError) as raised:
            face.map(spec, tmp_path / "run.jsonl")
        assert "is in the journal: is the key another account's?" in raised.value.__notes__[0]
        _right(face.map(spec, tmp_path / "run.jsonl", retry_failed=True))


def test_r68_a_batch_on_a_later_page(
    service: str, point: Callable[[str, str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch whose reply was lost is found behind those that others have handed over since."""
    module = batches_at(il.Registry({"LLM_WORK": SERVICES[service].dsn.format(host="h")}).resolve("work/m")[0])
    assert module is not None
    monkeypatch.setattr(f"{module.list.__module__}.PAGE", 2)
    with serving(service, BatchPlan(looks=0)) as (_, dsn, desk):
        spec = point(service, dsn)

        def on(moment: str) -> None:
            if moment == "submitted":
                desk.plan.on = lambda _: None
                own = next(iter(desk.batches.values()))
                for number in range(2, 7):
                    name = own.id.replace("1", str(number))
                    stranger = {f"{number}-{place}": request for place, request in enumerate(own.requests.values())}
                    desk.batches[name] = msgspec.structs.replace(
                        own, id=name, requests=stranger, about={**own.about, **STRANGE}, results={}
                    )

        desk.plan.on, desk.plan.lost = on, 1
        _right(Face(awaited=False).map(spec, tmp_path / "run.jsonl"))
        assert len(desk.batches) == 6


def test_a_stranger_that_may_be_ours_is_waited_for_in_bounds(point: Callable[[str, str], str], tmp_path: Path) -> None:
    """At Anthropic a batch of the same size and time may be ours; when it does not end, nothing is handed over."""
    journal = tmp_path / "run.jsonl"
    with serving("anthropic", BatchPlan(looks=1_000_000)) as (_, dsn, desk):
        spec = point("anthropic", dsn)
        desk.plan.lost = 1
        with pytest.raises(il.APITimeoutError, match="msgbatch_1 may be a batch of this journal"):
            Face(awaited=False).map(spec, journal, batch=il.Batch(poll_s=0.01, wait_s=0.05))
        desk.plan.looks = 0
        _right(Face(awaited=False).map(spec, journal))
    assert (desk.run.total(), len(desk.batches)) == (7, 1)


def test_r68_what_failed_and_is_asked_again_has_one_batch(point: Callable[[str, str], str], tmp_path: Path) -> None:
    """A failure of an earlier batch does not settle the one under way, nor does a batch keep its failures to itself."""
    face, journal = Face(awaited=False), tmp_path / "run.jsonl"
    plan = BatchPlan(fails=lambda name: 429 if name.endswith("-0") else None)
    with serving("openai-chat", plan) as (_, dsn, desk):
        spec = point("openai-chat", dsn)
        assert face.map(spec, journal, INPUTS[:2])[0].error is not None
        plan.looks = 1_000_000
        for _ in range(2):  # handed over once, taken over once
            with pytest.raises(il.APITimeoutError):
                face.map(spec, journal, INPUTS[:3], retry_failed=True, batch=il.Batch(poll_s=0.01, wait_s=0.03))
        plan.looks = 0
        assert face.map(spec, journal, INPUTS[2:3], retry_failed=True)[0].error is None
        assert face.map(spec, journal, INPUTS[:1], retry_failed=True)[0].error is not None
        assert len(desk.batches) == 2
        plan.fails = lambda _: None
        _right(face.map(spec, journal, INPUTS[:3], retry_failed=True), INPUTS[:3])
        assert [len(batch.requests) for batch in desk.batches.values()] == [2, 2, 1]
    assert set(desk.run.values()) <= {0, 1}


def test_r68_equal_inputs(face: Face, service: str, point: Callable[[str, str], str], tmp_path: Path) -> None:
    """Are each asked about once, also by a rerun that takes over their batch."""
    inputs = ["square of 2"] * 3
    with serving(service, BatchPlan(looks=1_000_000)) as (_, dsn, desk):
        spec = point(service, dsn)
        with pytest.raises(il.APITimeoutError):
            face.map(spec, tmp_path / "run.jsonl", inputs, batch=il.Batch(poll_s=0.01, wait_s=0.01))
        desk.plan.looks = 0
        _right(face.map(spec, tmp_path / "run.jsonl", inputs), inputs)
    assert (desk.run.total(), len(desk.batches)) == (3, 1)


def test_an_interrupt_leaves_the_batch_running(point: Callable[[str, str], str], tmp_path: Path) -> None:
    """Closing the iteration while it waits cancels nothing; the journal has the batch."""

    def inputs() -> Iterator[str]:
        yield from INPUTS
        raise KeyboardInterrupt

    with serving("openai-chat", BatchPlan()) as (_, dsn, desk):
        spec = point("openai-chat", dsn)
        how = il.Batch(poll_s=0.01, max_requests=4)
        with pytest.raises(KeyboardInterrupt):
            list(il.model(spec).map(inputs(), output=Square, journal=tmp_path / "run.jsonl", batch=how))
        [batch] = desk.batches.values()
        assert (len(batch.requests), batch.is_cancelling) == (4, False)
        _right(Face(awaited=False).map(spec, tmp_path / "run.jsonl"))
        assert [len(batch.requests) for batch in desk.batches.values()] == [4, 3]


def test_an_awaited_map_that_is_left(point: Callable[[str, str], str], tmp_path: Path) -> None:
    """Leaving after the first item keeps what has come, and a rerun has the rest from the same batch."""

    async def first(spec: str) -> il.Item[Square]:
        items = aio.model(spec).map(INPUTS, output=Square, journal=tmp_path / "run.jsonl", batch=QUICK)
        async with aclosing(items):
            async for item in items:
                return item
        raise AssertionError

    with serving("anthropic", BatchPlan()) as (_, dsn, desk):
        spec = point("anthropic", dsn)
        assert asyncio.run(first(spec)).output == Square(0, 0)
        _right(Face(awaited=True).map(spec, tmp_path / "run.jsonl"))
    assert set(desk.run.values()) == {1}


def test_the_first_target_with_batches_takes_them(
    face: Face, point: Callable[[str, str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain hands over to the first target that has batches; what expires goes through the whole chain."""
    live = json.dumps({"of": 1, "is_": 1})
    plan = BatchPlan(never_run=lambda name: name.endswith("-1"))
    with serving("openai-chat", plan) as (upstream, dsn, desk), serving("openai-chat", BatchPlan(), live) as other:
        monkeypatch.setenv("LLM_FIRST", other[1].replace("batches=vendor&", ""))
        items = face.map(f"first/gpt-4.1,{point('openai-chat', dsn)}", tmp_path / "run.jsonl")
        _right(items)
        assert (len(desk.batches), len(live_calls(upstream)), len(live_calls(other[0]))) == (1, 0, 1)
        models = [item.response.model for item in items if item.response is not None]
        assert models == ["work/gpt-4.1", "first/gpt-4.1", *["work/gpt-4.1"] * 5]


@pytest.mark.parametrize(
    ("options", "kind", "why"),
    [
        ({"journal": None}, il.UsageError, "batch=True needs journal=…: a batch takes hours"),
        ({"batch": "yes"}, il.UsageError, "batch takes True or an il.Batch, not a str"),
        ({"batch": il.Batch(poll_s=0)}, il.UsageError, "poll_s takes seconds above 0, not 0"),
        ({"batch": il.Batch(wait_s=-1)}, il.UsageError, "wait_s takes seconds above 0, not -1"),
        ({"batch": il.Batch(max_requests=0)}, il.UsageError, "max_requests takes a number from 1 on, not 0"),
        ({"batch": il.Batch(keep=1)}, il.UsageError, "live and keep take True or False"),  # type: ignore[arg-type]
        (
            {"spec": "deepseek/deepseek-chat"},
            il.ConfigError,
            f"deepseek has no batches; {OTHERS} have them",
        ),
    ],
)
def test_what_cannot_be_batched(
    options: dict[str, Any], kind: type[il.Error], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is said before anything is sent, and before an input is taken."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("DEEPSEEK_API_KEY", "k")
    terms: dict[str, Any] = {"batch": True, "journal": tmp_path / "run.jsonl", **options}
    spec = terms.pop("spec", "openai/gpt-5.6")
    for make in (il.model, aio.model):
        with pytest.raises(kind) as raised:
            make(spec).map(["a"], **terms)
        assert str(raised.value).startswith(why)
    assert not (tmp_path / "run.jsonl").exists()


def test_what_stands_in_is_asked_live(face: Face, tmp_path: Path) -> None:
    """A fake has no batches: the same code runs in a test, input by input."""
    with use(FakeModel('{"of": 1, "is_": 1}')) as fake:
        items = face.map("openai/gpt-5.6", tmp_path / "run.jsonl", ["a", "b"])
    assert [item.output for item in items] == [Square(1, 1)] * 2
    assert len(fake.requests) == 2


def test_what_is_refused_is_asked_of_the_chain(point: Callable[[str, str], str], tmp_path: Path) -> None:
    """An input that the target cannot be asked is its own item's error, as in a live map, and costs nothing."""
    with serving("openai-chat", BatchPlan()) as (upstream, dsn, desk):
        spec = point("openai-chat", dsn)
        inputs = ["square of 1", [il.user("a"), il.Message("assistant", (il.ToolCall("x", "f", "{}"),))]]
        items = Face(awaited=False).map(spec, tmp_path / "run.jsonl", inputs)
        assert live_calls(upstream) == []
    assert items[0].output == Square(1, 1)
    assert isinstance(items[1].error, il.HistoryError)
    assert desk.run.total() == 1


def test_a_key_that_is_refused_ends_the_map(point: Callable[[str, str], str], tmp_path: Path) -> None:
    """What holds for every batch is raised, with its class."""
    with serving("anthropic", BatchPlan(), key="another") as (_, dsn, desk), pytest.raises(il.AuthenticationError):
        Face(awaited=False).map(point("anthropic", dsn), tmp_path / "run.jsonl")
    assert not desk.batches
    with Journal(tmp_path / "run.jsonl") as journal:
        assert journal.batches() == []  # it was refused: a rerun has nothing to look for
