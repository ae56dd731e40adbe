"""`raw=True` keeps the provider's own reply beside the answer, and out of whatever shows or stores it."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import interlingua as il
import interlingua.aio
from interlingua.client.call import raw as raw_module
from interlingua.testing import cassette, faults, use
from interlingua.testing.upstream import Fail, Upstream
from tests.support.server import Answer, chunked, reply, serving

SECRET = "only-in-the-raw-reply"
CHAT: dict[str, Any] = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "big", "system_fingerprint": SECRET,
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Oslo."}, "finish_reason": "stop"}],
}  # fmt: skip
OK = Answer((reply(json.dumps(CHAT).encode(), headers="content-type: application/json\r\n"),))
CHUNKS: list[dict[str, Any]] = [
    {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "big", "system_fingerprint": SECRET,
     "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Os"}, "finish_reason": None}]},
    {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "big",
     "choices": [{"index": 0, "delta": {"content": "lo."}, "finish_reason": "stop"}]},
]  # fmt: skip
FRAMES = [*(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in CHUNKS), b": still here\n\n", b"data: [DONE]\n\n"]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
STREAM = Answer((HEAD, chunked(*FRAMES)))
BUSY = Answer((reply(b"{}", status="503 Service Unavailable"),))
MODELS = {
    "openai-chat": "openai-chat/gpt-4.1", "openai-responses": "openai-responses/gpt-5.6",
    "anthropic": "anthropic/claude-opus-5", "google": "google/gemini-3-pro", "ollama": "ollama/qwen3",
    "cohere": "cohere/command-a-03-2025", "unified": "hub/smart", "bedrock": "bedrock/us.anthropic.claude-opus-5",
}  # fmt: skip


def lab(port: int) -> il.Registry:
    """A registry in which `lab` is a server on loopback."""
    return il.Registry({"LLM_LAB": f"openai://127.0.0.1:{port}/v1?tls=0"})


def raw_of_ways(model: il.Model, twin: interlingua.aio.Model) -> Iterator[Any]:
    """What is kept of a stream, blocking and awaited."""
    with model.stream("Capital of Norway?") as stream:
        yield stream.finish().raw

    async def ask() -> Any:
        async with twin.stream("Capital of Norway?") as stream:
            return (await stream.finish()).raw

    yield asyncio.run(ask())


# What is kept


def test_r54_nothing_is_kept_unasked() -> None:
    """Neither whole nor streamed."""
    with serving([OK, STREAM]) as server:
        model = il.model("lab/big", registry=lab(server.port))
        assert model.generate("Capital of Norway?").raw is None
        with model.stream("Capital of Norway?") as stream:
            assert stream.finish().raw is None


def test_r54_a_whole_reply_is_its_body_as_plain_values() -> None:
    """By an option of the call, of the model, and of a copy; blocking and awaited."""
    with serving([OK, OK, OK, OK]) as server:
        model = il.model("lab/big", registry=lab(server.port))
        assert model.generate("Hi", raw=True).raw == CHAT
        assert model.with_options(raw=True).generate("Hi").raw == CHAT
        assert il.model("lab/big", registry=lab(server.port), raw=True).generate("Hi").raw == CHAT
        twin = interlingua.aio.model("lab/big", registry=lab(server.port), raw=True)
        assert asyncio.run(twin.generate("Hi")).raw == CHAT


def test_r54_a_stream_is_its_frames() -> None:
    """The JSON of each event in order, and the text of what is none; comments are no frames."""
    with serving([STREAM, STREAM]) as server:
        ways = raw_of_ways(
            il.model("lab/big", registry=lab(server.port), raw=True),
            interlingua.aio.model("lab/big", registry=lab(server.port), raw=True),
        )
        for raw in ways:
            assert raw == [*CHUNKS, "[DONE]"]


def test_r54_a_chain_keeps_the_reply_of_the_target_that_served() -> None:
    """Not that of the one that failed; whole and streamed."""
    with serving([BUSY, BUSY]) as busy, serving([OK, STREAM]) as server:
        registry = il.Registry({
            "LLM_BUSY": f"openai://127.0.0.1:{busy.port}/v1?tls=0", "LLM_LAB": f"openai://127.0.0.1:{server.port}/v1?tls=0",
        })  # fmt: skip
        model = il.model("busy/big,lab/big", registry=registry, raw=True, retries=0)
        answer = model.generate("Hi")
        assert (answer.model, answer.raw) == ("lab/big", CHAT)
        with model.stream("Hi") as stream:
            assert stream.finish().raw == [*CHUNKS, "[DONE]"]


@pytest.mark.parametrize("dialect", MODELS)
def test_r54_every_dialect_keeps_its_own_form(dialect: str) -> None:
    """A whole answer is an object that says the words; the frames of a stream say them, piece by piece."""
    with Upstream(dialect, "It is Oslo, I think.", "It is Oslo, I think.").standing():
        registry = il.Registry({"LLM_HUB": "interlingua://hub.example"})
        model = il.model(MODELS[dialect], registry=registry, raw=True, max_tokens=99)
        answer = model.generate("Capital of Norway?")
        body = json.dumps(answer.raw)
        assert body.startswith("{")
        assert "It is Oslo, I think." in body
        with model.stream("Capital of Norway?") as stream:
            frames = stream.finish().raw
    assert type(frames) is list
    assert frames[1:]
    assert "Oslo" in json.dumps(frames)


def test_r54_answers_inside_the_process_keep_what_they_give() -> None:
    """The fake, and a provider in code, in the form in which they are asked."""
    registry = il.Registry({})

    class Echo:
        def generate(self, request: il.Request, call: il.ProviderCall) -> il.Response[Any]:
            return il.Response(parts=(il.TextPart(f"{call.model}: {request.messages[-1].text}"),), finish_reason="stop")

    registry.register_scheme("echo", Echo)
    assert il.model("fake/x", raw=True).generate("Hi").raw["object"] == "chat.completion"
    model = il.model("echo/small", registry=registry, raw=True)
    assert model.generate("Hi").raw["text"] == "small: Hi"
    with model.stream("Hi") as stream:
        frames = stream.finish().raw
    assert [frame["type"] for frame in frames] == [
        "stream_start", "block_start", "text_delta", "block_end", "stream_end",
    ]  # fmt: skip


def test_r54_typed_answers_keep_it_too() -> None:
    """Whole and streamed."""
    with use('{"city": "Oslo"}'):
        model = il.model("fake/x", raw=True)
        answer = model.generate("Capital of Norway?", output=dict[str, str])
        assert (answer.output, answer.raw["object"]) == ({"city": "Oslo"}, "chat.completion")
        with model.stream("Capital of Norway?", output=dict[str, str]) as stream:
            whole = stream.finish()
        assert whole.output == {"city": "Oslo"}
        assert isinstance(whole.raw, list)


def test_r54_a_whole_reply_to_a_stream_is_its_body() -> None:
    """A server that cannot stream."""
    with serving([OK]) as server, il.model("lab/big", registry=lab(server.port), raw=True).stream("Hi") as stream:
        assert stream.finish().raw == CHAT


def test_r54_a_stream_that_broke_off_keeps_the_frames_that_came() -> None:
    """`partial` has them."""
    with serving([Answer((HEAD, chunked(FRAMES[0], end=False)), close=True)]) as server:
        stream = il.model("lab/big", registry=lab(server.port), raw=True, retries=0).stream("Hi")
        with pytest.raises(il.IncompleteStreamError) as caught, stream:
            list(stream)
    assert caught.value.partial is not None
    assert caught.value.partial.raw == [CHUNKS[0]]
    assert stream.partial is not None
    assert stream.partial.raw == [CHUNKS[0]]


def test_r54_agents_keep_it_in_their_steps() -> None:
    """And out of what is stored of the run."""
    with use("Done."):
        run = il.Agent(il.model("fake/x", raw=True)).run("Go.")
    assert run.steps[0].response.raw["object"] == "chat.completion"
    assert "chat.completion" not in il.dump(run)


# Its bound


@pytest.mark.parametrize("over", [0, 1])
def test_r54_a_long_reply_is_cut_off_and_said(monkeypatch: pytest.MonkeyPatch, over: int) -> None:
    """At the edge it is whole; beyond it the text of the beginning, and an entry of the changes."""
    assert raw_module.MAX_RAW_BYTES == 8 * 1024 * 1024
    body = json.dumps(CHAT).encode()
    monkeypatch.setattr(raw_module, "MAX_RAW_BYTES", len(body) - over)
    with serving([OK]) as server:
        answer = il.model("lab/big", registry=lab(server.port), raw=True).generate("Hi")
    said = [(change.code, change.detail) for change in answer.changes]
    if over:
        assert answer.raw == body[:-1].decode()
        assert said == [("raw_cut_off", f"1 bytes of it are beyond {len(body) - 1}")]
    else:
        assert (answer.raw, said) == (CHAT, [])
    assert answer.text == "Oslo."


@pytest.mark.parametrize("over", [0, 1])
def test_r54_a_long_stream_keeps_its_first_frames(monkeypatch: pytest.MonkeyPatch, over: int) -> None:
    """Those that are whole within the bound."""
    size = sum(map(len, FRAMES))
    monkeypatch.setattr(raw_module, "MAX_RAW_BYTES", size if not over else len(FRAMES[0]) + 3)
    with serving([STREAM]) as server, il.model("lab/big", registry=lab(server.port), raw=True).stream("Hi") as stream:
        answer = stream.finish()
    assert answer.raw == ([CHUNKS[0]] if over else [*CHUNKS, "[DONE]"])
    assert [change.code for change in answer.changes] == (["raw_cut_off"] if over else [])
    assert answer.text == "Oslo."


# Where it is not


def test_r54_it_is_in_no_text_and_no_encoding() -> None:
    """`repr`, canonical JSON, msgspec's encodings, a pickle and a copy of its fields have nothing of it."""
    with serving([OK]) as server:
        answer = il.model("lab/big", registry=lab(server.port), raw=True).generate("Hi")
    assert answer.raw["system_fingerprint"] == SECRET
    bare = msgspec.structs.replace(answer, extra={})  # where an unknown member of the answer is kept by right
    loaded = il.load(il.dump(bare))
    for told in (
        repr(bare), str(bare), il.dump(bare), msgspec.json.encode(bare).decode(), str(msgspec.to_builtins(bare)),
        repr(msgspec.structs.asdict(bare)), repr(pickle.dumps(bare)), repr(msgspec.msgpack.encode(bare)),
        il.dump([il.StreamEnd(bare)]), repr(il.StreamEnd(bare)),
    ):  # fmt: skip
        assert SECRET not in told
    assert loaded.raw is None
    assert pickle.loads(pickle.dumps(bare)).raw is None
    assert copy.copy(bare).raw == CHAT
    assert bare == loaded


