"""A map by batches, beside its answers: hooks around each input, what is deleted at the provider, strange services."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import interlingua as il
from interlingua import aio
from interlingua.client.batch import run
from interlingua.client.batch.batch import batches_at
from interlingua.client.journal import Journal
from interlingua.dialects._batches import BatchCall, Batches, BatchInfo, BatchPage, BatchResult, StrangeEntry
from interlingua.testing.upstream import BatchPlan
from interlingua.testing.upstream.batches.desk import Refused
from interlingua.wire.http import HttpReply
from tests.support.batches import SERVICES, live_calls, numbered, serving

MODELS = {"anthropic": "claude-sonnet-5", "google": "gemini-3-pro"}
INPUTS = ["square of 1", "square of 2"]
ANSWERS = ['{"of": 1, "is_": 1}', '{"of": 2, "is_": 4}']
QUICK = il.Batch(poll_s=0.01)
DELETED = {
    "openai-chat": ["file-1", "output-of-batch_1"],
    "openai-responses": ["file-1", "output-of-batch_1"],
    "mistral": ["file-1", "output-of-batch_1"],
    "anthropic": ["msgbatch_1"],
    "google": ["batches/b1"],
}


@pytest.fixture(params=list(SERVICES))
def service(request: pytest.FixtureRequest) -> str:
    """Every service."""
    return request.param


@pytest.fixture
def mapped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[il.Item[Any]]]:
    """Maps the inputs by batches of a service, with one journal for all maps of a test."""

    def mapped(name: str, dsn: str, *, awaited: bool = False, **options: Any) -> list[il.Item[Any]]:
        monkeypatch.setenv("LLM_WORK", dsn)
        spec = f"work/{MODELS.get(name, 'gpt-4.1')}"
        options = {"batch": QUICK, "journal": tmp_path / "run.jsonl", **options}
        if not awaited:
            return list(il.model(spec).map(INPUTS, **options))

        async def listed() -> list[il.Item[Any]]:
            return [item async for item in aio.model(spec).map(INPUTS, **options)]

        return asyncio.run(listed())

    return mapped


Mapped = Callable[..., list[il.Item[Any]]]


def _broken(monkeypatch: pytest.MonkeyPatch, **members: Callable[[Batches], Any]) -> None:
    """Have members of a service's batches replaced."""

    def replaced(endpoint: Any) -> Batches:
        batches = batches_at(endpoint)
        assert batches is not None
        return msgspec.structs.replace(batches, **{name: make(batches) for name, make in members.items()})

    monkeypatch.setattr(run, "batches_at", replaced)


# What is deleted


def test_r68_what_was_handed_over_is_deleted(service: str, mapped: Mapped, tmp_path: Path) -> None:
    """When all results are in the journal: the files, or the batch that holds them; `keep` leaves them."""
    with serving(service, BatchPlan()) as (_, dsn, desk):
        assert [item.text for item in mapped(service, dsn)] == ANSWERS
        assert desk.deleted == DELETED[service]
        keep = il.Batch(poll_s=0.01, keep=True)
        mapped(service, dsn, batch=keep, journal=tmp_path / "other.jsonl")
        assert desk.deleted == DELETED[service]
        assert len(desk.batches) == 2
    with Journal(tmp_path / "run.jsonl") as journal:
        assert journal.batches() == []


def test_r68_a_deletion_that_fails_is_a_warning(service: str, mapped: Mapped, tmp_path: Path) -> None:
    """A deletion is tried three times; then a warning names the calls, and the batch is over all the same."""
    with serving(service, BatchPlan(undeletable=2)) as (_, dsn, desk):
        mapped(service, dsn)
        assert desk.deleted == DELETED[service]
        desk.plan.undeletable = 99
        with pytest.warns(UserWarning, match=r"what the provider keeps of the batch .* stays there: DELETE /"):
            items = mapped(service, dsn, journal=tmp_path / "other.jsonl")
        assert [item.text for item in items] == ANSWERS
    with Journal(tmp_path / "other.jsonl") as journal:
        assert journal.batches() == []


def test_what_cannot_be_read_stays_at_the_provider(mapped: Mapped) -> None:
    """A result that is missing may still be there for a person to look: nothing of that batch is deleted."""
    with serving("openai-chat", BatchPlan(spoil=lambda lines: lines[1:])) as (_, dsn, desk):
        assert [item.error is None for item in mapped("openai-chat", dsn)] == [False, True]
        assert desk.deleted == []


