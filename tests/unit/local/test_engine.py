"""The engine: order, bounds, cancellation and release, with a scripted server; then the real one."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from interlingua.errors import ConfigError
from interlingua.local import engine as module
from interlingua.local.chat import Plan, plan
from interlingua.local.engine import Engine, Job, engine_for, release_all
from interlingua.local.reply import Done, EngineEvent, Fault, Piece

USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}}


def planned(**members: Any) -> Plan:
    """A plan for one message."""
    return plan(json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}], **members}).encode())


def said(text: str | None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk as the engine writes it."""
    return {"choices": [{"index": 0, "delta": {"content": text, **more}, "finish_reason": finish}]}


class Server:
    """Says `chunks`, waits at `gate`, and remembers what it was asked."""

    def __init__(self, chunks: list[Any]) -> None:
        self.chunks = chunks
        self.asked: list[dict[str, Any]] = []
        self.said = 0
        self.gate = threading.Event()
        self.gate.set()

    def handle_chat_completions(self, payload: dict[str, Any], callback: Callable[[Any], bool]) -> None:
        """Call back for each chunk until the answer is true."""
        self.asked.append(payload)
        for chunk in self.chunks:
            self.gate.wait(60)
            if isinstance(chunk, Exception):
                raise chunk
            self.said += 1
            if callback(chunk):
                return


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server that the engine loads instead of the real one."""
    scripted = Server([said(None), said("He"), said("y"), said(None, "stop"), {"choices": [], "usage": USAGE}])

    def load(path: Path, context_tokens: int) -> Server:
        return scripted

    def grammar(schema: dict[str, Any]) -> str:
        return f"grammar of {len(schema['anyOf'])}"

    monkeypatch.setattr(module, "_load", load)
    library = SimpleNamespace(json_schema_to_grammar=grammar)
    monkeypatch.setattr(module, "_module", lambda: library)
    return scripted


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine, released at the end."""
    made = Engine(Path("m.gguf"), max_waiting=2)
    yield made
    made.release()


def collect(engine: Engine, asked: Plan) -> list[EngineEvent]:
    """Every event of one job."""
    events: queue.Queue[EngineEvent] = queue.Queue()
    engine.submit(asked, events.put)
    out = [events.get(timeout=5)]
    while isinstance(out[-1], Piece):
        out.append(events.get(timeout=5))
    return out


def test_an_answer_is_its_pieces_and_an_end(server: Server, engine: Engine) -> None:
    """Empty chunks say nothing; usage and finish reason come with the end."""
    assert collect(engine, planned()) == [Piece("He"), Piece("y"), Done("stop", 5, 1, 2)]
    (payload,) = server.asked
    assert payload["messages"] == [{"role": "user", "content": "Hi"}]
    assert (payload["stream"], payload["return_progress"], payload["temperature"]) == (True, True, 0.2)
    assert "grammar" not in payload


def test_a_schema_goes_along_as_a_grammar(server: Server, engine: Engine) -> None:
    """The library makes it from the union."""
    collect(engine, planned(tools=[{"type": "function", "function": {"name": "go"}}]))
    assert server.asked[0]["grammar"] == "grammar of 2"


def test_a_limit_and_reasoning_are_told(server: Server, engine: Engine) -> None:
    """Finish reason `length`, and thinking set apart."""
    server.chunks = [said(None, reasoning_content="Hm."), said("A"), said(None, "length")]
    assert collect(engine, planned()) == [Piece("Hm.", thinking=True), Piece("A"), Done("length")]


