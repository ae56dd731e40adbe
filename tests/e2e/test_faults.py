"""The same faults over real sockets, played by a broken service: what comes of them is what the fault transport says.

Whoever drills with injected faults must see what a real one would have done; and a real one leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import gc
import random
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

import interlingua as il
from interlingua import aio
from interlingua.client.state import forget_state
from interlingua.errors import Error
from interlingua.testing import faults
from interlingua.testing.upstream import Say, Upstream
from interlingua.testing.upstream.loopback import serving
from interlingua.transport.fault import Fault, FaultPlan, parse_fault
from interlingua.transport.inprocess import InProcessTransport
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpRequest
from tests.support.client import AWAITED, BLOCKING, Face
from tests.support.fault_world import TEXT, spec_of, variable
from tests.support.imitated import IMITATED
from tests.support.waiting import until

DESCRIPTORS = Path("/proc/self/fd")
PATIENT = il.Timeouts(first_byte_s=20.0, idle_s=20.0)
IMPATIENT = il.Timeouts(first_byte_s=0.25, idle_s=0.25)
FAULTS = (
    "ok", "reset", "429", "429:0", "429:3000", "500", "529", "400", "401", "404", "413",
    "cut:0", "cut:1", "cut:400", "cut:100000", "truncate:0", "truncate:400", "garbage:0", "garbage:400", "drip:40",
)  # fmt: skip
SILENCES = ("stall", "stall:0", "stall:400")


class Switch(FaultPlan):
    """A plan whose one fault can be changed while a service runs."""

    def __init__(self) -> None:
        """No fault."""
        super().__init__({})
        self.text = "ok"

    def next(self, request: HttpRequest) -> Fault:
        """The fault that is set."""
        return parse_fault(self.text)


class Services:
    """A service that breaks as its switch says, and a sound one behind it."""

    def __init__(self, dialect: str, switch: Switch, urls: tuple[str, str]) -> None:
        """Both, running."""
        self.dialect = dialect
        self.switch = switch
        self.ports = [int(url.rpartition(":")[2]) for url in urls]
        self.chain = f"{spec_of(dialect)},{spec_of(dialect, second=True)}"

    @contextmanager
    def broken(self, fault: str, *, real: bool) -> Generator[None]:
        """The first service meets a fault each time: really, or as it is injected."""
        forget_state()
        self.switch.text = fault if real else "ok"
        with nullcontext() if real else faults({spec_of(self.dialect): fault}):
            yield


@pytest.fixture(scope="module", params=IMITATED)
def services(request: pytest.FixtureRequest) -> Generator[Services]:
    """Two services of one dialect."""
    dialect, switch = request.param, Switch()
    first, second = (Upstream(dialect, *[Say(text=TEXT)] * 2_000) for _ in range(2))
    with first.serving(switch) as one, second.serving() as other:
        yield Services(dialect, switch, (one, other))


@pytest.fixture
def reached(services: Services, monkeypatch: pytest.MonkeyPatch) -> Services:
    """The services as providers, and nobody pauses between two tries."""
    monkeypatch.setenv(*variable(services.dialect, port=services.ports[0]))
    monkeypatch.setenv(*variable(services.dialect, second=True, port=services.ports[1]))
    monkeypatch.setattr("interlingua.client.call.chain._random", lambda: 0.0)
    monkeypatch.setattr("interlingua.transport.sync.CROSSING_S", 60.0)  # a busy machine is not at once
    monkeypatch.setattr("interlingua.transport.connection.CROSSING_S", 60.0)
    return services


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def streamed(request: pytest.FixtureRequest) -> bool:
    """Whether to stream."""
    return request.param


def _outcome(face: Face, chain: str, *, streamed: bool, timeouts: il.Timeouts = PATIENT) -> tuple[Any, ...]:
    """What came, its error, and every try."""
    model = face.model(chain, timeouts=timeouts)
    try:
        reply = face.finish(model.stream("Count.")) if streamed else face.generate(model, "Count.")
    except Error as error:
        partial = error.partial if isinstance(error, il.IncompleteStreamError) else None
        tries = [(attempt.model, attempt.outcome, attempt.status) for attempt in error.attempts]
        return type(error).__name__, getattr(error, "phase", None), partial and partial.text, tries
    return "served", reply.text, [(attempt.model, attempt.outcome, attempt.status) for attempt in reply.attempts]


def _compare(reached: Services, face: Face, fault: str, *, streamed: bool, timeouts: il.Timeouts) -> None:
    found: list[tuple[Any, ...]] = []
    for is_real in (True, False):
        with reached.broken(fault, real=is_real):
            found.append(_outcome(face, reached.chain, streamed=streamed, timeouts=timeouts))
    assert found[0] == found[1], fault


def test_injected_faults_come_to_what_real_ones_do(reached: Services, face: Face, streamed: bool) -> None:
    """Class, what had come, every try with its status, and who serves in the end."""
    for fault in FAULTS:
        _compare(reached, face, fault, streamed=streamed, timeouts=PATIENT)


@pytest.mark.parametrize("services", ["openai-chat", "ollama"], indirect=True)
def test_injected_silences_come_to_what_real_ones_do(reached: Services, face: Face, streamed: bool) -> None:
    """The same of services that say nothing any more, with the phase of the deadline."""
    for fault in SILENCES if reached.dialect == "ollama" else SILENCES[-1:]:
        for _ in range(10):  # a busy machine may be silent for as long by itself, now and then
            with suppress(AssertionError):
                _compare(reached, face, fault, streamed=streamed, timeouts=IMPATIENT)
                break
        else:
            _compare(reached, face, fault, streamed=streamed, timeouts=IMPATIENT)


def _held() -> tuple[int, int]:
    """Open descriptors and threads of this process."""
    gc.collect()
    return len(list(DESCRIPTORS.iterdir())), threading.active_count()


def _settled(before: tuple[int, int], within_s: float) -> tuple[int, int]:
    """What is held once the service has noticed that its clients left, or when the time is over."""
    until(lambda: all(now <= then + 6 for now, then in zip(_held(), before, strict=True)), within_s)
    return _held()


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="counts descriptors by /proc")
@pytest.mark.parametrize("services", ["openai-chat", "ollama"], indirect=True)
def test_rtr_09_no_fault_leaves_a_socket_or_a_thread(reached: Services, face: Face, streamed: bool) -> None:
    """After every fault three times over, and streams that nobody reads to their end: what was held before."""

    def storm() -> None:
        for fault in FAULTS:
            with reached.broken(fault, real=True):
                _outcome(face, reached.chain, streamed=streamed)
        if streamed and not face.awaited:
            with reached.broken("drip:200", real=True), face.model(reached.chain).stream("Count.") as stream:
                next(iter(stream))

    storm()
    before = _settled((0, 0), 0.2)
    for _ in range(2):
        storm()
    after = _settled(before, 30.0)
    assert all(now <= then + 6 for now, then in zip(after, before, strict=True)), (before, after)


# A crowd

KINDS = ("ok",) * 8 + (
    "reset",
    "429:0",
    "500",
    "529",
    "401",
    "cut:0",
    "cut:300",
    "truncate:200",
    "garbage:300",
    "drip:90",
)
CROWD = 400
AT_ONCE = 8


class Weather(FaultPlan):
    """Random faults, the same for the same number of requests."""

    def __init__(self) -> None:
        """Some weather."""
        super().__init__({}, error_body=lambda _, status: b'{"error":{"message":"weather: %d"}}' % status)
        self._chance = random.Random(20261122)
        self._turn = threading.Lock()

    def next(self, request: HttpRequest) -> Fault:
        """The fault of this request."""
        with self._turn:
            return parse_fault(self._chance.choice(KINDS))


def _echo(dialect: str) -> Callable[[HttpRequest], Line]:
    """A service that answers with the question."""
    transport = InProcessTransport(
        lambda decoded, _: il.Response(
            parts=(il.TextPart(f"{decoded.request.messages[-1].text}!"),), finish_reason="stop"
        )
    )

    def answer(request: HttpRequest) -> Line:
        reply = transport.open(msgspec.structs.replace(request, dialect=dialect), il.Timeouts())
        pieces = tuple(iter(reply.read, b""))
        return Line(status=reply.status, headers=reply.headers, pieces=pieces)

    return answer


async def _ask_one(chain: str, number: int, turn: asyncio.Semaphore) -> str:
    """How one of many calls ended; what came belongs to it, and came once."""
    async with turn:
        model = aio.model(chain, timeouts=PATIENT)
        prompt, seen = f"Question {number}", ""
        try:
            if number % 2:
                text = (await model.generate(prompt)).text
            else:
                stream = model.stream(prompt)
                async for event in stream:
                    seen += event.text if isinstance(event, il.TextDelta) else ""
                text = (await stream.finish()).text
                assert seen == text
        except Error:
            assert f"{prompt}!".startswith(seen)
            return "failed"
        assert text == f"{prompt}!"
        return "served"


def _in_threads(chain: str) -> list[str]:
    """The same of blocking calls in threads."""

    def ask(number: int) -> str:
        model, prompt = il.model(chain, timeouts=PATIENT), f"Question {number}"
        try:
            reply = model.generate(prompt) if number % 2 else model.stream(prompt).finish()
        except Error:
            return "failed"
        assert reply.text == f"{prompt}!"
        return "served"

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(ask, range(CROWD)))


async def _in_tasks(chain: str) -> list[str]:
    turn = asyncio.Semaphore(AT_ONCE)
    ends = await asyncio.gather(*[_ask_one(chain, number, turn) for number in range(CROWD)])
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return ends


@pytest.mark.parametrize("awaited", [False, True], ids=["threads", "tasks"])
def test_a_crowd_in_bad_weather_is_answered_once_each(awaited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of calls at once through chains over real sockets: none lost, none mixed up, no socket left."""
    monkeypatch.setattr("interlingua.client.call.chain._random", lambda: 0.0)
    forget_state()
    dialects = ("openai-chat", "anthropic", "ollama", "cohere")
    with ExitStack() as stack:
        for dialect in dialects:
            url = stack.enter_context(serving(_echo(dialect), Weather()))
            monkeypatch.setenv(*variable(dialect, port=int(url.rpartition(":")[2])))
        chain = ",".join(spec_of(dialect) for dialect in dialects)
        before = _held()
        kept = (
            len(dialects) * AT_ONCE
        )  # connections that may be used again: two sockets and a thread of the service each
        bound = before[0] + 2 * kept + 8, before[1] + kept + 8
        ends = asyncio.run(_in_tasks(chain)) if awaited else _in_threads(chain)
        after = _settled(bound, 3.0)
    assert len(ends) == CROWD
    assert ends.count("served") > CROWD // 2
    assert all(now <= most for now, most in zip(after, bound, strict=True)), (before, after)
