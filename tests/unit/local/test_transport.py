"""The local transport: both faces against a scripted engine, then the real model."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlingua.errors import APITimeoutError, ConfigError
from interlingua.local import transport as module
from interlingua.local import weights
from interlingua.local.chat import Plan
from interlingua.local.engine import Deliver, Job
from interlingua.local.reply import Done, EngineEvent, Fault, Piece
from interlingua.local.transport import AsyncLocalTransport, LocalTransport, endpoint
from interlingua.transport.base import Timeouts
from interlingua.wire.http import HttpRequest

SSE = (("content-type", "text/event-stream"),)
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather forecast for a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
Exchange = tuple[int, tuple[tuple[str, str], ...], list[bytes]]
Face = Callable[[HttpRequest, Timeouts], Exchange]


def asking(model: str = "m.gguf", text: str = "Hi", **members: Any) -> HttpRequest:
    """A request for one message."""
    body = {"model": model, "messages": [{"role": "user", "content": text}], **members}
    return HttpRequest(url=endpoint(model), body=json.dumps(body).encode())


def blocking(request: HttpRequest, timeouts: Timeouts) -> Exchange:
    """The whole exchange, blocking."""
    reply = LocalTransport().open(request, timeouts)
    try:
        return reply.status, reply.headers, list(iter(reply.read, b""))
    finally:
        reply.close()


def awaited(request: HttpRequest, timeouts: Timeouts) -> Exchange:
    """The whole exchange, awaited."""

    async def exchange() -> Exchange:
        reply = await AsyncLocalTransport().open(request, timeouts)
        pieces: list[bytes] = []
        try:
            while piece := await reply.read():
                pieces.append(piece)
            return reply.status, reply.headers, pieces
        finally:
            await reply.close()

    return asyncio.run(exchange())


@pytest.fixture(params=[blocking, awaited])
def face(request: pytest.FixtureRequest) -> Face:
    """Each of the two faces."""
    return request.param


class Script:
    """Delivers events from another thread, each after a pause."""

    def __init__(self) -> None:
        self.events: list[EngineEvent] = [Piece("He"), Piece("y"), Done("stop", 3, 0, 2)]
        self.pause_s = 0.0
        self.jobs: list[Job] = []
        self.found: list[str] = []

    def submit(self, plan: Plan, deliver: Deliver) -> Job:
        """Start delivering."""
        job = Job(plan, deliver)
        self.jobs.append(job)
        threading.Thread(target=self._run, args=(job,), daemon=True).start()
        return job

    def _run(self, job: Job) -> None:
        for event in self.events:
            time.sleep(self.pause_s)
            job.deliver(event)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """A scripted engine behind every model name."""
    made = Script()

    def submit_to(path: Path) -> Callable[[Plan, Deliver], Job]:
        return made.submit

    def find(name: str) -> tuple[None, Path]:
        made.found.append(name)
        return None, Path(name)

    monkeypatch.setattr(module, "_submit_to", submit_to)
    monkeypatch.setattr(weights, "find", find)
    return made


def test_a_whole_reply_is_one_body(face: Face, script: Script) -> None:
    """JSON with the model's name as the client wrote it."""
    status, headers, (body,) = face(asking(), Timeouts())
    reply = json.loads(body)
    assert (status, headers) == (200, (("content-type", "application/json"),))
    assert (reply["model"], reply["choices"][0]["message"]["content"]) == ("m.gguf", "Hey")
    assert reply["id"].startswith("chatcmpl-")


def test_a_stream_is_events_that_end_with_done(face: Face, script: Script) -> None:
    """A piece for each piece, `data:` frames, `[DONE]` last."""
    status, headers, pieces = face(asking(stream=True), Timeouts())
    assert (status, headers, len(pieces)) == (200, SSE, 3)
    frames = b"".join(pieces).decode().split("\n\n")
    assert frames[-2:] == ["data: [DONE]", ""]
    texts = [json.loads(frame.removeprefix("data: "))["choices"][0]["delta"].get("content") for frame in frames[:-2]]
    assert texts == ["He", "y", None]