def test_the_file_of_a_batch_that_was_refused_is_deleted(mapped: Mapped, tmp_path: Path) -> None:
    """A service that takes the file and not the batch keeps nothing."""

    def on(moment: str) -> None:
        if moment == "before":
            raise Refused(403, "not you")

    with serving("openai-chat", BatchPlan(on=on)) as (_, dsn, desk):
        with pytest.raises(il.PermissionDeniedError):
            mapped("openai-chat", dsn)
        assert (list(desk.files), desk.deleted) == (["file-1"], ["file-1"])
    with Journal(tmp_path / "run.jsonl") as journal:
        assert journal.batches() == []


def test_a_file_is_handed_up_once(mapped: Mapped) -> None:
    """A batch that is refused for a while is made of the file that is there."""
    with serving("openai-chat", BatchPlan(refused=2)) as (_, dsn, desk):
        mapped("openai-chat", dsn)
        assert list(desk.files) == ["file-1"]


# Hooks


class Masking(il.Hook):
    """Numbers the questions, writes 7 for 1 on the way out, and says in the answer what it did."""

    def __init__(self) -> None:
        """No question has come."""
        self.questions = 0

    def before(self, request: il.Request, context: Any) -> il.Request | il.Response[Any]:
        """The question with another number; of 2 the answer itself."""
        self.questions += 1
        text = request.messages[0].text
        if text == "square of 2":
            return il.Response(parts=(il.TextPart("four"),), finish_reason="stop")
        context.memo["number"] = text[-1]
        return msgspec.structs.replace(request, messages=(il.user("square of 7"),))

    def after(self, response: il.Response[Any], context: Any) -> il.Response[Any]:
        """The answer with the number that it belongs to."""
        return msgspec.structs.replace(response, parts=(il.TextPart(f"{context.memo['number']}: {response.text}"),))


@pytest.mark.parametrize("awaited", [False, True])
def test_r68_hooks_run_around_each_input(mapped: Mapped, *, awaited: bool) -> None:
    """Before it is handed over and after its answer, once each, with one memory; one that answers asks nobody."""
    hook = Masking()
    with serving("openai-chat", BatchPlan()) as (upstream, dsn, desk):
        items = mapped("openai-chat", dsn, awaited=awaited, hooks=[hook])
        assert [item.text for item in items] == ['1: {"of": 7, "is_": 49}', "four"]
        assert (hook.questions, live_calls(upstream)) == (2, [])
        assert [b"square of 7" in request.body for request in next(iter(desk.batches.values())).requests.values()] == [
            True
        ]
    assert items[0].response is not None
    assert [str(change.code) for change in items[0].response.changes] == ["request_hooked", "response_hooked"]
    assert items[0].cost_usd is not None
    assert [item.recorded for item in mapped("openai-chat", dsn, hooks=[hook])] == [True, True]


def test_hooks_run_in_the_run_that_takes_the_results(mapped: Mapped) -> None:
    """A run that takes over a batch asks its hooks anew, so that what they remember is there."""
    with serving("openai-chat", BatchPlan(looks=1_000_000)) as (_, dsn, desk):
        with pytest.raises(il.APITimeoutError):
            mapped("openai-chat", dsn, hooks=[Masking()], batch=il.Batch(poll_s=0.01, wait_s=0.01))
        desk.plan.looks = 0
        items = mapped("openai-chat", dsn, hooks=[Masking()])
        assert [item.text for item in items] == ['1: {"of": 7, "is_": 49}', "four"]
        assert len(desk.batches) == 1


def test_a_hook_that_refuses_is_its_inputs_error(mapped: Mapped) -> None:
    """Whatever a hook raises is the error of its own input; the others go on."""

    class Refusing(il.Hook):
        def before(self, request: il.Request, context: Any) -> il.Request:
            del context
            if request.messages[0].text == "square of 1":
                raise ValueError("not that")
            return request

    with serving("openai-chat", BatchPlan()) as (upstream, dsn, desk):
        items = mapped("openai-chat", dsn, hooks=[Refusing()])
        assert [type(item.error) for item in items] == [ValueError, type(None)]
        assert (items[1].text, live_calls(upstream)) == (ANSWERS[1], [])
        assert [len(batch.requests) for batch in desk.batches.values()] == [1]


# Strange services


