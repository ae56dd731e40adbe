"""What things may cost, in counts that are the same on every machine and under any load; times are for the bench.

Counted are the calls of Python functions of this package, generators that go on included. A budget is some 15 % above
what was counted when it was written, for interpreters that differ and for repairs; a feature that needs more says so
by raising it here.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import FrameType

import pytest
from msgspec.structs import replace

import interlingua as il
from bench.canned import answers, encoded, request_body
from bench.peers.libraries import ours
from bench.rows.agents import URL, conversation
from bench.rows.axes import AXES, fresh, request_at, translate
from bench.rows.codec import cold_trip
from bench.rows.imports import distributions, taken
from interlingua import aio
from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.terms import Terms, read_budget
from interlingua.gateway.serving.server import GatewayServer
from interlingua.gateway.settings import GatewayKey
from interlingua.transport.base import Timeouts
from interlingua.transport.override import Override, overriding
from interlingua.wire.http import Headers, HttpRequest
from tests.support.gateway import GatewayRequest, body_of, gateway
from tests.support.wire import Wire, answering, post, settled

KEY = "sk-il-" + "a" * 48
HERE = str(Path(il.__file__).parent)
BUDGETS = {
    "translated request": 110,
    "translated request, never seen": 170,
    "translated reply": 66,
    "turn of an agent that marks what is to be cached": 460,
    "library call": 194,
    "library call, awaited": 196,
    "library call, tools never seen": 228,
    "library stream": 1_000,
    "gateway passed": 228,
    "gateway passed, for a key with limits": 400,
    "gateway passed, stream": 640,
    "gateway translated": 455,
    "gateway translated, stream": 1_250,
    "gateway served": 16,
}
"""Calls of functions of this package, by operation."""


class _Reply:
    """A canned reply, blocking."""

    status = 200

    def __init__(self, path: str, *, stream: bool) -> None:
        whole, streamed = answers(100)[path]
        self.headers = (("content-type", "text/event-stream" if stream else "application/json"),)
        self._pieces = [streamed if stream else whole]

    def read(self) -> bytes:
        return self._pieces.pop() if self._pieces else b""

    def close(self) -> None:
        """Nothing is open."""


class _AsyncReply:
    """The same, awaited."""

    def __init__(self, reply: _Reply) -> None:
        self.status, self.headers, self._reply = reply.status, reply.headers, reply

    async def read(self) -> bytes:
        return self._reply.read()

    async def close(self) -> None:
        self._reply.close()


def _reply(request: HttpRequest) -> _Reply:
    path = "/v1/messages" if request.url.endswith("/messages") else "/v1/chat/completions"
    return _Reply(path, stream=b'"stream":true' in request.body.replace(b" ", b""))


class _Transport:
    def open(self, request: HttpRequest, timeouts: Timeouts) -> _Reply:
        return _reply(request)

    def close(self) -> None:
        """Nothing is kept."""


class _AsyncTransport:
    async def open(self, request: HttpRequest, timeouts: Timeouts) -> _AsyncReply:
        return _AsyncReply(_reply(request))

    async def close(self) -> None:
        """Nothing is kept."""


def _calls(run: Callable[[], object]) -> int:
    """How many calls of functions of this package `run` makes, once it is warm."""
    for _ in range(3):
        run()
    count = 0

    def seen(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        if event == "call" and frame.f_code.co_filename.startswith(HERE):
            count += 1

    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    """One event loop for everything that is awaited."""
    with asyncio.Runner() as running:
        yield running


@pytest.fixture
def runs(runner: asyncio.Runner, tmp_path: Path) -> Iterator[dict[str, Callable[[], object]]]:
    """Each operation, over canned replies."""
    keeping = _with_keys(tmp_path)
    with overriding(Override(lambda _: _Transport(), lambda _: _AsyncTransport(), answers=True)):
        yield _translation() | _library(runner) | _gateway(runner) | _keys(runner, keeping) | _server(runner)
    runner.run(keeping.close())


def _translation() -> dict[str, Callable[[], object]]:
    read, write = get_dialect("anthropic").decode_request, get_dialect("openai-chat").encode_request
    options, turns = EncodeOptions(target=Target(model="m")), conversation(1, range(4, 12))

    def turn() -> object:
        return write(read(HttpRequest(url=URL, body=next(turns)), DecodeOptions()).request, options)

    return {
        "translated request": ours.translated_request,
        "translated request, never seen": cold_trip,
        "translated reply": ours.translated_reply,
        "turn of an agent that marks what is to be cached": turn,
    }


def _library(runner: asyncio.Runner) -> dict[str, Callable[[], object]]:
    model = il.model("groq/some-model", system="Be brief.")
    awaiting = aio.model("groq/some-model", system="Be brief.")

    lists = count()

    def never_seen() -> object:
        number = next(lists)
        return model.generate(ours.MESSAGES, tools=[replace(tool, name=f"{tool.name}_{number}") for tool in ours.TOOLS])

    def stream() -> int:
        with model.stream(ours.MESSAGES, tools=ours.TOOLS) as events:
            return sum(1 for _ in events)

    return {
        "library call": lambda: model.generate(ours.MESSAGES, tools=ours.TOOLS),
        "library call, awaited": lambda: runner.run(awaiting.generate(ours.MESSAGES, tools=ours.TOOLS)),
        "library call, tools never seen": never_seen,
        "library stream": stream,
    }


def _asking(
    runner: asyncio.Runner, serving: Gateway, model: str, *, stream: bool = False, key: str = ""
) -> Callable[[], object]:
    """One request to a gateway."""
    asked = GatewayRequest(
        path="/v1/chat/completions",
        headers=(("host", "localhost"), ("content-type", "application/json"), *_credential(key)),
        body=encoded(request_body(model), stream=stream),
        peer="127.0.0.1",
    )

    async def answered() -> bytes:
        return await body_of(serving.begin(asked) or await serving.answer(asked))

    return lambda: runner.run(answered())


def _credential(key: str) -> Headers:
    return (("authorization", f"Bearer {key}"),) if key else ()


def _with_keys(folder: Path) -> Gateway:
    """A gateway with a key that has every limit, and a file of keys."""
    budget = read_budget("1000000000000 tokens/day")
    terms = Terms(rpm=1_000_000, tpm=10_000_000_000, concurrency=4_096, budgets=(budget,))
    key = GatewayKey(name="bench", hash=hash_key(KEY), models=("groq/*",), terms=terms)
    return gateway(keys=(key,), key_file=str(folder / "keys.sqlite"))


def _keys(runner: asyncio.Runner, serving: Gateway) -> dict[str, Callable[[], object]]:
    return {"gateway passed, for a key with limits": _asking(runner, serving, "groq/some-model", key=KEY)}


def _gateway(runner: asyncio.Runner) -> dict[str, Callable[[], object]]:
    serving = gateway()
    models = {"passed": "groq/some-model", "translated": "anthropic/some-model"}
    return {
        f"gateway {what}{', stream' if stream else ''}": _asking(runner, serving, model, stream=stream)
        for what, model in models.items()
        for stream in (False, True)
    }


def _server(runner: asyncio.Runner) -> dict[str, Callable[[], object]]:
    """A request from the bytes that come to those that go, with a gateway that answers at once."""

    async def connected() -> Wire:
        return Wire(GatewayServer(answering()))

    async def served(wire: Wire) -> None:
        wire.send(post(b"{}"))
        await settled()

    wire = runner.run(connected())
    return {"gateway served": lambda: runner.run(served(wire))}


def test_operations_call_no_more_functions_than_they_may(runs: dict[str, Callable[[], object]]) -> None:
    """Requests of 10 tools and 10 messages, answers with two calls, streams of 100 pieces."""
    counted = {name: _calls(run) for name, run in runs.items()}
    assert counted.keys() == BUDGETS.keys()
    assert {name: count for name, count in counted.items() if count > BUDGETS[name]} == {}


@pytest.mark.parametrize("axis", AXES)
def test_no_size_of_a_request_is_a_cliff(axis: str) -> None:
    """Messages and tools call no more functions among many than among few, texts and pictures as many at any size."""
    small, large = (25, 250) if axis == "tools" else (10, 600)
    requests = [request_at(axis, size) for size in (small, large)]
    few, many = [_calls(lambda request=request: translate(fresh(request))) for request in requests]
    assert many <= few * (large / small if axis in ("messages", "tools") else 1) * 1.2


def test_a_plain_install_is_few_packages() -> None:
    """This one and what it needs without any extra."""
    assert distributions() <= 6


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the operating system tells no process its memory")
def test_importing_and_starting_are_small() -> None:
    """20 MB over bare Python, no more modules than msgspec loads, 60 MB with the gateway's server loaded and made."""
    bare_mb, _ = taken("pass")
    library_mb, modules = taken("import interlingua")
    _, theirs = taken("import msgspec")
    serving = "import interlingua.gateway.serving.serve, uvloop\nfrom interlingua import gateway\ngateway.app()"
    gateway_mb, _ = taken(serving)
    assert library_mb - bare_mb <= 20
    assert modules <= theirs
    assert gateway_mb <= 60