def test_a_refused_request_is_a_status(face: Face, script: Script) -> None:
    """In the dialect's error shape, before anything runs."""
    status, _, (body,) = face(asking(n=3), Timeouts())
    assert status == 400
    assert json.loads(body)["error"] == {
        "message": "the local model gives one choice: n must be 1",
        "type": "invalid_request_error",
        "param": "n",
        "code": "unsupported_value",
    }
    assert face(HttpRequest(url=endpoint("m.gguf"), body=b"{"), Timeouts())[0] == 400
    assert script.jobs == []


def test_a_fault_before_the_first_piece_is_a_status(face: Face, script: Script) -> None:
    """Streams too: nothing was sent yet."""
    script.events = [Fault(503, "Full.", "unavailable_error", "overloaded")]
    status, headers, (body,) = face(asking(stream=True), Timeouts())
    assert (status, headers) == (503, (("content-type", "application/json"),))
    assert json.loads(body)["error"]["code"] == "overloaded"


def test_a_fault_in_a_stream_is_an_event_and_no_end(face: Face, script: Script) -> None:
    """The stream ends without `[DONE]`, after an error frame."""
    script.events = [Piece("He"), Fault(500, "Broken.", "server_error")]
    status, _, pieces = face(asking(stream=True), Timeouts())
    assert status == 200
    error = {"message": "Broken.", "type": "server_error", "param": None, "code": None}
    assert json.loads(pieces[-1].removeprefix(b"data: ")) == {"error": error}


def test_an_engine_that_did_not_take_the_grammar_is_a_refusal(face: Face, script: Script) -> None:
    """Text where JSON must be: 400, and the generation is cancelled."""
    script.events = [Piece("Sure"), Piece(", here")]
    status, _, (body,) = face(asking(tools=[TOOL]), Timeouts())
    assert status == 400
    assert json.loads(body)["error"]["code"] == "unsupported_schema"
    assert script.jobs[0].cancelled


@pytest.mark.parametrize(
    ("timeouts", "stream", "phase"),
    [
        (Timeouts(first_byte_s=0.05), True, "first_byte"),
        (Timeouts(first_byte_s=0.05), False, "first_byte"),
        (Timeouts(idle_s=0.05), True, "idle"),
        (Timeouts(total_s=0.05), True, "total"),
    ],
)
def test_deadlines_cancel_the_generation(
    face: Face, script: Script, timeouts: Timeouts, stream: bool, phase: str
) -> None:
    """Each phase raises its own error, and the engine is freed."""
    script.pause_s = 1.5
    with pytest.raises(APITimeoutError) as caught:
        face(asking(stream=stream), timeouts)
    assert caught.value.phase == phase
    assert script.jobs[0].cancelled


def test_closing_cancels(script: Script) -> None:
    """What is read afterwards is the end."""
    script.pause_s = 0.05
    reply = LocalTransport().open(asking(stream=True), Timeouts())
    reply.close()
    reply.close()
    assert script.jobs[0].cancelled
    assert list(iter(reply.read, b""))[1:] == []


def test_a_cancelled_task_cancels_the_generation(script: Script) -> None:
    """Cancellation while the first piece is awaited."""
    script.pause_s = 5.0

    async def cancel() -> None:
        task = asyncio.ensure_future(AsyncLocalTransport().open(asking(), Timeouts()))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert script.jobs[0].cancelled


def test_the_body_names_the_model_where_the_address_does_not(script: Script) -> None:
    """Addresses with a model win; paths survive the address."""
    blocking(asking("/a b/m.gguf"), Timeouts())
    blocking(HttpRequest(url="local:///chat/completions", body=asking("other").body), Timeouts())
    assert script.found == ["/a b/m.gguf", "other"]