def _strange(mark: str) -> Callable[[Batches], Callable[[HttpReply], BatchPage]]:
    """A list that shows none of the batches that a service has, and an entry with that mark in their place."""

    def made(batches: Batches) -> Callable[[HttpReply], BatchPage]:
        def read(reply: HttpReply) -> BatchPage:
            page = batches.read_list(reply)
            own = mark or next(iter(page.batches)).mark
            entry = StrangeEntry(own, "entry 0 /status: a text is missing")
            return page._replace(strange=(entry,), batches=page.batches if mark else [])

        return read

    return made


def test_r68_a_strange_entry_does_not_stop_the_recovery(mapped: Mapped, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is skipped with a warning; one with the mark of the journal ends the map: a second batch may cost twice."""
    with serving("openai-chat", BatchPlan(lost=1)) as (_, dsn, desk):
        _broken(monkeypatch, read_list=_strange("another"))
        with pytest.warns(
            UserWarning, match=r"entries of the list of batches are skipped, .*: entry 0 /status: a text"
        ):
            assert [item.text for item in mapped("openai-chat", dsn)] == ANSWERS
        assert len(desk.batches) == 1
    with serving("openai-chat", BatchPlan(lost=1)) as (_, dsn, desk):
        _broken(monkeypatch, read_list=_strange(""))
        with pytest.raises(il.DecodeError, match="the batch of this journal cannot be read: entry 0 /status"):
            mapped("openai-chat", dsn, retry_failed=True, max_tokens=5)
        assert len(desk.batches) == 1


@pytest.mark.parametrize("page", [BatchPage([], is_cut=True), BatchPage([], "again")])
def test_a_list_without_an_end_hands_nothing_over_again(
    mapped: Mapped, monkeypatch: pytest.MonkeyPatch, page: BatchPage
) -> None:
    """A place that nobody can read, or that comes again and again: the batch may be behind it."""

    def same_page(_: Batches) -> Callable[[HttpReply], BatchPage]:
        return lambda _: page

    def first_page(batches: Batches) -> Callable[[str], BatchCall]:
        return lambda _: batches.list("")

    with serving("google", BatchPlan(lost=1)) as (upstream, dsn, desk):
        _broken(monkeypatch, read_list=same_page, list=first_page)
        with pytest.raises(
            il.DecodeError, match="its list of batches has no end that can be reached; nothing is handed"
        ):
            mapped("google", dsn)
        assert len(desk.batches) == 1
        assert len(upstream.requests) <= 3


def test_a_batch_that_cannot_be_read_leaves_the_others(
    mapped: Mapped, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A batch that is shown in no form that can be read is its own inputs' error."""
    monkeypatch.setattr("interlingua.client.batch.service.MAX_FAILURES", 2)

    def made(batches: Batches) -> Callable[[HttpReply], BatchInfo]:
        def read(reply: HttpReply) -> BatchInfo:
            info = batches.read(reply)
            if info.id == "batch_1" and info.state != "running":
                raise il.DecodeError("an id is missing, or is no plain word", path="/output_file_id")
            return info

        return read

    with serving("openai-chat", BatchPlan()) as (_, dsn, desk):
        _broken(monkeypatch, read=made)
        items = mapped("openai-chat", dsn, batch=il.Batch(poll_s=0.01, max_requests=1))
        assert "the batch batch_1 cannot be read: an id is missing" in str(items[0].error)
        assert items[1].text == ANSWERS[1]
        assert desk.deleted == ["file-2", "output-of-batch_2"]
    with Journal(tmp_path / "run.jsonl") as journal:
        assert [record.batch for record in journal.batches()] == ["batch_1"]


def test_results_that_always_break_off_are_read_up_to_there(mapped: Mapped, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of results whose last line is never whole gives the answers of the others."""
    monkeypatch.setattr("interlingua.client.batch.service.MAX_FAILURES", 2)

    def made(batches: Batches) -> Any:
        def read(reply: HttpReply) -> Iterator[BatchResult]:
            return batches.results(msgspec.structs.replace(reply, body=reply.body[:-9]))

        return read

    with serving("openai-chat", BatchPlan(answer=numbered)) as (_, dsn, _desk):
        _broken(monkeypatch, results=made)
        items = mapped("openai-chat", dsn)
    assert items[0].text == ANSWERS[0]
    assert "has no answer to it; its results cannot be read: " in str(items[1].error)
