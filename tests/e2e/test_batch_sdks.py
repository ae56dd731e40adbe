"""The official SDKs drive the imitated batches: what the vendors' own clients can work with is right."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.testing.upstream import BatchPlan
from tests.support.batches import live_calls, serving

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
genai = pytest.importorskip("google.genai")


def _chat_line(name: str, **more: Any) -> dict[str, Any]:
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "square of 3"}], **more}
    return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}


def _file(*lines: dict[str, Any]) -> tuple[str, bytes]:
    return "in.jsonl", b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_openai_files_and_batches() -> None:
    """A file is handed up, a batch made, listed, shown until it has ended; its two files have every result."""
    with serving("openai-chat", BatchPlan(looks=2)) as (upstream, dsn, desk):
        base_url = f"http://{dsn.partition('@')[2].partition('?')[0]}"
        with openai.OpenAI(api_key="k", base_url=base_url, max_retries=0) as client:
            file = client.files.create(file=_file(_chat_line("a"), _chat_line("b", nonsense=1)), purpose="batch")
            batch = client.batches.create(
                input_file_id=file.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={"interlingua": "m"},
            )
            assert batch.status == "in_progress"
            assert batch.request_counts is not None
            assert batch.request_counts.total == 2
            statuses = [client.batches.retrieve(batch.id).status for _ in range(3)]
            assert statuses == ["in_progress", "in_progress", "completed"]
            [ended] = list(client.batches.list(limit=1))
            assert (ended.id, ended.metadata) == (batch.id, {"interlingua": "m"})
            assert (ended.request_counts.completed, ended.request_counts.failed) == (1, 1)
            right = json.loads(client.files.content(ended.output_file_id or "").text)
            wrong = json.loads(client.files.content(ended.error_file_id or "").text)
    assert right["custom_id"] == "a"
    assert json.loads(right["response"]["body"]["choices"][0]["message"]["content"]) == {"of": 3, "is_": 9}
    assert (wrong["custom_id"], wrong["response"]["status_code"]) == ("b", 400)
    assert desk.run == {"a": 1, "b": 1}
    assert live_calls(upstream) == []


def test_openai_refuses_what_is_no_batch() -> None:
    """A line for another path, an id that is there twice and two models fail the whole; a wrong window is a 400."""
    lines = [_chat_line("a"), _chat_line("a"), {**_chat_line("b"), "url": "/v1/responses"}, _chat_line("c", model="o3")]
    with serving("openai-chat", BatchPlan()) as (_, dsn, _desk):
        base_url = f"http://{dsn.partition('@')[2].partition('?')[0]}"
        with openai.OpenAI(api_key="k", base_url=base_url, max_retries=0) as client:
            file = client.files.create(file=_file(*lines), purpose="batch")
            made: dict[str, Any] = {"input_file_id": file.id, "endpoint": "/v1/chat/completions"}
            batch = client.batches.create(**made, completion_window="24h")
            assert batch.status == "failed"
            assert batch.errors is not None
            problems: list[Any] = batch.errors.data or []
            codes = [(problem.code, problem.line) for problem in problems]
            assert codes == [("invalid_line", 2), ("invalid_line", 3), ("model_mismatch", None)]
            with pytest.raises(openai.BadRequestError):
                client.batches.create(**made, completion_window="48h")
            with pytest.raises(openai.NotFoundError):
                client.batches.retrieve("batch_9")


def test_openai_cancels() -> None:
    """A batch that is cancelled ends at the next look, with nothing run; it cannot be cancelled again."""
    with serving("openai-chat", BatchPlan(looks=9)) as (_, dsn, desk):
        base_url = f"http://{dsn.partition('@')[2].partition('?')[0]}"
        with openai.OpenAI(api_key="k", base_url=base_url, max_retries=0) as client:
            file = client.files.create(file=_file(_chat_line("a")), purpose="batch")
            batch = client.batches.create(
                input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
            )
            assert client.batches.cancel(batch.id).status == "cancelling"
            assert client.batches.retrieve(batch.id).status == "cancelled"
            with pytest.raises(openai.ConflictError):
                client.batches.cancel(batch.id)
    assert not desk.run


def test_anthropic_batches() -> None:
    """Succeeded, errored and expired requests of one batch, as the SDK reads them; lists have pages."""
    params: Any = {
        "model": "claude-sonnet-5",
        "max_tokens": 99,
        "messages": [{"role": "user", "content": "square of 4"}],
    }
    plan = BatchPlan(looks=1, never_run=lambda name: name == "late", fails=lambda name: 529 if name == "busy" else None)
    with serving("anthropic", plan) as (_, dsn, _desk):
        base_url = f"http://{dsn.partition('@')[2].partition('/')[0]}"
        with anthropic.Anthropic(api_key="k", base_url=base_url, max_retries=0) as client:
            batches = client.messages.batches
            requests: Any = [{"custom_id": name, "params": params} for name in ("right", "late", "busy")]
            batch = batches.create(requests=requests)
            assert (batch.processing_status, batch.request_counts.processing) == ("in_progress", 3)
            assert batches.retrieve(batch.id).processing_status == "in_progress"
            assert batches.retrieve(batch.id).processing_status == "ended"
            batches.create(requests=requests[:1])
            assert [each.id for each in batches.list(limit=1)] == ["msgbatch_2", "msgbatch_1"]
            assert batches.cancel("msgbatch_2").processing_status == "canceling"
            results = {result.custom_id: result.result for result in batches.results(batch.id)}
            with pytest.raises(anthropic.BadRequestError):
                batches.create(requests=[{"custom_id": "a b", "params": params}])
    assert json.loads(results["right"].message.content[0].text) == {"of": 4, "is_": 16}
    assert results["late"].type == "expired"
    assert results["busy"].error.error.type == "overloaded_error"


def test_google_batches() -> None:
    """Requests in the body, an operation that is looked at, results beside their keys; lists and cancelling."""
    plan = BatchPlan(looks=1, fails=lambda name: 400 if name == "wrong" else None)
    with serving("google", plan) as (_, dsn, _desk):
        base_url = f"http://{dsn.partition('@')[2].partition('/')[0]}"
        client = genai.Client(api_key="k", http_options={"base_url": base_url})
        contents = [{"role": "user", "parts": [{"text": "square of 5"}]}]
        source: Any = [{"contents": contents, "metadata": {"key": name}} for name in ("right", "wrong")]
        job = client.batches.create(model="gemini-3-pro", src=source, config={"display_name": "mark"})
        assert (job.state, job.display_name) == ("JOB_STATE_RUNNING", "mark")
        assert client.batches.get(name=job.name).state == "JOB_STATE_RUNNING"
        ended = client.batches.get(name=job.name)
        assert ended.state == "JOB_STATE_SUCCEEDED"
        right, wrong = ended.dest.inlined_responses
        assert (right.metadata, wrong.metadata) == ({"key": "right"}, {"key": "wrong"})
        assert json.loads(right.response.text) == {"of": 5, "is_": 25}
        assert wrong.error.code == 400
        client.batches.create(model="gemini-3-pro", src=source)
        assert [each.name for each in client.batches.list(config={"page_size": 1})] == ["batches/b2", "batches/b1"]
        client.batches.cancel(name="batches/b2")
        assert client.batches.get(name="batches/b2").state == "JOB_STATE_CANCELLED"
        client.close()