def test_missing_weights_are_said_when_the_exchange_is_opened(
    face: Face, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A ConfigError with the command that helps."""
    monkeypatch.setenv("INTERLINGUA_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match="il models pull tiny"):
        face(asking("tiny"), Timeouts())
    with pytest.raises(ConfigError, match="there is no such model"):
        face(HttpRequest(url="local:///x", body=b"[]"), Timeouts())


def answer(request: HttpRequest) -> dict[str, Any]:
    """The first choice of a whole reply of the real model."""
    return json.loads(blocking(request, Timeouts())[2][0])["choices"][0]


@pytest.mark.local_model
@pytest.mark.parametrize("city", ["Oslo", "Tokyo", "Paris"])
def test_the_tiny_model_calls_a_tool(tiny: Path, city: str) -> None:
    """A forced call with the right argument, at temperature 0."""
    choice = answer(
        asking("tiny", f"What is the weather in {city}?", tools=[TOOL], tool_choice="required", temperature=0)
    )
    assert choice["finish_reason"] == "tool_calls"
    function = choice["message"]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("get_weather", {"city": city})


@pytest.mark.local_model
def test_the_tiny_model_fills_in_a_schema(tiny: Path) -> None:
    """Every answer fits the schema; this one is right, too."""
    members = {"name": {"type": "string"}, "age": {"type": "integer"}}
    schema = {"type": "object", "properties": members, "required": ["name", "age"]}
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}}
    choice = answer(asking("tiny", "Maria is 29 years old.", response_format=form, temperature=0))
    assert json.loads(choice["message"]["content"]) == {"name": "Maria", "age": 29}


@pytest.mark.local_model
def test_the_tiny_model_answers_with_a_result(tiny: Path) -> None:
    """After a result it talks, and says what the tool said."""
    call = {"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    messages = [
        {"role": "user", "content": "What is the weather in Oslo?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "light rain, 4 degrees"},
    ]
    choice = answer(asking("tiny", messages=messages, tools=[TOOL], temperature=0))
    assert choice["finish_reason"] == "stop"
    assert "4 degrees" in choice["message"]["content"]


@pytest.mark.local_model
def test_a_cut_call_says_length(tiny: Path) -> None:
    """The arguments end where the limit was."""
    choice = answer(asking("tiny", "Weather in Oslo?", tools=[TOOL], tool_choice="required", max_tokens=15))
    assert choice["finish_reason"] == "length"
    assert not choice["message"]["tool_calls"][0]["function"]["arguments"].endswith("}")


@pytest.mark.local_model
def test_recursive_schemas_reach_the_engine(tiny: Path) -> None:
    """References inside a tool's schema work where the schema was moved to."""
    node = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
        "required": ["next"],
    }
    schema = {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "required": ["root"],
        "$defs": {"node": node},
    }
    tool = {"type": "function", "function": {"name": "walk", "parameters": schema}}
    choice = answer(
        asking(
            "tiny",
            "Walk.",
            tools=[TOOL, tool],
            tool_choice={"type": "function", "function": {"name": "walk"}},
            max_tokens=60,
        )
    )
    assert choice["message"]["tool_calls"][0]["function"]["arguments"].startswith('{"root": {"next": ')


@pytest.mark.local_model
def test_a_schema_that_the_engine_cannot_take_is_refused(tiny: Path) -> None:
    """A look-ahead in a pattern: 400, not free text."""
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "string", "pattern": "a(?=b)"}}}
    status, _, (body,) = blocking(asking("tiny", response_format=form, stream=True), Timeouts())
    assert (status, json.loads(body)["error"]["code"]) == (400, "unsupported_schema")


@pytest.mark.local_model
def test_cancelling_frees_the_engine_soon(tiny: Path) -> None:
    """A long prompt that nobody waits for any more does not hold the next one up."""
    with pytest.raises(APITimeoutError):
        blocking(asking("tiny", "word " * 3_000), Timeouts(first_byte_s=0.2))
    began = time.process_time()
    blocking(asking("tiny", max_tokens=2), Timeouts())
    assert time.process_time() - began < 8  # of this process alone, whatever else the machine does
