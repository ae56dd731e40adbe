"""`il batches` and `il extract --batch`, over the imitated services."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

import interlingua as il
from interlingua.cli.main import main
from interlingua.client.batch.batch import providers_with_batches
from interlingua.testing.upstream import BatchPlan
from tests.support.batches import live_calls, serving

Capture = pytest.CaptureFixture[str]
OTHERS = f"{', '.join(providers_with_batches()[:-1])} and {providers_with_batches()[-1]}"
CREATED = 1_795_000_000.0


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlingua.client.batch.service.FIRST_PAUSE_S", 0.01)
    (tmp_path / "mails").mkdir()
    for number in range(3):
        (tmp_path / "mails" / f"{number}.txt").write_text(f"square of {number}")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def _extract(*more: str) -> int:
    schema = "of int, is_ int"
    return main(["extract", "mails/*", "--schema", schema, "-o", "rows.jsonl", "-m", "work/gpt-4.1", *more])


def test_r68_extract_by_a_batch(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are there, at half the price; a rerun asks nobody, and a dry run says so."""
    with serving("openai-chat", BatchPlan()) as (upstream, dsn, desk):
        monkeypatch.setenv("LLM_WORK", dsn)
        assert _extract("--batch", "--dry-run") == 0
        assert _extract("--batch") == 0
        assert _extract("--batch") == 0
        assert live_calls(upstream) == []
        assert [len(batch.requests) for batch in desk.batches.values()] == [3]
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    outputs = {row["key"]: row["output"] for row in rows if "output" in row}
    assert outputs == {f"mails/{number}.txt": {"of": number, "is_": number * number} for number in range(3)}
    hint = [
        "il: by batches: they may take a day, and `il batches` shows how far they are",
        "il: Ctrl-C leaves them running; the same command takes their results",
    ]
    out, err = capsys.readouterr()
    assert out.splitlines() == [f"new     mails/{number}.txt: text" for number in range(3)]
    assert err.splitlines() == [
        "il: 3 of 3 would be sent; nothing was sent",
        *hint,
        "il: 3 of 3 done; $0.0002",
        *hint,
        "il: 3 of 3 done; 3 were there before",
    ]