def test_r54_it_is_in_no_log_no_journal_and_no_tape(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither is it told to observers; `extra` is not written by any of them beside the answer."""
    seen: list[Any] = []
    caplog.set_level(logging.DEBUG)
    with serving([OK, OK]) as server:
        model = il.model("lab/big", registry=lab(server.port), raw=True)
        with il.on_event(seen.append, content=True), cassette(tmp_path / "tape.json"):
            assert model.generate("Hi").raw is not None
        (item,) = model.map(["Hi"], journal=tmp_path / "journal.jsonl")
        assert item.response is not None
        assert item.response.raw == CHAT
    finished = [event for event in seen if isinstance(event, il.CallFinished)]
    assert [event.response.raw for event in finished if event.response] == [None]
    texts = [caplog.text, repr(seen)]
    texts += [(tmp_path / name).read_text(encoding="utf-8") for name in ("tape.json", "journal.jsonl")]
    assert [text.count('"object"') + text.count("chat.completion") for text in texts] == [0, 0, 0, 0]


def test_what_is_no_truth_value_is_refused() -> None:
    """As with any other flag."""
    with pytest.raises(il.UsageError, match="raw takes True or False, not 'all'"):
        il.model("fake/x", raw="all")  # pyright: ignore[reportArgumentType] - what is tested


def test_a_drill_and_failures_keep_nothing() -> None:
    """Errors have no reply of their own; the next target's is kept."""
    with Upstream("openai-chat", Fail(500), "Fine.").standing():
        answer = il.model("a/b,c/d", raw=True, retries=0).generate("Hi")
    assert [attempt.outcome for attempt in answer.attempts][-1] == "served"
    with use("Oslo."), faults({"a/*": "503"}):
        assert il.model("a/b,c/d", raw=True).generate("Hi").raw["object"] == "chat.completion"