@pytest.mark.parametrize(
    ("chunk", "fault"),
    [
        (
            {"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 4}},
            Fault(
                400,
                "the conversation has 9 tokens; the local model takes 4",
                "invalid_request_error",
                "context_length_exceeded",
            ),
        ),
        (
            {"error": {"code": 503, "message": "Loading", "type": "unavailable_error"}},
            Fault(503, "Loading", "unavailable_error"),
        ),
        ({"error": {"code": "x"}}, Fault(500, "the local engine failed", "server_error")),
        (ValueError("no"), Fault(400, "the local engine refuses the request: no", "invalid_request_error")),
        (KeyError("k"), Fault(500, "the local engine failed: KeyError('k')", "server_error")),
        (said("A"), Fault(500, "the local engine stopped without an end", "server_error")),
    ],
)
def test_what_goes_wrong_is_the_last_event(server: Server, engine: Engine, chunk: Any, fault: Fault) -> None:
    """Errors of the engine, exceptions, and an end that does not come; the next job is served."""
    good, server.chunks = server.chunks, [chunk]
    assert collect(engine, planned())[-1] == fault
    server.chunks = good
    assert collect(engine, planned())[-1] == Done("stop", 5, 1, 2)


def test_cancelling_stops_between_two_tokens(server: Server, engine: Engine) -> None:
    """The callback's answer ends the generation; nothing is delivered afterwards."""
    server.gate.clear()
    events: queue.Queue[EngineEvent] = queue.Queue()
    job = engine.submit(planned(), events.put)
    job.cancelled = True
    server.gate.set()
    assert collect(engine, planned())[-1] == Done("stop", 5, 1, 2)
    assert events.empty()
    assert server.said <= 1 + 5


def test_the_queue_is_bounded(server: Server, engine: Engine) -> None:
    """One runs, two wait, the next is told 503; the others are answered in order."""
    server.gate.clear()
    events: queue.Queue[tuple[int, EngineEvent]] = queue.Queue()

    def deliver(number: int) -> Callable[[EngineEvent], None]:
        return lambda event: events.put((number, event))

    engine.submit(planned(), deliver(0))
    while not server.asked:
        time.sleep(0.001)
    for number in (1, 2, 3):
        engine.submit(planned(), deliver(number))
    full = Fault(503, "too many requests wait for the local model", "unavailable_error", "overloaded")
    assert events.get(timeout=5) == (3, full)
    server.gate.set()
    ends = [item for item in (events.get(timeout=5) for _ in range(9)) if isinstance(item[1], Done)]
    assert [number for number, _ in ends] == [0, 1, 2]


def test_release_tells_whoever_waits(server: Server) -> None:
    """Running and waiting jobs end with a fault, and the thread ends."""
    engine = Engine(Path("m.gguf"))
    server.gate.clear()
    events: queue.Queue[EngineEvent] = queue.Queue()
    for _ in range(2):
        engine.submit(planned(), events.put)
    while not server.asked:
        time.sleep(0.001)
    opener = threading.Timer(0.05, server.gate.set)
    opener.start()
    engine.release()
    opener.join()
    assert [events.get(timeout=1) for _ in range(2)] == [module._RELEASED] * 2
    assert not [thread for thread in threading.enumerate() if thread.name == "interlingua-local m.gguf"]
    engine.release()


def test_a_closed_loop_cancels(server: Server) -> None:
    """Who cannot take events any more no longer wants the answer."""

    def closed(event: EngineEvent) -> None:
        raise RuntimeError("Event loop is closed")

    job = Job(planned(), closed)
    job.deliver(Piece("x"))
    assert job.cancelled


def test_one_engine_for_each_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two names of one file share an engine; releasing forgets it."""
    monkeypatch.setattr(module, "_engines", {})
    (tmp_path / "link.gguf").symlink_to(tmp_path / "m.gguf")
    first = engine_for(tmp_path / "m.gguf")
    assert engine_for(tmp_path / "link.gguf") is first
    release_all()
    assert engine_for(tmp_path / "m.gguf") is not first


def test_without_the_engine_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the command."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigError, match=r"pip install 'interlingua\[local\]'"):
        Engine(Path("m.gguf")).submit(planned(), lambda event: None)


@pytest.mark.local_model
def test_a_file_that_is_no_model_is_refused(tiny: Path, tmp_path: Path) -> None:
    """The library's failure becomes one sentence."""
    file = tmp_path / "bad.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    engine = Engine(file)
    (fault,) = collect(engine, planned())
    engine.release()
    sentence = "bad.gguf cannot be loaded; is it a GGUF file of a language model?"
    assert fault == Fault(500, sentence, "server_error", "model_not_loaded")


SCRIPT = """
import os, sys
from interlingua.local.transport import LocalTransport, endpoint
from interlingua.transport.base import Timeouts
from interlingua.wire.http import HttpRequest

body = b'{"model": "m", "messages": [{"role": "user", "content": "Count to a thousand."}], "stream": true}'
def ask():
    return LocalTransport().open(HttpRequest(url=endpoint(sys.argv[1]), body=body), Timeouts())

with_child = ask(); with_child.read(); with_child.close()
child = os.fork()
if child == 0:
    reply = ask(); reply.read(); reply.close()
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
still_running = ask(); still_running.read()
"""


@pytest.mark.local_model
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_forks_and_exits_are_quiet(tiny: Path) -> None:
    """A child uses an engine of its own and exits; the parent exits while it generates; nobody prints a word."""
    command = [sys.executable, "-W", "error", "-c", SCRIPT, str(tiny)]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