def test_r68_an_interrupted_extract(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C leaves the batch running and says so; a dry run shows its inputs as batched; the rerun has them."""

    def interrupted(moment: str) -> None:
        if moment == "shown":
            os.kill(os.getpid(), signal.SIGINT)

    with serving("openai-chat", BatchPlan(looks=2, on=interrupted)) as (_, dsn, desk):
        monkeypatch.setenv("LLM_WORK", dsn)
        assert _extract("--batch") == 130
        assert "il: the batches go on; the same command takes their results, `il batches cancel` ends them" in (
            capsys.readouterr().err.splitlines()
        )
        assert _extract("--batch", "--dry-run") == 0
        assert capsys.readouterr().out.splitlines() == [f"batched mails/{number}.txt: text" for number in range(3)]
        assert not next(iter(desk.batches.values())).is_cancelling
        desk.plan.on = lambda _: None
        assert _extract("--batch") == 0
        assert len(desk.batches) == 1


def test_what_was_handed_over_stays_where_it_is_wanted(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--keep` deletes nothing at the provider; alone it is refused."""
    with serving("openai-chat", BatchPlan()) as (_, dsn, desk):
        monkeypatch.setenv("LLM_WORK", dsn)
        assert _extract("--keep") == 2
        assert capsys.readouterr().err == "il: extract: --keep belongs to --batch\n"
        assert _extract("--batch", "--keep") == 0
        assert (len(desk.batches), desk.deleted) == (1, [])


def test_what_a_batch_left_undone_fails_where_no_live_call_is_wanted(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--no-live` makes an error of it; alone it is refused, and so is a provider without batches."""
    plan = BatchPlan(ending="expired", never_run=lambda name: name.endswith("-1"))
    with serving("openai-chat", plan) as (upstream, dsn, _):
        monkeypatch.setenv("LLM_WORK", dsn)
        assert _extract("--no-live") == 2
        assert _extract("--batch", "--no-live") == 1
        assert live_calls(upstream) == []
        monkeypatch.setenv("LLM_WORK", dsn.replace("batches=vendor", "batches=none"))
        assert _extract("--batch") == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "il: extract: --no-live belongs to --batch"
    assert "il: mails/1.txt: work/gpt-4.1: the batch batch_1 (expired) has no answer to it" in lines
    assert lines[-1].startswith("il: work has no batches; openai, openai-chat, ")


@pytest.mark.parametrize(
    ("name", "identity", "statuses", "mark"),
    [
        ("openai-chat", "batch_1", ("in_progress", "cancelling"), True),
        ("anthropic", "msgbatch_1", ("in_progress", "canceling"), False),
        ("google", "batches/b1", ("BATCH_STATE_RUNNING", "BATCH_STATE_RUNNING"), True),
        ("mistral", "batch_1", ("RUNNING", "CANCELLATION_REQUESTED"), True),
    ],
)
def test_r68_batches_are_listed_shown_and_cancelled(
    name: str, identity: str, statuses: tuple[str, str], mark: bool, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one provider and of all, as a table and as JSON."""
    plan = BatchPlan(looks=9, clock=lambda: CREATED)
    model = {"anthropic": "claude-sonnet-5", "google": "gemini-3-pro"}.get(name, "gpt-4.1")
    with serving(name, plan) as (_, dsn, desk):
        monkeypatch.setenv("LLM_WORK", dsn)
        how = il.Batch(poll_s=0.01, wait_s=0.001)
        with pytest.raises(il.APITimeoutError):
            list(il.model(f"work/{model}").map(["square of 1", "square of 2"], journal="run.jsonl", batch=how))
        word = next(iter(next(iter(desk.batches.values())).requests)).partition("-")[0] if mark else "-"
        assert main(["batches", "list", "work"]) == 0
        assert main(["batches"]) == 0
        first, second, third, fourth = capsys.readouterr().out.splitlines()
        assert (first, second) == (third, fourth)
        assert first.split() == ["provider", "id", "status", "done", "requests", "created", "mark"]
        assert second.split() == ["work", identity, statuses[0], "0", "2", "2026-11-18", "11:06", "UTC", word]
        assert main(["batches", "cancel", "work", identity]) == 0
        assert capsys.readouterr().err == f"il: work: {identity} is being cancelled\n"
        assert main(["batches", "list", "work", "--json"]) == 0
        [row] = json.loads(capsys.readouterr().out)
        assert (row["provider"], row["id"], row["status"], row["created_at"]) == (
            "work",
            identity,
            statuses[1],
            CREATED,
        )
        assert main(["batches", "show", "work", identity]) == 0
        assert capsys.readouterr().out.splitlines()[1].split()[:2] == ["work", identity]
        assert main(["batches", "show", "work", "batches/none"]) == 1


def test_what_batches_does_not_take(capsys: Capture) -> None:
    """Half a question, a wrong number and a provider without batches are told in one line each."""
    for arguments in (["show"], ["cancel", "openai"], ["list", "openai", "x"], ["--limit", "0"], ["list", "deepseek"]):
        assert main(["batches", *arguments]) == 2
    assert main(["batches"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "il: batches show: which one? `il batches show PROVIDER ID`",
        "il: batches cancel: which one? `il batches cancel PROVIDER ID`",
        "il: batches list: it takes a provider alone; `il batches show PROVIDER ID` shows one batch",
        "il: batches: argument --limit: takes a whole number from 1 on, not 0; `il batches --help` lists the options",
        f"il: deepseek has no batches; {OTHERS} have them",
        "il: no provider with batches has a key here; `il providers` lists the key variables",
    ]


def test_an_entry_that_shows_no_batch_is_skipped(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are listed, and a line says so, of one provider and of all."""
    with serving("openai-chat", BatchPlan(looks=9)) as (_, dsn, desk):
        monkeypatch.setenv("LLM_WORK", dsn)
        how = il.Batch(poll_s=0.01, wait_s=0.001)
        for number in (1, 2):
            with pytest.raises(il.APITimeoutError):
                list(il.model("work/gpt-4.1").map(["square of 1"], journal=f"{number}.jsonl", batch=how))
        desk.batches["batch_2"].id = "a b"
        for arguments in (["batches", "list", "work"], ["batches"]):
            assert main(arguments) == 0
            out, err = capsys.readouterr()
            assert [line.split()[1] for line in out.splitlines()[1:]] == ["batch_1"]
            problem = "entry 0 /id: an id is missing, or is no plain word"
            assert err.splitlines() == [
                f"il: work: entries of the list of batches are skipped, since they show none: {problem}"
            ]


def test_an_id_that_climbs_is_asked_of_nobody(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """An id of the command line becomes a path: one with steps in it is refused before anything is sent."""
    monkeypatch.setenv("LLM_WORK", "openai-chat://key-0123456789@127.0.0.1:1?tls=0&batches=vendor")
    assert [main(["batches", action, "work", "../files/x"]) for action in ("show", "cancel")] == [2, 2]
    refusal = "il: a batch is named by the id that `il batches` lists: printable ASCII without `..`"
    assert capsys.readouterr().err.splitlines() == [refusal, refusal]
